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

// Integers of another width. Compilers know how to double and to halve it; at once they go further lane by lane.
template <class To, class V> inline auto resized(V from) {
  using T = std::decay_t<decltype(from[0])>;
  constexpr size_t kOld = sizeof(T), kNew = sizeof(To), kLanes = sizeof(V) / kOld;
  using Signed = IntegerOf<(kNew > kOld ? 2 * kOld : kOld / 2)>;
  using Next = std::conditional_t<std::is_signed_v<T>, Signed, std::make_unsigned_t<Signed>>;
#if defined(__AVX2__) && !defined(__clang__)
  if constexpr (std::is_same_v<T, uint16_t> && kNew == 4 && kLanes == 8)
    return (typename VectorOf<To, 8>::type)__builtin_ia32_pmovzxwd256((typename VectorOf<int16_t, 8>::type)from);
  else
#endif
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (std::is_same_v<T, uint16_t> && kNew == 4 && kLanes == 16)
    return (typename VectorOf<To, 16>::type)__builtin_ia32_pmovzxwd512_mask((typename VectorOf<int16_t, 16>::type)from, typename VectorOf<int32_t, 16>::type{}, -1);
  else
#endif
  if constexpr (kLanes > 4 && (kNew > 2 * kOld || kOld > 2 * kNew))
    return resized<To>(__builtin_convertvector(from, typename VectorOf<Next, kLanes>::type));
  else
    return __builtin_convertvector(from, typename VectorOf<To, kLanes>::type);
}

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
      return resized<Int>(bits);
  }
  template <class T> auto as() const {
    using Wanted = typename VectorOf<IntegerOf<sizeof(T)>, N>::type;
    if constexpr (sizeof(T) == sizeof(Int))
      return (Wanted)v;
    else
      return resized<IntegerOf<sizeof(T)>>(v);
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
  for (const int64_t last = end - N; first <= last; first += N) step(first, AllLanes<N>{});
  if (first < end) step(first, FirstLanes<N>{int(end - first)});
}
//@ for_lines: for_lanes
// The same, but where `around` is set and there are many, the groups of `at`, the element `first`, begin where vectors
// in memory do: a short one goes before them.
template <int N, class T, class Step>
inline __attribute__((always_inline)) void for_lines(bool around, const T* at, int64_t first, int64_t end, const Step& step) {
  const int64_t past = around && end - first >= 32 * N ? int64_t(reinterpret_cast<uintptr_t>(at) / sizeof(T) % N) : 0;
  if (past != 0) step(first, FirstLanes<N>{int(N - past)});
  for_lanes<N>(past == 0 ? first : first + N - past, end, step);
}
//@ for_lanes_down: for_lanes
// The same from the end to `first`.
template <int N, class Step> inline __attribute__((always_inline)) void for_lanes_down(int64_t first, int64_t end, const Step& step) {
  for (; end - first >= N; end -= N) step(end - N, AllLanes<N>{});
  if (first < end) step(first, FirstLanes<N>{int(end - first)});
}
//@ copy_first: for_lanes
// Copies the elements of active lanes: a whole vector, or its first bytes by halves.
template <size_t kBytes, size_t kLeast> inline void copy_bits(char* to, const char* from, size_t bytes) {
  if constexpr (kBytes >= kLeast) {
    if ((bytes & kBytes) != 0) memcpy(to, from, kBytes);
    const size_t done = bytes & kBytes;
    copy_bits<kBytes / 2, kLeast>(to + done, from + done, bytes);
  }
}
template <class T, int N> inline void copy_first(void* to, const void* from, AllLanes<N>) {
  memcpy(to, from, N * sizeof(T));
}
template <class T, int N> inline void copy_first(void* to, const void* from, FirstLanes<N> active) {
  copy_bits<N * sizeof(T) / 2, sizeof(T)>(static_cast<char*>(to), static_cast<const char*>(from), size_t(active.count) * sizeof(T));
}
//@ load: copy_first
// Neighbouring elements; only those of active lanes are touched. The others are 0.
template <class T, class Active> inline typename LanesOf<T, Active::kLanes>::type load(const T* from, Active active) {
  constexpr int N = Active::kLanes;
  using Stored = std::conditional_t<std::is_same_v<T, bool>, int8_t, T>;
  typename VectorOf<Stored, N>::type values = {};
  copy_first<T>(&values, from, active);
  if constexpr (std::is_same_v<T, bool>)
    return Mask<N>::from(values != 0);
  else
    return values;
}
//@ store: copy_first
// Writes the active lanes to neighbouring elements.
template <class T, class Active> inline void store(T* to, Active active, typename LanesOf<T, Active::kLanes>::type value) {
  if constexpr (std::is_same_v<T, bool>) {
    const auto bytes = value.template as<bool>() & 1;
    copy_first<T>(to, &bytes, active);
  } else {
    copy_first<T>(to, &value.v, active);
  }
}
//@ kBeyondCaches
constexpr int64_t kBeyondCaches = 16 << 20;  // bytes of arrays of which little stays in caches
//@ store_around: store kBeyondCaches
// Writes around the caches: the lines are not read first.
template <class V> inline void write_around(void* to, V value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, static_cast<V*>(to));
#else
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return __builtin_ia32_movntps512(static_cast<float*>(to), (typename VectorOf<float, 16>::type)value);
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) return __builtin_ia32_movntps256(static_cast<float*>(to), (typename VectorOf<float, 8>::type)value);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(V) == 16) return __builtin_ia32_movntps(static_cast<float*>(to), (typename VectorOf<float, 4>::type)value);
#endif
  memcpy(to, &value, sizeof(V));
