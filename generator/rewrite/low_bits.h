// Kernel -> Kernel: whole numbers of 64 bits of which nobody asks but for the low 32 are numbers of 32 bits. A total of
// ints has 64 bits, and so have locals that are declared so; where it is stored as an i32, twice as many fit a vector,
// and products of bytes have tiles.
#pragma once

#include "ir/kernel.h"

namespace kgen {

Kernel low_bits(const Kernel &kernel);

} // namespace kgen
