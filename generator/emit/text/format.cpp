#include "emit/text/format.h"

#include <algorithm>
#include <regex>
#include <sstream>
#include <string_view>
#include <vector>

#include "emit/text/wrap.h"
#include "support/check.h"
#include "support/text.h"
#include "clang/Format/Format.h"
#include "clang/Tooling/Core/Replacement.h"

namespace kgen {
namespace {

// Compilers without OpenMP warn about its pragmas, so files hold a macro in their place; but clang-format lays out only
// code that follows a real pragma.
std::string with_pragma_macros(const std::string &text) {
  static const std::string pragma = "#pragma omp ";
  std::istringstream in(text);
  std::string out, directive;
  bool more = false; // the directive before goes on: clang-format has broken it at a backslash
  for (std::string line; std::getline(in, line);) {
    if (more || line.rfind(pragma, 0) == 0) {
      directive += line.substr(more ? line.find_first_not_of(' ') : pragma.size());
      more = directive.back() == '\\';
      if (more)
        directive.pop_back();
      continue;
    }
    if (!directive.empty())
      out += line.substr(0, line.find_first_not_of(' ')) + "OMP(omp " + directive + ")\n";
    directive.clear();
    out += line + "\n";
  }
  return out;
}

// What clang-format takes about a second for: bytes, and lines whose breaks it must find.
constexpr size_t kMostLaidOut = 400'000, kMostLongLines = 600;

// Are there so many long lines, or blocks so deep that their lines begin where others end?
bool is_too_long_to_lay_out(const std::string &text) {
  if (text.size() > kMostLaidOut)
    return true;
  std::istringstream in(text);
  size_t long_lines = 0, deepest = 0, depth = 0;
  for (std::string line; std::getline(in, line);) {
    long_lines += line.size() > kColumns;
    depth = depth_of_blocks(depth, line);
    deepest = std::max(deepest, depth);
  }
  return long_lines > kMostLongLines || kIndent * deepest > kColumns;
}

// Macros that stand for whole functions (see c_functions.h): a use of one ends there, without a semicolon.
std::vector<std::string> macros_of_functions(const std::string &text) {
  static const std::regex definition("#define (\\w+_FUNCTIONS)\\(");
  std::vector<std::string> out;
  for (std::sregex_iterator found(text.begin(), text.end(), definition), end; found != end; ++found)
    out.push_back((*found)[1]);
  return out;
}

std::string reformatted(const std::string &text) {
  using namespace clang;
  format::FormatStyle style = format::getGoogleStyle(format::FormatStyle::LK_Cpp);
  style.Standard = format::FormatStyle::LS_Cpp17; // by itself, it takes small files for old C++
  style.ColumnLimit = kColumns;
  style.AllowShortIfStatementsOnASingleLine = format::FormatStyle::SIS_WithoutElse;
  style.AllowShortCaseLabelsOnASingleLine = true;
  style.MaxEmptyLinesToKeep = 1;
  style.CommentPragmas = "@function"; // scripts read such a comment as one line
  style.StatementMacros = macros_of_functions(text);
  const tooling::Replacements edits =
      format::reformat(style, text, {tooling::Range(0, static_cast<unsigned>(text.size()))}, "generated.cpp");
  llvm::Expected<std::string> out = tooling::applyAllReplacements(text, edits);
  KGEN_CHECK(static_cast<bool>(out));
  return *out;
}

// A single short statement stands on the line of its `if` or `for`. Where an `else` follows, the brace shares its line.
std::string with_short_bodies(const std::string &text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(std::move(line));
  const auto begins = [](std::string_view code) { return code.starts_with("if (") || code.starts_with("for ("); };
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string indent = lines[i].substr(0, std::min(lines[i].find_first_not_of(' '), lines[i].size()));
    const std::string_view code = std::string_view(lines[i]).substr(indent.size());
    if (i + 2 < lines.size() && begins(code) && code.ends_with(") {") && lines[i + 2] == indent + "}") {
      const std::string_view only = trim(lines[i + 1]);
      const size_t length = lines[i].size() - 1 + only.size();
      if (only.ends_with(';') && !begins(only) && !only.starts_with('#') && length <= kColumns) {
        out += lines[i].substr(0, lines[i].size() - 1) + std::string(only) + "\n";
        i += 2;
        continue;
      }
    }
    out += lines[i] + "\n";
  }
  return out;
}

} // namespace

std::string format_cpp(const std::string &text) {
  if (is_too_long_to_lay_out(text))
    return with_pragma_macros(plain_layout(text));
  DeepNests nests;
  return with_pragma_macros(with_short_bodies(nests.restore(reformatted(nests.hide(text)))));
}

} // namespace kgen
