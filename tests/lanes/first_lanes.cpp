// Loads and stores of the first lanes of vectors, straight from the templates: for each type, vector and count, beside
// pages that nobody may touch, so that one byte too many ends the program.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>

namespace {

#include "openmp/lanes.h"

#include "openmp/memory.h"

int failures = 0;

// A page between two that nobody may touch.
struct Fenced {
  char *begin, *end;
  Fenced() {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    void *all = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all, page, PROT_NONE) != 0 ||
        mprotect(static_cast<char *>(all) + 2 * page, page, PROT_NONE) != 0)
      std::exit(3);
    begin = static_cast<char *>(all) + page;
    end = begin + page;
  }
};

void expect(bool holds, const char *what, size_t bytes, int lanes, int count) {
  if (!holds && ++failures <= 20)
    std::printf("%s of %d of %d lanes of %zu bytes\n", what, count, lanes, bytes);
}

template <class T, int N> void try_one(char *at, const Fenced &page, int count) {
  T *const first = reinterpret_cast<T *>(at);
  for (char *byte = page.begin; byte < page.end; ++byte)
    *byte = char(1 + (byte - page.begin) % 127);
  T known[N] = {}, got[N];
  std::memcpy(known, at, sizeof(T) * size_t(count));
  const auto loaded = load(first, FirstLanes<N>{count});
  std::memcpy(got, &loaded.v, sizeof got);
  expect(std::memcmp(known, got, sizeof got) == 0, "load", sizeof(T), N, count);

  auto turned = loaded;
  for (int lane = 0; lane < N; ++lane) {
    std::memset(&known[lane], 200 + lane % 50, sizeof(T));
    turned.v[lane] = known[lane];
  }
  store(first, FirstLanes<N>{count}, turned);
  bool alike = std::memcmp(at, known, sizeof(T) * size_t(count)) == 0;
  for (char *byte = page.begin; byte < page.end; ++byte)
    if (byte < at || byte >= at + sizeof(T) * size_t(count))
      alike = alike && *byte == char(1 + (byte - page.begin) % 127);
  expect(alike, "store", sizeof(T), N, count);
}

template <int N> void try_truth(char *at, int count) {
  bool *const first = reinterpret_cast<bool *>(at);
  for (int lane = 0; lane < count; ++lane)
    first[lane] = lane % 3 != 1;
  const Mask<N> loaded = load(first, FirstLanes<N>{count});
  for (int lane = 0; lane < N; ++lane)
    expect(loaded[lane] == (lane < count && lane % 3 != 1), "load of bool", 1, N, count);
  store(first, FirstLanes<N>{count}, !loaded);
  for (int lane = 0; lane < count; ++lane)
    expect(at[lane] == char(lane % 3 == 1), "store of bool", 1, N, count);
}

template <class T, int N> void try_all(const Fenced &page) {
  if constexpr (N >= 2 && sizeof(T) * N <= size_t(kVectorBytes)) {
    for (int count = 1; count < N; ++count) {
      const size_t bytes = sizeof(T) * size_t(count);
      for (char *at : {page.begin, page.end - bytes, page.begin + sizeof(T), page.begin + 64}) {
        try_one<T, N>(at, page, count);
        if constexpr (sizeof(T) == 1)
          try_truth<N>(at, count);
      }
    }
    try_all<T, N / 2>(page);
  }
}

} // namespace

int main() {
  const Fenced page;
  try_all<int8_t, kLanes8>(page);
  try_all<uint16_t, kLanes16>(page);
  try_all<float, kLanes32>(page);
  try_all<int32_t, kLanes32>(page);
  try_all<double, kLanes64>(page);
  try_all<int64_t, kLanes64>(page);
  return failures == 0 ? 0 : 1;
}
