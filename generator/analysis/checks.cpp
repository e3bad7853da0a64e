// What launchers verify, in the order in which they do it: sizes, then what is computed from sizes, then tables, then
// what depends on the steps. And the guards of kernels whose tables only the device can read.
#include <algorithm>

#include "analysis/witness.h"
#include "ir/picked_windows.h"
#include "support/text.h"

namespace kgen::analysis {
namespace {

Size at_least_zero(const Size &size) { return Size::make(Size::Op::greater_equal, {size, Size::integer(0)}); }

class SizeChecks {
public:
  explicit SizeChecks(Context &context) : context_(context), kernel_(context.kernel) {}

  void run() {
    for (AxisId axis : kernel_.size_arguments)
      argument(axis);
    divisors();
    for (size_t a = 0; a < kernel_.axes.size(); ++a)
      if (!(kernel_.axes[a].size == Size::axis(kernel_.axes[a].name)))
        computed(static_cast<AxisId>(a));
    for (const Axis &axis : kernel_.axes)
      if (axis.most_in_int > 0 && !axis.size.is_integer())
        held_in_int(axis);
    for (size_t v = 0; v < kernel_.vars.size(); ++v)
      extents(static_cast<VarId>(v));
    for (size_t t = 0; t < kernel_.tables.size(); ++t)
      table_extents(static_cast<TableId>(t));
    for (size_t t = 0; t < kernel_.tables.size(); ++t)
      table_facts(static_cast<TableId>(t));
  }

private:
  Check &add(Check::Kind kind, const std::string &argument, const std::string &message) {
    Check check;
    check.kind = kind;
    check.argument = argument;
    check.message = message;
    context_.facts.checks.push_back(std::move(check));
    return context_.facts.checks.back();
  }

  void argument(AxisId id) {
    const Axis &axis = kernel_.axes[id];
    const std::string name = axis.rest ? "rows" : axis.name;
    const Size size = Size::axis(axis.name);
    const auto fixed = kernel_.fixed_axes.find(axis.name);
    if (fixed != kernel_.fixed_axes.end()) {
      const std::string value = std::to_string(fixed->second);
      Check &check = add(Check::Kind::size_fixed, name, name + " must be one of the sizes that this was made for");
      check.condition = Size::make(Size::Op::equal, {size, Size::integer(fixed->second)});
      check.axis = id;
      return;
    }
    Check &negative = add(Check::Kind::size_negative, name, name + " must not be negative");
    negative.condition = at_least_zero(size);
    negative.axis = id;
    if (axis.multiple_of <= 1)
      return;
    const std::string factor = std::to_string(axis.multiple_of);
    Check &multiple = add(Check::Kind::size_multiple, name, name + " must be a multiple of " + factor);
    multiple.condition = Size::make(
        Size::Op::equal, {Size::make(Size::Op::modulo, {size, Size::integer(axis.multiple_of)}), Size::integer(0)});
    multiple.axis = id;
  }

  // No expression may divide by a size that is 0 (divisors that steps or tables enter are not among those).
  void divisors() {
    const auto look = [&](const Size &size, bool in_steps = false) {
      any_node(size, [&](const Size &node) {
        const bool divides = node.op == Size::Op::divide || node.op == Size::Op::modulo || node.op == Size::Op::cdiv;
        if (divides && context_.sizes_only(node.args[1]) && !Symbols(kernel_).positive(node.args[1]))
          divisor(node.args[1], in_steps);
        return false;
      });
    };
    for (const Axis &axis : kernel_.axes)
      look(axis.size);
    for (const Table &table : kernel_.tables)
      for (const Size &dim : table.dims)
        look(dim);
    for (const GridDim &dim : kernel_.grid)
      look(dim.size);
    for (const Var &var : kernel_.vars)
      for (const Dim &dim : var.dims)
        look(dim.extent);
    for (const Var &var : kernel_.vars)
      for (const Dim &dim : var.dims)
        for (const Size *size : {&dim.start, &dim.block})
          look(*size, true);
  }

