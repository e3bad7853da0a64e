// Bounded by the number of trials, of steps in one, and of cells. Windows are compared on a compressed grid of cells,
// cut at the ends of all windows, so that a block of a thousand costs no more than one of two.
#include "analysis/search.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "analysis/symbols.h"
#include "support/text.h"

namespace kgen {
namespace {

constexpr size_t kMostTrials = 48;
constexpr size_t kMostSteps = 300;
constexpr int64_t kMostCells = 1 << 16;
constexpr int64_t kMostWork = 1 << 21; // cells touched, over all trials of one question
constexpr int64_t kMostEntries = 4096;
constexpr int kTablePatterns = 8;

// Constant blocks make interesting sizes: one more than a block, two blocks and one.
std::set<int64_t> block_sizes(const Kernel &kernel, AxisId axis) {
  std::set<int64_t> out;
  const auto note = [&](const Size &size) {
    any_node(size, [&](const Size &node) {
      if (node.is_integer() && node.value > 1 && node.value <= 4096)
        out.insert({node.value, node.value + 1, 2 * node.value + 1});
      return false;
    });
  };
  for (const Var &var : kernel.vars)
    for (const Dim &dim : var.dims)
      if (mentions(dim.extent, Size::Op::axis, kernel.axes[axis].name) && !dim.whole)
        note(dim.block);
  for (const GridDim &dim : kernel.grid)
    if (mentions(dim.size, Size::Op::axis, kernel.axes[axis].name))
      note(dim.size);
  return out;
}

// Cells between consecutive cuts along each side.
struct Cells {
  std::vector<std::vector<int64_t>> cuts;
  int64_t count = 1;

  template <class Walk> explicit Cells(const Walk &walk) {
    for (size_t d = 0; d < walk.extents.size(); ++d) {
      std::vector<int64_t> cut = {0, walk.extents[d]};
      for (const auto &box : walk.boxes) {
        cut.push_back(box.sides[d].first);
        cut.push_back(box.sides[d].second);
      }
      std::sort(cut.begin(), cut.end());
      cut.erase(std::unique(cut.begin(), cut.end()), cut.end());
      count = std::min<int64_t>(count * static_cast<int64_t>(cut.size() - 1), kMostCells + 1);
      cuts.push_back(std::move(cut));
    }
  }

  // Calls visit(cell) for the cells of a box until it returns false.
  template <class Box, class Visit> void visit(const Box &box, const Visit &visit) const {
    std::vector<int64_t> from, to;
    for (size_t d = 0; d < cuts.size(); ++d) {
      from.push_back(position(d, box.sides[d].first));
      to.push_back(position(d, box.sides[d].second));
      if (from.back() >= to.back())
        return;
    }
    std::vector<int64_t> at = from;
    while (true) {
      int64_t cell = 0;
      for (size_t d = 0; d < at.size(); ++d)
        cell = cell * static_cast<int64_t>(cuts[d].size() - 1) + at[d];
      if (!visit(cell))
        return;
      size_t d = at.size();
      while (d > 0 && ++at[d - 1] == to[d - 1]) {
        at[d - 1] = from[d - 1];
        --d;
      }
      if (d == 0)
        return;
    }
  }

  std::vector<int64_t> element(int64_t cell) const {
    std::vector<int64_t> out(cuts.size());
    for (size_t d = cuts.size(); d-- > 0;) {
      const int64_t n = static_cast<int64_t>(cuts[d].size()) - 1;
      out[d] = cuts[d][cell % n];
      cell /= n;
    }
    return out;
  }

