// Runs the threads of a group of blocks at once: one block, a cluster, or a grid whose blocks wait for each other. A
// fiber runs one thread after another; only a thread that must wait in a meeting keeps its fiber and hands over
// directly to the next ready thread, so blocks without collectives never switch stacks.
#include "scheduler.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "cuda_model/model.h"
#include "cuda_model/vector_types.h"
#include "fiber.h"
#include "memory.h"
#include "order.h"
#include "races.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace cuda_model {
namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kWarp = 32;
constexpr int kMaxIdleYields = 100000;

enum class State : uint8_t { kFresh, kRunning, kWaiting, kFinished };

// Threads of one group that wait for the rest of it. A group is the block, or the lanes `mask` of a warp.
struct Meeting {
  unsigned mask = 0;
  unsigned expected = 0, arrived = 0;
  Site site{};
  Finish finish = nullptr;
  std::vector<void *> slot;
  std::vector<uint32_t> members; // places in the group, in order of arrival
};
// Meetings in progress; finished ones stay behind `open` for reuse.
struct Scope {
  std::vector<std::unique_ptr<Meeting>> meetings;
  size_t open = 0;
};

struct Thread {
  uint3 index;
  State state;
  bool arrived; // at a barrier of the cluster
  Site site;    // where it waits
  Fiber *fiber;
};

struct Block {
  unsigned rank = 0, size = 0, begun = 0, finished = 0, warps = 0; // rank: in the group
  uint3 index{};
  dim3 shape{0, 0, 0};
  Thread thread[kMaxThreads];
  unsigned live[kMaxThreads / kWarp];   // lanes that exist and have not returned
  Scope scope[1 + kMaxThreads / kWarp]; // the block, then each warp
};

// Threads have a place in it: their block's rank times kMaxThreads, and their number.
struct Group {
  std::vector<std::unique_ptr<Block>> blocks; // those of the largest group so far
  unsigned count = 0, finished = 0;           // blocks
  bool is_cluster = false;
  Scope cluster;
  void (*body)(void *) = nullptr;
  void *arguments = nullptr;
  std::vector<uint32_t> ready;
  unsigned first = 0, waiting = 0; // a ring of ready threads
  // Newest lets a warp run far ahead of the others; oldest keeps all in step. Drawn again at each barrier.
  enum class Pick { kOldest, kNewest, kAny } pick = Pick::kOldest;
  Random random{0};
  unsigned current = 0; // the thread that runs, of `block`
  int idle_yields = 0;
  bool running = false;
};

Group group;
Block *block = nullptr;
Fiber host;
Fiber *current_fiber = &host;
std::vector<std::unique_ptr<Fiber>> fibers;
std::vector<Fiber *> idle_fibers;

unsigned warp_of(unsigned thread) { return thread / kWarp; }

uint32_t place_of(unsigned thread) { return block->rank * kMaxThreads + thread; }

void push_ready(uint32_t place) { group.ready[(group.first + group.waiting++) % group.ready.size()] = place; }

// Behind all that are ready, whichever end they are taken from.
void push_last(uint32_t place) {
  if (group.pick != Group::Pick::kNewest)
    return push_ready(place);
  const unsigned size = static_cast<unsigned>(group.ready.size());
  group.first = (group.first + size - 1) % size;
  group.ready[group.first] = place;
  ++group.waiting;
}

// A group goes on from a random member, upwards or downwards.
template <class At> void push_rotated(unsigned count, At at) {
  uint64_t bits = group.random.next();
  unsigned start = static_cast<unsigned>((bits >> 1) % count);
  for (unsigned i = 0; i < count; ++i) {
    unsigned k = bits & 1 ? start + count - i : start + i;
    push_ready(at(k >= count ? k - count : k));
  }
}

void draw_pick() {
  constexpr Group::Pick kPicks[] = {Group::Pick::kOldest, Group::Pick::kNewest, Group::Pick::kNewest,
                                    Group::Pick::kAny};
  group.pick = kPicks[group.random.below(4)];
}

uint32_t pop_ready() {
  auto at = [](unsigned i) -> uint32_t & { return group.ready[(group.first + i) % group.ready.size()]; };
  if (group.pick == Group::Pick::kNewest)
    return at(--group.waiting);
  if (group.pick == Group::Pick::kAny)
    std::swap(at(0), at(static_cast<unsigned>(group.random.below(group.waiting))));
  uint32_t place = at(0);
  group.first = (group.first + 1) % static_cast<unsigned>(group.ready.size());
  --group.waiting;
  return place;
}

bool same_site(const Site &a, const Site &b) {
  return a.line == b.line && (a.what == b.what || strcmp(a.what, b.what) == 0);
}

