// The helper functions of emitted code, which are sections of templates: all of them in the helper header of a target,
// or in a file those that it uses.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "emit/text/render.h"
#include "plan/plan.h"

namespace kgen {

// What the two targets call theirs.
struct HelperNames {
  std::string header;          // kgen_openmp.h
  std::string helpers;         // the namespace
  std::string revision;        // the macro
  std::string header_template; // its path
};
const HelperNames &helper_names(TargetKind target);

// The whole text of a helper header: the same for all kernels.
std::string helper_header(const Templates &templates, TargetKind target);
// The functions, types and constants that the helpers of both targets declare.
const std::set<std::string> &names_of_helpers();
// The lines by which a file of that name includes it. `root` leads from the folder of the file to that of the header:
// "../".
std::string helper_include(const Templates &templates, TargetKind target, const std::string &root,
                           const std::string &file);

// The kinds of all statuses, for C headers and helper headers.
std::string status_block(const Templates &templates);

// The helper functions asked for, with what they need, in the namespaces that the header has them in: those that all
// sets of instructions share, and those of a set.
struct HelperTexts {
  std::string shared, of_set;
};
HelperTexts helper_texts(const Templates &templates, TargetKind target, const std::set<std::string> &wanted);
// The same by themselves.
std::string helper_text(const Templates &templates, TargetKind target, const std::set<std::string> &wanted);

// The standard headers that C++ text needs, by what it mentions, and `first`: a view {name: ...} each.
Views includes(const std::string &text, std::vector<std::string> first);
// Those that CUDA text needs besides.
std::vector<std::string> cuda_includes(const std::string &text);

} // namespace kgen
