// types, params and scalars, and the choices that -D makes among them.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "spec/read.h"
#include "support/text.h"

namespace kgen {

namespace {

std::optional<Type> read_plain_type(Reader &reader, const Node &node) {
  if (!read_string(reader, node, "an element type"))
    return std::nullopt;
  const auto type = read_type(reader, node.text);
  if (!type)
    return std::nullopt;
  if (!type->param.empty()) {
    reader.diags.add(DiagId::spec_unknown_type, type->place, {type->param}).help =
        type->param == kRealType ? "`real` follows from the other types: write it in brackets, as `real[N]`"
                                 : "a list names the types themselves, such as [\"f32\", \"bf16\"]";
    return std::nullopt;
  }
  return type->type;
}

void read_type_param(Reader &reader, const Entry &entry) {
  TypeParam param{entry.key, {}, entry.place};
  declare(reader, entry.key, entry.place, NameKind::type_param, "a type parameter");
  if (entry.value.kind != Node::Kind::list)
    wrong_kind(reader, entry.value, ticked(entry.key), "a list of element types, such as [\"f32\", \"bf16\"]");
  for (const Node &item : entry.value.items) {
    const auto type = read_plain_type(reader, item);
    if (type && std::count(param.choices.begin(), param.choices.end(), *type) > 0)
      reader.diags.add(DiagId::spec_repeated_choice, item.place, {std::string(type_row(*type).name)});
    else if (type)
      param.choices.push_back(*type);
  }
  if (entry.value.kind == Node::Kind::list && entry.value.items.empty())
    reader.diags.add(DiagId::spec_empty_list, entry.value.place, {ticked(entry.key)});
  if (param.choices.empty())
    param.choices.push_back(Type::f32); // after an error; operands of this type are then no errors as well
  reader.spec.types.push_back(std::move(param));
}

// [["bf16", "f32"], ...]: one type for each parameter, in their order.
void read_only(Reader &reader, const Entry &entry) {
  const std::vector<TypeParam> &params = reader.spec.types;
  const std::string wanted = "a list of lists, such as [[\"bf16\", \"f32\"]]";
  if (entry.value.kind != Node::Kind::list)
    return wrong_kind(reader, entry.value, "`only`", wanted);
  for (const Node &row : entry.value.items)
    if (row.kind != Node::Kind::list)
      return wrong_kind(reader, row, "a row of `only`", "a list, such as [\"bf16\", \"f32\"]");
  if (entry.value.items.empty())
    reader.diags.add(DiagId::spec_empty_list, entry.value.place, {"`only`"});
  for (const Node &row : entry.value.items) {
    if (row.items.size() != params.size()) {
      reader.diags.add(DiagId::spec_only_length, row.place,
                       {std::to_string(row.items.size()), std::to_string(params.size())});
      continue;
    }
    std::vector<Type> types;
    for (size_t i = 0; i < params.size(); ++i) {
      const auto type = read_plain_type(reader, row.items[i]);
      const std::vector<Type> &choices = params[i].choices;
      if (type && std::count(choices.begin(), choices.end(), *type) == 0)
        reader.diags.add(DiagId::spec_only_choice, row.items[i].place,
                         {std::string(type_row(*type).name), params[i].name});
      types.push_back(type.value_or(Type::f32));
    }
    std::vector<std::vector<Type>> &only = reader.spec.only;
    if (std::count(only.begin(), only.end(), types) > 0)
      reader.diags.add(DiagId::spec_repeated_choice, row.place, {"this row"});
    only.push_back(std::move(types));
  }
}

} // namespace

void read_types(Reader &reader, const Node &section) {
  const Entry *only = nullptr;
  for (const Entry &entry : section.entries)
    if (entry.key == "only")
      only = &entry;
    else
      read_type_param(reader, entry);
  if (only != nullptr)
    read_only(reader, *only);
}

namespace {

std::optional<ParamValue> read_param_value(Reader &reader, const Node &node) {
  switch (node.kind) {
  case Node::Kind::integer:
    return node.integer;
  case Node::Kind::number:
    return node.number;
  case Node::Kind::string:
    if (is_identifier(node.text.text) && !is_keyword(node.text.text))
      return node.text.text;
    reader.diags.add(DiagId::spec_param_value, node.place, {node.text.text}).help =
        "a parameter is a number, or the name of a function";
    return std::nullopt;
  default:
    wrong_kind(reader, node, "a parameter", "a number or the name of a function");
    return std::nullopt;
  }
}

void read_param_list(Reader &reader, const Node &list, Param &param) {
  param.is_list = true;
  check_choices(reader, list);
  if (list.items.empty())
    reader.diags.add(DiagId::spec_empty_list, list.place, {ticked(param.name)});
  for (const Node &item : list.items) {
    auto value = read_param_value(reader, item);
    if (!value)
      continue;
    if (std::holds_alternative<double>(*value) ||
        (!param.choices.empty() && value->index() != param.choices[0].index())) {
      reader.diags.add(DiagId::spec_param_list, item.place).help =
          "each choice names a set of functions; a number with a point cannot";
      return; // its kin are the same mistake
    }
    if (std::count(param.choices.begin(), param.choices.end(), *value) > 0)
      reader.diags.add(DiagId::spec_repeated_choice, item.place, {"this choice"});
    else
      param.choices.push_back(std::move(*value));
  }
}

} // namespace

void read_params(Reader &reader, const Node &section) {
  for (const Entry &entry : section.entries) {
    Param param{entry.key, {}, false, entry.place, entry.place};
    declare(reader, entry.key, entry.place, NameKind::param, "a parameter");
    if (entry.value.kind == Node::Kind::list)
      read_param_list(reader, entry.value, param);
    else if (auto value = read_param_value(reader, entry.value))
      param.choices.push_back(std::move(*value));
    if (param.choices.empty()) { // after an error
      param.choices.emplace_back(std::in_place_type<int64_t>, 1);
      reader.unusable.insert(param.name);
    }
    reader.spec.params.push_back(std::move(param));
  }
}

void read_scalars(Reader &reader, const Node &section) {
  for (const Entry &entry : section.entries) {
    declare(reader, entry.key, entry.place, NameKind::scalar, "a scalar");
    if (entry.value.kind != Node::Kind::string) {
      wrong_kind(reader, entry.value, ticked(entry.key), "a type such as \"f32\" (constants go under `params`)");
      continue;
    }
    if (entry.value.text.text.find('[') != std::string::npos)
      reader.diags.add(DiagId::spec_scalar_brackets, entry.value.place, {entry.key}).help =
          "write the type alone, as in \"f32\"; arrays go under `inputs`";
    else if (const auto type = read_type(reader, entry.value.text.trimmed()))
      reader.spec.scalars.push_back({entry.key, *type, entry.place});
  }
}

namespace {

template <class Number> std::optional<Number> parse_number(const std::string &text) {
  Number value{};
  const char *end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end ? std::optional(value) : std::nullopt;
}

// The value in the kind that the spec gives the parameter.
std::optional<ParamValue> parse_define(const Param &param, const std::string &text) {
  const ParamValue &like = param.choices.front();
  if (std::holds_alternative<int64_t>(like)) {
    const auto value = parse_number<int64_t>(text);
    return value ? std::optional<ParamValue>(*value) : std::nullopt;
  }
  if (std::holds_alternative<double>(like)) {
    const auto value = parse_number<double>(text);
    return value ? std::optional<ParamValue>(*value) : std::nullopt;
  }
  return is_identifier(text) && !is_keyword(text) ? std::optional<ParamValue>(text) : std::nullopt;
}

std::string kind_of(const ParamValue &value) {
  return std::holds_alternative<int64_t>(value)  ? "a whole number"
         : std::holds_alternative<double>(value) ? "a number"
                                                 : "the name of a function";
}

void define_type(Reader &reader, size_t index, const std::string &text, const Place &place) {
  Spec &spec = reader.spec;
  TypeParam &param = spec.types[index];
  const auto type = find_type(text);
  if (!type) {
    reader.diags.add(DiagId::spec_define_value, place, {param.name, "an element type", text}).help =
        type_help(reader, text);
    return;
  }
  param.choices = {*type};
  if (spec.only.empty())
    return;
  std::erase_if(spec.only, [&](const std::vector<Type> &row) { return row[index] != *type; });
  if (spec.only.empty())
    reader.diags.add(DiagId::spec_define_only, place, {param.name, text});
}

// Sizes are arguments of the functions; -D does not fix them.
std::string define_help(const Reader &reader, const std::string &name) {
  const std::vector<std::string> known = names_of(reader, {NameKind::param, NameKind::type_param});
  if (nearest(name, known))
    return did_you_mean(name, known);
  return "-D fixes params and types" + (known.empty() ? ", of which there are none" : ": " + enumerate(known)) +
         "; a size is fixed in the spec, axes.N = 64";
}

// The command line as messages show it: one option a line.
void show_command_line(Reader &reader) {
  std::string text;
  for (const auto &[name, value] : reader.options.defines)
    text += "-D " + printable(name) + "=" + printable(value) + "\n";
  reader.diags.add_source(std::string(kCommandLine), text);
}

} // namespace

void apply_defines(Reader &reader) {
  Spec &spec = reader.spec;
  if (!reader.options.defines.empty())
    show_command_line(reader);
  constexpr int kNameColumn = 4; // behind `-D `
  int line = 0;
  for (const auto &[name, text] : reader.options.defines) {
    const Place named{std::string(kCommandLine), ++line, kNameColumn, static_cast<int>(name.size())};
    const Place value_place{named.file, line, kNameColumn + named.length + 1, static_cast<int>(text.size())};
    const auto param =
        std::find_if(spec.params.begin(), spec.params.end(), [&](const Param &p) { return p.name == name; });
    const auto type =
        std::find_if(spec.types.begin(), spec.types.end(), [&](const TypeParam &t) { return t.name == name; });
    if (type != spec.types.end()) {
      define_type(reader, static_cast<size_t>(type - spec.types.begin()), text, value_place);
    } else if (param == spec.params.end()) {
      if (!reader.options.for_those_that_declare)
        reader.diags.add(DiagId::spec_define_unknown, named, {name}).help = define_help(reader, name);
    } else if (const auto value = parse_define(*param, text)) {
      param->choices = {*value};
      param->value_place = value_place;
    } else {
      reader.diags.add(DiagId::spec_define_value, value_place, {name, kind_of(param->choices.front()), text});
    }
  }
}

} // namespace kgen
