{{{banner}}}
#include "{{kernel}}.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(_OPENMP)
#define OMP(directive) _Pragma(#directive)
#else
#define OMP(directive)
#endif

namespace {{kernel}}_selfcheck {

// ---- numbers of the reference ----

constexpr long double kUnit = {{unit}}; // roundoff of the type in which the kernel computes
constexpr long double kLargest = {{largest}};

// How far a value that took part in rounding may lie from its reference, in magnitudes; and how many comparisons and
// roundings were closer than that, so that the kernel may have gone the other way. Both for the current choice of sizes.
inline long double& slack() {
  static long double value = 0;
  return value;
}
inline int64_t& close_calls() {
  static int64_t count = 0;
  return count;
}

// A value in the widest type, and the magnitude that its error is measured by: 8 * kUnit * magnitude, times one more
// than the logarithm of the longest sum. Exact values come out the same in every order of evaluation.
class Number {
 public:
  long double value = 0, magnitude = 0;
  bool exact = true;
  long double factors = 0;  // the largest product of some of what was multiplied

  Number() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
  Number(T v) : value(static_cast<long double>(v)), magnitude(std::fabs(value)), factors(magnitude) {}

  friend Number operator-(const Number& a) { return Number(-a.value, a.magnitude, a.exact); }
  friend Number operator+(const Number& a, const Number& b) {
    return maybe_exact(a.value + b.value, a.magnitude + b.magnitude, a.exact && b.exact);
  }
  friend Number operator-(const Number& a, const Number& b) { return a + -b; }
  friend Number operator*(const Number& a, const Number& b) {
    Number out = maybe_exact(a.value * b.value, a.magnitude * std::fabs(b.value) + std::fabs(a.value) * b.magnitude,
                             a.exact && b.exact);
    // The kernel may multiply in another order, where a part of the product is too large.
    out.factors = std::max(a.factors, 1.0L) * std::max(b.factors, 1.0L);
    if (out.factors > kLargest && std::isfinite(out.value)) ++close_calls();
    return out;
  }
  friend Number operator/(const Number& a, const Number& b) {
    if (b.error() > 0 && std::fabs(b.value) <= b.error()) ++close_calls();
    const long double v = a.value / b.value;
    return maybe_exact(v, (a.magnitude + std::fabs(v) * b.magnitude) / std::fabs(b.value),
                       a.exact && b.exact && v * b.value == a.value);
  }
  Number& operator+=(const Number& b) { return *this = *this + b; }
  Number& operator-=(const Number& b) { return *this = *this - b; }
  Number& operator*=(const Number& b) { return *this = *this * b; }

  friend bool operator<(const Number& a, const Number& b) { return decided(a, b), a.value < b.value; }
  friend bool operator<=(const Number& a, const Number& b) { return decided(a, b), a.value <= b.value; }
  friend bool operator>(const Number& a, const Number& b) { return decided(a, b), a.value > b.value; }
  friend bool operator>=(const Number& a, const Number& b) { return decided(a, b), a.value >= b.value; }
  friend bool operator==(const Number& a, const Number& b) { return decided(a, b), a.value == b.value; }
  friend bool operator!=(const Number& a, const Number& b) { return decided(a, b), a.value != b.value; }
  friend bool operator!(const Number& a) { return a == Number(0); }

  friend bool is_nan(const Number& a) { return std::isnan(a.value); }
  friend bool is_inf(const Number& a) { return std::isinf(a.value); }
  friend Number maximum(const Number& a, const Number& b) { return either(a, b, a.value > b.value); }
  friend Number minimum(const Number& a, const Number& b) { return either(a, b, a.value < b.value); }
  friend Number clamp(const Number& v, const Number& low, const Number& high) {
    return minimum(maximum(v, low), high);
  }
  // Does `v` come before the best so far in an argmax, an argmin?
  friend bool above(const Number& v, const Number& best) {
    return !is_nan(best) && (is_nan(v) || v > best);
  }
  friend bool below(const Number& v, const Number& best) {
    return !is_nan(best) && (is_nan(v) || v < best);
  }
  friend Number absolute(const Number& a) { return Number(std::fabs(a.value), a.magnitude, a.exact); }
  friend Number sign(const Number& a) {
    if (a.error() > 0 && std::fabs(a.value) <= a.error()) ++close_calls();
    return is_nan(a) ? a : Number(a.value > 0 ? 1 : a.value < 0 ? -1 : 0);
  }
  friend Number fma(const Number& a, const Number& b, const Number& c) { return a * b + c; }

