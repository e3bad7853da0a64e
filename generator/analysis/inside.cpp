// Reads at other coordinates that never leave their array, so that they need no guard; and aliases: an input whose
// memory an output takes over must have been read before it is written, in each step and over all steps.
#include <algorithm>

#include "analysis/affine.h"
#include "analysis/coordinates.h"
#include "analysis/examples.h"
#include "analysis/flow.h"
#include "analysis/witness.h"

namespace kgen::analysis {
namespace {

class InsideProofs {
public:
  explicit InsideProofs(Context &context) : context_(context), kernel_(context.kernel) {}

  void prove(ExprId id) {
    const Expr &expr = kernel_.expr(id);
    if (!context_.facts.inside_reason.emplace(id, "").second)
      return;
    std::string reason;
    const bool inside = expr.op == Op::table ? table(expr, reason) : read(expr, reason);
    context_.facts.inside[id] = inside;
    context_.facts.inside_reason[id] = inside ? "inside" : reason;
    kernel_.exprs[id].safe = inside;
  }

private:
  bool settle(Symbols &symbols, Coordinates &coordinates, const Size &size, const Size &extent) {
    if (coordinates.inside(size, extent))
      return true;
    std::vector<std::pair<std::string, Size>> variables = coordinates.changing();
    for (size_t a = 0; a < kernel_.axes.size(); ++a)
      if (const auto count = index_count(kernel_, static_cast<AxisId>(a), kNone))
        variables.emplace_back(index_name(kernel_, static_cast<AxisId>(a), kNone), *count);
    if (symbols.reads_table(symbols.polynomial(size)))
      return false;
    bool exhausted = false;
    return impossible(kernel_, {Size::make(Size::Op::greater_equal, {size, extent})}, variables, exhausted) &&
           impossible(kernel_, {Size::make(Size::Op::less, {size, Size::integer(0)})}, variables, exhausted);
  }

  // A wrong entry of a table in device memory may give a wrong value, but no wild access.
  bool trusts_device(const Size &size) const {
    return any_node(size, [&](const Size &s) {
      return s.op == Size::Op::table && std::any_of(kernel_.tables.begin(), kernel_.tables.end(),
                                                    [&](const Table &t) { return t.name == s.name && !t.on_host; });
    });
  }

  bool coordinate(ExprId value, const Size &extent, const std::string &name, std::string &reason) {
    if (is_within(kernel_, kernel_.expr(value), extent))
      return true;
    Symbols symbols(kernel_);
    Coordinates coordinates(kernel_, symbols);
    coordinates.at_one_moment();
    const auto size = coordinates.size(value);
    if (size && trusts_device(*size)) {
      reason = name + " = " + to_string(*size) + " depends on entries that nothing checks on a device";
      return false;
    }
    if (!size || !settle(symbols, coordinates, *size, extent)) {
      reason =
          size ? name + " = " + to_string(*size) + " may leave 0 .. " + to_string(extent) : name + " depends on data";
      return false;
    }
    return true;
  }

  bool table(const Expr &expr, std::string &reason) {
    const Table &table = kernel_.tables[expr.ref];
    for (size_t i = 0; i < expr.args.size() && i < table.dims.size(); ++i)
      if (!coordinate(expr.args[i], table.dims[i], "entry " + std::to_string(i), reason))
        return false;
    return true;
  }

  bool read(const Expr &expr, std::string &reason) {
    const Var &var = kernel_.vars[expr.ref];
    if (var.kind == Var::Kind::local || var.kind == Var::Kind::scratch)
      return elsewhere_in_block(expr, reason);
    for (const Dim &dim : var.dims) {
      const Coordinate *const named = find_coordinate(expr.coords, dim.axis);
      if (named != nullptr) {
        if (var.kind == Var::Kind::output && !dim.whole) {
          reason = "only its block is at hand";
          return false;
        }
        if (!coordinate(named->value, dim.extent, kernel_.axes[dim.axis].name, reason)) {
          warn_never_inside(expr, dim, kernel_.expr(named->value).bounds);
          return false;
        }
      } else if (dim.may_miss) {
        reason = "the array may have no elements";
        return false;
      } else if (dim.axis != kNone && !stays_inside(dim)) {
        reason = "operands differ along " + kernel_.axes[dim.axis].name;
        return false;
      }
    }
    return true;
  }

  void warn_never_inside(const Expr &read, const Dim &dim, const Bounds &at) {
    if (!dim.extent.is_integer() || dim.extent.value == 0 || (at.high >= 0 && at.low < dim.extent.value))
      return;
    const Var &var = kernel_.vars[read.ref];
    const std::string low = std::to_string(at.low), high = std::to_string(at.high);
    context_.diags.add(DiagId::never_inside, read.place,
                       {var.name, kernel_.axes[dim.axis].name, std::to_string(dim.extent.value - 1),
                        at.low == at.high      ? low
                        : at.low == INT64_MIN  ? "at most " + high
                        : at.high == INT64_MAX ? "at least " + low
                                               : low + " .. " + high});
  }

  // Along a dimension that keeps the current point.
  bool stays_inside(const Dim &dim) const {
    const Axis &axis = kernel_.axes[dim.axis];
    if (axis.ragged != kNone) // lanes end with their row
      return axis.uniform && dim.whole;
    return axis.uniform && !dim.offset && index_count(kernel_, dim.axis, kNone).has_value();
  }