  int64_t position(size_t d, int64_t value) const {
    return std::lower_bound(cuts[d].begin(), cuts[d].end(), value) - cuts[d].begin();
  }
};

// Where a row of a ragged axis starts: rows of about one length, all in the first or the last, or empty ones between.
int64_t row_start(int64_t row, int64_t rows, int64_t total, int pattern) {
  if (row == 0 || row == rows)
    return row == 0 ? 0 : total;
  const int64_t even = row * total / std::max<int64_t>(rows, 1);
  return std::array<int64_t, 4>{even, total, 0, row / 2 * 2 * total / std::max<int64_t>(rows, 1)}[pattern % 4];
}

} // namespace

std::string element_text(const std::string &name, const std::vector<int64_t> &index) {
  std::vector<std::string> parts;
  for (int64_t i : index)
    parts.push_back(std::to_string(i));
  return parts.empty() ? name : name + "[" + join(parts, ", ") + "]";
}

std::string to_string(const Kernel &kernel, const Witness &witness) {
  std::vector<std::string> sizes, steps;
  for (const auto &[name, value] : witness.sizes)
    sizes.push_back(name + " = " + std::to_string(value));
  for (const auto &step : witness.steps) {
    std::vector<std::string> parts;
    for (size_t g = 0; g < step.size(); ++g)
      parts.push_back(kernel.grid[g].name + " = " + std::to_string(step[g]));
    if (!parts.empty())
      steps.push_back("(" + join(parts, ", ") + ")");
  }
  std::vector<std::string> out;
  if (!sizes.empty())
    out.push_back("at " + join(sizes, ", "));
  if (!steps.empty())
    out.push_back((steps.size() == 1 ? "step " : "steps ") + join(steps, " and "));
  if (!witness.element.empty())
    out.push_back("element " + witness.element);
  return join(out, ", ");
}

std::optional<int64_t> value_at(const Kernel &kernel, const Witness &witness, const Size &size) {
  SizeValues values;
  values.name = [&](Size::Op op, std::string_view name) -> std::optional<long long> {
    for (size_t g = 0; g < kernel.grid.size() && op == Size::Op::grid && !witness.steps.empty(); ++g)
      if (kernel.grid[g].name == name)
        return witness.steps[0][g];
    for (const auto &[axis, value] : witness.sizes)
      if (axis == name && op == Size::Op::axis)
        return value;
    return std::nullopt;
  };
  values.table = [](std::string_view, const std::vector<long long> &) { return std::optional<long long>(); };
  return evaluate(expand_axes(kernel, size), values);
}

Search::Search(const Kernel &kernel) : kernel_(kernel) {}

std::optional<int64_t> Search::value(const Trial &trial, const Size &size, const std::vector<int64_t> &steps) const {
  SizeValues values;
  values.name = [&](Size::Op op, std::string_view name) -> std::optional<long long> {
    if (op == Size::Op::axis)
      for (size_t a = 0; a < kernel_.axes.size(); ++a)
        if (kernel_.axes[a].name == name)
          return trial.axes[a];
    for (size_t g = 0; g < kernel_.grid.size(); ++g) {
      if (kernel_.grid[g].name != name)
        continue;
      if (op == Size::Op::grid_size)
        return value(trial, kernel_.grid[g].size, steps);
      return g < steps.size() ? std::optional<long long>(steps[g]) : std::nullopt;
    }
    return std::nullopt;
  };
  values.table = [&](std::string_view name, const std::vector<long long> &index) -> std::optional<long long> {
    for (size_t t = 0; t < kernel_.tables.size(); ++t) {
      if (kernel_.tables[t].name != name || index.size() != trial.table_dims[t].size())
        continue;
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        if (index[d] < 0 || index[d] >= trial.table_dims[t][d])
          return std::nullopt;
        at = at * trial.table_dims[t][d] + index[d];
      }
      return trial.tables[t][at];
    }
    return std::nullopt;
  };
  return evaluate(size, values);
}

// False: no entries keep what is declared of them.
bool Search::fill_tables(Trial &trial, int pattern) const {
  trial.tables.assign(kernel_.tables.size(), {});
  trial.table_dims.assign(kernel_.tables.size(), {});
  for (size_t t = 0; t < kernel_.tables.size(); ++t) {
    const Table &table = kernel_.tables[t];
    int64_t count = 1;
    for (const Size &dim : table.dims) {
      const int64_t extent = std::clamp<int64_t>(value(trial, dim, {}).value_or(0), 0, kMostEntries);
      trial.table_dims[t].push_back(extent);
      count = std::min(count * extent, kMostEntries);
    }
    const Axis *ragged = nullptr;
    for (size_t a = 0; a < kernel_.axes.size(); ++a)
      if (kernel_.axes[a].ragged == static_cast<int>(t))
        ragged = &kernel_.axes[a];
    // The later patterns have few values, so that they fit where nothing is said of them; no two tables are alike.
    const bool few = pattern >= kTablePatterns / 2;
    const size_t own = few ? pattern + t : pattern;
    int64_t range = table.range ? value(trial, *table.range, {}).value_or(1) : 4;
    if (count > 0 && (range < 1 || (table.unique && table.range && range < count)))
      return false;
    if (few)
      range = std::min<int64_t>(range, 2);
    for (int64_t i = 0; i < count; ++i) {
      int64_t entry = std::array<int64_t, 4>{i % range, i / 2 % range, (i * 7 + 3) % range, 0}[own % 4];
      if (table.sorted)
        entry = std::min(own % 2 == 0 ? i : i / 2, range - 1);
      if (table.unique)
        entry = own % 2 == 0 || table.sorted ? i : count - 1 - i;
      if (ragged != nullptr)
        entry = row_start(i, count - 1, value(trial, ragged->size, {}).value_or(0), pattern);
      trial.tables[t].push_back(entry);
    }
  }
  return true;
}

