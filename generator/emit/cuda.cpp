// The CUDA source: kernels and host functions of all variations, then the launchers of the C interface.
#include "emit/cuda_kernel.h"
#include "emit/each_once.h"
#include "emit/emitted_plan.h"
#include "emit/launcher.h"
#include "emit/requirements.h"

namespace kgen {

Plan emitted_plan(const Spec &spec, const Variation &variation, TargetKind target) {
  if (target != TargetKind::cuda)
    return make_plan(variation.lowered, variation.lowered_facts, target);
  const std::vector<Variation> variations = {variation};
  const std::vector<Function> functions = functions_of(spec, variations);
  Spelling spelling(target);
  Statuses statuses;
  return CudaKernel(functions.front(), variations.front(), spelling, statuses).plan();
}

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
      CudaKernel kernel(function, *variation, spelling, statuses);
      if (source.plan.empty())
        source.plan = plan_comment(kernel.plan(), variation->facts);
      for (std::string &text : kernel.texts())
        printed.back().texts.push_back(std::move(text));
      one.made.push_back({{kernel.name(), "", kernel.needs_workspace()}});
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
  add_launchers(spec.kernel, launched, names, true, spelling, statuses, source);
  source.helpers = spelling.helpers();
  return source;
}

} // namespace kgen
