#include "emit/print/phase_work.h"

#include <algorithm>
#include <set>

#include "emit/target_file.h"
#include "emit/text/names.h"

namespace kgen {
namespace {

using Nest = std::vector<const PlanNode *>;

// Of equals the first, but for those that go over a share: before these lie preparations.
bool is_deeper(const Nest &nest, const Nest &than) {
  const auto shares = [](const Nest &n) {
    return std::ranges::any_of(n, [](const PlanNode *loop) { return loop->share != kNone; });
  };
  return nest.size() != than.size() ? nest.size() > than.size() : shares(nest) && !shares(than);
}

// The deepest nest of loops. False where a loop ends by what it finds.
bool find_deepest(const std::vector<PlanNode> &nodes, Nest &outer, Nest &deepest) {
  bool known = true;
  for (const PlanNode &n : nodes) {
    known = known && n.kind != PlanNode::Kind::repeat;
    const bool loops = n.kind == PlanNode::Kind::loop || n.kind == PlanNode::Kind::steps;
    if (loops)
      outer.push_back(&n);
    if (is_deeper(outer, deepest))
      deepest = outer;
    known = find_deepest(n.body, outer, deepest) && find_deepest(n.otherwise, outer, deepest) && known;
    if (loops)
      outer.pop_back();
  }
  return known;
}

// Does it depend on the step of a dimension of the grid?
bool varies(const Kernel &kernel, const Size &size) {
  return std::ranges::any_of(kernel.grid, [&](const GridDim &g) { return mentions(size, Size::Op::grid, g.name); });
}

} // namespace

std::vector<std::string> rounds_of(const Plan &plan, const Phase &phase, Printer &printer) {
  Nest outer, deepest;
  if (!find_deepest(phase.nodes, outer, deepest))
    return {};
  AxisSet axes, rows; // rows: of ragged axes, whose sizes are those of all rows together
  std::vector<std::string> out;
  for (const PlanNode *n : deepest) {
    if (n->kind == PlanNode::Kind::steps) {
      const Size steps = grid_steps(plan.kernel, n->grid);
      if (varies(plan.kernel, steps))
        return {};
      out.push_back(printer.size(steps).text);
      continue;
    }
    axes |= AxisSet::of(n->axis);
    if (const Axis &axis = plan.kernel.axes[n->axis]; axis.ragged != kNone)
      rows |= AxisSet::of(axis.over);
  }
  for (AxisId axis = 0; axis < static_cast<AxisId>(plan.kernel.axes.size()); ++axis)
    if ((axes - rows - plan.shares).contains(axis))
      out.push_back(printer.size(plan.kernel.axes[axis].size).text);
  return out;
}

bool is_of_sizes(const Function &function, const Kernel &kernel, const std::string &count) {
  std::set<std::string> known = {"smaller", "larger", "floor_div", "ceil_div", "int64_t"};
  for (const Argument &a : function.arguments)
    if (a.kind == Argument::Kind::size)
      known.insert(a.name);
  for (const Axis &axis : kernel.axes)
    if (axis.derived)
      known.insert(c_name(axis.name));
  return std::ranges::includes(known, words_of(count));
}

} // namespace kgen
