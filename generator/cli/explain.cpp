// explain: a message by its code, or what was found out about each variant of a spec.
#include <iostream>

#include "cli/commands.h"
#include "cli/explanation.h"
#include "support/text.h"

namespace kgen {

namespace {

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
  std::string wrong;
  Diagnostics diags;
  const char *between = "";
  const std::vector<SpecFile> specs = find_specs(options, load, diags);
  const CompileOptions compile = compile_options(options, load, Stage::plan);
  std::vector<TargetKind> targets;
  for (const auto &[wanted, target] :
       {std::pair{compile.emit.openmp, TargetKind::openmp}, std::pair{compile.emit.cuda, TargetKind::cuda}})
    if (wanted)
      targets.push_back(target);
  for (const SpecFile &spec : specs) {
    const std::optional<Compiled> compiled = compile_file(spec.path, compile, diags);
    for (size_t v = 0; compiled && wrong.empty() && v < compiled->variations.size(); ++v) {
      std::map<std::string, int64_t> sizes;
      wrong = given_sizes(options, compiled->variations[v].kernel, sizes);
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
