//@ across: Lanes
// One half of the lanes, from `kFirst` on.
template <int kFirst, class T, int N, size_t... kLane>
inline Lanes<T, N / 2> half_of(Lanes<T, N> lanes, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(lanes.v, lanes.v, (kFirst + int(kLane))...);
}
// All lanes combined into one value, in an order that is always the same: by halves, as vectors where these
// can be combined.
template <class V, class Combine>
inline auto across(V lanes, Combine combine) {
  using T = decltype(lanes[0]);
  T part[V::kLanes];
  for (int lane = 0; lane < V::kLanes; ++lane) part[lane] = lanes[lane];
  for (int half = V::kLanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) part[lane] = T(combine(part[lane], part[lane + half]));
  return part[0];
}
// The same within one small vector, from lanes `kHalf` apart on.
template <int kHalf, class T, int N, class Combine, size_t... kLane>
inline T across_few(Lanes<T, N> lanes, Combine combine, std::index_sequence<kLane...> all) {
  if constexpr (kHalf == 0) {
    return lanes[0];
  } else {
    const Lanes<T, N> others = __builtin_shufflevector(lanes.v, lanes.v, ((kHalf + int(kLane)) % N)...);
    return across_few<kHalf / 2>(combine(lanes, others), combine, all);
  }
}
template <class T, int N, class Combine>
inline T across(Lanes<T, N> lanes, Combine combine) {
  constexpr std::make_index_sequence<N / 2> half;
  if constexpr (!std::is_invocable_v<Combine, Lanes<T, N>, Lanes<T, N>>)
    return across<Lanes<T, N>, Combine>(lanes, combine);
  else if constexpr (sizeof(T) * N > 16)
    return across(combine(half_of<0>(lanes, half), half_of<N / 2>(lanes, half)), combine);
  else
    return across_few<N / 2>(lanes, combine, std::make_index_sequence<N>());
}
//@ Plus
// How folds and scans combine two values.
struct Plus {
  template <class T>
  IN_SET T operator()(T a, T b) const {
    return T(a + b);
  }
};
//@ for_rows: store smaller
// Calls step(row, column, lanes that take part, their totals) for rows from `first` to `end`, of which so
// many go as one, and these columns: for four such rows before the next group of columns, so that totals stay
// in registers.
template <int N, class Step, class... T>
inline __attribute__((always_inline)) void for_rows(int64_t first, int64_t end, int64_t at_once,
                                                    int64_t column, int64_t columns, const Step& step,
                                                    T*... sums) {
  const auto add = [=, &step](int64_t row, int64_t n, auto active, bool four, auto... totals) IN_SET {
    step(row, n, active, totals...);
    if (four) {
      step(row + at_once, n, active, totals...);
      step(row + 2 * at_once, n, active, totals...);
      step(row + 3 * at_once, n, active, totals...);
    }
    (store(&sums[n - column], active, totals), ...);
  };
  for (; first + 4 * at_once <= end; first += 4 * at_once)
    for_lanes<N>(column, columns * at_once, [=, &add](int64_t n, auto active) IN_SET {
      add(first, n, active, true, load(&sums[n - column], active)...);
    });
  for (; first < end; first += at_once)
    for_lanes<N>(column, columns * smaller(at_once, end - first), [=, &add](int64_t n, auto active) IN_SET {
      add(first, n, active, false, load(&sums[n - column], active)...);
    });
}
//@ add_rows: store
// Sums of rows that went as one: the second half of them is added to the first, until one row is left.
template <int N, class T>
inline void add_rows(T* sums, int64_t rows, int64_t columns) {
  for (; rows > 1; rows -= rows / 2) {
    const T* const others = sums + (rows - rows / 2) * columns;
    for_lanes<N>(0, rows / 2 * columns, [=](int64_t n, auto active) IN_SET {
      store(&sums[n], active, load(&sums[n], active) + load(&others[n], active));
    });
  }
}
//@ Times
struct Times {
  template <class T>
  IN_SET T operator()(T a, T b) const {
    return T(a * b);
  }
};
//@ Greatest: maximum extremes
struct Greatest {
  template <class T>
  IN_SET T operator()(T a, T b) const {
    return T(maximum(a, b));
  }
};
//@ Least: minimum extremes
struct Least {
  template <class T>
  IN_SET T operator()(T a, T b) const {
    return T(minimum(a, b));
  }
};
//@ scan_lanes: shifted
template <int kBy, class T, int N, class Combine>
inline Lanes<T, N> scan_group(Lanes<T, N> lanes, T identity, Combine combine) {
  if constexpr (kBy <= -N || kBy >= N)
    return lanes;
  else
    return scan_group<2 * kBy>(combine(shifted<kBy>(lanes, identity, std::make_index_sequence<N>{}), lanes),
                               identity, combine);
}
// Of two numbers: floats by themselves, so that the next group waits for one operation; whole ones wrap
// around as lanes.
template <class T, int N, class Combine>
inline T combined(T a, T b, Combine combine) {
  if constexpr (std::is_floating_point_v<T>)
    return combine(a, b);
  else
    return combine(Lanes<T, N>(a), Lanes<T, N>(b))[0];
}
// Running results along the lanes after `carry`, which becomes the last of them. kStep: 1 up, -1 down.
template <int kStep, class T, int N, class Combine>
inline Lanes<T, N> scan_lanes(T& carry, Lanes<T, N> lanes, std::enable_if_t<true, T> identity,
                              Combine combine) {
  const Lanes<T, N> before(carry), group = scan_group<kStep>(lanes, identity, combine);
  carry = combined<T, N>(carry, group[kStep > 0 ? N - 1 : 0], combine);
  return combine(before, group);
}
//@ scan_before: scan_lanes
// The same without the lane's own value.
template <int kStep, class T, int N, class Combine>
inline Lanes<T, N> scan_before(T& carry, Lanes<T, N> lanes, std::enable_if_t<true, T> identity,
                               Combine combine) {
  const Lanes<T, N> before(carry), group = scan_group<kStep>(lanes, identity, combine);
  carry = combined<T, N>(carry, group[kStep > 0 ? N - 1 : 0], combine);
  return combine(before, shifted<kStep>(group, identity, std::make_index_sequence<N>{}));
}
//@ scan_in_order: lanes_multiply_add
// total = factor * total + term, one lane after the other.
template <int kStep, class T, int N>
__attribute__((noinline)) void scan_in_order(Lanes<T, N>& totals, T total, const Lanes<T, N>& factor,
                                             const Lanes<T, N>& term) {
  for (int turn = 0; turn < N; ++turn) {
    const int lane = kStep > 0 ? turn : N - 1 - turn;
    totals.v[lane] = total = multiply_add(factor[lane], total, term[lane]);
  }
}
//@ scan_result: shifted
// The totals, or each lane's before its own step.
template <int kStep, bool kExclusive, class T, int N>
inline Lanes<T, N> scan_result(Lanes<T, N> totals, T before) {
  if constexpr (kExclusive)
    return shifted<kStep>(totals, before, std::make_index_sequence<N>{});
  else
    return totals;
}
//@ scan_linear: scan_in_order scan_result any_lane
// Joins the steps total -> factor * total + term of all lanes up to each one.
template <int kBy, class T, int N>
inline void join_steps(Lanes<T, N>& factor, Lanes<T, N>& term) {
  if constexpr (kBy > -N && kBy < N) {
    constexpr std::make_index_sequence<N> lanes;
    term = multiply_add(factor, shifted<kBy>(term, T(0), lanes), term);
    factor = factor * shifted<kBy>(factor, T(1), lanes);
    join_steps<2 * kBy>(factor, term);
  }
}
// A linear recurrence along the lanes after `carry`, which becomes the last total. Lanes go in order where a
// factor would make much of roundings, or a total is not finite, if only as steps that were joined have
// overflowed.
template <int kStep, bool kExclusive, class T, int N>
inline Lanes<T, N> scan_linear(T& carry, Lanes<T, N> factor, Lanes<T, N> term) {
  constexpr int kLast = kStep > 0 ? N - 1 : 0;
  const T before = carry;
  Lanes<T, N> factors = factor, terms = term;
  join_steps<kStep>(factors, terms);
  Lanes<T, N> totals = multiply_add(factors, before, terms);
  carry = multiply_add(factors[kLast], before, terms[kLast]);
  if (any_lane(factor * factor > T(1.25) || totals - totals != T(0))) {
    scan_in_order<kStep>(totals, before, factor, term);
    carry = totals[kLast];
  }
  return scan_result<kStep, kExclusive>(totals, before);
}
//@ scan_products: scan_in_order scan_result scan_lanes any_lane Times
// Running products along the lanes after `carry`, which becomes the last of them. Lanes whose products alone
// might leave the range of T, or whose totals do, go in order.
template <int kStep, bool kExclusive, class T, int N>
inline Lanes<T, N> scan_products(T& carry, Lanes<T, N> factor) {
  constexpr T kMost = 128;
  const T before = carry;
  const Lanes<T, N> square = factor * factor;
  Lanes<T, N> totals = scan_lanes<kStep>(carry, factor, T(1), Times());
  if (any_lane(!(square <= kMost * kMost && square >= 1 / (kMost * kMost)) || totals - totals != T(0))) {
    scan_in_order<kStep>(totals, before, factor, Lanes<T, N>(T(-0.0)));
    carry = totals[kStep > 0 ? N - 1 : 0];
  }
  return scan_result<kStep, kExclusive>(totals, before);
}
//@ add_product: lanes_multiply_add keep
// Adds what a and b make to the totals of the lanes that take part.
template <class T, int N, class Active>
inline void add_product(Lanes<T, N>& total, Active active, Lanes<T, N> a,
                        std::enable_if_t<true, Lanes<T, N>> b) {
  total = keep(active, multiply_add(a, b, total), total);
}
//@ Sum: across add_product
// The sum of what each lane has met, in two chains, so that an addition does not wait for the one before.
template <class T, int N>
struct Sum {
  static constexpr int kLanes = N;
  Lanes<T, N> next, other = T(0);
  IN_SET Sum(T first) : next(first) {}
  IN_SET Sum& operator+=(Lanes<T, N> met) {
    const Lanes<T, N> sum = next + met;
    next = other;
    other = sum;
    return *this;
  }
};
template <class T, int N, class Active>
inline void add_product(Sum<T, N>& sum, Active active, Lanes<T, N> a, std::enable_if_t<true, Lanes<T, N>> b) {
  Lanes<T, N> met = sum.next;
  add_product(met, active, a, b);
  sum.next = sum.other;
  sum.other = met;
}
template <class T, int N, class Combine>
inline T across(Sum<T, N> sum, Combine combine) {
  return across(combine(sum.next, sum.other), combine);
}
//@ ShortSum: across
// a * b in 32 bits, of two neighbouring lanes added up.
template <int N>
inline Lanes<int32_t, N / 2> multiply_pairs(Lanes<int16_t, N> a, Lanes<int16_t, N> b) {
#if KGEN_SET_AVX512 && defined(__clang__)
  if constexpr (N == 32) return __builtin_ia32_pmaddwd512(a.v, b.v);
#elif KGEN_SET_AVX512
  if constexpr (N == 32)
    return __builtin_ia32_pmaddwd512_mask(a.v, b.v, typename VectorOf<int32_t, 16>::type{}, -1);
#endif
#if KGEN_SET_AVX2
  if constexpr (N == 16) return __builtin_ia32_pmaddwd256(a.v, b.v);
#endif
#if defined(__SSE2__)
  if constexpr (N == 8) return __builtin_ia32_pmaddwd128(a.v, b.v);
#endif
  using Words = Lanes<int32_t, N / 2>;
  const auto x = (typename Words::Vector)a.v, y = (typename Words::Vector)b.v;
  return Words((x << 16) >> 16) * Words((y << 16) >> 16) + Words(x >> 16) * Words(y >> 16);
}
// The sum of numbers of 16 bits, or of their products.
template <int N>
struct ShortSum {
  Lanes<int32_t, N / 2> pairs;
  IN_SET ShortSum(int32_t first) : pairs(first) {}
  IN_SET void add(Lanes<int16_t, N> a, Lanes<int16_t, N> b) { pairs += multiply_pairs(a, b); }
};
template <int N, class Combine>
inline int32_t across(ShortSum<N> sum, Combine combine) {
  return across(sum.pairs, combine);
}
//@ Extreme: across
// The greatest or least of what each lane has met. NaN is noted beside it, as the largest magnitude by its
// bits, so that a round waits for one comparison only.
template <class T, int N>
struct Extreme {
  using Bits = Lanes<IntegerOf<sizeof(T)>, N>;
  using Int = IntegerOf<sizeof(T)>;
  static constexpr int kLanes = N;
  static constexpr Int kInfinity = sizeof(T) == 4 ? Int(0x7f800000) : Int(0x7ff0000000000000);
  Lanes<T, N> value;
  Bits largest = Int(0);
  IN_SET Extreme(T first) : value(first) {}
  IN_SET Extreme(Lanes<T, N> best, Extreme before, Lanes<T, N> met) : value(best) {
    const typename Bits::Vector bits = (typename Bits::Vector)met.v & std::numeric_limits<Int>::max();
    largest = bits > before.largest.v ? bits : before.largest.v;
  }
  IN_SET Lanes<T, N> lanes() const {
    return largest.v > kInfinity ? Lanes<T, N>(std::numeric_limits<T>::quiet_NaN()).v : value.v;
  }
};
template <class T, int N>
inline Extreme<T, N> maximum(Extreme<T, N> a, Lanes<T, N> b) {
  return {b.v > a.value.v ? b.v : a.value.v, a, b};
}
template <class T, int N>
inline Extreme<T, N> minimum(Extreme<T, N> a, Lanes<T, N> b) {
  return {b.v < a.value.v ? b.v : a.value.v, a, b};
}
template <class T, int N, class Combine>
inline T across(Extreme<T, N> extreme, Combine combine) {
  return across(extreme.lanes(), combine);
}
//@ Best: Lanes
// The greatest or least of what each lane has met, and where that stood; NaN comes before all. In two chains,
// so that a comparison does not wait for the one before.
template <class T, class Int, int N, bool kGreatest>
struct Best {
  using Values = typename LanesOf<T, N>::type;
  Values value = T(0), other_value = T(0);
  Lanes<Int, N> where = Int(-1), other_where = Int(-1);