#endif
}
template <class T, class Active>
inline void store_around(T* to, Active active, typename LanesOf<T, Active::kLanes>::type value, bool around) {
  if constexpr (std::is_same_v<Active, AllLanes<Active::kLanes>>)
    if (around && reinterpret_cast<uintptr_t>(to) % sizeof(value.v) == 0) return write_around(to, value.v);
  store(to, active, value);
}
// Before others may read what was written so.
inline void finish_stores() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
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
template <class T, size_t... kLane>
inline typename VectorOf<T, int(sizeof...(kLane))>::type pick_every(const T* from, int64_t stride, std::index_sequence<kLane...>) {
  const typename VectorOf<T, int(sizeof...(kLane))>::type values = {from[int64_t(kLane) * stride]...};
  return values;
}
// Every second element, out of two vectors of which the latter ends with the last one. The oldest machines have no
// instruction that picks small ones.
template <class T, size_t... kLane>
inline typename VectorOf<T, int(sizeof...(kLane))>::type pick_second(const T* from, std::index_sequence<kLane...> lanes) {
  constexpr int N = sizeof...(kLane);
  if constexpr (sizeof(T) < 4 && kVectorBytes == 16) {
    return pick_every(from, 2, lanes);
  } else {
    const auto a = load(from, AllLanes<N>{}).v, b = load(from + N - 1, AllLanes<N>{}).v;
    return __builtin_shufflevector(a, b, (int(kLane) * 2 + int(kLane) / (N / 2))...);
  }
}
// The same of fewer lanes, by halves.
template <int kCount, class T> inline void pick_some(T* to, const T* from, int count) {
  if constexpr (kCount == 1) {
    if ((count & 1) != 0) *to = *from;
  } else {
    const int done = count & kCount;
    if (done != 0) {
      const auto values = pick_second(from, std::make_index_sequence<kCount>());
      memcpy(to, &values, sizeof values);
    }
    pick_some<kCount / 2>(to + done, from + 2 * done, count);
  }
}
template <class T, int N> __attribute__((noinline)) typename LanesOf<T, N>::type load_every(const T* from, int64_t stride, FirstLanes<N> active) {
  if (stride == 1) return load(from, active);
  T values[N] = {};
  if constexpr (!std::is_same_v<T, bool>) {
    if (stride == 2) {
      pick_some<N / 2>(values, from, active.count);
      return load(values, AllLanes<N>{});
    }
  }
  for (int lane = 0; lane < active.count; ++lane) values[lane] = from[lane * stride];
  return load(values, AllLanes<N>{});
}
template <class T, int N> inline typename LanesOf<T, N>::type load_every(const T* from, int64_t stride, AllLanes<N> all) {
  if (stride == 1) return load(from, all);
  if constexpr (std::is_same_v<T, bool>) {
    return load_every(from, stride, FirstLanes<N>{N});
  } else {
    if (stride == 2) return pick_second(from, std::make_index_sequence<N>());
    return pick_every(from, stride, std::make_index_sequence<N>());
  }
}
//@ into_line
// How many elements after the beginning of a line of memory it lies.
template <class T> inline int64_t into_line(const T* at) {
  return int64_t(reinterpret_cast<uintptr_t>(at) / sizeof(T) % (64 / sizeof(T)));
}
//@ prefetch
// Asks for the line of memory, which another loop will need.
inline void prefetch(const void* line) {
  __builtin_prefetch(line, 0, 2);
}
//@ prefetch_page
// Where a page begins, asks for the first lines of the next one, whether or not that is one's own.
inline void prefetch_page(const void* here) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(here);
  if (at % 4096 < 256) __builtin_prefetch(reinterpret_cast<const void*>(at + 4096), 0, 2);
}
//@ prefetch_soon
// Asks for what lies so many bytes further on, whether or not that is one's own.
template <class... Pointer> inline void prefetch_soon(int64_t bytes, Pointer... here) {
  (__builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(here) + uintptr_t(bytes)), 0, 2), ...);
}
//@ turn_tile: Lanes prefetch_soon
// Takes in turn an element of `a` and one of `b`, from element `kFirst` on.
template <int kFirst, class Vector, size_t... kLane> inline Vector interleaved(Vector a, Vector b, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(a, b, (kFirst + int(kLane / 2) + int(kLane % 2 * sizeof...(kLane)))...);
}
// As many vectors of 16 bytes as each has elements.
template <class T> struct Square {
  static constexpr int kSide = 16 / sizeof(T);
  typename VectorOf<T, kSide>::type rows[kSide];
};
// Each round exchanges one bit of the row's number and of the column's.
template <int kRounds, class T, size_t... kRow> inline __attribute__((always_inline)) Square<T> turned(Square<T> in, std::index_sequence<kRow...> all) {
  if constexpr (kRounds == 1) {
    return in;
  } else {
    constexpr int kHalf = Square<T>::kSide / 2;
    return turned<kRounds / 2>(Square<T>{{(kRow % 2 == 0 ? interleaved<0>(in.rows[kRow / 2], in.rows[kRow / 2 + kHalf], all) : interleaved<kHalf>(in.rows[kRow / 2], in.rows[kRow / 2 + kHalf], all))...}}, all);
  }
}
template <class T, size_t... kRow> inline __attribute__((always_inline)) void turn_square(T* to, int64_t to_stride, const T* from, int64_t stride, std::index_sequence<kRow...> all) {
  Square<T> square;
  (memcpy(&square.rows[kRow], from + int64_t(kRow) * stride, 16), ...);
  square = turned<Square<T>::kSide>(square, all);
  (memcpy(to + int64_t(kRow) * to_stride, &square.rows[kRow], 16), ...);
}
// A part of an array, its columns as rows that begin `to_stride` elements apart. Long ones go through more
// pages than what fetches by itself follows: the parts beside them come soon.
template <class T>
inline void turn_tile(T* to, int64_t to_stride, const T* from, int64_t stride, int64_t rows, int64_t columns) {
  constexpr int N = Square<T>::kSide;
  const int64_t whole_rows = rows - rows % N, whole_columns = columns - columns % N;
  for (int64_t row = 0; row < (rows > 64 ? rows : 0); ++row) prefetch_soon(128, from + row * stride);
  for (int64_t row = 0; row < whole_rows; row += N)
    for (int64_t column = 0; column < whole_columns; column += N)
      turn_square(to + column * to_stride + row, to_stride, from + row * stride + column, stride, std::make_index_sequence<N>());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = row < whole_rows ? whole_columns : 0; column < columns; ++column)
      to[column * to_stride + row] = from[row * stride + column];
}
//@ load_field: load_every
// One of the `kFields` numbers of each of neighbouring records, of which the first starts at `from`.
template <int kFields, int kField, class T, size_t... kLane>
inline Lanes<T, int(sizeof...(kLane))> pick_field(const T* from, std::index_sequence<kLane...>) {
  constexpr int N = sizeof...(kLane);
  constexpr AllLanes<N> all;
  const auto a = load(from, all).v, b = load(from + N, all).v;
  if constexpr (kFields == 2) {
    return __builtin_shufflevector(a, b, (int(kLane) * 2 + kField)...);
  } else {
    // A quarter of the numbers of each vector; the upper half of these does not count.
    const auto c = load(from + 2 * N, all).v, d = load(from + 3 * N, all).v;
    const auto low = __builtin_shufflevector(a, b, (int(kLane) % (N / 2) * 4 + kField)...);
    const auto high = __builtin_shufflevector(c, d, (int(kLane) % (N / 2) * 4 + kField)...);
    return __builtin_shufflevector(low, high, (int(kLane) + (int(kLane) < N / 2 ? 0 : N / 2))...);
  }
}
template <int kFields, int kField, class T, int N> inline Lanes<T, N> load_field(const T* from, AllLanes<N>) {
  return pick_field<kFields, kField>(from, std::make_index_sequence<N>{});
}
template <int kFields, int kField, class T, int N> inline Lanes<T, N> load_field(const T* from, FirstLanes<N> active) {
  return load_every(from + kField, kFields, active);
}
//@ shifted: Lanes
// Each lane's value `kBy` lanes further up, or down where that is negative; `rest` where none comes from.
template <int kBy, class T, int N, size_t... kLane> inline Lanes<T, N> shifted(Lanes<T, N> lanes, T rest, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(lanes.v, Lanes<T, N>(rest).v, (int(kLane) - kBy + (int(kLane) < kBy ? 2 * N : 0))...);
}
//@ shifted_by: shifted
// The same by a count that is less than N, in steps of 1, 2, 4, ...; kBy: 1 up, -1 down.
template <int kBy, class T, int N> inline Lanes<T, N> shifted_by(Lanes<T, N> lanes, int64_t count, T rest) {
  if constexpr (kBy < N && -kBy < N) {
    if ((count & 1) != 0) lanes = shifted<kBy>(lanes, rest, std::make_index_sequence<N>{});
    return shifted_by<2 * kBy>(lanes, count >> 1, rest);
  } else {
    return lanes;
  }
}
//@ load_inside: load_every shifted_by
// Where a group leaves its row or is not whole, neighbours of it may do so that lie inside: their values are shifted.
template <int64_t kStep, class T, class Active>
__attribute__((noinline)) typename LanesOf<T, Active::kLanes>::type load_edge(const T* array, int64_t first, int64_t at, int64_t extent, Active active, std::enable_if_t<true, T> outside) {
  constexpr int N = Active::kLanes;
  constexpr AllLanes<N> all;
  if constexpr (!std::is_same_v<T, bool> && kStep <= 4) {
    if (at >= (1 - N) * kStep && at < extent) {
      const int64_t before = at < 0 ? (kStep - 1 - at) / kStep : 0, fit = (extent - at + kStep - 1) / kStep;
      const int64_t after = N - (fit < active.count ? fit : active.count);
      if (after == 0 && at + (before + N - 1) * kStep < extent)
        return shifted_by<1>(load_every(array + (first + before * kStep), kStep, all), before, outside);
      if (before == 0 && at >= after * kStep)
        return shifted_by<-1>(load_every(array + (first - after * kStep), kStep, all), after, outside);
    }
  }
  T values[N] = {};
  for (int lane = 0; lane < active.count; ++lane) {
    const int64_t here = at + lane * kStep;
    values[lane] = here >= 0 && here < extent ? array[first + lane * kStep] : outside;
  }
  return load(values, all);
}
// Elements `kStep` apart of an array, from the element `first` on, which stands at `at` in a row of `extent`; `outside`
// beyond the row's ends, where there may be no memory either.
template <int64_t kStep, class T, class Active>
inline typename LanesOf<T, Active::kLanes>::type load_inside(const T* array, int64_t first, int64_t at, int64_t extent, Active active, std::enable_if_t<true, T> outside) {
  if constexpr (std::is_same_v<Active, AllLanes<Active::kLanes>>)
    if (at >= 0 && at < extent - (Active::kLanes - 1) * kStep) return load_every(array + first, kStep, active);
  return load_edge<kStep>(array, first, at, extent, active, outside);
}
//@ load_nearest: load
template <class T, class Active>
__attribute__((noinline)) typename LanesOf<T, Active::kLanes>::type load_ends(const T* array, int64_t first, int64_t at, int64_t least, int64_t most, Active active) {
  T values[Active::kLanes] = {};
  for (int lane = 0; lane < active.count; ++lane) {
    const int64_t above = at + lane > least ? at + lane : least;
    values[lane] = array[first - at + (above < most ? above : most)];
  }
  return load(values, AllLanes<Active::kLanes>{});
}
// Neighbours in a row, from the element `first` of an array on, which stands at `at` in the row; the row's elements
// `least` and `most` stand for those beyond them.
template <class T, class Active>
inline typename LanesOf<T, Active::kLanes>::type load_nearest(const T* array, int64_t first, int64_t at, int64_t least, int64_t most, Active active) {
  if (at >= least && at <= most - (active.count - 1)) return load(array + first, active);
  return load_ends(array, first, at, least, most, active);
}
//@ lanes_inside: for_lanes
// Does each lane's coordinate lie within 0 .. extent-1? The first one is `at`, and each `kStep` further than the last.
template <int64_t kStep, class Active> inline Mask<Active::kLanes> inside(int64_t at, int64_t extent, Active active) {
  constexpr int N = Active::kLanes;
  if (at >= 0 && at < extent - (active.count - 1) * kStep) return true;
  if (at <= -N * kStep || at >= extent) return false;
  const int64_t before = at < 0 ? (kStep - 1 - at) / kStep : 0, fit = (extent - at + kStep - 1) / kStep;
  return mask_of(FirstLanes<N>{fit < N ? int(fit) : N}) && !mask_of(FirstLanes<N>{int(before)});
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
#if defined(__clang__)
  return __builtin_reduce_or(mask.v) != 0;
#elif defined(__AVX512F__)
  const auto words = (typename VectorOf<int, 16>::type)mask.v;
  return __builtin_ia32_ptestmd512(words, words, -1) != 0;
#elif defined(__AVX2__)
  return __builtin_ia32_pmovmskb256((typename VectorOf<char, 32>::type)mask.v) != 0;
#elif defined(__SSE2__) && !defined(__AVX__)
  return __builtin_ia32_pmovmskb128((typename VectorOf<char, 16>::type)mask.v) != 0;
#else
  uint64_t words[kVectorBytes / 8], all = 0;
  memcpy(words, &mask.v, sizeof words);
  for (uint64_t word : words) all |= word;
  return all != 0;
#endif
}
//@ all_lanes: any_lane
template <int N> inline bool all_lanes(Mask<N> mask) {
#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__)
  return __builtin_ia32_pmovmskb256((typename VectorOf<char, 32>::type)mask.v) == -1;
#else
  return !any_lane(!mask);
#endif
}
//@ quotient: Lanes
// Division of many numbers by one: by its reciprocal, and then put right by what is left over, which multiply-add gives
// exactly. Where that is not finite, there is nothing to put right.
template <class T, int N> inline Lanes<T, N> quotient(Lanes<T, N> x, std::enable_if_t<true, T> by) {
#if defined(__FMA__) || defined(__aarch64__)
  if (by >= std::numeric_limits<T>::min() || by <= -std::numeric_limits<T>::min()) {
    const T reciprocal = T(1) / by;
    const Lanes<T, N> near = x * reciprocal;
    const Lanes<T, N> rest = x.v - near.v * by;
    const Lanes<T, N> right = near.v + rest.v * reciprocal;
    return choose(rest - rest == T(0), right, near);
  }
#endif
  return x / by;
}
//@ lane_numbers: Lanes
template <class T, size_t... kLane> inline Lanes<T, int(sizeof...(kLane))> lane_numbers(std::index_sequence<kLane...>) {
  const typename VectorOf<T, int(sizeof...(kLane))>::type numbers = {T(kLane)...};
  return numbers;
}
//@ positions: lane_numbers
// first, first + 1, ...
template <int N> inline Lanes<int64_t, N> positions(int64_t first) {
  return lane_numbers<int64_t>(std::make_index_sequence<N>{}) + first;
}
//@ positions_as: lane_numbers
// The same as numbers of another type.
template <class T, int N> inline Lanes<T, N> positions_as(int64_t first) {
  Lanes<T, N> numbers = lane_numbers<T>(std::make_index_sequence<N>{});
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int64_t kWhole = int64_t(1) << std::numeric_limits<T>::digits;  // up to here the sum is exact
    if (first < -kWhole || first > kWhole - N) {
      for (int lane = 0; lane < N; ++lane) numbers.v[lane] = T(first + lane);
      return numbers;
    }
  }
  return numbers + T(first);
}
//@ each_lane: load
// A function of single values, lane by lane; an argument may be the same for all lanes.
template <class V> struct LaneValues {
  V value;
  V operator[](int) const { return value; }
};
template <class T, int N> struct LaneValues<Lanes<T, N>> {
  T values[N];
  LaneValues(Lanes<T, N> from) { memcpy(values, &from.v, sizeof values); }
  T operator[](int lane) const { return values[lane]; }
};
template <int N> struct LaneValues<Mask<N>> {
  Mask<N> mask;
  bool operator[](int lane) const { return mask[lane]; }
};
template <class R, int N, class Function, class... Values>
inline typename LanesOf<R, N>::type each_lane(Function function, Values... values) {
  R out[N];
  const auto apply = [&](const LaneValues<Values>&... in) {
    for (int lane = 0; lane < N; ++lane) out[lane] = R(function(in[lane]...));
  };
  apply({values}...);
  return load(out, AllLanes<N>{});
}
