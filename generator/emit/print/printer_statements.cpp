// The statements of one thread: loops, assignments, folds and scans; each variable is declared where its scope begins.
#include <algorithm>

#include "emit/interface/interface.h"
#include "emit/openmp/lanes/lane_printer.h"
#include "emit/print/pass_words.h"
#include "emit/print/printer.h"
#include "emit/target_file.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"
#include "plan/index/width.h"
#include "support/check.h"

namespace kgen {

Printer::Range Printer::range(const PlanNode &loop) {
  if (const auto part = parts_.find(loop.axis); part != parts_.end())
    return part->second;
  const Axis &a = kernel.axes[loop.axis];
  const LoopBounds bounds = bounds_of(kernel, loop);
  if (!bounds.to_row)
    return {at_least(size(bounds.begin), binding::kAdd), at_least(size(bounds.end), binding::kAdd)};
  const Size length = written(row_length(loop.axis, axis_names_[a.over]).text);
  return {size_text(bounds.begin),
          a.grid == kNone ? length.name : size_text(Size::make(Size::Op::min, {bounds.end, length}))};
}

bool Printer::starts_here(VarId var, const std::vector<PlanNode> &siblings) {
  if (kind_of(var) != Storage::Kind::scalar || declared_[var])
    return false;
  const std::vector<PlanNode> *list = scopes.of(var).list;
  if (list != nullptr)
    return list == &siblings;
  // Shared by phases: declared where the first of them has it.
  return std::any_of(plan.phases.begin(), plan.phases.end(), [&](const Phase &p) { return &p.nodes == &siblings; });
}

// Arrays along axes have room for whole vectors: compilers see vectors reach beyond the end where they never do.
std::string Printer::array_elements(VarId var) {
  const std::vector<AxisId> &dims = plan.storage[var].dims;
  const std::string exact = buffer_elements(var);
  if (lanes == nullptr || !lanes->type_of(var).empty() || dims.empty() || !kernel.vars[var].array.empty() ||
      plan.storage[var].in_parts != kNone)
    return exact;
  int64_t bytes = bytes_of(kernel.vars[var].type);
  const int64_t each = bytes;
  for (AxisId axis : dims)
    bytes *= room_of(axis).value;
  constexpr int64_t kWidest = 64;
  return std::to_string((bytes + kWidest - 1) / kWidest * kWidest / each);
}

void Printer::declare_before(const std::vector<PlanNode> &nodes, size_t index) {
  std::vector<VarId> vars;
  for (const Access &a : accesses_of(kernel, nodes[index]))
    vars.push_back(a.var);
  for (VarId var : vars) {
    const Storage::Kind kind = plan.storage[var].kind;
    if (declared_[var] || (kind != Storage::Kind::scalar && kind != Storage::Kind::array))
      continue;
    if (kind == Storage::Kind::scalar ? !starts_here(var, nodes) : scopes.of(var).list != &nodes)
      continue;
    const PlanNode &node = nodes[index];
    const bool sets = (node.kind == PlanNode::Kind::assign || node.kind == PlanNode::Kind::fold_init ||
                       node.kind == PlanNode::Kind::scan_init || node.kind == PlanNode::Kind::scan_step) &&
                      (node.target == var || node.partner == var) && node.indices.empty() &&
                      kind == Storage::Kind::scalar;
    if (sets && !(node.kind == PlanNode::Kind::scan_step && node.target == var))
      continue;
    declared_[var] = true;
    if (kind == Storage::Kind::scalar) {
      lines.add(storage_type(var) + " " + var_names_[var] + " = " +
                spelling.constant(type_row(kernel.vars[var].type).arithmetic, 0, 0) + ";");
    } else {
      const bool in_parts =
          plan.storage[var].in_parts != kNone; // more than many parts have: statements set what these need
      lines.add((in_parts ? "alignas(64) " : "") + storage_type(var) + " " + var_names_[var] + "[" +
                array_elements(var) + "]" + (in_parts ? ";" : " = {};"));
    }
    if (lanes != nullptr)
      lanes->came_to_life(var);
  }
}

void Printer::list(const std::vector<PlanNode> &nodes) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool comes = nodes[i].kind == PlanNode::Kind::declare && !declared_[nodes[i].target];
    declare_before(nodes, i);
    const bool zeroed = comes && declared_[nodes[i].target]; // as it was declared
    if (!zeroed)
      node(nodes[i], nodes);
  }
}

