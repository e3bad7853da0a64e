// Rows of a length that only calls know may be too short to fill a vector. Neighbouring rows then go side by side, as
// lanes, by a plan of their own.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace kgen {

struct ShortRows {
  AxisSet axes;
  AxisId beside = kNone; // whose positions go side by side, where calls say how many there are
  Plan plan;             // for calls in which these have so few positions (Decision::short_row)
};

// N <= 15 && N <= M: a row alone is quicker by its own positions than a vector that has one row.
std::string short_rows_condition(const ShortRows &rows, std::string (*name)(const std::string &axis));

// OpenMP. `plan`: the one for all sizes. Where that folds rows on lanes, one for short rows, and one for short rows of
// which there are few inside of others. The most special one comes first.
std::vector<ShortRows> plan_short_rows(const Kernel &kernel, const Facts &facts, const Plan &plan);

} // namespace kgen
