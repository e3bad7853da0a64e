// What each build of the maths functions offers to the driver: the functions of the templates over arrays, by number.
#pragma once

#include <cstdint>

// One row a function of one argument, and of two.
// clang-format off
#define MATHS_ONE(X) \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log1p) X(sqrt) X(rsqrt) X(cbrt) X(sin) X(cos) X(tan) X(sinh) X(cosh) \
  X(tanh) X(sigmoid) X(erf) X(erfinv) X(floor) X(ceil) X(round) X(trunc)
#define MATHS_TWO(X) X(pow) X(atan2)
// clang-format on

enum class Maths {
#define X(name) name,
  MATHS_ONE(X) MATHS_TWO(X)
#undef X
};

// `beside_f64`: on vectors of half the width, as in a loop that has f64 as well.
template <class T> using OneArgument = void (*)(Maths function, const T *x, T *out, int64_t count, bool beside_f64);
template <class T>
using TwoArguments = void (*)(Maths function, const T *x, const T *y, T *out, int64_t count, bool beside_f64);

struct MathsBuild {
  const char *name;
  OneArgument<float> one_f32;
  OneArgument<double> one_f64;
  TwoArguments<float> two_f32;
  TwoArguments<double> two_f64;
};
