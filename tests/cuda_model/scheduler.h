// What the launch code needs of the scheduler: run some blocks to their end.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda_model/vector_types.h"

namespace cuda_model {

// Runs `thread(arguments)` for every thread of these blocks of blockDim threads, which are there at once; gridDim is
// set by the caller. `seed` decides the order in which threads run.
void run_blocks(void (*thread)(void *), void *arguments, uint64_t seed, const std::vector<uint3> &blocks,
                bool is_cluster);
bool inside_kernel();
// Is it a local variable of the thread that runs, or one of its coordinates?
bool is_own(const void *address);
// Whether the address lies just below a thread's stack.
bool is_stack_overflow(const void *address);

// A small generator (splitmix64), so that runs repeat from their seed on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state_;
};

} // namespace cuda_model
