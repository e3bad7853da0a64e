#include "plan/cuda/words.h"

#include "plan/cuda/nests.h"
#include "plan/cuda/packs.h"
#include "support/text.h"

namespace kgen {

using Work = Phase::Launch::Work;

namespace {

std::vector<std::string> names_of(const Plan &plan, const std::vector<VarId> &vars) {
  std::vector<std::string> names;
  for (VarId var : vars)
    names.push_back(plan.kernel.vars[var].name);
  return names;
}

std::vector<std::string> products_of(const std::vector<std::vector<Size>> &lengths) {
  std::vector<std::string> out;
  for (const std::vector<Size> &factors : lengths) {
    std::vector<std::string> texts;
    for (const Size &factor : factors)
      texts.push_back(to_string(factor));
    out.push_back(join(texts, " * "));
  }
  return out;
}

std::string aligned_words(const Plan &plan, const Phase::Launch::Aligned &aligned) {
  std::string text = join(names_of(plan, aligned.arrays), ", ") + " are aligned";
  for (const Size &unit : aligned.units)
    text += ", " + to_string(unit) + " is 1";
  for (const auto &[size, multiple] : aligned.multiples)
    text += ", " + to_string(size) + " is a multiple of " + std::to_string(multiple);
  return text;
}

} // namespace

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
  const std::vector<std::string> kept = names_of(plan, phase.launch.kept);
  if (kept.empty())
    return "";
  const int held = phase.launch.held;
  return "; what fits of " + join(kept, ", ") + " is read once and stays in " +
         (held > 0 ? "registers, " + std::to_string(held) + " packs a thread, or in " : "") + "shared memory";
}

std::string packs_words(const Plan &plan, const PlanNode &loop) {
  if (!loop.packs)
    return "";
  std::string text = ", packed by " + std::to_string(loop.packs->together);
  if (loop.packs->whole)
    text += " whole";
  if (!loop.packs->unrolled)
    text += ", one round at a time";
  if (!loop.packs->reciprocals.empty())
    text += ", by reciprocals of " + join(names_of(plan, loop.packs->reciprocals), ", ");
  return text;
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
    text += ", " + std::to_string(launch.together) + " at once where " + aligned_words(plan, launch.aligned);
  for (const auto &[is, words] :
       {std::pair{launch.split, ", blocks share items"}, std::pair{launch.folds, ", values found together"},
        std::pair{launch.doubles, ", doubles"}})
    text += is ? words : "";
  if (!launch.lengths.empty())
    text += ", threads by " + join(products_of(launch.lengths), ", ");
  if (!launch.buffers.empty())
    text += ", each block with " + join(names_of(plan, launch.buffers), ", ");
  for (const Phase::Launch::Room &room : launch.rooms)
    text += std::string(", ") + rooms[room.kind] + (room.var == kNone ? "" : plan.kernel.vars[room.var].name);
  return text;
}

} // namespace kgen
