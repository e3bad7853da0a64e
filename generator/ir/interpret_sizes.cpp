#include "ir/interpret_sizes.h"

#include <algorithm>

#include "support/check.h"

namespace kgen::interpreter {

namespace {

int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

[[noreturn]] void fail(std::string text, const Place &place = {}, Fault fault = Fault::refused) {
  throw Failure{std::move(text), place, fault, kNone, ""};
}

// `value` by reference: it is set by the test that is evaluated beside it.
int64_t checked(bool overflow, const int64_t &value, const Place &place) {
  if (overflow)
    fail("a size expression exceeds 64 bits", place);
  return value;
}

} // namespace

SizeContext::SizeContext(const Kernel &kernel, const RunInput &input, bool with_tables)
    : step(kernel.grid.size()), step_counts(kernel.grid.size(), 1), kernel_(kernel), axis_sizes_(kernel.axes.size()),
      longest_(kernel.axes.size()) {
  std::vector<int> state(kernel.axes.size());
  for (AxisId axis = 0; axis < static_cast<AxisId>(kernel.axes.size()); ++axis)
    settle_axis(axis, state, input);
  if (!with_tables)
    return;
  for (const Table &table : kernel.tables)
    load_table(table, input);
  for (AxisId axis = 0; axis < static_cast<AxisId>(kernel.axes.size()); ++axis)
    if (kernel.axes[axis].ragged != kNone)
      check_ragged(axis);
}

int64_t SizeContext::settle_axis(AxisId id, std::vector<int> &state, const RunInput &input) {
  const Axis &axis = kernel_.axes[id];
  if (state[id] == 2)
    return axis_sizes_[id];
  if (state[id] == 1)
    fail("the size of " + axis.name + " depends on itself", axis.place);
  state[id] = 1;
  auto given = input.sizes.find(axis.name);
  if (axis.size.op == Size::Op::axis && axis.size.name == axis.name) {
    if (given == input.sizes.end())
      fail("the size of " + axis.name + " is not given", axis.place);
    axis_sizes_[id] = given->second;
  } else {
    any_node(axis.size, [&](const Size &node) {
      for (AxisId other = 0; node.op == Size::Op::axis && other < static_cast<AxisId>(kernel_.axes.size()); ++other)
        if (kernel_.axes[other].name == node.name)
          settle_axis(other, state, input);
      return false;
    });
    axis_sizes_[id] = evaluate(axis.size);
    if (given != input.sizes.end() && given->second != axis_sizes_[id])
      fail("the size of " + axis.name + " is " + std::to_string(axis_sizes_[id]) + " here, not " +
               std::to_string(given->second),
           axis.place);
  }
  state[id] = 2;
  if (axis_sizes_[id] < 0)
    fail("the size of " + axis.name + " is negative: " + std::to_string(axis_sizes_[id]), axis.place);
  if (axis.multiple_of > 1 && axis_sizes_[id] % axis.multiple_of != 0)
    fail("the size of " + axis.name + " is no multiple of " + std::to_string(axis.multiple_of), axis.place);
  return axis_sizes_[id];
}

void SizeContext::load_table(const Table &table, const RunInput &input) {
  TableData data;
  int64_t elements = 1;
  for (const Size &dim : table.dims) {
    data.shape.push_back(evaluate(dim));
    if (data.shape.back() < 0)
      fail("table " + table.name + " has a negative extent", table.place);
    elements *= data.shape.back();
  }
  auto given = input.tables.find(table.name);
  if (given == input.tables.end())
    fail("table " + table.name + " is not given", table.place);
  if (given->second.elements() != elements)
    fail("table " + table.name + " has " + std::to_string(given->second.elements()) + " elements instead of " +
             std::to_string(elements),
         table.place);
  Type type = given->second.type;
  for (int64_t i = 0; i < elements; ++i)
    data.values.push_back(load_value(given->second.bytes.data() + i * bytes_of(type), type).integer);
  check_facts(table, data);
  tables_.push_back(std::move(data));
}

void SizeContext::check_facts(const Table &table, const TableData &data) const {
  std::vector<int64_t> sorted = data.values;
  std::sort(sorted.begin(), sorted.end());
  if (table.sorted && sorted != data.values)
    fail("table " + table.name + " is declared sorted and is not", table.place);
  if (table.unique && std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    fail("table " + table.name + " is declared unique and repeats an entry", table.place, Fault::repeats);
  if (!table.range || sorted.empty())
    return;
  int64_t range = evaluate(*table.range);
  if (sorted.front() < 0 || sorted.back() >= range)
    fail("table " + table.name + " has an entry outside 0 .. " + std::to_string(range - 1), table.place);
}

void SizeContext::check_ragged(AxisId id) {
  const Axis &axis = kernel_.axes[id];
  const std::vector<int64_t> &starts = tables_[axis.ragged].values;
  const std::string &name = kernel_.tables[axis.ragged].name;
  if (axis.over == kNone || static_cast<int64_t>(starts.size()) != axis_sizes_[axis.over] + 1)
    fail("table " + name + " needs one entry more than there are rows", axis.place);
  if (starts.front() != 0 || starts.back() != axis_sizes_[id])
    fail("table " + name + " does not run from 0 to the total of " + axis.name, axis.place);
  for (size_t row = 0; row + 1 < starts.size(); ++row) {
    if (starts[row + 1] < starts[row])
      fail("table " + name + " is not monotone", axis.place);
    longest_[id] = std::max(longest_[id], starts[row + 1] - starts[row]);
  }
}

SizeNode SizeContext::compile(const Size &size) const {
  SizeNode node;
  node.op = size.op;
  node.value = size.value;
  node.place = size.place;
  auto find = [&](const auto &list) {
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i].name == size.name)
        return static_cast<int64_t>(i);
    KGEN_UNREACHABLE("a size names what the kernel does not have");
  };
  if (size.op == Size::Op::axis)
    node.value = find(kernel_.axes);
  if (size.op == Size::Op::grid || size.op == Size::Op::grid_size)
    node.value = find(kernel_.grid);
  if (size.op == Size::Op::table)
    node.value = find(kernel_.tables);
  KGEN_CHECK(size.op != Size::Op::param);
  for (const Size &arg : size.args)
    node.args.push_back(compile(arg));
  return node;
}