  void divisor(const Size &size, bool in_steps) {
    if (!divided_.insert(to_string(size)).second)
      return;
    Check &check = add(Check::Kind::relation, to_string(size), to_string(size) + " must not be 0, for it divides");
    check.condition = Size::make(Size::Op::not_equal, {size, Size::integer(0)});
    if (in_steps)
      check.condition = context_.unless_no_steps(check.condition);
  }

  // An axis of `equals`, or one whose every extent is `X=e`.
  void computed(AxisId id) {
    const Axis &axis = kernel_.axes[id];
    if (proved_natural(axis.size))
      return;
    Check &check = add(axis.derived ? Check::Kind::size_derived : Check::Kind::extent_negative, axis.name,
                       axis.name + " = " + to_string(axis.size) + " would be negative");
    check.condition = at_least_zero(axis.size);
    check.axis = id;
  }

  void held_in_int(const Axis &axis) {
    Check &check = add(Check::Kind::relation, axis.name,
                       axis.name + " must be at most " + std::to_string(axis.most_in_int) +
                           ", or an int of the body would wrap around");
    check.condition = Size::make(Size::Op::less_equal, {axis.size, Size::integer(axis.most_in_int)});
  }

  bool proved_natural(const Size &size) const {
    Symbols symbols(kernel_);
    return symbols.nonnegative(symbols.polynomial(size));
  }

  void extents(VarId id) {
    const Var &var = kernel_.vars[id];
    const bool argument = var.kind == Var::Kind::output || (var.kind == Var::Kind::input && var.alias == kNone);
    if (!argument)
      return;
    std::vector<Size> factors = {Size::integer(bytes_of(var.type))};
    for (const Dim &dim : var.dims) {
      if (!proved_natural(dim.extent))
        non_negative(dim.extent, id, var.name);
      // A packed array counts its elements once: rows times row length is the total.
      const bool rows = std::any_of(var.dims.begin(), var.dims.end(), [&](const Dim &other) {
        return other.axis != kNone && dim.axis != kNone && kernel_.axes[other.axis].over == dim.axis;
      });
      if (!rows && !dim.extent.is_integer(1))
        factors.push_back(dim.extent);
    }
    overflow(std::move(factors), id, var.name);
  }

  void non_negative(const Size &extent, VarId id, const std::string &name) {
    Check &check = add(Check::Kind::extent_negative, name,
                       "an extent of " + name + ", " + to_string(extent) + ", would be negative");
    check.condition = at_least_zero(extent);
    check.var = id;
  }

  void overflow(std::vector<Size> factors, VarId id, const std::string &name) {
    if (std::all_of(factors.begin(), factors.end(), [](const Size &size) { return size.is_integer(); }))
      return;
    Check &check = add(Check::Kind::overflow, name, name + " has more bytes than can be counted");
    check.factors = std::move(factors);
    check.var = id;
  }

  void table_extents(TableId id) {
    const Table &table = kernel_.tables[id];
    std::vector<Size> factors = {Size::integer(bytes_of(table.type))};
    for (const Size &dim : table.dims) {
      if (!proved_natural(dim))
        non_negative(dim, kNone, table.name);
      factors.push_back(dim);
    }
    overflow(std::move(factors), kNone, table.name);
  }

  Check &fact(Check::Kind kind, TableId id, const std::string &message) {
    Check &check = add(kind, kernel_.tables[id].name, message);
    check.table = id;
    check.tables = {id};
    return check;
  }

  void table_facts(TableId id) {
    const Table &table = kernel_.tables[id];
    for (size_t a = 0; a < kernel_.axes.size(); ++a)
      if (kernel_.axes[a].ragged == id) {
        Check &check = fact(Check::Kind::ragged, id,
                            table.name + " must start at 0, never fall, and end at " + kernel_.axes[a].name);
        check.axis = static_cast<AxisId>(a);
        check.condition = kernel_.axes[a].size;
      }
    if (table.sorted)
      fact(Check::Kind::table_sorted, id, "entries of " + table.name + " must not fall");
    if (table.range)
      fact(Check::Kind::table_range, id,
           "entries of " + table.name + " must be at least 0 and less than " + to_string(*table.range))
          .condition = *table.range;
    if (table.unique)
      fact(Check::Kind::table_unique, id, "entries of " + table.name + " must differ from each other");
  }

