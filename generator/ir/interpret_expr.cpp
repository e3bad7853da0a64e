// Values of expressions over the current box. Every node gives a tensor over (some of) its axes; what stands under a
// condition is computed for the lanes that need it, or for all where that cannot be told apart.
#include <cmath>

#include "ir/interpret_run.h"
#include "ir/op_rows.h"
#include "support/check.h"

namespace kgen::interpreter {

Tensor Run::new_tensor(AxisSet axes, Buffer *&buffer, int64_t &lanes) {
  if (axes.count() > kMaxRank)
    fail("an expression has more than " + std::to_string(kMaxRank) + " axes", {});
  DenseStrides dense(axes, box_);
  lanes = dense.lanes;
  auto owner = std::make_shared<Buffer>();
  size_t n = static_cast<size_t>(std::max<int64_t>(lanes, 1));
  owner->values = std::make_unique_for_overwrite<Value[]>(n);
  if (reference_) {
    owner->magnitudes = std::make_unique_for_overwrite<double[]>(n);
    owner->flags = std::make_unique_for_overwrite<uint8_t[]>(n);
  }
  buffer = owner.get();
  Tensor out;
  out.axes = axes;
  out.stride = dense.stride;
  out.data = owner->values.get();
  out.magnitudes = owner->magnitudes.get();
  out.flags = owner->flags.get();
  out.owner = std::move(owner);
  return out;
}

Tensor Run::uniform(Value value, Type type) {
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(AxisSet(), buffer, lanes);
  buffer->values[0] = value;
  if (reference_) {
    buffer->magnitudes[0] = is_floating(type) && std::isfinite(value.number) ? std::fabs(value.number) : 0;
    buffer->flags[0] = 0;
  }
  return out;
}

Tensor Run::eval(ExprId id) {
  const Expr &e = kernel_.expr(id);
  switch (e.op) {
  case Op::constant:
  case Op::scalar:
    return constant(id);
  case Op::read:
    return e.type == type_row(kernel_.vars[e.ref].type).arithmetic
               ? read(e)
               : converted(read(e), type_row(kernel_.vars[e.ref].type).arithmetic, e.type);
  case Op::element:
    return read_element(e);
  case Op::table:
    return read_table(e);
  case Op::inside:
    return inside(e);
  case Op::index:
    return ramp(e);
  case Op::size:
    return size_of(e);
  case Op::cast:
    return converted(eval(e.args[0]), kernel_.expr(e.args[0]).type, e.type);
  case Op::choose:
    return choose(e);
  case Op::both:
  case Op::either:
    return logical(e);
  case Op::fold:
    return remembered(id, &Run::fold);
  case Op::scan:
    return remembered(id, &Run::scan);
  default:
    return is_scalar_op(e.op) || e.op == Op::bitcast || e.op == Op::round_like ? scalar_op(e) : leaf(e);
  }
}

Tensor Run::constant(ExprId id) {
  Tensor &known = constants_[id];
  if (known.data)
    return known;
  const Expr &e = kernel_.expr(id);
  if (e.op == Op::constant) {
    known =
        uniform(is_floating(e.type) ? number_value(round_to(e.number, e.type)) : integer_value(wrap(e.integer, e.type)),
                e.type);
    return known;
  }
  const ScalarArgument &scalar = kernel_.scalars[e.ref];
  if (auto whole = input_.integers.find(scalar.name); whole != input_.integers.end() && !is_floating(scalar.type)) {
    Value value = convert(integer_value(whole->second), Type::i64, scalar.type);
    known = uniform(convert(value, scalar.type, e.type), e.type);
    return known;
  }
  auto given = input_.scalars.find(scalar.name);
  if (given == input_.scalars.end())
    fail("scalar `" + scalar.name + "` is not given", e.place);
  Value value = convert(number_value(given->second), Type::f64, scalar.type);
  known = uniform(convert(value, scalar.type, e.type), e.type);
  return known;
}

// Numbers of the step, which no axis has a part in.
Tensor Run::leaf(const Expr &e) {
  auto number = [&](int64_t v) { return uniform(convert(integer_value(v), Type::i64, e.type), e.type); };
  switch (e.op) {
  case Op::block:
    return number(block_[e.axis]);
  case Op::grid_index:
    return number(sizes_.step[e.ref]);
  case Op::grid_size:
    return number(sizes_.step_counts[e.ref]);
  case Op::first:
    return number(sizes_.step[e.ref] == 0);
  case Op::last:
    return number(sizes_.step[e.ref] == sizes_.step_counts[e.ref] - 1);
  case Op::window_first:
    return number((runs_[runs_of_var_[e.ref]].edge[step_] & 1) != 0);
  case Op::window_last:
    return number((runs_[runs_of_var_[e.ref]].edge[step_] & 2) != 0);
  case Op::present:
    return number(storage_[e.ref].present);
  default:
    KGEN_UNREACHABLE("an expression that the interpreter does not know");
  }
}

Tensor Run::ramp(const Expr &e) {
  int64_t start = start_[e.axis];
  if (e.ref != kNone && kernel_.vars[e.ref].kind != Var::Kind::local)
    for (size_t d = 0; d < kernel_.vars[e.ref].dims.size(); ++d)
      if (kernel_.vars[e.ref].dims[d].axis == e.axis)
        start = dims_[e.ref][d].start;
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(AxisSet::of(e.axis), buffer, lanes);
  for (int64_t i = 0; i < lanes; ++i) {
    buffer->values[i] = convert(integer_value(start + box_[e.axis].lo + i), Type::i64, e.type);
    if (reference_) {
      buffer->magnitudes[i] = is_floating(e.type) ? std::fabs(buffer->values[i].number) : 0;
      buffer->flags[i] = 0;
    }
  }
  return out;
}

// Of a ragged axis: the row's length, which differs along the axis of rows.
Tensor Run::size_of(const Expr &e) {
  auto number = [&](int64_t v) { return convert(integer_value(v), Type::i64, e.type); };
  const Axis &axis = kernel_.axes[e.axis];
  if (axis.ragged != kNone && axis.over != kNone) {
    Buffer *buffer;
    int64_t lanes;
    Tensor out = new_tensor(AxisSet::of(axis.over), buffer, lanes);
    for (int64_t i = 0; i < lanes; ++i) {
      int64_t row = start_[axis.over] + box_[axis.over].lo + i;
      bool exists = row >= 0 && row < sizes_.axis_size(axis.over);
      buffer->values[i] = number(exists ? sizes_.row_length(e.axis, row) : 0);
      if (reference_) {
        buffer->magnitudes[i] = is_floating(e.type) ? buffer->values[i].number : 0;
        buffer->flags[i] = 0;
      }
    }
    return out;
  }
  if (e.ref != kNone && kernel_.vars[e.ref].kind != Var::Kind::local)
    for (size_t d = 0; d < kernel_.vars[e.ref].dims.size(); ++d)
      if (kernel_.vars[e.ref].dims[d].axis == e.axis)
        return uniform(number(dims_[e.ref][d].extent), e.type);
  return uniform(number(sizes_.axis_size(e.axis)), e.type);
}

Tensor Run::converted(const Tensor &t, Type from, Type to) {
  if (from == to)
    return t;
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(t.axes, buffer, lanes);
  work(lanes);
  Loop loop(t.axes, box_);
  int o = loop.add(out), a = loop.add(t);
  loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
    if (!reference_) {
      convert_row(from, to, {t.data + at[a], stride[a]}, buffer->values.get() + at[o], n);
      return;
    }
    ReferenceRow row = {t.data + at[a], t.magnitudes + at[a], t.flags + at[a], stride[a]};
    convert_reference_row(from, to, row,
                          {buffer->values.get() + at[o], buffer->magnitudes.get() + at[o], buffer->flags.get() + at[o]},
                          n, model());
  });
  return out;
}

