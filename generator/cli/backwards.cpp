#include "cli/backwards.h"

#include <algorithm>
#include <filesystem>

#include "cli/contract.h"
#include "cli/gradient.h"
#include "cli/written_by.h"
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

// Does it read what the forward kernel neither takes nor gives?
bool reads_more(const Spec &forward, const Spec &backward) {
  return std::ranges::any_of(backward.operands, [&](const OperandDecl &o) {
    return o.role == Role::input && !has(forward, Role::input, o.name) && !has(forward, Role::output, o.name) &&
           !has(forward, Role::output, without_gradient_prefix(o.name));
  });
}

// But for comments and layout, which are those of the forward kernel's text.
bool is_text_of(const std::string &path, const std::string &text) {
  Diagnostics unused;
  CompileOptions how;
  how.last = Stage::ir;
  const auto kernels_of = [&](const std::optional<Compiled> &compiled) {
    std::vector<std::string> out;
    if (compiled)
      for (const Variation &variation : compiled->variations)
        out.push_back(print(variation.kernel));
    return out;
  };
  return kernels_of(compile_file(path, how, unused)) == kernels_of(compile(path, text, how, unused));
}

class Finder {
public:
  Finder(std::vector<BoundSpec> &specs, const Options &options, const LoadOptions &load, Diagnostics &diags)
      : specs_(specs), options_(options), load_(load), diags_(diags) {
    load_.for_those_that_declare = true;
    for (const BoundSpec &spec : specs)
      loaded_.push_back(load_quietly(spec.file.path, load_));
  }

  void run() {
    for (size_t i = 0; i < specs_.size(); ++i) { // also of those that join them on the way
      const size_t backward = loaded_[i] ? backward_of(i) : kNone;
      if (backward == kNone)
        continue;
      const std::string name = loaded_[i]->kernel + "_forward";
      const size_t forward = reads_more(*loaded_[i], *loaded_[backward])
                                 ? named(name, beside(specs_[backward].file.path, name), i)
                                 : kNone;
      check_contract(*loaded_[forward == kNone ? i : forward], *loaded_[backward], diags_);
      check_written(i, forward, backward);
      specs_[i].backward = specs_[backward].file.path;
      if (forward == kNone)
        continue;
      check_saving_forward(*loaded_[i], *loaded_[forward], diags_);
      specs_[i].forward = specs_[forward].file.path;
      specs_[forward].backward = specs_[backward].file.path;
    }
  }

private:
  static constexpr size_t kNone = SIZE_MAX;

  static std::string beside(const std::string &path, const std::string &name) {
    return (fs::path(path).parent_path() / (name + ".toml")).generic_string();
  }

  // The spec of a file: among those that are there, or joining them.
  size_t spec_at(const std::string &path, const std::string &folder) {
    std::error_code error;
    for (size_t i = 0; i < specs_.size(); ++i)
      if (fs::equivalent(specs_[i].file.path, path, error))
        return i;
    std::optional<Spec> spec = fs::is_regular_file(path, error) ? load_quietly(path, load_) : std::nullopt;
    if (!spec)
      return kNone;
    specs_.push_back({{path, folder}, "", "", true});
    loaded_.push_back(std::move(spec));
    return specs_.size() - 1;
  }

  size_t named(const std::string &kernel, const std::string &path, size_t whose) {
    for (size_t i = 0; i < specs_.size(); ++i)
      if (loaded_[i] && loaded_[i]->kernel == kernel)
        return i;
    return spec_at(path, specs_[whose].file.folder);
  }

  size_t backward_of(size_t i) {
    const Spec spec = *loaded_[i];
    if (!spec.backward.empty())
      return at_its_key(i);
    for (size_t k = 0; k < specs_.size(); ++k)
      if (loaded_[k] && loaded_[k]->backward_of == spec.kernel)
        return k;
    const std::string path = beside(specs_[i].file.path, spec.kernel + "_backward");
    std::error_code error;
    const std::optional<Spec> other = fs::is_regular_file(path, error) ? load_quietly(path, load_) : std::nullopt;
    return other && other->backward_of == spec.kernel ? spec_at(path, specs_[i].file.folder) : kNone;
  }