std::string Printer::captured(const std::function<void()> &print) {
  Lines inner;
  std::swap(inner, lines);
  print();
  std::swap(inner, lines);
  return inner.text();
}

void Printer::node(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  if (lanes != nullptr && lanes->node(n, siblings))
    return;
  switch (n.kind) {
  case PlanNode::Kind::loop:
    return loop(n);
  case PlanNode::Kind::steps:
    return steps(n);
  case PlanNode::Kind::assign:
    return assign(n, siblings);
  case PlanNode::Kind::fold_init:
    set(n.target, spelling.identity(n.monoid, kernel.vars[n.target].type), siblings);
    if (n.partner != kNone)
      start(n.partner, siblings);
    return;
  case PlanNode::Kind::fold_step:
    return fold_step(n);
  case PlanNode::Kind::scan_init:
    return set(n.target, spelling.identity(monoid_of(n.scan), kernel.vars[n.target].type), siblings);
  case PlanNode::Kind::scan_step:
    return scan_step(n, siblings);
  case PlanNode::Kind::declare: {
    if (plan.storage[n.target].kind == Storage::Kind::array && plan.storage[n.target].dims.empty() &&
        assignments_[n.target] >= 0) {
      lines.add("for (auto& element : " + var_names_[n.target] + ") element = {};");
      return;
    }
    std::string count = "1";
    for (int64_t extent : kernel.vars[n.target].array)
      count += " * " + std::to_string(extent);
    std::string slot = "slot";
    if (!plan.storage[n.target].dims.empty()) { // one array a point
      const std::string first = element(n.target, {}, {});
      const size_t bracket = first.find('[');
      slot = "(" + first.substr(bracket + 1, first.size() - bracket - 2) + ") * (" + count + ") + slot";
    }
    lines.add("for (int slot = 0; slot < " + count + "; ++slot) " + var_names_[n.target] + "[" + slot + "] = {};");
    return;
  }
  case PlanNode::Kind::branch:
    lines.append(merge_words(plan, n));
    lines.add("if (" + Spelling::condition(expression(n.condition).text) + ") {");
    list(n.body);
    if (!n.otherwise.empty()) {
      lines.add("} else {");
      list(n.otherwise);
    }
    lines.add("}");
    return;
  case PlanNode::Kind::repeat:
    return repeat(n, siblings);
  case PlanNode::Kind::leave:
    lines.add("break;");
    return;
  case PlanNode::Kind::next:
    lines.add("continue;");
    return;
  }
}

// Assigns a variable, which lives in a C++ variable or in a buffer.
void Printer::start(VarId var, const std::vector<PlanNode> &siblings) {
  set(var, spelling.constant(kernel.vars[var].type, 0, 0), siblings);
}

void Printer::set(VarId var, const std::string &value, const std::vector<PlanNode> &siblings) {
  if (starts_here(var, siblings)) {
    declared_[var] = true;
    lines.add((assignments_[var] == 1 ? "const " : "") + storage_type(var) + " " + var_names_[var] + " = " + value +
              ";");
    return;
  }
  lines.add(element(var, {}, {}) + " = " + value + ";");
}

