// The host's side of the samples' tests; see check_samples.h.
#include "check_samples.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "sample/sample.h"

namespace {

template <class T> class OnDevice {
public:
  explicit OnDevice(size_t count) : count_(count) { cudaMalloc(&data_, bytes()); }
  explicit OnDevice(const std::vector<T> &values) : OnDevice(values.size()) {
    cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice);
  }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  ~OnDevice() { cudaFree(data_); }
  T *data() { return data_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost);
    return values;
  }

private:
  size_t bytes() const { return count_ * sizeof(T); }
  size_t count_;
  T *data_ = nullptr;
};

// Small integers: sums of them are exact in any order.
template <class T> std::vector<T> integers(int64_t count, int modulus) {
  std::vector<T> values(static_cast<size_t>(count));
  uint64_t state = static_cast<uint64_t>(count) + 17;
  for (T &v : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    v = static_cast<T>(static_cast<int>(state >> 33) % modulus - modulus / 2);
  }
  return values;
}

template <class T> bool equal(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && (a.empty() || memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

size_t at(int64_t i) { return static_cast<size_t>(i); }

} // namespace

bool check_axpy(int64_t n) {
  auto x = integers<float>(n, 100), y = integers<float>(n, 37);
  std::vector<float> want(at(n));
  for (size_t i = 0; i < at(n); ++i)
    want[i] = 3.0F * x[i] + y[i];
  OnDevice<float> dx(x), dy(y), dz(at(n));
  return sample_axpy_cuda(dx.data(), dy.data(), dz.data(), 3.0F, n, nullptr) == 0 && equal(dz.read(), want);
}

bool check_row_sum(int64_t M, int64_t N) {
  auto x = integers<float>(M * N, 100);
  std::vector<double> want(at(M), 0.0);
  for (int64_t i = 0; i < M * N; ++i)
    want[at(i / N)] += static_cast<double>(x[at(i)]);
  OnDevice<float> dx(x);
  OnDevice<double> ds(at(M));
  return sample_row_sum_cuda(dx.data(), ds.data(), M, N, nullptr) == 0 && equal(ds.read(), want);
}

bool check_transpose(int64_t M, int64_t N) {
  auto x = integers<float>(M * N, 10007);
  std::vector<float> want(at(M * N));
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      want[at(n * M + m)] = x[at(m * N + n)];
  OnDevice<float> dx(x), dy(at(M * N));
  return sample_transpose_cuda(dx.data(), dy.data(), M, N, nullptr) == 0 && equal(dy.read(), want);
}

bool check_mean(int64_t n) {
  auto x = integers<float>(n, 64);
  float total = 0;
  for (float v : x)
    total += v;
  OnDevice<float> dx(x), dm(1);
  int64_t bytes = sample_mean_workspace(n);
  OnDevice<unsigned char> workspace(at(bytes));
  int status = sample_mean_cuda(dx.data(), dm.data(), n, workspace.data(), bytes, nullptr);
  return status == 0 && equal(dm.read(), {total / static_cast<float>(n)});
}

bool check_centre(int64_t M, int64_t N, bool own_workspace) {
  auto x = integers<float>(M * N, 128); // exact in bfloat16
  std::vector<uint16_t> half(at(M * N));
  std::vector<float> mean(at(N), 0.0F), want(at(M * N));
  for (size_t i = 0; i < x.size(); ++i) {
    half[i] = __bfloat16_as_ushort(__float2bfloat16_rn(x[i]));
    mean[i % at(N)] += x[i];
  }
  for (size_t i = 0; i < x.size(); ++i)
    want[i] = x[i] - mean[i % at(N)] / static_cast<float>(M);
  OnDevice<uint16_t> dx(half);
  OnDevice<float> dz(at(M * N));
  int64_t bytes = sample_centre_workspace(M, N);
  OnDevice<unsigned char> workspace(at(bytes));
  void *given = own_workspace ? nullptr : workspace.data();
  return sample_centre_cuda(dx.data(), dz.data(), M, N, given, bytes, nullptr) == 0 && equal(dz.read(), want);
}

bool check_histogram(int64_t n, int64_t bins) {
  auto x = integers<int32_t>(n, static_cast<int>(3 * bins));
  std::vector<int32_t> want(at(bins), 0);
  for (int32_t v : x)
    if (v >= 0 && v < bins)
      ++want[at(v)];
  OnDevice<int32_t> dx(x), dh(at(bins));
  return sample_histogram_cuda(dx.data(), dh.data(), n, bins, nullptr) == 0 && equal(dh.read(), want);
}
