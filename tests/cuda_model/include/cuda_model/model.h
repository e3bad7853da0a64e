// A CPU model of a CUDA device, for tests only: generated .cu files compile against it as plain C++17, without a
// toolkit.
//
// One block, cluster or cooperative grid runs at a time; every CUDA thread is a fiber that runs until it must meet
// other threads. A *meeting* is the one primitive of all collectives (barriers, shuffles, votes; later tile
// instructions): each member publishes a pointer, the last to arrive runs an operation over all of them, then all go
// on. Whatever the hardware leaves open is made adverse: random block order, threads that run ahead in either
// direction, poisoned memory. Faults end the process with a message and an exit code of their own.
#pragma once

#include <cstddef>
#include <cstdint>

struct cudaLaunchConfig_st;

namespace cuda_model {

// Exit codes of a process in which the model found a fault.
enum class Fault : int {
  kOutOfBounds = 101,   // an access outside shared or device memory, or a misaligned vector access
  kDeadlock = 102,      // a barrier that some threads of the block cannot reach
  kBadLanes = 103,      // a warp operation whose mask and lanes disagree
  kHostAccess = 104,    // host code that dereferences device memory
  kStackOverflow = 105, // a thread with more local memory than the model has
  kRace = 106,          // two threads at one place, one of them writing, that nothing orders
};
[[noreturn]] void fail(Fault fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Where a thread stands when it meets others: members of one meeting must agree on it.
struct Site {
  const char *what;
  int line;
};

// What the members published: one slot per thread of the block, or per lane of the warp; null where not a member.
struct Members {
  void *const *slot;
  unsigned count;
};
using Finish = void (*)(const Members &members);

void meet_block(Site site, void *mine, Finish finish);
void meet_warp(Site site, unsigned mask, void *mine, Finish finish);

// A barrier of the cluster, in two halves; and where the shared memory `own` is in another block of it.
void arrive_cluster();
void wait_cluster(Site site);
unsigned char *cluster_shared(const void *own, unsigned rank);

unsigned lane();
unsigned char *shared_base();
unsigned char *shared_base(size_t block); // of those that run at once
unsigned shared_offset(const void *address);
void yield();

// Runs `thread(arguments)` once for every thread of the launch; returns a cudaError_t.
int launch(const cudaLaunchConfig_st *config, const void *kernel, void (*thread)(void *), void *arguments);

// Where KGEN_MODEL_LIST names a file, launches are listed there, one a line, and not run: the kernel's place in its
// library, the launch, and the bytes of the arguments as a device gets them.
bool lists_launches();
int list_launch(const cudaLaunchConfig_st *config, const void *kernel, const unsigned char *arguments, size_t bytes);

// Vector loads and stores must be aligned to their size, as on the device.
inline void check_aligned(const void *address, size_t alignment) {
  if (reinterpret_cast<uintptr_t>(address) % alignment != 0)
    fail(Fault::kOutOfBounds, "misaligned access: %p is no multiple of %zu bytes", address, alignment);
}

// Stands for the one access of an atomic operation while it lives. `changed`: which bits it may change. The others of
// an exchanged word may be written by anyone meanwhile: then the exchange fails.
class AtomicAccess {
public:
  AtomicAccess(const void *address, size_t size, uint64_t changed = ~uint64_t{0});
  ~AtomicAccess();
  AtomicAccess(const AtomicAccess &) = delete;
};
void fence();

} // namespace cuda_model

// What a test may ask about the launcher it has called: counts since the start of the process.
extern "C" {
int64_t cuda_model_launches();
int64_t cuda_model_live_allocations();
int64_t cuda_model_synchronizations(); // calls that make the host wait, cudaMalloc and cudaFree included
int64_t cuda_model_foreign_streams();  // calls on another stream than the expected one
int64_t cuda_model_lowered_limits();   // a kernel's limit of shared memory was set below what it had
void cuda_model_expect_stream(void *stream);
}
