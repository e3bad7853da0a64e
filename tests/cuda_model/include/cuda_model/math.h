// Maths that device code has and <cmath> lacks. Each is computed in double, so it is at least as exact as the device's.
#pragma once

#include <math.h>
#include <stdlib.h>

// Newer C libraries declare some of these themselves.
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 41)
#define CUDA_MODEL_LIBC_HAS_SINPI 1
#endif
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 42)
#define CUDA_MODEL_LIBC_HAS_RSQRT 1
#endif

namespace cuda_model {
double inverse_erf(double x);
double inverse_erfc(double x);
} // namespace cuda_model

#ifndef CUDA_MODEL_LIBC_HAS_RSQRT
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline float rsqrt(float x) { return rsqrtf(x); }
#endif
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rcbrtf(float x) { return static_cast<float>(1.0 / cbrt(static_cast<double>(x))); }
inline double erfinv(double x) { return cuda_model::inverse_erf(x); }
inline float erfinvf(float x) { return static_cast<float>(cuda_model::inverse_erf(x)); }
inline float erfinv(float x) { return erfinvf(x); }
inline double erfcinv(double x) { return cuda_model::inverse_erfc(x); }
inline float erfcinvf(float x) { return static_cast<float>(cuda_model::inverse_erfc(x)); }
inline double erfcx(double x) { return exp(x * x) * erfc(x); }
inline float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
inline double normcdfinv(double x) { return -M_SQRT2 * cuda_model::inverse_erfc(2.0 * x); }
inline float normcdfinvf(float x) { return static_cast<float>(normcdfinv(static_cast<double>(x))); }

#ifndef CUDA_MODEL_LIBC_HAS_SINPI
// Exact at multiples of one half, as the standard asks of these functions.
inline double sinpi(double x) {
  double r = fmod(fabs(x), 2.0);
  double sign = x < 0 ? -1.0 : 1.0;
  if (r >= 1.0) {
    r -= 1.0;
    sign = -sign;
  }
  if (r > 0.5)
    r = 1.0 - r;
  return r == 0.0 ? copysign(0.0, x) : sign * (r <= 0.25 ? sin(M_PI * r) : cos(M_PI * (0.5 - r)));
}
inline double cospi(double x) {
  double r = fmod(fabs(x), 2.0);
  if (r > 1.0)
    r = 2.0 - r;
  double sign = r > 0.5 ? -1.0 : 1.0;
  if (r > 0.5)
    r = 1.0 - r;
  return r == 0.5 ? 0.0 : sign * (r <= 0.25 ? cos(M_PI * r) : sin(M_PI * (0.5 - r)));
}
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
#endif
inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
#if !defined(__GLIBC__)
inline double exp10(double x) { return pow(10.0, x); }
inline float exp10f(float x) { return static_cast<float>(pow(10.0, static_cast<double>(x))); }
inline void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
inline void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
#endif
inline float fdividef(float a, float b) { return a / b; }
inline double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
inline float norm3df(float a, float b, float c) { return static_cast<float>(norm3d(a, b, c)); }
inline double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
inline float rhypotf(float a, float b) { return static_cast<float>(rhypot(a, b)); }

// The fast forms, here without their error.
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline float __saturatef(float x) { return x > 0.0F ? (x < 1.0F ? x : 1.0F) : 0.0F; }

// min and max are global in device code, with these overloads; of floats they give the number when one side is NaN.
#define CUDA_MODEL_MIN_MAX(A, B, R)                                                                                    \
  inline R min(A a, B b) {                                                                                             \
    R x = static_cast<R>(a), y = static_cast<R>(b);                                                                    \
    return x < y ? x : y;                                                                                              \
  }                                                                                                                    \
  inline R max(A a, B b) {                                                                                             \
    R x = static_cast<R>(a), y = static_cast<R>(b);                                                                    \
    return x < y ? y : x;                                                                                              \
  }
#define CUDA_MODEL_MIN_MAX_SIGNS(S)                                                                                    \
  CUDA_MODEL_MIN_MAX(S, S, S)                                                                                          \
  CUDA_MODEL_MIN_MAX(unsigned S, unsigned S, unsigned S)                                                               \
  CUDA_MODEL_MIN_MAX(S, unsigned S, unsigned S)                                                                        \
  CUDA_MODEL_MIN_MAX(unsigned S, S, unsigned S)
CUDA_MODEL_MIN_MAX_SIGNS(int)
CUDA_MODEL_MIN_MAX_SIGNS(long)
CUDA_MODEL_MIN_MAX_SIGNS(long long)
#undef CUDA_MODEL_MIN_MAX_SIGNS
#undef CUDA_MODEL_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(static_cast<double>(a), b); }
inline double min(double a, float b) { return fmin(a, static_cast<double>(b)); }
inline double max(float a, double b) { return fmax(static_cast<double>(a), b); }
inline double max(double a, float b) { return fmax(a, static_cast<double>(b)); }
