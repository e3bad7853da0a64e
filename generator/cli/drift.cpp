// check: compares what would be written with what is on disk, and says what became of each file that differs.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "cli/diff.h"
#include "cli/lock.h"
#include "cli/outputs.h"
#include "emit/text/hash.h"
#include "support/text.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

// Files that say kgen wrote them, of which the lock knows nothing. Only sought where all specs of a folder are given.
std::vector<std::string> strays(const Options &options, const std::vector<MadeFile> &made, const Lock &lock) {
  std::vector<std::string> out;
  std::error_code error;
  if (std::none_of(options.specs.begin(), options.specs.end(),
                   [&](const std::string &s) { return fs::is_directory(s, error); }))
    return out;
  fs::recursive_directory_iterator it(options.output, error), end;
  for (; !error && it != end; it.increment(error)) {
    std::string path = it->path().lexically_normal().generic_string(), reason;
    if (!it->is_regular_file(error) || lock.files.count(lock.relative(path)) != 0 ||
        std::any_of(made.begin(), made.end(), [&](const MadeFile &f) { return f.file.path == path; }))
      continue;
    std::optional<std::string> text = read_file(path, kLargestOutput, reason);
    if (text && has_banner(*text))
      out.push_back(path);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Why a file is not what its spec gives: the lock knows what kgen wrote last.
std::string cause(const MadeFile &made, const std::string &on_disk, const Lock &lock) {
  const auto entry = lock.files.find(lock.relative(made.file.path));
  if (entry == lock.files.end())
    return "differs: ";
  if (entry->second.hash != hash_of(on_disk))
    return "edited:  ";
  return entry->second.spec_hash != made.spec_hash ? "stale:   " : "differs: "; // another kgen, or other options
}

} // namespace

int check(const Options &options) {
  Diagnostics diags;
  const std::optional<std::vector<MadeFile>> made = make_files(options, diags);
  if (!made)
    return diags.empty() ? kBadCommandLine : report(diags, options);
  const Lock lock = Lock::find(options.output, options.root);
  bool drift = false;
  auto say = [&](const std::string &text) {
    drift = true;
    std::cout << text << "\n";
  };
  for (const MadeFile &file : *made) {
    std::string reason;
    const std::optional<std::string> text = read_file(file.file.path, kLargestOutput, reason);
    if (text == file.file.text)
      continue;
    say((text ? cause(file, *text, lock) : "missing: ") + file.file.path);
    if (text && options.diff)
      std::cout << unified_diff(file.file.path, *text, file.file.text, "from its spec");
  }
  for (const std::string &path : orphans(options, *made, lock))
    say("orphan:  " + printable(path));
  for (const std::string &path : strays(options, *made, lock))
    say("orphan:  " + printable(path));
  if (drift)
    remark("to update, run: kgen " + join(options.specs, " ") + " -o " + options.output + " --prune", options);
  return std::max(report(diags, options), drift ? kDrift : kOk);
}

} // namespace kgen
