// Expressions on lane groups: operators and functions of vectors, selects in place of branches.
#pragma once

#include "emit/openmp/lanes/scope.h"

namespace kgen {

// The value: a vector where lanes differ, else a scalar.
Code on_lanes(LaneScope &lanes, ExprId id);
// As a vector, whatever it was made of.
std::string widened(LaneScope &lanes, ExprId id, Type type, int least = binding::kMultiply);
// `loose`: which extreme a NaN gives does not matter.
Code vector_operation(LaneScope &lanes, Op op, Type type, const std::vector<Code> &args, bool loose = false);
Code cast_lanes(LaneScope &lanes, const Code &value, Type from, Type to);
std::string stored(LaneScope &lanes, const Code &value, Type from, Type to);
// Of a product that joins a sum.
std::string factors(LaneScope &lanes, const Expr &product);
std::string multiply_add(LaneScope &lanes, const Expr &product, const std::string &sum);

} // namespace kgen
