// Expressions of the body, with the statements that inlined calls put before them.
#include "ir/lowering.h"

#include <algorithm>
#include <utility>

#include "ir/op_rows.h"
#include "support/check.h"

namespace kgen::build {

namespace {

using Kind = body::Expr::Kind;

constexpr std::pair<std::string_view, Op> kUnary[] = {{"-", Op::neg}, {"!", Op::logical_not}, {"~", Op::bit_not}};

// What `derivative(act, v)` calls, where the parameter `act` has several choices: "act'" for relu_derivative, "act'3"
// by one of several arguments; "act''" and "act'3'0" for a second derivative. Empty: it is no such call.
std::string derivative_of_choice(const Spec &spec, const Variant &variant, const body::Expr &e) {
  if (e.kind != Kind::call || e.param.empty()) // by the name of a macro
    return "";
  for (const Param &param : spec.params) {
    const auto value = variant.params.find(param.name);
    const auto *choice = value == variant.params.end() ? nullptr : std::get_if<std::string>(&value->second);
    if (choice == nullptr || param.choices.size() < 2 || !e.name.starts_with(*choice))
      continue;
    std::string_view rest = std::string_view(e.name).substr(choice->size());
    const bool second = rest.starts_with("_second");
    rest.remove_prefix(second ? std::string_view("_second").size() : 0);
    if (!rest.starts_with("_derivative"))
      continue;
    std::string by(rest.substr(std::string_view("_derivative").size()));
    std::ranges::replace(by, '_', '\'');
    return param.name + (by.empty() ? second ? "''" : "'" : by);
  }
  return "";
}

} // namespace

ExprId Lowering::value(const body::Expr &e) {
  switch (e.kind) {
  case Kind::literal:
    if (build_.kept != nullptr && !e.param.empty() && !param(e.param).is_given())
      return as(kept_param(e), e.type);
    return is_floating(e.type) ? number(type_row(e.type).arithmetic, e.number, e.weak, e.place)
                               : integer(e.type, e.integer, e.place);
  case Kind::operand:
    return as(read(e), e.type);
  case Kind::local:
    return as(read_local(e), e.type);
  case Kind::axis: {
    if (coordinate_depth_ == 0)
      build_.diags.add(DiagId::body_axis_value, here(e.place), {kernel_.axes[axis_of(e)].name}).help =
          "its index is index(" + kernel_.axes[axis_of(e)].name + "), its size size(...)";
    return as(node(Op::index, Type::i64, e.place, kNone, axis_of(e)), e.type);
  }
  case Kind::grid: {
    const GridId id = build_.grid_ids.at(e.name);
    const GridDim &dim = kernel_.grid[id];
    if (build_.steps_are_positions && dim.axis != kNone && dim.block.is_integer(1))
      return as(node(Op::index, Type::i64, e.place, kNone, dim.axis), e.type);
    return as(node(Op::grid_index, Type::i64, e.place, id), e.type);
  }
  case Kind::table: {
    TableId table = build_.table_ids.at(e.name);
    std::vector<ExprId> args = indices(e.args);
    ExprId id = node(Op::table, kernel_.tables[table].type, e.place, table);
    kernel_.exprs[id].args = std::move(args);
    return as(id, e.type);
  }
  case Kind::element:
    return as(element(e), e.type);
  case Kind::unary: {
    ExprId arg = value(e.args[0], e.type);
    for (const auto &[sign, op] : kUnary)
      if (sign == e.name)
        return make(op, type(arg), {arg}, e.place);
    return arg; // unary plus
  }
  case Kind::binary:
    return binary(e);
  case Kind::conditional:
    return conditional(e);
  case Kind::cast:
    return as(value(e.args[0]), e.type, e.implicit);
  case Kind::builtin:
    return is_kept_call(e) ? kept_call(e) : builtin(e);
  case Kind::call:
    return is_kept_call(e) ? kept_call(e) : call(e);
  case Kind::coordinate:
  case Kind::where:
  case Kind::axes:
  case Kind::text:
    break;
  }
  KGEN_UNREACHABLE("an expression that is no value");
}

const Param &Lowering::param(const std::string &name) const {
  return *std::ranges::find(build_.spec.params, name, &Param::name);
}

// A number that a parameter names, as a scalar of the parameter's name: a whole one where the parameter is, since the
// text that is made again computes with that.
ExprId Lowering::kept_param(const body::Expr &e) {
  const auto [known, is_new] = build_.scalar_ids.emplace(e.param, static_cast<ScalarId>(kernel_.scalars.size()));
  if (is_new) {
    const bool whole = std::holds_alternative<int64_t>(param(e.param).choices.front()); // then all
    kernel_.scalars.push_back({e.param, whole ? Type::i64 : build_.variant.real});
  }
  return node(Op::scalar, kernel_.scalars[known->second].type, e.place, known->second);
}

bool Lowering::is_kept_call(const body::Expr &e) const {
  if (build_.kept == nullptr || !is_floating(e.type))
    return false;
  const bool has_axes = std::any_of(e.args.begin(), e.args.end(), [](const body::Expr &arg) {
    return arg.kind == Kind::axis || arg.kind == Kind::coordinate || arg.kind == Kind::where;
  });
  if (has_axes)
    return false;
  const auto is_choice = [&](const Param &param) { return param.name == e.param && param.choices.size() > 1; };
  const bool chosen = std::any_of(build_.spec.params.begin(), build_.spec.params.end(), is_choice) ||
                      !derivative_of_choice(build_.spec, build_.variant, e).empty();
  if (chosen || e.kind != Kind::call)
    return chosen;
  const body::Function &function = build_.body.functions[e.function];
  return (function.from_library ? build_.kept->of_library : build_.kept->own).contains(function.name);
}

// With the arguments that are written: choices may have values for others, each its own.
ExprId Lowering::kept_call(const body::Expr &e) {
  std::vector<ExprId> args;
  for (size_t i = 0; i < (e.kind == Kind::call ? e.given : e.args.size()); ++i)
    args.push_back(value(e.args[i]));
  std::string name = derivative_of_choice(build_.spec, build_.variant, e);
  if (name.empty()) {
    const auto &params = build_.spec.params;
    const bool by_param = std::ranges::find(params, e.param, &Param::name) != params.end();
    name = by_param ? e.param : build_.body.functions[e.function].name;
  }
  auto &names = kernel_.named_functions;
  const auto known = std::find(names.begin(), names.end(), name);
  const int ref = static_cast<int>(known - names.begin());
  if (known == names.end())
    names.push_back(name);
  const ExprId out = make(Op::named_call, e.type, std::move(args), e.place);
  kernel_.exprs[out].ref = ref;
  return out;
}

std::vector<ExprId> Lowering::indices(const std::vector<body::Expr> &args) {
  std::vector<ExprId> out;
  for (const body::Expr &arg : args)
    out.push_back(value(arg, Type::i64));
  return out;
}

ExprId Lowering::read(const body::Expr &e) {
  if (auto it = build_.scalar_ids.find(e.name); it != build_.scalar_ids.end())
    return node(Op::scalar, kernel_.scalars[it->second].type, e.place, it->second);
  VarId var = build_.operand_ids.at(e.name);
  touch(var, {});
  return node(Op::read, type_row(kernel_.vars[var].type).arithmetic, e.place, var);
}

ExprId Lowering::read_local(const body::Expr &e) {
  Frame &frame = frames_.back();
  if (auto it = frame.values.find(e.local); it != frame.values.end())
    return it->second;
  if (auto it = frame.questions.find(e.local); it != frame.questions.end()) {
    kernel_.vars[local(e.local)].asked = true;
    return value(*it->second);
  }
  VarId var = local(e.local);
  if (!flow_.dead && !flow_.assigned.count(var) && !generated_.count(var) && reported_.insert(var).second)
    build_.diags.add(DiagId::body_unset, here(e.place), {(*frame.locals)[e.local].name}).help =
        "assign it on every path that leads here, or give it a value where it is declared";
  return node(Op::read, kernel_.vars[var].type, e.place, var);
}

ExprId Lowering::element(const body::Expr &e) {
  VarId var = local(e.local);
  std::vector<ExprId> args = indices(e.args);
  ExprId id = node(Op::element, kernel_.vars[var].type, e.place, var);
  kernel_.exprs[id].args = std::move(args);
  return id;
}

// A number that was only widened to be compared with a constant which its own type holds is compared in that type.
bool Lowering::narrow(ExprId &value, ExprId &constant) {
  const Expr &e = kernel_.exprs[value], &c = kernel_.exprs[constant];
  const ExprId own = e.op == Op::cast && e.type == Type::i64 ? e.args[0] : value;
  const Type type = kernel_.exprs[own].type;
  if (c.op != Op::constant || is_floating(c.type) || (type != Type::i32 && type != Type::u32))
    return false;
  const bool fits = type == Type::i32 ? c.integer >= INT32_MIN && c.integer <= INT32_MAX
                                      : c.integer >= 0 && c.integer <= int64_t{UINT32_MAX};
  if (!fits)
    return false;
  value = own;
  constant = as(constant, type);
  return true;
}

ExprId Lowering::binary(const body::Expr &e) {
  if (e.name == "&&")
    return lazy(Op::both, e);
  if (e.name == "||")
    return lazy(Op::either, e);
  ExprId a = value(e.args[0]), b = value(e.args[1]);
  const OpRow *row = infix_row(e.name);
  KGEN_CHECK(row != nullptr);
  const bool comparison = e.type == Type::boolean && row->kind == op::Kind::comparison;
  Type type = comparison ? common_type(this->type(a), this->type(b)) : type_row(e.type).arithmetic;
  if (comparison && this->type(a) == Type::boolean && this->type(b) == Type::boolean)
    type = Type::boolean;
  if (comparison && type == Type::i64 && (narrow(a, b) || narrow(b, a)))
    type = common_type(this->type(a), this->type(b));
  a = as(a, type), b = as(b, type);
  return make(row->op, comparison ? Type::boolean : type, {a, b}, e.place);
}

// An expression that may not be evaluated: what it needs before goes to `before`.
ExprId Lowering::arm(const body::Expr &e, Type type, std::vector<Stmt> &before) {
  ExprId out = kNone;
  before = collect([&] { out = value(e, type); });
  return out;
}

ExprId Lowering::conditional(const body::Expr &e) {
  ExprId c = condition(e.args[0]);
  if (is_constant(c)) {
    const bool first = kernel_.exprs[c].integer != 0;
    leave_out(e.args[first ? 2 : 1]);
    return value(e.args[first ? 1 : 2], e.type);
  }
  std::vector<Stmt> before_a, before_b;
  ExprId a = arm(e.args[1], e.type, before_a), b = arm(e.args[2], e.type, before_b);
  bool hoist = must_hoist(c, before_a, a) || must_hoist(c, before_b, b);
  if (hoist || (before_a.empty() && before_b.empty())) {
    std::move(before_a.begin(), before_a.end(), std::back_inserter(*out_));
    std::move(before_b.begin(), before_b.end(), std::back_inserter(*out_));
    return make(Op::choose, type(a), {c, a, b}, e.place);
  }
  VarId var = fresh("chosen", type(a), e.place);
  Stmt s;
  s.kind = Stmt::Kind::branch;
  s.place = here(e.place);
  s.body = std::move(before_a);
  s.otherwise = std::move(before_b);
  auto choose_in = [&](std::vector<Stmt> &list, ExprId value) {
    std::vector<Stmt> *outer = std::exchange(out_, &list);
    emit_assign(var, value, e.place);
    out_ = outer;
    return node(Op::read, kernel_.vars[var].type, e.place, var);
  };
  const bool mixing = !is_uniform(c) && (mixes(a) || mixes(b));
  if (!mixing) {
    choose_in(s.body, a);
    const ExprId chosen = choose_in(s.otherwise, b);
    s.value = c;
    emit(std::move(s));
    return chosen;
  }
  // The arm that mixes elements has no statements, and stays outside.
  const bool first = !s.body.empty();
  if (!first)
    s.body = std::exchange(s.otherwise, {});
  ExprId &guarded = first ? a : b;
  guarded = choose_in(s.body, guarded);
  s.value = first ? c : make(Op::logical_not, Type::boolean, {c}, e.place);
  emit(std::move(s));
  return make(Op::choose, type(a), {c, a, b}, e.place);
}

// && and ||
ExprId Lowering::lazy(Op op, const body::Expr &e) {
  ExprId a = condition(e.args[0]);
  if (is_constant(a)) {
    bool decided = (kernel_.exprs[a].integer != 0) == (op == Op::either);
    if (!decided)
      return condition(e.args[1]);
    leave_out(e.args[1]);
    return a;
  }
  std::vector<Stmt> before;
  ExprId b = arm(e.args[1], Type::boolean, before);
  if (before.empty() || must_hoist(a, before, b)) {
    std::move(before.begin(), before.end(), std::back_inserter(*out_));
    return make(op, Type::boolean, {a, b}, e.place);
  }
  VarId var = fresh("decided", Type::boolean, e.place);
  emit_assign(var, a, e.place);
  Stmt s;
  s.kind = Stmt::Kind::branch;
  s.value = op == Op::both ? a : make(Op::logical_not, Type::boolean, {a}, e.place);
  s.place = here(e.place);
  s.body = std::move(before);
  std::vector<Stmt> *outer = std::exchange(out_, &s.body);
  emit_assign(var, b, e.place);
  out_ = outer;
  emit(std::move(s));
  return node(Op::read, Type::boolean, e.place, var);
}

// A reduction cannot stand under a per-element condition, but `mask ? softmax(x, N) : 0` is fine: then the call is
// computed for all elements.
bool Lowering::must_hoist(ExprId condition, const std::vector<Stmt> &before, ExprId value) const {
  if (before.empty() || is_uniform(condition))
    return false;
  bool mixing = mixes(value);
  for_each(before, [&](const Stmt &s) {
    for (ExprId root : roots(s))
      mixing = mixing || mixes(root);
  });
  return mixing;
}

// Does it hold a fold, a scan, or a read of a local elsewhere?
bool Lowering::mixes(ExprId id) const {
  const Expr &e = kernel_.exprs[id];
  if (e.op == Op::fold || e.op == Op::scan || (e.op == Op::read && !e.coords.empty()))
    return true;
  return std::any_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return mixes(arg); });
}

// Surely the same for all elements of a step, by its form alone.
bool Lowering::is_uniform(ExprId id) const {
  const Expr &e = kernel_.exprs[id];
  if (e.op == Op::read || e.op == Op::element || e.op == Op::index || e.op == Op::inside || e.op == Op::fold ||
      e.op == Op::scan)
    return false;
  if (e.op == Op::size && kernel_.axes[e.axis].ragged != kNone)
    return false;
  return std::all_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return is_uniform(arg); });
}

} // namespace kgen::build
