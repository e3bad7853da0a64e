// What conditions of whole numbers always are. Compilers warn of them, so they are not printed.
#pragma once

#include <optional>

#include "ir/kernel.h"

namespace kgen {

// Whether it holds, if that is the same for all values: `size(N) == size(N)`, `u >= 0` where u is unsigned, `2 < 3`.
std::optional<bool> known_answer(const Kernel &kernel, ExprId id);
// The same, where nothing is lost if the answer takes its place: no window that says which lanes there are.
std::optional<bool> known_condition(const Kernel &kernel, ExprId id);

} // namespace kgen