  friend Number floor(const Number& a) { return step(a, std::floor); }
  friend Number ceil(const Number& a) { return step(a, std::ceil); }
  friend Number trunc(const Number& a) { return step(a, std::trunc); }
  friend Number nearbyint(const Number& a) { return step(a, std::nearbyint); }

  // Smooth functions: what the argument's error becomes, by the slope, and a rounding of the result.
  friend Number exp(const Number& a) { return smooth(a, std::exp(a.value), std::exp(a.value)); }
  friend Number exp2(const Number& a) { return smooth(a, std::exp2(a.value), std::exp2(a.value) * 0.6931472L); }
  friend Number expm1(const Number& a) { return smooth(a, std::expm1(a.value), std::exp(a.value)); }
  friend Number log(const Number& a) { return smooth(near_zero(a), std::log(a.value), 1 / a.value); }
  friend Number log2(const Number& a) { return smooth(near_zero(a), std::log2(a.value), 1.442695L / a.value); }
  friend Number log1p(const Number& a) { return smooth(a, std::log1p(a.value), 1 / (1 + a.value)); }
  friend Number sqrt(const Number& a) {
    const long double root = std::sqrt(a.value);
    return smooth(near_zero(a), root, root == 0 ? 0 : 0.5L / root);
  }
  friend Number rsqrt(const Number& a) { return 1 / sqrt(a); }
  friend Number cbrt(const Number& a) {
    const long double root = std::cbrt(a.value);
    return smooth(near_zero(a), root, root == 0 ? 0 : 1 / (3 * root * root));
  }
  friend Number tanh(const Number& a) {
    const long double v = std::tanh(a.value);
    return smooth(a, v, 1 - v * v);
  }
  friend Number sinh(const Number& a) { return smooth(a, std::sinh(a.value), std::cosh(a.value)); }
  friend Number cosh(const Number& a) { return smooth(a, std::cosh(a.value), std::sinh(a.value)); }
  friend Number sigmoid(const Number& a) {
    const long double v = 1 / (1 + std::exp(-a.value));
    return smooth(a, v, v * (1 - v));
  }
  friend Number erf(const Number& a) {
    return smooth(a, std::erf(a.value), 1.128379L * std::exp(-a.value * a.value));
  }
  friend Number erfinv(const Number& a) {
    if (!(std::fabs(a.value) < 1)) return std::fabs(a.value) == 1 ? Number(a.value * INFINITY) : Number(NAN);
    long double low = -10, high = 10;  // by halving: slow, and independent of what it checks
    for (int i = 0; i < 80; ++i) (std::erf((low + high) / 2) < a.value ? low : high) = (low + high) / 2;
    return smooth(a, low, std::exp(low * low) / 1.128379L);
  }
  friend Number sin(const Number& a) { return smooth(a, std::sin(a.value), std::cos(a.value)); }
  friend Number cos(const Number& a) { return smooth(a, std::cos(a.value), std::sin(a.value)); }
  friend Number tan(const Number& a) {
    const long double v = std::tan(a.value);
    return smooth(a, v, 1 + v * v);
  }
  friend Number atan2(const Number& y, const Number& x) {
    if (x.value < 0) near_zero(y);
    const long double v = std::atan2(y.value, x.value), square = x.value * x.value + y.value * y.value;
    const long double brought = std::fabs(x.value) * y.magnitude + std::fabs(y.value) * x.magnitude;
    return inexact(v, (brought == 0 ? 0 : brought / square) + std::fabs(v));
  }
  friend Number pow(const Number& x, const Number& y) {
    const long double v = std::pow(x.value, y.value);
    const long double base = x.magnitude == 0 ? 0 : std::fabs(y.value / x.value) * x.magnitude;
    const long double power = x.value == 0 ? 0 : std::fabs(std::log(std::fabs(x.value))) * y.magnitude;
    return inexact(v, std::fabs(v) * (1 + base + power));
  }

  // Half types keep the rounding of what was stored in them.
  static Number to_bf16(const Number& a) { return stored(a, 8, 0x1p-133L); }
  static Number to_f16(const Number& a) { return stored(a, 11, 0x1p-24L); }
  static Number from_bf16(const Number& a) { return a; }
  static Number from_f16(const Number& a) { return a; }

