// Holds builds of the maths functions against the standard library in a wider type, and prints one line of numbers for
// each function and build; run.py makes tables and verdicts of them.
//   driver every STEP FUNCTION...   each STEP-th of the 2^32 f32 arguments, of functions of one argument
//   driver sample COUNT FUNCTION... random and edge arguments: f32 and f64, functions of one and two arguments
//   driver same COUNT FUNCTION...   the same bits in every lane, in tails, and beside f64?
//   driver time FUNCTION...         nanoseconds an element, from the first level cache
#include "maths.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#define X(name) extern const MathsBuild name;
BUILDS(X)
#undef X

bool reference_of_many(Maths which, const double *x, double *out, int count);

namespace {

bool many_at_once = false; // references from reference.cpp, which is faster

const MathsBuild *const kBuilds[] = {
#define X(name) &name,
    BUILDS(X)
#undef X
};
constexpr int kBuildCount = sizeof kBuilds / sizeof kBuilds[0];
constexpr int kBlock = 4096;

const char *const kNames[] = {
#define X(name) #name,
    MATHS_ONE(X) MATHS_TWO(X)
#undef X
};
constexpr int kTwoFrom = int(Maths::pow), kNameCount = sizeof kNames / sizeof kNames[0];

// ---- references -----------------------------------------------------------------------------------------------------

// Halley's steps on erf, or on erfc where erf has no digits left.
template <class R> R erfinv_reference(R x) {
  const R size = std::fabs(x), scale = R(1.1283791670955125738961589031215451717L);
  if (!(size <= 1))
    return std::numeric_limits<R>::quiet_NaN();
  if (size == 1)
    return x * std::numeric_limits<R>::infinity();
  if (size < R(1e-7))
    return x / scale * (1 + x * x * R(0.2617993877991494L));
  const R w = -std::log1p(-x * x), term = R(4.3307467507998625L) - w / 2;
  R y = std::sqrt(std::sqrt(term * term + w / R(0.147L)) - term);
  for (int step = 0; step < 4; ++step) {
    const R error = size < R(0.5L) ? std::erf(y) - size : (1 - size) - std::erfc(y);
    const R newton = error / (scale * std::exp(-y * y));
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

template <class R> R reference(Maths which, R x, R y) {
  switch (which) {
  case Maths::rsqrt:
    return 1 / std::sqrt(x);
  case Maths::sigmoid:
    return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
  case Maths::erfinv:
    return erfinv_reference(x);
  case Maths::round:
    return std::nearbyint(x);
#define STANDARD(name)                                                                                                 \
  case Maths::name:                                                                                                    \
    return std::name(x);
    STANDARD(exp)
    STANDARD(exp2)
    STANDARD(expm1)
    STANDARD(log)
    STANDARD(log2)
    STANDARD(log1p)
    STANDARD(sqrt)
    STANDARD(cbrt)
    STANDARD(sin)
    STANDARD(cos)
    STANDARD(tan)
    STANDARD(sinh)
    STANDARD(cosh)
    STANDARD(tanh)
    STANDARD(erf)
    STANDARD(floor)
    STANDARD(ceil)
    STANDARD(trunc)
#undef STANDARD
  case Maths::pow:
    return std::pow(x, y);
  case Maths::atan2:
    return std::atan2(x, y);
  }
  return 0;
}

// ---- errors ---------------------------------------------------------------------------------------------------------

template <class T, class R> T rounded(R value) {
#pragma GCC diagnostic ignored "-Wfloat-conversion"
  return T(value);
}

// 2^exponent, of exponents that are in range.
double power_of_two(int exponent) {
  const uint64_t bits = uint64_t(exponent + 1023) << 52;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class R> R scale(int exponent) {
  if constexpr (sizeof(R) == sizeof(double))
    return power_of_two(exponent);
  else
    return std::ldexp(R(1), exponent);
}

// The exponent of a number; of 0 and the smallest, something small.
int exponent_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return int(bits >> 52 & 0x7ff) - 1023;
}
int exponent_of(long double value) { return value == 0 ? -100000 : std::ilogb(value); }

// How far `got` is from the true value in units of the last place there (1/2 for any that is rounded right); -1: a
// special value is wrong. What rounds to infinity counts as the power of two beyond the largest number.
template <class T, class R> double ulps(T got, R truth) {
  const T nearest = rounded<T>(truth);
  if (got == nearest && got != 0)
    return R(got) == truth ? 0 : 0.5;
  if (std::isnan(got) || std::isnan(nearest))
    return std::isnan(got) && std::isnan(nearest) ? 0 : -1;
  if (got == 0 && nearest == 0)
    return std::signbit(got) == std::signbit(truth) ? 0 : -1;
  if (std::isinf(truth))
    return -1;
  constexpr int kLeast = std::numeric_limits<T>::min_exponent - 1, kMost = std::numeric_limits<T>::max_exponent;
  const R beyond = scale<R>(kMost);
  const R found = std::isinf(got) ? std::copysign(beyond, R(got)) : R(got),
          wanted = std::fabs(truth) > beyond ? std::copysign(beyond, truth) : truth;
  const int exponent = std::clamp(exponent_of(wanted), kLeast, kMost - 1);
  return double(std::fabs(found - wanted) * scale<R>(std::numeric_limits<T>::digits - 1 - exponent));
}

// The worst of one build.
template <class T> struct Worst {
  double error = 0;
  T x = 0, y = 0, special_x = 0, special_y = 0;
  int64_t specials = 0, differing = 0;

  void add(T a, T b, double e) {
    if (e < 0 && specials++ == 0)
      special_x = a, special_y = b;
    if (e > error)
      error = e, x = a, y = b;
  }
  void join(const Worst &other) {
    if (other.error > error)
      error = other.error, x = other.x, y = other.y;
    if (specials == 0)
      special_x = other.special_x, special_y = other.special_y;
    specials += other.specials;
    differing += other.differing;
  }
};

template <class T>
void call(const MathsBuild &build, Maths which, const T *x, const T *y, T *out, int64_t count,
          bool beside_f64 = false) {
  if constexpr (sizeof(T) == 4)
    int(which) < kTwoFrom ? build.one_f32(which, x, out, count, beside_f64)
                          : build.two_f32(which, x, y, out, count, beside_f64);
  else
    int(which) < kTwoFrom ? build.one_f64(which, x, out, count, beside_f64)
                          : build.two_f64(which, x, y, out, count, beside_f64);
}

// Are two results the same? One NaN is as good as another.
template <class T> bool alike(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (std::isnan(a) && std::isnan(b));
}

// The reference in f64 for whole arrays; false: there is none.
bool references(Maths which, const float *x, const float *, double *truth, int count) {
  if (!many_at_once)
    return false;
  double wide[kBlock];
  std::copy(x, x + count, wide);
  return reference_of_many(which, wide, truth, count);
}
bool references(Maths, const double *, const double *, long double *, int) { return false; }

// All builds against the reference, on up to kBlock arguments.
template <class T, class R> void compare(Maths which, const T *x, const T *y, int count, Worst<T> *worst) {
  T out[kBuildCount][kBlock], nearest[kBlock];
  R truth[kBlock];
  for (int b = 0; b < kBuildCount; ++b)
    call(*kBuilds[b], which, x, y, out[b], count);
  if (!references(which, x, y, truth, count))
    for (int i = 0; i < count; ++i)
      truth[i] = reference(which, R(x[i]), R(y[i]));
  for (int i = 0; i < count; ++i)
    nearest[i] = rounded<T>(truth[i]);
  for (int b = 0; b < kBuildCount; ++b) {
    const bool as_first = std::memcmp(out[b], out[0], size_t(count) * sizeof(T)) == 0;
    for (int i = 0; i < count && !as_first; ++i)
      worst[b].differing += alike(out[b][i], out[0][i]) ? 0 : 1;
    for (int i = 0; i < count; ++i)
      if (std::memcmp(&out[b][i], &nearest[i], sizeof(T)) != 0 || worst[b].error < 0.5)
        worst[b].add(x[i], y[i], ulps(out[b][i], truth[i]));
  }
}

template <class T> void print(const char *mode, Maths which, const Worst<T> *worst, double arguments) {
  for (int b = 0; b < kBuildCount; ++b) {
    const Worst<T> &w = worst[b];
    std::printf("%s %s f%d %s %.0f %.4f %.9g %.9g %lld %.9g %.9g %lld\n", mode, kNames[int(which)], int(8 * sizeof(T)),
                kBuilds[b]->name, arguments, w.error, double(w.x), double(w.y), (long long)w.specials,
                double(w.special_x), double(w.special_y), (long long)w.differing);
  }
  std::fflush(stdout);
}

// ---- the modes ------------------------------------------------------------------------------------------------------

float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Beyond 2^20 (of either sign) turning functions call what the reference calls: there every 64th block will do.
bool passed_over(Maths which, const float *x, int64_t block) {
  return (which == Maths::sin || which == Maths::cos || which == Maths::tan) && !(std::fabs(x[0]) <= 1048576.0f) &&
         block % 64 != 0;
}

void every(Maths which, int64_t step) {
  many_at_once = true;
  const int64_t count = ((int64_t(1) << 32) + step - 1) / step, blocks = (count + kBlock - 1) / kBlock;
  Worst<float> worst[kBuildCount];
  int64_t compared = 0;
#pragma omp parallel reduction(+ : compared)
  {
    Worst<float> own[kBuildCount];
#pragma omp for schedule(dynamic, 64)
    for (int64_t block = 0; block < blocks; ++block) {
      float x[kBlock];
      const int size = int(std::min<int64_t>(kBlock, count - block * kBlock));
      for (int i = 0; i < size; ++i)
        x[i] = float_of(uint32_t((block * kBlock + i) * step));
      if (passed_over(which, x, block))
        continue;
      compare<float, double>(which, x, x, size, own);
      compared += size;
    }
#pragma omp critical
    for (int b = 0; b < kBuildCount; ++b)
      worst[b].join(own[b]);
  }
  print("every", which, worst, double(compared));
}

// Values at which something happens, and their neighbours.
template <class T> std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> out = {T(0),          Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(),
                        Limits::min(), Limits::max()};
  for (double v : {0.25,
                   0.5,
                   0.8,
                   1.0,
                   1.5,
                   2.0,
                   2.5,
                   3.0,
                   4.0,
                   5.0,
                   88.7228,
                   87.3365,
                   103.972,
                   104.0,
                   127.0,
                   128.0,
                   149.0,
                   150.0,
                   151.0,
                   709.78,
                   745.13,
                   1023.0,
                   1024.0,
                   1074.0,
                   1075.0,
                   3.14159265358979,
                   1.5707963267949,
                   0.3465736,
                   1.0397,
                   0.70710678,
                   1.41421356,
                   1048576.0,
                   8388608.0,
                   16777216.0,
                   16777217.0,
                   4503599627370496.0,
                   1e10,
                   1e22,
                   1e30,
                   1e38})
    for (int shift = -2; shift <= 2; ++shift) {
      T value = T(v);
      for (int i = 0; i < std::abs(shift); ++i)
        value = std::nextafter(value, shift < 0 ? T(0) : Limits::infinity());
      out.push_back(value);
    }
  for (size_t i = 0, n = out.size(); i < n; ++i)
    out.push_back(-out[i]);
  return out;
}

// Half of any bits, half of the sizes where functions are neither flat nor out of range.
template <class T> T random_number(std::mt19937_64 &random) {
  const uint64_t bits = random();
  T value;
  if ((bits >> 63) != 0) {
    const uint64_t fresh = random();
    std::memcpy(&value, &fresh, sizeof value);
    return value;
  }
  std::uniform_real_distribution<double> exponent(-12, 7), mantissa(1, 2);
  value = T(mantissa(random) * std::exp2(exponent(random)));
  return (bits & 1) != 0 ? -value : value;
}

// Pairs: all edges against each other, random ones, and for pow exponents that keep the power in range.
template <class T> void fill(Maths which, int64_t from, int count, T *x, T *y, std::mt19937_64 &random) {
  static const std::vector<T> all = edges<T>();
  const int64_t n = int64_t(all.size());
  const bool two = int(which) >= kTwoFrom;
  for (int i = 0; i < count; ++i) {
    const int64_t at = from + i;
    x[i] = at < (two ? n * n : n) ? all[size_t(at % n)] : random_number<T>(random);
    y[i] = at < n * n ? all[size_t(at / n % n)] : random_number<T>(random);
    if (which == Maths::pow && at >= n * n && (at & 3) != 0) {
      x[i] = std::fabs(x[i]);
      y[i] = T(std::uniform_real_distribution<double>(-150, 150)(random) / std::log2(double(x[i])));
    }
    if (which == Maths::pow && at >= n * n && (at & 7) == 0)
      y[i] = T(int(random() % 41) - 20);
  }
}

template <class T, class R> void sample(Maths which, int64_t count) {
  if (int(which) >= kTwoFrom)
    count += int64_t(edges<T>().size() * edges<T>().size());
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  Worst<T> worst[kBuildCount];
#pragma omp parallel
  {
    Worst<T> own[kBuildCount];
#pragma omp for schedule(dynamic, 4)
    for (int64_t block = 0; block < blocks; ++block) {
      T x[kBlock], y[kBlock];
      std::mt19937_64 random(uint64_t(block) * 77 + uint64_t(which) + 1);
      fill(which, block * kBlock, kBlock, x, y, random);
      compare<T, R>(which, x, y, kBlock, own);
    }
#pragma omp critical
    for (int b = 0; b < kBuildCount; ++b)
      worst[b].join(own[b]);
  }
  print("sample", which, worst, double(blocks * kBlock));
}

// Every element stands in other lanes, whole vectors and tails; and in vectors of half the width.
template <class T> void same(Maths which, int64_t count) {
  std::mt19937_64 random(uint64_t(which) + 99);
  for (int b = 0; b < kBuildCount; ++b) {
    int64_t differing = 0;
    for (int64_t block = 0; block * kBlock < count; ++block) {
      T x[kBlock], y[kBlock], whole[kBlock], other[kBlock];
      fill(which, block * kBlock, kBlock, x, y, random);
      call(*kBuilds[b], which, x, y, whole, kBlock);
      for (int length : {1, 2, 3, 5, 7, 13, 31, -1}) {
        const int step = length < 0 ? kBlock : length;
        for (int at = 0; at < kBlock; at += step)
          call(*kBuilds[b], which, x + at, y + at, other + at, std::min(step, kBlock - at), length < 0);
        for (int i = 0; i < kBlock; ++i)
          differing +=
              std::memcmp(&whole[i], &other[i], sizeof(T)) != 0 && !(std::isnan(whole[i]) && std::isnan(other[i]));
      }
    }
    std::printf("same %s f%d %s %lld\n", kNames[int(which)], int(8 * sizeof(T)), kBuilds[b]->name,
                (long long)differing);
  }
}

// The least of some rounds.
template <class Call> double nanoseconds(const Call &body) {
  double least = 1e30;
  for (int round = 0; round < 15; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i)
      body();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count() / 20 / kBlock);
  }
  return least;
}

