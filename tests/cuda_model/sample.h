// C interface of the sample kernels in sample.cu, in the form that generated headers have.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// z = alpha * x + y, over n elements.
int sample_axpy_cuda(const float *x, const float *y, float *z, float alpha, int64_t n, void *stream);
// s[m] = sum of x[m, :].
int sample_row_sum_cuda(const float *x, double *s, int64_t M, int64_t N, void *stream);
// y[n, m] = x[m, n].
int sample_transpose_cuda(const float *x, float *y, int64_t M, int64_t N, void *stream);
// m[0] = mean of x, through partial sums and the last block to finish.
int sample_mean_cuda(const float *x, float *m, int64_t n, void *workspace, int64_t workspace_bytes, void *stream);
int64_t sample_mean_workspace(int64_t n);
// z = x - mean of x's column, in two launches with the means in between.
int sample_centre_cuda(const uint16_t *x, float *z, int64_t M, int64_t N, void *workspace, int64_t workspace_bytes,
                       void *stream);
int64_t sample_centre_workspace(int64_t M, int64_t N);
// h[b] = number of elements of x equal to b; values outside 0 .. bins - 1 count nowhere.
int sample_histogram_cuda(const int32_t *x, int32_t *h, int64_t n, int64_t bins, void *stream);

#ifdef __cplusplus
}
#endif
