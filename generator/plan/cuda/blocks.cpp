#include "plan/cuda/blocks.h"

#include <algorithm>
#include <functional>
#include <map>

#include "plan/index/access.h"
#include "plan/index/lanes.h"
#include "plan/index/ranges.h"
#include "plan/place/storage.h"

namespace kgen {
namespace {

// The axes of the loops that threads share of which the buffer has no dimension, though it lives inside of them.
std::vector<AxisId> missing_dims(const Plan &plan, const Scopes &scopes, const PlanNode &loop, VarId var) {
  std::vector<AxisId> out;
  const Storage &storage = plan.storage[var];
  for (const PlanNode *shared : loop.order == PlanNode::Order::ordered ? Nest{&loop} : nest_of(plan, loop, loop.order))
    if (shared->kind == PlanNode::Kind::loop && scopes.of(var).open.contains(shared->axis) &&
        std::find(storage.dims.begin(), storage.dims.end(), shared->axis) == storage.dims.end())
      out.push_back(shared->axis);
  return out;
}

} // namespace

std::set<VarId> own_buffers(const Plan &plan, const Scopes &scopes, const PlanNode &loop) {
  std::set<VarId> out;
  if (loop.kind == PlanNode::Kind::loop)
    for (const Access &a : accesses_of(plan.kernel, loop))
      if (plan.storage[a.var].kind == Storage::Kind::worker && !missing_dims(plan, scopes, loop, a.var).empty())
        out.insert(a.var);
  return out;
}

bool is_block_list(const Plan &plan, const Scopes &scopes, const PlanNode &node) {
  return node.kind == PlanNode::Kind::branch || node.kind == PlanNode::Kind::repeat ||
         node.kind == PlanNode::Kind::steps ||
         (node.order != PlanNode::Order::ordered && !own_buffers(plan, scopes, node).empty());
}

PlanNode head_of(const PlanNode &node) {
  PlanNode head = node;
  head.body.clear();
  head.otherwise.clear();
  head.step.clear();
  return head;
}

std::set<VarId> exchanged(const Plan &plan, const Scopes &scopes, const std::vector<PlanNode> &list) {
  std::map<VarId, int> touched;
  std::set<VarId> written;
  const auto touch = [&](const PlanNode &node, int times) {
    std::set<VarId> here;
    for (const Access &a : accesses_of(plan.kernel, node)) {
      if (!in_memory(plan, a.var))
        continue;
      here.insert(a.memory);
      if (a.write)
        written.insert(a.memory);
    }
    for (VarId var : here)
      touched[var] += times;
  };
  // Steps and rounds come round again: what they touch is touched twice.
  const auto visit = [&](const auto &self, const std::vector<PlanNode> &nodes, int times) -> void {
    for (const PlanNode &node : nodes) {
      if (!is_block_list(plan, scopes, node)) {
        touch(node, times);
        continue;
      }
      touch(head_of(node), times);
      for (const auto *inner : {&node.body, &node.otherwise, &node.step})
        self(self, *inner, node.kind == PlanNode::Kind::branch ? times : 2);
    }
  };
  visit(visit, list, 1);
  std::erase_if(written, [&](VarId var) { return touched[var] < 2; });
  return written;
}

namespace {

// The list, and those inside that blocks go through as well.
void add_lists(const Plan &plan, const Scopes &scopes, const std::vector<PlanNode> &list,
               const std::function<void(const std::vector<PlanNode> &)> &add) {
  add(list);
  for (const PlanNode &node : list)
    if (is_block_list(plan, scopes, node))
      for (const auto *inner : {&node.body, &node.otherwise, &node.step})
        add_lists(plan, scopes, *inner, add);
}

void for_each_list(const Plan &plan, const Scopes &scopes,
                   const std::function<void(const std::vector<PlanNode> &)> &add) {
  for (const Phase &phase : plan.phases) {
    if (phase.mapping == Phase::Mapping::item_per_thread)
      continue;
    if (phase.kind == Phase::Kind::serial)
      add_lists(plan, scopes, phase.nodes, add);
    if (phase.kind == Phase::Kind::parallel)
      add_lists(plan, scopes, items_of(plan, phase).back()->body, add);
    if (phase.kind == Phase::Kind::chunked && !goes_by_points(plan, phase.nodes.front()))
      add_lists(plan, scopes, phase.nodes.front().body, add);
  }
}

} // namespace

std::set<VarId> found_in_order(const Plan &plan, const Scopes &scopes, const PlanNode &loop) {
  std::set<VarId> found;
  std::set<const std::vector<PlanNode> *> inside = {nullptr};
  for_each_node(loop, [&](const PlanNode &n) {
    found.insert({n.target, n.partner});
    inside.insert({&n.body, &n.otherwise, &n.step});
  });
  found.erase(kNone);
  std::erase_if(found, [&](VarId var) {
    return plan.storage[var].kind != Storage::Kind::scalar || inside.count(scopes.of(var).list) != 0;
  });
  return found;
}

namespace {

class BlockWorkFinder {
public:
  BlockWorkFinder(const Plan &plan, const Scopes &scopes) : plan_(plan), scopes_(scopes) {}

  BlockWork of(const std::vector<PlanNode> &nodes) {
    list(nodes);
    work_.waits = work_.waits || !exchanged(plan_, scopes_, nodes).empty();
    return work_;
  }

private:
  void list(const std::vector<PlanNode> &nodes) {
    for (const PlanNode &node : nodes)
      if (node.kind == PlanNode::Kind::loop)
        loop(node);
      else
        for (const auto *inner : {&node.step, &node.body, &node.otherwise})
          list(*inner);
  }

