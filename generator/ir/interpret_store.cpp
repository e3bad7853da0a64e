// Assignments: the value for all lanes first, then every lane that takes part writes its element.
#include <cmath>
#include <functional>

#include "ir/interpret_run.h"

namespace kgen::interpreter {
namespace {

// Do these and others like them, of this magnitude in all, have one sum in every order? Small multiples of 1/16 have.
bool is_coarse(const Value &v) { return v.number * 16 == std::nearbyint(v.number * 16); }
bool is_small(double magnitude, Type type) { return magnitude < std::ldexp(1.0, type_row(type).significand_bits - 4); }

bool adds_in_any_order(const Value &a, const Value &b, double magnitude, Type type) {
  return is_coarse(a) && is_coarse(b) && is_small(magnitude, type);
}

} // namespace

// The box of an assignment: where its value, its target and its coordinates have lanes.
void Run::store_range(const Stmt &s, AxisSet lanes, AxisSet named) {
  const Var &var = kernel_.vars[s.target];
  for (AxisId axis : lanes.list()) {
    Range range = full_[axis];
    if ((uncommon_ >> axis & 1) != 0) {
      Reach reach{full_[axis]};
      reach_of(s.value, axis, reach);
      for (const Coordinate &coordinate : s.coords)
        reach_of(coordinate.value, axis, reach);
      for (size_t d = 0; d < var.dims.size(); ++d)
        if (var.dims[d].axis == axis && !named.contains(axis)) {
          reach.range = intersect(reach.range, dims_[s.target][d].range);
          reach.touches = reach.touches || var.kind == Var::Kind::output;
        }
      range = reach.touches || !reach.counts ? reach.range : intersect(reach.range, within(axis));
    }
    box_[axis] = range;
  }
}

// A copy of what lies in memory that is about to be written.
Tensor Run::apart_from(const Storage &storage, const Tensor &t) {
  const std::less<const Value *> before;
  const Value *begin = storage.values.data();
  if (before(t.data, begin) || !before(t.data, begin + storage.values.size()))
    return t;
  return copied(t);
}

void Run::assign(const Stmt &s) {
  const Var &var = kernel_.vars[s.target];
  Storage &storage = storage_[s.target];
  if (var.kind == Var::Kind::output && var.optional && !storage.present)
    return; // nobody wants it
  AxisSet named, lanes = kernel_.expr(s.value).axes | var.axes;
  for (const Coordinate &coordinate : s.coords) {
    named |= AxisSet::of(coordinate.axis);
    lanes |= kernel_.expr(coordinate.value).axes;
  }
  AxisSet scattered = named;
  for (const Coordinate &coordinate : s.coords)
    scattered -= kernel_.expr(coordinate.value).axes & named;
  scattered -= kernel_.expr(s.value).axes;
  lanes -= scattered; // a named axis has lanes only if something runs along it
  for (ExprId index : s.indices)
    lanes |= kernel_.expr(index).axes;
  lanes |= s.context; // also where the conditions around it were the same for all lanes in this run
  if (mask_)
    lanes |= mask_->axes;
  box_ = full_;
  store_range(s, lanes, named);
  MaskPtr outer = mask_;
  if (MaskPtr ragged = ragged_mask(lanes))
    mask_ = minus(mask_, minus(nullptr, ragged));

  Tensor value = eval_whole(s.value);
  std::vector<Tensor> coordinates;
  for (const Coordinate &coordinate : s.coords)
    coordinates.push_back(eval_to(coordinate.value, Type::i64, false));
  if (var.kind == Var::Kind::local && !storage.present)
    make_local(s.target);
  if (!storage.present)
    fail("`" + var.name + "` is absent and written", s.place);
  if (!s.coords.empty() && storage.stamp.size() != storage.values.size())
    storage.stamp.assign(storage.values.size(), 0);
  ++stamp_;
  in_any_order_ = reference_ && added_up_.count(&s) != 0;
  for (Tensor &coordinate : coordinates)
    coordinate = apart_from(storage, coordinate);
  Address address = address_of(s.target, s.coords, coordinates);
  store_rows(s, lanes, value, address, mask_);
  bool everything = !mask_ && s.indices.empty() && s.coords.empty() && var.kind == Var::Kind::local;
  for (AxisId axis : var.axes.list())
    everything = everything && lanes.contains(axis) && box_[axis] == storage.range[axis];
  if (everything)
    storage.all_written = true;
  mask_ = outer;
  ++epoch_;
}

void Run::store_rows(const Stmt &s, AxisSet lanes, const Tensor &value, const Address &address, const MaskPtr &mask) {
  const Var &var = kernel_.vars[s.target];
  Type from = kernel_.expr(s.value).type;
  std::vector<Tensor> indices;
  for (ExprId index : s.indices)
    indices.push_back(eval_to(index, Type::i64, false));
  std::vector<int64_t> offsets;
  std::vector<uint8_t> valid;
  int64_t written = 0;
  work(1);
  for_each_row(lanes, [&](AxisId inner, int64_t n) {
    work(n);
    offsets.resize(n);
    valid.resize(n);
    address_row(address, inner, n, offsets.data(), valid.data());
    const uint8_t *bits = nullptr;
    int64_t mask_stride = 0;
    if (mask) {
      bits = mask->lanes.data() + mask_offset(*mask);
      for (AxisId axis : mask->axes.list())
        bits += axis == inner ? 0 : (pos_[axis] - box_[axis].lo) * mask->stride_of(axis);
      mask_stride = inner == kNone ? 0 : mask->stride_of(inner);
    }
    int64_t at = row_offset(value, inner), step = inner == kNone ? 0 : value.stride_of(inner);
    for (int64_t i = 0; i < n; ++i) {
      uint8_t state = bits ? bits[i * mask_stride] : kActive;
      if (state == 0)
        continue;
      bool in = valid[i] != 0, is_element = true;
      int64_t element = 0;
      for (size_t k = 0; k < indices.size(); ++k) {
        int64_t lane = row_offset(indices[k], inner) + i * (inner == kNone ? 0 : indices[k].stride_of(inner));
        int64_t index = indices[k].data[lane].integer;
        is_element = is_element && index >= 0 && index < var.array[k];
        element = is_element ? element * var.array[k] + index : 0;
      }
      if (!is_element) // outside of a local array there is nothing to write
        continue;
      if (!in) { // scatter outside the array is dropped
        const auto &states = dims_[s.target];
        bool has_elements = true;
        for (size_t d = 0; d < var.dims.size(); ++d)
          has_elements = has_elements && !var.dims[d].may_miss && !states[d].missing;
        if (s.coords.empty() && (state & kActive) != 0 && has_elements)
          fail("`" + var.name + "` is written outside its window", s.place);
        continue;
      }
      int64_t lane = at + i * step;
      uint8_t flags = reference_ ? value.flags[lane] : 0;
      if ((state & kMaybe) != 0)
        flags |= kUndecided;
      if (reference_)
        for (const Address::Part &part : address.parts)
          if (part.coordinate) {
            const Tensor &c = *part.coordinate;
            flags |= c.flags[row_offset(c, inner) + i * (inner == kNone ? 0 : c.stride_of(inner))] & kUndecided;
          }
      store_element(s, offsets[i] + element * storage_[s.target].lanes * (indices.empty() ? 0 : 1),
                    convert(value.data[lane], from,
                            reference_ && is_floating(var.type) && is_floating(from) ? Type::f64 : var.type),
                    reference_ ? value.magnitudes[lane] : 0, flags, (state & kActive) != 0);
      written += (state & kActive) != 0;
    }
  });
  if (options_.trace_steps && var.kind == Var::Kind::output)
    written_here_[s.target] += written;
}

void Run::store_element(const Stmt &s, int64_t offset, Value value, double magnitude, uint8_t flags, bool active) {
  const Var &var = kernel_.vars[s.target];
  Storage &storage = storage_[s.target];
  if (!active) { // perhaps the declared run writes it
    if (reference_)
      storage.flags[offset] |= kUndecided;
    return;
  }
  uint32_t &writer = storage.writer[offset];
  uint32_t expected = expected_writer(s.target);
  if (var.kind == Var::Kind::output && writer != 0 && writer != expected && !s.scatter_add) {
    const OutputRuns &runs = runs_[runs_of_var_[s.target]];
    bool parallel = runs.instance[writer] != runs.instance[expected];
    fail_at(s.target, offset,
            parallel ? " is written by two parallel steps" : " is written in a window that an earlier step left",
            s.place, parallel ? Fault::collides : Fault::comes_back);
  }
  check_read(s.target, offset, s.place);
  if (!s.coords.empty() && !s.scatter_add) {
    if (storage.stamp[offset] == stamp_)
      fail_at(s.target, offset, " is written by two lanes of one statement", s.place, Fault::meets);
    storage.stamp[offset] = stamp_;
  }
  if (s.scatter_add) {
    if (writer == 0 && var.alias == kNone)
      fail_at(s.target, offset, " is added to before it is written", s.place, Fault::undefined);
    Type arithmetic = type_row(var.type).arithmetic;
    Value args[2] = {storage.values[offset], value};
    if (!reference_ || !is_floating(var.type)) {
      value = convert(evaluate(Op::add, arithmetic, arithmetic, args), arithmetic, var.type);
    } else {
      ReferenceRow rows[2] = {{&args[0], &storage.magnitudes[offset], &storage.flags[offset], 0},
                              {&args[1], &magnitude, &flags, 0}};
      double sum_magnitude;
      uint8_t sum_flags;
      Value sum;
      evaluate_reference_row(Op::add, arithmetic, arithmetic, rows, {&sum, &sum_magnitude, &sum_flags}, 1, model());
      flags = sum_flags | (adds_in_any_order(args[0], args[1], sum_magnitude, var.type) ? 0 : kInexact);
      value = sum;
      magnitude = sum_magnitude;
    }
    flags |= reference_ ? storage.flags[offset] & kUndecided : 0;
  }
  if (in_any_order_ && !(is_coarse(value) && is_small(magnitude, var.type)))
    flags |= kInexact;
  if (reference_ && is_floating(var.type)) {
    round_reference(var.type, value.number, magnitude, flags, model());
    storage.magnitudes[offset] = std::isfinite(value.number) ? std::max(magnitude, std::fabs(value.number)) : 0;
  }
  if (reference_)
    storage.flags[offset] = flags;
  storage.values[offset] = value;
  if (writer == 0 || !s.scatter_add)
    writer = expected;
}

} // namespace kgen::interpreter
