// On which steps windows depend, and whether they stay inside their arrays. Proofs about two steps are in overlap.cpp,
// about all steps together in cover.cpp.
#include <algorithm>

#include "analysis/affine.h"
#include "analysis/witness.h"
#include "support/text.h"

namespace kgen::analysis {

uint64_t steps_of(const Kernel &kernel, const Size &size) {
  uint64_t steps = 0;
  any_node(size, [&](const Size &node) {
    if (node.op == Size::Op::grid || node.op == Size::Op::grid_size)
      for (size_t g = 0; g < kernel.grid.size(); ++g)
        if (kernel.grid[g].name == node.name)
          steps |= node.op == Size::Op::grid ? uint64_t{1} << g : steps_of(kernel, kernel.grid[g].size);
    return false;
  });
  return steps;
}

std::vector<GridId> list_of(uint64_t steps) {
  std::vector<GridId> out;
  for (; steps != 0; steps &= steps - 1)
    out.push_back(__builtin_ctzll(steps));
  return out;
}

uint64_t Context::all_steps() const {
  uint64_t steps = 0;
  for (size_t g = 0; g < kernel.grid.size(); ++g)
    if (!single(static_cast<GridId>(g)))
      steps |= uint64_t{1} << g;
  return steps;
}

uint64_t Context::parallel_steps() const {
  uint64_t steps = 0;
  for (GridId g : list_of(all_steps()))
    if (parallel(g))
      steps |= uint64_t{1} << g;
  return steps;
}

bool Context::sizes_only(const Size &size) const {
  return !any_node(size, [](const Size &node) {
    return node.op == Size::Op::grid || node.op == Size::Op::table || node.op == Size::Op::grid_size;
  });
}

Size Context::unless_no_steps(Size condition) const {
  for (const GridDim &dim : kernel.grid)
    if (!dim.size.is_integer() && sizes_only(dim.size))
      condition = unless_empty(dim.size, condition);
  return condition;
}

std::vector<TableId> Context::tables_of(const Size &size) const {
  std::vector<TableId> out;
  any_node(size, [&](const Size &node) {
    for (size_t t = 0; t < kernel.tables.size(); ++t)
      if (node.op == Size::Op::table && kernel.tables[t].name == node.name &&
          std::find(out.begin(), out.end(), static_cast<TableId>(t)) == out.end())
        out.push_back(static_cast<TableId>(t));
    if (node.op == Size::Op::grid || node.op == Size::Op::grid_size)
      for (const GridDim &dim : kernel.grid)
        if (dim.name == node.name)
          for (TableId t : tables_of(dim.size))
            if (std::find(out.begin(), out.end(), t) == out.end())
              out.push_back(t);
    return false;
  });
  std::sort(out.begin(), out.end());
  return out;
}

bool Context::on_host(const std::vector<TableId> &tables) const {
  return std::all_of(tables.begin(), tables.end(), [&](TableId t) { return kernel.tables[t].on_host; });
}

std::string Context::grid_names(uint64_t steps) const {
  std::vector<std::string> names;
  for (GridId g : list_of(steps))
    names.push_back(kernel.grid[g].name);
  return enumerate(names);
}

void find_moves(Context &context) {
  const Kernel &kernel = context.kernel;
  context.facts.operands.resize(kernel.vars.size());
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    uint64_t steps = 0;
    for (const Dim &dim : kernel.vars[v].dims)
      if (!dim.whole)
        steps |= steps_of(kernel, dim.start);
    context.facts.operands[v].moves_with = list_of(steps & context.all_steps());
  }
}

namespace {

std::vector<Size> extents_of(const Var &var) {
  std::vector<Size> out;
  for (const Dim &dim : var.dims)
    if (!dim.extent.is_integer())
      out.push_back(dim.extent);
  return out;
}

// A window that follows from the grid's own blocking of its axis.
bool follows_axis(const Kernel &kernel, const Dim &dim) {
  if (dim.axis == kNone || kernel.axes[dim.axis].grid == kNone)
    return false;
  const Axis &axis = kernel.axes[dim.axis];
  const GridDim &grid = kernel.grid[axis.grid];
  return is_size_of(axis, dim.extent) && dim.block == grid.block &&
         dim.start == Size::make(Size::Op::multiply, {Size::grid(grid.name), grid.block});
}

class Bounds {
public:
  Bounds(Context &context, VarId var, int dim)
      : context_(context), kernel_(context.kernel), var_(var), dim_number_(dim), dim_(context.var(var).dims[dim]) {}

