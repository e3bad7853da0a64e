// What the parts of analysis share. Each part fills its share of the facts; later parts read what earlier ones found.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "analysis/facts.h"
#include "analysis/lanes.h"
#include "analysis/search.h"
#include "analysis/symbols.h"
#include "ir/interpret.h"

namespace kgen::analysis {

struct Flow;

// How the run of a trial ended.
struct Ran {
  Fault fault = Fault::none;
  VarId faulty = kNone;
  std::string element;
  std::vector<int64_t> step;
};

// Why a plain write of an output may leave elements out.
struct Gap {
  Witness witness;
  std::string what;
};

struct Context {
  Kernel &kernel;
  Diagnostics &diags;
  Facts facts;
  Search search;
  std::map<VarId, Gap> gaps;
  std::map<VarId, Windows> slices; // what limits the stores at other coordinates
  const Lanes lanes;
  std::map<std::pair<int, int>, Ran> runs; // by trial and data; see witness.h
  int64_t run_operations = 0;

  Context(Kernel &k, Diagnostics &d) : kernel(k), diags(d), search(k), lanes(k) {}

  const Var &var(VarId id) const { return kernel.vars[id]; }
  bool is_output(VarId id) const { return var(id).kind == Var::Kind::output; }
  // Does a single step make up the whole dimension, for all sizes?
  bool single(GridId g) const { return kernel.grid[g].size.is_integer(1); }
  bool parallel(GridId g) const { return kernel.grid[g].semantics == Semantics::parallel; }
  // Grid dimensions of more than one step.
  uint64_t all_steps() const;
  uint64_t parallel_steps() const;
  // Is this size settled by size arguments alone, so that a launcher can test it without a table?
  bool sizes_only(const Size &size) const;
  // The condition matters only if there are steps.
  Size unless_no_steps(Size condition) const;
  std::vector<TableId> tables_of(const Size &size) const;
  // Are all of these tables readable by every launcher?
  bool on_host(const std::vector<TableId> &tables) const;
  std::string grid_names(uint64_t steps) const;
};

// Grid dimensions whose step a size depends on: by name, and through sizes of other dimensions.
uint64_t steps_of(const Kernel &kernel, const Size &size);
std::vector<GridId> list_of(uint64_t steps);

// How far equal windows pin down the step: `steps` are equal in any two steps whose windows of an output overlap,
// provided that `relations` hold (sizes that must not be 0).
struct Determined {
  uint64_t steps = 0;
  std::vector<Size> relations;
};

// windows.cpp: how windows move.
void find_moves(Context &context);
Determined determined_steps(const Context &context, VarId output, bool with_relations);
// Does equality of windows along dimension `g` mean consecutive steps (a sorted table, a floor)?
bool moves_in_order(const Context &context, VarId output, GridId g);

// Nothing is asked where there is nothing: the condition, and 1 where the extent is 0.
inline Size unless_empty(const Size &extent, const Size &condition) {
  return Size::make(Size::Op::choose,
                    {Size::make(Size::Op::less_equal, {extent, Size::integer(0)}), Size::integer(1), condition});
}
// Nothing is asked of windows of an array without elements.
inline Size unless_empty(const Var &var, Size condition) {
  for (auto dim = var.dims.rbegin(); dim != var.dims.rend(); ++dim)
    if (!dim->extent.is_integer())
      condition = unless_empty(dim->extent, condition);
  return condition;
}

// Each judges one thing for all operands.
void judge_bounds(Context &context);
void judge_disjoint(Context &context);
void judge_revisits(Context &context);
void judge_window_cover(Context &context);

// semantics.cpp: parallel or arbitrary, stated or inferred; sets the kernel's semantics.
void judge_semantics(Context &context, const Flow &flow);
// What the statements write and read, over the steps.
void judge_writes(Context &context, const Flow &flow);
// Statements after which an output or scratch has been written: all of its window, or as far as these windows go.
using Writes = std::map<std::pair<const Stmt *, VarId>, Windows>;
// scatter.cpp: the stores at other coordinates that write every element are returned.
Writes judge_scatters(Context &context);
// gaps.cpp: adds the plain statements, and what limits all.
void add_plain_writes(Context &context, Writes &writes);
std::string ends_early(const Context &context, const Window &window, const std::string &before);
// slices.cpp: adds those that write the last slice of one.
void add_slices(const Context &context, Writes &writes);
// inside.cpp
void judge_aliases(Context &context, const Flow &flow);
void prove_inside(Context &context);
// independence.cpp
void find_independence(Context &context, const Flow &flow);
// checks.cpp: first what holds of sizes and tables alone, then what depends on steps.
void collect_size_checks(Context &context);
void collect_step_checks(Context &context);
// cost.cpp
void count(Context &context);

} // namespace kgen::analysis
