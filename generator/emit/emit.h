// Plans -> files. The last stage: everything is decided, this is only how it is written down.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emit/interface.h"

namespace kgen {

struct EmittedFile {
  std::string name; // matmul_openmp.cpp
  std::string text;
};

class Layouts;

struct EmitOptions {
  EmitOptions();
  std::shared_ptr<Layouts> layouts; // of what many files share; copies of the options share it too
  bool openmp = true;
  bool cuda = true;
  bool selfcheck = false; // of the OpenMP file
  std::string templates;  // a folder that overrides embedded templates
};

// `variations` in the order of variants_of.
std::vector<EmittedFile> emit_files(const Spec &spec, const std::vector<Variation> &variations,
                                    const EmitOptions &options);

} // namespace kgen
