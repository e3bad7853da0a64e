//@ lanes_fma: each_lane
template <class T, int N>
inline Lanes<T, N> fma(Lanes<T, N> a, Lanes<T, N> b, Lanes<T, N> c) {
  return each_lane<T, N>([](T x, T y, T z) IN_SET { return std::fma(x, y, z); }, a, b, c);
}
//@ in_doubles: Lanes
// A function of f64 lanes for f32 lanes, by halves where they do not fit one vector.
template <int kFirst, int N, size_t... kLane>
inline Lanes<double, int(sizeof...(kLane))> widened(Lanes<float, N> x, std::index_sequence<kLane...>) {
  using Wide = typename VectorOf<double, int(sizeof...(kLane))>::type;
  return __builtin_convertvector(__builtin_shufflevector(x.v, x.v, (int(kLane) + kFirst)...), Wide);
}
template <int N, size_t... kLane>
inline Lanes<float, 2 * N> narrowed(Lanes<double, N> low, Lanes<double, N> high,
                                    std::index_sequence<kLane...>) {
  using Half = typename VectorOf<float, N>::type;
  return __builtin_shufflevector(__builtin_convertvector(low.v, Half), __builtin_convertvector(high.v, Half),
                                 int(kLane)...);
}
template <class Function, int N, class... More>
inline Lanes<float, N> in_doubles(Function function, Lanes<float, N> x, More... more) {
  if constexpr (N * int(sizeof(double)) <= kVectorBytes) {
    using Wide = typename VectorOf<double, N>::type;
    const Lanes<double, N> y = function(Lanes<double, N>(__builtin_convertvector(x.v, Wide)),
                                        Lanes<double, N>(__builtin_convertvector(more.v, Wide))...);
    return __builtin_convertvector(y.v, typename VectorOf<float, N>::type);
  } else {
    constexpr std::make_index_sequence<N / 2> half;
    return narrowed(function(widened<0>(x, half), widened<0>(more, half)...),
                    function(widened<N / 2>(x, half), widened<N / 2>(more, half)...),
                    std::make_index_sequence<N>());
  }
}
//@ short_powers: in_doubles horner nearest power_of_two LogParts log_ends
// 2^x and log2(x) of what were f32 numbers, within 2^-34 and 2^-35 of themselves.
template <int N>
inline Lanes<double, N> short_exp2(Lanes<double, N> x) {
  const Lanes<double, N> v = choose(x < -200.0, -200.0, choose(x > 200.0, 200.0, x));
  const Whole<double, N> n = nearest(v);
  return horner(v - n.value, 1.5201964943174257e-05, 0.00015469294115029306, 0.001333392238705686,
                0.00961802724366258, 0.055504103536351726, 0.24022651198239617, 0.693147180728418,
                0.9999999999616574) *
         power_of_two<double, N>(n.number);
}
template <int N>
inline Lanes<double, N> short_log2(Lanes<double, N> x) {
  const LogParts<double, N, false> parts(x);
  const Lanes<double, N> p = horner(
      parts.f, 0.07737078664581877, -0.1428386867896188, 0.1447477235208552, -0.1431565042518168,
      0.15876995253017395, -0.1803006102520305, 0.20617534787950376, -0.24045316464224406,
      0.28853729383245075, -0.3606736748530872, 0.4808983613916993, -0.7213475208686129, 1.442695040868711);
  return log_ends(x, multiply_add(parts.f, p, parts.e));
}
//@ lanes_cbrt_f32: short_powers with_sign
// Within 0.51 ulp.
template <int N>
inline Lanes<float, N> cbrt(Lanes<float, N> x) {
  return with_sign(
      in_doubles([](auto v) IN_SET { return short_exp2(short_log2(v) * (1.0 / 3.0)); }, magnitude(x)), x);
}
//@ lanes_cbrt_f64: each_lane
template <int N>
inline Lanes<double, N> cbrt(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) IN_SET { return std::cbrt(v); }, value);
}
//@ lanes_sinh_f32: in_doubles lanes_expm1_f64 with_sign
// Within 0.51 ulp.
template <int N>
inline Lanes<float, N> sinh(Lanes<float, N> x) {
  const auto positive = [](auto v) IN_SET {
    const auto t = expm1(v);
    return (t + t / (t + 1.0)) * 0.5;
  };
  return with_sign(in_doubles(positive, choose(x > 100.0f || x < -100.0f, 100.0f, magnitude(x))), x);
}
//@ lanes_sinh_f64: each_lane
template <int N>
inline Lanes<double, N> sinh(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) IN_SET { return std::sinh(v); }, value);
}
//@ lanes_cosh_f32: in_doubles lanes_exp_f64
// Within 0.51 ulp.
template <int N>
inline Lanes<float, N> cosh(Lanes<float, N> x) {
  return in_doubles(
      [](auto v) IN_SET {
        const auto e = exp(v);
        return (e + 1.0 / e) * 0.5;
      },
      x);
}
//@ lanes_cosh_f64: each_lane
template <int N>
inline Lanes<double, N> cosh(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) IN_SET { return std::cosh(v); }, value);
}
//@ lanes_erf_f32: horner with_sign extremes
// The quotient is within 2^-26 of erf(x) / x up to 3.85, from where on erf is 1, and the quotient more.
// Within 7.5 ulp; 6 with fused multiply-add.
template <int N>
inline Lanes<float, N> erf(Lanes<float, N> x) {
  const Lanes<float, N> size = minimum(magnitude(x), 4.1f), z = size * size;
  const Lanes<float, N> p =
      horner(z, 2.8432503e-06f, 3.852656e-04f, 0.004954743f, 0.07077488f, 0.2534019f, 1.5217458f);
  const Lanes<float, N> q =
      horner(z, 5.2234376e-05f, 0.0015448456f, 0.019939158f, 0.15256743f, 0.6741083f, 1.3486121f);
  return with_sign(minimum(size * p / q, 1.0f), x);
}
//@ lanes_erf_f64: each_lane
template <int N>
inline Lanes<double, N> erf(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) IN_SET { return std::erf(v); }, value);
}
//@ lanes_erfinv_f32: short_powers root with_sign
// A polynomial within 2^-26 of erfinv(x) / x, in the root of 3 - log(1 - x^2). Within 0.75 ulp.
template <int N>
inline Lanes<float, N> erfinv(Lanes<float, N> x) {
  const auto inside = [](auto v) IN_SET {
    return v *
           horner(sqrt(multiply_add(short_log2(multiply_add(v, -v, 1.0)), -0.6931471805599453, 3.0)) - 3.0,
                  -3.821913536241352e-05, 3.8374013255045406e-05, 0.00032592504228662263,
                  -0.00045893596015922307, -0.001015656017034867, 0.0023768904859595968,
                  0.00034508412987539576, -0.006185828314671155, 0.007767213137182683, 0.002690516485886356,
                  -0.023986604315369614, 0.039281182032884894, -0.024536256466007524, -0.03955490533619221,
                  1.1983757915033844, 2.286424391127876);
  };
  return choose(magnitude(x) == 1.0f, with_sign(Lanes<float, N>(INFINITY), x), in_doubles(inside, x));
}
//@ lanes_erfinv_f64: each_lane erfinv
template <int N>
inline Lanes<double, N> erfinv(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) IN_SET { return erfinv(v); }, value);
}
//@ quarter_turns: in_doubles horner nearest any_lane each_lane
// x = n pi/2 + r with |r| <= pi/4, to 86 bits of pi/2; the sine and the cosine of r by polynomials within
// 2^-47 and 2^-43.
constexpr float kManyTurns = 1048576.0f;  // n pi/2 is exact enough below
template <int N>
struct QuarterTurns {
  Lanes<double, N> sin, cos;
  Ints<double, N> number;

