// What the kernels of a GPU are, as the plan decides it; and plans whose kernels do not fit are refused.
#include "plan_harness.h"

#include <doctest/doctest.h>

#include "plan/cuda/nests.h"
#include "plan/index/ranges.h"
#include "plan/verify/launches.h"

using namespace kgen;

namespace {

using Launch = Phase::Launch;
using Work = Launch::Work;

Plan plan_of(const std::string &operands, const std::string &body) {
  return test::plan_of("kernel = \"k\"\n" + operands + "body = '''\n" + body + "\n'''\n", TargetKind::cuda);
}

const std::string kRows = "inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n";

Plan softmax() { return plan_of(kRows, "real e = exp(x - max(x, N));\ny = e / sum(e, N);"); }

Plan column_sums() { return plan_of("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[N]\"\n", "s = sum(x, M);"); }

Plan whole_sum() { return plan_of("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[]\"\n", "s = sum(x, M, N);"); }

const Launch &only(const Plan &plan) {
  REQUIRE(plan.phases.size() == 1);
  return plan.phases.front().launch;
}

std::vector<std::string> names_of_rooms(const Plan &plan, const Launch &launch, Launch::Room::Kind kind) {
  std::vector<std::string> out;
  for (const Launch::Room &room : launch.rooms)
    if (room.kind == kind)
      out.push_back(room.var == kNone ? "" : plan.kernel.vars[room.var].name);
  return out;
}

} // namespace

TEST_CASE("a map takes several positions a thread") {
  const Plan plan = plan_of(kRows, "y = x * 2;");
  CHECK(only(plan).work == Work::packs);
  CHECK(only(plan).together == 4);
  CHECK(only(plan).rooms.empty());
}

TEST_CASE("a map in half precision takes twice as many") {
  const Plan plan = plan_of("inputs.x = \"f16[M, N]\"\noutputs.y = \"f16[M, N]\"\n", "y = x * 2;");
  CHECK(only(plan).together == 8);
}

TEST_CASE("arrays that lie crosswise go through tiles") {
  const Plan plan = plan_of("inputs.x = \"f32[N, M]\"\noutputs.y = \"f32[M, N]\"\n", "y = x;");
  CHECK(only(plan).work == Work::crosswise);
}

TEST_CASE("blocks share the folds of columns, and leave parts of them") {
  const Plan plan = column_sums();
  CHECK(only(plan).work == Work::columns);
  CHECK(only(plan).split);
  CHECK(names_of_rooms(plan, only(plan), Launch::Room::parts).size() == 1);
  CHECK(names_of_rooms(plan, only(plan), Launch::Room::tickets).size() == 1);
}

TEST_CASE("a single fold of a row is a row, one that more comes after is a team that keeps what it reads") {
  const Plan sums = plan_of("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[M]\"\n", "s = sum(x, N);");
  CHECK(only(sums).work == Work::row);
  CHECK(names_of_rooms(sums, only(sums), Launch::Room::parts).size() == 1);
  const Plan plan = softmax();
  CHECK(only(plan).work == Work::team);
  CHECK(only(plan).split);
  CHECK(names_of_rooms(plan, only(plan), Launch::Room::slots).size() == 1);
  REQUIRE(only(plan).kept.size() == 1);
  CHECK(plan.kernel.vars[only(plan).kept.front()].name == "x");
}

TEST_CASE("scans of rows need no whole block, but where one thread finds what all ask for") {
  const std::string few = "axes.N = 64\n" + kRows;
  CHECK(only(plan_of(few, "y = cumsum(x, N);")).work == Work::warps);
  CHECK(only(plan_of(few, "y = cumsum(x, N);")).folds);
  const Plan swaps = plan_of(few, "real c = cumsum(x, N);\ny = at(c, N = 63 - index(N));");
  CHECK(only(swaps).work == Work::block);
}

TEST_CASE("chunks of a whole array are folded by points, meet at a ticket, and do what comes next") {
  const Plan plan = whole_sum();
  REQUIRE(plan.phases.size() >= 2);
  CHECK(plan.phases[0].launch.work == Work::none); // what starts the fold
  CHECK(plan.phases[1].launch.work == Work::points);
  CHECK(names_of_rooms(plan, plan.phases[1].launch, Launch::Room::ticket).size() == 1);
  for (size_t i = 2; i < plan.phases.size(); ++i)
    CHECK(plan.phases[i].launch.work == Work::none);
}

