// A small lexer over the user's text. It knows comments, names, numbers, brackets and statement ends, which is enough
// to refuse the preprocessor, words that the body language lacks, text that would leave its function, and depths and
// lengths that no person writes and no recursive parser likes.
#include "body/source.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <tuple>

#include "body/builtins.h"
#include "support/text.h"

namespace kgen::body {
namespace {

constexpr size_t kMaxCharacters = 1000000;
constexpr size_t kMaxWordsPerStatement = 20000;
constexpr size_t kMaxStatements = 5000; // of a body; Clang compares names that are declared again with each other
constexpr size_t kMaxDigits = 1000;     // Clang takes room for all of them on its stack
constexpr size_t kMaxBrackets = 200;
constexpr int kMaxControl = 200;
constexpr int kMaxErrors = 20;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_reserved(std::string_view name) {
  const bool of_the_compiler = name.starts_with("__") ||
                               (name.size() > 1 && name[0] == '_' && std::isupper(static_cast<unsigned char>(name[1])));
  return of_the_compiler || name == "kgen" || name.starts_with("kgen_");
}

class TextChecker {
public:
  TextChecker(SourceText &source, Reporter &reporter) : source_(source), text_(source.text()), reporter_(reporter) {}

  void run() {
    skip_space();
    while (!stop_ && at_ < text_.size()) {
      read_word();
      skip_space();
    }
    if (!stop_ && !open_.empty())
      unsound(DiagId::body_bracket, open_.back().offset, 1, {std::string(1, text_[open_.back().offset])});
  }

private:
  // `control` counts the ifs and loops that depend on each other without braces.
  struct Bracket {
    size_t offset;
    int control;
    bool takes_text; // of print or require
  };

  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  // One for each statement: what follows in it is often more of the same.
  Diagnostic *report(DiagId id, size_t begin, size_t length, const std::vector<std::string> &arguments = {}) {
    if (last_reported_ == source_.statement_ends.size())
      return nullptr;
    last_reported_ = source_.statement_ends.size();
    return reporter_.add(id, {&source_, begin, length}, arguments);
  }

  // Clang is not asked about such a text.
  Diagnostic *unsound(DiagId id, size_t begin, size_t length, const std::vector<std::string> &arguments = {}) {
    source_.sound = false;
    return report(id, begin, length, arguments);
  }

  // At a `\`: does it join this line to the next?
  bool joins_lines(size_t at) const {
    const size_t end = text_.find_first_not_of(" \t\r", at + 1);
    return end == std::string_view::npos || text_[end] == '\n'; // after the text stands what kgen adds
  }

  void skip_space() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
        ++at_;
      else if (starts("//"))
        skip_line_comment();
      else if (starts("/*"))
        skip_block_comment();
      else
        return;
    }
  }

