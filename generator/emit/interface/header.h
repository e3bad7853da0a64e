// The C header of a kernel, and the comments at the head of all its files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/target_file.h"
#include "emit/text/render.h"

namespace kgen {

// The head of every file: where it comes from, the license, the doc, and of sources the plan.
std::string banner(const Spec &spec, const std::string &plan);

// The name of an argument in a header: another one where C or C++ cannot bear that of the spec.
std::string header_name(const std::string &name);

// The C function that says which set of instructions the OpenMP functions use.
std::string instructions_function(const Spec &spec);
// Has the function of this target memory for intermediates, which callers may give?
bool takes_workspace(const Function &function, const std::string &target, const TargetSource &source);

std::string header_text(const Spec &spec, const std::vector<Function> &functions,
                        const std::map<std::string, const TargetSource *> &targets, const Statuses &statuses,
                        const Templates &templates);

} // namespace kgen
