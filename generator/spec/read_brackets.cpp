// The type strings: "T[B, N, C=4]", "f32[(G C), ...]" of operands and "i32[B + 1]" of tables.
#include <algorithm>
#include <set>

#include "spec/parse_size.h"
#include "spec/read.h"
#include "support/text.h"

namespace kgen {

namespace {

constexpr size_t kMostDimensions = 64;

struct Brackets {
  PlacedText type;
  std::vector<PlacedText> dims;
};

// The offset after the bracket that closes the one at `open`, or npos.
size_t find_closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += (text[i] == '[' || text[i] == '(') - (text[i] == ']' || text[i] == ')');
    if (depth == 0)
      return i;
  }
  return std::string_view::npos;
}

// At commas that stand in no inner bracket.
std::vector<PlacedText> split_commas(const PlacedText &text) {
  std::vector<PlacedText> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.text.size(); ++i) {
    const char c = i < text.text.size() ? text.text[i] : ',';
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c != ',' || (depth > 0 && i < text.text.size()))
      continue;
    parts.push_back(text.part(begin, i - begin).trimmed());
    begin = i + 1;
    if (parts.size() > kMostDimensions)
      break;
  }
  return parts;
}

std::optional<Brackets> split_brackets(Reader &reader, const PlacedText &whole) {
  const std::string_view text = whole.text;
  const size_t open = text.find('[');
  if (open == std::string_view::npos) {
    reader.diags.add(DiagId::spec_brackets_missing, whole.at(0, text.size()), {std::string(trim(text))}).help =
        "name its dimensions, as in \"f32[M, N]\"; \"f32[]\" is a single value";
    return std::nullopt;
  }
  const size_t close = find_closing(text, open);
  if (close == std::string_view::npos || text[close] != ']') {
    reader.diags.add(DiagId::spec_brackets_open, whole.at(open, text.size() - open));
    return std::nullopt;
  }
  const PlacedText rest = whole.part(close + 1, text.size()).trimmed();
  if (!rest.text.empty()) {
    reader.diags.add(DiagId::spec_brackets_rest, rest.start, {rest.text});
    return std::nullopt;
  }
  Brackets out;
  out.type = whole.part(0, open).trimmed();
  const PlacedText inside = whole.part(open + 1, close - open - 1);
  if (!trim(inside.text).empty())
    out.dims = split_commas(inside);
  if (out.dims.size() > kMostDimensions) {
    reader.diags.add(DiagId::spec_too_many, whole.at(open), {std::to_string(kMostDimensions), "dimensions"});
    return std::nullopt;
  }
  for (const PlacedText &dim : out.dims)
    if (dim.text.empty()) {
      reader.diags.add(DiagId::spec_dimension_empty, dim.start);
      return std::nullopt;
    }
  return out;
}

Place place_of(const PlacedText &text) { return text.at(0, text.text.size()); }

bool bad_dimension(Reader &reader, const PlacedText &text, const std::string &help) {
  reader.diags.add(DiagId::spec_bad_dimension, place_of(text), {text.text}).help = help;
  return false;
}

// What to write for `C=4`, or anything else that is no name, in `(G C)`.
std::string split_help(const std::string &part) {
  const size_t equals = part.find('=');
  const std::string axis = part.substr(0, equals), extent = equals == std::string::npos ? "" : part.substr(equals + 1);
  if (is_identifier(axis) && !extent.empty()) {
    const bool is_number = extent.find_first_not_of("0123456789") == std::string::npos;
    return "write the axis alone, and its extent as `axes." + axis + " = " +
           (is_number ? extent : "{ equals = \"" + extent + "\" }") + "`";
  }
  return "a split dimension is written (G C): axes separated by blanks";
}

