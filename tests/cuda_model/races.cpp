// The hooks of -fsanitize=thread, with memory of who has touched what: for each byte the last write and the last reads
// of two threads. A race is found where it happened to go well, too: what counts is that nothing orders the two.
#include "races.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <memory>
#include <unordered_map>

#include "cuda_model/model.h"
#include "cuda_model/vector_types.h"
#include "memory.h"
#include "order.h"
#include "scheduler.h"

namespace cuda_model {
namespace {

struct Touch {
  Moment when;
  bool atomic = false;
};
struct Byte {
  Touch write, read, other_read; // the reads of two threads
};
struct Word {
  std::array<Byte, 4> bytes; // the first stands for all, as long as accesses are to the whole word
  bool whole = true;
};
constexpr uintptr_t kPage = 1024;
using Page = std::array<Word, kPage / 4>;
using Pages = std::unordered_map<uintptr_t, std::unique_ptr<Page>>;

Pages shared_pages, device_pages;
Page *last_page = nullptr;
uintptr_t last_number = 0;
bool sought = false;
int paused = 0;

enum class Access { read, write, atomic };

// Variables of kernels that outlive a thread are `__shared__`.
bool is_variable(const void *address) {
  Dl_info found;
  return dladdr(address, &found) != 0;
}

Page *page_at(uintptr_t address) {
  const uintptr_t number = address / kPage;
  for (Pages *pages : {&shared_pages, &device_pages})
    if (auto found = pages->find(number); found != pages->end())
      return found->second.get();
  const auto pointer = reinterpret_cast<const void *>(address);
  Pages &pages = is_shared(pointer) || is_variable(pointer) ? shared_pages : device_pages;
  return (pages[number] = std::make_unique<Page>()).get();
}

Word &word_at(uintptr_t address) {
  if (!last_page || address / kPage != last_number) {
    last_page = page_at(address);
    last_number = address / kPage;
  }
  return (*last_page)[address % kPage / 4];
}

void check(const Touch &earlier, const char *did, uintptr_t address, Access access) {
  if (earlier.when.block == 0 || (earlier.atomic && access == Access::atomic) || is_before_now(earlier.when))
    return;
  const char *where = describe_address(reinterpret_cast<const void *>(address));
  fail(Fault::kRace, "it %s %s, which thread %u of the block begun as number %u %s, and no barrier or fence is between",
       access == Access::read ? "reads" : "writes", where ? where : "global memory", earlier.when.thread,
       earlier.when.block, did);
}

void note_read(Byte &byte, const Moment &moment) {
  if (byte.read.when.block != moment.block || byte.read.when.thread != moment.thread)
    byte.other_read = byte.read;
  byte.read = {moment, false};
}

void touch(Byte &byte, uintptr_t address, const Moment &moment, Access access) {
  check(byte.write, "wrote", address, access);
  if (access == Access::read)
    return note_read(byte, moment);
  check(byte.read, "read", address, access);
  check(byte.other_read, "read", address, access);
  byte.write = {moment, access == Access::atomic};
}

void touch(const void *pointer, size_t size, Access access) {
  if (paused > 0 || !inside_kernel() || is_own(pointer))
    return;
  const Moment moment = now();
  auto address = reinterpret_cast<uintptr_t>(pointer);
  for (const uintptr_t end = address + size; address < end;) {
    Word &word = word_at(address);
    if (word.whole && address % 4 == 0 && end - address >= 4) {
      touch(word.bytes[0], address, moment, access);
      address += 4;
      continue;
    }
    if (word.whole)
      word.bytes[1] = word.bytes[2] = word.bytes[3] = word.bytes[0];
    word.whole = false;
    touch(word.bytes[address % 4], address, moment, access);
    ++address;
  }
}

} // namespace

bool races_are_sought() { return sought; }

void forget_accesses() {
  shared_pages.clear();
  device_pages.clear();
  last_page = nullptr;
}

void forget_shared_accesses() {
  shared_pages.clear();
  last_page = nullptr;
}

void pause_accesses(bool pause) { paused += pause ? 1 : -1; }

AtomicAccess::AtomicAccess(const void *address, size_t size, uint64_t changed) {
  check_aligned(address, size);
  if (sought && inside_kernel()) {
    for (size_t i = 0; i < size; ++i)
      if ((changed >> 8 * i & 0xff) != 0)
        touch(static_cast<const char *>(address) + i, 1, Access::atomic);
    order_by_atomic(address);
  }
  pause_accesses(true);
}
AtomicAccess::~AtomicAccess() { pause_accesses(false); }

void fence() {
  if (sought)
    order_by_fence();
}

namespace {

// Whoever reads so knows that others write, and gets what is there.
void read_volatile(const void *address) {
  if (inside_kernel() && paused == 0)
    order_by_atomic(address);
}

} // namespace

} // namespace cuda_model

using cuda_model::Access;

extern "C" {
void __tsan_init() { cuda_model::sought = true; }
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
#define CUDA_MODEL_HOOKS(size)                                                                                         \
  void __tsan_read##size(void *address) { cuda_model::touch(address, size, Access::read); }                            \
  void __tsan_write##size(void *address) { cuda_model::touch(address, size, Access::write); }                          \
  void __tsan_unaligned_read##size(void *address) { cuda_model::touch(address, size, Access::read); }                  \
  void __tsan_unaligned_write##size(void *address) { cuda_model::touch(address, size, Access::write); }                \
  void __tsan_volatile_read##size(void *address) { cuda_model::read_volatile(address); }                               \
  void __tsan_volatile_write##size(void *address) { cuda_model::AtomicAccess(address, size); }
CUDA_MODEL_HOOKS(1)
CUDA_MODEL_HOOKS(2)
CUDA_MODEL_HOOKS(4)
CUDA_MODEL_HOOKS(8)
CUDA_MODEL_HOOKS(16)
#undef CUDA_MODEL_HOOKS
void __tsan_read_range(void *address, size_t size) { cuda_model::touch(address, size, Access::read); }
void __tsan_write_range(void *address, size_t size) { cuda_model::touch(address, size, Access::write); }
}