  void skip_line_comment() {
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\' && joins_lines(at_)) {
        if (Diagnostic *d = unsound(DiagId::body_unsupported, at_, 1, {"comments that end in `\\`"}))
          d->help = "the next line would belong to the comment: leave the sign out";
      }
  }

  void skip_block_comment() {
    const size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) {
      unsound(DiagId::body_bracket, at_, 2, {"/*"});
      stop_ = true;
    }
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
  }

  void read_word() {
    if (++words_ == kMaxWordsPerStatement) {
      unsound(DiagId::body_too_long, at_, 1, {"this statement", std::to_string(kMaxWordsPerStatement) + " words"});
      stop_ = true;
      return;
    }
    const char c = text_[at_];
    if (is_name_start(c))
      read_name();
    else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
             (c == '.' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0))
      read_number();
    else if (c == '"' || c == '\'')
      read_text_literal();
    else
      read_sign();
  }

  void read_number() {
    const size_t begin = at_++;
    while (at_ < text_.size() && is_number(at_))
      ++at_;
    if (at_ - begin > kMaxDigits)
      unsound(DiagId::body_too_long, begin, at_ - begin, {"this number", std::to_string(kMaxDigits) + " digits"});
  }

  // Does the number go on here?
  bool is_number(size_t at) const {
    const char c = text_[at], before = text_[at - 1];
    const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
    const bool separator = c == '\'' && at + 1 < text_.size() && is_name(text_[at + 1]);
    return is_name(c) || c == '.' || sign || separator;
  }

  void read_text_literal() {
    const size_t begin = at_;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    if (quote != '"' || open_.empty() || !open_.back().takes_text)
      return (void)unsound(DiagId::body_text_literal, begin, at_ - begin);
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (text.size() < 2 || text.back() != '"' || text.find('\\') != std::string_view::npos)
      if (Diagnostic *d = unsound(DiagId::body_cpp, begin, text.size(), {"a text is one line of signs, without `\\`"}))
        d->help = "it is shown as it stands: each print is a line of its own";
  }

  void read_name() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_]))
      ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    last_name_ = name;
    source_.identifiers.emplace(name);
    if (is_reserved(name)) {
      if (internal_names_.insert(name).second) // once
        report(DiagId::body_internal_name, begin, name.size(), {std::string(name)});
      else
        reporter_.silence({&source_, begin, name.size()});
    } else if (template_header_ && (name == "class" || name == "typename"))
      ;
    else if (const RefusedWord *refused = find_refused_word(name))
      refuse(*refused, begin);
    else if (name == "template" && source_.is_body())
      refuse({"template", "declare functions in `functions`"}, begin);
    template_header_ |= name == "template";
    count_control(name, begin);
  }

  void refuse(const RefusedWord &word, size_t begin) {
    if (Diagnostic *d = report(DiagId::body_refused_word, begin, word.word.size(), {std::string(word.word)}))
      d->help = word.help;
  }

  // if (..) for (..) if (..) .. else if ..: each depends on the one before until a statement ends without an else.
  void count_control(std::string_view name, size_t begin) {
    if (name != "if" && name != "for" && name != "while")
      return;
    words_ = 0;
    if (++control_ <= kMaxControl)
      return;
    unsound(DiagId::body_too_deep, begin, name.size(), {"`if` and loops", std::to_string(kMaxControl)});
    stop_ = true;
  }

  void end_statement() {
    words_ = 0;
    source_.statement_ends.push_back(at_);
    if (source_.is_body() && source_.statement_ends.size() > kMaxStatements) {
      unsound(DiagId::body_too_long, at_, 1, {"this body", std::to_string(kMaxStatements) + " statements"});
      stop_ = true;
      return;
    }
    ++at_;
    skip_space();
    const bool goes_on = starts("else") && (at_ + 4 == text_.size() || !is_name(text_[at_ + 4]));
    if (!goes_on)
      control_ = open_.empty() ? 0 : open_.back().control;
  }

  void read_sign() {
    const char c = text_[at_];
    template_header_ &= c != '>';
    if (c == '(' || c == '[' || c == '{')
      return open(c);
    if (c == ')' || c == ']' || c == '}')
      return close(c);
    if (c == ';' && (open_.empty() || text_[open_.back().offset] == '{'))
      return end_statement();
    const bool catches_all = starts("...") && last_name_ == "catch"; // the `try` was refused
    const bool whole_block = starts("...") && !open_.empty() && text_[open_.back().offset] == '[';
    if (whole_block)
      refuse({"...", "a body is about one element, and the loops are kgen's: `y[...] = x[...]` is `y = x` (see "
                     "docs/coming_from.md)"},
             at_);
    else if (starts("::") || (starts("...") && !catches_all))
      refuse(*find_refused_word(starts("::") ? "::" : "..."), at_);
    else if (starts("%:") || starts("<:") || starts("<%") || starts("%>"))
      return foreign_sign(2);
    else if (c == '#' || c == '\\' || c == '@' || c == '`' || c == '$' || static_cast<unsigned char>(c) >= 0x80)
      return foreign_sign(1);
    at_ += starts("...") ? 3 : starts("::") ? 2 : 1;
  }

  void foreign_sign(size_t length) {
    const size_t begin = at_;
    at_ += length;
    while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0) == 0x80)
      ++at_;
    if (text_[begin] == '#') {
      at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
      while (at_ < text_.size() && is_name(text_[at_]))
        ++at_;
      const std::string directive(trim(text_.substr(begin, at_ - begin)));
      const bool goes_on = directive.find("el") != std::string::npos || directive.find("endif") != std::string::npos;
      if (goes_on && !source_.sound) { // of an #if that was refused
        at_ = std::min(text_.find('\n', at_), text_.size());
        return;
      }
      if (Diagnostic *d = unsound(DiagId::body_directive, begin, directive.size(), {directive}))
        d->help = "constants are `params`, shared functions come by `functions_from`";
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    unsound(DiagId::body_unsupported, begin, at_ - begin,
            {"signs such as `" + std::string(text_.substr(begin, at_ - begin)) + "`"});
  }

  void open(char c) {
    if (c == '[' && at_ + 1 < text_.size() && text_[at_ + 1] == '[')
      unsound(DiagId::body_unsupported, at_, 2, {"attributes"});
    const bool called = c == '(' && trim(text_.substr(0, at_)).ends_with(last_name_);
    open_.push_back({at_, control_, called && (last_name_ == "print" || last_name_ == "require")});
    if (c == '{') {
      words_ = 0;
      source_.statement_ends.push_back(at_);
    }
    ++at_;
    if (open_.size() > kMaxBrackets) {
      unsound(DiagId::body_too_deep, at_ - 1, 1, {"brackets", std::to_string(kMaxBrackets)});
      stop_ = true;
    }
  }

  void close(char c) {
    const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (open_.empty() && c == '}') {
      Diagnostic *d = unsound(DiagId::body_closed, at_, 1, {source_.name()});
      if (d != nullptr && source_.is_body())
        d->help = "a body is one list of statements; functions go in `functions`";
      stop_ = true;
      return;
    }
    if (open_.empty() || text_[open_.back().offset] != wanted) {
      Diagnostic *d = unsound(DiagId::body_bracket, at_, 1, {std::string(1, c)});
      if (d != nullptr && !open_.empty())
        d->labels.push_back({source_.place(open_.back().offset, 1), "still open"});
      stop_ = true;
      return;
    }
    control_ = std::max(control_, open_.back().control);
    open_.pop_back();
    if (c == '}')
      end_statement();
    else
      ++at_;
  }

  SourceText &source_;
  std::string_view text_;
  Reporter &reporter_;
  size_t at_ = 0;
  size_t words_ = 0;
  size_t last_reported_ = std::string_view::npos; // number of a statement
  std::string_view last_name_;
  std::set<std::string_view> internal_names_; // said
  int control_ = 0;
  bool template_header_ = false; // between `template` and its `>`
  std::vector<Bracket> open_;
  bool stop_ = false;
};

} // namespace

