// Memory: where an element lies, what may be read, and what reading or writing it must not do.
#include <algorithm>
#include <cmath>

#include "ir/interpret_run.h"
#include "support/check.h"

namespace kgen::interpreter {

void Run::allocate(Storage &storage, int64_t elements) {
  Value poison;
  poison.integer = 0x7ff8dead7ff8dead; // a NaN, and no likely integer
  storage.values.assign(elements, poison);
  storage.writer.assign(elements, 0);
  if (reference_) {
    storage.magnitudes.assign(elements, 0);
    storage.flags.assign(elements, 0);
  }
  storage.all_written = false;
  storage.present = true;
}

void Run::load_values(Storage &storage, const Array &array) {
  int bytes = bytes_of(array.type);
  for (size_t i = 0; i < storage.values.size(); ++i) {
    storage.values[i] = load_value(array.bytes.data() + i * bytes, array.type);
    if (reference_ && is_floating(array.type) && std::isfinite(storage.values[i].number))
      storage.magnitudes[i] = std::fabs(storage.values[i].number);
  }
}

// Inputs, and outputs with what they hold before: an aliased one the values of its input.
void Run::load_operand(VarId id) {
  const Var &var = kernel_.vars[id];
  Storage &storage = storage_[id];
  std::vector<int64_t> shape = operand_shape(kernel_, var, sizes_);
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  storage.stride.assign(var.dims.size(), 1);
  for (size_t d = var.dims.size(); d-- > 1;) {
    int64_t extent = is_packed(kernel_, var, d - 1) ? 1
                     : is_packed(kernel_, var, d)   ? sizes_.axis_size(var.dims[d + 1].axis)
                                                    : sizes_.evaluate(var.dims[d].extent);
    storage.stride[d - 1] = storage.stride[d] * extent;
  }
  bool output = var.kind == Var::Kind::output;
  auto given = input_.arrays.find(var.name);
  if (given == input_.arrays.end() && var.alias != kNone)
    given = input_.arrays.find(kernel_.vars[var.alias].name);
  storage.present = given != input_.arrays.end();
  if (!storage.present && !output && !var.optional)
    fail("input `" + var.name + "` is not given", var.place);
  if (!storage.present && var.optional && (!output || input_.unwanted.count(var.name) != 0))
    return;
  if (storage.present && given->second.type != var.type)
    fail("`" + var.name + "` is given as " + std::string(type_row(given->second.type).name) + ", not " +
             std::string(type_row(var.type).name),
         var.place);
  if (storage.present && given->second.elements() != elements)
    fail("`" + var.name + "` has " + std::to_string(given->second.elements()) + " elements instead of " +
             std::to_string(elements),
         var.place);
  work(elements);
  bool held = storage.present;
  allocate(storage, elements);
  if (held)
    load_values(storage, given->second);
  if (output)
    return;
  storage.writer.clear();
  storage.all_written = true;
}

void Run::make_scratch(VarId id) {
  const Var &var = kernel_.vars[id];
  Storage &storage = storage_[id];
  int64_t elements = 1;
  storage.stride.assign(var.dims.size(), 1);
  for (size_t d = var.dims.size(); d-- > 0;) {
    storage.stride[d] = elements;
    elements *= dims_[id][d].block;
  }
  work(elements);
  allocate(storage, elements);
}

void Run::make_local(VarId id) {
  const Var &var = kernel_.vars[id];
  Storage &storage = storage_[id];
  std::vector<AxisId> list = var.axes.list();
  storage.stride.assign(list.size(), 1);
  storage.lanes = 1;
  for (size_t k = list.size(); k-- > 0;) {
    storage.stride[k] = storage.lanes;
    storage.lanes *= full_[list[k]].count();
    storage.range[list[k]] = full_[list[k]];
  }
  int64_t elements = storage.lanes;
  for (int64_t extent : var.array)
    elements *= extent;
  allocate(storage, elements);
}

uint32_t Run::expected_writer(VarId id) const {
  int runs = runs_of_var_[id];
  return runs < 0 ? 1 : runs_[runs].run[step_];
}

// Scratch holds a block: coordinates are global indices, and beyond the arrays' ends there is nothing to ask for.
void Run::place_in_scratch(AxisId axis, const DimState &state, Address::Part &part) const {
  part.base = part.origin = start_[axis];
  part.valid = {start_[axis], start_[axis] + state.block};
  if (part.coordinate != nullptr)
    part.valid = intersect(part.valid, {start_[axis] + full_[axis].lo, start_[axis] + full_[axis].hi});
}

// `values`: one tensor per coordinate.
Address Run::address_of(VarId id, const std::vector<Coordinate> &coords, const std::vector<Tensor> &values) {
  const Var &var = kernel_.vars[id];
  if (var.kind == Var::Kind::local)
    return local_address(id, coords, values);
  Address address;
  for (size_t d = 0; d < var.dims.size(); ++d) {
    const Dim &dim = var.dims[d];
    const DimState &state = dims_[id][d];
    Address::Part part;
    part.axis = dim.axis;
    part.base = state.start;
    part.stride = storage_[id].stride[d];
    part.valid = {0, state.extent};
    for (size_t c = 0; c < coords.size(); ++c)
      if (coords[c].axis == dim.axis && dim.axis != kNone)
        part.coordinate = &values[c];
    if (var.kind == Var::Kind::output && !coords.empty()) // other points of the block, not of the array
      part.valid = intersect(part.valid, {state.start, state.start + state.block});
    if (var.kind == Var::Kind::scratch && dim.axis != kNone)
      place_in_scratch(dim.axis, state, part);
    if (is_packed(kernel_, var, d))
      part.row_of = var.dims[d + 1].axis;
    address.parts.push_back(part);
  }
  return address;
}

Address Run::local_address(VarId id, const std::vector<Coordinate> &coords, const std::vector<Tensor> &values) {
  const Storage &storage = storage_[id];
  Address address;
  std::vector<AxisId> list = kernel_.vars[id].axes.list();
  for (size_t k = 0; k < list.size(); ++k) {
    Address::Part part;
    part.axis = list[k];
    part.base = start_[list[k]];
    part.origin = start_[list[k]] + storage.range[list[k]].lo;
    part.valid = {part.origin, start_[list[k]] + storage.range[list[k]].hi};
    part.stride = storage.stride[k];
    for (size_t c = 0; c < coords.size(); ++c)
      if (coords[c].axis == list[k])
        part.coordinate = &values[c];
    address.parts.push_back(part);
  }
  if (!coords.empty())
    pair_rows(address.parts);
  return address;
}

// Other elements of a local lie in their row, too: the row comes first.
void Run::pair_rows(std::vector<Address::Part> &parts) const {
  for (size_t k = 0; k < parts.size(); ++k) {
    const Axis &axis = kernel_.axes[parts[k].axis];
    const auto row = std::find_if(parts.begin(), parts.end(), [&](const Address::Part &part) {
      return axis.ragged != kNone && part.axis == axis.over;
    });
    if (row == parts.end())
      continue;
    row->row_of = parts[k].axis;
    row->packed = parts[k].packed = false;
    std::rotate(parts.begin(), row, row + 1);
  }
}

// Offsets of one row of lanes (pos_ says which) and whether they lie inside.
void Run::address_row(const Address &address, AxisId inner, int64_t n, int64_t *offsets, uint8_t *valid) {
  std::fill_n(offsets, n, address.base);
  std::fill_n(valid, n, 1);
  std::vector<int64_t> rows;
  for (const Address::Part &part : address.parts) {
    const Value *values = nullptr;
    int64_t value_stride = 0, base = part.base;
    if (part.coordinate) {
      values = part.coordinate->data + row_offset(*part.coordinate, inner);
      value_stride = inner == kNone ? 0 : part.coordinate->stride_of(inner);
    } else if (part.axis != kNone && part.axis != inner) {
      base += pos_[part.axis];
    } else if (part.axis != kNone) {
      base += box_[inner].lo;
    }
    int64_t walk = !part.coordinate && part.axis != kNone && part.axis == inner ? 1 : 0;
    bool ragged = part.axis != kNone && kernel_.axes[part.axis].ragged != kNone && !rows.empty();
    if (part.row_of != kNone)
      rows.assign(n, 0);
    for (int64_t i = 0; i < n; ++i) {
      int64_t c = values ? values[i * value_stride].integer : base + i * walk;
      bool in = c >= part.valid.lo && c < part.valid.hi;
      if (part.row_of != kNone) {
        rows[i] = in ? c : -1;
        if (part.packed) {
          valid[i] &= in;
          continue;
        }
      } else if (ragged && rows[i] >= 0) {
        in = in && c < sizes_.row_length(part.axis, rows[i]);
        c += in && part.packed ? sizes_.row_start(part.axis, rows[i]) : 0;
      }
      valid[i] &= in;
      offsets[i] += in ? (c - part.origin) * part.stride : 0;
    }
  }
}

// Without coordinates, packed rows or a window that may overhang: a view does.
bool Run::is_plain(const Address &address) const {
  for (const Address::Part &part : address.parts) {
    if (part.coordinate || part.row_of != kNone)
      return false;
    Range box = part.axis == kNone ? Range{0, 1} : box_[part.axis];
    if (box.count() > 0 && (part.base + box.lo < part.valid.lo || part.base + box.hi > part.valid.hi))
      return false;
  }
  return true;
}

Tensor Run::read(const Expr &e) {
  const Var &var = kernel_.vars[e.ref];
  if (!storage_[e.ref].present) {
    if (var.kind != Var::Kind::local)
      fail("`" + var.name + "` is absent and read", e.place);
    make_local(e.ref); // no lane has assigned it, which is an error only for lanes that read it
  }
  std::vector<Tensor> coordinates;
  for (const Coordinate &coordinate : e.coords)
    coordinates.push_back(eval_to(coordinate.value, Type::i64, false));
  Address address = address_of(e.ref, e.coords, coordinates);
  if (is_plain(address))
    return read_view(e, address);
  AxisSet axes;
  for (const Address::Part &part : address.parts)
    if (part.coordinate)
      axes |= part.coordinate->axes;
    else if (part.axis != kNone)
      axes |= AxisSet::of(part.axis);
  return gather(e.ref, axes, address, coordinates, e.place);
}

Tensor Run::read_view(const Expr &e, const Address &address) {
  const Storage &storage = storage_[e.ref];
  Tensor out;
  int64_t offset = address.base;
  for (const Address::Part &part : address.parts) {
    int64_t low = part.axis == kNone ? 0 : box_[part.axis].lo;
    offset += (part.base + low - part.origin) * part.stride;
    if (part.axis != kNone)
      out.axes |= AxisSet::of(part.axis);
  }
  for (const Address::Part &part : address.parts)
    if (part.axis != kNone)
      out.stride[rank_in(out.axes, part.axis)] = part.stride;
  out.data = storage.values.data();
  if (reference_) {
    out.magnitudes = storage.magnitudes.data();
    out.flags = storage.flags.data();
  }
  out = out.shifted(offset);
  if (!may_be_unwritten(e.ref))
    return out;
  MaskPtr mask = project(mask_, out.axes);
  Loop loop(out.axes, box_);
  int t = loop.add(out), m = mask ? loop.add(*mask) : -1;
  uint32_t expected = expected_writer(e.ref);
  const uint32_t *writer = storage.writer.data() + offset;
  const uint8_t *lanes = mask ? mask->lanes.data() + mask_offset(*mask) : nullptr;
  loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
    for (int64_t i = 0; i < n; ++i)
      if ((storage.all_written || writer[at[t] + i * stride[t]] != expected) &&
          (!lanes || (lanes[at[m] + i * stride[m]] & kActive) != 0))
        check_written(e.ref, offset + at[t] + i * stride[t], e.place);
  });
  return out;
}

