#include "plan/variants/plans.h"

#include <algorithm>

#include "plan/place/storage.h"
#include "plan/variants/all_outputs.h"

namespace kgen {

TargetPlans make_plans(const Kernel &kernel, const Facts &facts, const std::optional<Kernel> &all_outputs,
                       const Facts &all_outputs_facts, TargetKind target) {
  TargetPlans out;
  out.plan = make_plan(kernel, facts, target);
  if (all_outputs)
    if (std::optional<Plan> all = plan_all_outputs(*all_outputs, all_outputs_facts, out.plan)) {
      out.in_part = std::move(out.plan);
      out.plan = std::move(*all);
    }
  if (target == TargetKind::openmp) {
    const Kernel &planned = out.in_part ? *all_outputs : kernel;
    const Facts &known = out.in_part ? all_outputs_facts : facts;
    out.short_rows = plan_short_rows(planned, known, out.plan);
    out.flat_rows = plan_flat_rows(planned, known, out.plan);
  }
  return out;
}

bool threads_have_memory(const TargetPlans &plans) {
  return threads_have_memory(plans.plan) || (plans.in_part && threads_have_memory(*plans.in_part)) ||
         (plans.flat_rows && threads_have_memory(plans.flat_rows->plan)) ||
         std::ranges::any_of(plans.short_rows, [](const ShortRows &rows) { return threads_have_memory(rows.plan); });
}

bool blocks_wait(const TargetPlans &plans) {
  const auto waits = [](const Phase &phase) { return phase.launch.work == Phase::Launch::Work::team; };
  return std::ranges::any_of(plans.plan.phases, waits) ||
         (plans.in_part && std::ranges::any_of(plans.in_part->phases, waits));
}

std::string print(const TargetPlans &plans) {
  const auto plain = [](const std::string &name) { return name; };
  std::string text;
  for (const ShortRows &rows : plans.short_rows)
    text += "where " + short_rows_condition(rows, plain) + ": " + print(rows.plan);
  if (plans.flat_rows)
    text += "where " + flat_rows_condition(*plans.flat_rows, plain) + " and " +
            flat_rows_limit(*plans.flat_rows, plain) + ": " + print(plans.flat_rows->plan);
  text += print(plans.plan);
  if (plans.in_part)
    text += "where an output is not wanted: " + print(*plans.in_part);
  return text + plans.plan.decisions.print();
}

} // namespace kgen
