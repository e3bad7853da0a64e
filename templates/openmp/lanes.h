//@ kVectorBytes
// The widest vector of the machine that this file is compiled for.
#if KGEN_SET_AVX512
constexpr int kVectorBytes = 64;
#elif KGEN_SET_AVX2
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
template <class T, int N>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * N)));
  // Anywhere in memory. (By memcpy, g++ 12 stores 1 1 1 1 where it knows that a vector is 1 1 0 0.)
  typedef T loose __attribute__((vector_size(sizeof(T) * N), aligned(1), may_alias));
};
template <size_t kBytes>
using IntegerOf = std::conditional_t<
    kBytes == 1, int8_t,
    std::conditional_t<kBytes == 2, int16_t, std::conditional_t<kBytes == 4, int32_t, int64_t>>>;

// Integers of another width. Compilers know how to double and halve it; what goes further, they do by lane.
template <class To, class V>
inline auto resized(V from) {
  using T = std::decay_t<decltype(from[0])>;
  constexpr size_t kOld = sizeof(T), kNew = sizeof(To), kLanes = sizeof(V) / kOld;
  using Signed = IntegerOf<(kNew > kOld ? 2 * kOld : kOld / 2)>;
  using Next = std::conditional_t<std::is_signed_v<T>, Signed, std::make_unsigned_t<Signed>>;
  if constexpr (kLanes > 4 && (kNew > 2 * kOld || kOld > 2 * kNew))
    return resized<To>(__builtin_convertvector(from, typename VectorOf<Next, kLanes>::type));
  else
    return __builtin_convertvector(from, typename VectorOf<To, kLanes>::type);
}

// One truth value a lane: all its bits are set, or none.
template <int N>
struct Mask {
  using Int = IntegerOf<kVectorBytes / N>;
  using Vector = typename VectorOf<Int, N>::type;
  static constexpr int kLanes = N;
  Vector v;

  Mask() = default;
  IN_SET Mask(Vector bits) : v(bits) {}
  IN_SET Mask(bool all) : v(Vector{} - Int(all)) {}
  // From integers of any width, and to those of the width of T.
  template <class V>
  IN_SET static Mask from(V bits) {
    if constexpr (sizeof(V) == sizeof(Vector))
      return (Vector)bits;
    else
      return resized<Int>(bits);
  }
  template <class T>
  IN_SET auto as() const {
    using Wanted = typename VectorOf<IntegerOf<sizeof(T)>, N>::type;
    if constexpr (sizeof(T) == sizeof(Int))
      return (Wanted)v;
    else
      return resized<IntegerOf<sizeof(T)>>(v);
  }
  IN_SET bool has(int lane) const { return v[lane] != 0; }
  IN_SET bool operator[](int lane) const { return v[lane] != 0; }
  IN_SET friend Mask operator&&(Mask a, Mask b) { return a.v & b.v; }
  IN_SET friend Mask operator||(Mask a, Mask b) { return a.v | b.v; }
  IN_SET friend Mask operator&&(bool all, Mask b) { return Mask(all) && b.apart(); }
  IN_SET friend Mask operator&&(Mask a, bool all) { return a.apart() && Mask(all); }
  IN_SET friend Mask operator||(bool all, Mask b) { return Mask(all) || b.apart(); }
  IN_SET friend Mask operator||(Mask a, bool all) { return a.apart() || Mask(all); }
  // A comparison of parts of a vector that is merged with what all lanes ask ends g++ 12.
  IN_SET Mask apart() const {
    Mask out = *this;
#if defined(__x86_64__) && !defined(__clang__)
    asm("" : "+x"(out.v));
#endif
    return out;
  }
  IN_SET friend Mask operator!(Mask a) { return ~a.v; }
  IN_SET friend Mask operator==(Mask a, Mask b) { return ~(a.v ^ b.v); }
  IN_SET friend Mask operator!=(Mask a, Mask b) { return a.v ^ b.v; }
  IN_SET friend Mask choose(Mask m, Mask a, Mask b) { return (m.v & a.v) | (~m.v & b.v); }
};
//@ rounded
// A product that is rounded before a sum takes it. clang++ with -ffp-contract=fast would make one operation
// of the two, whatever the pragma says, but for a fence, which is no instruction.
template <class T>
inline T rounded(T product) {
#if defined(__clang__) && defined(__x86_64__)
#pragma clang fp reassociate(on)  // what a fence is for
  return __arithmetic_fence(product);
#else
  return product;
#endif
}
//@ multiply_add: rounded
// a b + c, rounded once where the set has an instruction for it, and else twice: never as a compiler likes.
template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
inline T multiply_add(T a, std::enable_if_t<true, T> b, std::enable_if_t<true, T> c) {
#if KGEN_SET_FUSES
  if constexpr (sizeof(T) == sizeof(float))
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return rounded(a * b) + c;
#endif
}
//@ Lanes: Mask rounded
// One value at N neighbouring points. Integers wrap around, so their arithmetic is done unsigned.
template <class T, int N>
struct Lanes {
  using Vector = typename VectorOf<T, N>::type;
  using Unsigned = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                               std::enable_if<true, T>>::type;
  using Math = typename VectorOf<Unsigned, N>::type;
  static constexpr int kLanes = N;
  Vector v;

