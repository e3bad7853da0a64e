// Which sizes `kgen verify` tries. They come from what the spec says of its axes: beside sizes that go wrong often
// there are those at which its own blocks and divisions end.
#include <algorithm>
#include <numeric>
#include <set>

#include "cli/differential.h"

namespace kgen {

namespace {

// By axis: its blocks, and what its size is divided by.
using Steps = std::map<std::string, std::set<int64_t>>;

void note_divisors(const Size &size, Steps &steps) {
  any_node(size, [&](const Size &node) {
    const bool divides = node.op == Size::Op::divide || node.op == Size::Op::modulo || node.op == Size::Op::cdiv;
    if (divides && node.args[1].is_integer() && node.args[1].value > 1)
      any_node(node.args[0], [&](const Size &part) {
        if (part.op == Size::Op::axis)
          steps[part.name].insert(node.args[1].value);
        return false;
      });
    return false;
  });
}

Steps steps_of(const Kernel &kernel) {
  Steps out;
  auto note_block = [&](AxisId axis, const Size &block) {
    if (axis != kNone && block.is_integer() && block.value > 1)
      out[kernel.axes[axis].name].insert(block.value);
  };
  for (const GridDim &dim : kernel.grid) {
    note_block(dim.axis, dim.block);
    note_divisors(dim.size, out);
  }
  for (const Var &var : kernel.vars)
    for (const Dim &dim : var.dims) {
      if (!dim.whole)
        note_block(dim.axis, dim.block);
      note_divisors(dim.block, out);
      note_divisors(dim.start, out);
    }
  for (const Table &table : kernel.tables)
    if (table.range)
      note_divisors(*table.range, out);
  return out;
}

// What all steps of an axis divide.
int64_t common_multiple(const std::set<int64_t> &steps, int64_t multiple_of) {
  constexpr int64_t kMost = int64_t{1} << 16; // beyond, no case is small enough to run
  int64_t out = multiple_of;
  for (const int64_t step : steps)
    if (const int64_t next = std::lcm(out, step); next <= kMost)
      out = next;
  return out;
}

} // namespace

std::vector<std::map<std::string, int64_t>> edge_sizes(const Kernel &kernel) {
  const Steps steps = steps_of(kernel);
  std::map<std::string, int64_t> usual, beyond, ones, wide, fitting;
  std::map<std::string, std::set<int64_t>> sweep, full; // beside few others, and beside such as fill vectors
  int64_t spread = 0;
  bool has_steps = false;
  for (AxisId id : kernel.size_arguments) {
    const Axis &axis = kernel.axes[id];
    if (axis.size.op != Size::Op::axis)
      continue; // specialised: the variant says it
    auto rounded = [&](int64_t size) { return fitting_size(axis, size); };
    std::set<int64_t> &own = sweep[axis.name];
    for (int64_t size : {0, 1, 2, 7, 13, 31, 64, 257, 1009})
      own.insert(rounded(size));
    for (int64_t size : {15, 16, 97})
      full[axis.name].insert(rounded(size));
    int64_t most = 0;
    const auto found = steps.find(axis.name);
    if (found != steps.end())
      for (int64_t step : found->second) {
        for (int64_t size : {step - 1, step, step + 1})
          own.insert(rounded(size));
        most = std::max(most, step);
      }
    usual[axis.name] = rounded(most > 0 && most <= 64 ? most + 1 + spread : 5 + spread);
    beyond[axis.name] = rounded(most > 0 ? most + 1 : 33);
    ones[axis.name] = rounded(1);
    wide[axis.name] = rounded(19 + spread); // fills vectors
    fitting[axis.name] = most > 0 ? common_multiple(found->second, axis.multiple_of) : usual[axis.name];
    has_steps = has_steps || most > 0;
    spread = (spread + 2) % 6; // unlike sizes, so that mixed-up axes show
  }
  std::vector<std::map<std::string, int64_t>> out = {usual, beyond, ones, wide};
  const auto with = [&](std::map<std::string, int64_t> sizes, const std::string &name, int64_t size) {
    sizes[name] = size;
    out.push_back(std::move(sizes));
  };
  for (const auto &[name, sizes] : sweep)
    for (int64_t size : sizes)
      with(usual, name, size);
  for (const auto &[name, sizes] : full)
    for (int64_t size : sizes)
      with(wide, name, size);
  if (has_steps) { // some specs take nothing else
    out.push_back(fitting);
    for (const auto &[name, own] : steps)
      if (fitting.count(name) != 0)
        with(fitting, name, 2 * fitting[name]);
  }
  std::sort(out.begin() + 1, out.end());
  out.erase(std::unique(out.begin() + 1, out.end()), out.end());
  return out;
}

} // namespace kgen
