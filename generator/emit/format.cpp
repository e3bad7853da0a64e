#include "emit/format.h"

#include "clang/Format/Format.h"
#include "clang/Tooling/Core/Replacement.h"
#include "support/check.h"

namespace kgen {

std::string format_cpp(const std::string& text) {
  using namespace clang;
  format::FormatStyle style = format::getGoogleStyle(format::FormatStyle::LK_Cpp);
  style.ColumnLimit = 110;
  style.SortIncludes = format::FormatStyle::SI_Never;
  style.AllowShortIfStatementsOnASingleLine = format::FormatStyle::SIS_WithoutElse;
  style.MaxEmptyLinesToKeep = 1;
  style.StatementMacros = {"OMP"};
  const tooling::Replacements edits =
      format::reformat(style, text, {tooling::Range(0, static_cast<unsigned>(text.size()))}, "generated.cpp");
  llvm::Expected<std::string> out = tooling::applyAllReplacements(text, edits);
  KGEN_CHECK(static_cast<bool>(out));
  return *out;
}

}  // namespace kgen