// `v = v + e` reads better as `v += e`. Empty: it is another statement.
std::string Printer::updating(const PlanNode &n) const {
  const Expr &value = kernel.expr(n.value);
  const bool is_update = (value.op == Op::add || value.op == Op::mul || value.op == Op::sub) &&
                         is_floating(value.type) && kernel.vars[n.target].type == value.type &&
                         reads_only(value.args[0], n.target);
  return !is_update ? "" : value.op == Op::add ? " += " : value.op == Op::sub ? " -= " : " *= ";
}

void Printer::assign(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const Var &var = kernel.vars[n.target];
  const Expr &value = kernel.expr(n.value);
  const Storage::Kind kind = plan.storage[n.target].kind;
  if (kind == Storage::Kind::argument || !n.indices.empty() || !n.coords.empty())
    return store(n);
  if (const std::string symbol = updating(n); !symbol.empty() && !starts_here(n.target, siblings)) {
    lines.add(element(n.target, {}, {}) + symbol + expression(value.args[1]).text + ";");
    return;
  }
  const std::optional<Code> bits = kind == Storage::Kind::scalar ? std::nullopt : unconverted(n.value, var.type);
  std::string text = bits ? bits->text : spelling.stored(expression(n.value), value.type, var.type);
  if (kind == Storage::Kind::scalar && is_half(var.type))
    text = spelling.loaded(text, var.type).text; // keeps the rounding
  set(n.target, text, siblings);
}

// What stands at the place and what is added to it: small integers as C adds them.
std::string Printer::sum_text(const std::string &place, const PlanNode &n) {
  const Type stored = kernel.vars[n.target].type, value = kernel.expr(n.value).type;
  const Type type = is_integer(value) && bytes_of(value) < bytes_of(Type::i32) ? Type::i32 : value;
  const Code sum = spelling.operation(Op::add, type, {spelling.loaded(place, stored), expression(n.value)}, true);
  return spelling.stored(sum, type, stored);
}

void Printer::store(const PlanNode &n) {
  const Var &var = kernel.vars[n.target];
  const Expr &value = kernel.expr(n.value);
  std::vector<std::pair<std::string, std::string>> checks;
  if (plan.storage[n.target].kind == Storage::Kind::argument) {
    index_text(n.target, n.coords, &checks);
  } else {
    checks = buffer_checks(n.target, n.coords);
  }
  for (const auto &check : array_checks(n.target, n.indices))
    checks.push_back(check);
  const std::string place = element(n.target, n.coords, n.indices);
  const std::optional<Code> bits = n.scatter_add ? std::nullopt : unconverted(n.value, var.type);
  const std::string text = bits ? bits->text : spelling.stored(expression(n.value), value.type, var.type);
  std::string statement = place + " = " + text + ";";
  if (n.scatter_add) {
    const bool atomic = parallel && !n.apart;
    if (atomic && is_half(var.type))
      statement = spelling.helper(var.type == Type::bf16 ? "atomic_add_bf16" : "atomic_add_f16") + "(&" + place + ", " +
                  spelling.cast(expression(n.value), value.type, Type::f32).text + ");";
    else if (atomic)
      statement = spelling.helper("atomic_add") + "(&" + place + ", " + text + ");";
    else
      statement = place + " = " + sum_text(place, n) + ";";
  }
  lines.add(where_inside(checks, statement));
}

