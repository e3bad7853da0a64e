// Loops down the columns of arrays, which are turned so that they go along rows.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

std::string openmp_text(const std::string &spec_text) { return emitted_text(spec_text, ".cpp", "\nvoid "); }
std::string cuda_text(const std::string &spec_text) { return emitted_text(spec_text, ".cu", "__global__"); }

TEST_CASE("columns are summed row by row, over blocks of rows") {
  const std::string text = openmp_text(R"(
kernel = "columns"
inputs.x = "f32[M, N]"
outputs.s = "f32[N]"
body = 's = sum(x, M);'
)");
  CHECK(has(text, "const int64_t n_end = smaller(n_first + n_part, N); alignas(64) float sum_x[2048]; "
                  "for_lanes<kLanes32>(n_first, n_end, [=, &sum_x](int64_t n, auto active) IN_SET { "
                  "store(&sum_x[n - n_first], active, 0.0f); });"));
  CHECK(has(text, "const int64_t m_begin = m_share * M / M_shares, m_end = (m_share + 1) * M / M_shares; "
                  "for (int64_t m_first = m_begin; m_first < m_end; m_first += 512 * m_at_once) { "
                  "const int64_t m_part_end = smaller(m_first + 512 * m_at_once, m_end); "
                  "alignas(64) float sum_x_in_block[2048];"));
  // Totals stay in registers for some rows.
  CHECK(has(text,
            "const bool from_memory = M * N * 4 >= kBeyondCaches; "
            "for_rows<kLanes32>( m_first, m_part_end, m_at_once, n_first, n_end, "
            "[=](int64_t m, int64_t n, auto active, auto& sum_x_in_block_here) IN_SET { "
            "if (from_memory) prefetch_row(&x[m * N + n], m_part_end - m, m_part_end - m_first, N, n_end - n_first); "
            "sum_x_in_block_here = sum_x_in_block_here + load(&x[m * N + n], active); }, sum_x_in_block);"));
}

TEST_CASE("rows of few columns go several at a time where nothing tells them apart, and are added up then") {
  const auto of = [](const std::string &body) {
    return openmp_text("kernel = \"columns\"\ninputs.x = \"f32[M, N]\"\ninputs.r = \"f32[M]\"\n"
                       "outputs.s = \"f32[N]\"\nbody = 's = " +
                       body + ";'\n");
  };
  const std::string text = of("sum(x * x, M)");
  CHECK(has(text, "const int64_t m_at_once = N <= 16 ? smaller(floor_div(1024, larger(1, N)), larger(1, M)) : 1;"));
  CHECK(has(text, "for_lanes<kLanes32>(n_first, n_end * m_at_once, [=, &sum_x_squared_in_block](int64_t n, "));
  CHECK(has(text, "add_rows<kLanes32>(sum_x_squared_in_block, m_at_once, n_end);"));
  for (const char *body : {"sum(x * r, M)", "sum(x * index(M), M)", "sum(x * index(N), M)", "max(x, M)"})
    CHECK(!has(of(body), "at_once"));
}

TEST_CASE("a loop up columns asks for the rows above, and one through many arrays for all of them") {
  CHECK(has(openmp_text("kernel = \"sums\"\ninputs.x = \"f16[M, N]\"\noutputs.y = \"f32[M, N]\"\n"
                        "body = 'y = cumsum_reverse(x, M);'\n"),
            "if (from_memory) prefetch_row(&x[m * N + n], m - m_begin + 1, m_end - m_begin, -N, n_end - n_first);"));
  const auto of = [](const std::string &body) {
    return openmp_text("kernel = \"four\"\ninputs.a = \"f32[N]\"\ninputs.b = \"f32[N]\"\ninputs.c = \"f32[N]\"\n"
                       "inputs.d = \"f32[N]\"\noutputs.y = \"f32[N]\"\nbody = 'y = " +
                       body + ";'\n");
  };
  CHECK(has(of("a * b + c * d + a"), "if (around_caches) prefetch_soon(2048, &a[n], &b[n], &c[n], &d[n]);"));
  CHECK(!has(of("a * b + c"), "prefetch"));
}

