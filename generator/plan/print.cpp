// The plan as text, for --stop-after plan and `explain`.
#include <map>

#include "plan/contract/contractions.h"
#include "plan/cuda/words.h"
#include "plan/cut/share_lists.h"
#include "plan/index/access.h"
#include "plan/plan.h"
#include "support/check.h"

namespace kgen {
namespace {

const char *order_name(PlanNode::Order order) {
  switch (order) {
  case PlanNode::Order::parallel:
    return "parallel";
  case PlanNode::Order::reduction:
    return "reduction";
  case PlanNode::Order::ordered:
    return "in order";
  }
  KGEN_UNREACHABLE("order");
}

const char *monoid_name(Monoid monoid) {
  switch (monoid) {
  case Monoid::sum:
    return "sum";
  case Monoid::product:
    return "product";
  case Monoid::min:
    return "min";
  case Monoid::max:
    return "max";
  case Monoid::mean:
    return "mean";
  case Monoid::all:
    return "all";
  case Monoid::any:
    return "any";
  case Monoid::argmax:
    return "argmax";
  case Monoid::argmin:
    return "argmin";
  }
  KGEN_UNREACHABLE("monoid");
}

class PlanPrinter {
public:
  explicit PlanPrinter(const Plan &plan) : plan_(plan), kernel_(plan.kernel) {
    std::map<std::string, int> count;
    for (const Var &var : kernel_.vars)
      ++count[var.name];
    for (size_t v = 0; v < kernel_.vars.size(); ++v)
      if (Var &var = kernel_.vars[v]; count[var.name] > 1)
        var.name += "#" + std::to_string(v);
  }

  std::string text() {
    line(0, std::string("plan for ") + (plan_.target == TargetKind::cuda ? "cuda" : "openmp"));
    for (size_t i = 0; i < plan_.phases.size(); ++i)
      phase(i);
    storage();
    for (const std::string &note : plan_.notes)
      line(0, "note: " + note);
    return out_;
  }

private:
  void line(int depth, const std::string &text) {
    out_ += std::string(static_cast<size_t>(depth) * 2, ' ') + text + "\n";
  }

  void phase(size_t index) {
    const Phase &p = plan_.phases[index];
    std::string head = "phase " + std::to_string(index + 1) + ": ";
    if (p.kind == Phase::Kind::serial)
      head += "one worker";
    if (p.kind == Phase::Kind::chunked)
      head += "chunks of the outermost loop, combined in order";
    if (p.kind == Phase::Kind::parallel)
      head += "work list over the first " + std::to_string(p.split) + (p.split == 1 ? " loop" : " loops");
    if (p.kind == Phase::Kind::contracted)
      head += contraction_words(plan_, p);
    head += row_contraction_words(plan_, p);
    if (plan_.target == TargetKind::cuda && p.kind == Phase::Kind::parallel)
      head += ", " + worker_words(p) + " an item";
    if (p.lane != kNone)
      head += ", lanes along " + kernel_.axes[p.lane].name;
    line(0, head + thread_words(plan_, p) + kept_words(plan_, p) + condition_words(plan_, p));
    for (const PlanNode &n : p.nodes)
      node(n, 1);
    if (const std::string words = launch_words(plan_, p); !words.empty())
      line(1, words);
  }

  void list(const std::vector<PlanNode> &nodes, int depth) {
    for (const PlanNode &n : nodes)
      node(n, depth);
  }

  std::string ahead_words(const Ahead &ahead) const {
    static const char *const kWhat[] = {"what comes soon", "what comes soon, of many arrays", "the next rows",
                                        "the next row", "the next part"};
    std::string names;
    for (ExprId read : ahead.reads)
      names += (names.empty() ? " of " : ", ") + name(kernel_.expr(read).ref);
    return std::string("memory is asked for ") + kWhat[static_cast<int>(ahead.what)] + names;
  }

  std::string lane_words(const PlanNode &loop) const {
    if (!loop.on_lanes)
      return "";
    const auto &[block, crossed, turned, columns] = *loop.on_lanes;
    std::string words = ", on lanes";
    if (block > 0)
      words += " that are added up every " + std::to_string(block);
    if (crossed != kNone)
      words += " across " + kernel_.axes[crossed].name;
    for (const LaneLoop::Turned &one : turned)
      words += ", of turned " + name(kernel_.expr(one.read).ref);
    return words;
  }

