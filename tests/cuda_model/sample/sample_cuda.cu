// Kernels written by hand in the form in which generated ones come. Each MUTATE_ macro breaks one rule of CUDA; the
// tests show that the model notices.
#include "sample.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#if defined(__CUDACC__)
static __device__ __forceinline__ unsigned char *shared_memory() {
  extern __shared__ __align__(128) unsigned char dynamic_shared[];
  return dynamic_shared;
}
#endif

namespace {

constexpr unsigned kAllLanes = 0xffffffffU;

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, void *stream,
                   Arguments... arguments) {
  if (shared_bytes > 48 * 1024) {
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
    if (error != cudaSuccess)
      return error;
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

constexpr int kAxpyThreads = 256;

__global__ void __launch_bounds__(kAxpyThreads)
    axpy_kernel(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z, float alpha, int64_t n,
                bool is_aligned) {
  int64_t i = (static_cast<int64_t>(blockIdx.x) * kAxpyThreads + threadIdx.x) * 4;
  if (is_aligned && i + 4 <= n) {
    float4 a = __ldcs(reinterpret_cast<const float4 *>(x + i));
    float4 b = __ldcs(reinterpret_cast<const float4 *>(y + i));
    float4 c;
    c.x = fmaf(alpha, a.x, b.x);
    c.y = fmaf(alpha, a.y, b.y);
    c.z = fmaf(alpha, a.z, b.z);
    c.w = fmaf(alpha, a.w, b.w);
    __stcs(reinterpret_cast<float4 *>(z + i), c);
    return;
  }
#ifdef MUTATE_TAIL_BOUND
  n += 4;
#endif
  for (int64_t end = i + 4 < n ? i + 4 : n; i < end; ++i)
    z[i] = fmaf(alpha, x[i], y[i]);
}

constexpr int kRowThreads = 128;
constexpr int kRowWarps = kRowThreads / 32;

__device__ double block_sum(double value, double *partial) {
  int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
#ifdef MUTATE_MISSING_LANE
  if (lane == 31)
    value = 0;
  else
#endif
    for (int offset = 16; offset > 0; offset /= 2)
#ifdef MUTATE_SHORT_MASK
      value += __shfl_xor_sync(lane < 16 ? 0x0000ffffU : 0xffff0000U, value, offset);
#else
    value += __shfl_xor_sync(kAllLanes, value, offset);
#endif
#ifdef MUTATE_UNWRITTEN_SLOT
  if (lane == 0 && warp > 0)
#else
  if (lane == 0)
#endif
    partial[warp] = value;
#ifndef MUTATE_NO_BARRIER
  __syncthreads();
#endif
  double total = 0;
  for (int w = 0; w < kRowWarps; ++w)
    total += partial[w];
#ifndef MUTATE_NO_SECOND_BARRIER
  __syncthreads();
#endif
  return total;
}

__global__ void __launch_bounds__(kRowThreads)
    row_sum_kernel(const float *__restrict__ x, double *__restrict__ s, int64_t M, int64_t N) {
  double *partial = reinterpret_cast<double *>(shared_memory());
  for (int64_t m = blockIdx.x; m < M; m += gridDim.x) {
    double value = 0;
    for (int64_t n = threadIdx.x; n < N; n += kRowThreads)
      value += static_cast<double>(__ldg(x + m * N + n));
    double total = block_sum(value, partial);
    if (threadIdx.x == 0)
      s[m] = total;
  }
}

constexpr int kTile = 32;
constexpr int kTileRows = 8;

__global__ void __launch_bounds__(kTile *kTileRows)
    transpose_kernel(const float *__restrict__ x, float *__restrict__ y, int64_t M, int64_t N) {
  float *tile = reinterpret_cast<float *>(shared_memory()); // kTile x (kTile + 1)
  int64_t m0 = static_cast<int64_t>(blockIdx.y) * kTile, n0 = static_cast<int64_t>(blockIdx.x) * kTile;
  int column = static_cast<int>(threadIdx.x);
#ifdef MUTATE_EARLY_RETURN
  if (n0 + column >= N)
    return;
#endif
  for (int row = static_cast<int>(threadIdx.y); row < kTile; row += kTileRows)
    if (m0 + row < M && n0 + column < N)
#if defined(MUTATE_SHARED_INDEX)
      tile[row * (kTile + 1) + column + kTile] = x[(m0 + row) * N + n0 + column];
#elif defined(MUTATE_SHARED_BEFORE)
      tile[row * (kTile + 1) + column - 1] = x[(m0 + row) * N + n0 + column];
#else
      tile[row * (kTile + 1) + column] = x[(m0 + row) * N + n0 + column];
#endif
#ifdef MUTATE_BRANCHED_BARRIER
  if (threadIdx.y == 0)
    __syncthreads();
  else
    __syncthreads();
#else
  __syncthreads();
#endif
  for (int row = static_cast<int>(threadIdx.y); row < kTile; row += kTileRows)
    if (n0 + row < N && m0 + column < M)
      y[(n0 + row) * M + m0 + column] = tile[column * (kTile + 1) + row];
}

constexpr int kMeanThreads = 256;
constexpr int64_t kMeanChunk = 2048;

// workspace: a ticket in the first 256 bytes, then one partial sum a block.
__global__ void __launch_bounds__(kMeanThreads)
    mean_kernel(const float *__restrict__ x, float *__restrict__ m, unsigned char *workspace, int64_t n) {
  float *slots = reinterpret_cast<float *>(shared_memory());
  unsigned *ticket = reinterpret_cast<unsigned *>(workspace);
  float *partial = reinterpret_cast<float *>(workspace + 256);
  int64_t begin = static_cast<int64_t>(blockIdx.x) * kMeanChunk;
  int64_t end = begin + kMeanChunk < n ? begin + kMeanChunk : n;
  float value = 0;
  for (int64_t i = begin + threadIdx.x; i < end; i += kMeanThreads)
    value += x[i];
  slots[threadIdx.x] = value;
  __syncthreads();
  for (unsigned width = kMeanThreads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width)
      slots[threadIdx.x] += slots[threadIdx.x + width];
    __syncthreads();
  }
  int is_last = 0;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = slots[0];
#ifndef MUTATE_NO_FENCE
    __threadfence();
#endif
    unsigned turn = atomicInc(ticket, gridDim.x - 1);
#ifdef MUTATE_BLOCK_ORDER
    turn = blockIdx.x;
#endif
    is_last = turn + 1 == gridDim.x;
  }
  if (!__syncthreads_or(is_last))
    return;
  if (threadIdx.x == 0) {
#ifndef MUTATE_NO_SECOND_FENCE
    __threadfence();
#endif
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
      total += __ldcg(partial + b);
    m[0] = total / static_cast<float>(n);
  }
}

