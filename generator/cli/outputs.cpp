#include "cli/outputs.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <system_error>
#include <thread>

#include "cli/backwards.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "emit/text/hash.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

// What one spec came to.
struct Made {
  bool complete = false;
  std::string kernel, second_operator; // torch: those of its functions
  Place place;
  std::vector<EmittedFile> files, helper_headers;
  std::string hash;
  std::vector<std::string> sources;
  Diagnostics diags;
};

void make(const BoundSpec &spec, CompileOptions options, const std::string &to_root, Made &made) {
  options.emit.to_root = to_root;
  options.load.for_those_that_declare |= spec.joined;
  const std::optional<std::string> text = read_source(spec.file.path, made.diags);
  if (!text)
    return;
  const std::optional<Signature> backward = signature_of_file(spec.backward, options);
  const std::optional<Signature> forward = signature_of_file(spec.forward, options);
  options.emit.backward = backward ? &*backward : nullptr;
  options.emit.forward = forward ? &*forward : nullptr;
  std::optional<Compiled> compiled = compile(spec.file.path, *text, options, made.diags);
  if (!compiled)
    return;
  made.complete = true;
  made.kernel = compiled->spec.kernel;
  made.place = compiled->spec.kernel_place;
  const bool in_place = std::ranges::any_of(compiled->spec.operands, [](const auto &o) { return !o.alias.empty(); });
  made.second_operator = made.kernel + (in_place ? "_" : "_out");
  made.files = std::move(compiled->files);
  made.helper_headers = std::move(compiled->helper_headers);
  made.sources = {spec.file.path};
  const Text &functions = compiled->spec.functions;
  if (functions.place.file != spec.file.path && !functions.place.file.empty())
    made.sources.push_back(functions.place.file);
  made.hash = hash_of(*text + functions.text);
}

// Specs know nothing of each other, so each thread takes the next one.
std::vector<Made> make_all(const std::vector<BoundSpec> &specs, const CompileOptions &options,
                           const std::string &output, const Lock &lock, int64_t jobs, bool show_progress) {
  std::vector<Made> out(specs.size());
  Progress progress("specs", specs.size(), show_progress);
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < specs.size(); i = next++) {
      make(specs[i], options, lock.way_from(output + "/" + specs[i].file.folder).value_or(""), out[i]);
      progress.step();
    }
  };
  const size_t wanted = jobs > 0 ? static_cast<size_t>(jobs) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  try {
    for (size_t t = 1; t < std::min(wanted, specs.size()); ++t)
      threads.emplace_back(work);
  } catch (const std::system_error &) { // no more can be had: fewer do
  }
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

// Operators of one namespace are alone with their names: `foo` brings along `foo_out`, or `foo_` where it has an alias.
void check_operators(const std::vector<Made> &made, const std::string &name_space, Diagnostics &diags) {
  std::map<std::string, const Made *> owner;
  for (const Made &one : made)
    if (one.complete)
      for (const std::string &name : {one.kernel, one.second_operator})
        if (const auto [it, fresh] = owner.emplace(name, &one); !fresh)
          diags.add(DiagId::operator_clash, one.place, {it->second->kernel, one.kernel, name_space + "::" + name});
}

} // namespace

