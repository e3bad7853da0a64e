// Loops in tiles: what has its neighbours along another loop than the lanes is turned before it is read.
#pragma once

#include <functional>

#include "emit/openmp/lanes/scope.h"

namespace kgen {

// The parts in which a loop's range is gone through: their length in C++, what that is at most, and where the first
// one begins, before the range; empty: with it.
struct LanePart {
  std::string text;
  int64_t most = 0;
  std::string first;
};

// The loop over part of its range, within part of the range of the one that it crosses; `print` prints it.
void turned_tiles(LaneScope &lanes, const PlanNode &loop, const Printer::Range &range, const LanePart &part,
                  const Printer::Range &others, const std::function<void()> &print);

} // namespace kgen
