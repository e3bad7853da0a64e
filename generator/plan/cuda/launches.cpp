#include "plan/cuda/launches.h"

#include <algorithm>

#include "plan/cuda/blocks.h"
#include "plan/cuda/packs.h"
#include "plan/cuda/rows.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

using Launch = Phase::Launch;

// Threads cannot have buffers, nor take items of loops that depend on each other.
void leave_to_blocks(const Plan &plan, Phase &phase) {
  if (phase.mapping == Phase::Mapping::item_per_thread &&
      (uses_buffers(plan, phase.nodes.front()) || static_cast<int>(items_of(plan, phase).size()) < phase.split))
    phase.mapping = Phase::Mapping::item_per_block;
}

// What blocks that share folds leave for the last of them.
void add_parts(const PlanNode &split, Launch &launch) {
  const std::vector<const PlanNode *> folds = folds_over(split);
  for (const PlanNode *fold : folds)
    launch.rooms.push_back({Launch::Room::parts, fold->target});
  launch.rooms.push_back({Launch::Room::tickets, folds.front()->target});
  launch.split = true;
}

class LaunchMaker {
public:
  explicit LaunchMaker(const Plan &plan) : plan_(plan), scopes_(plan) {}

  Launch of(size_t index) const {
    const Phase &phase = plan_.phases[index];
    if (!is_kernel(plan_, index))
      return {};
    if (phase.kind == Phase::Kind::chunked)
      return chunks(phase, phase_behind(plan_, index));
    if (phase.kind == Phase::Kind::serial)
      return block(phase.nodes, false);
    const Nest items = items_of(plan_, phase);
    return phase.mapping == Phase::Mapping::item_per_thread ? threads(phase, items) : blocks(items);
  }

private:
  Launch threads(const Phase &phase, const Nest &items) const {
    Launch launch;
    if (folds_columns(plan_, scopes_, phase)) {
      launch.work = Launch::Work::columns;
      if (const PlanNode *split = split_fold(plan_, items.back()->body))
        add_parts(*split, launch);
      return launch;
    }
    launch.work = Launch::Work::items;
    if (crossing(plan_, items)) {
      launch.work = Launch::Work::crosswise;
    } else if (const int together = positions_together(plan_, *items.back()); together > 1) {
      launch.work = Launch::Work::packs;
      launch.together = together;
    }
    return launch;
  }

  Launch blocks(const Nest &items) const {
    const std::vector<PlanNode> &body = items.back()->body;
    if (const auto row = team_row(plan_, scopes_, items))
      return team(body, *row);
    const PlanNode *split = split_row(plan_, scopes_, items);
    if (split == nullptr)
      return block(body, true);
    Launch launch;
    launch.work = Launch::Work::row;
    launch.folds = true;
    launch.together = positions_shared(plan_, body);
    add_parts(*split, launch);
    return launch;
  }

  Launch team(const std::vector<PlanNode> &body, const TeamRow &row) const {
    Launch launch;
    launch.work = Launch::Work::team;
    launch.together = positions_shared(plan_, body);
    launch.split = row.splits;
    launch.kept = row.kept;
    if (row.splits)
      launch.rooms.push_back({Launch::Room::slots, folds_over(*row.nest.front()).front()->target});
    return launch;
  }

  // Scans of rows that have a warp each do not meet those of other rows.
  Launch block(const std::vector<PlanNode> &body, bool has_items) const {
    Launch launch;
    launch.buffers = uses_buffers(plan_, body);
    const BlockWork work = work_of_block(plan_, scopes_, body);
    const bool warps = has_items && !launch.buffers && work.scans && !work.waits;
    launch.work = warps ? Launch::Work::warps : Launch::Work::block;
    launch.together = positions_shared(plan_, body);
    launch.folds = work.folds;
    return launch;
  }

  // The last block does what comes next.
  Launch chunks(const Phase &phase, const Phase *next) const {
    const PlanNode &root = phase.nodes.front();
    Launch launch;
    const bool points = goes_by_points(plan_, root);
    launch.work = points ? Launch::Work::points : Launch::Work::rounds;
    const int own = points ? positions_of(plan_, nest_of(plan_, root, PlanNode::Order::reduction))
                           : positions_shared(plan_, root.body);
    launch.together = fewer_positions(own, next == nullptr ? 1 : positions_shared(plan_, next->nodes));
    launch.folds = true;
    launch.buffers = uses_buffers(plan_, root.body) || (next != nullptr && uses_buffers(plan_, next->nodes));
    for (VarId var : phase.partials)
      launch.rooms.push_back({Launch::Room::parts, var});
    launch.rooms.push_back({Launch::Room::ticket, kNone});
    return launch;
  }

  const Plan &plan_;
  const Scopes scopes_;
};

} // namespace

void make_launches(Plan &plan) {
  for (Phase &phase : plan.phases)
    leave_to_blocks(plan, phase);
  plan.storage = places_in_blocks(plan);
  plan.zero = make_constant(plan.kernel, Type::i64, 0, 0);
  const LaunchMaker maker(plan);
  for (size_t i = 0; i < plan.phases.size(); ++i)
    plan.phases[i].launch = maker.of(i);
}

} // namespace kgen
