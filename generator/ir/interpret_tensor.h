// What the interpreter computes on. A tensor holds one value per lane of the current box (a range of positions per
// axis), over those axes along which it differs; it may be a view of an operand's memory. A mask says which lanes take
// part.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ir/magnitude.h"

namespace kgen::interpreter {

constexpr int kMaxRank = 24;
constexpr int64_t kChunk = 8192; // lanes evaluated together: temporaries stay in the cache

struct Range {
  int64_t lo = 0, hi = 0;
  int64_t count() const { return hi > lo ? hi - lo : 0; }
  bool operator==(const Range &) const = default;
};
inline Range intersect(Range a, Range b) {
  return {std::max(a.lo, b.lo), std::max(std::max(a.lo, b.lo), std::min(a.hi, b.hi))};
}
using Box = std::array<Range, 64>; // by axis

// Place of an axis among the axes of a set, in ascending order.
inline int rank_in(AxisSet axes, AxisId axis) {
  return __builtin_popcountll(axes.bits() & ((uint64_t{1} << axis) - 1));
}

struct Buffer {
  std::unique_ptr<Value[]> values;
  std::unique_ptr<double[]> magnitudes; // reference runs only
  std::unique_ptr<uint8_t[]> flags;
};

struct Tensor {
  AxisSet axes;
  std::array<int64_t, kMaxRank> stride{}; // by rank; the first element belongs to the low end of the box
  const Value *data = nullptr;
  const double *magnitudes = nullptr;
  const uint8_t *flags = nullptr;
  std::shared_ptr<const Buffer> owner;

  int64_t stride_of(AxisId axis) const { return axes.contains(axis) ? stride[rank_in(axes, axis)] : 0; }
  // The same lanes in a smaller box.
  Tensor shifted(int64_t by) const {
    Tensor out = *this;
    out.data += by;
    if (out.magnitudes) {
      out.magnitudes += by;
      out.flags += by;
    }
    return out;
  }
};

constexpr uint8_t kActive = 1; // beside kUndecided << 1
constexpr uint8_t kMaybe = 2;

// Lanes that take part. Outside its ranges no lane does.
struct Mask {
  AxisSet axes;
  std::array<Range, kMaxRank> range{};
  std::array<int64_t, kMaxRank> stride{};
  std::vector<uint8_t> lanes;
  bool any = false; // active, or perhaps so
  uint64_t id = 0;
  int64_t stride_of(AxisId axis) const { return axes.contains(axis) ? stride[rank_in(axes, axis)] : 0; }
};
using MaskPtr = std::shared_ptr<const Mask>; // null: all lanes

// Walks all lanes of a box over some axes, several operands at once, in rows as long as their strides allow.
class Loop {
public:
  static constexpr int kOperands = 6;

  Loop(AxisSet axes, const Box &box) : axes_(axes) {
    for (uint64_t b = axes.bits(); b != 0; b &= b - 1)
      n_[rank_++] = box[__builtin_ctzll(b)].count();
  }
  template <class Strided> int add(const Strided &operand) {
    int k = 0;
    for (uint64_t b = axes_.bits(); b != 0; b &= b - 1, ++k)
      stride_[operands_][k] = operand.stride_of(__builtin_ctzll(b));
    return operands_++;
  }
  int64_t lanes() const {
    int64_t out = 1;
    for (int k = 0; k < rank_; ++k)
      out *= n_[k];
    return out;
  }
  // body(offsets, n, strides): one row
  template <class Body> void run(Body body) {
    if (lanes() == 0)
      return;
    merge();
    int64_t offset[kOperands] = {}, inner[kOperands] = {}, at[kMaxRank] = {};
    int last = rank_ - 1;
    for (int o = 0; o < operands_; ++o)
      inner[o] = last >= 0 ? stride_[o][last] : 0;
    for (;;) {
      body(static_cast<const int64_t *>(offset), last >= 0 ? n_[last] : 1, static_cast<const int64_t *>(inner));
      int k = last - 1;
      for (; k >= 0; --k) {
        for (int o = 0; o < operands_; ++o)
          offset[o] += stride_[o][k];
        if (++at[k] < n_[k])
          break;
        for (int o = 0; o < operands_; ++o)
          offset[o] -= stride_[o][k] * n_[k];
        at[k] = 0;
      }
      if (k < 0)
        return;
    }
  }

private:
  // Makes one dimension of neighbours that all operands walk as one.
  void merge() {
    int out = 0;
    for (int k = 0; k < rank_; ++k) {
      if (n_[k] == 1)
        continue;
      bool joins = out > 0;
      for (int o = 0; o < operands_ && joins; ++o)
        joins = stride_[o][out - 1] == stride_[o][k] * n_[k];
      if (joins) {
        n_[out - 1] *= n_[k];
      } else {
        n_[out++] = n_[k];
      }
      for (int o = 0; o < operands_; ++o)
        stride_[o][out - 1] = stride_[o][k];
    }
    rank_ = out;
  }

  AxisSet axes_;
  int rank_ = 0, operands_ = 0;
  int64_t n_[kMaxRank] = {};
  int64_t stride_[kOperands][kMaxRank] = {};
};

// Strides of a dense row-major array over the axes of a box.
struct DenseStrides {
  AxisSet axes;
  std::array<int64_t, kMaxRank> stride{};
  int64_t lanes = 1;
  DenseStrides(AxisSet set, const Box &box) : axes(set) {
    int k = set.count();
    for (int rank = k - 1; rank >= 0; --rank) {
      uint64_t b = set.bits();
      for (int skip = 0; skip < rank; ++skip)
        b &= b - 1;
      stride[rank] = lanes;
      lanes *= box[__builtin_ctzll(b)].count();
    }
  }
  int64_t stride_of(AxisId axis) const { return axes.contains(axis) ? stride[rank_in(axes, axis)] : 0; }
};

} // namespace kgen::interpreter
