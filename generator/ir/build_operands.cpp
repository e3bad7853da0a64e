// Operands: their dimensions, the windows that steps see of them, aliases, tables and the order of arguments.
#include "ir/build.h"

#include <algorithm>

#include "ir/evaluate.h"
#include "support/check.h"

namespace kgen::build {

namespace {

// A dimension as the body sees it: one entry per axis, with the dimension of the array that it belongs to.
struct Entry {
  AxisId axis;
  const DimDecl *decl;
  int array_dim;
};

// A ragged axis is packed: it forms one dimension of the array with the axis that it is ragged over.
std::vector<Entry> entries_of(const Build &build, const OperandDecl &operand) {
  std::vector<Entry> out;
  int array_dim = 0;
  for (const DimDecl &dim : operand.dims) {
    if (dim.kind == DimDecl::Kind::one)
      out.push_back({kNone, &dim, array_dim});
    for (const std::string &name : dim.axes) {
      AxisId axis = build.axis_of(name);
      if (axis != kNone && build.kernel.axes[axis].ragged != kNone) {
        KGEN_CHECK(!out.empty() && out.back().axis == build.kernel.axes[axis].over);
        array_dim = out.back().array_dim;
      }
      out.push_back({axis, &dim, array_dim});
    }
    ++array_dim;
  }
  return out;
}

void whole_window(Dim &dim) {
  dim.start = Size::integer(0);
  dim.block = dim.extent;
  dim.whole = true;
}

// The window that the grid gives to each operand with a blocked axis.
void grid_window(Build &build, const OperandDecl &operand, Dim &dim) {
  whole_window(dim);
  if (dim.axis == kNone || build.kernel.axes[dim.axis].grid == kNone)
    return;
  const Axis &axis = build.kernel.axes[dim.axis];
  if (!(dim.extent == build.axis_size(dim.axis)))
    build.diags
        .add(DiagId::blocked_extent, operand.type_place,
             {operand.name, axis.name, to_string(dim.extent), to_string(build.axis_size(dim.axis))})
        .help = "give " + operand.name + " a window of its own: block = [...], index = [...]";
  dim.start = axis.start;
  dim.block = axis.block;
  dim.whole = false;
}

// block, index, offset as the operand says them.
void said_window(Build &build, const OperandDecl &operand, size_t entry, Dim &dim) {
  const WindowDecl &window = *operand.window;
  const WindowDecl::Dim &said = window.block[entry];
  whole_window(dim);
  const std::vector<Size> *position = window.offset ? &*window.offset : window.index ? &*window.index : nullptr;
  Size number = position ? build.resolve((*position)[entry]) : Size::integer(0);
  bool grid_position = !position && dim.axis != kNone && build.kernel.axes[dim.axis].grid != kNone;
  if (grid_position && said.kind != WindowDecl::Kind::whole)
    number = Size::grid(build.kernel.grid[build.kernel.axes[dim.axis].grid].name);
  if (said.kind == WindowDecl::Kind::whole) {
    if (!number.is_integer(0))
      build.diags.add(DiagId::whole_with_index, window.place, {operand.name, to_string(number)}).help =
          "a whole dimension has one block: write 0";
    return;
  }
  dim.whole = false;
  dim.offset = window.offset.has_value();
  if (said.kind == WindowDecl::Kind::squeeze) {
    dim.axis = kNone;
    dim.block = Size::integer(1);
    dim.start = number;
    return;
  }
  dim.block = build.resolve(said.block);
  const Size all = Size::make(Size::Op::max, {build.resolve(dim.extent), Size::integer(1)});
  if (!dim.offset && number.is_integer(0) && dim.block == all)
    return whole_window(dim); // a block of the whole extent, said so
  dim.start = dim.offset ? number : Size::make(Size::Op::multiply, {number, dim.block});
}

void build_dims(Build &build, const OperandDecl &operand, VarId id) {
  Var &var = build.kernel.vars[id];
  std::vector<Entry> entries = entries_of(build, operand);
  bool own = operand.window && operand.role != Role::scratch;
  KGEN_CHECK(!own || operand.window->block.size() == entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    Dim dim;
    dim.axis = entries[i].axis;
    dim.array_dim = entries[i].array_dim;
    if (entries[i].decl->extent)
      dim.extent = build.resolve(*entries[i].decl->extent);
    else
      dim.extent = dim.axis == kNone ? Size::integer(1) : build.axis_size(dim.axis);
    if (dim.axis != kNone && dim.extent == build.resolve(build.kernel.axes[dim.axis].size))
      dim.extent = build.axis_size(dim.axis);
    if (own) {
      said_window(build, operand, i, dim);
      if (dim.axis != kNone)
        build.said.insert({id, dim.axis});
    } else if (operand.role == Role::scratch) {
      whole_window(dim);
    } else {
      grid_window(build, operand, dim);
    }
    if (dim.axis != kNone)
      var.axes |= AxisSet::of(dim.axis);
    var.dims.push_back(std::move(dim));
  }
}

void add_batch(Build &build, VarId id, AxisId axis) {
  Var &var = build.kernel.vars[id];
  if (var.axes.contains(axis))
    return;
  for (Dim &dim : var.dims)
    ++dim.array_dim;
  Dim dim;
  dim.axis = axis;
  dim.extent = Size::axis(build.kernel.axes[axis].name);
  whole_window(dim);
  var.dims.insert(var.dims.begin(), dim);
  var.axes |= AxisSet::of(axis);
}

// The last declared batch is added first, so that the first one leads.
void build_batch(Build &build) {
  for (auto batch = build.spec.batch.rbegin(); batch != build.spec.batch.rend(); ++batch) {
    AxisId axis = build.axis_of(batch->axis);
    for (VarId id = 0; id < static_cast<VarId>(build.kernel.vars.size()); ++id) {
      const Var &var = build.kernel.vars[id];
      bool named = std::find(batch->operands.begin(), batch->operands.end(), var.name) != batch->operands.end();
      bool updated = var.kind == Var::Kind::input && var.alias != kNone; // its memory is that of an output
      if (named || updated || var.kind == Var::Kind::output)
        add_batch(build, id, axis);
    }
  }
}

void build_aliases(Build &build) {
  Kernel &kernel = build.kernel;
  for (const OperandDecl &operand : build.spec.operands) {
    if (operand.alias.empty())
      continue;
    VarId output = build.operand_ids.at(operand.name);
    Var &input = kernel.vars[build.operand_ids.at(operand.alias)];
    input.alias = output;
    kernel.vars[output].alias = build.operand_ids.at(operand.alias);
    kernel.vars[output].partial = true;
  }
}

void build_tables(Build &build) {
  for (const TableDecl &decl : build.spec.tables) {
    Table table;
    table.name = decl.name;
    table.type = decl.type;
    for (const Size &dim : decl.dims)
      table.dims.push_back(build.resolve(dim));
    table.sorted = decl.sorted;
    table.unique = decl.unique;
    if (decl.range)
      table.range = build.resolve(*decl.range);
    table.on_host = decl.on_host;
    table.place = decl.place;
    build.table_ids[decl.name] = static_cast<TableId>(build.kernel.tables.size());
    build.kernel.tables.push_back(std::move(table));
  }
}

} // namespace

void build_operands(Build &build) {
  build_tables(build);
  for (const OperandDecl &operand : build.spec.operands) {
    Var var;
    var.kind = operand.role == Role::input    ? Var::Kind::input
               : operand.role == Role::output ? Var::Kind::output
                                              : Var::Kind::scratch;
    var.name = operand.name;
    var.type = type_of(operand.type, build.variant);
    var.outside = operand.outside.value_or(0);
    if (is_floating(var.type))
      var.outside = round_to(var.outside, var.type); // as an element is
    var.strided = operand.strided;
    var.optional = operand.optional;
    var.partial = operand.partial;
    var.overwrite = operand.overwrite;
    var.atomic = operand.atomic;
    var.place = operand.place;
    VarId id = static_cast<VarId>(build.kernel.vars.size());
    build.operand_ids[operand.name] = id;
    build.kernel.vars.push_back(std::move(var));
    build_dims(build, operand, id);
  }
  build_aliases(build);
  build_batch(build);
  for (const Scalar &scalar : build.spec.scalars) {
    build.scalar_ids[scalar.name] = static_cast<ScalarId>(build.kernel.scalars.size());
    build.kernel.scalars.push_back({scalar.name, type_row(type_of(scalar.type, build.variant)).arithmetic});
  }
}

void build_arguments(Build &build) { build.kernel.arguments = build.spec.arguments; }

} // namespace kgen::build
