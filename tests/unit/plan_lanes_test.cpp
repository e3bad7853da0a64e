// Which loops of an OpenMP plan are vectors, and what it says of them: totals, records, tiles, and what memory is asked
// for before it is wanted.
#include "plan_harness.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "plan/index/access.h"

using namespace kgen;

namespace {

using Form = LaneTotal::Form;

Plan plan_of(const std::string &operands, const std::string &body) {
  return test::plan_of("kernel = \"k\"\n" + operands + "body = '''\n" + body + "\n'''\n", TargetKind::openmp);
}

// The nodes of which it is so.
template <class Question> std::vector<const PlanNode *> nodes_of(const Plan &plan, const Question &question) {
  std::vector<const PlanNode *> out;
  for (const Phase &phase : plan.phases)
    for (const PlanNode &root : phase.nodes)
      for_each_node(root, [&](const PlanNode &n) {
        if (question(n))
          out.push_back(&n);
      });
  return out;
}

std::vector<const PlanNode *> on_lanes(const Plan &plan) {
  return nodes_of(plan, [](const PlanNode &n) { return n.on_lanes.has_value(); });
}

LaneTotal total_of(const std::string &type, const std::string &body, const std::string &out = "f32") {
  const Plan plan = plan_of("inputs.x = \"" + type + "[M, N]\"\noutputs.s = \"" + out + "[M]\"\n", body);
  const auto folds = nodes_of(plan, [](const PlanNode &n) { return n.lane_total.has_value(); });
  REQUIRE(!folds.empty());
  return *folds.front()->lane_total;
}

} // namespace

TEST_CASE("neighbours of memory are lanes, unless the schedule says otherwise") {
  const std::string map = "inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n";
  const Plan plan = plan_of(map, "y = x * 2;");
  REQUIRE(on_lanes(plan).size() == 1);
  CHECK(plan.kernel.axes[on_lanes(plan)[0]->axis].name == "N");
  CHECK(nodes_of(plan, [](const PlanNode &n) { return n.streamed; }).size() == 1);
  const Plan scalar = plan_of(map + "schedule.openmp.lanes = false\n", "y = x * 2;");
  CHECK(on_lanes(scalar).empty());
  CHECK(nodes_of(scalar, [](const PlanNode &n) { return n.streamed; }).empty());
}

TEST_CASE("folds say what each lane has for itself") {
  CHECK(total_of("f32", "s = sum(x, N);").form == Form::turns);
  CHECK(total_of("f32", "s = sum(exp(x), N);").form == Form::plain); // that fills the time
  CHECK(total_of("f32", "s = max(x, N);").form == Form::extreme);
  CHECK(total_of("i32", "s = max(x, N);", "i32").form == Form::plain);
  const LaneTotal best = total_of("f32", "s = argmax(x, N);", "i64");
  CHECK(best.form == Form::best);
  CHECK(best.type == Type::i32); // within a block
  const LaneTotal words = total_of("i8", "s = sum(int32_t(x) * int32_t(x), N);", "i32");
  CHECK(words.form == Form::words);
  CHECK(words.factors.size() == 2);
}

TEST_CASE("long sums join the total of the loop by blocks") {
  const std::string rows = "inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[M]\"\n";
  for (const auto &[body, blocks] : {std::pair("s = sum(x, N);", true), std::pair("s = max(x, N);", false)}) {
    const Plan plan = plan_of(rows, body);
    const auto loops = on_lanes(plan);
    CHECK(std::ranges::any_of(loops, [](const PlanNode *loop) { return loop->on_lanes->block > 0; }) == blocks);
  }
}

TEST_CASE("what has its neighbours along the loop around is turned in tiles") {
  const Plan plan = plan_of("inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[N, M]\"\n", "y = x;");
  const auto loops = on_lanes(plan);
  REQUIRE(loops.size() == 1);
  CHECK(loops[0]->on_lanes->crossed != kNone);
  CHECK(loops[0]->on_lanes->turned.size() == 1);
}

TEST_CASE("records of few fields are stored whole, whether a loop or statements set them") {
  const std::string arrays = "inputs.x = \"f32[N]\"\noutputs.o = \"f32[N, C=3]\"\n";
  const auto is_field = [](const PlanNode &n) { return n.field.has_value(); };
  const auto is_first = [](const PlanNode &n) { return n.fields == 3; };
  const Plan loop = plan_of(arrays, "o = x + index(C);");
  CHECK(nodes_of(loop, is_first).size() == 1);
  CHECK(nodes_of(loop, is_field).size() == 1);
  const Plan statements = plan_of(arrays, "at(o, C = 0) = x;\nat(o, C = 2) = x * 2;\nat(o, C = 1) = x * 3;");
  REQUIRE(nodes_of(statements, is_field).size() == 3);
  CHECK(nodes_of(statements, is_first).size() == 1);
  CHECK(nodes_of(statements, is_field)[1]->field == 2);
  const Plan not_all = plan_of("inputs.x = \"f32[N]\"\noutputs.o = \"f32[N, C=3]\"\n",
                               "o = 0;\nat(o, C = 0) = x;\nat(o, C = 2) = x * 2;");
  CHECK(nodes_of(not_all, [&](const PlanNode &n) { return n.field && !n.coords.empty(); }).empty());
}

TEST_CASE("whole records go around the caches if nothing reads them") {
  const std::string arrays = "inputs.x = \"f32[N]\"\noutputs.o = \"f32[N, C=2]\"\noutputs.z = \"f32[N]\"\n";
  const auto streamed = [&](const std::string &body) {
    return nodes_of(plan_of(arrays, body), [](const PlanNode &n) { return n.streamed && n.field; }).size();
  };
  CHECK(streamed("o = x + index(C);\nz = 1;") == 1);
  CHECK(streamed("at(o, C = 0) = x;\nat(o, C = 1) = x * 2;\nz = 1;") == 1); // the first stores all
  CHECK(streamed("at(o, C = 0) = x;\nat(o, C = 1) = x * 2;\nz = at(o, C = 1, N = 0);") == 0);
}

TEST_CASE("in a loop over parts of the fields no record is stored whole") {
  const Plan plan = plan_of("axes.C = 4\ninputs.x = \"f32[C]\"\ninputs.w = \"f32[N, C]\"\noutputs.s = \"f32[C]\"\n"
                            "outputs.o = \"f32[N, C]\"\n",
                            "s = sum(w, N);\no = s * x;");
  REQUIRE(!nodes_of(plan, [](const PlanNode &n) { return n.parts > 0; }).empty());
  CHECK(nodes_of(plan, [](const PlanNode &n) { return n.fields > 0; }).empty());
}

TEST_CASE("a fold alone asks memory for what comes soon, the second loop over a row for the next one") {
  const auto asked = [](const std::string &body, const std::string &out) {
    const Plan plan = plan_of("inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[" + out + "]\"\n", body);
    std::set<Ahead::What> found;
    for (const PlanNode *n : nodes_of(plan, [](const PlanNode &node) { return !node.ahead.empty(); }))
      for (const Ahead &ahead : n->ahead) {
        CHECK(!ahead.reads.empty());
        found.insert(ahead.what);
      }
    return found;
  };
  CHECK(asked("y = sum(x, N);", "M").count(Ahead::What::soon) == 1);
  CHECK(asked("y = x / sum(x, N);", "M, N").count(Ahead::What::row) == 1);
  CHECK(asked("y = x * 2;", "M, N").empty());
}
