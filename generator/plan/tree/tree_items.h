// Statements that wait for their loops, and what the tree builder asks of them.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plan/index/access.h"

namespace kgen {

// A statement with what it touches.
struct TreeItem {
  PlanNode node;
  std::vector<PlanNode> starts; // of a loop: they stand right before it
  std::vector<Access> accesses;
  bool local_target = false;
  bool jumps = false; // out of itself
};

bool reads_of(const TreeItem &item, const std::set<VarId> &memory);

// What has none stands in a loop for those behind it.
bool has_lanes(const TreeItem &item);

bool starts_fold(const PlanNode &node);
bool starts_or_sets(const PlanNode &node);

// Does it follow the statements that read it, whose nests go as arrays lie? What starts a fold, and what is quickly
// computed, does.
bool is_light_local(const Kernel &kernel, const TreeItem &item);
// And so does a local that a statement of more axes reads. A fold only where it has no array in common with that: else
// they had better stand in one nest.
bool has_larger_reader(const std::vector<TreeItem> &items, size_t local);

// Locals that are made of each other and of arguments alone, and are read behind the loop but by nothing else in it.
std::set<size_t> read_behind(const std::vector<TreeItem> &items, const std::vector<size_t> &members,
                             const std::vector<size_t> &after);

// Of a scan along the axis: 1 or -1. The first of equals is found on the way up.
int direction_of(const PlanNode &node, AxisId axis);

// Scans and folds of one long axis that stands alone: in one loop, one worker would do both. Apart, many share each.
// Folds for one optional output and what fills another: mostly one is wanted, which goes through memory as suits it.
// And arrays that are filled from elsewhere: a loop over columns for another array would go crosswise through them.
class Meeting {
public:
  Meeting(const Kernel &kernel, const std::map<VarId, int> &uses, TargetKind target)
      : kernel_(kernel), uses_(uses), target_(target) {}
  bool keeps_out(const TreeItem &item, AxisId axis) const;
  void add(const TreeItem &item, AxisId axis);

private:
  std::set<VarId> served_alone(const TreeItem &item) const;
  bool serves_another_output(const TreeItem &item) const;
  bool turns_for_nothing(const TreeItem &item, AxisId axis) const;

  const Kernel &kernel_;
  const std::map<VarId, int> &uses_; // how often the program uses each
  const TargetKind target_;
  bool folds_ = false, scans_ = false; // of the axis
  bool has_fold_ = false;
  std::set<VarId> scanned_;          // what comes of scans
  std::set<std::set<VarId>> served_; // outputs of the members; none: what others may need
  std::vector<const TreeItem *> members_;
  bool all_set_ = true;    // and do nothing else
  bool fills_ = false;     // an output
  bool crosswise_ = false; // and not as it lies
};

} // namespace kgen
