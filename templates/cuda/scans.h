//@ scan_threads: block_threads
// The threads of a row in x, and the rows of a block in y: several where a warp will do for a row.
inline dim3 scan_threads(int64_t length, int64_t rows) {
  const unsigned threads = block_threads(length, rows);
  return dim3(threads, threads == 32 ? 8 : 1);
}
//@ block_scan: from_lane shared_memory
// Running totals along a row, of which the threads of a block, whole warps of them, have a tile: kElements
// side by side each. Where a row has one warp, the block may have others for other rows. `carry` is the total
// of what is before the tile, and then takes in the tile. The order is fixed; the total before an element has
// the bits of the total up to its neighbour.
template <bool kReverse, bool kExclusive, class T, int kElements, class Combine>
__device__ inline void block_scan(T (&values)[kElements], T& carry, Combine combine) {
  const unsigned thread = kReverse ? blockDim.x - 1 - threadIdx.x : threadIdx.x, lane = thread % 32,
                 warps = blockDim.x / 32;
  const auto before_me = [](unsigned distance) {
    return kReverse ? threadIdx.x + distance : threadIdx.x + 32 - distance;
  };
  const auto at = [](int i) { return kReverse ? kElements - 1 - i : i; };
#pragma unroll
  for (int i = 1; i < kElements; ++i) values[at(i)] = combine(values[at(i - 1)], values[at(i)]);
  T total = values[at(kElements - 1)];  // of the warp, up to this thread
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const T others = from_lane(total, before_me(distance));
    if (lane >= distance) total = combine(others, total);
  }
  const T before = from_lane(total, before_me(1));
  T start = carry;  // of what is before the warp
  if (warps == 1) {
    carry = combine(carry, from_lane(total, kReverse ? 0 : 31));
  } else {
    T* const slots = reinterpret_cast<T*>(shared_memory());
    __syncthreads();  // what the scan before has left there is read
    if (lane == 31) slots[thread / 32] = total;
    __syncthreads();
    for (unsigned warp = 0; warp < warps; ++warp) {
      if (warp == thread / 32) start = carry;
      carry = combine(carry, slots[warp]);
    }
  }
#pragma unroll
  for (int i = kElements - 1; i >= 0; --i) {
    const int last = kExclusive ? i - 1 : i;  // that the element's total takes in
    if (last < 0)
      values[at(i)] = lane == 0 ? start : combine(start, before);
    else if (last == kElements - 1)
      values[at(i)] = combine(start, total);
    else
      values[at(i)] = combine(start, lane == 0 ? values[at(last)] : combine(before, values[at(last)]));
  }
}
// The same of one element a thread.
template <bool kReverse, bool kExclusive, class T, class Combine>
__device__ inline T block_scan(T value, T& carry, Combine combine) {
  T values[1] = {value};
  block_scan<kReverse, kExclusive>(values, carry, combine);
  return values[0];
}
//@ block_scan_in_order: from_lane shared_memory
// The same one element after the other, each thread in its turn. `step(total, i)` goes on with the thread's
// element i.
template <bool kReverse, bool kExclusive, class T, int kElements, class Step>
__device__ inline void block_scan_in_order(T (&totals)[kElements], T& carry, Step step) {
  const unsigned thread = kReverse ? blockDim.x - 1 - threadIdx.x : threadIdx.x, lane = thread % 32,
                 warps = blockDim.x / 32;
  T* const slots = reinterpret_cast<T*>(shared_memory());
  if (warps > 1) __syncthreads();  // what the scan before has left there is read
  for (unsigned warp = 0; warp < warps; ++warp) {
    if (thread / 32 == warp) {
      if (warp > 0) carry = slots[warp - 1];
      for (unsigned turn = 0; turn < 32; ++turn) {
        T total = carry;
#pragma unroll
        for (int n = 0; n < kElements; ++n) {
          const int i = kReverse ? kElements - 1 - n : n;
          const T next = step(total, i);
          if (lane == turn) totals[i] = kExclusive ? total : next;
          total = next;
        }
        carry = from_lane(total, kReverse ? 31 - turn : turn);
      }
      if (warps > 1 && lane == 0) slots[warp] = carry;
    }
    if (warps > 1) __syncthreads();
  }
  if (warps > 1) carry = slots[warps - 1];
}
//@ any_of_row
// Does it hold for a thread of the row?
__device__ inline bool any_of_row(bool holds) {
  return (blockDim.x == 32 ? __any_sync(0xffffffffu, holds) : __syncthreads_or(holds)) != 0;
}
//@ Scaled: from_lane
// mantissa * 2^exponent: products of parts, which may be too large or too small for T where the whole is not.
template <class T>
struct Scaled {
  T mantissa;  // at least 1/2 and below 1, or no such number
  int exponent;

