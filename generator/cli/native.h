// Emitted code, run: a kernel's files and a small shim are compiled to a shared object, loaded, and called in a child
// process, so that a crash or a hang of generated code is a result like any other.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/compile.h"
#include "ir/interpret.h"

namespace kgen {

enum class NativeTarget { openmp, cuda_model };

struct NativeOptions {
  NativeTarget target = NativeTarget::openmp;
  std::string compiler;      // empty: $CXX, else c++
  std::string flags;         // empty: -O2
  std::string model;         // cuda_model: the folder that holds include/
  std::string model_library; // and the compiled model
};

struct NativeRunOptions {
  int threads = 0;              // 0: the runtime's own choice
  bool unaligned = false;       // arrays begin off the addresses that vectors like
  int workspace = 0;            // give what the launcher asks for, full of this byte; 0: it allocates
  bool least_workspace = false; // of OpenMP: as little of it as the launcher takes
  int timeout_s = 120;
};

struct NativeResult {
  std::string error;    // did not build, crashed, hung, wrote outside; empty: it returned
  int status = 0;       // what the launcher returned
  int table_status = 0; // what a GPU found wrong in tables
  std::string message;  // of a status other than 0, else of such a table status
  std::map<std::string, Array> outputs;
};

class NativeKernel {
public:
  ~NativeKernel();
  // nullptr with a reason.
  static std::unique_ptr<NativeKernel> build(const Compiled &compiled, const NativeOptions &options,
                                             std::string &reason);
  // Runs the variant that `kernel` is. Size arguments and arrays as the interpreter takes them.
  NativeResult run(const Kernel &kernel, const RunInput &input, const NativeRunOptions &options) const;

  NativeTarget target() const { return target_; }

private:
  NativeKernel() = default;
  void *library_ = nullptr;
  NativeTarget target_ = NativeTarget::openmp;
};

} // namespace kgen
