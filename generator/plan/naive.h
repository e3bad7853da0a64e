// The plan that is no plan: the statements of a kernel as they stand, one after the other, each in loops of its own, by
// one thread. What is printed from it is slow and plain: the reference of self-checks.
#pragma once

#include "plan/plan.h"

namespace kgen {

Plan make_naive_plan(const Kernel &kernel, const Facts &facts);

} // namespace kgen