  // Where an axis is seen, an empty array has no lanes; where none is, the one element must be guarded, unless no step
  // runs then.
  bool may_miss() {
    if (dim_.whole || dim_.axis != kNone || (dim_.extent.is_integer() && dim_.extent.value > 0))
      return false;
    std::vector<Size> step_without_elements = {Size::make(Size::Op::less_equal, {dim_.extent, Size::integer(0)})};
    for (const GridDim &grid : kernel_.grid)
      step_without_elements.push_back(Size::make(Size::Op::greater_equal, {Size::grid(grid.name), Size::integer(0)}));
    bool exhausted = false;
    return !impossible(kernel_, step_without_elements, {}, exhausted);
  }

  Finding judge() {
    if (dim_.whole)
      return {Verdict::proved, "whole", {}};
    if (dim_.axis != kNone && kernel_.axes[dim_.axis].ragged != kNone)
      return {Verdict::proved, "rows end where they end", {}};
    if (proved())
      return {Verdict::proved, "steps times block stays below the extent", {}};
    const std::vector<TableId> tables = context_.tables_of(dim_.start);
    return tables.empty() ? by_sizes() : by_tables(tables);
  }

private:
  bool proved() {
    const Size zero = Size::integer(0);
    const Size end = Size::make(Size::Op::add, {dim_.start, dim_.block});
    Symbols symbols(kernel_, extents_of(context_.var(var_)));
    below_ = symbols.less(dim_.start, dim_.extent);
    above_ = symbols.less(zero, end);
    if (!below_)
      below_ = affine({Size::make(Size::Op::greater_equal, {dim_.start, dim_.extent})});
    if (!above_)
      above_ = affine({Size::make(Size::Op::less_equal, {end, zero})});
    return below_ && above_;
  }

  bool affine(std::vector<Size> conditions) {
    for (const Size &extent : extents_of(context_.var(var_)))
      conditions.push_back(Size::make(Size::Op::greater, {extent, Size::integer(0)}));
    bool exhausted = false;
    const bool holds = impossible(kernel_, conditions, {}, exhausted);
    if (exhausted)
      context_.facts.notes.push_back("the bounds of " + context_.var(var_).name + " exceeded the effort of a proof");
    return holds;
  }

  // `start` at the step where it is largest (or least), if it rises with every step by a fixed amount.
  std::optional<Size> extreme(bool largest) {
    Symbols symbols(kernel_, extents_of(context_.var(var_)));
    Polynomial p = symbols.polynomial(dim_.start);
    for (int round = 0; round < 8; ++round) {
      int moving = kNone;
      for (const auto &[m, c] : p.terms)
        for (int id : m)
          if (symbols.atom(id).steps != 0 || symbols.atom(id).reads_table)
            moving = id;
      if (moving == kNone)
        return symbols.size_of(p);
      const Atom &atom = symbols.atom(moving);
      const auto split = Symbols::linear(p, moving);
      const bool is_digit = atom.kind == Atom::Kind::divide || atom.kind == Atom::Kind::modulo;
      if (is_digit || atom.upper.empty() || atom.low.value_or(-1) < 0 || !split)
        return std::nullopt;
      const bool rising = symbols.nonnegative(split->first);
      if (!rising && !symbols.nonnegative(split->first * Polynomial::constant(-1)))
        return std::nullopt;
      p = split->second + (rising == largest ? split->first * atom.upper.front() : Polynomial());
    }
    return std::nullopt;
  }

  std::vector<Check> checks() {
    std::vector<Check> out;
    const auto add = [&](bool needed, bool upper) {
      if (!needed)
        return;
      const auto simple = extreme(upper);
      const Size start = simple.value_or(dim_.start);
      const Size condition =
          upper ? Size::make(Size::Op::less, {start, dim_.extent})
                : Size::make(Size::Op::greater, {Size::make(Size::Op::add, {start, dim_.block}), Size::integer(0)});
      Check check;
      check.kind = Check::Kind::window;
      check.condition = unless_empty(context_.var(var_), condition);
      if (simple && !context_.tables_of(dim_.start).empty()) {
        check.condition = context_.unless_no_steps(check.condition);
        context_.kernel.window_limits.push_back({var_, check.condition});
      }
      check.loops = list_of(steps_of(kernel_, check.condition));
      check.tables = context_.tables_of(check.condition);
      check.var = var_;
      check.argument = context_.var(var_).name;
      check.message =
          "a block of " + check.argument + " would lie outside its array in dimension " + std::to_string(dim_number_);
      out.push_back(std::move(check));
    };
    add(!below_, true);
    add(!above_, false);
    return out;
  }

  Finding by_sizes() {
    const Tested tested = context_.search.outside(var_);
    if (tested.fails && !tested.holds)
      if (const auto witness = executed(context_, tested.fails, Fault::outside, var_))
        return {Verdict::refuted, "outside the array", witness};
    for (Check &check : checks())
      context_.facts.checks.push_back(std::move(check));
    return {Verdict::checked, "the launcher tests the sizes", tested.fails};
  }

