// What loops ask memory for before it is wanted, as the plan says.
#pragma once

#include <functional>

#include "emit/openmp/lanes/scope.h"

namespace kgen {

class Prefetches {
public:
  explicit Prefetches(const LaneScope &lanes) : lanes_(lanes) {}

  // What is printed before the loop, over that range, that a loop on lanes in it may ask for rows further down.
  void before(const PlanNode &loop, const Printer::Range &range);
  // What is printed before its statements. `whole`: of a loop over parts, all of its range; `outer`: the axis around.
  void inside(const PlanNode &loop, const Printer::Range &whole, AxisId outer);
  // Before a loop that reads many arrays, where the condition says that they come from memory.
  void streams(const PlanNode &loop, const std::string &far);

  // The statements by which a loop asks for what comes soon.
  std::string of(const PlanNode &loop) const {
    const auto found = asks_.find(&loop);
    return found == asks_.end() ? "" : found->second;
  }

private:
  using Call = std::function<std::string(const Expr &, const std::string &element)>;
  void ask_if_far(const PlanNode &around, const Ahead &ahead, const Call &call);
  void next_row(const PlanNode &rows, const Ahead &ahead);
  std::string next_part(const Expr &read, const std::string &element, const Printer::Range &part,
                        const Printer::Range &whole, AxisId outer) const;
  std::string number(Decision decision) const { return std::to_string(lanes_.printer.plan.decide(decision)); }

  const LaneScope &lanes_;
  std::map<const PlanNode *, std::string> asks_;
};

} // namespace kgen
