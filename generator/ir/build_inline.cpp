// Calls: a function's statements with fresh locals. A parameter that is only read stands for its argument where that is
// a plain value. One return at the end is the value; earlier ones assign a result, and what follows them becomes
// structure.
#include "ir/lowering.h"

#include <algorithm>

#include "support/check.h"
#include "support/naming.h"

namespace kgen::build {

namespace {

using Kind = body::Stmt::Kind;

bool returns(const std::vector<body::Stmt> &statements);

bool returns(const body::Stmt &s) { return s.kind == Kind::give || returns(s.body) || returns(s.otherwise); }

bool returns(const std::vector<body::Stmt> &statements) {
  return std::any_of(statements.begin(), statements.end(), [](const body::Stmt &s) { return returns(s); });
}

bool always_returns(const std::vector<body::Stmt> &statements) {
  return std::any_of(statements.begin(), statements.end(), [](const body::Stmt &s) {
    if (s.kind == Kind::block)
      return always_returns(s.body);
    return s.kind == Kind::give || (s.kind == Kind::branch && always_returns(s.body) && always_returns(s.otherwise));
  });
}

// Where structure alone cannot tell whether the function has returned.
bool needs_flag(const std::vector<body::Stmt> &statements) {
  return std::any_of(statements.begin(), statements.end(), [](const body::Stmt &s) {
    if (s.kind == Kind::loop)
      return returns(s);
    bool half = s.kind == Kind::branch && returns(s) && !always_returns(s.body) && !always_returns(s.otherwise);
    return half || needs_flag(s.body) || needs_flag(s.otherwise);
  });
}

template <class Test> bool any_expr(const body::Expr &e, const Test &test) {
  return test(e) ||
         std::any_of(e.args.begin(), e.args.end(), [&](const body::Expr &arg) { return any_expr(arg, test); });
}

template <class Test> bool any_stmt(const std::vector<body::Stmt> &statements, const Test &test) {
  return std::any_of(statements.begin(), statements.end(), [&](const body::Stmt &s) {
    return test(s) || any_stmt(s.init, test) || any_stmt(s.step, test) || any_stmt(s.body, test) ||
           any_stmt(s.otherwise, test);
  });
}

bool is_read_elsewhere(const body::Function &f, int parameter) {
  auto at = [&](const body::Expr &e) {
    return e.kind == body::Expr::Kind::builtin && (e.name == "at" || e.name == "inside") && !e.args.empty() &&
           any_expr(e.args[0],
                    [&](const body::Expr &x) { return x.kind == body::Expr::Kind::local && x.local == parameter; });
  };
  return any_stmt(f.statements, [&](const body::Stmt &s) { return any_expr(s.value, at) || any_expr(s.target, at); });
}

// present(A): does it say itself what it gives for elements that are left out?
bool asks_what_is_kept(const body::Function &f) {
  auto asks = [](const body::Expr &e) {
    return e.kind == body::Expr::Kind::builtin && e.name == "present" && e.args[0].kind == body::Expr::Kind::axis;
  };
  return any_stmt(f.statements, [&](const body::Stmt &s) { return any_expr(s.value, asks); });
}

} // namespace

bool Lowering::is_assigned(const std::vector<body::Stmt> &statements, int local) {
  return any_stmt(statements, [&](const body::Stmt &s) {
    return s.kind == Kind::assign && s.target.kind == body::Expr::Kind::local && s.target.local == local;
  });
}

// Statements from the library show where the user called it.
Place Lowering::here(const Place &place) const {
  return frames_.empty() || frames_.back().call.line == 0 ? place : frames_.back().call;
}

VarId Lowering::fresh(const std::string &name, Type type, const Place &place) {
  return fresh(std::vector<std::string>{name}, type, place);
}

VarId Lowering::fresh(const std::vector<std::string> &wishes, Type type, const Place &place) {
  Var var;
  var.name = free_name(wishes, [&](const std::string &name) { return names_.count(name) != 0; });
  names_.insert(var.name);
  var.type = type_row(type).arithmetic;
  var.place = here(place);
  VarId id = static_cast<VarId>(kernel_.vars.size());
  generated_.insert(id);
  kernel_.vars.push_back(std::move(var));
  return id;
}

// Of a function that is inlined again: who calls it, and what it is.
std::vector<std::string> Lowering::local_names(const std::string &name, const body::Function *of,
                                               const body::Function *caller) {
  std::vector<std::string> names = {name};
  if (of != nullptr && caller != nullptr)
    names.push_back(name_of_parts(name, "in_" + caller->name));
  if (of != nullptr)
    names.push_back(name_of_parts(name, "of_" + of->name));
  return names;
}

VarId Lowering::local(int index) {
  Frame &frame = frames_.back();
  VarId &var = frame.vars[index];
  if (var != kNone)
    return var;
  const body::Local &decl = (*frame.locals)[index];
  const body::Function *caller = frames_.size() > 1 ? frames_[frames_.size() - 2].function : nullptr;
  var = fresh(local_names(decl.name, frame.function, caller), decl.type, decl.place);
  kernel_.vars[var].array = decl.dims;
  kernel_.vars[var].named = frame.call.line == 0; // not the library's
  if (decl.dims.empty())
    generated_.erase(var);
  return var;
}

ExprId Lowering::call(const body::Expr &e) {
  const body::Function &f = build_.body.functions[e.function];
  Frame frame;
  frame.function = &f;
  frame.locals = &f.locals;
  frame.vars.assign(f.locals.size(), kNone);
  frame.call = f.from_library || frames_.back().call.line > 0 ? here(e.place) : Place{};
  const size_t outer_kept = kept_.size();
  bind(e, frame);
  Flow outer = flow_;
  bool simple =
      !f.statements.empty() && f.statements.back().kind == Kind::give &&
      !any_stmt(f.statements, [&](const body::Stmt &s) { return s.kind == Kind::give && &s != &f.statements.back(); });
  frames_.push_back(std::move(frame));
  ExprId out = kNone;
  if (simple) {
    Block block = flatten(f.statements);
    block.pop_back();
    list(block);
    out = as(value(f.statements.back().value), f.result);
    if (!frames_.back().asks)
      out = keep_value(out, outer_kept);
  } else {
    VarId result = fresh(f.name + "_result", f.result, e.place);
    frames_.back().result = result;
    if (needs_flag(f.statements)) {
      frames_.back().returned = fresh(f.name + "_returned", Type::boolean, e.place);
      emit_assign(frames_.back().returned, integer(Type::boolean, 0, e.place), e.place);
    }
    list(flatten(f.statements));
    out = node(Op::read, kernel_.vars[result].type, e.place, result);
  }
  frames_.pop_back();
  kept_.resize(outer_kept);
  flow_ = outer;
  return as(out, e.type);
}

bool Lowering::is_plain(ExprId id) const {
  const Expr &e = kernel_.exprs[id];
  return e.op == Op::constant || e.op == Op::scalar || (e.op == Op::read && e.coords.empty());
}

// An input as it is, or converted: it can be read elsewhere as well.
bool Lowering::is_input(ExprId id) const {
  const Expr &e = kernel_.exprs[id];
  if (e.op == Op::cast)
    return is_input(e.args[0]);
  return e.op == Op::read && e.coords.empty() && kernel_.vars[e.ref].kind == Var::Kind::input;
}

void Lowering::bind(const body::Expr &e, Frame &frame) {
  const body::Function &f = *frame.function;
  for (int i = 0; i < f.parameters; ++i)
    if (f.locals[i].is_axis)
      frame.axes[i] = bound_axes(e.args[i]);
  for (const auto &[parameter, axes] : frame.axes)
    keep_elements(axes);
  frame.asks = asks_what_is_kept(f);
  for (int i = 0; i < f.parameters; ++i) {
    const body::Local &parameter = f.locals[i];
    if (parameter.is_axis)
      continue;
    ExprId argument = value(e.args[i], parameter.type);
    const bool has_name = is_read_elsewhere(f, i) ? is_input(argument) : is_plain(argument);
    if (has_name && !is_assigned(f.statements, i)) {
      frame.values[i] = argument;
      continue;
    }
    frame.vars[i] = fresh(local_names(parameter.name, &f, frames_.back().function), parameter.type, parameter.place);
    emit_assign(frame.vars[i], argument, e.args[i].place);
  }
}

void Lowering::give(const body::Stmt &s) {
  Frame &frame = frames_.back();
  VarId result = frame.result, returned = frame.returned;
  int loops = frame.loops;
  KGEN_CHECK(result != kNone);
  const bool asks = frame.asks;
  const ExprId given = value(s.value);
  std::vector<Kept> around = kept_;
  if (asks)
    kept_.clear();
  emit_assign(result, given, s.place);
  kept_ = std::move(around);
  if (returned != kNone)
    emit_assign(returned, integer(Type::boolean, 1, s.place), s.place);
  if (loops > 0) {
    Stmt stop;
    stop.kind = Stmt::Kind::leave;
    stop.place = here(s.place);
    emit(std::move(stop));
  }
  flow_.dead = true;
}

// A statement that may return, and what follows it. True when all of the block is done.
bool Lowering::early_return(const Block &block, size_t at) {
  const body::Stmt &s = *block[at];
  bool loop = s.kind == Kind::loop;
  if ((!loop && s.kind != Kind::branch) || !returns(s))
    return false;
  if (!loop && frames_.back().loops > 0) // the break that a return is there leads out
    return false;
  Block rest(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end());
  if (loop) {
    this->loop(s);
  } else {
    Block then = flatten(s.body), otherwise = flatten(s.otherwise);
    Block *taker = always_returns(s.body) ? &otherwise : always_returns(s.otherwise) ? &then : nullptr;
    if (taker)
      taker->insert(taker->end(), rest.begin(), rest.end());
    branch(condition(s.value), then, otherwise, s.place);
    if (taker)
      return true;
  }
  if (flow_.dead)
    return true;
  ExprId returned = node(Op::read, Type::boolean, s.place, frames_.back().returned);
  if (frames_.back().loops > 0) {
    Stmt stop;
    stop.kind = Stmt::Kind::branch;
    stop.value = returned;
    stop.place = here(s.place);
    stop.body.emplace_back().kind = Stmt::Kind::leave;
    stop.body.back().place = stop.place;
    emit(std::move(stop));
    list(rest);
    return true;
  }
  if (!rest.empty())
    branch(make(Op::logical_not, Type::boolean, {returned}, s.place), rest, {}, s.place);
  return true;
}

} // namespace kgen::build
