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
    d.help = ticked(name) + " is " + found->second.what;
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
    else if (input->optional)
      reader.diags.add(DiagId::spec_alias_optional, output.alias_place, {input->name}).labels.push_back(label);
  }
}

// The value read outside must be one of the type.
void check_outside(Reader &reader) {
  for (const OperandDecl &operand : reader.spec.operands) {
    if (!operand.outside || is_broken(reader, operand.name) || !operand.type.param.empty() ||
        is_floating(operand.type.type))
      continue;
    const TypeRow &row = type_row(operand.type.type);
    const double value = *operand.outside;
    const double high = std::ldexp(1.0, row.significand_bits), low = is_unsigned(row.type) ? 0 : -high;
    const bool fits = row.kind == TypeKind::boolean ? value == 0 || value == 1
                                                    : value >= low && value < high && value == std::floor(value);
    if (!fits)
      reader.diags.add(DiagId::spec_outside_type, operand.outside_place, {operand.name, std::string(row.name)});
  }
}

// --- axes ---

void check_ragged(Reader &reader, const AxisDecl &axis) {
  const Spec &spec = reader.spec;
  if (!is_axis(spec, axis.over) || axis.over == axis.name)
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

// Derived axes may use each other, but not in a circle. Returns true where the walk from `axis` comes back to `goal`.
bool reaches(const Spec &spec, const AxisDecl &axis, const std::string &goal, std::set<std::string> &seen) {
  if (!axis.equals || !seen.insert(axis.name).second)
    return false;
  for (const AxisDecl &other : spec.axes)
    if (mentions(*axis.equals, Size::Op::axis, other.name) && (other.name == goal || reaches(spec, other, goal, seen)))
      return true;
  return false;
}

void check_axes(Reader &reader) {
  std::set<std::string> told; // one message a circle
  for (const AxisDecl &axis : reader.spec.axes) {
    if (is_broken(reader, axis.name))
      continue;
    if (!axis.ragged.empty())
      check_ragged(reader, axis);
    std::set<std::string> seen;
    if (told.count(axis.name) == 0 && reaches(reader.spec, axis, axis.name, seen)) {
      reader.diags.add(DiagId::spec_derived_circle, axis.place, {axis.name});
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
  const Spec &spec = reader.spec;
  for (const BatchDecl &batch : spec.batch) {
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
    for (const OperandDecl &operand : spec.operands) {
      const bool listed = batched.count(operand.name) > 0;
      if (operand.role == Role::output && !listed)
        reader.diags.add(DiagId::spec_batch_output, batch.place, {operand.name, batch.axis}).help =
            "all outputs are batched: add " + ticked(operand.name) + " to the list";
      else if (!operand.alias.empty() && listed && batched.count(operand.alias) == 0)
        reader.diags.add(DiagId::spec_batch_alias, batch.place, {operand.alias, operand.name});
    }
  }
}

// --- variants ---

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
      reader.diags.add(DiagId::spec_suffix_twice, reader.file, {spec.kernel + "_" + variant.suffix});
      return;
    }
  }
}

// C arguments: operands, scalars and tables as they stand in the file. Scratch is none, and an input whose memory is an
// output's is that output.
void list_arguments(Spec &spec) {
  std::vector<std::pair<std::pair<int, int>, ArgumentRef>> placed;
  auto add = [&](const Place &place, ArgumentRef::Kind kind, size_t index) {
    placed.push_back({{place.line, place.column}, {kind, static_cast<int>(index)}});
  };
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    const OperandDecl &operand = spec.operands[i];
    const bool aliased = std::any_of(spec.operands.begin(), spec.operands.end(),
                                     [&](const OperandDecl &o) { return o.alias == operand.name; });
    if (operand.role != Role::scratch && !aliased)
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
  if (reader.diags.error_count() == reader.errors_before)
    check_variants(reader);
  list_arguments(reader.spec);
}

} // namespace kgen
