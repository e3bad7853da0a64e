#include "plan/cuda/packs.h"

#include <algorithm>
#include <functional>
#include <set>

#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

using Accessed = std::function<void(VarId, const std::vector<Coordinate> &, const Expr *)>;

// Which element of its structure; nothing where that is not a constant.
std::optional<int> field_of(const Kernel &kernel, const Var &var, size_t first, const std::vector<Coordinate> &coords) {
  int64_t field = 0;
  for (size_t d = first; d < var.dims.size(); ++d) {
    const Dim &dim = var.dims[d];
    const Coordinate *given = moved(kernel, coords, dim.axis);
    if (given == nullptr || kernel.expr(given->value).op != Op::constant || !dim.extent.is_integer())
      return std::nullopt;
    const int64_t at = kernel.expr(given->value).integer;
    if (at < 0 || at >= dim.extent.value)
      return std::nullopt;
    field = field * dim.extent.value + at;
  }
  return static_cast<int>(field);
}

// Nothing but values of one position, folds and scans of `loop`, and arrays where `may_set` says that they can be set;
// under a condition those that have been set before it.
bool is_simple(const Plan &plan, const std::vector<PlanNode> &list, const PlanNode &loop,
               const std::function<bool(VarId)> &may_set) {
  std::set<VarId> set;
  const auto once_more = [&](VarId var) { return set.count(var) != 0; };
  return std::all_of(list.begin(), list.end(), [&](const PlanNode &n) {
    if (n.kind == PlanNode::Kind::branch)
      return is_simple(plan, n.body, loop, once_more) && is_simple(plan, n.otherwise, loop, once_more);
    if (n.kind == PlanNode::Kind::fold_step && loop.order != PlanNode::Order::parallel)
      return n.reduced.contains(loop.axis);
    if (n.kind == PlanNode::Kind::scan_step && n.axis == loop.axis)
      return n.partner == kNone || plan.storage[n.partner].kind == Storage::Kind::scalar || may_set(n.partner);
    if (n.kind != PlanNode::Kind::assign || n.scatter_add || !n.indices.empty() || !n.coords.empty())
      return false;
    if (plan.storage[n.target].kind == Storage::Kind::scalar)
      return true;
    const bool may = may_set(n.target);
    set.insert(n.target);
    return may;
  });
}

// Does the place depend on values that the body computes?
bool hangs_on_locals(const Plan &plan, const std::vector<Coordinate> &coords) {
  bool found = false;
  for (const Coordinate &c : coords)
    walk(plan.kernel, c.value, [&](ExprId at) {
      const Expr &e = plan.kernel.expr(at);
      found = found || (e.op == Op::read && plan.storage[e.ref].kind != Storage::Kind::argument) || e.op == Op::element;
      return !found;
    });
  return found;
}

// Does the loop go over all positions of its axis, whatever the others do?
bool is_plain(const Plan &plan, const LaneAnalysis &lanes, const PlanNode &loop) {
  const Axis &axis = plan.kernel.axes[loop.axis];
  return loop.kind == PlanNode::Kind::loop && axis.ragged == kNone && axis.uniform && axis.start.is_integer(0) &&
         (loop.order != PlanNode::Order::ordered || lanes.has_scans_only(loop));
}

void for_each_access(const Plan &plan, const PlanNode &loop, const Accessed &visit) {
  for_each_node(loop, [&](const PlanNode &n) {
    if (n.target != kNone)
      visit(n.target, n.coords, nullptr);
    for (ExprId id : expressions_of(n))
      walk(plan.kernel, id, [&](ExprId at) {
        const Expr &e = plan.kernel.expr(at);
        if (e.op == Op::read)
          visit(e.ref, e.coords, &e);
        return true;
      });
  });
}

struct Spot {
  VarId var;
  const std::vector<Coordinate> *coords;
  PackedAccess access;
};

// Fields of one structure are one place.
bool same_place(const Kernel &kernel, const Spot &a, const Spot &b) {
  if (a.var != b.var || a.access.fields != b.access.fields || a.coords->size() != b.coords->size())
    return false;
  for (const Coordinate &c : *a.coords) {
    const bool tells_field = std::find(a.access.inner.begin(), a.access.inner.end(), c.axis) != a.access.inner.end();
    const Coordinate *other = find_coordinate(*b.coords, c.axis);
    if (other == nullptr || (!tells_field && !same(kernel, c.value, other->value)))
      return false;
  }
  return true;
}

std::vector<Spot> places_of(const Plan &plan, const LaneAnalysis &lanes, const PlanNode &loop) {
  std::vector<Spot> places;
  for_each_access(plan, loop, [&](VarId var, const std::vector<Coordinate> &coords, const Expr *read) {
    const auto packed = packed_access(plan, lanes, var, coords, loop.axis);
    if (!packed || (read != nullptr && lanes.guarded(*read, loop.axis)))
      return;
    const Spot place{var, &coords, *packed};
    if (std::none_of(places.begin(), places.end(), [&](const Spot &p) { return same_place(plan.kernel, p, place); }))
      places.push_back(place);
  });
  return places;
}

} // namespace

int access_bytes(int bytes_together) {
  int bytes = static_cast<int>(machine_of(TargetKind::cuda).access_bytes);
  while (bytes_together % bytes != 0)
    bytes /= 2;
  return bytes;
}

