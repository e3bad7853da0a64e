// A fold that leaves the expressions it stands in.
#pragma once

#include <set>

#include "ir/kernel.h"

namespace kgen {

// The assignment of the fold to a new local, which the expressions `members`, all of them that fold, now read.
Stmt keep_fold(Kernel &kernel, ExprId fold, const std::set<ExprId> &members);

} // namespace kgen
