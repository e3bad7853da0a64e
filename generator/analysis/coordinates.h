// Coordinates of the body as sizes, so that the same proofs serve them: an axis' index becomes a variable within its
// bounds.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

  // What changes while a step runs stands for its value at one moment, within its bounds.
  void at_one_moment() { one_moment_ = true; }
  // Such variables, and how many values each can have.
  const std::vector<std::pair<std::string, Size>> &changing() const { return changing_; }
  // nullopt: it depends on data, or may wrap around.
  std::optional<Size> size(ExprId id);
  // What such a local always is.
  static ExprId setting(const Kernel &kernel, const Expr &read);
  Size index(AxisId axis, VarId var);
  // 0 <= size < extent, always.
  bool inside(const Size &size, const Size &extent);

private:
  bool keeps_value(const Expr &cast) const;
  std::optional<Size> quotient(const Expr &expr);
  std::optional<Size> local(const Expr &read);
  std::optional<Size> at_this_moment(const Expr &read);
  Size changing(const std::string &name, const Size &count);

  const Kernel &kernel_;
  Symbols &symbols_;
  std::set<VarId> open_; // locals that are being looked into
  bool one_moment_ = false;
  std::vector<std::pair<std::string, Size>> changing_;
};

} // namespace kgen::analysis
