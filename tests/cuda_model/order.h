// Which accesses of a launch's threads come before which: by barriers and fences alone, whatever order the threads of
// the model really ran in.
#pragma once

#include <cstdint>
#include <vector>

namespace cuda_model {

// When a thread did something.
struct Moment {
  uint32_t block = 0;   // counted over the launch, from 1
  uint32_t epoch = 0;   // barriers of the block before it
  uint32_t cluster = 0; // and of the cluster
  uint32_t time = 0;    // and of the warp, and fences of the thread
  uint16_t thread = 0;
};

void order_launch();                                     // a launch begins
void order_blocks(const std::vector<unsigned> &threads); // so do blocks that run at once, of so many threads each
void order_thread(unsigned rank, unsigned thread);       // that goes on now
void order_by_block(unsigned rank);                      // a barrier of all its threads is passed
void order_by_cluster();                                 //
void order_by_warp(unsigned rank, unsigned warp, unsigned mask);
void order_by_fence();                     // of the thread that runs, for all of the device
void order_by_atomic(const void *address); // an access by which threads of several blocks know of each other

Moment now();
bool is_before_now(const Moment &moment);

} // namespace cuda_model
