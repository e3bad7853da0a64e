#include "plan/cuda/launches.h"

#include <algorithm>
#include <map>

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

  Launch of(size_t index) {
    const Phase &phase = plan_.phases[index];
    if (!is_kernel(plan_, index))
      return {};
    const Phase *const next = phase_behind(plan_, index);
    Launch launch = kind_of(phase, next);
    launch.doubles =
        makes_doubles(plan_.kernel, phase.nodes) || (next != nullptr && makes_doubles(plan_.kernel, next->nodes));
    return launch;
  }

  // How threads go along the loops that they share.
  void mark_loops(PlanNode &root) const {
    for_each_node(root, [&](PlanNode &node) {
      if (const auto found = packs_.find(&node); found != packs_.end())
        node.packs = found->second;
    });
  }

private:
  Launch kind_of(const Phase &phase, const Phase *next) {
    if (phase.kind == Phase::Kind::chunked)
      return chunks(phase, next);
    if (phase.kind == Phase::Kind::serial)
      return block(phase.nodes, false);
    const Nest items = items_of(plan_, phase);
    return phase.mapping == Phase::Mapping::item_per_thread ? threads(phase, items) : blocks(items);
  }

  Launch threads(const Phase &phase, const Nest &items) const {
    Launch launch;
    if (folds_columns(plan_, scopes_, phase)) {
      const std::vector<PlanNode> &body = items.back()->body;
      launch.work = Launch::Work::columns;
      launch.lengths = lengths_of(plan_.kernel, work_of_block(plan_, scopes_, body).shared);
      if (const PlanNode *split = split_fold(plan_, body))
        add_parts(*split, launch);
      return launch;
    }
    launch.work = Launch::Work::items;
    if (crossing(plan_, items)) {
      launch.work = Launch::Work::crosswise;
    } else if (const int together = positions_together(plan_, *items.back()); together > 1) {
      launch.work = Launch::Work::packs;
      launch.together = together;
      launch.aligned = aligned_for(plan_, {items.back()}, together);
    }
    return launch;
  }

  Launch blocks(const Nest &items) {
    const std::vector<PlanNode> &body = items.back()->body;
    const auto row = team_row(plan_, scopes_, items);
    const PlanNode *split = row ? nullptr : split_row(plan_, scopes_, items);
    if (!row && split == nullptr)
      return block(body, true);
    Launch launch = row ? team(*row) : Launch();
    if (split != nullptr) {
      launch.work = Launch::Work::row;
      launch.folds = true;
      add_parts(*split, launch);
    }
    launch.together = positions_shared(plan_, body);
    pack(work_of_block(plan_, scopes_, body).shared, launch);
    return launch;
  }

  static Launch team(const TeamRow &row) {
    Launch launch;
    launch.work = Launch::Work::team;
    launch.split = row.splits;
    launch.kept = row.kept;
    if (row.splits)
      launch.rooms.push_back({Launch::Room::slots, folds_over(*row.nest.front()).front()->target});
    return launch;
  }

  // Scans of rows that have a warp each do not meet those of other rows.
  Launch block(const std::vector<PlanNode> &body, bool has_items) {
    Launch launch;
    launch.buffers = used_buffers(plan_, body);
    const BlockWork work = work_of_block(plan_, scopes_, body);
    const bool warps = has_items && launch.buffers.empty() && work.scans && !work.waits;
    launch.work = warps ? Launch::Work::warps : Launch::Work::block;
    launch.together = positions_shared(plan_, body);
    launch.folds = work.folds;
    launch.lengths = lengths_of(plan_.kernel, work.shared);
    pack(work.shared, launch);
    return launch;
  }

  // The last block does what comes next.
  Launch chunks(const Phase &phase, const Phase *next) {
    const PlanNode &root = phase.nodes.front();
    const bool points = goes_by_points(plan_, root);
    const Nest nest = nest_of(plan_, root, PlanNode::Order::reduction);
    std::vector<Nest> shared = points ? std::vector<Nest>{nest} : work_of_block(plan_, scopes_, root.body).shared;
    std::vector<PlanNode> all = root.body;
    int together = points ? positions_of(plan_, nest) : positions_shared(plan_, root.body);
    if (next != nullptr) {
      for (Nest &behind : work_of_block(plan_, scopes_, next->nodes).shared)
        shared.push_back(std::move(behind));
      all.insert(all.end(), next->nodes.begin(), next->nodes.end());
      together = fewer_positions(together, positions_shared(plan_, next->nodes));
    }
    Launch launch;
    launch.work = points ? Launch::Work::points : Launch::Work::rounds;
    launch.together = together;
    launch.folds = true;
    launch.buffers = used_buffers(plan_, all);
    if (!points)
      launch.lengths = lengths_of(plan_.kernel, shared);
    pack(shared, launch);
    for (VarId var : phase.partials)
      launch.rooms.push_back({Launch::Room::parts, var});
    launch.rooms.push_back({Launch::Room::ticket, kNone});
    return launch;
  }

  // Those of the loops of which a thread takes several positions.
  void pack(const std::vector<Nest> &shared, Launch &launch) {
    std::vector<const PlanNode *> loops;
    for (const Nest &nest : shared)
      if (launch.together > 1 && positions_of(plan_, nest) > 1)
        loops.push_back(nest.back());
    launch.aligned = aligned_for(plan_, loops, launch.together);
    for (const PlanNode *loop : loops)
      packs_[loop] = packs_along(plan_, *loop, launch);
  }

  const Plan &plan_;
  const Scopes scopes_;
  std::map<const PlanNode *, PlanNode::Packs> packs_;
};

} // namespace

void make_launches(Plan &plan) {
  for (Phase &phase : plan.phases)
    leave_to_blocks(plan, phase);
  plan.storage = places_in_blocks(plan);
  plan.zero = make_constant(plan.kernel, Type::i64, 0, 0);
  LaunchMaker maker(plan);
  for (size_t i = 0; i < plan.phases.size(); ++i)
    plan.phases[i].launch = maker.of(i);
  for (Phase &phase : plan.phases) {
    for (PlanNode &root : phase.nodes)
      maker.mark_loops(root);
    phase.launch.held = packs_held(plan, phase);
  }
}

} // namespace kgen
