// What the statements of a step surely write and may read first, for each scenario: which steps are the first or last
// of their dimension, and of the windows of outputs. A kernel has few scenarios, for it asks few such questions.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "analysis/scenarios.h"

namespace kgen::analysis {

// Where an element is surely written: nowhere (nothing), or in all lanes that these windows leave.
using Written = std::optional<Windows>;

// A read of what was not surely written before, in this step.
struct EarlyRead {
  Place place;
  Windows lanes;              // in which it stands
  std::optional<Window> ends; // what was written goes as far as this
};

// What one step does in a scenario. Of scratch and outputs.
struct Outcome {
  Scenario scenario;
  std::vector<std::vector<EarlyRead>> early_reads;
  std::vector<Written> written;
  std::set<const Stmt *> reached;

  bool reads_early(VarId var) const { return !early_reads[var].empty(); }
  std::vector<std::optional<Place>> stale_read; // an aliased input, read after its output may have been written
};

struct Flow {
  std::vector<Outcome> outcomes;
  // Variables that the value of a variable may come from, through locals; and whether a statement's own value does.
  std::vector<std::set<VarId>> sources; // per local
  bool has_loops = false;
};

Flow follow(const Context &context, const Writes &writes);
// Written on both ways.
Written on_both(const Written &a, const Written &b);

// Does the value that the statement stores, or whether it does, depend on what its target holds?
bool is_update(const Kernel &kernel, const Flow &flow, const Stmt &stmt, const std::vector<const Stmt *> &enclosing);

// visit.cpp: calls visit(expression, id) for an expression and all below it.
void visit_expressions(const Kernel &kernel, ExprId id, const std::function<void(const Expr &, ExprId)> &visit);
// Does the expression read the variable, or an element of it?
bool reads(const Kernel &kernel, ExprId id, VarId var);
// The expressions in a statement itself, not in its nested statements.
std::vector<ExprId> expressions_of(const Stmt &stmt);
// All statements, outer before inner, with the branches and loops around them.
void visit_statements(const std::vector<Stmt> &statements,
                      const std::function<void(const Stmt &, const std::vector<const Stmt *> &)> &visit);

// Also what the locals that are read there are set to, wherever that is; each local that is not in `seen` once.
void visit_with_locals(const Kernel &kernel, ExprId id, std::set<VarId> &seen,
                       const std::function<void(const Expr &, ExprId)> &visit);
// What a local that is read always is: it is set once, and in no loop. (Where a condition stands around that, nobody
// reads it elsewhere.) Else, and of what is no such read: none.
ExprId only_value(const Kernel &kernel, const Expr &read);

} // namespace kgen::analysis
