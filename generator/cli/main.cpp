// kgen: kernel specs in, CUDA and OpenMP sources out.
#include <iostream>
#include <new>

#include "cli/commands.h"
#include "support/check.h"

namespace kgen {
namespace {

int execute(const Options &options) {
  switch (options.command) {
  case Command::generate:
    return generate(options);
  case Command::check:
    return check(options);
  case Command::explain:
    return explain(options);
  case Command::run:
    return run(options);
  case Command::verify:
    return verify(options);
  }
  KGEN_UNREACHABLE("a command without a function");
}

} // namespace
} // namespace kgen

int main(int argc, char **argv) {
  using namespace kgen;
  int exit_code = kOk;
  std::optional<Options> options = parse_options(argc, argv, exit_code);
  if (!options)
    return exit_code;
  try {
    return kgen::execute(*options);
  } catch (const std::bad_alloc &) {
    std::cerr << "kgen: not enough memory; `run` and `verify` hold all arrays, and the scratch of one step\n";
    return kgen::kBadCommandLine;
  }
}
