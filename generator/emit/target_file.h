// What the files of both targets share: banner, helpers in use, include list, the work of naming and of workspaces.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "emit/text/render.h"

namespace kgen {

// The parts of one emitted source, before they are put into the template.
struct TargetSource {
  std::vector<std::string> kernels, launchers;
  std::string plan; // comment
  std::set<std::string> helpers;
};

TargetSource openmp_source(const Spec &spec, const std::vector<Function> &functions, Statuses &statuses);
TargetSource cuda_source(const Spec &spec, const std::vector<Function> &functions, Statuses &statuses);

// "const float* x, float* y, int64_t N": the caller's arguments, and the same as a call passes them.
std::string parameters_text(const Function &function);
std::string arguments_text(const Function &function);
std::string size_parameters_text(const Function &function); // sizes (and strides) only
std::vector<std::string> size_names(const Function &function);
std::string size_arguments_text(const Function &function);

// A buffer of the workspace.
struct Buffer {
  std::string name;     // of the offset
  std::string elements; // C++
  Type type;
  bool per_worker;
  VarId var;
};
std::vector<Buffer> buffers_of(const Plan &plan, Printer &printer);

// Do helper headers call or define a function of this name, or CUDA's a type?
bool is_helper_function(const std::string &name);
// "matmul_f32_d64": the internal name of a variation.
std::string variation_name(const Function &function, const Variation &variation);
// The condition under which the launcher takes this variation; empty when it is the only one.
std::string variation_condition(const Variation &variation);

// The identifiers that a function's text may not take again.
Names names_of(const Function &function, const Kernel &kernel);
// `const int64_t P = ...;` for the derived sizes that the text mentions, those that are known to it aside.
std::string derived_declarations(Printer &printer, const std::string &text, AxisSet known = {});
// What is printed about a variation outside of any plan.
std::string with_printer(const Function &function, const Variation &variation, Spelling &spelling,
                         const std::function<void(Printer &)> &print);
// What stands before the call for this variation.
struct Checks {
  std::string text;  // with the derived sizes that it needs; it returns where there is nothing to do
  std::string small; // on a device: `const bool small = ...;`
};
Checks checks_of(const Function &function, const Variation &variation, Spelling &spelling, Statuses &statuses,
                 CheckedIn where);
// `const bool small = ...;`: do 32-bit indices do? Stands after the checks.
std::string small_text(const Variation &variation, Printer &printer);
// `(void)N;` for those of the names that the text does not mention.
std::string silence_unused(const std::vector<std::string> &names, const std::string &text);
// Does the identifier occur in the text, comments left out?
bool mentions_word(const std::string &text, const std::string &word, const std::string &comment = "//");
// All identifiers that it mentions.
std::set<std::string> words_of(const std::string &text);

// For the head of a source: how the work is split, what is kept where, and the bytes that must move.
std::string plan_comment(const Plan &plan, const Facts &facts);

// CamelCase of a C identifier.
std::string camel(const std::string &name);
// The struct that says where intermediates lie in the workspace.
struct WorkspaceText {
  std::string text;  // empty: there is none
  std::string sizes; // those that it asks for, as a call passes them
};
// `members`: `int64_t sum, bytes = 0;`; `body`: what sets them.
WorkspaceText workspace_text(const std::string &kernel, const Function &function, const std::string &base,
                             const std::string &members, const std::string &body);
// For memory: `space`, where the intermediates of a kernel lie in it, and where it begins.
std::string workspace_parameters(const std::string &kernel);

} // namespace kgen
