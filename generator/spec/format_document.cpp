// Goes through the text once, token by token, and writes each logical line anew. Strings, numbers and comments are
// copied, never understood; what the document means is compared by the caller, before anything is written.
#include "spec/format_document.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "support/text.h"

namespace kgen {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string with_line_feeds(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || text.substr(i, 2) != "\r\n")
      out += text[i];
  return out;
}

std::string without_blanks_at_line_ends(std::string_view text) {
  std::string out;
  for (std::string_view line : split(text, '\n'))
    (out += line.substr(0, line.find_last_not_of(" \t") + 1)) += '\n';
  out.pop_back();
  return out;
}

// Is it C++, in which blanks at the end of a line say nothing? `doc` and `license` are prose.
bool is_code(std::string_view key) { return key == "body" || key == "functions"; }

// What C++ means by it: blanks at the ends of lines and blank lines before all others are nothing. TOML takes away the
// first line break behind the quotes, which a blank before it keeps.
std::string code_alone(std::string_view text) {
  std::string out = without_blanks_at_line_ends(text);
  return out.erase(0, std::min(out.find_first_not_of('\n'), out.size()));
}

// A line of the result. Its text may go over several lines; a blank line has neither text nor comment.
struct Line {
  std::string text;
  std::string comment;
  bool blank() const { return text.empty() && comment.empty(); }
};

class Formatter {
public:
  explicit Formatter(std::string_view text) : text_(text) {}

