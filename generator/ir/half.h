// The two half types as bits: conversion to and from double, rounding to nearest, ties to even. Rounding goes straight
// from the double, so there is never a second rounding on the way.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kgen {

namespace half_detail {

// `value` rounded to `bits` significant bits with the smallest exponent `min_exponent` (of the last bit of a denormal).
inline double round_significand(double value, int bits, int min_exponent) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent = std::ilogb(value) - (bits - 1);
  if (exponent < min_exponent)
    exponent = min_exponent;
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
}

} // namespace half_detail

inline double round_to_f16(double value) {
  double rounded = half_detail::round_significand(value, 11, -24);
  return std::fabs(rounded) > 65504 ? std::copysign(INFINITY, value) : rounded;
}

inline double round_to_bf16(double value) {
  float single = static_cast<float>(value);
  if (single == value) { // the common case: bodies compute in float
    uint32_t bits = std::bit_cast<uint32_t>(single);
    if (std::isfinite(single))
      bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    return std::bit_cast<float>(bits);
  }
  double rounded = half_detail::round_significand(value, 8, -133);
  return std::fabs(rounded) > 0x1.fep127 ? std::copysign(INFINITY, value) : rounded;
}

inline uint16_t f16_bits(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  double v = std::fabs(round_to_f16(value));
  if (std::isinf(v))
    return sign | 0x7c00;
  if (v < 0x1p-14)
    return sign | static_cast<uint16_t>(v * 0x1p24);
  int exponent = std::ilogb(v);
  return sign | static_cast<uint16_t>((exponent + 15) << 10) |
         static_cast<uint16_t>(std::ldexp(v, 10 - exponent) - 1024);
}

inline double f16_value(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = bits & 1023;
  double magnitude = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                     : exponent == 0 ? fraction * 0x1p-24
                                     : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

inline uint16_t bf16_bits(double value) {
  if (std::isnan(value))
    return std::signbit(value) ? 0xffc0 : 0x7fc0;
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(round_to_bf16(value))) >> 16);
}

inline double bf16_value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

} // namespace kgen
