// Stand-in for the toolkit's header of this name: storage and conversions of half precision.
#pragma once

#include "cuda_runtime.h"

struct alignas(2) __half {
  unsigned short bits;
};

inline __half __ushort_as_half(unsigned short bits) { return __half{bits}; }
inline unsigned short __half_as_ushort(__half value) { return value.bits; }

inline float __half2float(__half value) {
  unsigned sign = (value.bits & 0x8000U) << 16, exponent = value.bits >> 10 & 31U, fraction = value.bits & 0x3ffU;
  if (exponent == 0) { // zero and subnormals: fraction * 2^-24 is exact
    float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign ? -magnitude : magnitude;
  }
  unsigned wide = exponent == 31 ? 255U : exponent + 112U;
  return __uint_as_float(sign | wide << 23 | fraction << 13);
}

// Nearest, ties to even; NaN becomes the canonical one, as the device's instruction has it.
inline __half __float2half_rn(float value) {
  unsigned bits = __float_as_uint(value), sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U)
    return __half{0x7fff};
  if (magnitude >= 0x477ff000U) // 65520, half way past the largest finite value
    return __half{static_cast<unsigned short>(sign | 0x7c00U)};
  if (magnitude < 0x38800000U) { // below 2^-14: the sum with 0.5 rounds at 2^-24, the subnormals' unit
    unsigned rounded = __float_as_uint(__uint_as_float(magnitude) + 0.5F) - __float_as_uint(0.5F);
    return __half{static_cast<unsigned short>(sign | rounded)};
  }
  unsigned rounded = magnitude + 0xfffU + (magnitude >> 13 & 1U);
  return __half{static_cast<unsigned short>(sign | ((rounded - 0x38000000U) >> 13))};
}
inline __half __float2half(float value) { return __float2half_rn(value); }