  Lanes() = default;
  IN_SET Lanes(Vector values) : v(values) {}
  IN_SET Lanes(T all) : v(all - Vector{}) {}
  IN_SET T operator[](int lane) const { return v[lane]; }
  IN_SET friend Lanes operator+(Lanes a, Lanes b) { return (Vector)((Math)a.v + (Math)b.v); }
  IN_SET friend Lanes operator-(Lanes a, Lanes b) { return (Vector)((Math)a.v - (Math)b.v); }
  IN_SET friend Lanes operator*(Lanes a, Lanes b) {
    if constexpr (std::is_floating_point_v<T>)
      return rounded(a.v * b.v);
    else
      return (Vector)((Math)a.v * (Math)b.v);
  }
  IN_SET friend Lanes operator/(Lanes a, Lanes b) { return a.v / b.v; }
  IN_SET friend Lanes operator-(Lanes a) { return (Vector)(-(Math)a.v); }
  IN_SET friend Lanes operator&(Lanes a, Lanes b) { return a.v & b.v; }
  IN_SET friend Lanes operator|(Lanes a, Lanes b) { return a.v | b.v; }
  IN_SET friend Lanes operator^(Lanes a, Lanes b) { return a.v ^ b.v; }
  IN_SET friend Lanes operator~(Lanes a) { return ~a.v; }
  IN_SET Lanes& operator+=(Lanes b) { return *this = *this + b; }
  IN_SET Lanes& operator-=(Lanes b) { return *this = *this - b; }
  IN_SET Lanes& operator*=(Lanes b) { return *this = *this * b; }
  IN_SET friend Mask<N> operator<(Lanes a, Lanes b) { return Mask<N>::from(a.v < b.v); }
  IN_SET friend Mask<N> operator<=(Lanes a, Lanes b) { return Mask<N>::from(a.v <= b.v); }
  IN_SET friend Mask<N> operator>(Lanes a, Lanes b) { return Mask<N>::from(a.v > b.v); }
  IN_SET friend Mask<N> operator>=(Lanes a, Lanes b) { return Mask<N>::from(a.v >= b.v); }
  IN_SET friend Mask<N> operator==(Lanes a, Lanes b) { return Mask<N>::from(a.v == b.v); }
  IN_SET friend Mask<N> operator!=(Lanes a, Lanes b) { return Mask<N>::from(a.v != b.v); }
  IN_SET friend Lanes choose(Mask<N> m, Lanes a, Lanes b) { return m.template as<T>() ? a.v : b.v; }
};
// They are laid out here, where the instructions of the set are known: g++ would else return a whole vector
// from a function and clear its upper half before that, as if it were no vector.
template <class... T>
constexpr bool are_whole_vectors() {
  return (... && (sizeof(Lanes<T, kVectorBytes / int(sizeof(T))>) == size_t(kVectorBytes))) &&
         (... && (sizeof(Mask<kVectorBytes / int(sizeof(T))>) == size_t(kVectorBytes)));
}
static_assert(are_whole_vectors<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                uint64_t>());
template <class T, int N>
struct LanesOf {
  using type = Lanes<T, N>;
};
template <int N>
struct LanesOf<bool, N> {
  using type = Mask<N>;
};
//@ lanes_multiply_add: Lanes multiply_add
template <class T, int N>
inline Lanes<T, N> multiply_add(Lanes<T, N> a, std::enable_if_t<true, Lanes<T, N>> b,
                                std::enable_if_t<true, Lanes<T, N>> c) {
#if !KGEN_SET_FUSES
  return a * b + c;
#elif defined(__clang__)
  return __builtin_elementwise_fma(a.v, b.v, c.v);
#else
#if KGEN_SET_AVX512
  if constexpr (sizeof(a.v) == 64 && sizeof(T) == 4)
    return __builtin_ia32_vfmaddps512_mask(a.v, b.v, c.v, -1, 4);
  if constexpr (sizeof(a.v) == 64 && sizeof(T) == 8)
    return __builtin_ia32_vfmaddpd512_mask(a.v, b.v, c.v, -1, 4);
#endif
#if KGEN_SET_AVX2
  if constexpr (sizeof(a.v) == 32 && sizeof(T) == 4) return __builtin_ia32_vfmaddps256(a.v, b.v, c.v);
  if constexpr (sizeof(a.v) == 32 && sizeof(T) == 8) return __builtin_ia32_vfmaddpd256(a.v, b.v, c.v);
  if constexpr (sizeof(a.v) == 16 && sizeof(T) == 4) return __builtin_ia32_vfmaddps(a.v, b.v, c.v);
  if constexpr (sizeof(a.v) == 16 && sizeof(T) == 8) return __builtin_ia32_vfmaddpd(a.v, b.v, c.v);
#elif defined(__aarch64__)
  if constexpr (sizeof(a.v) == 16 && sizeof(T) == 4) return __builtin_aarch64_fmav4sf(a.v, b.v, c.v);
  if constexpr (sizeof(a.v) == 16 && sizeof(T) == 8) return __builtin_aarch64_fmav2df(a.v, b.v, c.v);
#endif
  for (int lane = 0; lane < N; ++lane) c.v[lane] = multiply_add(a[lane], b[lane], c[lane]);
  return c;
#endif
}
//@ for_lanes: Lanes
// The lanes of a group that take part: all of them, or the first few where a loop ends.
template <int N>
struct AllLanes {
  static constexpr int kLanes = N, count = N;
  IN_SET bool has(int) const { return true; }
};
// All of them, in a loop of streaming stores: a type of its own, so that its functions are compiled without
// the tests that other loops need.
template <int N>
struct FarLanes : AllLanes<N> {};
template <int N>
struct FirstLanes {
  static constexpr int kLanes = N;
  int count;
  IN_SET bool has(int lane) const { return lane < count; }
};
template <int N>
inline Mask<N> mask_of(AllLanes<N>) {
  return true;
}
template <int N>
inline Mask<N> mask_of(FirstLanes<N> active) {
  typename Mask<N>::Vector position = {};
  for (int lane = 0; lane < N; ++lane) position[lane] = typename Mask<N>::Int(lane);
  return Mask<N>::from(position < typename Mask<N>::Int(active.count));
}
template <int N>
inline Mask<N> mask_of(Mask<N> active) {
  return active;
}

