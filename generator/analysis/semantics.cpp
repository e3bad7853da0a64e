// Parallel or arbitrary: what is stated is held to, what is left out is inferred, innermost dimension first, for
// scratch that an inner dimension carries starts anew in each step of an outer one. Then: is everything written that
// must be?
#include <algorithm>

#include "analysis/flow.h"
#include "analysis/witness.h"
#include "ir/picked_windows.h"
#include "support/text.h"

namespace kgen::analysis {
namespace {

uint64_t bit(GridId g) { return uint64_t{1} << g; }

uint64_t arbitrary_steps(const Context &context) { return context.all_steps() & ~context.parallel_steps(); }

// Is the step the first of `steps` for a scratch? Then the windows of outputs begin there too, for no other parallel
// instance has them: those of all outputs, or of the ones that move with `g`.
bool starts(const Context &context, const Scenario &scenario, uint64_t steps, GridId g) {
  if (!begins(scenario, steps, kNone))
    return false;
  for (size_t v = 0; v < scenario.window_first.size(); ++v)
    if (scenario.window_first[v] == Truth::no &&
        (g == kNone || (constant_steps(context, static_cast<VarId>(v)) & bit(g)) == 0))
      return false;
  return true;
}

// The first read, in any step, of what the first steps of a run did not write. What limits those must not move in it.
std::optional<EarlyRead> read_beyond(const Context &context, const Flow &flow, VarId var, const Written &written,
                                     uint64_t run) {
  for (const Outcome &outcome : flow.outcomes)
    for (EarlyRead read : outcome.early_reads[var]) {
      if (!written)
        return read;
      read.ends.reset();
      for (const Window &window : *written)
        if ((steps_of(context.kernel, context.lanes.dim(window).start) & run) != 0)
          read.ends = window;
      if (!read.ends)
        read.ends = context.lanes.ends_before(*written, read.lanes);
      if (read.ends)
        return read;
    }
  return std::nullopt;
}

// Where a step reads what a step of the same `g` did not write; nothing: nowhere. Each step of a dimension stated to be
// parallel has scratch of its own, which outer dimensions may carry; otherwise it is begun anew within each of their
// steps.
std::optional<EarlyRead> carried_along(const Context &context, const Flow &flow, VarId var, GridId g) {
  const bool own = context.kernel.grid[g].stated == Semantics::parallel && !context.is_output(var);
  uint64_t inner = 0;
  for (GridId h : list_of(arbitrary_steps(context)))
    if (h > g || (own && h < g))
      inner |= bit(h);
  Written written = Windows();
  for (const Outcome &outcome : flow.outcomes) {
    if (outcome.scenario.first[g] == Truth::yes ||
        !(own ? starts(context, outcome.scenario, inner, g) : begins(outcome.scenario, inner, kNone)))
      continue;
    if (outcome.reads_early(var))
      return outcome.early_reads[var].front();
    written = on_both(written, outcome.written[var]);
  }
  return read_beyond(context, flow, var, written, inner);
}

class Judge {
public:
  Judge(Context &context, const Flow &flow) : context_(context), kernel_(context.kernel), flow_(flow) {}

  void run() {
    context_.facts.grid.resize(kernel_.grid.size());
    for (size_t v = 0; v < kernel_.vars.size(); ++v)
      if (context_.is_output(static_cast<VarId>(v)))
        told_.emplace_back(static_cast<VarId>(v), determined_steps(context_, static_cast<VarId>(v), false).steps);
    for (size_t i = kernel_.grid.size(); i-- > 0;)
      dimension(static_cast<GridId>(i));
  }

private:
  void dimension(GridId g) {
    GridDim &dim = kernel_.grid[g];
    GridFact &fact = context_.facts.grid[g];
    fact.stated = dim.stated.has_value();
    for (size_t v = 0; v < kernel_.vars.size(); ++v) {
      const bool state = kernel_.vars[v].kind == Var::Kind::scratch ||
                         (context_.is_output(static_cast<VarId>(v)) && kernel_.vars[v].alias == kNone &&
                          (constant_steps(context_, static_cast<VarId>(v)) & bit(g)) != 0);
      if (state && !context_.single(g) && carried_along(context_, flow_, static_cast<VarId>(v), g))
        fact.carried.push_back(static_cast<VarId>(v));
    }
    if (!dim.stated)
      dim.semantics = infer(g, fact);
    if (!dim.stated && dim.semantics == Semantics::parallel && dim.axis != kNone) { // an empty axis needs no step
      const Axis &axis = kernel_.axes[dim.axis];
      const Size whole = axis.size.is_integer() ? axis.size : Size::axis(axis.name);
      dim.size = Size::make(Size::Op::cdiv, {counts_own_row(kernel_, g) ? length_along(kernel_, g) : whole, dim.block});
    }
    if (dim.stated == Semantics::parallel)
      hold_to_parallel(g, fact);
    if (dim.stated == Semantics::arbitrary)
      fact.finding.reason = "stated";
    fact.semantics = dim.semantics;
  }

