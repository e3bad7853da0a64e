// Rows that OpenMP code goes over once, where several folds over them depend on each other; and what leaves its loops.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

std::string text_for(const std::string &spec_text) { return emitted_text(spec_text, ".cpp", "\nvoid "); }

TEST_CASE("a sum of exponentials is rescaled as its maximum grows, so that a row is read once") {
  const std::string spec = R"(
kernel = "entropy"
inputs.x = "f32[M, N]"
inputs.w = "f32[M, N]"
outputs.y = "f32[M]"
body = 'auto top = max(x, N); y = )";
  const auto text = [&](const std::string &value) { return text_for(spec + value + ";'\n"); };
  const std::string once = text("sum(w * exp(x - top), N) / sum(exp(x - top), N)");
  CHECK(has(once, "if (N_shares > 1) {"));
  CHECK(has(once, "for (int64_t n_first = n_begin; n_first < n_end; n_first += 4096) {"));
  CHECK(has(once, "for (int64_t n_first = 0; n_first < N; n_first += 4096) {"));
  CHECK(has(once, "if (top_now > top) { "
                  "sum_w_exp_x = top > -INFINITY ? rounded(sum_w_exp_x * std::exp(top - top_now)) : 0.0f; "
                  "sum_exp_x = top > -INFINITY ? rounded(sum_exp_x * std::exp(top - top_now)) : 0.0f; }"));
  CHECK(has(once, "n_block") == false);
  // What is no power of the distance from that maximum cannot be put right by a factor.
  for (const std::string other : {"sum(exp(2 * x - top), N)", "sum((x - top) * exp(x - top), N)",
                                  "sum(exp(top - x), N)", "sum(abs(x - top), N)", "sum(exp(x - top), N, where(x > 0))"})
    CHECK_MESSAGE(!has(text(other), "top_now"), other);
}

TEST_CASE("a sum of squares about a mean is put right by that of each block") {
  const std::string spec = R"(
kernel = "spread"
inputs.x = "f32[M, N]"
scalars.count = "f32"
outputs.y = "f32[M]"
body = 'auto m = )";
  const auto text = [&](const std::string &rest) { return text_for(spec + rest + ";'\n"); };
  const std::string once = text("mean(x, N); y = sum((x - m) * (x - m), N)");
  CHECK(has(once, "const float mean_x_in_block = sum_x_in_block / count_in_block;"));
  CHECK(has(once, "if (count_before > 0.0f) { const float mean_apart = mean_x_in_block - sum_x / count_before; "
                  "sum_x_squared += rounded(mean_apart * mean_apart * (count_before * count_in_block / "
                  "(count_before + count_in_block))); } sum_x += sum_x_in_block; count_before += count_in_block;"));
  for (const std::string other :
       {"sum(x, N) / count; y = sum((x - m) * (x - m), N)", "mean(x, N); y = sum(abs(x - m), N)",
        "mean(x, N, where(x > 0)); y = sum((x - m) * (x - m), N)", "mean(x, N); y = sum((2 * x - m) * (2 * x - m), N)"})
    CHECK_MESSAGE(!has(text(other), "apart"), other);
}

TEST_CASE("exponentials that are kept for a later loop are computed again in rows that no cache holds") {
  const std::string text = text_for(R"(
kernel = "softmax"
inputs.x = "f64[M, N]"
outputs.y = "f64[M, N]"
body = 'auto e = exp(x - max(x, N)); y = e / sum(e, N);'
)");
  CHECK(has(text, "if (N <= 262144) {"));
  CHECK(has(text, "const auto e_here = exp(load(&x[m * N + n], active) - greatest_x); store(&e[n], active, e_here);"));
  CHECK(has(
      text,
      "} else { in_parallel(product_of(M, N) > 16384, [&]() IN_SET { OMP(omp for collapse(2) schedule(static) nowait) "
      "for (int64_t n_share = 0; n_share < N_shares; ++n_share) {"));
  CHECK(has(text, "load(&sum_e_part[n_share * M + m], active) * "
                  "exp(load(&greatest_x_part[n_share * M + m], active) - greatest_x)));"));
  CHECK(has(text, "store_around(&y[m * N + n], active, "
                  "quotient(exp(load(&x[m * N + n], active) - greatest_x), sum_e), around_caches);"));
}

TEST_CASE("functions of what a loop does not change are called before it") {
  const std::string text = text_for(R"(
kernel = "scaled"
inputs.x = "f32[M, N]"
inputs.s = "f32[M]"
outputs.y = "f32[M, N]"
body = 'y = (x < 0 ? log(s) * x : x) * sqrt(s) / sum(x, N);'
)");
  CHECK(has(text, "const float root_s = std::sqrt(s[m]);"));
  CHECK(has(text, "logarithm") == false); // only where the condition holds
}

TEST_CASE("light sums of floats have two chains of additions; those beside functions one") {
  const std::string spec = "kernel = \"sums\"\ninputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M]\"\n";
  CHECK(has(text_for(spec + "body = 'y = sum(x * x, N);'\n"), "Sum<float, kLanes32> sum_x_squared_lanes"));
  CHECK(has(text_for(spec + "body = 'y = sum(exp(x), N);'\n"), "Lanes<float, kLanes32> sum_exp_x"));
}

} // namespace
} // namespace kgen