// Calls step(first, lanes that take part) for groups of N neighbours from `first` to `end`.
template <int N, class All = AllLanes<N>, class Step>
inline __attribute__((always_inline)) void for_lanes(int64_t first, int64_t end, const Step& step) {
  for (const int64_t last = end - N; first <= last; first += N) step(first, All{});
  if (first < end) step(first, FirstLanes<N>{int(end - first)});
}
//@ for_lines: for_lanes
// The same, but where `around` is set and there are many, the groups of `at`, the element `first`, begin
// where vectors in memory do: a short one goes before them.
template <int N, class T, class Step>
inline __attribute__((always_inline)) void for_lines(bool around, const T* at, int64_t first, int64_t end,
                                                     const Step& step) {
  if (!around) return for_lanes<N>(first, end, step);
  const int64_t past = end - first >= 32 * N ? int64_t(reinterpret_cast<uintptr_t>(at) / sizeof(T) % N) : 0;
  if (past != 0) step(first, FirstLanes<N>{int(N - past)});
  for_lanes<N, FarLanes<N>>(past == 0 ? first : first + N - past, end, step);
}
//@ for_lanes_down: for_lanes
// The same from the end to `first`.
template <int N, class Step>
inline __attribute__((always_inline)) void for_lanes_down(int64_t first, int64_t end, const Step& step) {
  for (; end - first >= N; end -= N) step(end - N, AllLanes<N>{});
  if (first < end) step(first, FirstLanes<N>{int(end - first)});
}
//@ shifted: Lanes
// Each lane's value `kBy` lanes further up, or down where that is negative; `rest` where none comes from.
template <int kBy, class T, int N, size_t... kLane>
inline Lanes<T, N> shifted(Lanes<T, N> lanes, T rest, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(lanes.v, Lanes<T, N>(rest).v,
                                 (int(kLane) - kBy + (int(kLane) < kBy ? 2 * N : 0))...);
}
//@ shifted_by: shifted
// The same by a count that is less than N, in steps of 1, 2, 4, ...; kBy: 1 up, -1 down.
template <int kBy, class T, int N>
inline Lanes<T, N> shifted_by(Lanes<T, N> lanes, int64_t count, T rest) {
  if constexpr (kBy < N && -kBy < N) {
    if ((count & 1) != 0) lanes = shifted<kBy>(lanes, rest, std::make_index_sequence<N>{});
    return shifted_by<2 * kBy>(lanes, count >> 1, rest);
  } else {
    return lanes;
  }
}
//@ lanes_inside: for_lanes
// Does each lane's coordinate lie within 0 .. extent-1? The first one is `at`, and each `kStep` further than
// the last.
template <int64_t kStep, class Active>
inline Mask<Active::kLanes> inside(int64_t at, int64_t extent, Active active) {
  constexpr int N = Active::kLanes;
  if (at >= 0 && at < extent - (active.count - 1) * kStep) return true;
  if (at <= -N * kStep || at >= extent) return false;
  const int64_t before = at < 0 ? (kStep - 1 - at) / kStep : 0, fit = (extent - at + kStep - 1) / kStep;
  return mask_of(FirstLanes<N>{fit < N ? int(fit) : N}) && !mask_of(FirstLanes<N>{int(before)});
}
//@ keep: for_lanes
// The value in active lanes, `other` in the rest.
template <class Active, class V>
inline V keep(Active active, V value, typename std::enable_if<true, V>::type other) {
  if constexpr (std::is_base_of_v<AllLanes<Active::kLanes>, Active>)
    return value;
  else
    return choose(mask_of(active), value, other);
}
//@ active_mask: for_lanes
template <class Active>
inline Mask<Active::kLanes> operator&&(Active active, Mask<Active::kLanes> condition) {
  return mask_of(active) && condition;
}
//@ any_lane: Mask
template <int N>
inline bool any_lane(Mask<N> mask) {
#if defined(__clang__)
  return __builtin_reduce_or(mask.v) != 0;
#elif KGEN_SET_AVX512
  const auto words = (typename VectorOf<int, 16>::type)mask.v;
  return __builtin_ia32_ptestmd512(words, words, -1) != 0;
#elif KGEN_SET_AVX2
  return __builtin_ia32_pmovmskb256((typename VectorOf<char, 32>::type)mask.v) != 0;
#elif defined(__SSE2__) && !KGEN_SET_AVX2
  return __builtin_ia32_pmovmskb128((typename VectorOf<char, 16>::type)mask.v) != 0;
#else
  uint64_t words[kVectorBytes / 8], all = 0;
  memcpy(words, &mask.v, sizeof words);
  for (uint64_t word : words) all |= word;
  return all != 0;
#endif
}
//@ all_lanes: any_lane
template <int N>
inline bool all_lanes(Mask<N> mask) {
#if KGEN_SET_AVX2 && !KGEN_SET_AVX512 && !defined(__clang__)
  return __builtin_ia32_pmovmskb256((typename VectorOf<char, 32>::type)mask.v) == -1;
#else
  return !any_lane(!mask);
#endif
}
//@ quotient: lanes_multiply_add
// Division of many numbers by one: by its reciprocal, and then put right by what is left over, which
// multiply-add gives exactly. Where that is 0 or not finite, there is nothing to put right.
template <class T, int N>
inline Lanes<T, N> quotient(Lanes<T, N> x, std::enable_if_t<true, T> by) {
#if KGEN_SET_FUSES
  if (by >= std::numeric_limits<T>::min() || by <= -std::numeric_limits<T>::min()) {
    const T reciprocal = T(1) / by;
    const Lanes<T, N> near = x * reciprocal;
    const Lanes<T, N> rest = multiply_add(-near, by, x);
    const Lanes<T, N> right = multiply_add(rest, reciprocal, near);
    return choose(rest - rest == T(0) && rest != T(0), right, near);  // where it is 0, -0 stays -0
  }
#endif
  return x / by;
}
//@ lane_numbers: Lanes
template <class T, size_t... kLane>
inline Lanes<T, int(sizeof...(kLane))> lane_numbers(std::index_sequence<kLane...>) {
  const typename VectorOf<T, int(sizeof...(kLane))>::type numbers = {T(kLane)...};
  return numbers;
}
//@ positions: lane_numbers
// first, first + 1, ...
template <int N>
inline Lanes<int64_t, N> positions(int64_t first) {
  return lane_numbers<int64_t>(std::make_index_sequence<N>{}) + first;
}
//@ by_row: load
// Of neighbouring elements, which are packed row by row: what the row of each of them has. `row` is one near
// the first.
template <int N, class T, class ValueOf>
inline auto by_row(const T* starts, int64_t rows, int64_t element, int64_t& row, const ValueOf& value_of) {
  using V = decltype(value_of(row));
  V found[2 * N];  // of each row from where it begins, as far as a vector goes; the next one writes over that
  const auto put = [&](int64_t at) IN_SET {
    const Lanes<V, N> all(value_of(row));
    memcpy(&found[at], &all.v, sizeof all.v);
  };
  while (int64_t(starts[row]) > element) --row;
  put(0);
  while (row + 1 < rows && int64_t(starts[row + 1]) < element + N) {
    ++row;
    put(starts[row] > element ? int64_t(starts[row]) - element : 0);
  }
  return load(found, AllLanes<N>());
}
//@ rows_of: by_row
template <int N, class T>
inline Lanes<int64_t, N> rows_of(const T* starts, int64_t rows, int64_t element, int64_t& row) {
  return by_row<N>(starts, rows, element, row, [](int64_t at) IN_SET { return at; });
}
//@ load_by_row: by_row
template <int N, class V, class T>
inline Lanes<V, N> load_by_row(const V* values, const T* starts, int64_t rows, int64_t element,
                               int64_t& row) {
  return by_row<N>(starts, rows, element, row, [values](int64_t at) IN_SET { return values[at]; });
}
//@ positions_as: lane_numbers
// first, first + kStep, ... as numbers of another type.
template <class T, int N, int kStep = 1>
inline Lanes<T, N> positions_as(int64_t first) {
  Lanes<T, N> numbers = lane_numbers<T>(std::make_index_sequence<N>{}) * Lanes<T, N>(T(kStep));
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int64_t kWhole = int64_t(1) << std::numeric_limits<T>::digits;  // up to here the sum is exact
    constexpr int64_t kReach = N * (kStep < 0 ? -kStep : kStep);
    if (first < kReach - kWhole || first > kWhole - kReach) {
      for (int lane = 0; lane < N; ++lane) numbers.v[lane] = T(first + lane * kStep);
      return numbers;
    }
  }
  return numbers + T(first);
}
//@ Positions: lane_numbers
// first, first + kStep, ... to be compared with one number: no vector of them is made, only of what lies
// between.
template <int N, int kStep = 1>
struct Positions {
  static constexpr int kReach = N * (kStep < 0 ? -kStep : kStep);
  using Int = std::conditional_t<kReach == N, typename Mask<N>::Int, int32_t>;
  int64_t first;