SourceText::SourceText(const Text &text, bool is_body) : text_(text), is_body_(is_body), lines_{0} {
  for (size_t i = 0; i < text_.text.size(); ++i)
    if (text_.text[i] == '\n')
      lines_.push_back(i + 1);
}

Place SourceText::place(size_t begin, size_t length) const {
  begin = std::min(begin, text_.text.size());
  const size_t line = static_cast<size_t>(std::ranges::upper_bound(lines_, begin) - lines_.begin()) - 1;
  const size_t line_end = line + 1 < lines_.size() ? lines_[line + 1] - 1 : text_.text.size();
  const size_t shown = std::min(length, std::max(line_end, begin) - begin);
  const int column = static_cast<int>(begin - lines_[line]) + (line == 0 ? text_.place.column : 1);
  return {text_.place.file, text_.place.line + static_cast<int>(line), column, std::max(1, static_cast<int>(shown))};
}

size_t SourceText::statement(size_t offset) const {
  return static_cast<size_t>(std::ranges::lower_bound(statement_ends, offset) - statement_ends.begin());
}

Diagnostic *Reporter::add(DiagId id, const Span &span, const std::vector<std::string> &arguments) {
  const bool is_error = diagnostic_row(id).severity == Severity::error;
  failed_ |= is_error;
  const std::pair statement(span.source, span.source->statement(span.begin));
  if (faulty_.contains(statement) || !said_.emplace(id, span.source, span.begin).second)
    return nullptr;
  if (is_error) {
    newly_faulty_.insert(statement);
    if (errors_++ >= kMaxErrors)
      return nullptr;
  }
  return &diags_.add(id, span.source->place(span.begin, span.length), arguments);
}

void Reporter::silence(const Span &span) { newly_faulty_.insert({span.source, span.source->statement(span.begin)}); }

void Reporter::next_phase() { faulty_.insert(newly_faulty_.begin(), newly_faulty_.end()); }

void check_text(SourceText &source, Reporter &reporter) {
  if (source.text().size() > kMaxCharacters) {
    source.sound = false;
    reporter.add(DiagId::body_too_long, {&source, 0, 1}, {"this text", std::to_string(kMaxCharacters) + " characters"});
    return;
  }
  TextChecker(source, reporter).run();
}

} // namespace kgen::body
