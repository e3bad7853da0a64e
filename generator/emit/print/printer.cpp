#include "emit/print/printer.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "emit/interface/interface.h"
#include "emit/openmp/lanes/lane_printer.h"
#include "ir/evaluate.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"
#include "plan/index/width.h"
#include "plan/program/known.h"
#include "plan/tidy/products.h"
#include "support/check.h"

namespace kgen {

Printer::Printer(const Plan &p, const Facts &f, Spelling &s, Names &names)
    : spelling(s), plan(p), kernel(p.kernel), facts(f), scopes(p), names_(names) {
  // The caller's names are the interface; sizes, loop variables and locals step aside.
  var_names_.resize(kernel.vars.size());
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    const Var &var = kernel.vars[v];
    if (var.kind == Var::Kind::output)
      var_names_[v] = c_name(var.name);
    if (var.kind == Var::Kind::input)
      var_names_[v] = c_name(var.alias == kNone ? var.name : kernel.vars[var.alias].name);
  }
  std::set<VarId> used; // plans leave variables behind that nothing names
  for (const Phase &phase : plan.phases)
    for (const PlanNode &root : phase.nodes)
      for (const Access &access : accesses_of(kernel, root))
        used.insert(access.var);
  for (const bool memory : {false, true}) // what is kept in memory steps aside for the value at hand
    for (VarId var : used)
      if (var_names_[var].empty() && (plan.storage[var].kind != Storage::Kind::scalar) == memory)
        var_names_[var] = names.claim_one_of(kernel.vars[var].name, suffixes_of(var));
  for (const Axis &axis : kernel.axes)
    axis_names_.push_back(names.claim_one_of(loop_name(axis), {"", "_index"}));
  for (const GridDim &grid : kernel.grid)
    grid_names_.push_back(names.claim_one_of(grid.name, {"", "_step"}));
  assignments_.assign(kernel.vars.size(), 0);
  for (const Phase &phase : plan.phases)
    for (const PlanNode &root : phase.nodes)
      for_each_node(root, [&](const PlanNode &n) {
        for (VarId var : {n.target, n.partner})
          if (var != kNone)
            ++assignments_[var];
      });
}

// The memory that keeps a value of each row says so, where the value at hand has the name. What is computed a second
// time has the same name in the kernel.
std::vector<std::string> Printer::suffixes_of(VarId var) const {
  std::string each;
  if (plan.storage[var].kind == Storage::Kind::scalar)
    return {each, "_again"};
  for (AxisId axis : kernel.vars[var].axes.list())
    each += (each.empty() ? "_per_" : "_") + loop_name(kernel.axes[axis]);
  if (plan.storage[var].kind == Storage::Kind::worker)
    return {"", each, "_at_hand"};
  return {"", each};
}

const std::string &Printer::name_beside(VarId var, const std::string &suffix) {
  std::string &name = names_beside_[{var, suffix}];
  if (name.empty())
    name = names_.claim(var_names_[var], suffix);
  return name;
}

std::string Printer::size_name(AxisId axis) const {
  const Axis &a = kernel.axes[axis];
  return a.rest ? "rows" : c_name(a.name);
}

// As an operand of comparisons.
std::string Printer::steps_text(GridId grid) { return at_least(size(grid_steps(kernel, grid)), binding::kAdd); }

Size Printer::written(std::string text) {
  Size size;
  size.op = Size::Op::param;
  size.name = std::move(text);
  return size;
}

// Rows of different lengths: the grid's size is made of their total, but the steps end with the longest row.
bool Printer::counts_rows(GridId grid) const {
  const GridDim &dim = kernel.grid[grid];
  return dim.axis != kNone && kernel.axes[dim.axis].ragged != kNone && dim.semantics == Semantics::arbitrary;
}

Size Printer::step_count(GridId grid) const {
  if (!counts_rows(grid))
    return grid_steps(kernel, grid);
  return written(grid_names_[grid] + "_steps");
}

std::string Printer::step_count_text(GridId grid) { return at_least(size(step_count(grid)), binding::kAdd); }

