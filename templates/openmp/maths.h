//@ lanes_is_nan: Lanes
template <class T, int N>
inline Mask<N> is_nan(Lanes<T, N> value) {
  return value != value;
}
//@ lanes_is_inf: Lanes
template <class T, int N>
inline Mask<N> is_inf(Lanes<T, N> value) {
  return value == T(INFINITY) || value == -T(INFINITY);
}
//@ lanes_absolute: Lanes
template <class T, int N>
inline Lanes<T, N> absolute(Lanes<T, N> value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = typename VectorOf<IntegerOf<sizeof(T)>, N>::type;
    return (typename Lanes<T, N>::Vector)((Bits)value.v & ~(Bits)Lanes<T, N>(T(-0.0)).v);
  } else {
    return choose(value < T(0), T(0) - value, value);
  }
}
//@ lanes_sign: Lanes
template <class T, int N>
inline Lanes<T, N> sign(Lanes<T, N> value) {
  return choose(value > T(0), T(1), choose(value < T(0), Lanes<T, N>(T(-1)), value));
}
//@ lanes_clamp: extremes
template <class T, int N>
inline Lanes<T, N> clamp(Lanes<T, N> value, Lanes<T, N> low, Lanes<T, N> high) {
  return minimum(maximum(value, low), high);
}
template <class T, int N>
inline Lanes<T, N> clamp(Lanes<T, N> value, std::common_type_t<T> low, std::common_type_t<T> high) {
  return minimum(maximum(value, low), high);
}
//@ lanes_remainder: Lanes
template <class T, int N, class Number>
inline Lanes<T, N> operator%(Lanes<T, N> value, Number by) {
  return value.v % Lanes<T, N>(T(by)).v;
}
//@ lanes_shift_left: Lanes
// Counts are taken modulo the width.
template <class T, int N>
inline Lanes<T, N> shift_left(Lanes<T, N> value, Lanes<T, N> count) {
  using Math = typename Lanes<T, N>::Math;
  return (typename Lanes<T, N>::Vector)((Math)value.v << (Math)(count & Lanes<T, N>(8 * sizeof(T) - 1)).v);
}
//@ lanes_shift_right: Lanes
template <class T, int N>
inline Lanes<T, N> shift_right(Lanes<T, N> value, Lanes<T, N> count) {
  return value.v >> (count & Lanes<T, N>(8 * sizeof(T) - 1)).v;
}
//@ Real: Lanes
// How a floating number is laid out. Adding kRounder and taking it off again rounds to a whole number.
template <class T>
struct Real {
  static constexpr bool kSingle = sizeof(T) == 4;
  using Int = std::conditional_t<kSingle, int32_t, int64_t>;
  static constexpr int kFraction = kSingle ? 23 : 52;
  static constexpr Int kBias = kSingle ? 127 : 1023, kSign = kSingle ? Int(INT32_MIN) : Int(INT64_MIN);
  static constexpr T kRounder = kSingle ? T(12582912.0) : T(6755399441055744.0);
  static constexpr T kSmallest = kSingle ? T(1.17549435e-38) : T(2.2250738585072014e-308);
};
template <class T, int N>
using Ints = Lanes<typename Real<T>::Int, N>;
template <class T, int N>
inline Lanes<T, N> shifted_down(Lanes<T, N> positive, int count) {
  return (typename Lanes<T, N>::Vector)((typename Lanes<T, N>::Math)positive.v >> count);
}
template <class T, int N>
inline Lanes<T, N> shifted_up(Lanes<T, N> value, int count) {
  return (typename Lanes<T, N>::Vector)((typename Lanes<T, N>::Math)value.v << count);
}
template <class T, int N>
inline Ints<T, N> bits_of(Lanes<T, N> value) {
  return (typename Ints<T, N>::Vector)value.v;
}
template <class T, int N>
inline Lanes<T, N> of_bits(Ints<T, N> bits) {
  return (typename Lanes<T, N>::Vector)bits.v;
}
//@ with_sign: Real
template <class T, int N>
inline Lanes<T, N> magnitude(Lanes<T, N> value) {
  return of_bits<T, N>(bits_of(value) & ~Real<T>::kSign);
}
// A number that is positive or has the sign already, with the sign of `sign`.
template <class T, int N>
inline Lanes<T, N> with_sign(Lanes<T, N> value, Lanes<T, N> sign) {
  return of_bits<T, N>(bits_of(value) | (bits_of(sign) & Real<T>::kSign));
}
//@ horner: lanes_multiply_add
// A polynomial in x, highest power first.
template <class T, int N, class... Rest>
inline Lanes<T, N> horner(Lanes<T, N> x, T highest, Rest... rest) {
  Lanes<T, N> p = highest;
  ((p = multiply_add(p, x, T(rest))), ...);
  return p;
}
//@ nearest: Real lanes_multiply_add
// The nearest whole number to a product that is not large.
template <class T, int N>
struct Whole {
  Lanes<T, N> value;
  Ints<T, N> number, exponent;  // `exponent`: where the exponent of a floating number is
};
template <class T, int N>
inline Whole<T, N> nearest(Lanes<T, N> x, T factor = T(1)) {
  const Lanes<T, N> shifted = multiply_add(x, factor, Real<T>::kRounder);
  const Ints<T, N> number = bits_of(shifted) - bits_of(Lanes<T, N>(Real<T>::kRounder));
  return {shifted - Real<T>::kRounder, number, shifted_up(bits_of(shifted), Real<T>::kFraction)};
}
//@ power_of_two: nearest
template <class T, int N>
inline Lanes<T, N> power_of_two(Ints<T, N> n) {
  return of_bits<T, N>(shifted_up(n + Real<T>::kBias, Real<T>::kFraction));
}
//@ scaled: power_of_two all_lanes
// y 2^n, the power of x, in two steps, so that the smallest results come out as well: 0 below `least`,
// infinite above `most`.
template <class T, int N>
__attribute__((noinline)) Lanes<T, N> scaled_far(typename Lanes<T, N>::Vector y,
                                                 typename Ints<T, N>::Vector whole,
                                                 typename Lanes<T, N>::Vector x, T least, T most) {
  constexpr auto kBias = Real<T>::kBias;
  const Ints<T, N> n = whole, half = shifted_down(Ints<T, N>(n + 2 * kBias), 1) - kBias;
  const Lanes<T, N> power = Lanes<T, N>(y) * power_of_two<T, N>(half) * power_of_two<T, N>(n - half), of = x;
  return choose(of < least, T(0), choose(of > most, std::numeric_limits<T>::infinity(), power));
}
// The same by the instruction for it, or where n may mostly be added to the exponent of y, which is near 1.
// kFalls: n is not above 0.
template <bool kFalls, class T, int N>
inline Lanes<T, N> scaled(Lanes<T, N> y, Whole<T, N> n, Lanes<T, N> x, T least, T most) {
#if KGEN_SET_AVX512 && !defined(__clang__)
  if constexpr (sizeof(y.v) == 64) {
    if constexpr (sizeof(T) == 4)
      y = __builtin_ia32_scalefps512_mask(y.v, n.value.v, y.v, -1, 4);
    else
      y = __builtin_ia32_scalefpd512_mask(y.v, n.value.v, y.v, -1, 4);
    if constexpr (!kFalls) y = choose(x > most, std::numeric_limits<T>::infinity(), y);
    return choose(x < least, T(0), y);
  }
#endif
  constexpr T kMost = Real<T>::kBias - 2;
  const Mask<N> none = x < least;  // no rare ones: masks give -inf to be left with 0
  const Mask<N> near = kFalls ? n.value >= -kMost : n.value * n.value <= kMost * kMost;
  if (__builtin_expect(!all_lanes(near || none), false))
    return scaled_far<T, N>(y.v, n.number.v, x.v, least, most);
  return choose(none, T(0), of_bits<T, N>(bits_of(y) + n.exponent));
}
//@ exp_f32: horner scaled
// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, within 2^-28 of e^r.
template <int N>
inline Lanes<float, N> exp_rest(Lanes<float, N> r) {
  return horner(r, 0.0013814465f, 0.008368708f, 0.04166839f, 0.16666521f, 0.49999994f);
}
// x = n ln 2 + r
template <int N>
inline Lanes<float, N> without_ln2(Lanes<float, N> x, Lanes<float, N> n) {
  return multiply_add(n, -1.42860677e-6f, multiply_add(n, -0.693145752f, x));
}
//@ exp_f64: horner scaled
// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, within 2^-64 of e^r.
template <int N>
inline Lanes<double, N> exp_rest(Lanes<double, N> r) {
  return horner(r, 2.082660046999609e-09, 2.5112023135739704e-08, 2.755758187768787e-07,
                2.7557234901644934e-06, 2.4801586926676895e-05, 0.00019841269896343493, 0.0013888888889115555,
                0.008333333333317051, 0.041666666666666095, 0.16666666666666682, 0.5);
}
// x = n ln 2 + r
template <int N>
inline Lanes<double, N> without_ln2(Lanes<double, N> x, Lanes<double, N> n) {
  return multiply_add(n, -5.497923018708371e-14, multiply_add(n, -0.6931471805598903, x));
}
//@ exp_near_0: horner
// For |r| <= ln 2 / 2.
template <class T, int N>
inline Lanes<T, N> exp_near_0(Lanes<T, N> r) {
  return multiply_add(multiply_add(exp_rest(r), r, Lanes<T, N>(T(1))), r, Lanes<T, N>(T(1)));
}
//@ expm1_near_0: horner
// For |r| <= ln 2 / 2.
template <class T, int N>
inline Lanes<T, N> expm1_near_0(Lanes<T, N> r) {
  return multiply_add(exp_rest(r), r * r, r);
}
//@ lanes_exp_f32: exp_f32 exp_near_0
// Within 1.2 ulp; 0.92 with fused multiply-add.
template <int N>
inline Lanes<float, N> exp(Lanes<float, N> x) {
  const Whole<float, N> n = nearest(x, 1.44269504f);
  return scaled<false>(exp_near_0(without_ln2(x, n.value)), n, x, -104.0f, 89.0f);
}
//@ lanes_exp_f64: exp_f64 exp_near_0
// Within 1.2 ulp; 0.92 with fused multiply-add.
template <int N>
inline Lanes<double, N> exp(Lanes<double, N> x) {
  const Whole<double, N> n = nearest(x, 1.4426950408889634);
  return scaled<false>(exp_near_0(without_ln2(x, n.value)), n, x, -746.0, 710.0);
}
//@ lanes_exp2_f32: exp_f32 exp_near_0
// Within 1.3 ulp; 0.92 with fused multiply-add.
template <int N>
inline Lanes<float, N> exp2(Lanes<float, N> x) {
  const Whole<float, N> n = nearest(x);
  return scaled<false>(exp_near_0((x - n.value) * 0.693147182f), n, x, -151.0f, 128.0f);
}
//@ lanes_exp2_f64: exp_f64 exp_near_0
// Within 1.3 ulp; 0.92 with fused multiply-add.
template <int N>
inline Lanes<double, N> exp2(Lanes<double, N> x) {
  const Whole<double, N> n = nearest(x);
  return scaled<false>(exp_near_0((x - n.value) * 0.6931471805599453), n, x, -1076.0, 1024.0);
}
//@ lanes_expm1_f32: exp_f32 expm1_near_0 with_sign
// 2^n (e^r - 1) + (2^n - 1), by halves, as 2^n may be too large. Within 1.6 ulp.
template <int N>
inline Lanes<float, N> expm1(Lanes<float, N> x) {
  const Lanes<float, N> v = choose(x < -18.0f, -18.0f, choose(x > 89.0f, 89.0f, x));
  const Whole<float, N> n = nearest(v, 1.44269504f);
  const Lanes<float, N> y = expm1_near_0(without_ln2(v, n.value)),
                        half = power_of_two<float, N>(n.number - 1);
  return with_sign(choose(n.value == 0.0f, y, multiply_add(y, half, half - 0.5f) * 2.0f), x);
}
//@ lanes_expm1_f64: exp_f64 expm1_near_0 with_sign
// 2^n (e^r - 1) + (2^n - 1), by halves, as 2^n may be too large. Within 2 ulp.
template <int N>
inline Lanes<double, N> expm1(Lanes<double, N> x) {
  const Lanes<double, N> v = choose(x < -38.0, -38.0, choose(x > 710.0, 710.0, x));
  const Whole<double, N> n = nearest(v, 1.4426950408889634);
  const Lanes<double, N> y = expm1_near_0(without_ln2(v, n.value)),
                         half = power_of_two<double, N>(n.number - 1);
  return with_sign(choose(n.value == 0.0, y, multiply_add(y, half, half - 0.5) * 2.0), x);
}
//@ lanes_tanh_f32: lanes_exp_f32 with_sign
// Below 5/8 the polynomial is within 2^-27 of (tanh(x) - x) / x^3, as a part of tanh(x). Within 1.5 ulp.
template <int N>
inline Lanes<float, N> tanh(Lanes<float, N> x) {
  const Lanes<float, N> size = magnitude(x), z = x * x;
  const Lanes<float, N> p = horner(z, -0.005717071f, 0.020650614f, -0.053743508f, 0.13331491f, -0.33333284f);
  const Lanes<float, N> large = 1.0f - 2.0f / (exp(size + size) + 1.0f);
  return with_sign(choose(size < 0.625f, multiply_add(p, z * size, size), large), x);
}
//@ lanes_tanh_f64: lanes_expm1_f64
// Within 3 ulp.
template <int N>
inline Lanes<double, N> tanh(Lanes<double, N> x) {
  const Lanes<double, N> t = expm1(magnitude(x) * -2.0);
  return with_sign(-t / (t + 2.0), x);
}
//@ exp_below_0: scaled exp_near_0
// e^x for x <= 0, which does not overflow.
template <class T, int N>
inline Lanes<T, N> exp_below_0(Lanes<T, N> x) {
  const Whole<T, N> n = nearest(x, T(1.4426950408889634));
  return scaled<true>(exp_near_0(without_ln2(x, n.value)), n, x, T(sizeof(T) == 4 ? -104 : -746), T(0));
}
//@ sigmoid_of_exp: with_sign
// e^-|x| never overflows. The sign bit chooses, which takes no comparison. Within 2.5 ulp.
template <class T, int N>
inline Lanes<T, N> sigmoid(Lanes<T, N> x) {
  using Bits = typename VectorOf<IntegerOf<sizeof(T)>, N>::type;
  const Lanes<T, N> e = exp_below_0(of_bits<T, N>(bits_of(x) | Real<T>::kSign)), one = T(1);
  return Lanes<T, N>((Bits)x.v < 0 ? e.v : one.v) / (e + one);
}
//@ lanes_sigmoid_f32: exp_f32 exp_below_0 sigmoid_of_exp
//@ lanes_sigmoid_f64: exp_f64 exp_below_0 sigmoid_of_exp
//@ LogParts: Real
// x = (1 + f) 2^e with 1 + f between the roots of 1/2 and 2; kAll: also for the smallest x.
template <class T, int N, bool kAll>
struct LogParts {
  Lanes<T, N> f, e;
  Ints<T, N> whole_e;

