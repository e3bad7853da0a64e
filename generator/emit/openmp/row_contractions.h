// Contractions among other statements, which each thread computes by itself for the part of rows that it has taken.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/openmp/contraction_call.h"

namespace kgen {

class RowContractions {
public:
  RowContractions(Printer &printer, Names &names) : printer_(printer), names_(names) {}

  // Those of a phase.
  static std::vector<const PlanNode *> of(const Phase &phase);

  void begin(const Phase &phase);      // before the loops that threads share
  void begin_part(const Phase &phase); // first in those
  Panels print(const PlanNode &nest);  // has no memory that threads share

private:
  bool lasts(const PlanNode &nest, const PlanNode &parts) const;

  Printer &printer_;
  Names &names_;
  std::set<const PlanNode *> lasting_;                      // their right factor is the same for all parts of rows
  std::string again_;                                       // the flag that it lies in panels from the part before
  std::vector<std::pair<std::string, std::string>> before_; // what makes it so: a position, and that of the part before
};

} // namespace kgen
