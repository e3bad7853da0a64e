// Minima and maxima whose NaN shows in all that depends on them.
#include <doctest/doctest.h>

#include "analysis/flow.h"
#include "analysis_harness.h"

using namespace kgen;
using kgen::test::analyse;

namespace {

// How many of the minima and maxima in the statements may ignore NaN, as "1 of 2".
std::string loose(const std::string &statements, const std::string &outputs = "outputs.y = \"f32[N]\"\n") {
  const auto a = analyse("kernel = \"a\"\ninputs.p = \"f32[N]\"\ninputs.q = \"f32[N]\"\ninputs.c = \"i32[N]\"\n"
                         "inputs.w = \"f32[M]\"\n" +
                         outputs + "body = '''\n" + statements + "\n'''\n");
  REQUIRE_MESSAGE(a.errors == "", a.errors);
  std::set<ExprId> all, found;
  analysis::visit_statements(a.kernel.statements, [&](const Stmt &stmt, const auto &) {
    for (ExprId id : analysis::expressions_of(stmt))
      analysis::visit_expressions(a.kernel, id, [&](const Expr &e, ExprId at) {
        if (e.op != Op::min && e.op != Op::max)
          return;
        all.insert(at);
        if (e.nan_shows)
          found.insert(at);
      });
  });
  return std::to_string(found.size()) + " of " + std::to_string(all.size());
}

} // namespace

TEST_CASE("arithmetic beside a minimum shows the NaN of its arguments") {
  CHECK(loose("y = min(p, q) + p * q;") == "1 of 1");
  CHECK(loose("y = min(p, q) / (exp(p) - abs(q));") == "1 of 1");
  CHECK(loose("y = max(p, q) - min(p, q) + (p + q);") == "2 of 2");
  CHECK(loose("real least = min(p, q); real product = p * q; y = product - least;") == "1 of 1");
  CHECK(loose("y = min(p, q) / max(p * q, 1);") == "1 of 2"); // beside a number, NaN is passed on
  CHECK(loose("y = min(p, q) + clamp(p - q, -1, 1);") == "1 of 1");
}

TEST_CASE("where one argument shows nowhere else, its NaN is kept") {
  CHECK(loose("y = min(p, q);") == "0 of 1");
  CHECK(loose("y = min(p, q) + p;") == "0 of 1");
  CHECK(loose("y = max(p, 1) + p;") == "0 of 1"); // nothing to be gained
  CHECK(loose("y = max(min(p, q), p * q);") == "0 of 2");
  CHECK(loose("y = min(p, q) + pow(p * q, 0);") == "0 of 1");
  CHECK(loose("y = min(p, q) + (p < q ? 1 : 2);") == "0 of 1");
}

TEST_CASE("each output must show it") {
  const std::string two = "outputs.y = \"f32[N]\"\noutputs.z = \"f32[N]\"\n";
  CHECK(loose("y = min(p, q) + p * q; z = p;", two) == "1 of 1");
  CHECK(loose("real least = min(p, q); y = least + p * q; z = least;", two) == "0 of 1");
  CHECK(loose("y = min(p, q) + p * q; z = min(p, q);", two) == "0 of 2"); // one value, written twice
}

TEST_CASE("whole numbers, conditions and places do not show it") {
  CHECK(loose("y = int(min(p, q));") == "0 of 1");
  CHECK(loose("y = min(p, q) > 0 ? p * q : 7;") == "0 of 1");
  CHECK(loose("if (min(p, q) > 0) y = p * q; else y = 0;") == "0 of 1");
  CHECK(loose("y = at(p, N = int(min(p, q)));") == "0 of 1");
  // But what is NaN before it becomes one does not depend on the minimum then.
  CHECK(loose("y = int(min(p, q) + p * q);") == "1 of 1");
  CHECK(loose("real v = min(p, q) + p * q; if (v > 0) y = p; else y = 0;") == "1 of 1");
}

TEST_CASE("a choice shows it in the arm that depends on the minimum") {
  CHECK(loose("y = c > 0 ? min(p, q) + p * q : 7;") == "1 of 1");
  CHECK(loose("y = c > 0 ? min(p, q) : p * q;") == "0 of 1");
  CHECK(loose("y = min(p, q) + (c > 0 ? p * q : 7);") == "0 of 1");
  CHECK(loose("y = min(p, q) + (c > 0 ? p * q : q - p);") == "1 of 1");
}

TEST_CASE("sums show what any of their elements is") {
  const std::string scalar = "outputs.y = \"f32[]\"\n";
  CHECK(loose("y = sum(min(p, q) + p * q, N);", scalar) == "1 of 1");
  CHECK(loose("y = sum(min(p, q), N) + sum(p * q, N);", scalar) == "1 of 1");
  CHECK(loose("y = min(p, q) + sum(p * q, N);") == "1 of 1");
  CHECK(loose("y = sum(min(p, q), N, where(c > 0)) + sum(p * q, N);", scalar) == "1 of 1");
  CHECK(loose("y = sum(min(p, q), N) + sum(p * q, N, where(c > 0));", scalar) == "0 of 1");
  CHECK(loose("y = sum(min(p, q), N) + p * q;") == "0 of 1"); // other elements than this point's
  CHECK(loose("y = cumsum(min(p, q), N) + p * q;") == "0 of 1");
  CHECK(loose("y = max(min(p, q), N) + sum(p * q, N);") == "1 of 1");
  // There may be no rows of M.
  CHECK(loose("y = min(p, q) + sum(p * q * w, M);") == "0 of 1");
}

TEST_CASE("locals that change stand for nothing") {
  CHECK(loose("real v = p * q; v = 0; y = min(p, q) + v;") == "0 of 1");
  CHECK(loose("real v = min(p, q); if (c > 0) v = 1; y = v + p * q;") == "0 of 1");
  CHECK(loose("real t = p; real least = min(t, q); t = q; y = least + t * q;") == "0 of 1");
  CHECK(loose("real v = 0; for (int i = 0; i < 3; ++i) { real s = p * q; v = v + s; } y = min(p, q) + v;") == "0 of 1");
  CHECK(loose("if (c > 0) { real s = p * q; y = min(p, q) + s; } else y = 0;") == "1 of 1");
}

TEST_CASE("whole numbers have no NaN to ignore") { CHECK(loose("y = min(c, 3) + c;") == "0 of 1"); }