  IN_SET explicit LogParts(Lanes<T, N> x) {
    constexpr int kFraction = Real<T>::kFraction;
    constexpr auto kOne = Real<T>::kBias << kFraction, kFractionBits = (kOne & -kOne) - 1;
    const Mask<N> tiny = x < Real<T>::kSmallest;
    if constexpr (kAll) x = choose(tiny, x * (Real<T>::kSingle ? T(8388608.0) : T(4503599627370496.0)), x);
    const Ints<T, N> root = bits_of(Lanes<T, N>(T(0.70710678118654752))), above = bits_of(x) - root + kOne;
    f = of_bits<T, N>((above & kFractionBits) + root) - T(1);
    whole_e = shifted_down(above, kFraction) - Real<T>::kBias;
    const Lanes<T, N> rounder = Real<T>::kRounder;
    e = of_bits<T, N>(bits_of(rounder) + whole_e) - rounder;
    if constexpr (kAll) e = e - choose(tiny, T(kFraction), Lanes<T, N>(T(0)));
  }
};
//@ log_ends: Lanes
// The logarithm of x, found where x is positive and finite.
template <class T, int N>
inline Lanes<T, N> log_ends(Lanes<T, N> x, Lanes<T, N> found) {
  return choose(x > T(0) && x < T(INFINITY), found,
                choose(x == T(0), -T(INFINITY), choose(x < T(0), T(NAN), x)));
}
//@ log_f32: horner LogParts
// log(1 + f) - f: the polynomial is within 2^-30 of (log(1 + f) - f + f^2 / 2) / f^3, as a part of log(1 +
// f).
template <int N>
inline Lanes<float, N> log_rest(Lanes<float, N> f) {
  const Lanes<float, N> square = f * f,
                        p = horner(f, 0.067463204f, -0.116754204f, 0.118881755f, -0.12405631f, 0.14219558f,
                                   -0.16667993f, 0.20002118f, -0.2500001f, 0.33333313f);
  return multiply_add(p, square * f, square * -0.5f);
}
// log(1 + f) + e ln 2
template <int N>
inline Lanes<float, N> log_sum(Lanes<float, N> f, Lanes<float, N> e) {
  return multiply_add(e, 0.693145752f, f + multiply_add(e, 1.42860677e-6f, log_rest(f)));
}
//@ log_f64: horner LogParts
// log(1 + f) - f: the polynomial is within 2^-59 of (log(1 + f) - f + f^2 / 2) / f^3, as a part of log(1 +
// f).
template <int N>
inline Lanes<double, N> log_rest(Lanes<double, N> f) {
  const Lanes<double, N> square = f * f,
                         p = horner(f, -0.02427543536143814, 0.05696800763907891, -0.06275058592407014,
                                    0.05415993252159789, -0.0532677737869553, 0.05817776359953219,
                                    -0.06269801175948313, 0.06675148668880808, -0.07142000066636822,
                                    0.07691714441369983, -0.08333345760887614, 0.09090933507447703,
                                    -0.10000000383217479, 0.11111110515984454, -0.12499999982021093,
                                    0.1428571429384273, -0.1666666666691435, 0.1999999999994612,
                                    -0.2499999999999892, 0.33333333333333454);
  return multiply_add(p, square * f, square * -0.5);
}
// log(1 + f) + e ln 2
template <int N>
inline Lanes<double, N> log_sum(Lanes<double, N> f, Lanes<double, N> e) {
  return multiply_add(e, 0.6931471805598903, f + multiply_add(e, 5.497923018708371e-14, log_rest(f)));
}
//@ log_of_parts: LogParts log_ends
// Within 1 ulp.
template <class T, int N>
inline Lanes<T, N> log(Lanes<T, N> x) {
  const LogParts<T, N, true> parts(x);
  return log_ends(x, log_sum(parts.f, parts.e));
}
//@ lanes_log_f32: log_f32 log_of_parts
//@ lanes_log_f64: log_f64 log_of_parts
//@ log2_of_parts: LogParts log_ends
// log2(1 + f) + e, in which f times 1 / ln 2 is exact in its upper halves. Within 1.3 ulp.
template <class T, int N>
inline Lanes<T, N> log2(Lanes<T, N> x) {
  constexpr bool kSingle = Real<T>::kSingle;
  constexpr T kUpper = kSingle ? T(1.4423828125) : T(1.4426950216293335),
              kLower = kSingle ? T(0.00031222839605926845) : T(1.9259629911266175e-08);
  const LogParts<T, N, true> parts(x);
  const Lanes<T, N> f = parts.f,
                    upper = of_bits<T, N>(bits_of(f) & -(typename Real<T>::Int(1) << (kSingle ? 12 : 27)));
  const Lanes<T, N> rest =
      multiply_add(f - upper, kUpper, multiply_add(f, kLower, log_rest(f) * (kUpper + kLower)));
  return log_ends(x, multiply_add(upper, kUpper, parts.e) + rest);
}
//@ lanes_log2_f32: log_f32 log2_of_parts
//@ lanes_log2_f64: log_f64 log2_of_parts
//@ log1p_of_parts: LogParts log_ends power_of_two with_sign
// What 1 + x lost by rounding joins f. Within 1.6 ulp.
template <class T, int N>
inline Lanes<T, N> log1p(Lanes<T, N> x) {
  const Lanes<T, N> near = x + T(1), lost = x - (near - T(1));
  const LogParts<T, N, false> parts(near);
  const Lanes<T, N> f =
      parts.f + choose(parts.e < T(Real<T>::kFraction + 2), lost * power_of_two<T, N>(-parts.whole_e), T(0));
  return with_sign(log_ends(near, log_sum(f, parts.e)), x);
}
//@ lanes_log1p_f32: log_f32 log1p_of_parts
//@ lanes_log1p_f64: log_f64 log1p_of_parts
//@ root: each_lane
// The instruction for whole vectors; std::sqrt would ask for an error number.
template <class T, int N>
inline Lanes<T, N> sqrt(Lanes<T, N> x) {
#if defined(__clang__)
  return __builtin_elementwise_sqrt(x.v);
#else
#if KGEN_SET_AVX512
  if constexpr (sizeof(x.v) == 64 && sizeof(T) == 4) return __builtin_ia32_sqrtps512_mask(x.v, x.v, -1, 4);
  if constexpr (sizeof(x.v) == 64 && sizeof(T) == 8) return __builtin_ia32_sqrtpd512_mask(x.v, x.v, -1, 4);
#endif
#if KGEN_SET_AVX2
  if constexpr (sizeof(x.v) == 32 && sizeof(T) == 4) return __builtin_ia32_sqrtps256(x.v);
  if constexpr (sizeof(x.v) == 32 && sizeof(T) == 8) return __builtin_ia32_sqrtpd256(x.v);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(x.v) == 16 && sizeof(T) == 4) return __builtin_ia32_sqrtps(x.v);
  if constexpr (sizeof(x.v) == 16 && sizeof(T) == 8) return __builtin_ia32_sqrtpd(x.v);
