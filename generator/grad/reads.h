// Which variables statements read.
#pragma once

#include <map>
#include <vector>

#include "ir/kernel.h"

namespace kgen::grad {

using Reads = std::map<VarId, int>;

// How often each is read. An addition does not read what it adds to.
Reads reads_of(const Kernel &kernel, const std::vector<Stmt> &statements);

} // namespace kgen::grad
