// Which loops of the OpenMP code become lanes of vectors, and how their statements are then written.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

std::string openmp_text(const std::string &spec_text) { return emitted_text(spec_text, ".cpp", "\nvoid "); }

TEST_CASE("a map loads, computes and stores vectors, in parts that threads share") {
  const std::string text = openmp_text(R"(
kernel = "axpy"
inputs.x = "f32[N]"
outputs.z = "f32[N]"
scalars.a = "f32"
body = 'z = a * x;'
)");
  CHECK(has(text, "for (int64_t n_first = 0; n_first < N; n_first += 4096) {"));
  CHECK(has(
      text,
      "[=](int64_t n, auto active) IN_SET { store_around(&z[n], active, a * load(&x[n], active), around_caches); }"));
}

TEST_CASE("what goes around the caches begins with the lines of the output, but not where groups are added up") {
  const std::string text = openmp_text(R"(
kernel = "centred"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
outputs.z = "f32[M, N]"
body = '''
y = x - sum(x, N);
z = cumsum(x, N);
'''
)");
  CHECK(has(text, "for_lines<kLanes32>(around_caches, &y[m * N], 0, N, [=](int64_t n, auto active) IN_SET {"));
  CHECK(!has(text, "&z[m * N], 0, N"));
}

TEST_CASE("lanes can be switched off") {
  const std::string text = openmp_text(R"(
kernel = "axpy"
schedule.openmp.lanes = false
inputs.x = "f32[N]"
outputs.z = "f32[N]"
scalars.a = "f32"
body = 'z = a * x;'
)");
  CHECK(has(text, "z[n] = a * x[n];"));
  CHECK(text.find("for_lanes") == std::string::npos);
}

TEST_CASE("arguments that have the names of vector functions step aside") {
  const std::string text = openmp_text(R"(
kernel = "axpy"
inputs.load = "f32[N]"
outputs.store = "f32[N]"
body = 'store = 2 * load;'
)");
  CHECK(has(text, "store_around(&store_[n], active, 2.0f * load(&load_[n], active), around_caches);"));
}

TEST_CASE("a fold along the lanes is combined after the loop, block by block where it is a floating sum") {
  const std::string text = openmp_text(R"(
kernel = "rows"
inputs.x = "f32[M, N]"
outputs.s = "f32[M]"
outputs.g = "f32[M]"
body = '''
s = sum(x, N);
g = max(x, N);
'''
)");
  CHECK(has(text, "for (int64_t n_block = n_begin; n_block < n_end; n_block += 4096) {"));
  CHECK(has(text, "sum_x_lanes += keep(active, x_here, 0.0f);"));
  CHECK(has(text, "greatest_x_lanes = maximum(greatest_x_lanes, keep(active, x_here, -INFINITY));"));
  CHECK(has(text, "sum_x += across(sum_x_lanes, Plus());"));
}

TEST_CASE("where results are few, workers share the rounds of a fold, whose parts are combined in order") {
  const std::string text = openmp_text(R"(
kernel = "rows"
inputs.x = "f32[M, N]"
outputs.s = "f32[M]"
body = 's = sum(x, N) / 2;'
)");
  CHECK(has(text, "const int64_t N_shares = larger(1, smaller(floor_div(64, larger(1, M)), ceil_div(N, 16384)));"));
  CHECK(has(text, "const int64_t n_begin = n_share * N / N_shares, n_end = (n_share + 1) * N / N_shares;"));
  CHECK(has(text, "for (int64_t n_share = 0; n_share < N_shares; ++n_share) { "
                  "sum_x += load(&sum_x_part[n_share * M + m], active); } "
                  "store_around(&s[m], active, quotient(sum_x, 2.0f), around_caches);"));
}

TEST_CASE(
    "a row that is gone through twice stays with one worker while the caches hold it, and is shared beyond that") {
  const std::string text = openmp_text(R"(
kernel = "rows"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = 'y = x / sum(x, N);'
)");
  CHECK(has(text, "if (N <= 1048576) { const bool around_caches = M * N * 4 >= kBeyondCaches; "
                  "in_parallel(product_of(M, N) > 16384, [&]() IN_SET {"));
  CHECK(has(text, "sum_x_part[n_share * M + m] = sum_x;"));
  CHECK(has(text, "const float sum_x = sum_x_per_m[m];"));
  CHECK(has(text, "store_around(&y[m * N + n], active, quotient(load(&x[m * N + n], active), sum_x), around_caches);"));
}