// Must each element that is read be looked at?
bool Run::may_be_unwritten(VarId id) const {
  const Var &var = kernel_.vars[id];
  return !storage_[id].all_written || (var.kind == Var::Kind::input && var.alias != kNone);
}

// Called for elements that the current window has not written.
void Run::check_written(VarId id, int64_t offset, const Place &place) {
  const Var &var = kernel_.vars[id];
  if (var.kind == Var::Kind::input && var.alias != kNone)
    return check_kept(id, offset, place);
  const Storage &storage = storage_[id];
  if (storage.all_written || storage.writer[offset] == expected_writer(id))
    return;
  if (var.kind == Var::Kind::output && var.alias != kNone && storage.writer[offset] == 0)
    return; // holds the input's value
  if (var.kind == Var::Kind::local)
    fail("`" + var.name + "` is read where it was not assigned", place, Fault::undefined, id);
  bool elsewhere = var.kind == Var::Kind::output && storage.writer[offset] != 0;
  fail_at(id, offset,
          elsewhere ? " is read in another window than the one that wrote it" : " is read before it is written", place,
          Fault::undefined);
}

// An input whose memory an output takes over.
void Run::check_kept(VarId id, int64_t offset, const Place &place) {
  constexpr uint32_t kSeveral = UINT32_MAX;
  Storage &taken = storage_[kernel_.vars[id].alias];
  if (!taken.present)
    return;
  if (taken.writer[offset] != 0)
    fail_at(id, offset, " is read after it was written as `" + kernel_.vars[kernel_.vars[id].alias].name + "`", place,
            Fault::stale);
  taken.reader.resize(taken.values.size());
  const uint32_t own = instance_of_[step_] + 1;
  uint32_t &reader = taken.reader[offset];
  reader = reader == 0 || reader == own ? own : kSeveral;
}

