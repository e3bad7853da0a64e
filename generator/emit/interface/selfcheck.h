// The self-check of a kernel: a program that holds the OpenMP functions against the kernel as it is written, printed as
// plain loops over numbers that carry their error, and times them against copying memory.
#pragma once

#include <string>
#include <vector>

#include "emit/interface/interface.h"
#include "emit/target_file.h"
#include "emit/text/render.h"

namespace kgen {

std::string selfcheck_text(const Spec &spec, const std::vector<Function> &functions, const TargetSource &openmp,
                           const Templates &templates);

} // namespace kgen
