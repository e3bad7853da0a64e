// The innermost list of statements that contains all accesses of a variable: where it is declared.
#pragma once

#include <map>
#include <vector>

#include "plan/plan.h"

namespace kgen {

class Scopes {
public:
  explicit Scopes(const Plan &plan);

  struct Scope {
    bool used = false;
    const std::vector<PlanNode> *list = nullptr; // nullptr: several phases, or several statements of a serial one
    AxisSet open;                                // axes whose loops stand around it
    std::map<AxisId, const PlanNode *> parts;    // those of which loops over parts do
  };
  const Scope &of(VarId var) const { return scopes_[var]; }

private:
  struct Step {
    const PlanNode *node;
    const std::vector<PlanNode> *list;
    bool operator==(const Step &) const = default;
  };
  using Path = std::vector<Step>;
  void visit(const PlanNode &node);
  void record(VarId var);

  const Plan &plan_;
  Path path_;
  std::map<VarId, Path> paths_;
  std::vector<Scope> scopes_;
};

} // namespace kgen
