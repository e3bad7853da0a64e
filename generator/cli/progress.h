// How far a long run is, on a terminal: one line that is written over and goes away at the end. Nothing before a second
// has passed, and nothing where somebody reads the messages later.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace kgen {

class Progress {
public:
  Progress(std::string what, size_t total, bool shown);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void step(); // one more is done; from any thread

private:
  void show(const std::string &line);

  const std::string what_;
  const size_t total_;
  const bool shown_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  size_t done_ = 0, width_ = 0;
};

} // namespace kgen
