// What the parts of build_kernel share. The order: axes and grid, operands and windows, the body lowered to statements
// (types and accumulators settled), the windows that axes have in common, the fixpoint over axis sets, the checks.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "ir/statements.h"

namespace kgen::build {

// What is not computed, since a constant decided so: which axes and locals it names.
struct Dropped {
  AxisSet axes;
  std::set<VarId> locals;
  std::set<ExprId> values; // that parameters of a function stand for
  bool empty() const { return axes.empty() && locals.empty() && values.empty(); }
  void add(const Dropped &other) {
    axes |= other.axes;
    locals.insert(other.locals.begin(), other.locals.end());
    values.insert(other.values.begin(), other.values.end());
  }
};

struct Build {
  const Spec &spec;
  const Variant &variant;
  const body::Body &body;
  Diagnostics &diags;
  const KeptNames *kept; // null: nothing is kept
  bool steps_are_positions = false;
  Kernel kernel;

  std::map<std::string, AxisId> axis_ids;
  std::map<std::string, GridId> grid_ids;
  std::map<std::string, TableId> table_ids;
  std::map<std::string, ScalarId> scalar_ids;
  std::map<std::string, VarId> operand_ids;
  AxisSet batch_axes;
  std::set<std::pair<VarId, AxisId>> touched;              // operand axes that the body uses at the current point
  std::set<VarId> constant_initialised;                    // locals that started as a literal
  std::set<std::pair<VarId, AxisId>> said;                 // operand axes with a window of their own
  std::map<std::string, std::pair<Size, Size>> many_sizes; // axes of which arrays have two sizes; theirs is a block

  std::map<ExprId, Dropped> dropped_of_fold; // and of scans
  std::map<ExprId, ExprId> along_of_fold; // what it would be told to go along its axes: a condition, of scans a value
  std::map<VarId, Dropped> dropped_of_local;

  // Sizes with params and fixed axes put in.
  Size resolve(const Size &size) const;
  Size axis_size(AxisId axis) const { return resolve(Size::axis(kernel.axes[axis].name)); }
  AxisId axis_of(const std::string &name) const;
  // "M and N"
  std::string axis_names(AxisSet axes, const char *before_last = " and ") const;
  // Refuses a question about the size of such an axis.
  void ask_size(const std::string &axis, const Place &place);
};

void build_axes(Build &build);
void build_grid(Build &build);
void build_operands(Build &build);
void build_arguments(Build &build);
void lower_body(Build &build);
// Which window an axis has, and the shape of scratch.
void settle_windows(Build &build);
// Axis sets of all expressions, locals and statements.
void infer_axes(Build &build);
// Gives folds and scans back the axes that constants have taken from them. Did any get one?
bool restore_axes(Build &build);
void check_axes(Build &build);        // values, targets, reductions, indices
void check_windows(Build &build);     // what depends on how windows move with the grid
void check_definitions(Build &build); // optional operands, reads before writes, warnings

// Grid dimensions that a size mentions, directly or inside table subscripts.
std::set<GridId> grid_mentions(const Build &build, const Size &size);
// Grid dimensions with which the window of an operand moves.
std::set<GridId> moves_with(const Build &build, const Var &var);

// The expressions that stand in a statement itself.
std::vector<ExprId> roots(const Stmt &statement);

} // namespace kgen::build
