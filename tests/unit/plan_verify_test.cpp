// Plans with a fault are refused, and for that fault.
#include "plan_harness.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "plan/index/access.h"
#include "plan/passes.h"
#include "plan/verify/verify.h"

using namespace kgen;

namespace {

Plan plan_of(const std::string &body, TargetKind target = TargetKind::cuda,
             const std::string &outputs = "outputs.y = \"f32[M, N]\"\noutputs.s = \"f32[M]\"\n") {
  return test::plan_of("kernel = \"k\"\ninputs.x = \"f32[M, N]\"\n" + outputs + "body = '''\n" + body + "\n'''\n",
                       target);
}

std::string verify(const Plan &plan) { return PlanVerifier(plan.kernel).check(plan); }

// The first list with so many statements of this kind.
std::vector<PlanNode> *find_list(std::vector<PlanNode> &nodes, PlanNode::Kind kind, int count) {
  if (std::count_if(nodes.begin(), nodes.end(), [&](const PlanNode &n) { return n.kind == kind; }) >= count)
    return &nodes;
  for (PlanNode &node : nodes)
    if (std::vector<PlanNode> *found = find_list(node.body, kind, count))
      return found;
  return nullptr;
}

std::vector<PlanNode> &list_with(Plan &plan, PlanNode::Kind kind, int count = 1) {
  for (Phase &phase : plan.phases)
    if (std::vector<PlanNode> *found = find_list(phase.nodes, kind, count))
      return *found;
  REQUIRE(false);
  return plan.phases.front().nodes;
}

const std::string kRows = "real total = sum(x, N);\ny = x / total;\ns = total;";

} // namespace

TEST_CASE("each pass stands behind all that it names") { CHECK(misplaced(passes()) == ""); }

TEST_CASE("a pass before one that it names is found") {
  const std::vector<Pass> list = {{"second", Targets::both, {{"first", "it asks for that"}}, nullptr},
                                  {"first", Targets::both, {}, nullptr}};
  CHECK(misplaced(list) == "second stands before first: it asks for that");
}

TEST_CASE("plans as they are made are whole") {
  CHECK(verify(plan_of(kRows, TargetKind::openmp)) == "");
  CHECK(verify(plan_of(kRows, TargetKind::cuda)) == "");
}

TEST_CASE("a fold that nothing starts") {
  Plan plan = plan_of(kRows);
  std::vector<PlanNode> &list = list_with(plan, PlanNode::Kind::fold_init);
  std::erase_if(list, [](const PlanNode &n) { return n.kind == PlanNode::Kind::fold_init; });
  CHECK(verify(plan) == "'y' depends on what was never written");
}

TEST_CASE("a total that is read before its loop") {
  Plan plan = plan_of(kRows);
  std::vector<PlanNode> &list = list_with(plan, PlanNode::Kind::fold_init);
  REQUIRE(list[1].kind == PlanNode::Kind::loop);
  REQUIRE(list.back().kind == PlanNode::Kind::loop);
  std::swap(list[1], list.back());
  CHECK(verify(plan).find("'y' depends no longer on") == 0);
}

TEST_CASE("a statement outside of a loop that it needs") {
  Plan plan = plan_of(kRows);
  std::vector<PlanNode> &list = list_with(plan, PlanNode::Kind::fold_init);
  REQUIRE(list.back().kind == PlanNode::Kind::loop);
  list.back() = PlanNode(list.back().body.front());
  CHECK(verify(plan) == "'y' is set outside of a loop over N");
}

TEST_CASE("an output that one way through the plan leaves out") {
  Plan plan = plan_of(kRows, TargetKind::openmp);
  const auto cut = std::find_if(plan.phases.begin(), plan.phases.end(), [](const Phase &p) { return p.unless; });
  REQUIRE(cut != plan.phases.end());
  std::erase_if(plan.phases, [](const Phase &p) { return p.unless; });
  CHECK(!verify(plan).empty());
}

TEST_CASE("assignments in another order") {
  Plan plan = plan_of("y = x;\nif (x > 0) y = y * 2;\nif (x < 1) y = y + 1;\ns = 0;");
  std::vector<PlanNode> &list = list_with(plan, PlanNode::Kind::branch, 2);
  const auto first = std::find_if(list.begin(), list.end(), [](const PlanNode &n) { return !n.body.empty(); });
  std::swap(first[0], first[1]);
  CHECK(verify(plan).find("'y' depends no longer on statement") == 0);
}

// Columns that go with rows once read the first of what a row sets twice.
TEST_CASE("columns beside rows see what the row has set last") {
  const std::string body = "real a = 1.0f;\na = sum(x * 2, N);\nc = sum(x > 0 ? a : 1.0f, M);";
  const Plan plan = plan_of(body, TargetKind::openmp, "outputs.c = \"f32[N]\"\n");
  CHECK(print(plan).find("several M_shares") != std::string::npos);
  CHECK(verify(plan) == "");
}
