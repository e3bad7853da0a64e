// The first plan of a kernel: its statements in trees, as phases, each variable where it belongs.
#pragma once

#include "plan/plan.h"

namespace kgen {

Plan place(const Kernel &kernel, const Facts &facts, TargetKind target);

} // namespace kgen
