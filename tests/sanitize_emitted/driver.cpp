// Runs recorded cases (case_file.h) and looks at the memory around the arrays and at what 1, 2 and 3 threads compute.
#include "driver.h"

#include "case_file.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <omp.h>
#include <string>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
constexpr bool kPoisons = true;
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
constexpr bool kPoisons = false;
#endif

namespace {

constexpr size_t kFront = 64, kBehind = kPoisons ? 0 : 64, kGranule = 8;
constexpr unsigned char kGuardByte = 0xC7;

// One array in memory of its own.
class Block {
public:
  explicit Block(const Slot &slot) : slot_(slot), front_(kFront + slot.element) {
    memory_ = static_cast<unsigned char *>(std::malloc(front_ + slot.before.size() + kBehind));
    if (!memory_)
      std::abort();
    std::memset(memory_, kGuardByte, front_ + slot.before.size() + kBehind);
    if (!slot.before.empty())
      std::memcpy(data(), slot.before.data(), slot.before.size());
    ASAN_POISON_MEMORY_REGION(memory_, front_ / kGranule * kGranule);
  }
  Block(const Block &) = delete;
  ~Block() {
    ASAN_UNPOISON_MEMORY_REGION(memory_, front_);
    std::free(memory_);
  }

  unsigned char *data() const { return memory_ + front_; }

  // Empty, or what the call did that it must not.
  std::string damage() const {
    ASAN_UNPOISON_MEMORY_REGION(memory_, front_);
    for (size_t i = 0; i < front_; ++i)
      if (memory_[i] != kGuardByte)
        return "guard before " + slot_.name + " overwritten";
    for (size_t i = 0; i < kBehind; ++i)
      if (data()[slot_.before.size() + i] != kGuardByte)
        return "guard behind " + slot_.name + " overwritten";
    if (slot_.constant && !slot_.before.empty() && std::memcmp(data(), slot_.before.data(), slot_.before.size()) != 0)
      return "input " + slot_.name + " changed";
    return "";
  }

private:
  const Slot &slot_;
  size_t front_;
  unsigned char *memory_;
};

// One call; the bytes of all results go to `results`. Empty, or what went wrong.
std::string call_once(const Function &function, const Case &given, int threads, std::vector<unsigned char> &results) {
  omp_set_num_threads(threads);
  std::vector<Block *> blocks;
  std::vector<Argument> arguments;
  for (const Slot &slot : given.slots) {
    arguments.push_back(slot.value);
    blocks.push_back(slot.array && !slot.before.empty() ? new Block(slot) : nullptr); // null does for empty arrays
    if (blocks.back())
      arguments.back().pointer = blocks.back()->data();
  }
  // Two threads: the function allocates its workspace. Else it gets exactly what it asks for.
  void *workspace = nullptr;
  int64_t bytes = 0;
  if (function.workspace && threads != 2) {
    bytes = function.workspace(arguments.data());
    workspace = bytes > 0 ? std::malloc(static_cast<size_t>(bytes)) : nullptr;
  }
  const int status = function.call(arguments.data(), workspace, bytes);
  std::free(workspace);
  std::string problem = status ? "status " + std::to_string(status) : "";
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!blocks[i])
      continue;
    if (problem.empty())
      problem = blocks[i]->damage();
    if (!given.slots[i].constant)
      results.insert(results.end(), blocks[i]->data(), blocks[i]->data() + given.slots[i].before.size());
    delete blocks[i];
  }
  return problem;
}

std::string run_case(const Function &function, const Case &given) {
  std::vector<unsigned char> first, other;
  for (int threads = 1; threads <= 3; ++threads) {
    other.clear();
    std::string problem = call_once(function, given, threads, threads == 1 ? first : other);
    if (!problem.empty())
      return problem + " with " + std::to_string(threads) + " threads";
    if (threads > 1 && other != first)
      return "the results of 1 and " + std::to_string(threads) + " threads differ";
  }
  return "";
}

} // namespace

int run_cases(const Function *functions, int count, const char *path) {
  std::FILE *file = std::fopen(path, "rb");
  if (!file)
    return 1;
  Case given;
  int done = 0, failed = 0;
  while (read_case(file, given)) {
    const Function *function = nullptr;
    for (int i = 0; i < count; ++i)
      if (given.function == functions[i].name)
        function = &functions[i];
    const std::string problem = function ? run_case(*function, given) : "no such function";
    ++done;
    if (!problem.empty()) {
      ++failed;
      std::printf("%s %s: %s\n", given.function.c_str(), given.label.c_str(), problem.c_str());
    }
  }
  std::fclose(file);
  std::printf("%d cases, %d failed\n", done, failed);
  return failed || !done ? 1 : 0;
}
