// The forward kernel with some of its locals as further outputs: what the backward kernel reads instead of computing it
// again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "body/body.h"
#include "ir/kernel.h"
#include "spec/spec.h"

namespace kgen {

struct SaveOptions {
  std::vector<std::string> names;   // outputs, which are kept anyway, and locals
  bool functions_from_stay = false; // the file that it names is found from where the spec is written
};

// Which of the names are locals.
std::vector<std::string> saved_locals(const Spec &spec, const SaveOptions &options);

// The text of NAME_forward.toml: that of the spec, whose text is `source`, with the kernel's name and the declarations
// of those locals changed. `bodies` and `kernels` are those of its variants. nullopt after errors.
std::optional<std::string> forward_document(const Spec &spec, const std::string &source,
                                            const std::vector<body::Body> &bodies, const std::vector<Kernel> &kernels,
                                            const SaveOptions &options, Diagnostics &diags);

} // namespace kgen
