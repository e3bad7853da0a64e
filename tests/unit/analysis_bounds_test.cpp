// Between which numbers whole numbers lie, where statements lead to them.
#include <doctest/doctest.h>

#include "analysis/flow.h"
#include "analysis_harness.h"

using namespace kgen;
using kgen::test::analyse;
using kgen::test::Analysed;

namespace {

// "0..4", of what the last assignment of `probe` stores; "any": nothing is known.
std::string bounds(const std::string &statements) {
  const Analysed a = analyse("kernel = \"a\"\naxes.K = 6\ninputs.x = \"i32[N]\"\ninputs.b = \"u8[N]\"\n"
                             "inputs.w = \"f32[K]\"\noutputs.y = \"i32[N]\"\noutputs.z = \"f32[N]\"\nbody = '''\n"
                             "int probe = 0;\nz = sum(w, K);\n" +
                             statements + "\ny = probe;\n'''\n");
  REQUIRE_MESSAGE(a.errors == "", a.errors);
  std::string found = "never set";
  analysis::visit_statements(a.kernel.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind != Stmt::Kind::assign || a.kernel.vars[stmt.target].name != "probe")
      return;
    const Expr &value = a.kernel.expr(stmt.value);
    found = is_bounded(value) ? std::to_string(value.bounds.low) + ".." + std::to_string(value.bounds.high) : "any";
  });
  return found;
}

} // namespace

TEST_CASE("arithmetic keeps bounds, as long as the type holds them") {
  CHECK(bounds("probe = 7;") == "7..7");
  CHECK(bounds("probe = x;") == "any");
  CHECK(bounds("probe = b;") == "0..255");
  CHECK(bounds("probe = b - 3;") == "-3..252");
  CHECK(bounds("probe = -b * 2;") == "-510..0");
  CHECK(bounds("probe = b * b * b * b;") == "any");
  CHECK(bounds("probe = x + 1;") == "any");
  CHECK(bounds("probe = x & 7;") == "0..7");
  CHECK(bounds("probe = x % 5;") == "-4..4");
  CHECK(bounds("probe = b % 5;") == "0..4");
  CHECK(bounds("probe = b / 4;") == "0..63");
  CHECK(bounds("probe = b >> 6;") == "0..3");
  CHECK(bounds("probe = clamp(x, 2, 9);") == "2..9");
  CHECK(bounds("probe = min(max(x, 0), 3) + 1;") == "1..4");
  CHECK(bounds("probe = x > 0 ? 3 : 5;") == "3..5");
  CHECK(bounds("probe = abs(b - 9);") == "0..246");
  CHECK(bounds("probe = size(K);") == "6..6");
}

TEST_CASE("loops that count keep to where they stop") {
  CHECK(bounds("for (int i = 0; i < 5; ++i) probe = i;") == "0..4");
  CHECK(bounds("for (int i = 5; i > 1; i = i - 1) probe = i;") == "2..5");
  CHECK(bounds("for (int i = 4; i >= 0; i = i - 2) probe = i;") == "0..4");
  CHECK(bounds("for (int i = 0; i < size(K); i = i + 2) probe = i + 1;") == "1..6");
  CHECK(bounds("for (int i = 0; i < 4; ++i) for (int j = 0; j < 4 - i; ++j) probe = j + 1;") == "1..4");
  CHECK(bounds("for (int i = 0; i < 4; ++i) for (int j = i + 1; j < 4; ++j) probe = j;") == "1..3");
  CHECK(bounds("int i = 0; while (i < 9) i = i + 1; probe = i;") == "9..9");
  CHECK(bounds("int i = 0; while (x > i) i = i + 1; probe = i;") == "0..2147483647");
  CHECK(bounds("int i = 1; while (i < 100) i = i * 2; probe = i;") == "100..198");
  CHECK(bounds("for (int i = 0; i < 5; ++i) { if (i == 3) break; probe = i; }") == "0..4");
}

TEST_CASE("loops whose bodies move the counter, or leave early, are not taken for more than they are") {
  CHECK(bounds("for (int i = 0; i < 5; ++i) { i = i + 1; probe = i; }") == "1..5");
  CHECK(bounds("int i = 0; for (;;) { if (i > 3) break; i = i + 1; } probe = i;") == "4..4");
  CHECK(bounds("int i = 0; while (i < 9) { if (x > i) break; i = i + 1; } probe = i;") == "0..9");
  CHECK(bounds("int i = 0; while (i < 9) { i = i + 1; if (x > i) continue; i = i + 2; } probe = i;") == "9..11");
}

TEST_CASE("conditions bound what they compare, and only where they hold") {
  CHECK(bounds("int v = x; if (v > 2) probe = v - 3;") == "0..2147483644");
  CHECK(bounds("int v = x; if (v >= 0 && v < 4) probe = v;") == "0..3");
  CHECK(bounds("int v = x; if (v < 0 || v > 7) v = 0; probe = v;") == "0..7");
  CHECK(bounds("int v = x; if (!(v < 5)) probe = 0; else probe = v;") == "-2147483648..4");
  CHECK(bounds("int v = b; if (v == 9) probe = v;") == "9..9");
  CHECK(bounds("int v = b; if (v < 4) v = 10; probe = v;") == "4..255");
  CHECK(bounds("int v = 3; if (x > 0) v = 8; probe = v;") == "3..8");
}
