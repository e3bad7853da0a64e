// A grid whose steps are axes: each dimension of it becomes an axis of steps, and each axis that windows cut becomes an
// axis of positions within a block. An element that a step sees is read at the start of its window plus a position, so
// that what follows needs no grid.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grad/graph.h"
#include "grad/trouble.h"

namespace kgen::grad {

// The axis of the graph that each dimension of an array has, also where a window hides it from the body, and where the
// array has another size along it than others; kNone: none.
using WholeDims = std::map<VarId, std::vector<AxisId>>;

class Steps {
public:
  Steps(const Kernel &kernel, const WholeDims &dims, Graph &graph, Trouble &trouble);

  bool empty() const { return kernel_.grid.empty(); }
  // The axes of the graph that stand for axes of a step.
  AxisId position(AxisId axis) const;
  AxisSet positions(AxisSet axes) const;
  AxisId steps(GridId grid) const { return steps_[static_cast<size_t>(grid)]; }
  const std::vector<AxisId> &made() const { return made_; }

  NodeId value(const Size &size);
  NodeId index(const Expr &e); // index(N), index(x, N)
  NodeId start(AxisId axis) { return value(kernel_.axes[axis].start); }
  // Steps of a dimension may be fewer than its axis has; kNoNode: this one exists. Of the dimensions but those.
  NodeId exists(const std::vector<AxisId> &but);
  NodeId first(GridId grid);
  NodeId last(GridId grid);
  NodeId edge(VarId var, bool last); // the first or last step of its window

  // Where the elements that a step sees of an array lie: for each axis that windows cut or hide.
  std::vector<std::pair<AxisId, NodeId>> places(VarId var, const std::vector<Coordinate> &but = {});
  AxisId whole(VarId var, AxisId axis) const; // that axis of the array
  AxisSet whole_axes(VarId var) const;        // of the array, with those that are hidden
  NodeId window_start(VarId var, AxisId axis);
  bool has_table_windows(VarId var) const;
  // The dimensions of the grid over whose steps a window stays where it is, outermost first.
  std::vector<AxisId> still(VarId var) const;

  // The positions along an axis that all have which an expression touches; kNoNode: all of the block.
  NodeId lanes(std::vector<ExprId> touched, AxisId axis);
  NodeId lanes(const std::vector<ExprId> &touched, AxisSet axes);
  NodeId lanes_of_all(const std::vector<ExprId> &touched, AxisSet axes); // where something is touched
  NodeId window_lanes(VarId var);
  // Is it assigned under a condition, and elsewhere without one?
  bool keeps_other_lanes(const Stmt &stmt) const { return !stmt.context.empty() && plain_.count(stmt.target) != 0; }
  NodeId known_lanes(VarId local, AxisId axis); // of a local

private:
  void find_positions();
  void find_locals(const std::vector<Stmt> &list, std::vector<ExprId> &conditions, bool &changed);
  static Size added(const Size &a, const Size &b);
  std::optional<Size> most(const Size &size) const;
  AxisId add_axis(const std::string &name, const Size &size);
  bool moves(const Size &size) const;
  NodeId inside(VarId var, size_t dim);
  void touch(ExprId id, AxisId axis, std::set<NodeId> &out, bool &touches);
  AxisId whole_dim(VarId var, size_t dim) const;
  std::set<VarId> plain_; // what is assigned without a condition
  NodeId all(const std::set<NodeId> &conditions);
  NodeId any_window(AxisId axis);

  const Kernel &kernel_;
  const WholeDims &dims_;
  Graph &graph_;
  Trouble &trouble_;
  std::vector<AxisId> steps_, made_;
  std::set<GridId> varying_; // whose number of steps depends on other steps or on tables
  std::map<AxisId, AxisId> positions_;
  std::map<AxisId, Size> blocks_;                               // of each axis of the kernel that has positions
  std::set<AxisId> common_;                                     // those along which all arrays end alike
  std::map<std::pair<VarId, AxisId>, std::set<NodeId>> exists_; // of locals
};

} // namespace kgen::grad
