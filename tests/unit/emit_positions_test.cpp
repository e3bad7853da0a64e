// Whole numbers of 64 bits that lanes need not hold: positions, counts and what is small.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

std::string openmp_text(const std::string &spec_text) { return emitted_text(spec_text, ".cpp", "\nvoid "); }

TEST_CASE("positions and counts are narrow within a block, so that they take no more lanes than what they belong to") {
  const std::string text = openmp_text(R"(
kernel = "narrow"
inputs.x = "f32[M, N]"
outputs.place = "i64[M]"
outputs.count = "i64[M]"
body = '''
place = argmax(x, N);
count = sum(x > 0, N);
'''
)");
  CHECK(has(text, "for (int64_t n_block = 0; n_block < N; n_block += 32768) { "
                  "Best<float, int32_t, kLanes32, true> greatest_x_lanes;"));
  CHECK(has(text, "greatest_x_lanes.meet(mask_of(active), x_here, positions_as<int32_t, kLanes32>(n - n_block));"));
  CHECK(has(text, "fold_best(greatest_x_lanes, n_block, argmax_x, greatest_x, above<float>);"));
  CHECK(has(text, "count_x_lanes += keep(active, convert<int32_t>(x_here > 0.0f), 0);"));
}

TEST_CASE("positions that are compared or converted leave vectors their width, as do small numbers of 64 bits") {
  const std::string text = openmp_text(R"(
kernel = "positions"
inputs.x = "f32[M, N]"
inputs.length = "i64[M]"
scalars.far = "i64"
outputs.y = "f32[M, N]"
outputs.z = "u8[M, N]"
body = '''
y = index(N) < length && abs(index(M) - 2 * index(N)) <= far ? x * (index(N) - index(M)) : index(N) % 2 == 0 ? 1 : 2;
z = index(N) == far;
'''
)");
  CHECK(text.find("kLanes64") == std::string::npos);
  CHECK(has(text, "Positions<kLanes32>{n} < length[m] && absolute(Positions<kLanes32, -2>{m - 2 * n}) <= far"));
  CHECK(has(text, "* positions_as<float, kLanes32>(n - m)"));
  CHECK(has(text, "positions_as<int32_t, kLanes32>(n % 2) % 2 == 0"));
}

TEST_CASE("what may wrap around is computed in 64 bits") {
  const std::string text = openmp_text(R"(
kernel = "positions"
inputs.x = "f32[M, N]"
scalars.far = "i64"
outputs.y = "f32[M, N]"
body = 'y = index(N) + far < 7 ? x : float(far - index(N));'
)");
  CHECK(has(text, "positions<kLanes64>(n) + far < 7"));
  CHECK(text.find("Positions<") == std::string::npos);
}

TEST_CASE("numbers that fit 16 bits, or of which the low bits are enough, are computed in 16") {
  const std::string text = openmp_text(R"(
kernel = "shorts"
axes.K = 3
inputs.x = "u8[M, N, C=3]"
outputs.grey = "u8[M, N]"
outputs.low = "i8[M, N]"
body = '''
grey = (77 * at(x, C = 0) + 150 * at(x, C = 1) + 29 * at(x, C = 2) + 128) >> 8;
int d = at(x, C = 0) - at(x, C = 1);
low = abs(d) / 3 + d * d * d;
'''
)");
  CHECK(has(text, "for_lanes<kLanes16>") != has(text, "for_lines<kLanes16>"));
  CHECK(has(text, "150 * widened_bytes<uint16_t>("));
  CHECK(has(text, "convert<int8_t>(absolute(d) / 3 + d * d * d)"));
  CHECK(text.find("int32_t") == std::string::npos);
}

TEST_CASE("one number that needs more than 16 bits keeps a loop as it is") {
  for (const char *body : {"y = 129 * x * x >> 8;", "y = x + far > 3;", "y = x / 2.0f;", "y = (x * 300 + x) / 5;"}) {
    CAPTURE(body);
    const std::string text = openmp_text("kernel = \"longs\"\ninputs.x = \"u8[N]\"\nscalars.far = \"i32\"\n"
                                         "outputs.y = \"u8[N]\"\nbody = '" +
                                         std::string(body) + "'\n");
    CHECK(text.find("kLanes16") == std::string::npos);
  }
}

TEST_CASE("a remainder by a number does not make rows lanes") {
  const std::string text = openmp_text(R"(
kernel = "waves"
inputs.x = "f32[M, N]"
inputs.t = "f32[N]"
outputs.y = "f32[M, N]"
body = 'y = x + (index(N) % 2 == 0 ? sin(index(M) * t) : cos(index(M) * t));'
)");
  CHECK(has(text, "load(&x[m * N + n], active)"));
}

TEST_CASE("a place far away is compared with where the block begins in 64 bits, however wide indices are") {
  const std::string text = emitted_text(R"(kernel = "k"
inputs.x = { type = "f32[C, H]", block = [1, 3], offset = ["b", "f"] }
grid.b = { axis = "C", block = 1 }
grid.f = { axis = "F", block = 1 }
outputs.y = "f32[C, F]"
body = 'auto v = x; y = at(v, H = (1 | size(C)));'
)",
                                        "_cuda.cu", "k_kernel");
  CHECK(has(text, "inside(wrapping_subtract(1 | int64_t(C), int64_t(f_step)), smaller(3, H - f_step))"));
}

} // namespace
} // namespace kgen
