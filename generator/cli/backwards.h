// Which kernel gives the gradients of which: bindings of frameworks call it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "emit/bindings/signature.h"

namespace kgen {

struct BoundSpec {
  SpecFile file;
  std::string backward; // the path of the spec of its gradients; empty: there is none
  std::string forward;  // the path of NAME_forward, which is called where gradients are wanted; empty: there is none
  bool joined = false;  // nobody named it: it is the backward of another
};

// Looks for the spec of each one's gradients: the file that its key `backward` names, one of the specs that is
// `backward_of` it, or a NAME_backward.toml beside it that is. Likewise for NAME_forward, where that reads what only
// this one gives. They join the specs: their files are needed, too. An error where one wants or gives other arrays than
// `kgen grad` says; a warning where `kgen grad` has written one, and would write another now.
void find_backwards(std::vector<BoundSpec> &specs, const Options &options, const LoadOptions &load, Diagnostics &diags);

// nullopt where there is none, or it is wrong; what is wrong is said when the spec itself is compiled.
std::optional<Signature> signature_of_file(const std::string &path, const CompileOptions &options);

} // namespace kgen
