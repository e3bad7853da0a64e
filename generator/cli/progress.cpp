#include "cli/progress.h"

#include <algorithm>
#include <iostream>

namespace kgen {

Progress::Progress(std::string what, size_t total, bool shown)
    : what_(std::move(what)), total_(total), shown_(shown), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (width_ > 0)
    show("");
}

void Progress::step() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++done_;
  if (shown_ && std::chrono::steady_clock::now() - start_ > std::chrono::seconds(1))
    show(std::to_string(done_) + " of " + std::to_string(total_) + " " + what_);
}

// Blanks cover what was longer before.
void Progress::show(const std::string &line) {
  std::cerr << '\r' << line << std::string(std::max(width_, line.size()) - line.size(), ' ');
  if (line.empty())
    std::cerr << '\r';
  std::cerr.flush();
  width_ = line.size();
}

} // namespace kgen