  Context &context_;
  const Kernel &kernel_;
  std::set<std::string> divided_;
};

class StepChecks {
public:
  explicit StepChecks(Context &context) : context_(context), kernel_(context.kernel) {}

  void run() {
    for (size_t g = 0; g < kernel_.grid.size(); ++g)
      dimension(static_cast<GridId>(g));
    for (size_t v = 0; v < kernel_.vars.size(); ++v)
      windows(static_cast<VarId>(v));
    std::vector<Check> all = std::move(context_.facts.checks);
    // A window is judged only in steps that exist and with entries that do.
    const auto rank = [](const Check &check) {
      return check.kind == Check::Kind::window || check.kind == Check::Kind::table_runs ||
             check.kind == Check::Kind::table_disjoint || check.kind == Check::Kind::disjoint ||
             check.kind == Check::Kind::coverage;
    };
    std::stable_partition(all.begin(), all.end(), [&](const Check &check) { return !rank(check); });
    // One test settles a condition for all operands.
    std::set<std::string> seen;
    std::erase_if(all, [&](const Check &check) {
      const bool plain = check.factors.empty() && (check.table == kNone || check.kind == Check::Kind::table_index);
      return plain && !seen.insert(to_string(check.condition)).second;
    });
    context_.facts.checks = std::move(all);
  }

private:
  void add(Check check) { context_.facts.checks.push_back(std::move(check)); }

  Check step_check(Check::Kind kind, GridId g, const Size &condition, const std::string &message) {
    Check check;
    check.kind = kind;
    check.grid = g;
    check.condition = condition;
    check.loops = list_of(steps_of(kernel_, condition));
    check.tables = context_.tables_of(condition);
    check.argument = kernel_.grid[g].name;
    check.message = message;
    return check;
  }

  void dimension(GridId g) {
    const GridDim &dim = kernel_.grid[g];
    table_indices(dim.size, "the steps of " + dim.name);
    if (dim.axis != kNone)
      return;
    Symbols symbols(kernel_);
    const Polynomial steps = symbols.polynomial(dim.size);
    if (!symbols.nonnegative(steps))
      add(step_check(Check::Kind::grid_negative, g, at_least_zero(dim.size),
                     "the number of steps of " + dim.name + ", " + to_string(dim.size) + ", would be negative"));
    if (!symbols.nonnegative(steps - Polynomial::constant(1)))
      empty(g);
    if (dim.at_most)
      add(step_check(Check::Kind::at_most, g, Size::make(Size::Op::less_equal, {dim.size, *dim.at_most}),
                     dim.name + " would take more than " + to_string(*dim.at_most) + " steps"));
  }

  // At least one step wherever the output has elements.
  bool runs_when_needed(GridId g, const Var &output) const {
    std::vector<Size> extents;
    for (const Dim &dim : output.dims)
      extents.push_back(dim.extent);
    return Symbols(kernel_, extents).positive(kernel_.grid[g].size);
  }

  // No step at all: an output that has elements would stay unwritten. (Inner steps that depend on outer ones may well
  // be none for some of them, where windows move with them: whether they then reach everything was judged before.)
  void empty(GridId g) {
    for (size_t v = 0; v < kernel_.vars.size(); ++v) {
      const Var &var = kernel_.vars[v];
      if (var.kind != Var::Kind::output || var.partial)
        continue;
      const std::vector<GridId> &moves = context_.facts.operands[v].moves_with;
      const bool moves_inside =
          steps_of(kernel_, kernel_.grid[g].size) != 0 && std::find(moves.begin(), moves.end(), g) != moves.end();
      if (moves_inside || runs_when_needed(g, var))
        continue;
      Size elements_missing = Size::integer(0);
      for (auto dim = var.dims.rbegin(); dim != var.dims.rend(); ++dim)
        if (!dim->extent.is_integer())
          elements_missing = unless_empty(dim->extent, elements_missing);
      const Size condition =
          Size::make(Size::Op::choose, {Size::make(Size::Op::greater, {kernel_.grid[g].size, Size::integer(0)}),
                                        Size::integer(1), elements_missing});
      Check check = step_check(Check::Kind::grid_empty, g, condition,
                               kernel_.grid[g].name + " would take no step and leave " + var.name + " unwritten");
      check.var = static_cast<VarId>(v);
      add(std::move(check));
    }
  }

