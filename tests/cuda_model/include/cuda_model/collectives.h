// Barriers, shuffles, votes and atomics of device code. Calls of a collective agree when they stand on one source line.
#pragma once

#include "model.h"

namespace cuda_model {

struct Vote {
  int value;
  unsigned result;
};
inline unsigned vote_block(Site site, int value, Finish finish) {
  Vote mine{value, 0};
  meet_block(site, &mine, finish);
  return mine.result;
}
inline unsigned vote_warp(Site site, unsigned mask, int value, Finish finish) {
  Vote mine{value, 0};
  meet_warp(site, mask, &mine, finish);
  return mine.result;
}
// Gives every member what `combine(result so far, member's value, member's index)` makes of all of them.
template <unsigned (*kCombine)(unsigned, int, unsigned), unsigned kStart> void combine_votes(const Members &members) {
  unsigned result = kStart;
  for (unsigned i = 0; i < members.count; ++i)
    if (members.slot[i])
      result = kCombine(result, static_cast<Vote *>(members.slot[i])->value, i);
  for (unsigned i = 0; i < members.count; ++i)
    if (members.slot[i])
      static_cast<Vote *>(members.slot[i])->result = result;
}
inline unsigned vote_or(unsigned all, int value, unsigned) { return all | (value != 0); }
inline unsigned vote_and(unsigned all, int value, unsigned) { return all & (value != 0); }
inline unsigned vote_count(unsigned all, int value, unsigned) { return all + (value != 0); }
inline unsigned vote_ballot(unsigned all, int value, unsigned i) { return value ? all | 1U << i : all; }

template <class T> struct Exchange {
  T value;
  T result;
  int source; // lane to read from; own lane where the hardware leaves the value as it is
};
template <class T> void exchange(const Members &members) {
  for (unsigned i = 0; i < members.count; ++i) {
    if (!members.slot[i])
      continue;
    auto &mine = *static_cast<Exchange<T> *>(members.slot[i]);
    void *source = members.slot[mine.source];
    if (!source)
      fail(Fault::kBadLanes, "lane %u of a shuffle reads lane %d, which is not in the mask", i, mine.source);
    mine.result = static_cast<Exchange<T> *>(source)->value;
  }
}
template <class T> T shuffle(Site site, unsigned mask, T value, int source) {
  Exchange<T> mine{value, value, source};
  meet_warp(site, mask, &mine, exchange<T>);
  return mine.result;
}
inline int segment_start(int width) { return static_cast<int>(lane()) & ~(width - 1); }
inline int source_direct(int index, int width) { return segment_start(width) | (index & (width - 1)); }
inline int source_up(unsigned delta, int width) {
  int from = static_cast<int>(lane()) - static_cast<int>(delta & 31);
  return from < segment_start(width) ? static_cast<int>(lane()) : from;
}
inline int source_down(unsigned delta, int width) {
  int from = static_cast<int>(lane()) + static_cast<int>(delta & 31);
  return from > (segment_start(width) | (width - 1)) ? static_cast<int>(lane()) : from;
}
inline int source_xor(int bits, int width) {
  int from = static_cast<int>(lane()) ^ (bits & 31);
  return from > (segment_start(width) | (width - 1)) ? static_cast<int>(lane()) : from;
}

template <class T> struct Reduce {
  T value;
  T result;
};
template <class T, T (*kCombine)(T, T)> void reduce(const Members &members) {
  bool first = true;
  T all{};
  for (unsigned i = 0; i < members.count; ++i)
    if (members.slot[i]) {
      T value = static_cast<Reduce<T> *>(members.slot[i])->value;
      all = first ? value : kCombine(all, value);
      first = false;
    }
  for (unsigned i = 0; i < members.count; ++i)
    if (members.slot[i])
      static_cast<Reduce<T> *>(members.slot[i])->result = all;
}
template <class T, T (*kCombine)(T, T)> T reduce_warp(Site site, unsigned mask, T value) {
  Reduce<T> mine{value, value};
  meet_warp(site, mask, &mine, reduce<T, kCombine>);
  return mine.result;
}
template <class T> T plus(T a, T b) { return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b)); }
template <class T> T least(T a, T b) { return b < a ? b : a; }
template <class T> T greatest(T a, T b) { return a < b ? b : a; }
template <class T> T bit_and(T a, T b) { return a & b; }
template <class T> T bit_or(T a, T b) { return a | b; }
template <class T> T bit_xor(T a, T b) { return a ^ b; }

} // namespace cuda_model

