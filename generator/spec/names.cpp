// The one namespace of a spec: which names may stand, and which axes exist.
#include <algorithm>
#include <utility>

#include "spec/read.h"
#include "support/text.h"

namespace kgen {

namespace {

enum class ReservedKind { keyword, type, builtin };
struct Reserved {
  std::string_view word;
  ReservedKind kind;
};
constexpr Reserved kReserved[] = {
#define KGEN_RESERVED(word, kind) {word, ReservedKind::kind},
#include "spec/reserved.def"
#undef KGEN_RESERVED
};

const Reserved *find_reserved(std::string_view word) {
  const auto row =
      std::find_if(std::begin(kReserved), std::end(kReserved), [&](const Reserved &r) { return r.word == word; });
  return row == std::end(kReserved) ? nullptr : row;
}

std::string reserved_reason(std::string_view name) {
  if (const Reserved *row = find_reserved(name)) {
    constexpr std::string_view kReasons[] = {"a word of C++", "a type of the body language",
                                             "built into the body language"};
    return std::string(kReasons[static_cast<size_t>(row->kind)]);
  }
  const bool compilers = name.find("__") != std::string_view::npos ||
                         (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
  if (compilers)
    return "a name that C++ keeps for compilers";
  return name == "kgen" || name.starts_with("kgen_") ? "one of kgen's own names" : "";
}

bool check_form(Reader &reader, const std::string &name, const Place &place) {
  constexpr size_t kLongest = 100;
  if (!is_identifier(name) || name.size() > kLongest) {
    reader.diags.add(DiagId::spec_bad_name, place, {name.substr(0, kLongest)}).help =
        "a name has up to 100 letters, digits and _, and does not begin with a digit";
    reader.unusable.insert(name);
    return false;
  }
  if (const std::string reason = reserved_reason(name); !reason.empty()) {
    reader.diags.add(DiagId::spec_reserved_name, place, {name, reason}).help = "choose another name";
    reader.unusable.insert(name);
    return false;
  }
  return true;
}

} // namespace

void add_first_label(Diagnostic &d, const Name &name) {
  if (name.place.line > 0)
    d.labels.push_back({name.place, "first here"});
}

bool is_keyword(std::string_view word) {
  const Reserved *row = find_reserved(word);
  return row != nullptr && row->kind == ReservedKind::keyword;
}

bool declare(Reader &reader, const std::string &name, const Place &place, NameKind kind, const std::string &what) {
  const auto [found, fresh] = reader.names.try_emplace(name, Name{kind, what, place, false});
  if (!fresh) {
    add_first_label(reader.diags.add(DiagId::spec_name_taken, place, {name, found->second.what}), found->second);
    reader.unusable.insert(name);
    return false;
  }
  return check_form(reader, name, place);
}

std::vector<std::string> names_of(const Reader &reader, std::initializer_list<NameKind> kinds) {
  constexpr size_t kMost = 1000; // then nobody reads the hints that these are for
  std::vector<std::string> out;
  if (reader.names.size() > kMost)
    return out;
  for (const auto &[name, info] : reader.names)
    if (std::find(kinds.begin(), kinds.end(), info.kind) != kinds.end())
      out.push_back(name);
  return out;
}

namespace {

constexpr size_t kMostAxes = 64;

// An axis comes to life by standing in brackets.
void mention_axis(Reader &reader, const std::string &name, const Place &place) {
  const auto [found, fresh] = reader.names.try_emplace(name, Name{NameKind::axis, "an axis", place, false});
  if (fresh)
    check_form(reader, name, place);
  if (found->second.kind != NameKind::axis) {
    if (std::exchange(found->second.misused, true))
      return;
    Diagnostic &d = reader.diags.add(DiagId::spec_not_an_axis, place, {name, found->second.what});
    add_first_label(d, found->second);
    if (found->second.kind == NameKind::batch)
      d.help = "a batch axis is added to its operands by kgen: leave it out of the brackets";
    else if (found->second.kind == NameKind::param)
      d.help = "give the dimension an axis of its own: X=" + name;
    return;
  }
  std::vector<std::string> &order = reader.spec.axis_order;
  if (order.size() > kMostAxes)
    return;
  if (std::find(order.begin(), order.end(), name) == order.end())
    order.push_back(name);
}

// The names of an expression in brackets; those that are no axes are looked at when expressions are resolved.
void mention_size(Reader &reader, const Size &size) {
  if (size.op == Size::Op::axis) {
    const auto found = reader.names.find(size.name);
    if (found == reader.names.end() || found->second.kind == NameKind::axis)
      mention_axis(reader, size.name, size.place);
  }
  for (const Size &arg : size.args)
    mention_size(reader, arg);
}

void mention_dims(Reader &reader, const OperandDecl &operand) {
  for (const DimDecl &dim : operand.dims) {
    for (const std::string &axis : dim.axes)
      mention_axis(reader, axis, dim.place);
    if (dim.extent)
      mention_size(reader, *dim.extent);
  }
}

} // namespace

void find_axes(Reader &reader) {
  // Operands and tables lie in file order each; taken together they are in the order of the file.
  const std::vector<OperandDecl> &operands = reader.spec.operands;
  const std::vector<TableDecl> &tables = reader.spec.tables;
  auto before = [](const Place &a, const Place &b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  };
  size_t operand = 0, table = 0;
  while (operand < operands.size() || table < tables.size()) {
    const bool take_operand =
        table == tables.size() || (operand < operands.size() && before(operands[operand].place, tables[table].place));
    if (take_operand)
      mention_dims(reader, operands[operand++]);
    else
      for (const Size &dim : tables[table++].dims)
        mention_size(reader, dim);
  }
  for (const AxisDecl &axis : reader.spec.axes)
    mention_axis(reader, axis.name, axis.place);
  if (reader.spec.axis_order.size() + reader.spec.batch.size() > kMostAxes)
    reader.diags.add(DiagId::spec_too_many, reader.file, {std::to_string(kMostAxes), "axes"});
}

} // namespace kgen
