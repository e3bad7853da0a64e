// The rule that tells make and ninja what a run has read.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "support/diagnostics.h"

namespace kgen {

// `stamp: sources`. A name that a rule cannot bear is an error: it would be another file, or a command, to make.
std::string depfile_text(const Options &options, std::vector<std::string> sources, Diagnostics &diags);

} // namespace kgen
