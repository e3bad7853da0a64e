// kgen: kernel specs in, CUDA and OpenMP sources out.
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include "cli/commands.h"
#include "support/check.h"

namespace kgen {
namespace {

constexpr const char *kNoMemory = "not enough memory; `run` and `verify` hold all arrays and the scratch of one step, "
                                  "other commands work on as many specs at once as --jobs says";

int execute(const Options &options) {
  switch (options.command) {
  case Command::generate:
    return generate(options);
  case Command::check:
    return check(options);
  case Command::fmt:
    return fmt(options);
  case Command::lint:
    return lint(options);
  case Command::outputs:
    return outputs(options);
  case Command::make_new:
    return make_new(options);
  case Command::completion:
    return completion(options);
  case Command::reference:
    return reference(options);
  case Command::schema:
    return schema(options);
  case Command::explain:
    return explain(options);
  case Command::grad:
    return write_gradient(options);
  case Command::run:
    return run(options);
  case Command::verify:
    return verify(options);
  }
  KGEN_UNREACHABLE("a command without a function");
}

// A stream that the caller closed gives its number to the next file that is opened, and that file what is printed.
void hold_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) < 0)
      ::open("/dev/null", O_RDWR);
}

// What could not be printed is an error as any file is.
int finish(int exit_code) {
  std::cout.flush();
  if (std::cout || exit_code > kDrift)
    return exit_code;
  std::cerr << "kgen: cannot write to standard output\n";
  return kBadFiles;
}

// What no one has caught: memory or threads ran out in the middle of something, or kgen is at fault.
[[noreturn]] void give_up() {
  constexpr int kBug = 70;
  int code = kBug;
  const char *what = "internal error: it gave up; please report it with the spec";
  try {
    if (const std::exception_ptr current = std::current_exception())
      std::rethrow_exception(current);
  } catch (const std::bad_alloc &) {
    code = kBadCommandLine, what = kNoMemory;
  } catch (const std::length_error &) {
    code = kBadCommandLine, what = kNoMemory;
  } catch (const std::system_error &) {
    code = kBadFiles, what = "the system gives no more threads or files";
  } catch (...) {
  }
  std::fprintf(stderr, "kgen: %s\n", what);
  std::_Exit(code);
}

int start(int argc, char **argv) {
  int exit_code = kOk;
  std::optional<Options> options = parse_options(argc, argv, exit_code);
  if (!options)
    return exit_code;
  return execute(*options);
}

} // namespace
} // namespace kgen

int main(int argc, char **argv) {
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error with a message, like a full disk
  std::set_terminate(kgen::give_up);
  kgen::hold_streams();
  return kgen::finish(kgen::start(argc, argv));
}
