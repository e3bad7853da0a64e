// The builtins of the body language: maths, reductions, scans, `at`, and questions about axes, grid and windows.
#include "ir/lowering.h"

#include <algorithm>
#include <limits>

#include "ir/op_rows.h"
#include "support/check.h"

namespace kgen::build {

namespace {

using Kind = body::Expr::Kind;

struct FoldRow {
  std::string_view name;
  Monoid monoid;
};

constexpr FoldRow kFolds[] = {
    {"sum", Monoid::sum},       {"dot", Monoid::sum},       {"prod", Monoid::product}, {"min", Monoid::min},
    {"max", Monoid::max},       {"mean", Monoid::mean},     {"all", Monoid::all},      {"any", Monoid::any},
    {"argmax", Monoid::argmax}, {"argmin", Monoid::argmin},
};

struct ScanRow {
  std::string_view name;
  ScanKind kind;
};

constexpr ScanRow kScans[] = {
    {"cumsum", ScanKind::sum}, {"cumprod", ScanKind::product}, {"cummax", ScanKind::max}, {"linrec", ScanKind::linear}};

std::optional<Op> scalar_builtin(std::string_view name) {
  const auto found = std::ranges::find(op_rows(), name, &OpRow::name);
  return found == op_rows().end() ? std::nullopt : std::optional(found->op);
}

bool has_axis(const body::Expr &e) {
  return std::any_of(e.args.begin(), e.args.end(), [](const body::Expr &arg) { return arg.kind == Kind::axis; });
}

const body::Expr *where_of(const body::Expr &e) {
  for (const body::Expr &arg : e.args)
    if (arg.kind == Kind::where)
      return &arg;
  return nullptr;
}

bool is_value(const body::Expr &e) {
  return e.kind != Kind::axis && e.kind != Kind::where && e.kind != Kind::coordinate;
}

// Casts that C++ put around an operand.
const body::Expr &bare(const body::Expr &e) { return e.kind == Kind::cast && e.implicit ? bare(e.args[0]) : e; }

} // namespace

ExprId Lowering::builtin(const body::Expr &e) {
  for (const FoldRow &row : kFolds)
    if (row.name == e.name && has_axis(e))
      return as(fold(row.monoid, e), e.type);
  for (const ScanRow &row : kScans)
    if (e.name.compare(0, row.name.size(), row.name) == 0)
      return as(scan(e), e.type);
  if (e.name == "at")
    return as(at(Op::read, e), e.type);
  if (e.name == "inside")
    return at(Op::inside, e);
  if (e.name == "round_like")
    return as(round_like(e), e.type);
  if (e.name == "bitcast") {
    ExprId arg = value(e.args[0]);
    return type(arg) == e.type ? arg : make(Op::bitcast, e.type, {arg}, e.place);
  }
  if (e.name == "inf" || e.name == "nan")
    return number(type_row(e.type).arithmetic,
                  e.name == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN(),
                  true, e.place);
  if (auto op = scalar_builtin(e.name))
    return as(scalar_op(*op, e), e.type);
  return as(query(e), e.type);
}

ExprId Lowering::scalar_op(Op op, const body::Expr &e) {
  std::vector<ExprId> args;
  for (const body::Expr &arg : e.args)
    args.push_back(value(arg));
  if (is_a(op, op::Kind::random)) {
    for (ExprId &arg : args)
      arg = as(arg, Type::i64);
    return make(op, op == Op::random ? Type::f32 : Type::u32, args, e.place);
  }
  Type common = type(args[0]);
  for (ExprId arg : args)
    if (type(arg) != common)
      common = common_type(common, type(arg));
  const op::Result rule = op_row(op).result;
  if (rule == op::Result::same && e.type != Type::boolean)
    common = type_row(e.type).arithmetic;
  if (!is_floating(common) && rule != op::Result::same)
    common = is_floating(e.type) ? e.type : Type::f32;
  for (ExprId &arg : args)
    arg = as(arg, common);
  Type result = rule == op::Result::boolean ? Type::boolean : common;
  if (op == Op::pow)
    if (ExprId power = small_power(args[0], args[1], e.place); power != kNone)
      return power;
  return make(op, result, args, e.place);
}

// With a small whole exponent that is written out: what compilers make of it too, on numbers, though not on vectors.
ExprId Lowering::small_power(ExprId base, ExprId exponent, const Place &place) {
  const double power = is_constant(exponent) ? kernel_.exprs[exponent].number : 0;
  if (power == -1)
    return make(Op::div, type(base), {number(type(base), 1, false, place), base}, place);
  if (power == 1)
    return base;
  if (power != 2 && power != 3)
    return kNone;
  std::vector<ExprId> factors(static_cast<size_t>(power), base);
  if (!is_plain(base)) { // it is computed once
    const VarId own = fresh("base", type(base), place);
    emit_assign(own, base, place);
    for (ExprId &factor : factors)
      factor = node(Op::read, kernel_.vars[own].type, place, own);
  }
  return product(factors, place);
}

// Left to right, each product in the type that C++ gives it.
ExprId Lowering::product(const std::vector<ExprId> &factors, const Place &place) {
  ExprId out = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) {
    Type common = common_type(type(out), type(factors[i]));
    ExprId a = as(out, common), b = as(factors[i], common);
    out = make(Op::mul, common, {a, b}, place);
  }
  return out;
}