  std::string name(VarId var) const { return kernel_.vars[var].name; }

  void node(const PlanNode &n, int depth) {
    switch (n.kind) {
    case PlanNode::Kind::loop:
      line(depth,
           "for " + kernel_.axes[n.axis].name + ": " + order_name(n.order) + (n.reversed ? ", downwards" : "") +
               (n.share != kNone ? ", a share" : "") + (n.end != kNone ? ", up to " + print(kernel_, n.end) : "") +
               (n.table != kNone ? ", where " + kernel_.tables[n.table].name + " is " + print(kernel_, n.entry) : "") +
               (n.parts > 0 ? ", in parts of " + std::to_string(n.parts) : "") +
               (n.at_once ? ", several at once" : "") + lane_words(n) + packs_words(plan_, n) +
               (n.fields > 0 ? ", a field of records each" : ""));
      for (const Ahead &ahead : n.ahead)
        line(depth + 1, ahead_words(ahead));
      return list(n.body, depth + 1);
    case PlanNode::Kind::steps:
      line(depth, "steps " + kernel_.grid[n.grid].name + ": " + order_name(n.order));
      return list(n.body, depth + 1);
    case PlanNode::Kind::branch:
      line(depth, "if " + print(kernel_, n.condition));
      list(n.body, depth + 1);
      if (!n.otherwise.empty())
        line(depth, "else");
      return list(n.otherwise, depth + 1);
    case PlanNode::Kind::repeat:
      line(depth, "while " + (n.condition == kNone ? std::string("true") : print(kernel_, n.condition)));
      list(n.body, depth + 1);
      return list(n.step, depth + 1);
    case PlanNode::Kind::fold_init:
      return line(depth, name(n.target) + " = identity of " + monoid_name(n.monoid));
    case PlanNode::Kind::fold_step:
      return line(depth, name(n.target) + " = " + monoid_name(n.monoid) + " with " + print(kernel_, n.value) +
                             (n.condition == kNone ? "" : " where " + print(kernel_, n.condition)));
    case PlanNode::Kind::scan_init:
      return line(depth, name(n.target) + " = start of a scan");
    case PlanNode::Kind::scan_step:
      return line(depth, (n.partner == kNone ? "" : name(n.partner) + " = ") + "scan through " + name(n.target) +
                             " of " + print(kernel_, n.value));
    case PlanNode::Kind::declare:
      return line(depth, "array " + name(n.target));
    case PlanNode::Kind::leave:
      return line(depth, "break");
    case PlanNode::Kind::next:
      return line(depth, "continue");
    case PlanNode::Kind::assign:
      break;
    }
    std::string text = name(n.target);
    for (const Coordinate &c : n.coords)
      text += "[" + kernel_.axes[c.axis].name + " = " + print(kernel_, c.value) + "]";
    for (ExprId i : n.indices)
      text += "[" + print(kernel_, i) + "]";
    line(depth, text + (n.scatter_add ? " += " : " = ") + print(kernel_, n.value) +
                    (n.field && !n.coords.empty() ? ", of a record" : "") +
                    (n.streamed ? ", around the caches if large" : ""));
  }

  void storage() {
    static const char *const kinds[] = {"argument", "variable", "small array", "buffer of each worker",
                                        "buffer of the kernel"};
    for (size_t v = 0; v < plan_.storage.size(); ++v) {
      const Storage &s = plan_.storage[v];
      if (s.kind == Storage::Kind::argument ||
          (s.kind == Storage::Kind::scalar && kernel_.vars[v].kind == Var::Kind::local))
        continue;
      std::string text = name(static_cast<VarId>(v)) + ": " + kinds[static_cast<int>(s.kind)];
      for (AxisId axis : s.dims)
        text += " " + kernel_.axes[axis].name;
      line(0, text);
    }
  }

  const Plan &plan_;
  Kernel kernel_; // where several variables have one name, they are numbered
  std::string out_;
};

} // namespace

std::string print(const Plan &plan) { return PlanPrinter(plan).text(); }

} // namespace kgen
