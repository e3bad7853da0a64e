// Branches that only choose what is stored become choices; what folds, may be absent or differs in its targets stays.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/choices.h"

using namespace kgen;

namespace {

// How many branches and assignments there are after it.
std::pair<int, int> counts(const std::vector<Stmt> &statements) {
  std::pair<int, int> out;
  for (const Stmt &s : statements) {
    out.first += s.kind == Stmt::Kind::branch;
    out.second += s.kind == Stmt::Kind::assign;
    for (const std::vector<Stmt> *inner : {&s.body, &s.otherwise, &s.step}) {
      const auto [branches, assignments] = counts(*inner);
      out.first += branches;
      out.second += assignments;
    }
  }
  return out;
}

std::pair<int, int> left(const std::string &body, const std::string &more = "") {
  const test::Analysed a = test::analyse("kernel = \"k\"\ninputs.x = \"f32[M, N]\"\n"
                                         "inputs.b = { type = \"f32[M, N]\", optional = true }\n" +
                                         more + "outputs.y = \"f32[M, N]\"\nbody = '''\n" + body + "\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = branches_as_choices(a.kernel);
  CHECK(verify(kernel) == "");
  return counts(kernel.statements);
}

using Left = std::pair<int, int>;

} // namespace

TEST_CASE("branches whose arms set the same become choices") {
  CHECK(left("if (x > 0) y = x; else y = -x;") == Left(0, 1));
  CHECK(left("if (x > 1) y = 1; else if (x < -1) y = -1; else y = x;") == Left(0, 1));
  CHECK(left("y = 0;\nif (x > 0) y = x;") == Left(0, 1));
  CHECK(left("real v = x;\nif (v > 1) v = 1;\ny = v;") == Left(0, 3));
  CHECK(left("real v = 0;\nif (x > 0) { v = x; y = v; } else { v = 2; y = x; }") == Left(0, 3));
}

TEST_CASE("branches stay where they are the same for all lanes, and where arms differ or must not be computed") {
  CHECK(left("if (size(N) > 3) y = x; else y = 1;").first == 1);
  CHECK(left("y = x;\nif (y > 0) y = 1;").first == 1);
  CHECK(left("if (present(b) && x > 0) y = b; else y = x;").first == 1);
  CHECK(left("real v = x, w = x;\nif (x > 0) v = 1; else w = 1;\ny = v + w;").first == 1);
  CHECK(left("real v = x, w = x;\nif (v > 0) { v = 1; w = 2; } else { v = 3; w = 1; }\ny = v + w;").first == 1);
  CHECK(left("if (x > 0) z = x;\ny = x;", "outputs.z = { type = \"f32[M, N]\", partial = true }\n").first == 1);
}