void Printer::declare_step_count(GridId grid) {
  if (!counts_rows(grid))
    return;
  const Axis &axis = kernel.axes[kernel.grid[grid].axis];
  const Table &table = kernel.tables[axis.ragged];
  const std::string longest = spelling.helper("longest_row") + "(" + c_name(table.name) + ", " +
                              size_text(kernel.axes[axis.over].size) + ", " + size_text(axis.size) + ")";
  const Size steps = rewrite(grid_steps(kernel, grid), [&](const Size &size) -> std::optional<Size> {
    return size == axis.size ? std::optional<Size>(written(longest)) : std::nullopt;
  });
  lines.add("const int64_t " + step_count_text(grid) + " = " + size_text(steps) + ";");
}

// ---- sizes --------------------------------------------------------------------------------------------------------

Code Printer::size(const Size &s) {
  using O = Size::Op;
  auto arg = [&](size_t i) { return size(s.args[i]); };
  auto infix = [&](const char *symbol, int level) {
    return Code{at_least(arg(0), level) + " " + symbol + " " + at_least(arg(1), level + 1), level};
  };
  auto call = [&](const std::string &name) {
    std::string text = name + "(";
    for (size_t i = 0; i < s.args.size(); ++i)
      text += (i > 0 ? ", " : "") + arg(i).text;
    return Code{text + ")"};
  };
  switch (s.op) {
  case O::integer:
    return {spelling.constant(Type::i64, s.value, 0), s.value < 0 ? binding::kUnary : binding::kPrimary};
  case O::axis:
    return {c_name(s.name)};
  case O::param:
    return {s.name};
  case O::grid:
    for (size_t g = 0; g < kernel.grid.size(); ++g)
      if (kernel.grid[g].name == s.name)
        return {grid_names_[g]};
    KGEN_UNREACHABLE("grid name");
  case O::grid_size:
    for (size_t g = 0; g < kernel.grid.size(); ++g)
      if (kernel.grid[g].name == s.name)
        return size(grid_steps(kernel, static_cast<GridId>(g)));
    KGEN_UNREACHABLE("grid name");
  case O::table: {
    for (const Table &table : kernel.tables) {
      if (table.name != s.name)
        continue;
      std::vector<Code> at;
      for (size_t i = 0; i < s.args.size(); ++i)
        at.push_back(arg(i));
      return {"int64_t(" + table_entry(table, at, false).text + ")"};
    }
    KGEN_UNREACHABLE("table name");
  }
  case O::negate:
    return {"-" + at_least(arg(0), binding::kUnary), binding::kUnary};
  case O::add:
    return infix("+", binding::kAdd);
  case O::subtract:
    return infix("-", binding::kAdd);
  case O::multiply:
    return infix("*", binding::kMultiply);
  case O::divide:
    return call(spelling.helper("floor_div"));
  case O::modulo:
    return call(spelling.helper("floor_mod"));
  case O::less:
    return infix("<", binding::kLess);
  case O::less_equal:
    return infix("<=", binding::kLess);
  case O::greater:
    return infix(">", binding::kLess);
  case O::greater_equal:
    return infix(">=", binding::kLess);
  case O::equal:
    return infix("==", binding::kEqual);
  case O::not_equal:
    return infix("!=", binding::kEqual);
  case O::choose:
    return {at_least(arg(0), binding::kChoose + 1) + " ? " + arg(1).text + " : " + at_least(arg(2), binding::kChoose),
            binding::kChoose};
  case O::min:
    return call(spelling.helper("smaller"));
  case O::max:
    return call(spelling.helper("larger"));
  case O::cdiv:
    return call(spelling.helper("ceil_div"));
  }
  KGEN_UNREACHABLE("size");
}

std::string Printer::storage_type(VarId id) const {
  if (lanes != nullptr)
    if (const std::string type = lanes->type_of(id); !type.empty())
      return type;
  const Var &var = kernel.vars[id];
  const bool scalar = plan.storage[id].kind == Storage::Kind::scalar;
  return scalar ? Spelling::arithmetic(var.type) : Spelling::c_type(var.type);
}

// ---- expressions --------------------------------------------------------------------------------------------------

