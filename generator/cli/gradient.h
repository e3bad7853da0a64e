// The backward kernel of a spec on the command line, for the commands that need it.
#pragma once

#include "cli/options.h"
#include "grad/grad.h"

namespace kgen {

// nullopt after a message. `folder` is where it is written to.
std::optional<BackwardSpec> backward_of(const Options &options, const std::string &path, const std::string &folder,
                                        Diagnostics &diags);

// verify --grad
int verify_grad(const Options &options);

} // namespace kgen
