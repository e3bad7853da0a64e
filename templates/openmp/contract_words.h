//@ words: contract
// Words of 32 bits with what neighbouring positions of the depth have: two halves, or four bytes. Positions
// behind the depth have 0.
template <int kInWord>
struct Words {
  static constexpr uint32_t kBits = 32 / kInWord, kOnes = uint32_t(-1) >> (32 - kBits);
  Span depth;

  IN_SET Span span() const { return {0, ceil_div(depth.count(), kInWord)}; }
  IN_SET int64_t whole_end() const { return depth.count() / kInWord; }  // of the words that are full
  IN_SET int64_t position(int64_t word, int part) const { return depth.first + word * kInWord + part; }
  // Where a number of so many bits stands in it; in lanes or not.
  template <class Bits>
  IN_SET static Bits part(Bits bits, int which) {
    return (bits & kOnes) << (uint32_t(which) * kBits);
  }
};
template <int kInWord, class Left>
struct LeftWords : Words<kInWord> {
  Left left;

  IN_SET LeftWords(const Left& left_, Span depth_) : Words<kInWord>{depth_}, left(left_) {}
  IN_SET int32_t whole(int64_t m, int64_t word) const { return of(m, word, kInWord); }
  IN_SET int32_t operator()(int64_t m, int64_t word) const {
    return of(m, word, int(smaller(kInWord, this->depth.count() - word * kInWord)));
  }

 private:
  IN_SET int32_t of(int64_t m, int64_t word, int count) const {
    uint32_t out = 0;
    for (int i = 0; i < count; ++i) out |= this->part(bits(left(m, this->position(word, i))), i);
    return int32_t(out);
  }
  IN_SET static uint32_t bits(int32_t number) { return uint32_t(number); }
  IN_SET static uint32_t bits(float number) {
    uint32_t out;
    memcpy(&out, &number, sizeof out);
    return out >> 16;
  }
};
template <int kInWord, class V, class Right>
struct RightWords : Words<kInWord> {
  Right right;
  uint32_t flipped;  // bits of each word

  IN_SET RightWords(const Right& right_, Span depth_, uint32_t flipped_)
      : Words<kInWord>{depth_}, right(right_), flipped(flipped_) {}
  IN_SET int64_t down_end(Span) const { return this->whole_end(); }
  template <int N, class Active>
  IN_SET void operator()(Lanes<int32_t, N>& values, int64_t word, int64_t n, Active active,
                         int64_t band) const {
    typename Lanes<int32_t, N>::Math out = {};
    for (int i = 0; i < kInWord; ++i) {
      Lanes<V, N> numbers = V(0);
      if (this->position(word, i) < this->depth.end)
        in_band(band, right, numbers, this->position(word, i), n, active);
      out |= this->part(bits(numbers), i);
    }
    values = (typename Lanes<int32_t, N>::Vector)(out ^ flipped);
  }
  template <int N>
  IN_SET void operator()(Lanes<int32_t, N>& values, int64_t word, int64_t n, DownLanes<N> down,
                         int64_t band) const {
    const auto part = [&](int i) IN_SET {
      Lanes<V, N> numbers;
      in_band(band, right, numbers, this->position(word, i * N), n, down);
      return __builtin_convertvector(bits(numbers), typename VectorOf<uint16_t, N>::type);
    };
    const auto words = (typename Lanes<int32_t, N>::Math)joined(part(0), part(1), Sequence<2 * N>());
    values = (typename Lanes<int32_t, N>::Vector)(words ^ flipped);
  }

 private:
  template <int N>
  using Sequence = std::make_integer_sequence<int, N>;
  template <class Vector, int... kPart>
  IN_SET static auto joined(Vector first, Vector second, std::integer_sequence<int, kPart...>) {
    return __builtin_shufflevector(first, second, kPart...);
  }
  template <int N>
  IN_SET static typename Lanes<int32_t, N>::Math bits(Lanes<V, N> numbers) {
    const auto bits = (typename Lanes<int32_t, N>::Math)numbers.v;
    return std::is_floating_point_v<V> ? bits >> 16 : bits;
  }
};
template <class V, class Right>
constexpr bool kAlongDepth<RightWords<2, V, AlongDepth<Right>>> = true;
template <int kInWord, class Left>
constexpr bool kAlongRows<LeftWords<kInWord, AlongRows<Left>>> = true;
// How such a contraction is cut.
template <int N, int kInWord>
struct CutOfWords : Cut<int32_t, int32_t, int32_t, N> {
  IN_SET CutOfWords(Span rows, int64_t bands_, Span columns, Span depth_)
      : Cut<int32_t, int32_t, int32_t, N>(rows, bands_, columns, Words<kInWord>{depth_}.span()) {}
  // Are words worth it: is there much to do, which is not narrow, and deep enough for whole vectors of them?
  template <bool kDown>
  IN_SET bool from_panels() const {
    return this->packs_left && this->depth >= N && !this->template is_narrow<kDown>();
  }
};
// With room for either of two ways.
template <class One, class Other>
struct EitherCut {
  One one;
  Other other;
  bool alone;