  size_t at_its_key(size_t i) {
    const Spec spec = *loaded_[i];
    const std::string path = (fs::path(specs_[i].file.path).parent_path() / spec.backward).lexically_normal().string();
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      diags_.add(DiagId::file_unreadable, spec.backward_place, {path, "there is no such file"}).help =
          "`kgen grad " + spec.file_name + "` writes one";
      return kNone;
    }
    const size_t found = spec_at(path, specs_[i].file.folder);
    if (found == kNone) { // what is wrong with it is said when it is compiled
      specs_.push_back({{path, specs_[i].file.folder}, "", "", true});
      loaded_.emplace_back();
      return kNone;
    }
    if (loaded_[found]->backward_of == spec.kernel)
      return found;
    diags_
        .add(DiagId::file_bad_array, spec.backward_place,
             {path, spec.kernel,
              loaded_[found]->backward_of.empty() ? "it is the gradient of nothing"
                                                  : "it is the gradient of `" + loaded_[found]->backward_of + "`"})
        .help = "write backward_of = \"" + spec.kernel + "\" there";
    return kNone;
  }

  // What `kgen grad` has written, of a kernel that may have changed since.
  void check_written(size_t forward, size_t saving, size_t backward) {
    Diagnostics unused; // what is wrong with them is said when they are compiled
    const std::string &path = specs_[forward].file.path, &written = specs_[backward].file.path;
    const std::optional<std::string> text = read_source(written, unused);
    std::optional<Options> how = text ? written_with(*text, loaded_[forward]->file_name) : std::nullopt;
    if (!how)
      return;
    how->includes = options_.includes;
    how->templates = options_.templates;
    check_choices(*how, forward, backward);
    const std::string folder = fs::path(written).parent_path().string();
    const auto warn = [&](size_t changed) {
      diags_.add(DiagId::grad_out_of_date, loaded_[changed]->kernel_place,
                 {specs_[changed].file.path, command_of(*how, path, folder), loaded_[forward]->kernel});
    };
    const std::optional<BackwardSpec> now = kgen::backward_of(*how, path, folder, unused);
    if (!now || now->text != *text)
      warn(backward);
    else if (saving != kNone && !is_text_of(specs_[saving].file.path, now->forward))
      warn(saving);
  }

  // It has numbers in its text where -D has fixed parameters, and is called for whatever these are here.
  void check_choices(const Options &how, size_t forward, size_t backward) {
    const std::string &path = specs_[forward].file.path, &written = specs_[backward].file.path;
    LoadOptions fixed = load_;
    const std::optional<Spec> then = load_options(how, fixed) ? load_quietly(path, fixed) : std::nullopt;
    if (!then)
      return;
    for (const auto &[name, value] : fixed.defines) {
      const auto of = [&](const Spec &spec) { return std::ranges::find(spec.params, name, &Param::name); };
      const auto here = of(*loaded_[forward]);
      if (here == loaded_[forward]->params.end() || of(*loaded_[backward]) != loaded_[backward]->params.end() ||
          here->choices == of(*then)->choices)
        continue;
      Options without = how;
      std::erase(without.defines, name + "=" + value);
      diags_
          .add(DiagId::grad_of_one_choice, loaded_[backward]->kernel_place,
               {written, loaded_[forward]->kernel, name + "=" + value})
          .help = "give -D " + name + "=" + value + " here, too, or write it again without: `" +
                  command_of(without, path, fs::path(written).parent_path().string()) + "`";
    }
  }

  std::vector<BoundSpec> &specs_;
  const Options &options_;
  LoadOptions load_;
  Diagnostics &diags_;
  std::vector<std::optional<Spec>> loaded_;
};

} // namespace

void find_backwards(std::vector<BoundSpec> &specs, const Options &options, const LoadOptions &load,
                    Diagnostics &diags) {
  Finder(specs, options, load, diags).run();
}

std::optional<Signature> signature_of_file(const std::string &path, const CompileOptions &options) {
  if (path.empty())
    return std::nullopt;
  CompileOptions until_planned = options;
  until_planned.last = Stage::plan;
  until_planned.load.for_those_that_declare = true;
  Diagnostics unused;
  const std::optional<Compiled> compiled = compile_file(path, until_planned, unused);
  return compiled ? std::optional(signature_of(compiled->spec, compiled->variations, options.emit)) : std::nullopt;
}

} // namespace kgen
