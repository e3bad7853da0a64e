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
                  "Best<float, int32_t, kLanes32, true> best_lanes;"));
  CHECK(has(text, "best_lanes.meet(mask_of(active), x_, positions_as<int32_t, kLanes32>(n - n_block));"));
  CHECK(has(text, "fold_best(best_lanes, n_block, where, best, above<float>);"));
  CHECK(has(text, "total_lanes += keep(active, convert<int32_t>(x_ > 0.0f), 0);"));
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

} // namespace
} // namespace kgen
