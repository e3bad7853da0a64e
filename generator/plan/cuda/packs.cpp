#include "plan/cuda/packs.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"

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

std::vector<Pack> packs_of(const Plan &plan, const PlanNode &loop) {
  const LaneAnalysis lanes(plan);
  std::vector<Pack> packs;
  const auto add = [&](VarId var, const std::vector<Coordinate> &coords, bool load, bool safe) {
    const auto access = packed_access(plan, lanes, var, coords, loop.axis);
    if (access && !may_leave_along(plan.kernel, plan.kernel.vars[var], coords, loop.axis))
      packs.push_back({var, coords, load, safe, *access});
  };
  const auto visit = [&](const auto &self, const PlanNode &node) -> void {
    for (ExprId id : expressions_of(node))
      walk(plan.kernel, id, [&](ExprId at) {
        const Expr &e = plan.kernel.expr(at);
        if (e.op == Op::read && !lanes.guarded(e, loop.axis))
          add(e.ref, e.coords, true, e.safe);
        return true;
      });
    for (const auto *list : {&node.body, &node.otherwise})
      for (const PlanNode &child : *list)
        self(self, child);
    if (node.target != kNone && node.kind == PlanNode::Kind::assign)
      add(node.target, {}, false, false);
    if (node.kind == PlanNode::Kind::scan_step && node.partner != kNone)
      add(node.partner, {}, false, false);
  };
  for (const PlanNode &node : loop.body)
    visit(visit, node);
  return packs;
}

namespace {

// A factor that is known, and the rest.
int64_t known_factor(const Size &size) {
  if (size.is_integer())
    return size.value;
  return size.op == Size::Op::multiply ? known_factor(size.args[0]) * known_factor(size.args[1]) : 1;
}

Size unknown_factors(const Size &size) {
  if (size.is_integer())
    return Size::integer(1);
  if (size.op != Size::Op::multiply)
    return size;
  return Size::make(Size::Op::multiply, {unknown_factors(size.args[0]), unknown_factors(size.args[1])});
}

int64_t *multiple_of(Phase::Launch::Aligned &aligned, const Size &size) {
  const auto at = std::ranges::find(aligned.multiples, size, &std::pair<Size, int64_t>::first);
  return at == aligned.multiples.end() ? nullptr : &at->second;
}

// Arrays begin, and rows follow each other, at multiples of an access.
void require(const Plan &plan, const Pack &pack, int together, Phase::Launch::Aligned &aligned) {
  if (std::ranges::find(aligned.arrays, pack.var) == aligned.arrays.end())
    aligned.arrays.push_back(pack.var);
  if (pack.access.unit && std::ranges::find(aligned.units, *pack.access.unit) == aligned.units.end())
    aligned.units.push_back(*pack.access.unit);
  const int bytes = bytes_of(plan.kernel.vars[pack.var].type);
  const int64_t elements = access_bytes(together * pack.access.fields * bytes) / bytes;
  for (const Size &stride : pack.access.strides) {
    const int64_t multiple = elements / std::gcd(elements, known_factor(stride));
    if (multiple == 1)
      continue;
    const Size size = unknown_factors(stride);
    if (int64_t *const most = multiple_of(aligned, size))
      *most = std::max(*most, multiple); // all are powers of 2
    else
      aligned.multiples.push_back({size, multiple});
  }
}

// Wide accesses then leave no rest: rows that end so follow each other at multiples of an access.
bool ends_with_access(Phase::Launch::Aligned aligned, const Size &end, int together) {
  const int64_t *const multiple = multiple_of(aligned, unknown_factors(end));
  return multiple != nullptr && *multiple * known_factor(end) % together == 0;
}

// With packs of several arrays under way, those of the next rounds would take registers from other warps.
bool reads_few(const Plan &plan, const PlanNode &loop) {
  constexpr size_t kFew = 2;
  std::set<VarId> read;
  for (const Access &a : accesses_of(plan.kernel, loop))
    if (!a.write && plan.storage[a.var].kind == Storage::Kind::argument && a.aligned.contains(loop.axis))
      read.insert(a.var);
  return read.size() <= kFew;
}

// What it divides by that does not change in the loop, as a total that was found before. Not where whole numbers are
// made, which may be rounded quotients and must not be a unit off.
std::vector<VarId> divisors_of(const Plan &plan, const PlanNode &loop) {
  const auto is_float = [&](VarId var) { return is_floating(plan.kernel.vars[var].type); };
  std::set<VarId> set;
  for_each_node(loop, [&](const PlanNode &node) { set.insert({node.target, node.partner}); });
  set.erase(kNone);
  if (!std::ranges::all_of(set, is_float))
    return {};
  std::vector<VarId> out;
  for_each_node(loop, [&](const PlanNode &node) {
    for (ExprId id : expressions_of(node))
      walk(plan.kernel, id, [&](ExprId at) {
        const Expr &e = plan.kernel.expr(at);
        const VarId by =
            e.op == Op::div && plan.kernel.expr(e.args[1]).op == Op::read ? plan.kernel.expr(e.args[1]).ref : kNone;
        if (by != kNone && plan.storage[by].kind == Storage::Kind::scalar && is_float(by) && set.count(by) == 0 &&
            std::ranges::find(out, by) == out.end())
          out.push_back(by);
        return true;
      });
  });
  return out;
}

} // namespace

Phase::Launch::Aligned aligned_for(const Plan &plan, const std::vector<const PlanNode *> &loops, int together) {
  Phase::Launch::Aligned aligned;
  for (const PlanNode *loop : loops)
    for (const Pack &pack : packs_of(plan, *loop))
      require(plan, pack, together, aligned);
  return aligned;
}

PlanNode::Packs packs_along(const Plan &plan, const PlanNode &loop, const Phase::Launch &launch) {
  const bool tiles = loop.order == PlanNode::Order::ordered; // of a scan, beyond whose end threads may lie
  return {launch.together,
          !tiles && ends_with_access(launch.aligned, extent_of(plan.kernel, loop.axis), launch.together),
          reads_few(plan, loop), tiles ? std::vector<VarId>() : divisors_of(plan, loop)};
}

int positions_together(const Plan &plan, const PlanNode &loop) {
  if (loop.kind != PlanNode::Kind::loop) // steps go along no axis
    return 1;
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
           (lanes.is_crosswise(var, {}, loop.axis, other) ||
            lanes.step_of(var, {}, loop.axis).kind == LaneStep::Kind::neighbour);
  });
  int least = 4, all = 0;
  for_each_access(plan, loop, [&](VarId var, const std::vector<Coordinate> &coords, const Expr *) {
    if (!lanes.is_crosswise(var, coords, loop.axis, other))
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
