// Rows of their own lengths may be so short that vectors along them would be mostly empty. Elements then go one after
// the other, whatever rows they are of, by a plan of their own.
#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"

namespace kgen {

struct FlatRows {
  AxisId along = kNone; // ragged
  std::string starts;   // the table that says where rows begin
  Plan plan;            // for calls in which such a row has so many positions on average (Decision::flat_row)
};

// N / 16 < B
std::string flat_rows_condition(const FlatRows &rows, std::string (*name)(const std::string &axis));
// longest_row(start, B, N) <= 256: sums of a row are made in order, which adds up more roundings the longer it is.
std::string flat_rows_limit(const FlatRows &rows, std::string (*name)(const std::string &axis));

// OpenMP. `plan`: the one for all sizes. nullopt where elements have too little of their own to compute, or ask for
// more of their row than a value that it has for all of them.
std::optional<FlatRows> plan_flat_rows(const Kernel &kernel, const Facts &facts, const Plan &plan);

} // namespace kgen
