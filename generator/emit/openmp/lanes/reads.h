// What lanes read: vector loads where neighbours are read, gathers elsewhere.
#pragma once

#include "emit/openmp/lanes/scope.h"

namespace kgen {

Code read_on_lanes(LaneScope &lanes, const Expr &read, ExprId id);
Code element_on_lanes(LaneScope &lanes, const Expr &element, ExprId id);
Code inside_lanes(LaneScope &lanes, const Expr &inside, ExprId id);
Code row_of(LaneScope &lanes, const Expr &row, ExprId id);
// Lane by lane, by the scalar text; within a larger expression under a name of its own.
Code gather(LaneScope &lanes, ExprId id);
// What lies at a place that moves evenly along the lanes.
std::string loaded(LaneScope &lanes, VarId var, const std::vector<Coordinate> &coords);
// An element that is stored as the half type which it has, as it lies. Empty: it is computed.
std::string unconverted(LaneScope &lanes, ExprId value, Type to);
// The f32 of bits of half types; of other types what is given.
std::string widened_half(LaneScope &lanes, const std::string &text, Type type);

} // namespace kgen