// One line for every place where threads of the block are: how many, which is the first, and where.
std::string describe_threads() {
  std::string text;
  std::vector<bool> told(block->size);
  for (unsigned i = 0; i < block->size; ++i) {
    if (told[i])
      continue;
    const Thread &t = block->thread[i];
    auto alike = [&](const Thread &o) {
      return o.state == t.state && (t.state != State::kWaiting || same_site(o.site, t.site));
    };
    unsigned count = 0;
    for (unsigned k = i; k < block->size; ++k)
      if (alike(block->thread[k])) {
        told[k] = true;
        ++count;
      }
    char line[160];
    if (t.state == State::kWaiting)
      snprintf(line, sizeof line, "\n  %u threads wait in %s at line %d, first thread %u", count, t.site.what,
               t.site.line, i);
    else
      snprintf(line, sizeof line, "\n  %u threads %s, first thread %u", count,
               t.state == State::kFinished ? "have returned"
               : t.state == State::kFresh  ? "have not begun"
                                           : "run",
               i);
    text += line;
  }
  return text;
}

// The current thread has returned: whoever already waits for it waits in vain.
void leave_block() {
  unsigned self = group.current;
  block->thread[self].state = State::kFinished;
  block->live[warp_of(self)] &= ~(1U << self % kWarp);
  if (++block->finished == block->size)
    ++group.finished;
  if (group.cluster.open > 0)
    fail(Fault::kDeadlock, "a thread returns while others of the cluster wait for it%s", describe_threads().c_str());
  if (block->scope[0].open > 0)
    fail(Fault::kDeadlock, "a thread returns while others wait for it in a barrier%s", describe_threads().c_str());
  const Scope &warp = block->scope[1 + warp_of(self)];
  for (size_t i = 0; i < warp.open; ++i)
    if (warp.meetings[i]->mask >> (self % kWarp) & 1U)
      fail(Fault::kBadLanes, "lane %u returns while others of mask %08x wait for it%s", self % kWarp,
           warp.meetings[i]->mask, describe_threads().c_str());
}

void resume_next();

void fiber_main() {
  enter_fiber(&host);
  for (;;) {
    block->thread[group.current].state = State::kRunning;
    ++block->begun;
    group.body(group.arguments);
    leave_block();
    resume_next();
  }
}

Fiber *take_idle_fiber() {
  if (idle_fibers.empty()) {
    fibers.push_back(std::make_unique<Fiber>());
    make_fiber(fibers.back().get(), fiber_main, static_cast<unsigned>(fibers.size()));
    return fibers.back().get();
  }
  Fiber *fiber = idle_fibers.back();
  idle_fibers.pop_back();
  return fiber;
}

void go_to(Fiber *next) {
  if (next == current_fiber)
    return;
  Fiber *self = current_fiber;
  current_fiber = next;
  switch_fiber(self, next);
}

void set_current(uint32_t place) {
  block = group.blocks[place / kMaxThreads].get();
  group.current = place % kMaxThreads;
  threadIdx = block->thread[group.current].index;
  blockIdx = block->index;
  select_shared(block->rank);
  if (races_are_sought())
    order_thread(block->rank, group.current);
}

[[noreturn]] void fail_deadlock() {
  for (unsigned warp = 0; warp < block->warps; ++warp)
    if (block->scope[1 + warp].open > 0) {
      const Meeting &meeting = *block->scope[1 + warp].meetings[0];
      fail(Fault::kBadLanes, "%s at line %d: %u lanes of mask %08x never come%s", meeting.site.what, meeting.site.line,
           meeting.expected - meeting.arrived, meeting.mask, describe_threads().c_str());
    }
  fail(Fault::kDeadlock, "no thread of the %s can go on%s", group.count == 1 ? "block" : "blocks that run at once",
       describe_threads().c_str());
}

// Called on the fiber of a thread that has returned: goes on to the next one, or to the host after the last.
void resume_next() {
  if (group.finished == group.count) {
    idle_fibers.push_back(current_fiber);
    return go_to(&host);
  }
  if (group.waiting == 0)
    fail_deadlock();
  set_current(pop_ready());
  Thread &t = block->thread[group.current];
  if (t.state == State::kFresh)
    return; // this fiber runs it
  idle_fibers.push_back(current_fiber);
  go_to(t.fiber);
}

// Called by a thread that cannot go on; returns when it is its turn again.
void wait_turn() {
  if (group.waiting == 0)
    fail_deadlock();
  Thread &self = block->thread[group.current];
  self.fiber = current_fiber;
  set_current(pop_ready());
  Thread &t = block->thread[group.current];
  go_to(t.state == State::kFresh ? take_idle_fiber() : t.fiber);
  self.state = State::kRunning;
}