inline void __syncthreads(int line = __builtin_LINE()) {
  cuda_model::meet_block({"__syncthreads", line}, nullptr, nullptr);
}
inline int __syncthreads_or(int value, int line = __builtin_LINE()) {
  using namespace cuda_model;
  return static_cast<int>(vote_block({"__syncthreads_or", line}, value, combine_votes<vote_or, 0>));
}
inline int __syncthreads_and(int value, int line = __builtin_LINE()) {
  using namespace cuda_model;
  return static_cast<int>(vote_block({"__syncthreads_and", line}, value, combine_votes<vote_and, 1>));
}
inline int __syncthreads_count(int value, int line = __builtin_LINE()) {
  using namespace cuda_model;
  return static_cast<int>(vote_block({"__syncthreads_count", line}, value, combine_votes<vote_count, 0>));
}
inline void __syncwarp(unsigned mask = 0xffffffffU, int line = __builtin_LINE()) {
  cuda_model::meet_warp({"__syncwarp", line}, mask, nullptr, nullptr);
}
inline unsigned __ballot_sync(unsigned mask, int value, int line = __builtin_LINE()) {
  using namespace cuda_model;
  return vote_warp({"__ballot_sync", line}, mask, value, combine_votes<vote_ballot, 0>);
}
inline int __any_sync(unsigned mask, int value, int line = __builtin_LINE()) {
  using namespace cuda_model;
  return static_cast<int>(vote_warp({"__any_sync", line}, mask, value, combine_votes<vote_or, 0>));
}
inline int __all_sync(unsigned mask, int value, int line = __builtin_LINE()) {
  using namespace cuda_model;
  return static_cast<int>(vote_warp({"__all_sync", line}, mask, value, combine_votes<vote_and, 1>));
}
// The hardware promises no more than that the caller is in it.
inline unsigned __activemask() { return 1U << cuda_model::lane(); }

// One overload a type, as in the toolkit: what does not compile there must not compile here.
#define CUDA_MODEL_SHUFFLES(T)                                                                                         \
  inline T __shfl_sync(unsigned mask, T v, int from, int width = 32, int line = __builtin_LINE()) {                    \
    return cuda_model::shuffle<T>({"__shfl_sync", line}, mask, v, cuda_model::source_direct(from, width));             \
  }                                                                                                                    \
  inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, int line = __builtin_LINE()) {           \
    return cuda_model::shuffle<T>({"__shfl_up_sync", line}, mask, v, cuda_model::source_up(delta, width));             \
  }                                                                                                                    \
  inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, int line = __builtin_LINE()) {         \
    return cuda_model::shuffle<T>({"__shfl_down_sync", line}, mask, v, cuda_model::source_down(delta, width));         \
  }                                                                                                                    \
  inline T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32, int line = __builtin_LINE()) {                \
    return cuda_model::shuffle<T>({"__shfl_xor_sync", line}, mask, v, cuda_model::source_xor(bits, width));            \
  }
CUDA_MODEL_SHUFFLES(int)
CUDA_MODEL_SHUFFLES(unsigned)
CUDA_MODEL_SHUFFLES(long)
CUDA_MODEL_SHUFFLES(unsigned long)
CUDA_MODEL_SHUFFLES(long long)
CUDA_MODEL_SHUFFLES(unsigned long long)
CUDA_MODEL_SHUFFLES(float)
CUDA_MODEL_SHUFFLES(double)
#undef CUDA_MODEL_SHUFFLES

