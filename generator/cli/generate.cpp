// generate and outputs: everything is compiled before anything is written.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "cli/depfile.h"
#include "cli/lock.h"
#include "cli/outputs.h"
#include "emit/text/hash.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

// Deletes what kgen wrote and no spec gives any more. What somebody has edited since stays, and so does what only a
// lock that was tampered with can name.
class Pruning {
public:
  Pruning(const std::vector<std::string> &left_over, Lock &lock, Diagnostics &diags) {
    for (const std::string &path : left_over) {
      const auto entry = lock.files.find(lock.relative(path));
      const std::string reason = entry == lock.files.end() ? "is not in it" : why_it_stays(path, entry->second, lock);
      if (!reason.empty()) {
        diags.add(DiagId::file_stays, Place{path, 0, 0, 0}, {path, reason});
        continue;
      }
      paths_.push_back(path);
      lock.files.erase(entry);
    }
  }

  void run() const {
    std::error_code error;
    for (const std::string &path : paths_)
      if (fs::remove(path, error))
        std::cout << "removed " << path << "\n";
  }

private:
  static std::string why_it_stays(const std::string &path, const LockEntry &entry, const Lock &lock) {
    std::error_code error;
    std::string reason;
    const std::string elsewhere = "leads out of the folder of " + lock.path();
    if (!lock.owns(path))
      return elsewhere;
    if (fs::symlink_status(path, error).type() != fs::file_type::regular)
      return "is no file that kgen wrote";
    const std::optional<std::string> text = read_file(path, kLargestOutput, reason);
    if (!text || hash_of(*text) != entry.hash)
      return "was edited";
    return has_banner(*text) ? "" : "is no file that kgen wrote";
  }

  std::vector<std::string> paths_;
};

// The lock after the files are written: theirs and those of other specs, but none that is gone.
void update(Lock &lock, const std::vector<MadeFile> &made) {
  std::error_code error;
  std::erase_if(lock.files, [&](const auto &entry) { return !fs::exists(lock.absolute(entry.first), error); });
  for (const MadeFile &file : made)
    lock.files[lock.relative(file.file.path)] = {file.spec.empty() ? "" : lock.relative(file.spec), file.spec_hash,
                                                 hash_of(file.file.text)};
}

// A helper header that is another one than the present one takes all its kernels along.
bool may_replace(const MadeFile &header, const std::vector<MadeFile> &made, const Lock &lock,
                 const std::vector<std::string> &left_over, Diagnostics &diags) {
  const std::vector<std::string> others = stranded(header, made, lock, left_over);
  if (others.empty())
    return true;
  constexpr size_t kNamed = 5;
  std::vector<std::string> named(others.begin(),
                                 others.begin() + static_cast<int64_t>(std::min(kNamed, others.size())));
  if (others.size() > kNamed)
    named.push_back(std::to_string(others.size() - kNamed) + " more");
  const std::string folder = fs::path(lock.path()).parent_path().generic_string();
  diags
      .add(DiagId::file_unwritable, Place{header.file.path, 0, 0, 0},
           {header.file.path, join(named, ", ") + (others.size() == 1 ? " needs" : " need") + " the present one"})
      .help = "name their specs too, so that one run makes all kernels of " +
              (folder.empty() ? "this folder" : folder) + "; delete files that no spec gives";
  return false;
}

// A file for build tools must be none that was read or made. False after a message.
bool stands_apart(const std::string &path, const char *option, const std::vector<MadeFile> &made,
                  const std::vector<std::string> &sources, Diagnostics &diags) {
  std::vector<std::string> others = sources;
  for (const MadeFile &file : made)
    others.push_back(file.file.path);
  auto is_same = [&](const std::string &other) {
    std::error_code error;
    return fs::weakly_canonical(path, error) == fs::weakly_canonical(other, error) && !error;
  };
  const auto same = std::find_if(others.begin(), others.end(), is_same);
  if (path.empty() || same == others.end())
    return true;
  diags.add(DiagId::file_unwritable, Place{path, 0, 0, 0}, {path, std::string(option) + " would replace " + *same})
      .help = "give " + std::string(option) + " a file of its own";
  return false;
}

// All files, what is written about them, and what is deleted: for one run at a time.
void write_all(const Options &options, const std::vector<MadeFile> &made, const std::string &depfile,
               Diagnostics &diags) {
  Lock lock = Lock::find(options.output, options.root);
  const Turn turn(lock);
  lock = Lock::find(options.output, options.root); // as whoever had the turn before has left it
  if (turn.timed_out())
    diags.add(DiagId::file_unwritable, Place{lock.path(), 0, 0, 0}, {lock.path(), "another kgen is at work there"})
        .help = "wait for it to end, or end it";
  if (!lock.fault().empty())
    diags.add(DiagId::file_unwritable, Place{lock.path(), 0, 0, 0}, {lock.path(), lock.fault()}).help =
        "kgen keeps there what each file was made from: move away what stands in its place";
  if (diags.has_errors())
    return;
  const std::vector<std::string> left_over = orphans(options, made, lock);
  for (const MadeFile &file : made)
    if (file.spec.empty() &&
        !may_replace(file, made, lock, options.prune ? left_over : std::vector<std::string>(), diags))
      return;
  std::optional<Pruning> pruning;
  if (options.prune)
    pruning.emplace(left_over, lock, diags);
  else
    for (const std::string &path : left_over)
      diags.add(DiagId::file_left_over, Place{path, 0, 0, 0}, {path});
  update(lock, made);
  std::vector<OutputFile> files;
  for (const MadeFile &file : made)
    files.push_back(file.file);
  files.push_back({lock.path(), lock.text()});
  if (!options.depfile.empty())
    files.push_back({options.depfile, depfile});
  std::vector<std::string> written;
  if (!write_files(files, written, diags))
    return;
  // The stamp is written even if nothing has changed, so that a build tool knows that this has run.
  if (!options.stamp.empty())
    touch(options.stamp, diags);
  for (const std::string &path : written)
    if (path != lock.path() && path != options.depfile)
      std::cout << path << "\n";
  if (pruning)
    pruning->run();
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
  std::string depfile;
  if (!options.depfile.empty())
    depfile = depfile_text(options, sources, diags);
  if (!diags.has_errors() && stands_apart(options.depfile, "--depfile", *made, sources, diags) &&
      stands_apart(options.stamp, "--stamp", *made, sources, diags))
    write_all(options, *made, depfile, diags);
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
