// When emitted OpenMP code starts threads, and how they share the loops.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

TEST_CASE("threads take rows of their own lengths in turns") {
  const auto of = [](const std::string &axis) {
    return emitted_text("kernel = \"sums\"\ntables.start = \"i64[M + 1]\"\n" + axis +
                            "inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M]\"\nbody = 'y = sum(x, N);'\n",
                        "_openmp.cpp", "\nvoid ");
  };
  CHECK(has(of("axes.N = { ragged = \"start\", over = \"M\" }\n"),
            "OMP(omp for schedule(dynamic, larger(1, M / 256)) nowait)"));
  CHECK(!has(of(""), "dynamic"));
}

TEST_CASE("threads start where a call has rounds enough, however they are nested") {
  const auto of = [](const std::string &arrays, const std::string &body) {
    return emitted_text("kernel = \"k\"\n" + arrays + "body = '" + body + "'\n", "_openmp.cpp", "void k(");
  };
  CHECK(has(of("inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M]\"\n", "y = max(x, N);"),
            "in_parallel(product_of(M, N) > 16384, [&]() IN_SET {"));
  // Maps, by what they do.
  CHECK(has(of("inputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n", "y = x * x + 1;"), "in_parallel(N > 32768, "));
  CHECK(has(of("inputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n", "y = exp(x);"), "in_parallel(N > 16384, "));
  CHECK(has(of("inputs.a = \"f32[M, K]\"\ninputs.b = \"f32[K, N]\"\noutputs.c = \"f32[M, N]\"\n", "c = dot(a, b, K);"),
            "in_team(product_of(M, K, N) > 131072, threads, [&]() IN_SET {"));
  // Rows of their own lengths have as many rounds as there are elements; loops that end by what they find, any number.
  CHECK(has(of("inputs.x = \"f32[B, N]\"\noutputs.y = \"f32[B]\"\ntables.s = \"i32[B + 1]\"\n"
               "axes.N = { ragged = \"s\", over = \"B\" }\n",
               "y = sum(x, N);"),
            "in_parallel(N > 16384, [&]() IN_SET {"));
  CHECK(
      has(of("inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M]\"\n", "float s = sum(x, N); while (s > 1) s /= 2; y = s;"),
          "in_parallel([&]() IN_SET {"));
}

} // namespace
} // namespace kgen