TEST_CASE(
    "threads share lanes in short parts where each goes on for long, unless longer parts of rows are read at once") {
  const auto text = [](const char *value) {
    return openmp_text(std::string("kernel = \"parts\"\ninputs.p = \"f32[N]\"\ninputs.q = \"f32[M]\"\n"
                                   "inputs.cols = \"f32[N, I]\"\ninputs.more = \"f32[M, I]\"\naxes.I = 3\noutputs.y = "
                                   "\"f32[N]\"\nbody = '''\n") +
                       value + "\n'''");
  };
  CHECK(has(text("y = sum(exp(p - q), M);"), "n_first += 64)"));
  CHECK(has(text("y = argmin(sum(abs(cols - more), I), M);"), "n_first += 64)"));
  CHECK(has(text("y = sum(p * at(p, N = min(index(N) + I, size(N) - 1)), I);"), "n_first += 256)"));
}

TEST_CASE("a fold along few rows keeps one total a lane") {
  const std::string text = openmp_text(R"(
kernel = "columns"
axes.M = 3
inputs.x = "f32[M, N]"
outputs.s = "f32[N]"
body = 's = sum(x, M);'
)");
  CHECK(has(text, "for (int64_t m = 0; m < 3; ++m) { sum_x += load(&x[m * N + n], active); }"));
  CHECK(has(text, "store_around(&s[n], active, sum_x, around_caches);"));
}

TEST_CASE("scans go along the lanes, up or down; products of floats and recurrences by functions that know the range") {
  const auto of = [](const std::string &scan) {
    return openmp_text("kernel = \"scans\"\ninputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\nbody = 'y = " + scan +
                       "x, N);'\n");
  };
  CHECK(has(of("cumsum("), "for_lanes<kLanes32>(n_begin, n_end, [=, &carried_sum_x](int64_t n, auto active) IN_SET { "
                           "const auto running_sum_x = "
                           "scan_lanes<1>(carried_sum_x, keep(active, load(&x[m * N + n], active), 0.0f), 0.0f, "
                           "Plus());"));
  CHECK(
      has(of("cummax_reverse_exclusive("),
          "for_lanes_down<kLanes32>( n_begin, n_end, [=, &carried_greatest_x_behind](int64_t n, auto active) IN_SET { "
          "const auto running_greatest_x_behind = scan_before<-1>( carried_greatest_x_behind, "));
  CHECK(has(of("cumprod_exclusive("), "const auto running_product_x_before = scan_products<1, true>( "
                                      "carried_product_x_before, keep(active, "
                                      "load(&x[m * N + n], active), 1.0f));"));
  CHECK(has(of("linrec_reverse(0.5f, "), "const auto running_x_from_end = scan_linear<-1, false>(carried_x_from_end, "
                                         "keep(active, Lanes<float, kLanes32>(0.5f), 1.0f), "
                                         "keep(active, load(&x[m * N + n], active), 0.0f));"));
}

TEST_CASE("few long rows of a scan are shared: totals of the shares, then their starts, then each from its start") {
  const std::string text = openmp_text(R"(
kernel = "rows"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = 'y = cumsum_reverse(x * x, N);'
)");
  CHECK(has(text, "const int64_t N_shares = larger(1, smaller(floor_div(8, larger(1, M)) * 8, floor_div(N, 65536)));"));
  CHECK(has(text, "if (N_shares > 1) { in_parallel(product_of(M, N) > 16384, [&]() IN_SET { OMP(omp for collapse(2) "
                  "schedule(static) nowait) "
                  "for (int64_t n_share = 0; n_share < N_shares; ++n_share) {"));
  CHECK(has(text, "for (int64_t n_share = N_shares; n_share-- > 0;) { store(&share_start_from_end[n_share * M + m], "
                  "active, carry_from_end); "
                  "carry_from_end = carry_from_end + load(&share_total_x_squared[n_share * M + m], active); }"));
  CHECK(has(text,
            "if (n_share + 1 < N_shares) { carried_sum_x_squared_from_end = share_start_from_end[n_share * M + m]; } "
            "const int64_t n_begin = share_begin(n_share, N_shares, N, 64), "
            "n_end = share_begin(n_share + 1, N_shares, N, 64); "
            "for_lanes_down<kLanes32>("));
}

