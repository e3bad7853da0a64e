//@ longest_row
// The length of the longest packed row.
template <class T>
inline int64_t longest_row(const T* starts, int64_t rows, int64_t) {
  int64_t longest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t length = int64_t(starts[row + 1]) - starts[row];
    longest = length > longest ? length : longest;
  }
  return longest;
}
//@ from_bf16
inline float from_bf16(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float out;
  memcpy(&out, &wide, sizeof out);
  return out;
}
//@ to_bf16
// Round to nearest even.
inline uint16_t to_bf16(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t((bits >> 16) | 0x40u);
  return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
//@ from_f16
// A NaN becomes quiet, as by the instruction.
inline float from_f16(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000u) << 16, rest = half & 0x7fffu;
  uint32_t bits;
  if (rest >= 0x7c00u) {
    bits = 0x7f800000u | ((rest & 0x3ffu) << 13) | (rest > 0x7c00u ? 0x400000u : 0u);
  } else if (rest >= 0x0400u) {
    bits = (rest << 13) + 0x38000000u;
  } else {
    const float small = float(rest) * (1.0f / 16777216.0f);
    memcpy(&bits, &small, sizeof bits);
  }
  bits |= sign;
  float out;
  memcpy(&out, &bits, sizeof out);
  return out;
}
//@ to_f16
// Round to nearest even.
inline uint16_t to_f16(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  const uint32_t sign = (bits >> 16) & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return uint16_t(sign | 0x7e00u);
  if (rest >= 0x477ff000u) return uint16_t(sign | 0x7c00u);
  if (rest < 0x38800000u) {
    float magnitude;
    memcpy(&magnitude, &rest, sizeof magnitude);
    const float shifted = magnitude + 0.5f;  // the last bit of 0.5 is that of the smallest half
    uint32_t rounded;
    memcpy(&rounded, &shifted, sizeof rounded);
    return uint16_t(sign | (rounded - 0x3f000000u));
  }
  return uint16_t(sign | ((rest - 0x38000000u + 0x0fffu + ((rest >> 13) & 1u)) >> 13));
}
//@ rsqrt
template <class T>
inline T rsqrt(T v) {
  return T(1) / std::sqrt(v);
}
//@ erfinv
// Winitzki's approximation, and Halley's steps on erf, or on erfc where erf has no digits left.
template <class T>
inline T erfinv(T x) {
  const double size = std::fabs(double(x));
  if (!(size < 1)) return size == 1 ? x * T(INFINITY) : T(NAN);
  const double w = -std::log1p(-size * size), term = 4.3307467507998625 - w / 2;
  double y = std::sqrt(std::sqrt(term * term + w / 0.147) - term);
  for (int step = 0; step < 3; ++step) {
    const double error = size < 0.5 ? std::erf(y) - size : (1 - size) - std::erfc(y);
    const double newton = error / (1.1283791670955126 * std::exp(-y * y));
    y -= newton / (1 + y * newton);
  }
  return T(size < 1e-8 ? double(x) * 0.886226925452758 : x < T(0) ? -y : y);
}
//@ atomic_add
// Adds to an element that several threads may add to.
template <class T, class V>
inline void atomic_add(T* place, V value) {
  if constexpr (std::is_floating_point_v<T>) {
    OMP(omp atomic)
    *place += T(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (value) __atomic_store_n(place, true, __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_add(place, T(value), __ATOMIC_RELAXED);
  }
}
//@ atomic_add_bf16: from_bf16 to_bf16
// The sum is rounded each time, as it is stored.
inline void atomic_add_bf16(uint16_t* place, float value) {
  uint16_t old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, to_bf16(from_bf16(old) + value), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
}
//@ atomic_add_f16: from_f16 to_f16
// The sum is rounded each time, as it is stored.
inline void atomic_add_f16(uint16_t* place, float value) {
  uint16_t old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, to_f16(from_f16(old) + value), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
}
//@ thread_number
inline int64_t thread_number() {
#if defined(_OPENMP)
  return omp_get_thread_num();
#else
  return 0;
#endif
}
//@ thread_count
inline int64_t thread_count() {
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}
//@ columns_of: smaller larger
// The columns that a thread takes at once, where each keeps so many bytes in the cache: whole lines, at most
// `most`.
inline int64_t columns_of(int64_t bytes, int64_t most) {
  constexpr int64_t kNear = 1 << 19, kLeast = 64;
  return larger(kLeast, smaller(most, kNear / larger(1, bytes) / kLeast * kLeast));
}
//@ share_of: thread_count larger
// The columns that a thread takes at once: whole lines, at most `most`, all parts alike, and enough of them
// for all threads.
inline int64_t share_of(int64_t columns, int64_t rows, int64_t most) {
  constexpr int64_t kLine = 16;
  const int64_t threads = thread_count(), all = larger(1, rows);
  const int64_t parts = larger(1, larger((columns + most - 1) / most, (threads + all - 1) / all));
  return larger(1, ((columns + kLine - 1) / kLine + parts - 1) / parts) * kLine;
}
// The same where as many columns lie on the stack.
template <int64_t kMost>
inline int64_t share_of(int64_t columns, int64_t rows) {
  static_assert(kMost > 0 && kMost % 16 == 0, "a part of whole lines must fit");
  return share_of(columns, rows, kMost);
}
//@ product_of
// Of sizes; it may be more than 64 bits can count.
template <class... Size>
inline double product_of(Size... sizes) {
  return (1.0 * ... * double(sizes));
}
//@ in_parallel
// Runs the work on each thread of a team, if it is much and there are several; else here. (The work is a
// function of this set of instructions; what stands in a parallel region itself may not be.) Its loops belong
// to a team of their own even where the caller is one of a team, whose other threads have other calls.
template <class Work>
inline void in_parallel([[maybe_unused]] bool much, const Work& work) {
#if defined(_OPENMP)
  if ((!much || omp_get_max_threads() == 1) && omp_get_level() == 0) return work();
#endif
  OMP(omp parallel if (much))
  work();
}
template <class Work>
inline void in_parallel(const Work& work) {
  in_parallel(true, work);
}
//@ in_team
// The same for at most so many threads, which is what there is memory for.
template <class Work>
inline void in_team([[maybe_unused]] bool much, [[maybe_unused]] int64_t threads, const Work& work) {
#if defined(_OPENMP)
  if ((!much || threads == 1) && omp_get_level() == 0) return work();
#endif
  OMP(omp parallel if (much) num_threads(int(threads)))
  work();
}
//@ maximum
// NaN where either is NaN; of equals the first.
template <class T>
FUNCTION T maximum(T a, T b) {
  return b > a || b != b ? b : a;
}
//@ minimum
// NaN where either is NaN; of equals the first.
template <class T>
FUNCTION T minimum(T a, T b) {
  return b < a || b != b ? b : a;
}
//@ clamp: maximum minimum
template <class T>
FUNCTION T clamp(T v, T low, T high) {
  return minimum(maximum(v, low), high);
}