#endif
  return each_lane<T, N>([](T v) IN_SET { return std::sqrt(v); }, x);
#endif
}
//@ lanes_sqrt_f32: root
//@ lanes_sqrt_f64: root
//@ reciprocal_root: root
// Within 1.5 ulp.
template <class T, int N>
inline Lanes<T, N> rsqrt(Lanes<T, N> x) {
  return T(1) / sqrt(x);
}
//@ lanes_rsqrt_f32: reciprocal_root
//@ lanes_rsqrt_f64: reciprocal_root
//@ rounding: with_sign
#if KGEN_SET_AVX2
template <class T, int N>
constexpr bool kRoundsAtOnce = sizeof(T) * N >= 16;
#else
template <class T, int N>
constexpr bool kRoundsAtOnce = false;
#endif
// By the instruction for whole vectors. kWay: 8 half to even, 9 down, 10 up, 11 towards 0.
template <int kWay, class T, int N>
inline Lanes<T, N> rounded_at_once(Lanes<T, N> x) {
#if defined(__clang__)
  if constexpr (kWay == 8) return __builtin_elementwise_roundeven(x.v);
  if constexpr (kWay == 9) return __builtin_elementwise_floor(x.v);
  if constexpr (kWay == 10) return __builtin_elementwise_ceil(x.v);
  if constexpr (kWay == 11) return __builtin_elementwise_trunc(x.v);
#else
#if KGEN_SET_AVX512
  if constexpr (sizeof(x.v) == 64 && sizeof(T) == 4)
    return __builtin_ia32_rndscaleps_mask(x.v, kWay, x.v, -1, 4);
  if constexpr (sizeof(x.v) == 64 && sizeof(T) == 8)
    return __builtin_ia32_rndscalepd_mask(x.v, kWay, x.v, -1, 4);
#endif
#if KGEN_SET_AVX2
  if constexpr (sizeof(x.v) == 32 && sizeof(T) == 4) return __builtin_ia32_roundps256(x.v, kWay);
  if constexpr (sizeof(x.v) == 32 && sizeof(T) == 8) return __builtin_ia32_roundpd256(x.v, kWay);
#endif
#if KGEN_SET_AVX2
  if constexpr (sizeof(x.v) == 16 && sizeof(T) == 4) return __builtin_ia32_roundps(x.v, kWay);
  if constexpr (sizeof(x.v) == 16 && sizeof(T) == 8) return __builtin_ia32_roundpd(x.v, kWay);
#endif
#endif
  return x;
}
// Half to even: above 2^23 (2^52) all numbers are whole.
template <class T, int N>
inline Lanes<T, N> round(Lanes<T, N> x) {
  if constexpr (kRoundsAtOnce<T, N>) return rounded_at_once<8>(x);
  constexpr T kAllWhole = Real<T>::kSingle ? T(8388608.0) : T(4503599627370496.0);
  const Lanes<T, N> size = magnitude(x), whole = size + kAllWhole - kAllWhole;
  return with_sign(choose(size < kAllWhole, whole, size), x);
}
//@ lanes_round: rounding
//@ lanes_floor: rounding
template <class T, int N>
inline Lanes<T, N> floor(Lanes<T, N> x) {
  if constexpr (kRoundsAtOnce<T, N>) return rounded_at_once<9>(x);
  const Lanes<T, N> whole = round(x);
  return choose(whole > x, whole - T(1), whole);
}
//@ lanes_ceil: rounding
template <class T, int N>
inline Lanes<T, N> ceil(Lanes<T, N> x) {
  if constexpr (kRoundsAtOnce<T, N>) return rounded_at_once<10>(x);
  const Lanes<T, N> whole = round(x);
  return with_sign(magnitude(choose(whole < x, whole + T(1), whole)), x);
}
//@ lanes_trunc: rounding
template <class T, int N>
inline Lanes<T, N> trunc(Lanes<T, N> x) {
  if constexpr (kRoundsAtOnce<T, N>) return rounded_at_once<11>(x);
  const Lanes<T, N> size = magnitude(x), whole = round(size);
  return with_sign(choose(whole > size, whole - T(1), whole), x);
}
