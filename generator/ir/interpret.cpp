// The interpreter's entry and its statements. A statement takes effect for all lanes before the next begins.
#include "ir/interpret.h"

#include <algorithm>
#include <cmath>

#include "ir/interpret_run.h"
#include "ir/picked_windows.h"
#include "ir/running_total.h"
#include "ir/statements.h"
#include "support/check.h"

namespace kgen::interpreter {

Run::Run(const Kernel &kernel, const RunInput &input, const RunOptions &options, RunResult &result)
    : kernel_(kernel), input_(input), options_(options), result_(result), reference_(options.reference),
      sizes_(kernel, input, true), info_(kernel.exprs.size()), constants_(kernel.exprs.size()),
      memo_(kernel.exprs.size()), unit_(8 * unit_roundoff(accumulating_type(kernel))),
      runs_of_var_(kernel.vars.size(), -1), compiled_dims_(kernel.vars.size()), storage_(kernel.vars.size()),
      dims_(kernel.vars.size()), start_(kernel.axes.size()), block_(kernel.axes.size()) {
  for (const Axis &axis : kernel.axes) {
    axis_start_.push_back(sizes_.compile(where_it_exists(kernel, axis.start, axis.start, axis.size)));
    axis_block_.push_back(sizes_.compile(axis.block));
  }
  for (const GridDim &dim : kernel.grid)
    grid_size_.push_back(sizes_.compile(dim.size));
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    for (const Dim &dim : kernel.vars[v].dims) {
      compiled_dims_[v].push_back(
          {sizes_.compile(dim.start), sizes_.compile(dim.block), sizes_.compile(dim.extent), {}});
      for (const Size &length : dim.whole ? std::vector<Size>{} : lengths_needed(kernel, dim.start))
        compiled_dims_[v].back().needed.push_back(sizes_.compile(length));
    }
    dims_[v].resize(kernel.vars[v].dims.size());
  }
  scan_info();
  note_added_up();
}

void Run::note_added_up() {
  for_each(kernel_.statements, [&](const Stmt &loop) {
    if (loop.kind != Stmt::Kind::loop)
      return;
    for_each(loop.body, [&](const Stmt &s) {
      const std::optional<RunningTotal> found = running_total(kernel_, s);
      if (found && is_floating(found->type) && (found->op == Op::add || found->op == Op::mul))
        added_up_.insert(&s);
    });
  });
}

void Run::scan_info() {
  for (bool changed = true; changed;) { // once, but where a rewrite made an expression before its arguments
    changed = false;
    for (size_t i = 0; i < kernel_.exprs.size(); ++i) {
      const Expr &e = kernel_.exprs[i];
      bool memory = e.op == Op::element || e.op == Op::read;
      bool dynamic = memory && (kernel_.vars[e.ref].kind != Var::Kind::input || kernel_.vars[e.ref].alias != kNone);
      for (ExprId arg : e.args)
        dynamic = dynamic || info_[arg].dynamic;
      for (const Coordinate &coordinate : e.coords)
        dynamic = dynamic || info_[coordinate.value].dynamic;
      changed = changed || dynamic != info_[i].dynamic;
      info_[i].dynamic = dynamic;
    }
  }
}

void Run::execute() {
  try {
    run_steps();
  } catch (const Failure &) {
    tell_of_more();
    throw;
  }
  tell_of_more();
}

void Run::run_steps() {
  note_plain(kernel_.statements);
  check_requirements();
  enumerate_steps();
  check_window_limits();
  step_ = step_count_;
  for (size_t v = 0; v < kernel_.vars.size(); ++v)
    if (kernel_.vars[v].kind == Var::Kind::input || kernel_.vars[v].kind == Var::Kind::output)
      load_operand(static_cast<VarId>(v));
  for (const std::vector<size_t> &instance : instances_) {
    begin_instance();
    for (size_t step : instance) {
      begin_step(step);
      run_statements(kernel_.statements);
      if (options_.trace_steps)
        trace_step();
      if (options_.trace_values)
        trace_values();
    }
  }
  if (options_.trace_values)
    trace_empty();
  step_ = step_count_;
  for (size_t v = 0; v < kernel_.vars.size(); ++v)
    if (kernel_.vars[v].kind == Var::Kind::output && storage_[v].present) {
      check_coverage(static_cast<VarId>(v));
      store_output(static_cast<VarId>(v));
    }
}

