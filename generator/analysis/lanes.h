// Where statements have lanes. A lane exists where all that a statement touches lies inside, so windows that end with
// their arrays at different positions limit it: those of what it reads at the current point, through locals and
// conditions too, as the interpreter has it (Run::range_of).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/kernel.h"

namespace kgen::analysis {

// One dimension of an array, along which a step may see less than a block of it.
struct Window {
  VarId var = kNone;
  int dim = 0;
  auto operator<=>(const Window &) const = default;
};
using Windows = std::set<Window>;

class Lanes {
public:
  explicit Lanes(const Kernel &kernel);

  const Dim &dim(const Window &window) const { return kernel_.vars[window.var].dims[window.dim]; }
  // What limits an expression, and what stands under conditions and loops.
  Windows of(ExprId root) const;
  Windows under(const std::vector<const Stmt *> &enclosing) const;
  // What limits an array by its own window, along axes that it is not asked for at other coordinates.
  void add(VarId var, const std::vector<Coordinate> &elsewhere, Windows &out) const;
  // Is there a lane of `outer` wherever there is one of `inner`?
  bool covers(const Window &outer, const Window &inner) const;
  // A window that ends before all lanes that `inner` leaves, or nothing.
  std::optional<Window> ends_before(const Windows &outer, const Windows &inner) const;

private:
  void collect(ExprId id, Windows &out) const;
  bool limits(VarId var, const Dim &dim) const;
  bool proved(const Size &more, const Size &less) const;
  void find_differing();
  void find_locals();
  bool covers_one_of(const Window &outer, const Windows &inner) const;

  const Kernel &kernel_;
  AxisSet differing_; // axes along which windows differ: elsewhere all statements have the same lanes
  std::map<VarId, Windows> locals_;
  mutable std::map<std::pair<Window, Window>, bool> known_;
};

} // namespace kgen::analysis
