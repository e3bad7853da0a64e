// Collecting messages and showing them in four forms: for people (with the line and a caret), as one line each (for
// editors), as one JSON object a line, and as annotations of a code host.
#include "support/diagnostics.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "support/text.h"

namespace kgen {

const std::vector<DiagnosticRow> &diagnostic_rows() {
  static const std::vector<DiagnosticRow> rows = {
#define KGEN_DIAGNOSTIC(id, code, severity, text, help) {#id, code, Severity::severity, text, help},
#include "support/diagnostics.def"
#undef KGEN_DIAGNOSTIC
  };
  return rows;
}

bool begin_alike(const Place &a, const Place &b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

const DiagnosticRow &diagnostic_row(DiagId id) { return diagnostic_rows()[static_cast<size_t>(id)]; }

namespace {

// Whole code points, as many as a person reads.
std::string_view shortened(std::string_view text) {
  constexpr size_t kMost = 1000;
  size_t end = std::min(text.size(), kMost);
  while (end < text.size() && (text[end] & 0xC0) == 0x80)
    --end;
  return text.substr(0, end);
}

// Replaces {0} .. {9}; an argument is never looked into again.
std::string substitute(std::string_view text, const std::vector<std::string> &arguments) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool slot =
        text[i] == '{' && i + 2 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9' && text[i + 2] == '}';
    if (!slot) {
      out += text[i];
      continue;
    }
    const size_t index = static_cast<size_t>(text[i + 1] - '0');
    if (index < arguments.size())
      out += shortened(arguments[index]);
    i += 2;
  }
  return out;
}

} // namespace

Diagnostic &Diagnostics::add(DiagId id, const Place &place, const std::vector<std::string> &arguments) {
  const DiagnosticRow &row = diagnostic_row(id);
  errors_ += row.severity == Severity::error;
  list_.push_back({id, row.severity, place, substitute(row.text, arguments), {}, {}});
  return list_.back();
}

// What could not be proved for one variant of a spec says nothing beside the witness that another one has.
constexpr std::pair<DiagId, DiagId> kUnprovedAndWitnessed[] = {{DiagId::revisit_unknown, DiagId::late_revisit},
                                                               {DiagId::cover_unknown, DiagId::not_covered}};

std::vector<Diagnostic> Diagnostics::sorted() const {
  // Files in the order in which they were read.
  std::map<std::string_view, size_t> order;
  for (const auto &[file, text] : sources_)
    order.emplace(file, order.size());
  auto key = [&](const Diagnostic &d) {
    const auto found = order.find(d.place.file);
    return std::tuple(found == order.end() ? order.size() : found->second, std::string_view(d.place.file), d.place.line,
                      d.place.column);
  };
  std::vector<Diagnostic> out = list_;
  std::stable_sort(out.begin(), out.end(), [&](const Diagnostic &a, const Diagnostic &b) { return key(a) < key(b); });
  auto same = [&](const Diagnostic &a, const Diagnostic &b) {
    return a.id == b.id && key(a) == key(b) && a.text == b.text;
  };
  using Said = std::tuple<std::string_view, int, int, DiagId>;
  std::set<Said> said;
  for (const Diagnostic &d : list_)
    said.emplace(d.place.file, d.place.line, d.place.column, d.id);
  std::erase_if(out, [&](const Diagnostic &d) {
    return std::any_of(std::begin(kUnprovedAndWitnessed), std::end(kUnprovedAndWitnessed), [&](const auto &row) {
      return row.first == d.id && said.count({d.place.file, d.place.line, d.place.column, row.second}) != 0;
    });
  });
  // Equal ones need not be neighbours when others stand at the same place.
  std::vector<Diagnostic> unique;
  for (Diagnostic &d : out) {
    bool repeated = false;
    for (auto it = unique.rbegin(); it != unique.rend() && key(*it) == key(d) && !repeated; ++it)
      repeated = same(*it, d);
    if (!repeated)
      unique.push_back(std::move(d));
  }
  return unique;
}

void Diagnostics::add_source(std::string file, std::string text) {
  for (auto &[name, held] : sources_)
    if (name == file) {
      held = std::move(text);
      return;
    }
  sources_.emplace_back(std::move(file), std::move(text));
}

void Diagnostics::append(Diagnostics other) {
  std::move(other.list_.begin(), other.list_.end(), std::back_inserter(list_));
  errors_ += other.errors_;
  for (auto &[file, text] : other.sources_)
    add_source(std::move(file), std::move(text));
}

void Diagnostics::drop(std::string_view code, std::string_view file) {
  std::erase_if(list_, [&](const Diagnostic &d) {
    return d.severity != Severity::error && diagnostic_row(d.id).code == code && (file.empty() || d.place.file == file);
  });
}

