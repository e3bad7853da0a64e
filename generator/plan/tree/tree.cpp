// Greedy loop fusion. For the first statement that still lacks a loop, the axis is taken that lets most statements
// join; statements that cannot join move before the loop when nothing in it concerns them, else after it.
#include "plan/tree/tree.h"

#include <algorithm>
#include <map>
#include <set>

#include "plan/index/access.h"
#include "plan/index/counted.h"
#include "plan/index/exprs.h"
#include "plan/index/limits.h"
#include "plan/index/order.h"
#include "plan/tree/around_loop.h"
#include "plan/tree/tree_items.h"
#include "support/check.h"

namespace kgen {
namespace {

class Builder {
public:
  Builder(Kernel &kernel, const std::vector<AxisId> &order, Fusion fusion, TargetKind target)
      : kernel_(kernel), order_(order), fusion_(fusion), target_(target), limits_(kernel) {}

  std::vector<PlanNode> build(std::vector<PlanNode> program) {
    uses_.clear();
    settings_.clear();
    for (const PlanNode &node : program)
      for (const Access &a : accesses_of(kernel_, node)) {
        ++uses_[a.var];
        settings_[a.var] += a.write;
      }
    limits_.find(program);
    return level(items_of(std::move(program)), AxisSet());
  }

private:
  struct Group {
    std::vector<TreeItem> before, members, after;
  };

  std::vector<TreeItem> items_of(std::vector<PlanNode> nodes) const {
    const std::map<size_t, size_t> loop_of = find_starts(kernel_, nodes, uses_);
    std::map<size_t, std::vector<PlanNode>> starts;
    for (const auto &[start, loop] : loop_of)
      starts[loop].push_back(std::move(nodes[start]));
    std::vector<TreeItem> out;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (loop_of.count(i) != 0)
        continue;
      PlanNode &node = nodes[i];
      std::vector<Access> accesses = accesses_of(kernel_, node);
      for (const PlanNode &start : starts[i])
        for (const Access &a : accesses_of(kernel_, start))
          accesses.push_back(a);
      const bool local = node.target != kNone && kernel_.vars[node.target].kind == Var::Kind::local;
      const bool jumps = jumps_out(node);
      out.push_back({std::move(node), std::move(starts[i]), std::move(accesses), local, jumps});
    }
    return out;
  }

  std::vector<PlanNode> level(std::vector<TreeItem> items, AxisSet open) {
    std::vector<PlanNode> out;
    while (!items.empty()) {
      const auto waiting = std::find_if(items.begin(), items.end(),
                                        [&](const TreeItem &item) { return !candidates(item, open).empty(); });
      if (waiting == items.end()) {
        for (TreeItem &item : items)
          close(std::move(item), open, out);
        break;
      }
      // Within loops what stands before is done first; at the top it may be drawn into the loop (see absorbable).
      if (!open.empty()) {
        for (auto item = items.begin(); item != waiting; ++item)
          close(std::move(*item), open, out);
        items.erase(items.begin(), waiting);
      }
      const AxisId axis = choose_axis(items, find_leader(items, open), open);
      Group group = form_group(items, axis, open);
      for (PlanNode &node : level(std::move(group.before), open))
        out.push_back(std::move(node));
      out.push_back(loop(std::move(group.members), axis, open));
      items = std::move(group.after);
    }
    return out;
  }

  void close(TreeItem item, AxisSet open, std::vector<PlanNode> &out) {
    for (PlanNode &start : item.starts)
      out.push_back(std::move(start));
    out.push_back(close(std::move(item.node), open));
  }

  // A statement whose loops are all open; the statements inside get theirs.
  PlanNode close(PlanNode node, AxisSet open) {
    if (is_composite(node)) {
      KGEN_CHECK(open.contains(node.lanes)); // a condition stands inside the loops over its axes
      node.body = level(items_of(std::move(node.body)), open);
      node.otherwise = level(items_of(std::move(node.otherwise)), open);
      node.step = level(items_of(std::move(node.step)), open);
    }
    return node;
  }