TEST_CASE("loops whose ranges depend on each other are no nest") {
  const Plan plan = plan_of("tables.start = \"i64[B + 1]\"\naxes.N = { ragged = \"start\", over = \"B\" }\n"
                            "inputs.x = \"f32[B, N]\"\noutputs.y = \"f32[B, N]\"\n",
                            "y = x * 2;");
  const PlanNode &rows = plan.phases.front().nodes.front();
  REQUIRE(rows.body.size() == 1);
  CHECK(depends_on(plan.kernel, rows.body.front(), {&rows}));
  CHECK(nest_of(plan, rows, PlanNode::Order::parallel).size() == 1);
  CHECK(plan.phases.front().launch.work == Work::block);
}

TEST_CASE("it is decided when accesses are wide: for all arrays, and for rows that follow each other") {
  const Plan plan = softmax();
  const Launch::Aligned &aligned = only(plan).aligned;
  REQUIRE(aligned.arrays.size() == 2);
  CHECK(plan.kernel.vars[aligned.arrays[0]].name == "x");
  CHECK(plan.kernel.vars[aligned.arrays[1]].name == "y");
  REQUIRE(aligned.multiples.size() == 1);
  CHECK(aligned.multiples[0] == std::pair{Size::axis("N"), int64_t{4}});
}

TEST_CASE("what a row is divided by is turned round once, but not where quotients are rounded") {
  const Plan plan = softmax();
  const std::vector<PlanNode> &body = plan.phases.front().nodes.front().body;
  REQUIRE(body.back().packs);
  CHECK(body.back().packs->together == 4);
  CHECK(body.back().packs->whole);
  REQUIRE(body.back().packs->reciprocals.size() == 1);
  CHECK(plan.kernel.vars[body.back().packs->reciprocals[0]].name == "sum_e");
  const Plan rounded = plan_of("inputs.x = \"f32[M, N]\"\noutputs.y = \"i32[M, N]\"\n", "y = round(x / sum(x, N));");
  const PlanNode &last = rounded.phases.front().nodes.front().body.back();
  REQUIRE(last.packs);
  CHECK(last.packs->reciprocals.empty());
}

TEST_CASE("the host chooses threads by the points that they share") {
  const Plan sums = column_sums();
  REQUIRE(only(sums).lengths.size() == 1);
  CHECK(only(sums).lengths[0] == std::vector{Size::axis("M")});
  CHECK(whole_sum().phases[1].launch.lengths.empty()); // by their chunk
}

TEST_CASE("a loop takes as many positions at once as its kernel, and reciprocals of what stays") {
  Plan plan = softmax();
  PlanNode &last = plan.phases.front().nodes.front().body.back();
  last.packs->together = 2;
  CHECK(check_launches(plan) == "phase 1: a loop takes other positions at once than its kernel");
  last.packs = PlanNode::Packs{4, true, true, {last.body.back().target}};
  CHECK(check_launches(plan) == "phase 1: a reciprocal of what changes");
}

TEST_CASE("a kernel that does not fit its phase is refused") {
  Plan plan = softmax();
  CHECK(check_launches(plan) == "");
  plan.phases.front().launch.work = Work::points;
  CHECK(check_launches(plan) == "phase 1: a kernel that does not fit its phase");
  plan = whole_sum();
  CHECK(check_launches(plan) == "");
  plan.phases.front().launch.work = Work::block;
  CHECK(check_launches(plan) == "phase 1: a kernel of what the phase before does");
}

TEST_CASE("blocks that share a fold must have where to leave it") {
  Plan plan = column_sums();
  CHECK(check_launches(plan) == "");
  plan.phases.front().launch.rooms.clear();
  CHECK(check_launches(plan) == "phase 1: blocks that share items have no place to meet, or others have one");
}

TEST_CASE("what is kept of a row must be read again") {
  Plan plan = softmax();
  for (size_t v = 0; v < plan.kernel.vars.size(); ++v)
    if (plan.kernel.vars[v].name == "y")
      plan.phases.front().launch.kept = {static_cast<VarId>(v)};
  CHECK(check_launches(plan) == "phase 1: 'y' is kept for no one");
}

TEST_CASE("threads take positions that lie side by side only") {
  Plan plan = plan_of(kRows, "y = x * 2;");
  plan.phases.front().launch.together = 3;
  CHECK(check_launches(plan) == "phase 1: a thread takes positions that do not lie side by side");
  plan.phases.front().launch.work = Work::crosswise;
  CHECK(check_launches(plan) == "phase 1: tiles of what does not lie crosswise");
}

TEST_CASE("a kernel has the buffers that it uses") {
  Plan plan = softmax();
  plan.phases.front().launch.buffers = {0};
  CHECK(check_launches(plan) == "phase 1: a kernel without the buffers that it uses, or with others");
}
