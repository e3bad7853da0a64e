// What one would write by hand without vectors: loops over elements, for the compiler to make the best of.
#include <cstdint>

extern "C" void mandelbrot(int32_t *count) {
  constexpr float kStep = 2.5f / 1024;
#pragma omp parallel for schedule(dynamic, 8)
  for (int i = 0; i < 1024; ++i)
    for (int j = 0; j < 1024; ++j) {
      const float cx = -2 + kStep * static_cast<float>(j), cy = -1.25f + kStep * static_cast<float>(i);
      float x = 0, y = 0;
      int32_t n = 0;
      while (n < 256 && x * x + y * y <= 4) {
        const float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        ++n;
      }
      count[i * 1024 + j] = n;
    }
}
