#include "plan/tree/tree_items.h"

#include <algorithm>

#include "plan/index/asked.h"
#include "plan/index/exprs.h"
#include "plan/index/order.h"

namespace kgen {
namespace {

bool folds(const TreeItem &item, AxisId axis) {
  return item.node.kind == PlanNode::Kind::fold_step && item.node.reduced.contains(axis);
}

bool scans(const TreeItem &item, AxisId axis) {
  return item.node.kind == PlanNode::Kind::scan_step && item.node.axis == axis;
}

bool has_fold(const TreeItem &item) {
  bool has = false;
  for_each_node(item.node, [&](const PlanNode &n) { has = has || n.kind == PlanNode::Kind::fold_step; });
  return has;
}

bool have_common_array(const TreeItem &a, const TreeItem &b) {
  return std::any_of(a.accesses.begin(), a.accesses.end(), [&](const Access &one) {
    return one.var != a.node.target && std::any_of(b.accesses.begin(), b.accesses.end(),
                                                   [&](const Access &other) { return one.memory == other.memory; });
  });
}

// Sets, under conditions or not, with nothing that is folded or repeated.
bool only_sets(const TreeItem &item) {
  bool sets = true;
  for_each_node(item.node, [&](const PlanNode &n) {
    sets = sets && (n.kind == PlanNode::Kind::assign || n.kind == PlanNode::Kind::branch);
  });
  return sets;
}

bool fills_output(const Kernel &kernel, const TreeItem &item) {
  return std::any_of(item.accesses.begin(), item.accesses.end(),
                     [&](const Access &a) { return a.write && kernel.vars[a.var].kind == Var::Kind::output; });
}

// Does a loop over `axis` around it take the elements of an output as they do not lie?
bool fills_crosswise(const Kernel &kernel, const TreeItem &item, AxisId axis) {
  return std::any_of(item.accesses.begin(), item.accesses.end(), [&](const Access &a) {
    const Var &var = kernel.vars[a.var];
    return a.write && var.kind == Var::Kind::output && var.dims.size() > 1 && var.dims.front().axis != axis &&
           var.dims.front().axis != kNone && a.aligned.contains(var.dims.front().axis);
  });
}

// Is there anything of several axes that one of them sets and the other knows, or that both read along several?
bool have_much_in_common(const Kernel &kernel, const TreeItem &a, const TreeItem &b) {
  const auto is_much = [](AxisSet axes) { return axes.list().size() > 1; };
  return std::any_of(a.accesses.begin(), a.accesses.end(), [&](const Access &one) {
    return is_much(kernel.vars[one.var].axes) &&
           std::any_of(b.accesses.begin(), b.accesses.end(), [&](const Access &other) {
             return one.memory == other.memory &&
                    (one.write || other.write || (is_much(one.aligned) && is_much(other.aligned)));
           });
  });
}

// `source`: where what the local has comes from, which may be a fold.
bool has_larger_reader(const std::vector<TreeItem> &items, size_t local, const TreeItem &source) {
  const PlanNode &own = items[local].node;
  const bool fold = source.node.kind == PlanNode::Kind::fold_step;
  const AxisSet kept = own.lanes - own.reduced;
  for (size_t i = local + 1; i < items.size(); ++i) {
    const PlanNode &reader = items[i].node;
    if (reader.kind != PlanNode::Kind::assign || !reads_of(items[i], {own.target}))
      continue;
    if (fold && have_common_array(source, items[i]))
      continue;
    const bool passes_on = fold && items[i].local_target && reader.lanes == kept;
    if (passes_on ? has_larger_reader(items, i, source) : reader.lanes != kept && reader.lanes.contains(kept))
      return true;
  }
  return false;
}

} // namespace

bool reads_of(const TreeItem &item, const std::set<VarId> &memory) {
  return std::any_of(item.accesses.begin(), item.accesses.end(),
                     [&](const Access &a) { return !a.write && memory.count(a.memory) != 0; });
}

bool has_lanes(const TreeItem &item) {
  bool has = false;
  for_each_node(item.node, [&](const PlanNode &n) { has = has || !n.lanes.empty(); });
  return has;
}

bool starts_fold(const PlanNode &node) {
  return node.kind == PlanNode::Kind::fold_init || node.kind == PlanNode::Kind::scan_init;
}

bool starts_or_sets(const PlanNode &node) { return node.kind == PlanNode::Kind::assign || starts_fold(node); }

bool is_light_local(const Kernel &kernel, const TreeItem &item) {
  const PlanNode &n = item.node;
  return starts_fold(n) || (n.kind == PlanNode::Kind::assign && item.local_target && is_light(kernel, n.value));
}

bool has_larger_reader(const std::vector<TreeItem> &items, size_t local) {
  const TreeItem &own = items[local];
  const bool is_set = own.node.kind == PlanNode::Kind::assign || own.node.kind == PlanNode::Kind::fold_step;
  return is_set && own.local_target && has_larger_reader(items, local, own);
}

std::set<size_t> read_behind(const std::vector<TreeItem> &items, const std::vector<size_t> &members,
                             const std::vector<size_t> &after) {
  constexpr size_t kMost = 64;                                 // each is compared with each, round by round
  const auto jumps = [&](size_t i) { return items[i].jumps; }; // what stands behind is not for all positions
  if (members.size() > kMost || after.empty() || std::any_of(members.begin(), members.end(), jumps))
    return {};
  std::set<size_t> out;
  for (size_t i : members)
    if (items[i].node.kind == PlanNode::Kind::assign && items[i].local_target)
      out.insert(i);
  const auto meets_one_that_stays = [&](size_t i) {
    return std::any_of(members.begin(), members.end(), [&](size_t m) {
      return out.count(m) == 0 && !may_exchange(items[i].accesses, items[m].accesses);
    });
  };
  const auto is_read = [&](size_t i) {
    const auto reads = [&](size_t reader) { return reader != i && reads_of(items[reader], {items[i].node.target}); };
    return std::any_of(after.begin(), after.end(), reads) || std::any_of(out.begin(), out.end(), reads);
  };
  while (std::erase_if(out, [&](size_t i) { return meets_one_that_stays(i) || !is_read(i); }) > 0)
    ;
  return out.size() < members.size() ? out : std::set<size_t>();
}

int direction_of(const PlanNode &node, AxisId axis) {
  int direction = 0;
  for_each_node(node, [&](const PlanNode &n) {
    if (n.kind == PlanNode::Kind::scan_step && n.axis == axis)
      direction = n.reverse ? -1 : 1;
    else if (n.kind == PlanNode::Kind::fold_step && n.partner != kNone && n.reduced.contains(axis))
      direction = 1;
  });
  return direction;
}

// The outputs that the question around it is about, if no local of it is used elsewhere.
std::set<VarId> Meeting::served_alone(const TreeItem &item) const {
  if (item.node.kind != PlanNode::Kind::branch)
    return {};
  std::map<VarId, int> inside;
  for (const Access &a : item.accesses)
    ++inside[a.var];
  const bool shares = std::any_of(inside.begin(), inside.end(), [&](const auto &use) {
    return kernel_.vars[use.first].kind == Var::Kind::local && use.second != uses_.at(use.first);
  });
  return shares ? std::set<VarId>() : outputs_asked_for(kernel_, item.node.condition);
}

// (A GPU has as many lists as it has threads, whatever their order.)
bool Meeting::serves_another_output(const TreeItem &item) const {
  if (target_ == TargetKind::cuda)
    return false;
  const std::set<VarId> own = served_alone(item);
  return !own.empty() && !served_.empty() && served_.count({}) == 0 && served_.count(own) == 0 &&
         has_fold(item) != has_fold_;
}

// Where all only set something: would it or one of them go crosswise through what it fills, with nothing won by it?
bool Meeting::turns_for_nothing(const TreeItem &item, AxisId axis) const {
  const auto meets = [&](const TreeItem *member) { return have_much_in_common(kernel_, item, *member); };
  return all_set_ && fills_ && only_sets(item) && (crosswise_ || fills_crosswise(kernel_, item, axis)) &&
         std::none_of(members_.begin(), members_.end(), meets);
}

bool Meeting::keeps_out(const TreeItem &item, AxisId axis) const {
  if (serves_another_output(item) || turns_for_nothing(item, axis))
    return true;
  if (folds(item, axis))
    return scans_ && !reads_of(item, scanned_);
  return scans(item, axis) && folds_;
}

void Meeting::add(const TreeItem &item, AxisId axis) {
  members_.push_back(&item);
  fills_ = fills_ || fills_output(kernel_, item);
  crosswise_ = crosswise_ || fills_crosswise(kernel_, item, axis);
  all_set_ = all_set_ && only_sets(item);
  served_.insert(served_alone(item));
  has_fold_ = has_fold_ || has_fold(item);
  folds_ = folds_ || folds(item, axis);
  scans_ = scans_ || scans(item, axis);
  if (scans(item, axis) || reads_of(item, scanned_))
    for (const Access &a : item.accesses)
      if (a.write)
        scanned_.insert(a.memory);
}

} // namespace kgen