Meeting &find_meeting(Scope &scope, unsigned mask, unsigned expected, unsigned slots, Site site, Finish finish) {
  for (size_t i = 0; i < scope.open; ++i)
    if (scope.meetings[i]->mask == mask)
      return *scope.meetings[i];
  if (scope.open == scope.meetings.size())
    scope.meetings.push_back(std::make_unique<Meeting>());
  Meeting &meeting = *scope.meetings[scope.open++];
  meeting.mask = mask;
  meeting.expected = expected;
  meeting.arrived = 0;
  meeting.site = site;
  meeting.finish = finish;
  meeting.slot.assign(slots, nullptr);
  meeting.members.clear();
  return meeting;
}

// What the meeting of these threads orders. Shuffles and votes order nothing in memory.
void order_members(const Scope &scope, const Meeting &meeting) {
  if (&scope == &group.cluster)
    order_by_cluster();
  else if (&scope == &block->scope[0])
    order_by_block(block->rank);
  else if (strcmp(meeting.site.what, "__syncwarp") == 0)
    order_by_warp(block->rank, warp_of(group.current), meeting.mask);
}

void close_meeting(Scope &scope, Meeting &meeting) {
  if (meeting.finish) {
    pause_accesses(true);
    meeting.finish(Members{meeting.slot.data(), static_cast<unsigned>(meeting.slot.size())});
    pause_accesses(false);
  }
  if (races_are_sought())
    order_members(scope, meeting);
  auto &threads = meeting.members;
  push_rotated(static_cast<unsigned>(threads.size()), [&](unsigned i) { return threads[i]; });
  size_t place = 0;
  while (scope.meetings[place].get() != &meeting)
    ++place;
  std::swap(scope.meetings[place], scope.meetings[--scope.open]);
  group.idle_yields = 0;
  if (&scope == &block->scope[0] || &scope == &group.cluster)
    draw_pick();
}

void meet(Scope &scope, Meeting &meeting, unsigned slot, Site site, void *mine, Fault disagreement) {
  Thread &self = block->thread[group.current];
  self.site = site;
  self.state = State::kWaiting;
  if (!same_site(meeting.site, site))
    fail(disagreement, "threads of one group meet in different places: %s at line %d, and %s at line %d%s",
         meeting.site.what, meeting.site.line, site.what, site.line, describe_threads().c_str());
  meeting.slot[slot] = mine;
  meeting.members.push_back(place_of(group.current));
  if (++meeting.arrived == meeting.expected)
    close_meeting(scope, meeting);
  wait_turn();
}

void shape_block() {
  unsigned count = blockDim.x * blockDim.y * blockDim.z;
  if (block->size == count && block->shape.x == blockDim.x && block->shape.y == blockDim.y)
    return;
  block->size = count;
  block->shape = blockDim;
  block->warps = (count + kWarp - 1) / kWarp;
  for (unsigned i = 0; i < count; ++i)
    block->thread[i].index = uint3{i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
}

} // namespace

void meet_block(Site site, void *mine, Finish finish) {
  if (block->finished > 0)
    fail(Fault::kDeadlock, "%s at line %d after %u threads of the block have returned", site.what, site.line,
         block->finished);
  Scope &scope = block->scope[0];
  Meeting &meeting = find_meeting(scope, 0, block->size, block->size, site, finish);
  meet(scope, meeting, group.current, site, mine, Fault::kDeadlock);
}

void meet_warp(Site site, unsigned mask, void *mine, Finish finish) {
  unsigned self = group.current, warp = warp_of(self);
  if (!(mask >> (self % kWarp) & 1U))
    fail(Fault::kBadLanes, "%s at line %d: the mask %08x lacks the calling lane %u", site.what, site.line, mask,
         self % kWarp);
  if (unsigned missing = mask & ~block->live[warp]) {
    auto other = static_cast<unsigned>(__builtin_ctz(missing));
    fail(Fault::kBadLanes, "%s at line %d: lane %u of the mask %08x %s", site.what, site.line, other, mask,
         warp * kWarp + other >= block->size ? "does not exist" : "has returned");
  }
  Scope &scope = block->scope[1 + warp];
  auto expected = static_cast<unsigned>(__builtin_popcount(mask));
  Meeting &meeting = find_meeting(scope, mask, expected, kWarp, site, finish);
  meet(scope, meeting, self % kWarp, site, mine, Fault::kBadLanes);
}

unsigned lane() { return group.current % kWarp; }

