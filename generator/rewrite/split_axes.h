// Kernel -> Kernel: an axis along which outputs lie and of which a body asks `index(Q) / 2` or `index(Q) % 2` becomes
// the two digits that these are: what is enlarged, shuffled or interleaved is then read and written in order.
#pragma once

#include "ir/kernel.h"

namespace kgen {

Kernel split_axes(const Kernel &kernel);

} // namespace kgen
