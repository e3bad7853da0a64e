#include "plan/verify/fingerprint.h"

namespace kgen {
namespace {

class Fingerprint {
public:
  uint64_t of(const Plan &plan) {
    add(plan.kernel.vars.size(), plan.shares.bits());
    for (const Phase &phase : plan.phases) {
      add(phase.kind, phase.split, phase.when, phase.unless, phase.mapping, phase.launch.work, phase.launch.together);
      list(phase.nodes);
    }
    for (const Storage &storage : plan.storage) {
      add(storage.kind, storage.in_parts, storage.part, storage.kept.has_value(), storage.dims.size());
      for (AxisId axis : storage.dims)
        add(axis);
    }
    return sum_;
  }

private:
  template <class... Numbers> void add(Numbers... numbers) { (one(static_cast<uint64_t>(numbers)), ...); }

  void one(uint64_t number) {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
    sum_ = (sum_ ^ number) * kOdd;
    sum_ ^= sum_ >> 32;
  }

  void list(const std::vector<PlanNode> &nodes) {
    add(nodes.size());
    for (const PlanNode &node : nodes)
      statement(node);
  }

  void statement(const PlanNode &n) {
    add(n.kind, n.axis, n.grid, n.target, n.partner, n.scatter_add, n.value, n.second, n.condition, n.monoid);
    add(n.reduced.bits(), n.scan, n.reverse, n.exclusive, n.lanes.bits(), n.origin, n.order, n.reversed, n.share);
    add(n.parts, n.end, n.table, n.entry, n.row_by_row, n.kept.has_value(), n.contraction.has_value(), n.near);
    for (ExprId index : n.indices)
      add(index);
    for (const Coordinate &c : n.coords)
      add(c.axis, c.value);
    for (const auto *inner : {&n.body, &n.otherwise, &n.step})
      list(*inner);
  }

  uint64_t sum_ = 0;
};

} // namespace

uint64_t fingerprint(const Plan &plan) { return Fingerprint().of(plan); }

} // namespace kgen