  bool elsewhere_in_block(const Expr &expr, std::string &reason) {
    for (const Coordinate &c : expr.coords) {
      const Axis &axis = kernel_.axes[c.axis];
      const bool whole =
          axis.uniform && axis.start.is_integer(0) && is_size_of(axis, axis.block) && axis.ragged == kNone;
      if (!whole) {
        reason = "only a block of " + axis.name + " is at hand";
        return false;
      }
      if (!coordinate(c.value, Size::axis(axis.name), axis.name, reason))
        return false;
    }
    return true;
  }

  Context &context_;
  Kernel &kernel_;
};

bool same_window(const Var &a, const Var &b) {
  return std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(), [](const Dim &x, const Dim &y) {
    return x.start == y.start && x.block == y.block && x.axis == y.axis;
  });
}

// Does a read of the input leave the window, so that another step may have written what it reads?
bool leaves_window(const Kernel &kernel, const Var &input, VarId id, Place &place) {
  bool leaves = false;
  visit_statements(kernel.statements, [&](const Stmt &stmt, const auto &) {
    for (ExprId root : expressions_of(stmt))
      visit_expressions(kernel, root, [&](const Expr &expr, ExprId) {
        if (expr.op != Op::read || expr.ref != id)
          return;
        for (const Coordinate &c : expr.coords)
          for (const Dim &dim : input.dims)
            if (dim.axis == c.axis && !dim.whole) {
              leaves = true;
              place = expr.place;
            }
      });
  });
  return leaves;
}

// With a window that stays, a later step reads what an earlier one wrote, unless only first steps read or only last
// write.
bool read_in_time(const Context &context, const Flow &flow, VarId input, VarId output) {
  const uint64_t run = constant_steps(context, output);
  if (run == 0)
    return true;
  bool late_read = false, early_write = false;
  for (const Outcome &outcome : flow.outcomes)
    for (const Stmt *stmt : outcome.reached) {
      if (stmt->kind == Stmt::Kind::assign && stmt->target == output)
        early_write |= !ends(outcome.scenario, run, output) || outcome.scenario.last[list_of(run)[0]] == Truth::unknown;
      for (ExprId root : expressions_of(*stmt))
        visit_expressions(context.kernel, root, [&](const Expr &expr, ExprId) {
          if (expr.op == Op::read && expr.ref == input)
            late_read |=
                !begins(outcome.scenario, run, output) || outcome.scenario.first[list_of(run)[0]] == Truth::unknown;
        });
    }
  return !(late_read && early_write);
}

std::string stale(Context &context, VarId input) {
  const auto example = run_that_ends(context, Fault::stale, input);
  return example ? text(context.kernel, *example) + " is read after it was written; " : "";
}

void judge_alias(Context &context, const Flow &flow, VarId id) {
  const Var &input = context.var(id);
  const Var &output = context.var(input.alias);
  Place place = input.place;
  const bool one_step = context.all_steps() == 0;
  if (!one_step && (!same_window(input, output) || leaves_window(context.kernel, input, id, place))) {
    Diagnostic &error = context.diags.add(DiagId::alias_window, place, {input.name, output.name});
    error.help = "give both the same window and read it at the current point, or use separate arrays";
    if (const auto example = executed(context, stale_example(context, id, input.alias), Fault::stale, id))
      error.help = to_string(context.kernel, *example) + ": " +
                   (example->steps.size() > 1 ? "the first step reads what the second writes; "
                                              : "it is read after another step wrote it; ") +
                   error.help;
    return;
  }
  for (const Outcome &outcome : flow.outcomes)
    if (outcome.stale_read[id]) {
      Diagnostic &error = context.diags.add(DiagId::alias_stale, *outcome.stale_read[id], {input.name, output.name});
      error.labels.push_back({output.place, "one array with `" + input.name + "`"});
      error.help = stale(context, id) + "keep the old value first: auto old = " + input.name + ";";
      return;
    }
  if (!read_in_time(context, flow, id, input.alias)) {
    context.diags.add(DiagId::alias_stale, output.place, {input.name, output.name}).help =
        stale(context, id) + "the window stays over several steps: read it in the first, or write it in the last";
    return;
  }
  context.facts.operands[input.alias].read_before_write = context.facts.operands[id].read_before_write = true;
}

} // namespace

void judge_aliases(Context &context, const Flow &flow) {
  for (size_t v = 0; v < context.kernel.vars.size(); ++v)
    if (context.kernel.vars[v].kind == Var::Kind::input && context.kernel.vars[v].alias != kNone)
      judge_alias(context, flow, static_cast<VarId>(v));
}

void prove_inside(Context &context) {
  context.facts.inside.assign(context.kernel.exprs.size(), false);
  InsideProofs proofs(context);
  std::set<ExprId> found;
  visit_statements(context.kernel.statements, [&](const Stmt &stmt, const auto &) {
    for (ExprId root : expressions_of(stmt))
      visit_expressions(context.kernel, root, [&](const Expr &expr, ExprId id) {
        if ((expr.op == Op::read && !expr.coords.empty()) || expr.op == Op::table)
          found.insert(id);
      });
  });
  for (ExprId id : found)
    proofs.prove(id);
}

} // namespace kgen::analysis
