#include "analysis/scenarios.h"

#include <algorithm>
#include <bit>

#include "analysis/flow.h"
#include "ir/conversions.h"
#include "ir/evaluate.h"
#include "ir/op_rows.h"

namespace kgen::analysis {
namespace {

constexpr size_t kMostQuestions = 12;
constexpr size_t kMostWithOthers = 8; // so many at most where conditions of other kinds are among them

Truth negate(Truth t) { return t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes; }
Truth truth_of(bool b) { return b ? Truth::yes : Truth::no; }

// What is known of one of two that are the same is known of both.
bool agree(Truth &a, Truth &b) {
  if (a == Truth::unknown)
    a = b;
  else if (b == Truth::unknown)
    b = a;
  return a == b;
}

// The entry as the step before or behind has it.
Size moved(const Size &size, const std::string &grid, int by) {
  return rewrite(size, [&](const Size &node) -> std::optional<Size> {
    if (node.op != Size::Op::grid || node.name != grid)
      return std::nullopt;
    return Size::make(by < 0 ? Size::Op::subtract : Size::Op::add, {node, Size::integer(1)});
  });
}

bool all_true(const std::vector<Truth> &truths, const std::vector<Truth> &windows, uint64_t steps, VarId window) {
  for (GridId g : list_of(steps))
    if (truths[g] == Truth::no)
      return false;
  return window == kNone || windows[window] != Truth::no;
}

} // namespace

uint64_t constant_steps(const Context &context, VarId var) {
  uint64_t steps = context.all_steps();
  for (GridId g : context.facts.operands[var].moves_with)
    steps &= ~(uint64_t{1} << g);
  return steps;
}

bool begins(const Scenario &scenario, uint64_t steps, VarId window) {
  return all_true(scenario.first, scenario.window_first, steps, window);
}

bool ends(const Scenario &scenario, uint64_t steps, VarId window) {
  return all_true(scenario.last, scenario.window_last, steps, window);
}

Conditions::Conditions(const Context &context) : context_(context), kernel_(context.kernel) {
  note_locals();
  note_changes();
  note_windows_alike();
  note_conditions();
}

// ---- what the body asks ---------------------------------------------------------------------------------------------

void Conditions::note_locals() {
  std::map<VarId, int> times;
  visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind != Stmt::Kind::assign)
      return;
    const Var &var = kernel_.vars[stmt.target];
    const bool whole = is_integer(var.type) || var.type == Type::boolean;
    const bool plain = var.kind == Var::Kind::local && whole && var.array.empty() && var.axes.empty();
    if (plain && ++times[stmt.target] == 1)
      named_[stmt.target] = stmt.value;
    else
      named_.erase(stmt.target);
  });
  // What depends on another such local is looked through, too.
  for (bool changed = true; changed;)
    changed = std::erase_if(named_, [&](const auto &entry) {
                const Expr &value = kernel_.expr(entry.second);
                return value.type != kernel_.vars[entry.first].type || !same_in_step(entry.second);
              }) > 0;
}

// Without the casts that keep its value, and the locals that name it.
ExprId Conditions::bare(ExprId id) const {
  for (;;) {
    const Expr &expr = kernel_.expr(id);
    if (expr.op == Op::cast && is_integer(expr.type) && is_integer(kernel_.expr(expr.args[0]).type) &&
        holds_all(expr.type, kernel_.expr(expr.args[0]).type)) {
      id = expr.args[0];
      continue;
    }
    const auto named = expr.op == Op::read && expr.coords.empty() ? named_.find(expr.ref) : named_.end();
    if (named == named_.end())
      break;
    id = named->second;
  }
  return id;
}

// Of sizes, scalars, tables and steps alone, so that it comes out the same wherever it is asked.
bool Conditions::same_in_step(ExprId id) const {
  bool same = true;
  visit_expressions(kernel_, id, [&](const Expr &expr, ExprId) {
    switch (expr.op) {
    case Op::read:
      // Of one that was set before: expressions have the numbers of their order.
      same = same && expr.coords.empty() && named_.count(expr.ref) > 0 && named_.at(expr.ref) < id;
      break;
    case Op::element:
    case Op::inside:
    case Op::index:
    case Op::fold:
    case Op::scan:
      same = false;
      break;
    case Op::size:
      same = same && kernel_.axes[expr.axis].ragged == kNone;
      break;
    default:
      break;
    }
  });
  return same;
}

