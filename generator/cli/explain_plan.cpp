// How a target goes about a kernel, and why: what each phase shares out, which loops are vectors and which are not for
// what reason, where intermediates live.
#include <set>

#include "cli/explanation.h"
#include "plan/contract/contractions.h"
#include "plan/cuda/words.h"
#include "plan/cut/share_lists.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/tree/tree.h"
#include "plan/variants/plans.h"
#include "support/text.h"

namespace kgen {

namespace {

using Row = Explanation::Row;

class PlanStory {
public:
  PlanStory(const Variation &variation, TargetKind target)
      : plan_(variation.plans.at(target).plan), kernel_(plan_.kernel), lanes_(plan_),
        cuda_(target == TargetKind::cuda) {
    if (cuda_)
      return;
    const auto plain = [](const std::string &axis) { return axis; };
    const TargetPlans &plans = variation.plans.at(target);
    for (const ShortRows &rows : plans.short_rows)
      some_calls_ += "calls with " + short_rows_condition(rows, plain) +
                     ": neighbouring rows side by side, by a function of their own\n";
    if (plans.flat_rows)
      some_calls_ += "calls with " + flat_rows_condition(*plans.flat_rows, plain) + " and " +
                     flat_rows_limit(*plans.flat_rows, plain) +
                     ": elements one by one, whatever rows they are of, by a function of their own\n";
  }

  std::vector<Explanation::Section> sections() {
    const std::string name = cuda_ ? "cuda" : "openmp";
    std::vector<Explanation::Section> out = {
        {name, {}, "", ""}, {name + " loops", {}, "", ""}, {name + " places", {}, "", ""}};
    for (size_t p = 0; p < plan_.phases.size(); ++p) {
      const Phase &phase = plan_.phases[p];
      out[0].rows.push_back({{"phase", std::to_string(p + 1), true},
                             {"does", work(phase) + condition_words(plan_, phase)},
                             {"family", family(phase)}});
      if (!cuda_)
        for (const PlanNode &node : phase.nodes)
          inner_loops(node, p, out[1].rows);
    }
    out[0].below = print(plan_) + some_calls_;
    for (size_t v = 0; v < plan_.storage.size(); ++v)
      place(static_cast<VarId>(v), out[2].rows);
    std::erase_if(out, [](const Explanation::Section &section) { return section.rows.empty(); });
    return out;
  }

private:
  std::string split_names(const Phase &phase) const {
    std::vector<std::string> names;
    for (const PlanNode *loop : leading_loops(phase.nodes.front(), phase.split))
      names.push_back(name_of_loop(kernel_, *loop));
    return join(names, ", ");
  }

  std::string work(const Phase &phase) const {
    switch (phase.kind) {
    case Phase::Kind::serial:
      return cuda_ ? "one block does it" : sets_numbers(plan_, phase) ? "numbers for the others" : "one thread does it";
    case Phase::Kind::chunked:
      return "chunks of " + kernel_.axes[phase.nodes.front().axis].name +
             ", whose bounds depend on sizes only, then combined in order";
    case Phase::Kind::contracted:
      return "threads share " + contraction_words(plan_, phase) + ", which are folded in registers";
    case Phase::Kind::parallel:
      break;
    }
    if (!cuda_)
      return "threads share " + split_names(phase) + row_contraction_words(plan_, phase);
    return worker_words(phase) + " for each of " + split_names(phase) +
           (phase.lane == kNone ? "" : ", neighbouring threads along " + kernel_.axes[phase.lane].name) +
           thread_words(plan_, phase) + kept_words(plan_, phase);
  }

  // A product of two values that differ along other axes, summed over one that they share.
  bool is_contraction(const PlanNode &node) const {
    if (node.kind != PlanNode::Kind::fold_step || node.monoid != Monoid::sum)
      return false;
    const Expr &value = kernel_.expr(node.value);
    if (value.op != Op::mul)
      return false;
    const AxisSet a = kernel_.expr(value.args[0]).axes, b = kernel_.expr(value.args[1]).axes;
    return !(a & b & node.reduced).empty() && !(a - b).empty() && !(b - a).empty();
  }

  std::string family(const Phase &phase) const {
    bool contracts = false, folds = false, scans = false;
    for (const PlanNode &root : phase.nodes)
      for_each_node(root, [&](const PlanNode &node) {
        contracts |= is_contraction(node);
        folds |= node.kind == PlanNode::Kind::fold_step;
        scans |= node.kind == PlanNode::Kind::scan_step;
      });
    return phase.kind == Phase::Kind::contracted ? "a contraction: packed panels, tiles in registers"
           : contains_contraction(phase)         ? "contractions for parts of rows: packed panels, tiles in registers"
           : contracts                           ? "general loops; a contraction: there is no inner kernel for it yet"
           : scans                               ? "general loops with a scan"
           : folds                               ? "general loops with folds"
                                                 : "general loops, element by element";
  }

  bool has_vectors(const PlanNode &node) const {
    bool found = false;
    for_each_node(node, [&](const PlanNode &inner) { found |= inner.on_lanes.has_value(); });
    return found;
  }