namespace {

std::string_view help_of(const Diagnostic &d) { return d.help.empty() ? diagnostic_row(d.id).help : d.help; }

std::string_view severity_name(Severity severity) {
  constexpr std::string_view kNames[] = {"error", "warning", "note"};
  return kNames[static_cast<size_t>(severity)];
}

// --- for people ---

// The lines of the sources, found once.
class Lines {
public:
  explicit Lines(const std::vector<std::pair<std::string, std::string>> &sources) {
    for (const auto &[file, text] : sources) {
      std::vector<std::string_view> &lines = lines_[file];
      for (std::string_view rest = text;;) {
        const size_t end = rest.find('\n');
        std::string_view line = rest.substr(0, end);
        if (!line.empty() && line.back() == '\r')
          line.remove_suffix(1);
        lines.push_back(line);
        if (end == std::string_view::npos)
          break;
        rest.remove_prefix(end + 1);
      }
    }
  }
  std::optional<std::string_view> line(const Place &place) const {
    const auto found = lines_.find(place.file);
    if (found == lines_.end() || place.line < 1 || static_cast<size_t>(place.line) > found->second.size())
      return std::nullopt;
    return found->second[static_cast<size_t>(place.line) - 1];
  }

private:
  std::map<std::string_view, std::vector<std::string_view>> lines_;
};

struct Colors {
  std::string_view error, warning, note, frame, help, strong, reset;
};
constexpr Colors kPlain{"", "", "", "", "", "", ""};
constexpr Colors kTerminal{"\033[1;31m", "\033[1;33m", "\033[1;36m", "\033[1;34m", "\033[1;36m", "\033[1m", "\033[0m"};

// A piece of a line under which something is said.
struct Mark {
  Place place;
  std::string text;
  char symbol;
};

// Prints one line of the source with its marks below it. A very long line is cut to the part around the first mark.
void show_line(std::string &out, std::string_view line, const std::vector<Mark> &marks, size_t margin,
               const Colors &colors, std::string_view color) {
  constexpr size_t kWidest = 180;
  size_t begin = 0;
  const size_t first = static_cast<size_t>(std::max(marks.front().place.column - 1, 0));
  if (line.size() > kWidest && first > kWidest / 2)
    begin = std::min(first, line.size()) - kWidest / 2;
  while (begin < line.size() && (line[begin] & 0xC0) == 0x80)
    ++begin;
  const std::string_view shown = line.substr(begin, kWidest);
  const std::string number = std::to_string(marks.front().place.line);
  const std::string frame = std::string(colors.frame);
  out += frame + std::string(margin - number.size(), ' ') + number + " |" + std::string(colors.reset) + " " +
         printable(shown) + "\n";
  for (const Mark &mark : marks) {
    if (mark.place.column < 1)
      continue;
    const size_t at = static_cast<size_t>(mark.place.column - 1);
    if (at < begin || at > line.size() || at - begin > kWidest)
      continue;
    std::string pad;
    for (const char c : shown.substr(0, at - begin))
      if ((c & 0xC0) != 0x80)
        pad += c == '\t' ? '\t' : ' ';
    const size_t length = std::min(static_cast<size_t>(std::max(mark.place.length, 1)), kWidest - (at - begin));
    const size_t width = std::max<size_t>(display_width(line.substr(at, length)), 1);
    const bool primary = mark.symbol == '^';
    out += frame + std::string(margin, ' ') + " | " + std::string(colors.reset) + pad +
           std::string(primary ? color : colors.frame) + std::string(width, mark.symbol) +
           (mark.text.empty() ? "" : " " + printable(mark.text)) + std::string(colors.reset) + "\n";
  }
}

void show_human(std::string &out, const Diagnostic &d, const Lines &lines, const Colors &colors) {
  const std::string_view color = d.severity == Severity::error     ? colors.error
                                 : d.severity == Severity::warning ? colors.warning
                                                                   : colors.note;
  out += std::string(color) + std::string(severity_name(d.severity)) + "[" + std::string(diagnostic_row(d.id).code) +
         "]" + std::string(colors.reset) + std::string(colors.strong) + ": " + printable(d.text) +
         std::string(colors.reset) + "\n";
  // The message's own place first, then labels in other files; within a file, lines in order.
  std::vector<std::string> files = {d.place.file};
  std::vector<Mark> marks = {{d.place, "", '^'}};
  for (const Label &label : d.labels) {
    marks.push_back({label.place, label.text, '-'});
    if (std::find(files.begin(), files.end(), label.place.file) == files.end())
      files.push_back(label.place.file);
  }
  size_t margin = 1;
  for (const Mark &mark : marks)
    margin = std::max(margin, std::to_string(std::max(mark.place.line, 0)).size());
  const std::string indent(margin, ' ');
  const std::string frame(colors.frame), reset(colors.reset);
  for (const std::string &file : files) {
    std::map<int, std::vector<Mark>> by_line;
    Place head{file, 0, 0, 1};
    for (const Mark &mark : marks)
      if (mark.place.file == file) {
        if (head.line == 0)
          head = mark.place;
        by_line[mark.place.line].push_back(mark);
      }
    if (file.empty())
      continue;
    out += indent + frame + (&file == &files.front() ? "--> " : "::: ") + reset + printable(file);
    if (head.line > 0)
      out += ":" + std::to_string(head.line) + (head.column > 0 ? ":" + std::to_string(head.column) : "");
    out += "\n";
    int previous = 0;
    for (const auto &[number, here] : by_line) {
      const auto line = lines.line(here.front().place);
      if (!line)
        continue;
      if (previous == 0)
        out += frame + indent + " |" + reset + "\n";
      else if (number > previous + 1)
        out += frame + indent + " ..." + reset + "\n";
      show_line(out, *line, here, margin, colors, color);
      previous = number;
    }
  }
  if (const std::string_view help = help_of(d); !help.empty())
    out += frame + indent + " = " + reset + std::string(colors.help) + "help" + reset + ": " + printable(help) + "\n";
}

std::string render_human(const std::vector<Diagnostic> &list, const Lines &lines, bool color) {
  constexpr size_t kMost = 50; // more is no help at once
  std::string out;
  for (size_t i = 0; i < std::min(list.size(), kMost); ++i) {
    if (i > 0)
      out += "\n";
    show_human(out, list[i], lines, color ? kTerminal : kPlain);
  }
  if (list.size() > kMost)
    out += "\n... and " + std::to_string(list.size() - kMost) + " more\n";
  return out;
}

// --- for programs ---

std::string json_place(const Place &place) {
  return "\"file\":" + json_string(place.file) + ",\"line\":" + std::to_string(place.line) +
         ",\"column\":" + std::to_string(place.column) + ",\"length\":" + std::to_string(place.length);
}

std::string render_json(const Diagnostic &d) {
  std::string labels;
  for (const Label &label : d.labels)
    labels +=
        (labels.empty() ? "" : ",") + ("{" + json_place(label.place)) + ",\"text\":" + json_string(label.text) + "}";
  return "{\"code\":" + json_string(diagnostic_row(d.id).code) + ",\"name\":" + json_string(diagnostic_row(d.id).name) +
         ",\"severity\":" + json_string(severity_name(d.severity)) + ",\"message\":" + json_string(d.text) + "," +
         json_place(d.place) + ",\"labels\":[" + labels + "],\"help\":" + json_string(help_of(d)) + "}\n";
}

std::string render_short(const Diagnostic &d) {
  std::string out = printable(d.place.file);
  if (d.place.line > 0)
    out += ":" + std::to_string(d.place.line) + ":" + std::to_string(d.place.column);
  if (!out.empty())
    out += ": ";
  out += std::string(severity_name(d.severity)) + ": " + printable(d.text);
  if (const std::string_view help = help_of(d); !help.empty())
    out += " (" + printable(help) + ")";
  return out + " [" + std::string(diagnostic_row(d.id).code) + "]\n";
}

// Workflow commands end at a newline and are percent-escaped; properties also cannot hold `:` and `,`.
std::string github_escape(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

std::string render_github(const Diagnostic &d) {
  const std::string command(d.severity == Severity::note ? "notice" : severity_name(d.severity));
  std::string out = "::" + command + " ";
  if (d.place.file != kCommandLine)
    out += "file=" + github_escape(d.place.file, true);
  if (d.place.line > 0 && d.place.file != kCommandLine)
    out += ",line=" + std::to_string(d.place.line) + ",col=" + std::to_string(d.place.column) +
           ",endColumn=" + std::to_string(d.place.column + std::max(d.place.length, 1));
  out += std::string(out.ends_with(' ') ? "" : ",") + "title=" + std::string(diagnostic_row(d.id).code) + "::";
  const std::string help(help_of(d));
  return out + github_escape(help.empty() ? d.text : d.text + "\nhelp: " + help, false) + "\n";
}

} // namespace

std::string Diagnostics::render(Format format, bool color) const {
  const std::vector<Diagnostic> list = sorted();
  if (format == Format::human)
    return render_human(list, Lines(sources_), color);
  std::string out;
  for (const Diagnostic &d : list)
    out += format == Format::json ? render_json(d) : format == Format::github ? render_github(d) : render_short(d);
  return out;
}

} // namespace kgen
