// Make and ninja agree on how blanks, `#` and `$` are written in a name, and on little else: make takes `=` for a
// variable, `;` for a command and `:` for another rule, whatever stands before it.
#include "cli/depfile.h"

#include <algorithm>
#include <filesystem>

namespace kgen {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kNotInNames = "\\:;=%*?[]|&<>~()\"'`";

std::string escaped(const std::string &path, Diagnostics &diags) {
  if (const size_t bad = path.find_first_of(kNotInNames); bad != std::string::npos)
    diags.add(DiagId::file_name_in_rule, Place{path, 0, 0, 0}, {path, std::string(1, path[bad])});
  std::string out;
  for (const char c : path)
    out += c == ' ' || c == '#' ? std::string("\\") + c : c == '$' ? "$$" : std::string(1, c);
  return out;
}

} // namespace

std::string depfile_text(const Options &options, std::vector<std::string> sources, Diagnostics &diags) {
  if (!options.templates.empty()) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(options.templates, error), end; !error && it != end; it.increment(error))
      if (it->is_regular_file(error))
        sources.push_back(it->path().generic_string());
  }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  std::string out = escaped(options.stamp, diags) + ":";
  for (const std::string &source : sources)
    out += " \\\n  " + escaped(source, diags);
  return out + "\n";
}

} // namespace kgen
