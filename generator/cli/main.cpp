// kgen: kernel specs in, CUDA and OpenMP sources out.
#include "cli/commands.h"
#include "support/check.h"

int main(int argc, char **argv) {
  using namespace kgen;
  int exit_code = kOk;
  std::optional<Options> options = parse_options(argc, argv, exit_code);
  if (!options)
    return exit_code;
  switch (options->command) {
  case Command::generate:
    return generate(*options);
  case Command::check:
    return check(*options);
  case Command::explain:
    return explain(*options);
  case Command::run:
    return run(*options);
  case Command::verify:
    return verify(*options);
  }
  KGEN_UNREACHABLE("a command without a function");
}