const std::vector<Trial> &Search::trials() {
  if (!trials_.empty())
    return trials_;
  std::vector<std::pair<size_t, std::vector<int64_t>>> choices;
  for (size_t a = 0; a < kernel_.axes.size(); ++a) {
    const Axis &axis = kernel_.axes[a];
    if (!(axis.size == Size::axis(axis.name)))
      continue;
    std::set<int64_t> values = {1, 2, 3, 5, 8};
    values.merge(block_sizes(kernel_, static_cast<AxisId>(a)));
    std::set<int64_t> fitting;
    for (int64_t v : values)
      fitting.insert(fitting_size(axis, v));
    choices.emplace_back(a, std::vector<int64_t>(fitting.begin(), fitting.end()));
  }
  // The first trials go up the lists together; then come all combinations where they are few, else some of them.
  constexpr size_t kTogether = 8;
  size_t combinations = 1;
  for (const auto &choice : choices)
    combinations = std::min(combinations * choice.second.size(), kMostTrials);
  const bool all = combinations + kTogether <= kMostTrials;
  std::minstd_rand draw(1);
  for (size_t n = 0; n < (all ? kTogether + combinations : kMostTrials); ++n) {
    Trial trial;
    trial.axes.assign(kernel_.axes.size(), std::nullopt);
    size_t rest = n - kTogether;
    for (const auto &[axis, list] : choices) {
      const size_t at = n < kTogether ? std::min(n, list.size() - 1) : (all ? rest : draw()) % list.size();
      rest /= list.size();
      trial.axes[axis] = list[at];
    }
    bool valid = true;
    for (size_t a = 0; a < kernel_.axes.size(); ++a)
      if (!trial.axes[a])
        valid &= (trial.axes[a] = value(trial, expand_axes(kernel_, kernel_.axes[a].size), {})).value_or(-1) >= 0;
    if (!valid)
      continue;
    for (int pattern = 0; pattern < (kernel_.tables.empty() ? 1 : kTablePatterns); ++pattern) {
      if (!fill_tables(trial, pattern))
        continue;
      trial.number = static_cast<int>(trials_.size());
      trials_.push_back(trial);
    }
    if (choices.empty())
      break;
  }
  return trials_;
}

std::optional<std::vector<std::vector<int64_t>>> Search::steps_of(const Trial &trial) const {
  std::vector<std::vector<int64_t>> out = {{}};
  for (const GridDim &dim : kernel_.grid) {
    std::vector<std::vector<int64_t>> next;
    for (const auto &outer : out) {
      const auto count = value(trial, dim.size, outer);
      if (!count || *count < 0 || (dim.at_most && *count > value(trial, *dim.at_most, {}).value_or(*count)))
        return std::nullopt;
      for (int64_t i = 0; i < *count; ++i) {
        if (next.size() >= kMostSteps)
          return std::nullopt;
        next.push_back(outer);
        next.back().push_back(i);
      }
    }
    out = std::move(next);
  }
  return out;
}

// Are all windows of all operands (but one) legal? Else the launcher refuses these sizes.
bool Search::windows_inside(const Trial &trial, const std::vector<std::vector<int64_t>> &steps, VarId except) const {
  for (size_t v = 0; v < kernel_.vars.size(); ++v)
    for (const Dim &dim : kernel_.vars[v].dims) {
      if (dim.whole || kernel_.vars[v].kind == Var::Kind::scratch || static_cast<VarId>(v) == except)
        continue;
      const auto extent = value(trial, dim.extent, {});
      if (!extent || *extent < 0)
        return false;
      for (const auto &step : steps) {
        const auto start = value(trial, dim.start, step), block = value(trial, dim.block, step);
        if (!start || !block || (*extent > 0 && (*start >= *extent || *start + *block <= 0)))
          return false;
      }
    }
  return true;
}

