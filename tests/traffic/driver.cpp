// Runs each recorded case (sanitize_emitted/case_file.h) once under callgrind, which writes one dump of its counters a
// case. Before a call the caches hold nothing of its arrays; after it they are emptied again, so that what the call
// left there to be written counts, too. The first dump is of a call of nothing: what the emptying itself counts.
#include "registered.h"

#include "case_file.h"

#include <valgrind/callgrind.h>

namespace {

constexpr size_t kLine = 64, kAtLeast = 2; // bytes; times the largest cache that are read to empty it

std::vector<Function> &known() {
  static std::vector<Function> functions;
  return functions;
}

void *aligned_memory(size_t bytes) {
  void *memory = std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
  if (!memory)
    std::abort();
  return memory;
}

class Caches {
public:
  explicit Caches(size_t bytes) : bytes_(kAtLeast * bytes), junk_(static_cast<char *>(aligned_memory(bytes_))) {
    std::memset(junk_, 1, bytes_);
  }
  void empty() const {
    for (size_t i = 0; i < bytes_; i += kLine)
      static_cast<void>(*static_cast<volatile char *>(junk_ + i));
  }

private:
  size_t bytes_;
  char *junk_;
};

template <class Call> void counted(const Caches &caches, const std::string &label, Call call) {
  caches.empty();
  CALLGRIND_ZERO_STATS;
  call();
  caches.empty();
  CALLGRIND_DUMP_STATS_AT(label.c_str());
}

int run_case(const Caches &caches, const Function &function, const Case &given) {
  std::vector<Argument> arguments;
  for (const Slot &slot : given.slots) {
    arguments.push_back(slot.value);
    if (slot.array) {
      arguments.back().pointer = aligned_memory(slot.before.size());
      std::memcpy(arguments.back().pointer, slot.before.data(), slot.before.size());
    }
  }
  const int64_t bytes = function.workspace ? function.workspace(arguments.data()) : 0;
  void *workspace = bytes > 0 ? aligned_memory(static_cast<size_t>(bytes)) : nullptr;
  int status = 0;
  counted(caches, given.function, [&] { status = function.call(arguments.data(), workspace, bytes); });
  std::free(workspace);
  for (const Argument &argument : arguments)
    std::free(argument.pointer);
  return status;
}

} // namespace

Registered::Registered(const Function *functions, int count) {
  known().insert(known().end(), functions, functions + count);
}

int main(int count, char **words) {
  if (count != 3)
    return 2;
  const Caches caches(static_cast<size_t>(std::atol(words[1])));
  std::FILE *file = std::fopen(words[2], "rb");
  if (!file)
    return 2;
  counted(caches, "nothing", [] {});
  Case given;
  while (read_case(file, given)) {
    int status = -1;
    for (const Function &function : known())
      if (given.function == function.name)
        status = run_case(caches, function, given);
    if (status != 0) {
      std::printf("%s %s: status %d\n", given.function.c_str(), given.label.c_str(), status);
      return 1;
    }
  }
  return 0;
}
