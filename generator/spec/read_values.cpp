// Single values of a document: the right kind, or an error that says both kinds.
#include <cctype>

#include "spec/parse_size.h"
#include "spec/read.h"
#include "support/text.h"

namespace kgen {

void wrong_kind(Reader &reader, const Node &node, const std::string &what, const std::string &wanted) {
  reader.diags.add(DiagId::spec_wrong_kind, node.place, {what, wanted, std::string(kind_name(node))});
}

std::optional<bool> read_boolean(Reader &reader, const Node &node, const std::string &what) {
  if (node.kind == Node::Kind::boolean)
    return node.boolean;
  wrong_kind(reader, node, what, "true or false");
  return std::nullopt;
}

std::optional<std::string> read_string(Reader &reader, const Node &node, const std::string &what) {
  if (node.kind == Node::Kind::string)
    return node.text.text;
  wrong_kind(reader, node, what, "a string");
  return std::nullopt;
}

Place content_place(const Node &node) {
  return node.kind == Node::Kind::string ? node.text.at(0, node.text.text.size()) : node.place;
}

std::optional<Size> read_size(Reader &reader, const Node &node, const std::string &what) {
  if (node.kind == Node::Kind::string)
    return parse_size(node.text, reader.diags);
  if (node.kind == Node::Kind::integer) {
    Size size = Size::integer(node.integer);
    size.place = node.place;
    return size;
  }
  wrong_kind(reader, node, what, "a whole number or an expression in quotes");
  return std::nullopt;
}

std::vector<Size> read_sizes(Reader &reader, const Node &node, const std::string &what) {
  std::vector<Size> out;
  if (node.kind != Node::Kind::list) {
    if (auto size = read_size(reader, node, what))
      out.push_back(std::move(*size));
    return out;
  }
  if (node.items.empty())
    reader.diags.add(DiagId::spec_empty_list, node.place, {what});
  for (const Node &item : node.items)
    if (auto size = read_size(reader, item, what))
      out.push_back(std::move(*size));
  return out;
}

namespace {
// Names of types in other languages.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"float", "f32"},   {"float32", "f32"}, {"double", "f64"},   {"float64", "f64"},  {"half", "f16"},
    {"float16", "f16"}, {"fp16", "f16"},    {"fp32", "f32"},     {"fp64", "f64"},     {"bfloat16", "bf16"},
    {"int", "i32"},     {"int8", "i8"},     {"int16", "i16"},    {"int32", "i32"},    {"int64", "i64"},
    {"uint8", "u8"},    {"uint16", "u16"},  {"uint32", "u32"},   {"uint64", "u64"},   {"int8_t", "i8"},
    {"int16_t", "i16"}, {"int32_t", "i32"}, {"int64_t", "i64"},  {"uint8_t", "u8"},   {"uint16_t", "u16"},
    {"char", "i8"},     {"long", "i64"},    {"uint32_t", "u32"}, {"uint64_t", "u64"}, {"boolean", "bool"},
    {"size_t", "u64"},  {"byte", "u8"},
};

} // namespace

std::string type_help(const Reader &reader, const std::string &name) {
  for (const auto &[other, ours] : kOtherNames)
    if (other == name)
      return "it is called " + ticked(ours) + " here";
  std::vector<std::string> known = names_of(reader, {NameKind::type_param});
  for (const std::string_view type :
       {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"})
    known.emplace_back(type);
  if (const std::string near = did_you_mean(name, known); !near.empty())
    return near;
  constexpr size_t kShort = 2; // as names of parameters are
  const bool parameter = name.size() <= kShort && std::isupper(static_cast<unsigned char>(name.front())) != 0;
  return (parameter ? "give it a list, types." + name + " = [\"f32\"]; " : "") + "the types are " + enumerate(known);
}

std::optional<TypeName> read_type(Reader &reader, const PlacedText &text) {
  TypeName out;
  out.place = text.at(0, text.text.size());
  for (const TypeParam &param : reader.spec.types)
    if (param.name == text.text) {
      out.param = param.name;
      out.type = param.choices.front();
      return out;
    }
  if (text.text == kRealType) {
    out.param = kRealType;
    return out;
  }
  if (const auto type = find_type(text.text)) {
    out.type = *type;
    return out;
  }
  reader.diags.add(DiagId::spec_unknown_type, out.place, {text.text}).help = type_help(reader, text.text);
  return std::nullopt;
}

namespace {
// Keys of the root that are easily written below a table header, where they belong to that table.
bool is_root_key(std::string_view key) {
  for (const std::string_view root :
       {"kernel", "doc", "license", "backward_of", "backward", "body", "functions", "functions_from"})
    if (key == root)
      return true;
  return false;
}
} // namespace

namespace {
// Words of Pallas and Triton.
constexpr std::pair<std::string_view, std::string_view> kOtherKeys[] = {
    {"dimension_semantics", "each dimension says its own: grid.i = { ..., semantics = \"parallel\" }"},
    {"compiler_params", "each dimension says its own: grid.i = { ..., semantics = \"parallel\" }"},
    {"in_specs", "an array says its window: inputs.x = { type = \"f32[M]\", block = [64], index = [\"i\"] }"},
    {"out_specs", "an array says its window: outputs.y = { type = \"f32[M]\", block = [64], index = [\"i\"] }"},
    {"block_shape", "the window of an array is block = [...] with index = [...]"},
    {"index_map", "the window of an array is block = [...] with index = [\"i\"], over the names of the grid"},
    {"scratch_shapes", "memory of a step is scratch.acc = \"f32[M]\""},
    {"input_output_aliases", "an output says it: outputs.y = { type = \"f32[M]\", alias = \"x\" }"},
    {"num_scalar_prefetch", "arrays that windows read are tables.t = \"i32[S]\""},
    {"out_shape", "outputs stand under outputs.y = \"f32[M]\""},
    {"autotune", "kgen plans the loops itself"},
    {"constexpr", "a constant is params.p = 3"},
};
} // namespace

void unknown_key(Reader &reader, const Entry &entry, const std::vector<std::string> &known, const std::string &where) {
  if (is_root_key(entry.key) && !where.empty())
    reader.misplaced.insert(entry.key);
  if (entry.key == "body" && !where.empty()) {
    reader.diags.add(DiagId::spec_body_in_table, entry.place, {where}).help =
        "what follows a [table] header belongs to that table: move `body` above the first header, or write dotted keys "
        "such as inputs.x";
    return;
  }
  Diagnostic &d =
      reader.diags.add(DiagId::unknown_key, entry.place, {entry.key, where.empty() ? "" : " in " + ticked(where)});
  if (is_root_key(entry.key) && !where.empty())
    d.help =
        "what follows a [table] header belongs to that table: move " + ticked(entry.key) + " above the first header";
  else
    d.help = did_you_mean(entry.key, known);
  for (const auto &[theirs, ours] : kOtherKeys)
    if (theirs == entry.key)
      d.help = std::string(ours) + ": see docs/coming_from.md";
}

void check_choices(Reader &reader, const Node &list) {
  constexpr size_t kMost = 256;
  if (list.items.size() > kMost)
    reader.diags.add(DiagId::spec_too_many, list.place, {std::to_string(kMost), "choices in a list"}).help =
        "each is a set of functions: make several specs, or a scalar that is given at run time";
}

bool expect_table(Reader &reader, const Entry &entry, const std::string &wanted) {
  if (entry.value.kind == Node::Kind::table)
    return true;
  wrong_kind(reader, entry.value, ticked(entry.key), wanted);
  return false;
}

} // namespace kgen
