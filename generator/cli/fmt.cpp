// fmt: specs in the pinned layout, in place. Files with mistakes of form stay as they are; the others are written.
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/diff.h"
#include "spec/format_document.h"
#include "support/check.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStandardInput = "-";

// nullopt after a message. What would mean something else is a fault of kgen, and is not written.
std::optional<std::string> formatted(const std::string &path, const std::string &text, Diagnostics &diags) {
  diags.add_source(path, text);
  const std::optional<Node> before = read_document(path, text, diags);
  if (!before)
    return std::nullopt;
  std::string out = format_document(text);
  const std::optional<Node> after = read_document(path, out, diags);
  KGEN_CHECK(after && same_meaning(*before, *after));
  return out;
}

std::optional<std::string> read_input(const std::string &path, Diagnostics &diags) {
  if (path != kStandardInput)
    return read_source(path, diags);
  std::string text, reason;
  if (read_stream(STDIN_FILENO, kLargestSource, text, reason))
    return text;
  diags.add(DiagId::file_unreadable, Place{path, 0, 0, 0}, {"standard input", reason});
  return std::nullopt;
}

// A link stays one: what it leads to is written.
std::string real_path(const std::string &path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error || !fs::is_symlink(path, error) ? path : target.string();
}

} // namespace

int fmt(const Options &options) {
  Diagnostics diags;
  bool differs = false;
  for (const SpecFile &spec : find_specs(options.specs, diags)) {
    const std::optional<std::string> text = read_input(spec.path, diags);
    const std::optional<std::string> wanted = text ? formatted(spec.path, *text, diags) : std::nullopt;
    if (!wanted)
      continue;
    differs |= *wanted != *text;
    std::vector<std::string> written;
    if (options.diff)
      std::cout << unified_diff(spec.path, *text, *wanted, "formatted");
    else if (options.check)
      std::cout << (*wanted != *text ? spec.path + "\n" : "");
    else if (spec.path == kStandardInput)
      std::cout << *wanted;
    else if (write_files({{real_path(spec.path), *wanted}}, written, diags) && !written.empty())
      std::cout << spec.path << "\n";
  }
  const bool drift = differs && (options.check || options.diff);
  if (drift)
    remark("to format, run: kgen fmt " + join(options.specs, " "), options);
  return std::max(report(diags, options), drift ? kDrift : kOk);
}

} // namespace kgen