constexpr int kColumnThreads = 64;

__global__ void column_mean_kernel(const uint16_t *__restrict__ x, float *__restrict__ mean, int64_t M, int64_t N) {
  int64_t n = static_cast<int64_t>(blockIdx.x) * kColumnThreads + threadIdx.x;
  if (n >= N)
    return;
  float total = 0;
#ifdef MUTATE_DEEP_STACK
  volatile float deep[100000] = {};
  total = deep[N];
#endif
  for (int64_t m = 0; m < M; ++m)
    total += __bfloat162float(__ushort_as_bfloat16(x[m * N + n]));
  mean[n] = total / static_cast<float>(M);
}

__global__ void centre_kernel(const uint16_t *__restrict__ x, const float *__restrict__ mean, float *__restrict__ z,
                              int64_t M, int64_t N) {
  int64_t i = static_cast<int64_t>(blockIdx.x) * kColumnThreads + threadIdx.x;
  if (i < M * N)
    z[i] = __bfloat162float(__ushort_as_bfloat16(x[i])) - mean[i % N];
}

// One private histogram a block in shared memory, so large that it needs the opt-in beyond 48 KB.
__global__ void histogram_kernel(const int32_t *__restrict__ x, int32_t *__restrict__ h, int64_t n, int64_t bins) {
  int *count = reinterpret_cast<int *>(shared_memory());
  for (int64_t b = threadIdx.x; b < bins; b += blockDim.x)
    count[b] = 0;
  __syncthreads();
  int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    if (x[i] >= 0 && x[i] < bins)
#ifdef MUTATE_NO_ATOMIC
      count[x[i]] += 1;
#else
      atomicAdd(count + x[i], 1);
#endif
  __syncthreads();
  for (int64_t b = threadIdx.x; b < bins; b += blockDim.x)
    if (count[b] != 0)
      atomicAdd(h + b, count[b]);
}

