// Where what phases share lies in the workspace, what blocks of one kernel leave for each other, and buffers of blocks
// that are too long for shared memory.
#pragma once

#include <string>
#include <vector>

#include "emit/interface/interface.h"
#include "emit/print/printer.h"
#include "emit/target_file.h"

namespace kgen {

struct WorkspaceField {
  std::string name, count;
  Type type;
  bool bytes = false; // `count` is in bytes already
};
using Workspace = std::vector<WorkspaceField>;

Workspace workspace_of(Printer &printer);
// The struct that has them.
WorkspaceText workspace_struct(const std::string &name, const Function &function, const Workspace &workspace,
                               Printer &printer);

// Bytes that a block needs for its buffers.
std::string buffer_bytes(Printer &printer, const std::vector<VarId> &buffers);

// The phases that are kernels, with what is added to the function's name for theirs.
struct KernelPhase {
  const Phase *phase;
  std::string suffix;
};
std::vector<KernelPhase> kernels_of(const Plan &plan);

} // namespace kgen