TEST_CASE("a softmax over another axis than the last one goes along rows, in parts whose rows stay in the cache") {
  const std::string text = openmp_text(R"(
kernel = "across"
inputs.x = "f16[B, C, N]"
outputs.y = "f16[B, C, N]"
body = 'y = softmax(x, C);'
)");
  CHECK(has(text, "if (N >= 16) { const int64_t n_part = share_of(N, B, columns_of(C * 6, 512));"));
  CHECK(has(text,
            "for (int64_t c = c_first; c < c_end; ++c) { "
            "for_lanes<kLanes32>(n_first, n_end, [=, &greatest_x, &sum_e_in_block](int64_t n, auto active) IN_SET {"));
  // The second walk asks for the columns of the next part, the others for nothing.
  CHECK(has(text, "if (from_memory) prefetch_part(&x[(b * C + c) * N + n], n_first, n_end, N, N * C); "
                  "const auto e_here = exp("));
  CHECK(has(text, "store(&e[c * n_part + n - n_first], active, e_here);"));
  CHECK(text.find("prefetch_row(") == std::string::npos);
  // Few columns, of which each is long.
  CHECK(has(text, "} else { in_parallel(product_of(B, C, N) > 16384, [&]() IN_SET { OMP(omp for collapse(3) "
                  "schedule(static) nowait) "
                  "for (int64_t c_share = 0; c_share < C_shares; ++c_share) {"));
}

TEST_CASE("rows of their own lengths are gone through row by row, too, and wide numbers in narrower parts") {
  const std::string text = openmp_text(R"(
kernel = "segments"
axes.N = { ragged = "start", over = "B" }
tables.start = "i64[B + 1]"
inputs.x = "f64[B, N, D]"
outputs.y = "f64[B, D]"
body = 'y = max(x, N);'
)");
  CHECK(has(text, "double greatest_x[1024];"));
  CHECK(has(text, "for (int64_t n = 0; n < n_count; ++n) { for_lanes<kLanes64>(d_first, d_end,"));
}

TEST_CASE("the totals of a share of recurrences down columns are found in one walk") {
  const std::string text = openmp_text(R"(
kernel = "recurrence"
inputs.a = "f32[S, C]"
inputs.x = "f32[S, C]"
outputs.h = "f32[S, C]"
body = 'h = linrec(a, x, S);'
)");
  CHECK(has(text,
            "store(&factor_a[c - c_first], active, load(&factor_a[c - c_first], active) * convert<double>(a_here)); "
            "store(&total_a[c - c_first], active, multiply_add(a_here, load(&total_a[c - c_first], active), "
            "load(&x[s * C + c], active))); }); }"));
}

TEST_CASE("of sizes that are known the way of columns is, too") {
  const auto of = [](const std::string &columns) {
    return openmp_text("kernel = \"across\"\naxes.N = " + columns +
                       "\ninputs.x = \"f32[C, N]\"\noutputs.y = \"f32[C, N]\"\nbody = 'y = softmax(x, C);'\n");
  };
  CHECK(of("40").find(" >= 16)") == std::string::npos);
  CHECK(has(of("40"), "columns_of("));
  CHECK(of("4").find("columns_of(") == std::string::npos);
}

TEST_CASE("columns inside of another loop are turned where nothing else makes vectors of them") {
  const std::string text = openmp_text(R"(
kernel = "share"
inputs.x = "f32[B, C, N]"
outputs.y = "f32[B, C]"
body = 'y = mean(softmax(x, C), N);'
)");
  CHECK(has(text, "const int64_t n_part = columns_of(C * 4, 512);"));
  CHECK(text.find("load_every") == std::string::npos);
}

