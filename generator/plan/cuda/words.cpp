#include "plan/cuda/words.h"

#include "plan/cuda/nests.h"
#include "plan/cuda/packs.h"
#include "support/text.h"

namespace kgen {

using Work = Phase::Launch::Work;

std::string worker_words(const Phase &phase) {
  switch (phase.launch.work) {
  case Work::items:
  case Work::packs:
  case Work::crosswise:
    return "a thread";
  case Work::columns:
    return "some threads of a block";
  case Work::row:
  case Work::team:
    return "part of a block, or several, by length,";
  default:
    return "a block";
  }
}

std::string thread_words(const Plan &plan, const Phase &phase) {
  const Phase::Launch &launch = phase.launch;
  if (launch.work == Work::columns && launch.split)
    return "; several blocks share one where they are few and long";
  if (launch.work == Work::packs)
    return ", " + std::to_string(launch.together) + " a thread where arrays and rows are aligned";
  if (launch.work != Work::crosswise)
    return "";
  const Nest items = items_of(plan, phase);
  const Crossing crosswise = *crossing(plan, items);
  const std::string side = std::to_string(crosswise.side);
  return ", in tiles of " + side + " x " + side + " of " + plan.kernel.axes[crosswise.other->axis].name + " and " +
         plan.kernel.axes[items.back()->axis].name + " through shared memory";
}

std::string kept_words(const Plan &plan, const Phase &phase) {
  std::vector<std::string> kept;
  for (VarId var : phase.launch.kept)
    kept.push_back(plan.kernel.vars[var].name);
  return kept.empty() ? "" : "; what fits of " + join(kept, ", ") + " is read once and stays in shared memory";
}

} // namespace kgen