Code Printer::read(const Expr &e, ExprId) {
  const Var &var = kernel.vars[e.ref];
  const Storage::Kind kind = kind_of(e.ref);
  const bool as_bits = std::exchange(as_bits_, false); // coordinates are numbers
  if (kind == Storage::Kind::scalar)
    return {element(e.ref, {}, {})};
  std::vector<std::pair<std::string, std::string>> checks;
  std::string place;
  double outside = 0;
  if (kind == Storage::Kind::argument) {
    place = argument_element(e.ref, index_text(e.ref, e.coords, e.safe ? nullptr : &checks));
    outside = var.outside;
  } else {
    if (!e.safe)
      checks = buffer_checks(e.ref, e.coords);
    place = element(e.ref, e.coords, {});
  }
  const Code value = as_bits ? Code{place} : spelling.loaded(place, var.type);
  if (checks.empty())
    return value;
  const int64_t whole = is_floating(var.type) ? 0 : static_cast<int64_t>(outside);
  return {inside(checks).text + " ? " + value.text + " : " +
              (as_bits ? bits_of_half(outside, var.type) : spelling.typed_constant(e.type, whole, outside)),
          binding::kChoose};
}

bool Printer::is_moved(ExprId value, Type to) const {
  const Expr &e = kernel.expr(value);
  return e.op == Op::read && kernel.vars[e.ref].type == to && is_half(to) &&
         plan.storage[e.ref].kind != Storage::Kind::scalar;
}

std::optional<Code> Printer::unconverted(ExprId value, Type to) {
  if (!is_moved(value, to))
    return std::nullopt;
  as_bits_ = true;
  return read(kernel.expr(value), value);
}

std::string Printer::bits_of_half(double number, Type type) const {
  uint16_t bits = 0;
  unsigned char bytes[sizeof bits];
  store_value(bytes, type, number_value(round_to(number, type)));
  std::memcpy(&bits, bytes, sizeof bits);
  return spelling.typed_constant(Type::u16, bits, 0);
}

// Nothing has checked tables in device memory: their entries are kept within their range, so that no loop over them is
// endless.
Code Printer::table(const Expr &e) {
  std::vector<Code> at;
  for (ExprId arg : e.args)
    at.push_back(expression(arg));
  const Table &table = kernel.tables[e.ref];
  const Code entry = table_entry(table, at, e.safe);
  if (const auto it = named.find(entry.text); it != named.end() && table.type == Type::i64) // as what has the name
    return {it->second};
  if (spelling.target() != TargetKind::cuda || table.on_host || !table.range)
    return entry;
  return {spelling.helper("entry_within") + "(" + entry.text + ", " + size_text(*table.range) + ")"};
}

// 0 beyond the table's ends, along each dimension.
Code Printer::table_entry(const Table &table, const std::vector<Code> &at, bool safe) {
  const std::string name = c_name(table.name);
  if (at.size() == 1 && !safe)
    return {spelling.helper("table_at") + "(" + name + ", " + at[0].text + ", " + size_text(table.dims[0]) + ")"};
  Code index = at[0];
  std::vector<std::pair<std::string, std::string>> checks;
  for (size_t i = 0; i < at.size(); ++i) {
    const Code extent = size(table.dims[i]);
    if (i > 0)
      index = {at_least(index, binding::kMultiply) + " * " + at_least(extent, binding::kUnary) + " + " +
                   at_least(at[i], binding::kAdd),
               binding::kAdd};
    checks.push_back({at[i].text, extent.text});
  }
  const std::string entry = name + "[" + index.text + "]";
  if (safe)
    return {entry};
  return {inside(checks).text + " ? " + entry + " : " + spelling.typed_constant(table.type, 0, 0), binding::kChoose};
}