const Search::Run &Search::run(size_t trial) {
  runs_.resize(trials().size());
  std::optional<Run> &run = runs_[trial];
  if (!run) {
    run.emplace();
    run->steps = steps_of(trials_[trial]);
    if (run->steps && run->steps->empty())
      run->steps.reset();
    run->inside = run->steps && windows_inside(trials_[trial], *run->steps, kNone);
  }
  return *run;
}

std::optional<Search::Walk> Search::walk(size_t number, VarId var) {
  if (!run(number).inside)
    return std::nullopt;
  const Trial &trial = trials_[number];
  Walk walk;
  walk.steps = *run(number).steps;
  for (const Dim &dim : kernel_.vars[var].dims) {
    const auto extent = value(trial, dim.extent, {});
    if (!extent || *extent <= 0)
      return std::nullopt;
    walk.extents.push_back(*extent);
  }
  for (const auto &step : walk.steps) {
    Box box;
    for (size_t d = 0; d < walk.extents.size(); ++d) {
      const Dim &dim = kernel_.vars[var].dims[d];
      const auto start = value(trial, dim.start, step), block = value(trial, dim.block, step);
      if (!start || !block)
        return std::nullopt;
      box.sides.emplace_back(std::clamp<int64_t>(*start, 0, walk.extents[d]),
                             std::clamp<int64_t>(*start + *block, 0, walk.extents[d]));
    }
    walk.boxes.push_back(std::move(box));
  }
  return walk;
}

Witness Search::witness(const Trial &trial, Steps steps, std::string element) const {
  Witness out;
  for (size_t a = 0; a < kernel_.axes.size(); ++a)
    if (kernel_.axes[a].size == Size::axis(kernel_.axes[a].name))
      out.sizes.emplace_back(kernel_.axes[a].name, *trial.axes[a]);
  for (size_t t = 0; t < kernel_.tables.size(); ++t)
    for (size_t i = 0; i < trial.tables[t].size() && i < 4 && trial.table_dims[t].size() == 1; ++i)
      out.sizes.emplace_back(kernel_.tables[t].name + "[" + std::to_string(i) + "]", trial.tables[t][i]);
  out.steps = std::move(steps);
  out.element = std::move(element);
  return out;
}

const Trial *Search::trial_of(const Witness &found) {
  for (const Trial &trial : trials())
    if (witness(trial, {}, "").sizes == found.sizes)
      return &trial;
  return nullptr;
}

void Search::legal_runs(const std::function<bool(const Trial &, const Steps &)> &visit) {
  for (size_t t = 0; t < trials().size(); ++t)
    if (run(t).inside && !visit(trials_[t], *run(t).steps))
      return;
}

Tested Search::condition(const Size &condition, const Size &relevant, bool inside_only) {
  Tested tested;
  for (size_t t = 0; t < trials().size(); ++t) {
    const Trial &trial = trials_[t];
    if (value(trial, relevant, {}).value_or(0) == 0 || !run(t).steps || (inside_only && !run(t).inside))
      continue;
    const auto &steps = run(t).steps;
    bool holds = true;
    for (const auto &step : *steps) {
      const auto result = value(trial, condition, step);
      holds &= result.value_or(1) != 0;
      if (!holds && !tested.fails)
        tested.fails = witness(trial, {step}, "");
      if (!holds)
        break;
    }
    tested.holds |= holds;
    if (tested.holds && tested.fails)
      break;
  }
  return tested;
}

Tested Search::outside(VarId var) {
  Tested tested;
  for (size_t t = 0; t < trials().size(); ++t) {
    const Trial &trial = trials_[t];
    const auto &steps = run(t).steps;
    if (!steps)
      continue;
    if (run(t).inside) {
      tested.holds = true;
      continue;
    }
    for (const auto &step : *steps)
      if (!tested.fails && windows_inside(trial, {step}, var) && !windows_inside(trial, {step}, kNone))
        tested.fails = witness(trial, {step}, "");
    if (tested.holds && tested.fails)
      break;
  }
  return tested;
}

