// Locals that were given the axes of their readers, so that they are computed beside them. Where their value does not
// differ along such an axis, all lanes may share it.
#pragma once

#include "plan/plan.h"

namespace kgen {

void narrow_locals(Plan &plan);

} // namespace kgen
