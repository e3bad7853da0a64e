// A fault of kgen itself, never of its user: prints where, and leaves with exit code 70.
#pragma once

namespace kgen {
[[noreturn]] void internal_error(const char *file, int line, const char *what);
} // namespace kgen

#define KGEN_CHECK(condition)                                                                                          \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      ::kgen::internal_error(__FILE__, __LINE__, #condition);                                                          \
  } while (false)
#define KGEN_UNREACHABLE(what) ::kgen::internal_error(__FILE__, __LINE__, what)
