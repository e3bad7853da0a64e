// Runs the threads of one block. A fiber runs one thread after another; only a thread that must wait in a meeting keeps
// its fiber and hands over directly to the next ready thread, so blocks without collectives never switch stacks.
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
  std::vector<uint16_t> members; // threads, in order of arrival
};
// Meetings in progress; finished ones stay behind `open` for reuse.
struct Scope {
  std::vector<std::unique_ptr<Meeting>> meetings;
  size_t open = 0;
};

struct Thread {
  uint3 index;
  State state;
  Site site; // where it waits
  Fiber *fiber;
};

struct Block {
  unsigned size = 0, finished = 0, warps = 0;
  dim3 shape{0, 0, 0};
  void (*body)(void *) = nullptr;
  void *arguments = nullptr;
  Thread thread[kMaxThreads];
  unsigned live[kMaxThreads / kWarp];   // lanes that exist and have not returned
  Scope scope[1 + kMaxThreads / kWarp]; // the block, then each warp
  uint16_t ready[kMaxThreads];
  unsigned first = 0, waiting = 0; // a ring of ready threads
  // Newest lets a warp run far ahead of the others; oldest keeps all in step. Drawn again at each barrier.
  enum class Pick { kOldest, kNewest, kAny } pick = Pick::kOldest;
  Random random{0};
  unsigned current = 0;
  int idle_yields = 0;
  bool running = false;
};

Block block;
Fiber host;
Fiber *current_fiber = &host;
std::vector<std::unique_ptr<Fiber>> fibers;
std::vector<Fiber *> idle_fibers;

unsigned warp_of(unsigned thread) { return thread / kWarp; }

void push_ready(unsigned thread) {
  block.ready[(block.first + block.waiting++) % kMaxThreads] = static_cast<uint16_t>(thread);
}

// A group goes on from a random member, upwards or downwards.
template <class At> void push_rotated(unsigned count, At at) {
  uint64_t bits = block.random.next();
  unsigned start = static_cast<unsigned>((bits >> 1) % count);
  for (unsigned i = 0; i < count; ++i) {
    unsigned k = bits & 1 ? start + count - i : start + i;
    push_ready(at(k >= count ? k - count : k));
  }
}

void draw_pick() {
  constexpr Block::Pick kPicks[] = {Block::Pick::kOldest, Block::Pick::kNewest, Block::Pick::kNewest,
                                    Block::Pick::kAny};
  block.pick = kPicks[block.random.below(4)];
}

unsigned pop_ready() {
  auto at = [](unsigned i) -> uint16_t & { return block.ready[(block.first + i) % kMaxThreads]; };
  if (block.pick == Block::Pick::kNewest)
    return at(--block.waiting);
  if (block.pick == Block::Pick::kAny)
    std::swap(at(0), at(static_cast<unsigned>(block.random.below(block.waiting))));
  unsigned thread = at(0);
  block.first = (block.first + 1) % kMaxThreads;
  --block.waiting;
  return thread;
}

bool same_site(const Site &a, const Site &b) {
  return a.line == b.line && (a.what == b.what || strcmp(a.what, b.what) == 0);
}

