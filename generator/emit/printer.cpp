#include "emit/printer.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "emit/interface.h"
#include "emit/lanes.h"
#include "plan/access.h"
#include "plan/exprs.h"
#include "support/check.h"

namespace kgen {

Printer::Printer(const Plan &p, const Facts &f, Spelling &s, Names &names)
    : spelling(s), plan(p), kernel(p.kernel), facts(f), scopes(p) {
  // The caller's names are the interface; sizes, loop variables and locals step aside.
  auto claim = [&](const std::string &wish) { return names.claim(wish); };
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
  for (VarId var : used)
    if (var_names_[var].empty())
      var_names_[var] = claim(kernel.vars[var].name);
  for (const Axis &axis : kernel.axes)
    axis_names_.push_back(claim(axis.rest ? "row" : lower_case(axis.name)));
  for (const GridDim &grid : kernel.grid)
    grid_names_.push_back(claim(grid.name));
  assignments_.assign(kernel.vars.size(), 0);
  for (const Phase &phase : plan.phases)
    for (const PlanNode &root : phase.nodes)
      for_each_node(root, [&](const PlanNode &n) {
        for (VarId var : {n.target, n.partner})
          if (var != kNone)
            ++assignments_[var];
      });
}

std::string Printer::size_name(AxisId axis) const {
  const Axis &a = kernel.axes[axis];
  return a.rest ? "rows" : c_name(a.name);
}

std::string Printer::steps_text(GridId grid) { return size_text(grid_steps(kernel, grid)); }

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

std::string Printer::step_count_text(GridId grid) { return size_text(step_count(grid)); }

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
      std::string text = spelling.helper("table_at") + "(" + c_name(table.name);
      std::string index = arg(0).text, count = size_text(table.dims[0]);
      for (size_t i = 1; i < s.args.size(); ++i) {
        const std::string extent = size_text(table.dims[i]);
        index = "(" + index + ") * (" + extent + ") + " + at_least(arg(i), binding::kAdd);
        count = "(" + count + ") * (" + extent + ")";
      }
      return {"int64_t(" + text + ", " + index + ", " + count + "))"};
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

// ---- places in memory ---------------------------------------------------------------------------------------------

// Loop variables are global indices where all windows of the axis agree, else positions.
Size Printer::origin(AxisId axis) const {
  const Axis &a = kernel.axes[axis];
  return a.uniform ? a.start : Size::integer(0);
}

Code Printer::position(AxisId axis) {
  const Size start = origin(axis);
  if (start.is_integer(0))
    return {axis_names_[axis]};
  return {axis_names_[axis] + " - " + at_least(size(start), binding::kAdd + 1), binding::kAdd};
}

Size Printer::extent_of(AxisId axis) const {
  const Axis &a = kernel.axes[axis];
  if (a.uniform)
    return a.block;
  for (const Var &var : kernel.vars)
    for (const Dim &dim : var.dims)
      if (dim.axis == axis)
        return dim.block;
  return a.size;
}

Code Printer::coordinate(const Dim &dim) {
  if (dim.axis == kNone)
    return size(dim.start);
  const Size start = origin(dim.axis);
  if (dim.start == start)
    return {axis_names_[dim.axis]};
  const Code pos = position(dim.axis);
  if (dim.start.is_integer(0))
    return pos;
  return {at_least(size(dim.start), binding::kAdd) + " + " + at_least(pos, binding::kAdd), binding::kAdd};
}

const Coordinate *Printer::find(const std::vector<Coordinate> &coords, AxisId axis) const {
  for (const Coordinate &c : coords)
    if (c.axis == axis)
      return &c;
  return nullptr;
}

// Is this the dimension of rows of different lengths, packed one after the other?
bool Printer::is_packed_row(const Var &var, size_t d) const {
  const AxisId axis = var.dims[d].axis;
  return axis != kNone && kernel.axes[axis].ragged != kNone && d > 0 && var.dims[d - 1].axis == kernel.axes[axis].over;
}

// The coordinate in an operand's dimension: the current point, or what `at` says.
std::string Printer::coordinate_text(const Dim &dim, const std::vector<Coordinate> &coords) {
  const Coordinate *given = find(coords, dim.axis);
  return given != nullptr ? expression(given->value).text : coordinate(dim).text;
}

bool Printer::given_elsewhere(const Dim &dim, const std::vector<Coordinate> &coords) const {
  const Coordinate *given = dim.axis == kNone ? nullptr : find(coords, dim.axis);
  return given != nullptr && !is_identity(kernel, *given);
}

// Where a packed row begins. Nothing has checked a table in device memory, so its entries are kept within the array.
std::string Printer::row_start(AxisId axis, const std::string &row) {
  const Axis &a = kernel.axes[axis];
  const Table &table = kernel.tables[a.ragged];
  if (spelling.target() == TargetKind::openmp || table.on_host)
    return c_name(table.name) + "[" + row + "]";
  return spelling.helper("row_at") + "(" + c_name(table.name) + ", " + row + ", " + size_text(a.size) + ")";
}

Code Printer::row_length(AxisId axis, const std::string &row) {
  return {row_start(axis, row + " + 1") + " - " + row_start(axis, row), binding::kAdd};
}

// The linear index of an operand's element; notes the coordinates that must be checked to lie inside.
Code Printer::index_text(VarId id, const std::vector<Coordinate> &coords,
                         std::vector<std::pair<std::string, std::string>> *checks) {
  const Var &var = kernel.vars[id];
  Code linear{""};
  auto horner = [&](const Size &extent, const Code &coord) {
    if (linear.text.empty() || linear.text == "0") {
      linear = coord;
      return;
    }
    linear = {at_least(linear, binding::kMultiply) + " * " + at_least(size(extent), binding::kUnary),
              binding::kMultiply};
    if (coord.text != "0")
      linear = {linear.text + " + " + at_least(coord, binding::kAdd), binding::kAdd};
  };
  std::string strided;
  for (size_t d = 0; d < var.dims.size(); ++d) {
    const Dim &dim = var.dims[d];
    Code coord = coordinate(dim);
    const Coordinate *given = dim.axis == kNone ? nullptr : find(coords, dim.axis);
    const bool identity = given != nullptr && is_identity(kernel, *given);
    if (given != nullptr && !identity)
      coord = expression(given->value);
    const AxisId axis = dim.axis;
    const bool packed_row = is_packed_row(var, d);
    const std::string row = packed_row ? coordinate_text(var.dims[d - 1], coords) : "";
    const bool elsewhere = (given != nullptr && !identity) || (packed_row && given_elsewhere(var.dims[d - 1], coords));
    const bool may_be_outside = elsewhere || (dim.offset && var.kind == Var::Kind::input) || dim.may_miss;
    if (may_be_outside && checks != nullptr) {
      if (packed_row)
        checks->push_back({coord.text, row_length(axis, row).text});
      else if (elsewhere && var.kind == Var::Kind::output && !dim.whole) // other points of the block, not of the array
        checks->push_back(within(coord, dim.start, dim.block, dim.extent));
      else
        checks->push_back({coord.text, size_text(dim.extent)});
    }
    if (packed_row) {
      // The row's start takes the place of the outer coordinate. `linear` ends with that of `over`.
      const std::string packed = row_start(axis, row) + " + " + at_least(coord, binding::kAdd);
      linear = {""};
      for (size_t before = 0; before + 1 < d; ++before) {
        const Coordinate *c = var.dims[before].axis == kNone ? nullptr : find(coords, var.dims[before].axis);
        horner(var.dims[before].extent, c != nullptr ? expression(c->value) : coordinate(var.dims[before]));
      }
      horner(kernel.axes[axis].size, {packed, binding::kAdd});
      continue;
    }
    if (var.strided) {
      // Split dimensions share one stride.
      const bool inner_of_split = d > 0 && var.dims[d - 1].array_dim == dim.array_dim;
      const bool outer_of_split = d + 1 < var.dims.size() && var.dims[d + 1].array_dim == dim.array_dim;
      if (!inner_of_split)
        linear = {""};
      horner(dim.extent, coord);
      if (outer_of_split)
        continue;
      std::string axis_label;
      for (const Dim &other : var.dims)
        if (other.array_dim == dim.array_dim && other.axis != kNone)
          axis_label += kernel.axes[other.axis].rest ? "rows" : kernel.axes[other.axis].name;
      if (axis_label.empty())
        axis_label = std::to_string(dim.array_dim);
      const std::string term = at_least(linear, binding::kMultiply) + " * " + var.name + "_stride_" + axis_label;
      strided += (strided.empty() ? "" : " + ") + term;
      continue;
    }
    horner(dim.extent, coord);
  }
  if (var.strided)
    return {strided.empty() ? "0" : strided, binding::kAdd};
  return linear.text.empty() ? Code{"0"} : linear;
}

std::string Printer::element(VarId id, const std::vector<Coordinate> &coords, const std::vector<ExprId> &indices) {
  const Var &var = kernel.vars[id];
  const Storage &storage = plan.storage[id];
  if (storage.kind == Storage::Kind::argument)
    return var_names_[id] + "[" + index_text(id, coords, nullptr).text + "]";
  if (storage.kind == Storage::Kind::scalar)
    return var_names_[id];
  Code linear{""};
  auto horner = [&](const std::string &extent, const Code &coord) {
    if (linear.text.empty())
      linear = coord;
    else
      linear = {at_least(linear, binding::kMultiply) + " * " + extent + " + " + at_least(coord, binding::kAdd),
                binding::kAdd};
  };
  for (AxisId axis : storage.dims) {
    const Coordinate *given = find(coords, axis);
    Code coord = position(axis);
    if (given != nullptr && !is_identity(kernel, *given)) {
      coord = expression(given->value);
      if (const Size start = origin(axis); !start.is_integer(0))
        coord = {at_least(coord, binding::kAdd) + " - " + at_least(size(start), binding::kAdd + 1), binding::kAdd};
    }
    horner(at_least(size(extent_of(axis)), binding::kUnary), coord);
  }
  for (size_t i = 0; i < indices.size(); ++i)
    horner(std::to_string(var.array[i]), expression(indices[i]));
  return var_names_[id] + "[" + (linear.text.empty() ? "0" : linear.text) + "]";
}

std::string Printer::buffer_elements(VarId id) {
  std::string text;
  auto times = [&](const Code &code) { text += (text.empty() ? "" : " * ") + at_least(code, binding::kMultiply); };
  for (AxisId axis : plan.storage[id].dims)
    times(size(extent_of(axis)));
  for (int64_t extent : kernel.vars[id].array)
    times({std::to_string(extent)});
  return text.empty() ? "1" : text;
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

Code Printer::inside(const std::vector<std::pair<std::string, std::string>> &checks) {
  Code all{""};
  for (const auto &[coord, extent] : checks) {
    const std::string one = spelling.helper("inside") + "(" + coord + ", " + extent + ")";
    all = all.text.empty() ? Code{one} : Code{all.text + " && " + one, binding::kAnd};
  }
  return all.text.empty() ? Code{"true"} : all;
}

// What must be inside for a coordinate to lie in a window and in the array: the position, and how many there are.
std::pair<std::string, std::string> Printer::within(const Code &coordinate, const Size &start, const Size &block,
                                                    const Size &extent) {
  if (start.is_integer(0))
    return {coordinate.text, size_text(block == extent ? block : Size::make(Size::Op::min, {block, extent}))};
  const Size rest = Size::make(Size::Op::subtract, {extent, start});
  return {at_least(coordinate, binding::kAdd) + " - " + at_least(size(start), binding::kAdd + 1),
          size_text(block == extent ? block : Size::make(Size::Op::min, {block, rest}))};
}

// A local or scratch holds the positions of this step; beyond them there is nothing.
std::vector<std::pair<std::string, std::string>> Printer::buffer_checks(const std::vector<Coordinate> &coords) {
  std::vector<std::pair<std::string, std::string>> checks;
  for (const Coordinate &c : coords) {
    if (is_identity(kernel, c))
      continue;
    const Axis &axis = kernel.axes[c.axis];
    const Size extent = extent_of(c.axis);
    checks.push_back(within(expression(c.value), origin(c.axis), extent, axis.uniform ? axis.size : extent));
  }
  return checks;
}

Code Printer::read(const Expr &e, ExprId) {
  const Var &var = kernel.vars[e.ref];
  const Storage &storage = plan.storage[e.ref];
  if (storage.kind == Storage::Kind::scalar)
    return {var_names_[e.ref]};
  std::vector<std::pair<std::string, std::string>> checks;
  if (storage.kind == Storage::Kind::argument) {
    const Code index = index_text(e.ref, e.coords, e.safe ? nullptr : &checks);
    const Code value = spelling.loaded(var_names_[e.ref] + "[" + index.text + "]", var.type);
    if (checks.empty())
      return value;
    const std::string outside = spelling.typed_constant(e.type, static_cast<int64_t>(var.outside), var.outside);
    return {inside(checks).text + " ? " + value.text + " : " + outside, binding::kChoose};
  }
  if (!e.safe)
    checks = buffer_checks(e.coords);
  const Code value = spelling.loaded(element(e.ref, e.coords, {}), var.type);
  if (checks.empty())
    return value;
  return {inside(checks).text + " ? " + value.text + " : " + spelling.typed_constant(e.type, 0, 0), binding::kChoose};
}

Code Printer::table(const Expr &e) {
  const Table &t = kernel.tables[e.ref];
  std::string index, count;
  for (size_t i = 0; i < e.args.size(); ++i) {
    const Code at = expression(e.args[i]);
    const Code extent = size(t.dims[i]);
    index = i == 0 ? at.text
                   : "(" + index + ") * " + at_least(extent, binding::kUnary) + " + " + at_least(at, binding::kAdd);
    count = i == 0 ? extent.text
                   : at_least({count, binding::kAdd}, binding::kMultiply) + " * " + at_least(extent, binding::kUnary);
  }
  if (e.safe)
    return {c_name(t.name) + "[" + index + "]"};
  return {spelling.helper("table_at") + "(" + c_name(t.name) + ", " + index + ", " + count + ")"};
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
    std::vector<std::pair<std::string, std::string>> checks;
    for (size_t i = 0; i < e.args.size(); ++i)
      if (kernel.expr(e.args[i]).op != Op::constant)
        checks.push_back({arg(i).text, std::to_string(kernel.vars[e.ref].array[i])});
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
    if (a.ragged != kNone && e.integer == 0) {
      return row_length(e.axis, axis_names_[a.over]);
    }
    const Code code = size(a.size);
    return index_type != "int64_t" ? Code{"int64_t(" + code.text + ")"} : code;
  }
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
  case Op::inside: {
    if (plan.storage[e.ref].kind != Storage::Kind::argument)
      return inside(buffer_checks(e.coords));
    std::vector<std::pair<std::string, std::string>> checks;
    index_text(e.ref, e.coords, &checks);
    return inside(checks);
  }
  case Op::cast:
    return spelling.cast(arg(0), kernel.expr(e.args[0]).type, e.type);
  case Op::bitcast:
    return {spelling.helper("bits_as") + "<" + Spelling::arithmetic(e.type) + ">(" + arg(0).text + ")"};
  case Op::round_like:
    if (!is_half(e.element))
      return arg(0);
    return spelling.loaded(spelling.stored(arg(0), e.type, e.element), e.element);
  case Op::choose:
    return {at_least(arg(0), binding::kChoose + 1) + " ? " + at_least(arg(1), binding::kChoose + 1) + " : " +
                at_least(arg(2), binding::kChoose + 1),
            binding::kChoose};
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
  const Type type = e.args.empty() ? e.type : kernel.expr(e.args[0]).type;
  return spelling.operation(e.op, type, args, type == Type::i64 && !counts_positions(id));
}

// Made of indices, sizes and small constants only: such numbers stay far from overflow.
bool Printer::counts_positions(ExprId id) const {
  bool positions = true;
  walk(kernel, id, [&](ExprId at) {
    const Expr &e = kernel.expr(at);
    if (e.op == Op::read || e.op == Op::element || e.op == Op::scalar || e.op == Op::random_bits)
      positions = false;
    if (e.op == Op::constant && std::abs(e.integer) > (int64_t{1} << 31))
      positions = false;
    return positions;
  });
  return positions;
}

} // namespace kgen
