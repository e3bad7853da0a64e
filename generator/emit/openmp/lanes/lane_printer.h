// Loops on lanes, and how each statement inside of one is printed.
#pragma once

#include "emit/openmp/lanes/contraction.h"
#include "emit/openmp/lanes/folds.h"
#include "emit/openmp/lanes/prefetches.h"
#include "emit/openmp/lanes/tiles.h"

namespace kgen {

class LanePrinter {
public:
  LanePrinter(Printer &printer, Names &names) : lanes_(printer, names) {}

  // The loop over part of its range.
  void loop(const PlanNode &loop, const Printer::Range &range);
  // The same, within part of the range of the one that it crosses, where tiles are turned.
  void tiles(const PlanNode &loop, const Printer::Range &range, const LanePart &part, const Printer::Range &others);
  std::string contraction(const PlanNode &nest, const std::string &team, const std::string &memory) {
    return contraction_on_lanes(lanes_, factors_, nest, team, memory);
  }
  // Stores of these outputs go around the caches where `flag` says so; empty: none.
  void stream(std::set<VarId> outputs, const std::string &flag) {
    outputs_.streamed = std::move(outputs);
    outputs_.around = flag;
  }
  // Prints the node if it is a loop on lanes or a vector statement; false: the scalar printer's way is right.
  bool node(const PlanNode &node, const std::vector<PlanNode> &siblings);
  // It was declared: lanes that take no part have no value in it that somebody wants.
  void came_to_life(VarId var) { lanes_.masks.unmasked[var] = lanes_.masks.mask; }
  // The C++ type of a variable that has a value for each lane; empty: it has not.
  std::string type_of(VarId var);

private:
  bool statement(const PlanNode &node, const std::vector<PlanNode> &siblings);
  void assign(const PlanNode &node, const std::vector<PlanNode> &siblings);
  void start(VarId var, const std::string &value, const std::vector<PlanNode> &siblings);

  LaneScope lanes_;
  LaneTotals totals_;
  LaneOutputs outputs_;
  NamesOfFactors factors_;

public:
  Prefetches ahead{lanes_};
};

} // namespace kgen
