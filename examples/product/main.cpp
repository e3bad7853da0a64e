// Calls a kernel, whose sources lie in kernels/, and shows what it gives.
#include "unit_rows.h"

#include <cstdio>
#include <vector>

int main() {
  const int64_t rows = 2, N = 2;
  const std::vector<float> x = {3, 4, 5, 12};
  std::vector<float> y(x.size());
  const int status = unit_rows_f32_openmp(x.data(), y.data(), rows, N, nullptr, 0);
  if (status != 0) {
    std::fprintf(stderr, "unit_rows: %s\n", unit_rows_error(status));
    return 1;
  }
  for (int64_t row = 0; row < rows; ++row)
    std::printf("%.4f %.4f\n", y[row * N], y[row * N + 1]);
}
