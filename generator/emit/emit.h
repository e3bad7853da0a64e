// Plans -> files. The last stage: everything is decided, this is only how it is written down.
#pragma once

#include <string>
#include <vector>

#include "emit/interface/interface.h"

namespace kgen {

struct Signature; // emit/bindings/signature.h

struct EmittedFile {
  std::string name; // matmul_openmp.cpp
  std::string text;
};

struct EmitOptions {
  bool openmp = true;
  bool cuda = true;
  bool selfcheck = false;  // of the OpenMP file
  bool standalone = false; // each file has the helpers that it uses inside; else it includes the helper header
  std::string to_root;     // how the files' folder leads to that of the helper headers: "", "../"
  std::string templates;   // a folder that overrides embedded templates
  std::vector<std::string> bindings;   // rows of emit/bindings/bindings.h
  std::string bind_namespace = "kgen"; // of operators and targets that frameworks register
  const Signature *backward = nullptr; // of the kernel whose gradients bindings use
  const Signature *forward = nullptr;  // of NAME_forward, which gives what that kernel reads besides
};

// `variations` in the order of variants_of.
std::vector<EmittedFile> emit_files(const Spec &spec, const std::vector<Variation> &variations,
                                    const EmitOptions &options);

// kgen_openmp.h and kgen_cuda.h, of the targets that are wanted; none where files stand alone.
std::vector<EmittedFile> helper_headers(const EmitOptions &options);

} // namespace kgen