// `i == 0` and `i == size(i) - 1` are first(i) and last(i).
std::optional<Conditions::Question> Conditions::question_of(const Expr &expr) const {
  if (expr.op == Op::first || expr.op == Op::last || expr.op == Op::window_first || expr.op == Op::window_last)
    return Question{expr.op, expr.ref, ""};
  if (expr.op != Op::eq && expr.op != Op::ne)
    return std::nullopt;
  const Expr *a = &kernel_.expr(bare(expr.args[0])), *b = &kernel_.expr(bare(expr.args[1]));
  if (b->op == Op::grid_index)
    std::swap(a, b);
  if (a->op != Op::grid_index)
    return std::nullopt;
  const auto is_number = [](const Expr &e, int64_t v) {
    return e.op == Op::constant && !is_floating(e.type) && e.integer == v;
  };
  if (is_number(*b, 0))
    return Question{Op::first, a->ref, ""};
  if (b->op != Op::sub)
    return std::nullopt;
  const Expr &steps = kernel_.expr(bare(b->args[0]));
  if (steps.op == Op::grid_size && steps.ref == a->ref && is_number(kernel_.expr(bare(b->args[1])), 1))
    return Question{Op::last, a->ref, ""};
  return std::nullopt;
}

// An entry of a table, as a size.
std::optional<Size> Conditions::entry(ExprId id) const {
  const Expr &expr = kernel_.expr(bare(id));
  if (expr.op != Op::table)
    return std::nullopt;
  Size out;
  out.op = Size::Op::table;
  out.name = kernel_.tables[expr.ref].name;
  for (ExprId arg : expr.args) {
    const Expr &index = kernel_.expr(bare(arg));
    const auto step = [&](ExprId of) -> std::optional<Size> {
      const Expr &e = kernel_.expr(bare(of));
      if (e.op == Op::grid_index)
        return Size::grid(kernel_.grid[e.ref].name);
      return e.op == Op::constant ? std::optional(Size::integer(e.integer)) : entry(of);
    };
    std::optional<Size> place = step(arg);
    if (index.op == Op::add || index.op == Op::sub) {
      const auto a = step(index.args[0]), b = step(index.args[1]);
      if (a && b)
        place = Size::make(index.op == Op::add ? Size::Op::add : Size::Op::subtract, {*a, *b});
    }
    if (!place)
      return std::nullopt;
    out.args.push_back(*place);
  }
  return out;
}

// Do the windows of the output differ in two steps of `g` that follow each other just where the entry does?
bool Conditions::picks(const Size &entry, GridId g, VarId output) const {
  Symbols symbols(kernel_);
  const Polynomial picked = symbols.polynomial(entry);
  const uint64_t bit = uint64_t{1} << g, inner = ~(bit | (bit - 1));
  int moving = 0;
  for (const Dim &dim : context_.var(output).dims) {
    if (dim.whole)
      continue;
    const Polynomial start = symbols.polynomial(dim.start);
    const uint64_t steps = symbols.steps_of(start);
    if ((steps & inner & context_.all_steps()) != 0)
      return false;
    if ((steps & bit) == 0)
      continue;
    const auto split = picked.terms.size() == 1 && picked.terms.begin()->first.size() == 1
                           ? Symbols::linear(start, picked.terms.begin()->first[0])
                           : std::nullopt;
    if (!split || (symbols.steps_of(split->first) & bit) != 0 || (symbols.steps_of(split->second) & bit) != 0 ||
        !symbols.nonnegative(split->first - Polynomial::constant(1)))
      return false;
    ++moving;
  }
  return moving == 1;
}

std::optional<Conditions::Change> Conditions::change_of(const Expr &expr) const {
  if (expr.op != Op::eq && expr.op != Op::ne)
    return std::nullopt;
  const auto a = entry(expr.args[0]), b = entry(expr.args[1]);
  if (!a || !b || a->name != b->name)
    return std::nullopt;
  Symbols symbols(kernel_);
  for (size_t g = 0; g < kernel_.grid.size(); ++g)
    for (const int by : {-1, 1})
      for (const auto &[here, there] : {std::pair(*a, *b), std::pair(*b, *a)}) {
        const std::string &name = kernel_.grid[g].name;
        if (!mentions(here, Size::Op::grid, name) ||
            !(symbols.polynomial(moved(here, name, by)) - symbols.polynomial(there)).is_zero())
          continue;
        Change change{static_cast<GridId>(g), by > 0, expr.op == Op::ne, {}};
        for (size_t v = 0; v < kernel_.vars.size(); ++v)
          if (context_.is_output(static_cast<VarId>(v)) && picks(here, change.grid, static_cast<VarId>(v)))
            change.outputs.push_back(static_cast<VarId>(v));
        if (!change.outputs.empty())
          return change;
      }
  return std::nullopt;
}