void Printer::fold_step(const PlanNode &n) {
  const Var &var = kernel.vars[n.target];
  Code condition{takes_part};
  if (n.condition != kNone)
    condition = takes_part.empty() ? expression(n.condition)
                                   : Code{takes_part + " && " + at_least(expression(n.condition), binding::kAnd)};
  if (!condition.text.empty())
    lines.add("if (" + Spelling::condition(condition.text) + ") {");
  const std::string place = element(n.target, {}, {});
  if (n.monoid == Monoid::argmax || n.monoid == Monoid::argmin) {
    const std::string best = element(n.partner, {}, {});
    const std::string value = expression(n.value).text;
    lines.add("if (" + place + " < 0 || " + spelling.helper(n.monoid == Monoid::argmax ? "above" : "below") + "(" +
              value + ", " + best + ")) {");
    lines.add(best + " = " + value + ";");
    lines.add(place + " = " + expression(n.second).text + ";");
    lines.add("}");
  } else if (fuses(n)) {
    const Expr &product = kernel.expr(n.value);
    lines.add(place + " = " + multiply_add({expression(product.args[0]), expression(product.args[1]), {place}}).text +
              ";");
  } else if (const std::string update = Spelling::update(n.monoid); is_floating(var.type) && !update.empty()) {
    lines.add(place + update + expression(n.value).text + ";");
  } else {
    lines.add(place + " = " + combined(n, place, expression(n.value)).text + ";");
  }
  if (!condition.text.empty())
    lines.add("}");
}

Code Printer::combined(const PlanNode &step, const std::string &total, const Code &value) {
  const Monoid monoid = step.kind == PlanNode::Kind::scan_step ? monoid_of(step.scan) : step.monoid;
  return spelling.combine(monoid, kernel.vars[step.target].type, total, value, total_may_wrap(kernel, step));
}

void Printer::scan_step(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const Type type = kernel.vars[n.target].type;
  const std::string carry = element(n.target, {}, {});
  std::string next;
  if (fuses(n)) {
    next = multiply_add({expression(n.value), {carry}, expression(n.second)}).text;
  } else if (n.scan == ScanKind::linear) {
    next =
        spelling
            .operation(Op::add, type,
                       {spelling.operation(Op::mul, type, {expression(n.value), {carry}}, true), expression(n.second)},
                       true)
            .text;
  } else {
    next = combined(n, carry, expression(n.value)).text;
  }
  const bool wanted = n.partner != kNone; // or only the total
  if (wanted && n.exclusive)
    set(n.partner, carry, siblings);
  lines.add(carry + " = " + next + ";");
  if (wanted && !n.exclusive)
    set(n.partner, carry, siblings);
}

void Printer::repeat(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const std::string condition = n.condition == kNone ? "" : expression(n.condition).text;
  if (n.step.empty()) {
    lines.add("while (" + (condition.empty() ? "true" : Spelling::condition(condition)) + ") {");
  } else if (sets_one_number(n.step)) {
    const std::string start = counter_of(n, siblings);
    const std::string counts = counting(n);
    const std::string step = counts.empty() ? captured([&] { node(n.step.front(), n.step); }) : counts;
    lines.add("for (" + start + "; " + condition + "; " + step.substr(0, step.find(';')) + ") {");
  } else { // `continue` must still take the steps: they come first in every round but the first
    lines.add("for (bool again = false;; again = true) {");
    lines.add("if (again) {");
    list(n.step);
    lines.add("}");
    if (!condition.empty())
      lines.add("if (!(" + condition + ")) break;");
  }
  list(n.body);
  lines.add("}");
}

bool Printer::sets_one_number(const std::vector<PlanNode> &nodes) {
  return nodes.size() == 1 && nodes[0].kind == PlanNode::Kind::assign && nodes[0].indices.empty() &&
         plan.storage[nodes[0].target].kind == Storage::Kind::scalar && !starts_here(nodes[0].target, nodes);
}

// `++i`, `i -= 2`: the step of a loop, where that does not overflow. Empty: it is another one, or might.
std::string Printer::counting(const PlanNode &loop) const {
  const VarId counter = loop.step.front().target;
  const Expr &next = kernel.expr(loop.step.front().value);
  if ((next.op != Op::add && next.op != Op::sub) || next.type != kernel.vars[counter].type ||
      !reads_only(next.args[0], counter) || (lanes != nullptr && !lanes->type_of(counter).empty()))
    return "";
  const Expr &by = kernel.expr(next.args[1]);
  if (by.op != Op::constant || !is_integer(by.type) || by.integer < 1)
    return "";
  if (!is_bounded(next) && !(next.op == Op::add && by.integer == 1 && counts_below(loop)))
    return "";
  const std::string &name = var_names_[counter], symbol = next.op == Op::add ? "+" : "-";
  return by.integer == 1 ? symbol + symbol + name : name + " " + symbol + "= " + std::to_string(by.integer);
}

