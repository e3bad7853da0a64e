#include "cli/backwards.h"

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

} // namespace

void find_backwards(std::vector<BoundSpec> &specs, const LoadOptions &load) {
  LoadOptions lenient = load;
  lenient.for_those_that_declare = true;
  std::map<std::string, std::string> kernels, backwards; // paths by the kernel, by the kernel that it is backward of
  std::vector<std::string> names(specs.size());
  for (size_t i = 0; i < specs.size(); ++i)
    if (const std::optional<Spec> spec = load_quietly(specs[i].file.path, lenient)) {
      names[i] = spec->kernel;
      kernels.emplace(spec->kernel, specs[i].file.path);
      if (!spec->backward_of.empty())
        backwards.emplace(spec->backward_of, specs[i].file.path);
    }
  std::error_code error;
  for (size_t i = 0, count = specs.size(); i < count; ++i) {
    const std::string name = names[i] + "_backward";
    const std::string beside = (fs::path(specs[i].file.path).parent_path() / (name + ".toml")).generic_string();
    if (const auto given = backwards.find(names[i]); given != backwards.end())
      specs[i].backward = given->second;
    else if (const auto named = kernels.find(name); named != kernels.end())
      specs[i].backward = named->second;
    else if (!names[i].empty() && fs::is_regular_file(beside, error)) {
      specs[i].backward = beside;
      specs.push_back({{beside, specs[i].file.folder}, "", true});
    }
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