// An output is written where it is an input that a parallel step has read, which may come later as well.
void Run::check_read(VarId id, int64_t offset, const Place &place) const {
  const Storage &storage = storage_[id];
  if (!storage.reader.empty() && storage.reader[offset] != 0 && storage.reader[offset] != instance_of_[step_] + 1)
    fail_at(kernel_.vars[id].alias, offset,
            " is read by one parallel step and written by another as `" + kernel_.vars[id].name + "`", place,
            Fault::stale);
}

std::string Run::element_text(VarId id, int64_t offset) const {
  const Var &var = kernel_.vars[id];
  std::string out;
  for (size_t d = 0; d < var.dims.size(); ++d) {
    int64_t stride = std::max<int64_t>(1, storage_[id].stride[d]);
    bool packed = is_packed(kernel_, var, d); // shown as one dimension
    if (packed)
      continue;
    out += (out.empty() ? "" : ", ") + std::to_string(offset / stride);
    offset %= stride;
  }
  return "`" + var.name + "`[" + out + "]";
}

int64_t Run::row_offset(const Tensor &t, AxisId inner) const {
  int64_t offset = 0;
  int rank = 0;
  for (uint64_t b = t.axes.bits(); b != 0; b &= b - 1, ++rank) {
    AxisId axis = __builtin_ctzll(b);
    if (axis != inner)
      offset += (pos_[axis] - box_[axis].lo) * t.stride[rank];
  }
  return offset;
}

