//@ kVectorBytes
// The widest vector of the machine that this file is compiled for.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
//@ kLanes64: kVectorBytes
constexpr int kLanes64 = kVectorBytes / 8;  // elements of 64 bits in a vector
//@ kLanes32: kVectorBytes
constexpr int kLanes32 = kVectorBytes / 4;  // elements of 32 bits in a vector
//@ kLanes16: kVectorBytes
constexpr int kLanes16 = kVectorBytes / 2;  // elements of 16 bits in a vector
//@ kLanes8: kVectorBytes
constexpr int kLanes8 = kVectorBytes;  // elements of 8 bits in a vector
//@ Mask: kVectorBytes
template <class T, int N> struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * N)));
};
template <size_t kBytes>
using IntegerOf = std::conditional_t<kBytes == 1, int8_t, std::conditional_t<kBytes == 2, int16_t, std::conditional_t<kBytes == 4, int32_t, int64_t>>>;

// One truth value a lane: all its bits are set, or none.
template <int N> struct Mask {
  using Int = IntegerOf<kVectorBytes / N>;
  using Vector = typename VectorOf<Int, N>::type;
  static constexpr int kLanes = N;
  Vector v;

  Mask() = default;
  Mask(Vector bits) : v(bits) {}
  Mask(bool all) : v(Vector{} - Int(all)) {}
  // From integers of any width, and to those of the width of T.
  template <class V> static Mask from(V bits) {
    if constexpr (sizeof(V) == sizeof(Vector))
      return (Vector)bits;
    else
      return __builtin_convertvector(bits, Vector);
  }
  template <class T> auto as() const {
    using Wanted = typename VectorOf<IntegerOf<sizeof(T)>, N>::type;
    if constexpr (sizeof(T) == sizeof(Int))
      return (Wanted)v;
    else
      return __builtin_convertvector(v, Wanted);
  }
  bool has(int lane) const { return v[lane] != 0; }
  bool operator[](int lane) const { return v[lane] != 0; }
  friend Mask operator&&(Mask a, Mask b) { return a.v & b.v; }
  friend Mask operator||(Mask a, Mask b) { return a.v | b.v; }
  friend Mask operator!(Mask a) { return ~a.v; }
  friend Mask operator==(Mask a, Mask b) { return ~(a.v ^ b.v); }
  friend Mask operator!=(Mask a, Mask b) { return a.v ^ b.v; }
  friend Mask choose(Mask m, Mask a, Mask b) { return (m.v & a.v) | (~m.v & b.v); }
};
//@ Lanes: Mask
// One value at N neighbouring points. Integers wrap around, so their arithmetic is done unsigned.
template <class T, int N> struct Lanes {
  using Vector = typename VectorOf<T, N>::type;
  using Unsigned = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::enable_if<true, T>>::type;
  using Math = typename VectorOf<Unsigned, N>::type;
  static constexpr int kLanes = N;
  Vector v;

  Lanes() = default;
  Lanes(Vector values) : v(values) {}
  Lanes(T all) : v(all - Vector{}) {}
  T operator[](int lane) const { return v[lane]; }
  friend Lanes operator+(Lanes a, Lanes b) { return (Vector)((Math)a.v + (Math)b.v); }
  friend Lanes operator-(Lanes a, Lanes b) { return (Vector)((Math)a.v - (Math)b.v); }
  friend Lanes operator*(Lanes a, Lanes b) { return (Vector)((Math)a.v * (Math)b.v); }
  friend Lanes operator/(Lanes a, Lanes b) { return a.v / b.v; }
  friend Lanes operator-(Lanes a) { return (Vector)(-(Math)a.v); }
  friend Lanes operator&(Lanes a, Lanes b) { return a.v & b.v; }
  friend Lanes operator|(Lanes a, Lanes b) { return a.v | b.v; }
  friend Lanes operator^(Lanes a, Lanes b) { return a.v ^ b.v; }
  friend Lanes operator~(Lanes a) { return ~a.v; }
  Lanes& operator+=(Lanes b) { return *this = *this + b; }
  Lanes& operator-=(Lanes b) { return *this = *this - b; }
  Lanes& operator*=(Lanes b) { return *this = *this * b; }
  friend Mask<N> operator<(Lanes a, Lanes b) { return Mask<N>::from(a.v < b.v); }
  friend Mask<N> operator<=(Lanes a, Lanes b) { return Mask<N>::from(a.v <= b.v); }
  friend Mask<N> operator>(Lanes a, Lanes b) { return Mask<N>::from(a.v > b.v); }
  friend Mask<N> operator>=(Lanes a, Lanes b) { return Mask<N>::from(a.v >= b.v); }
  friend Mask<N> operator==(Lanes a, Lanes b) { return Mask<N>::from(a.v == b.v); }
  friend Mask<N> operator!=(Lanes a, Lanes b) { return Mask<N>::from(a.v != b.v); }
  friend Lanes choose(Mask<N> m, Lanes a, Lanes b) { return m.template as<T>() ? a.v : b.v; }
  // NaN where either is NaN.
  friend Lanes maximum(Lanes a, Lanes b) { return ((a.v > b.v) | (a.v != a.v)) ? a.v : b.v; }
  friend Lanes minimum(Lanes a, Lanes b) { return ((a.v < b.v) | (a.v != a.v)) ? a.v : b.v; }
};
template <class T, int N> struct LanesOf {
  using type = Lanes<T, N>;
};
template <int N> struct LanesOf<bool, N> {
  using type = Mask<N>;
};
//@ for_lanes: Lanes
// The lanes of a group that take part: all of them, or the first few where a loop ends.
template <int N> struct AllLanes {
  static constexpr int kLanes = N, count = N;
  bool has(int) const { return true; }
};
template <int N> struct FirstLanes {
  static constexpr int kLanes = N;
  int count;
  bool has(int lane) const { return lane < count; }
};
template <int N> inline Mask<N> mask_of(AllLanes<N>) {
  return true;
}
template <int N> inline Mask<N> mask_of(FirstLanes<N> active) {
  typename Mask<N>::Vector position = {};
  for (int lane = 0; lane < N; ++lane) position[lane] = typename Mask<N>::Int(lane);
  return Mask<N>::from(position < typename Mask<N>::Int(active.count));
}
template <int N> inline Mask<N> mask_of(Mask<N> active) {
  return active;
}

