//@ inside
// Is the coordinate within 0 .. extent-1?
FUNCTION bool inside(int64_t coordinate, int64_t extent) { return coordinate >= 0 && coordinate < extent; }
//@ table_at
// A table's entry, 0 beyond its ends.
template <class T>
FUNCTION T table_at(const T* table, int64_t entry, int64_t count) {
  return entry >= 0 && entry < count ? table[entry] : T(0);
}
//@ floor_div
FUNCTION int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  const int64_t q = a / b;
  return q - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
//@ floor_mod: floor_div
FUNCTION int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }
//@ ceil_div: floor_div
FUNCTION int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }
//@ smaller
template <class A, class B>
FUNCTION auto smaller(A a, B b) {
  return a < b ? a : b;
}
//@ larger
template <class A, class B>
FUNCTION auto larger(A a, B b) {
  return a > b ? a : b;
}
//@ share_begin: ceil_div smaller
// Where one of `shares` of a loop begins, all but the last of one length, a multiple of `step`.
FUNCTION int64_t share_begin(int64_t share, int64_t shares, int64_t length, int64_t step) {
  return smaller(share * (ceil_div(ceil_div(length, step), shares) * step), length);
}
//@ entries_from
// Where the entries of a sorted table that are `value` or more begin, among those from `begin` to `end`.
template <class T>
FUNCTION int64_t entries_from(const T* table, int64_t begin, int64_t end, int64_t value) {
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (int64_t(table[middle]) < value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}
//@ entries_after
// Where those begin that are more than `value`.
template <class T>
FUNCTION int64_t entries_after(const T* table, int64_t begin, int64_t end, int64_t value) {
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (int64_t(table[middle]) <= value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}
//@ is_nan
template <class T>
FUNCTION bool is_nan(T v) {
  return v != v;
}
//@ is_inf
template <class T>
FUNCTION bool is_inf(T v) {
  return v == T(INFINITY) || v == -T(INFINITY);
}
//@ above
// Does `v` come before `best` in an argmax? NaN is the largest; of equals the first stays.
template <class T>
FUNCTION bool above(T v, T best) {
  return v > best || (v != v && best == best);
}
//@ below
// Does `v` come before `best` in an argmin? The first NaN is taken; of equals the first stays.
template <class T>
FUNCTION bool below(T v, T best) {
  return v < best || (v != v && best == best);
}
//@ absolute
template <class T>
FUNCTION T absolute(T v) {
  return v < T(0) ? T(T(0) - v) : (v == T(0) ? T(0) : v);
}
//@ sign
template <class T>
FUNCTION T sign(T v) {
  return v > T(0) ? T(1) : (v < T(0) ? T(-1) : v);
}
//@ wrapping_add
// Signed arithmetic that wraps around.
FUNCTION int32_t wrapping_add(int32_t a, int32_t b) { return int32_t(uint32_t(a) + uint32_t(b)); }
//@ wrapping_subtract
FUNCTION int32_t wrapping_subtract(int32_t a, int32_t b) { return int32_t(uint32_t(a) - uint32_t(b)); }
//@ wrapping_multiply
FUNCTION int32_t wrapping_multiply(int32_t a, int32_t b) { return int32_t(uint32_t(a) * uint32_t(b)); }
//@ wrapping_negate
FUNCTION int32_t wrapping_negate(int32_t a) { return int32_t(0u - uint32_t(a)); }
//@ wrapping_absolute
FUNCTION int32_t wrapping_absolute(int32_t a) { return a < 0 ? int32_t(0u - uint32_t(a)) : a; }
//@ wrapping64_add
FUNCTION int64_t wrapping_add(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
//@ wrapping64_subtract
FUNCTION int64_t wrapping_subtract(int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }
//@ wrapping64_multiply
FUNCTION int64_t wrapping_multiply(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
//@ wrapping64_negate
FUNCTION int64_t wrapping_negate(int64_t a) { return int64_t(uint64_t{0} - uint64_t(a)); }
//@ wrapping64_absolute
FUNCTION int64_t wrapping_absolute(int64_t a) { return a < 0 ? int64_t(uint64_t{0} - uint64_t(a)) : a; }
//@ divide
// Division by 0 gives 0, and the one quotient that does not fit wraps.
template <class T>
FUNCTION T divide(T a, T b) {
  if (b == T(0)) return T(0);
  if (b == T(-1)) return T(T(0) - T(1)) < T(0) ? T(0 - uint64_t(a)) : T(a / b);
  return T(a / b);
}
//@ remainder_of
// The remainder by 0 is 0.
template <class T>
FUNCTION T remainder_of(T a, T b) {
  if (b == T(0) || (b == T(-1) && T(-1) < T(1))) return T(0);
  return T(a % b);
}
//@ shift_left
// Counts are taken modulo the width.
template <class T, class C>
FUNCTION T shift_left(T a, C count) {
  return T(uint64_t(a) << (uint64_t(count) % (8 * sizeof(T))));
}
//@ shift_right
template <class T, class C>
FUNCTION T shift_right(T a, C count) {
  return T(a >> (uint64_t(count) % (8 * sizeof(T))));
}
//@ saturate
// Float to integer: NaN gives 0, what does not fit the nearest end.
template <class To, class From>
FUNCTION To saturate(From v) {
  constexpr To kLow = To(-1) < To(1) ? To(To(1) << (8 * sizeof(To) - 1)) : To(0);
  constexpr To kHigh = To(~kLow);
  if (v != v) return To(0);
  if (v <= From(kLow)) return kLow;
  if (v >= From(kHigh)) return kHigh;
  return To(v);
}
//@ popcount
template <class T>
FUNCTION T popcount(T v) {
  int count = 0;
  for (uint64_t bits = uint64_t(v) & (~uint64_t{0} >> (64 - 8 * sizeof(T))); bits != 0; bits &= bits - 1)
    ++count;
  return T(count);
}
//@ bits_as
template <class To, class From>
FUNCTION To bits_as(From v) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To out;
  memcpy(&out, &v, sizeof out);
  return out;
}
//@ sigmoid_f32
FUNCTION float sigmoid(float v) { return 1.0f / (1.0f + EXP_F32(-v)); }
//@ sigmoid_f64
FUNCTION double sigmoid(double v) { return 1.0 / (1.0 + EXP_F64(-v)); }
//@ random_bits
// Philox 4x32-10: key = the seed, counter = the index; the first word.
FUNCTION uint32_t random_bits(int64_t seed, int64_t index) {
  uint32_t k0 = uint32_t(uint64_t(seed)), k1 = uint32_t(uint64_t(seed) >> 32);
  uint32_t c0 = uint32_t(uint64_t(index)), c1 = uint32_t(uint64_t(index) >> 32), c2 = 0, c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
    const uint32_t n0 = uint32_t(p1 >> 32) ^ c1 ^ k0, n2 = uint32_t(p0 >> 32) ^ c3 ^ k1;
    c0 = n0;
    c1 = uint32_t(p1);
    c2 = n2;
    c3 = uint32_t(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c0;
}
//@ random_uniform: random_bits
// Uniform in [0, 1).
FUNCTION float random_uniform(int64_t seed, int64_t index) {
  return float(random_bits(seed, index) >> 8) * (1.0f / 16777216.0f);
}
