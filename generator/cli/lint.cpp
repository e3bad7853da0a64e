// lint: warnings and notes of the pipeline, and the findings of rules, of specs that are right.
#include <sstream>

#include "cli/commands.h"
#include "cli/lint_rules.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace {

// A line `# kgen: allow KG0503 KG0506` in a spec takes back these findings in it.
std::vector<std::string> allowed_in(const std::string &text) {
  constexpr std::string_view kAllow = "# kgen: allow ";
  std::vector<std::string> out;
  for (const std::string &line : split(text, '\n'))
    if (line.starts_with(kAllow)) {
      std::istringstream codes(line.substr(kAllow.size()));
      for (std::string code; codes >> code;)
        out.push_back(code);
    }
  return out;
}

void lint_spec(const std::string &path, const CompileOptions &options, Diagnostics &diags) {
  const std::optional<std::string> text = read_source(path, diags);
  if (!text)
    return;
  const std::optional<Compiled> compiled = compile(path, *text, options, diags);
  if (!compiled)
    return;
  Diagnostics none; // it has been read before
  if (const std::optional<Node> document = read_document(path, *text, none))
    apply_lint_rules({*compiled, *document, *text}, diags);
  for (const std::string &code : allowed_in(*text))
    diags.drop(code, path);
}

} // namespace

int lint(const Options &options) {
  LoadOptions load;
  if (!load_options(options, load))
    return kBadCommandLine;
  Diagnostics diags;
  for (const SpecFile &spec : find_specs(options, load, diags))
    lint_spec(spec.path, compile_options(options, load, Stage::rewrite), diags);
  for (const std::string &code : options.allowed)
    diags.drop(code, "");
  return std::max(report(diags, options), diags.empty() ? kOk : kDrift);
}

} // namespace kgen
