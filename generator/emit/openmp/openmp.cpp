// OpenMP C++: per variation a function, others for short rows and for calls that want all outputs; then the launchers,
// which check everything before anything is written.
#include "emit/emitted_plan.h"
#include "emit/interface/launcher.h"
#include "emit/openmp/openmp_kernel.h"
#include "emit/text/declare_at_fold.h"
#include "emit/text/each_once.h"
#include "emit/text/write_once.h"
#include "plan/variants/all_outputs.h"
#include "plan/variants/short_rows.h"

namespace kgen {
namespace {

// In the order in which a launcher tries them.
using OpenmpFunctions = std::vector<OpenmpFunction>;

// For all sizes, behind those for short rows.
OpenmpFunctions by_sizes(const std::string &name, const Function &function, const Kernel &kernel, const Facts &facts,
                         const Plan &plan, Spelling &spelling) {
  OpenmpFunctions out;
  const std::vector<ShortRows> all = plan_short_rows(kernel, facts, plan);
  for (const ShortRows &rows : all) {
    const std::string made_for = &rows == &all.back() ? "_short" : "_short_and_few";
    out.push_back(openmp_function(name + made_for, function, rows.plan, facts, spelling));
    out.back().condition = short_rows_condition(rows, c_name);
    out.back().text = "// For " + out.back().condition + ": rows that fill no vector.\n" + out.back().text;
  }
  out.push_back(openmp_function(name, function, plan, facts, spelling));
  return out;
}

// What is made of a variation, and the plan of the first function that serves calls of all sizes.
struct Functions {
  OpenmpFunctions made;
  Plan plan;
};

Functions functions_of(const Function &function, const Variation &variation, Spelling &spelling) {
  const std::string name = variation_name(function, variation);
  const auto &[plan, all] = plans_of(variation, TargetKind::openmp);
  if (!all)
    return {by_sizes(name, function, variation.lowered, variation.lowered_facts, plan, spelling), plan};
  Functions out{by_sizes(name, function, *variation.all_outputs, variation.all_outputs_facts, *all, spelling), *all};
  for (OpenmpFunction &one : out.made)
    one.arrays = all_outputs_condition(plan.kernel, c_name);
  out.made.push_back(openmp_function(name + "_in_part", function, plan, variation.lowered_facts, spelling));
  out.made.back().text = "// For calls that do not want all outputs.\n" + out.made.back().text;
  return out;
}

// `made`: of one variation.
std::string comment_on_others(const std::vector<Made> &made, const PrintedNames &names) {
  std::string text;
  for (const Made &one : made)
    if (!one.condition.empty())
      text += "Where " + one.condition + ": " + names.instance(one.name).name +
              " takes neighbouring rows side by side, as such a row fills no vector.\n";
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
      const auto &[made, plan] = functions_of(function, *variation, spelling);
      if (source.plan.empty())
        source.plan = plan_comment(plan, variation->facts);
      launched.back().made.emplace_back();
      for (const OpenmpFunction &one : made) {
        launched.back().made.back().push_back(
            {one.name, one.condition, one.arrays, !one.workspace.empty(), one.has_team});
        if (!one.workspace.empty())
          printed.back().texts.push_back(one.workspace);
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
