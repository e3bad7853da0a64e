// What a run tells of the values that it computes: asserts that fail, prints, and traces of steps and of locals. And
// what the caller must keep, which is asked before the first step.
#include <algorithm>
#include <charconv>

#include "ir/interpret_run.h"
#include "support/text.h"

namespace kgen::interpreter {
namespace {

template <class T> std::string shortest(T value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string text_of(Value value, Type type) {
  if (type == Type::boolean)
    return value.integer != 0 ? "true" : "false";
  if (type == Type::f64)
    return shortest(value.number);
  if (is_floating(type))
    return shortest(static_cast<float>(value.number));
  return type == Type::u64 ? std::to_string(static_cast<uint64_t>(value.integer)) : std::to_string(value.integer);
}

// What a condition reads: arrays, locals, scalars, tables, sizes, and folds of them.
void find_read(const Kernel &kernel, ExprId id, std::vector<ExprId> &out) {
  const Expr &e = kernel.expr(id);
  const bool computes = is_scalar_op(e.op) || e.op == Op::cast || e.op == Op::choose || e.op == Op::both ||
                        e.op == Op::either || e.op == Op::bitcast || e.op == Op::round_like;
  if (computes)
    for (ExprId arg : e.args)
      find_read(kernel, arg, out);
  else if (e.op != Op::constant && !(e.op == Op::index && e.ref == kNone)) // the element is named anyway
    out.push_back(id);
}

std::string join_parts(const std::string &a, const std::string &b, const char *between) {
  return a.empty() || b.empty() ? a + b : a + between + b;
}

} // namespace

// Calls visit() for each lane of the box that takes part; pos_ says which it is.
template <class Visit> void Run::for_each_lane(AxisSet axes, const MaskPtr &mask, Visit visit) {
  for_each_row(axes, [&](AxisId inner, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if (inner != kNone)
        pos_[inner] = box_[inner].lo + i;
      if (mask) {
        int64_t lane = mask_offset(*mask);
        for (AxisId axis : mask->axes.list())
          lane += (pos_[axis] - box_[axis].lo) * mask->stride_of(axis);
        if ((mask->lanes[lane] & kActive) == 0 || (mask->lanes[lane] & kMaybe) != 0)
          continue;
      }
      visit();
    }
    if (inner != kNone)
      pos_[inner] = box_[inner].lo;
  });
}

std::string Run::lane_text(const Tensor &tensor, Type type) const {
  int64_t lane = 0;
  for (AxisId axis : tensor.axes.list())
    lane += (pos_[axis] - box_[axis].lo) * tensor.stride_of(axis);
  return text_of(tensor.data[lane], type);
}

std::string Run::place_text(AxisSet axes, bool with_step) const {
  std::string out;
  for (size_t d = 0; with_step && d < kernel_.grid.size() && step_ < step_count_; ++d)
    out = join_parts(out, kernel_.grid[d].name + " = " + std::to_string(sizes_.step[d]), ", ");
  for (AxisId axis : axes.list())
    out = join_parts(out, kernel_.axes[axis].name + " = " + std::to_string(start_[axis] + pos_[axis]), ", ");
  return out;
}

// Is this step, and this lane of it, one that was asked for?
bool Run::is_asked_for(AxisSet axes) const {
  for (size_t d = 0; d < kernel_.grid.size(); ++d)
    if (auto at = options_.only_at.find(kernel_.grid[d].name); at != options_.only_at.end())
      if (at->second != sizes_.step[d])
        return false;
  return std::ranges::all_of(axes.list(), [&](AxisId axis) {
    auto at = options_.only_at.find(kernel_.axes[axis].name);
    return at == options_.only_at.end() || at->second == start_[axis] + pos_[axis];
  });
}

// A line of a print or of a trace, of which there may be only so many.
void Run::tell(const std::string &what, const std::string &line) {
  if (++told_[what] <= options_.most_lines)
    result_.trace.push_back(line);
}

void Run::tell_of_more() {
  for (const auto &[what, lines] : told_)
    if (lines > options_.most_lines)
      result_.trace.push_back("... and " + std::to_string(lines - options_.most_lines) + " more lines of " + what);
}

void Run::settle_box(const Stmt &s, const std::vector<ExprId> &values) {
  widen_box(s.axes);
  for (AxisId axis : s.axes.list())
    for (ExprId value : values)
      if (kernel_.expr(value).axes.contains(axis))
        box_[axis] = intersect(box_[axis], range_of({value}, axis));
}

void Run::check(const Stmt &s) {
  MaskPtr outer = mask_;
  settle_box(s, {s.value});
  Tensor value = converted(eval_whole(s.value), kernel_.expr(s.value).type, Type::boolean);
  const MaskPtr failing = and_mask(mask_, value, true, false);
  if (failing->any)
    note_failed(s, failing);
  mask_ = outer;
}

void Run::note_failed(const Stmt &s, const MaskPtr &failing) {
  const auto known =
      std::ranges::find_if(result_.asserts, [&](const FailedAssert &one) { return begin_alike(one.place, s.place); });
  const bool first = known == result_.asserts.end();
  FailedAssert failed = first ? FailedAssert{s.place, "", "", 0} : *known;
  std::vector<ExprId> read;
  if (first)
    find_read(kernel_, s.value, read);
  std::map<std::string, std::pair<Tensor, Type>> shown; // by name
  mask_ = failing;
  for (ExprId id : read)
    try {
      shown.emplace(kgen::print(kernel_, id), std::pair(eval_whole(id), kernel_.expr(id).type));
    } catch (const Failure &) { // an arm that was not taken would read what is not there
    }
  for_each_lane(failing->axes, failing, [&] {
    if (++failed.lanes > 1)
      return;
    failed.where = place_text(failing->axes, true);
    for (const auto &[name, value] : shown)
      failed.values = join_parts(failed.values, name + " is " + lane_text(value.first, value.second), ", ");
  });
  result_.failed_asserts += failed.lanes - (first ? 0 : known->lanes);
  if (failed.lanes == 0)
    return;
  if (first)
    result_.asserts.push_back(failed);
  else
    *known = failed;
}

void Run::print(const Stmt &s) {
  if (reference_)
    return;
  MaskPtr outer = mask_;
  std::vector<ExprId> ids;
  for (const Shown &shown : s.shown)
    if (shown.value != kNone)
      ids.push_back(shown.value);
  settle_box(s, ids);
  std::vector<Tensor> values;
  for (ExprId id : ids)
    values.push_back(eval_whole(id));
  const AxisSet axes = mask_ ? s.axes | mask_->axes : s.axes;
  const std::string what =
      "the print in line " + std::to_string(s.place.line) + ", column " + std::to_string(s.place.column);
  for_each_lane(axes, mask_, [&] {
    if (!is_asked_for(axes))
      return;
    std::string text;
    size_t value = 0;
    for (const Shown &shown : s.shown) {
      const bool is_text = shown.value == kNone;
      text = join_parts(text, is_text ? shown.text : lane_text(values[value], kernel_.expr(shown.value).type), " ");
      value += !is_text;
    }
    tell(what, join_parts(place_text(axes, true), text, ": "));
  });
  mask_ = outer;
}

// Of ragged rows, the longest.
int64_t Run::whole_size(AxisId axis) const {
  return kernel_.axes[axis].ragged != kNone ? sizes_.longest_row(axis) : sizes_.axis_size(axis);
}

// The locals of the user, or the arrays and locals that were asked for.
std::vector<VarId> Run::traced() const {
  std::vector<VarId> out;
  for (size_t v = 0; v < kernel_.vars.size(); ++v) {
    const Var &var = kernel_.vars[v];
    const bool asked = std::ranges::find(options_.trace_names, var.name) != options_.trace_names.end();
    if ((asked || (options_.trace_names.empty() && var.named)) && storage_[v].present && var.array.empty())
      out.push_back(static_cast<VarId>(v));
  }
  return out;
}

// As they are at the end of the step.
void Run::trace_values() {
  for (const VarId id : traced())
    trace_values_of(id);
}

// Those that go along an axis of size 0, of which no step has a line.
void Run::trace_empty() {
  for (const VarId id : traced()) {
    const Var &var = kernel_.vars[id];
    std::string sizes;
    bool is_empty = false;
    for (const AxisId axis : var.axes.list()) {
      const int64_t size = whole_size(axis);
      sizes = join_parts(sizes, kernel_.axes[axis].name + " = " + std::to_string(size), ", ");
      is_empty = is_empty || size == 0;
    }
    if (is_empty)
      tell(var.name, var.name + " is empty: " + std::string(type_row(var.type).name) + "[" + sizes + "]");
  }
}

void Run::trace_values_of(VarId id) {
  const Var &var = kernel_.vars[id];
  const Storage &storage = storage_[id];
  box_ = full_;
  for (size_t d = 0; d < var.dims.size(); ++d)
    if (const AxisId axis = var.dims[d].axis; axis != kNone)
      box_[axis] = intersect(box_[axis], dims_[id][d].range);
  const Address address = address_of(id, {}, {});
  for_each_lane(var.axes, ragged_mask(var.axes), [&] {
    if (!is_asked_for(var.axes))
      return;
    const Box all = box_; // one lane of it
    for (AxisId axis : var.axes.list())
      box_[axis] = {pos_[axis], pos_[axis] + 1};
    int64_t offset = 0;
    uint8_t valid = 0;
    address_row(address, kNone, 1, &offset, &valid);
    box_ = all;
    if (valid == 0 || (!storage.all_written && storage.writer[offset] != expected_writer(id)))
      return;
    const std::string value = text_of(storage.values[offset], reference_ ? Type::f64 : type_row(var.type).arithmetic);
    tell(var.name, join_parts(place_text(var.axes, true), var.name + " = " + value, ": "));
  });
}

void Run::trace_step() {
  std::string line = step_text();
  if (line.empty())
    line = "step";
  for (size_t v = 0; v < kernel_.vars.size(); ++v) {
    const Var &var = kernel_.vars[v];
    if (var.kind == Var::Kind::local || var.kind == Var::Kind::scratch || !storage_[v].present)
      continue;
    line += " " + var.name + "[";
    for (size_t d = 0; d < var.dims.size(); ++d) {
      const DimState &state = dims_[v][d];
      line += (d == 0 ? "" : ", ") + std::to_string(state.start) + ":" + std::to_string(state.start + state.block);
    }
    line += "]";
  }
  for (const auto &[var, count] : written_here_)
    line += "; " + std::to_string(count) + " written to " + kernel_.vars[var].name;
  if (is_asked_for(AxisSet()))
    tell("the steps", line);
}

// For all positions of whole axes: no step is at hand yet.
void Run::check_requirements() {
  for (size_t a = 0; a < kernel_.axes.size(); ++a) {
    const AxisId axis = static_cast<AxisId>(a);
    start_[a] = 0;
    full_[a] = {0, whole_size(axis)};
  }
  for (const Requirement &r : kernel_.requirements) {
    const AxisSet axes = kernel_.expr(r.condition).axes;
    box_ = full_;
    mask_ = ragged_mask(axes);
    const Tensor holds = eval_whole(r.condition);
    const MaskPtr failing = and_mask(mask_, holds, true, false);
    for_each_lane(failing->axes, failing, [&] {
      throw Failure{join_parts(place_text(axes, false), r.text, ": "), r.place, Fault::refused, kNone, ""};
    });
  }
  mask_ = nullptr;
  ragged_masks_.clear();
}

} // namespace kgen::interpreter

namespace kgen {

std::string to_string(const FailedAssert &failed) {
  const int64_t more = failed.lanes - 1;
  std::string out = failed.place.file.empty() ? "" : failed.place.file + ":";
  out += std::to_string(failed.place.line) + ":" + std::to_string(failed.place.column) + ": this assert fails";
  out += (failed.where.empty() ? "" : " at " + failed.where) + (failed.values.empty() ? "" : ": " + failed.values);
  if (more > 0)
    out += " (and for " + std::to_string(more) + (more == 1 ? " element" : " elements") + " more)";
  return out;
}

} // namespace kgen
