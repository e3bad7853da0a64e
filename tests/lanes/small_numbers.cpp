// Small numbers in vectors, straight from the templates: widened, multiplied in pairs, and taken out of records, each
// against what the same says of one number after the other.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

namespace {

#include "openmp/lanes.h"

int64_t smaller(int64_t a, int64_t b) {
  return std::min(a, b);
} // what the printer would put here, from the common ones

#include "openmp/memory.h"

#include "openmp/extremes.h"

#include "openmp/conversions.h"

#include "openmp/folds.h"

int failures = 0;
std::mt19937 random_bits(1);

void expect(bool holds, const char *what, size_t from, size_t to, int lanes) {
  if (!holds && ++failures <= 20)
    std::printf("%s from %zu to %zu bytes of %d lanes\n", what, from, to, lanes);
}

// Its ends, and what lies between.
template <class T> T any_number() {
  const uint32_t bits = uint32_t(random_bits());
  return bits % 8 == 0 ? std::numeric_limits<T>::min() : bits % 8 == 1 ? std::numeric_limits<T>::max() : T(bits >> 3);
}

template <class T, int N> Lanes<T, N> any_lanes() {
  T numbers[N];
  for (T &number : numbers)
    number = any_number<T>();
  return load(numbers, AllLanes<N>{});
}

template <class To, class T, int N> void widen() {
  const Lanes<T, N> from = any_lanes<T, N>();
  Lanes<To, N> to;
  if constexpr (sizeof(T) == 1)
    to = widened_bytes<To>(from);
  else
    to = widened<To>(from);
  for (int lane = 0; lane < N; ++lane)
    expect(to[lane] == To(from[lane]), "widened", sizeof(T), sizeof(To), N);
}

template <int N> void multiply() {
  const Lanes<int16_t, N> a = any_lanes<int16_t, N>(), b = any_lanes<int16_t, N>();
  const Lanes<int32_t, N / 2> pairs = multiply_pairs(a, b);
  for (int pair = 0; pair < N / 2; ++pair) {
    const int64_t sum = int64_t(a[2 * pair]) * b[2 * pair] + int64_t(a[2 * pair + 1]) * b[2 * pair + 1];
    expect(uint32_t(pairs[pair]) == uint32_t(sum), "multiply_pairs", 2, 4, N);
  }
  ShortSum<N> sum = 3;
  sum.add(a, b);
  sum.add(a, 1);
  uint32_t total = 3 * N / 2;
  for (int lane = 0; lane < N; ++lane)
    total += uint32_t(a[lane]) * uint32_t(b[lane]) + uint32_t(a[lane]);
  expect(uint32_t(across(sum, [](auto one, auto other) { return one + other; })) == total, "ShortSum", 2, 4, N);
}

template <class T, int N, int kFields, int kField> void take_field() {
  T records[N * kFields];
  for (T &number : records)
    number = any_number<T>();
  const Lanes<T, N> all = load_field<kFields, kField>(records, AllLanes<N>{});
  for (int lane = 0; lane < N; ++lane)
    expect(all[lane] == records[lane * kFields + kField], "load_field", sizeof(T), kFields, N);
  for (int count = 1; count < N; ++count) {
    const Lanes<T, N> first = load_field<kFields, kField>(records, FirstLanes<N>{count});
    for (int lane = 0; lane < count; ++lane)
      expect(first[lane] == records[lane * kFields + kField], "load_field of some", sizeof(T), kFields, N);
  }
}

template <class T, int N, int kFields> void put_fields() {
  Lanes<T, N> fields[kFields];
  for (auto &field : fields)
    field = any_lanes<T, N>();
  for (int count = 1; count <= N; ++count) {
    T records[N * kFields] = {};
    if (count == N)
      store_fields(records, AllLanes<N>{}, fields);
    else
      store_fields(records, FirstLanes<N>{count}, fields);
    for (int i = 0; i < N * kFields; ++i)
      expect(records[i] == (i < count * kFields ? fields[i % kFields][i / kFields] : T(0)), "store_fields", sizeof(T),
             kFields, N);
  }
}

template <class T, int N> void take_fields() {
  put_fields<T, N, 2>();
  put_fields<T, N, 3>();
  put_fields<T, N, 4>();

  take_field<T, N, 2, 0>();
  take_field<T, N, 2, 1>();
  take_field<T, N, 3, 0>();
  take_field<T, N, 3, 1>();
  take_field<T, N, 3, 2>();
  take_field<T, N, 4, 0>();
  take_field<T, N, 4, 3>();
}

template <int N> void try_lanes() {
  if constexpr (N <= kLanes16) {
    widen<int16_t, int8_t, N>();
    widen<int16_t, uint8_t, N>();
    multiply<N>();
    take_fields<int16_t, N>();
  }
  if constexpr (N <= kLanes32) {
    widen<int32_t, int8_t, N>();
    widen<int32_t, uint8_t, N>();
    widen<int32_t, int16_t, N>();
    widen<uint32_t, uint8_t, N>();
    widen<uint32_t, uint16_t, N>();
    take_fields<int32_t, N>();
  }
  if constexpr (N <= kLanes64) {
    widen<int64_t, int8_t, N>();
    widen<int64_t, uint8_t, N>();
    widen<int64_t, int16_t, N>();
    take_fields<int64_t, N>();
  }
  take_fields<uint8_t, N>();
}

} // namespace

int main() {
  for (int round = 0; round < 200; ++round) {
    try_lanes<kLanes8>();
    try_lanes<kLanes16>();
    try_lanes<kLanes32>();
    try_lanes<kLanes64>();
  }
  std::printf("%d failures\n", failures);
  return failures > 0 ? 1 : 0;
}
