#include "plan/verify/answers.h"

#include <algorithm>

#include "plan/index/access.h"

namespace kgen {
namespace {

constexpr size_t kFewQuestions = 3;

using Questions = std::map<std::string, std::set<ExprId>>; // by their text: passes ask the same one anew

void collect(const Kernel &kernel, ExprId condition, Questions &out) {
  const Expr &e = kernel.expr(condition);
  if (e.op == Op::both || e.op == Op::either || e.op == Op::logical_not)
    for (ExprId arg : e.args)
      collect(kernel, arg, out);
  else
    out[print(kernel, condition)].insert(condition);
}

Questions questions_of(const Plan &plan) {
  Questions out;
  for (const Phase &phase : plan.phases) {
    if (phase.when != kNone)
      collect(plan.kernel, phase.when, out);
    for (const PlanNode &root : phase.nodes)
      for_each_node(root, [&](const PlanNode &node) {
        if (node.near > 0)
          collect(plan.kernel, node.condition, out);
      });
  }
  return out;
}

// A bit for each question: does it get a yes?
std::vector<uint64_t> combinations(size_t questions, bool few) {
  const uint64_t all = (uint64_t{1} << std::min<size_t>(questions, 63)) - 1;
  std::vector<uint64_t> out;
  if (!few && questions <= kFewQuestions) {
    for (uint64_t yes = 0; yes <= all; ++yes)
      out.push_back(yes);
    return out;
  }
  out = {0};
  if (all != 0)
    out.push_back(all);
  for (size_t i = 0; i < questions && !few; ++i)
    out.insert(out.end(), {uint64_t{1} << i, all ^ uint64_t{1} << i});
  return out;
}

} // namespace

bool Answers::is_known(const Kernel &kernel, ExprId condition) const {
  const Expr &e = kernel.expr(condition);
  const bool made_of_others = e.op == Op::both || e.op == Op::either || e.op == Op::logical_not;
  return e.op == Op::present || (made_of_others && std::all_of(e.args.begin(), e.args.end(),
                                                               [&](ExprId arg) { return is_known(kernel, arg); }));
}

bool Answers::holds(const Kernel &kernel, ExprId condition) const {
  const Expr &e = kernel.expr(condition);
  switch (e.op) {
  case Op::both:
    return holds(kernel, e.args[0]) && holds(kernel, e.args[1]);
  case Op::either:
    return holds(kernel, e.args[0]) || holds(kernel, e.args[1]);
  case Op::logical_not:
    return !holds(kernel, e.args[0]);
  case Op::present:
    return absent_.count(e.ref) == 0;
  default:
    return answers_.at(condition);
  }
}

bool Answers::has_several(AxisId shares) const {
  const auto question = several_.find(shares);
  return question == several_.end() || answers_.at(question->second);
}

std::vector<std::set<VarId>> absences(const Kernel &kernel) {
  std::set<VarId> optional;
  for (VarId v = 0; v < static_cast<VarId>(kernel.vars.size()); ++v)
    if (kernel.vars[v].optional)
      optional.insert(v);
  std::vector<std::set<VarId>> out = {{}};
  for (VarId v : optional) {
    out.push_back(optional);
    out.back().erase(v);
  }
  return out;
}

Answers answers_without(const std::set<VarId> &absent) {
  Answers out;
  out.absent_ = absent;
  return out;
}

std::vector<Answers> answers_of(const Plan &plan, const std::set<VarId> &absent) {
  const Questions questions = questions_of(plan);
  Answers first = answers_without(absent);
  for (const auto &[text, ids] : questions)
    if (const Expr &e = plan.kernel.expr(*ids.begin()); e.op == Op::gt && plan.kernel.expr(e.args[0]).op == Op::block)
      first.several_[plan.kernel.expr(e.args[0]).axis] = *ids.begin();
  std::vector<Answers> out;
  for (uint64_t yes : combinations(questions.size(), !absent.empty())) {
    out.push_back(first);
    size_t i = 0;
    for (const auto &[text, ids] : questions) {
      for (ExprId id : ids)
        out.back().answers_[id] = (yes >> i & 1) != 0;
      ++i;
    }
  }
  return out;
}

} // namespace kgen