  // Loops that are vectors, and the innermost of those that are not.
  void inner_loops(const PlanNode &node, size_t phase, std::vector<Row> &rows) const {
    const bool loop = node.kind == PlanNode::Kind::loop;
    if (node.on_lanes) {
      rows.push_back(loop_row(node, phase, "vectors", accesses(node)));
      return;
    }
    bool inner = false;
    for (const auto *list : {&node.body, &node.otherwise, &node.step})
      for (const PlanNode &child : *list) {
        for_each_node(child, [&](const PlanNode &n) { inner |= n.kind == PlanNode::Kind::loop; });
        inner_loops(child, phase, rows);
      }
    if (loop && !inner && !has_vectors(node))
      rows.push_back(loop_row(node, phase, "one by one", why_not(node)));
  }

  Row loop_row(const PlanNode &node, size_t phase, const std::string &how, const std::string &why) const {
    return {{"phase", std::to_string(phase + 1), true},
            {"loop", kernel_.axes[node.axis].name},
            {"runs", how},
            {"because", why}};
  }

  // How the memory that a loop touches lies along it.
  std::string accesses(const PlanNode &loop) const {
    std::map<LaneStep::Kind, std::set<std::string>> by_kind;
    auto note = [&](VarId var, const std::vector<Coordinate> &coords) {
      if (plan_.storage[var].kind != Storage::Kind::scalar && !lanes_.is_vector(var, loop.axis))
        by_kind[lanes_.step_of(var, coords, loop.axis).kind].insert(kernel_.vars[var].name);
    };
    for_each_node(loop, [&](const PlanNode &node) {
      if (node.target != kNone)
        note(node.target, node.coords);
      for (ExprId id : expressions_of(node))
        walk(kernel_, id, [&](ExprId at) {
          const Expr &e = kernel_.expr(at);
          if (e.op == Op::read && lanes_.nearest(e, loop.axis))
            by_kind[LaneStep::Kind::neighbour].insert(kernel_.vars[e.ref].name);
          else if (e.op == Op::read)
            note(e.ref, e.coords);
          return true;
        });
    });
    const std::pair<LaneStep::Kind, const char *> kWords[] = {{LaneStep::Kind::neighbour, "side by side: "},
                                                              {LaneStep::Kind::none, "the same for all: "},
                                                              {LaneStep::Kind::stride, "a stride apart: "},
                                                              {LaneStep::Kind::any, "one by one: "}};
    std::string out;
    for (const auto &[kind, words] : kWords)
      if (const std::set<std::string> &names = by_kind[kind]; !names.empty())
        out += (out.empty() ? "" : "; ") + (words + join({names.begin(), names.end()}, ", "));
    return out.empty() ? "it touches no memory" : out;
  }

  std::string why_not(const PlanNode &loop) const {
    if (!wants_lanes(kernel_))
      return "the schedule says so";
    if (loop.order == PlanNode::Order::ordered)
      return "each turn needs the one before: a scan";
    if (lanes_.possible(loop))
      return "that is cheaper: " + accesses(loop);
    std::string why = "an intermediate has room for one turn at a time";
    for_each_node(loop, [&](const PlanNode &node) {
      if (node.scatter_add || (node.kind == PlanNode::Kind::assign && !node.coords.empty()))
        why = kernel_.vars[node.target].name + " is written at computed coordinates";
      else if (!lanes_.is_one_element(node.indices, loop.axis))
        why = kernel_.vars[node.target].name + " is set at places of each element's own";
      else if (node.kind == PlanNode::Kind::scan_step)
        why = "a scan stands under a condition that differs, or runs along it";
    });
    return why;
  }

  void place(VarId id, std::vector<Row> &rows) const {
    const Storage &storage = plan_.storage[id];
    const Var &var = kernel_.vars[id];
    if (storage.kind == Storage::Kind::argument || (storage.kind == Storage::Kind::scalar && storage.dims.empty()))
      return;
    constexpr const char *kWhere[] = {"an argument", "a variable", "a small array",
                                      "a buffer of each worker, in the workspace", "a buffer in the workspace"};
    std::vector<std::string> axes;
    for (AxisId axis : storage.dims)
      axes.push_back(kernel_.axes[axis].name);
    const std::string why = storage.kind == Storage::Kind::program ? "it goes from one phase to the next"
                            : axes.empty()                         ? ""
                                           : "it is needed after the loop over " + axes.front() + " that computes it";
    rows.push_back({{"value", var.name},
                    {"lies in", kWhere[static_cast<size_t>(storage.kind)]},
                    {"along", join(axes, ", ")},
                    {"because", why}});
  }

  const Plan plan_;
  const Kernel &kernel_;
  const LaneAnalysis lanes_;
  const bool cuda_;
  std::string some_calls_;
};

} // namespace

std::vector<Explanation::Section> explain_plan(const Variation &variation, TargetKind target) {
  return PlanStory(variation, target).sections();
}

} // namespace kgen
