// What the commands share: finding specs, reading them, saying what is wrong.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/sarif.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

bool use_color(const Options &options) {
  if (options.color != "auto")
    return options.color == "always";
  auto set = [](const char *name) {
    const char *value = std::getenv(name);
    return value && *value && std::string_view(value) != "0";
  };
  if (std::getenv("NO_COLOR") && *std::getenv("NO_COLOR"))
    return false;
  return set("CLICOLOR_FORCE") || ::isatty(STDERR_FILENO) != 0;
}

bool split_pairs(const std::vector<std::string> &list, const char *option,
                 std::vector<std::pair<std::string, std::string>> &out) {
  for (const std::string &text : list) {
    size_t at = text.find('=');
    if (at == std::string::npos || at == 0) {
      std::cerr << "kgen: " << option << " takes NAME=VALUE, not " << text << "\n";
      return false;
    }
    const std::string name = text.substr(0, at);
    if (std::ranges::any_of(out, [&](const auto &pair) { return pair.first == name; })) {
      std::cerr << "kgen: " << option << " " << name << " is given twice\n";
      return false;
    }
    out.emplace_back(name, text.substr(at + 1));
  }
  return true;
}

// Over what it wrote before, but over nothing else: the spec is one letter away on the command line.
void write_sarif(const std::string &path, const Diagnostics &messages, Diagnostics &diags) {
  std::string reason;
  const std::string before = read_file(path, kLargestOutput, reason).value_or("");
  std::vector<std::string> written;
  if (before.find_first_not_of(" \t\r\n") == std::string::npos || before.starts_with("{"))
    write_files({{path, sarif_text(messages)}}, written, diags);
  else
    diags.add(DiagId::file_unwritable, Place{path, 0, 0, 0}, {path, "there is a file that is no SARIF"}).help =
        "give --sarif a file of its own";
}

} // namespace

bool load_options(const Options &options, LoadOptions &load) {
  load.include_roots = options.includes;
  for (const std::string &text : options.decisions)
    if (const std::string wrong = read_decision(text, load.decisions); !wrong.empty()) {
      std::cerr << "kgen: --decide " << text << ": " << wrong << "\n";
      return false;
    }
  return split_pairs(options.defines, "-D", load.defines) && split_pairs(options.batch, "--batch", load.batch);
}

void remark(const std::string &text, const Options &options) {
  if (options.format != "json")
    std::cerr << "kgen: " << text << "\n";
}

std::string given_sizes(const Options &options, const Kernel &kernel, std::map<std::string, int64_t> &sizes) {
  for (const std::string &list : options.sizes)
    for (const std::string &text : split(list, ',')) {
      const size_t at = text.find('=');
      const std::string name = text.substr(0, at), number = at == std::string::npos ? "" : text.substr(at + 1);
      char *end = nullptr;
      errno = 0;
      const long long value = std::strtoll(number.c_str(), &end, 10);
      if (name.empty() || number.empty() || *end != 0 || errno != 0 || value < 0)
        return "--size takes NAME=NUMBER, not " + text;
      if (std::none_of(kernel.axes.begin(), kernel.axes.end(), [&](const Axis &axis) { return axis.name == name; }))
        return "--size " + name + ": " + kernel.name + " has no such axis";
      if (!sizes.emplace(name, value).second)
        return "--size " + name + " is given twice";
    }
  return "";
}

CompileOptions compile_options(const Options &options, const LoadOptions &load, Stage last) {
  CompileOptions out;
  out.load = load;
  out.last = last;
  out.emit.templates = options.templates;
  out.emit.selfcheck = options.selfcheck;
  out.emit.standalone = options.standalone;
  if (!options.bind.empty())
    out.emit.bindings = split(options.bind, ',');
  out.emit.bind_namespace = options.bind_namespace;
  if (!options.targets.empty()) {
    std::vector<std::string> targets = split(options.targets, ',');
    out.emit.openmp = std::find(targets.begin(), targets.end(), "openmp") != targets.end();
    out.emit.cuda = std::find(targets.begin(), targets.end(), "cuda") != targets.end();
  }
  return out;
}

int report(const Diagnostics &messages, const Options &options) {
  Diagnostics diags = messages;
  if (!options.sarif.empty()) // with or without messages: whoever reads it wants a file
    write_sarif(options.sarif, messages, diags);
  if (diags.empty())
    return kOk;
  using Format = Diagnostics::Format;
  Format format = options.format == "short"    ? Format::short_lines
                  : options.format == "json"   ? Format::json
                  : options.format == "github" ? Format::github
                                               : Format::human;
  std::cerr << diags.render(format, use_color(options));
  int code = kOk;
  for (const Diagnostic &d : diags.sorted())
    if (d.severity == Severity::error)
      code = std::max(code, diagnostic_row(d.id).code.substr(0, 4) == "KG00" ? kBadFiles : kBadSpec);
  return code;
}

std::optional<Compiled> compile_file(const std::string &path, const CompileOptions &options, Diagnostics &diags) {
  std::optional<std::string> text = read_source(path, diags);
  return text ? compile(path, *text, options, diags) : std::nullopt;
}

std::vector<SpecFile> find_specs(const std::vector<std::string> &arguments, Diagnostics &diags) {
  std::vector<SpecFile> out;
  for (const std::string &argument : arguments) {
    std::error_code error;
    if (!fs::is_directory(argument, error)) {
      out.push_back({argument, ""});
      continue;
    }
    std::vector<SpecFile> found;
    fs::recursive_directory_iterator it(argument, fs::directory_options::skip_permission_denied, error), end;
    for (; !error && it != end; it.increment(error)) {
      std::string name = it->path().filename().string();
      std::error_code dangles; // a link to nothing is no spec, and not the end of the folder
      if (it->is_regular_file(dangles) && it->path().extension() == ".toml" && !name.ends_with(".tune.toml"))
        found.push_back(
            {it->path().generic_string(), it->path().parent_path().lexically_relative(argument).generic_string()});
    }
    std::sort(found.begin(), found.end(), [](const SpecFile &a, const SpecFile &b) { return a.path < b.path; });
    if (found.empty())
      diags.add(DiagId::file_no_specs, Place{argument, 0, 0, 0}, {argument}).help = "specs are files that end in .toml";
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

namespace {

bool declares(const SpecFile &file, const std::string &name, LoadOptions load) {
  load.defines.clear();
  Diagnostics unused; // it will be reported when the spec is compiled
  const std::optional<std::string> text = read_source(file.path, unused);
  const std::optional<Spec> spec = text ? load_spec(file.path, *text, load, unused) : std::nullopt;
  const auto is_it = [&](const auto &parameter) { return parameter.name == name; };
  return spec && (std::ranges::any_of(spec->params, is_it) || std::ranges::any_of(spec->types, is_it));
}

} // namespace

std::vector<SpecFile> find_specs(const Options &options, LoadOptions &load, Diagnostics &diags) {
  std::vector<SpecFile> specs = find_specs(options.specs, diags);
  load.for_those_that_declare =
      specs.size() > 1 && std::ranges::all_of(load.defines, [&](const auto &define) {
        return std::ranges::any_of(specs, [&](const SpecFile &file) { return declares(file, define.first, load); });
      });
  return specs;
}

} // namespace kgen
