// How fast this machine copies memory: all cores, stores around the caches. As a program: GB/s of a copy of 256 MiB,
// with both directions counted. As a library: the copy, and loops that read and write other shares of the bytes.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Both aligned to 16 bytes, `count` a multiple of 4.
extern "C" void copy_around_caches(const float *from, float *to, int64_t count) {
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < count; i += 4)
      _mm_stream_ps(to + i, _mm_load_ps(from + i));
    _mm_sfence();
  }
}

// Reads so many elements, and writes so many: those that are copied, the others are added up, or set.
extern "C" float read_and_write(const float *from, float *to, int64_t reads, int64_t writes) {
  const int64_t both = std::min(reads, writes) / 4 * 4;
  copy_around_caches(from, to, both);
  int sum = 0; // of bits: floats would have to be added in order
#pragma omp parallel
  {
#pragma omp for schedule(static) reduction(+ : sum) nowait
    for (int64_t i = both / 16; i < reads / 16; ++i)
      for (int64_t k = 0; k < 16; ++k)
        sum += reinterpret_cast<const int *>(from)[16 * i + k];
#pragma omp for schedule(static) nowait
    for (int64_t i = both; i < writes / 4 * 4; i += 4)
      _mm_stream_ps(to + i, _mm_set1_ps(1));
    _mm_sfence();
  }
  return float(sum);
}

int main() {
  const int64_t count = int64_t(1) << 26;
  const size_t bytes = size_t(count) * sizeof(float);
  float *from = static_cast<float *>(aligned_alloc(64, bytes)), *to = static_cast<float *>(aligned_alloc(64, bytes));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; ++i)
    from[i] = to[i] = float(i);
  std::vector<double> seconds;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    copy_around_caches(from, to, count);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("%.2f\n", 2 * double(bytes) / seconds[seconds.size() / 2] / 1e9);
}