void Conditions::note_changes() {
  visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
    for (ExprId root : expressions_of(stmt))
      visit_expressions(kernel_, root, [&](const Expr &expr, ExprId id) {
        if (changes_.count(id) == 0)
          if (auto change = change_of(expr))
            changes_.emplace(id, std::move(*change));
      });
  });
}

// By where they lie, whatever the arrays are: what is whole stays.
void Conditions::note_windows_alike() {
  const auto places = [&](VarId output) {
    std::vector<std::pair<Size, Size>> out;
    for (const Dim &dim : context_.var(output).dims)
      if (!dim.whole)
        out.emplace_back(dim.start, dim.block);
    return out;
  };
  for (VarId a = 0; a < static_cast<VarId>(kernel_.vars.size()); ++a)
    for (VarId b = 0; b < a; ++b)
      if (context_.is_output(a) && context_.is_output(b) && places(a) == places(b))
        alike_.emplace_back(a, b);
}

// All that tells two conditions apart: numbers by their bits, for texts of small ones are alike.
std::string Conditions::text(ExprId id) const {
  const Expr &expr = kernel_.expr(bare(id));
  std::string out;
  for (const int64_t part :
       {static_cast<int64_t>(expr.op), static_cast<int64_t>(expr.type), static_cast<int64_t>(expr.element),
        int64_t{expr.ref}, int64_t{expr.axis}, expr.integer, std::bit_cast<int64_t>(expr.number)})
    out += std::to_string(part) + ".";
  out += "(";
  for (ExprId arg : expr.args)
    out += text(arg) + ",";
  return out + ")";
}

// The leaves of a condition: what is neither a question about steps nor made of other conditions.
void Conditions::note_condition(ExprId id, std::map<std::string, int> &times) {
  id = bare(id);
  const Expr &expr = kernel_.expr(id);
  if (question_of(expr) || changes_.count(id) > 0 || expr.op == Op::constant)
    return;
  if (expr.op == Op::logical_not || expr.op == Op::both || expr.op == Op::either ||
      (expr.op == Op::cast && expr.type == Type::boolean)) {
    for (ExprId arg : expr.args)
      note_condition(arg, times);
    return;
  }
  if (!expr.axes.empty() || !same_in_step(id))
    return;
  // `a != b` is not `a == b`; and of whole numbers `a >= b` is not `a < b`, `a > b` is `b < a`.
  const bool whole = expr.args.size() == 2 && is_integer(kernel_.expr(expr.args[0]).type);
  const bool ordered = expr.op == Op::lt || expr.op == Op::gt || expr.op == Op::le || expr.op == Op::ge;
  std::pair<std::string, bool> key = {text(id), false};
  if (expr.op == Op::eq || expr.op == Op::ne)
    key = {"==" + text(expr.args[0]) + text(expr.args[1]), expr.op == Op::ne};
  else if (whole && ordered) {
    const bool turned = expr.op == Op::gt || expr.op == Op::le;
    key = {"<" + text(expr.args[turned ? 1 : 0]) + text(expr.args[turned ? 0 : 1]),
           expr.op == Op::le || expr.op == Op::ge};
  }
  ++times[key.first];
  others_[id] = std::move(key);
}

void Conditions::note_conditions() {
  std::map<std::string, int> times;
  visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind == Stmt::Kind::branch || (stmt.kind == Stmt::Kind::loop && stmt.value != kNone))
      note_condition(stmt.value, times);
    for (ExprId root : expressions_of(stmt))
      visit_expressions(kernel_, root, [&](const Expr &expr, ExprId) {
        if (expr.op == Op::choose)
          note_condition(expr.args[0], times);
      });
  });
  choose_questions(times);
}

