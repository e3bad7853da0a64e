// Emitted division of many numbers by one beside the machine's, and extremes beside a plain loop: numbers of all bit
// patterns, and the special ones. Exit code 1: a quotient is off by more than a unit in its last place, an infinity or
// NaN is wrong, or so is an extreme.
#include "division.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

template <class T> bool is_close(T found, T right) {
  if (std::isnan(right) || std::isinf(right))
    return std::isnan(right) ? std::isnan(found) : found == right;
  if (std::signbit(found) != std::signbit(right)) // -0 stays -0
    return false;
  return std::fabs(found - right) <= 2 * (std::nextafter(std::fabs(right), T(INFINITY)) - std::fabs(right));
}

template <class T, class Divide> int64_t faults(const Divide &divide) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> special = {0,
                                  T(-0.0),
                                  1,
                                  -1,
                                  T(INFINITY),
                                  -T(INFINITY),
                                  T(NAN),
                                  Limits::max(),
                                  Limits::lowest(),
                                  Limits::min(),
                                  Limits::denorm_min(),
                                  3,
                                  T(0.1),
                                  Limits::max() / 4,
                                  Limits::min() * 3};
  std::mt19937_64 random(1);
  const auto any = [&] {
    T value;
    const uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  int64_t count = 0;
  for (size_t round = 0; round < 3000; ++round) {
    const T by = round < special.size() ? special[round] : any();
    std::vector<T> x(special), y(503);
    while (x.size() < y.size())
      x.push_back(any());
    if (round % 2 == 1) // extremes without NaN
      for (T &value : x)
        value = std::isnan(value) ? T(1) : value;
    T greatest = 0, least = 0, high = -T(INFINITY), low = T(INFINITY);
    divide(x.data(), by, y.data(), &greatest, &least, int64_t(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      high = std::isnan(x[i]) || x[i] > high ? x[i] : high;
      low = std::isnan(x[i]) || x[i] < low ? x[i] : low;
      if (std::isnan(x[i])) {
        high = low = x[i];
        break;
      }
    }
    for (size_t i = 0; i < x.size(); ++i)
      count += is_close(y[i], T(x[i] / by)) ? 0 : 1;
    count += (is_close(greatest, high) ? 0 : 1) + (is_close(least, low) ? 0 : 1);
  }
  return count;
}

} // namespace

int main() {
  const int64_t single = faults<float>([](const float *x, float s, float *y, float *greatest, float *least, int64_t n) {
    division_f32_openmp(x, s, y, greatest, least, n, nullptr, 0);
  });
  const int64_t twice = faults<double>([](const double *x, double s, double *y, double *greatest, double *least,
                                          int64_t n) { division_f64_openmp(x, s, y, greatest, least, n, nullptr, 0); });
  std::printf("f32: %lld faults, f64: %lld faults\n", static_cast<long long>(single), static_cast<long long>(twice));
  return single + twice == 0 ? 0 : 1;
}