// Cuts a big value into chunks, which are put together again: temporaries then stay small.
Tensor Run::eval_whole(ExprId id) {
  AxisSet axes = kernel_.expr(id).axes;
  int64_t total = 1;
  for (AxisId axis : axes.list())
    total *= box_[axis].count();
  if (total <= kChunk || kernel_.expr(id).op == Op::read)
    return eval(id);
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(axes, buffer, lanes);
  Box entry = box_;
  for_each_chunk(axes, [&] {
    Tensor part = eval(id);
    int64_t base = 0;
    for (AxisId axis : axes.list())
      base += (box_[axis].lo - entry[axis].lo) * out.stride_of(axis);
    copy_lanes(part, out, *buffer, base);
  });
  return out;
}

// Of the current box, to those from `base` on in the memory of `out`.
void Run::copy_lanes(const Tensor &part, const Tensor &out, Buffer &buffer, int64_t base) {
  Loop loop(out.axes, box_);
  int o = loop.add(out), p = loop.add(part);
  loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
    for (int64_t i = 0; i < n; ++i) {
      int64_t to = base + at[o] + i * stride[o], from = at[p] + i * stride[p];
      buffer.values[to] = part.data[from];
      if (reference_) {
        buffer.magnitudes[to] = part.magnitudes[from];
        buffer.flags[to] = part.flags[from];
      }
    }
  });
}

// A read may be a view of memory, which changes when that is written.
Tensor Run::copied(const Tensor &t) {
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(t.axes, buffer, lanes);
  work(lanes);
  copy_lanes(t, out, *buffer, 0);
  return out;
}

void Run::run_statements(const std::vector<Stmt> &list) {
  MaskPtr entry = mask_;
  for (const Stmt &s : list) {
    run_statement(s);
    if (!frame_ || !frame_->any())
      continue;
    mask_ = entry;
    if (frame_->left)
      mask_ = minus(mask_, frame_->left);
    if (frame_->skipped)
      mask_ = minus(mask_, frame_->skipped);
    if (mask_ && !mask_->any)
      break;
  }
  mask_ = entry;
}

void Run::run_statement(const Stmt &s) {
  using Kind = Stmt::Kind;
  switch (s.kind) {
  case Kind::assign:
    return assign(s);
  case Kind::declare: {
    if (!storage_[s.target].present)
      make_local(s.target);
    Storage &storage = storage_[s.target];
    std::fill(storage.values.begin(), storage.values.end(), integer_value(0)); // also the bits of 0.0
    std::fill(storage.magnitudes.begin(), storage.magnitudes.end(), 0);
    std::fill(storage.flags.begin(), storage.flags.end(), uint8_t{0});
    storage.all_written = true;
    ++epoch_;
    return;
  }
  case Kind::branch:
    return branch(s);
  case Kind::loop:
    return loop(s);
  case Kind::leave:
    return leave(all_lanes());
  case Kind::next:
    frame_->skipped = unite(frame_->skipped, all_lanes());
    frame_->any_skipped = true;
    return;
  case Kind::check:
    return check(s);
  case Kind::print:
    return print(s);
  }
}

MaskPtr Run::all_lanes() { return mask_ ? mask_ : minus(nullptr, empty_mask(AxisSet(), full_)); }

// The box and the mask of a condition: where it has lanes. Callers put the mask back.
void Run::widen_box(AxisSet axes) {
  box_ = full_;
  if (MaskPtr rows = ragged_mask(axes))
    mask_ = minus(mask_, minus(nullptr, rows));
}

namespace {
// Does the statement end a round, or all rounds, of a loop around it?
bool jumps_out(const Stmt &s) {
  if (s.kind == Stmt::Kind::leave || s.kind == Stmt::Kind::next)
    return true;
  return s.kind != Stmt::Kind::loop && (std::any_of(s.body.begin(), s.body.end(), jumps_out) ||
                                        std::any_of(s.otherwise.begin(), s.otherwise.end(), jumps_out));
}
} // namespace

