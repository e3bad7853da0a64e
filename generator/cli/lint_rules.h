// What can be said of a spec that is right: rules for `kgen lint`. Each finding is true of every size and variant, has
// a place, and names what to do.
#pragma once

#include "cli/compile.h"
#include "spec/document.h"

namespace kgen {

struct Linted {
  const Compiled &compiled; // with lowered kernels
  const Node &document;
  const std::string &text;
};

void apply_lint_rules(const Linted &linted, Diagnostics &diags);

} // namespace kgen
