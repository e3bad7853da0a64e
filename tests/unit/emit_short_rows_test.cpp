// Rows that may be too short to fill a vector: functions of their own, in which neighbouring rows are lanes.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

std::string openmp_text(const std::string &spec_text) { return emitted_text(spec_text, ".cpp", "\n// For "); }

TEST_CASE("short rows of unknown length that are folded go side by side, what each keeps in vectors") {
  const std::string text = openmp_text(R"(
kernel = "soft"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = 'y = softmax(x, N);'
)");
  CHECK(has(text, "// For N <= 15 && N <= M: rows that fill no vector. "
                  "void soft_short(const float* x, float* y, int64_t M, int64_t N) { "
                  "in_parallel(product_of(M, N) > 16384, [&]() IN_SET { OMP(omp for schedule(static) nowait) for "
                  "(int64_t m_first = 0; m_first < M; m_first += 256) { "
                  "for_lanes<kLanes32>(m_first, smaller(m_first + 256, M), [=](int64_t m, auto active) IN_SET { "
                  "Lanes<float, kLanes32> greatest_x = -INFINITY; for (int64_t n = 0; n < N; ++n) { "
                  "greatest_x = maximum(greatest_x, load_every(&x[m * N + n], N, active)); } "
                  "Lanes<float, kLanes32> sum_e = 0.0f; Lanes<float, kLanes32> e[15] = {}; "));
  // The launcher chooses (a vector that has but one row would be slower than that row), and says how much memory each
  // needs.
  CHECK(has(text, "(N <= 15 && N <= M)) return 0; return bytes_of(SoftWorkspace(M, N)); }"));
  CHECK(has(text, "if (N <= 15 && N <= M) { soft_short(x, y, M, N); return 0; }"));
}

TEST_CASE("short rows inside of others that may be few have a function for that, too") {
  const std::string text = openmp_text(R"(
kernel = "nearest"
inputs.x = "f32[N, K, D]"
outputs.best = "i32[N]"
body = 'best = argmin(sum(x * x, D), K);'
)");
  CHECK(has(text, "// For K <= 15 && D <= 15: rows that fill no vector. void nearest_kernel_short_and_few("));
  CHECK(has(text, "// For D <= 15 && D <= K: rows that fill no vector. void nearest_kernel_short("));
  CHECK(has(text, "if (K <= 15 && D <= 15) { nearest_kernel_short_and_few("));
}

TEST_CASE("rows of known length, rows that are not folded, columns and scalar loops have no function for short ones") {
  for (const char *rest : {"inputs.x = \"f32[M, N=3]\"\noutputs.y = \"f32[M]\"\nbody = 'y = sum(x, N);'\n",
                           "inputs.x = \"f32[M, N]\"\ninputs.b = \"f32[N]\"\noutputs.y = \"f32[M, N]\"\n"
                           "body = 'y = x + b;'\n",
                           "inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[N]\"\nbody = 'y = sum(x, M);'\n",
                           "inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M]\"\nschedule.openmp.lanes = false\n"
                           "body = 'y = sum(x, N);'\n",
                           "inputs.x = \"f32[N]\"\noutputs.y = \"f32[]\"\nbody = 'y = sum(x, N);'\n"})
    CHECK(!has(emitted_text("kernel = \"k\"\n" + std::string(rest), ".cpp", "\nvoid "), "_short("));
}

} // namespace
} // namespace kgen
