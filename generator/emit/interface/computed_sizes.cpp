#include "emit/interface/computed_sizes.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "ir/interpret_sizes.h"
#include "support/text.h"

namespace kgen {
namespace {

// A number, as a double, that neither the size nor anything on the way to it exceeds, of sizes that are not negative. A
// factor is at least 1, so that no product hides what the others are.
std::string bound(const Size &size, Printer &p, bool factor = false) {
  if (size.is_integer())
    return std::to_string(std::max(1LL, std::llabs(size.value))) + ".0";
  const bool product = size.op == Size::Op::multiply;
  std::string text;
  if (size.op == Size::Op::axis)
    text = "double(" + p.size_text(size) + ")";
  for (const Size &arg : size.args)
    text += (text.empty() ? "" : product ? " * " : " + ") + bound(arg, p, product);
  return factor && !product ? "(" + text + " + 1.0)" : text;
}

// Could it leave 64 bits, of sizes that are not negative?
bool may_overflow(const Size &size) {
  bool sizes_only = true, grows = false;
  any_node(size, [&](const Size &s) {
    const bool of_steps = s.op == Size::Op::grid || s.op == Size::Op::grid_size || s.op == Size::Op::table;
    sizes_only = sizes_only && !of_steps;
    const bool has_sizes = any_node(s, [](const Size &inner) { return inner.op == Size::Op::axis; });
    grows = grows || (has_sizes && (s.op == Size::Op::add || s.op == Size::Op::multiply));
    return false;
  });
  return sizes_only && grows;
}

// The sizes of axes, arrays, tables and grids.
std::vector<Size> sizes_of(const Kernel &kernel) {
  std::vector<Size> out;
  for (const Axis &axis : kernel.axes)
    out.push_back(axis.size);
  for (const Var &var : kernel.vars)
    for (const Dim &dim : var.dims)
      out.push_back(dim.extent);
  for (const Table &table : kernel.tables)
    out.insert(out.end(), table.dims.begin(), table.dims.end());
  for (const GridDim &dim : kernel.grid)
    out.push_back(dim.size);
  return out;
}

constexpr const char *kMost = "4e18"; // a little less than 2^62, for there may be another sum

void refuse_above(const std::string &text, const std::string &what, Printer &p, Statuses &statuses, CheckedIn where) {
  p.spelling.helper("status_of");
  p.lines.add("if (" + text + " > " + kMost + ") return " + (is_query(where) ? "-" : "") +
              statuses.of(StatusKind::too_large, what + " is more than can be counted") + ";");
}

// Packed rows are as many elements as their lengths add up to.
AxisSet without_rows(const Kernel &kernel, AxisSet axes) {
  AxisSet out = axes;
  for (AxisId axis : axes.list())
    if (kernel.axes[axis].ragged != kNone)
      out -= AxisSet::of(kernel.axes[axis].over);
  return out;
}

} // namespace

Size in_arguments(const Kernel &kernel, const Size &size) {
  return rewrite(size, [&](const Size &s) -> std::optional<Size> {
    for (size_t a = 0; s.op == Size::Op::axis && a < kernel.axes.size(); ++a)
      if (const Axis &axis = kernel.axes[a]; axis.name == s.name && !(axis.size == s) &&
                                             std::ranges::count(kernel.size_arguments, static_cast<AxisId>(a)) == 0)
        return in_arguments(kernel, axis.size);
    return std::nullopt;
  });
}

Size extent_in_arguments(const Kernel &kernel, const Dim &dim) {
  if (dim.axis != kNone && kernel.axes[dim.axis].size == dim.extent &&
      kernel.fixed_axes.count(kernel.axes[dim.axis].name) != 0)
    return Size::axis(kernel.axes[dim.axis].name);
  return dim.extent;
}

Size over_variations(const Function &function, const std::function<Size(const Kernel &)> &get) {
  Size out = get(function.variations.back()->kernel);
  for (size_t v = function.variations.size() - 1; v-- > 0;) {
    const Variation &variation = *function.variations[v];
    const Size one = get(variation.kernel);
    if (one == out)
      continue;
    Size condition = Size::integer(1);
    for (const auto &[axis, size] : variation.variant.axes)
      condition = Size::make(Size::Op::multiply,
                             {condition, Size::make(Size::Op::equal, {Size::axis(axis), Size::integer(size)})});
    out = Size::make(Size::Op::choose, {condition, one, out});
  }
  return out;
}

void print_computed_sizes(const Variation &variation, Printer &p, Statuses &statuses, CheckedIn where) {
  std::set<std::string> seen;
  for (const Size &size : sizes_of(variation.kernel)) {
    const Size whole = in_arguments(variation.kernel, size);
    if (!may_overflow(whole) || !seen.insert(to_string(whole)).second)
      continue;
    refuse_above(bound(whole, p), to_string(whole), p, statuses, where);
  }
}

void print_kept_sizes(const Variation &variation, Printer &p, Statuses &statuses, CheckedIn where) {
  const Kernel &kernel = variation.kernel;
  std::set<uint64_t> kept; // axes of values that have names or come from folds and scans
  for (const Var &var : kernel.vars)
    if (var.kind == Var::Kind::local)
      kept.insert(without_rows(kernel, var.axes).bits());
  for (const Expr &e : kernel.exprs)
    if (e.op == Op::fold || e.op == Op::scan)
      kept.insert(without_rows(kernel, e.axes).bits());
  for (uint64_t bits : kept) {
    const AxisSet axes(bits);
    const bool in_array = std::ranges::any_of(kernel.vars, [&](const Var &var) {
      return (var.kind == Var::Kind::input || var.kind == Var::Kind::output) && var.axes.contains(axes);
    });
    const bool in_more =
        std::ranges::any_of(kept, [&](uint64_t other) { return other != bits && AxisSet(other).contains(axes); });
    if (in_array || in_more)
      continue;
    std::string text, what;
    for (AxisId axis : axes.list()) {
      text += (text.empty() ? "double(" : " * double(") + p.size_text(kernel.axes[axis].size) + ")";
      what += (what.empty() ? "" : " * ") + (kernel.axes[axis].rest ? "rows" : kernel.axes[axis].name);
    }
    refuse_above(text, what, p, statuses, where);
  }
}

// Does one of these conditions hold wherever another does? Of equal ones the first counts.
static bool is_implied(const std::vector<std::vector<std::string>> &all, size_t i) {
  for (size_t other = 0; other < all.size(); ++other) {
    const bool within = other != i && std::ranges::all_of(all[other], [&](const std::string &condition) {
                          return std::ranges::find(all[i], condition) != all[i].end();
                        });
    if (within && (all[other].size() < all[i].size() || other < i))
      return true;
  }
  return false;
}

// The sizes of an output of which one that is 0 leaves nothing of it.
static std::vector<std::string> leave_nothing(const Kernel &kernel, const Var &output, Printer &p) {
  std::vector<std::string> out;
  for (size_t d = 0; d < output.dims.size(); ++d) {
    if (output.dims[d].extent.is_integer() || interpreter::is_packed(kernel, output, d))
      continue;
    std::string none = at_least(p.size(output.dims[d].extent), binding::kEqual + 1) + " == 0";
    if (std::ranges::find(out, none) == out.end())
      out.push_back(std::move(none));
  }
  return out;
}

std::string writes_nothing(const Kernel &kernel, Printer &p) {
  std::vector<std::vector<std::string>> of_outputs;
  for (const Var &var : kernel.vars)
    if (var.kind == Var::Kind::output)
      of_outputs.push_back(leave_nothing(kernel, var, p));
  if (std::ranges::any_of(of_outputs, [](const auto &sizes) { return sizes.empty(); }))
    return "";
  std::vector<std::string> all;
  for (size_t i = 0; i < of_outputs.size(); ++i)
    if (!is_implied(of_outputs, i))
      all.push_back(join(of_outputs[i], " || "));
  if (all.size() > 1)
    for (std::string &either : all)
      if (either.find(" || ") != std::string::npos)
        either = "(" + either + ")";
  return join(all, " && ");
}

} // namespace kgen