  Finding by_tables(const std::vector<TableId> &tables) {
    std::vector<Check> found = checks();
    // Sizes alone settle it, or a host table does; else every step asks.
    const bool settled =
        std::all_of(found.begin(), found.end(), [&](const Check &check) { return check.tables.empty(); });
    const bool partial = std::all_of(kernel_.vars.begin(), kernel_.vars.end(),
                                     [](const Var &var) { return var.kind != Var::Kind::output || var.partial; });
    if (!settled && !context_.on_host(tables) && !partial)
      return {Verdict::refuted, "depends on entries of " + kernel_.tables[tables.front()].name, {}};
    for (Check &check : found)
      context_.facts.checks.push_back(std::move(check));
    return settled || context_.on_host(tables) ? Finding{Verdict::checked, "the launcher tests sizes and entries", {}}
                                               : Finding{Verdict::guarded, "steps outside are skipped", {}};
  }

  Context &context_;
  const Kernel &kernel_;
  VarId var_;
  int dim_number_;
  const Dim &dim_;
  bool below_ = false, above_ = false;
};

// A window has an element at least, and an array that is whole beside it may have none: what is computed of both would
// not reach the window's end.
void check_length(Context &context, VarId id, const Dim &dim) {
  const auto is_as_long = [&](const Dim &other) {
    return other.axis == dim.axis && other.whole && !other.extent.is_integer() &&
           dim.block == Size::make(Size::Op::max, {other.extent, Size::integer(1)});
  };
  if (dim.whole || dim.axis == kNone)
    return;
  for (const Var &var : context.kernel.vars) {
    const auto whole = std::ranges::find_if(var.dims, is_as_long);
    if (whole == var.dims.end() || var.kind == Var::Kind::scratch)
      continue;
    const Size least = Size::make(Size::Op::min, {Size::integer(1), dim.extent});
    Check check;
    check.kind = Check::Kind::window;
    check.condition = context.unless_no_steps(Size::make(Size::Op::greater_equal, {whole->extent, least}));
    check.var = id;
    check.argument = context.var(id).name;
    check.message = "a block of " + check.argument + " would have no elements";
    context.kernel.window_limits.push_back({id, check.condition});
    context.facts.checks.push_back(std::move(check));
    return;
  }
}

void report_outside(Context &context, VarId var, const Finding &finding, const Dim &dim) {
  const Var &operand = context.var(var);
  if (finding.witness) {
    Diagnostic &error = context.diags.add(DiagId::window_outside, operand.place, {operand.name});
    const auto number = [&](const Size &size) {
      const auto value = value_at(context.kernel, *finding.witness, size);
      return value && !size.is_integer() ? to_string(size) + " = " + std::to_string(*value) : to_string(size);
    };
    error.help = to_string(context.kernel, *finding.witness) + ": the window starts at " + number(dim.start) +
                 " and has " + number(dim.block) + ", the array has " + number(dim.extent);
    return;
  }
  const TableId table = context.tables_of(dim.start).front();
  const std::string &name = context.kernel.tables[table].name;
  context.diags.add(DiagId::window_unknown, operand.place, {operand.name, name}).help =
      "declare what holds of it, tables." + name + " = { ..., range = \"" +
      to_string(Size::make(Size::Op::cdiv, {dim.extent, dim.block})) + "\" }, or where = \"host\"";
}

} // namespace

void judge_bounds(Context &context) {
  for (size_t v = 0; v < context.kernel.vars.size(); ++v) {
    Var &var = context.kernel.vars[v];
    OperandFact &fact = context.facts.operands[v];
    if (var.kind == Var::Kind::scratch || var.kind == Var::Kind::local)
      continue;
    fact.bounds.reason = "all windows are inside";
    for (size_t d = 0; d < var.dims.size(); ++d) {
      Dim &dim = var.dims[d];
      Bounds bounds(context, static_cast<VarId>(v), static_cast<int>(d));
      dim.may_miss = bounds.may_miss();
      const Finding finding =
          follows_axis(context.kernel, dim) ? Finding{Verdict::proved, "blocked by the grid", {}} : bounds.judge();
      fact.dims.push_back(finding.verdict);
      check_length(context, static_cast<VarId>(v), dim);
      if (finding.verdict == Verdict::refuted && fact.bounds.verdict != Verdict::refuted)
        report_outside(context, static_cast<VarId>(v), finding, dim);
      if (finding.verdict > fact.bounds.verdict)
        fact.bounds = finding;
    }
  }
}

} // namespace kgen::analysis
