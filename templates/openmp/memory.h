//@ load: for_lanes
// The first bytes of a word, the others 0. What is put together in registers can be used at once; a vector
// that was written to memory in parts would have to be waited for.
template <class Word>
inline uint64_t word_at(const char* from) {
  Word word;
  memcpy(&word, from, sizeof word);
  return word;
}
template <size_t kLeast>
inline uint64_t first_of_word(const char* from, size_t bytes) {
  if (bytes >= 8) return word_at<uint64_t>(from);
  if (kLeast <= 4 && bytes >= 4)
    return word_at<uint32_t>(from) | word_at<uint32_t>(from + bytes - 4) << (8 * bytes - 32);
  if (kLeast <= 2 && bytes >= 2)
    return word_at<uint16_t>(from) | word_at<uint16_t>(from + bytes - 2) << (8 * bytes - 16);
  return kLeast == 1 && bytes == 1 ? word_at<uint8_t>(from) : 0;
}
template <class V, size_t kLeast, size_t... kWord>
inline V first_of_words(const char* from, size_t bytes, std::index_sequence<kWord...>) {
  using Words = typename VectorOf<uint64_t, int(sizeof...(kWord))>::type;
  return (V)Words{(8 * kWord < bytes ? first_of_word<kLeast>(from + 8 * kWord, bytes - 8 * kWord) : 0)...};
}
template <class T, int N>
inline typename VectorOf<T, N>::type load_vector(const T* from, AllLanes<N>) {
  return *reinterpret_cast<const typename VectorOf<T, N>::loose*>(from);
}
template <class T, int N>
inline typename VectorOf<T, N>::type load_vector(const T* from, FirstLanes<N> active) {
  using V = typename VectorOf<T, N>::type;
#if KGEN_SET_AVX512 && !defined(__clang__)
  if constexpr (N <= 16 && sizeof(V) >= 32) {
    const auto bits = uint16_t((1 << active.count) - 1);
    if constexpr (sizeof(T) == 2)
      return (V)__builtin_ia32_loaddquhi256_mask(reinterpret_cast<const short*>(from),
                                                 typename VectorOf<short, 16>::type{}, bits);
    if constexpr (N == 16 && sizeof(T) == 4)
      return (V)__builtin_ia32_loadups512_mask(reinterpret_cast<const float*>(from),
                                               typename VectorOf<float, 16>::type{}, bits);
    if constexpr (N == 8 && sizeof(T) == 8)
      return (V)__builtin_ia32_loadupd512_mask(reinterpret_cast<const double*>(from),
                                               typename VectorOf<double, 8>::type{}, uint8_t(bits));
  }
#endif
#if KGEN_SET_AVX2 && !defined(__clang__)
  if constexpr (sizeof(V) == 32 && sizeof(T) == 4)
    return (V)__builtin_ia32_maskloadps256(reinterpret_cast<const typename VectorOf<float, 8>::type*>(from),
                                           mask_of(active).template as<float>());
  if constexpr (sizeof(V) == 32 && sizeof(T) == 8)
    return (V)__builtin_ia32_maskloadpd256(
        reinterpret_cast<const typename VectorOf<double, 4>::type*>(from),
        (typename VectorOf<long long, 4>::type)mask_of(active).template as<double>());
#endif
  const char* bytes = reinterpret_cast<const char*>(from);
  const size_t count = size_t(active.count) * sizeof(T);
  if constexpr (sizeof(V) <= 8)
    return (V)IntegerOf<sizeof(V)>(first_of_word<sizeof(T)>(bytes, count));
  else
    return first_of_words<V, sizeof(T)>(bytes, count, std::make_index_sequence<sizeof(V) / 8>());
}
// Neighbouring elements; only those of active lanes are touched. The others are 0.
template <class T, class Active>
inline typename LanesOf<T, Active::kLanes>::type load(const T* from, Active active) {
  if constexpr (std::is_same_v<T, bool>)
    return Mask<Active::kLanes>::from(load_vector(reinterpret_cast<const int8_t*>(from), active) != 0);
  else
    return load_vector(from, active);
}
//@ load_once: load
// The same for what is used several times: GCC would read it again for each use.
template <class T, class Active>
inline Lanes<T, Active::kLanes> load_once(const T* from, Active active) {
  Lanes<T, Active::kLanes> values = load(from, active);
#if KGEN_SET_AVX2 && !defined(__clang__)
  if constexpr (sizeof(values.v) >= 16 && sizeof(values.v) <= kVectorBytes) asm("" : "+v"(values.v));
#endif
  return values;
}
//@ store: load
// Copies the first bytes of a vector, by halves.
template <size_t kBytes, size_t kLeast>
inline void copy_bits(char* to, const char* from, size_t bytes) {
  if constexpr (kBytes >= kLeast) {
    using Part = typename VectorOf<char, kBytes>::loose;
    if ((bytes & kBytes) != 0) *reinterpret_cast<Part*>(to) = *reinterpret_cast<const Part*>(from);
    copy_bits<kBytes / 2, kLeast>(to + (bytes & kBytes), from + (bytes & kBytes), bytes);
  }
}
template <class T, int N>
inline void store_vector(void* to, AllLanes<N>, typename VectorOf<T, N>::type value) {
  *static_cast<typename VectorOf<T, N>::loose*>(to) = value;
}
template <class T, int N>
inline void store_vector(void* to, FirstLanes<N> active, typename VectorOf<T, N>::type value) {
#if KGEN_SET_AVX512 && !defined(__clang__)
  if constexpr (N <= 16 && sizeof(value) >= 32) {
    const auto bits = uint16_t((1 << active.count) - 1);
    if constexpr (sizeof(T) == 2)
      return __builtin_ia32_storedquhi256_mask(static_cast<short*>(to), (VectorOf<short, 16>::type)value,
                                               bits);
    if constexpr (N == 16 && sizeof(T) == 4)
      return __builtin_ia32_storeups512_mask(static_cast<float*>(to), (VectorOf<float, 16>::type)value, bits);
    if constexpr (N == 8 && sizeof(T) == 8)
      return __builtin_ia32_storeupd512_mask(static_cast<double*>(to), (VectorOf<double, 8>::type)value,
                                             uint8_t(bits));
  }
#endif
#if !defined(__clang__)
  asm("" : "+m"(value));  // g++ 12 goes wrong in parts of a vector that it knows
#endif
  copy_bits<N * sizeof(T) / 2, sizeof(T)>(static_cast<char*>(to), reinterpret_cast<const char*>(&value),
                                          size_t(active.count) * sizeof(T));
}
// Writes the active lanes to neighbouring elements.
template <class T, class Active>
inline void store(T* to, Active active, typename LanesOf<T, Active::kLanes>::type value) {
  if constexpr (std::is_same_v<T, bool>)
    store_vector<int8_t>(to, active, value.template as<bool>() & 1);
  else
    store_vector<T>(to, active, value.v);
}
//@ kBeyondCaches
constexpr int64_t kBeyondCaches = 16 << 20;  // bytes of arrays of which little stays in caches
//@ store_around: store kBeyondCaches
// Writes around the caches: the lines are not read first.
template <class V>
inline void write_around(void* to, V value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, static_cast<V*>(to));
#else
#if KGEN_SET_AVX512
  if constexpr (sizeof(V) == 64)
    return __builtin_ia32_movntps512(static_cast<float*>(to), (typename VectorOf<float, 16>::type)value);
