#include "plan/verify/launches.h"

#include <algorithm>
#include <set>

#include "plan/cuda/packs.h"
#include "plan/cuda/rows.h"
#include "plan/index/access.h"

namespace kgen {
namespace {

using Launch = Phase::Launch;
using Work = Launch::Work;

const std::set<Work> kThreads = {Work::items, Work::packs, Work::crosswise, Work::columns},
                     kBlocks = {Work::block, Work::warps, Work::row, Work::team},
                     kChunks = {Work::points, Work::rounds}, kShared = {Work::columns, Work::row, Work::team};

// What kernels of such a phase may do.
std::set<Work> fitting(const Phase &phase) {
  if (phase.kind == Phase::Kind::chunked)
    return kChunks;
  if (phase.kind == Phase::Kind::serial)
    return {Work::block};
  return phase.mapping == Phase::Mapping::item_per_thread ? kThreads : kBlocks;
}

std::string wrong_rooms(const Plan &plan, const Phase &phase) {
  std::set<VarId> found;
  for (const PlanNode &node : phase.nodes)
    for (const Access &a : accesses_of(plan.kernel, node))
      if (a.write)
        found.insert(a.var);
  for (const Launch::Room &room : phase.launch.rooms)
    if (room.kind != Launch::Room::ticket && found.count(room.var) == 0)
      return "blocks leave '" + plan.kernel.vars[room.var].name + "' for each other, which none of them finds";
  const bool meet = phase.launch.split || kChunks.count(phase.launch.work) != 0;
  return meet == phase.launch.rooms.empty() ? "blocks that share items have no place to meet, or others have one" : "";
}

// An array that is kept is read by more than one loop, and not from where the kernel writes.
std::string wrong_kept(const Plan &plan, const Phase &phase) {
  const Nest items = items_of(plan, phase);
  for (VarId var : phase.launch.kept) {
    size_t loops = 0;
    for (const PlanNode &node : items.back()->body) {
      const std::vector<Access> accesses = accesses_of(plan.kernel, node);
      loops += std::ranges::any_of(accesses, [&](const Access &a) { return a.var == var && !a.write; });
    }
    if (loops < 2 || !phase.launch.split || plan.storage[var].kind != Storage::Kind::argument)
      return "'" + plan.kernel.vars[var].name + "' is kept for no one";
  }
  return "";
}

std::string wrong_items(const Plan &plan, const Phase &phase) {
  const Launch &launch = phase.launch;
  const Nest items = items_of(plan, phase);
  if (static_cast<int>(items.size()) < phase.split && phase.mapping == Phase::Mapping::item_per_thread)
    return "threads take items of loops that depend on each other";
  if (launch.work == Work::packs && launch.together != positions_together(plan, *items.back()))
    return "a thread takes positions that do not lie side by side";
  if (launch.work == Work::crosswise && !crossing(plan, items))
    return "tiles of what does not lie crosswise";
  if ((launch.work == Work::row || (launch.work == Work::columns && launch.split)) &&
      split_fold(plan, items.back()->body) == nullptr)
    return "blocks share a fold that they cannot share";
  if (launch.work == Work::team && nest_of_row(plan, items).empty())
    return "a team has no row";
  return "";
}

// A loop takes as many positions at once as its kernel, and multiplies with reciprocals of what stays in it.
std::string wrong_packs(const std::vector<PlanNode> &nodes, const Launch &launch) {
  std::string wrong;
  for (const PlanNode &root : nodes)
    for_each_node(root, [&](const PlanNode &n) {
      if (!n.packs)
        return;
      const std::set<VarId> set = targets_of(n.body);
      if (launch.together == 1 || n.packs->together != launch.together)
        wrong = "a loop takes other positions at once than its kernel";
      else if (std::ranges::any_of(n.packs->reciprocals, [&](VarId var) { return set.count(var) != 0; }))
        wrong = "a reciprocal of what changes";
    });
  return wrong;
}

std::string wrong_launch(const Plan &plan, size_t index) {
  const Phase &phase = plan.phases[index];
  const Launch &launch = phase.launch;
  if (!is_kernel(plan, index))
    return launch.work == Work::none ? "" : "a kernel of what the phase before does";
  if (fitting(phase).count(launch.work) == 0)
    return "a kernel that does not fit its phase";
  const Phase *const next = phase_behind(plan, index);
  std::vector<PlanNode> all = phase.nodes;
  if (next != nullptr)
    all.insert(all.end(), next->nodes.begin(), next->nodes.end());
  if (used_buffers(plan, all) != launch.buffers)
    return "a kernel without the buffers that it uses, or with others";
  if (std::string wrong = wrong_packs(all, launch); !wrong.empty())
    return wrong;
  if (launch.split && kShared.count(launch.work) == 0)
    return "blocks share items of a kernel that has no parts";
  if (std::string wrong = wrong_rooms(plan, phase); !wrong.empty() || phase.kind != Phase::Kind::parallel)
    return wrong;
  if (std::string wrong = wrong_items(plan, phase); !wrong.empty())
    return wrong;
  return wrong_kept(plan, phase);
}

} // namespace

bool has_launches(const Plan &plan) {
  return std::ranges::any_of(plan.phases, [](const Phase &phase) { return phase.launch.work != Work::none; });
}

std::string check_launches(const Plan &plan) {
  if (!has_launches(plan))
    return "";
  for (size_t i = 0; i < plan.phases.size(); ++i)
    if (std::string wrong = wrong_launch(plan, i); !wrong.empty())
      return "phase " + std::to_string(i + 1) + ": " + wrong;
  return "";
}

} // namespace kgen