void Conditions::choose_questions(const std::map<std::string, int> &times) {
  std::set<Question> asked, free;
  visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
    for (ExprId id : expressions_of(stmt))
      visit_expressions(kernel_, id, [&](const Expr &expr, ExprId) {
        if (const auto question = question_of(expr))
          asked.insert(*question);
      });
  });
  for (const auto &[id, change] : changes_) {
    asked.insert({change.behind ? Op::last : Op::first, change.grid, ""});
    for (VarId output : change.outputs)
      asked.insert({change.behind ? Op::window_last : Op::window_first, output, ""});
  }
  // The window of an output begins where all dimensions along which it stays do, if steps tell windows apart.
  for (const Question &question : asked) {
    if (question.op == Op::first || question.op == Op::last) {
      free.insert(question);
      continue;
    }
    const Op op = question.op == Op::window_first ? Op::first : Op::last;
    for (GridId g : list_of(constant_steps(context_, question.ref)))
      free.insert({op, g, ""});
    if (!regular(question.ref))
      free.insert(question);
  }
  free_.assign(free.begin(), free.end());
  if (free_.size() > kMostQuestions)
    free_.resize(kMostQuestions);
  for (const auto &[text, count] : times)
    if (count > 1 && free_.size() < kMostWithOthers)
      free_.push_back({Op::constant, kNone, text});
}

// ---- scenarios ------------------------------------------------------------------------------------------------------

std::vector<Scenario> Conditions::scenarios() const {
  std::vector<Scenario> out;
  for (uint64_t bits = 0; bits < uint64_t{1} << free_.size(); ++bits)
    if (auto scenario = make(bits))
      out.push_back(std::move(*scenario));
  return out;
}

// Are the steps along which the window moves told apart by it?
bool Conditions::regular(VarId var) const {
  const auto &moves = context_.facts.operands[var].moves_with;
  const uint64_t known = determined_steps(context_, var, false).steps;
  return std::all_of(moves.begin(), moves.end(), [&](GridId g) { return (known >> g & 1) != 0; });
}

std::optional<Scenario> Conditions::make(uint64_t bits) const {
  Scenario s;
  s.first.assign(kernel_.grid.size(), Truth::unknown);
  s.window_first.assign(kernel_.vars.size(), Truth::unknown);
  s.last = s.first;
  s.window_last = s.window_first;
  for (size_t i = 0; i < free_.size(); ++i) {
    const Truth t = truth_of((bits >> i & 1) != 0);
    if (free_[i].op == Op::first)
      s.first[free_[i].ref] = t;
    else if (free_[i].op == Op::last)
      s.last[free_[i].ref] = t;
    else if (free_[i].op == Op::constant)
      s.others[free_[i].text] = t;
    else
      (free_[i].op == Op::window_first ? s.window_first : s.window_last)[free_[i].ref] = t;
  }
  for (size_t g = 0; g < kernel_.grid.size(); ++g)
    if (context_.single(static_cast<GridId>(g))) {
      if (s.first[g] == Truth::no || s.last[g] == Truth::no)
        return std::nullopt;
      s.first[g] = s.last[g] = Truth::yes;
    }
  for (size_t v = 0; v < kernel_.vars.size(); ++v)
    if (context_.is_output(static_cast<VarId>(v)) && (!window(static_cast<VarId>(v), s.first, s.window_first[v]) ||
                                                      !window(static_cast<VarId>(v), s.last, s.window_last[v])))
      return std::nullopt;
  for (const auto &[a, b] : alike_)
    if (!agree(s.window_first[a], s.window_first[b]) || !agree(s.window_last[a], s.window_last[b]))
      return std::nullopt;
  return s;
}

bool Conditions::window(VarId v, const std::vector<Truth> &steps, Truth &result) const {
  Truth all = Truth::yes;
  for (GridId g : list_of(constant_steps(context_, v)))
    all = all == Truth::no || steps[g] == Truth::no ? Truth::no : steps[g] == Truth::unknown ? Truth::unknown : all;
  if (result == Truth::unknown) {
    if (all == Truth::no || regular(v))
      result = all;
    return true;
  }
  return !(result == Truth::yes && all == Truth::no);
}

// ---- answers --------------------------------------------------------------------------------------------------------

Truth Conditions::answer(const Scenario &scenario, const Question &question) const {
  switch (question.op) {
  case Op::first:
    return scenario.first[question.ref];
  case Op::last:
    return scenario.last[question.ref];
  case Op::window_first:
    return scenario.window_first[question.ref];
  default:
    return scenario.window_last[question.ref];
  }
}

