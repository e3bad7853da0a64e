// The sample kernels as plain loops.
#include "sample.h"

#include <cstring>
#include <vector>

namespace {

float widen(uint16_t half) {
  uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

} // namespace

int sample_axpy_openmp(const float *x, const float *y, float *z, float alpha, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    z[i] = alpha * x[i] + y[i];
  return 0;
}

int sample_row_sum_openmp(const float *x, double *s, int64_t M, int64_t N) {
  for (int64_t m = 0; m < M; ++m) {
    s[m] = 0;
    for (int64_t n = 0; n < N; ++n)
      s[m] += static_cast<double>(x[m * N + n]);
  }
  return 0;
}

int sample_transpose_openmp(const float *x, float *y, int64_t M, int64_t N) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      y[n * M + m] = x[m * N + n];
  return 0;
}

int sample_mean_openmp(const float *x, float *m, int64_t n) {
  if (n <= 0)
    return 1;
  double total = 0;
  for (int64_t i = 0; i < n; ++i)
    total += static_cast<double>(x[i]);
  m[0] = static_cast<float>(total / static_cast<double>(n));
  return 0;
}

int sample_centre_openmp(const uint16_t *x, float *z, int64_t M, int64_t N) {
  std::vector<float> mean(static_cast<size_t>(N), 0.0F);
  for (int64_t i = 0; i < M * N; ++i)
    mean[static_cast<size_t>(i % N)] += widen(x[i]);
  for (int64_t i = 0; i < M * N; ++i)
    z[i] = widen(x[i]) - mean[static_cast<size_t>(i % N)] / static_cast<float>(M);
  return 0;
}

int sample_histogram_openmp(const int32_t *x, int32_t *h, int64_t n, int64_t bins) {
  for (int64_t b = 0; b < bins; ++b)
    h[b] = 0;
  for (int64_t i = 0; i < n; ++i)
    if (x[i] >= 0 && x[i] < bins)
      ++h[x[i]];
  return 0;
}