#define CUDA_MODEL_REDUCE(name, T, combine)                                                                            \
  inline T name(unsigned mask, T value, int line = __builtin_LINE()) {                                                 \
    return cuda_model::reduce_warp<T, cuda_model::combine<T>>({#name, line}, mask, value);                             \
  }
CUDA_MODEL_REDUCE(__reduce_add_sync, int, plus)
CUDA_MODEL_REDUCE(__reduce_add_sync, unsigned, plus)
CUDA_MODEL_REDUCE(__reduce_min_sync, int, least)
CUDA_MODEL_REDUCE(__reduce_min_sync, unsigned, least)
CUDA_MODEL_REDUCE(__reduce_max_sync, int, greatest)
CUDA_MODEL_REDUCE(__reduce_max_sync, unsigned, greatest)
CUDA_MODEL_REDUCE(__reduce_and_sync, unsigned, bit_and)
CUDA_MODEL_REDUCE(__reduce_or_sync, unsigned, bit_or)
CUDA_MODEL_REDUCE(__reduce_xor_sync, unsigned, bit_xor)
#undef CUDA_MODEL_REDUCE

inline void __cluster_barrier_arrive() { cuda_model::arrive_cluster(); }
inline void __cluster_barrier_wait(int line = __builtin_LINE()) {
  cuda_model::wait_cluster({"__cluster_barrier_wait", line});
}
inline void *__cluster_map_shared_rank(const void *own, unsigned rank) { return cuda_model::cluster_shared(own, rank); }
inline void __threadfence() { cuda_model::fence(); }
inline void __threadfence_block() {}
inline void __threadfence_system() { cuda_model::fence(); }
inline void __nanosleep(unsigned) { cuda_model::yield(); }

// Threads change places in collectives alone, so a plain update is atomic.
#define CUDA_MODEL_ATOMIC(name, T, expression)                                                                         \
  inline T name(T *address, T value) {                                                                                 \
    const cuda_model::AtomicAccess access(address, sizeof(T));                                                         \
    T old = *address;                                                                                                  \
    *address = expression;                                                                                             \
    return old;                                                                                                        \
  }
CUDA_MODEL_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
CUDA_MODEL_ATOMIC(atomicAdd, unsigned, old + value)
CUDA_MODEL_ATOMIC(atomicAdd, unsigned long long, old + value)
CUDA_MODEL_ATOMIC(atomicAdd, float, old + value)
CUDA_MODEL_ATOMIC(atomicAdd, double, old + value)
CUDA_MODEL_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
CUDA_MODEL_ATOMIC(atomicSub, unsigned, old - value)
CUDA_MODEL_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
CUDA_MODEL_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
#define CUDA_MODEL_ATOMIC_ORDERED(T)                                                                                   \
  CUDA_MODEL_ATOMIC(atomicMax, T, old < value ? value : old)                                                           \
  CUDA_MODEL_ATOMIC(atomicMin, T, value < old ? value : old)
CUDA_MODEL_ATOMIC_ORDERED(int)
CUDA_MODEL_ATOMIC_ORDERED(unsigned)
CUDA_MODEL_ATOMIC_ORDERED(long long)
CUDA_MODEL_ATOMIC_ORDERED(unsigned long long)
#define CUDA_MODEL_ATOMIC_BITS(T)                                                                                      \
  CUDA_MODEL_ATOMIC(atomicAnd, T, old &value)                                                                          \
  CUDA_MODEL_ATOMIC(atomicOr, T, old | value)                                                                          \
  CUDA_MODEL_ATOMIC(atomicXor, T, old ^ value)
CUDA_MODEL_ATOMIC_BITS(int)
CUDA_MODEL_ATOMIC_BITS(unsigned)
CUDA_MODEL_ATOMIC_BITS(unsigned long long)
CUDA_MODEL_ATOMIC(atomicExch, int, value)
CUDA_MODEL_ATOMIC(atomicExch, unsigned, value)
CUDA_MODEL_ATOMIC(atomicExch, unsigned long long, value)
CUDA_MODEL_ATOMIC(atomicExch, float, value)
#undef CUDA_MODEL_ATOMIC_BITS
#undef CUDA_MODEL_ATOMIC_ORDERED
#undef CUDA_MODEL_ATOMIC

#define CUDA_MODEL_CAS(T)                                                                                              \
  inline T atomicCAS(T *address, T compare, T value) {                                                                 \
    const cuda_model::AtomicAccess access(address, sizeof(T), static_cast<uint64_t>(compare ^ value));                 \
    T old = *address;                                                                                                  \
    if (old == compare)                                                                                                \
      *address = value;                                                                                                \
    return old;                                                                                                        \
  }
CUDA_MODEL_CAS(int)
CUDA_MODEL_CAS(unsigned)
CUDA_MODEL_CAS(unsigned long long)
CUDA_MODEL_CAS(unsigned short)
#undef CUDA_MODEL_CAS
