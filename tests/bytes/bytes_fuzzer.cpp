// libFuzzer's target: any bytes are a spec, and all stages up to the emitted text run on it in memory. Nothing is
// compiled and nothing is written. What must hold: no crash, no fault of kgen itself, either a result or an error, and
// every message at a place that exists, with bounds on time and memory that ./run sets.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/compile.h"
#include "mutate.h"
#include "plan/plan.h"
#include "support/check.h"

namespace kgen {

// In place of the one in kgen's own library, which leaves without a crash that libFuzzer would see.
void internal_error(const char *file, int line, const char *what) {
  std::fprintf(stderr, "kgen: internal error at %s:%d: %s\n", file, line, what);
  std::abort();
}

namespace {

// Below this folder lie files that `functions_from` may name.
constexpr const char *kPath = "specs/giou/fuzzed.toml";

void must(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "bytes_fuzzer: %s\n", what);
  std::abort();
}

void run(const std::string &text) {
  Diagnostics diags;
  CompileOptions options;
  options.print = true;
  const std::optional<Compiled> compiled = compile(kPath, text, options, diags);
  must(compiled.has_value() != diags.has_errors(), "a result and an error, or neither");
  must(!compiled || !compiled->files.empty(), "nothing was emitted");
  for (const Diagnostic &d : diags.sorted()) {
    must(!d.text.empty(), "a message without text");
    must(d.place.line == 0 || (d.place.column >= 1 && d.place.length >= 1), "a place that does not exist");
  }
  for (const Diagnostics::Format format : {Diagnostics::Format::human, Diagnostics::Format::json})
    must(diags.render(format, false).empty() == diags.empty(), "a message that does not show");
  if (!compiled)
    return;
  must(!print(compiled->spec).empty(), "a spec that does not print");
  for (const Variation &v : compiled->variations) {
    must(!print(v.kernel).empty() && !print(v.kernel, v.facts).empty(), "a kernel that does not print");
    for (const TargetKind target : {TargetKind::openmp, TargetKind::cuda})
      must(!print(make_plan(v.lowered, v.lowered_facts, target)).empty(), "a plan that does not print");
  }
}

} // namespace
} // namespace kgen

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kgen::run(std::string(reinterpret_cast<const char *>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  if (seed % 4 == 0) // plain bytes, with libFuzzer's dictionary
    return LLVMFuzzerMutate(data, size, max_size);
  return kgen::bytes::mutate_spec(data, size, max_size, seed);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                                            uint8_t *out, size_t max_size, unsigned seed) {
  return kgen::bytes::cross_specs(data, size, other, other_size, out, max_size, seed);
}