  // The whole numbers that the kernel may make of it: the ends of where it may lie.
  long double error() const { return exact || !std::isfinite(value) ? 0 : slack() * magnitude; }

 private:
  Number(long double v, long double m, bool is_exact) : value(v), magnitude(m), exact(is_exact), factors(std::fabs(v)) {}
  static Number inexact(long double v, long double m) {
    if (std::fabs(v) > kLargest) v = std::copysign(static_cast<long double>(INFINITY), v);
    return Number(v, std::isfinite(v) ? std::max(m, std::fabs(v)) : 0, false);
  }
  // Small multiples of 1/16 are never rounded, whatever the order of a sum.
  static Number maybe_exact(long double v, long double m, bool arguments) {
    const bool small = m < 1 / (16 * kUnit) && v * 16 == std::nearbyint(v * 16);
    return arguments && (small || !std::isfinite(v)) ? Number(v, m, true) : inexact(v, m + std::fabs(v) / 4);
  }
  static Number smooth(const Number& a, long double v, long double slope) {
    const long double brought = a.magnitude == 0 ? 0 : std::fabs(slope) * a.magnitude;
    return inexact(v, brought + std::fabs(v) + std::numeric_limits<float>::min() / (8 * kUnit));
  }
  static const Number& near_zero(const Number& a) {
    if (a.error() > 0 && std::fabs(a.value) <= a.error()) ++close_calls();
    return a;
  }
  static Number step(const Number& a, long double (*f)(long double)) {
    if (f(a.value - a.error()) != f(a.value + a.error())) ++close_calls();
    return Number(f(a.value));
  }
  static Number either(const Number& a, const Number& b, bool first) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) ? a : b;
    Number out = first ? a : b;
    if (std::fabs(a.value - b.value) <= a.error() + b.error()) {
      out.magnitude = std::max(a.magnitude, b.magnitude);
      out.exact = a.exact && b.exact;
    }
    return out;
  }
  static void decided(const Number& a, const Number& b) {
    const long double error = a.error() + b.error();
    if (error > 0 && std::fabs(a.value - b.value) <= error) ++close_calls();
  }
  // After it was stored with so many bits; `least` is the smallest number of the type.
  static Number stored(const Number& a, int bits, long double least) {
    if (!std::isfinite(a.value)) return a;
    int exponent = 0;
    std::frexp(a.value, &exponent);
    const long double last = std::max(std::ldexp(1.0L, exponent - bits), least);
    if (a.exact && std::fmod(a.value, last) == 0) return a;
    return inexact(a.value, a.magnitude + (std::ldexp(std::fabs(a.value), -bits) + least) / (8 * kUnit));
  }
};

