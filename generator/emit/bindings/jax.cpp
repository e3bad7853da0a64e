// The JAX binding: NAME_jax.cpp and NAME_jax.py.
#include <algorithm>

#include "emit/bindings/bindings.h"
#include "emit/bindings/jax.h"
#include "emit/bindings/python.h"
#include "emit/interface/header.h"
#include "emit/text/format.h"

namespace kgen {
namespace {

using Array = SignatureArray;

// XLA's arrays lie on the device: a function that reads tables on the host cannot be called with them.
bool runs_on_gpu(const BindingInput &in) {
  return in.signature.has_cuda && std::ranges::none_of(in.spec.tables, &TableDecl::on_host);
}

// Under vmap all arrays get one more dimension in front, which counts among those of `...`.
bool folds_into_rows(const Signature &s) {
  return std::ranges::all_of(s.arrays, [](const Array &a) { return a.rest == 0; }) && jax_array_of_rows(s) != nullptr;
}

std::string symbol(const BindingInput &in, const std::string &platform) {
  return in.options.bind_namespace + "_" + in.signature.kernel + "_jax_" + platform;
}

bool has_part(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

std::string handlers_file(const BindingInput &in) {
  const Signature &s = in.signature;
  const bool on_gpu = runs_on_gpu(in);
  const JaxHandler cpu = jax_handler(s, false, symbol(in, "cpu"));
  const JaxHandler cuda = on_gpu ? jax_handler(s, true, symbol(in, "cuda")) : JaxHandler();
  const std::string both = cpu.function + cuda.function;
  View view;
  view.set("banner", banner(in.spec, "")).set("kernel", s.kernel);
  view.set("cpu_handler", cpu.function).set("cpu_symbol", cpu.symbol);
  view.set("cuda", on_gpu).set("cuda_handler", cuda.function).set("cuda_symbol", cuda.symbol);
  view.set("plain",
           std::ranges::any_of(s.arrays, [&](const Array &a) { return !a.optional && (on_gpu || !is_wide_table(a)); }));
  view.set("optional", std::ranges::any_of(s.arrays, &Array::optional));
  view.set("rows", has_part(both, "rows_of(")).set("strides", has_part(both, "stride_of("));
  view.set("wide", has_part(both, "WideTable")).set("memory", has_part(both, "with_workspace("));
  return format_cpp(in.templates.render("bindings/jax.cpp", view));
}

// Modules of the standard library that the text uses, one a line.
std::string imports(const std::string &text) {
  std::string out;
  for (const char *name :
       {"ctypes", "importlib", "math", "operator", "os", "shlex", "shutil", "subprocess", "sys", "tempfile", "typing"})
    if (has_part(text, std::string(name) + "."))
      out += (out.empty() ? "import " : "\nimport ") + std::string(name);
  return out;
}

std::string module_file(const BindingInput &in) {
  const Signature &s = in.signature;
  const std::string text = jax_function(in.spec, s) + "\n\n" + jax_gradient(in);
  View view;
  view.set("banner", python_banner(in.spec)).set("kernel", s.kernel).set("namespace", in.options.bind_namespace);
  view.set("function", s.function).set("text", text).set("choices", jax_choices(in.spec, s));
  view.set("helpers", python_helpers(in.templates, "bindings/jax_helpers.py", text));
  view.set("vmap", std::string(folds_into_rows(s) ? "broadcast_all" : "sequential")).set("cuda", runs_on_gpu(in));
  Views others; // whose functions this module calls
  for (const Signature *other : {in.forward, in.backward})
    if (other != nullptr)
      others.push_back(View().set("name", other->kernel));
  view.set("others", others);
  const std::string all = in.templates.render("bindings/jax.py", view.set("imports", std::string()));
  return in.templates.render("bindings/jax.py", view.set("imports", imports(all)));
}

} // namespace

std::vector<EmittedFile> jax_files(const BindingInput &in) {
  return {{in.signature.kernel + "_jax.cpp", handlers_file(in)}, {in.signature.kernel + "_jax.py", module_file(in)}};
}

} // namespace kgen