bool Printer::reads_only(ExprId id, VarId var) const {
  const Expr &e = kernel.expr(id);
  return e.op == Op::read && e.ref == var && e.coords.empty();
}

// Does it go on only as long as what it counts is below another number of its type?
bool Printer::counts_below(const PlanNode &loop) const {
  const VarId counter = loop.step.front().target;
  const std::function<bool(ExprId)> is_below = [&](ExprId id) {
    const Expr &e = kernel.expr(id);
    return e.op == Op::both ? is_below(e.args[0]) || is_below(e.args[1])
                            : e.op == Op::lt && reads_only(e.args[0], counter);
  };
  bool changes = false;
  for (const PlanNode &child : loop.body)
    for_each_node(child, [&](const PlanNode &n) { changes = changes || n.target == counter; });
  return !changes && loop.condition != kNone && is_below(loop.condition);
}

// Takes the declaration of what the loop counts back, if that was the last line and the loop has it for itself.
std::string Printer::counter_of(const PlanNode &loop, const std::vector<PlanNode> &siblings) {
  const VarId counter = loop.step.front().target;
  const bool own =
      scopes.of(counter).list == &siblings && std::all_of(siblings.begin(), siblings.end(), [&](const PlanNode &n) {
        if (&n <= &loop)
          return true;
        const std::vector<Access> accesses = accesses_of(kernel, n);
        return std::none_of(accesses.begin(), accesses.end(), [&](const Access &a) { return a.var == counter; });
      });
  const std::string last = lines.last();
  if (!own || last.rfind(storage_type(counter) + " " + var_names_[counter] + " = ", 0) != 0)
    return "";
  lines.drop_last();
  return last.substr(0, last.size() - 1);
}

std::string Printer::between(const Phase *before, const Phase *after) {
  const ExprId old = before == nullptr ? kNone : before->when, now = after == nullptr ? kNone : after->when;
  if (old == now && (now == kNone || before->unless == after->unless))
    return "";
  if (old == now && after->unless)
    return "} else {\n" + regime_words(plan, *after);
  std::string text = old == kNone ? "" : "}\n";
  if (now != kNone) {
    const Code condition = expression(now);
    text += "if (" + (after->unless ? "!" + at_least(condition, binding::kUnary) : condition.text) + ") {\n" +
            regime_words(plan, *after);
  }
  return text;
}

// Where the share begins, and where the next one does.
Printer::Range Printer::share_range(const PlanNode &loop) {
  const std::string &share = axis_names_[loop.share],
                    count = at_least(size(kernel.axes[loop.share].block), binding::kUnary);
  const Axis &axis = kernel.axes[loop.axis];
  const Code whole = axis.ragged != kNone ? row_length(loop.axis, axis_names_[axis.over]) : size(axis.size);
  const bool fits = index_type == "int64_t"; // the product of a share and a length
  if (loop.share_step == 1 && fits) {
    const std::string rest = " * " + at_least(whole, binding::kUnary) + " / " + count;
    return {share + rest, "(" + share + " + 1)" + rest};
  }
  const std::string &begin = spelling.helper("share_begin"),
                    others = ", " + count + ", " + whole.text + ", " + std::to_string(loop.share_step) + ")";
  return {begin + "(" + share + others, begin + "(" + share + " + 1" + others};
}

