//@ extremes: Lanes
// Of equals the first; either where one is NaN: callers add the NaN to their results themselves.
template <class T, int N>
inline Lanes<T, N> greater(Lanes<T, N> a, Lanes<T, N> b) {
  return b.v > a.v ? b.v : a.v;
}
template <class T, int N>
inline Lanes<T, N> lesser(Lanes<T, N> a, Lanes<T, N> b) {
  return b.v < a.v ? b.v : a.v;
}

// The greater and the lesser are `a` where either is NaN: with all bits set where `b` is, that is NaN.
template <class T, int N>
inline Lanes<T, N> or_nan(Lanes<T, N> chosen, Lanes<T, N> b) {
  using Bits = typename VectorOf<IntegerOf<sizeof(T)>, N>::type;
  Bits nan = (Bits)(b.v != b.v);
#if defined(__SSE2__) && !defined(__clang__) && !KGEN_SET_AVX2
  if constexpr (sizeof(nan) <= kVectorBytes) asm("" : "+x"(nan));  // GCC 12 makes a choice of it that SSE2 has not
#endif
  return (typename Lanes<T, N>::Vector)((Bits)chosen.v | nan);
}
// One number in all lanes. GCC finds the instruction for an extreme only where it does not know the number.
template <class T, int N>
inline Lanes<T, N> opaque(T number) {
  Lanes<T, N> all(number);
#if defined(__SSE2__) && !defined(__clang__)
  if constexpr (std::is_floating_point_v<T> && sizeof(all.v) <= kVectorBytes) asm("" : "+x"(all.v));
#endif
  return all;
}

// NaN where either is NaN; of equals the first. A number beside lanes needs no test for NaN in each of them.
template <class T, int N>
inline Lanes<T, N> maximum(Lanes<T, N> a, Lanes<T, N> b) {
  return or_nan(greater(a, b), b);
}
template <class T, int N>
inline Lanes<T, N> minimum(Lanes<T, N> a, Lanes<T, N> b) {
  return or_nan(lesser(a, b), b);
}
template <class T, int N>
inline Lanes<T, N> maximum(Lanes<T, N> a, std::common_type_t<T> b) {
  return b != b ? Lanes<T, N>(b) : greater(a, opaque<T, N>(b));
}
template <class T, int N>
inline Lanes<T, N> minimum(Lanes<T, N> a, std::common_type_t<T> b) {
  return b != b ? Lanes<T, N>(b) : lesser(a, opaque<T, N>(b));
}
template <class T, int N>
inline Lanes<T, N> maximum(std::common_type_t<T> a, Lanes<T, N> b) {
  return maximum(Lanes<T, N>(a), b);
}
template <class T, int N>
inline Lanes<T, N> minimum(std::common_type_t<T> a, Lanes<T, N> b) {
  return minimum(Lanes<T, N>(a), b);
}
//@ mask_order: Mask
template <int N>
inline Mask<N> operator<(Mask<N> a, Mask<N> b) {
  return !a && b;
}
template <int N>
inline Mask<N> operator>(Mask<N> a, Mask<N> b) {
  return a && !b;
}
template <int N>
inline Mask<N> minimum(Mask<N> a, Mask<N> b) {
  return a && b;
}
template <int N>
inline Mask<N> maximum(Mask<N> a, Mask<N> b) {
  return a || b;
}