unsigned grid_of(int64_t items, int64_t a_block) { return static_cast<unsigned>((items + a_block - 1) / a_block); }

} // namespace

int sample_axpy_cuda(const float *x, const float *y, float *z, float alpha, int64_t n, void *stream) {
  if (n == 0)
    return 0;
#ifdef MUTATE_HOST_READS
  if (x[0] != x[0])
    return 1;
#endif
  bool is_aligned =
      (reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y) | reinterpret_cast<uintptr_t>(z)) % 16 == 0;
  return launch(axpy_kernel, grid_of(n, kAxpyThreads * 4), kAxpyThreads, 0, stream, x, y, z, alpha, n, is_aligned);
}

int sample_row_sum_cuda(const float *x, double *s, int64_t M, int64_t N, void *stream) {
  if (M == 0)
    return 0;
  unsigned blocks = static_cast<unsigned>(M < 3 ? M : 3);
  return launch(row_sum_kernel, blocks, kRowThreads, kRowWarps * sizeof(double), stream, x, s, M, N);
}

int sample_transpose_cuda(const float *x, float *y, int64_t M, int64_t N, void *stream) {
  if (M == 0 || N == 0)
    return 0;
  return launch(transpose_kernel, dim3(grid_of(N, kTile), grid_of(M, kTile)), dim3(kTile, kTileRows),
                kTile * (kTile + 1) * sizeof(float), stream, x, y, M, N);
}

int64_t sample_mean_workspace(int64_t n) { return 256 + static_cast<int64_t>(grid_of(n, kMeanChunk)) * 4; }

int sample_mean_cuda(const float *x, float *m, int64_t n, void *workspace, int64_t workspace_bytes, void *stream) {
  if (n <= 0 || workspace_bytes < sample_mean_workspace(n))
    return 1;
  cudaError_t error = cudaMemsetAsync(workspace, 0, 256, static_cast<cudaStream_t>(stream));
  if (error != cudaSuccess)
    return error;
  return launch(mean_kernel, grid_of(n, kMeanChunk), kMeanThreads, kMeanThreads * sizeof(float), stream, x, m,
                static_cast<unsigned char *>(workspace), n);
}

int64_t sample_centre_workspace(int64_t, int64_t N) { return N * 4; }

int sample_centre_cuda(const uint16_t *x, float *z, int64_t M, int64_t N, void *workspace, int64_t workspace_bytes,
                       void *stream) {
  if (M == 0 || N == 0)
    return 0;
  auto queue = static_cast<cudaStream_t>(stream);
  void *own = nullptr;
  if (!workspace) {
    workspace_bytes = sample_centre_workspace(M, N);
    cudaError_t error = cudaMallocAsync(&own, static_cast<size_t>(workspace_bytes), queue);
    if (error != cudaSuccess)
      return error;
    workspace = own;
  }
  auto mean = static_cast<float *>(workspace);
  cudaError_t error = cudaSuccess;
#ifdef MUTATE_NO_FIRST_LAUNCH
  if (M < 0)
#endif
    error = launch(column_mean_kernel, grid_of(N, kColumnThreads), kColumnThreads, 0, stream, x, mean, M, N);
  if (error == cudaSuccess)
    error = launch(centre_kernel, grid_of(M * N, kColumnThreads), kColumnThreads, 0, stream, x,
                   static_cast<const float *>(mean), z, M, N);
  if (own)
    cudaFreeAsync(own, queue);
  return error;
}

int sample_histogram_cuda(const int32_t *x, int32_t *h, int64_t n, int64_t bins, void *stream) {
  cudaError_t error =
      cudaMemsetAsync(h, 0, static_cast<size_t>(bins) * sizeof(int32_t), static_cast<cudaStream_t>(stream));
  if (error != cudaSuccess || n == 0)
    return error;
  return launch(histogram_kernel, 4, 96, static_cast<size_t>(bins) * sizeof(int), stream, x, h, n, bins);
}