// Does the output's window change from the step before to this one (or to the next)? Steps follow the ordered
// dimensions.
Code Printer::window_edge(const Expr &e) {
  const Var &var = kernel.vars[e.ref];
  const bool forward = e.op == Op::window_last;
  std::vector<GridId> ordered;
  for (size_t g = 0; g < kernel.grid.size(); ++g)
    if (kernel.grid[g].semantics == Semantics::arbitrary)
      ordered.push_back(static_cast<GridId>(g));
  // The neighbour step: the innermost dimension that is not at its edge moves by one, those inside it wrap around.
  std::map<std::string, Size> neighbour;
  std::string at_edge;
  auto edge_of = [&](GridId g) {
    const Size here = Size::grid(kernel.grid[g].name);
    const Size steps = step_count(g);
    return forward ? Size::make(Size::Op::equal, {here, Size::make(Size::Op::subtract, {steps, Size::integer(1)})})
                   : Size::make(Size::Op::equal, {here, Size::integer(0)});
  };
  std::optional<Size> wraps; // are all inner dimensions at their edge
  for (auto g = ordered.rbegin(); g != ordered.rend(); ++g) {
    const Size here = Size::grid(kernel.grid[*g].name);
    const Size moved = Size::make(forward ? Size::Op::add : Size::Op::subtract, {here, Size::integer(1)});
    const Size wrapped =
        forward ? Size::integer(0) : Size::make(Size::Op::subtract, {step_count(*g), Size::integer(1)});
    const Size own = Size::make(Size::Op::choose, {edge_of(*g), wrapped, moved});
    neighbour[kernel.grid[*g].name] = wraps ? Size::make(Size::Op::choose, {*wraps, own, here}) : own;
    at_edge = size_text(edge_of(*g)) + (at_edge.empty() ? "" : " && " + at_edge);
    // Both factors are 0 or 1.
    wraps = wraps ? Size::make(Size::Op::multiply, {*wraps, edge_of(*g)}) : edge_of(*g);
  }
  std::string text = ordered.size() > 1 ? "(" + at_edge + ")" : at_edge;
  if (text.empty())
    text = "true";
  for (const Dim &dim : var.dims) {
    const Size other = rewrite(dim.start, [&](const Size &s) -> std::optional<Size> {
      if (s.op != Size::Op::grid)
        return std::nullopt;
      auto it = neighbour.find(s.name);
      return it == neighbour.end() ? std::nullopt : std::optional<Size>(it->second);
    });
    if (other == dim.start)
      continue;
    text +=
        " || " + at_least(size(dim.start), binding::kEqual + 1) + " != " + at_least(size(other), binding::kEqual + 1);
  }
  return {text, binding::kOr};
}

