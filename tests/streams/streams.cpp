// Two builds of each kernel, of which one writes around the caches from the first byte on: they write the same bits,
// and nothing beside the outputs, wherever those lie.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "around_fields.h"
#include "around_rows.h"
#include "around_turned.h"
#include "fields.h"
#include "rows.h"
#include "turned.h"

namespace {

constexpr int64_t kOffsets = 16, kGuard = 64;

// An output that lies `offset` elements behind an aligned address, with a guard on both sides.
template <class T> struct Output {
  Output(int64_t count, int64_t offset)
      : bytes(static_cast<size_t>((count + offset + 2 * kGuard) * int64_t(sizeof(T)) + 63) / 64 * 64),
        memory(static_cast<char *>(std::aligned_alloc(64, bytes))),
        at(reinterpret_cast<T *>(memory) + kGuard + offset) {
    std::memset(memory, 0x5a, bytes);
  }
  ~Output() { std::free(memory); }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  bool operator==(const Output &other) const { return std::memcmp(memory, other.memory, bytes) == 0; }

  size_t bytes;
  char *memory;
  T *at;
};

struct Outputs {
  Outputs(int64_t count, int64_t offset)
      : twice(count, offset), half(count, offset), below(count, offset), running(count, offset), turned(count, offset),
        pixels(3 * count, offset), pairs(2 * count, offset), boxes(4 * count, offset) {}
  bool operator==(const Outputs &o) const {
    return twice == o.twice && half == o.half && below == o.below && running == o.running && turned == o.turned &&
           pixels == o.pixels && pairs == o.pairs && boxes == o.boxes;
  }

  Output<float> twice;
  Output<uint16_t> half;
  Output<double> below;
  Output<float> running, turned;
  Output<uint8_t> pixels;
  Output<uint16_t> pairs;
  Output<float> boxes;
};

bool agree(const std::vector<float> &x, int64_t rows, int64_t length, int64_t offset) {
  Outputs a(rows * length, offset), b(rows * length, offset);
  const bool done = rows_openmp(x.data(), a.twice.at, a.half.at, a.below.at, a.running.at, rows, length) == 0 &&
                    around_rows_openmp(x.data(), b.twice.at, b.half.at, b.below.at, b.running.at, rows, length) == 0 &&
                    turned_openmp(x.data(), a.turned.at, length, rows) == 0 &&
                    around_turned_openmp(x.data(), b.turned.at, length, rows) == 0 &&
                    fields_openmp(x.data(), a.pixels.at, a.pairs.at, a.boxes.at, rows, length) == 0 &&
                    around_fields_openmp(x.data(), b.pixels.at, b.pairs.at, b.boxes.at, rows, length) == 0;
  return done && a == b;
}

} // namespace

int main() {
  int failed = 0;
  for (int64_t rows : {1, 21})
    for (int64_t length : {0, 1, 15, 511, 512, 513, 1008, 4999}) {
      std::vector<float> x(static_cast<size_t>(rows * length));
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i * 2654435761U % 10007) / 1000 - 5;
      for (int64_t offset = 0; offset < kOffsets; ++offset) {
        if (agree(x, rows, length, offset))
          continue;
        std::printf("FAIL %d rows of %d, %d elements off\n", int(rows), int(length), int(offset));
        ++failed;
      }
    }
  return failed == 0 ? 0 : 1;
}
