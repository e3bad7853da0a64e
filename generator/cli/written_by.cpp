#include "cli/written_by.h"

#include <algorithm>
#include <vector>

#include "support/text.h"

namespace kgen {
namespace {

constexpr std::string_view kBegin = "# Written by kgen grad";

struct ListRow {
  const char *name;
  std::vector<std::string> Options::*member;
};

// Those that the text depends on.
constexpr ListRow kLists[] = {{"-D", &Options::defines},
                              {"--batch", &Options::batch},
                              {"--of", &Options::of},
                              {"--with", &Options::with},
                              {"--save", &Options::save}};
constexpr const char *kDeterministic = "--deterministic";

// Each with a blank before it.
std::string words_of(const Options &options) {
  std::string out;
  for (const ListRow &row : kLists)
    for (const std::string &value : options.*row.member)
      out += std::string(" ") + row.name + " " + value;
  return out + (options.deterministic ? std::string(" ") + kDeterministic : "");
}

std::optional<Options> options_of(const std::vector<std::string> &words) {
  Options out;
  out.command = Command::grad;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto row = std::ranges::find(kLists, words[i], &ListRow::name);
    if (words[i] == kDeterministic)
      out.deterministic = true;
    else if (row != std::end(kLists) && i + 1 < words.size())
      (out.*row->member).push_back(words[++i]);
    else
      return std::nullopt;
  }
  return out;
}

} // namespace

std::string written_by(const Options &options, const std::string &spec) {
  return std::string(kBegin) + words_of(options) + " from " + spec + ".\n";
}

std::optional<Options> written_with(const std::string &text, const std::string &spec) {
  const std::string end = " from " + spec + ".";
  std::string line = text.substr(0, text.find('\n'));
  if (!line.starts_with(kBegin) || !line.ends_with(end) || line.size() < kBegin.size() + end.size())
    return std::nullopt;
  line = line.substr(kBegin.size(), line.size() - kBegin.size() - end.size());
  return options_of(line.empty() ? std::vector<std::string>() : split(line.substr(1), ' '));
}

std::string command_of(const Options &options, const std::string &path, const std::string &folder) {
  return "kgen grad " + path + words_of(options) + (folder.empty() ? "" : " -o " + folder);
}

} // namespace kgen
