// C interface of the sample kernels, in the form that generated headers have: each function for CUDA and for the host,
// with a line that describes its arguments to scripts.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// z = alpha * x + y, over n elements.
/* @function sample_axpy args: in x f32 [n]; in y f32 [n]; out z f32 [n]; scalar alpha f32; size n */
int sample_axpy_openmp(const float *x, const float *y, float *z, float alpha, int64_t n);
int sample_axpy_cuda(const float *x, const float *y, float *z, float alpha, int64_t n, void *stream);

// s[m] = sum of x[m, :].
/* @function sample_row_sum args: in x f32 [M, N]; out s f64 [M]; size M; size N */
int sample_row_sum_openmp(const float *x, double *s, int64_t M, int64_t N);
int sample_row_sum_cuda(const float *x, double *s, int64_t M, int64_t N, void *stream);

// y[n, m] = x[m, n].
/* @function sample_transpose args: in x f32 [M, N]; out y f32 [N, M]; size M; size N */
int sample_transpose_openmp(const float *x, float *y, int64_t M, int64_t N);
int sample_transpose_cuda(const float *x, float *y, int64_t M, int64_t N, void *stream);

// m[0] = mean of x, through partial sums and the last block to finish; a status for no elements.
/* @function sample_mean args: in x f32 [n]; out m f32 []; size n; workspace workspace */
int sample_mean_openmp(const float *x, float *m, int64_t n);
int sample_mean_cuda(const float *x, float *m, int64_t n, void *workspace, int64_t workspace_bytes, void *stream);
int64_t sample_mean_workspace(int64_t n);

// z = x - mean of x's column, in two launches with the means in between.
/* @function sample_centre args: in x bf16 [M, N]; out z f32 [M, N]; size M; size N; workspace workspace */
int sample_centre_openmp(const uint16_t *x, float *z, int64_t M, int64_t N);
int sample_centre_cuda(const uint16_t *x, float *z, int64_t M, int64_t N, void *workspace, int64_t workspace_bytes,
                       void *stream);
int64_t sample_centre_workspace(int64_t M, int64_t N);

// h[b] = number of elements of x equal to b; values outside 0 .. bins - 1 count nowhere.
/* @function sample_histogram args: in x i32 [n]; out h i32 [bins]; size n; size bins */
int sample_histogram_openmp(const int32_t *x, int32_t *h, int64_t n, int64_t bins);
int sample_histogram_cuda(const int32_t *x, int32_t *h, int64_t n, int64_t bins, void *stream);

#ifdef __cplusplus
}
#endif
