// grad: the backward kernel of a spec, as a spec beside it.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "cli/gradient.h"
#include "cli/written_by.h"
#include "grad/forward.h"
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

// What was written is right: it goes through all that any spec goes through.
std::string trouble_of(const Diagnostics &own) {
  const std::vector<Diagnostic> messages = own.sorted();
  const Diagnostic &first = *std::ranges::find(messages, Severity::error, &Diagnostic::severity);
  return first.text + (first.help.empty() ? "" : "; " + first.help);
}

// Instead of the kernel the one that gives the saved locals, too; its text.
std::optional<std::string> save_locals(Compiled &forward, const std::string &text, const std::string &folder,
                                       const SaveOptions &save, const CompileOptions &how, Diagnostics &diags) {
  const Spec &spec = forward.spec;
  std::vector<Kernel> kernels;
  for (const Variation &variation : forward.variations)
    kernels.push_back(variation.kernel);
  std::optional<std::string> out = forward_document(spec, text, forward.bodies, kernels, save, diags);
  if (!out)
    return std::nullopt;
  Diagnostics own;
  const std::string path = (std::filesystem::path(folder) / (spec.kernel + "_forward.toml")).string();
  std::optional<Compiled> made = compile(path, *out, how, own);
  if (!made) {
    diags.add(DiagId::grad_not_saved, spec.kernel_place, {saved_locals(spec, save)[0], "as an output it is refused"})
        .help = trouble_of(own);
    return std::nullopt;
  }
  made->spec.kernel = spec.kernel;
  made->spec.file_name = spec.file_name;
  made->spec.kernel_place = spec.kernel_place;
  forward = std::move(*made);
  return out;
}

std::vector<std::string> outputs_of(const Spec &spec) {
  std::vector<std::string> out;
  for (const OperandDecl &operand : spec.operands)
    if (operand.role == Role::output)
      out.push_back(operand.name);
  return out;
}

GradOptions grad_options(const Options &options) {
  GradOptions out;
  out.of = names_of(options.of);
  out.with = names_of(options.with);
  out.deterministic = options.deterministic;
  out.advise = options.command == Command::grad && options.save.empty();
  return out;
}

// Are the functions of `functions_from` found from there, too?
bool has_functions(const std::string &folder, const Spec &spec) {
  std::string reason;
  const std::filesystem::path file = std::filesystem::path(folder) / spec.functions_from;
  return !spec.functions_from.empty() && read_file(file.string(), kLargestSource, reason) == spec.functions.text;
}

// Proofs are the same for all floating types, and a long kernel takes its time for each. Halves are refused for more
// than the others, double for less.
LoadOptions narrowest_floating_types(const Spec &spec) {
  LoadOptions out;
  out.for_those_that_declare = true;
  for (const TypeParam &type : spec.types)
    if (spec.only.empty() && std::ranges::all_of(type.choices, is_floating))
      out.defines.emplace_back(type.name, type_row(std::ranges::min(type.choices, {}, bytes_of)).name);
  return out;
}

bool check_written(const Options &options, const Spec &spec, const std::string &folder, const BackwardSpec &written,
                   Diagnostics &diags) {
  Diagnostics own;
  const std::string file = (std::filesystem::path(folder) / (written.kernel + ".toml")).string();
  own.add_source(file, written.text);
  if (compile(file, written.text, compile_options(options, narrowest_floating_types(spec), Stage::facts), own))
    return true;
  diags.add(DiagId::grad_refused, spec.kernel_place, {"`" + spec.kernel + "`"}).help =
      "its backward kernel would be refused: " + trouble_of(own);
  return false;
}

} // namespace

std::optional<BackwardSpec> backward_of(const Options &options, const std::string &path, const std::string &folder,
                                        Diagnostics &diags) {
  LoadOptions load;
  if (!load_options(options, load))
    return std::nullopt;
  const CompileOptions compiling = compile_options(options, load, Stage::facts);
  const std::optional<std::string> text = read_source(path, diags);
  std::optional<Compiled> forward = text ? compile(path, *text, compiling, diags) : std::nullopt;
  if (!forward)
    return std::nullopt;
  GradOptions how = grad_options(options);
  how.functions_from_stay = has_functions(folder, forward->spec);
  const SaveOptions save{names_of(options.save), how.functions_from_stay};
  std::string forward_text;
  if (!saved_locals(forward->spec, save).empty()) {
    if (how.with.empty())
      how.with = outputs_of(forward->spec);
    std::optional<std::string> made = save_locals(*forward, *text, folder, save, compiling, diags);
    if (!made)
      return std::nullopt;
    forward_text = written_by(options, forward->spec.file_name) + *made;
  }
  const Spec &spec = forward->spec;
  std::optional<BackwardSpec> out = differentiate(spec, forward->variants, forward->bodies, how, diags);
  if (!out)
    return std::nullopt;
  out->text = written_by(options, spec.file_name) + out->text;
  if (!check_written(options, spec, folder, *out, diags))
    return std::nullopt;
  out->forward = forward_text;
  for (const std::string &name : save.names)
    if (out->reads.count(name) == 0) {
      diags.add(DiagId::grad_not_saved, spec.kernel_place, {name, "the gradient would not read it"}).help =
          "leave it out of --save; greatest and least values are found again anyway, with where they stand";
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
    const std::filesystem::path folder = std::filesystem::path(options.output) / spec.folder;
    const std::optional<BackwardSpec> backward = backward_of(options, spec.path, folder.string(), diags);
    if (!backward)
      continue;
    files.push_back({(folder / (backward->kernel + ".toml")).string(), backward->text});
    if (!backward->forward.empty()) {
      const std::string name = backward->kernel.substr(0, backward->kernel.size() - std::string("backward").size());
      files.push_back({(folder / (name + "forward.toml")).string(), backward->forward});
    }
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
