#include "spec/sketch.h"

#include <algorithm>

#include "spec/read.h"
#include "support/text.h"

namespace kgen {
namespace {

void add_words(const std::string &text, std::set<std::string> &words) {
  auto in_word = [](char c) { return is_identifier(std::string(1, c)) || (c >= '0' && c <= '9'); };
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t begin = at;
    while (at < text.size() && in_word(text[at]))
      ++at;
    if (at > begin)
      words.insert(text.substr(begin, at - begin));
  }
}

void add_words(const Node &node, std::set<std::string> &words) {
  if (node.kind == Node::Kind::string)
    add_words(node.text.text, words);
  for (const Node &item : node.items)
    add_words(item, words);
  for (const Entry &entry : node.entries) {
    add_words(entry.key, words);
    add_words(entry.value, words);
  }
}

bool is_text(const std::string &key) {
  constexpr std::string_view kTexts[] = {"kernel",   "doc",  "license",   "backward_of",
                                         "backward", "body", "functions", "functions_from"};
  return std::find(std::begin(kTexts), std::end(kTexts), key) != std::end(kTexts);
}

} // namespace

Sketch make_sketch(const Reader &reader, const Node &root) {
  Sketch out{reader.spec, reader.unusable, {}, false, reader.axes_incomplete};
  Spec &spec = out.spec;
  auto is = [&](const std::string &name, std::initializer_list<NameKind> kinds) {
    const auto found = reader.names.find(name);
    return found != reader.names.end() && reader.unusable.count(name) == 0 &&
           std::find(kinds.begin(), kinds.end(), found->second.kind) != kinds.end();
  };
  std::erase_if(spec.types,
                [&](const TypeParam &t) { return !is(t.name, {NameKind::type_param}) || t.choices.empty(); });
  std::erase_if(spec.params, [&](const Param &p) { return !is(p.name, {NameKind::param}) || p.choices.empty(); });
  // A type that was understood has a place.
  auto known_type = [&](const TypeName &type) {
    return type.param.empty() || type.param == kRealType
               ? type.place.line > 0
               : std::any_of(spec.types.begin(), spec.types.end(),
                             [&](const TypeParam &t) { return t.name == type.param; });
  };
  std::erase_if(spec.operands,
                [&](const OperandDecl &o) { return !is(o.name, {NameKind::operand}) || !known_type(o.type); });
  std::erase_if(spec.scalars, [&](const Scalar &s) { return !is(s.name, {NameKind::scalar}) || !known_type(s.type); });
  std::erase_if(spec.tables,
                [&](const TableDecl &t) { return !is(t.name, {NameKind::table}) || reader.broken.count(t.name) > 0; });
  std::erase_if(spec.grid, [&](const GridDecl &g) { return !is(g.name, {NameKind::grid}); });
  auto no_axis = [&](const std::string &name) { return !is(name, {NameKind::axis}); };
  std::erase_if(spec.axes, [&](const AxisDecl &a) { return no_axis(a.name); });
  std::erase_if(spec.axis_order, no_axis);
  for (OperandDecl &operand : spec.operands)
    for (DimDecl &dim : operand.dims)
      std::erase_if(dim.axes, no_axis);
  for (GridDecl &grid : spec.grid)
    if (no_axis(grid.axis))
      grid.axis.clear();

  for (const Entry &entry : root.entries)
    if (!is_text(entry.key)) {
      add_words(entry.key, out.words);
      add_words(entry.value, out.words);
    }
  for (const auto &[name, meaning] : reader.names)
    out.doubtful.insert(name);
  auto erase = [&](const std::string &name) {
    out.words.erase(name);
    out.doubtful.erase(name);
  };
  auto trust = [&](const auto &list) {
    for (const auto &row : list)
      erase(row.name);
  };
  trust(spec.types);
  trust(spec.params);
  trust(spec.operands);
  trust(spec.scalars);
  trust(spec.tables);
  trust(spec.grid);
  trust(spec.axes);
  for (const std::string &axis : spec.axis_order)
    erase(axis);
  const bool functions = root.find("functions") != nullptr || root.find("functions_from") != nullptr;
  out.usable = spec.body.given() && functions == !spec.functions.text.empty();
  return out;
}

} // namespace kgen