ExprId Lowering::fold(Monoid monoid, const body::Expr &e) {
  const size_t from = dropped_.size();
  AxisSet reduced;
  ExprId where = kNone;
  for (const body::Expr &arg : e.args) {
    if (arg.kind != Kind::axis)
      continue;
    if (monoid == Monoid::argmax || monoid == Monoid::argmin)
      one_axis(arg, "finds a place along its axis", false);
    const BoundAxes axes = elements_of(arg);
    for (AxisId axis : axes.list)
      reduced |= AxisSet::of(axis);
    where = both(where, axes.kept, e.place);
  }
  if (const body::Expr *condition = where_of(e))
    where = both(where, this->condition(condition->args[0]), e.place);
  std::vector<ExprId> factors;
  std::vector<Stmt> before = collect([&] {
    for (const body::Expr &arg : e.args)
      if (is_value(arg))
        factors.push_back(value(arg));
  });
  bool guarded = where != kNone && !before.empty();
  for (ExprId factor : factors)
    guarded = guarded && !must_hoist(where, before, factor);
  if (guarded) { // lanes left out are not computed
    Stmt s;
    s.kind = Stmt::Kind::branch;
    s.value = where;
    s.body = std::move(before);
    s.place = here(e.place);
    emit(std::move(s));
  } else {
    std::move(before.begin(), before.end(), std::back_inserter(*out_));
  }
  ExprId element = product(factors, e.place);
  Type accumulator = type(element), result = accumulator;
  if (monoid == Monoid::sum || monoid == Monoid::product)
    result = accumulator = sum_accumulator(element);
  if (monoid == Monoid::mean)
    result = accumulator = type(element) == Type::f64 ? Type::f64 : Type::f32;
  if (monoid == Monoid::all || monoid == Monoid::any)
    result = accumulator = Type::boolean;
  if (monoid == Monoid::argmax || monoid == Monoid::argmin)
    result = Type::i64;
  std::vector<ExprId> args = {as(element, accumulator)};
  if (where != kNone && !is_constant(where))
    args.push_back(where);
  if (where != kNone && is_constant(where) && kernel_.exprs[where].integer == 0)
    args.push_back(where);
  ExprId along = this->along(reduced, e.place);
  if (along != kNone && args.size() > 1)
    along = both(args[1], along, e.place);
  ExprId id = make(Op::fold, result, args, e.place);
  kernel_.exprs[id].monoid = monoid;
  kernel_.exprs[id].reduced = reduced;
  kernel_.exprs[id].accumulator = accumulator;
  keep_along(id, along, from);
  return id;
}

