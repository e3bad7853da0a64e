// The kinds of bindings: one row of a table each. A binding turns a signature into the texts of its files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/bindings/signature.h"
#include "emit/emit.h"
#include "emit/text/render.h"

namespace kgen {

// What a binding is made from.
struct BindingInput {
  const Spec &spec;
  const Kernel &kernel; // of the first choices
  const Signature &signature;
  const Signature *backward; // of the kernel that gives the gradients; null: there is none
  const Signature *forward;  // of the kernel that is called for its gradients instead; null: there is none
  const Templates &templates;
  const EmitOptions &options; // bind_namespace, standalone
};

struct BindingRow {
  std::string_view name; // as `--bind` takes it
  std::vector<EmittedFile> (*files)(const BindingInput &input);
};
std::span<const BindingRow> binding_rows();

// Beside what to do about a missing backward kernel: `kgen.load` has asked for it, and may have been given a text.
inline constexpr std::string_view kOfLoaded = "of a kernel that kgen.load gives, grad() says why there is none";

const BindingRow *find_binding(std::string_view name);

std::vector<EmittedFile> jax_files(const BindingInput &input);
std::vector<EmittedFile> numpy_files(const BindingInput &input);
std::vector<EmittedFile> torch_files(const BindingInput &input);

} // namespace kgen