TEST_CASE("a scan whose rounds meet elsewhere, or of a value with no total of its own, stays with one worker") {
  const auto shares = [](const std::string &body) {
    return has(
        openmp_text("kernel = \"scans\"\ninputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\nbody = '" + body + "'\n"),
        "N_shares");
  };
  CHECK(shares("y = cumsum(exp(x), N);"));
  CHECK(!shares("y = cumsum(cummax(x, N), N);"));
  CHECK(!shares("real r = cumsum(x, N); y = r + at(r, N = 0);"));
  CHECK(!shares("y = cumprod(double(x), N);"));
}

TEST_CASE(
    "shares of recurrences have a factor beside their total; where these would lose the range, rounds go in order") {
  const std::string text = openmp_text(R"(
kernel = "rows"
inputs.a = "f32[M, N]"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = 'y = linrec(a * a, x, N);'
)");
  CHECK(has(text, "factor_a_squared *= across(factor_a_squared_lanes, "));
  CHECK(has(text, "scan_linear<1, false>(total_a_squared, keep(active, a_here * a_here, 1.0f), "
                  "keep(active, load(&x[m * N + n], active), 0.0f)); }); share_total_a_squared[n_share * M + m] = "
                  "total_a_squared;"));
  CHECK(has(text, "if (absolute(share_factor_a_squared[n_share * M + m]) <= 16.0 && absolute(carry) < INFINITY && "
                  "absolute(share_total_a_squared[n_share * M + m]) < INFINITY) { carry = "
                  "float(rounded(share_factor_a_squared[n_share * M + m] * "
                  "double(carry)) + double(share_total_a_squared[n_share * M + m])); } else {"));
}

TEST_CASE("a product of matrices is folded in tiles, from one number of the left factor and a vector of the right") {
  const std::string text = openmp_text(R"(
kernel = "product"
inputs.x = "f32[M, K]"
inputs.y = "f32[K, N]"
outputs.z = "f32[M, N]"
body = 'z = dot(x, y, K);'
)");
  CHECK(has(text, "[=](int64_t m, int64_t k) IN_SET -> float { return x[m * K + k]; }, "));
  CHECK(has(text,
            "[=](auto& right, int64_t k, int64_t n, auto active) IN_SET { right = load(&y[k * N + n], active); }, "));
  CHECK(has(text, "contract_products<float, kLanes32>("));
  CHECK(has(text, "store_around(&z[m * N + n], active, sum_x_y, around_caches);"));
}

TEST_CASE("the step of a contraction is its own, unless it adds products of what arrays hold") {
  const auto text = [](const std::string &type, const std::string &body) {
    const std::string total = type[0] == 'i' || type[0] == 'u' ? "i32" : type;
    return openmp_text("kernel = \"product\"\ninputs.x = \"" + type + "[M, K]\"\ninputs.y = \"" + type +
                       "[K, N]\"\noutputs.z = \"" + total + "[M, N]\"\nbody = '" + body + "'\n");
  };
  CHECK(has(text("bf16", "z = dot(x, y, K);"), "contract_products<BF16, kLanes32>("));
  CHECK(has(text("i8", "z = dot(x, y, K);"), "contract_bytes<kLanes32, int8_t, int8_t>("));
  CHECK(has(text("i16", "z = dot(x, y, K);"), "contract_pairs<kLanes32>("));
  CHECK(has(text("f32", "z = sum(exp(x) * y, K);"), "multiply_add(right, left, "));
  CHECK(has(text("bf16", "z = max(x + y, K);"), " = maximum("));
}

TEST_CASE("factors along the depth are read by tiles whatever number of rows there is, unless rows leave steps out") {
  const auto text = [](const std::string &body) {
    return openmp_text("kernel = \"product\"\ninputs.x = \"f32[M, K]\"\ninputs.y = \"f32[N, K]\"\noutputs.z = "
                       "\"f32[M, N]\"\nbody = '" +
                       body + "'\n");
  };
  const std::string all = text("z = dot(x, y, K);");
  CHECK(has(all, "AlongDepth{"));
  CHECK(!has(all, "if (M >= "));
  const std::string some = text("z = dot(x, y, K, where(index(K) <= index(M)));");
  CHECK(has(some, "if (M >= 32) {"));
  CHECK(has(some, "load(&x[m * K + k], active)"));
}

