// explain: a message by its code, or what was found out about each variant of a spec.
#include <cstdlib>
#include <iostream>

#include "cli/commands.h"
#include "cli/explanation.h"
#include "support/text.h"

namespace kgen {

namespace {

// Empty, or what is wrong with the --size of the command line.
std::string read_sizes(const Options &options, std::map<std::string, int64_t> &sizes) {
  for (const std::string &list : options.sizes)
    for (const std::string &text : split(list, ',')) {
      const size_t at = text.find('=');
      char *end = nullptr;
      const long long value = at == std::string::npos ? -1 : std::strtoll(text.c_str() + at + 1, &end, 10);
      if (at == 0 || value < 0 || end == text.c_str() + at + 1 || *end != 0)
        return "--size takes NAME=NUMBER, not " + text;
      sizes[text.substr(0, at)] = value;
    }
  return "";
}

std::string unknown_size(const std::map<std::string, int64_t> &sizes, const Kernel &kernel) {
  for (const auto &[name, size] : sizes) {
    bool known = false;
    for (const Axis &axis : kernel.axes)
      known |= axis.name == name;
    if (!known)
      return "--size " + name + ": " + kernel.name + " has no such axis";
  }
  return "";
}

bool is_code(const std::string &word) {
  return word.size() == 6 && word.compare(0, 2, "KG") == 0 && word.find_first_not_of("0123456789", 2) == word.npos;
}

bool explain_message(const std::string &code) {
  for (const DiagnosticRow &row : diagnostic_rows())
    if (row.code == code) {
      std::cout << row.code << ": " << pattern_text(row.text) << "\n"
                << (row.help.empty() ? "" : "help: " + pattern_text(row.help) + "\n");
      return true;
    }
  return false;
}

} // namespace

int explain(const Options &options) {
  LoadOptions load;
  if (!load_options(options, load))
    return kBadCommandLine;
  if (options.specs.size() == 1 && is_code(options.specs[0])) {
    if (explain_message(options.specs[0]))
      return kOk;
    std::cerr << "kgen: there is no message " << options.specs[0] << "; `kgen reference diagnostics` lists all\n";
    return kBadCommandLine;
  }
  std::map<std::string, int64_t> sizes;
  std::string wrong = read_sizes(options, sizes);
  Diagnostics diags;
  const char *between = "";
  const std::vector<SpecFile> specs = find_specs(options, load, diags);
  const CompileOptions compile = compile_options(options, load, Stage::rewrite);
  std::vector<TargetKind> targets;
  for (const auto &[wanted, target] :
       {std::pair{compile.emit.openmp, TargetKind::openmp}, std::pair{compile.emit.cuda, TargetKind::cuda}})
    if (wanted)
      targets.push_back(target);
  for (const SpecFile &spec : wrong.empty() ? specs : std::vector<SpecFile>()) {
    const std::optional<Compiled> compiled = compile_file(spec.path, compile, diags);
    for (size_t v = 0; compiled && wrong.empty() && v < compiled->variations.size(); ++v) {
      wrong = unknown_size(sizes, compiled->variations[v].kernel);
      if (!wrong.empty())
        break;
      const Explanation told = explain_variation(compiled->spec, compiled->variations[v], sizes, targets);
      std::cout << (options.format == "json" ? told.json() + "\n" : std::exchange(between, "\n") + told.text());
    }
  }
  if (!wrong.empty()) {
    std::cerr << "kgen: " << wrong << "\n";
    return kBadCommandLine;
  }
  return report(diags, options);
}

} // namespace kgen
