// Statements of the body and of inlined functions. Flow keeps which locals are surely assigned; a statement after a
// possible return goes into the other arm, or under the flag `returned`.
#include "ir/lowering.h"

#include <algorithm>
#include <utility>

#include "ir/op_rows.h"
#include "support/check.h"

namespace kgen::build {

namespace {

using Kind = body::Stmt::Kind;

} // namespace

void lower_body(Build &build) { Lowering(build).run(); }

std::vector<ExprId> roots(const Stmt &statement) {
  std::vector<ExprId> out = statement.indices;
  for (const Coordinate &coord : statement.coords)
    out.push_back(coord.value);
  if (statement.value != kNone)
    out.push_back(statement.value);
  for (const Shown &shown : statement.shown)
    if (shown.value != kNone)
      out.push_back(shown.value);
  return out;
}

void Lowering::emit(Stmt s) {
  if (!kept_.empty())
    keep_statement(s);
  out_->push_back(std::move(s));
}

Lowering::Lowering(Build &build) : build_(build), kernel_(build.kernel) {}

void Lowering::run() {
  for (const Var &var : kernel_.vars)
    names_.insert(var.name);
  for (const Axis &axis : kernel_.axes)
    names_.insert(axis.name);
  for (const GridDim &dim : kernel_.grid)
    names_.insert(dim.name);
  for (const Table &table : kernel_.tables)
    names_.insert(table.name);
  for (const ScalarArgument &scalar : kernel_.scalars)
    names_.insert(scalar.name);
  Frame frame;
  frame.locals = &build_.body.locals;
  frame.vars.assign(build_.body.locals.size(), kNone);
  frames_.push_back(std::move(frame));
  out_ = &kernel_.statements;
  list(flatten(build_.body.statements));
}

Lowering::Block Lowering::flatten(const std::vector<body::Stmt> &statements) {
  Block out;
  for (const body::Stmt &s : statements) {
    if (s.kind != Kind::block) {
      out.push_back(&s);
      continue;
    }
    Block inner = flatten(s.body);
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

std::vector<Stmt> Lowering::collect(const std::function<void()> &lower) {
  std::vector<Stmt> out;
  std::vector<Stmt> *outer = std::exchange(out_, &out);
  lower();
  out_ = outer;
  return out;
}

Lowering::Flow Lowering::meet(const Flow &a, const Flow &b) {
  if (a.dead || b.dead)
    return a.dead ? b : a;
  Flow out;
  std::set_intersection(a.assigned.begin(), a.assigned.end(), b.assigned.begin(), b.assigned.end(),
                        std::inserter(out.assigned, out.assigned.begin()));
  return out;
}

void Lowering::list(const Block &block) {
  for (size_t i = 0; i < block.size() && !flow_.dead; ++i) {
    if (early_return(block, i))
      return;
    statement(*block[i]);
  }
}

void Lowering::statement(const body::Stmt &s) {
  const size_t from = dropped_.size();
  switch (s.kind) {
  case Kind::declare:
    declare(s);
    return note_left_out_of(s.local, from);
  case Kind::assign:
    assign(s);
    return note_left_out_of(s.target.kind == body::Expr::Kind::local ? s.target.local : -1, from);
  case Kind::evaluate:
    return evaluate(s);
  case Kind::branch:
    return branch(condition(s.value), flatten(s.body), flatten(s.otherwise), s.place);
  case Kind::loop:
    return loop(s);
  case Kind::leave:
    return leave(Stmt::Kind::leave, s.place);
  case Kind::next:
    return leave(Stmt::Kind::next, s.place);
  case Kind::give:
    return give(s);
  case Kind::block:
    return list(flatten(s.body));
  }
}

void Lowering::evaluate(const body::Stmt &s) {
  const std::string name = s.value.kind == body::Expr::Kind::builtin ? s.value.name : "";
  if (name == "require")
    return require(s);
  Stmt out;
  out.place = here(s.place);
  if (name == "assert") {
    out.kind = Stmt::Kind::check;
    out.value = condition(s.value.args[0]);
    return emit(std::move(out));
  }
  if (name != "print") {
    value(s.value); // what it asserts inside stays
    return;
  }
  out.kind = Stmt::Kind::print;
  for (const body::Expr &arg : s.value.args)
    if (arg.kind == body::Expr::Kind::text)
      out.shown.push_back({arg.name});
    else
      out.shown.push_back({"", value(arg)});
  emit(std::move(out));
}

void Lowering::emit_assign(VarId target, ExprId value, const Place &place) {
  Stmt out;
  out.target = target;
  out.value = as(value, kernel_.vars[target].type);
  out.place = here(place);
  flow_.assigned.insert(target);
  emit(std::move(out));
}

void Lowering::declare(const body::Stmt &s) {
  VarId var = local(s.local);
  flow_.assigned.erase(var);
  if (!kernel_.vars[var].array.empty()) {
    Stmt out;
    out.kind = Stmt::Kind::declare;
    out.target = var;
    out.place = here(s.place);
    return emit(std::move(out));
  }
  if (!s.has_value)
    return;
  const ExprId initial = value(s.value);
  emit_assign(var, initial, s.place);
  if ((*frames_.back().locals)[s.local].weak_constant)
    build_.constant_initialised.insert(var);
  note_question(s, initial);
}

// After `bool has = present(x);` has is a name for the question: where it is true, x may be read.
void Lowering::note_question(const body::Stmt &s, ExprId initial) {
  Frame &frame = frames_.back();
  const bool asks = is_uniform(initial) && mentions_present(initial) && type(initial) == Type::boolean &&
                    (*frame.locals)[s.local].type == Type::boolean;
  const auto &statements = frame.function != nullptr ? frame.function->statements : build_.body.statements;
  if (asks && !is_assigned(statements, s.local))
    frame.questions[s.local] = &s.value;
}

bool Lowering::mentions_present(ExprId id) const {
  const Expr &e = kernel_.exprs[id];
  return e.op == Op::present ||
         std::any_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return mentions_present(arg); });
}

void Lowering::assign(const body::Stmt &s) {
  Stmt out;
  out.place = here(s.place);
  out.update = !s.op.empty();
  ExprId old = kNone;
  if (s.target.kind == body::Expr::Kind::builtin)
    return assign_scatter(s, std::move(out));
  if (s.target.kind == body::Expr::Kind::element) {
    out.target = local(s.target.local);
    out.indices = indices(s.target.args);
    if (out.update) {
      old = node(Op::element, kernel_.vars[out.target].type, s.target.place, out.target);
      kernel_.exprs[old].args = out.indices;
    }
    return assign_value(s, std::move(out), old);
  }
  if (s.target.kind == body::Expr::Kind::local) {
    out.target = local(s.target.local);
    if (out.update)
      old = read_local(s.target);
  } else {
    auto it = build_.operand_ids.find(s.target.name);
    bool input = it == build_.operand_ids.end() || kernel_.vars[it->second].kind == Var::Kind::input;
    if (input) {
      build_.diags.add(DiagId::body_not_assignable, here(s.target.place), {s.target.name, "an input"});
      return;
    }
    out.target = it->second;
    if (out.update)
      old = read(s.target);
    touch(out.target, {});
  }
  assign_value(s, std::move(out), old);
}

// target = value, or target = target op value with the conversions that C++ makes.
void Lowering::assign_value(const body::Stmt &s, Stmt out, ExprId old) {
  ExprId v = value(s.value);
  if (out.update) {
    const OpRow *row = infix_row(s.op);
    KGEN_CHECK(row != nullptr);
    ExprId left = as(old, s.op_type), right = as(v, s.op_type);
    v = make(row->op, type_row(s.op_type).arithmetic, {left, right}, s.place);
  }
  out.value = as(v, type_row(kernel_.vars[out.target].type).arithmetic);
  if (kernel_.vars[out.target].array.empty())
    flow_.assigned.insert(out.target);
  emit(std::move(out));
}

// at(o, N = e) = value
void Lowering::assign_scatter(const body::Stmt &s, Stmt out) {
  const body::Expr &target = s.target;
  out.target = operand_of(target.args[0]);
  if (target.name != "at" || out.target == kNone || kernel_.vars[out.target].kind != Var::Kind::output) {
    build_.diags.add(DiagId::scatter_target, here(target.place)).help =
        "only an output is written at other coordinates; a local or scratch is read there";
    return;
  }
  out.coords = coordinates(target, out.target);
  touch(out.target, out.coords);
  out.scatter_add = out.update;
  out.update = false;
  out.value = value(s.value, type_row(kernel_.vars[out.target].type).arithmetic);
  if (out.scatter_add && s.op != "+") {
    build_.diags.add(DiagId::scatter_operator, here(s.place), {s.op}).help = "only = and +=";
    return;
  }
  const Var &var = kernel_.vars[out.target]; // which functions in the value may have moved
  if (out.scatter_add && is_floating(var.type) && !var.atomic)
    build_.diags.add(DiagId::scatter_float, here(s.place), {var.name}).help =
        "the order of the sums would change the result: say outputs." + var.name +
        " = { ..., atomic = true } to accept that, or add whole numbers";
  emit(std::move(out));
}

void Lowering::branch(ExprId condition, const Block &then, const Block &otherwise, const Place &place) {
  if (is_constant(condition)) {
    const bool first = kernel_.exprs[condition].integer != 0;
    leave_out(first ? otherwise : then);
    return list(first ? then : otherwise);
  }
  Stmt out;
  out.kind = Stmt::Kind::branch;
  out.value = condition;
  out.place = here(place);
  Flow before = flow_;
  out.body = collect([&] { list(then); });
  Flow after = std::exchange(flow_, before);
  out.otherwise = collect([&] { list(otherwise); });
  flow_ = meet(after, flow_);
  emit(std::move(out));
}

// for and while. A condition that needs statements of its own becomes a break at the top.
void Lowering::loop(const body::Stmt &s) {
  list(flatten(s.init));
  Stmt out;
  out.kind = Stmt::Kind::loop;
  out.place = here(s.place);
  bool literal = s.value.kind == body::Expr::Kind::literal;
  bool given = !literal || (s.value.type == Type::boolean && s.value.integer == 0);
  Flow before = flow_;
  ExprId condition = kNone;
  if (given)
    out.body = collect([&] { condition = this->condition(s.value); });
  if (condition != kNone && is_constant(condition)) {
    if (kernel_.exprs[condition].integer == 0)
      return;
    condition = kNone;
  }
  if (!out.body.empty() && condition != kNone) {
    Stmt stop;
    stop.kind = Stmt::Kind::branch;
    stop.value = make(Op::logical_not, Type::boolean, {keep(condition, integer(Type::boolean, 0, s.place))}, s.place);
    stop.place = out.place;
    stop.body.emplace_back().kind = Stmt::Kind::leave;
    stop.body.back().place = out.place;
    out.body.push_back(std::move(stop));
  } else if (condition != kNone) {
    out.value = condition;
  }
  exits_.emplace_back();
  ++frames_.back().loops;
  std::vector<Stmt> inside = collect([&] { list(flatten(s.body)); });
  std::move(inside.begin(), inside.end(), std::back_inserter(out.body));
  flow_.dead = false; // by continue, the step follows
  out.step = collect([&] { list(flatten(s.step)); });
  --frames_.back().loops;
  Flow after = before;
  after.dead = condition == kNone; // then only breaks lead out
  for (const std::set<VarId> &exit : exits_.back())
    after = meet(after, Flow{exit, false});
  exits_.pop_back();
  flow_ = after;
  emit(std::move(out));
}

void Lowering::leave(Stmt::Kind kind, const Place &place) {
  Stmt out;
  out.kind = kind;
  out.place = here(place);
  emit(std::move(out));
  if (kind == Stmt::Kind::leave && !exits_.empty())
    exits_.back().push_back(flow_.assigned);
  flow_.dead = true;
}

} // namespace kgen::build
