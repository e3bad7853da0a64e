// grad: the backward kernel of a spec, as a spec beside it.
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "cli/gradient.h"
#include "grad/grad.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace {

std::vector<std::string> names_of(const std::vector<std::string> &lists) {
  std::vector<std::string> out;
  for (const std::string &list : lists)
    for (const std::string &name : split(list, ','))
      out.emplace_back(trim(name));
  return out;
}

} // namespace

std::optional<BackwardSpec> backward_of(const Options &options, const std::string &path, Diagnostics &diags) {
  LoadOptions load;
  if (!load_options(options, load))
    return std::nullopt;
  const std::optional<Compiled> compiled = compile_file(path, compile_options(options, load, Stage::facts), diags);
  if (!compiled)
    return std::nullopt;
  Diagnostics known; // said above
  const auto bodies = body::parse_body(compiled->spec, compiled->variants, known);
  if (!bodies)
    return std::nullopt;
  GradOptions how;
  how.of = names_of(options.of);
  how.with = names_of(options.with);
  how.deterministic = options.deterministic;
  std::optional<BackwardSpec> out = differentiate(compiled->spec, compiled->variants, *bodies, how, diags);
  if (!out)
    return std::nullopt;
  // What is written is right: it goes through all that any spec goes through.
  Diagnostics own;
  const std::string file = out->kernel + ".toml";
  own.add_source(file, out->text);
  CompileOptions again = compile_options(options, LoadOptions{}, Stage::facts);
  if (!compile(file, out->text, again, own)) {
    const std::vector<Diagnostic> messages = own.sorted();
    const Diagnostic &first = messages.front();
    diags.add(DiagId::grad_refused, compiled->spec.kernel_place, {"`" + compiled->spec.kernel + "`"}).help =
        "its backward kernel would be refused: " + first.text + (first.help.empty() ? "" : "; " + first.help);
    if (std::getenv("KGEN_GRAD_SHOW") != nullptr)
      std::cerr << out->text << own.render(Diagnostics::Format::human, false);
    return std::nullopt;
  }
  return out;
}

int write_gradient(const Options &options) {
  Diagnostics diags;
  LoadOptions load;
  if (!load_options(options, load))
    return kBadCommandLine;
  std::vector<OutputFile> files;
  for (const SpecFile &spec : find_specs(options, load, diags)) {
    const std::optional<BackwardSpec> backward = backward_of(options, spec.path, diags);
    if (backward)
      files.push_back({(std::filesystem::path(options.output) / spec.folder / (backward->kernel + ".toml")).string(),
                       backward->text});
  }
  if (diags.has_errors())
    return report(diags, options);
  std::vector<std::string> written;
  if (write_files(files, written, diags))
    for (const OutputFile &file : files)
      std::cout << file.path << "\n";
  return report(diags, options);
}

} // namespace kgen
