// The model itself: sample kernels against host loops, what collectives give, the device's limits and conversions.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "check_samples.h"

namespace {

constexpr unsigned kAll = 0xffffffffU;

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// Kernels of these tests write to memory of the host, which the model lets them do.
template <class T> std::vector<T> results(size_t count) { return std::vector<T>(count, T(-7)); }

__global__ void shuffle_kernel(double *direct, long long *up, int *down, unsigned *crossed, int width) {
  unsigned i = threadIdx.x;
  direct[i] = __shfl_sync(kAll, 0.5 * i, 3, width);
  up[i] = __shfl_up_sync(kAll, static_cast<long long>(i) << 40, 2, width);
  down[i] = __shfl_down_sync(kAll, static_cast<int>(i), 5, width);
  crossed[i] = __shfl_xor_sync(kAll, i, 6, width);
}

__global__ void vote_kernel(unsigned *ballot, int *flags, int threshold) {
  int value = static_cast<int>(threadIdx.x) < threshold;
  unsigned all = __ballot_sync(kAll, value);
  int any = __any_sync(kAll, value), every = __all_sync(kAll, value);
  int block_or = __syncthreads_or(value), block_and = __syncthreads_and(value), count = __syncthreads_count(value);
  ballot[threadIdx.x] = all;
  flags[threadIdx.x] = any | every << 1 | block_or << 2 | block_and << 3 | count << 4;
}

// Even and odd lanes meet apart, under masks of their own.
__global__ void halves_kernel(int *sum) {
  int lane = static_cast<int>(threadIdx.x % 32), value = lane;
  unsigned mask = lane % 2 ? 0xaaaaaaaaU : 0x55555555U;
  for (int offset = 16; offset > 1; offset /= 2)
    value += __shfl_xor_sync(mask, value, offset);
  sum[threadIdx.x] = value + static_cast<int>(__reduce_max_sync(mask, static_cast<unsigned>(lane)));
}

__global__ void coordinates_kernel(int *visits, unsigned *seen) {
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  atomicAdd(visits + i, 1);
  seen[i] = __ballot_sync(__ballot_sync(kAll, 1), 1);
}

__global__ void atomics_kernel(int *i, unsigned *u, unsigned long long *w, float *f, double *d) {
  int value = static_cast<int>(threadIdx.x);
  atomicAdd(i, -value);
  atomicMax(i + 1, value);
  atomicMin(i + 2, value);
  atomicInc(u, 9);
  atomicAdd(w, 1ULL << 33);
  atomicMax(w + 1, 7ULL * threadIdx.x);
  atomicAdd(f, 0.5F);
  atomicAdd(d, 0.25);
  unsigned seen = u[1];
  while (true) {
    unsigned old = atomicCAS(u + 1, seen, seen + threadIdx.x);
    if (old == seen)
      break;
    seen = old;
  }
}

__global__ void poison_kernel(unsigned *first, unsigned *last) {
  auto words = reinterpret_cast<unsigned *>(shared_memory());
  first[blockIdx.x] = words[0];
  last[blockIdx.x] = words[(60 << 10) / 4 - 1];
  words[0] = 1;
}

__global__ void empty_kernel() {}

float half_value(unsigned bits) { return __half2float(__ushort_as_half(static_cast<unsigned short>(bits))); }

} // namespace

TEST_CASE("sample kernels agree with loops on the host at every kind of size") {
  for (int64_t n : {0, 1, 3, 4, 1023, 1024, 1025, 4092}) {
    CAPTURE(n);
    CHECK(check_axpy(n));
    CHECK((n == 0 || check_mean(n)));
    CHECK(check_histogram(n, 13));
  }
  for (int64_t m : {0, 1, 2, 31, 33})
    for (int64_t n : {0, 1, 32, 127, 129, 300}) {
      CAPTURE(m);
      CAPTURE(n);
      CHECK(check_row_sum(m, n));
      CHECK(check_transpose(m, n));
      CHECK(check_centre(m, n, false));
      CHECK(check_centre(m, n, true));
    }
  CHECK(check_mean(50000));
  CHECK(check_histogram(30000, 20000)); // 80 KB of shared memory
  CHECK(cuda_model_live_allocations() == 0);
}