template <class To>
To saturate(const Number& v) {
  auto end = [](long double x) {
    if (std::isnan(x)) return To(0);
    if (x <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (x >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  };
  if (end(v.value - v.error()) != end(v.value + v.error())) ++close_calls();
  return end(v.value);
}

template <class To>
To bits_as(const Number& v) {
  if (!v.exact) ++close_calls();
  const float narrow = static_cast<float>(v.value);
  const double wide = static_cast<double>(v.value);
  To out;
  std::memcpy(&out, sizeof(To) == 4 ? static_cast<const void*>(&narrow) : &wide, sizeof out);
  return out;
}

// ---- what emitted code calls ----

{{#helpers}}
{{{text}}}
{{/helpers}}
// ---- elements of arrays ----

struct Random {
  std::mt19937_64 bits;
  bool whole;  // floats are small whole numbers, of which sums are exact
  int64_t below(int64_t end) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(std::max<int64_t>(end, 1))); }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
};

template <class T>
struct Whole {
  using Stored = T;
  using Reference = T;
  static T any(Random& random) {
    const int64_t v = std::is_same<T, bool>::value ? random.below(2) : std::is_signed<T>::value ? random.below(9) - 4 : random.below(8);
    return static_cast<T>(v);
  }
  static T reference(T v) { return v; }
  static bool agree(T out, T wanted) { return out == wanted; }
  static long double number(T v) { return static_cast<long double>(v); }
};

// Floats: how they are stored, and the roundoff and the smallest normal number of their type.
template <class Traits>
struct Floating {
  using Stored = typename Traits::Stored;
  using Reference = Number;
  static Stored any(Random& random) {
    return Traits::store(random.whole ? static_cast<double>(random.below(7) - 3) : 2 * random.unit() - 1);
  }
  static Number reference(Stored v) { return Number(Traits::load(v)); }
  static long double number(Stored v) { return Traits::load(v); }
  // |out - wanted| <= 4 u |wanted| + 8 u' (1 + log2 n) magnitude; what is exact must be equal.
  static bool agree(Stored out, const Number& wanted) {
    const long double got = Traits::load(out), ref = wanted.value;
    if (got == ref || (std::isnan(got) && std::isnan(ref))) return true;
    if (wanted.exact) return Traits::load(Traits::store(static_cast<double>(ref))) == got;
    const long double bound = 4 * Traits::kUnit * std::fabs(ref) + slack() * wanted.magnitude + Traits::kSmallest;
    return std::fabs(got - ref) <= bound || (std::isinf(got) && std::fabs(ref) + bound > Traits::kLargest) || std::isnan(bound) || std::isinf(bound);
  }
};
struct F32 {
  using Stored = float;
  static constexpr long double kUnit = 0x1p-24L, kSmallest = 0x1p-126L, kLargest = 0x1.fffffep127L;
  static float store(double v) { return static_cast<float>(v); }
  static long double load(float v) { return v; }
};
struct F64 {
  using Stored = double;
  static constexpr long double kUnit = 0x1p-53L, kSmallest = 0x1p-1022L, kLargest = 0x1.fffffffffffffp1023L;
  static double store(double v) { return v; }
  static long double load(double v) { return v; }
};
{{#bf16}}
struct BF16 {
  using Stored = uint16_t;
  static constexpr long double kUnit = 0x1p-8L, kSmallest = 0x1p-126L, kLargest = 0x1.fep127L;
  static uint16_t store(double v) { return to_bf16(static_cast<float>(v)); }
  static long double load(uint16_t v) { return from_bf16(v); }
};
{{/bf16}}
{{#f16}}
struct F16 {
  using Stored = uint16_t;
  static constexpr long double kUnit = 0x1p-11L, kSmallest = 0x1p-24L, kLargest = 65504;
  static uint16_t store(double v) { return to_f16(static_cast<float>(v)); }
  static long double load(uint16_t v) { return from_f16(v); }
};
{{/f16}}

template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t count = 0) : count_(count), elements_(new T[static_cast<size_t>(std::max<int64_t>(count, 1))]()) {}
  T& operator[](int64_t i) { return elements_[static_cast<size_t>(i)]; }
  const T& operator[](int64_t i) const { return elements_[static_cast<size_t>(i)]; }
  T* data() { return elements_.get(); }
  int64_t count() const { return count_; }

 private:
  int64_t count_;
  std::unique_ptr<T[]> elements_;
};

// An array of the kernel, and what the reference makes of the same contents.
template <class Element>
struct Array {
  Buffer<typename Element::Stored> stored;
  Buffer<typename Element::Reference> reference;
  bool present = true;

  void fill(int64_t count, Random& random) {
    stored = Buffer<typename Element::Stored>(count);
    for (int64_t i = 0; i < count; ++i) stored[i] = Element::any(random);
  }
  // Coordinates: mostly inside.
  void fill_below(int64_t count, Random& random, int64_t end) {
    stored = Buffer<typename Element::Stored>(count);
    for (int64_t i = 0; i < count; ++i) stored[i] = static_cast<typename Element::Stored>(random.below(end));
  }
  void remember() {
    reference = Buffer<typename Element::Reference>(stored.count());
    for (int64_t i = 0; i < stored.count(); ++i) reference[i] = Element::reference(stored[i]);
  }
  typename Element::Stored* data() { return present ? stored.data() : nullptr; }
  typename Element::Reference* expected() { return present ? reference.data() : nullptr; }
};

// Entries of a table: below `end`, in order or each once where the kernel relies on it.
template <class T>
Buffer<T> make_table(int64_t count, int64_t end, bool sorted, bool unique, Random& random) {
  Buffer<T> out(count);
  std::set<int64_t> taken;
  end = std::max<int64_t>(end, 1);
  for (int64_t i = 0; i < count; ++i) {
    int64_t v = random.below(end);
    while (unique && static_cast<int64_t>(taken.size()) < end && !taken.insert(v).second) v = (v + 1) % end;
    out[i] = static_cast<T>(v);
  }
  if (sorted) std::sort(out.data(), out.data() + count);
  return out;
}
// Starts of packed rows: 0, random cuts in order, the total.
template <class T>
Buffer<T> make_row_starts(int64_t count, int64_t total, Random& random) {
  Buffer<T> out = make_table<T>(count, total + 1, true, false, random);
  if (count > 0) out[0] = 0;
  if (count > 0) out[count - 1] = static_cast<T>(total);
  return out;
}

struct Cost {
  double work, bytes, longest;  // operations, bytes moved, elements of the longest sum
};

struct Axis {
  const char* name;
  int64_t multiple;            // sizes are multiples of this
  bool listed;                 // only these sizes
  std::vector<int64_t> sizes;  // worth trying
};

struct Tally {
  int64_t cases = 0, refused = 0, skipped = 0, elements = 0, undecided = 0, wrong = 0;
};

template <class Element>
void compare_array(const char* name, Array<Element>& array, Tally& tally) {
  if (!array.present) return;
  int64_t first = -1, differ = 0;
  for (int64_t i = 0; i < array.stored.count(); ++i)
    if (!Element::agree(array.stored[i], array.reference[i])) {
      first = first < 0 ? i : first;
      ++differ;
    }
  tally.elements += array.stored.count();
  if (differ == 0) return;
  // Where the reference had a close call, the kernel may have decided the other way for a few elements.
  if (close_calls() > 0 && differ <= std::max<int64_t>(1, array.stored.count() / 12)) {
    tally.undecided += differ;
    return;
  }
  ++tally.wrong;
  std::printf("  %s: %lld of %lld elements are wrong, first [%lld]: %.9Lg\n", name, static_cast<long long>(differ),
              static_cast<long long>(array.stored.count()), static_cast<long long>(first),
              Element::number(array.stored[first]));
}

// ---- the kernel as it is written: one statement after the other, each in loops of its own ----

{{#references}}
{{{text}}}
{{/references}}
// ---- the arguments of each function ----

{{#cases}}
{{{text}}}
{{/cases}}
// ---- checking and timing ----

constexpr double kMostWork = 1e6;  // operations of the reference for one choice of sizes

template <class Function>
void check_sizes(const std::vector<int64_t>& sizes, uint64_t seed, Tally& tally) {
  const Cost cost = Function::cost(sizes.data());
  if (!(cost.work <= kMostWork && cost.bytes <= 1e8)) {
    ++tally.skipped;
    return;
  }
  slack() = 8 * kUnit * (1 + std::log2(std::max(static_cast<long double>(cost.longest), 1.0L)));
  close_calls() = 0;
  Random random{std::mt19937_64(seed), seed % 2 == 0};
  Function function(sizes.data(), random);
  function.remember();
  if (function.run() != 0) {
    ++tally.refused;
    return;
  }
  ++tally.cases;
  const int64_t wrong = tally.wrong;
  function.reference();
  function.compare(tally);
  if (tally.wrong == wrong) return;
  std::printf("  at");
  const std::vector<Axis> axes = Function::axes();
  for (size_t a = 0; a < axes.size(); ++a) std::printf(" %s=%lld", axes[a].name, static_cast<long long>(sizes[a]));
  std::printf(", seed %llu\n", static_cast<unsigned long long>(seed));
}

// Sizes of the command line, by axis.
using GivenSizes = std::vector<std::pair<std::string, int64_t>>;

template <class Function>
void put_given(const GivenSizes& given, std::vector<int64_t>& sizes) {
  const std::vector<Axis> axes = Function::axes();
  for (const auto& [name, size] : given)
    for (size_t a = 0; a < axes.size(); ++a)
      if (name == axes[a].name) sizes[a] = size;
}

// Each axis through its sizes while the others stay small; then mixtures of all, and what was asked for.
template <class Function>
bool check(const GivenSizes& given) {
  const std::vector<Axis> axes = Function::axes();
  Tally tally;
  uint64_t seed = 1;
  for (const int64_t usual : {1, 3, 6}) {
    std::vector<int64_t> base;
    for (const Axis& axis : axes) base.push_back(axis.listed ? axis.sizes[0] : usual * axis.multiple);
    check_sizes<Function>(base, seed++, tally);
    for (size_t a = 0; a < axes.size(); ++a)
      for (const int64_t size : axes[a].sizes) {
        std::vector<int64_t> sizes = base;
        sizes[a] = size;
        check_sizes<Function>(sizes, seed++, tally);
        if (tally.wrong > 3) break;
      }
  }
  std::mt19937_64 bits(1);
  for (int mixture = 0; mixture < 20; ++mixture) {
    std::vector<int64_t> sizes;
    for (const Axis& axis : axes) sizes.push_back(axis.sizes[bits() % axis.sizes.size()]);
    check_sizes<Function>(sizes, seed++, tally);
  }
  if (!given.empty()) {
    std::vector<int64_t> sizes;
    for (const Axis& axis : axes) sizes.push_back(axis.listed ? axis.sizes[0] : 3 * axis.multiple);
    put_given<Function>(given, sizes);
    check_sizes<Function>(sizes, seed++, tally);
  }
  std::printf("%s: %lld choices of sizes, %lld elements agree, %lld too close to call, %lld choices refused, %lld too big\n",
              Function::kName, static_cast<long long>(tally.cases), static_cast<long long>(tally.elements),
              static_cast<long long>(tally.undecided), static_cast<long long>(tally.refused),
              static_cast<long long>(tally.skipped));
  if (tally.cases == 0) std::printf("  nothing was compared\n");
  return tally.wrong == 0 && tally.cases > 0;
}

// Seconds of the fastest of several calls.
template <class Call>
double fastest(Call call) {
  double best = INFINITY;
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Bytes a second that all threads together copy from memory to memory.
inline double copy_speed() {
  const int64_t count = int64_t{1} << 24;
  Buffer<double> from(count), to(count);
  const double* const source = from.data();
  double* const target = to.data();
  const double seconds = fastest([&] {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) target[i] = source[i];
  });
  return 2.0 * 8.0 * static_cast<double>(count) / seconds;
}

// The sizes that were asked for; of axes for which none was, the largest, doubled all at once, that move some 64 MB or
// take some 200 million operations.
template <class Function>
void time_it(const GivenSizes& given, double limit) {
  const std::vector<Axis> axes = Function::axes();
  std::vector<int64_t> sizes;
  for (const Axis& axis : axes) sizes.push_back(axis.listed ? axis.sizes.back() : 8 * axis.multiple);
  put_given<Function>(given, sizes);
  for (bool grew = true; grew;) {
    std::vector<int64_t> next = sizes;
    for (size_t a = 0; a < axes.size(); ++a)
      if (!axes[a].listed) next[a] *= 2;
    put_given<Function>(given, next);
    const Cost cost = Function::cost(next.data());
    grew = next != sizes && cost.bytes < 64e6 && cost.work < 2e8;
    if (grew) sizes = next;
  }
  Random random{std::mt19937_64(1), false};
  Function function(sizes.data(), random);
  std::string at;
  for (size_t a = 0; a < axes.size(); ++a) at += (a == 0 ? "" : " ") + (axes[a].name + ("=" + std::to_string(sizes[a])));
  if (function.run() != 0) {
    std::printf("%s: not timed, it refuses %s\n", Function::kName, at.c_str());
    return;
  }
  const double seconds = fastest([&] { function.run(); });
  const Cost cost = Function::cost(sizes.data());
  std::printf("%s at %s: %.3g ms, %.3g GB/s (%.0f %% of copying), %.3g Gop/s\n", Function::kName, at.c_str(), 1e3 * seconds,
              cost.bytes / seconds / 1e9, 100 * cost.bytes / seconds / limit, cost.work / seconds / 1e9);
}

{{{arguments}}}
inline int check_all(const std::vector<std::string>& words) {
  const Request request = request_of(words);
  if (explained(request)) return request.mistake.empty() ? 0 : 2;
  bool right = true;
{{#functions}}
  right = check<{{{text}}}>(request.sizes) && right;
{{/functions}}
  if (request.timed) {
    const double limit = copy_speed();
    std::printf("copying moves %.3g GB/s\n", limit / 1e9);
{{#functions}}
    time_it<{{{text}}}>(request.sizes, limit);
{{/functions}}
  }
  std::printf(right ? "all agree\n" : "SOME ARE WRONG\n");
  return right ? 0 : 1;
}

}  // namespace {{kernel}}_selfcheck

int main(int argc, char** argv) {
  return {{kernel}}_selfcheck::check_all(std::vector<std::string>(argc > 0 ? argv + 1 : argv, argv + argc));
}
