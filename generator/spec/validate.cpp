// What no section can say alone: aliases, ragged axes, derived axes, the grid against the axes, the batch.
#include <algorithm>
#include <cmath>
#include <set>

#include "spec/read.h"
#include "support/text.h"

namespace kgen {

namespace {

const OperandDecl *find_operand(const Spec &spec, std::string_view name) {
  for (const OperandDecl &operand : spec.operands)
    if (operand.name == name)
      return &operand;
  return nullptr;
}

bool is_broken(const Reader &reader, const std::string &name) { return reader.broken.count(name) > 0; }

bool is_axis(const Spec &spec, const std::string &name) {
  return std::find(spec.axis_order.begin(), spec.axis_order.end(), name) != spec.axis_order.end();
}

void unknown_axis(Reader &reader, const std::string &name, const Place &place) {
  if (reader.axes_incomplete || name.empty())
    return;
  Diagnostic &d = reader.diags.add(DiagId::spec_unknown_axis, place, {name});
  if (const auto found = reader.names.find(name); found != reader.names.end())
    d.help = ticked(name) + " is " + found->second.what +
             (found->second.kind == NameKind::batch ? ", which is parallel already" : "");
  else
    d.help = did_you_mean(name, reader.spec.axis_order);
}

bool same_dims(const std::vector<DimDecl> &a, const std::vector<DimDecl> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const DimDecl &x, const DimDecl &y) {
    return x.kind == y.kind && x.axes == y.axes && x.extent == y.extent;
  });
}

void check_outputs(Reader &reader) {
  const std::vector<OperandDecl> &operands = reader.spec.operands;
  if (!reader.outputs_incomplete &&
      std::none_of(operands.begin(), operands.end(), [](const OperandDecl &o) { return o.role == Role::output; }))
    reader.diags.add(DiagId::spec_no_output, reader.file).help =
        "name what the kernel makes: outputs.z = \"f32[M, N]\"";
}

// An output in the place of an input is the same array.
void check_aliases(Reader &reader) {
  std::set<std::string> taken;
  for (const OperandDecl &output : reader.spec.operands) {
    if (output.alias.empty() || is_broken(reader, output.name) || is_broken(reader, output.alias))
      continue;
    const OperandDecl *input = find_operand(reader.spec, output.alias);
    if (input == nullptr || input->role != Role::input) {
      std::vector<std::string> inputs;
      for (const OperandDecl &operand : reader.spec.operands)
        if (operand.role == Role::input)
          inputs.push_back(operand.name);
      reader.diags.add(DiagId::spec_alias_no_input, output.alias_place, {output.alias}).help =
          did_you_mean(output.alias, inputs);
      continue;
    }
    const Label label{input->type_place, "the input"};
    if (!taken.insert(output.alias).second)
      reader.diags.add(DiagId::spec_alias_twice, output.alias_place, {output.alias});
    else if (input->type.param != output.type.param || input->type.type != output.type.type ||
             !same_dims(input->dims, output.dims))
      reader.diags.add(DiagId::spec_alias_differs, output.type_place, {output.name, input->name})
          .labels.push_back(label);
    else if (input->strided != output.strided)
      reader.diags.add(DiagId::spec_alias_layout, output.place, {output.name, input->name}).labels.push_back(label);
    else if (input->optional || output.optional)
      reader.diags.add(DiagId::spec_alias_optional, output.alias_place, {input->optional ? input->name : output.name})
          .labels.push_back(label);
  }
}

std::vector<Type> choices_of(const Spec &spec, const TypeName &type) {
  for (const TypeParam &param : spec.types)
    if (param.name == type.param)
      return param.choices;
  if (type.param == kRealType)
    return {Type::f32, Type::f64};
  return {type.type};
}

// The least number that a floating type rounds to infinity: half a step beyond its largest one.
double becomes_infinite(const TypeRow &row) {
  const int largest = row.type == Type::f64 ? 1023 : row.type == Type::f16 ? 15 : 127; // power of 2
  return std::ldexp(2 - std::ldexp(1.0, -row.significand_bits), largest);
}

