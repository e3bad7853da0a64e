// Positions that are compared and converted without a vector of them, straight from the templates: each against what
// the same numbers say one by one, near the ends of all vectors and of 64 bits.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>

namespace {

#include "openmp/lanes.h"

int failures = 0;

void expect(bool holds, const char *what, int lanes, int step, int64_t first, int64_t other) {
  if (!holds && ++failures <= 20)
    std::printf("%s of %d lanes, step %d, from %lld with %lld\n", what, lanes, step, (long long)first,
                (long long)other);
}

template <int N, class Number, class Lane> bool all_alike(Mask<N> found, const Number &number, const Lane &lane_says) {
  for (int lane = 0; lane < N; ++lane)
    if (found.has(lane) != lane_says(number(lane)))
      return false;
  return true;
}

template <int N, int kStep> void compare(int64_t first, int64_t other) {
  const auto number = [=](int lane) { return first + kStep * lane; };
  const auto distance = [=](int lane) { return number(lane) < 0 ? -number(lane) : number(lane); };
  const Positions<N, kStep> at{first};
  const auto both = [&](const auto &positions, const auto &value, const char *what) {
    expect(all_alike(positions < other, value, [=](int64_t v) { return v < other; }), what, N, kStep, first, other);
    expect(all_alike(positions <= other, value, [=](int64_t v) { return v <= other; }), what, N, kStep, first, other);
    expect(all_alike(positions > other, value, [=](int64_t v) { return v > other; }), what, N, kStep, first, other);
    expect(all_alike(positions >= other, value, [=](int64_t v) { return v >= other; }), what, N, kStep, first, other);
    expect(all_alike(positions == other, value, [=](int64_t v) { return v == other; }), what, N, kStep, first, other);
    expect(all_alike(positions != other, value, [=](int64_t v) { return v != other; }), what, N, kStep, first, other);
  };
  both(at, number, "Positions");
  both(absolute(at), distance, "Distances");
}

template <class T, int N, int kStep> void convert_one(int64_t first) {
  const Lanes<T, N> got = positions_as<T, N, kStep>(first);
  for (int lane = 0; lane < N; ++lane)
    expect(got[lane] == T(first + kStep * lane), "positions_as", N, kStep, first, lane);
}

template <int N, int kStep> void try_step() {
  const int64_t reach = int64_t(N) * kStep, far = int64_t(1) << 62;
  for (const int64_t base : {int64_t(0), reach, -reach, int64_t(1) << 31, int64_t(1) << 40, far, -far})
    for (int64_t past = -2; past <= 2; ++past) {
      for (const int64_t by : {int64_t(0), reach / 2, reach, -reach, -reach / 2, 2 * reach})
        compare<N, kStep>(base + past, base + by);
      for (const int64_t other : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()})
        compare<N, kStep>(base + past, other);
      compare<N, kStep>(base + past, -base - past);
    }
  for (const int64_t base :
       {int64_t(0), int64_t(1) << 24, -(int64_t(1) << 24), int64_t(1) << 31, int64_t(1) << 53, far})
    for (int64_t past = -2 * reach - 3; past <= 2 * reach + 3; past += kStep < 0 ? -kStep : kStep) {
      if constexpr (N <= kLanes32) {
        convert_one<float, N, kStep>(base + past);
        convert_one<int32_t, N, kStep>(base + past);
        convert_one<uint32_t, N, kStep>(base + past);
      }
      if constexpr (N <= kLanes64)
        convert_one<double, N, kStep>(base + past);
    }
}

template <int N> void try_lanes() {
  try_step<N, 1>();
  try_step<N, -1>();
  if constexpr (N <= kLanes32) {
    try_step<N, 2>();
    try_step<N, 3>();
    try_step<N, -7>();
    try_step<N, 4096>();
  }
}

} // namespace

int main() {
  try_lanes<kLanes8>();
  try_lanes<kLanes16>();
  try_lanes<kLanes32>();
  try_lanes<kLanes64>();
  std::printf("%d failures\n", failures);
  return failures > 0 ? 1 : 0;
}
