// The CUDA source: kernels and host functions of all variations, then the launchers of the C interface.
#include "emit/cuda/host_function.h"
#include "emit/interface/launcher.h"
#include "emit/interface/requirements.h"
#include "emit/text/declare_at_fold.h"
#include "emit/text/each_once.h"
#include "emit/text/write_once.h"
#include "plan/variants/all_outputs.h"

namespace kgen {

namespace {

// The host functions of a variation, in the order in which a launcher tries them.
std::vector<HostFunction> functions_of(const Function &function, const Variation &variation, Spelling &spelling,
                                       Statuses &statuses) {
  const std::string name = variation_name(function, variation);
  const TargetPlans &plans = variation.plans.at(TargetKind::cuda);
  const Facts &facts = plans.in_part ? variation.all_outputs_facts : variation.lowered_facts;
  std::vector<HostFunction> out = {host_function(name, function, plans.plan, facts, spelling, statuses)};
  if (plans.in_part)
    out.push_back(
        host_function(name + "_in_part", function, *plans.in_part, variation.lowered_facts, spelling, statuses));
  return out;
}

} // namespace

TargetSource cuda_source(const Spec &spec, const std::vector<Function> &functions, Statuses &statuses) {
  TargetSource source;
  Spelling spelling(TargetKind::cuda);
  std::vector<Launched> launched;
  std::vector<Printed> printed;
  for (const Function &function : functions) {
    statuses.begin_function(names_of_arguments(function));
    statuses.of(StatusKind::cuda_error, "a CUDA call failed: the bits above the kind are its cudaError_t");
    Launched one{&function, {}, {}, {}};
    printed.push_back({&function, {}});
    for (const Variation *variation : function.variations) {
      one.made.emplace_back();
      if (source.plan.empty())
        source.plan = plan_comment(variation->plans.at(TargetKind::cuda).plan, variation->facts);
      const std::vector<HostFunction> made = functions_of(function, *variation, spelling, statuses);
      for (const HostFunction &one_made : made) {
        for (const std::string &text : one_made.texts)
          printed.back().texts.push_back(declare_at_fold(text));
        const bool last = &one_made == &made.back();
        one.made.back().push_back({one_made.name, "", "", last ? "" : all_outputs_condition(variation->lowered, c_name),
                                   one_made.needs_workspace, one_made.workspace_sizes});
      }
      const std::string name = variation_name(function, *variation) + "_requirements";
      DeviceRequirements required = device_requirements(function, *variation, name, spelling, statuses);
      one.requirements.push_back(required.kernel.empty() ? "" : name);
      if (!required.kernel.empty())
        printed.back().texts.push_back(std::move(required.kernel));
    }
    one.before_run = [&function, &spelling, &statuses](size_t v, const std::string &requirements) {
      return device_requirements(function, *function.variations[v], requirements, spelling, statuses).launch;
    };
    launched.push_back(std::move(one));
  }
  PrintedNames names;
  source.kernels = each_once(printed, spelling, names);
  write_once(source.kernels, sizes_made_for(printed), names);
  add_launchers(spec.kernel, launched, names, true, spelling, statuses, source);
  source.helpers = spelling.helpers();
  return source;
}

} // namespace kgen