void Run::branch(const Stmt &s) {
  MaskPtr outer = mask_;
  widen_box(s.axes);
  for (AxisId axis : kernel_.expr(s.value).axes.list())
    box_[axis] = range_of({s.value}, axis);
  Tensor condition = eval_whole(s.value);
  if (!is_floating(kernel_.expr(s.value).type) && condition.axes.empty() &&
      !(reference_ && (condition.flags[0] & kUndecided) != 0)) {
    mask_ = outer;
    run_statements(condition.data[0].integer != 0 ? s.body : s.otherwise);
    return;
  }
  condition = converted(condition, kernel_.expr(s.value).type, Type::boolean);
  MaskPtr yes = and_mask(mask_, condition, false, true);
  const bool may_end = (uncommon_ != 0 || yes->lanes.empty()) && jumps_out(s);
  MaskPtr no = s.otherwise.empty() && !may_end ? nullptr : and_mask(mask_, condition, true, true);
  if (may_end)
    leave(minus(mask_, unite(yes, no))); // where the condition has no lane, the loop ends
  if (yes->any) {
    mask_ = yes;
    run_statements(s.body);
  }
  if (no && no->any) {
    mask_ = no;
    run_statements(s.otherwise);
  }
  mask_ = outer;
}

void Run::leave(const MaskPtr &lanes) {
  frame_->left = unite(frame_->left, lanes);
  frame_->any_left = true;
}

namespace {
bool has_active_lane(const Mask &mask) {
  return std::any_of(mask.lanes.begin(), mask.lanes.end(), [](uint8_t lane) { return (lane & kActive) != 0; });
}
} // namespace

void Run::loop(const Stmt &s) {
  MaskPtr outer = mask_, live = mask_;
  LoopFrame *outer_frame = frame_;
  LoopFrame frame;
  frame_ = &frame;
  for (int64_t trips = 0;; ++trips) {
    work(1);
    if (trips == int64_t{1} << 32)
      fail("a loop does not end", s.place);
    mask_ = live;
    if (s.value != kNone) {
      widen_box(s.axes);
      for (AxisId axis : kernel_.expr(s.value).axes.list())
        box_[axis] = range_of({s.value}, axis);
      Tensor condition = converted(eval_whole(s.value), kernel_.expr(s.value).type, Type::boolean);
      bool doubt = reference_ && condition.axes.empty() && (condition.flags[0] & kUndecided) != 0;
      if (condition.axes.empty() && !doubt) {
        if (condition.data[0].integer == 0)
          break;
      } else {
        live = and_mask(mask_, condition, false, true);
      }
    }
    if (live && !live->any)
      break;
    mask_ = live;
    run_statements(s.body);
    if (live && !has_active_lane(*live)) // once marks what doubtful lanes would have written
      break;
    if (frame.left)
      live = minus(live, frame.left);
    frame.left = frame.skipped = nullptr;
    frame.any_left = frame.any_skipped = false;
    if (live && !live->any)
      break;
    mask_ = live;
    run_statements(s.step);
    ++epoch_;
  }
  frame_ = outer_frame;
  mask_ = outer;
}

} // namespace kgen::interpreter

namespace kgen {

RunResult interpret(const Kernel &kernel, const RunInput &input, const RunOptions &options) {
  RunResult result;
  std::optional<interpreter::Run> run;
  try {
    run.emplace(kernel, input, options, result);
    run->execute();
  } catch (const interpreter::Failure &failure) {
    result.error = failure.text;
    result.place = failure.place;
    result.fault = failure.fault;
    result.faulty = failure.faulty;
    result.element = failure.element;
    result.faulty_step = run ? run->current_step() : std::vector<int64_t>{};
  }
  return result;
}

Type accumulating_type(const Kernel &kernel) {
  bool wide = false;
  for (const Expr &e : kernel.exprs) {
    if (e.op != Op::constant && e.type == Type::f32)
      return Type::f32;
    wide = wide || e.type == Type::f64;
  }
  return wide ? Type::f64 : Type::f32;
}

bool agrees(double out, double ref, double magnitude, Type stored, Type accumulator, int64_t longest_reduction) {
  if (!is_floating(stored) || std::isnan(ref) || std::isnan(out))
    return out == ref || (std::isnan(out) && std::isnan(ref));
  if (out == ref)
    return true;
  double n = static_cast<double>(std::max<int64_t>(longest_reduction, 1));
  double bound = 4 * unit_roundoff(stored) * std::fabs(ref) +
                 8 * unit_roundoff(accumulator) * (1 + std::log2(n)) * magnitude + smallest_denormal(stored);
  // Near the largest value either side may have rounded to infinity.
  auto clipped = [&](double v) {
    double most = largest_finite(stored) * (1 + unit_roundoff(stored));
    return std::clamp(v, -most, most);
  };
  if (std::isinf(ref))
    return std::isinf(out) ? false
                           : std::fabs(clipped(ref) - out) <= 8 * unit_roundoff(stored) * largest_finite(stored);
  return std::fabs(clipped(out) - clipped(ref)) <= bound;
}

} // namespace kgen