TEST_CASE(
    "chunks of a whole-array fold take parts of the next loop, too, so that a short first one keeps no thread idle") {
  const std::string text = openmp_text(R"(
kernel = "chunks"
inputs.x = "f32[B, C, N]"
outputs.y = "f32[]"
body = 'y = mean(max(x, C), B, N);'
)");
  CHECK(has(text, "const int64_t n_pieces = ceil_div(N, 256); "
                  "const int64_t piece_chunk = larger(1, ceil_div(B * n_pieces, 256));"));
  CHECK(has(text, "for (int64_t piece = piece_block; piece < smaller(piece_block + 4096, piece_end); ++piece) { const "
                  "int64_t b = piece / n_pieces; "
                  "const int64_t n_begin = piece % n_pieces * 256, n_end = smaller(n_begin + 256, N);"));
}

TEST_CASE("on a GPU neighbouring threads take neighbouring columns of a softmax, where there are many") {
  const std::string text = cuda_text(R"(
kernel = "across"
inputs.x = "f32[B, C, N]"
outputs.y = "f32[B, C, N]"
body = 'y = softmax(x, C);'
)");
  CHECK(has(text, "if (column < items) { #pragma unroll 4 for (Index c = Index(threadIdx.y); c < C; "
                  "c += Index(blockDim.y)) { const float e = expf(x[(b * C + c) * N + n] - greatest_x); "
                  "y[(b * C + c) * N + n] = e / sum_e; } }"));
  CHECK(has(text, "if (B * N >= 4096) { const ColumnShape shape(C, B * N, 1);"));
  CHECK(has(text, "} else { const RowShape shape(C, 1, B * N,"));
}

TEST_CASE("rows may be written before a column is folded") {
  const std::string text = cuda_text(R"(
kernel = "before"
inputs.x = "f32[A, B, C, D]"
outputs.z = "f32[A, C]"
outputs.q = "f32[B, A, D, C]"
body = '''
real m = max(x, A, C);
z = sum(exp(x - m), D, B) + prod(x, B, D, where(x > m - 1));
q = x * z - cumsum(x, C) + cummax_reverse(x, A);
'''
)");
  CHECK(has(text, "column_fold("));
}

TEST_CASE("what each of several outputs needs of a column is computed where it is read, not kept") {
  const std::string text = cuda_text(R"(
kernel = "several"
axes.N = 5000
inputs.x = "f32[C, N]"
inputs.scale = "f32[C]"
outputs.y = "f32[C, N]"
outputs.z = "f32[C, N]"
body = '''
y = softmax(scale * x, C);
z = x - mean(x, C);
'''
)");
  CHECK(has(text, "const Index column ="));
  CHECK(text.find("tile") == std::string::npos);
}

} // namespace
TEST_CASE("on a GPU a number with a name keeps neighbouring threads on neighbouring columns") {
  const std::string text = cuda_text(R"(
kernel = "named"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = 'real eps = 1e-5; y = x / (sum(abs(x), M) + eps);'
)");
  CHECK(has(text, "const Index n = item; const float eps = 1e-05f; float sum_abs_x_own = 0.0f;"));
  CHECK(has(text, "float sum_abs_x = column_fold(sum_abs_x_own, Plus());"));
}

TEST_CASE(
    "rows and the folds of their columns are one loop over the rows of a share, whose results are kept there only") {
  const std::string text = openmp_text(R"(
kernel = "gradients"
inputs.x = "f32[M, N]"
inputs.dy = "f32[M, N]"
outputs.dx = "f32[M, N]"
outputs.scale = "f32[N]"
body = 'real r = rsqrt(sum(x * x, N)); dx = dy * r; scale = sum(dy * x * r, M);'
)");
  CHECK(has(text, "if (!(N_shares > 1) && M_shares > 1) {"));
  CHECK(has(text, "const float r_here = rsqrt(sum_x_squared);"));
  CHECK(has(text, "store_around(&dx[m * N + n], active, dy_here * r_here, around_caches); "
                  "store(&sum_dy_x_r_in_block_per_n[n], active, multiply_add(dy_here * load(&x[m * N + n], active), "
                  "r_here, load(&sum_dy_x_r_in_block_per_n[n], active)));"));
  CHECK(text.find("r[m] =") > text.find("&& !(M_shares > 1)")); // where another phase reads it
}

} // namespace kgen
