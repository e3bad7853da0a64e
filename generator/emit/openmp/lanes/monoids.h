// Two values of a fold, or two vectors of them, become one.
#pragma once

#include "emit/openmp/lanes/scope.h"

namespace kgen {

// A total with a further value.
std::string combined(LaneScope &lanes, Monoid monoid, Type type, const std::string &total, const std::string &value);
// A function of two, which are called so, that combines them as the text does.
std::string combiner(const LaneScope &lanes, const std::string &text, const std::string &one, const std::string &other,
                     const std::string &type);
// One of two totals of one number.
std::string combination(LaneScope &lanes, Monoid monoid, Type type);

} // namespace kgen
