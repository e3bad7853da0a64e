// A launcher called with a workspace of exactly so many bytes, full of some byte, between guard bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace kgen {

inline constexpr unsigned char kGuardByte = 0xC7; // around memory that is lent

using NativeCall = int (*)(void *const *pointers, const int64_t *integers, const double *numbers);

// The i-th of each is the i-th argument, whatever its type.
struct NativeArguments {
  std::vector<void *> pointers;
  std::vector<int64_t> integers;
  std::vector<double> numbers;

  int pass_to(NativeCall call) const { return call(pointers.data(), integers.data(), numbers.data()); }
};

class CallInWorkspace {
public:
  static constexpr int kOverrun = -1; // in place of a status: it wrote outside

  // `end`: the place of the workspace among the arguments, of which its size is the next.
  CallInWorkspace(NativeCall call, NativeArguments arguments, size_t end, int64_t bytes, int filler,
                  bool (*is_too_small)(int status));

  // With 1 byte, half of what it asks for, which may do for fewer threads, or all of it.
  int with_some();
  // With less and less, down to the least that it takes, as what lies behind that belongs to nobody. `restore` makes
  // arrays as they were before.
  int with_least(const std::function<void()> &restore);

private:
  int call_in(int64_t given);
  bool is_overrun(int64_t given) const;

  const NativeCall call_;
  NativeArguments arguments_;
  const size_t end_;
  const int64_t bytes_;
  const int filler_;
  bool (*const is_too_small_)(int status);
  std::vector<unsigned char> memory_;
  unsigned char *start_;
};

} // namespace kgen
