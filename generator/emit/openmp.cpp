// OpenMP C++: per variation a function, and one for short rows; then the launchers, which check everything before
// anything is written.
#include "emit/each_once.h"
#include "emit/launcher.h"
#include "emit/openmp_kernel.h"
#include "plan/short_rows.h"

namespace kgen {
namespace {

// In the order in which a launcher tries them.
using OpenmpFunctions = std::vector<OpenmpFunction>;

OpenmpFunctions functions_of(const Function &function, const Variation &variation, const Plan &plan,
                             Spelling &spelling) {
  OpenmpFunctions out;
  const std::string name = variation_name(function, variation);
  const std::vector<ShortRows> all = plan_short_rows(variation.lowered, variation.lowered_facts, plan);
  for (const ShortRows &rows : all) {
    const std::string made_for = &rows == &all.back() ? "_short" : "_short_and_few";
    out.push_back(openmp_function(name + made_for, function, rows.plan, variation.lowered_facts, spelling));
    out.back().condition = short_rows_condition(rows.plan.kernel, rows.axes, c_name);
    out.back().text = "// For " + out.back().condition + ": rows that fill no vector.\n" + out.back().text;
  }
  out.push_back(openmp_function(name, function, plan, variation.lowered_facts, spelling));
  return out;
}

std::string short_rows_comment(const OpenmpFunctions &made) {
  std::string text;
  for (const OpenmpFunction &one : made)
    if (!one.condition.empty())
      text += "Where " + one.condition + ": neighbouring rows side by side.\n";
  return text;
}

} // namespace

TargetSource openmp_source(const Spec &spec, const std::vector<Function> &functions, Statuses &statuses) {
  TargetSource source;
  Spelling spelling(TargetKind::openmp);
  std::vector<Launched> launched;
  std::vector<Printed> printed;
  for (const Function &function : functions) {
    launched.push_back({&function, {}, {}, {}});
    printed.push_back({&function, {}});
    for (const Variation *variation : function.variations) {
      const Plan plan = make_plan(variation->lowered, variation->lowered_facts, TargetKind::openmp);
      const OpenmpFunctions made = functions_of(function, *variation, plan, spelling);
      if (source.plan.empty())
        source.plan = plan_comment(plan, variation->facts) + short_rows_comment(made);
      launched.back().made.emplace_back();
      for (const OpenmpFunction &one : made) {
        launched.back().made.back().push_back({one.name, one.condition, !one.workspace.empty(), one.has_team});
        if (!one.workspace.empty())
          printed.back().texts.push_back(one.workspace);
        printed.back().texts.push_back(one.text);
      }
    }
  }
  PrintedNames names;
  source.kernels = each_once(printed, spelling, names);
  add_launchers(spec.kernel, launched, names, false, spelling, statuses, source);
  source.helpers = spelling.helpers();
  return source;
}

} // namespace kgen
