// How large whole numbers may become: what surely fits its type is printed with plain operators, what may leave it with
// helpers that wrap around.
#pragma once

#include "plan/plan.h"

namespace kgen {

// |value| <= 2^width, for any inputs; at most 64. A position or size along an axis of unknown length counts 30 bits,
// and a product of such what memory can hold.
int width_of(const Kernel &kernel, ExprId id);

// May arithmetic on the arguments of this expression leave the range of its type?
bool may_wrap(const Kernel &kernel, ExprId id);

// May the running total of a fold or scan step do so?
bool total_may_wrap(const Kernel &kernel, const PlanNode &step);

} // namespace kgen