Tensor Run::gather(VarId id, AxisSet axes, const Address &address, const std::vector<Tensor> &coordinates,
                   Place place) {
  const Storage &storage = storage_[id];
  const Var &var = kernel_.vars[id];
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(axes, buffer, lanes);
  work(lanes);
  const bool checks = may_be_unwritten(id);
  MaskPtr mask = checks ? project(mask_, axes) : nullptr;
  Value outside = is_floating(var.type) ? number_value(round_to(var.outside, var.type))
                                        : integer_value(wrap(static_cast<int64_t>(var.outside), var.type));
  std::vector<int64_t> offsets;
  std::vector<uint8_t> valid;
  int64_t at = 0;
  for_each_row(axes, [&](AxisId inner, int64_t n) {
    offsets.resize(n);
    valid.resize(n);
    address_row(address, inner, n, offsets.data(), valid.data());
    for (int64_t i = 0; i < n; ++i, ++at) {
      bool in = valid[i] != 0;
      if (in && checks) {
        int64_t lane = 0;
        if (mask) {
          lane = mask_offset(*mask);
          for (AxisId axis : mask->axes.list())
            lane += mask->stride_of(axis) * (axis == inner ? i : pos_[axis] - box_[axis].lo);
        }
        if (!mask || (mask->lanes[lane] & kActive) != 0)
          check_written(id, offsets[i], place);
      }
      buffer->values[at] = in ? storage.values[offsets[i]] : outside;
      if (reference_) {
        buffer->magnitudes[at] = in                                                    ? storage.magnitudes[offsets[i]]
                                 : is_floating(var.type) && std::isfinite(var.outside) ? std::fabs(var.outside)
                                                                                       : 0;
        buffer->flags[at] = in ? storage.flags[offsets[i]] : 0;
        for (const Tensor &c : coordinates)
          buffer->flags[at] |= c.flags[row_offset(c, inner) + i * (inner == kNone ? 0 : c.stride_of(inner))];
      }
    }
  });
  return out;
}

