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

std::string launch_words(const Plan &plan, const Phase &phase) {
  static const char *const works[] = {"",      "items", "packs", "crosswise", "columns", "block",
                                      "warps", "row",   "team",  "points",    "rounds"};
  static const char *const rooms[] = {"parts of ", "tickets of ", "slots of ", "a ticket"};
  const Phase::Launch &launch = phase.launch;
  if (launch.work == Work::none)
    return "";
  std::string text = std::string("kernel: ") + works[static_cast<size_t>(launch.work)];
  if (launch.together > 1)
    text += ", " + std::to_string(launch.together) + " at once";
  for (const auto &[is, words] :
       {std::pair{launch.split, ", blocks share items"}, std::pair{launch.folds, ", values found together"},
        std::pair{launch.buffers, ", buffers of each block"}})
    text += is ? words : "";
  for (const Phase::Launch::Room &room : launch.rooms)
    text += std::string(", ") + rooms[room.kind] + (room.var == kNone ? "" : plan.kernel.vars[room.var].name);
  return text;
}

} // namespace kgen