  __device__ inline static Scaled of(T value) {
    Scaled out{value, 0};
    if (value - value == 0) out.mantissa = T(frexp(value, &out.exponent));
    return out;
  }
  __device__ inline T times(T value) const { return T(ldexp(mantissa * value, exponent)); }
  // Is it a number that T cannot hold with all its bits?
  __device__ inline bool leaves_range() const {
    const int least = sizeof(T) == 4 ? -125 : -1021, most = sizeof(T) == 4 ? 128 : 1024;
    return mantissa - mantissa == 0 && mantissa != 0 && (exponent < least || exponent > most);
  }
  __device__ inline Scaled operator*(Scaled other) const {
    const T product = mantissa * other.mantissa;
    const bool half = product < T(0.5) && product > T(-0.5);
    return {half ? product + product : product, exponent + other.exponent - (half ? 1 : 0)};
  }
};
template <class T>
__device__ inline Scaled<T> from_lane(Scaled<T> value, unsigned lane, unsigned mask = 0xffffffffu,
                                      unsigned width = 32) {
  return {from_lane(value.mantissa, lane, mask, width), from_lane(value.exponent, lane, mask, width)};
}
//@ block_scan_products: block_scan block_scan_in_order Scaled any_of_row
// Running products as if in order, but for roundings: a tile within which they overflow or underflow goes in
// order.
template <bool kReverse, bool kExclusive, class T, int kElements>
__device__ inline void block_scan_products(T (&values)[kElements], T& carry) {
  Scaled<T> totals[kElements], last = Scaled<T>::of(carry);
#pragma unroll
  for (int i = 0; i < kElements; ++i) totals[i] = Scaled<T>::of(values[i]);
  block_scan<kReverse, kExclusive>(totals, last, [](Scaled<T> a, Scaled<T> b) { return a * b; });
  bool leaves = last.leaves_range();
#pragma unroll
  for (int i = 0; i < kElements; ++i) leaves = leaves || totals[i].leaves_range();
  if (any_of_row(leaves))
    return block_scan_in_order<kReverse, kExclusive>(values, carry,
                                                     [&](T total, int i) { return total * values[i]; });
#pragma unroll
  for (int i = 0; i < kElements; ++i) values[i] = totals[i].times(T(1));
  carry = last.times(T(1));
}
// The same of one element a thread.
template <bool kReverse, bool kExclusive, class T>
__device__ inline T block_scan_products(T value, T& carry) {
  T values[1] = {value};
  block_scan_products<kReverse, kExclusive>(values, carry);
  return values[0];
}
//@ block_scan_linear: block_scan block_scan_in_order Scaled any_of_row
// What some steps of a linear recurrence do: total -> factor * total + term.
template <class T>
struct Steps {
  Scaled<T> factor;
  T term;

  __device__ inline Steps then(Steps next) const {
    return {factor * next.factor, next.factor.times(term) + next.term};
  }
};
template <class T>
__device__ inline Steps<T> from_lane(Steps<T> steps, unsigned lane, unsigned mask = 0xffffffffu,
                                     unsigned width = 32) {
  return {from_lane(steps.factor, lane, mask, width), from_lane(steps.term, lane, mask, width)};
}
// The totals of a linear recurrence as if in order, but for roundings: a tile where one is not finite goes in
// order.
template <bool kReverse, bool kExclusive, class T, int kElements>
__device__ inline void block_scan_linear(T (&totals)[kElements], T& carry, const T (&factors)[kElements],
                                         const T (&terms)[kElements]) {
  Steps<T> steps[kElements], last = {Scaled<T>{0, 0}, carry};
#pragma unroll
  for (int i = 0; i < kElements; ++i) steps[i] = {Scaled<T>::of(factors[i]), terms[i]};
  block_scan<kReverse, kExclusive>(steps, last, [](Steps<T> a, Steps<T> b) { return a.then(b); });
  bool finite = last.term - last.term == 0;
#pragma unroll
  for (int i = 0; i < kElements; ++i) finite = finite && steps[i].term - steps[i].term == 0;
  if (any_of_row(!finite))
    return block_scan_in_order<kReverse, kExclusive>(
        totals, carry, [&](T total, int i) { return factors[i] * total + terms[i]; });
#pragma unroll
  for (int i = 0; i < kElements; ++i) totals[i] = steps[i].term;
  carry = last.term;
}
// The same of one element a thread.
template <bool kReverse, bool kExclusive, class T>
__device__ inline T block_scan_linear(T& carry, T factor, T term) {
  T totals[1];
  const T factors[1] = {factor}, terms[1] = {term};
  block_scan_linear<kReverse, kExclusive>(totals, carry, factors, terms);
  return totals[0];
}
