// Per-thread intrinsics: cached loads and stores, bit casts, integer instructions, rounded arithmetic and conversions.
#pragma once

#include <math.h>
#include <string.h>
#include <type_traits>

#include "model.h"

namespace cuda_model {

template <class To, class From> To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
template <class T> T load(const T *address) {
  static_assert(!std::is_same_v<T, bool> && !std::is_pointer_v<T>, "the toolkit has no such overload");
  check_aligned(address, sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0 ? sizeof(T) : alignof(T));
  return *address;
}
template <class T> void store(T *address, T value) {
  static_assert(!std::is_same_v<T, bool> && !std::is_pointer_v<T>, "the toolkit has no such overload");
  check_aligned(address, sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0 ? sizeof(T) : alignof(T));
  *address = value;
}
// Conversions to integers saturate and take NaN to 0.
template <class To, class From> To saturate_to(From value) {
  if (value != value)
    return 0;
  constexpr bool kSigned = std::is_signed_v<To>;
  constexpr int kBits = static_cast<int>(sizeof(To) * 8) - (kSigned ? 1 : 0);
  const From limit = static_cast<From>(ldexp(1.0, kBits));
  if (value >= limit)
    return static_cast<To>(~To(0)) < To(0) ? static_cast<To>(~(To(1) << kBits)) : static_cast<To>(~To(0));
  if (value < (kSigned ? -limit : From(0)))
    return kSigned ? static_cast<To>(To(1) << (kBits & (static_cast<int>(sizeof(To) * 8) - 1))) : To(0);
  return static_cast<To>(value);
}

} // namespace cuda_model

template <class T> T __ldg(const T *address) { return cuda_model::load(address); }
template <class T> T __ldcs(const T *address) { return cuda_model::load(address); }
template <class T> T __ldcg(const T *address) { return cuda_model::load(address); }
template <class T> T __ldca(const T *address) { return cuda_model::load(address); }
template <class T> T __ldlu(const T *address) { return cuda_model::load(address); }
template <class T> T __ldcv(const T *address) { return cuda_model::load(address); }
// The value does not take part in deduction, as with the toolkit's overloads.
template <class T> void __stcs(T *address, std::common_type_t<T> value) { cuda_model::store<T>(address, value); }
template <class T> void __stcg(T *address, std::common_type_t<T> value) { cuda_model::store<T>(address, value); }
template <class T> void __stwb(T *address, std::common_type_t<T> value) { cuda_model::store<T>(address, value); }
template <class T> void __stwt(T *address, std::common_type_t<T> value) { cuda_model::store<T>(address, value); }

inline int __float_as_int(float v) { return cuda_model::bit_cast<int>(v); }
inline unsigned __float_as_uint(float v) { return cuda_model::bit_cast<unsigned>(v); }
inline float __int_as_float(int v) { return cuda_model::bit_cast<float>(v); }
inline float __uint_as_float(unsigned v) { return cuda_model::bit_cast<float>(v); }
inline long long __double_as_longlong(double v) { return cuda_model::bit_cast<long long>(v); }
inline double __longlong_as_double(long long v) { return cuda_model::bit_cast<double>(v); }
inline int __double2hiint(double v) { return static_cast<int>(__double_as_longlong(v) >> 32); }
inline int __double2loint(double v) { return static_cast<int>(__double_as_longlong(v)); }
inline double __hiloint2double(int hi, int lo) {
  return cuda_model::bit_cast<double>(static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32 |
                                      static_cast<unsigned>(lo));
}

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz(static_cast<unsigned>(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(static_cast<unsigned long long>(v)) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned __brev(unsigned v) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i)
    r |= (v >> i & 1U) << (31 - i);
  return r;
}
inline unsigned long long __brevll(unsigned long long v) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(v))) << 32 |
         __brev(static_cast<unsigned>(v >> 32));
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i)
    r |= static_cast<unsigned>(bytes >> (8 * (selector >> (4 * i) & 7U)) & 0xffU) << (8 * i);
  return r;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31U) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31U));
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) {
  auto low24 = [](int v) { return static_cast<int>(static_cast<unsigned>(v) << 8) >> 8; };
  return static_cast<int>(static_cast<unsigned>(low24(a)) * static_cast<unsigned>(low24(b)));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffU) * (b & 0xffffffU); }
inline int __dp4a(int a, int b, int c) {
  auto byte = [](int v, int i) { return static_cast<int>(static_cast<signed char>(v >> (8 * i))); };
  int sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += byte(a, i) * byte(b, i);
  return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(sum));
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i)
    c += (a >> (8 * i) & 0xffU) * (b >> (8 * i) & 0xffU);
  return c;
}

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __frcp_rn(float a) { return 1.0F / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return sqrt(a); }

// __FROM2TO_MODE(value); rn takes halves to even, rz truncates, rd and ru are floor and ceil.
#define CUDA_MODEL_TO_INTEGER(from, From, to, To)                                                                      \
  inline To __##from##2##to##_rn(From v) { return cuda_model::saturate_to<To>(rint(v)); }                              \
  inline To __##from##2##to##_rz(From v) { return cuda_model::saturate_to<To>(trunc(v)); }                             \
  inline To __##from##2##to##_rd(From v) { return cuda_model::saturate_to<To>(floor(v)); }                             \
  inline To __##from##2##to##_ru(From v) { return cuda_model::saturate_to<To>(ceil(v)); }
CUDA_MODEL_TO_INTEGER(float, float, int, int)
CUDA_MODEL_TO_INTEGER(float, float, uint, unsigned)
CUDA_MODEL_TO_INTEGER(float, float, ll, long long)
CUDA_MODEL_TO_INTEGER(float, float, ull, unsigned long long)
CUDA_MODEL_TO_INTEGER(double, double, int, int)
CUDA_MODEL_TO_INTEGER(double, double, uint, unsigned)
CUDA_MODEL_TO_INTEGER(double, double, ll, long long)
CUDA_MODEL_TO_INTEGER(double, double, ull, unsigned long long)
#undef CUDA_MODEL_TO_INTEGER
inline float __int2float_rn(int v) { return static_cast<float>(v); }
inline float __uint2float_rn(unsigned v) { return static_cast<float>(v); }
inline float __ll2float_rn(long long v) { return static_cast<float>(v); }
inline float __ull2float_rn(unsigned long long v) { return static_cast<float>(v); }
inline double __int2double_rn(int v) { return v; }
inline double __uint2double_rn(unsigned v) { return v; }
inline double __ll2double_rn(long long v) { return static_cast<double>(v); }
inline double __ull2double_rn(unsigned long long v) { return static_cast<double>(v); }
inline float __double2float_rn(double v) { return static_cast<float>(v); }

[[noreturn]] inline void __trap() { cuda_model::fail(cuda_model::Fault::kOutOfBounds, "__trap"); }
// Shared memory as instructions address it: an offset, not a pointer.
inline size_t __cvta_generic_to_shared(const void *address) { return cuda_model::shared_offset(address); }