// The value in `type`; with `floating` only integers are converted, floats stay as they are.
Tensor Run::eval_to(ExprId id, Type type, bool floating) {
  Type own = kernel_.expr(id).type;
  return own == type || (floating && is_floating(own)) ? eval(id) : converted(eval(id), own, type);
}

namespace {

// At the point itself.
bool is_read_of(const Expr &e, VarId var) { return e.op == Op::read && e.ref == var && e.coords.empty(); }

} // namespace

Tensor Run::scalar_op(const Expr &e) {
  Tensor args[3];
  AxisSet axes;
  int arity = static_cast<int>(e.args.size());
  Type argument = kernel_.expr(e.args[0]).type;
  for (int k = 0; k < arity; ++k) {
    bool integers = is_a(e.op, op::Kind::random);
    bool floats = is_floating(e.type) && !integers && e.op != Op::bitcast;
    args[k] = floats     ? eval_to(e.args[k], e.type, true)
              : integers ? eval_to(e.args[k], Type::i64, false)
                         : eval(e.args[k]);
    axes |= args[k].axes;
  }
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(axes, buffer, lanes);
  work(lanes);
  Loop loop(axes, box_);
  int o = loop.add(out);
  for (int k = 0; k < arity; ++k)
    loop.add(args[k]);
  ErrorModel errors = model();
  const Expr &first = kernel_.expr(e.args[0]);
  if (arity == 2 && e.type == Type::boolean && is_read_of(first, first.ref) &&
      is_read_of(kernel_.expr(e.args[1]), first.ref))
    errors.bound = 0; // equal, however large its error
  loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
    Value *values = buffer->values.get() + at[o];
    if (e.op == Op::bitcast || e.op == Op::round_like) {
      for (int64_t i = 0; i < n; ++i) {
        int64_t lane = at[1] + i * stride[1];
        Value v = args[0].data[lane];
        double magnitude = reference_ ? args[0].magnitudes[lane] : 0;
        uint8_t flags = reference_ ? args[0].flags[lane] : 0;
        if (e.op == Op::bitcast) {
          values[i] = bitcast(v, argument, e.type);
          magnitude = is_floating(e.type) && std::isfinite(values[i].number) ? std::fabs(values[i].number) : 0;
          if (is_floating(argument) && (flags & kInexact) != 0)
            flags = kUndecided;
        } else if (reference_) {
          values[i] = v;
          round_reference(e.element, values[i].number, magnitude, flags, errors);
        } else {
          values[i] = number_value(round_to(v.number, e.element));
        }
        if (reference_) {
          buffer->magnitudes[at[o] + i] = magnitude;
          buffer->flags[at[o] + i] = flags;
        }
      }
      return;
    }
    if (!reference_) {
      Row rows[3];
      for (int k = 0; k < arity; ++k)
        rows[k] = {args[k].data + at[k + 1], stride[k + 1]};
      evaluate_row(e.op, e.type, argument, rows, values, n);
      return;
    }
    ReferenceRow rows[3];
    for (int k = 0; k < arity; ++k)
      rows[k] = {args[k].data + at[k + 1], args[k].magnitudes + at[k + 1], args[k].flags + at[k + 1], stride[k + 1]};
    evaluate_reference_row(e.op, e.type, argument, rows,
                           {values, buffer->magnitudes.get() + at[o], buffer->flags.get() + at[o]}, n, errors);
  });
  return out;
}