// Calls step(first, lanes that take part) for groups of N neighbours from `first` to `end`.
template <int N, class Step> inline __attribute__((always_inline)) void for_lanes(int64_t first, int64_t end, const Step& step) {
  for (; end - first >= N; first += N) step(first, AllLanes<N>{});
  if (first < end) step(first, FirstLanes<N>{int(end - first)});
}
//@ load: for_lanes
// Neighbouring elements; only those of active lanes are touched. The others are 0.
template <class T, class Active> inline typename LanesOf<T, Active::kLanes>::type load(const T* from, Active active) {
  constexpr int N = Active::kLanes;
  using Stored = std::conditional_t<std::is_same_v<T, bool>, int8_t, T>;
  typename VectorOf<Stored, N>::type values = {};
  memcpy(&values, from, size_t(active.count) * sizeof(T));
  if constexpr (std::is_same_v<T, bool>)
    return Mask<N>::from(values != 0);
  else
    return values;
}
//@ store: for_lanes
// Writes the active lanes to neighbouring elements.
template <class T, class Active> inline void store(T* to, Active active, typename LanesOf<T, Active::kLanes>::type value) {
  if constexpr (std::is_same_v<T, bool>) {
    const auto bytes = value.template as<bool>() & 1;
    memcpy(to, &bytes, size_t(active.count));
  } else {
    memcpy(to, &value.v, size_t(active.count) * sizeof(T));
  }
}
//@ gather: load
// value(i) for each active lane, of the points first, first + 1, ...; it may take the lane's number as well.
template <class T, class Active, class Value>
inline typename LanesOf<T, Active::kLanes>::type gather(int64_t first, Active active, const Value& value) {
  T values[Active::kLanes] = {};
  for (int lane = 0; lane < Active::kLanes; ++lane) {
    if (!active.has(lane)) continue;
    if constexpr (std::is_invocable_v<Value, int64_t, int>)
      values[lane] = T(value(first + lane, lane));
    else
      values[lane] = T(value(first + lane));
  }
  return load(values, AllLanes<Active::kLanes>{});
}
//@ load_every: load
// Elements that lie `stride` apart.
template <class T, class Active> inline typename LanesOf<T, Active::kLanes>::type load_every(const T* from, int64_t stride, Active active) {
  if (stride == 1) return load(from, active);
  T values[Active::kLanes] = {};
  for (int lane = 0; lane < active.count; ++lane) values[lane] = from[lane * stride];
  return load(values, AllLanes<Active::kLanes>{});
}
//@ store_every: store
template <class T, class Active>
inline void store_every(T* to, int64_t stride, Active active, typename LanesOf<T, Active::kLanes>::type value) {
  for (int lane = 0; lane < active.count; ++lane) to[lane * stride] = value[lane];
}
//@ keep: for_lanes
// The value in active lanes, `other` in the rest.
template <class Active, class V> inline V keep(Active active, V value, typename std::enable_if<true, V>::type other) {
  if constexpr (std::is_same_v<Active, AllLanes<Active::kLanes>>)
    return value;
  else
    return choose(mask_of(active), value, other);
}
//@ active_mask: for_lanes
template <class Active> inline Mask<Active::kLanes> operator&&(Active active, Mask<Active::kLanes> condition) {
  return mask_of(active) && condition;
}
//@ any_lane: Mask
template <int N> inline bool any_lane(Mask<N> mask) {
  uint64_t words[kVectorBytes / 8], all = 0;
  memcpy(words, &mask.v, sizeof words);
  for (uint64_t word : words) all |= word;
  return all != 0;
}
//@ across: Lanes
// All lanes combined into one value, in an order that is always the same.
template <class V, class Combine> inline auto across(V lanes, Combine combine) {
  using T = decltype(lanes[0]);
  T part[V::kLanes];
  for (int lane = 0; lane < V::kLanes; ++lane) part[lane] = lanes[lane];
  for (int half = V::kLanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) part[lane] = T(combine(part[lane], part[lane + half]));
  return part[0];
}
//@ positions: Lanes
// first, first + 1, ...
template <int N> inline Lanes<int64_t, N> positions(int64_t first) {
  typename Lanes<int64_t, N>::Vector out = {};
  for (int lane = 0; lane < N; ++lane) out[lane] = first + lane;
  return out;
}
//@ convert: Lanes
// Numbers of another type; of a mask: 1 or 0.
template <class To, class From, int N> inline Lanes<To, N> convert(Lanes<From, N> from) {
  return __builtin_convertvector(from.v, typename Lanes<To, N>::Vector);
}
template <class To, int N> inline Lanes<To, N> convert(Mask<N> from) {
  return __builtin_convertvector(-from.v, typename Lanes<To, N>::Vector);
}
//@ each_lane: load
// A function of single values, lane by lane; an argument may be the same for all lanes.
template <class T, int N> inline T in_lane(Lanes<T, N> value, int lane) {
  return value[lane];
}
template <int N> inline bool in_lane(Mask<N> value, int lane) {
  return value[lane];
}
template <class T> inline std::enable_if_t<std::is_arithmetic_v<T>, T> in_lane(T value, int) {
  return value;
}
template <class R, int N, class Function, class... Values>
inline typename LanesOf<R, N>::type each_lane(Function function, Values... values) {
  R out[N];
  for (int lane = 0; lane < N; ++lane) out[lane] = R(function(in_lane(values, lane)...));
  return load(out, AllLanes<N>{});
}
//@ lanes_from_bf16: Lanes
template <int N> inline Lanes<float, N> from_bf16(Lanes<uint16_t, N> bits) {
  using Words = typename VectorOf<uint32_t, N>::type;
  return (typename Lanes<float, N>::Vector)(__builtin_convertvector(bits.v, Words) << 16);
}
//@ lanes_to_bf16: Lanes
// Round to nearest even.
template <int N> inline Lanes<uint16_t, N> to_bf16(Lanes<float, N> value) {
  using Words = typename VectorOf<uint32_t, N>::type;
  const Words bits = (Words)value.v, upper = bits >> 16;
  const Words rounded = value.v == value.v ? (bits + 0x7fffu + (upper & 1u)) >> 16 : upper | 0x40u;
  return __builtin_convertvector(rounded, typename Lanes<uint16_t, N>::Vector);
}
//@ lanes_from_f16: Lanes
template <int N> inline Lanes<float, N> from_f16(Lanes<uint16_t, N> half) {
  using Words = typename VectorOf<uint32_t, N>::type;
  using Ints = typename VectorOf<int32_t, N>::type;
  using Floats = typename VectorOf<float, N>::type;
  const Words all = __builtin_convertvector(half.v, Words), sign = (all & 0x8000u) << 16, rest = all & 0x7fffu;
  const Words normal = (rest << 13) + 0x38000000u, special = (rest << 13) | 0x7f800000u;
  const Words small = (Words)(__builtin_convertvector((Ints)rest, Floats) * (1.0f / 16777216.0f));
  const Words bits = (Ints)rest >= 0x7c00 ? special : ((Ints)rest >= 0x0400 ? normal : small);
  return (Floats)(bits | sign);
}
//@ lanes_to_f16: Lanes
// Round to nearest even.
template <int N> inline Lanes<uint16_t, N> to_f16(Lanes<float, N> value) {
  using Words = typename VectorOf<uint32_t, N>::type;
  using Ints = typename VectorOf<int32_t, N>::type;
  using Floats = typename VectorOf<float, N>::type;
  const Words all = (Words)value.v, sign = (all >> 16) & 0x8000u, rest = all & 0x7fffffffu;
  const Words normal = (rest - 0x38000000u + 0x0fffu + ((rest >> 13) & 1u)) >> 13;
  // The last bit of 0.5 is that of the smallest half.
  const Words small = (Words)((Floats)rest + 0.5f) - 0x3f000000u;
  const Words finite = (Ints)rest < 0x38800000 ? small : normal;
  const Words bits = (Ints)rest > 0x7f800000 ? Words{} + 0x7e00u : ((Ints)rest >= 0x477ff000 ? Words{} + 0x7c00u : finite);
  return __builtin_convertvector(bits | sign, typename Lanes<uint16_t, N>::Vector);
}
//@ lanes_saturate: each_lane saturate
template <class To, class From, int N> inline Lanes<To, N> saturate(Lanes<From, N> value) {
  return each_lane<To, N>([](From v) { return saturate<To>(v); }, value);
}
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
  return choose(value < T(0), T(0) - value, choose(value == T(0), Lanes<T, N>(T(0)), value));
}
//@ lanes_sign: Lanes
template <class T, int N> inline Lanes<T, N> sign(Lanes<T, N> value) {
  return choose(value > T(0), T(1), choose(value < T(0), Lanes<T, N>(T(-1)), value));
}
//@ lanes_clamp: Lanes
template <class T, int N> inline Lanes<T, N> clamp(Lanes<T, N> value, Lanes<T, N> low, Lanes<T, N> high) {
  return minimum(maximum(value, low), high);
}
//@ fold_best: Lanes
// The best of the lanes, and where it stands; of equals the one that stands first.
template <class T, int N, class Before>
inline void fold_best(Lanes<int64_t, N> where_lanes, Lanes<T, N> best_lanes, int64_t& where, T& best, Before before) {
  for (int lane = 0; lane < N; ++lane) {
    const int64_t at = where_lanes[lane];
    const T value = best_lanes[lane];
    if (at >= 0 && (where < 0 || before(value, best) || (at < where && !before(best, value)))) {
      where = at;
      best = value;
    }
  }
}
//@ lanes_exp: each_lane
template <class T, int N> inline Lanes<T, N> exp(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::exp(v); }, value);
}
//@ lanes_exp2: each_lane
template <class T, int N> inline Lanes<T, N> exp2(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::exp2(v); }, value);
}
//@ lanes_expm1: each_lane
template <class T, int N> inline Lanes<T, N> expm1(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::expm1(v); }, value);
}
//@ lanes_log: each_lane
template <class T, int N> inline Lanes<T, N> log(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::log(v); }, value);
}
//@ lanes_log2: each_lane
template <class T, int N> inline Lanes<T, N> log2(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::log2(v); }, value);
}
//@ lanes_log1p: each_lane
template <class T, int N> inline Lanes<T, N> log1p(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::log1p(v); }, value);
}
//@ lanes_sqrt: each_lane
template <class T, int N> inline Lanes<T, N> sqrt(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::sqrt(v); }, value);
}
//@ lanes_cbrt: each_lane
template <class T, int N> inline Lanes<T, N> cbrt(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::cbrt(v); }, value);
}
//@ lanes_tanh: each_lane
template <class T, int N> inline Lanes<T, N> tanh(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::tanh(v); }, value);
}
//@ lanes_sinh: each_lane
template <class T, int N> inline Lanes<T, N> sinh(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::sinh(v); }, value);
}
//@ lanes_cosh: each_lane
template <class T, int N> inline Lanes<T, N> cosh(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::cosh(v); }, value);
}
//@ lanes_erf: each_lane
template <class T, int N> inline Lanes<T, N> erf(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::erf(v); }, value);
}
//@ lanes_sin: each_lane
template <class T, int N> inline Lanes<T, N> sin(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::sin(v); }, value);
}
//@ lanes_cos: each_lane
template <class T, int N> inline Lanes<T, N> cos(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::cos(v); }, value);
}
//@ lanes_tan: each_lane
template <class T, int N> inline Lanes<T, N> tan(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::tan(v); }, value);
}
//@ lanes_floor: each_lane
template <class T, int N> inline Lanes<T, N> floor(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::floor(v); }, value);
}
//@ lanes_ceil: each_lane
template <class T, int N> inline Lanes<T, N> ceil(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::ceil(v); }, value);
}
//@ lanes_trunc: each_lane
template <class T, int N> inline Lanes<T, N> trunc(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::trunc(v); }, value);
}
//@ lanes_round: each_lane
template <class T, int N> inline Lanes<T, N> round(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return std::nearbyint(v); }, value);
}
//@ lanes_rsqrt: each_lane rsqrt
template <class T, int N> inline Lanes<T, N> rsqrt(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return rsqrt(v); }, value);
}
//@ lanes_erfinv: each_lane erfinv
template <class T, int N> inline Lanes<T, N> erfinv(Lanes<T, N> value) {
  return each_lane<T, N>([](T v) { return erfinv(v); }, value);
}
//@ lanes_sigmoid: lanes_exp
template <class T, int N> inline Lanes<T, N> sigmoid(Lanes<T, N> value) {
  return T(1) / (T(1) + exp(-value));
}
//@ lanes_pow: each_lane
template <class T, int N> inline Lanes<T, N> pow(Lanes<T, N> base, Lanes<T, N> exponent) {
  return each_lane<T, N>([](T a, T b) { return std::pow(a, b); }, base, exponent);
}
//@ lanes_atan2: each_lane
template <class T, int N> inline Lanes<T, N> atan2(Lanes<T, N> y, Lanes<T, N> x) {
  return each_lane<T, N>([](T a, T b) { return std::atan2(a, b); }, y, x);
}
//@ lanes_fma: each_lane
template <class T, int N> inline Lanes<T, N> fma(Lanes<T, N> a, Lanes<T, N> b, Lanes<T, N> c) {
  return each_lane<T, N>([](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c);
}