  IN_SET explicit QuarterTurns(Lanes<double, N> x) {
    const Whole<double, N> n = nearest(x, 0.6366197723675814);
    const Lanes<double, N> near = multiply_add(n.value, -1.5707963267341256, x),
                           r = multiply_add(n.value, -6.077100506506192e-11, near), z = r * r;
    sin = r * horner(z, -2.476168859995972e-08, 2.7555358268673396e-06, -0.0001984126382545073,
                     0.00833333332527634, -0.16666666666631616, 1.0);
    cos = horner(z, -2.718009599597982e-07, 2.4799040987486375e-05, -0.0013888881078526008,
                 0.04166666656207324, -0.4999999999954503, 1.0);
    number = n.number;
  }
  // The sine of x + quarters pi/2.
  IN_SET Lanes<double, N> sine(int64_t quarters) const {
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
  return choose(many, each_lane<float, N>([&](float v) IN_SET { return function(double(v)); }, x), found);
}
//@ lanes_sin_f32: quarter_turns
// Within 0.51 ulp.
template <int N>
inline Lanes<float, N> sin(Lanes<float, N> x) {
  const Lanes<float, N> found =
      in_doubles([](auto v) IN_SET { return QuarterTurns<decltype(v)::kLanes>(v).sine(0); }, x);
  return many_turns(x, found, [](double v) IN_SET { return std::sin(v); });
}
//@ lanes_sin_f64: each_lane
template <int N>
inline Lanes<double, N> sin(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) IN_SET { return std::sin(v); }, value);
}
//@ lanes_cos_f32: quarter_turns
// Within 0.51 ulp.
template <int N>
inline Lanes<float, N> cos(Lanes<float, N> x) {
  const Lanes<float, N> found =
      in_doubles([](auto v) IN_SET { return QuarterTurns<decltype(v)::kLanes>(v).sine(1); }, x);
  return many_turns(x, found, [](double v) IN_SET { return std::cos(v); });
}
//@ lanes_cos_f64: each_lane
template <int N>
inline Lanes<double, N> cos(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) IN_SET { return std::cos(v); }, value);
}
//@ lanes_tan_f32: quarter_turns
// Within 0.51 ulp.
template <int N>
inline Lanes<float, N> tan(Lanes<float, N> x) {
  const auto few = [](auto v) IN_SET {
    const QuarterTurns<decltype(v)::kLanes> turns(v);
    return turns.sine(0) / turns.sine(1);
  };
  return many_turns(x, in_doubles(few, x), [](double v) IN_SET { return std::tan(v); });
}
//@ lanes_tan_f64: each_lane
template <int N>
inline Lanes<double, N> tan(Lanes<double, N> value) {
  return each_lane<double, N>([](double v) IN_SET { return std::tan(v); }, value);
}
//@ lanes_atan2_f32: in_doubles horner with_sign
// atan t for t in 0 .. 1, the smaller over the larger: a polynomial within 2^-36; the rest by symmetry.
// Within 0.51 ulp.
template <int N>
inline Lanes<float, N> atan2(Lanes<float, N> y, Lanes<float, N> x) {
  const auto angle = [](auto v, auto u) IN_SET {
    const auto a = magnitude(v), b = magnitude(u);
    const auto steep = a > b;
    const auto t = choose(a == b, choose(a == 0.0, a, 1.0), choose(steep, b, a) / choose(steep, a, b)),
               z = t * t;
    const auto flat = t * horner(z, 0.0004492103669424136, -0.003377319488270148, 0.011911244420747206,
                                 -0.026746241488054816, 0.0443671559811968, -0.06068698343337005,
                                 0.07515385773637183, -0.09054954795031808, 0.11106369879247956,
                                 -0.14285343355981675, 0.19999985333041043, -0.33333333130195614, 1.0);
    const auto right = choose(steep, 1.5707963267948966 - flat, flat);
    return with_sign(choose(bits_of(u) < int64_t(0), 3.141592653589793 - right, right), v);
  };
  return in_doubles(angle, y, x);
}
//@ lanes_atan2_f64: each_lane
template <int N>
inline Lanes<double, N> atan2(Lanes<double, N> y, Lanes<double, N> x) {
  return each_lane<double, N>([](double a, double b) IN_SET { return std::atan2(a, b); }, y, x);
}
//@ lanes_pow_f32: short_powers rounding
// 2^(y log2 |x|), with the sign of x where y is odd, and no number where y is not whole. Within 0.55 ulp.
template <int N>
inline Lanes<float, N> pow(Lanes<float, N> base, Lanes<float, N> exponent) {
  const auto power = [](auto x, auto y) IN_SET {
    const auto size = short_exp2(y * short_log2(magnitude(x)));
    const auto whole = round(y) == y, odd = whole && round(y * 0.5) != y * 0.5;
    const auto negative = choose(odd, with_sign(size, x),
                                 choose(!whole && x < 0.0 && x > -double(INFINITY), double(NAN), size));
    return choose(y == 0.0 || x == 1.0 || (x == -1.0 && magnitude(y) == double(INFINITY)), 1.0, negative);
  };
  return in_doubles(power, base, exponent);
}
//@ lanes_pow_f64: each_lane
template <int N>
inline Lanes<double, N> pow(Lanes<double, N> base, Lanes<double, N> exponent) {
  return each_lane<double, N>([](double a, double b) IN_SET { return std::pow(a, b); }, base, exponent);
}