// One line for every place where threads of the block are: how many, which is the first, and where.
std::string describe_threads() {
  std::string text;
  std::vector<bool> told(block.size);
  for (unsigned i = 0; i < block.size; ++i) {
    if (told[i])
      continue;
    const Thread &t = block.thread[i];
    auto alike = [&](const Thread &o) {
      return o.state == t.state && (t.state != State::kWaiting || same_site(o.site, t.site));
    };
    unsigned count = 0;
    for (unsigned k = i; k < block.size; ++k)
      if (alike(block.thread[k])) {
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
  unsigned self = block.current;
  block.thread[self].state = State::kFinished;
  block.live[warp_of(self)] &= ~(1U << self % kWarp);
  ++block.finished;
  if (block.scope[0].open > 0)
    fail(Fault::kDeadlock, "a thread returns while others wait for it in a barrier%s", describe_threads().c_str());
  const Scope &warp = block.scope[1 + warp_of(self)];
  for (size_t i = 0; i < warp.open; ++i)
    if (warp.meetings[i]->mask >> (self % kWarp) & 1U)
      fail(Fault::kBadLanes, "lane %u returns while others of mask %08x wait for it%s", self % kWarp,
           warp.meetings[i]->mask, describe_threads().c_str());
}

void resume_next();

void fiber_main() {
  enter_fiber(&host);
  for (;;) {
    block.thread[block.current].state = State::kRunning;
    block.body(block.arguments);
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

void set_current(unsigned thread) {
  block.current = thread;
  threadIdx = block.thread[thread].index;
}

[[noreturn]] void fail_deadlock() {
  for (unsigned warp = 0; warp < block.warps; ++warp)
    if (block.scope[1 + warp].open > 0) {
      const Meeting &meeting = *block.scope[1 + warp].meetings[0];
      fail(Fault::kBadLanes, "%s at line %d: %u lanes of mask %08x never come%s", meeting.site.what, meeting.site.line,
           meeting.expected - meeting.arrived, meeting.mask, describe_threads().c_str());
    }
  fail(Fault::kDeadlock, "no thread of the block can go on%s", describe_threads().c_str());
}

// Called on the fiber of a thread that has returned: goes on to the next one, or to the host after the last.
void resume_next() {
  if (block.finished == block.size) {
    idle_fibers.push_back(current_fiber);
    return go_to(&host);
  }
  if (block.waiting == 0)
    fail_deadlock();
  set_current(pop_ready());
  Thread &t = block.thread[block.current];
  if (t.state == State::kFresh)
    return; // this fiber runs it
  idle_fibers.push_back(current_fiber);
  go_to(t.fiber);
}

// Called by a thread that cannot go on; returns when it is its turn again.
void wait_turn() {
  if (block.waiting == 0)
    fail_deadlock();
  Thread &self = block.thread[block.current];
  self.fiber = current_fiber;
  set_current(pop_ready());
  Thread &t = block.thread[block.current];
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

void close_meeting(Scope &scope, Meeting &meeting) {
  if (meeting.finish)
    meeting.finish(Members{meeting.slot.data(), static_cast<unsigned>(meeting.slot.size())});
  auto &threads = meeting.members;
  push_rotated(static_cast<unsigned>(threads.size()), [&](unsigned i) { return threads[i]; });
  size_t place = 0;
  while (scope.meetings[place].get() != &meeting)
    ++place;
  std::swap(scope.meetings[place], scope.meetings[--scope.open]);
  block.idle_yields = 0;
  if (&scope == &block.scope[0])
    draw_pick();
}

void meet(Scope &scope, Meeting &meeting, unsigned slot, Site site, void *mine, Fault disagreement) {
  Thread &self = block.thread[block.current];
  self.site = site;
  self.state = State::kWaiting;
  if (!same_site(meeting.site, site))
    fail(disagreement, "threads of one group meet in different places: %s at line %d, and %s at line %d%s",
         meeting.site.what, meeting.site.line, site.what, site.line, describe_threads().c_str());
  meeting.slot[slot] = mine;
  meeting.members.push_back(static_cast<uint16_t>(block.current));
  if (++meeting.arrived == meeting.expected)
    close_meeting(scope, meeting);
  wait_turn();
}

void shape_block() {
  unsigned count = blockDim.x * blockDim.y * blockDim.z;
  if (block.size == count && block.shape.x == blockDim.x && block.shape.y == blockDim.y)
    return;
  block.size = count;
  block.shape = blockDim;
  block.warps = (count + kWarp - 1) / kWarp;
  for (unsigned i = 0; i < count; ++i)
    block.thread[i].index = uint3{i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
}

} // namespace

void meet_block(Site site, void *mine, Finish finish) {
  if (block.finished > 0)
    fail(Fault::kDeadlock, "%s at line %d after %u threads of the block have returned", site.what, site.line,
         block.finished);
  Scope &scope = block.scope[0];
  Meeting &meeting = find_meeting(scope, 0, block.size, block.size, site, finish);
  meet(scope, meeting, block.current, site, mine, Fault::kDeadlock);
}

void meet_warp(Site site, unsigned mask, void *mine, Finish finish) {
  unsigned self = block.current, warp = warp_of(self);
  if (!(mask >> (self % kWarp) & 1U))
    fail(Fault::kBadLanes, "%s at line %d: the mask %08x lacks the calling lane %u", site.what, site.line, mask,
         self % kWarp);
  if (unsigned missing = mask & ~block.live[warp]) {
    auto other = static_cast<unsigned>(__builtin_ctz(missing));
    fail(Fault::kBadLanes, "%s at line %d: lane %u of the mask %08x %s", site.what, site.line, other, mask,
         warp * kWarp + other >= block.size ? "does not exist" : "has returned");
  }
  Scope &scope = block.scope[1 + warp];
  auto expected = static_cast<unsigned>(__builtin_popcount(mask));
  Meeting &meeting = find_meeting(scope, mask, expected, kWarp, site, finish);
  meet(scope, meeting, self % kWarp, site, mine, Fault::kBadLanes);
}

unsigned lane() { return block.current % kWarp; }

void yield() {
  if (++block.idle_yields > kMaxIdleYields)
    fail_deadlock();
  if (block.waiting == 0)
    return;
  block.thread[block.current].state = State::kWaiting;
  block.thread[block.current].site = Site{"__nanosleep", 0};
  push_ready(block.current);
  wait_turn();
}

void run_block(void (*thread)(void *), void *arguments, uint64_t seed) {
  shape_block();
  block.body = thread;
  block.arguments = arguments;
  block.random = Random(seed);
  draw_pick();
  block.finished = 0;
  block.first = block.waiting = 0;
  block.idle_yields = 0;
  for (unsigned i = 0; i < block.size; ++i)
    block.thread[i].state = State::kFresh;
  for (unsigned warp = 0; warp < block.warps; ++warp)
    block.live[warp] = block.size - warp * kWarp >= kWarp ? ~0U : (1U << block.size % kWarp) - 1;
  push_rotated(block.size, [](unsigned i) { return i; });
  block.running = true;
  set_current(pop_ready());
  go_to(take_idle_fiber());
  block.running = false;
}

bool inside_kernel() { return block.running; }

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
  if (block.running)
    fprintf(stderr, "cuda model: block (%u, %u, %u) of (%u, %u, %u), thread (%u, %u, %u) of (%u, %u, %u): %s\n",
            blockIdx.x, blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z, threadIdx.x, threadIdx.y, threadIdx.z,
            blockDim.x, blockDim.y, blockDim.z, text);
  else
    fprintf(stderr, "cuda model: %s\n", text);
  fflush(stderr);
  _exit(static_cast<int>(fault));
}

} // namespace cuda_model