ExprId Lowering::scan(const body::Expr &e) {
  const size_t from = dropped_.size();
  AxisId axis = kNone;
  std::vector<ExprId> args;
  for (const body::Expr &arg : e.args)
    if (arg.kind == Kind::axis)
      axis = one_axis(arg, "runs a scan along its axis", true);
    else if (is_value(arg))
      args.push_back(value(arg));
  ScanKind kind = ScanKind::sum;
  for (const ScanRow &row : kScans)
    if (e.name.compare(0, row.name.size(), row.name) == 0)
      kind = row.kind;
  Type accumulator = kind == ScanKind::max ? type(args[0]) : sum_accumulator(args[0]);
  for (ExprId &arg : args)
    arg = as(arg, accumulator);
  ExprId along = this->along(AxisSet::of(axis), e.place);
  if (along != kNone)
    along = make(Op::choose, accumulator, {along, args[0], args[0]}, e.place);
  ExprId id = make(Op::scan, accumulator, args, e.place);
  Expr &out = kernel_.exprs[id];
  out.scan = kind;
  out.axis = axis;
  out.accumulator = accumulator;
  out.reverse = e.name.find("_reverse") != std::string::npos;
  out.exclusive = e.name.find("_exclusive") != std::string::npos;
  keep_along(id, along, from);
  return id;
}

AxisId Lowering::axis_of(const body::Expr &e) {
  if (e.local >= 0)
    return one_axis(e, "asks for places along its axis", false);
  AxisId axis = build_.axis_of(e.name);
  KGEN_CHECK(axis != kNone);
  return axis;
}

// The operand or local that a builtin is asked about.
VarId Lowering::operand_of(const body::Expr &e) {
  const body::Expr &x = bare(e);
  if (x.kind == Kind::operand) {
    auto it = build_.operand_ids.find(x.name);
    return it == build_.operand_ids.end() ? kNone : it->second;
  }
  if (x.kind != Kind::local)
    return kNone;
  if (auto it = frames_.back().values.find(x.local); it != frames_.back().values.end()) {
    const Expr *bound = &kernel_.exprs[it->second];
    while (bound->op == Op::cast)
      bound = &kernel_.exprs[bound->args[0]];
    return bound->op == Op::read && bound->coords.empty() ? bound->ref : kNone;
  }
  return local(x.local);
}

void Lowering::touch(VarId var, const std::vector<Coordinate> &coords) {
  AxisSet elsewhere;
  for (const Coordinate &coord : coords)
    elsewhere |= AxisSet::of(coord.axis);
  for (AxisId axis : (kernel_.vars[var].axes - elsewhere).list())
    build_.touched.insert({var, axis});
}

std::vector<Coordinate> Lowering::coordinates(const body::Expr &e, VarId var) {
  std::vector<Coordinate> out;
  ++coordinate_depth_;
  for (const body::Expr &arg : e.args) {
    if (arg.kind != Kind::coordinate)
      continue;
    AxisId axis = axis_of(arg);
    bool known = kernel_.vars[var].kind == Var::Kind::local || kernel_.vars[var].axes.contains(axis);
    if (!known)
      build_.diags.add(DiagId::coordinate_unknown, here(arg.place), {kernel_.vars[var].name, kernel_.axes[axis].name})
          .help = "its axes are " + build_.axis_names(kernel_.vars[var].axes);
    for (const Coordinate &other : out)
      if (other.axis == axis)
        build_.diags.add(DiagId::coordinate_twice, here(arg.place), {kernel_.axes[axis].name});
    out.push_back({axis, value(arg.args[0], Type::i64)});
  }
  --coordinate_depth_;
  return out;
}