// That of a share has names, which are declared here, and so has an end of the loop's own.
Printer::Range Printer::declared_range(const PlanNode &loop) {
  const std::string &axis = axis_names_[loop.axis];
  Range own;
  if (loop.share == kNone || parts_.count(loop.axis) != 0) {
    own = range(loop);
  } else {
    own = {names_.claim_one_of(axis, {"_begin", "_share_begin"}), names_.claim_one_of(axis, {"_end", "_share_end"})};
    const Range formulas = share_range(loop);
    lines.add("const int64_t " + own.begin + " = " + formulas.begin + ", " + own.end + " = " + formulas.end + ";");
  }
  if (loop.table != kNone)
    own = segment(loop, own);
  if (loop.end != kNone) {
    // No earlier than the loop begins, whatever number it is: so nobody who counts back from it leaves 64 bits.
    const std::string end = names_.claim_one_of(axis, {"_end", "_limit", "_bound"});
    lines.add("const int64_t " + end + " = " + spelling.helper("larger") + "<int64_t>(" + own.begin + ", " +
              spelling.helper("smaller") + "(" + own.end + ", " + expression(loop.end).text + "));");
    own.end = end;
  }
  if (loop.along != kNone && walked_rows_.row.empty())
    own.end += " * " + at_once_;
  return own;
}

// Where the entries of its table begin that the loop goes over, and where they end.
Printer::Range Printer::segment(const PlanNode &loop, const Range &within) {
  const std::string &axis = axis_names_[loop.axis];
  const std::string table = c_name(kernel.tables[loop.table].name), entry = expression(loop.entry).text;
  const Range out = {names_.claim_one_of(axis, {"_begin", "_segment_begin"}),
                     names_.claim_one_of(axis, {"_end", "_segment_end"})};
  lines.add("const int64_t " + out.begin + " = " + spelling.helper("entries_from") + "(" + table + ", " + within.begin +
            ", " + within.end + ", " + entry + ");");
  lines.add("const int64_t " + out.end + " = " + spelling.helper("entries_after") + "(" + table + ", " + out.begin +
            ", " + within.end + ", " + entry + ");");
  return out;
}

std::string Printer::part_length(int64_t most, const std::optional<Size> &kept) {
  const std::string text = std::to_string(most);
  return kept ? spelling.helper("columns_of") + "(" + size_text(*kept) + ", " + text + ")" : text;
}

Printer::Range Printer::open_part(const PlanNode &n, std::string length) {
  if (length.empty() && n.kept) {
    length = names_.claim_one_of(axis_names_[n.axis], {"_part", "_part_length"});
    lines.add("const int64_t " + length + " = " + part_length(n.parts, n.kept) + ";");
  } else if (length.empty()) {
    length = std::to_string(n.parts);
  }
  const Range whole = declared_range(n), part = open_parts(n, whole, length);
  const std::string end = names_.claim_one_of(axis_names_[n.axis], {"_end", "_part_end"});
  lines.add("const int64_t " + end + " = " + part.end + ";");
  set_part(n.axis, {part.begin, end, length});
  return whole;
}

Printer::Range Printer::open_parts(const PlanNode &n, const Range &r, const std::string &part,
                                   const std::string &from) {
  const std::string first = names_.claim_one_of(axis_names_[n.axis], {"_first", "_part_first"});
  return open_rounds(first, {from.empty() ? r.begin : from, r.end}, part);
}

Printer::Range Printer::open_rounds(const std::string &first, const Range &r, const std::string &length) {
  lines.add("for (int64_t " + first + " = " + r.begin + "; " + first + " < " + r.end + "; " + first + " += " + length +
            ") {");
  return {first, spelling.helper("smaller") + "(" + first + " + " + length + ", " + r.end + ")"};
}

const std::string &Printer::row_name(const std::string &axis, const std::string &suffix) {
  std::string &name = row_names_[axis + suffix];
  if (name.empty())
    name = names_.claim(axis, suffix);
  return name;
}

