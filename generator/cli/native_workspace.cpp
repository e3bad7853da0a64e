#include "cli/native_workspace.h"

#include <cstring>
#include <utility>

namespace kgen {
namespace {

constexpr int64_t kGuard = 256; // bytes on each side, and what the workspace is aligned to

} // namespace

CallInWorkspace::CallInWorkspace(NativeCall call, NativeArguments arguments, size_t end, int64_t bytes, int filler,
                                 bool (*is_too_small)(int status))
    : call_(call), arguments_(std::move(arguments)), end_(end), bytes_(bytes), filler_(filler),
      is_too_small_(is_too_small), memory_(static_cast<size_t>(bytes + 3 * kGuard), kGuardByte),
      start_(memory_.data()) {
  start_ += kGuard + (kGuard - static_cast<int64_t>(reinterpret_cast<uintptr_t>(start_) % kGuard));
  arguments_.pointers[end_] = start_;
}

int CallInWorkspace::with_some() {
  for (int64_t given : {int64_t{1}, bytes_ / 2})
    if (given <= bytes_)
      if (const int status = call_in(given); !is_too_small_(status))
        return status;
  return call_in(bytes_);
}

int CallInWorkspace::with_least(const std::function<void()> &restore) {
  int64_t refused = -1, taken = bytes_;
  while (taken - refused > 1) {
    const int64_t middle = refused + (taken - refused) / 2;
    const int status = call_in(middle);
    if (status != 0 && !is_too_small_(status))
      return status;
    if (status == 0)
      restore();
    (status == 0 ? taken : refused) = middle;
  }
  return call_in(taken);
}

int CallInWorkspace::call_in(int64_t given) {
  std::memset(start_, filler_, static_cast<size_t>(given));
  std::memset(start_ + given, kGuardByte, static_cast<size_t>(bytes_ - given));
  arguments_.integers[end_ + 1] = given;
  const int status = arguments_.pass_to(call_);
  return is_overrun(given) ? kOverrun : status;
}

bool CallInWorkspace::is_overrun(int64_t given) const {
  for (int64_t i = 1; i <= kGuard; ++i)
    if (start_[-i] != kGuardByte || start_[bytes_ + i - 1] != kGuardByte)
      return true;
  for (int64_t i = given; i < bytes_; ++i)
    if (start_[i] != kGuardByte)
      return true;
  return false;
}

} // namespace kgen
