// Clocks behind order.h. Threads of a block are ordered by the number of barriers that they have passed; lanes of a
// warp by what each knows of the others' time; blocks by what one has published with a fence and an atomic access, and
// another one has seen by an atomic access and a fence.
#include "order.h"

#include <algorithm>
#include <map>

namespace cuda_model {
namespace {

constexpr unsigned kWarp = 32;

// What is known of a block: all it did before `epoch`, and what `thread` did before `time`.
struct Known {
  uint32_t epoch = 0, thread = 0, time = 0;
};
using Knowledge = std::map<uint32_t, Known>; // by block

struct ThreadClock {
  uint32_t time = 1;
  uint32_t known[kWarp] = {}; // what lanes of its warp did up to then comes before
  uint32_t fence_epoch = 0, fence_time = 0;
  bool has_fenced = false;
  Knowledge seen, acquired; // without a fence behind it; with one
};
struct BlockClock {
  uint32_t number = 0, epoch = 0, cluster = 0;
  uint32_t published = 0; // what was done before this epoch, all threads have fenced
  std::vector<ThreadClock> threads;
  Knowledge seen, acquired; // as of the last barrier
};

std::vector<BlockClock> blocks; // that run at once
uint32_t blocks_begun = 0;
std::map<const void *, Knowledge> places; // of atomic accesses
BlockClock *block = nullptr;
unsigned thread = 0;

void add(Knowledge &to, uint32_t number, const Known &known) {
  Known &had = to[number];
  had.epoch = std::max(had.epoch, known.epoch);
  if (had.thread != known.thread)
    had.thread = known.thread, had.time = 0;
  had.time = std::max(had.time, known.time);
}
void add(Knowledge &to, const Knowledge &from) {
  for (const auto &[number, known] : from)
    add(to, number, known);
}

bool knows(const Knowledge &knowledge, const Moment &moment) {
  const auto found = knowledge.find(moment.block);
  if (found == knowledge.end())
    return false;
  const Known &known = found->second;
  return moment.epoch < known.epoch || (moment.thread == known.thread && moment.time < known.time);
}

} // namespace

void order_launch() {
  places.clear();
  blocks_begun = 0;
}

void order_blocks(const std::vector<unsigned> &threads) {
  blocks.assign(threads.size(), {});
  for (size_t rank = 0; rank < threads.size(); ++rank) {
    blocks[rank].number = ++blocks_begun;
    blocks[rank].threads.resize(threads[rank]);
  }
}

void order_thread(unsigned rank, unsigned index) {
  block = &blocks[rank];
  thread = index;
}

void order_by_block(unsigned rank) {
  BlockClock &met = blocks[rank];
  const bool all_fenced = std::all_of(met.threads.begin(), met.threads.end(), [&](const ThreadClock &clock) {
    return clock.has_fenced && clock.fence_epoch == met.epoch;
  });
  ++met.epoch;
  if (all_fenced)
    met.published = met.epoch;
  for (const ThreadClock &clock : met.threads) {
    add(met.seen, clock.seen);
    add(met.acquired, clock.acquired);
  }
}

void order_by_cluster() {
  for (unsigned rank = 0; rank < blocks.size(); ++rank) {
    order_by_block(rank);
    ++blocks[rank].cluster;
  }
}

void order_by_warp(unsigned rank, unsigned warp, unsigned mask) {
  std::vector<ThreadClock> &threads = blocks[rank].threads;
  uint32_t known[kWarp] = {};
  auto for_members = [&](auto visit) {
    for (unsigned lane = 0; lane < kWarp; ++lane)
      if (mask >> lane & 1U)
        visit(threads[warp * kWarp + lane], lane);
  };
  for_members([&](ThreadClock &clock, unsigned lane) {
    clock.known[lane] = clock.time++;
    for (unsigned other = 0; other < kWarp; ++other)
      known[other] = std::max(known[other], clock.known[other]);
  });
  for_members([&](ThreadClock &clock, unsigned) { std::copy(known, known + kWarp, clock.known); });
}

void order_by_fence() {
  ThreadClock &clock = block->threads[thread];
  clock.has_fenced = true;
  clock.fence_epoch = block->epoch;
  clock.fence_time = ++clock.time;
  add(clock.acquired, block->seen);
  add(clock.acquired, clock.seen);
}

void order_by_atomic(const void *address) {
  ThreadClock &clock = block->threads[thread];
  const bool publishes = clock.has_fenced || block->published > 0;
  const auto found = places.find(address);
  if (!publishes && found == places.end())
    return;
  Knowledge &place = found == places.end() ? places[address] : found->second;
  if (publishes) {
    add(place, block->acquired);
    add(place, clock.acquired);
    add(place, block->number,
        Known{std::max(block->published, clock.has_fenced ? clock.fence_epoch : 0), thread, clock.fence_time});
  }
  add(clock.seen, place);
}

Moment now() {
  return {block->number, block->epoch, block->cluster, block->threads[thread].time, static_cast<uint16_t>(thread)};
}

bool is_before_now(const Moment &moment) {
  const ThreadClock &clock = block->threads[thread];
  if (moment.block != block->number) {
    const bool same_cluster = moment.block >= blocks.front().number;
    return (same_cluster && moment.cluster < block->cluster) || knows(clock.acquired, moment) ||
           knows(block->acquired, moment);
  }
  if (moment.epoch < block->epoch || moment.thread == thread)
    return true;
  return moment.thread / kWarp == thread / kWarp && moment.time <= clock.known[moment.thread % kWarp];
}

} // namespace cuda_model
