// The backward kernel of a spec on the command line, for the commands that need it.
#pragma once

#include "cli/options.h"
#include "grad/grad.h"

namespace kgen {

// nullopt after a message.
std::optional<BackwardSpec> backward_of(const Options &options, const std::string &path, Diagnostics &diags);

// verify --grad
int verify_grad(const Options &options);

} // namespace kgen