template <class T> void time_of(Maths which) {
  T x[kBlock], y[kBlock], out[kBlock];
  std::mt19937_64 random(5);
  const bool unit = which == Maths::erfinv, positive = which <= Maths::rsqrt || which == Maths::pow;
  std::uniform_real_distribution<double> range(unit ? -1 : positive ? 0.01 : -8, unit ? 1 : 8);
  for (int i = 0; i < kBlock; ++i)
    x[i] = T(range(random)), y[i] = T(range(random));
  std::printf("time %s f%d scalar %.3f\n", kNames[int(which)], int(8 * sizeof(T)), nanoseconds([&] {
                for (int i = 0; i < kBlock; ++i)
                  out[i] = reference<T>(which, x[i], y[i]);
                asm volatile("" ::"r"(out) : "memory");
              }));
  for (int b = 0; b < kBuildCount; ++b)
    std::printf("time %s f%d %s %.3f\n", kNames[int(which)], int(8 * sizeof(T)), kBuilds[b]->name, nanoseconds([&] {
                  call(*kBuilds[b], which, x, y, out, kBlock);
                  asm volatile("" ::"r"(out) : "memory");
                }));
}

} // namespace

int main(int argc, char **argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool counted = mode != "time";
  const int64_t count = counted && argc > 2 ? std::atoll(argv[2]) : 1;
  for (int i = counted ? 3 : 2; i < argc; ++i) {
    const auto found = std::find(kNames, kNames + kNameCount, std::string(argv[i]));
    if (found == kNames + kNameCount || count < 1)
      return 2;
    const Maths which = Maths(found - kNames);
    if (mode == "every") {
      every(which, count);
    } else if (mode == "sample") {
      sample<float, double>(which, count);
      sample<double, long double>(which, count);
    } else if (mode == "same") {
      same<float>(which, count);
      same<double>(which, count);
    } else if (mode == "time") {
      time_of<float>(which);
      time_of<double>(which);
    } else {
      return 2;
    }
  }
  return argc > 2 ? 0 : 2;
}
