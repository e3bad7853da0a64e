// How the threads of a CUDA block share a scan: none of them goes through a row alone.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

std::string cuda_text(const std::string &operands, const std::string &body) {
  return emitted_text("kernel = \"k\"\ndoc = \"d\"\n" + operands + "body = '''\n" + body + "\n'''\n", ".cu",
                      "__global__");
}

// Does one thread go through a loop while the others wait? Not where that goes from share to share, of which there are
// few.
bool waits(const std::string &text) {
  const std::string alone = "if (threadIdx.x == 0) { for (", few = "Index n_share = ";
  for (size_t at = text.find(alone); at != std::string::npos; at = text.find(alone, at + 1))
    if (text.compare(at + alone.size(), few.size(), few) != 0)
      return true;
  return false;
}

const std::string kRows = "inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n";

TEST_CASE("a block scans a row tile by tile, in wide accesses") {
  const std::string text = cuda_text(kRows, "y = 2 * cumsum(x * x, N);");
  CHECK(has(text,
            "for (Index n_tile = n_begin; n_tile < n_end; n_tile += Index(blockDim.x) * 4) { const Index n_first = "
            "n_tile + Index(threadIdx.x) * 4; const Index remaining = Index(n_end - n_first); const auto x_pack = "
            "load_pack<4, 1, kWide>(&x[m * N + n_first], remaining);"));
  CHECK(has(text,
            "for (int i = 0; i < 4; ++i) { running_sum_x_squared[i] = i < remaining ? x_pack[i] * x_pack[i] : 0.0f; } "
            "block_scan<false, false>(running_sum_x_squared, carried_sum_x_squared, Plus());"));
  CHECK(has(text,
            "y_pack[i] = 2.0f * running_sum_x_squared[i]; store_pack<kWide>(&y[m * N + n_first], y_pack, remaining);"));
  // Short rows have few threads, several rows a block.
  CHECK(has(text, "for (Index item = Index(blockIdx.x) * Index(blockDim.y) + Index(threadIdx.y); item < N_shares * M; "
                  "item += Index(gridDim.x) * Index(blockDim.y)) {"));
  CHECK(has(text, "smaller(ceil_div(N_shares * M, scan_threads(ceil_div(N, N_shares), N_shares * M).y), int64_t{1} << "
                  "30), scan_threads(ceil_div(N, N_shares), N_shares * M), 512, stream"));
  CHECK(!waits(text));
}

TEST_CASE("blocks share rows that are few and long: totals of shares, their starts, then all shares at once") {
  const std::string text = cuda_text(kRows, "y = cumsum(x, N);");
  CHECK(has(text, "const int64_t N_shares = larger(1, smaller(floor_div(128, larger(1, M)) * 8, floor_div(N, 32768) * "
                  "8)); if (N_shares > 1) { {"));
  CHECK(has(text, "const Index n_begin = Index(share_begin(n_share, N_shares, N, 64)), n_end = "
                  "Index(share_begin(n_share + 1, N_shares, N, 64)); float total_x_own = 0.0f;"));
  CHECK(has(text, "if (threadIdx.x == 0) { share_total_x[n_share * M + m] = total_x; }"));
  CHECK(has(text, "block_scan<false, true>(share_start_value, carry,"));
  CHECK(has(text, "if (int64_t(n_share) > 0) { carried_sum_x = share_start[n_share * M + m]; }"));
  // One share takes one kernel and no memory.
  CHECK(has(text, "} const bool wide = aligned({x, y}) && N % 4 == 0; return launch( wide ? "
                  "k_part3_kernel<true, Index>"));
  CHECK(
      has(emitted_text("kernel = \"k\"\ndoc = \"d\"\n" + kRows + "body = 'y = cumsum(x, N);'\n", ".cu", "struct KWork"),
          "start = reserve(bytes, N_shares > 1 ? N_shares * M : 0, 4);"));
}

TEST_CASE("threads share columns that are few and long") {
  const std::string text = cuda_text(kRows, "y = cumsum(x, M);");
  CHECK(has(text, "const int64_t M_shares = larger(1, smaller(floor_div(128, larger(1, ceil_div(N, 256))) * 8, "
                  "floor_div(M, 512) * 8)); if (M_shares > 1) {"));
  CHECK(has(text, "const Index m_share = Index(item / N); const Index n = Index(item % N); const Index m_begin = "
                  "Index(share_begin(m_share, M_shares, M, 1)),"));
  CHECK(has(text, "for (Index item = Index(blockIdx.x) * Index(blockDim.y) + Index(threadIdx.y); item < N;"));
}

