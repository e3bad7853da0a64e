// Which statements stand in a loop, before it and behind it, when it is known which of them may.
#pragma once

#include <vector>

#include "plan/index/order.h"
#include "plan/tree/tree_items.h"

namespace kgen {

// All lists name statements by their numbers, in order. `members` may share the loop along the axis, `inside` is what
// they touch, `before` may move before it. Some are better off elsewhere: they change lists.
void settle_around_loop(const Kernel &kernel, const std::vector<TreeItem> &items, AxisId axis, Touched &inside,
                        std::vector<size_t> &before, std::vector<size_t> &members, std::vector<size_t> &after);

} // namespace kgen
