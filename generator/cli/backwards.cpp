#include "cli/backwards.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "support/files.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

std::optional<Spec> load_quietly(const std::string &path, const LoadOptions &load) {
  Diagnostics unused; // it is said when the spec is compiled
  const std::optional<std::string> text = read_source(path, unused);
  return text ? load_spec(path, *text, load, unused) : std::nullopt;
}

bool has(const Spec &spec, Role role, std::string_view name) {
  return std::ranges::any_of(spec.operands, [&](const OperandDecl &o) { return o.role == role && o.name == name; });
}
bool has_table(const Spec &spec, std::string_view name) {
  return std::ranges::find(spec.tables, name, &TableDecl::name) != spec.tables.end();
}
bool has_scalar(const Spec &spec, std::string_view name) {
  return std::ranges::find(spec.scalars, name, &Scalar::name) != spec.scalars.end();
}

// x of d_x, d2_x and d3_x; empty: it is no gradient's name.
std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"d_", "d2_", "d3_"})
    if (name.starts_with(prefix))
      return name.substr(prefix.size());
  return {};
}

// Bindings pass a backward kernel what `kgen grad` lets it ask for, by these names.
void check_contract(const Spec &forward, const Spec &backward, Diagnostics &diags) {
  const auto refuse = [&](const std::string &name, const Place &place, const std::string &why) {
    diags.add(DiagId::file_bad_array, place, {"this kernel", forward.kernel, "`" + name + "` " + why}).help =
        "`kgen grad " + forward.file_name + "` writes one whose arrays bindings know";
  };
  for (const OperandDecl &o : backward.operands) {
    const std::string_view of = without_prefix(o.name);
    if (o.role == Role::output && !has(forward, Role::input, of) && !has_scalar(forward, of))
      refuse(o.name, o.place, "is not `d_` and an input of it");
    if (o.role == Role::input && !has(forward, Role::input, o.name) && !has(forward, Role::output, o.name) &&
        !has(forward, Role::output, of))
      refuse(o.name, o.place, "is neither an input or output of it, nor `d_` and an output");
  }
  for (const TableDecl &table : backward.tables)
    if (!has_table(forward, table.name))
      refuse(table.name, table.place, "is no table there");
  for (const Scalar &scalar : backward.scalars)
    if (!has_scalar(forward, scalar.name))
      refuse(scalar.name, scalar.place, "is no scalar there");
}

} // namespace

void find_backwards(std::vector<BoundSpec> &specs, const LoadOptions &load, Diagnostics &diags) {
  LoadOptions lenient = load;
  lenient.for_those_that_declare = true;
  std::vector<std::optional<Spec>> loaded;
  std::map<std::string, size_t> backwards; // by the kernel that it is backward of
  for (const BoundSpec &spec : specs) {
    loaded.push_back(load_quietly(spec.file.path, lenient));
    if (loaded.back() && !loaded.back()->backward_of.empty())
      backwards.emplace(loaded.back()->backward_of, loaded.size() - 1);
  }
  std::error_code error;
  for (size_t i = 0, count = specs.size(); i < count; ++i) {
    if (!loaded[i])
      continue;
    const std::string &kernel = loaded[i]->kernel;
    const std::string beside =
        (fs::path(specs[i].file.path).parent_path() / (kernel + "_backward.toml")).generic_string();
    std::optional<Spec> backward;
    if (const auto given = backwards.find(kernel); given != backwards.end()) {
      backward = loaded[given->second];
    } else if (fs::is_regular_file(beside, error)) {
      backward = load_quietly(beside, lenient);
      if (!backward || backward->backward_of != kernel)
        continue;
      specs.push_back({{beside, specs[i].file.folder}, "", true});
    }
    if (!backward)
      continue;
    specs[i].backward = backward->path;
    check_contract(*loaded[i], *backward, diags);
  }
}

std::optional<Signature> signature_of_file(const std::string &path, const CompileOptions &options) {
  CompileOptions until_rewritten = options;
  until_rewritten.last = Stage::rewrite;
  until_rewritten.load.for_those_that_declare = true;
  Diagnostics unused;
  const std::optional<Compiled> compiled = compile_file(path, until_rewritten, unused);
  return compiled ? std::optional(signature_of(compiled->spec, compiled->variations, options.emit)) : std::nullopt;
}

} // namespace kgen
