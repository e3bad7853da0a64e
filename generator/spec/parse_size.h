// Reads the expressions that stand in a spec's strings. Names are not known yet while a file is read: a plain name
// becomes an `axis` node, `t[a][b]` a `table` node, and spec/names.cpp later gives each its real kind and folds.
#pragma once

#include <optional>

#include "spec/placed_text.h"
#include "spec/size.h"

namespace kgen {

// nullopt after one error. Nothing is folded, so that every name in the text is still there.
std::optional<Size> parse_size(const PlacedText &text, Diagnostics &diags);

} // namespace kgen