// at and inside
ExprId Lowering::at(Op op, const body::Expr &e) {
  VarId var = operand_of(e.args[0]);
  KGEN_CHECK(var != kNone); // the body has refused all else
  if (kernel_.vars[var].kind == Var::Kind::local && op == Op::read)
    read_local(bare(e.args[0])); // assigned before it is read
  std::vector<Coordinate> coords = coordinates(e, var);
  touch(var, coords);
  ExprId id = node(op, op == Op::inside ? Type::boolean : type_row(kernel_.vars[var].type).arithmetic, e.place, var);
  kernel_.exprs[id].coords = std::move(coords);
  const body::Expr &of = bare(e.args[0]);
  if (op == Op::inside || of.kind != Kind::local)
    return id;
  const auto argument = frames_.back().values.find(of.local);
  return argument == frames_.back().values.end() ? id : converted_like(argument->second, id, e.place);
}

// What a function has been given is the array, converted: so is what it reads elsewhere.
ExprId Lowering::converted_like(ExprId argument, ExprId read, const Place &place) {
  const Expr given = kernel_.exprs[argument];
  return given.op == Op::cast ? make(Op::cast, given.type, {converted_like(given.args[0], read, place)}, place) : read;
}

ExprId Lowering::round_like(const body::Expr &e) {
  ExprId p = value(e.args[0]);
  const Expr &model = kernel_.exprs[value(e.args[1])];
  const Type element = model.op == Op::read ? kernel_.vars[model.ref].type : model.type;
  if (!is_half(element)) // then the body has converted p to it
    return p;
  ExprId id = make(Op::round_like, type(p), {p}, e.place);
  kernel_.exprs[id].element = element;
  return id;
}

// index, size, block, first, last, present, and size of a grid dimension.
ExprId Lowering::query(const body::Expr &e) {
  const body::Expr *about = e.args.empty() ? nullptr : &bare(e.args[0]);
  KGEN_CHECK(about != nullptr);
  if (e.name == "present" && about->kind == Kind::axis) {
    const ExprId kept = elements_of(*about).kept;
    return kept == kNone ? integer(Type::boolean, 1, e.place) : kept;
  }
  AxisId axis = kNone;
  for (const body::Expr &arg : e.args)
    if (arg.kind == Kind::axis)
      axis = axis_of(arg);
  GridId grid = about->kind == Kind::grid ? build_.grid_ids.at(about->name) : kNone;
  VarId var = about->kind == Kind::operand || about->kind == Kind::local ? operand_of(*about) : kNone;
  if (e.name == "present")
    return var != kNone && kernel_.vars[var].optional ? node(Op::present, Type::boolean, e.place, var)
                                                      : integer(Type::boolean, 1, e.place);
  if (e.name == "first" || e.name == "last") {
    bool first = e.name == "first";
    if (grid != kNone)
      return node(first ? Op::first : Op::last, Type::boolean, e.place, grid);
    return node(first ? Op::window_first : Op::window_last, Type::boolean, e.place, var);
  }
  if (e.name == "size" && grid != kNone)
    return node(Op::grid_size, Type::i64, e.place, grid);
  KGEN_CHECK(axis != kNone);
  if (var != kNone && !kernel_.vars[var].axes.contains(axis))
    build_.diags.add(DiagId::coordinate_unknown, here(e.place), {kernel_.vars[var].name, kernel_.axes[axis].name})
        .help = "its axes are " + build_.axis_names(kernel_.vars[var].axes);
  if (e.name == "index") {
    if (var != kNone)
      build_.touched.insert({var, axis});
    return node(Op::index, Type::i64, e.place, var, axis);
  }
  if (e.name == "block")
    return node(Op::block, Type::i64, e.place, kNone, axis);
  KGEN_CHECK(e.name == "size");
  const Axis &about_axis = kernel_.axes[axis];
  if (var == kNone)
    build_.ask_size(about_axis.name, here(e.place));
  const bool stays = build_.kept != nullptr && build_.variant.axes.count(about_axis.name) != 0; // one of several
  if (var == kNone && about_axis.ragged == kNone && about_axis.size.is_integer() && !stays)
    return integer(Type::i64, about_axis.size.value, e.place);
  return node(Op::size, Type::i64, e.place, var, axis);
}

} // namespace kgen::build
