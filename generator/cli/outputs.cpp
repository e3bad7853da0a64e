#include "cli/outputs.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "cli/commands.h"
#include "cli/progress.h"
#include "emit/hash.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

// What one spec came to.
struct Made {
  bool complete = false;
  std::vector<EmittedFile> files;
  std::string hash;
  std::vector<std::string> sources;
  Diagnostics diags;
};

void make(const SpecFile &spec, const CompileOptions &compile_options, Made &made) {
  const std::optional<std::string> text = read_source(spec.path, made.diags);
  if (!text)
    return;
  std::optional<Compiled> compiled = compile(spec.path, *text, compile_options, made.diags);
  if (!compiled)
    return;
  made.complete = true;
  made.files = std::move(compiled->files);
  made.sources = {spec.path};
  const Text &functions = compiled->spec.functions;
  if (functions.place.file != spec.path && !functions.place.file.empty())
    made.sources.push_back(functions.place.file);
  made.hash = hash_of(*text + functions.text);
}

// Specs know nothing of each other, so each thread takes the next one.
std::vector<Made> make_all(const std::vector<SpecFile> &specs, const CompileOptions &options, int64_t jobs,
                           bool show_progress) {
  std::vector<Made> out(specs.size());
  Progress progress("specs", specs.size(), show_progress);
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < specs.size(); i = next++) {
      make(specs[i], options, out[i]);
      progress.step();
    }
  };
  const size_t wanted = jobs > 0 ? static_cast<size_t>(jobs) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min(wanted, specs.size()); ++t)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return out;
}

// Not every file system tells letters from capitals: what differs in that alone is one file there.
std::string in_small_letters(std::string path) {
  for (char &c : path)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return path;
}

void report_clash(const std::string &spec, const std::string &path, const std::string &other_path,
                  const std::string &other_spec, Diagnostics &diags) {
  diags.add(DiagId::file_clash, Place{spec, 0, 0, 0}, {path, other_spec, spec}).help =
      (path == other_path ? "" : "as " + other_path + " it is the same file where capitals do not count; ") +
      "name one of the kernels differently, or put them into different folders";
}

} // namespace

std::optional<std::vector<MadeFile>> make_files(const Options &options, Diagnostics &diags,
                                                std::vector<std::string> *sources) {
  LoadOptions load;
  if (!load_options(options, load))
    return std::nullopt;
  const std::vector<SpecFile> specs = find_specs(options, load, diags);
  const bool is_watched = options.format == "human" && ::isatty(STDERR_FILENO) != 0;
  std::vector<Made> made = make_all(specs, compile_options(options, load, Stage::emit), options.jobs, is_watched);
  std::vector<MadeFile> out;
  std::map<std::string, std::pair<std::string, std::string>> owner; // by path in small letters: path and spec
  bool complete = true;
  for (size_t i = 0; i < specs.size(); ++i) {
    complete = complete && made[i].complete;
    diags.append(std::move(made[i].diags));
    if (sources != nullptr)
      sources->insert(sources->end(), made[i].sources.begin(), made[i].sources.end());
    bool clashes = false; // one message for all files of a spec
    for (EmittedFile &file : made[i].files) {
      std::string path = (fs::path(options.output) / specs[i].folder / file.name).lexically_normal().generic_string();
      const auto [it, fresh] = owner.emplace(in_small_letters(path), std::pair(path, specs[i].path));
      if (!fresh && !std::exchange(clashes, true))
        report_clash(specs[i].path, path, it->second.first, it->second.second, diags);
      out.push_back({{path, std::move(file.text)}, specs[i].path, made[i].hash});
    }
  }
  return complete && !diags.has_errors() ? std::optional(std::move(out)) : std::nullopt;
}

std::vector<std::string> orphans(const Options &options, const std::vector<MadeFile> &made, const Lock &lock) {
  std::set<std::string> current, from;
  for (const MadeFile &file : made) {
    current.insert(lock.relative(file.file.path));
    from.insert(lock.relative(file.spec));
  }
  std::vector<std::string> folders;
  std::error_code error;
  for (const std::string &spec : options.specs)
    if (fs::is_directory(spec, error))
      folders.push_back(lock.relative(spec) + "/");
  std::vector<std::string> out;
  for (const auto &[path, entry] : lock.files) {
    const bool ours = from.count(entry.spec) != 0 ||
                      std::any_of(folders.begin(), folders.end(),
                                  [&, &spec = entry.spec](const std::string &f) { return spec.starts_with(f); });
    if (ours && current.count(path) == 0 && fs::exists(lock.absolute(path), error))
      out.push_back(lock.absolute(path));
  }
  return out;
}

} // namespace kgen
