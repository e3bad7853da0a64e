// Coordinates of the body as sizes, so that the same proofs serve them: an axis' index becomes a variable within its
// bounds.
#pragma once

#include <optional>
#include <set>

#include "analysis/context.h"

namespace kgen::analysis {

// How many values the global index of an axis can have, 0 included; nullopt: lanes may lie outside the arrays.
// `var`: as that operand counts it.
std::optional<Size> index_count(const Kernel &kernel, AxisId axis, VarId var);
std::string index_name(const Kernel &kernel, AxisId axis, VarId var);

class Coordinates {
public:
  // Variables are added to `symbols`; the bit of an axis in Atom::steps is 1 << axis.
  Coordinates(const Kernel &kernel, Symbols &symbols) : kernel_(kernel), symbols_(symbols) {}

  // nullopt: it depends on data, or may wrap around.
  std::optional<Size> size(ExprId id);
  Size index(AxisId axis, VarId var);
  // 0 <= size < extent, always.
  bool inside(const Size &size, const Size &extent);

private:
  std::optional<Size> quotient(const Expr &expr);
  std::optional<Size> local(const Expr &read);

  const Kernel &kernel_;
  Symbols &symbols_;
  std::set<VarId> open_; // locals that are being looked into
};

} // namespace kgen::analysis