Tensor Run::inside(const Expr &e) {
  std::vector<Tensor> coordinates;
  for (const Coordinate &coordinate : e.coords)
    coordinates.push_back(eval_to(coordinate.value, Type::i64, false));
  Address address = address_of(e.ref, e.coords, coordinates);
  const AxisSet axes = e.axes;
  std::erase_if(address.parts, [&](const Address::Part &part) {
    return !part.coordinate && part.axis != kNone && !axes.contains(part.axis);
  });
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(axes, buffer, lanes);
  std::vector<int64_t> offsets;
  std::vector<uint8_t> valid;
  int64_t at = 0;
  for_each_row(axes, [&](AxisId inner, int64_t n) {
    offsets.resize(n);
    valid.resize(n);
    address_row(address, inner, n, offsets.data(), valid.data());
    for (int64_t i = 0; i < n; ++i, ++at) {
      buffer->values[at] = integer_value(valid[i]);
      if (reference_) {
        buffer->magnitudes[at] = 0;
        buffer->flags[at] = 0;
        for (const Tensor &c : coordinates)
          buffer->flags[at] |= c.flags[row_offset(c, inner) + i * (inner == kNone ? 0 : c.stride_of(inner))];
      }
    }
  });
  return out;
}

Tensor Run::read_table(const Expr &e) {
  std::vector<Tensor> indices;
  AxisSet axes;
  for (ExprId arg : e.args) {
    indices.push_back(eval_to(arg, Type::i64, false));
    axes |= indices.back().axes;
  }
  const TableData &table = sizes_.table(e.ref);
  Type stored = kernel_.tables[e.ref].type;
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(axes, buffer, lanes);
  work(lanes);
  int64_t at = 0;
  for_each_row(axes, [&](AxisId inner, int64_t n) {
    for (int64_t i = 0; i < n; ++i, ++at) {
      int64_t offset = 0;
      bool in = true;
      uint8_t flags = 0;
      for (size_t k = 0; k < indices.size(); ++k) {
        int64_t lane = row_offset(indices[k], inner) + i * (inner == kNone ? 0 : indices[k].stride_of(inner));
        int64_t index = indices[k].data[lane].integer;
        in = in && index >= 0 && index < table.shape[k];
        offset = in ? offset * table.shape[k] + index : 0;
        flags |= reference_ ? indices[k].flags[lane] : 0;
      }
      Value value = convert(integer_value(in ? table.values[offset] : 0), stored, e.type);
      buffer->values[at] = value;
      if (reference_) {
        buffer->magnitudes[at] = is_floating(e.type) ? std::fabs(value.number) : 0;
        buffer->flags[at] = flags;
      }
    }
  });
  return out;
}

