// What lanes set: variables of vectors, and memory, in the lanes that take part.
#pragma once

#include <set>

#include "emit/openmp/lanes/scope.h"

namespace kgen {

// How outputs are written.
struct LaneOutputs {
  std::set<VarId> streamed;            // around the caches,
  std::string around;                  // where this C++ flag says so
  std::map<VarId, std::string> fields; // of which a loop makes records -> the vector of the field at hand
};

void assign_lanes(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &node,
                  const std::vector<PlanNode> &siblings);
// At a place that depends on values which all lanes share.
void store_elsewhere(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &node);
// `is_lanes`: the text has the type of the variable, so that `auto` will do.
void set_text(LaneScope &lanes, const LaneOutputs &outputs, VarId var, const std::string &value, bool is_lanes,
              const std::vector<PlanNode> &siblings);

} // namespace kgen