#endif
#if KGEN_SET_AVX2
  if constexpr (sizeof(V) == 32)
    return __builtin_ia32_movntps256(static_cast<float*>(to), (typename VectorOf<float, 8>::type)value);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(V) == 16)
    return __builtin_ia32_movntps(static_cast<float*>(to), (typename VectorOf<float, 4>::type)value);
#endif
  memcpy(to, &value, sizeof(V));
#endif
}
template <class T, class Active>
inline void store_around(T* to, Active active, typename LanesOf<T, Active::kLanes>::type value, bool around) {
  if constexpr (std::is_base_of_v<AllLanes<Active::kLanes>, Active>)
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
  constexpr int N = Active::kLanes;
  // For the first lanes the loop ends: with a condition inside that it knows, g++ 12 would load all lanes.
  constexpr bool kFirst = std::is_same_v<Active, FirstLanes<N>>;
  T values[N] = {};
  for (int lane = 0; lane < N && (!kFirst || active.has(lane)); ++lane) {
    if (!kFirst && !active.has(lane)) continue;
    if constexpr (std::is_invocable_v<Value, int64_t, int>)
      values[lane] = T(value(first + lane, lane));
    else
      values[lane] = T(value(first + lane));
  }
  return load(values, AllLanes<N>{});
}
//@ load_every: load
// Elements that lie `stride` apart.
template <class T, size_t... kLane>
inline typename VectorOf<T, int(sizeof...(kLane))>::type pick_every(const T* from, int64_t stride,
                                                                    std::index_sequence<kLane...>) {
  const typename VectorOf<T, int(sizeof...(kLane))>::type values = {from[int64_t(kLane) * stride]...};
  return values;
}
// Every second element, out of two vectors of which the latter ends with the last one. The oldest machines
// have no instruction that picks small ones.
template <class T, size_t... kLane>
inline typename VectorOf<T, int(sizeof...(kLane))>::type pick_second(const T* from,
                                                                     std::index_sequence<kLane...> lanes) {
  constexpr int N = sizeof...(kLane);
  if constexpr (sizeof(T) < 4 && kVectorBytes == 16) {
    return pick_every(from, 2, lanes);
  } else {
    const auto a = load(from, AllLanes<N>{}).v, b = load(from + N - 1, AllLanes<N>{}).v;
    return __builtin_shufflevector(a, b, (int(kLane) * 2 + int(kLane) / (N / 2))...);
  }
}
// The same of fewer lanes, by halves.
template <int kCount, class T>
inline void pick_some(T* to, const T* from, int count) {
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
// (By reference: where only a set of instructions has such vectors, GCC clears the upper half of one that a
// function returns.)
template <class T, int N>
__attribute__((noinline)) void load_apart(typename LanesOf<T, N>::type& to, const T* from, int64_t stride,
                                          FirstLanes<N> active) {
  T values[N] = {};
  if (stride == 1) {
    to = load(from, active);
    return;
  }
  if constexpr (!std::is_same_v<T, bool>) {
    if (stride == 2) {
      pick_some<N / 2>(values, from, active.count);
      to = load(values, AllLanes<N>{});
      return;
    }
  }
  for (int lane = 0; lane < N && lane < active.count; ++lane) values[lane] = from[lane * stride];
  to = load(values, AllLanes<N>{});
}
template <class T, int N>
inline __attribute__((always_inline)) typename LanesOf<T, N>::type load_every(const T* from, int64_t stride,
                                                                              FirstLanes<N> active) {
  typename LanesOf<T, N>::type values;
  load_apart<T, N>(values, from, stride, active);
  return values;
}
template <class T, int N>
inline typename LanesOf<T, N>::type load_every(const T* from, int64_t stride, AllLanes<N> all) {
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
template <class T>
inline int64_t into_line(const T* at) {
  return int64_t(reinterpret_cast<uintptr_t>(at) / sizeof(T) % (64 / sizeof(T)));
}
//@ prefetch
// Prefetches the line, which another loop will need. Always inlined: compilers drop calls of functions that
// only prefetch.
inline __attribute__((always_inline)) void prefetch(const void* line) { __builtin_prefetch(line, 0, 2); }
//@ prefetch_soon
// Prefetches what lies so many bytes further on, also beyond the array. Always inlined: compilers drop calls
// of functions that only prefetch.
template <class... Pointer>
inline __attribute__((always_inline)) void prefetch_soon(int64_t bytes, Pointer... here) {
  (__builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(here) + uintptr_t(bytes)), 0,
                      2),
   ...);
}
//@ prefetch_row: prefetch_soon
// For loops that read some columns of each row: asks for what comes 8 rows further on, as far as a core gets
// while memory answers; where fewer rows are left, for the first ones of the columns that follow.
template <class T>
inline __attribute__((always_inline)) void prefetch_row(const T* here, int64_t left, int64_t rows,
                                                        int64_t stride, int64_t columns) {
  constexpr int64_t kRows = 8;
  int64_t on = left > kRows ? kRows * stride : columns + (rows > kRows ? (kRows - rows) * stride : 0);
  if (columns == stride) on = 2048 / int64_t(sizeof(T));  // the rows follow each other
  prefetch_soon(on * int64_t(sizeof(T)), here);
}
//@ prefetch_part: prefetch_soon
// Asks for the same in the columns that come next: from `end` on, or the first ones, `behind` further on.
template <class T>
inline __attribute__((always_inline)) void prefetch_part(const T* here, int64_t first, int64_t end,
                                                         int64_t columns, int64_t behind) {
  if (end < columns || behind != 0)
    prefetch_soon((end < columns ? end - first : behind - first) * int64_t(sizeof(T)), here);
}
//@ turned: Lanes
// Takes in turn an element of `a` and one of `b`, from element `kFirst` on.
template <int kFirst, class Vector, size_t... kLane>
inline Vector interleaved(Vector a, Vector b, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(a, b, (kFirst + int(kLane / 2) + int(kLane % 2 * sizeof...(kLane)))...);
}
// As many vectors as each has elements.
template <class T, int N>
struct Square {
  typename VectorOf<T, N>::type rows[N];
};
// Its columns as rows. Each round exchanges one bit of the row's number and of the column's.
template <int kRounds, class T, int N, size_t... kRow>
inline __attribute__((always_inline)) Square<T, N> turned(Square<T, N> in, std::index_sequence<kRow...> all) {
  if constexpr (kRounds == 1) {
    return in;
  } else {
    constexpr int kHalf = N / 2;
    return turned<kRounds / 2>(
        Square<T, N>{
            {(kRow % 2 == 0 ? interleaved<0>(in.rows[kRow / 2], in.rows[kRow / 2 + kHalf], all)
                            : interleaved<kHalf>(in.rows[kRow / 2], in.rows[kRow / 2 + kHalf], all))...}},
        all);
  }
}
//@ turn_tile: turned load store prefetch_soon
template <class T, size_t... kRow>
inline __attribute__((always_inline)) void turn_square(T* to, int64_t to_stride, const T* from,
                                                       int64_t stride, std::index_sequence<kRow...> all) {
  constexpr int N = sizeof...(kRow);
  Square<T, N> square;
  ((square.rows[kRow] = load_vector(from + int64_t(kRow) * stride, AllLanes<N>())), ...);
  square = turned<N>(square, all);
  (store_vector<T>(to + int64_t(kRow) * to_stride, AllLanes<N>(), square.rows[kRow]), ...);
}
// A part of an array, its columns as rows that begin `to_stride` elements apart. Long ones go through more
// pages than what fetches by itself follows: the parts beside them come soon.
template <class T>
inline void turn_tile(T* to, int64_t to_stride, const T* from, int64_t stride, int64_t rows,
                      int64_t columns) {
  constexpr int N = 16 / sizeof(T);
  const int64_t whole_rows = rows - rows % N, whole_columns = columns - columns % N;
  for (int64_t row = 0; row < (rows > 64 ? rows : 0); ++row) prefetch_soon(128, from + row * stride);
  for (int64_t row = 0; row < whole_rows; row += N)
    for (int64_t column = 0; column < whole_columns; column += N)
      turn_square(to + column * to_stride + row, to_stride, from + row * stride + column, stride,
                  std::make_index_sequence<N>());
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t row = column < whole_columns ? whole_rows : 0; row < rows; ++row)
      to[column * to_stride + row] = from[row * stride + column];
}
//@ part_of_records: load
// How many of the vector `kPart` of `kFields` fields of the active records take part.
template <int kPart, int kFields, int N>
constexpr AllLanes<N> part_of_records(AllLanes<N>) {
  return {};
}
template <int kPart, int kFields, int N>
constexpr FirstLanes<N> part_of_records(FirstLanes<N> active) {
  const int rest = active.count * kFields - kPart * N;
  return {rest < 0 ? 0 : rest < N ? rest : N};
}
//@ load_field: part_of_records
// One of the `kFields` numbers of each of neighbouring records, of which the first starts at `from`.
template <int kFields, int kField, class T, class Active, size_t... kLane>
inline Lanes<T, int(sizeof...(kLane))> pick_field(const T* from, Active active,
                                                  std::index_sequence<kLane...>) {
  constexpr int N = sizeof...(kLane);
  const auto a = load(from, part_of_records<0, kFields>(active)).v;
  const auto b = load(from + N, part_of_records<1, kFields>(active)).v;
  if constexpr (kFields == 2) {
    return __builtin_shufflevector(a, b, (int(kLane) * 2 + kField)...);
  } else if constexpr (kFields == 3) {
    // What the first two have, and then the rest.
    const auto c = load(from + 2 * N, part_of_records<2, kFields>(active)).v;
    const auto most = __builtin_shufflevector(a, b, ((int(kLane) * 3 + kField) % (2 * N))...);
    return __builtin_shufflevector(
        most, c, (int(kLane) * 3 + kField < 2 * N ? int(kLane) : int(kLane) * 3 + kField - N)...);
  } else {
    // A quarter of the numbers of each vector; the upper half of these does not count.
    const auto c = load(from + 2 * N, part_of_records<2, kFields>(active)).v;
    const auto d = load(from + 3 * N, part_of_records<3, kFields>(active)).v;
    const auto low = __builtin_shufflevector(a, b, (int(kLane) % (N / 2) * 4 + kField)...);
    const auto high = __builtin_shufflevector(c, d, (int(kLane) % (N / 2) * 4 + kField)...);
    return __builtin_shufflevector(low, high, (int(kLane) + (int(kLane) < N / 2 ? 0 : N / 2))...);
  }
}
template <int kFields, int kField, class T, class Active>
inline Lanes<T, Active::kLanes> load_field(const T* from, Active active) {
  return pick_field<kFields, kField>(from, active, std::make_index_sequence<Active::kLanes>{});
}
//@ turn_records: load_field store
// Each field of neighbouring records as a row; rows begin `to_stride` elements apart.
template <class T, size_t... kField>
inline void turn_records(T* to, int64_t to_stride, const T* from, int64_t records,
                         std::index_sequence<kField...>) {
  constexpr int kFields = sizeof...(kField);
  for_lanes<int(16 / sizeof(T))>(0, records, [=](int64_t at, auto active) IN_SET {
    (store(to + int64_t(kField) * to_stride + at, active,
           load_field<kFields, int(kField)>(from + at * kFields, active)),
     ...);
  });
}
//@ load_inside: load_every shifted_by
// Where a group leaves its row or is not whole, neighbours of it may do so that lie inside: their values are
// shifted.
template <int64_t kStep, class T, class Active>
__attribute__((noinline)) void load_edge(typename LanesOf<T, Active::kLanes>::type& to, const T* array,
                                         int64_t first, int64_t at, int64_t extent, Active active,
                                         std::enable_if_t<true, T> outside) {
  constexpr int N = Active::kLanes;
  constexpr AllLanes<N> all;
  if constexpr (!std::is_same_v<T, bool> && kStep <= 4) {
    if (at >= (1 - N) * kStep && at < extent) {
      const int64_t before = at < 0 ? (kStep - 1 - at) / kStep : 0, fit = (extent - at + kStep - 1) / kStep;
      const int64_t after = N - (fit < active.count ? fit : active.count);
      if (after == 0 && at + (before + N - 1) * kStep < extent) {
        to = shifted_by<1>(load_every(array + (first + before * kStep), kStep, all), before, outside);
        return;
      }
      if (before == 0 && at >= after * kStep) {
        to = shifted_by<-1>(load_every(array + (first - after * kStep), kStep, all), after, outside);
        return;
      }
    }
  }
  T values[N] = {};
  const bool near = at > -N * kStep && at < extent;  // or all lie outside, where sums might leave 64 bits
  for (int lane = 0; lane < N && lane < active.count; ++lane) {
    const bool in = near && at + lane * kStep >= 0 && at + lane * kStep < extent;
    values[lane] = in ? array[first + lane * kStep] : outside;
  }
  to = load(values, all);
}
// Elements `kStep` apart of an array, from the element `first` on, which stands at `at` in a row of `extent`;
// `outside` beyond the row's ends, where there may be no memory either.
template <int64_t kStep, class T, class Active>
inline typename LanesOf<T, Active::kLanes>::type load_inside(const T* array, int64_t first, int64_t at,
                                                             int64_t extent, Active active,
                                                             std::enable_if_t<true, T> outside) {
  if constexpr (std::is_base_of_v<AllLanes<Active::kLanes>, Active>)
    if (at >= 0 && at < extent - (Active::kLanes - 1) * kStep)
      return load_every(array + first, kStep, active);
  typename LanesOf<T, Active::kLanes>::type values;
  load_edge<kStep>(values, array, first, at, extent, active, outside);
  return values;
}
//@ gather_row: load positions all_lanes
// What stands at these places of a row, `outside` where there is no such place. All lanes load, those outside
// what the row begins with, so that no lane asks.
template <class T, class I, class Active>
inline typename LanesOf<T, Active::kLanes>::type gather_row(const T* row, Lanes<I, Active::kLanes> at,
                                                            int64_t extent, Active,
                                                            std::enable_if_t<true, T> outside) {
  constexpr int N = Active::kLanes;
  if (extent <= 0) return outside;
  const int64_t most = std::numeric_limits<I>::max();
  const auto in = at >= I(0) && at <= I(extent - 1 < most ? extent - 1 : most);
  const auto near = choose(in, at, Lanes<I, N>(I(0)));
  T values[N];
  for (int lane = 0; lane < N; ++lane) values[lane] = row[near[lane]];
  const typename LanesOf<T, N>::type loaded = load(values, AllLanes<N>{});
  return all_lanes(in) ? loaded : choose(in, loaded, typename LanesOf<T, N>::type(outside));
}
//@ load_runs: gather_row
// The same of places that follow each other as a rule: then the lanes are loaded as they lie.
template <class T, class Active>
inline typename LanesOf<T, Active::kLanes>::type load_runs(
    const T* row, const typename LanesOf<int64_t, Active::kLanes>::type& at, int64_t extent, Active active,
    std::enable_if_t<true, T> outside) {
  constexpr int N = Active::kLanes;
  const int64_t first = at[0];
  if (first >= 0 && first <= extent - N && all_lanes(at == positions<N>(first)))
    return load(row + first, active);
  return gather_row(row, at, extent, active, outside);
}
//@ load_around: gather
// The same where place(i) is one further than place(i - 1), or has begun again before it: the first and the
// last one tell whether all follow each other.
template <class T, class Active, class Place>
inline typename LanesOf<T, Active::kLanes>::type load_around(const T* row, int64_t i, const Place& place,
                                                             int64_t extent, Active active,
                                                             std::enable_if_t<true, T> outside) {
  constexpr int N = Active::kLanes;
  const int64_t first = place(i);
  if (first >= 0 && first <= extent - N && place(i + (N - 1)) == first + (N - 1))
    return load(row + first, active);
  return gather<T>(i, active, [&](int64_t i_at) IN_SET {
    const int64_t at = place(i_at);
    return at >= 0 && at < extent ? row[at] : outside;
  });
}
//@ load_nearest: load
template <class T, class Active>
__attribute__((noinline)) void load_ends(typename LanesOf<T, Active::kLanes>::type& to, const T* array,
                                         int64_t first, int64_t at, int64_t least, int64_t most,
                                         Active active) {
  T values[Active::kLanes] = {};
  // `at` is any number, and wraps around as it goes on.
  const int64_t row = int64_t(uint64_t(first) - uint64_t(at));
  for (int lane = 0; lane < Active::kLanes && lane < active.count; ++lane) {
    const int64_t here = int64_t(uint64_t(at) + uint64_t(lane)), above = here > least ? here : least;
    values[lane] = array[row + (above < most ? above : most)];
  }
  to = load(values, AllLanes<Active::kLanes>{});
}
// Neighbours in a row, from the element `first` of an array on, which stands at `at` in the row; the row's
// elements `least` and `most` stand for those beyond them.
template <class T, class Active>
inline typename LanesOf<T, Active::kLanes>::type load_nearest(const T* array, int64_t first, int64_t at,
                                                              int64_t least, int64_t most, Active active) {
  if (at >= least && at <= most - (active.count - 1)) return load(array + first, active);
  typename LanesOf<T, Active::kLanes>::type values;
  load_ends(values, array, first, at, least, most, active);
  return values;
}
//@ store_every: store
template <class T, class Active>
inline void store_every(T* to, int64_t stride, Active active,
                        typename LanesOf<T, Active::kLanes>::type value) {
  for (int lane = 0; lane < active.count; ++lane) to[lane * stride] = value[lane];
}
//@ store_fields: store_around part_of_records
// Lanes of the fields as neighbouring records, around the caches where `around` is set.
template <int kPart, int kFields, class T, int N, size_t... kLane>
inline Lanes<T, N> record_part(const Lanes<T, N> (&fields)[kFields], std::index_sequence<kLane...>) {
  // The element at `lane` of the part is a field of this record.
  constexpr auto field = [](size_t lane) IN_SET { return (kPart * N + int(lane)) % kFields; };
  constexpr auto record = [](size_t lane) IN_SET { return (kPart * N + int(lane)) / kFields; };
  const auto low =
      __builtin_shufflevector(fields[0].v, fields[1].v, (record(kLane) + (field(kLane) == 1 ? N : 0))...);
  if constexpr (kFields == 2) {
    return low;
  } else {
    constexpr int kRest = kFields - 1;
    const auto high = __builtin_shufflevector(fields[2].v, fields[kRest].v,
                                              (record(kLane) + (field(kLane) == 3 ? N : 0))...);
    return __builtin_shufflevector(low, high, (int(kLane) + (field(kLane) >= 2 ? N : 0))...);
  }
}
template <int kPart, class T, class Active, int kFields, int N>
inline void store_parts(T* to, Active active, const Lanes<T, N> (&fields)[kFields], bool around) {
  if constexpr (kPart < kFields) {
    const auto part = record_part<kPart>(fields, std::make_index_sequence<N>{});
    const auto lanes = part_of_records<kPart, kFields>(active);
    if (std::is_base_of_v<AllLanes<N>, Active> || lanes.has(N - 1))
      store_around(to + kPart * N, AllLanes<N>{}, part, around);
    else
      store(to + kPart * N, lanes, part);
    store_parts<kPart + 1>(to, active, fields, around);
  }
}
template <class T, class Active, int kFields>
inline void store_fields(T* to, Active active, const Lanes<T, Active::kLanes> (&fields)[kFields],
                         bool around = false) {
  if constexpr (sizeof(T) < 4 && kVectorBytes == 16) {
    // The oldest machines have no instruction that picks small ones.
    for (int lane = 0; lane < Active::kLanes && active.has(lane); ++lane)
      for (int field = 0; field < kFields; ++field) to[lane * kFields + field] = fields[field][lane];
  } else {
    store_parts<0>(to, active, fields, around);
  }
}
//@ each_lane: load store
// A function of single values, lane by lane; an argument may be the same for all lanes.
template <class V>
struct LaneValues {
  V value;
  IN_SET V operator[](int) const { return value; }
};
template <class T, int N>
struct LaneValues<Lanes<T, N>> {
  T values[N];
  IN_SET LaneValues(Lanes<T, N> from) { store_vector<T>(values, AllLanes<N>(), from.v); }
  IN_SET T operator[](int lane) const { return values[lane]; }
};
template <int N>
struct LaneValues<Mask<N>> {
  Mask<N> mask;
  IN_SET bool operator[](int lane) const { return mask[lane]; }
};
template <class R, int N, class Function, class... Values>
inline typename LanesOf<R, N>::type each_lane(Function function, Values... values) {
  R out[N];
  const auto apply = [&](const LaneValues<Values>&... in) IN_SET {
    for (int lane = 0; lane < N; ++lane) out[lane] = R(function(in[lane]...));
  };
  apply({values}...);
  return load(out, AllLanes<N>{});
}
