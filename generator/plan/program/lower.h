// Kernel -> program: the statements as a list of nodes in which every fold and scan is a node of its own.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Adds the temporaries to `kernel`. The grid dimensions that are left become nested `steps` nodes around the
// statements.
std::vector<PlanNode> lower(Kernel &kernel);

} // namespace kgen