TEST_CASE("half types are widened when loaded and rounded when stored") {
  const std::string text = openmp_text(R"(
kernel = "twice"
inputs.x = "bf16[N]"
outputs.y = "f16[N]"
body = 'y = 2 * x;'
)");
  CHECK(has(text, "store_around(&y[n], active, to_f16(2.0f * from_bf16(load(&x[n], active))), around_caches);"));
}

TEST_CASE("a per-element condition is a mask, and what stands under it is skipped where no lane needs it") {
  const std::string text = openmp_text(R"(
kernel = "masked"
inputs.x = "f32[N]"
outputs.y = "f32[N]"
outputs.c = "bool[N]"
body = '''
c = x > 0;
y = 0;
if (c) y = sqrt(x);
'''
)");
  CHECK(has(text, "const auto x_here = load_once(&x[n], active); const auto c_here = x_here > 0.0f; store(&c[n], "
                  "active, c_here);"));
  CHECK(has(text, "const auto chosen = active && c_here; if (any_lane(chosen)) "));
  CHECK(has(text, "choose(chosen, sqrt(x_here), load(&y[n], active))"));
}

TEST_CASE("a uniform condition stays a branch, so that absent operands are not read") {
  const std::string text = openmp_text(R"(
kernel = "biased"
inputs.x = "f32[N]"
inputs.b = { type = "f32[N]", optional = true }
outputs.y = "f32[N]"
body = 'y = present(b) ? x + b : x;'
)");
  CHECK(has(text, "b != nullptr ? load(&x[n], active) + load(&b[n], active) : load(&x[n], active)"));
}

TEST_CASE("what depends on the lane's data is gathered lane by lane, guarded") {
  const std::string text = openmp_text(R"(
kernel = "pick"
inputs.i = "i32[N]"
inputs.u = "f32[V]"
outputs.y = "f32[N]"
body = 'y = at(u, V = i);'
)");
  CHECK(has(text, "gather<float>(n, active, [&](int64_t n_at) IN_SET { return inside(int64_t(i[n_at]), V) ? "
                  "u[int64_t(i[n_at])] : 0.0f; })"));
}

TEST_CASE("scatters stay scalar") {
  CHECK(openmp_text(R"(
kernel = "count"
inputs.x = "u8[N]"
outputs.c = "i32[K]"
body = '''
c = 0;
at(c, K = x) += 1;
''')")
            .find("atomic_add(&c[int64_t(x[n])], 1)") != std::string::npos);
}

TEST_CASE("whole numbers wrap where they may leave their type, and are plain where they cannot") {
  auto text = [](const std::string &type, const std::string &value) {
    return openmp_text("kernel = \"k\"\nschedule.openmp.lanes = false\ninputs.x = \"" + type +
                       "[M, N]\"\noutputs.z = \"i64[M]\"\nbody = '''\nz = sum(" + value + ", N);\n'''\n");
  };
  CHECK(has(text("i64", "x"), "sum_x = wrapping_add(sum_x, x[m * N + n])"));
  CHECK(has(text("i32", "x"), "sum_x = sum_x + int64_t(x[m * N + n])"));
  CHECK(has(text("i8", "x * x"), "sum_x_squared = wrapping_add(sum_x_squared, int32_t(x_here) * int32_t(x_here))"));
  CHECK(has(text("i16", "x * x * x"), "wrapping_multiply(int32_t(x_here) * int32_t(x_here)"));
  CHECK(has(text("i64", "-x"), "wrapping_negate(x[m * N + n])"));
  CHECK(has(text("i64", "abs(x)"), "wrapping_absolute(x[m * N + n])"));
  CHECK(has(text("i64", "2 * index(M) * size(N) + index(N)"), "2 * m * N + n"));
  CHECK(has(text("i64", "(index(N) + x) * 3"), "wrapping_multiply(wrapping_add(n, x[m * N + n]), int64_t{3})"));
}

