// Prints the set of instructions that two kernels of this program take, and then all bytes of their results.
#include <cstdio>
#include <vector>

#include "cumsum.h"
#include "softmax.h"

static void show(const std::vector<float> &values) {
  for (float value : values) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    std::printf("%08x", bits);
  }
  std::printf("\n");
}

int main() {
  const int64_t rows = 3, length = 1003;
  std::vector<float> x(rows * length), y(x.size());
  uint32_t state = 1;
  for (float &value : x)
    value = float((state = state * 1664525u + 1013904223u) >> 8) / 3e6f - 2.0f;
  std::printf("%s %s\n", softmax_openmp_instructions(), cumsum_openmp_instructions());
  if (softmax_f32_openmp(x.data(), y.data(), rows, length, nullptr, 0) != 0)
    return 1;
  show(y);
  std::vector<float> before(x.size()), down(x.size());
  if (cumsum_f32_openmp(x.data(), y.data(), before.data(), down.data(), rows, length, nullptr, 0) != 0)
    return 1;
  show(y);
  return 0;
}