  PlanNode loop(std::vector<TreeItem> members, AxisId axis, AxisSet open) {
    PlanNode node;
    node.kind = PlanNode::Kind::loop;
    node.axis = axis;
    node.place = members.front().node.place;
    const auto head = std::find_if(members.begin(), members.end(), has_lanes);
    node.limits = loop_limits(head == members.end() ? members.front() : *head, axis);
    for (TreeItem &item : members)
      if (is_composite(item.node) && !limits_.ends_alike(item.node, axis, private_to(item))) {
        item.node = limits_.guarded(std::move(item.node), axis, node.limits);
        item.jumps = jumps_out(item.node);
      }
    for (const TreeItem &item : members)
      for_each_node(item.node, [&](const PlanNode &n) {
        if (n.kind == PlanNode::Kind::scan_step && n.axis == axis) {
          node.order = PlanNode::Order::ordered;
          node.reversed = n.reverse;
        } else if (n.kind == PlanNode::Kind::fold_step && n.reduced.contains(axis) &&
                   node.order == PlanNode::Order::parallel) {
          node.order = PlanNode::Order::reduction;
        }
      });
    node.body = level(std::move(members), open | AxisSet::of(axis));
    return node;
  }

  // Axes whose loop may be opened around the statement now.
  AxisSet candidates(const TreeItem &item, AxisSet open) const {
    AxisSet out;
    const PlanNode &node = item.node;
    if (is_jump(node) || (item.jumps && (node.lanes - open).empty()))
      return out; // a loop around it would take the jump
    if (!is_composite(node)) {
      AxisSet lanes = node.lanes - open;
      const AxisSet kept = lanes - node.reduced;
      if (node.kind == PlanNode::Kind::fold_step)
        lanes = kept.empty() ? outermost(lanes - waiting(lanes, open)) : kept;
      // A scan goes along its own axis last, so that the carry is one value.
      if (node.kind == PlanNode::Kind::scan_step && !(lanes - AxisSet::of(node.axis)).empty())
        lanes -= AxisSet::of(node.axis);
      out = lanes;
    } else {
      AxisSet all = lanes_inside(node) - open;
      for (AxisId axis : all.list())
        if (may_surround(item, axis, open))
          out |= AxisSet::of(axis);
      const AxisSet needed = (node.lanes - open) & out;
      if (!needed.empty())
        out = needed;
    }
    return out - waiting(out, open);
  }

  // Those of which each row has positions of its own, which are known inside the loop over the rows.
  AxisSet waiting(AxisSet axes, AxisSet open) const {
    AxisSet out;
    for (AxisId axis : axes.list())
      if (const Axis &a = kernel_.axes[axis]; a.ragged != kNone && !open.contains(a.over))
        out |= AxisSet::of(axis);
    return out;
  }

  // A total goes through memory as it lies, also beside one that goes down columns.
  AxisSet outermost(AxisSet axes) const {
    const auto first = std::find_if(order_.begin(), order_.end(), [&](AxisId axis) { return axes.contains(axis); });
    return first == order_.end() ? axes : AxisSet::of(*first);
  }

  static AxisSet lanes_inside(const PlanNode &node) {
    AxisSet all;
    for_each_node(node, [&](const PlanNode &n) { all |= n.lanes; });
    return all;
  }