TEST_CASE("rows that are known to be short are not shared, nor products of f64, which may leave its range") {
  CHECK(!has(cuda_text("axes.N = 4000\n" + kRows, "y = cumsum(x, N);"), "shares"));
  CHECK(!has(cuda_text("axes.M = 200\n" + kRows, "y = cumsum(x, N);"), "shares"));
  CHECK(has(cuda_text(kRows, "y = cumprod(x, N);"), "shares"));
  CHECK(!has(cuda_text(kRows, "y = cumprod(double(x), N);"), "shares"));
}

TEST_CASE("no scan along a row waits for one thread") {
  for (const char *type : {"f32", "f64", "bf16", "i8", "u16", "i32", "i64"})
    for (const char *form : {"cumsum", "cumsum_exclusive", "cumsum_reverse", "cumsum_reverse_exclusive", "cumprod",
                             "cumprod_exclusive", "cumprod_reverse", "cumprod_reverse_exclusive", "cummax"}) {
      const std::string text =
          cuda_text("inputs.x = \"" + std::string(type) + "[M, N]\"\noutputs.y = \"" + type + "[M, N]\"\n",
                    "y = " + std::string(form) + "(x, N);");
      CHECK_MESSAGE(!waits(text), type, " ", form);
      CHECK(has(text, "block_scan"));
    }
}

TEST_CASE("a single long row is scanned by all threads of a block") {
  const std::string text = cuda_text("inputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n", "y = cumsum(x, N);");
  CHECK(has(text, "block_scan<false, false>(running_sum_x, carried_sum_x,"));
  CHECK(!waits(text));
}

TEST_CASE("rows whose loops wait for each other have a block each") {
  const std::string text = cuda_text(
      kRows, "real rest = cumsum_reverse(x * x, N);\ny = cumsum(x, N) - at(rest, N = size(N) - 1 - index(N));");
  CHECK(has(text, "__syncthreads();"));
  CHECK(has(text, "for (Index item = Index(blockIdx.x); item < M; item += Index(gridDim.x)) {"));
}

TEST_CASE("from the end, tiles begin where they would from the start") {
  const std::string text = cuda_text(kRows, "y = cumsum_reverse_exclusive(x, N);");
  CHECK(has(text, "const Index tile_length = Index(blockDim.x) * 4; for (Index n_tile = n_begin + Index((n_end - "
                  "n_begin + tile_length - 1) / tile_length) * tile_length; (n_tile -= tile_length) >= n_begin;) {"));
  CHECK(has(text, "block_scan<true, true>(running_sum_x_behind, carried_sum_x_behind,"));
}

TEST_CASE("what is set before a scan and read behind it is kept for each position") {
  const std::string text = cuda_text(kRows, "real e = exp(x);\ny = e / (1 + cumsum(e, N));");
  CHECK(has(text, "float e[4]; float running_sum_e[4];"));
  CHECK(has(text, "e[i] = expf(x_pack[i]); running_sum_e[i] = i < remaining ? e[i] : 0.0f;"));
  CHECK(has(text, "y_pack[i] = e[i] / (1.0f + running_sum_e[i]);"));
}

TEST_CASE("folds of the same loop leave out what is past the end") {
  const std::string text = cuda_text(kRows + "outputs.s = \"f32[M]\"\n", "y = cumsum(x, N);\ns = max(y, N);");
  CHECK(has(text, "block_scan<false, false>(running_sum_x, carried_sum_x,"));
  CHECK(has(text, "if (i < remaining) greatest_y_own = maximum(greatest_y_own,"));
}

TEST_CASE("products of floats and recurrences go by helpers that look whether parts stay in range") {
  CHECK(has(cuda_text(kRows, "y = cumprod(x, N);"),
            "block_scan_products<false, false>(running_product_x, carried_product_x);"));
  const std::string text = cuda_text(kRows + "inputs.d = \"f32[M, N]\"\n", "y = linrec(d, x, N);");
  CHECK(has(text, "total_d_factor[i] = i < remaining ? d_pack[i] : 1.0f; total_d_term[i] = i < remaining ? x_pack[i] : "
                  "0.0f; }"));
  CHECK(has(text, "block_scan_linear<false, false>(total_d_own, total_d, total_d_factor, total_d_term);"));
  CHECK(!waits(text));
}

TEST_CASE("rows of their own lengths are scanned an element a thread") {
  const std::string text = cuda_text(
      "tables.starts = \"i32[M + 1]\"\naxes.N = { ragged = \"starts\", over = \"M\" }\ninputs.x = \"f32[M, N]\"\n"
      "outputs.y = \"f32[M, N]\"\n",
      "y = cumsum(x, N);");
  CHECK(has(text, "const Index n = n_tile + Index(threadIdx.x);"));
  CHECK(has(text, "const float running_sum_x = block_scan<false, false>(running_sum_x_value, carried_sum_x,"));
  CHECK(!waits(text));
}

} // namespace
} // namespace kgen
