#include "plan/variants/all_outputs.h"

#include "plan/index/asked.h"

namespace kgen {
namespace {

// The loops and how many statements stand in each, whatever is asked around them.
class Shape {
public:
  explicit Shape(const Plan &plan) : plan_(plan) {
    for (const Phase &phase : plan.phases) {
      text_ += "phase " + std::to_string(static_cast<int>(phase.kind)) + " " + std::to_string(phase.split) + "\n";
      list(phase.nodes);
    }
  }
  const std::string &text() const { return text_; }

private:
  void list(const std::vector<PlanNode> &nodes) {
    for (const PlanNode &n : nodes)
      node(n);
  }

  void node(const PlanNode &n) {
    if (n.kind == PlanNode::Kind::branch && !outputs_asked_for(plan_.kernel, n.condition).empty())
      return list(n.body);
    text_ += std::to_string(static_cast<int>(n.kind));
    if (n.kind == PlanNode::Kind::loop)
      text_ += plan_.kernel.axes[n.axis].name + " " + std::to_string(static_cast<int>(n.order)) + " " +
               std::to_string(n.parts) + (n.share == kNone ? "" : " share");
    text_ += "{";
    list(n.body);
    list(n.otherwise);
    list(n.step);
    text_ += "}";
  }

  const Plan &plan_;
  std::string text_;
};

} // namespace

std::optional<Plan> plan_all_outputs(const Kernel &all, const Facts &facts, const Plan &asking) {
  Plan plan = make_plan(all, facts, asking.target);
  if (Shape(plan).text() == Shape(asking).text())
    return std::nullopt;
  return plan;
}

std::string all_outputs_condition(const Kernel &asking, std::string (*name)(const std::string &var)) {
  std::string text;
  for (const Var &var : asking.vars)
    if (var.kind == Var::Kind::output && var.optional)
      text += (text.empty() ? "" : " && ") + name(var.name) + " != nullptr";
  return text;
}

} // namespace kgen
