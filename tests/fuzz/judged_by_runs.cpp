// judged_by_runs SPEC: is a spec right? Runs the interpreter on it, over its edge sizes and with random data, whatever
// the analysis says. Exit code 0: every run was clean, or one that launchers refuse; 1: a run ended with a fault, which
// is printed; 2: the spec is refused before there is a kernel, or nothing ran.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "analysis/facts.h"
#include "body/body.h"
#include "cli/differential.h"
#include "cli/inputs.h"

using namespace kgen;

namespace {

constexpr int64_t kWork = 20'000;

bool is_wrong(Fault fault) {
  return fault == Fault::comes_back || fault == Fault::collides || fault == Fault::meets || fault == Fault::undefined ||
         fault == Fault::unwritten || fault == Fault::other;
}

// Launchers refuse sizes without a step, where an output has elements.
bool takes_no_step(const Kernel &kernel, const RunInput &input) {
  return std::ranges::any_of(kernel.grid, [&](const GridDim &dim) {
    return dim.axis == kNone && size_value(kernel, dim.size, input).value_or(0) <= 0;
  });
}

// Launchers may refuse the arguments that bring it about.
bool is_checked(const Facts &facts) {
  static const std::set<Check::Kind> kKinds = {Check::Kind::coverage, Check::Kind::disjoint, Check::Kind::relation,
                                               Check::Kind::table_runs, Check::Kind::table_disjoint};
  return std::ranges::any_of(facts.checks, [](const Check &check) { return kKinds.count(check.kind) != 0; });
}

// The fault of the first run that has one. `clean` counts the others that are no refusal.
std::string first_fault(const Kernel &kernel, int &clean) {
  for (const auto &sizes : edge_sizes(kernel))
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      RunInput input;
      input.sizes = sizes;
      RandomOptions random;
      random.seed = seed;
      random.integers = seed != 2;
      random.optional_operands = seed % 2 == 1;
      random.partial_outputs = true;
      std::string reason;
      if (!fill_random(kernel, input, random, reason))
        continue;
      RunOptions options;
      options.seed = seed;
      options.work_limit = kWork;
      const RunResult result = interpret(kernel, input, options);
      if (result.operations > kWork)
        continue;
      if (is_wrong(result.fault) && !(result.fault == Fault::unwritten && takes_no_step(kernel, input))) {
        std::string text = result.error + " at";
        for (const auto &[name, size] : sizes)
          text += " " + name + "=" + std::to_string(size);
        return text;
      }
      clean += result.fault == Fault::none ? 1 : 0;
    }
  return "";
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  Diagnostics diags;
  const auto spec = load_spec(argv[1], text.str(), {}, diags);
  if (!spec)
    return 2;
  const std::vector<Variant> variants = variants_of(*spec);
  const auto bodies = body::parse_body(*spec, variants, diags);
  if (!bodies)
    return 2;
  int clean = 0;
  for (size_t v = 0; v < variants.size(); ++v) {
    std::optional<Kernel> kernel = build_kernel(*spec, variants[v], (*bodies)[v], diags);
    if (!kernel)
      return 2;
    const Facts facts = analyze(*kernel, diags);
    const std::string fault = first_fault(*kernel, clean);
    if (!fault.empty() && (diags.has_errors() || !is_checked(facts))) {
      std::puts(fault.c_str());
      return 1;
    }
  }
  std::printf("%d clean runs\n", clean);
  return clean > 0 ? 0 : 2;
}