TEST_CASE("shuffles give what the instruction set says, within segments of any width") {
  for (int width : {32, 16, 8}) {
    auto direct = results<double>(32);
    auto up = results<long long>(32);
    auto down = results<int>(32);
    auto crossed = results<unsigned>(32);
    REQUIRE(launch(shuffle_kernel, 1, 32, 0, direct.data(), up.data(), down.data(), crossed.data(), width) == 0);
    for (int i = 0; i < 32; ++i) {
      auto k = static_cast<size_t>(i);
      int start = i / width * width;
      CHECK(direct[k] == 0.5 * (start + 3));
      CHECK((up[k] >> 40) == (i - 2 >= start ? i - 2 : i));
      CHECK(down[k] == (i + 5 < start + width ? i + 5 : i));
      CHECK(static_cast<int>(crossed[k]) == (i ^ 6));
    }
  }
}

TEST_CASE("votes count the threads of the warp and of the block") {
  for (int threshold : {0, 1, 40, 64}) {
    auto ballot = results<unsigned>(64);
    auto flags = results<int>(64);
    REQUIRE(launch(vote_kernel, 1, 64, 0, ballot.data(), flags.data(), threshold) == 0);
    for (int i = 0; i < 64; ++i) {
      int here = std::min(32, std::max(0, threshold - i / 32 * 32));
      unsigned mask = here == 32 ? kAll : (1U << here) - 1;
      CHECK(ballot[static_cast<size_t>(i)] == mask);
      int want = (here > 0) | (here == 32) << 1 | (threshold > 0) << 2 | (threshold == 64) << 3 | threshold << 4;
      CHECK(flags[static_cast<size_t>(i)] == want);
    }
  }
}

TEST_CASE("parts of a warp meet apart under masks of their own") {
  auto sum = results<int>(64);
  REQUIRE(launch(halves_kernel, 1, 64, 0, sum.data()) == 0);
  for (size_t i = 0; i < 64; ++i)
    CHECK(sum[i] == (i % 2 ? 256 + 31 : 240 + 30));
}

TEST_CASE("every thread of a launch in three dimensions runs once") {
  auto visits = std::vector<int>(7 * 3 * 2 * 64, 0);
  auto seen = results<unsigned>(visits.size());
  REQUIRE(launch(coordinates_kernel, dim3(7, 3, 2), dim3(8, 4, 2), 0, visits.data(), seen.data()) == 0);
  for (size_t i = 0; i < visits.size(); ++i) {
    REQUIRE(visits[i] == 1);
    REQUIRE(seen[i] == kAll);
  }
}

TEST_CASE("atomics update and give the old value") {
  int i[3] = {0, -5, 5};
  unsigned u[2] = {0, 0};
  unsigned long long w[2] = {0, 0};
  float f = 0;
  double d = 0;
  REQUIRE(launch(atomics_kernel, 1, 95, 0, &i[0], &u[0], &w[0], &f, &d) == 0);
  CHECK(i[0] == -94 * 95 / 2);
  CHECK(i[1] == 94);
  CHECK(i[2] == 0);
  CHECK(u[0] == 95 % 10);
  CHECK(u[1] == 94 * 95 / 2);
  CHECK(w[0] == 95ULL << 33);
  CHECK(w[1] == 7 * 94);
  CHECK(f == 47.5F);
  CHECK(d == 23.75);
}

TEST_CASE("shared memory is poisoned for each block, and more than 48 KB must be asked for") {
  auto first = results<unsigned>(5), last = results<unsigned>(5);
  size_t bytes = 60 << 10;
  CHECK(launch(poison_kernel, 5, 1, bytes, first.data(), last.data()) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaFuncSetAttribute(poison_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10) ==
        cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(poison_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10) == cudaSuccess);
  REQUIRE(launch(poison_kernel, 5, 1, bytes, first.data(), last.data()) == cudaSuccess);
  CHECK(first == std::vector<unsigned>(5, kAll));
  CHECK(last == std::vector<unsigned>(5, kAll));
}