void yield() {
  if (++group.idle_yields > kMaxIdleYields)
    fail_deadlock();
  if (group.waiting == 0)
    return;
  block->thread[group.current].state = State::kWaiting;
  block->thread[group.current].site = Site{"__nanosleep", 0};
  push_last(place_of(group.current));
  wait_turn();
}

void arrive_cluster() {
  bool &arrived = block->thread[group.current].arrived;
  if (arrived)
    fail(Fault::kDeadlock, "a thread arrives twice at one barrier of the cluster");
  arrived = true;
}

void wait_cluster(Site site) {
  bool &arrived = block->thread[group.current].arrived;
  if (!arrived)
    fail(Fault::kDeadlock, "%s at line %d by a thread that has not arrived", site.what, site.line);
  arrived = false;
  if (!group.is_cluster)
    return meet_block(site, nullptr, nullptr);
  unsigned threads = 0;
  for (unsigned i = 0; i < group.count; ++i) {
    const Block &b = *group.blocks[i];
    threads += b.size;
    if (b.finished > 0)
      fail(Fault::kDeadlock, "%s at line %d after %u threads of block %u of the cluster have returned", site.what,
           site.line, b.finished, i);
  }
  meet(group.cluster, find_meeting(group.cluster, 0, threads, 1, site, nullptr), 0, site, nullptr, Fault::kDeadlock);
}

unsigned char *cluster_shared(const void *own, unsigned rank) {
  if (!group.is_cluster && rank == 0)
    return shared_base() + shared_offset(own);
  if (!group.is_cluster || rank >= group.count)
    fail(Fault::kOutOfBounds, "block %u is not in the cluster", rank);
  const Block &b = *group.blocks[rank];
  if (rank != block->rank && (b.begun == 0 || b.finished > 0))
    fail(Fault::kOutOfBounds, "shared memory of block %u of the cluster, which %s", rank,
         b.begun == 0 ? "has not begun" : "has threads that returned");
  return shared_base(rank) + shared_offset(own);
}

void run_blocks(void (*thread)(void *), void *arguments, uint64_t seed, const std::vector<uint3> &blocks,
                bool is_cluster) {
  group.count = static_cast<unsigned>(blocks.size());
  group.is_cluster = is_cluster;
  group.body = thread;
  group.arguments = arguments;
  group.random = Random(seed);
  draw_pick();
  group.finished = 0;
  group.first = group.waiting = 0;
  group.idle_yields = 0;
  while (group.blocks.size() < blocks.size())
    group.blocks.push_back(std::make_unique<Block>());
  if (group.ready.size() < blocks.size() * kMaxThreads)
    group.ready.resize(blocks.size() * kMaxThreads);
  for (unsigned rank = 0; rank < group.count; ++rank) {
    block = group.blocks[rank].get();
    block->rank = rank;
    block->index = blocks[rank];
    block->begun = block->finished = 0;
    shape_block();
    for (unsigned i = 0; i < block->size; ++i) {
      block->thread[i].state = State::kFresh;
      block->thread[i].arrived = false;
    }
    for (unsigned warp = 0; warp < block->warps; ++warp)
      block->live[warp] = block->size - warp * kWarp >= kWarp ? ~0U : (1U << block->size % kWarp) - 1;
    push_rotated(block->size, [](unsigned i) { return place_of(i); });
  }
  if (races_are_sought()) {
    forget_shared_accesses();
    order_blocks(std::vector<unsigned>(blocks.size(), blockDim.x * blockDim.y * blockDim.z));
  }
  group.running = true;
  set_current(pop_ready());
  go_to(take_idle_fiber());
  group.running = false;
}

bool inside_kernel() { return group.running; }

bool is_own(const void *address) {
  const auto stack = reinterpret_cast<uintptr_t>(current_fiber->stack);
  return reinterpret_cast<uintptr_t>(address) - stack < current_fiber->stack_bytes || address == &threadIdx.x ||
         address == &blockIdx.x || address == &blockDim.x || address == &gridDim.x;
}

bool is_stack_overflow(const void *address) {
  for (const auto &fiber : fibers)
    if (below_stack(*fiber, address))
      return true;
  return false;
}

void fail(Fault fault, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fflush(nullptr);
  if (group.running)
    fprintf(stderr, "cuda model: block (%u, %u, %u) of (%u, %u, %u), thread (%u, %u, %u) of (%u, %u, %u): %s\n",
            blockIdx.x, blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z, threadIdx.x, threadIdx.y, threadIdx.z,
            blockDim.x, blockDim.y, blockDim.z, text);
  else
    fprintf(stderr, "cuda model: %s\n", text);
  fflush(stderr);
  _exit(static_cast<int>(fault));
}

} // namespace cuda_model