  std::string run() {
    while (skip_blanks(), at_ < text_.size()) {
      if (text_[at_] == '\n')
        take_line_break();
      else if (text_[at_] == '#')
        lines_.push_back({"", take_comment()});
      else if (text_[at_] == '[')
        header();
      else
        lines_.push_back(finished(key_and_value("")));
    }
    return joined();
  }

private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size()); }
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  // One line break ends a line, a second one leaves a blank line, further ones nothing.
  void take_line_break() {
    const size_t before = std::min(text_.find_last_not_of(" \t", at_ == 0 ? 0 : at_ - 1), text_.size());
    const bool ends_nothing = at_ == 0 || before == text_.size() || text_[before] == '\n';
    ++at_;
    if (ends_nothing && !lines_.empty() && !lines_.back().blank())
      lines_.push_back({});
  }

  std::string take_comment() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view comment = text_.substr(at_, end - at_);
    at_ = end;
    return std::string(comment.substr(0, comment.find_last_not_of(" \t") + 1));
  }

  Line finished(std::string text) {
    skip_blanks();
    return {std::move(text), next_is('#') ? take_comment() : ""};
  }

  // `a . "b c" . d`, without the blanks around dots.
  std::string key() {
    std::string out;
    while (skip_blanks(), at_ < text_.size() && std::strchr("=]\n", text_[at_]) == nullptr) {
      const bool quoted = text_[at_] == '"' || text_[at_] == '\'';
      const size_t end = text_[at_] == '.' ? at_ + 1
                         : quoted          ? skip_string(text_, at_)
                                           : std::min(text_.find_first_of(".=] \t\n", at_), text_.size());
      out += text_.substr(at_, end - at_);
      at_ = end;
    }
    return out;
  }

  std::string key_and_value(const std::string &indent) {
    const std::string name = key();
    ++at_; // the `=`
    return name + " = " + value(name, indent);
  }

  std::string value(const std::string &name, const std::string &indent) {
    skip_blanks();
    if (next_is('['))
      return list(indent);
    if (next_is('{'))
      return table(indent);
    const size_t begin = at_;
    if (next_is('\'') || next_is('"')) {
      at_ = std::min(skip_string(text_, at_), text_.size());
      const std::string string(text_.substr(begin, at_ - begin));
      return is_code(name) && string.starts_with("'''") ? without_blanks_at_line_ends(string) : string;
    }
    at_ = std::min(text_.find_first_of(",]}#\n", at_), text_.size());
    return std::string(trim(text_.substr(begin, at_ - begin)));
  }

  // A table in braces stands on one line.
  std::string table(const std::string &indent) {
    std::string out;
    for (++at_; skip_blanks(), at_ < text_.size() && !next_is('}');) {
      if (next_is(','))
        ++at_;
      else
        out += (out.empty() ? " " : ", ") + key_and_value(indent);
    }
    ++at_;
    return "{" + out + (out.empty() ? "}" : " }");
  }

  // A list over several lines keeps its lines, each with all its values, indented by one more step than its bracket.
  std::string list(const std::string &indent) {
    const std::string inner = indent + "  ";
    std::vector<Line> rows(1); // the first is what stands behind the bracket
    bool broken = false;
    for (++at_; skip_blanks(), at_ < text_.size() && !next_is(']');) {
      if (next_is(',')) {
        ++at_;
      } else if (next_is('\n')) {
        broken = true;
        ++at_;
        if (!rows.back().blank())
          rows.push_back({});
      } else if (next_is('#')) {
        broken = true;
        rows.back().comment = take_comment();
      } else {
        const std::string item = value("", inner);
        broken |= item.starts_with("[\n");
        rows.back().text += (rows.back().text.empty() ? "" : ", ") + item;
      }
    }
    ++at_;
    if (!broken)
      return "[" + rows[0].text + "]";
    std::erase_if(rows, [](const Line &row) { return row.blank(); });
    for (Line &row : rows)
      row = {inner + row.text + (row.text.empty() ? std::exchange(row.comment, "") : ","), row.comment};
    return "[\n" + (rows.empty() ? "" : aligned(rows)) + indent + "]";
  }

  // A header stands apart, with the comments above it.
  void header() {
    const bool of_list = text_.substr(at_, 2) == "[[";
    at_ += of_list ? 2 : 1;
    const std::string name = key();
    at_ += of_list ? 2 : 1;
    size_t first = lines_.size();
    while (first > 0 && lines_[first - 1].text.empty() && !lines_[first - 1].comment.empty())
      --first;
    if (first > 0 && !lines_[first - 1].blank())
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(first), Line{});
    lines_.push_back(finished((of_list ? "[[" : "[") + name + (of_list ? "]]" : "]")));
  }

  // Comments behind the text of neighbouring lines stand below each other.
  static std::string aligned(const std::vector<Line> &lines) {
    auto has_both = [](const Line &line) {
      return !line.text.empty() && !line.comment.empty() && line.text.find('\n') == std::string::npos;
    };
    std::string out;
    for (size_t i = 0; i < lines.size();) {
      size_t end = i, widest = 0;
      for (; end < lines.size() && has_both(lines[end]); ++end)
        widest = std::max(widest, display_width(lines[end].text));
      for (; i < end; ++i)
        out += lines[i].text + std::string(widest - display_width(lines[i].text) + 2, ' ') + lines[i].comment + "\n";
      if (i < lines.size() && !has_both(lines[i])) {
        out +=
            lines[i].text + (lines[i].text.empty() || lines[i].comment.empty() ? "" : "  ") + lines[i].comment + "\n";
        ++i;
      }
    }
    return out;
  }

  std::string joined() {
    while (!lines_.empty() && lines_.back().blank())
      lines_.pop_back();
    return aligned(lines_);
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Line> lines_;
};

bool same_text(std::string_view key, const Node &a, const Node &b) {
  if (is_code(key) && a.literal && b.literal)
    return code_alone(a.text.text) == code_alone(b.text.text);
  return a.text.text == b.text.text;
}

bool same_meaning(std::string_view key, const Node &a, const Node &b) {
  return a.kind == b.kind && a.literal == b.literal && same_text(key, a, b) && a.integer == b.integer &&
         std::memcmp(&a.number, &b.number, sizeof a.number) == 0 && a.boolean == b.boolean &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                    [](const Node &x, const Node &y) { return same_meaning("", x, y); }) &&
         std::equal(
             a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
             [](const Entry &x, const Entry &y) { return x.key == y.key && same_meaning(x.key, x.value, y.value); });
}

} // namespace

bool same_meaning(const Node &a, const Node &b) { return same_meaning("", a, b); }

std::string format_document(std::string_view text) {
  const bool marked = text.starts_with(kByteOrderMark);
  const std::string plain = with_line_feeds(text.substr(marked ? kByteOrderMark.size() : 0));
  return (marked ? std::string(kByteOrderMark) : "") + Formatter(plain).run();
}

} // namespace kgen