// Within a dimension, where the step before is one of the same dimension: an output begins a window where the entry
// that picks it is another one.
Truth Conditions::change(const Scenario &scenario, const Change &change) const {
  const auto &edges = change.behind ? scenario.last : scenario.first;
  const auto &windows = change.behind ? scenario.window_last : scenario.window_first;
  if (edges[change.grid] != Truth::no)
    return Truth::unknown;
  for (VarId output : change.outputs) {
    Truth inner = Truth::yes;
    for (GridId g : list_of(constant_steps(context_, output)))
      if (g > change.grid && edges[g] != Truth::yes)
        inner = Truth::unknown;
    if (windows[output] == Truth::yes || (windows[output] == Truth::no && inner == Truth::yes))
      return change.differs ? windows[output] : negate(windows[output]);
  }
  return Truth::unknown;
}

Truth Conditions::other(const Scenario &scenario, ExprId id) const {
  const auto known = others_.find(id);
  const auto answer = known == others_.end() ? scenario.others.end() : scenario.others.find(known->second.first);
  if (answer == scenario.others.end())
    return Truth::unknown;
  return known->second.second ? negate(answer->second) : answer->second;
}

std::optional<int64_t> Conditions::integer(const Scenario &scenario, const Numbers &known, ExprId id) const {
  const Expr &expr = kernel_.expr(id);
  if (expr.op == Op::constant && !is_floating(expr.type))
    return expr.integer;
  if (expr.op == Op::read && expr.coords.empty())
    if (const auto number = known.find(expr.ref); number != known.end())
      return number->second;
  if (const ExprId named = bare(id); expr.op == Op::read && named != id)
    return integer(scenario, known, named);
  if (expr.op == Op::choose)
    if (const Truth t = truth(scenario, known, expr.args[0]); t != Truth::unknown)
      return integer(scenario, known, expr.args[t == Truth::yes ? 1 : 2]);
  if (expr.type == Type::boolean && expr.op != Op::choose) {
    const Truth t = truth(scenario, known, id);
    return t == Truth::unknown ? std::nullopt : std::optional<int64_t>(t == Truth::yes ? 1 : 0);
  }
  const Type from = expr.op == Op::cast ? kernel_.expr(expr.args[0]).type : expr.type;
  if (expr.op != Op::cast || is_floating(expr.type) || is_floating(from))
    return std::nullopt;
  const auto number = integer(scenario, known, expr.args[0]);
  return number ? std::optional(convert(integer_value(*number), from, expr.type).integer) : std::nullopt;
}

Truth Conditions::comparison(const Scenario &scenario, const Numbers &known, const Expr &expr) const {
  const auto a = integer(scenario, known, expr.args[0]), b = integer(scenario, known, expr.args[1]);
  if (!a || !b)
    return Truth::unknown;
  switch (expr.op) {
  case Op::lt:
    return truth_of(*a < *b);
  case Op::le:
    return truth_of(*a <= *b);
  case Op::gt:
    return truth_of(*a > *b);
  case Op::ge:
    return truth_of(*a >= *b);
  case Op::eq:
    return truth_of(*a == *b);
  default:
    return truth_of(*a != *b);
  }
}

Truth Conditions::truth(const Scenario &scenario, const Numbers &known, ExprId id) const {
  const Expr &expr = kernel_.expr(id);
  if (const auto question = question_of(expr))
    return expr.op == Op::ne ? negate(answer(scenario, *question)) : answer(scenario, *question);
  if (const auto found = changes_.find(id); found != changes_.end())
    return change(scenario, found->second);
  switch (expr.op) {
  case Op::constant:
    return truth_of(is_floating(expr.type) ? expr.number != 0 : expr.integer != 0);
  case Op::cast:
    return expr.type == Type::boolean || bytes_of(expr.type) >= bytes_of(kernel_.expr(expr.args[0]).type)
               ? truth(scenario, known, expr.args[0])
               : Truth::unknown;
  case Op::logical_not:
    return negate(truth(scenario, known, expr.args[0]));
  case Op::read: {
    if (const auto number = known.find(expr.ref); number != known.end() && expr.coords.empty())
      return truth_of(number->second != 0);
    const ExprId named = bare(id);
    return named != id ? truth(scenario, known, named) : Truth::unknown;
  }
  case Op::both:
  case Op::either: {
    const Truth decisive = expr.op == Op::both ? Truth::no : Truth::yes;
    const Truth a = truth(scenario, known, expr.args[0]), b = truth(scenario, known, expr.args[1]);
    return a == decisive || b == decisive ? decisive : a == Truth::unknown || b == Truth::unknown ? Truth::unknown : a;
  }
  default:
    if (const Truth t = is_comparison(expr.op) ? comparison(scenario, known, expr) : Truth::unknown;
        t != Truth::unknown)
      return t;
    return other(scenario, id);
  }
}

} // namespace kgen::analysis
