// Which local of the forward kernel would be worth keeping for the backward kernel.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grad/program.h"

namespace kgen::grad {

struct Saving {
  std::string name;
  int64_t operations = 0; // that an element of it would spare
};

// Of these locals the one that spares most operations for each byte, where it is many. An element that is kept is
// written and read, `bytes` each time.
std::optional<Saving> best_saving(const Graph &graph, const Trace &trace, const std::vector<Root> &roots,
                                  const std::set<std::string> &locals, int bytes);

} // namespace kgen::grad