TEST_CASE("each worker adds to a small array in a copy of its own") {
  auto text = [](const std::string &type, const std::string &bins, const std::string &more) {
    return openmp_text("kernel = \"count\"\ninputs.x = \"u8[N]\"\noutputs.c = { type = \"" + type + "[K=" + bins +
                       "]\"" + more + " }\nbody = '''\nc = 0;\nat(c, K = x) += 1;\n'''\n");
  };
  const std::string copied = text("i32", "256", "");
  CHECK(copied.find("atomic_add") == std::string::npos);
  CHECK(has(copied, "c_copy[n_share * 256 + int64_t(x[n])] = wrapping_add(c_copy[n_share * 256 + int64_t(x[n])], 1)"));
  CHECK(has(copied, "c_sum += load(&c_copy[n_share * 256 + k], active)"));
  CHECK(text("i32", "70000", "").find("c_copy") == std::string::npos);
  CHECK(has(text("f32", "256", ", atomic = true"), "c_copy[n_share * 256 + int64_t(x[n])] + 1.0f"));
  CHECK(text("f16", "256", ", atomic = true").find("c_copy") == std::string::npos);
  const std::string asked = text("i32", "N", ""); // the call tells whether it is small
  CHECK(has(asked, "if (N_shares > 0) {"));
  CHECK(has(asked, "} else {"));
  CHECK(has(asked, "atomic_add(&c[int64_t(x[n])], 1)"));
}

TEST_CASE("a loop of each element's own length goes on until no lane is left, and jumps take lanes away") {
  const std::string text = openmp_text(R"(
kernel = "steps"
inputs.x = "f32[N]"
outputs.c = "i32[N]"
body = '''
float t = x;
int n = 0;
while (t < 100 && n < 9) {
  t = t * t + 1;
  if (t > 50) break;
  if (t > 10) { n += 2; continue; }
  n += 1;
}
c = n;
''')");
  CHECK(has(text, "while (any_lane(live = live && (t < 1e+02f && n < 9))) { auto going_on = live; "
                  "t = choose(going_on, multiply_add(t, t, 1.0f), t);"));
  CHECK(has(text, "if (any_lane(chosen)) { going_on = going_on && !chosen; live = live && !chosen; }"));
  CHECK(has(text, "if (any_lane(chosen_two)) { n = choose(chosen_two, n + 2, n); going_on = going_on && !chosen_two; } "
                  "n = choose(going_on, n + 1, n); }"));
}

TEST_CASE("what lies crosswise is turned in tiles of whole lines, and read as vectors") {
  const std::string text = openmp_text(R"(
kernel = "crosswise"
inputs.x = "bf16[M, N]"
inputs.b = "f32[N, M]"
outputs.y = "f32[N, M]"
body = 'y = x + b;'
)");
  CHECK(has(text, "const int64_t m_part = N <= 16 || (around_caches && M % 16 != 0) ? 512 : 16;"));
  CHECK(has(text, "for (int64_t m_first = -into_line(y); m_first < M; m_first += m_part) { const int64_t m_begin = "
                  "larger(m_first, 0), m_end = smaller(m_first + m_part, M);"));
  CHECK(has(text, "for (int64_t n_group = n_first; n_group < smaller(n_first + 1024, N); n_group += 32) {"));
  CHECK(has(text, "uint16_t x_turned[32 * 512]; turn_tile(x_turned, m_part, &x[m_begin * N + n_group], N, "
                  "m_end - m_begin, n_end - n_group);"));
  CHECK(has(text,
            "from_bf16(load(&x_turned[(n - n_group) * m_part + m - m_begin], active)) + load(&b[n * M + m], active)"));
}

TEST_CASE("what is read crosswise under a guard is read element by element") {
  const std::string text = openmp_text(R"(
kernel = "guarded"
inputs.x = "f32[M, N]"
outputs.y = "f32[N, M]"
body = 'y = at(x, N = index(N) + 1);'
)");
  CHECK(text.find("turn_tile") == std::string::npos);
}

TEST_CASE("while the second loop over a row computes, the next row is fetched") {
  const std::string text = openmp_text(R"(
kernel = "shares"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = '''
real e = exp(x - max(x, N));
y = e / sum(e, N);
'''
)");
  CHECK(has(text, "const int64_t m_ahead = N <= 16384 ? smaller(m + 1, M - 1) : m;"));
  CHECK(has(text, "prefetch(&x[m_ahead * N + n]); const auto e_here = exp("));
  CHECK(has(text, "store(&e[n], active, e_here); sum_e_lanes += keep(active, e_here, 0.0f);"));
  CHECK(has(text, "Extreme<float, kLanes32> greatest_x_lanes = -INFINITY;"));
  CHECK(has(text, "quotient(load(&e[n], active), sum_e)"));
}