void Printer::inside_loops(const std::vector<const PlanNode *> &loops, const std::function<void()> &print) {
  struct Row {
    std::string variable, value;
  };
  std::vector<Row> rows;
  auto add = [&](const std::string &name, const std::string &value) {
    rows.push_back({name, value});
    named[value] = rows.back().variable;
  };
  for (AxisId id = 0; id < static_cast<AxisId>(kernel.axes.size()); ++id) {
    const Axis &axis = kernel.axes[id];
    const bool here = std::any_of(loops.begin(), loops.end(), [&](const PlanNode *loop) {
      return loop->kind == PlanNode::Kind::loop && axis.ragged != kNone && loop->axis == axis.over;
    });
    if (!here || spelling.target() != TargetKind::openmp)
      continue;
    add(row_name(axis_names_[id], "_start"), row_start(id, axis_names_[axis.over]));
    add(row_name(axis_names_[id], "_count"), row_length(id, axis_names_[axis.over]).text);
  }
  open_.insert(open_.end(), loops.begin(), loops.end());
  std::string text = captured(print);
  open_.resize(open_.size() - loops.size());
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    named.erase(row->value);
    if (mentions_word(text, row->variable))
      text = "const int64_t " + row->variable + " = " + row->value + ";\n" + text;
  }
  lines.append(text);
}

AxisId Printer::innermost_axis() const {
  return open_.empty() || open_.back()->kind != PlanNode::Kind::loop ? kNone : open_.back()->axis;
}

void Printer::loop(const PlanNode &n) {
  if (n.contraction)
    return contract(n);
  if (n.parts > 0) {
    if (n.at_once)
      declare_rows_at_once(n);
    const Range whole = open_part(n, n.at_once ? std::to_string(n.parts) + " * " + at_once_ : "");
    if (lanes != nullptr)
      lanes->ahead.inside(n, whole, innermost_axis());
    list(n.body);
    parts_.erase(n.axis);
    lines.add("}");
    return;
  }
  const Range r = declared_range(n);
  if (lanes != nullptr)
    lanes->ahead.before(n, r);
  lines.append(pass_words(*this, n));
  if (n.at_once)
    return rows_at_once(n, r);
  const std::string &v = axis_names_[n.axis];
  if (n.reversed)
    lines.add("for (" + index_type + " " + v + " = " +
              (index_type == "int64_t" ? r.end : index_type + "(" + r.end + ")") + "; " + v + "-- > " + r.begin +
              ";) {");
  else
    lines.add("for (" + index_type + " " + v + " = " +
              (index_type == "int64_t" || r.begin == "0" ? r.begin : index_type + "(" + r.begin + ")") + "; " + v +
              " < " + r.end + "; ++" + v + ") {");
  if (lanes != nullptr)
    lanes->ahead.inside(n, r, kNone);
  inside_loops({&n}, [&] { list(n.body); });
  lines.add("}");
}

std::string Printer::step_guard(Statuses &statuses, const std::string &leave) {
  std::string text;
  for (const Guard &guard : facts.guards) {
    spelling.helper("status_of");
    const StatusKind kind = guard.var == kNone ? StatusKind::table_outside : StatusKind::window;
    text += "if (!(" + size_text(guard.condition) + ")) {\n" + spelling.helper("note_status") + "(table_status, " +
            statuses.of(kind, guard.message, guard.argument) + ");\n" + leave + ";\n}\n";
  }
  return text;
}

void Printer::steps(const PlanNode &n) {
  const std::string &v = grid_names_[n.grid];
  declare_step_count(n.grid);
  lines.add("for (" + index_type + " " + v + " = 0; " + v + " < " + step_count_text(n.grid) + "; ++" + v + ") {");
  bool innermost = true;
  for (const PlanNode &child : n.body)
    for_each_node(child, [&](const PlanNode &inner) { innermost = innermost && inner.kind != PlanNode::Kind::steps; });
  if (guards != nullptr && innermost)
    lines.add(step_guard(*guards));
  list(n.body);
  lines.add("}");
}

} // namespace kgen
