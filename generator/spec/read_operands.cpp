// inputs, outputs and scratch: a type string, or a table with more to say.
#include <cmath>

#include "spec/parse_size.h"
#include "spec/read.h"
#include "support/text.h"

namespace kgen {

namespace {

std::string_view role_name(Role role) {
  return role == Role::input ? "an input" : role == Role::output ? "an output" : "scratch";
}

void read_type_key(Reader &reader, const Entry &entry, OperandDecl &operand) {
  if (!read_string(reader, entry.value, "`type`")) {
    reader.axes_incomplete = true;
    return;
  }
  operand.type_place = content_place(entry.value);
  auto type = read_operand_type(reader, entry.value.text);
  reader.axes_incomplete = reader.axes_incomplete || !type;
  if (!type)
    return;
  operand.type = type->first;
  operand.dims = std::move(type->second);
}

// Some keys are for some roles only.
bool for_roles(Reader &reader, const Entry &entry, const OperandDecl &operand, std::initializer_list<Role> roles) {
  std::string allowed;
  for (const Role role : roles) {
    if (role == operand.role)
      return true;
    allowed += (allowed.empty() ? "" : " or ") + std::string(role_name(role));
  }
  Diagnostic &d =
      reader.diags.add(DiagId::spec_key_role, entry.place, {entry.key, std::string(role_name(operand.role)), allowed});
  if (operand.role == Role::scratch && entry.key == "block")
    d.help = "leave it out: along each of its axes scratch holds what a step sees of the arrays";
  return false;
}

const Param *find_param(const Reader &reader, const Node &node) {
  if (node.kind == Node::Kind::string)
    for (const Param &param : reader.spec.params)
      if (param.name == node.text.text)
        return &param;
  return nullptr;
}

void read_outside(Reader &reader, const Entry &entry, OperandDecl &operand) {
  if (!for_roles(reader, entry, operand, {Role::input}))
    return;
  const Node &node = entry.value;
  operand.outside_place = node.place;
  if (node.kind == Node::Kind::number)
    operand.outside = node.number;
  else if (node.kind == Node::Kind::integer)
    operand.outside = static_cast<double>(node.integer);
  else if (const Param *param = find_param(reader, node); param != nullptr && param->choices.size() == 1)
    operand.outside = std::holds_alternative<double>(param->choices[0])
                          ? std::get<double>(param->choices[0])
                          : static_cast<double>(read_constant(reader, node, "`outside`").value_or(0));
  else
    wrong_kind(reader, node, "`outside`", "a number, `inf`, `-inf` or `nan` (without quotes), or a parameter");
}

void read_layout(Reader &reader, const Entry &entry, OperandDecl &operand) {
  if (!for_roles(reader, entry, operand, {Role::input, Role::output}))
    return;
  const auto layout = read_string(reader, entry.value, "`layout`");
  if (layout && *layout != "strided" && *layout != "dense")
    reader.diags.add(DiagId::spec_unknown_choice, entry.value.place, {*layout, "`layout`"}).help =
        "a layout is \"strided\" (its strides are arguments) or \"dense\", the default";
  operand.strided = layout == "strided";
}

template <bool OperandDecl::*member> void read_output_flag(Reader &reader, const Entry &entry, OperandDecl &operand) {
  if (for_roles(reader, entry, operand, {Role::output}))
    operand.*member = read_boolean(reader, entry.value, ticked(entry.key)).value_or(false);
}

void read_optional(Reader &reader, const Entry &entry, OperandDecl &operand) {
  if (for_roles(reader, entry, operand, {Role::input, Role::output}))
    operand.optional = read_boolean(reader, entry.value, "`optional`").value_or(false);
}

void read_alias(Reader &reader, const Entry &entry, OperandDecl &operand) {
  if (!for_roles(reader, entry, operand, {Role::output}))
    return;
  operand.alias = read_string(reader, entry.value, "`alias`").value_or("");
  operand.alias_place =
      entry.value.kind == Node::Kind::string ? entry.value.text.at(0, entry.value.text.text.size()) : entry.value.place;
  operand.partial = true; // what the step does not write stays as it was
}

WindowDecl &window_of(OperandDecl &operand, const Place &place) {
  if (!operand.window) {
    operand.window.emplace();
    operand.window->place = place;
  }
  return *operand.window;
}

WindowDecl::Dim read_block_dim(Reader &reader, const Node &node) {
  WindowDecl::Dim dim;
  dim.place = node.place;
  if (node.kind == Node::Kind::string && node.text.text == "whole")
    return dim;
  if (node.kind == Node::Kind::string && node.text.text == "squeeze") {
    dim.kind = WindowDecl::Kind::squeeze;
    return dim;
  }
  dim.kind = WindowDecl::Kind::block;
  dim.block = read_size(reader, node, "a block").value_or(Size::integer(1));
  if (dim.block.is_integer() && dim.block.value < 1)
    reader.diags.add(DiagId::spec_number_below_one, node.place, {"a block"});
  return dim;
}

void read_block(Reader &reader, const Entry &entry, OperandDecl &operand) {
  if (!for_roles(reader, entry, operand, {Role::input, Role::output}))
    return;
  WindowDecl &window = window_of(operand, entry.place);
  if (entry.value.kind != Node::Kind::list) {
    wrong_kind(reader, entry.value, "`block`", "a list with one entry per dimension");
    return;
  }
  for (const Node &item : entry.value.items)
    window.block.push_back(read_block_dim(reader, item));
}

std::vector<Size> read_positions(Reader &reader, const Entry &entry) {
  std::vector<Size> out;
  if (entry.value.kind != Node::Kind::list)
    wrong_kind(reader, entry.value, ticked(entry.key), "a list with one entry per dimension");
  for (const Node &item : entry.value.items)
    out.push_back(read_size(reader, item, "an entry of " + ticked(entry.key)).value_or(Size::integer(0)));
  return out;
}

void read_index(Reader &reader, const Entry &entry, OperandDecl &operand) {
  if (for_roles(reader, entry, operand, {Role::input, Role::output}))
    window_of(operand, entry.place).index = read_positions(reader, entry);
}
void read_offset(Reader &reader, const Entry &entry, OperandDecl &operand) {
  if (for_roles(reader, entry, operand, {Role::input, Role::output}))
    window_of(operand, entry.place).offset = read_positions(reader, entry);
}

constexpr Key<OperandDecl> kOperandKeys[] = {
    {"type", read_type_key, Form::text, "element type and axes: \"f32[M, N]\""},
    {"outside", read_outside, Form::number, "what `at` and offset windows read outside of the array; default 0"},
    {"layout", read_layout, Form::text, "strided: its strides are arguments", "strided dense"},
    {"optional", read_optional, Form::flag,
     "callers may pass null; the body asks present(x). An output that is null is neither written nor computed"},
    {"alias", read_alias, Form::text, "of an output: the input whose memory it takes over"},
    {"partial", read_output_flag<&OperandDecl::partial>, Form::flag, "of an output: elements may stay as they were"},
    {"overwrite", read_output_flag<&OperandDecl::overwrite>, Form::flag,
     "of an output: the last of several steps wins"},
    {"atomic", read_output_flag<&OperandDecl::atomic>, Form::flag,
     "of an output: parallel steps may add to the same elements"},
    {"block", read_block, Form::list, "the window: a size, \"whole\" or \"squeeze\" for each dimension"},
    {"index", read_index, Form::list, "which block"},
    {"offset", read_offset, Form::list, "which element the window begins with"},
};

// How many entries `block` and `index` have: one per dimension, one per axis of a split one.
size_t window_entries(const OperandDecl &operand) {
  size_t count = 0;
  for (const DimDecl &dim : operand.dims)
    count += std::max<size_t>(dim.axes.size(), 1);
  return count;
}

void check_window(Reader &reader, const Node &table, const OperandDecl &operand) {
  const WindowDecl &window = *operand.window;
  const Node *block = table.find("block"), *index = table.find("index"), *offset = table.find("offset");
  if (block == nullptr) {
    reader.diags.add(DiagId::spec_missing_key, window.place, {ticked(operand.name), "block"}).help =
        "`index` and `offset` place a block: say its size, one entry per dimension";
    return;
  }
  if (index != nullptr && offset != nullptr) {
    reader.diags.add(DiagId::spec_index_and_offset, offset->place).help =
        "`index` counts blocks, `offset` counts elements: keep the one that is meant";
    return;
  }
  bool moves = false;
  for (const WindowDecl::Dim &dim : window.block)
    moves = moves || dim.kind != WindowDecl::Kind::whole;
  if (moves && index == nullptr && offset == nullptr && block->kind == Node::Kind::list)
    reader.diags.add(DiagId::spec_missing_key, window.place, {ticked(operand.name), "index"}).help =
        "say which block a step sees: `index` counts blocks, `offset` counts elements";
  const size_t wanted = window_entries(operand);
  for (const auto &[key, node] : {std::pair("block", block), std::pair("index", index), std::pair("offset", offset)})
    if (node != nullptr && node->kind == Node::Kind::list && node->items.size() != wanted) {
      reader.diags
          .add(DiagId::spec_window_length, node->place,
               {key, std::to_string(node->items.size()), std::to_string(wanted)})
          .labels.push_back(
              {operand.type_place, std::to_string(wanted) + (wanted == 1 ? " entry" : " entries") + " wanted"});
      return; // the others were counted in the same way
    }
}

void read_operand_table(Reader &reader, const Entry &entry, OperandDecl &operand, const std::string &section) {
  const size_t before = reader.diags.error_count();
  read_keys<OperandDecl>(reader, entry.value, kOperandKeys, operand, section + "." + entry.key);
  const bool untyped = entry.value.find("type") == nullptr;
  reader.axes_incomplete = reader.axes_incomplete || untyped;
  if (untyped && entry.value.find("body") == nullptr)
    reader.diags.add(DiagId::spec_missing_key, entry.place, {ticked(entry.key), "type"}).help =
        "write type = \"f32[M, N]\" in the table";
  else if (operand.window && reader.diags.error_count() == before)
    check_window(reader, entry.value, operand);
}

} // namespace

void read_operands(Reader &reader, const Node &section, Role role) {
  constexpr std::string_view kSections[] = {"inputs", "outputs", "scratch"};
  for (const Entry &entry : section.entries) {
    const BrokenGuard guard(reader, entry.key);
    declare(reader, entry.key, entry.place, NameKind::operand, std::string(role_name(role)));
    OperandDecl operand;
    operand.name = entry.key;
    operand.role = role;
    operand.place = entry.place;
    operand.type_place = entry.value.place;
    if (entry.value.kind == Node::Kind::string)
      read_type_key(reader, entry, operand);
    else if (expect_table(reader, entry, "a type such as \"f32[M, N]\", or a table"))
      read_operand_table(reader, entry, operand, std::string(kSections[static_cast<size_t>(role)]));
    else
      reader.axes_incomplete = true;
    reader.spec.operands.push_back(std::move(operand));
  }
}

void list_operand_keys(std::string_view section, std::vector<KeyInfo> &out) {
  list_keys<OperandDecl>(section, kOperandKeys, out);
}

} // namespace kgen