  Semantics infer(GridId g, GridFact &fact) {
    if (context_.single(g)) {
      fact.finding.reason = "a single step";
      return Semantics::parallel;
    }
    if (!kernel_.grid[g].at_most && !counts_own_row(kernel_, g) && !context_.tables_of(kernel_.grid[g].size).empty()) {
      fact.finding.reason = "its number of steps depends on a table, without at_most";
      return Semantics::arbitrary;
    }
    for (const auto &[var, steps] : told_)
      if ((steps & bit(g)) == 0) {
        const bool constant = (constant_steps(context_, var) & bit(g)) != 0;
        fact.finding.reason = constant ? "the window of " + context_.var(var).name + " stays"
                                       : "windows of " + context_.var(var).name + " may repeat";
        return Semantics::arbitrary;
      }
    if (!fact.carried.empty()) {
      fact.finding.reason = context_.var(fact.carried.front()).name + " is carried from step to step";
      return Semantics::arbitrary;
    }
    fact.finding.reason = "every output's window moves with it and nothing is carried";
    return Semantics::parallel;
  }

  void hold_to_parallel(GridId g, GridFact &fact) {
    fact.finding.reason = "stated, and nothing is carried";
    for (VarId v : fact.carried) {
      // An output's window stays: reported as such. What not even the very first step sets is another mistake.
      if (context_.is_output(v) || unset_at_first(v))
        continue;
      fact.finding = {Verdict::refuted, context_.var(v).name + " is carried",
                      executed(context_, std::nullopt, Fault::undefined, v)};
      const GridDim &dim = kernel_.grid[g];
      Diagnostic &error = context_.diags.add(DiagId::parallel_carries, dim.place, {dim.name, context_.var(v).name});
      if (const auto read = carried_along(context_, flow_, v, g))
        error.labels.push_back({read->place, "read here before this step wrote it"});
      error.help = "write semantics = \"arbitrary\", or set " + context_.var(v).name + " at the start of every step";
      if (fact.finding.witness)
        error.help = to_string(kernel_, *fact.finding.witness) +
                     ": it reads what only another step may have written; " + error.help;
    }
  }

  bool unset_at_first(VarId v) const {
    return std::any_of(flow_.outcomes.begin(), flow_.outcomes.end(), [&](const Outcome &outcome) {
      return begins(outcome.scenario, context_.all_steps(), kNone) && outcome.reads_early(v);
    });
  }

