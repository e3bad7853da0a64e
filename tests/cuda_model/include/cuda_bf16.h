// Stand-in for the toolkit's header of this name: storage and conversions of bfloat16.
#pragma once

#include "cuda_runtime.h"

struct alignas(2) __nv_bfloat16 {
  unsigned short bits;
};

inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16{bits}; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
inline float __bfloat162float(__nv_bfloat16 value) { return __uint_as_float(static_cast<unsigned>(value.bits) << 16); }

// Nearest, ties to even; NaN becomes the canonical one, as the device's instruction has it.
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U)
    return __nv_bfloat16{0x7fff};
  return __nv_bfloat16{static_cast<unsigned short>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16)};
}
inline __nv_bfloat16 __float2bfloat16(float value) { return __float2bfloat16_rn(value); }