// `judge` returns whether the trial said something; it sets `fails`.
Tested Search::over_cells(VarId var, const std::function<bool(const Trial &, const Walk &, Tested &)> &judge) {
  Tested tested;
  int64_t work = 0;
  for (size_t t = 0; t < trials().size(); ++t) {
    const Trial &trial = trials_[t];
    const auto steps = walk(t, var);
    if (!steps)
      continue;
    const Cells cells(*steps);
    if (cells.count > kMostCells || (work += cells.count + static_cast<int64_t>(steps->steps.size())) > kMostWork)
      continue;
    Tested one;
    const bool relevant = judge(trial, *steps, one);
    if (one.fails && !tested.fails)
      tested.fails = one.fails;
    tested.holds |= relevant && !one.fails;
    if (tested.holds && tested.fails)
      break;
  }
  return tested;
}

Tested Search::overlap(VarId var, uint64_t parallel) {
  const std::string &name = kernel_.vars[var].name;
  return over_cells(var, [&](const Trial &trial, const Walk &walk, Tested &tested) {
    const Cells cells(walk);
    std::vector<int> owner(cells.count, kNone);
    bool relevant = false;
    const auto differs = [&](size_t a, size_t b) {
      for (size_t g = 0; g < kernel_.grid.size(); ++g)
        if ((parallel >> g & 1) != 0 && walk.steps[a][g] != walk.steps[b][g])
          return true;
      return false;
    };
    for (size_t s = 0; s < walk.steps.size() && !tested.fails; ++s) {
      relevant |= differs(s, 0);
      cells.visit(walk.boxes[s], [&](int64_t cell) {
        const int other = owner[cell];
        if (other != kNone && differs(other, s))
          tested.fails = witness(trial, {walk.steps[other], walk.steps[s]}, element_text(name, cells.element(cell)));
        owner[cell] = static_cast<int>(s);
        return !tested.fails.has_value();
      });
    }
    return relevant;
  });
}

Tested Search::revisit(VarId var) {
  const std::string &name = kernel_.vars[var].name;
  return over_cells(var, [&](const Trial &trial, const Walk &walk, Tested &tested) {
    const Cells cells(walk);
    std::vector<std::pair<int, int>> last(cells.count, {kNone, kNone}); // run, step
    int run = 0;
    for (size_t s = 0; s < walk.steps.size() && !tested.fails; ++s) {
      run += s > 0 && walk.boxes[s].sides != walk.boxes[s - 1].sides;
      cells.visit(walk.boxes[s], [&](int64_t cell) {
        const auto [other_run, other] = last[cell];
        if (other != kNone && other_run != run)
          tested.fails = witness(trial, {walk.steps[other], walk.steps[s]}, element_text(name, cells.element(cell)));
        last[cell] = {run, static_cast<int>(s)};
        return !tested.fails.has_value();
      });
    }
    return walk.steps.size() > 1;
  });
}

Tested Search::uncovered(VarId var) {
  const std::string &name = kernel_.vars[var].name;
  return over_cells(var, [&](const Trial &trial, const Walk &walk, Tested &tested) {
    const Cells cells(walk);
    std::vector<bool> covered(cells.count, false);
    for (const Box &box : walk.boxes)
      cells.visit(box, [&](int64_t cell) { return covered[cell] = true; });
    for (int64_t cell = 0; cell < cells.count && !tested.fails; ++cell)
      if (!covered[cell])
        tested.fails = witness(trial, {}, element_text(name, cells.element(cell)));
    return true;
  });
}

std::optional<Witness> Search::example(const std::vector<std::pair<GridId, int64_t>> &moved) {
  for (size_t t = 0; t < trials().size(); ++t) {
    const Trial &trial = trials_[t];
    if (!run(t).inside)
      continue;
    const auto &steps = run(t).steps;
    std::vector<int64_t> first(kernel_.grid.size(), 0), second = first;
    for (const auto &[grid, step] : moved)
      second[grid] = step;
    if (std::find(steps->begin(), steps->end(), second) == steps->end())
      continue;
    std::vector<std::vector<int64_t>> shown = {first};
    if (!moved.empty())
      shown.push_back(second);
    return witness(trial, std::move(shown), "");
  }
  return std::nullopt;
}

} // namespace kgen
