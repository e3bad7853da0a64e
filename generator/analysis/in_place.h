// Which inputs the caller may give as the memory of an output, without being asked to by an `alias`: each element is
// read by nothing but the statement that writes over it.
#pragma once

#include <set>
#include <vector>

#include "analysis/facts.h"

namespace kgen {

class InPlace {
public:
  InPlace(const Kernel &kernel, const Facts &facts);
  bool allowed(VarId input, VarId output) const;

private:
  using Inputs = std::set<VarId>;

  void statement(const Stmt &stmt, const std::vector<const Stmt *> &around);
  Inputs inputs_of(const Stmt &stmt);

  const Kernel &kernel_;
  const Facts &facts_;
  bool pointwise_ = true;                         // no axis is mixed
  Inputs elsewhere_;                              // read at coordinates
  std::vector<Inputs> behind_;                    // of a local: what its value was read from; it may be read late
  std::vector<std::set<const Stmt *>> readers_;   // of an input, locals aside
  std::vector<std::vector<const Stmt *>> writes_; // of an output
  std::set<const Stmt *> repeated_;               // in a loop
};

} // namespace kgen
