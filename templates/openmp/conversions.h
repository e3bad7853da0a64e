//@ convert: Lanes
// Numbers of another type; of a mask: 1 or 0.
template <class To, class From, int N>
inline Lanes<To, N> convert(Lanes<From, N> from) {
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>)
    return resized<To>(from.v);
  else if constexpr (sizeof(From) < 4)
    return __builtin_convertvector(resized<int32_t>(from.v), typename Lanes<To, N>::Vector);
  else
    return __builtin_convertvector(from.v, typename Lanes<To, N>::Vector);
}
template <class To, int N>
inline Lanes<To, N> convert(Mask<N> from) {
  return convert<To>(Lanes<typename Mask<N>::Int, N>(-from.v));
}
//@ widened: Lanes
// Integers of two bytes as longer ones, in one instruction where GCC would widen one half after the other.
template <class To, class T, int N>
inline Lanes<To, N> widened(Lanes<T, N> from) {
#if KGEN_SET_AVX2 && !defined(__clang__)
  using Wide = typename Lanes<To, N>::Vector;
  constexpr bool kSigned = std::is_signed_v<T>;
  const auto v = (typename VectorOf<int16_t, N>::type)from.v;
  if constexpr (sizeof(To) == 4 && N == 8)
    return kSigned ? (Wide)__builtin_ia32_pmovsxwd256(v) : (Wide)__builtin_ia32_pmovzxwd256(v);
#if KGEN_SET_AVX512
  constexpr typename VectorOf<int32_t, 16>::type kNone = {};
  if constexpr (sizeof(To) == 4 && N == 16)
    return kSigned ? (Wide)__builtin_ia32_pmovsxwd512_mask(v, kNone, -1)
                   : (Wide)__builtin_ia32_pmovzxwd512_mask(v, kNone, -1);
#endif
#endif
  return resized<To>(from.v);
}
//@ widened_bytes: Lanes
// The same of bytes.
template <class To, class T, int N>
inline Lanes<To, N> widened_bytes(Lanes<T, N> from) {
#if defined(__SSE2__) && !defined(__clang__)
  using Wide = typename Lanes<To, N>::Vector;
  constexpr bool kSigned = std::is_signed_v<T>;
  constexpr int kNew = sizeof(To), kBytes = N * kNew;
  using Chars = typename VectorOf<char, (N < 16 ? 16 : N)>::type;
#endif
#if KGEN_SET_AVX512 && !defined(__clang__)
  if constexpr (kBytes == 64 && kNew == 2) {
    constexpr typename VectorOf<int16_t, 32>::type kNone = {};
    const auto v = (Chars)from.v;
    return kSigned ? (Wide)__builtin_ia32_pmovsxbw512_mask(v, kNone, -1)
                   : (Wide)__builtin_ia32_pmovzxbw512_mask(v, kNone, -1);
  }
  if constexpr (kBytes == 64 && kNew == 4) {
    constexpr typename VectorOf<int32_t, 16>::type kNone = {};
    const auto v = (Chars)from.v;
    return kSigned ? (Wide)__builtin_ia32_pmovsxbd512_mask(v, kNone, -1)
                   : (Wide)__builtin_ia32_pmovzxbd512_mask(v, kNone, -1);
  }
#endif
#if KGEN_SET_AVX2 && !defined(__clang__)
  if constexpr (kBytes == 32 && kNew == 2) {
    const auto v = (Chars)from.v;
    return kSigned ? (Wide)__builtin_ia32_pmovsxbw256(v) : (Wide)__builtin_ia32_pmovzxbw256(v);
  }
  if constexpr (kBytes == 32 && kNew == 4) {
    int64_t bits;
    memcpy(&bits, &from.v, sizeof bits);
    auto v = (Chars) typename VectorOf<int64_t, 2>::type{bits};
#if KGEN_SET_AVX512
    asm("" : "+v"(v));  // merged with other lanes, a read of 8 bytes ends g++ 12
#endif
    return kSigned ? (Wide)__builtin_ia32_pmovsxbd256(v) : (Wide)__builtin_ia32_pmovzxbd256(v);
  }
#elif defined(__SSE2__) && !KGEN_SET_AVX2 && !defined(__clang__)
  if constexpr (kBytes == 16 && kNew == 2) {  // signs are put beside bytes
    int64_t bits;
    memcpy(&bits, &from.v, sizeof bits);
    const auto v = (Chars) typename VectorOf<int64_t, 2>::type{bits};
    const auto signs = kSigned ? (Chars)((typename VectorOf<int8_t, 16>::type)v < 0) : Chars{};
    return (Wide)__builtin_shufflevector(v, signs, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  }
  if constexpr (kBytes == 16 && kNew == 4) {  // signs are put beside bytes, and then beside pairs of them
    int32_t bits;
    memcpy(&bits, &from.v, sizeof bits);
    const auto v = (Chars) typename VectorOf<int32_t, 4>::type{bits};
    const auto signs = kSigned ? (Chars)((typename VectorOf<int8_t, 16>::type)v < 0) : Chars{};
    const auto pairs = (typename VectorOf<int16_t, 8>::type)__builtin_shufflevector(
        v, signs, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return (Wide)__builtin_shufflevector(pairs, (typename VectorOf<int16_t, 8>::type)(pairs < 0), 0, 8, 1, 9,
                                         2, 10, 3, 11);
  }
#endif
  return resized<To>(from.v);
}
//@ lanes_from_bf16: widened
template <int N>
inline Lanes<float, N> from_bf16(Lanes<uint16_t, N> bits) {
  using Words = typename VectorOf<uint32_t, N>::type;
  return (typename Lanes<float, N>::Vector)((Words)widened<uint32_t>(bits).v << 16);
}
//@ lanes_to_bf16: Lanes
// The upper halves of words.
template <int N, size_t... kLane>
inline Lanes<uint16_t, N> upper_halves(typename VectorOf<uint32_t, N>::type words,
                                       std::index_sequence<kLane...>) {
  if constexpr (N > 4) {
    const auto halves = (typename VectorOf<uint16_t, 2 * N>::type) words;
    return __builtin_shufflevector(halves, halves, (2 * int(kLane) + 1)...);
  } else {
    return resized<uint16_t>(words >> 16);
  }
}
// Round to nearest even.
template <int N>
inline Lanes<uint16_t, N> to_bf16(Lanes<float, N> value) {
  using Words = typename VectorOf<uint32_t, N>::type;
  const Words bits = (Words)value.v, rounded = bits + (((bits >> 16) & 1u) + 0x7fffu),
              quiet = bits | 0x400000u;
  return upper_halves<N>(value.v == value.v ? rounded : quiet, std::make_index_sequence<N>{});
}
//@ lanes_from_f16: Lanes
// By the instruction where there is one; a NaN is quiet then.
template <int N>
inline Lanes<float, N> from_f16(Lanes<uint16_t, N> half) {
  using Floats = typename VectorOf<float, N>::type;
#if KGEN_SET_AVX2 && defined(__clang__)
  return __builtin_convertvector((typename VectorOf<_Float16, N>::type)half.v, Floats);
#else
#if KGEN_SET_AVX2
  if constexpr (N == 4)
    return __builtin_ia32_vcvtph2ps(
        (typename VectorOf<int16_t, 8>::type)__builtin_shufflevector(half.v, half.v, 0, 1, 2, 3, 0, 1, 2, 3));
  if constexpr (N == 8) return __builtin_ia32_vcvtph2ps256((typename VectorOf<int16_t, 8>::type)half.v);
#endif
#if KGEN_SET_AVX512
  if constexpr (N == 16)
    return __builtin_ia32_vcvtph2ps512_mask((typename VectorOf<int16_t, 16>::type)half.v,
                                            typename VectorOf<float, 16>::type{}, -1, 4);
#endif
  using Words = typename VectorOf<uint32_t, N>::type;
  using Ints = typename VectorOf<int32_t, N>::type;
  const Words all = resized<uint32_t>(half.v), sign = (all & 0x8000u) << 16, rest = all & 0x7fffu;
  const Words quiet = (Words)((Ints)rest > 0x7c00) & 0x400000u;
  const Words normal = (rest << 13) + 0x38000000u, special = (rest << 13) | 0x7f800000u | quiet;
  const Words small = (Words)(__builtin_convertvector((Ints)rest, Floats) * (1.0f / 16777216.0f));
  const Words bits = (Ints)rest >= 0x7c00 ? special : ((Ints)rest >= 0x0400 ? normal : small);
  return (Floats)(bits | sign);
#endif
}
//@ lanes_to_f16: Lanes
// Round to nearest even; each NaN becomes the same one, with its sign.
template <int N>
inline Lanes<uint16_t, N> to_f16(Lanes<float, N> value) {
  using Words = typename VectorOf<uint32_t, N>::type;
  using Floats = typename VectorOf<float, N>::type;
#if KGEN_SET_AVX2
  const Floats nan = (Floats)(((Words)value.v & 0x80000000u) | 0x7fc00000u),
               known = value.v == value.v ? value.v : nan;
#endif
#if KGEN_SET_AVX2 && defined(__clang__)
  return (typename Lanes<uint16_t, N>::Vector) __builtin_convertvector(known,
                                                                       typename VectorOf<_Float16, N>::type);
#else
#if KGEN_SET_AVX2
  if constexpr (N == 4)
    return (typename Lanes<uint16_t, 4>::Vector)__builtin_shufflevector(
        __builtin_ia32_vcvtps2ph(known, 0), VectorOf<int16_t, 8>::type{}, 0, 1, 2, 3);
  if constexpr (N == 8) return (typename Lanes<uint16_t, 8>::Vector)__builtin_ia32_vcvtps2ph256(known, 0);
#endif
#if KGEN_SET_AVX512
  if constexpr (N == 16)
    return (typename Lanes<uint16_t, 16>::Vector)__builtin_ia32_vcvtps2ph512_mask(
        known, 0, VectorOf<int16_t, 16>::type{}, -1);
#endif
  using Ints = typename VectorOf<int32_t, N>::type;
  const Words all = (Words)value.v, sign = (all >> 16) & 0x8000u, rest = all & 0x7fffffffu;
  const Words normal = (rest - 0x38000000u + 0x0fffu + ((rest >> 13) & 1u)) >> 13;
  // The last bit of 0.5 is that of the smallest half.
  const Words small = (Words)((Floats)rest + 0.5f) - 0x3f000000u;
  const Words finite = (Ints)rest < 0x38800000 ? small : normal;
  const Words bits =
      (Ints)rest > 0x7f800000 ? Words{} + 0x7e00u : ((Ints)rest >= 0x477ff000 ? Words{} + 0x7c00u : finite);
  return __builtin_convertvector(bits | sign, typename Lanes<uint16_t, N>::Vector);
#endif
}
//@ lanes_saturate: extremes
// Float to integer: NaN gives 0, what does not fit the nearest end.
template <class To, class From, int N>
inline Lanes<To, N> saturate(Lanes<From, N> value) {
  constexpr To kLow = std::numeric_limits<To>::min(), kHigh = std::numeric_limits<To>::max();
  if constexpr (sizeof(To) < sizeof(From)) {
    using Whole = std::conditional_t<(sizeof(To) < 4), int32_t, To>;
    const auto within = lesser(greater(value, opaque<From, N>(From(kLow))), opaque<From, N>(From(kHigh))).v;
    const auto number = value.v == value.v ? within : Lanes<From, N>(From(0)).v;
    return resized<To>(__builtin_convertvector(number, typename VectorOf<Whole, N>::type));
  } else {
    // The upper end is no number of type From: what reaches it is never converted.
    const Lanes<From, N> low = From(kLow), high = From(kHigh), zero = From(0);
    const auto number = ((value.v > low.v) & (value.v < high.v)) ? value.v : zero.v;
    const Lanes<To, N> whole = __builtin_convertvector(number, typename Lanes<To, N>::Vector);
    return choose(value >= high, Lanes<To, N>(kHigh), choose(value <= low, Lanes<To, N>(kLow), whole));
  }
}