  IN_SET Best() {}
  IN_SET static Mask<N> comes_before(Values a, Values b) {
    if constexpr (std::is_floating_point_v<T>) return (kGreatest ? a > b : a < b) || (a != a && b == b);
    return kGreatest ? a > b : a < b;
  }
  IN_SET void meet(Mask<N> active, Values met, Lanes<Int, N> at) {
    const Mask<N> better = active && (where < Int(0) || comes_before(met, value));
    const Values best = choose(better, met, value);
    const Lanes<Int, N> place = choose(better, at, where);
    value = other_value;
    where = other_where;
    other_value = best;
    other_where = place;
  }
  // Of both chains.
  IN_SET void join() {
    const Mask<N> better =
        other_where >= Int(0) && (where < Int(0) || comes_before(other_value, value) ||
                                  (other_where < where && !comes_before(value, other_value)));
    value = choose(better, other_value, value);
    where = choose(better, other_where, where);
  }
};
//@ fold_best: Best across Greatest Least
// The best of the lanes, and where it stands, counted from `first`; of equals the one that stands first.
template <class T, class Int, int N, bool kGreatest, class Before>
inline void fold_best(Best<T, Int, N, kGreatest> lanes, int64_t first, int64_t& where, T& best,
                      Before before) {
  using Better = std::conditional_t<kGreatest, Greatest, Least>;
  constexpr Int kNowhere = std::numeric_limits<Int>::max();
  lanes.join();
  Mask<N> has_it = lanes.where >= Int(0);
  T value = lanes.value[0];
  if constexpr (std::is_same_v<T, bool>) {
    value = kGreatest == any_lane(has_it && (kGreatest ? lanes.value : !lanes.value));
    has_it = has_it && (value ? lanes.value : !lanes.value);
  } else {
    using Limits = std::numeric_limits<T>;
    constexpr T kTop = Limits::has_infinity ? Limits::infinity() : Limits::max();
    constexpr T kBottom = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    value = across(choose(has_it, lanes.value, kGreatest ? kBottom : kTop), Better());
    has_it = has_it && (lanes.value == value || (lanes.value != lanes.value && value != value));
  }
  const Int place = across(choose(has_it, lanes.where, kNowhere), Least());
  const int64_t at = first + place;
  if (place == kNowhere || !(where < 0 || before(value, best) || (at < where && !before(best, value))))
    return;
  where = at;
  best = value;
}