std::optional<std::vector<MadeFile>> make_files(const Options &options, Diagnostics &diags,
                                                std::vector<std::string> *sources) {
  LoadOptions load;
  if (!load_options(options, load))
    return std::nullopt;
  const Lock lock = Lock::find(options.output, options.root);
  if (!lock.way_from(options.output)) {
    std::cerr << "kgen: --root " << options.root << ": the output folder " << options.output << " is not below it\n";
    return std::nullopt;
  }
  std::vector<BoundSpec> specs;
  for (const SpecFile &file : find_specs(options, load, diags))
    specs.push_back({file, "", ""});
  if (!options.bind.empty())
    find_backwards(specs, options, load, diags);
  const bool is_watched = options.format == "human" && ::isatty(STDERR_FILENO) != 0;
  std::vector<Made> made =
      make_all(specs, compile_options(options, load, Stage::emit), options.output, lock, options.jobs, is_watched);
  if (options.bind.find("torch") != std::string::npos)
    check_operators(made, options.bind_namespace, diags);
  std::vector<MadeFile> out;
  std::map<std::string, std::pair<std::string, std::string>> owner; // by path in small letters: path and spec
  bool complete = true;
  for (const Made &one : made)
    for (const EmittedFile &header : one.helper_headers)
      if (const std::string path = lock.absolute(header.name);
          owner.emplace(in_small_letters(path), std::pair(path, "all kernels")).second)
        out.push_back({{path, header.text}, "", ""});
  for (size_t i = 0; i < specs.size(); ++i) {
    complete = complete && made[i].complete;
    diags.append(std::move(made[i].diags));
    if (sources != nullptr)
      sources->insert(sources->end(), made[i].sources.begin(), made[i].sources.end());
    bool clashes = false; // one message for all files of a spec
    for (EmittedFile &file : made[i].files) {
      std::string path =
          (fs::path(options.output) / specs[i].file.folder / file.name).lexically_normal().generic_string();
      const auto [it, fresh] = owner.emplace(in_small_letters(path), std::pair(path, specs[i].file.path));
      if (!fresh && !std::exchange(clashes, true))
        report_clash(specs[i].file.path, path, it->second.first, it->second.second, diags);
      out.push_back({{path, std::move(file.text)}, specs[i].file.path, made[i].hash});
    }
  }
  return complete && !diags.has_errors() ? std::optional(std::move(out)) : std::nullopt;
}

namespace {

// Does the file on disk include the helper header?
bool includes(const std::string &path, const std::string &header) {
  std::string reason;
  const std::optional<std::string> text = read_file(path, kLargestOutput, reason);
  const std::string name = fs::path(header).filename().generic_string() + "\"\n";
  return text && (text->find("#include \"" + name) != std::string::npos || text->find("/" + name) != std::string::npos);
}

} // namespace

std::vector<std::string> stranded(const MadeFile &header, const std::vector<MadeFile> &made, const Lock &lock,
                                  const std::vector<std::string> &left_over) {
  std::string reason;
  std::vector<std::string> out;
  const std::optional<std::string> present = read_file(header.file.path, kLargestOutput, reason);
  const auto entry = lock.files.find(lock.relative(header.file.path));
  const bool was_edited = entry != lock.files.end() && entry->second.hash == hash_of(header.file.text);
  if (!present || *present == header.file.text || was_edited)
    return out;
  std::set<std::string> current;
  for (const MadeFile &file : made)
    current.insert(lock.relative(file.file.path));
  for (const std::string &path : left_over)
    current.insert(lock.relative(path));
  for (const auto &[path, other] : lock.files)
    if (current.count(path) == 0 && !other.spec.empty() && includes(lock.absolute(path), header.file.path))
      out.push_back(lock.absolute(path));
  return out;
}

std::vector<std::string> orphans(const Options &options, const std::vector<MadeFile> &made, const Lock &lock) {
  std::set<std::string> current, from;
  for (const MadeFile &file : made) {
    current.insert(lock.relative(file.file.path));
    if (!file.spec.empty())
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
  const std::set<std::string> gone(out.begin(), out.end());
  for (const auto &[header, entry] : lock.files)
    if (const std::string path = lock.absolute(header);
        entry.spec.empty() && current.count(header) == 0 && fs::exists(path, error) &&
        std::none_of(lock.files.begin(), lock.files.end(), [&](const auto &file) {
          return gone.count(lock.absolute(file.first)) == 0 && current.count(file.first) == 0 &&
                 includes(lock.absolute(file.first), header);
        }))
      out.push_back(path);
  return out;
}

} // namespace kgen