bool holds(const TypeRow &row, double value) {
  if (is_floating(row.type))
    return !std::isfinite(value) || std::fabs(value) < becomes_infinite(row);
  const double high = std::ldexp(1.0, row.significand_bits), low = is_unsigned(row.type) ? 0 : -high;
  return row.kind == TypeKind::boolean ? value == 0 || value == 1
                                       : value >= low && value < high && value == std::floor(value);
}

// The value read outside must be one of the type.
void check_outside(Reader &reader) {
  for (const OperandDecl &operand : reader.spec.operands) {
    if (!operand.outside || is_broken(reader, operand.name))
      continue;
    for (const Type type : choices_of(reader.spec, operand.type))
      if (!holds(type_row(type), *operand.outside)) {
        reader.diags.add(DiagId::spec_outside_type, operand.outside_place,
                         {operand.name, std::string(type_row(type).name)});
        break;
      }
  }
}

// --- axes ---

void check_ragged(Reader &reader, const AxisDecl &axis) {
  const Spec &spec = reader.spec;
  if (axis.over == axis.name) {
    reader.diags.add(DiagId::spec_ragged_itself, axis.over_place, {axis.name});
    return;
  }
  if (!is_axis(spec, axis.over))
    return unknown_axis(reader, axis.over, axis.over_place);
  const auto table =
      std::find_if(spec.tables.begin(), spec.tables.end(), [&](const TableDecl &t) { return t.name == axis.ragged; });
  if (table == spec.tables.end()) {
    reader.diags.add(DiagId::spec_ragged_table, axis.ragged_place, {axis.ragged}).help =
        "declare it: tables." + (is_identifier(axis.ragged) ? axis.ragged : "row_start") + " = \"i64[" + axis.over +
        " + 1]\"";
    return;
  }
  const Size wanted = Size::make(Size::Op::add, {Size::axis(axis.over), Size::integer(1)});
  const Size turned = Size::make(Size::Op::add, {Size::integer(1), Size::axis(axis.over)});
  if (is_broken(reader, table->name))
    return;
  if (table->dims.size() != 1 || (!(table->dims[0] == wanted) && !(table->dims[0] == turned)))
    reader.diags.add(DiagId::spec_ragged_table_size, table->place, {table->name, to_string(wanted)})
        .labels.push_back({axis.place, "the ragged axis"});
  for (const OperandDecl &operand : spec.operands)
    for (size_t i = 0; i < operand.dims.size(); ++i) {
      const DimDecl &dim = operand.dims[i];
      if (std::find(dim.axes.begin(), dim.axes.end(), axis.name) == dim.axes.end())
        continue;
      const bool follows = i > 0 && operand.dims[i - 1].axes == std::vector{axis.over} && !operand.dims[i - 1].extent;
      if (dim.axes.size() > 1 || dim.extent || !follows)
        reader.diags.add(DiagId::spec_ragged_dimension, dim.place, {axis.name, axis.over})
            .labels.push_back({axis.place, "declared ragged here"});
    }
}

// Derived axes may use each other, but not in a circle. The names from `axis` back to `goal`, or none.
std::vector<std::string> way_to(const Spec &spec, const AxisDecl &axis, const std::string &goal,
                                std::set<std::string> &seen) {
  if (!axis.equals || !seen.insert(axis.name).second)
    return {};
  for (const AxisDecl &other : spec.axes) {
    if (!mentions(*axis.equals, Size::Op::axis, other.name))
      continue;
    std::vector<std::string> way = {goal};
    if (other.name != goal)
      way = way_to(spec, other, goal, seen);
    if (!way.empty()) {
      way.insert(way.begin(), axis.name);
      return way;
    }
  }
  return {};
}

void check_axes(Reader &reader) {
  std::set<std::string> told; // one message a circle
  for (const AxisDecl &axis : reader.spec.axes) {
    if (is_broken(reader, axis.name))
      continue;
    if (!axis.ragged.empty())
      check_ragged(reader, axis);
    std::set<std::string> seen;
    if (told.count(axis.name) > 0)
      continue;
    if (const std::vector<std::string> way = way_to(reader.spec, axis, axis.name, seen); !way.empty()) {
      reader.diags.add(DiagId::spec_derived_circle, axis.place, {axis.name}).help =
          "it depends on itself by " + join(way, " -> ") + ": one of these sizes must be given";
      told.insert(seen.begin(), seen.end());
    }
  }
}

