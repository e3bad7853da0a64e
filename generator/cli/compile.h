// The pipeline: one spec in, the files of all its variants out. Every stage can be the last, and prints what it made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "support/diagnostics.h"

namespace kgen {

enum class Stage { spec, body, ir, facts, rewrite, plan, emit };

struct CompileOptions {
  LoadOptions load;
  EmitOptions emit;
  Stage last = Stage::emit;
  bool print = false; // keep the text of the last stage
};

struct Compiled {
  Spec spec;
  std::vector<Variant> variants;
  std::vector<body::Body> bodies;                 // of the variants
  std::vector<Variation> variations;              // of all variants, as far as the pipeline went
  std::vector<EmittedFile> files, helper_headers; // those headers that the files include
  std::string text;                               // of the last stage, with `print`
};

// nullopt after errors. `text` is the spec as read from `path`.
std::optional<Compiled> compile(const std::string &path, const std::string &text, const CompileOptions &options,
                                Diagnostics &diags);

std::optional<Stage> find_stage(std::string_view name);

} // namespace kgen
