// axes and batch.
#include <algorithm>

#include "spec/parse_size.h"
#include "spec/read.h"
#include "support/text.h"

namespace kgen {

std::optional<int64_t> read_constant(Reader &reader, const Node &node, const std::string &what) {
  const auto size = read_size(reader, node, what);
  if (!size)
    return std::nullopt;
  SizeValues values;
  values.name = [&](Size::Op, std::string_view name) -> std::optional<long long> {
    for (const Param &param : reader.spec.params)
      if (param.name == name && param.choices.size() == 1 && std::holds_alternative<int64_t>(param.choices[0]))
        return std::get<int64_t>(param.choices[0]);
    return std::nullopt;
  };
  const auto value = evaluate(*size, values);
  if (!value)
    reader.diags.add(DiagId::spec_not_constant, size->place, {what});
  return value;
}

namespace {

void check_size(Reader &reader, int64_t value, const Place &place) {
  if (value < 0)
    reader.diags.add(DiagId::spec_negative_size, place, {std::to_string(value)});
}

void read_multiple_of(Reader &reader, const Entry &entry, AxisDecl &axis) {
  const auto value = read_constant(reader, entry.value, "`multiple_of`");
  if (value && *value < 1)
    reader.diags.add(DiagId::spec_number_below_one, entry.value.place, {"`multiple_of`"});
  axis.multiple_of = std::max<int64_t>(value.value_or(1), 1);
}
void read_equals(Reader &reader, const Entry &entry, AxisDecl &axis) {
  axis.equals = read_size(reader, entry.value, "`equals`");
}
void read_ragged(Reader &reader, const Entry &entry, AxisDecl &axis) {
  axis.ragged = read_string(reader, entry.value, "`ragged`").value_or("");
  axis.ragged_place = content_place(entry.value);
}
void read_over(Reader &reader, const Entry &entry, AxisDecl &axis) {
  axis.over = read_string(reader, entry.value, "`over`").value_or("");
  axis.over_place = content_place(entry.value);
}
constexpr Key<AxisDecl> kAxisKeys[] = {{"multiple_of", read_multiple_of, Form::size, "checked by the function"},
                                       {"equals", read_equals, Form::size, "derived from other sizes"},
                                       {"ragged", read_ragged, Form::text, "the table of row starts"},
                                       {"over", read_over, Form::text, "the axis whose rows have different lengths"}};

void read_sizes_list(Reader &reader, const Entry &entry, AxisDecl &axis) {
  check_choices(reader, entry.value);
  if (entry.value.items.empty())
    reader.diags.add(DiagId::spec_empty_list, entry.value.place, {ticked(entry.key)});
  for (const Node &item : entry.value.items) {
    const auto value = read_constant(reader, item, "a size of the list");
    if (!value)
      continue;
    check_size(reader, *value, item.place);
    if (std::count(axis.fixed.begin(), axis.fixed.end(), *value) > 0)
      reader.diags.add(DiagId::spec_repeated_choice, item.place, {std::to_string(*value)});
    else
      axis.fixed.push_back(*value);
  }
}

void read_axis_table(Reader &reader, const Entry &entry, AxisDecl &axis) {
  read_keys<AxisDecl>(reader, entry.value, kAxisKeys, axis, "axes." + entry.key);
  const Node &table = entry.value;
  const bool ragged = table.find("ragged") != nullptr, over = table.find("over") != nullptr;
  if (ragged != over)
    reader.diags.add(DiagId::spec_missing_key, entry.place, {ticked(entry.key), ragged ? "over" : "ragged"}).help =
        "a ragged axis is written { ragged = \"row_start\", over = \"B\" }";
  else if (ragged && (axis.equals || table.find("multiple_of") != nullptr))
    reader.diags.add(DiagId::spec_ragged_sized, entry.place, {entry.key});
  else if (table.entries.empty())
    reader.diags.add(DiagId::spec_missing_key, entry.place, {ticked(entry.key), "equals"}).help =
        "axes that are only named need no declaration";
}

} // namespace

void read_axes(Reader &reader, const Node &section) {
  for (const Entry &entry : section.entries) {
    const BrokenGuard guard(reader, entry.key);
    AxisDecl axis;
    axis.name = entry.key;
    axis.place = entry.place;
    if (!declare(reader, entry.key, entry.place, NameKind::axis, "an axis"))
      continue;
    switch (entry.value.kind) {
    case Node::Kind::integer:
      axis.fixed = {entry.value.integer};
      check_size(reader, entry.value.integer, entry.value.place);
      break;
    case Node::Kind::string: // over parameters alone it is a constant, else derived: `equals` says both
      axis.equals = read_size(reader, entry.value, ticked(entry.key));
      break;
    case Node::Kind::list:
      read_sizes_list(reader, entry, axis);
      break;
    case Node::Kind::table:
      read_axis_table(reader, entry, axis);
      break;
    default:
      wrong_kind(reader, entry.value, ticked(entry.key), "a size, a list of sizes or a table");
    }
    reader.spec.axes.push_back(std::move(axis));
  }
}

void read_batch(Reader &reader, const Node &section) {
  for (const Entry &entry : section.entries) {
    const BrokenGuard guard(reader, entry.key);
    BatchDecl batch{entry.key, {}, entry.place, {}};
    if (!declare(reader, entry.key, entry.place, NameKind::batch, "a batch dimension"))
      continue;
    if (entry.value.kind != Node::Kind::list) {
      wrong_kind(reader, entry.value, ticked(entry.key), "a list of operands, such as [\"x\", \"z\"]");
      continue;
    }
    if (entry.value.items.empty())
      reader.diags.add(DiagId::spec_empty_list, entry.value.place, {ticked(entry.key)});
    for (const Node &item : entry.value.items)
      if (auto name = read_string(reader, item, "an operand")) {
        batch.operands.push_back(std::move(*name));
        batch.operand_places.push_back(content_place(item));
      }
    reader.spec.batch.push_back(std::move(batch));
  }
}

void add_batch_options(Reader &reader) {
  for (const auto &[axis, operands] : reader.options.batch) {
    if (!declare(reader, axis, reader.file, NameKind::batch, "a batch dimension"))
      continue;
    BatchDecl batch{axis, {}, reader.file, {}};
    for (const std::string &name : split(operands, ',')) {
      batch.operands.emplace_back(trim(name));
      batch.operand_places.push_back(reader.file);
    }
    reader.spec.batch.push_back(std::move(batch));
  }
}

void list_axis_keys(std::vector<KeyInfo> &out) { list_keys<AxisDecl>("axes", kAxisKeys, out); }

} // namespace kgen