// --- grid, batch ---

void check_grid(Reader &reader) {
  std::map<std::string, Place> blocked;
  for (const GridDecl &grid : reader.spec.grid) {
    if (!grid.axis.empty()) {
      if (!is_axis(reader.spec, grid.axis))
        unknown_axis(reader, grid.axis, grid.axis_place);
      const auto [found, fresh] = blocked.emplace(grid.axis, grid.axis_place);
      if (!fresh)
        reader.diags.add(DiagId::spec_axis_blocked_twice, grid.axis_place, {grid.axis})
            .labels.push_back({found->second, "first here"});
    }
    if (is_broken(reader, grid.name))
      continue;
    const bool from_table =
        grid.size && any_node(*grid.size, [](const Size &node) { return node.op == Size::Op::table; });
    if (from_table && grid.semantics == Semantics::parallel && !grid.at_most)
      reader.diags.add(DiagId::spec_at_most_missing, grid.size->place, {grid.name}).help =
          "add at_most = ..., an expression over sizes: steps are handed out before the table is read";
  }
}

void check_batch(Reader &reader) {
  Spec &spec = reader.spec;
  for (BatchDecl &batch : spec.batch) {
    if (is_broken(reader, batch.axis))
      continue;
    std::set<std::string> batched;
    for (size_t i = 0; i < batch.operands.size(); ++i) {
      const std::string &name = batch.operands[i];
      const Place &place = batch.operand_places[i];
      const OperandDecl *operand = find_operand(spec, name);
      if (operand == nullptr || operand->role == Role::scratch) {
        std::vector<std::string> known;
        for (const OperandDecl &o : spec.operands)
          if (o.role != Role::scratch)
            known.push_back(o.name);
        Diagnostic &d = reader.diags.add(DiagId::spec_batch_operand, place, {name});
        d.help =
            operand != nullptr ? "each step of the batch has scratch of its own already" : did_you_mean(name, known);
      } else if (!batched.insert(name).second) {
        reader.diags.add(DiagId::spec_batch_twice, place, {name});
      }
    }
    // All outputs are batched, listed or not.
    for (const OperandDecl &operand : spec.operands) {
      if (operand.role != Role::output)
        continue;
      if (!operand.alias.empty() && batched.count(operand.alias) == 0)
        reader.diags.add(DiagId::spec_batch_alias, batch.place, {operand.alias, operand.name}).help =
            "all outputs are batched: add " + ticked(operand.alias) + " to the list";
      if (batched.insert(operand.name).second) {
        batch.operands.push_back(operand.name);
        batch.operand_places.push_back(batch.place);
      }
    }
  }
}

// --- variants ---

// "f = relu, T = f32": what is told apart by name.
std::string choice_text(const Spec &spec, const Variant &variant) {
  std::vector<std::string> parts;
  for (const Param &param : spec.params)
    if (param.is_list) {
      const ParamValue &value = variant.params.at(param.name);
      const auto *name = std::get_if<std::string>(&value);
      parts.push_back(param.name + " = " + (name != nullptr ? *name : std::to_string(std::get<int64_t>(value))));
    }
  for (const TypeParam &type : spec.types)
    parts.push_back(type.name + " = " + std::string(type_row(variant.types.at(type.name)).name));
  return "(" + join(parts, ", ") + ")";
}

void check_variants(Reader &reader) {
  constexpr size_t kMost = 1024;
  const Spec &spec = reader.spec;
  size_t count = 1;
  auto times = [&](size_t choices) { count = std::min(count * std::max<size_t>(choices, 1), kMost + 1); };
  for (const Param &param : spec.params)
    times(param.choices.size());
  if (spec.only.empty())
    for (const TypeParam &type : spec.types)
      times(type.choices.size());
  times(spec.only.size());
  for (const AxisDecl &axis : spec.axes)
    times(axis.fixed.size());
  if (count > kMost) {
    reader.diags.add(DiagId::spec_too_many_variants, reader.file, {std::to_string(kMost)}).help =
        "write types.only = [...], or fix some choices with -D";
    return;
  }
  std::map<std::string, Variant> seen;
  for (Variant &variant : variants_of(spec)) {
    const auto [found, fresh] = seen.try_emplace(variant.suffix, variant);
    if (!fresh && (found->second.types != variant.types || found->second.params != variant.params)) {
      reader.diags.add(DiagId::spec_suffix_twice, reader.file, {spec.kernel + "_" + variant.suffix}).help =
          choice_text(spec, found->second) + " and " + choice_text(spec, variant) + ": rename one of them";
      return;
    }
  }
}

