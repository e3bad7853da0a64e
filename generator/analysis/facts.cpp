// The order of the analysis: how windows move, what statements do, which dimensions are parallel; then each claim is
// judged with that knowledge; then what is left for launchers, and what it all costs.
#include "analysis/facts.h"

#include "analysis/bounds.h"
#include "analysis/flow.h"
#include "analysis/nans.h"

namespace kgen {

Size grid_steps(const Kernel &kernel, GridId grid) { return kernel.grid[grid].size; }

const Stmt &statement(const Kernel &kernel, const StmtPath &path) {
  const Stmt *stmt = &kernel.statements[path[0]];
  for (size_t i = 1; i + 1 < path.size(); i += 2) {
    const auto &list = path[i] == 0 ? stmt->body : path[i] == 1 ? stmt->otherwise : stmt->step;
    stmt = &list[path[i + 1]];
  }
  return *stmt;
}

void mark_safe(Kernel &kernel, const Facts &facts) {
  for (size_t id = 0; id < facts.inside.size() && id < kernel.exprs.size(); ++id)
    kernel.exprs[id].safe = facts.inside[id];
}

Facts analyze(Kernel &kernel, Diagnostics &diags) {
  using namespace analysis;
  kernel.window_limits.clear();
  Context context(kernel, diags);
  find_int_counters(kernel);
  find_int_places(kernel);
  find_bounds(kernel);
  find_shown_nans(kernel);
  find_moves(context);
  Writes writes = judge_scatters(context);
  add_plain_writes(context, writes);
  add_slices(context, writes);
  const Flow flow = follow(context, writes);
  judge_semantics(context, flow);
  collect_size_checks(context);
  judge_bounds(context);
  judge_disjoint(context);
  judge_revisits(context);
  judge_window_cover(context);
  judge_writes(context, flow);
  judge_aliases(context, flow);
  prove_inside(context);
  collect_step_checks(context);
  find_independence(context, flow);
  count(context);
  return std::move(context.facts);
}

} // namespace kgen