  IN_SET EitherCut(Span rows, int64_t bands, Span columns, Span depth)
      : one(rows, bands, columns, depth), other(rows, bands, columns, depth), alone(one.alone) {
    other.alone = alone;
  }
  IN_SET int64_t right_bytes() const { return larger(one.right_bytes(), other.right_bytes()); }
  IN_SET int64_t thread_bytes(bool several) const {
    return larger(one.thread_bytes(several), other.thread_bytes(several));
  }
  IN_SET int64_t own_bytes() const { return larger(one.own_bytes(), other.own_bytes()); }
};
// As contract does, with words of V, int32_t or float, and a step that takes them.
template <int N, int kInWord, class T, class V, class Threads, class Left, class Right, class Step,
          class Finish>
inline void contract_words(Threads team, char* shared, char* mine, Span rows, int64_t bands, Span columns,
                           Span depth, const Left& left, const Right& right, const Step& step,
                           const Finish& finish, uint32_t flipped = 0) {
  const LeftWords<kInWord, Left> left_words(left, depth);
  const RightWords<kInWord, V, Right> right_words(right, depth, flipped);
  const auto of_band = [=](int64_t m, int64_t n, auto active, auto sum, int64_t band)
                           IN_SET { in_band(band, finish, m, n, active, sum); };
  contract<N, T, int32_t, int32_t>(team, shared, mine, rows, bands, columns, left_words.span(), T(0),
                                   left_words, right_words, step, of_band);
}
//@ contract_pairs: words
// Adds the products of both numbers of the pairs to a sum, which wraps around.
template <int N>
inline Lanes<int32_t, N> add_pairs(Lanes<int32_t, N> a, Lanes<int32_t, N> b, Lanes<int32_t, N> sum) {
#if defined(__x86_64__)
  using Words = typename Lanes<int32_t, N>::Vector;
  using Halves = typename VectorOf<short, 2 * N>::type;
  const Halves x = (Halves)a.v, y = (Halves)b.v;
#if KGEN_SET_AVX512 && defined(__clang__)
  if constexpr (sizeof(Words) == 64) return sum + Lanes<int32_t, N>((Words)__builtin_ia32_pmaddwd512(x, y));
#elif KGEN_SET_AVX512
  if constexpr (sizeof(Words) == 64)
    return sum + Lanes<int32_t, N>((Words)__builtin_ia32_pmaddwd512_mask(x, y, Words{}, -1));
#endif
#if KGEN_SET_AVX2
  if constexpr (sizeof(Words) == 32) return sum + Lanes<int32_t, N>((Words)__builtin_ia32_pmaddwd256(x, y));
#endif
  if constexpr (sizeof(Words) == 16) return sum + Lanes<int32_t, N>((Words)__builtin_ia32_pmaddwd128(x, y));
#endif
  const auto low = [](Lanes<int32_t, N> v) IN_SET { return Lanes<int32_t, N>((v.v << 16) >> 16); };
  const auto high = [](Lanes<int32_t, N> v) IN_SET { return Lanes<int32_t, N>(v.v >> 16); };
  return sum + low(a) * low(b) + high(a) * high(b);
}

// As contract does, sums of products of whole numbers of 16 bits, two positions of the depth at a time.
template <int N, class Threads, class Left, class Right, class Finish>
inline void contract_pairs(Threads team, char* shared, char* mine, Span rows, int64_t bands, Span columns,
                           Span depth, const Left& left, const Right& right, const Finish& finish) {
  const auto step = [](auto& sum, auto a, auto b) IN_SET { sum = add_pairs(b, Lanes<int32_t, N>(a), sum); };
  contract_words<N, 2, int32_t, int32_t>(team, shared, mine, rows, bands, columns, depth, left, right, step,
                                         finish);
}
template <int N, class Threads, class Left, class Right, class Finish>
inline void contract_pairs(Threads team, char* shared, char* mine, Span rows, Span columns, Span depth,
                           const Left& left, const Right& right, const Finish& finish) {
  contract_pairs<N>(team, shared, mine, rows, 1, columns, depth, left, right, finish);
}
//@ contract_bytes: contract_pairs
// Has the machine an instruction for sums of products of bytes?
inline bool has_sums_of_bytes() {
#if KGEN_SET_AVX512
  return __builtin_cpu_supports("avx512vnni");
#elif KGEN_SET_AVX2 && (defined(__clang__) || __GNUC__ >= 11)
  return __builtin_cpu_supports("avxvnni");
#else
  return false;
#endif
}
#if KGEN_SET_AVX2
// The sum of products of the bytes of two words, those of `first` without a sign, is added by that
// instruction.
template <int N>
inline void add_bytes(Lanes<int32_t, N>& sum, Lanes<int32_t, N> first, Lanes<int32_t, N> second) {
#if KGEN_SET_AVX512
  asm("{vpdpbusd %2, %1, %0|vpdpbusd %0, %1, %2}" : "+v"(sum.v) : "v"(first.v), "v"(second.v));
#else
  asm("%{vex%} {vpdpbusd %2, %1, %0|vpdpbusd %0, %1, %2}" : "+x"(sum.v) : "x"(first.v), "x"(second.v));
#endif
}
// Where both factors have a sign, the right one is moved by kBias. (Sums of products without signs are
// unsigned.)
template <bool kLeftSigned, bool kRightSigned>
struct ByteStep {
  static_assert(kLeftSigned || kRightSigned);
  static constexpr int kBias = kLeftSigned && kRightSigned ? 128 : 0;