Code Printer::expression(ExprId id) {
  const Expr &e = kernel.expr(id);
  if (const auto place = places.find(id); place != places.end())
    return {place->second};
  if (const std::optional<bool> known = known_answer(kernel, id)) // compilers warn about such comparisons
    return {*known ? "true" : "false"};
  auto arg = [&](size_t i) { return expression(e.args[i]); };
  switch (e.op) {
  case Op::constant: {
    const std::string text = spelling.constant(e.type, e.integer, e.number);
    return {text, text[0] == '-' ? binding::kUnary : binding::kPrimary};
  }
  case Op::scalar: {
    const ScalarArgument &s = kernel.scalars[e.ref];
    return {c_name(s.name)};
  }
  case Op::read:
    return read(e, id);
  case Op::element: {
    const std::vector<std::pair<std::string, std::string>> checks = array_checks(e.ref, e.args);
    const Code value = spelling.loaded(element(e.ref, {}, e.args), kernel.vars[e.ref].type);
    if (checks.empty())
      return value;
    return {inside(checks).text + " ? " + value.text + " : " + spelling.typed_constant(e.type, 0, 0), binding::kChoose};
  }
  case Op::table:
    return table(e);
  case Op::index: {
    Code code{axis_names_[e.axis]};
    if (e.ref != kNone)
      for (const Dim &dim : kernel.vars[e.ref].dims)
        if (dim.axis == e.axis)
          code = coordinate(dim);
    return index_type == "int64_t" ? code : Code{"int64_t(" + code.text + ")"};
  }
  case Op::size: {
    const Axis &a = kernel.axes[e.axis];
    if (e.ref != kNone)
      for (const Dim &dim : kernel.vars[e.ref].dims)
        if (dim.axis == e.axis)
          return size(dim.extent);
    if (e.integer == kSizeOfPart) {
      const Range &part = parts_.at(e.axis);
      return {part.end + " - " + part.begin, binding::kAdd};
    }
    if (a.ragged != kNone && e.integer == kSizeOfAxis)
      return row_length(e.axis, axis_names_[a.over]);
    const Code code = size(a.size);
    return index_type != "int64_t" ? Code{"int64_t(" + code.text + ")"} : code;
  }
  case Op::row_of:
    return row_of(e.axis, arg(0).text);
  case Op::block:
    return size(kernel.axes[e.axis].block);
  case Op::grid_index: // CUDA counts in 32 bits where that is enough; the body's type is wider
    return {spelling.target() == TargetKind::cuda ? "int64_t(" + grid_names_[e.ref] + ")" : grid_names_[e.ref]};
  case Op::grid_size:
    return size(step_count(e.ref));
  case Op::first:
    return {grid_names_[e.ref] + " == 0", binding::kEqual};
  case Op::last:
    return {grid_names_[e.ref] + " == " + at_least(size(step_count(e.ref)), binding::kAdd) + " - 1", binding::kEqual};
  case Op::window_first:
  case Op::window_last:
    return window_edge(e);
  case Op::present:
    return {c_name(kernel.vars[e.ref].name) + " != nullptr", binding::kEqual};
  case Op::inside:
    return inside(place_checks(e.ref, e.coords));
  case Op::cast:
    return spelling.cast(arg(0), kernel.expr(e.args[0]).type, e.type);
  case Op::bitcast:
    return {spelling.helper("bits_as") + "<" + Spelling::arithmetic(e.type) + ">(" + arg(0).text + ")"};
  case Op::round_like:
    if (is_rounded(e))
      return {spelling.helper("rounded") + "(" + arg(0).text + ")"};
    return spelling.loaded(spelling.stored(arg(0), e.type, e.element), e.element);
  case Op::choose:
    return {at_least(arg(0), binding::kChoose + 1) + " ? " + arm(e.args[1]) + " : " + arm(e.args[2]), binding::kChoose};
  case Op::both:
  case Op::either:
    return Spelling::logical(e.op, arg(0), arg(1));
  case Op::fold:
  case Op::scan:
    KGEN_UNREACHABLE("a fold in an expression");
  default:
    break;
  }
  std::vector<Code> args;
  for (size_t i = 0; i < e.args.size(); ++i)
    args.push_back(arg(i));
  if (is_multiply_add(e))
    return multiply_add(args);
  const Type type = e.args.empty() ? e.type : kernel.expr(e.args[0]).type;
  if (e.op == Op::div && kernel.expr(e.args[1]).op == Op::read)
    if (const auto by = reciprocals.find(kernel.expr(e.args[1]).ref); by != reciprocals.end())
      return spelling.operation(Op::mul, type, {args[0], {by->second}}, false);
  return spelling.operation(e.op, type, args, may_wrap(kernel, id));
}

// Of the type that the choice has: 0 beside a uint8_t would make an int of it.
std::string Printer::arm(ExprId id) {
  const Expr &e = kernel.expr(id);
  return e.op == Op::constant ? spelling.typed_constant(e.type, e.integer, e.number)
                              : at_least(expression(id), binding::kChoose + 1);
}

Code Printer::multiply_add(const std::vector<Code> &operands) {
  return {spelling.helper("multiply_add") + "(" + operands[0].text + ", " + operands[1].text + ", " + operands[2].text +
          ")"};
}

bool Printer::fuses(const PlanNode &step) const {
  return !plain && spelling.target() == TargetKind::openmp && adds_product(kernel, step);
}

std::string Printer::bytes_text(const std::set<VarId> &arrays) {
  std::map<std::string, int64_t> by_elements;
  for (VarId var : arrays) {
    const Var &v = kernel.vars[var];
    Size elements = Size::integer(1);
    for (size_t d = 0; d < v.dims.size(); ++d)
      if (d + 1 == v.dims.size() || !is_packed_row(kernel, v, d + 1))
        elements = Size::make(Size::Op::multiply, {elements, v.dims[d].extent});
    by_elements[at_least(size(elements), binding::kMultiply)] += bytes_of(v.type);
  }
  std::string text;
  for (const auto &[elements, bytes] : by_elements)
    text += (text.empty() ? "" : " + ") + elements + (bytes == 1 ? "" : " * " + std::to_string(bytes));
  return text;
}

} // namespace kgen