std::optional<int64_t> SizeContext::entry(TableId id, const std::vector<int64_t> &indices) const {
  const TableData &data = tables_[id];
  int64_t offset = 0;
  for (size_t k = 0; k < data.shape.size(); ++k) {
    if (indices[k] < 0 || indices[k] >= data.shape[k])
      return std::nullopt;
    offset = offset * data.shape[k] + indices[k];
  }
  return data.values[offset];
}

int64_t SizeContext::evaluate(const SizeNode &node) const {
  using enum Size::Op;
  switch (node.op) {
  case integer:
    return node.value;
  case axis:
    return axis_sizes_[node.value];
  case grid:
    return step[node.value];
  case grid_size:
    return step_counts[node.value];
  case choose:
    return evaluate(node.args[evaluate(node.args[0]) != 0 ? 1 : 2]);
  case table: {
    std::vector<int64_t> indices;
    for (const SizeNode &arg : node.args)
      indices.push_back(evaluate(arg));
    if (std::optional<int64_t> found = entry(static_cast<TableId>(node.value), indices))
      return *found;
    fail("table " + kernel_.tables[node.value].name + " is read outside its extent", node.place, Fault::table_outside);
  }
  default:
    break;
  }
  int64_t a = evaluate(node.args[0]);
  int64_t b = node.args.size() > 1 ? evaluate(node.args[1]) : 0;
  int64_t out = 0;
  if ((node.op == divide || node.op == modulo || node.op == cdiv) && b == 0)
    fail("a size expression divides by zero", node.place);
  switch (node.op) {
  case negate:
    return checked(__builtin_sub_overflow(int64_t{0}, a, &out), out, node.place);
  case add:
    return checked(__builtin_add_overflow(a, b, &out), out, node.place);
  case subtract:
    return checked(__builtin_sub_overflow(a, b, &out), out, node.place);
  case multiply:
    return checked(__builtin_mul_overflow(a, b, &out), out, node.place);
  case divide:
    return b == -1 ? checked(__builtin_sub_overflow(int64_t{0}, a, &out), out, node.place) : floor_divide(a, b);
  case modulo:
    return b == -1 ? 0 : a - floor_divide(a, b) * b;
  case cdiv:
    return b == -1 ? checked(__builtin_sub_overflow(int64_t{0}, a, &out), out, node.place)
                   : floor_divide(a, b) + (a % b != 0);
  case less:
    return a < b;
  case less_equal:
    return a <= b;
  case greater:
    return a > b;
  case greater_equal:
    return a >= b;
  case equal:
    return a == b;
  case not_equal:
    return a != b;
  case min:
    return std::min(a, b);
  case max:
    return std::max(a, b);
  default:
    KGEN_UNREACHABLE("not an operation of size expressions");
  }
}

bool is_packed(const Kernel &kernel, const Var &var, size_t dim) {
  AxisId next = dim + 1 < var.dims.size() ? var.dims[dim + 1].axis : kNone;
  return next != kNone && kernel.axes[next].ragged != kNone;
}

std::vector<int64_t> operand_shape(const Kernel &kernel, const Var &var, const SizeContext &sizes) {
  std::vector<int64_t> shape;
  int64_t elements = 1;
  for (size_t i = 0; i < var.dims.size(); ++i) {
    int64_t extent = is_packed(kernel, var, i) ? 1 : sizes.evaluate(var.dims[i].extent);
    if (extent < 0)
      fail("an extent of " + var.name + " is negative: " + std::to_string(extent), var.place);
    if (static_cast<int>(shape.size()) <= var.dims[i].array_dim)
      shape.push_back(extent);
    else
      shape.back() *= extent;
  }
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(elements, extent, &elements))
      fail("the elements of " + var.name + " exceed 64 bits", var.place);
  return shape;
}

} // namespace kgen::interpreter

namespace kgen {

int64_t Array::elements() const {
  int64_t out = 1;
  for (int64_t extent : shape)
    out *= extent;
  return out;
}

std::optional<std::vector<int64_t>> array_shape(const Kernel &kernel, const Var &var, const RunInput &input) {
  try {
    interpreter::SizeContext sizes(kernel, input, false);
    return interpreter::operand_shape(kernel, var, sizes);
  } catch (const interpreter::Failure &) {
    return std::nullopt;
  }
}

std::optional<std::vector<int64_t>> table_shape(const Kernel &kernel, const Table &table, const RunInput &input) {
  try {
    interpreter::SizeContext sizes(kernel, input, false);
    std::vector<int64_t> shape;
    for (const Size &dim : table.dims)
      shape.push_back(sizes.evaluate(dim));
    return shape;
  } catch (const interpreter::Failure &) {
    return std::nullopt;
  }
}

std::optional<int64_t> size_value(const Kernel &kernel, const Size &size, const RunInput &input) {
  try {
    return interpreter::SizeContext(kernel, input, false).evaluate(size);
  } catch (const interpreter::Failure &) {
    return std::nullopt;
  }
}

} // namespace kgen
