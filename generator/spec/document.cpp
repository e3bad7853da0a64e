// The one file that sees toml++. Its trees are turned into Nodes, its columns (code points) into bytes, its exceptions
// into messages.
#include "spec/document.h"

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace kgen {
[[noreturn]] static void throw_malformed() { throw std::logic_error("malformed TOML"); }
} // namespace kgen

// The parser holds by assertions what some malformed texts break; here those are errors like others.
#define TOML_ASSERT(condition) ((condition) ? static_cast<void>(0) : ::kgen::throw_malformed())
#include <toml++/toml.h>

#include "support/files.h"
#include "support/text.h"

namespace kgen {

const Node *Node::find(std::string_view key) const {
  for (const Entry &entry : entries)
    if (entry.key == key)
      return &entry.value;
  return nullptr;
}

std::string_view kind_name(const Node &node) {
  constexpr std::string_view kNames[] = {
      "a string", "a whole number", "a number with a point", "a truth value", "a list", "a table", "a date"};
  return kNames[static_cast<size_t>(node.kind)];
}

size_t skip_string(std::string_view text, size_t i) {
  const char quote = text[i];
  const std::string triple(3, quote);
  const bool multiline = text.substr(i, 3) == triple;
  for (i += multiline ? 3 : 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\')
      ++i;
    else if (multiline && text.substr(i, 3) == triple) { // up to two more quotes are content
      const size_t most = std::min(i + 5, text.size());
      for (i += 3; i < most && text[i] == quote;)
        ++i;
      return i;
    } else if (!multiline && (text[i] == quote || text[i] == '\n'))
      return i + 1;
  }
  return text.size();
}

namespace {

constexpr int kDeepest = 32;    // brackets and braces within each other
constexpr int kLongestKey = 16; // parts of a dotted key
constexpr int64_t kMostValues = 20'000;

// The text with its line starts: offsets to places and, from the columns of the parser (code points), back.
class Source {
public:
  Source(const std::string &file, std::string_view text) : file_(file), text_(text), starts_{0}, first_letters_{0} {
    for (size_t i = 0; i < text.size(); ++i) {
      if ((text[i] & 0xC0) != 0x80)
        letters_.push_back(i);
      if (text[i] == '\n') {
        starts_.push_back(i + 1);
        first_letters_.push_back(letters_.size());
      }
    }
    letters_.push_back(text.size());
  }
  std::string_view text() const { return text_; }
  size_t lines() const { return starts_.size(); }
  std::string_view first_lines(size_t count) const {
    return text_.substr(0, count < starts_.size() ? starts_[count] : text_.size());
  }
  size_t offset(const toml::source_position &position) const {
    const size_t line = std::clamp<size_t>(position.line, 1, starts_.size()) - 1;
    const size_t letter = first_letters_[line] + std::max<size_t>(position.column, 1) - 1;
    return letters_[std::min(letter, letters_.size() - 1)];
  }
  std::pair<int, int> position(size_t offset) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    return {static_cast<int>(after - starts_.begin()), static_cast<int>(offset - *(after - 1)) + 1};
  }
  Place place(size_t begin, size_t end) const {
    const auto [line, column] = position(begin);
    const size_t next =
        static_cast<size_t>(line) < starts_.size() ? starts_[static_cast<size_t>(line)] - 1 : text_.size();
    const size_t line_end = next > begin && text_[next - 1] == '\r' ? next - 1 : next;
    const size_t length = std::max<size_t>(std::min(end, line_end) - std::min(begin, line_end), 1);
    return {file_, line, column, static_cast<int>(length)};
  }
  Place place(const toml::source_region &region) const { return place(offset(region.begin), offset(region.end)); }

private:
  const std::string &file_;
  std::string_view text_;
  std::vector<size_t> starts_;        // of lines
  std::vector<size_t> letters_;       // offsets of code points, and the end
  std::vector<size_t> first_letters_; // of lines, in letters_
};

// --- before parsing ---

bool check_bytes(const Source &source, Diagnostics &diags) {
  const std::string_view text = source.text();
  auto refuse = [&](size_t at, const std::string &what) {
    diags.add(DiagId::spec_not_text, source.place(at, at + 1), {what});
    return false;
  };
  if (const size_t bad = find_bad_utf8(text); bad != std::string_view::npos)
    return refuse(bad, "this byte is not UTF-8");
  if (const size_t bad = find_control(text); bad != std::string_view::npos)
    return refuse(bad, "this is a control character");
  return true;
}

// The parser and the trees it builds recurse; dotted keys nest as brackets do.
bool check_nesting(const Source &source, Diagnostics &diags) {
  const std::string_view text = source.text();
  int depth = 0, dots = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      i = skip_string(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    dots = c == '.' ? dots + 1 : (c == '\n' || c == '=' || c == ',') ? 0 : dots;
    if (depth > kDeepest || dots > kLongestKey) {
      diags.add(DiagId::spec_nested_too_deeply, source.place(i, i + 1));
      return false;
    }
    ++i;
  }
  return true;
}

// --- the parser's own errors ---

struct SyntaxHelp {
  std::string_view part; // of the parser's message
  std::string_view help;
};
constexpr SyntaxHelp kSyntaxHelp[] = {
    {"cannot redefine", "a key is set once; write a table with dotted keys or under a [header], not both"},
    {"could not determine value type", "names and expressions stand in quotes: \"cdiv(M, 2)\""},
    {"control characters", "a string in \" or ' ends on its line; ''' holds several lines"},
    {"encountered end-of-file", "a string must be closed by the quotes that opened it"},
    {"expected '=', saw", "a value is given by `key = value`"},
    {"expected value, saw", "a value stands after `=`, on the same line"},
    {"expected bare key", "a key is a name, or several joined by dots: inputs.x"},
    {"inline table", "a table in braces stands on one line, its keys separated by commas"},
    {"not representable in 64 bits", "the largest number is 9223372036854775807"},
    {"leading zeroes", "write the number without leading zeros"},
};

void report_syntax(const toml::parse_error &error, const Source &source, Diagnostics &diags) {
  std::string text(error.description());
  // "Error while parsing X: Y" reads better the other way round.
  constexpr std::string_view kPrefix = "Error while parsing ";
  if (const size_t colon = text.find(": "); text.starts_with(kPrefix) && colon != std::string::npos)
    text = text.substr(colon + 2) + " (in " + text.substr(kPrefix.size(), colon - kPrefix.size()) + ")";
  // What the parser shows of a key in quotes is garbled.
  if (text.find("cannot redefine") != std::string::npos)
    text = "what this sets has a value already";
  Diagnostic &d = diags.add(DiagId::toml_syntax, source.place(error.source()), {text});
  for (const SyntaxHelp &row : kSyntaxHelp)
    if (error.description().find(row.part) != std::string_view::npos) {
      d.help = row.help;
      return;
    }
}

// --- the tree ---

// Where each byte of a string with escapes comes from. Follows the file and the content side by side.
std::vector<std::pair<int, int>> map_escapes(const Source &source, size_t at, std::string_view content) {
  const std::string_view text = source.text();
  std::vector<std::pair<int, int>> exact;
  auto give = [&](size_t from, size_t count) {
    for (size_t i = 0; i < count && exact.size() < content.size(); ++i)
      exact.push_back(source.position(from));
  };
  while (at < text.size() && exact.size() < content.size()) {
    if (text[at] != '\\') {
      if (text[at] != '\r')
        give(at, 1);
      ++at;
      continue;
    }
    const char kind = at + 1 < text.size() ? text[at + 1] : '\0';
    if (kind == 'u' || kind == 'U') {
      const unsigned char first = static_cast<unsigned char>(content[exact.size()]);
      give(at, first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4);
      at += kind == 'u' ? 6 : 10;
    } else if (kind == '\n' || kind == '\r' || kind == ' ' || kind == '\t') { // a line that goes on below
      at = std::min(text.find_first_not_of(" \t\r\n", at + 1), text.size());
    } else {
      give(at, 1);
      at += 2;
    }
  }
  return exact;
}

void read_string(Node &node, const toml::node &value, const Source &source) {
  const size_t begin = source.offset(value.source().begin);
  const std::string_view text = source.text();
  const char quote = text[begin];
  const bool multiline = text.substr(begin, 3) == std::string(3, quote);
  size_t at = begin + (multiline ? 3 : 1);
  if (multiline) // the first line break belongs to the quotes
    at += text.substr(at, 1) == "\n" ? 1 : text.substr(at, 2) == "\r\n" ? 2 : 0;
  node.literal = quote == '\'';
  node.text.text = value.ref<std::string>();
  node.text.start = source.place(at, at + node.text.text.size());
  if (!node.literal && text.substr(at, source.offset(value.source().end) - at).find('\\') != std::string_view::npos)
    node.text.exact = map_escapes(source, at, node.text.text);
}

Node convert(const toml::node &value, const Source &source, int64_t &budget) {
  Node node;
  node.place = source.place(value.source());
  if (--budget < 0)
    return node;
  if (value.is_string()) {
    node.kind = Node::Kind::string;
    read_string(node, value, source);
  } else if (value.is_integer()) {
    node.kind = Node::Kind::integer;
    node.integer = value.ref<int64_t>();
  } else if (value.is_floating_point()) {
    node.kind = Node::Kind::number;
    node.number = value.ref<double>();
  } else if (value.is_boolean()) {
    node.kind = Node::Kind::boolean;
    node.boolean = value.ref<bool>();
  } else if (const toml::array *list = value.as_array()) {
    node.kind = Node::Kind::list;
    for (const toml::node &item : *list)
      node.items.push_back(convert(item, source, budget));
  } else if (const toml::table *table = value.as_table()) {
    for (const auto &[key, item] : *table)
      node.entries.push_back({std::string(key.str()), source.place(key.source()), convert(item, source, budget)});
    // The parser sorts by key; arguments go by position.
    std::stable_sort(node.entries.begin(), node.entries.end(), [](const Entry &a, const Entry &b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
  } else {
    node.kind = Node::Kind::date;
  }
  return node;
}

} // namespace

namespace {

bool breaks_parser(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error &) {
    return false;
  } catch (const std::exception &) {
    return true;
  }
  return false;
}

// The parser did not say where it broke: the line without which it does not.
Place find_malformed(const Source &source) {
  size_t good = 0, bad = source.lines();
  while (bad - good > 1) {
    const size_t middle = (good + bad) / 2;
    (breaks_parser(source.first_lines(middle)) ? bad : good) = middle;
  }
  const size_t begin = source.first_lines(good).size();
  return source.place(begin, source.first_lines(bad).size());
}

} // namespace

std::optional<Node> read_document(const std::string &file, std::string_view text, Diagnostics &diags) {
  const Place whole{file, 0, 0, 0};
  if (text.size() > kLargestSource) {
    diags.add(DiagId::spec_too_large, whole, {"more than " + std::to_string(kLargestSource) + " bytes"});
    return std::nullopt;
  }
  const Source source(file, text);
  if (!check_bytes(source, diags) || !check_nesting(source, diags))
    return std::nullopt;
  try {
    const toml::table table = toml::parse(text);
    int64_t budget = kMostValues;
    Node root = convert(table, source, budget);
    if (budget >= 0)
      return root;
    diags.add(DiagId::spec_too_large, whole, {"more than " + std::to_string(kMostValues) + " values"});
  } catch (const toml::parse_error &error) {
    report_syntax(error, source, diags);
  } catch (const std::exception &) {
    diags.add(DiagId::toml_syntax, find_malformed(source), {"this line is not TOML"});
  }
  return std::nullopt;
}

} // namespace kgen
