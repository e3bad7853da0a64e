// One function of an OpenMP source: the phases of a plan in order, each a parallel loop over a work list whose parts
// depend on sizes only.
#pragma once

#include <string>

#include "emit/target_file.h"

namespace kgen {

struct OpenmpFunction {
  std::string name, text;
  WorkspaceText workspace;
  bool has_team = false; // each thread has a part of the workspace
  std::string arrays;    // it is for calls that have these; empty: for all
  std::string condition; // it is for calls whose sizes fulfil this; empty: for all that are left
  std::string of_tables; // and whose tables fulfil this
  std::string why;       // what it does otherwise for these
};

OpenmpFunction openmp_function(const std::string &name, const Function &function, const Plan &plan, const Facts &facts,
                               Spelling &spelling);

} // namespace kgen