TEST_CASE("a fold alone along rows asks for what comes soon, where that lies in memory") {
  const std::string text = openmp_text(R"(
kernel = "sums"
inputs.x = "f32[M, N]"
outputs.y = "f32[M]"
body = 'y = sum(x, N);'
)");
  CHECK(has(text, "const bool from_memory = M * N * 4 >= kBeyondCaches;"));
  CHECK(has(text, "if (from_memory) prefetch_soon(2048, &x[m * N + n]);"));
  CHECK(!has(text, "_ahead"));
}

TEST_CASE("what is set to itself stays as it is") {
  const std::string text = openmp_text(R"(
kernel = "same"
inputs.x = "f32[N]"
outputs.y = "f32[N]"
body = 'real v = x; v = v; if (x > 0) v = v; y = v + 1;'
)");
  CHECK(!has(text, "v = v"));
  CHECK(!has(text, "any_lane"));
}

TEST_CASE("small arrays along axes have room for whole vectors") {
  const std::string text = openmp_text(R"(
kernel = "small_array"
axes.N = [40]
inputs.h = "f32[H, N]"
outputs.w = "f32[H, N]"
body = 'auto turned = exp(h); w = turned + at(turned, N = 39 - index(N));'
)");
  CHECK(has(text, "float turned[48] = {};"));
}

TEST_CASE("windows over a row that may leave it are loaded by whole groups, and asked of by groups") {
  const std::string text = openmp_text(R"(
kernel = "pool"
axes.J = 3
axes.Q = { equals = "(W - 1) / 2 + 1" }
inputs.x = "bf16[B, W]"
outputs.y = "bf16[B, Q]"
body = 'y = max(at(x, W = 2*Q + J - 1), J, where(inside(x, W = 2*Q + J - 1)));'
)");
  CHECK(has(text, "from_bf16(load_inside<2>(x, b * W + 2 * q + j - 1, 2 * q + j - 1, W, active, 0))"));
  CHECK(has(text, "active && inside<2>(2 * q + j - 1, W, active);"));
  CHECK(text.find("gather") == std::string::npos);
}

TEST_CASE("coordinates in which lanes move by themselves or far apart are asked of lane by lane") {
  const std::string text = openmp_text(R"(
kernel = "apart"
inputs.x = "f32[W]"
inputs.i = "i64[Q]"
outputs.y = "f32[Q]"
outputs.z = "f32[Q]"
body = '''
y = inside(x, W = i) ? 1.0f : 2.0f;
z = inside(x, W = 5000 * Q) ? 1.0f : at(x, W = 5000 * Q - 1);
'''
)");
  CHECK(has(text, "gather<bool>(q, active, [&](int64_t q_at) IN_SET { return inside(i[q_at], W); })"));
  CHECK(has(text, "gather<bool>(q, active, [&](int64_t q_at) IN_SET { return inside(5000 * q_at, W); })"));
  CHECK(text.find("inside<") == std::string::npos);
}

TEST_CASE("small arrays that each element has are arrays of vectors, in loops that need no guard") {
  const std::string text = openmp_text(R"(
kernel = "sort3"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = '''
float v[3];
for (int i = 0; i < 3; ++i) v[i] = at(x, N = clamp(index(N) + i - 1, 0, size(N) - 1));
for (int i = 0; i < 2; ++i)
  if (v[i] > v[i + 1]) {
    float old = v[i];
    v[i] = v[i + 1];
    v[i + 1] = old;
  }
y = v[2];
''')");
  CHECK(has(text, "Lanes<float, kLanes32> v[3] = {};"));
  CHECK(has(text, "v[i] = load_nearest(x, m * N + n + int64_t(i) - 1, n + int64_t(i) - 1, 0, N - 1, active);"));
  CHECK(has(text, "const auto chosen = active && v[i_two] > v[i_two + 1];"));
  CHECK(has(text, "v[i_two] = choose(chosen, v[i_two + 1], v[i_two]);"));
}