  // May a loop over `axis` stand around this compound statement? All inside must go along it, or be private to it.
  bool may_surround(const TreeItem &item, AxisId axis, AxisSet open) const {
    const bool differs = (item.node.lanes | jump_lanes(item.node)).contains(axis);
    if (!item.starts.empty() && !open.empty() && !differs && shares_rounds(kernel_, item.node, axis))
      return false;
    const IsPrivate is_private = private_to(item);
    bool fits = true;
    for_each_node(item.node, [&](const PlanNode &n) {
      if (n.kind == PlanNode::Kind::steps && window_moves(item, axis, n.grid))
        fits = false;
      if (is_composite(n) || is_jump(n))
        return;
      if (n.kind == PlanNode::Kind::fold_step && n.reduced.contains(axis))
        fits = false;
      if (n.kind == PlanNode::Kind::scan_step && n.axis == axis)
        fits = false;
      if (!n.lanes.contains(axis) && !is_private(n.target))
        fits = false;
    });
    if (!fits)
      return false;
    // A scatter meets itself at other points, but its additions may come in any order, and else it is one-to-one.
    std::map<VarId, std::vector<const Access *>> by_memory; // of what has thousands, few meet
    for (const Access &a : item.accesses)
      by_memory[a.memory].push_back(&a);
    for (const auto &[memory, accesses] : by_memory)
      for (const Access *a : accesses)
        for (const Access *b : accesses)
          if (a != b && conflict(*a, *b) && !(a->aligned.contains(axis) && b->aligned.contains(axis)) &&
              !(is_private(a->var) && !kernel_.vars[a->var].axes.contains(axis)))
            return false;
    // All statements inside must have the same lanes along it, or be guarded.
    return differs || limits_.ends_alike(item.node, axis, is_private);
  }

  // The locals that no other statement touches.
  IsPrivate private_to(const TreeItem &item) const {
    std::map<VarId, int> inside;
    for (const Access &a : item.accesses)
      ++inside[a.var];
    return [this, inside = std::move(inside)](VarId var) {
      const auto count = inside.find(var);
      return kernel_.vars[var].kind == Var::Kind::local && count != inside.end() && count->second == uses_.at(var);
    };
  }

  // The axes of the conditions under which a statement inside ends a round of a loop around it.
  static AxisSet jump_lanes(const PlanNode &node) {
    AxisSet out;
    for (const std::vector<PlanNode> *list : {&node.body, &node.otherwise})
      for (const PlanNode &child : *list)
        if (child.kind == PlanNode::Kind::branch && jumps_out(child))
          out |= child.lanes | jump_lanes(child);
    return out;
  }

  LimitList loop_limits(const TreeItem &item, AxisId axis) const {
    return limits_.of_loop(item.node, axis, private_to(item));
  }

  bool window_moves(const TreeItem &item, AxisId axis, GridId grid) const {
    const std::string &name = kernel_.grid[grid].name;
    auto moves = [&](const Size &s) { return mentions(s, Size::Op::grid, name); };
    const Axis &a = kernel_.axes[axis];
    if (moves(a.start) || moves(a.size) || moves(a.block))
      return true;
    for (const Access &access : item.accesses)
      for (const Dim &dim : kernel_.vars[access.var].dims)
        if (dim.axis == axis && (moves(dim.start) || moves(dim.block)))
          return true;
    return false;
  }

  // The first statement that still needs a loop, one of weight if there is any: what is light follows. So do locals of
  // fewer axes than those that read them, whose nest goes as arrays lie.
  size_t find_leader(const std::vector<TreeItem> &items, AxisSet open) const {
    size_t first = items.size(), smaller = items.size();
    for (size_t i = 0; i < items.size(); ++i) {
      if (candidates(items[i], open).empty())
        continue;
      if (is_light_local(kernel_, items[i]))
        first = std::min(first, i);
      else if (has_larger_reader(items, i))
        smaller = std::min(smaller, i);
      else
        return i;
    }
    return smaller < items.size() ? smaller : first;
  }

  AxisId choose_axis(const std::vector<TreeItem> &items, size_t leader, AxisSet open) const {
    const AxisSet possible = candidates(items[leader], open);
    if (possible.list().size() == 1)
      return possible.list().front();
    AxisId best = kNone;
    size_t best_size = 0;
    for (AxisId axis : order_) {
      if (!possible.contains(axis))
        continue;
      const Group group = form_group(items, axis, open);
      size_t size = 0;
      for (size_t m = 0; m < group.members.size(); ++m)
        size += !is_light_local(kernel_, group.members[m]) && !has_larger_reader(group.members, m);
      if (best == kNone || size > best_size)
        best = axis, best_size = size;
    }
    return best;
  }