  void loop(const PlanNode &node) {
    const bool alone = !own_buffers(plan_, scopes_, node).empty();
    if (node.order == PlanNode::Order::ordered && (alone || !LaneAnalysis(plan_).has_scans_only(node))) {
      const bool found = !found_in_order(plan_, scopes_, node).empty();
      work_.folds = work_.folds || found;
      work_.waits = work_.waits || found;
      return;
    }
    if (node.order == PlanNode::Order::ordered)
      work_.scans = work_.folds = true;
    if (alone || node.order != PlanNode::Order::parallel)
      folds(node);
    if (!alone) {
      work_.shared.push_back(node.order == PlanNode::Order::ordered ? Nest{&node} : nest_of(plan_, node, node.order));
      return;
    }
    work_.waits = true;
    const std::set<VarId> outer = pending_;
    for (const PlanNode *fold : folds_over(node))
      pending_.insert(fold->target);
    list(node.body);
    pending_ = outer;
  }

  void folds(const PlanNode &loop) {
    for (const PlanNode *fold : folds_over(loop)) {
      if (pending_.count(fold->target) != 0)
        continue;
      work_.folds = true;
      work_.waits = work_.waits ||
                    (fold->partner != kNone && (in_memory(plan_, fold->target) || in_memory(plan_, fold->partner)));
    }
  }

  const Plan &plan_;
  const Scopes &scopes_;
  std::set<VarId> pending_; // folds that go on over the rounds of a block
  BlockWork work_;
};

} // namespace

BlockWork work_of_block(const Plan &plan, const Scopes &scopes, const std::vector<PlanNode> &list) {
  return BlockWorkFinder(plan, scopes).of(list);
}

bool goes_by_points(const Plan &plan, const PlanNode &root) {
  if (uses_buffers(plan, root))
    return false;
  const LaneAnalysis lanes(plan);
  const PlanNode &last = *nest_of(plan, root, PlanNode::Order::reduction).back();
  bool own = true;
  for (const PlanNode &inside : last.body)
    for_each_node(inside, [&](const PlanNode &n) {
      own = own && n.kind != PlanNode::Kind::steps;
      if (n.kind != PlanNode::Kind::loop)
        return;
      const Size extent = extent_of(plan.kernel, n.axis);
      own = own &&
            ((extent.is_integer() && extent.value <= plan.decide(Decision::own_rounds)) || lanes.crosses(n, last.axis));
    });
  return own;
}

namespace {

// Room for all turns of the loop.
void widen_buffers(Plan &plan, const Scopes &scopes, const PlanNode &loop) {
  if (loop.order == PlanNode::Order::ordered)
    return;
  const int64_t most = plan.decide(Decision::shared_tile_bytes);
  for (VarId var : own_buffers(plan, scopes, loop)) {
    Storage wide = plan.storage[var];
    const std::vector<AxisId> missing = missing_dims(plan, scopes, loop, var);
    wide.dims.insert(wide.dims.end(), missing.begin(), missing.end());
    int64_t bytes = bytes_of(plan.kernel.vars[var].type);
    for (int64_t extent : plan.kernel.vars[var].array)
      bytes *= extent;
    for (AxisId axis : wide.dims) {
      const Size extent = extent_of(plan.kernel, axis);
      bytes = extent.is_integer() && bytes <= most ? bytes * extent.value : most + 1;
    }
    if (bytes <= most)
      plan.storage[var] = wide;
  }
}

// The phases that use a variable, but for starting a fold in chunks.
std::vector<std::set<size_t>> users_of(const Plan &plan) {
  std::vector<std::set<size_t>> out(plan.kernel.vars.size());
  for (size_t i = 0; i < plan.phases.size(); ++i)
    for (const PlanNode &node : plan.phases[i].nodes)
      if (!starts_chunks(plan, node))
        for (const Access &a : accesses_of(plan.kernel, node))
          out[a.var].insert(i);
  return out;
}

// Is what the kernel of a whole-array fold finds needed in later ones?
bool is_used_after(const Plan &plan, size_t chunked, const std::set<size_t> &users) {
  return std::any_of(users.begin(), users.end(), [&](size_t i) {
    return i != chunked && !(i == chunked + 1 && plan.phases[i].kind == Phase::Kind::serial);
  });
}

} // namespace

std::vector<Storage> places_in_blocks(Plan plan) {
  plan.storage = places_of(plan);
  const Scopes scopes(plan);
  for_each_list(plan, scopes, [&](const std::vector<PlanNode> &list) {
    for (const PlanNode &node : list)
      widen_buffers(plan, scopes, node);
  });
  const std::vector<std::set<size_t>> users = users_of(plan);
  for (size_t i = 0; i < plan.phases.size(); ++i)
    for (VarId var : plan.phases[i].partials)
      if (!is_used_after(plan, i, users[var]))
        plan.storage[var].kind = Storage::Kind::scalar;
  std::set<const std::vector<PlanNode> *> lists; // whose statements all threads of a block reach
  for_each_list(plan, scopes, [&](const std::vector<PlanNode> &list) { lists.insert(&list); });
  for (size_t v = 0; v < plan.storage.size(); ++v)
    if (Storage &s = plan.storage[v];
        s.kind == Storage::Kind::array && lists.count(scopes.of(static_cast<VarId>(v)).list) != 0)
      s.kind = Storage::Kind::worker;
  return plan.storage;
}

} // namespace kgen
