// Launches: the device's limits, per-kernel attributes, the order of blocks, and what happens on a bad access.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <numeric>
#include <sys/mman.h>
#include <vector>

#include "cuda_model/runtime.h"
#include "memory.h"
#include "order.h"
#include "races.h"
#include "scheduler.h"
#include "state.h"

namespace cuda_model {
namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxGridYZ = 65535;
constexpr unsigned kMaxGridX = 0x7fffffff;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr unsigned kMaxCluster = 8;
constexpr size_t kSharedReserved = 1 << 10;

std::map<const void *, size_t> shared_limits; // raised by cudaFuncSetAttribute
struct sigaction previous_action, previous_trap;

size_t shared_limit(const void *kernel) {
  auto raised = shared_limits.find(kernel);
  return raised == shared_limits.end() ? kSharedDefault : raised->second;
}

// Blocks along x; 0 for a shape that the model does not know.
unsigned cluster_size(const cudaLaunchConfig_t &config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (const auto &cluster = config.attrs[i].val.clusterDim; config.attrs[i].id == cudaLaunchAttributeClusterDimension)
      return cluster.y == 1 && cluster.z == 1 ? cluster.x : 0;
  return 1;
}

bool is_cooperative(const cudaLaunchConfig_t &config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeCooperative)
      return config.attrs[i].val.cooperative != 0;
  return false;
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
  if (!is_of_current_device(config.stream))
    return cudaErrorInvalidResourceHandle;
  const unsigned cluster = cluster_size(config);
  if (cluster == 0 || cluster > kMaxCluster || grid.x % cluster != 0)
    return cudaErrorInvalidConfiguration;
  if (cluster > 1 && (!has_clusters() || is_cooperative(config)))
    return cudaErrorNotSupported;
  int blocks = 0;
  occupancy(&blocks, kernel, static_cast<int>(block.x * block.y * block.z), config.dynamicSmemBytes);
  if (is_cooperative(config) &&
      uint64_t{grid.x} * grid.y * grid.z >
          static_cast<uint64_t>(blocks) * static_cast<uint64_t>(device_value(cudaDevAttrMultiProcessorCount)))
    return cudaErrorCooperativeLaunchTooLarge;
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

// Blocks, or clusters of them, run in the order start, start + step, ... modulo their number: a permutation when step
// is coprime to it. Those of a cooperative launch run at once.
void run_grid(const cudaLaunchConfig_t &config, void (*thread)(void *), void *arguments, Random random) {
  const dim3 grid = config.gridDim;
  const uint64_t cluster = cluster_size(config), all = uint64_t{grid.x} * grid.y * grid.z,
                 together = is_cooperative(config) ? all : cluster;
  uint64_t count = all / together;
  uint64_t at = random.below(count), step = 1 + random.below(count);
  while (std::gcd(step, count) != 1)
    ++step;
  step %= count;
  gridDim = grid;
  blockDim = config.blockDim;
  map_shared(config.dynamicSmemBytes, together);
  std::vector<uint3> blocks(together);
  for (uint64_t i = 0; i < count; ++i) {
    for (uint64_t k = 0; k < together; ++k) {
      const uint64_t block = at * together + k;
      blocks[k] = uint3{static_cast<unsigned>(block % grid.x), static_cast<unsigned>(block / grid.x % grid.y),
                        static_cast<unsigned>(block / grid.x / grid.y)};
    }
    poison_shared();
    run_blocks(thread, arguments, random.next(), blocks, cluster > 1);
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
  forget_accesses();
  order_launch();
  run_grid(*config, thread, arguments, random);
  close_device_memory();
  return cudaSuccess;
}

void ArgumentBytes::add(const void *value, size_t size, size_t alignment) {
  const size_t at = (bytes.size() + alignment - 1) / alignment * alignment;
  bytes.resize(at + size);
  std::memcpy(bytes.data() + at, value, size);
}

bool lists_launches() { return getenv("KGEN_MODEL_LIST") != nullptr; }

int list_launch(const cudaLaunchConfig_t *config, const void *kernel, const unsigned char *arguments, size_t bytes) {
  std::lock_guard<std::mutex> lock(model_lock());
  if (cudaError_t error = check_limits(*config, kernel))
    return record(error);
  Dl_info library{};
  FILE *const list = fopen(getenv("KGEN_MODEL_LIST"), "a");
  if (list == nullptr || dladdr(kernel, &library) == 0)
    return record(cudaErrorUnknown);
  const dim3 &grid = config->gridDim, &block = config->blockDim;
  fprintf(list, "%zx %u,%u,%u %u,%u,%u %zu %u %d ",
          static_cast<size_t>(static_cast<const char *>(kernel) - static_cast<const char *>(library.dli_fbase)), grid.x,
          grid.y, grid.z, block.x, block.y, block.z, config->dynamicSmemBytes, cluster_size(*config),
          is_cooperative(*config) ? 1 : 0);
  for (size_t i = 0; i < bytes; ++i)
    fprintf(list, "%02x", arguments[i]);
  fputs("\n", list);
  return fclose(list) == 0 ? cudaSuccess : record(cudaErrorUnknown);
}

cudaError_t set_function_attribute(const void *kernel, cudaFuncAttribute attribute, int value) {
  if (!kernel)
    return record(cudaErrorInvalidDeviceFunction);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
    return cudaSuccess;
  if (value < 0 || value > device_value(cudaDevAttrMaxSharedMemoryPerBlockOptin))
    return record(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> lock(model_lock());
  counters().lowered_limits += static_cast<size_t>(value) < shared_limit(kernel) ? 1 : 0;
  shared_limits[kernel] = static_cast<size_t>(value);
  return cudaSuccess;
}

cudaError_t get_function_attributes(cudaFuncAttributes *attributes, const void *kernel) {
  if (!kernel)
    return record(cudaErrorInvalidDeviceFunction);
  *attributes = cudaFuncAttributes{};
  attributes->maxThreadsPerBlock = kMaxThreads;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = has_clusters() ? 90 : 80;
  std::lock_guard<std::mutex> lock(model_lock());
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_limit(kernel));
  return cudaSuccess;
}

cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t shared_bytes) {
  if (!kernel || threads <= 0)
    return record(cudaErrorInvalidValue);
  auto by_shared = static_cast<int>(static_cast<size_t>(device_value(cudaDevAttrMaxSharedMemoryPerMultiprocessor)) /
                                    (shared_bytes + kSharedReserved));
  *blocks = std::min({kBlocksPerMultiprocessor, kThreadsPerMultiprocessor / threads, by_shared});
  return cudaSuccess;
}

cudaError_t occupancy_of_clusters(int *clusters, const void *kernel, const cudaLaunchConfig_t *config) {
  if (!kernel || !config || !has_clusters())
    return record(cudaErrorInvalidValue);
  int blocks = 0;
  const dim3 &shape = config->blockDim;
  occupancy(&blocks, kernel, static_cast<int>(shape.x * shape.y * shape.z), config->dynamicSmemBytes);
  const unsigned size = cluster_size(*config);
  *clusters = size == 0 || size > kMaxCluster
                  ? 0
                  : blocks * device_value(cudaDevAttrMultiProcessorCount) / static_cast<int>(size);
  return cudaSuccess;
}

} // namespace cuda_model
