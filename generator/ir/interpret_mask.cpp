// Masks: which lanes an `if`, a loop, a lazily evaluated arm or a ragged row leaves.
#include "ir/interpret_run.h"

#include <algorithm>

namespace kgen::interpreter {

std::shared_ptr<Mask> Run::empty_mask(AxisSet axes, const Box &box) {
  auto mask = std::make_shared<Mask>();
  DenseStrides dense(axes, box);
  mask->axes = axes;
  mask->stride = dense.stride;
  int rank = 0;
  for (uint64_t b = axes.bits(); b != 0; b &= b - 1)
    mask->range[rank++] = box[__builtin_ctzll(b)];
  mask->lanes.assign(dense.lanes, 0);
  return mask;
}

MaskPtr Run::finish_mask(std::shared_ptr<Mask> mask) {
  for (uint8_t lane : mask->lanes)
    mask->any = mask->any || lane != 0;
  mask->id = ++mask_ids_;
  return mask;
}

// Where the low corner of the box lies in a mask. The box must lie inside its ranges.
int64_t Run::mask_offset(const Mask &mask) const {
  int64_t offset = 0;
  int rank = 0;
  for (uint64_t b = mask.axes.bits(); b != 0; b &= b - 1, ++rank)
    offset += (box_[__builtin_ctzll(b)].lo - mask.range[rank].lo) * mask.stride[rank];
  return offset;
}

// The lanes of `old` for which the condition (over the box) holds. `whole`: over all positions, not only the box.
MaskPtr Run::and_mask(const MaskPtr &old, const Tensor &condition, bool negate, bool whole) {
  AxisSet axes = old ? old->axes | condition.axes : condition.axes;
  std::shared_ptr<Mask> mask = empty_mask(axes, whole ? full_ : box_);
  Loop loop(axes, box_);
  int out = loop.add(*mask), c = loop.add(condition), m = old ? loop.add(*old) : -1;
  uint8_t *lanes = mask->lanes.data() + mask_offset(*mask);
  const uint8_t *before = old ? old->lanes.data() + mask_offset(*old) : nullptr;
  loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
    for (int64_t i = 0; i < n; ++i) {
      int64_t lane = at[c] + i * stride[c];
      uint8_t bits = (condition.data[lane].integer != 0) != negate ? kActive : 0;
      if (reference_ && (condition.flags[lane] & kUndecided) != 0)
        bits |= kMaybe;
      if (before) {
        uint8_t outer = before[at[m] + i * stride[m]];
        bits = (bits & outer & kActive) | (outer != 0 ? (bits | outer) & kMaybe : 0);
      }
      lanes[at[out] + i * stride[out]] = bits;
    }
  });
  return finish_mask(std::move(mask));
}

namespace {

// The part of a box that lies in the ranges of a mask.
Box part_inside(Box box, const Mask &mask) {
  int rank = 0;
  for (uint64_t b = mask.axes.bits(); b != 0; b &= b - 1, ++rank) {
    Range &range = box[__builtin_ctzll(b)];
    range = intersect(range, mask.range[rank]);
  }
  return box;
}

} // namespace

// combine(lane of `to`, lane of `from`) wherever both have one.
template <class Combine> void Run::combine_masks(Mask &to, const Mask &from, const Combine &combine) {
  const Box saved = box_;
  box_ = part_inside(part_inside(full_, to), from);
  Loop loop(to.axes, box_);
  const int out = loop.add(to), in = loop.add(from);
  uint8_t *lanes = to.lanes.data() + mask_offset(to);
  const uint8_t *others = from.lanes.data() + mask_offset(from);
  loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
    for (int64_t i = 0; i < n; ++i) {
      uint8_t &lane = lanes[at[out] + i * stride[out]];
      lane = combine(lane, others[at[in] + i * stride[in]]);
    }
  });
  box_ = saved;
}

// The lanes of a that are not in b.
MaskPtr Run::minus(const MaskPtr &a, const MaskPtr &b) {
  const AxisSet axes = a ? a->axes | b->axes : b->axes;
  std::shared_ptr<Mask> mask = empty_mask(axes, a ? part_inside(full_, *a) : full_);
  if (a)
    combine_masks(*mask, *a, [](uint8_t, uint8_t lane) { return lane; });
  else
    std::fill(mask->lanes.begin(), mask->lanes.end(), kActive);
  combine_masks(*mask, *b, [](uint8_t keep, uint8_t drop) {
    const uint8_t maybe = keep != 0 ? (keep | drop) & kMaybe : 0;
    return static_cast<uint8_t>((keep & ~drop & kActive) | maybe);
  });
  return finish_mask(std::move(mask));
}

MaskPtr Run::unite(const MaskPtr &a, const MaskPtr &b) {
  if (!a || !b)
    return a ? a : b;
  std::shared_ptr<Mask> mask = empty_mask(a->axes | b->axes, full_);
  for (const MaskPtr &part : {a, b})
    combine_masks(*mask, *part, [](uint8_t some, uint8_t more) { return static_cast<uint8_t>(some | more); });
  return finish_mask(std::move(mask));
}

// A mask over no other axes than `onto`: a lane is in where any of the box's lanes along the others is.
MaskPtr Run::project(const MaskPtr &mask, AxisSet onto) {
  if (!mask || onto.contains(mask->axes))
    return mask;
  std::shared_ptr<Mask> out = empty_mask(mask->axes & onto, box_);
  Loop loop(mask->axes, box_);
  int o = loop.add(*out), m = loop.add(*mask);
  const uint8_t *lanes = mask->lanes.data() + mask_offset(*mask);
  loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
    for (int64_t i = 0; i < n; ++i)
      out->lanes[at[o] + i * stride[o]] |= lanes[at[m] + i * stride[m]];
  });
  return finish_mask(std::move(out));
}

// The lanes of rows that are long enough, for the ragged axes in the set whose row axis is in it too; null: none is.
MaskPtr Run::ragged_mask(AxisSet axes) {
  AxisSet own;
  for (AxisId axis : axes.list())
    if (kernel_.axes[axis].ragged != kNone && axes.contains(kernel_.axes[axis].over))
      own |= AxisSet::of(axis) | AxisSet::of(kernel_.axes[axis].over);
  if (own.empty())
    return nullptr;
  MaskPtr &known = ragged_masks_[own.bits()];
  if (known)
    return known;
  Box saved = box_;
  box_ = full_;
  std::shared_ptr<Mask> mask = empty_mask(own, full_);
  int64_t at = 0;
  for_each_row(own, [&](AxisId inner, int64_t n) {
    for (int64_t i = 0; i < n; ++i, ++at) {
      auto index = [&](AxisId axis) { return start_[axis] + (axis == inner ? box_[axis].lo + i : pos_[axis]); };
      bool in = true;
      for (AxisId axis : own.list())
        if (kernel_.axes[axis].ragged != kNone)
          in = in && index(axis) < sizes_.row_length(axis, index(kernel_.axes[axis].over));
      mask->lanes[at] = in ? kActive : 0;
    }
  });
  box_ = saved;
  known = finish_mask(std::move(mask));
  return known;
}

} // namespace kgen::interpreter
