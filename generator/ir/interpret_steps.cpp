// Which steps there are, in which order they run, which of them share an output window, and what each of them sees.
#include <algorithm>
#include <random>

#include "ir/interpret_run.h"
#include "ir/picked_windows.h"

namespace kgen::interpreter {

// The steps of a dimension, given those of the outer ones.
int64_t Run::count_steps(size_t dim) {
  const GridDim &grid = kernel_.grid[dim];
  int64_t count;
  const bool ragged = grid.axis != kNone && kernel_.axes[grid.axis].ragged != kNone;
  if (ragged && !counts_own_row(kernel_, static_cast<GridId>(dim))) {
    int64_t block = sizes_.evaluate(grid.block);
    count = (sizes_.longest_row(grid.axis) + block - 1) / block;
    if (grid.semantics == Semantics::arbitrary)
      count = std::max<int64_t>(count, 1);
  } else {
    count = sizes_.evaluate(grid_size_[dim]);
  }
  if (count < 0)
    fail("grid dimension " + grid.name + " has a negative number of steps: " + std::to_string(count), grid.place,
         Fault::refused);
  if (grid.at_most && count > sizes_.evaluate(*grid.at_most))
    fail("grid dimension " + grid.name + " has more steps than its at_most", grid.place, Fault::refused);
  return count;
}

void Run::enumerate_steps() {
  for (size_t v = 0; v < kernel_.vars.size(); ++v)
    if (kernel_.vars[v].kind == Var::Kind::output) {
      runs_of_var_[v] = static_cast<int>(runs_.size());
      runs_.push_back({static_cast<VarId>(v), {}, {}, {0}});
    }
  std::map<std::vector<int64_t>, uint32_t> known;
  enumerate_dim(0);
  size_t rank = kernel_.grid.size();
  for (size_t s = 0; s < step_count_; ++s) {
    std::vector<int64_t> key;
    for (size_t d = 0; d < rank; ++d)
      if (kernel_.grid[d].semantics == Semantics::parallel)
        key.push_back(steps_[s * rank + d]);
    auto [it, fresh] = known.emplace(std::move(key), static_cast<uint32_t>(instances_.size()));
    if (fresh)
      instances_.emplace_back();
    instances_[it->second].push_back(s);
    instance_of_.push_back(it->second);
  }
  note_windows();
  std::mt19937_64 random(options_.seed);
  for (size_t i = instances_.size(); i > 1; --i)
    std::swap(instances_[i - 1], instances_[random() % i]);
}

void Run::enumerate_dim(size_t dim) {
  if (dim == kernel_.grid.size()) {
    steps_.insert(steps_.end(), sizes_.step.begin(), sizes_.step.end());
    ++step_count_;
    work(1);
    return;
  }
  int64_t count = count_steps(dim);
  sizes_.step_counts[dim] = count;
  for (int64_t i = 0; i < count; ++i) {
    sizes_.step[dim] = i;
    enumerate_dim(dim + 1);
    sizes_.step_counts[dim] = count;
  }
  sizes_.step[dim] = 0;
}

// Numbers the runs of consecutive steps with the same window; refuses windows that come back.
void Run::note_windows() {
  size_t rank = kernel_.grid.size();
  for (OutputRuns &runs : runs_) {
    const Var &var = kernel_.vars[runs.var];
    std::vector<int> moving;
    for (size_t d = 0; d < var.dims.size(); ++d)
      if (!var.dims[d].whole)
        moving.push_back(static_cast<int>(d));
    std::set<std::vector<int64_t>> left;
    std::map<uint32_t, uint32_t> by_instance; // of the current window
    std::vector<int64_t> window, previous;
    size_t last = 0; // step with a window
    for (size_t s = 0; s < step_count_; ++s) {
      window.clear();
      if (!moving.empty()) {
        std::copy_n(steps_.begin() + s * rank, rank, sizes_.step.begin());
        for (size_t d = 0; d < rank; ++d)
          sizes_.step_counts[d] = count_steps(d);
        if (std::any_of(moving.begin(), moving.end(),
                        [&](int d) { return is_missing(compiled_dims_[runs.var][static_cast<size_t>(d)]); })) {
          note_no_window(runs, s);
          continue;
        }
        for (int d : moving)
          window.push_back(sizes_.evaluate(compiled_dims_[runs.var][d].start));
      }
      bool fresh = s == 0 || window != previous;
      if (fresh) {
        step_ = s;
        if (s > 0)
          runs.edge[last] |= 2;
        if (!left.insert(window).second)
          fail("`" + var.name + "` comes back to a window that it left in an earlier step", var.place,
               Fault::comes_back, runs.var);
        by_instance.clear();
      }
      auto [it, added] = by_instance.emplace(instance_of_[s], static_cast<uint32_t>(runs.instance.size()));
      if (added)
        runs.instance.push_back(instance_of_[s]);
      runs.run.push_back(it->second);
      runs.edge.push_back(fresh ? 1 : 0);
      previous = window;
      last = s;
    }
    if (step_count_ > 0)
      runs.edge[last] |= 2;
  }
}

// A step in which the output has no window writes none, and neither begins nor ends a run of steps.
void Run::note_no_window(OutputRuns &runs, size_t step) {
  runs.run.push_back(static_cast<uint32_t>(runs.instance.size()));
  runs.instance.push_back(instance_of_[step]);
  runs.edge.push_back(0);
}

void Run::begin_instance() {
  for (size_t v = 0; v < kernel_.vars.size(); ++v)
    if (kernel_.vars[v].kind == Var::Kind::scratch)
      storage_[v].present = false; // made anew when the blocks of the first step are known
}

void Run::begin_step(size_t step) {
  step_ = step;
  size_t rank = kernel_.grid.size();
  std::copy_n(steps_.begin() + step * rank, rank, sizes_.step.begin());
  for (size_t d = 0; d < rank; ++d)
    sizes_.step_counts[d] = count_steps(d);
  settle_axes();
  for (size_t v = 0; v < kernel_.vars.size(); ++v)
    if (kernel_.vars[v].kind != Var::Kind::local)
      settle_dims(static_cast<VarId>(v));
  settle_ranges();
  ragged_masks_.clear();
  mask_ = nullptr;
  written_here_.clear();
  ++epoch_;
  for (size_t v = 0; v < kernel_.vars.size(); ++v) {
    if (kernel_.vars[v].kind == Var::Kind::local)
      storage_[v].present = false;
    if (kernel_.vars[v].kind == Var::Kind::scratch && !storage_[v].present)
      make_scratch(static_cast<VarId>(v));
  }
}

void Run::settle_axes() {
  for (size_t a = 0; a < kernel_.axes.size(); ++a) {
    const Axis &axis = kernel_.axes[a];
    int64_t size =
        axis.ragged != kNone ? sizes_.longest_row(static_cast<AxisId>(a)) : sizes_.axis_size(static_cast<AxisId>(a));
    start_[a] = sizes_.evaluate(axis_start_[a]);
    block_[a] = axis.ragged != kNone && axis.grid == kNone ? size : sizes_.evaluate(axis_block_[a]);
    full_[a] = intersect({0, block_[a]}, {-start_[a], size - start_[a]});
    if (full_[a].count() == 0)
      full_[a] = {0, 0};
  }
}

void Run::settle_dims(VarId id) {
  const Var &var = kernel_.vars[id];
  for (size_t d = 0; d < var.dims.size(); ++d) {
    const Dim &dim = var.dims[d];
    DimState &state = dims_[id][d];
    const CompiledDim &compiled = compiled_dims_[id][d];
    state.block = sizes_.evaluate(compiled.block);
    state.extent = sizes_.evaluate(compiled.extent);
    state.missing = is_missing(compiled);
    state.start = state.missing ? state.extent : sizes_.evaluate(compiled.start);
    if (dim.axis != kNone && kernel_.axes[dim.axis].ragged != kNone) {
      int64_t row = dims_[id][d - 1].start;
      bool one_row = var.dims[d - 1].axis == kNone && row >= 0 && row < dims_[id][d - 1].extent;
      state.extent = one_row ? sizes_.row_length(dim.axis, row) : sizes_.longest_row(dim.axis);
      if (dim.whole)
        state.block = state.extent;
    } else if (!dim.whole && storage_[id].present && !state.missing) {
      check_window(var, dim, state);
    }
    state.range = {0, state.block};
    if (!(dim.offset && var.kind == Var::Kind::input) || state.missing)
      state.range = intersect(state.range, {-state.start, state.extent - state.start});
    if (state.range.count() == 0)
      state.range = {0, 0};
  }
}

bool Run::is_missing(const CompiledDim &dim) const {
  return std::any_of(dim.needed.begin(), dim.needed.end(),
                     [&](const SizeNode &length) { return sizes_.evaluate(length) <= 0; });
}

void Run::check_window(const Var &var, const Dim &dim, const DimState &state) {
  const auto id = static_cast<VarId>(&var - kernel_.vars.data());
  const bool inside = state.start < state.extent && state.start + state.block > 0;
  if (inside || storage_[id].values.empty()) // nothing is asked of windows of an array without elements
    return;
  std::string axis = dim.axis == kNone ? "" : " along " + kernel_.axes[dim.axis].name;
  fail("the window of `" + var.name + "`" + axis + " lies outside: it starts at " + std::to_string(state.start) +
           " of " + std::to_string(state.extent),
       var.place, Fault::outside, id);
}

// What a declared range lets a table say is judged by the sizes, whatever its entries are; so is the length of a block.
void Run::check_window_limits() {
  for (const WindowLimit &limit : kernel_.window_limits)
    if (sizes_.evaluate(limit.condition) == 0)
      fail("for these sizes a window of `" + kernel_.vars[limit.var].name +
               "` has no elements, or may lie outside by the declared range",
           kernel_.vars[limit.var].place, Fault::outside, limit.var);
}

// Which positions exist. Where all windows of an axis end alike, no expression needs to be asked.
void Run::settle_ranges() {
  uncommon_ = 0;
  Box hull = full_;
  std::array<bool, 64> seen{};
  for (size_t v = 0; v < kernel_.vars.size(); ++v)
    for (size_t d = 0; d < kernel_.vars[v].dims.size(); ++d) {
      AxisId axis = kernel_.vars[v].dims[d].axis;
      // Scratch has room for a whole block; that does not make lanes where the arrays end.
      if (axis == kNone || !storage_[v].present || kernel_.vars[v].kind == Var::Kind::scratch)
        continue;
      const Range &range = dims_[v][d].range;
      if (!kernel_.axes[axis].uniform && !seen[axis])
        hull[axis] = range;
      seen[axis] = true;
      if (!(range == hull[axis]))
        uncommon_ |= uint64_t{1} << axis;
      hull[axis] = {std::min(hull[axis].lo, range.lo), std::max(hull[axis].hi, range.hi)};
    }
  full_ = hull;
  box_ = full_;
  settle_locals();
}

// A local has the lanes of what is assigned to it. What is assigned under a condition leaves the other lanes as they
// were; a local that is only assigned so has the lanes of the conditions, too.
void Run::settle_locals() {
  if (uncommon_ == 0) // nobody asks
    return;
  for (size_t v = 0; v < kernel_.vars.size(); ++v)
    if (kernel_.vars[v].kind == Var::Kind::local)
      storage_[v].exists = full_;
  std::vector<ExprId> conditions;
  while (spread_ranges(kernel_.statements, conditions)) {
  }
}

bool Run::spread_ranges(const std::vector<Stmt> &list, std::vector<ExprId> &conditions) {
  bool changed = false;
  for (const Stmt &s : list) {
    const bool conditional = !s.context.empty();
    if (s.kind == Stmt::Kind::assign && kernel_.vars[s.target].kind == Var::Kind::local &&
        !(conditional && plain_.count(s.target) != 0))
      for (AxisId axis : kernel_.vars[s.target].axes.list()) {
        Range &exists = storage_[s.target].exists[axis];
        Range range = intersect(exists, range_of({s.value}, axis));
        for (ExprId condition : conditions)
          if (conditional)
            range = intersect(range, range_of({condition}, axis));
        changed = changed || !(range == exists);
        exists = range;
      }
    const bool differs = s.value != kNone && !s.axes.empty();
    if (differs)
      conditions.push_back(s.value);
    for (const std::vector<Stmt> *inside : {&s.body, &s.otherwise, &s.step})
      changed |= spread_ranges(*inside, conditions);
    if (differs)
      conditions.pop_back();
  }
  return changed;
}

void Run::note_plain(const std::vector<Stmt> &list) {
  for (const Stmt &s : list) {
    if (s.kind == Stmt::Kind::assign && s.context.empty())
      plain_.insert(s.target);
    for (const std::vector<Stmt> *inside : {&s.body, &s.otherwise, &s.step})
      note_plain(*inside);
  }
}

std::string Run::step_text() const {
  size_t rank = kernel_.grid.size();
  std::string out;
  for (size_t d = 0; d < rank && step_ < step_count_; ++d)
    out += (d == 0 ? "" : ", ") + kernel_.grid[d].name + " = " + std::to_string(steps_[step_ * rank + d]);
  return out.empty() ? "" : "step (" + out + ")";
}

std::vector<int64_t> Run::current_step() const {
  const auto first = steps_.begin() + static_cast<int64_t>(step_ * kernel_.grid.size());
  return step_ < step_count_ ? std::vector<int64_t>(first, first + static_cast<int64_t>(kernel_.grid.size()))
                             : std::vector<int64_t>{};
}

void Run::fail(const std::string &text, const Place &place, Fault fault, VarId faulty) const {
  std::string where = step_text();
  throw Failure{where.empty() ? text : where + ": " + text, place, fault, faulty, ""};
}

// About an element: `text` goes on behind its name.
void Run::fail_at(VarId id, int64_t offset, const std::string &text, const Place &place, Fault fault) const {
  std::string where = step_text(), element = element_text(id, offset);
  const std::string said = element + text;
  std::erase(element, '`');
  if (element.ends_with("[]")) // a single value
    element.resize(element.size() - 2);
  throw Failure{where.empty() ? said : where + ": " + said, place, fault, id, element};
}

void Run::work(int64_t lanes) {
  result_.operations += lanes;
  if (options_.work_limit > 0 && result_.operations > options_.work_limit)
    fail("more than " + std::to_string(options_.work_limit) + " element operations", {});
}

} // namespace kgen::interpreter