TEST_CASE("launches beyond the device's limits are refused") {
  CHECK(launch(empty_kernel, 1, 1024, 0) == cudaSuccess);
  for (dim3 grid : {dim3(0), dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000U)})
    CHECK(launch(empty_kernel, grid, 32, 0) == cudaErrorInvalidConfiguration);
  for (dim3 block : {dim3(0), dim3(1025), dim3(32, 33), dim3(1, 1, 65)})
    CHECK(launch(empty_kernel, 1, block, 0) == cudaErrorInvalidConfiguration);
  CHECK(launch(static_cast<void (*)()>(nullptr), 1, 1, 0) == cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
}

TEST_CASE("device memory: poison, bounds of copies, counts") {
  unsigned *data = nullptr, word = 0;
  REQUIRE(cudaMalloc(&data, 4000) == cudaSuccess);
  CHECK(reinterpret_cast<uintptr_t>(data) % 256 == 0);
  CHECK(cudaMemcpy(&word, data + 999, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(word == kAll);
  CHECK(cudaMemset(data, 0, 4001) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(&word, data + 999, 5, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(data, &word, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, data + 10);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  cudaPointerGetAttributes(&attributes, &word);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(cuda_model_live_allocations() == 1);
  CHECK(cudaFree(data) == cudaSuccess);
  CHECK(cudaFree(data) == cudaErrorInvalidValue);
  CHECK(cuda_model_live_allocations() == 0);
  void *huge = nullptr;
  CHECK(cudaMalloc(&huge, size_t{1} << 50) == cudaErrorMemoryAllocation);
  cudaGetLastError();
}

TEST_CASE("calls that wait, and streams that were not given, are counted") {
  cudaStream_t mine, other;
  cudaStreamCreate(&mine);
  cudaStreamCreate(&other);
  cuda_model_expect_stream(mine);
  int64_t waits = cuda_model_synchronizations(), foreign = cuda_model_foreign_streams();
  void *data = nullptr;
  cudaMallocAsync(&data, 64, mine);
  cudaMemsetAsync(data, 0, 64, mine);
  CHECK(cuda_model_synchronizations() == waits);
  CHECK(cuda_model_foreign_streams() == foreign);
  cudaFreeAsync(data, other);
  cudaStreamSynchronize(mine);
  CHECK(cuda_model_foreign_streams() == foreign + 1);
  CHECK(cuda_model_synchronizations() == waits + 1);
  cudaStreamDestroy(mine);
  cudaStreamDestroy(other);
  cuda_model_expect_stream(nullptr);
}

TEST_CASE("half precision: every value survives, and rounding is to nearest even") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    float value = half_value(bits);
    unsigned back = __half_as_ushort(__float2half_rn(value));
    REQUIRE(back == (std::isnan(value) ? 0x7fffU : bits));
    if ((bits & 0x7fff) >= 0x7bff)
      continue;
    double next = static_cast<double>(half_value(bits + 1)), middle = (static_cast<double>(value) + next) / 2;
    float tie = static_cast<float>(middle); // exact
    unsigned even = bits % 2 ? bits + 1 : bits;
    REQUIRE(__half_as_ushort(__float2half_rn(tie)) == even);
    REQUIRE(__half_as_ushort(__float2half_rn(std::nextafter(tie, value))) == bits);
    REQUIRE(__half_as_ushort(__float2half_rn(std::nextafter(tie, static_cast<float>(next)))) == bits + 1);
  }
  CHECK(half_value(0x3c00) == 1.0F);
  CHECK(half_value(0x0001) == 0x1p-24F);
  CHECK(__half_as_ushort(__float2half_rn(65519.9F)) == 0x7bff);
  CHECK(__half_as_ushort(__float2half_rn(65520.0F)) == 0x7c00);
  CHECK(__half_as_ushort(__float2half_rn(-0x1p-26F)) == 0x8000);
}

TEST_CASE("bfloat16: every value survives, and rounding is to nearest even") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    float value = __bfloat162float(__ushort_as_bfloat16(static_cast<unsigned short>(bits)));
    unsigned back = __bfloat16_as_ushort(__float2bfloat16_rn(value));
    REQUIRE(back == (std::isnan(value) ? 0x7fffU : bits));
    if ((bits & 0x7fff) >= 0x7f7f)
      continue;
    float tie = __uint_as_float(bits << 16 | 0x8000U);
    REQUIRE(__bfloat16_as_ushort(__float2bfloat16_rn(tie)) == (bits % 2 ? bits + 1 : bits));
    REQUIRE(__bfloat16_as_ushort(__float2bfloat16_rn(__uint_as_float(bits << 16 | 0x7fffU))) == bits);
    REQUIRE(__bfloat16_as_ushort(__float2bfloat16_rn(__uint_as_float(bits << 16 | 0x8001U))) == bits + 1);
  }
}