namespace {

struct Truth {
  bool any_true = false, any_false = false, any_undecided = false;
};

Truth truth_of(const Tensor &t, const Box &box) {
  Truth out;
  Loop loop(t.axes, box);
  loop.add(t);
  loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
    for (int64_t i = 0; i < n; ++i) {
      (t.data[at[0] + i * stride[0]].integer != 0 ? out.any_true : out.any_false) = true;
      out.any_undecided |= t.flags && (t.flags[at[0] + i * stride[0]] & kUndecided) != 0;
    }
  });
  return out;
}

// What the reference run knows of one lane.
struct Known {
  double value, magnitude;
  uint8_t flags;
};

Known known_of(const Tensor &t, int64_t lane, Type type) {
  const Value v = t.data[lane];
  return {is_floating(type) ? v.number : static_cast<double>(v.integer), t.magnitudes[lane], t.flags[lane]};
}

// Where a comparison is too close to tell: both arms, if they are so near that either is right.
Known either_of(const Known &taken, const Known &other, double unit) {
  const double apart = std::fabs(taken.value - other.value);
  const uint8_t flags = taken.flags | other.flags;
  if ((flags & kUndecided) != 0 || !(apart <= unit * (taken.magnitude + other.magnitude)))
    return {taken.value, taken.magnitude, static_cast<uint8_t>(taken.flags | kUndecided)};
  const double more = apart == 0 ? 0 : apart / unit;
  return {taken.value, std::max(taken.magnitude, other.magnitude) + more,
          static_cast<uint8_t>(apart == 0 ? flags : flags | kInexact)};
}

} // namespace

// condition ? yes : no, lane by lane. Arms have values where they are asked for, or everywhere.
Tensor Run::select(const Tensor &condition, const Tensor &yes, const Tensor &no, AxisSet axes, Type type,
                   bool everywhere) {
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(axes, buffer, lanes);
  work(lanes);
  Loop loop(axes, box_);
  int o = loop.add(out), c = loop.add(condition), y = loop.add(yes), z = loop.add(no);
  loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
    for (int64_t i = 0; i < n; ++i) {
      int64_t lane = at[c] + i * stride[c];
      bool take = condition.data[lane].integer != 0;
      const Tensor &from = take ? yes : no;
      int64_t source = take ? at[y] + i * stride[y] : at[z] + i * stride[z];
      buffer->values[at[o] + i] = from.data[source];
      if (reference_) {
        buffer->magnitudes[at[o] + i] = from.magnitudes[source];
        buffer->flags[at[o] + i] = from.flags[source] | (condition.flags[lane] & kUndecided);
      }
      if (everywhere && (condition.flags[lane] & kUndecided) != 0) {
        const int64_t besides = take ? at[z] + i * stride[z] : at[y] + i * stride[y];
        const Known known = either_of(known_of(from, source, type), known_of(take ? no : yes, besides, type), unit_);
        buffer->magnitudes[at[o] + i] = known.magnitude;
        buffer->flags[at[o] + i] = known.flags;
      }
    }
  });
  return out;
}

