// Spec + Body -> Kernel, one part after the other. A part that found mistakes ends the build after the parts that do
// not depend on it have had their say.
#include "ir/build.h"

#include "support/check.h"

namespace kgen {

std::optional<Kernel> build_kernel(const Spec &spec, const Variant &variant, const body::Body &body, Diagnostics &diags,
                                   const KeptNames *kept, bool steps_are_positions) {
  using namespace build;
  size_t before = diags.error_count(); // of other variants
  auto good = [&] { return diags.error_count() == before; };
  Build build{spec, variant, body, diags, kept, steps_are_positions, {}, {}, {}, {}, {}, {}, {}, {}, {},
              {},   {},      {},   {},    {}};
  Kernel &kernel = build.kernel;
  kernel.name = spec.kernel;
  kernel.suffix = variant.suffix;
  kernel.doc = spec.doc;
  kernel.schedule = spec.schedule;
  kernel.pins = spec.pins;
  build_axes(build);
  if (good())
    build_grid(build);
  if (good())
    build_operands(build);
  if (good()) {
    build_arguments(build);
    lower_body(build);
  }
  if (good()) {
    settle_windows(build);
    infer_axes(build);
    check_axes(build);
    check_definitions(build);
  }
  if (good())
    check_windows(build);
  if (!good())
    return std::nullopt;
  std::string fault = verify(kernel);
  if (!fault.empty())
    internal_error("ir/build", 0, fault.c_str());
  return std::move(kernel);
}

} // namespace kgen