  IN_SET static Lanes<Int, N> steps() {
    return lane_numbers<Int>(std::make_index_sequence<N>{}) * Lanes<Int, N>(Int(kStep));
  }
  IN_SET Lanes<Int, N> until(int64_t other) const {
    return Int(other < first - kReach ? -kReach : other > first + kReach ? kReach : other - first);
  }
  IN_SET friend Mask<N> operator<(Positions a, int64_t b) { return steps() < a.until(b); }
  IN_SET friend Mask<N> operator<=(Positions a, int64_t b) { return steps() <= a.until(b); }
  IN_SET friend Mask<N> operator>(Positions a, int64_t b) { return steps() > a.until(b); }
  IN_SET friend Mask<N> operator>=(Positions a, int64_t b) { return steps() >= a.until(b); }
  IN_SET friend Mask<N> operator==(Positions a, int64_t b) { return steps() == a.until(b); }
  IN_SET friend Mask<N> operator!=(Positions a, int64_t b) { return steps() != a.until(b); }
};
//@ Distances: Positions
// How far positions lie from 0, to be compared in the same way.
template <int N, int kStep>
struct Distances {
  Positions<N, kStep> at;

  IN_SET Positions<N, -kStep> turned() const { return {-at.first}; }
  IN_SET friend Mask<N> operator<(Distances a, int64_t b) { return a.at < b && a.turned() < b; }
  IN_SET friend Mask<N> operator<=(Distances a, int64_t b) { return a.at <= b && a.turned() <= b; }
  IN_SET friend Mask<N> operator>(Distances a, int64_t b) { return !(a <= b); }
  IN_SET friend Mask<N> operator>=(Distances a, int64_t b) { return !(a < b); }
  IN_SET friend Mask<N> operator==(Distances a, int64_t b) { return a <= b && a >= b; }
  IN_SET friend Mask<N> operator!=(Distances a, int64_t b) { return !(a == b); }
};
template <int N, int kStep>
inline Distances<N, kStep> absolute(Positions<N, kStep> positions) {
  return {positions};
}
