// The gradient of a kernel, as a spec: what `kgen grad` writes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "body/body.h"
#include "spec/spec.h"

namespace kgen {

struct GradOptions {
  std::vector<std::string> of;      // inputs and scalars; empty: all floating inputs
  std::vector<std::string> with;    // outputs; empty: all floating ones
  bool deterministic = false;       // sums instead of additions at computed places
  bool functions_from_stay = false; // the file that it names is found from where the spec is written
  bool advise = false;              // say which local would be worth saving
};

struct BackwardSpec {
  std::string kernel, prefix;  // of the names of gradients: d_
  std::string text;            // in the layout of `kgen fmt`
  std::set<std::string> reads; // arrays, scalars and tables of the forward kernel
  std::string forward;         // the text of NAME_forward.toml, where locals are saved; else empty
};

// `bodies` are those of `variants`, of a spec without mistakes. nullopt after errors.
std::optional<BackwardSpec> differentiate(const Spec &spec, const std::vector<Variant> &variants,
                                          const std::vector<body::Body> &bodies, const GradOptions &options,
                                          Diagnostics &diags);

} // namespace kgen
