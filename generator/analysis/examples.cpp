#include "analysis/examples.h"

#include <algorithm>
#include <functional>
#include <map>

#include "analysis/coordinates.h"
#include "analysis/flow.h"
#include "analysis/symbols.h"

namespace kgen::analysis {
namespace {

constexpr int64_t kMostWork = 500'000;
constexpr int64_t kMostElements = 4096;

// Which elements of an input the steps read, in the lanes of a small run.
class Reads {
public:
  Reads(Context &context, VarId input) : context_(context), kernel_(context.kernel), input_(context.var(input)) {
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
      for (ExprId root : expressions_of(stmt))
        visit_expressions(kernel_, root, [&](const Expr &expr, ExprId) {
          if (expr.op == Op::read && expr.ref == input)
            add(expr);
        });
    });
  }

  // Visits elements until `visit` returns false.
  void elements(const Trial &trial, const std::vector<int64_t> &step,
                const std::function<bool(const std::vector<int64_t> &)> &visit) const {
    for (const Read &read : reads_) {
      std::vector<Lanes> lanes;
      int64_t count = 1;
      for (AxisId axis : read.axes.list()) {
        const Axis &a = kernel_.axes[axis];
        const auto start = value(trial, a.start, step), block = value(trial, a.block, step);
        const auto size = value(trial, a.size, step);
        lanes.push_back({axis, start.value_or(0), std::min(block.value_or(0), size.value_or(0) - start.value_or(0))});
        count = std::min(count * std::max<int64_t>(lanes.back().count, 0), kMostElements + 1);
      }
      for (int64_t lane = 0; lane < count && count <= kMostElements; ++lane)
        if (const auto element = element_of(read, lanes, lane, trial, step); element && !visit(*element))
          return;
    }
  }

private:
  struct Read {
    std::vector<std::optional<Size>> places; // per dimension; none: where the lane is
    AxisSet axes;
  };
  struct Lanes {
    AxisId axis;
    int64_t start, count;
  };

  void add(const Expr &expr) {
    Symbols symbols(kernel_);
    Coordinates coordinates(kernel_, symbols);
    Read read;
    for (const Dim &dim : input_.dims) {
      const Coordinate *named = find_coordinate(expr.coords, dim.axis);
      read.places.push_back(named != nullptr ? coordinates.size(named->value) : std::nullopt);
      if (named == nullptr)
        read.axes |= dim.axis != kNone ? AxisSet::of(dim.axis) : AxisSet();
      else if (read.places.back())
        read.axes |= kernel_.expr(named->value).axes;
      else
        return; // it depends on data
    }
    reads_.push_back(std::move(read));
  }

  std::optional<int64_t> value(const Trial &trial, const Size &size, const std::vector<int64_t> &step) const {
    return context_.search.value(trial, size, step);
  }

  std::optional<std::vector<int64_t>> element_of(const Read &read, const std::vector<Lanes> &lanes, int64_t lane,
                                                 const Trial &trial, const std::vector<int64_t> &step) const {
    std::map<std::string, int64_t> index; // by its name in coordinates
    std::map<AxisId, int64_t> position;
    for (const Lanes &along : lanes) {
      position[along.axis] = lane % along.count;
      index[index_name(kernel_, along.axis, kNone)] = along.start + lane % along.count;
      lane /= along.count;
    }
    std::vector<int64_t> out;
    for (size_t d = 0; d < input_.dims.size(); ++d) {
      const Dim &dim = input_.dims[d];
      const Size place = read.places[d] ? rewrite(*read.places[d],
                                                  [&](const Size &s) -> std::optional<Size> {
                                                    const auto found = index.find(s.name);
                                                    return s.op == Size::Op::grid && found != index.end()
                                                               ? std::optional(Size::integer(found->second))
                                                               : std::nullopt;
                                                  })
                                        : dim.start;
      const auto at = value(trial, place, step), extent = value(trial, dim.extent, step);
      if (!at || !extent)
        return std::nullopt;
      out.push_back(*at + (read.places[d] || dim.axis == kNone ? 0 : position[dim.axis]));
      if (out.back() < 0 || out.back() >= *extent)
        return std::nullopt;
    }
    return out;
  }

  Context &context_;
  const Kernel &kernel_;
  const Var &input_;
  std::vector<Read> reads_;
};

bool in_window(Context &context, VarId var, const Trial &trial, const std::vector<int64_t> &step,
               const std::vector<int64_t> &element) {
  const auto &dims = context.var(var).dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto start = context.search.value(trial, dims[d].start, step);
    const auto block = context.search.value(trial, dims[d].block, step);
    if (!start || !block || element[d] < *start || element[d] >= *start + *block)
      return false;
  }
  return true;
}

} // namespace

std::optional<Witness> stale_example(Context &context, VarId input, VarId output) {
  const Kernel &kernel = context.kernel;
  if (std::any_of(kernel.axes.begin(), kernel.axes.end(), [](const Axis &axis) { return axis.ragged != kNone; }))
    return std::nullopt;
  constexpr size_t kMostSteps = 40;
  const Reads reads(context, input);
  std::optional<Witness> out;
  int64_t work = 0;
  // Best is what goes wrong in the order of the steps; steps at once may go wrong the other way round.
  for (const bool in_order : {true, false})
    context.search.legal_runs([&](const Trial &trial, const Search::Steps &steps) {
      for (size_t reader = 0; reader < std::min(steps.size(), kMostSteps) && !out; ++reader)
        reads.elements(trial, steps[reader], [&](const std::vector<int64_t> &element) {
          for (size_t writer = 0; writer < (in_order ? reader : std::min(steps.size(), kMostSteps)) && !out; ++writer)
            if (++work < kMostWork && writer != reader && in_window(context, output, trial, steps[writer], element))
              out = context.search.witness(trial, {steps[reader], steps[writer]},
                                           element_text(context.var(input).name, element));
          return !out;
        });
      return !out && work < kMostWork;
    });
  return out;
}

} // namespace kgen::analysis
