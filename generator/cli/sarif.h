// Messages as SARIF 2.1.0, the form in which code hosts and editors take the findings of tools.
#pragma once

#include <string>

#include "support/diagnostics.h"

namespace kgen {

std::string sarif_text(const Diagnostics &diags);

} // namespace kgen
