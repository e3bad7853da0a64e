// The end of a run that found kgen itself at fault.
#include "support/check.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace kgen {

void internal_error(const char *file, int line, const char *what) {
  // The path from the source root says enough; where the tree lay when kgen was built is nobody's business.
  std::string_view path = file;
  if (const size_t root = path.rfind("generator/"); root != std::string_view::npos)
    path.remove_prefix(root);
  std::fflush(stdout);
  std::fprintf(stderr, "kgen: internal error at %.*s:%d: %s\n", static_cast<int>(path.size()), path.data(), line, what);
  std::fprintf(stderr, "kgen: this is a fault of kgen, not of the spec; please report it with the spec\n");
  std::fflush(stderr);
  std::_Exit(70);
}

} // namespace kgen
