// Loops that count through positions of an axis.
#pragma once

#include <optional>
#include <vector>

#include "ir/kernel.h"

namespace kgen {

// for (counter = low; counter < high; ++counter), of which nothing but the counter is known.
struct CountedLoop {
  VarId counter = kNone;
  size_t start = 0;    // the statement before the loop that sets the counter, which nobody else sets or reads
  AxisId axis = kNone; // all that it counts to are positions of this axis
  ExprId low = kNone, high = kNone; // kNone: the first position, the last one
  bool with_high = false;           // <=
};

// The loop that stands there, if it is one that counts through an axis, and the axis is long or its size not known.
std::optional<CountedLoop> counted_loop(const Kernel &kernel, const std::vector<Stmt> &statements, size_t at);

// Is it the counter, perhaps as a wider number?
bool is_counter(const Kernel &kernel, ExprId id, VarId counter);

// How many statements read the local; and of the statement and those within it.
int readers_of(const Kernel &kernel, VarId var);
int readers_in(const Kernel &kernel, const Stmt &stmt, VarId var);

// The axes along which anything in the loop, or whether it runs, may differ.
AxisSet axes_around(const Kernel &kernel, const Stmt &loop);

} // namespace kgen
