// Blocks that only tile disappear; what is meaning stays.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/canonicalize.h"

using namespace kgen;

namespace {

Kernel canonical(const std::string &text) {
  const test::Analysed a = test::analyse(text);
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  Kernel kernel = canonicalize(a.kernel, a.facts);
  CHECK(verify(kernel) == "");
  return kernel;
}

} // namespace

TEST_CASE("parallel blocks and an accumulated dimension are dropped") {
  const Kernel kernel = canonical(R"toml(kernel = "matmul"
inputs.x = "f32[M, K]"
inputs.y = "f32[K, N]"
outputs.z = "f32[M, N]"
scratch.acc = "f32[M, N]"
grid.i = { axis = "M", block = 8, semantics = "parallel" }
grid.j = { axis = "N", block = 8, semantics = "parallel" }
grid.k = { axis = "K", block = 8, semantics = "arbitrary" }
body = '''
if (first(k)) acc = 0;
acc += dot(x, y, K);
if (last(k)) z = acc;
''')toml");
  CHECK(kernel.grid.empty());
  CHECK(kernel.statements.size() == 3);
  for (const Axis &axis : kernel.axes)
    CHECK(axis.block == axis.size);
}

TEST_CASE("an ordered carry keeps its steps") {
  const Kernel kernel = canonical(R"toml(kernel = "prefix"
inputs.x = "f32[M]"
outputs.y = "f32[M]"
scratch.carry = "f32[]"
grid.i = { axis = "M", block = 8, semantics = "arbitrary" }
body = '''
if (first(i)) carry = 0;
y = carry + cumsum(x, M);
carry += sum(x, M);
''')toml");
  REQUIRE(kernel.grid.size() == 1);
  CHECK(kernel.grid[0].name == "i");
}

TEST_CASE("partial sums of blocks keep the blocks") {
  const Kernel kernel = canonical(R"toml(kernel = "parts"
inputs.x = "f32[M]"
outputs.part = { type = "f32[P]", block = [1], index = ["i"] }
axes.P = { equals = "cdiv(M, 8)" }
grid.i = { axis = "M", block = 8, semantics = "parallel" }
body = 'part = sum(x, M);'
)toml");
  CHECK(kernel.grid.size() == 1);
}
