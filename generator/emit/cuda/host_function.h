// All that is printed of one plan: its kernels, and the function of the host that launches them in order.
#pragma once

#include "emit/cuda/kernel_text.h"
#include "emit/interface/interface.h"

namespace kgen {

struct HostFunction {
  std::string name;
  bool needs_workspace;
  std::string workspace_sizes;    // that its struct asks for
  std::vector<std::string> texts; // the struct of the workspace if there is one, the kernels, then the function
};
HostFunction host_function(const std::string &name, const Function &function, const Plan &plan, const Facts &facts,
                           Spelling &spelling, Statuses &statuses);

} // namespace kgen