// Reads an arm nothing but inputs and what the condition has read? Then it may run where no one asks for it.
bool Run::reads_no_more(ExprId arm, ExprId condition) {
  if (!info_[arm].dynamic)
    return true;
  const Expr &e = kernel_.expr(arm);
  if (e.op == Op::read || e.op == Op::element)
    return e.coords.empty() && reads_plainly(condition, e.ref);
  return e.op != Op::fold &&
         std::all_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return reads_no_more(arg, condition); });
}

bool Run::reads_plainly(ExprId id, VarId var) {
  const Expr &e = kernel_.expr(id);
  if (is_read_of(e, var))
    return true;
  const bool all_run = e.op != Op::fold && e.op != Op::choose && e.op != Op::both && e.op != Op::either;
  return all_run && std::any_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return reads_plainly(arg, var); });
}

Tensor Run::choose(const Expr &e) {
  Tensor condition = eval(e.args[0]);
  Truth truth = truth_of(condition, box_);
  Type type = e.type;
  if (!truth.any_undecided && !(truth.any_true && truth.any_false))
    return eval_to(e.args[truth.any_true ? 1 : 2], type, false);
  const bool everywhere =
      truth.any_undecided && reads_no_more(e.args[1], e.args[0]) && reads_no_more(e.args[2], e.args[0]);
  MaskPtr outer = mask_;
  Tensor arms[2];
  for (int arm = 0; arm < 2; ++arm) {
    if (!everywhere && !(arm == 0 ? truth.any_true : truth.any_false)) {
      arms[arm] = uniform(integer_value(0), Type::i64);
      continue;
    }
    if (!everywhere && info_[e.args[arm + 1]].dynamic)
      mask_ = and_mask(outer, condition, arm == 1, false);
    arms[arm] = eval_to(e.args[arm + 1], type, false);
    mask_ = outer;
  }
  return select(condition, arms[0], arms[1], condition.axes | arms[0].axes | arms[1].axes, type, everywhere);
}

Tensor Run::logical(const Expr &e) {
  Tensor left = eval_to(e.args[0], Type::boolean, false);
  Truth truth = truth_of(left, box_);
  bool both = e.op == Op::both;
  if (!(both ? truth.any_true : truth.any_false)) // decided by the left side for all lanes
    return left;
  MaskPtr outer = mask_;
  if (info_[e.args[1]].dynamic)
    mask_ = and_mask(outer, left, !both, false);
  Tensor right = eval_to(e.args[1], Type::boolean, false);
  mask_ = outer;
  return select(left, both ? right : left, both ? left : right, left.axes | right.axes, Type::boolean, false);
}

ErrorModel Run::model() const {
  if (!reference_)
    return {};
  double longest = std::log2(static_cast<double>(std::max<int64_t>(result_.longest_reduction, 1)));
  return {unit_, unit_ * (1 + longest)};
}

// The positions along an axis at which expressions have values together: those that all arrays and locals in them have.
// An index by itself counts within the axis.
Range Run::range_of(std::initializer_list<ExprId> ids, AxisId axis) {
  Reach reach{full_[axis]};
  if ((uncommon_ >> axis & 1) != 0)
    for (ExprId id : ids)
      if (id != kNone)
        reach_of(id, axis, reach);
  return reach.touches || !reach.counts ? reach.range : intersect(reach.range, within(axis));
}

Range Run::within(AxisId axis) const { return {-start_[axis], sizes_.axis_size(axis) - start_[axis]}; }

void Run::reach_of(ExprId id, AxisId axis, Reach &reach) {
  const Expr &e = kernel_.expr(id);
  if (e.op == Op::read || e.op == Op::inside || e.op == Op::element)
    reach_of_var(e, axis, reach);
  reach.counts = reach.counts || (e.op == Op::index && e.axis == axis);
  for (ExprId arg : e.args)
    if (!(e.op == Op::fold && e.reduced.contains(axis)))
      reach_of(arg, axis, reach);
  for (const Coordinate &coordinate : e.coords)
    reach_of(coordinate.value, axis, reach);
}

void Run::reach_of_var(const Expr &e, AxisId axis, Reach &reach) {
  for (const Coordinate &coordinate : e.coords)
    if (coordinate.axis == axis)
      return;
  const Var &var = kernel_.vars[e.ref];
  if (var.kind == Var::Kind::local) {
    if (var.axes.contains(axis)) {
      reach.range = intersect(reach.range, storage_[e.ref].exists[axis]);
      reach.touches = true;
    }
    return;
  }
  for (size_t d = 0; d < var.dims.size(); ++d)
    if (var.dims[d].axis == axis) {
      reach.range = intersect(reach.range, dims_[e.ref][d].range);
      reach.touches = true;
    }
}

} // namespace kgen::interpreter
