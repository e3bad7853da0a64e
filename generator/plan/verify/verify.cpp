#include "plan/verify/verify.h"

#include <utility>

#include "plan/program/lower.h"
#include "plan/program/prune.h"
#include "plan/verify/fingerprint.h"
#include "plan/verify/launches.h"
#include "plan/verify/structure.h"

namespace kgen {
namespace {

std::string name_of(const Kernel &kernel, const ValueAtom &atom) {
  switch (atom.kind) {
  case ValueAtom::Kind::nothing:
    return "what was never written";
  case ValueAtom::Kind::unfinished:
    return "a value that is not finished";
  case ValueAtom::Kind::initial:
    return "'" + kernel.vars[atom.id].name + "' as it was given";
  case ValueAtom::Kind::scalar:
    return "the scalar '" + kernel.scalars[atom.id].name + "'";
  case ValueAtom::Kind::table:
    return "the table '" + kernel.tables[atom.id].name + "'";
  case ValueAtom::Kind::fold:
    return "fold or scan " + std::to_string(atom.id);
  case ValueAtom::Kind::step:
    return "statement " + std::to_string(atom.id) +
           (atom.detail == 0 ? "" : " behind " + std::to_string(atom.detail - 1));
  case ValueAtom::Kind::operation:
    return "the operation '" + std::string(op_name(static_cast<Op>(atom.id))) + "'";
  }
  return "";
}

} // namespace

PlanVerifier::PlanVerifier(const Kernel &kernel) {
  Kernel own = kernel;
  std::vector<PlanNode> program = lower(own);
  prune(own, program);
  for (const std::set<VarId> &absent : absences(own)) {
    std::vector<MadeOf> made = effects_of(own, program, answers_without(absent), atoms_);
    wanted_.push_back({absent, std::move(made)});
  }
}

std::string PlanVerifier::compare(const Plan &plan, const std::vector<MadeOf> &found,
                                  const std::vector<MadeOf> &wanted) const {
  for (VarId v = 0; v < static_cast<VarId>(plan.kernel.vars.size()); ++v) {
    if (plan.kernel.vars[v].kind != Var::Kind::output || found[v] == wanted[v])
      continue;
    const std::string name = "'" + plan.kernel.vars[v].name + "'";
    for (int a = 0; a < static_cast<int>(atoms_.count()); ++a) {
      const ValueAtom &atom = atoms_.of(a);
      const bool soft = atom.kind == ValueAtom::Kind::operation || atom.kind == ValueAtom::Kind::fold;
      const bool sure = found[v].surely.contains(a), possible = found[v].possibly.contains(a);
      const bool was_sure = wanted[v].surely.contains(a), was_possible = wanted[v].possibly.contains(a);
      if (was_possible && !possible)
        return name + " depends no longer on " + name_of(plan.kernel, atom);
      if (was_sure && !sure)
        return name + " depends no longer surely on " + name_of(plan.kernel, atom);
      if (!soft && possible && !was_possible)
        return name + " depends on " + name_of(plan.kernel, atom);
      if (!soft && sure && !was_sure)
        return name + " surely depends on " + name_of(plan.kernel, atom);
    }
  }
  return "";
}

std::string PlanVerifier::check(const Plan &plan) {
  if (const uint64_t now = fingerprint(plan); std::exchange(last_, now) == now)
    return "";
  if (std::string wrong = check_structure(plan); !wrong.empty())
    return wrong;
  Values values(plan.kernel, atoms_);
  for (const Wanted &wanted : wanted_)
    for (const Answers &answers : answers_of(plan, wanted.absent))
      if (std::string wrong = compare(plan, effects_of(plan, answers, values, atoms_), wanted.made); !wrong.empty())
        return wrong;
  return check_launches(plan);
}

} // namespace kgen
