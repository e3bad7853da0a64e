#include "plan/tree/around_loop.h"

#include <algorithm>
#include <map>
#include <set>

namespace kgen {
namespace {

// A fold that stood behind the loop and is read there, such as a maximum by its exponentials, does not move before
// it. Nor do the statements around it, but for those that the loop needs before it.
void stay_behind(const std::vector<TreeItem> &items, AxisId axis, std::vector<size_t> &before,
                 const std::vector<size_t> &members, std::vector<size_t> &after) {
  const auto moves = [&](size_t i) { return i > members.front() && !starts_fold(items[i].node); };
  std::set<VarId> found, written;
  for (size_t i : before) {
    if (!moves(i))
      continue;
    if (items[i].node.kind == PlanNode::Kind::fold_step)
      found.insert(items[i].node.target);
    for (const Access &a : items[i].accesses)
      if (a.write)
        written.insert(a.memory);
  }
  const auto reads_any = [&](const std::vector<size_t> &list, const std::set<VarId> &memory) {
    return std::any_of(list.begin(), list.end(), [&](size_t i) { return reads_of(items[i], memory); });
  };
  if (!reads_any(after, found) || reads_any(members, written))
    return;
  Touched stays(axis);
  std::set<size_t> left;
  for (size_t i = items.size(); i-- > members.front();) {
    const bool waits = std::find(before.begin(), before.end(), i) != before.end();
    if (waits && moves(i) && stays.may_exchange(items[i].accesses, items[i].jumps))
      left.insert(i);
    else if (waits || std::find(members.begin(), members.end(), i) != members.end())
      stays.add(items[i].accesses, items[i].jumps);
  }
  std::erase_if(before, [&](size_t i) { return left.count(i) != 0; });
  after.insert(after.end(), left.begin(), left.end());
  std::sort(after.begin(), after.end());
}

// What starts a fold waits for its steps.
void start_late(const std::vector<TreeItem> &items, std::vector<size_t> &before, const std::vector<size_t> &members,
                std::vector<size_t> &after) {
  std::map<VarId, int> touched;
  for (const std::vector<size_t> *list : {&std::as_const(before), &members})
    for (size_t i : *list)
      for (const Access &a : items[i].accesses)
        ++touched[a.var];
  const auto alone = [&](const TreeItem &start) {
    const VarId best = start.node.partner;
    return touched[start.node.target] == 1 && (best == kNone || touched[best] == 1);
  };
  std::vector<size_t> late;
  for (size_t i : before)
    if (starts_fold(items[i].node) && alone(items[i]))
      late.push_back(i);
  if (late.empty())
    return;
  std::erase_if(before, [&](size_t i) { return std::find(late.begin(), late.end(), i) != late.end(); });
  after.insert(after.end(), late.begin(), late.end());
  std::sort(after.begin(), after.end());
}

// What starts a fold or scan of the loop stands right before it.
void start_next_to(const std::vector<TreeItem> &items, std::vector<size_t> &before) {
  std::map<VarId, int> touched;
  for (size_t i : before)
    for (const Access &a : items[i].accesses)
      ++touched[a.var];
  std::stable_partition(before.begin(), before.end(), [&](size_t i) {
    const PlanNode &node = items[i].node;
    const bool alone = touched[node.target] == 1 && (node.partner == kNone || touched[node.partner] == 1);
    return !(starts_fold(node) && alone);
  });
}

// The accesses of a loop's members, by memory.
using MembersOf = std::map<VarId, std::vector<std::pair<size_t, const Access *>>>;

// A local that no other statement of the loop reads, made of smaller values that they leave: keeping those is
// cheaper. Or made of one that serves nothing else, which goes with it.
bool only_follows(const Kernel &kernel, const std::vector<TreeItem> &items, const MembersOf &members, size_t at) {
  const PlanNode &node = items[at].node;
  const auto is_smaller = [&](const Var &var) {
    return var.kind == Var::Kind::local && var.axes != node.lanes && node.lanes.contains(var.axes);
  };
  const auto goes_along = [&](const Access &own) {
    const bool local = kernel.vars[own.var].kind == Var::Kind::local;
    return local && std::ranges::all_of(members.at(own.memory), [&](const auto &other) {
             const PlanNode &n = items[other.first].node;
             const bool sets = n.kind == PlanNode::Kind::assign && n.target == own.var;
             return other.first == at || sets || other.second->write;
           });
  };
  return std::ranges::all_of(items[at].accesses, [&](const Access &own) {
    const bool may_leave = !own.write && (is_smaller(kernel.vars[own.var]) || goes_along(own));
    return std::ranges::all_of(members.at(own.memory), [&](const auto &other) {
      return other.first == at || !conflict(own, *other.second) || (other.first < at && may_leave);
    });
  });
}

// A local that no other statement of the loop touches is better computed, or started, where it is read.
void leave_to_readers(const Kernel &kernel, const std::vector<TreeItem> &items, Touched &inside,
                      std::vector<size_t> &members, std::vector<size_t> &after) {
  std::vector<size_t> left;
  MembersOf by_memory;
  for (size_t i : members)
    for (const Access &a : items[i].accesses)
      by_memory[a.memory].emplace_back(i, &a);
  for (size_t m = members.size(); m-- > 0 && members.size() > 1;) {
    const TreeItem &item = items[members[m]];
    if (!starts_or_sets(item.node) || !item.local_target ||
        (!inside.may_exchange_member(item.accesses, item.jumps) && !only_follows(kernel, items, by_memory, members[m])))
      continue;
    inside.remove(item.accesses, item.jumps);
    for (const Access &a : item.accesses)
      std::erase_if(by_memory[a.memory], [&](const auto &member) { return member.first == members[m]; });
    left.push_back(members[m]);
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(m));
  }
  const std::set<size_t> together = read_behind(items, members, after);
  for (size_t i : together)
    inside.remove(items[i].accesses, items[i].jumps);
  std::erase_if(members, [&](size_t i) { return together.count(i) != 0; });
  left.insert(left.end(), together.begin(), together.end());
  if (left.empty())
    return;
  after.insert(after.end(), left.begin(), left.end());
  std::sort(after.begin(), after.end());
}

} // namespace

void settle_around_loop(const Kernel &kernel, const std::vector<TreeItem> &items, AxisId axis, Touched &inside,
                        std::vector<size_t> &before, std::vector<size_t> &members, std::vector<size_t> &after) {
  leave_to_readers(kernel, items, inside, members, after);
  stay_behind(items, axis, before, members, after);
  start_late(items, before, members, after);
  start_next_to(items, before);
}

} // namespace kgen