TEST_CASE("arrays that are read at places of each lane's own are read lane by lane; such that are set so stay scalar") {
  auto text = [](const std::string &statements) {
    return openmp_text("kernel = \"k\"\ninputs.k = \"i32[N]\"\noutputs.y = \"i32[N]\"\nbody = '''\nint v[4];\n" +
                       statements + "\ny = v[k & 3];\n'''\n");
  };
  CHECK(has(
      text("v[1] = k;"),
      "y[n], active, gather<int32_t>(n, active, [&](int64_t n_at, int lane) IN_SET { return v[k[n_at] & 3][lane]; })"));
  CHECK(has(text("v[k & 3] = 5;"), "int32_t v[4] = {};"));
  CHECK(has(text("v[k & 3] = 5;"), "v[k[n] & 3] = 5;"));
  CHECK(has(text("v[k & 7] = 5;"), "if (inside(int64_t(k[n] & 7), 4)) v[int64_t(k[n] & 7)] = 5;"));
}

TEST_CASE("what is read lane by lane within an expression has a name, once in a statement, unless it may be absent") {
  const std::string text = openmp_text(R"(
kernel = "taken"
inputs.x = "f32[M]"
inputs.bias = { type = "f32[M]", optional = true }
inputs.k = "i32[N]"
outputs.y = "f32[N]"
outputs.z = "f32[N]"
body = '''
y = (at(x, M = k) + 1) * at(x, M = k);
z = present(bias) ? at(bias, M = k) + 1 : 0;
'''
)");
  CHECK(has(text, "const auto x_at = gather<float>(n, active, [&](int64_t n_at) IN_SET { "
                  "return inside(int64_t(k[n_at]), M) ? x[int64_t(k[n_at])] : 0.0f; }); "
                  "store_around(&y[n], active, (x_at + 1.0f) * x_at, around_caches); "));
  CHECK(has(text, "bias != nullptr ? gather<float>(n, active, [&](int64_t n_at) IN_SET "));
}

TEST_CASE("neighbours that are held back at the ends of a row are loaded whole where they lie inside") {
  auto text = [](const std::string &coordinate) {
    return openmp_text("kernel = \"k\"\ninputs.x = \"bf16[M, N]\"\noutputs.y = \"f32[M, N]\"\nbody = 'y = at(x, N = " +
                       coordinate + ");'\n");
  };
  CHECK(has(text("max(index(N) - 1, 0)"), "from_bf16(load_nearest(x, m * N + n - 1, n - 1, 0, N - 1, active))"));
  CHECK(has(text("min(index(N) + 2, size(N) - 1)"), "load_nearest(x, m * N + n + 2, n + 2, 0, N - 1, active)"));
  CHECK(has(text("max(min(index(N) + 2, size(N) - 1), 0)"), "load_nearest(x, m * N + n + 2, n + 2, 0, N - 1, active)"));
  CHECK(has(text("index(N) < 2 ? 0 : index(N) - 2"), "load_nearest(x, m * N + n - 2, n - 2, 0, N - 1, active)"));
  CHECK(!has(text("index(N) < 4 ? 0 : index(N) - 2"), "load_nearest"));
  CHECK(!has(text("clamp(2 * index(N), 0, size(N) - 1)"), "load_nearest"));
}

TEST_CASE("a few rounds over rows of neighbours stand inside of the loop over them, many around it") {
  auto text = [](const std::string &rounds) {
    return openmp_text(R"(
kernel = "k"
inputs.x = "f32[H, W]"
inputs.c = "f32[K]"
outputs.y = "f32[H, W]"
body = '''
float total = 0;
for (int dy = -2; dy <= )" +
                       rounds + R"(; ++dy) total += at(x, H = clamp(index(H) + dy, 0, size(H) - 1)) * 0.5f;
y = total;
''')");
  };
  CHECK(has(text("2"), "active) IN_SET { Lanes<float, kLanes32> total = 0.0f; for (int32_t dy = -2; dy <= 2; ++dy) { "
                       "total = multiply_add("));
  CHECK(has(text("200"), "for (int32_t dy = -2; dy <= 200; ++dy) { for_lanes<kLanes32>("));
}