  template <int N>
  IN_SET void operator()(Lanes<int32_t, N>& sum, int32_t word, Lanes<int32_t, N> right) const {
    const Lanes<int32_t, N> left = word;
    if constexpr (kLeftSigned)
      add_bytes(sum, right, left);
    else
      add_bytes(sum, left, right);
  }
  template <int N>
  IN_SET static void add_left(Lanes<int32_t, N>& sum, Lanes<int32_t, N> left) {
    add_bytes(sum, Lanes<int32_t, N>(0x01010101), left);
  }
};
#endif
// As contract does, sums of products of numbers that L and R hold, int8_t or uint8_t: four positions of the
// depth at a time, where the machine can and there is much to do.
template <int N, class L, class R, class Threads, class Left, class Right, class Finish>
inline void contract_bytes(Threads team, char* shared, char* mine, Span rows, int64_t bands, Span columns,
                           Span depth, const Left& left, const Right& right, const Finish& finish) {
#if KGEN_SET_AVX2
  using Step = ByteStep<std::is_signed_v<L>, std::is_signed_v<R>>;
  const CutOfWords<N, 4> cut(rows, bands, columns, depth);
  if (cut.template from_panels<kAlongDepth<Right>>() && has_sums_of_bytes())
    return contract_words<N, 4, int32_t, int32_t>(team, shared, mine, rows, bands, columns, depth, left,
                                                  right, Step(), finish, Step::kBias == 0 ? 0 : 0x80808080);
#endif
  contract_pairs<N>(team, shared, mine, rows, bands, columns, depth, left, right, finish);
}
template <int N, class L, class R, class Threads, class Left, class Right, class Finish>
inline void contract_bytes(Threads team, char* shared, char* mine, Span rows, Span columns, Span depth,
                           const Left& left, const Right& right, const Finish& finish) {
  contract_bytes<N, L, R>(team, shared, mine, rows, 1, columns, depth, left, right, finish);
}
template <int N>
using CutOfBytes = EitherCut<CutOfWords<N, 2>, CutOfWords<N, 4>>;
//@ contract_products: words BF16 Value
#if KGEN_SET_AVX512
// The sum of products of the numbers in two words is added by the instruction for it.
struct Bf16Step {
  static constexpr int kBias = 0;

  template <int N>
  IN_SET void operator()(Lanes<float, N>& sum, int32_t word, Lanes<int32_t, N> right) const {
    const Lanes<int32_t, N> left = word;
    asm("{vdpbf16ps %2, %1, %0|vdpbf16ps %0, %1, %2}" : "+v"(sum.v) : "v"(left.v), "v"(right.v));
  }
};
#endif
// As contract does, sums of products of what arrays of T have: of bf16 two positions of the depth at a time,
// where the set has the instruction and there is much to do.
template <class T, int N, class Threads, class Left, class Right, class Finish>
inline void contract_products(Threads team, char* shared, char* mine, Span rows, int64_t bands, Span columns,
                              Span depth, const Left& left, const Right& right, const Finish& finish) {
  using V = Value<T>;
#if KGEN_SET_AVX512
  if constexpr (std::is_same_v<T, BF16>) {
    const CutOfWords<N, 2> cut(rows, bands, columns, depth);
    if (chosen_set() == 3 && cut.template from_panels<kAlongDepth<Right>>())
      return contract_words<N, 2, float, float>(team, shared, mine, rows, bands, columns, depth, left, right,
                                                Bf16Step(), finish);
  }
#endif
  contract<N, V, V, V>(
      team, shared, mine, rows, bands, columns, depth, V(0), left, right,
      [](auto& sum, auto a, auto b) IN_SET { sum = multiply_add(b, a, sum); }, finish);
}
template <class T, int N, class Threads, class Left, class Right, class Finish>
inline void contract_products(Threads team, char* shared, char* mine, Span rows, Span columns, Span depth,
                              const Left& left, const Right& right, const Finish& finish) {
  contract_products<T, N>(team, shared, mine, rows, 1, columns, depth, left, right, finish);
}
template <class T, int N>
struct CutOfProducts : Cut<Value<T>, Value<T>, Value<T>, N> {
  using Cut<Value<T>, Value<T>, Value<T>, N>::Cut;
};
template <int N>
struct CutOfProducts<BF16, N> : EitherCut<Cut<float, float, float, N>, CutOfWords<N, 2>> {
  using EitherCut<Cut<float, float, float, N>, CutOfWords<N, 2>>::EitherCut;
};
