// Mappings behind memory.h. Every area is [guard | edge | bytes | edge | guard]: guards fault, the edges (what
// alignment leaves over on the area's own pages) hold a pattern that is compared later.
#include "memory.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <vector>

#include "cuda_model/model.h"

namespace cuda_model {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kDeviceGuard = 1 << 20;
constexpr size_t kSharedGuard = 4 << 20;
constexpr size_t kDeviceAlignment = 256;

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

struct Area {
  char *mapping = nullptr;
  size_t mapped = 0, guard = 0, bytes = 0;
  char *data = nullptr;

  char *first_page() const { return mapping + guard; }
  size_t paged() const { return mapped - 2 * guard; }
  bool holds(const void *address) const {
    return address >= static_cast<const void *>(mapping) && address < static_cast<const void *>(mapping + mapped);
  }
};

// Calls visit(byte, its pattern) for the bytes beside the data. As numbers the pattern's words are signalling NaNs that
// differ from place to place: neither arithmetic nor a copy from another edge gives them back.
template <class Visit> void for_edges(const Area &area, Visit visit) {
  auto pattern = [&](const char *p) {
    auto place = reinterpret_cast<uintptr_t>(p) / 4;
    auto word = static_cast<uint32_t>(0x7fa00001U | (place * 0x9e3779b1U & 0x1ffffeU));
    return static_cast<char>(word >> 8 * (reinterpret_cast<uintptr_t>(p) % 4));
  };
  for (char *p = area.first_page(); p < area.data; ++p)
    visit(*p, pattern(p));
  for (char *p = area.data + area.bytes; p < area.first_page() + area.paged(); ++p)
    visit(*p, pattern(p));
}

bool map_area(Area *area, size_t bytes, size_t alignment, size_t guard) {
  area->guard = guard;
  area->bytes = bytes;
  area->mapped = round_up(bytes, kPage) + 2 * guard;
  void *at = mmap(nullptr, area->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return false;
  area->mapping = static_cast<char *>(at);
  area->data = area->mapping + area->mapped - guard - round_up(bytes, alignment);
  if (area->paged() == 0)
    return true;
  if (mprotect(area->first_page(), area->paged(), PROT_READ | PROT_WRITE) != 0) {
    munmap(at, area->mapped);
    return false;
  }
  memset(area->data, kPoison, bytes);
  for_edges(*area, [](char &byte, char pattern) { byte = pattern; });
  return true;
}

// Offset (from the first byte of the data) of a written byte beside the data; 0 if there is none.
ptrdiff_t written_edge(const Area &area) {
  ptrdiff_t offset = 0;
  for_edges(area, [&](const char &byte, char pattern) {
    if (byte != pattern)
      offset = &byte - area.data;
  });
  return offset;
}

std::vector<Area> shared; // of the blocks that run at once
size_t selected = 0;      // the one of the block that runs
std::map<const void *, Area> device;
bool device_is_open = false;

void check_device_edges(const Area &area) {
  if (ptrdiff_t offset = written_edge(area))
    fail(Fault::kOutOfBounds, "device memory was written at byte %td of an allocation of %zu bytes", offset,
         area.bytes);
}

void protect_device(int protection) {
  for (auto &[data, area] : device)
    if (area.paged() > 0)
      mprotect(area.first_page(), area.paged(), protection);
}

} // namespace

void map_shared(size_t bytes, size_t blocks) {
  if (shared.size() == blocks && shared.front().bytes == bytes)
    return;
  for (const Area &area : shared)
    munmap(area.mapping, area.mapped);
  shared.resize(blocks);
  for (Area &area : shared)
    if (!map_area(&area, bytes, kSharedAlignment, kSharedGuard)) {
      perror("cuda model: shared memory");
      abort();
    }
}

void select_shared(size_t block) { selected = block; }

unsigned char *shared_base() { return shared_base(selected); }
unsigned char *shared_base(size_t block) { return reinterpret_cast<unsigned char *>(shared[block].data); }

unsigned shared_offset(const void *address) {
  const Area &own = shared[selected];
  ptrdiff_t offset = static_cast<const char *>(address) - own.data;
  if (offset < 0 || static_cast<size_t>(offset) > own.bytes)
    fail(Fault::kOutOfBounds, "%p is taken for an address in shared memory", address);
  return static_cast<unsigned>(offset);
}

bool is_shared(const void *address) {
  for (const Area &area : shared)
    if (area.holds(address))
      return true;
  return false;
}

void poison_shared() {
  for (const Area &area : shared)
    memset(area.data, kPoison, area.bytes);
}

void check_shared_edges() {
  for (const Area &area : shared)
    if (ptrdiff_t offset = written_edge(area))
      fail(Fault::kOutOfBounds, "shared memory was written at byte %td of %zu", offset, area.bytes);
}

void open_device_memory() {
  protect_device(PROT_READ | PROT_WRITE);
  device_is_open = true;
}

void close_device_memory() {
  for (auto &[data, area] : device)
    check_device_edges(area);
  device_is_open = false;
  protect_device(PROT_NONE);
}

size_t device_bytes_at(const void *pointer) {
  auto after = device.upper_bound(pointer);
  if (after == device.begin())
    return 0;
  const Area &area = std::prev(after)->second;
  auto offset = static_cast<size_t>(static_cast<const char *>(pointer) - area.data);
  return offset < area.bytes ? area.bytes - offset : 0;
}

void *allocate_device(size_t bytes) {
  Area area;
  if (bytes > size_t{1} << 40 || !map_area(&area, bytes, kDeviceAlignment, kDeviceGuard))
    return nullptr;
  mprotect(area.first_page(), area.paged(), PROT_NONE);
  device.emplace(area.data, area);
  return area.data;
}

bool release_device(void *pointer) {
  auto found = device.find(pointer);
  if (found == device.end())
    return false;
  munmap(found->second.mapping, found->second.mapped);
  device.erase(found);
  return true;
}

size_t live_device_allocations() { return device.size(); }

const char *describe_address(const void *address) {
  static char text[160];
  for (const Area &area : shared)
    if (area.holds(address)) {
      snprintf(text, sizeof text, "byte %td of shared memory of %zu bytes",
               static_cast<const char *>(address) - area.data, area.bytes);
      return text;
    }
  for (auto &[data, area] : device)
    if (area.holds(address)) {
      snprintf(text, sizeof text, "byte %td of device memory of %zu bytes",
               static_cast<const char *>(address) - area.data, area.bytes);
      return text;
    }
  return nullptr;
}

} // namespace cuda_model