  void windows(VarId v) {
    const Var &var = kernel_.vars[v];
    if (var.kind != Var::Kind::input && var.kind != Var::Kind::output)
      return;
    for (const Dim &dim : var.dims) {
      if (dim.whole)
        continue;
      table_indices(dim.start, "the windows of " + var.name);
      const std::vector<TableId> tables = context_.tables_of(dim.start);
      if (tables.empty() || context_.on_host(tables))
        continue;
      Guard guard;
      guard.tables = tables;
      guard.var = v;
      guard.argument = var.name;
      guard.message = "a window of " + var.name + " lies outside";
      const auto add = [&](const Size &condition) {
        guard.condition = unless_empty(var, where_it_exists(kernel_, dim.start, condition, Size::integer(1)));
        context_.facts.guards.push_back(guard);
      };
      add(Size::make(Size::Op::less, {dim.start, dim.extent}));
      add(Size::make(Size::Op::greater, {Size::make(Size::Op::add, {dim.start, dim.block}), Size::integer(0)}));
    }
  }

  // Every table in an expression must be read inside its own extent.
  void table_indices(const Size &size, const std::string &what) {
    any_node(size, [&](const Size &node) {
      if (node.op != Size::Op::table)
        return false;
      for (size_t t = 0; t < kernel_.tables.size(); ++t)
        if (kernel_.tables[t].name == node.name)
          for (size_t d = 0; d < node.args.size() && d < kernel_.tables[t].dims.size(); ++d)
            table_index(static_cast<TableId>(t), node.args[d], kernel_.tables[t].dims[d], what);
      return false;
    });
  }

  void table_index(TableId table, const Size &index, const Size &extent, const std::string &what) {
    Size entry;
    entry.op = Size::Op::table;
    entry.name = kernel_.tables[table].name;
    entry.args = {index};
    const std::vector<Size> needed = lengths_needed(kernel_, entry);
    Symbols symbols(kernel_);
    for (const Size &length : needed)
      symbols.assume_positive(length);
    const Polynomial p = symbols.polynomial(index);
    const bool low = symbols.nonnegative(p);
    const bool high = symbols.nonnegative(symbols.polynomial(extent) - p - Polynomial::constant(1));
    if (low && high)
      return;
    Size condition =
        low    ? Size::make(Size::Op::less, {index, extent})
        : high ? at_least_zero(index)
               : Size::make(Size::Op::choose,
                            {at_least_zero(index), Size::make(Size::Op::less, {index, extent}), Size::integer(0)});
    condition = where_it_exists(kernel_, entry, condition, Size::integer(1));
    const Table &row = kernel_.tables[table];
    const std::vector<TableId> tables = context_.tables_of(condition);
    if (!tables.empty() && !context_.on_host(tables)) {
      Guard guard;
      guard.condition = condition;
      guard.tables = tables;
      guard.argument = row.name;
      guard.message = row.name + " is read outside its extent";
      context_.facts.guards.push_back(guard);
    }
    const Tested tested = tables.empty() ? context_.search.condition(condition, Size::integer(1)) : Tested{};
    const auto witness =
        tested.fails && !tested.holds ? executed(context_, tested.fails, Fault::table_outside, kNone) : std::nullopt;
    if (witness) {
      Diagnostic &error = context_.diags.add(DiagId::table_outside, row.place, {row.name});
      error.help =
          to_string(kernel_, *witness) + ": " + what + " read entry " + to_string(index) + " of " + to_string(extent);
      return;
    }
    Check check;
    check.kind = Check::Kind::table_index;
    check.condition = condition;
    check.loops = list_of(steps_of(kernel_, condition));
    check.tables = tables;
    check.table = table;
    check.argument = row.name;
    check.message = what + " read " + row.name + " outside its extent";
    add(std::move(check));
  }

  Context &context_;
  const Kernel &kernel_;
};

} // namespace

void collect_size_checks(Context &context) { SizeChecks(context).run(); }

void collect_step_checks(Context &context) { StepChecks(context).run(); }

} // namespace kgen::analysis
