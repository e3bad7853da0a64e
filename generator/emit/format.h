// Layout of emitted C++, pinned: the user's own clang-format does not matter.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace kgen {
// `#pragma omp ...` lines come out as `OMP(omp ...)`, indented like the statement they belong to.
std::string format_cpp(const std::string &text);
// Layouts of texts that come again and again: most of a file is helpers, which other files have too. For all threads.
class Layouts {
public:
  std::string of(const std::string &text);

private:
  std::mutex mutex_;
  std::map<std::string, std::string> known_;
};

} // namespace kgen