std::optional<PackedAccess> packed_access(const Plan &plan, const LaneAnalysis &lanes, VarId id,
                                          const std::vector<Coordinate> &coords, AxisId lane) {
  const Kernel &kernel = plan.kernel;
  const Var &var = kernel.vars[id];
  const Storage &storage = plan.storage[id];
  const bool buffer = storage.kind == Storage::Kind::worker || storage.kind == Storage::Kind::program;
  if (buffer && var.array.empty() && !storage.dims.empty() && storage.dims.back() == lane &&
      moved(kernel, coords, lane) == nullptr && !hangs_on_locals(plan, coords)) {
    PackedAccess access;
    if (storage.dims.size() > 1)
      access.strides = {kernel.axes[lane].block};
    return access;
  }
  if (storage.kind != Storage::Kind::argument || var.optional || moved(kernel, coords, lane) != nullptr ||
      hangs_on_locals(plan, coords))
    return std::nullopt;
  const auto own = std::find_if(var.dims.begin(), var.dims.end(), [&](const Dim &d) { return d.axis == lane; });
  if (own == var.dims.end() || own->offset || own->may_miss || !own->start.is_integer(0))
    return std::nullopt;
  const LaneStep step = lanes.step_of(id, coords, lane);
  PackedAccess access;
  const size_t at = static_cast<size_t>(own - var.dims.begin());
  if (var.strided) {
    if (at + 1 != var.dims.size() || step.kind != LaneStep::Kind::stride || step.stride.op != Size::Op::axis)
      return std::nullopt;
    access.unit = step.stride;
  } else if (step.kind == LaneStep::Kind::stride && step.stride.is_integer()) {
    const auto field = field_of(kernel, var, at + 1, coords);
    if (!field)
      return std::nullopt;
    access.field = *field;
    access.fields = static_cast<int>(step.stride.value);
    for (size_t d = at + 1; d < var.dims.size(); ++d)
      access.inner.push_back(var.dims[d].axis);
  } else if (step.kind != LaneStep::Kind::neighbour) {
    return std::nullopt;
  }
  Size stride = step.stride;
  for (size_t d = at; d > 0; --d) {
    const Dim &dim = var.dims[d - 1];
    if (var.strided) {
      if (dim.array_dim == own->array_dim || (d > 1 && var.dims[d - 2].array_dim == dim.array_dim))
        return std::nullopt; // parts of one dimension
      if (dim.axis == kNone || kernel.axes[dim.axis].rest)
        return std::nullopt;
      access.strides.push_back(Size::axis(stride_name(kernel, var, dim.array_dim)));
      continue;
    }
    stride = Size::make(Size::Op::multiply, {stride, var.dims[d].extent});
    access.strides = {stride}; // those further out are its multiples
    break;
  }
  return access;
}

int positions_together(const Plan &plan, const PlanNode &loop) {
  const Axis &axis = plan.kernel.axes[loop.axis];
  const LaneAnalysis lanes(plan);
  const bool simple = is_plain(plan, lanes, loop) && is_simple(plan, loop.body, loop, [&](VarId var) {
                        const auto packed = packed_access(plan, lanes, var, {}, loop.axis);
                        return packed && packed->fields == 1;
                      });
  if (!simple)
    return 1;
  const int access = static_cast<int>(machine_of(TargetKind::cuda).access_bytes);
  int least = access, most = 1, all = 0, granule = 1;
  for (const Spot &place : places_of(plan, lanes, loop)) {
    const int bytes = bytes_of(plan.kernel.vars[place.var].type) * place.access.fields;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
    all += bytes;
    if (place.access.fields > 1) // of structures of 12 bytes, four are three whole accesses
      granule = std::max(granule, access / access_bytes(bytes));
  }
  int together = std::min(kMostTogether, access / least);
  while (together > 1 && together * most > plan.decide(Decision::array_bytes))
    together /= 2;
  together = std::max({together, 2, granule});
  while (together > 1 && ((axis.size.is_integer() && axis.size.value % together != 0) ||
                          together * all > plan.decide(Decision::register_bytes)))
    together /= 2;
  return all == 0 ? 1 : together;
}

bool is_crossing(const LaneAnalysis &lanes, VarId var, const std::vector<Coordinate> &coords, AxisId lane,
                 AxisId other) {
  return lanes.step_of(var, coords, lane).kind == LaneStep::Kind::stride &&
         lanes.step_of(var, coords, other).kind == LaneStep::Kind::neighbour;
}

std::optional<Crossing> crossing(const Plan &plan, const std::vector<const PlanNode *> &chain) {
  const LaneAnalysis lanes(plan);
  const PlanNode &loop = *chain.back();
  const auto found = std::find_if(chain.rbegin() + 1, chain.rend(), [&](const PlanNode *outer) {
    return is_plain(plan, lanes, *outer) && lanes.crosses(loop, outer->axis);
  });
  if (found == chain.rend() || !is_plain(plan, lanes, loop))
    return std::nullopt;
  const AxisId other = (*found)->axis;
  const bool simple = is_simple(plan, loop.body, loop, [&](VarId var) {
    return plan.storage[var].kind == Storage::Kind::argument &&
           (is_crossing(lanes, var, {}, loop.axis, other) ||
            lanes.step_of(var, {}, loop.axis).kind == LaneStep::Kind::neighbour);
  });
  int least = 4, all = 0;
  for_each_access(plan, loop, [&](VarId var, const std::vector<Coordinate> &coords, const Expr *) {
    if (!is_crossing(lanes, var, coords, loop.axis, other))
      return;
    least = std::min(least, bytes_of(plan.kernel.vars[var].type));
    all += bytes_of(plan.kernel.vars[var].type);
  });
  const Crossing out{*found, least < 4 ? 64 : 32};
  if (!simple || all == 0 || all * out.side * (out.side + 4) > machine_of(TargetKind::cuda).shared_bytes)
    return std::nullopt;
  return out;
}

} // namespace kgen