TEST_CASE("conversions to integers saturate") {
  CHECK(__float2int_rz(3e9F) == INT32_MAX);
  CHECK(__float2int_rz(-3e9F) == INT32_MIN);
  CHECK(__float2int_rz(NAN) == 0);
  CHECK(__float2int_rn(2.5F) == 2);
  CHECK(__float2int_ru(-2.5F) == -2);
  CHECK(__float2uint_rz(-1.0F) == 0);
  CHECK(__float2uint_rz(5e9F) == UINT32_MAX);
  CHECK(__double2ll_rz(1e19) == INT64_MAX);
  CHECK(__double2ll_rz(-1e19) == INT64_MIN);
  CHECK(__double2ull_rz(2e19) == UINT64_MAX);
  CHECK(__double2ull_rz(1e19) == 10000000000000000000U);
}

TEST_CASE("inverse functions undo the functions") {
  for (double x : {1e-300, 1e-10, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999999}) {
    CAPTURE(x);
    CHECK(erf(erfinv(x)) == doctest::Approx(x).epsilon(1e-15));
    CHECK(erfinv(-x) == -erfinv(x));
    CHECK(erfc(erfcinv(x)) == doctest::Approx(x).epsilon(4e-14 * std::max(1.0, -log(x))));
    CHECK(normcdf(normcdfinv(x)) == doctest::Approx(x).epsilon(4e-14 * std::max(1.0, -log(x))));
  }
  CHECK(erfinv(0.5) == doctest::Approx(0.47693627620446987).epsilon(1e-15));
  CHECK(erfcinv(1.5) == doctest::Approx(-0.47693627620446987).epsilon(1e-15));
  CHECK(std::isinf(erfinv(1.0)));
  CHECK(std::isnan(erfinv(1.5)));
  CHECK(sinpi(1e10 + 0.5) == 1.0);
  CHECK(cospi(0.5) == 0.0);
  CHECK(cospi(3.0) == -1.0);
  CHECK(sinpi(-0.25) == doctest::Approx(-M_SQRT1_2).epsilon(1e-15));
  CHECK(rsqrtf(4.0F) == 0.5F);
}

TEST_CASE("integer instructions") {
  CHECK(__umulhi(0xffffffffU, 0xffffffffU) == 0xfffffffeU);
  CHECK(__umul64hi(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
  CHECK(__mul24(0x00ffffff, 3) == -3);
  CHECK(__brev(1) == 0x80000000U);
  CHECK(__clz(1) == 31);
  CHECK(__clz(0) == 32);
  CHECK(__popcll(~0ULL) == 64);
  CHECK(__byte_perm(0x33221100U, 0x77665544U, 0x6420U) == 0x66442200U);
  CHECK(__funnelshift_l(0x80000000U, 1, 1) == 3);
  CHECK(__dp4a(static_cast<int>(0xff02fe01U), 0x01010101, 10) == 10 + 1 - 2 + 2 - 1);
  CHECK(__hiloint2double(__double2hiint(-2.75), __double2loint(-2.75)) == -2.75);
}
