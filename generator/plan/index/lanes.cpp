#include "plan/index/lanes.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"

namespace kgen {
namespace {

// Rows that are shared among workers are few.
bool goes_over_shares(const PlanNode &loop) {
  bool found = false;
  for (const PlanNode &child : loop.body)
    for_each_node(child, [&](const PlanNode &n) { found = found || n.share_step > 1; });
  return found;
}

} // namespace

// ---- how values and accesses move -----------------------------------------------------------------------------------

bool LaneAnalysis::varies(ExprId id, AxisId lane) const {
  const auto known = varying_.find({id, lane});
  if (known != varying_.end())
    return known->second;
  const bool found = find_varying(id, lane);
  varying_[{id, lane}] = found;
  return found;
}

bool LaneAnalysis::find_varying(ExprId id, AxisId lane) const {
  bool found = false;
  walk(kernel_, id, [&](ExprId at) {
    const Expr &e = kernel_.expr(at);
    switch (e.op) {
    case Op::index:
      found = found || e.axis == lane;
      break;
    case Op::size:
      found = found || (is_ragged_over(kernel_.axes[e.axis], lane) && e.integer == kSizeOfAxis);
      break;
    case Op::inside:
      found = found || axes_asked(kernel_, e).contains(lane);
      break;
    case Op::element:
      found = found || kernel_.vars[e.ref].axes.contains(lane);
      break;
    case Op::read:
      found = found || is_vector(e.ref, lane) || step_of(e.ref, e.coords, lane).kind != LaneStep::Kind::none;
      break;
    default:
      break;
    }
    return !found;
  });
  return found;
}

bool LaneAnalysis::is_vector(VarId var, AxisId lane) const {
  const Storage &storage = plan_.storage[var];
  const bool array = storage.kind == Storage::Kind::array && storage.in_parts == kNone &&
                     !is_half(kernel_.vars[var].type) &&
                     std::find(storage.dims.begin(), storage.dims.end(), lane) == storage.dims.end();
  return (storage.kind == Storage::Kind::scalar || array) && kernel_.vars[var].axes.contains(lane);
}

bool LaneAnalysis::is_one_element(const std::vector<ExprId> &indices, AxisId lane) const {
  return std::none_of(indices.begin(), indices.end(), [&](ExprId id) { return varies(id, lane); });
}

bool LaneAnalysis::fits_vectors(VarId var, const std::vector<Coordinate> &coords, AxisId lane) const {
  if (is_vector(var, lane))
    return step_of(var, coords, lane).kind == LaneStep::Kind::none;
  // Storage of one iteration has no room for several.
  const Storage &storage = plan_.storage[var];
  const bool stored = std::find(storage.dims.begin(), storage.dims.end(), lane) != storage.dims.end();
  return storage.kind == Storage::Kind::argument || storage.kind == Storage::Kind::scalar ||
         !kernel_.vars[var].axes.contains(lane) || (stored && kernel_.vars[var].array.empty());
}

std::optional<int64_t> LaneAnalysis::coefficient(ExprId id, AxisId lane) const {
  if (!varies(id, lane))
    return 0;
  const Expr &e = kernel_.expr(id);
  if (e.type != Type::i64)
    return std::nullopt;
  if (e.op == Op::index)
    return e.axis == lane ? 1 : 0;
  if (e.op != Op::add && e.op != Op::sub && e.op != Op::mul && e.op != Op::neg)
    return std::nullopt;
  const std::optional<int64_t> a = coefficient(e.args[0], lane);
  if (e.op == Op::neg)
    return a ? std::optional(-*a) : a;
  const std::optional<int64_t> b = coefficient(e.args[1], lane);
  if (!a || !b)
    return std::nullopt;
  if (e.op == Op::add)
    return *a + *b;
  if (e.op == Op::sub)
    return *a - *b;
  const Expr &left = kernel_.expr(e.args[0]), &right = kernel_.expr(e.args[1]);
  if (left.op == Op::constant)
    return left.integer * *b;
  if (right.op == Op::constant)
    return *a * right.integer;
  return std::nullopt;
}

const Coordinate *LaneAnalysis::place_in_row(const Expr &read, AxisId lane) const {
  const Var &var = kernel_.vars[read.ref];
  if (plan_.storage[read.ref].kind != Storage::Kind::argument || var.strided || var.optional || var.dims.empty() ||
      !var.dims.back().whole || is_packed_row(kernel_, var, var.dims.size() - 1))
    return nullptr;
  const Coordinate *const along = find_coordinate(read.coords, var.dims.back().axis);
  const bool shared = std::all_of(var.dims.begin(), var.dims.end() - 1, [&](const Dim &other) {
    const Coordinate *const given = find_coordinate(read.coords, other.axis);
    return given == nullptr ? other.axis != lane : !varies(given->value, lane);
  });
  return shared && along != nullptr && varies(along->value, lane) ? along : nullptr;
}

bool LaneAnalysis::goes_around(ExprId id, AxisId lane) const {
  const Expr &e = kernel_.expr(id);
  if (e.type != Type::i64 || coefficient(id, lane))
    return false;
  const auto along = [&](size_t arg) { return coefficient(e.args[arg], lane) == 1 || goes_around(e.args[arg], lane); };
  if (e.op == Op::add && !varies(e.args[0], lane))
    return along(1);
  constexpr int64_t kFew = 64; // it would begin again within most groups
  if (e.op == Op::rem && kernel_.expr(e.args[1]).op == Op::constant && kernel_.expr(e.args[1]).integer < kFew)
    return false;
  return (e.op == Op::rem || e.op == Op::add || e.op == Op::sub) && !varies(e.args[1], lane) && along(0);
}

namespace {

// Sums up strides of dimensions.
class StepSum {
public:
  void add(std::optional<int64_t> coefficient, const Size &stride) {
    if (!coefficient)
      known_ = false;
    if (!coefficient || *coefficient == 0)
      return;
    const Size term = Size::make(Size::Op::multiply, {Size::integer(*coefficient), stride});
    sum_ = sum_ ? Size::make(Size::Op::add, {*sum_, term}) : term;
  }
  void unknown() { known_ = false; }
  LaneStep step() const {
    if (!known_)
      return {LaneStep::Kind::any, {}};
    if (!sum_ || sum_->is_integer(0))
      return {LaneStep::Kind::none, {}};
    if (sum_->is_integer(1))
      return {LaneStep::Kind::neighbour, *sum_};
    return {LaneStep::Kind::stride, *sum_};
  }

private:
  bool known_ = true;
  std::optional<Size> sum_;
};

} // namespace

LaneStep LaneAnalysis::buffer_step(VarId var, const std::vector<Coordinate> &coords, AxisId lane) const {
  const Storage &storage = plan_.storage[var];
  const std::vector<AxisId> &dims = storage.dims;
  StepSum sum;
  Size stride = Size::integer(1);
  for (int64_t extent : kernel_.vars[var].array)
    stride = Size::make(Size::Op::multiply, {stride, Size::integer(extent)});
  for (auto axis = dims.rbegin(); axis != dims.rend(); ++axis) {
    if (const Coordinate *given = moved(kernel_, coords, *axis))
      sum.add(coefficient(given->value, lane), stride);
    else if (*axis == lane)
      sum.add(1, stride);
    const Axis &a = kernel_.axes[*axis];
    const bool in_part = *axis == storage.in_parts;
    const Size extent = in_part      ? Size::integer(storage.part)
                        : a.most > 0 ? Size::integer(a.most)
                        : a.uniform  ? a.block
                                     : a.size;
    stride = Size::make(Size::Op::multiply, {stride, extent});
    // The buffer's extent along such an axis is that of one of its operands, or as many bytes as the cache has for it.
    if ((in_part ? storage.kept.has_value() : !a.uniform) && lane != *axis && axis + 1 != dims.rend() &&
        std::find(axis + 1, dims.rend(), lane) != dims.rend())
      sum.unknown();
  }
  return sum.step();
}

LaneStep LaneAnalysis::step_of(VarId id, const std::vector<Coordinate> &coords, AxisId lane) const {
  const Var &var = kernel_.vars[id];
  const Storage &storage = plan_.storage[id];
  if (storage.kind == Storage::Kind::scalar)
    return {};
  if (storage.kind != Storage::Kind::argument)
    return buffer_step(id, coords, lane);
  StepSum sum;
  Size stride = Size::integer(1);
  for (size_t d = var.dims.size(); d-- > 0;) {
    const Dim &dim = var.dims[d];
    const bool inner_of_split = var.strided && d + 1 < var.dims.size() && var.dims[d + 1].array_dim == dim.array_dim;
    if (var.strided && !inner_of_split) {
      // One stride argument for the dimension as written, of which this is the last part.
      stride = Size::axis(stride_name(kernel_, var, dim.array_dim));
    }
    const Coordinate *given = find_coordinate(coords, dim.axis);
    if (given != nullptr && !is_identity(kernel_, *given))
      sum.add(coefficient(given->value, lane), stride);
    else if (dim.axis == lane)
      sum.add(1, stride);
    // Where a row starts is known by table only.
    const bool starts_rows = d + 1 < var.dims.size() && var.dims[d + 1].axis != kNone &&
                             is_ragged_over(kernel_.axes[var.dims[d + 1].axis], dim.axis);
    if (starts_rows && (given != nullptr ? varies(given->value, lane) : dim.axis == lane))
      sum.unknown();
    stride = Size::make(Size::Op::multiply, {stride, dim.extent});
  }
  return sum.step();
}

bool LaneAnalysis::guarded(const Expr &e, AxisId lane) const {
  if (e.safe || lane == kNone)
    return false;
  const Var &var = kernel_.vars[e.ref];
  for (const Coordinate &c : e.coords)
    if (!is_identity(kernel_, c) && varies(c.value, lane))
      return true;
  const Axis &along = kernel_.axes[lane];
  if (along.ragged != kNone && var.axes.contains(lane) && moved(kernel_, e.coords, along.over) != nullptr)
    return true; // another row may be shorter
  if (plan_.storage[e.ref].kind != Storage::Kind::argument || var.kind != Var::Kind::input)
    return false;
  return std::any_of(var.dims.begin(), var.dims.end(), [&](const Dim &dim) {
    return dim.offset && dim.axis == lane && find_coordinate(e.coords, lane) == nullptr;
  });
}

namespace {

// A constant coordinate in a dimension of constant extent.
bool always_inside(const Kernel &kernel, const Var &var, const Coordinate &c) {
  const Expr &value = kernel.expr(c.value);
  return value.op == Op::constant && std::any_of(var.dims.begin(), var.dims.end(), [&](const Dim &dim) {
           return dim.axis == c.axis && dim.extent.is_integer() && value.integer >= 0 &&
                  value.integer < dim.extent.value;
         });
}

} // namespace

bool LaneAnalysis::may_end_early(VarId id, const std::vector<Coordinate> &coords) const {
  const Var &var = kernel_.vars[id];
  if (var.kind != Var::Kind::input && var.kind != Var::Kind::output)
    return false;
  return std::any_of(var.dims.begin(), var.dims.end(), [&](const Dim &dim) {
    return dim.axis != kNone && find_coordinate(coords, dim.axis) == nullptr &&
           (!kernel_.axes[dim.axis].uniform || has_other_ends(kernel_, dim.axis));
  });
}

bool LaneAnalysis::may_leave(const Expr &read) const {
  const Var &var = kernel_.vars[read.ref];
  if (may_end_early(read.ref, read.coords))
    return true;
  return read.safe && (std::any_of(read.coords.begin(), read.coords.end(),
                                   [&](const Coordinate &c) {
                                     return !is_identity(kernel_, c) && !always_inside(kernel_, var, c);
                                   }) ||
                       std::any_of(var.dims.begin(), var.dims.end(), [](const Dim &dim) { return dim.offset; }));
}

bool LaneAnalysis::hazardous(ExprId id) const {
  return any_node(kernel_, id, [&](const Expr &e) {
    return e.op == Op::table || (e.op == Op::read && (kernel_.vars[e.ref].optional || may_leave(e)));
  });
}

// ---- what can be lanes ----------------------------------------------------------------------------------------------

bool LaneAnalysis::is_crosswise(VarId var, const std::vector<Coordinate> &coords, AxisId lane, AxisId other) const {
  return step_of(var, coords, lane).kind == LaneStep::Kind::stride &&
         step_of(var, coords, other).kind == LaneStep::Kind::neighbour;
}

bool LaneAnalysis::crosses(const PlanNode &loop, AxisId other) const {
  auto crossed = [&](VarId var, const std::vector<Coordinate> &coords) {
    return plan_.storage[var].kind == Storage::Kind::argument && is_crosswise(var, coords, loop.axis, other);
  };
  bool found = false;
  for_each_node(loop, [&](const PlanNode &node) {
    found = found || (node.target != kNone && crossed(node.target, node.coords));
    for (ExprId id : expressions_of(node))
      walk(kernel_, id, [&](ExprId at) {
        const Expr &e = kernel_.expr(at);
        found = found || (e.op == Op::read && crossed(e.ref, e.coords));
        return !found;
      });
  });
  return found;
}

bool LaneAnalysis::ends_by_lane(const PlanNode &repeat, AxisId lane) const {
  if (repeat.condition != kNone && varies(repeat.condition, lane))
    return true;
  const std::function<bool(const std::vector<PlanNode> &)> jumps_differ = [&](const std::vector<PlanNode> &list) {
    return std::any_of(list.begin(), list.end(), [&](const PlanNode &n) {
      return n.kind == PlanNode::Kind::branch && jumps_out(n) &&
             (varies(n.condition, lane) || jumps_differ(n.body) || jumps_differ(n.otherwise));
    });
  };
  return jumps_differ(repeat.body);
}

// Products of some lanes alone may overflow where the whole does not.
bool LaneAnalysis::regroups(const PlanNode &scan) const {
  return scan.scan == ScanKind::sum || scan.scan == ScanKind::max ||
         (scan.scan == ScanKind::product && !is_floating(kernel_.vars[scan.target].type));
}

bool LaneAnalysis::has_scans_only(const PlanNode &loop) const {
  bool fits = true;
  for (const PlanNode &child : loop.body)
    for_each_node(child, [&](const PlanNode &n) {
      if (n.kind == PlanNode::Kind::scan_step && n.axis == loop.axis)
        fits = fits && &n == &child && plan_.storage[n.target].kind == Storage::Kind::scalar &&
               !scopes().of(n.target).open.contains(loop.axis);
      else if (n.kind == PlanNode::Kind::assign && plan_.storage[n.target].kind == Storage::Kind::scalar)
        fits = fits && scopes().of(n.target).open.contains(loop.axis);
      // Of equals the first is taken, which is met last.
      fits = fits && !(loop.reversed && folds_over(n, loop.axis) && n.partner != kNone);
    });
  return fits;
}

bool LaneAnalysis::possible(const PlanNode &loop) const {
  if (loop.kind != PlanNode::Kind::loop || loop.parts > 0 || plan_.shares.contains(loop.axis) || goes_over_shares(loop))
    return false;
  if (kernel_.axes[loop.axis].most > 0) // fills no vector
    return false;
  if (loop.order == PlanNode::Order::ordered) {
    bool fits = has_scans_only(loop);
    for_each_node(loop, [&](const PlanNode &n) {
      if (n.kind == PlanNode::Kind::scan_step && n.axis == loop.axis)
        fits = fits && kernel_.vars[n.target].type != Type::boolean;
      fits = fits && !(loop.reversed && folds_over(n, loop.axis));
    });
    if (!fits)
      return false;
  }
  return std::all_of(loop.body.begin(), loop.body.end(),
                     [&](const PlanNode &child) { return possible(child, loop, false); });
}

bool LaneAnalysis::target_fits(const PlanNode &node, AxisId lane, bool masked) const {
  for (VarId var : {node.target, node.partner}) {
    if (var == kNone)
      continue;
    if (!fits_vectors(var, node.coords, lane) || !is_one_element(node.indices, lane))
      return false;
    const LaneStep step = step_of(var, node.coords, lane);
    if (step.kind == LaneStep::Kind::any)
      return false;
    const bool vector = is_vector(var, lane) || step.kind != LaneStep::Kind::none;
    // What all lanes share cannot be set by some of them, nor can what is not there keep its value.
    if (masked && (!vector || may_end_early(var, node.coords)))
      return false;
    if (!vector && !folds_over(node, lane))
      for (ExprId id : expressions_of(node))
        if (varies(id, lane))
          return false;
  }
  return true;
}

bool LaneAnalysis::possible(const PlanNode &node, const PlanNode &loop, bool masked) const {
  const AxisId lane = loop.axis;
  auto all = [&](const std::vector<PlanNode> &list, bool inner_masked) {
    return std::all_of(list.begin(), list.end(),
                       [&](const PlanNode &child) { return possible(child, loop, inner_masked); });
  };
  for (ExprId id : expressions_of(node)) {
    bool fits = true;
    walk(kernel_, id, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (e.op == Op::element || e.op == Op::read)
        fits = fits && fits_vectors(e.ref, e.coords, lane);
      return fits;
    });
    if (!fits)
      return false;
  }
  switch (node.kind) {
  case PlanNode::Kind::loop:
    if (node.contraction || is_ragged_over(kernel_.axes[node.axis], lane) ||
        (node.end != kNone && varies(node.end, lane)) || (node.entry != kNone && varies(node.entry, lane)))
      return false;
    return all(node.body, masked);
  case PlanNode::Kind::steps:
    return !masked && all(node.body, masked);
  case PlanNode::Kind::assign:
    if (node.scatter_add && (kernel_.expr(node.value).type != type_row(kernel_.vars[node.target].type).arithmetic ||
                             plan_.storage[node.target].kind == Storage::Kind::scalar))
      return false;
    if (node.scatter_add && step_of(node.target, node.coords, lane).kind == LaneStep::Kind::none)
      return false; // all lanes add to one element
    for (const Coordinate &c : node.coords) {
      // Elsewhere: a place that all lanes share, but for where they stand in the row.
      if (!is_identity(kernel_, c) && (varies(c.value, lane) || (node.scatter_add && !node.apart)))
        return false;
    }
    return target_fits(node, lane, masked);
  case PlanNode::Kind::fold_init:
  case PlanNode::Kind::scan_init:
    return target_fits(node, lane, masked);
  case PlanNode::Kind::fold_step:
    if (folds_over(node, lane)) {
      // Their lanes are combined after the loop, so they must outlive it, and be one value each.
      if (loop.order == PlanNode::Order::parallel || plan_.storage[node.target].kind != Storage::Kind::scalar)
        return false;
      if (node.partner != kNone &&
          (plan_.storage[node.partner].kind != Storage::Kind::scalar || node.reduced.count() != 1))
        return false;
      return !scopes().of(node.target).open.contains(lane) && !kernel_.vars[node.target].axes.contains(lane);
    }
    return target_fits(node, lane, masked);
  case PlanNode::Kind::scan_step:
    return !masked && (node.axis == lane || target_fits(node, lane, masked));
  case PlanNode::Kind::branch: {
    const bool inner = masked || varies(node.condition, lane);
    return all(node.body, inner) && all(node.otherwise, inner);
  }
  case PlanNode::Kind::repeat: {
    const bool inner = masked || ends_by_lane(node, lane);
    return all(node.body, inner) && all(node.step, inner);
  }
  case PlanNode::Kind::leave:
  case PlanNode::Kind::next:
    return true;
  case PlanNode::Kind::declare:
    return fits_vectors(node.target, {}, lane) && (!masked || is_vector(node.target, lane));
  }
  return false;
}

} // namespace kgen