TEST_CASE("what is stored at one place of each element's own is a vector, a stride apart and under conditions too") {
  const std::string text = openmp_text(R"(
kernel = "k"
inputs.x = "f32[N]"
outputs.y = "f32[N, P=3]"
outputs.z = "f32[P=3, N]"
body = '''
float v = exp(x);
y = 0;
z = 0;
for (int p = 0; p < 3; ++p) {
  at(y, P = p) = v + p;
  if (v > p) at(z, P = p) = v;
}
''')");
  CHECK(has(text, "store_every(&y[n * 3 + int64_t(p)], 3, active, v + float(p));"));
  CHECK(has(text, "store(&z[int64_t(p) * N + n], active, choose(chosen, v, load(&z[int64_t(p) * N + n], active)));"));
}

TEST_CASE("a counter that stays below an axis' size needs no guard") {
  auto text = [](const std::string &type, const std::string &end) {
    return openmp_text(
        "kernel = \"k\"\ninputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M]\"\nbody = '''\nfloat t = 0;\nfor (" + type +
        " i = 0; i < " + end + "; ++i) t = max(t, at(x, N = i));\ny = t;\n'''\n");
  };
  CHECK(!has(text("int64_t", "size(N)"), "inside("));
  CHECK(!has(text("int64_t", "size(N) - 1"), "inside("));
  CHECK(has(text("int64_t", "size(M)"), "inside("));
  CHECK(has(text("int64_t", "size(N) + 1"), "inside("));
  const std::string in_int = text("int", "size(N)"); // where N is larger it would wrap around: refused
  CHECK(!has(in_int, "inside("));
  CHECK(has(in_int, "if (!(N <= 2147483647)) return status_of(KGEN_SIZE_NOT_ALLOWED, 4);"));
  CHECK(has(text("int", "size(N) + 1"), "inside("));
}

TEST_CASE("statements that write all fields of a record store it whole") {
  const auto text = [](const std::string &body) {
    return openmp_text("kernel = \"turn\"\ninputs.p = \"f32[N, C=2]\"\noutputs.q = \"f32[N, C=2]\"\nbody = '''\n" +
                       body + "\n'''\n");
  };
  CHECK(has(text("at(q, C = 1) = at(p, C = 0);\nat(q, C = 0) = -at(p, C = 1);"),
            "store_fields(&q[n * 2], active, {-load_field<2, 1>(&p[n * 2], active), load_field<2, 0>(&p[n * 2], "
            "active)}, around_caches);"));
  CHECK(has(text("at(q, C = 0) = 1;\nat(q, C = 1) = at(p, C = 0);"),
            "store_fields(&q[n * 2], active, {Lanes<float, kLanes32>(1.0f), load_field<2, 0>(&p[n * 2], active)}, "
            "around_caches);"));
  const std::string some = text("at(q, C = 0) = 1;\nat(q, C = 1) = 2;\nif (at(p, C = 0) > 0) at(q, C = 1) = 3;");
  CHECK(some.find("store_fields(") == some.rfind("store_fields("));
}

} // namespace
TEST_CASE("folds with one condition side by side ask it once; few are counted in 32 bits, and without a question") {
  const std::string text = openmp_text(R"(
kernel = "pool"
axes.J = 3
inputs.x = "f32[B, W]"
outputs.y = "f32[B, W]"
body = 'y = mean(at(x, W = index(W) + J), J, where(inside(x, W = index(W) + J)));'
)");
  CHECK(has(text, "Lanes<float, kLanes32> sum_x = 0.0f; Lanes<int32_t, kLanes32> count = 0;"));
  CHECK(has(text, "count += keep(chosen, Lanes<int32_t, kLanes32>(1), 0);"));
  CHECK(text.find("chosen2") == std::string::npos);
}

TEST_CASE("what is asked lane by lane names the lane only where the answer depends on it") {
  const std::string text = openmp_text(R"(
kernel = "k"
axes.C = 17
inputs.x = "u8[C, K, N]"
outputs.a = "i32[C, K, N]"
body = '''
a = 1;
int n = 0;
while (n < 4 && at(x, C = clamp(index(C) + 9, 0, size(C) - 1)) != 1) {
  a += inside(x, C = clamp(index(K) - n, 0, size(C) - 1), K = abs(abs(index(K) + 9))) ? 2 : 5;
  ++n;
}
'''
)");
  CHECK(has(text, "gather<bool>("));
  CHECK(!has(text, "int lane) IN_SET { return inside(absolute"));
}

} // namespace kgen
