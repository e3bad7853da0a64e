// Inverse error functions: a start from the leading behaviour, then Halley steps on erfc, which keeps its relative
// precision in the tail.
#include "cuda_model/math.h"

namespace cuda_model {
namespace {

// Solves erfc(x) = y for 0 < y <= 1.
double inverse_erfc_tail(double y) {
  double t = sqrt(-2.0 * log(y / 2.0)); // the classic rational start for the normal quantile
  double x = (t - (2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481))) * M_SQRT1_2;
  for (int step = 0; step < 3; ++step) {
    double error = erfc(x) - y;
    double slope = M_2_SQRTPI * exp(-x * x);
    x += error / (slope - x * error);
  }
  return x;
}

// Solves erf(x) = y for |y| <= 1/2, where erf itself is the better conditioned of the two.
double inverse_erf_centre(double y) {
  double x = y / M_2_SQRTPI;
  for (int step = 0; step < 4; ++step) {
    double error = erf(x) - y;
    double slope = M_2_SQRTPI * exp(-x * x);
    x -= error / (slope + x * error);
  }
  return x;
}

} // namespace

double inverse_erf(double x) {
  if (!(fabs(x) <= 1.0))
    return NAN;
  if (fabs(x) == 1.0)
    return copysign(INFINITY, x);
  if (fabs(x) <= 0.5)
    return x == 0.0 ? x : inverse_erf_centre(x);
  return copysign(inverse_erfc_tail(1.0 - fabs(x)), x);
}

double inverse_erfc(double x) {
  if (!(x >= 0.0 && x <= 2.0))
    return NAN;
  if (x == 0.0 || x == 2.0)
    return x == 0.0 ? INFINITY : -INFINITY;
  if (x >= 0.5 && x <= 1.5)
    return inverse_erf(1.0 - x);
  return x < 1.0 ? inverse_erfc_tail(x) : -inverse_erfc_tail(2.0 - x);
}

} // namespace cuda_model
