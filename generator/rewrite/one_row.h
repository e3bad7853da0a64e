// Without inputs that a call may leave out, such as a bias of the columns, axes may go together that these keep apart.
#pragma once

#include <optional>
#include <vector>

#include "ir/kernel.h"

namespace kgen {

// Where none of `absent` is there, all positions of `outer` are one row of `inner`: the kernel computes the same with
// one position of the one and as many more of the other. Each axis is a size that the caller gives, or a product of
// some, of which these are the axes.
struct OneRow {
  std::vector<AxisId> outer, inner;
  std::vector<VarId> absent;
};

// `kernel`: after coalesce. nullopt: there are no such axes.
std::optional<OneRow> one_row_without_inputs(const Kernel &kernel);

} // namespace kgen
