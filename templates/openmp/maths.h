//@ lanes_is_nan: Lanes
template <class T, int N> inline Mask<N> is_nan(Lanes<T, N> value) {
  return value != value;
}
//@ lanes_is_inf: Lanes
template <class T, int N> inline Mask<N> is_inf(Lanes<T, N> value) {
  return value == T(INFINITY) || value == -T(INFINITY);
}
//@ lanes_absolute: Lanes
template <class T, int N> inline Lanes<T, N> absolute(Lanes<T, N> value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = typename VectorOf<IntegerOf<sizeof(T)>, N>::type;
    return (typename Lanes<T, N>::Vector)((Bits)value.v & ~(Bits)Lanes<T, N>(T(-0.0)).v);
  } else {
    return choose(value < T(0), T(0) - value, value);
  }
}
//@ lanes_sign: Lanes
template <class T, int N> inline Lanes<T, N> sign(Lanes<T, N> value) {
  return choose(value > T(0), T(1), choose(value < T(0), Lanes<T, N>(T(-1)), value));
}
//@ lanes_clamp: extremes
template <class T, int N> inline Lanes<T, N> clamp(Lanes<T, N> value, Lanes<T, N> low, Lanes<T, N> high) {
  return minimum(maximum(value, low), high);
}
template <class T, int N> inline Lanes<T, N> clamp(Lanes<T, N> value, std::common_type_t<T> low, std::common_type_t<T> high) {
  return minimum(maximum(value, low), high);
}
//@ lanes_remainder: Lanes
template <class T, int N, class Number> inline Lanes<T, N> operator%(Lanes<T, N> value, Number by) {
  return value.v % Lanes<T, N>(T(by)).v;
}
//@ lanes_shift_left: Lanes
// Counts are taken modulo the width.
template <class T, int N> inline Lanes<T, N> shift_left(Lanes<T, N> value, Lanes<T, N> count) {
  using Math = typename Lanes<T, N>::Math;
  return (typename Lanes<T, N>::Vector)((Math)value.v << (Math)(count & Lanes<T, N>(8 * sizeof(T) - 1)).v);
}
//@ lanes_shift_right: Lanes
template <class T, int N> inline Lanes<T, N> shift_right(Lanes<T, N> value, Lanes<T, N> count) {
  return value.v >> (count & Lanes<T, N>(8 * sizeof(T) - 1)).v;
}
//@ Real: Lanes
// How a floating number is laid out. Adding kRounder and taking it off again rounds to a whole number.
template <class T> struct Real {
  static constexpr bool kSingle = sizeof(T) == 4;
  using Int = std::conditional_t<kSingle, int32_t, int64_t>;
  static constexpr int kFraction = kSingle ? 23 : 52;
  static constexpr Int kBias = kSingle ? 127 : 1023, kSign = kSingle ? Int(INT32_MIN) : Int(INT64_MIN);
  static constexpr T kRounder = kSingle ? T(12582912.0) : T(6755399441055744.0);
  static constexpr T kSmallest = kSingle ? T(1.17549435e-38) : T(2.2250738585072014e-308);
};
template <class T, int N> using Ints = Lanes<typename Real<T>::Int, N>;
template <class T, int N> inline Lanes<T, N> shifted_down(Lanes<T, N> positive, int count) {
  return (typename Lanes<T, N>::Vector)((typename Lanes<T, N>::Math)positive.v >> count);
}
template <class T, int N> inline Lanes<T, N> shifted_up(Lanes<T, N> value, int count) {
  return (typename Lanes<T, N>::Vector)((typename Lanes<T, N>::Math)value.v << count);
}
template <class T, int N> inline Ints<T, N> bits_of(Lanes<T, N> value) {
  return (typename Ints<T, N>::Vector)value.v;
}
template <class T, int N> inline Lanes<T, N> of_bits(Ints<T, N> bits) {
  return (typename Lanes<T, N>::Vector)bits.v;
}
//@ with_sign: Real
template <class T, int N> inline Lanes<T, N> magnitude(Lanes<T, N> value) {
  return of_bits<T, N>(bits_of(value) & ~Real<T>::kSign);
}
// A number that is positive or has the sign already, with the sign of `sign`.
template <class T, int N> inline Lanes<T, N> with_sign(Lanes<T, N> value, Lanes<T, N> sign) {
  return of_bits<T, N>(bits_of(value) | (bits_of(sign) & Real<T>::kSign));
}
//@ horner: Lanes
// A polynomial in x, highest power first; each step is one instruction where the machine has it.
template <class T, int N, class... Rest> inline Lanes<T, N> horner(Lanes<T, N> x, T highest, Rest... rest) {
  typename Lanes<T, N>::Vector p = Lanes<T, N>(highest).v;
  ((p = p * x.v + rest), ...);
  return p;
}
template <class T, int N> inline Lanes<T, N> multiply_add(Lanes<T, N> a, Lanes<T, N> b, Lanes<T, N> c) {
  return a.v * b.v + c.v;
}
//@ nearest: Real
// The nearest whole number, of numbers that are not large.
template <class T, int N> struct Whole {
  Lanes<T, N> value;
  Ints<T, N> number, exponent;  // `exponent`: where the exponent of a floating number is
};
template <class T, int N> inline Whole<T, N> nearest(Lanes<T, N> x) {
  const Lanes<T, N> shifted = x + Real<T>::kRounder;
  const Ints<T, N> number = bits_of(shifted) - bits_of(Lanes<T, N>(Real<T>::kRounder));
  return {shifted - Real<T>::kRounder, number, shifted_up(bits_of(shifted), Real<T>::kFraction)};
}
//@ power_of_two: nearest
template <class T, int N> inline Lanes<T, N> power_of_two(Ints<T, N> n) {
  return of_bits<T, N>(shifted_up(n + Real<T>::kBias, Real<T>::kFraction));
}
//@ scaled: power_of_two all_lanes
// y 2^n, the power of x, in two steps, so that the smallest results come out as well: 0 below `least`, infinite above
// `most`.
template <class T, int N>
__attribute__((noinline)) Lanes<T, N> scaled_far(typename Lanes<T, N>::Vector y, typename Ints<T, N>::Vector whole, typename Lanes<T, N>::Vector x, T least, T most) {
  constexpr auto kBias = Real<T>::kBias;
  const Ints<T, N> n = whole, half = shifted_down(Ints<T, N>(n + 2 * kBias), 1) - kBias;
  const Lanes<T, N> power = Lanes<T, N>(y) * power_of_two<T, N>(half) * power_of_two<T, N>(n - half), of = x;
  return choose(of < least, T(0), choose(of > most, std::numeric_limits<T>::infinity(), power));
}
// The same by the instruction for it, or where n may mostly be added to the exponent of y, which is near 1. kFalls: n is
// not above 0.
template <bool kFalls, class T, int N> inline Lanes<T, N> scaled(Lanes<T, N> y, Whole<T, N> n, Lanes<T, N> x, T least, T most) {
#if defined(__AVX512F__) && !defined(__clang__)
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
  const bool near = all_lanes(kFalls ? n.value >= -kMost : n.value * n.value <= kMost * kMost);
  if (__builtin_expect(!near, false)) return scaled_far<T, N>(y.v, n.number.v, x.v, least, most);
  return of_bits<T, N>(bits_of(y) + n.exponent);
}
//@ exp_f32: horner scaled
// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, within 2^-28 of e^r.
template <int N> inline Lanes<float, N> exp_rest(Lanes<float, N> r) {
  return horner(r, 0.0013814465f, 0.008368708f, 0.04166839f, 0.16666521f, 0.49999994f);
}
// x = n ln 2 + r
template <int N> inline Lanes<float, N> without_ln2(Lanes<float, N> x, Lanes<float, N> n) {
  return x - n * 0.693145752f - n * 1.42860677e-6f;
}
//@ exp_f64: horner scaled
// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, within 2^-64 of e^r.
template <int N> inline Lanes<double, N> exp_rest(Lanes<double, N> r) {
  return horner(r, 2.082660046999609e-09, 2.5112023135739704e-08, 2.755758187768787e-07, 2.7557234901644934e-06, 2.4801586926676895e-05, 0.00019841269896343493, 0.0013888888889115555, 0.008333333333317051, 0.041666666666666095, 0.16666666666666682, 0.5);
}
// x = n ln 2 + r
template <int N> inline Lanes<double, N> without_ln2(Lanes<double, N> x, Lanes<double, N> n) {
  return x - n * 0.6931471805598903 - n * 5.497923018708371e-14;
}
//@ exp_near_0: horner
// For |r| <= ln 2 / 2.
template <class T, int N> inline Lanes<T, N> exp_near_0(Lanes<T, N> r) {
  return multiply_add(multiply_add(exp_rest(r), r, Lanes<T, N>(T(1))), r, Lanes<T, N>(T(1)));
}
//@ expm1_near_0: horner
// For |r| <= ln 2 / 2.
template <class T, int N> inline Lanes<T, N> expm1_near_0(Lanes<T, N> r) {
  return multiply_add(exp_rest(r), r * r, r);
}
//@ lanes_exp_f32: exp_f32 exp_near_0
// Within 1.2 ulp; 0.92 with fused multiply-add.
template <int N> inline Lanes<float, N> exp(Lanes<float, N> x) {
  const Whole<float, N> n = nearest(x * 1.44269504f);
  return scaled<false>(exp_near_0(without_ln2(x, n.value)), n, x, -104.0f, 89.0f);
}
//@ lanes_exp_f64: exp_f64 exp_near_0
// Within 1.2 ulp; 0.92 with fused multiply-add.
template <int N> inline Lanes<double, N> exp(Lanes<double, N> x) {
  const Whole<double, N> n = nearest(x * 1.4426950408889634);
  return scaled<false>(exp_near_0(without_ln2(x, n.value)), n, x, -746.0, 710.0);
}
//@ lanes_exp2_f32: exp_f32 exp_near_0
// Within 1.3 ulp; 0.92 with fused multiply-add.
template <int N> inline Lanes<float, N> exp2(Lanes<float, N> x) {
  const Whole<float, N> n = nearest(x);
  return scaled<false>(exp_near_0((x - n.value) * 0.693147182f), n, x, -151.0f, 128.0f);
}
//@ lanes_exp2_f64: exp_f64 exp_near_0
// Within 1.3 ulp; 0.92 with fused multiply-add.
template <int N> inline Lanes<double, N> exp2(Lanes<double, N> x) {
  const Whole<double, N> n = nearest(x);
  return scaled<false>(exp_near_0((x - n.value) * 0.6931471805599453), n, x, -1076.0, 1024.0);
}
//@ lanes_expm1_f32: exp_f32 expm1_near_0 with_sign
// 2^n (e^r - 1) + (2^n - 1), by halves, as 2^n may be too large. Within 1.6 ulp.
template <int N> inline Lanes<float, N> expm1(Lanes<float, N> x) {
  const Lanes<float, N> v = choose(x < -18.0f, -18.0f, choose(x > 89.0f, 89.0f, x));
  const Whole<float, N> n = nearest(v * 1.44269504f);
  const Lanes<float, N> y = expm1_near_0(without_ln2(v, n.value)), half = power_of_two<float, N>(n.number - 1);
  return with_sign(choose(n.value == 0.0f, y, (multiply_add(y, half, half - 0.5f)) * 2.0f), x);
}
//@ lanes_expm1_f64: exp_f64 expm1_near_0 with_sign
// 2^n (e^r - 1) + (2^n - 1), by halves, as 2^n may be too large. Within 2 ulp.
template <int N> inline Lanes<double, N> expm1(Lanes<double, N> x) {
  const Lanes<double, N> v = choose(x < -38.0, -38.0, choose(x > 710.0, 710.0, x));
  const Whole<double, N> n = nearest(v * 1.4426950408889634);
  const Lanes<double, N> y = expm1_near_0(without_ln2(v, n.value)), half = power_of_two<double, N>(n.number - 1);
  return with_sign(choose(n.value == 0.0, y, (multiply_add(y, half, half - 0.5)) * 2.0), x);
}
//@ lanes_tanh_f32: lanes_exp_f32 with_sign
// Below 5/8 the polynomial is within 2^-27 of (tanh(x) - x) / x^3, as a part of tanh(x). Within 1.5 ulp.
template <int N> inline Lanes<float, N> tanh(Lanes<float, N> x) {
  const Lanes<float, N> size = magnitude(x), z = x * x;
  const Lanes<float, N> p = horner(z, -0.005717071f, 0.020650614f, -0.053743508f, 0.13331491f, -0.33333284f);
  const Lanes<float, N> large = 1.0f - 2.0f / (exp(size + size) + 1.0f);
  return with_sign(choose(size < 0.625f, multiply_add(p, z * size, size), large), x);
}
//@ lanes_tanh_f64: lanes_expm1_f64
// Within 3 ulp.
template <int N> inline Lanes<double, N> tanh(Lanes<double, N> x) {
  const Lanes<double, N> t = expm1(magnitude(x) * -2.0);
  return with_sign(-t / (t + 2.0), x);
}
//@ exp_below_0: scaled exp_near_0
// e^x for x <= 0, which does not overflow.
template <class T, int N> inline Lanes<T, N> exp_below_0(Lanes<T, N> x) {
  const Whole<T, N> n = nearest(x * T(1.4426950408889634));
  return scaled<true>(exp_near_0(without_ln2(x, n.value)), n, x, T(sizeof(T) == 4 ? -104 : -746), T(0));
}
//@ sigmoid_of_exp: with_sign
// e^-|x| never overflows. The sign bit chooses, which takes no comparison. Within 2.5 ulp.
template <class T, int N> inline Lanes<T, N> sigmoid(Lanes<T, N> x) {
  using Bits = typename VectorOf<IntegerOf<sizeof(T)>, N>::type;
  const Lanes<T, N> e = exp_below_0(of_bits<T, N>(bits_of(x) | Real<T>::kSign)), one = T(1);
  return Lanes<T, N>((Bits)x.v < 0 ? e.v : one.v) / (e + one);
}
//@ lanes_sigmoid_f32: exp_f32 exp_below_0 sigmoid_of_exp
//@ lanes_sigmoid_f64: exp_f64 exp_below_0 sigmoid_of_exp
//@ LogParts: Real
// x = (1 + f) 2^e with 1 + f between the roots of 1/2 and 2; kAll: also for the smallest x.
template <class T, int N, bool kAll> struct LogParts {
  Lanes<T, N> f, e;
  Ints<T, N> whole_e;

  explicit LogParts(Lanes<T, N> x) {
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
template <class T, int N> inline Lanes<T, N> log_ends(Lanes<T, N> x, Lanes<T, N> found) {
  return choose(x > T(0) && x < T(INFINITY), found, choose(x == T(0), -T(INFINITY), choose(x < T(0), T(NAN), x)));
}
//@ log_f32: horner LogParts
// log(1 + f) - f: the polynomial is within 2^-30 of (log(1 + f) - f + f^2 / 2) / f^3, as a part of log(1 + f).
template <int N> inline Lanes<float, N> log_rest(Lanes<float, N> f) {
  const Lanes<float, N> square = f * f, p = horner(f, 0.067463204f, -0.116754204f, 0.118881755f, -0.12405631f, 0.14219558f, -0.16667993f, 0.20002118f, -0.2500001f, 0.33333313f);
  return multiply_add(p, square * f, square * -0.5f);
}
// log(1 + f) + e ln 2
template <int N> inline Lanes<float, N> log_sum(Lanes<float, N> f, Lanes<float, N> e) {
  return f + (log_rest(f) + e * 1.42860677e-6f) + e * 0.693145752f;
}
//@ log_f64: horner LogParts
// log(1 + f) - f: the polynomial is within 2^-59 of (log(1 + f) - f + f^2 / 2) / f^3, as a part of log(1 + f).
template <int N> inline Lanes<double, N> log_rest(Lanes<double, N> f) {
  const Lanes<double, N> square = f * f, p = horner(f, -0.02427543536143814, 0.05696800763907891, -0.06275058592407014, 0.05415993252159789, -0.0532677737869553, 0.05817776359953219, -0.06269801175948313, 0.06675148668880808, -0.07142000066636822, 0.07691714441369983, -0.08333345760887614, 0.09090933507447703, -0.10000000383217479, 0.11111110515984454, -0.12499999982021093, 0.1428571429384273, -0.1666666666691435, 0.1999999999994612, -0.2499999999999892, 0.33333333333333454);
  return multiply_add(p, square * f, square * -0.5);
}
// log(1 + f) + e ln 2
template <int N> inline Lanes<double, N> log_sum(Lanes<double, N> f, Lanes<double, N> e) {
  return f + (log_rest(f) + e * 5.497923018708371e-14) + e * 0.6931471805598903;
}
//@ log_of_parts: LogParts log_ends
// Within 1 ulp.
template <class T, int N> inline Lanes<T, N> log(Lanes<T, N> x) {
  const LogParts<T, N, true> parts(x);
  return log_ends(x, log_sum(parts.f, parts.e));
}
//@ lanes_log_f32: log_f32 log_of_parts
//@ lanes_log_f64: log_f64 log_of_parts
//@ log2_of_parts: LogParts log_ends
// log2(1 + f) + e, in which f times 1 / ln 2 is exact in its upper halves. Within 1.3 ulp.
template <class T, int N> inline Lanes<T, N> log2(Lanes<T, N> x) {
  constexpr bool kSingle = Real<T>::kSingle;
  constexpr T kUpper = kSingle ? T(1.4423828125) : T(1.4426950216293335), kLower = kSingle ? T(0.00031222839605926845) : T(1.9259629911266175e-08);
  const LogParts<T, N, true> parts(x);
  const Lanes<T, N> f = parts.f, upper = of_bits<T, N>(bits_of(f) & -(typename Real<T>::Int(1) << (kSingle ? 12 : 27)));
  const Lanes<T, N> rest = (f - upper) * kUpper + (f * kLower + log_rest(f) * (kUpper + kLower));
  return log_ends(x, parts.e + upper * kUpper + rest);
}
//@ lanes_log2_f32: log_f32 log2_of_parts
//@ lanes_log2_f64: log_f64 log2_of_parts
//@ log1p_of_parts: LogParts log_ends power_of_two with_sign
// What 1 + x lost by rounding joins f. Within 1.6 ulp.
template <class T, int N> inline Lanes<T, N> log1p(Lanes<T, N> x) {
  const Lanes<T, N> near = x + T(1), lost = x - (near - T(1));
  const LogParts<T, N, false> parts(near);
  const Lanes<T, N> f = parts.f + choose(parts.e < T(Real<T>::kFraction + 2), lost * power_of_two<T, N>(-parts.whole_e), T(0));
  return with_sign(log_ends(near, log_sum(f, parts.e)), x);
}
//@ lanes_log1p_f32: log_f32 log1p_of_parts
//@ lanes_log1p_f64: log_f64 log1p_of_parts
//@ root: each_lane
// The instruction for whole vectors; std::sqrt would ask for an error number.
template <class T, int N> inline Lanes<T, N> sqrt(Lanes<T, N> x) {
#if defined(__clang__)
  return __builtin_elementwise_sqrt(x.v);
#else
#if defined(__AVX512F__)
  if constexpr (sizeof(x.v) == 64 && sizeof(T) == 4) return __builtin_ia32_sqrtps512_mask(x.v, x.v, -1, 4);
  if constexpr (sizeof(x.v) == 64 && sizeof(T) == 8) return __builtin_ia32_sqrtpd512_mask(x.v, x.v, -1, 4);
#endif
#if defined(__AVX__)
  if constexpr (sizeof(x.v) == 32 && sizeof(T) == 4) return __builtin_ia32_sqrtps256(x.v);
  if constexpr (sizeof(x.v) == 32 && sizeof(T) == 8) return __builtin_ia32_sqrtpd256(x.v);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(x.v) == 16 && sizeof(T) == 4) return __builtin_ia32_sqrtps(x.v);
  if constexpr (sizeof(x.v) == 16 && sizeof(T) == 8) return __builtin_ia32_sqrtpd(x.v);
#endif
  return each_lane<T, N>([](T v) { return std::sqrt(v); }, x);
#endif
}
//@ lanes_sqrt_f32: root
//@ lanes_sqrt_f64: root
//@ reciprocal_root: root
// Within 1.5 ulp.
template <class T, int N> inline Lanes<T, N> rsqrt(Lanes<T, N> x) {
  return T(1) / sqrt(x);
}
//@ lanes_rsqrt_f32: reciprocal_root
//@ lanes_rsqrt_f64: reciprocal_root
//@ rounding: with_sign
#if defined(__SSE4_1__)
template <class T, int N> constexpr bool kRoundsAtOnce = sizeof(T) * N >= 16;
#else
template <class T, int N> constexpr bool kRoundsAtOnce = false;
#endif
// By the instruction for whole vectors. kWay: 8 half to even, 9 down, 10 up, 11 towards 0.
template <int kWay, class T, int N> inline Lanes<T, N> rounded_at_once(Lanes<T, N> x) {
#if defined(__clang__)
  if constexpr (kWay == 8) return __builtin_elementwise_roundeven(x.v);
  if constexpr (kWay == 9) return __builtin_elementwise_floor(x.v);
  if constexpr (kWay == 10) return __builtin_elementwise_ceil(x.v);
  if constexpr (kWay == 11) return __builtin_elementwise_trunc(x.v);
#else
#if defined(__AVX512F__)
  if constexpr (sizeof(x.v) == 64 && sizeof(T) == 4) return __builtin_ia32_rndscaleps_mask(x.v, kWay, x.v, -1, 4);
  if constexpr (sizeof(x.v) == 64 && sizeof(T) == 8) return __builtin_ia32_rndscalepd_mask(x.v, kWay, x.v, -1, 4);
#endif
#if defined(__AVX__)
  if constexpr (sizeof(x.v) == 32 && sizeof(T) == 4) return __builtin_ia32_roundps256(x.v, kWay);
  if constexpr (sizeof(x.v) == 32 && sizeof(T) == 8) return __builtin_ia32_roundpd256(x.v, kWay);
#endif
#if defined(__SSE4_1__)
  if constexpr (sizeof(x.v) == 16 && sizeof(T) == 4) return __builtin_ia32_roundps(x.v, kWay);
  if constexpr (sizeof(x.v) == 16 && sizeof(T) == 8) return __builtin_ia32_roundpd(x.v, kWay);
#endif
#endif
  return x;
}
// Half to even: above 2^23 (2^52) all numbers are whole.
template <class T, int N> inline Lanes<T, N> round(Lanes<T, N> x) {
  if constexpr (kRoundsAtOnce<T, N>) return rounded_at_once<8>(x);
  constexpr T kAllWhole = Real<T>::kSingle ? T(8388608.0) : T(4503599627370496.0);
  const Lanes<T, N> size = magnitude(x), whole = size + kAllWhole - kAllWhole;
  return with_sign(choose(size < kAllWhole, whole, size), x);
}
//@ lanes_round: rounding
//@ lanes_floor: rounding
template <class T, int N> inline Lanes<T, N> floor(Lanes<T, N> x) {
  if constexpr (kRoundsAtOnce<T, N>) return rounded_at_once<9>(x);
  const Lanes<T, N> whole = round(x);
  return choose(whole > x, whole - T(1), whole);
}
//@ lanes_ceil: rounding
template <class T, int N> inline Lanes<T, N> ceil(Lanes<T, N> x) {
  if constexpr (kRoundsAtOnce<T, N>) return rounded_at_once<10>(x);
  const Lanes<T, N> whole = round(x);
  return with_sign(magnitude(choose(whole < x, whole + T(1), whole)), x);
}
//@ lanes_trunc: rounding
template <class T, int N> inline Lanes<T, N> trunc(Lanes<T, N> x) {
  if constexpr (kRoundsAtOnce<T, N>) return rounded_at_once<11>(x);
  const Lanes<T, N> size = magnitude(x), whole = round(size);
  return with_sign(choose(whole > size, whole - T(1), whole), x);
}
//@ lanes_fma: each_lane
template <class T, int N> inline Lanes<T, N> fma(Lanes<T, N> a, Lanes<T, N> b, Lanes<T, N> c) {
  return each_lane<T, N>([](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c);
}
//@ in_doubles: Lanes
// A function of f64 lanes for f32 lanes, by halves where they do not fit one vector.
template <int kFirst, int N, size_t... kLane>
inline Lanes<double, int(sizeof...(kLane))> widened(Lanes<float, N> x, std::index_sequence<kLane...>) {
  using Wide = typename VectorOf<double, int(sizeof...(kLane))>::type;
  return __builtin_convertvector(__builtin_shufflevector(x.v, x.v, (int(kLane) + kFirst)...), Wide);
}
template <int N, size_t... kLane>
inline Lanes<float, 2 * N> narrowed(Lanes<double, N> low, Lanes<double, N> high, std::index_sequence<kLane...>) {
  using Half = typename VectorOf<float, N>::type;
  return __builtin_shufflevector(__builtin_convertvector(low.v, Half), __builtin_convertvector(high.v, Half), int(kLane)...);
}
template <class Function, int N, class... More>
inline Lanes<float, N> in_doubles(Function function, Lanes<float, N> x, More... more) {
  if constexpr (N * int(sizeof(double)) <= kVectorBytes) {
    using Wide = typename VectorOf<double, N>::type;
    const Lanes<double, N> y = function(Lanes<double, N>(__builtin_convertvector(x.v, Wide)), Lanes<double, N>(__builtin_convertvector(more.v, Wide))...);
    return __builtin_convertvector(y.v, typename VectorOf<float, N>::type);
  } else {
    constexpr std::make_index_sequence<N / 2> half;
    return narrowed(function(widened<0>(x, half), widened<0>(more, half)...), function(widened<N / 2>(x, half), widened<N / 2>(more, half)...), std::make_index_sequence<N>());
  }
}
//@ short_powers: in_doubles horner nearest power_of_two LogParts log_ends
// 2^x and log2(x) of what were f32 numbers, within 2^-34 and 2^-35 of themselves.
template <int N> inline Lanes<double, N> short_exp2(Lanes<double, N> x) {
  const Lanes<double, N> v = choose(x < -200.0, -200.0, choose(x > 200.0, 200.0, x));
  const Whole<double, N> n = nearest(v);
  return horner(v - n.value, 1.5201964943174257e-05, 0.00015469294115029306, 0.001333392238705686, 0.00961802724366258, 0.055504103536351726, 0.24022651198239617, 0.693147180728418, 0.9999999999616574) * power_of_two<double, N>(n.number);
}
template <int N> inline Lanes<double, N> short_log2(Lanes<double, N> x) {
  const LogParts<double, N, false> parts(x);
  const Lanes<double, N> p = horner(parts.f, 0.07737078664581877, -0.1428386867896188, 0.1447477235208552, -0.1431565042518168, 0.15876995253017395, -0.1803006102520305, 0.20617534787950376, -0.24045316464224406, 0.28853729383245075, -0.3606736748530872, 0.4808983613916993, -0.7213475208686129, 1.442695040868711);
  return log_ends(x, multiply_add(parts.f, p, parts.e));
}
//@ lanes_cbrt_f32: short_powers with_sign
// Within 0.51 ulp.
template <int N> inline Lanes<float, N> cbrt(Lanes<float, N> x) {
  return with_sign(in_doubles([](auto v) { return short_exp2(short_log2(v) * (1.0 / 3.0)); }, magnitude(x)), x);
}
//@ lanes_cbrt_f64: each_lane
template <int N> inline Lanes<double, N> cbrt(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) { return std::cbrt(v); }, value);
}
//@ lanes_sinh_f32: in_doubles lanes_expm1_f64 with_sign
// Within 0.51 ulp.
template <int N> inline Lanes<float, N> sinh(Lanes<float, N> x) {
  const auto positive = [](auto v) {
    const auto t = expm1(v);
    return (t + t / (t + 1.0)) * 0.5;
  };
  return with_sign(in_doubles(positive, choose(x > 100.0f || x < -100.0f, 100.0f, magnitude(x))), x);
}
//@ lanes_sinh_f64: each_lane
template <int N> inline Lanes<double, N> sinh(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) { return std::sinh(v); }, value);
}
//@ lanes_cosh_f32: in_doubles lanes_exp_f64
// Within 0.51 ulp.
template <int N> inline Lanes<float, N> cosh(Lanes<float, N> x) {
  return in_doubles(
      [](auto v) {
        const auto e = exp(v);
        return (e + 1.0 / e) * 0.5;
      },
      x);
}
//@ lanes_cosh_f64: each_lane
template <int N> inline Lanes<double, N> cosh(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) { return std::cosh(v); }, value);
}
//@ lanes_erf_f32: horner with_sign extremes
// The quotient is within 2^-26 of erf(x) / x up to 3.85, from where on erf is 1, and the quotient more. Within 7.5 ulp; 6
// with fused multiply-add.
template <int N> inline Lanes<float, N> erf(Lanes<float, N> x) {
  const Lanes<float, N> size = minimum(magnitude(x), 4.1f), z = size * size;
  const Lanes<float, N> p = horner(z, 2.8432503e-06f, 3.852656e-04f, 0.004954743f, 0.07077488f, 0.2534019f, 1.5217458f);
  const Lanes<float, N> q = horner(z, 5.2234376e-05f, 0.0015448456f, 0.019939158f, 0.15256743f, 0.6741083f, 1.3486121f);
  return with_sign(minimum(size * p / q, 1.0f), x);
}
//@ lanes_erf_f64: each_lane
template <int N> inline Lanes<double, N> erf(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) { return std::erf(v); }, value);
}
//@ lanes_erfinv_f32: short_powers root with_sign
// A polynomial within 2^-26 of erfinv(x) / x, in the root of 3 - log(1 - x^2). Within 0.75 ulp.
template <int N> inline Lanes<float, N> erfinv(Lanes<float, N> x) {
  const auto inside = [](auto v) {
    return v * horner(sqrt(3.0 - short_log2(1.0 - v * v) * 0.6931471805599453) - 3.0, -3.821913536241352e-05, 3.8374013255045406e-05, 0.00032592504228662263, -0.00045893596015922307, -0.001015656017034867, 0.0023768904859595968, 0.00034508412987539576, -0.006185828314671155, 0.007767213137182683, 0.002690516485886356, -0.023986604315369614, 0.039281182032884894, -0.024536256466007524, -0.03955490533619221, 1.1983757915033844, 2.286424391127876);
  };
  return choose(magnitude(x) == 1.0f, with_sign(Lanes<float, N>(INFINITY), x), in_doubles(inside, x));
}
//@ lanes_erfinv_f64: each_lane erfinv
template <int N> inline Lanes<double, N> erfinv(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) { return erfinv(v); }, value);
}
//@ quarter_turns: in_doubles horner nearest any_lane each_lane
// x = n pi/2 + r with |r| <= pi/4, to 86 bits of pi/2; the sine and the cosine of r by polynomials within 2^-47 and 2^-43.
constexpr float kManyTurns = 1048576.0f;  // n pi/2 is exact enough below
template <int N> struct QuarterTurns {
  Lanes<double, N> sin, cos;
  Ints<double, N> number;

  explicit QuarterTurns(Lanes<double, N> x) {
    const Whole<double, N> n = nearest(x * 0.6366197723675814);
    const Lanes<double, N> r = x - n.value * 1.5707963267341256 - n.value * 6.077100506506192e-11, z = r * r;
    sin = r * horner(z, -2.476168859995972e-08, 2.7555358268673396e-06, -0.0001984126382545073, 0.00833333332527634, -0.16666666666631616, 1.0);
    cos = horner(z, -2.718009599597982e-07, 2.4799040987486375e-05, -0.0013888881078526008, 0.04166666656207324, -0.4999999999954503, 1.0);
    number = n.number;
  }
  // The sine of x + quarters pi/2.
  Lanes<double, N> sine(int64_t quarters) const {
    const Ints<double, N> n = number + quarters;
    const Lanes<double, N> value = choose((n & int64_t(1)) == int64_t(0), sin, cos);
    return of_bits<double, N>(bits_of(value) ^ (Ints<double, N>((n & int64_t(2)).v << 62)));
  }
};
// Large numbers go through the standard library.
template <int N, class Function>
inline Lanes<float, N> many_turns(Lanes<float, N> x, Lanes<float, N> found, Function function) {
  const Mask<N> many = x > kManyTurns || x < -kManyTurns;
  if (!any_lane(many)) return found;
  return choose(many, each_lane<float, N>([&](float v) { return function(double(v)); }, x), found);
}
//@ lanes_sin_f32: quarter_turns
// Within 0.51 ulp.
template <int N> inline Lanes<float, N> sin(Lanes<float, N> x) {
  const Lanes<float, N> found = in_doubles([](auto v) { return QuarterTurns<decltype(v)::kLanes>(v).sine(0); }, x);
  return many_turns(x, found, [](double v) { return std::sin(v); });
}
//@ lanes_sin_f64: each_lane
template <int N> inline Lanes<double, N> sin(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) { return std::sin(v); }, value);
}
//@ lanes_cos_f32: quarter_turns
// Within 0.51 ulp.
template <int N> inline Lanes<float, N> cos(Lanes<float, N> x) {
  const Lanes<float, N> found = in_doubles([](auto v) { return QuarterTurns<decltype(v)::kLanes>(v).sine(1); }, x);
  return many_turns(x, found, [](double v) { return std::cos(v); });
}
//@ lanes_cos_f64: each_lane
template <int N> inline Lanes<double, N> cos(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) { return std::cos(v); }, value);
}
//@ lanes_tan_f32: quarter_turns
// Within 0.51 ulp.
template <int N> inline Lanes<float, N> tan(Lanes<float, N> x) {
  const auto few = [](auto v) {
    const QuarterTurns<decltype(v)::kLanes> turns(v);
    return turns.sine(0) / turns.sine(1);
  };
  return many_turns(x, in_doubles(few, x), [](double v) { return std::tan(v); });
}
//@ lanes_tan_f64: each_lane
template <int N> inline Lanes<double, N> tan(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) { return std::tan(v); }, value);
}
//@ lanes_atan2_f32: in_doubles horner with_sign
// atan t for t in 0 .. 1, the smaller over the larger: a polynomial within 2^-36; the rest by symmetry.
// Within 0.51 ulp.
template <int N> inline Lanes<float, N> atan2(Lanes<float, N> y, Lanes<float, N> x) {
  const auto angle = [](auto v, auto u) {
    const auto a = magnitude(v), b = magnitude(u);
    const auto steep = a > b;
    const auto t = choose(a == b, choose(a == 0.0, a, 1.0), choose(steep, b, a) / choose(steep, a, b)), z = t * t;
    const auto flat = t * horner(z, 0.0004492103669424136, -0.003377319488270148, 0.011911244420747206, -0.026746241488054816, 0.0443671559811968, -0.06068698343337005, 0.07515385773637183, -0.09054954795031808, 0.11106369879247956, -0.14285343355981675, 0.19999985333041043, -0.33333333130195614, 1.0);
    const auto right = choose(steep, 1.5707963267948966 - flat, flat);
    return with_sign(choose(bits_of(u) < int64_t(0), 3.141592653589793 - right, right), v);
  };
  return in_doubles(angle, y, x);
}
//@ lanes_atan2_f64: each_lane
template <int N> inline Lanes<double, N> atan2(Lanes<double, N> y, Lanes<double, N> x) {
  return each_lane<double, N>([](double a, double b) { return std::atan2(a, b); }, y, x);
}
//@ lanes_pow_f32: short_powers rounding
// 2^(y log2 |x|), with the sign of x where y is odd, and no number where y is not whole. Within 0.55 ulp.
template <int N> inline Lanes<float, N> pow(Lanes<float, N> base, Lanes<float, N> exponent) {
  const auto power = [](auto x, auto y) {
    const auto size = short_exp2(y * short_log2(magnitude(x)));
    const auto whole = round(y) == y, odd = whole && round(y * 0.5) != y * 0.5;
    const auto negative = choose(odd, with_sign(size, x), choose(!whole && x < 0.0 && x > -double(INFINITY), double(NAN), size));
    return choose(y == 0.0 || x == 1.0 || (x == -1.0 && magnitude(y) == double(INFINITY)), 1.0, negative);
  };
  return in_doubles(power, base, exponent);
}
//@ lanes_pow_f64: each_lane
template <int N> inline Lanes<double, N> pow(Lanes<double, N> base, Lanes<double, N> exponent) {
  return each_lane<double, N>([](double a, double b) { return std::pow(a, b); }, base, exponent);
}