  bool may_join(const TreeItem &item, AxisId axis, AxisSet open) const {
    if (!candidates(item, open).contains(axis)) {
      // Candidates name the preferred axes only; other lanes may be opened first when they are kept ones.
      if (is_composite(item.node) && !item.jumps) {
        return waiting(AxisSet::of(axis), open).empty() && lanes_inside(item.node).contains(axis) &&
               may_surround(item, axis, open);
      }
      return false;
    }
    return true;
  }

  // A local that all lanes share, computed by plain statements: each iteration may compute it for itself.
  bool absorbable(const TreeItem &item) const {
    bool plain = !item.jumps && !(target_ == TargetKind::openmp && is_number(item));
    for_each_node(item.node, [&](const PlanNode &n) {
      if (n.kind == PlanNode::Kind::fold_step || n.kind == PlanNode::Kind::fold_init ||
          n.kind == PlanNode::Kind::scan_step || n.kind == PlanNode::Kind::scan_init ||
          n.kind == PlanNode::Kind::steps || !n.lanes.empty())
        plain = false;
      if (n.target != kNone && kernel_.vars[n.target].kind != Var::Kind::local)
        plain = false;
    });
    return plain;
  }

  // Is it set once, and made of constants, arguments and sizes alone?
  bool is_number(const TreeItem &item) const {
    const PlanNode &n = item.node;
    return n.kind == PlanNode::Kind::assign && n.indices.empty() && settings_.at(n.target) == 1 &&
           item.accesses.size() == 1;
  }

  Group form_group(const std::vector<TreeItem> &items, AxisId axis, AxisSet open) const {
    if (fusion_ == Fusion::none)
      return alone(items, axis, open);
    std::set<size_t> banned;
    for (;;) {
      std::vector<size_t> before, members, after, absorbed;
      split(items, axis, open, banned, before, members, after, absorbed);
      // What was drawn in must be used nowhere else.
      std::map<VarId, int> inside;
      for (size_t i : members)
        for (const Access &a : items[i].accesses)
          ++inside[a.var];
      bool stable = true;
      for (size_t i : absorbed)
        for (const Access &a : items[i].accesses)
          if (a.write && inside[a.var] != uses_.at(a.var)) {
            banned.insert(i);
            stable = false;
          }
      if (!stable)
        continue;
      Group group;
      for (size_t i : before)
        group.before.push_back(items[i]);
      for (size_t i : members)
        group.members.push_back(items[i]);
      for (size_t i : after)
        group.after.push_back(items[i]);
      return group;
    }
  }

  // The first statement that takes the loop; those before it take none and stay where they are. What follows a `break`
  // or `continue` of single lanes stands in the same round.
  Group alone(const std::vector<TreeItem> &items, AxisId axis, AxisSet open) const {
    Group group;
    bool same_round = true;
    for (const TreeItem &item : items) {
      const bool joins = may_join(item, axis, open);
      if (group.members.empty() && !joins) {
        group.before.push_back(item);
        continue;
      }
      same_round = joins && (group.members.empty() || same_round);
      (same_round ? group.members : group.after).push_back(item);
      same_round = same_round && group.members.front().jumps;
    }
    return group;
  }