// `(G C)`: names separated by blanks.
bool read_split(Reader &reader, const PlacedText &text, DimDecl &dim) {
  const size_t close = text.text.find(')');
  if (close != text.text.size() - 1)
    return bad_dimension(reader, text, "a split dimension is written (G C): two or more axes, outermost first");
  for (size_t at = 1; at < close;) {
    const size_t begin = text.text.find_first_not_of(" \t\n", at);
    if (begin >= close)
      break;
    const size_t end = std::min(text.text.find_first_of(" \t\n)", begin), close);
    const PlacedText name = text.part(begin, end - begin);
    if (!is_identifier(name.text))
      return bad_dimension(reader, text, split_help(name.text));
    dim.axes.push_back(name.text);
    at = end;
  }
  return dim.axes.size() >= 2 ||
         bad_dimension(reader, text, "a split dimension has two or more axes: (G C); one axis needs no parentheses");
}

bool read_dimension(Reader &reader, const PlacedText &text, bool leading, DimDecl &dim) {
  dim.place = place_of(text);
  if (text.text == "...") {
    dim.kind = DimDecl::Kind::rest;
    dim.axes = {std::string(kRestAxis)};
    return leading || bad_dimension(reader, text, "`...` stands for all dimensions before: it comes first");
  }
  if (text.text == "1") {
    dim.kind = DimDecl::Kind::one;
    return true;
  }
  if (text.text[0] == '(')
    return read_split(reader, text, dim);
  const size_t equals = text.text.find('=');
  const bool has_extent = equals != std::string::npos && text.text.compare(equals, 2, "==") != 0;
  const PlacedText name = has_extent ? text.part(0, equals).trimmed() : text;
  if (!is_identifier(name.text)) {
    const bool number = !text.text.empty() && text.text.find_first_not_of("0123456789") == std::string::npos;
    return bad_dimension(reader, text,
                         "a dimension is an axis: write X=" + (number || text.text.size() <= 40 ? text.text : "size") +
                             " with an axis X of your naming");
  }
  dim.axes = {name.text};
  if (has_extent) {
    dim.extent = parse_size(text.part(equals + 1, text.text.size()).trimmed(), reader.diags);
    return dim.extent.has_value();
  }
  return true;
}

// The same axis twice in one array has no meaning by name.
bool check_repeated(Reader &reader, const std::vector<DimDecl> &dims) {
  std::set<std::string> seen;
  for (const DimDecl &dim : dims)
    for (const std::string &axis : dim.axes) {
      if (!seen.insert(axis).second) {
        reader.diags.add(DiagId::spec_axis_twice, dim.place, {axis}).help =
            "give one of them a name of its own: a square matrix is [M, K=M]";
        return false;
      }
    }
  return true;
}

} // namespace

std::optional<std::pair<TypeName, std::vector<DimDecl>>> read_operand_type(Reader &reader, const PlacedText &text) {
  const auto brackets = split_brackets(reader, text);
  if (!brackets)
    return std::nullopt;
  const auto type = read_type(reader, brackets->type);
  bool good = type.has_value();
  std::vector<DimDecl> dims;
  for (const PlacedText &part : brackets->dims) {
    DimDecl dim;
    good = read_dimension(reader, part, dims.empty(), dim) && good;
    dims.push_back(std::move(dim));
  }
  if (!good || !check_repeated(reader, dims))
    return std::nullopt;
  return std::pair(*type, std::move(dims));
}

std::optional<std::pair<TypeName, std::vector<Size>>> read_table_type(Reader &reader, const PlacedText &text) {
  const auto brackets = split_brackets(reader, text);
  if (!brackets)
    return std::nullopt;
  const auto type = read_type(reader, brackets->type);
  bool good = type.has_value();
  std::vector<Size> dims;
  for (const PlacedText &part : brackets->dims) {
    auto size = parse_size(part, reader.diags);
    good = good && size.has_value();
    dims.push_back(size.value_or(Size::integer(1)));
  }
  if (!good)
    return std::nullopt;
  return std::pair(*type, std::move(dims));
}

} // namespace kgen
