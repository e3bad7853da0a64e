// Whole numbers on lanes that need fewer bits than their type has, so that vectors can have more lanes.
#pragma once

#include <optional>

#include "emit/openmp/lanes/scope.h"

namespace kgen {

// Small numbers as a vector.
std::string small_lanes(LaneScope &lanes, ExprId id, Type type);
// A number of 64 bits as one of another type; none: it has to be computed as it is.
std::optional<Code> number_as(LaneScope &lanes, ExprId id, Type to);
// Positions that are compared with one number.
std::optional<Code> compared(LaneScope &lanes, const Expr &comparison);

} // namespace kgen
