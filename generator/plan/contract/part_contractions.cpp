// Loops in which a contraction stands beside other statements are gone through several times.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "plan/contract/contractions.h"
#include "plan/contract/fold_alone.h"
#include "plan/index/access.h"
#include "plan/index/lanes.h"
#include "plan/index/order.h"
#include "plan/place/storage.h"
#include "plan/tree/tree.h"

namespace kgen {
namespace {

// The list inside so many loops that stand around each other, and those.
const Nodes &inner_list(const Phase &phase, int count, Nodes &loops) {
  const std::vector<const PlanNode *> around = leading_loops(phase.nodes.front(), count);
  for (const PlanNode *loop : around)
    loops.push_back(without_body(*loop));
  return around.back()->body;
}

bool keeps_no_arrays(const Plan &plan) {
  for (size_t v = 0; v < plan.storage.size(); ++v)
    if (plan.storage[v].kind == Storage::Kind::program && !plan.kernel.vars[v].array.empty())
      return false;
  return true;
}

// What stands in the loops around a contraction: before it, it, and after it.
struct Parts {
  Nodes before, alone, after;
};

// What comes before comes after, where that is as well: one phase less.
void move_back(const Kernel &kernel, Parts &parts) {
  if (!may_exchange(accesses_of(kernel, parts.before), accesses_of(kernel, parts.alone)))
    return;
  parts.before.insert(parts.before.end(), parts.after.begin(), parts.after.end());
  parts.after = std::exchange(parts.before, {});
}

// Numbers that each round computes for itself, as all of them share it, and that several parts read: they go before the
// parts. Nothing where one cannot.
std::optional<Nodes> take_shared_numbers(const Kernel &kernel, Parts &parts) {
  std::set<VarId> later;
  for (const Nodes *list : {&parts.alone, &parts.after})
    for (const Access &a : accesses_of(kernel, *list))
      later.insert(a.var);
  Nodes shared, kept;
  for (PlanNode &node : parts.before) {
    bool same_everywhere = true, wanted = false;
    for_each_node(node, [&](const PlanNode &n) {
      same_everywhere = same_everywhere && n.lanes.empty();
      wanted = wanted || (n.target != kNone && later.count(n.target) != 0);
    });
    if (!same_everywhere || !wanted)
      kept.push_back(std::move(node));
    else if (may_exchange(accesses_of(kernel, kept), accesses_of(kernel, node)))
      shared.push_back(std::move(node));
    else
      return std::nullopt;
  }
  parts.before = std::move(kept);
  return shared;
}

// The plan in which the parts of the phase are phases; none where the second is no contraction then.
std::optional<Plan> in_phases(Plan plan, size_t phase, const Nodes &loops, Parts parts) {
  std::optional<Nodes> shared = take_shared_numbers(plan.kernel, parts);
  if (!shared)
    return std::nullopt;
  move_back(plan.kernel, parts);
  std::vector<Phase> phases;
  if (!shared->empty())
    phases.emplace_back().nodes = std::move(*shared);
  size_t alone = phase;
  for (const Nodes *list : {&parts.before, &parts.alone, &parts.after}) {
    if (list->empty())
      continue;
    if (list == &parts.alone)
      alone += phases.size();
    phases.push_back(plan.phases[phase]);
    phases.back().nodes = {wrapped(loops, *list)};
    phases.back().split = leading_parallel_loops(phases.back().nodes.front());
  }
  const auto place = plan.phases.erase(plan.phases.begin() + static_cast<std::ptrdiff_t>(phase));
  plan.phases.insert(place, phases.begin(), phases.end());
  place_variables(plan);
  Plan contracted = plan;
  Phase &middle = contracted.phases[alone];
  const bool fits = keeps_no_arrays(plan) && contract(contracted, middle) && middle.split == 0;
  return fits ? std::optional(std::move(plan)) : std::nullopt;
}

// The plan in which the contraction in statement `at` of the phase's list is a phase of its own, with what stands in
// its loop if it can be. None where there is none.
std::optional<Plan> part(const Plan &plan, size_t phase, int around, size_t at) {
  Nodes loops;
  const Nodes list = inner_list(plan.phases[phase], around, loops);
  const auto here = list.begin() + static_cast<std::ptrdiff_t>(at);
  const Parts parts = {Nodes(list.begin(), here), {*here}, Nodes(here + 1, list.end())};
  if (is_parallel_loop(*here) && list.size() > 1)
    if (std::optional<Plan> whole = in_phases(plan, phase, loops, parts))
      return whole;
  Plan other = plan;
  const std::optional<FoldAlone> fold = take_out_fold(other, *here);
  if (!fold)
    return std::nullopt;
  Parts taken = {parts.before, {fold->alone}, parts.after};
  taken.after.insert(taken.after.begin(), fold->rest.begin(), fold->rest.end());
  return in_phases(std::move(other), phase, loops, taken);
}

// The first contraction beside other statements.
std::optional<Plan> part_any(const Plan &plan, size_t phase) {
  for (int around : work_lists(plan.phases[phase])) {
    Nodes loops;
    const Nodes &list = inner_list(plan.phases[phase], around, loops);
    if (std::any_of(list.begin(), list.end(), jumps_out))
      return std::nullopt;
    for (size_t at = 0; at < list.size(); ++at)
      if (list[at].kind == PlanNode::Kind::loop && contains_loop(list[at].body))
        if (std::optional<Plan> parted = part(plan, phase, around, at))
          return parted;
  }
  return std::nullopt;
}

} // namespace

void part_contractions(Plan &plan) {
  if (!wants_lanes(plan.kernel))
    return;
  for (size_t phase = 0; phase < plan.phases.size(); ++phase)
    if (plan.phases[phase].kind == Phase::Kind::parallel)
      if (std::optional<Plan> parted = part_any(plan, phase))
        plan = std::move(*parted); // what came before it is a phase without one, and what comes after is asked next
}

} // namespace kgen
