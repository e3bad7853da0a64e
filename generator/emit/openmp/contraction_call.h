// How an OpenMP kernel goes about a contraction: a team with memory for panels, and one call for each position of what
// both factors share.
#pragma once

#include <functional>
#include <string>

#include "emit/print/printer.h"
#include "emit/text/names.h"

namespace kgen {

struct Panels {
  std::string shared, own; // what their memory is called, that of all threads and that of each
  std::string cut;         // C++: how it is cut, which says how much they need
  bool several = false;    // there is more than one product
};

Panels panels_of(const PlanNode &nest, Printer &printer);

// Opens a function for the team, which the caller closes; `begin` prints what stands first in it.
Panels print_contraction(const Phase &phase, const std::string &much, Printer &printer, Names &names,
                         const std::function<void()> &begin);

} // namespace kgen
