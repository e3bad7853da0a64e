// A kernel as a function of CUDA: what stands around the printed body, and how the host launches it.
#pragma once

#include "emit/cuda/kernels.h"
#include "emit/cuda/workspace.h"

namespace kgen {

struct KernelFunction {
  std::string text;
  std::string prepare, launch; // of the host: statements before the call that launches it, and that
};
KernelFunction kernel_function(KernelText &out, const std::string &name, const Function &function,
                               const Workspace &workspace, const KernelPhase &kernel, const KernelLaunch &launch);

} // namespace kgen
