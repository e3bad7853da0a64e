// Which optional operands are there where an expression is evaluated.
#pragma once

#include <functional>
#include <set>

#include "ir/kernel.h"

namespace kgen {

// Those that are there if the condition has this value.
std::set<VarId> present_where(const Kernel &kernel, ExprId condition, bool value);

using SeeRead = std::function<void(const Expr &read, const std::set<VarId> &there)>;
// Each read of an expression, with what is there then: what is there around it, and what its own conditions ask.
void visit_reads(const Kernel &kernel, ExprId id, const std::set<VarId> &there, const SeeRead &see);

} // namespace kgen
