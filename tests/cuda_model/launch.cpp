// Launches: the device's limits, per-kernel attributes, the order of blocks, and what happens on a bad access.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>
#include <sys/mman.h>

#include "cuda_model/runtime.h"
#include "memory.h"
#include "scheduler.h"
#include "state.h"

namespace cuda_model {
namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxGridYZ = 65535;
constexpr unsigned kMaxGridX = 0x7fffffff;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr size_t kSharedPerMultiprocessor = 228 << 10;
constexpr size_t kSharedReserved = 1 << 10;

std::map<const void *, size_t> shared_limits; // raised by cudaFuncSetAttribute
struct sigaction previous_action, previous_trap;

size_t shared_limit(const void *kernel) {
  auto raised = shared_limits.find(kernel);
  return raised == shared_limits.end() ? kSharedDefault : raised->second;
}

cudaError_t check_limits(const cudaLaunchConfig_t &config, const void *kernel) {
  const dim3 &grid = config.gridDim, &block = config.blockDim;
  if (!kernel)
    return cudaErrorInvalidDeviceFunction;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
    return cudaErrorInvalidConfiguration;
  if (grid.x > kMaxGridX || grid.y > kMaxGridYZ || grid.z > kMaxGridYZ)
    return cudaErrorInvalidConfiguration;
  if (block.x > kMaxThreads || block.y > kMaxThreads || block.z > 64 ||
      uint64_t{block.x} * block.y * block.z > kMaxThreads)
    return cudaErrorInvalidConfiguration;
  if (config.dynamicSmemBytes > shared_limit(kernel))
    return cudaErrorInvalidValue;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto &cluster = config.attrs[i].val.clusterDim;
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z > 1)
      return cudaErrorNotSupported;
  }
  return cudaSuccess;
}

// A handler for faulting accesses: tells those that the model arranged from the program's own.
void on_bad_access(int signal, siginfo_t *info, void *) {
  const void *address = info->si_addr;
  const char *where = describe_address(address);
  if (is_stack_overflow(address))
    fail(Fault::kStackOverflow, "a thread needs more local memory than the model gives it");
  if (where && inside_kernel())
    fail(Fault::kOutOfBounds, "access out of bounds: %s", where);
  if (where)
    fail(Fault::kHostAccess, "host code touches %s", where);
  if (inside_kernel())
    fail(Fault::kOutOfBounds, "access to %p, which is no memory, or a misaligned vector access", address);
  sigaction(signal, &previous_action, nullptr); // not ours: the instruction repeats under the old handler
}

// Verified kernels are compiled so that a misaligned access traps, whichever instructions g++ picks for it.
void on_trap(int, siginfo_t *info, void *) {
  if (inside_kernel())
    fail(Fault::kOutOfBounds, "a misaligned access, by the instruction at %p", info->si_addr);
  sigaction(SIGILL, &previous_trap, nullptr);
}

uint64_t model_seed() {
  const char *text = getenv("KGEN_MODEL_SEED");
  return text ? strtoull(text, nullptr, 10) : 1;
}

// Blocks run in the order start, start + step, ... modulo their number: a permutation when step is coprime to it.
void run_grid(const cudaLaunchConfig_t &config, void (*thread)(void *), void *arguments, Random random) {
  const dim3 grid = config.gridDim;
  uint64_t count = uint64_t{grid.x} * grid.y * grid.z;
  uint64_t at = random.below(count), step = 1 + random.below(count);
  while (std::gcd(step, count) != 1)
    ++step;
  step %= count;
  gridDim = grid;
  blockDim = config.blockDim;
  map_shared(config.dynamicSmemBytes);
  for (uint64_t i = 0; i < count; ++i) {
    blockIdx = uint3{static_cast<unsigned>(at % grid.x), static_cast<unsigned>(at / grid.x % grid.y),
                     static_cast<unsigned>(at / grid.x / grid.y)};
    poison_shared();
    run_block(thread, arguments, random.next());
    check_shared_edges();
    at = (at + step) % count;
  }
}

} // namespace

void install_fault_handler() {
  static thread_local bool installed = false;
  if (installed)
    return;
  installed = true;
  constexpr size_t kHandlerStack = 64 << 10; // a fiber whose own stack has overflown cannot run the handler
  stack_t stack{};
  stack.ss_sp = mmap(nullptr, kHandlerStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = kHandlerStack;
  sigaltstack(&stack, nullptr);
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = on_bad_access;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &previous_action);
    action.sa_sigaction = on_trap;
    sigaction(SIGILL, &action, &previous_trap);
  });
}

int launch(const cudaLaunchConfig_t *config, const void *kernel, void (*thread)(void *), void *arguments) {
  std::lock_guard<std::mutex> lock(model_lock());
  static const uint64_t seed = model_seed();
  if (!config)
    return record(cudaErrorInvalidValue);
  if (cudaError_t error = check_limits(*config, kernel))
    return record(error);
  install_fault_handler();
  use_stream(config->stream);
  Random random(seed * 0x100000001b3U + static_cast<uint64_t>(++counters().launches));
  open_device_memory();
  run_grid(*config, thread, arguments, random);
  close_device_memory();
  return cudaSuccess;
}

cudaError_t set_function_attribute(const void *kernel, cudaFuncAttribute attribute, int value) {
  if (!kernel)
    return record(cudaErrorInvalidDeviceFunction);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
    return cudaSuccess;
  if (value < 0 || static_cast<size_t>(value) > kSharedLimit)
    return record(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> lock(model_lock());
  shared_limits[kernel] = static_cast<size_t>(value);
  return cudaSuccess;
}

cudaError_t get_function_attributes(cudaFuncAttributes *attributes, const void *kernel) {
  if (!kernel)
    return record(cudaErrorInvalidDeviceFunction);
  *attributes = cudaFuncAttributes{};
  attributes->maxThreadsPerBlock = kMaxThreads;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  std::lock_guard<std::mutex> lock(model_lock());
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_limit(kernel));
  return cudaSuccess;
}

cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t shared_bytes) {
  if (!kernel || threads <= 0)
    return record(cudaErrorInvalidValue);
  auto by_shared = static_cast<int>(kSharedPerMultiprocessor / (shared_bytes + kSharedReserved));
  *blocks = std::min({kBlocksPerMultiprocessor, kThreadsPerMultiprocessor / threads, by_shared});
  return cudaSuccess;
}

} // namespace cuda_model
