// OpenMP C++: per variation a function, others for short rows and for calls that want all outputs; then the launchers,
// which check everything before anything is written.
#include "emit/interface/launcher.h"
#include "emit/openmp/openmp_kernel.h"
#include "emit/text/declare_at_fold.h"
#include "emit/text/each_once.h"
#include "emit/text/write_once.h"
#include "plan/variants/all_outputs.h"

namespace kgen {
namespace {

// In the order in which a launcher tries them.
using OpenmpFunctions = std::vector<OpenmpFunction>;

// For all sizes, behind those for short rows.
OpenmpFunctions by_sizes(const std::string &name, const Function &function, const TargetPlans &plans,
                         const Facts &facts, Spelling &spelling) {
  OpenmpFunctions out;
  for (const ShortRows &rows : plans.short_rows) {
    const std::string made_for = &rows == &plans.short_rows.back() ? "_short" : "_short_and_few";
    out.push_back(openmp_function(name + made_for, function, rows.plan, facts, spelling));
    out.back().condition = short_rows_condition(rows, c_name);
    out.back().why = "takes rows side by side, as one fills no vector";
    out.back().text = "// For " + out.back().condition + ": rows that fill no vector.\n" + out.back().text;
  }
  if (plans.flat_rows) {
    out.push_back(openmp_function(name + "_flat", function, plans.flat_rows->plan, facts, spelling));
    out.back().condition = flat_rows_condition(*plans.flat_rows, c_name);
    out.back().of_tables = flat_rows_limit(*plans.flat_rows, c_name);
    spelling.helper("longest_row");
    out.back().why = "takes elements as they lie, whatever rows they are of, as most rows fill no vector";
    out.back().text = "// For " + out.back().condition + " && " + out.back().of_tables +
                      ": most rows fill no vector.\n" + out.back().text;
  }
  out.push_back(openmp_function(name, function, plans.plan, facts, spelling));
  return out;
}

OpenmpFunctions functions_of(const Function &function, const Variation &variation, Spelling &spelling) {
  const std::string name = variation_name(function, variation);
  const TargetPlans &plans = variation.plans.at(TargetKind::openmp);
  if (!plans.in_part)
    return by_sizes(name, function, plans, variation.lowered_facts, spelling);
  OpenmpFunctions out = by_sizes(name, function, plans, variation.all_outputs_facts, spelling);
  for (OpenmpFunction &one : out)
    one.arrays = all_outputs_condition(plans.in_part->kernel, c_name);
  out.push_back(openmp_function(name + "_in_part", function, *plans.in_part, variation.lowered_facts, spelling));
  out.back().text = "// For calls that do not want all outputs.\n" + out.back().text;
  return out;
}

// `made`: of one variation.
std::string comment_on_others(const std::vector<Made> &made, const PrintedNames &names) {
  std::string text;
  for (const Made &one : made)
    if (!one.condition.empty())
      text += "Where " + one.condition + (one.of_tables.empty() ? "" : " && " + one.of_tables) + ": " +
              names.instance(one.name).name + " " + one.why + ".\n";
  if (made.back().arrays != made.front().arrays)
    text +=
        "Where an output is not wanted: " + names.instance(made.back().name).name + " does one step after the other.\n";
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
      const OpenmpFunctions made = functions_of(function, *variation, spelling);
      if (source.plan.empty())
        source.plan = plan_comment(variation->plans.at(TargetKind::openmp).plan, variation->facts);
      launched.back().made.emplace_back();
      for (const OpenmpFunction &one : made) {
        const bool has_workspace = !one.workspace.text.empty();
        launched.back().made.back().push_back({one.name, one.condition, one.of_tables, one.arrays, has_workspace,
                                               one.workspace.sizes, one.has_team, one.why});
        if (has_workspace)
          printed.back().texts.push_back(one.workspace.text);
        printed.back().texts.push_back(declare_at_fold(one.text));
      }
    }
  }
  PrintedNames names;
  source.kernels = each_once(printed, spelling, names);
  write_once(source.kernels, sizes_made_for(printed), names);
  source.plan += comment_on_others(launched.front().made.front(), names);
  add_launchers(spec.kernel, launched, names, false, spelling, statuses, source);
  source.helpers = spelling.helpers();
  return source;
}

} // namespace kgen