  void split(const std::vector<TreeItem> &items, AxisId axis, AxisSet open, const std::set<size_t> &banned,
             std::vector<size_t> &before, std::vector<size_t> &members, std::vector<size_t> &after,
             std::vector<size_t> &absorbed) const {
    const TreeItem *head = nullptr;
    LimitList limits;         // of the head
    std::set<VarId> drawn;    // locals of absorbed statements: private to each iteration
    std::set<int> directions; // of scans
    std::set<VarId> turned;   // what comes of scans in the other direction, which go before
    Meeting meeting(kernel_, uses_, target_);
    Touched inside(axis), behind(axis);
    for (size_t i = 0; i < items.size(); ++i) {
      const TreeItem &item = items[i];
      const int direction = direction_of(item.node, axis);
      const bool absorb = open.empty() && banned.count(i) == 0 && absorbable(item);
      const bool early = behind.may_exchange(item.accesses, item.jumps);
      const bool turns = direction != 0 && directions.count(-direction) != 0;
      const bool follows = reads_of(item, turned) && inside.may_exchange(item.accesses, item.jumps);
      const bool joins =
          early && !turns && !follows && (!open.empty() || !meeting.keeps_out(item, axis)) &&
          inside.may_share_loop(item.accesses, drawn) &&
          (absorb || (may_join(item, axis, open) && (head == nullptr || limits == loop_limits(item, axis))));
      if (joins) {
        members.push_back(i);
        directions.insert(direction);
        meeting.add(item, axis);
        if (absorb) {
          absorbed.push_back(i);
          for (const Access &a : item.accesses)
            if (a.write)
              drawn.insert(a.var);
        } else if (head == nullptr) {
          head = &item;
          limits = loop_limits(item, axis);
        }
        inside.add(item.accesses, item.jumps);
      } else if (early && inside.may_exchange(item.accesses, item.jumps)) {
        before.push_back(i);
        for (const Access &a : item.accesses)
          if (a.write && (turns || follows))
            turned.insert(a.memory);
      } else {
        after.push_back(i);
        behind.add(item.accesses, item.jumps);
      }
    }
    settle_around_loop(kernel_, items, axis, inside, before, members, after);
  }

  Kernel &kernel_;
  const std::vector<AxisId> &order_;
  const Fusion fusion_;
  const TargetKind target_;
  std::map<VarId, int> uses_, settings_; // of each variable
  Limits limits_;
};

} // namespace

std::vector<AxisId> memory_order(const Kernel &kernel) {
  const size_t count = kernel.axes.size();
  std::vector<double> depth(count, 0), weight(count, 0);
  for (const Var &var : kernel.vars) {
    if (var.kind == Var::Kind::local || var.kind == Var::Kind::scratch)
      continue;
    const double w = var.kind == Var::Kind::output ? 2 : 1;
    int from_end = 0;
    for (auto dim = var.dims.rbegin(); dim != var.dims.rend(); ++dim) {
      if (dim->axis == kNone)
        continue;
      depth[dim->axis] += w * from_end++;
      weight[dim->axis] += w;
    }
  }
  std::vector<AxisId> order(count);
  for (size_t i = 0; i < count; ++i)
    order[i] = static_cast<AxisId>(i);
  std::stable_sort(order.begin(), order.end(), [&](AxisId a, AxisId b) {
    const double da = weight[a] > 0 ? depth[a] / weight[a] : 0, db = weight[b] > 0 ? depth[b] / weight[b] : 0;
    return da > db;
  });
  return order;
}

std::vector<PlanNode> build_tree(Kernel &kernel, const std::vector<AxisId> &order, std::vector<PlanNode> program,
                                 Fusion fusion, TargetKind target) {
  return Builder(kernel, order, fusion, target).build(std::move(program));
}

bool is_parallel_loop(const PlanNode &node) {
  return (node.kind == PlanNode::Kind::loop || node.kind == PlanNode::Kind::steps) &&
         node.order == PlanNode::Order::parallel;
}

int leading_parallel_loops(const PlanNode &root) {
  int count = 0;
  for (const PlanNode *node = &root; is_parallel_loop(*node); node = &node->body.front()) {
    ++count;
    if (node->body.size() != 1)
      break;
  }
  return count;
}

std::vector<const PlanNode *> leading_loops(const PlanNode &root, int count) {
  std::vector<const PlanNode *> out;
  for (const PlanNode *node = &root; count > 0; --count, node = &node->body.front())
    out.push_back(node);
  return out;
}

const std::string &name_of_loop(const Kernel &kernel, const PlanNode &loop) {
  return loop.kind == PlanNode::Kind::steps ? kernel.grid[loop.grid].name : kernel.axes[loop.axis].name;
}

} // namespace kgen