  Context &context_;
  Kernel &kernel_;
  const Flow &flow_;
  std::vector<std::pair<VarId, uint64_t>> told_; // outputs and the steps that their windows tell apart
};

// Is every element of a window written in its first step, or in its last?
bool surely_written(const Flow &flow, VarId var, uint64_t steps) {
  const auto in_all = [&](const auto &selects) {
    return std::all_of(flow.outcomes.begin(), flow.outcomes.end(), [&](const Outcome &outcome) {
      return !selects(outcome.scenario, steps, var) || outcome.written[var] == Windows();
    });
  };
  return in_all(begins) || in_all(ends);
}

// The first place where a run of steps reads what it did not write.
std::optional<EarlyRead> undefined_read(const Context &context, const Flow &flow, VarId var, uint64_t steps,
                                        VarId window) {
  Written written = Windows();
  for (const Outcome &outcome : flow.outcomes) {
    const bool begun =
        window == kNone ? starts(context, outcome.scenario, steps, kNone) : begins(outcome.scenario, steps, window);
    if (!begun)
      continue;
    if (outcome.reads_early(var))
      return outcome.early_reads[var].front();
    written = on_both(written, outcome.written[var]);
  }
  return read_beyond(context, flow, var, written, steps);
}

std::string first_guard(const Context &context, uint64_t steps, VarId var) {
  const auto &moves = context.facts.operands[var].moves_with;
  if (steps == 0)
    return context.is_output(var) && !moves.empty() ? "if (first(" + context.var(var).name + ")) " : "";
  std::vector<std::string> parts, others;
  for (GridId g : list_of(steps)) {
    const AxisId axis = context.kernel.grid[g].axis;
    auto &list = axis != kNone && context.var(var).axes.contains(axis) ? others : parts;
    list.push_back("first(" + context.kernel.grid[g].name + ")");
  }
  if (parts.empty())
    parts = others;
  return "if (" + join(parts, " && ") + ") ";
}

void judge_reads(Context &context, const Flow &flow, VarId v) {
  const Var &var = context.var(v);
  if (var.alias != kNone)
    return;
  const bool output = context.is_output(v);
  const uint64_t run = output ? constant_steps(context, v) : arbitrary_steps(context);
  OperandFact &fact = context.facts.operands[v];
  const auto read = undefined_read(context, flow, v, run, output ? v : kNone);
  fact.initialised.reason = "written before it is read";
  // A stated `parallel` that carries it is the one mistake to report.
  for (const GridFact &grid : context.facts.grid)
    if (grid.finding.verdict == Verdict::refuted &&
        std::find(grid.carried.begin(), grid.carried.end(), v) != grid.carried.end())
      return;
  if (!read)
    return;
  const auto gap = context.gaps.find(v);
  const auto guess = gap == context.gaps.end() ? std::nullopt : std::optional(gap->second.witness);
  const auto example = executed(context, guess, Fault::undefined, v);
  fact.initialised = {Verdict::refuted, example ? "read before it is written" : "not proved to be written first",
                      example};
  Diagnostic &error = context.diags.add(DiagId::undefined_read, read->place, {var.name});
  error.help = "it starts undefined; begin with " + first_guard(context, run, v) + var.name + " = 0;";
  if (read->ends)
    error.help = ends_early(context, *read->ends, output ? "the window of the output" : "what is read of " + var.name) +
                 "; " + error.help;
  if (example)
    error.help = to_string(context.kernel, *example) + (read->ends ? ": " : "; ") + error.help;
}

void judge_written(Context &context, const Flow &flow, VarId v) {
  const Var &var = context.var(v);
  Finding &finding = context.facts.operands[v].written;
  if (var.partial) {
    finding.reason = "may stay partly as it was";
    return;
  }
  if (surely_written(flow, v, constant_steps(context, v))) {
    finding.reason = "written in the first or last step of its window, without condition";
    return;
  }
  std::optional<Place> place;
  bool anywhere = false;
  visit_statements(context.kernel.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind != Stmt::Kind::assign || stmt.target != v)
      return;
    anywhere = true;
    place = place ? place : stmt.place;
  });
  if (!anywhere)
    return; // refused when the kernel was built
  finding = {Verdict::refuted, "written under a condition only", {}};
  Diagnostic &error = context.diags.add(DiagId::not_written, place.value_or(var.place), {var.name});
  error.labels.push_back({var.place, "declared here"});
  const std::string partial = ", or declare partial = true if such elements may stay as they were";
  if (const auto gap = context.gaps.find(v); gap != context.gaps.end()) {
    finding.witness = executed(context, gap->second.witness, Fault::unwritten, v);
    error.help =
        (finding.witness ? to_string(context.kernel, *finding.witness) + ": " : "") + gap->second.what + partial;
    return;
  }
  const std::string mend = "write it first, " + var.name + " = 0;" + partial;
  const auto example = run_that_ends(context, Fault::unwritten, v);
  if (!example) {
    error.help = "every write of it stands under a condition, in a loop or at other coordinates; " + mend;
    return;
  }
  finding.witness = example->witness;
  error.help = text(context.kernel, *example) + " is never written; " + mend;
}

} // namespace

void judge_semantics(Context &context, const Flow &flow) { Judge(context, flow).run(); }

void judge_writes(Context &context, const Flow &flow) {
  for (size_t v = 0; v < context.kernel.vars.size(); ++v) {
    const Var::Kind kind = context.kernel.vars[v].kind;
    if (kind == Var::Kind::scratch || kind == Var::Kind::output)
      judge_reads(context, flow, static_cast<VarId>(v));
    if (kind == Var::Kind::output && context.facts.operands[v].disjoint.verdict != Verdict::refuted)
      judge_written(context, flow, static_cast<VarId>(v));
  }
}

} // namespace kgen::analysis
