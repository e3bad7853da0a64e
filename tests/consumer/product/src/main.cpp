#include <cmath>
#include <cstdio>

#include "rowsum.h"
#include "scale.h"

int main() {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  float y[6], s[2];
  if (int status = scale_openmp(x, y, 2, 3))
    return std::puts(scale_error(status)), 1;
  if (int status = rowsum_openmp(y, s, 2, 3, nullptr, 0))
    return std::puts(rowsum_error(status)), 1;
  std::printf("%g %g\n", s[0], s[1]);
  return s[0] == 12 && s[1] == 30 ? 0 : 1;
}