// Is the axis cut into windows anywhere? Then each array may well have a size of its own.
bool is_windowed(const Spec &spec, const std::string &axis) {
  const auto has_axis = [&](const OperandDecl &operand) {
    return operand.window && std::ranges::any_of(operand.dims, [&](const DimDecl &dim) {
             return std::ranges::find(dim.axes, axis) != dim.axes.end();
           });
  };
  return std::ranges::any_of(spec.grid, [&](const GridDecl &dim) { return dim.axis == axis; }) ||
         std::ranges::any_of(spec.operands, has_axis);
}

// `C=4` in one array and `C` in another: who writes that mostly means one size, and callers would have to pass it.
void check_sizes_apart(Reader &reader) {
  const Spec &spec = reader.spec;
  for (const std::string &axis : spec.axis_order) {
    const OperandDecl *fixed = nullptr, *open = nullptr;
    const DimDecl *fixed_dim = nullptr, *open_dim = nullptr;
    for (const OperandDecl &operand : spec.operands)
      for (const DimDecl &dim : operand.dims) {
        if (dim.axes != std::vector<std::string>{axis})
          continue;
        if (dim.extent && dim.extent->is_integer() && fixed == nullptr)
          fixed = &operand, fixed_dim = &dim;
        else if (!dim.extent && open == nullptr)
          open = &operand, open_dim = &dim;
      }
    const bool declared = std::ranges::any_of(spec.axes, [&](const AxisDecl &decl) { return decl.name == axis; });
    if (fixed == nullptr || open == nullptr || declared || is_windowed(spec, axis))
      continue;
    const std::string size = std::to_string(fixed_dim->extent->value);
    Diagnostic &d = reader.diags.add(DiagId::spec_size_apart, open_dim->place, {axis, size, fixed->name});
    d.labels.push_back({fixed_dim->place, size + " here"});
    d.help = "axes." + axis + " = " + size +
             " gives it that size everywhere; if the sizes do differ, give one of the " + "axes another name";
  }
}

// C arguments: operands, scalars and tables as they stand in the file. Scratch is none, and an input whose memory is an
// output's is that output.
void list_arguments(Spec &spec) {
  std::vector<std::pair<std::pair<int, int>, ArgumentRef>> placed;
  auto add = [&](const Place &place, ArgumentRef::Kind kind, size_t index) {
    placed.push_back({{place.line, place.column}, {kind, static_cast<int>(index)}});
  };
  std::set<std::string> aliased;
  for (const OperandDecl &operand : spec.operands)
    aliased.insert(operand.alias);
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    const OperandDecl &operand = spec.operands[i];
    if (operand.role != Role::scratch && aliased.count(operand.name) == 0)
      add(operand.place, ArgumentRef::Kind::operand, i);
  }
  for (size_t i = 0; i < spec.scalars.size(); ++i)
    add(spec.scalars[i].place, ArgumentRef::Kind::scalar, i);
  for (size_t i = 0; i < spec.tables.size(); ++i)
    add(spec.tables[i].place, ArgumentRef::Kind::table, i);
  std::stable_sort(placed.begin(), placed.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &[place, argument] : placed)
    spec.arguments.push_back(argument);
}

} // namespace

void validate(Reader &reader) {
  check_outputs(reader);
  check_aliases(reader);
  check_outside(reader);
  check_axes(reader);
  check_grid(reader);
  check_batch(reader);
  check_sizes_apart(reader);
  if (reader.diags.error_count() == reader.errors_before)
    check_variants(reader);
  list_arguments(reader.spec);
}

} // namespace kgen
