// Questions whether optional outputs are wanted: a call that wants one of them mostly does not want the others.
#pragma once

#include <set>

#include "plan/plan.h"

namespace kgen {

// The outputs of `present(d_x) || present(d_w)`; none of any other condition.
std::set<VarId> outputs_asked_for(const Kernel &kernel, ExprId condition);

} // namespace kgen
