// generate and outputs: everything is compiled before anything is written.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "cli/lock.h"
#include "cli/outputs.h"
#include "emit/hash.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

// A make rule for the stamp, of all that was read. Only files that exist are named, so that nothing is always out of
// date.
std::string depfile_text(const Options &options, std::vector<std::string> sources) {
  auto escaped = [](const std::string &path) {
    std::string out;
    for (char c : path)
      out += c == ' ' || c == '#' ? std::string("\\") + c : c == '$' ? "$$" : std::string(1, c);
    return out;
  };
  if (!options.templates.empty()) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(options.templates, error), end; !error && it != end; it.increment(error))
      if (it->is_regular_file(error))
        sources.push_back(it->path().generic_string());
  }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  std::string out = escaped(options.stamp) + ":";
  for (const std::string &source : sources)
    out += " \\\n  " + escaped(source);
  return out + "\n";
}

// Deletes what kgen wrote and no spec gives any more; a file that somebody has edited since stays.
void prune(const std::vector<std::string> &paths, Lock &lock) {
  for (const std::string &path : paths) {
    std::string reason;
    const auto entry = lock.files.find(lock.relative(path));
    const std::optional<std::string> text = read_file(path, kLargestOutput, reason);
    if (entry == lock.files.end() || !text || hash_of(*text) != entry->second.hash) {
      std::cerr << "kgen: " << path << " is left over, but was edited; delete it by hand\n";
      continue;
    }
    std::error_code error;
    if (fs::remove(path, error))
      std::cout << "removed " << path << "\n";
    lock.files.erase(entry);
  }
}

// The lock after the files are written: theirs and those of other specs, but none that is gone.
void update(Lock &lock, const std::vector<MadeFile> &made) {
  std::error_code error;
  std::erase_if(lock.files, [&](const auto &entry) { return !fs::exists(lock.absolute(entry.first), error); });
  for (const MadeFile &file : made)
    lock.files[lock.relative(file.file.path)] = {lock.relative(file.spec), file.spec_hash, hash_of(file.file.text)};
}

int print_stage(const Options &options) {
  LoadOptions load;
  if (!load_options(options, load))
    return kBadCommandLine;
  Diagnostics diags;
  const std::vector<SpecFile> specs = find_specs(options, load, diags);
  CompileOptions compile = compile_options(options, load, *find_stage(options.stop_after));
  compile.print = true;
  for (const SpecFile &spec : specs)
    if (std::optional<Compiled> compiled = compile_file(spec.path, compile, diags))
      std::cout << compiled->text;
  return report(diags, options);
}

} // namespace

int generate(const Options &options) {
  if (!options.stop_after.empty())
    return print_stage(options);
  Diagnostics diags;
  std::vector<std::string> sources;
  const std::optional<std::vector<MadeFile>> made = make_files(options, diags, &sources);
  if (!made)
    return diags.empty() ? kBadCommandLine : report(diags, options);
  std::vector<OutputFile> files;
  for (const MadeFile &file : *made)
    files.push_back(file.file);
  std::vector<std::string> written;
  if (!write_files(files, written, diags))
    return report(diags, options);
  for (const std::string &path : written)
    std::cout << path << "\n";
  Lock lock = Lock::find(options.output);
  const std::vector<std::string> left_over = orphans(options, *made, lock);
  if (options.prune)
    prune(left_over, lock);
  else
    for (const std::string &path : left_over)
      std::cerr << "kgen: " << path << " is no longer made by its spec; --prune deletes it\n";
  update(lock, *made);
  // The stamp is written even if nothing has changed, so that a build tool knows that this has run.
  std::vector<OutputFile> books = {{lock.path(), lock.text()}};
  if (!options.depfile.empty())
    books.push_back({options.depfile, depfile_text(options, sources)});
  if (write_files(books, written, diags) && !options.stamp.empty())
    touch(options.stamp, diags);
  return report(diags, options);
}

int outputs(const Options &options) {
  Diagnostics diags;
  const std::optional<std::vector<MadeFile>> made = make_files(options, diags);
  if (!made)
    return diags.empty() ? kBadCommandLine : report(diags, options);
  for (const MadeFile &file : *made)
    std::cout << file.file.path << "\n";
  return report(diags, options);
}

} // namespace kgen
