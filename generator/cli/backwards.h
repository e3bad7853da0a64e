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
  bool joined = false;  // nobody named it: it is the backward of another
};

// Looks among the specs for one that is `backward_of` another, and beside each for a NAME_backward.toml that is, which
// joins the specs: its files are needed, too. An error where it wants or gives other arrays than `kgen grad` says.
void find_backwards(std::vector<BoundSpec> &specs, const LoadOptions &load, Diagnostics &diags);

// nullopt where it is wrong; what is wrong is said when the spec itself is compiled.
std::optional<Signature> signature_of_file(const std::string &path, const CompileOptions &options);

} // namespace kgen