// An element of a local array, per lane.
Tensor Run::read_element(const Expr &e) {
  const Var &var = kernel_.vars[e.ref];
  if (!storage_[e.ref].present)
    fail("`" + var.name + "` is read before it is declared", e.place);
  const Storage &storage = storage_[e.ref];
  std::vector<Tensor> indices;
  AxisSet axes = var.axes;
  for (ExprId arg : e.args) {
    indices.push_back(eval_to(arg, Type::i64, false));
    axes |= indices.back().axes;
  }
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(axes, buffer, lanes);
  work(lanes);
  Address address = local_address(e.ref, {}, {});
  std::vector<int64_t> offsets;
  std::vector<uint8_t> valid;
  int64_t at = 0;
  for_each_row(axes, [&](AxisId inner, int64_t n) {
    offsets.resize(n);
    valid.resize(n);
    address_row(address, inner, n, offsets.data(), valid.data());
    for (int64_t i = 0; i < n; ++i, ++at) {
      int64_t element = 0;
      bool in = true;
      uint8_t flags = 0;
      for (size_t k = 0; k < indices.size(); ++k) {
        int64_t lane = row_offset(indices[k], inner) + i * (inner == kNone ? 0 : indices[k].stride_of(inner));
        int64_t index = indices[k].data[lane].integer;
        in = in && index >= 0 && index < var.array[k];
        element = in ? element * var.array[k] + index : 0;
        flags |= reference_ ? indices[k].flags[lane] : 0;
      }
      int64_t offset = element * storage.lanes + offsets[i];
      buffer->values[at] = in ? storage.values[offset] : convert(integer_value(0), Type::i64, e.type);
      if (reference_) {
        buffer->magnitudes[at] = in ? storage.magnitudes[offset] : 0;
        buffer->flags[at] = in ? storage.flags[offset] | flags : flags;
      }
    }
  });
  return out;
}

void Run::check_coverage(VarId id) {
  const Var &var = kernel_.vars[id];
  const Storage &storage = storage_[id];
  if (var.partial || var.alias != kNone)
    return;
  auto missing = std::find(storage.writer.begin(), storage.writer.end(), 0u);
  if (missing != storage.writer.end()) {
    step_ = step_count_;
    fail_at(id, missing - storage.writer.begin(), " is never written", var.place, Fault::unwritten);
  }
}

void Run::store_output(VarId id) {
  const Var &var = kernel_.vars[id];
  Storage &storage = storage_[id];
  if (var.optional && !storage.present)
    return;
  Array array;
  array.type = var.type;
  array.shape = operand_shape(kernel_, var, sizes_);
  int bytes = bytes_of(var.type);
  bool held =
      input_.arrays.count(var.name) > 0 || (var.alias != kNone && input_.arrays.count(kernel_.vars[var.alias].name));
  array.bytes.assign(storage.values.size() * bytes, 0);
  ReferenceOutput out;
  for (size_t i = 0; i < storage.values.size(); ++i) {
    bool defined = storage.writer[i] != 0;
    if (defined || held)
      store_value(array.bytes.data() + i * bytes, var.type, storage.values[i]);
    if (!reference_)
      continue;
    double value = is_floating(var.type) ? storage.values[i].number : static_cast<double>(storage.values[i].integer);
    out.value.push_back(value);
    out.magnitude.push_back(storage.magnitudes[i]);
    out.undecided.push_back((storage.flags[i] & kUndecided) != 0);
    out.defined.push_back(defined || held);
    out.exact.push_back(!is_floating(var.type) || (storage.flags[i] & kInexact) == 0);
  }
  result_.outputs[var.name] = std::move(array);
  if (reference_)
    result_.reference[var.name] = std::move(out);
}

} // namespace kgen::interpreter
