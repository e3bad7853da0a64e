// The maths functions of emitted OpenMP code, straight from the templates, over whole arrays. Compiled once for each
// compiler and machine that the driver compares; BUILD is the name of the build.
#include "maths.h"
#include "openmp/omp.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

#define FUNCTION inline
#define EXP_F32 std::exp
#define EXP_F64 std::exp
#include "common/helpers.h"
#include "openmp/helpers.h"
#include "openmp/lanes.h"
#include "openmp/memory.h"

#include "openmp/extremes.h"
#include "openmp/maths.h"

#include "openmp/maths_in_doubles.h"

constexpr int lanes_for(size_t bytes, bool beside_f64) { return kVectorBytes / int(beside_f64 ? 8 : bytes); }

template <int N, class T, class Function> void over(const T *x, T *out, int64_t count, Function function) {
  for_lanes<N>(0, count,
               [&](int64_t i, auto active) { store(&out[i], active, Lanes<T, N>(function(load(&x[i], active)))); });
}

template <int N, class T, class Function> void over(const T *x, const T *y, T *out, int64_t count, Function function) {
  for_lanes<N>(0, count, [&](int64_t i, auto active) {
    store(&out[i], active, Lanes<T, N>(function(load(&x[i], active), load(&y[i], active))));
  });
}

template <int N, class T> void one(Maths which, const T *x, T *out, int64_t count) {
  switch (which) {
#define X(name)                                                                                                        \
  case Maths::name:                                                                                                    \
    return over<N>(x, out, count, [](auto v) { return name(v); });
    MATHS_ONE(X)
#undef X
  default:
    return;
  }
}

template <int N, class T> void two(Maths which, const T *x, const T *y, T *out, int64_t count) {
  switch (which) {
#define X(name)                                                                                                        \
  case Maths::name:                                                                                                    \
    return over<N>(x, y, out, count, [](auto v, auto w) { return name(v, w); });
    MATHS_TWO(X)
#undef X
  default:
    return;
  }
}

template <class T> void any_one(Maths which, const T *x, T *out, int64_t count, bool beside_f64) {
  if (beside_f64)
    one<lanes_for(sizeof(T), true)>(which, x, out, count);
  else
    one<lanes_for(sizeof(T), false)>(which, x, out, count);
}

template <class T> void any_two(Maths which, const T *x, const T *y, T *out, int64_t count, bool beside_f64) {
  if (beside_f64)
    two<lanes_for(sizeof(T), true)>(which, x, y, out, count);
  else
    two<lanes_for(sizeof(T), false)>(which, x, y, out, count);
}

} // namespace

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
extern const MathsBuild BUILD;
const MathsBuild BUILD = {TEXT(BUILD), any_one<float>, any_one<double>, any_two<float>, any_two<double>};
