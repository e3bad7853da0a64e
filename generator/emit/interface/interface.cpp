#include "emit/interface/interface.h"

#include <algorithm>
#include <set>

#include "emit/interface/arrays.h"
#include "emit/interface/computed_sizes.h"
#include "emit/interface/requirements.h"
#include "emit/interface/table_checks.h"
#include "ir/interpret_sizes.h"
#include "ir/picked_windows.h"
#include "plan/index/exprs.h"
#include "support/check.h"

namespace kgen {
namespace {

// "[M, (G * C), 4]": the array's dimensions as the caller sees them.
std::string extents_of(const Function &function, VarId id) {
  const Kernel &kernel = function.variations[0]->kernel;
  const Var &var = kernel.vars[id];
  std::string text = "[";
  int last = -1;
  for (size_t d = 0; d < var.dims.size(); ++d) {
    if (interpreter::is_packed(kernel, var, d)) // rows lie one behind the other: the ragged axis behind has all of them
      continue;
    const std::string one = to_string(over_variations(
        function, [&](const Kernel &of) { return in_arguments(of, extent_in_arguments(of, of.vars[id].dims[d])); }));
    if (var.dims[d].array_dim == last)
      text += " * (" + one + ")";
    else
      text += (text.size() > 1 ? ", " : "") +
              (d + 1 < var.dims.size() && var.dims[d + 1].array_dim == var.dims[d].array_dim ? "(" + one + ")" : one);
    last = var.dims[d].array_dim;
  }
  return text + "]";
}

std::string table_extents(const Function &function, TableId id) {
  std::string text;
  for (size_t d = 0; d < function.variations[0]->kernel.tables[id].dims.size(); ++d)
    text += (d == 0 ? "[" : ", ") +
            to_string(over_variations(function, [&](const Kernel &of) { return of.tables[id].dims[d]; }));
  return text + "]";
}

std::vector<Argument> arguments_of(const Kernel &kernel) {
  std::vector<Argument> out, strides;
  for (const ArgumentRef &ref : kernel.arguments) {
    Argument a{};
    switch (ref.kind) {
    case ArgumentRef::Kind::operand: {
      const Var &var = kernel.vars[ref.index];
      if (var.kind == Var::Kind::scratch || (var.kind == Var::Kind::input && var.alias != kNone))
        continue;
      a.kind = var.kind == Var::Kind::input ? Argument::Kind::in
               : var.alias != kNone         ? Argument::Kind::inout
                                            : Argument::Kind::out;
      a.name = c_name(var.name);
      a.type = Spelling::c_type(var.type);
      a.optional = var.optional;
      a.var = ref.index;
      if (var.strided) {
        int last = -1;
        for (const Dim &dim : var.dims) {
          if (dim.array_dim == last)
            continue;
          last = dim.array_dim;
          Argument s{};
          s.kind = Argument::Kind::stride;
          s.name = stride_name(kernel, var, last);
          s.type = "int64_t";
          strides.push_back(s);
        }
      }
      break;
    }
    case ArgumentRef::Kind::scalar:
      a.kind = Argument::Kind::scalar;
      a.name = c_name(kernel.scalars[ref.index].name);
      a.type = is_half(kernel.scalars[ref.index].type) ? "float" : Spelling::c_type(kernel.scalars[ref.index].type);
      break;
    case ArgumentRef::Kind::table: {
      const Table &table = kernel.tables[ref.index];
      a.kind = Argument::Kind::table;
      a.name = c_name(table.name);
      a.type = Spelling::c_type(table.type);
      a.table = ref.index;
      break;
    }
    }
    out.push_back(a);
  }
  for (AxisId axis : kernel.size_arguments) {
    Argument a{};
    a.kind = Argument::Kind::size;
    a.name = kernel.axes[axis].rest ? "rows" : c_name(kernel.axes[axis].name);
    a.type = "int64_t";
    out.push_back(a);
  }
  out.insert(out.end(), strides.begin(), strides.end());
  return out;
}

StatusKind status_kind(Check::Kind kind) {
  using K = Check::Kind;
  switch (kind) {
  case K::size_negative:
  case K::size_derived:
  case K::extent_negative:
  case K::grid_negative:
    return StatusKind::negative_size;
  case K::size_multiple:
  case K::size_fixed:
  case K::relation:
    return StatusKind::size_not_allowed;
  case K::overflow:
    return StatusKind::too_large;
  case K::grid_empty:
  case K::at_most:
    return StatusKind::steps;
  case K::window:
  case K::disjoint:
  case K::coverage:
    return StatusKind::window;
  case K::table_index:
    return StatusKind::table_outside;
  case K::table_sorted:
    return StatusKind::table_sorted;
  case K::table_unique:
    return StatusKind::table_unique;
  case K::table_range:
    return StatusKind::table_range;
  case K::table_runs:
    return StatusKind::table_return;
  case K::table_disjoint:
    return StatusKind::table_conflict;
  case K::ragged:
    return StatusKind::table_offsets;
  }
  KGEN_UNREACHABLE("kind of check");
}

class CheckPrinter {
public:
  CheckPrinter(Printer &printer, Statuses &statuses, CheckedIn where)
      : p_(printer), statuses_(statuses), where_(where) {}

  // All in one line. One of the sizes that a function was made for is among them, for the choice comes later.
  void negative_sizes(const std::vector<Check> &checks) {
    std::string list;
    for (const Check &c : checks)
      if (c.kind == Check::Kind::size_negative || c.kind == Check::Kind::size_fixed) {
        statuses_.of(StatusKind::negative_size, c.argument + " must not be negative", c.argument);
        list += (list.empty() ? "{" : ", {") + std::to_string(statuses_.place(c.argument)) + ", " + c_name(c.argument) +
                "}";
      }
    if (!list.empty())
      p_.lines.add("if (const int status = " + p_.spelling.helper("check_sizes") + "({" + list + "})) return " +
                   (is_query(where_) ? "-" : "") + "status;");
  }

  void check(const Check &c) {
    const bool of_device = where_ == CheckedIn::device_launcher && reads_device_table(p_.kernel, c);
    const std::string status = status_of_check(c, statuses_);
    if (of_device)
      return;
    p_.spelling.helper("status_of");
    const std::string refuse = "return " + std::string(is_query(where_) ? "-" : "") + status + ";";
    switch (c.kind) {
    case Check::Kind::table_sorted:
    case Check::Kind::table_range:
      return entries(c, refuse);
    case Check::Kind::table_unique: {
      const Table &t = p_.kernel.tables[c.table];
      p_.lines.add("if (" + p_.spelling.helper("has_duplicates") + "(" + c_name(t.name) + ", " + entries_of(p_, t) +
                   ")) " + refuse);
      return;
    }
    case Check::Kind::ragged:
      p_.lines.add("if (" + wrong_ends(p_, c) + ") " + refuse);
      return entries(c, refuse);
    case Check::Kind::table_runs:
    case Check::Kind::table_disjoint:
      return windows(c, refuse);
    default:
      break;
    }
    const std::vector<GridId> loops = closed(c.loops);
    for (GridId g : loops)
      p_.lines.add("for (int64_t " + p_.grid_name(g) + " = 0; " + p_.grid_name(g) + " < " + p_.steps_text(g) + "; ++" +
                   p_.grid_name(g) + ") {");
    p_.lines.add("if (!(" + p_.size_text(c.condition) + ")) " + refuse);
    for (size_t i = 0; i < loops.size(); ++i)
      p_.lines.add("}");
  }

private:
  // The dimensions and those outside them that their numbers of steps name, outermost first.
  std::vector<GridId> closed(const std::vector<GridId> &loops) const {
    std::set<GridId> all(loops.begin(), loops.end());
    for (size_t g = p_.kernel.grid.size(); g-- > 0;) {
      if (all.count(static_cast<GridId>(g)) == 0)
        continue;
      const Size steps = grid_steps(p_.kernel, static_cast<GridId>(g));
      for (size_t outer = 0; outer < g; ++outer)
        if (any_node(steps,
                     [&](const Size &s) { return s.op == Size::Op::grid && s.name == p_.kernel.grid[outer].name; }))
          all.insert(static_cast<GridId>(outer));
    }
    return {all.begin(), all.end()};
  }

  void entries(const Check &c, const std::string &refuse) {
    const EntryCheck entry = entry_check(p_, c);
    p_.lines.add("for (int64_t entry = " + entry.first + "; entry < " + entries_of(p_, p_.kernel.tables[c.table]) +
                 "; ++entry) {");
    p_.lines.add("if (" + entry.bad + ") " + refuse);
    p_.lines.add("}");
  }

  // Table-ordered windows: each output block may be visited by one run of steps (of one parallel instance) only.
  void windows(const Check &c, const std::string &refuse) {
    const Var &var = p_.kernel.vars[c.var];
    std::string key;
    std::vector<GridId> loops = closed(c.loops);
    if (loops.empty())
      for (size_t g = 0; g < p_.kernel.grid.size(); ++g)
        loops.push_back(static_cast<GridId>(g));
    for (const Dim &dim : var.dims)
      if (any_node(dim.start, [](const Size &s) { return s.op == Size::Op::grid; }))
        key += (key.empty() ? "" : ", ") + p_.size_text(dim.start);
    p_.lines.add("{");
    p_.lines.add(p_.spelling.helper("WindowSet") + " windows;");
    for (GridId g : loops)
      p_.lines.add("for (int64_t " + p_.grid_name(g) + " = 0; " + p_.grid_name(g) + " < " + p_.steps_text(g) + "; ++" +
                   p_.grid_name(g) + ") {");
    for (const Dim &dim : var.dims)
      for (const Size &length : dim.whole ? std::vector<Size>{} : lengths_needed(p_.kernel, dim.start))
        p_.lines.add("if (" + at_least(p_.size(length), binding::kAdd) + " <= 0) continue;"); // there is none
    p_.lines.add("if (!windows." + std::string(c.kind == Check::Kind::table_runs ? "continues" : "is_new") + "({" +
                 key + "})) " + refuse);
    for (size_t i = 0; i < loops.size(); ++i)
      p_.lines.add("}");
    p_.lines.add("}");
  }

  Printer &p_;
  Statuses &statuses_;
  CheckedIn where_;
};

} // namespace

std::string Argument::declaration() const {
  switch (kind) {
  case Kind::in:
  case Kind::table:
    return "const " + type + "* " + name;
  case Kind::out:
  case Kind::inout:
    return type + "* " + name;
  default:
    return type + " " + name;
  }
}

bool is_query(CheckedIn where) { return where == CheckedIn::host_query || where == CheckedIn::device_query; }

std::vector<std::string> names_of_arguments(const Function &function) {
  std::vector<std::string> out;
  for (const Argument &a : function.arguments)
    out.push_back(a.name);
  return out;
}

std::vector<Function> functions_of(const Spec &spec, const std::vector<Variation> &variations) {
  std::vector<Function> out;
  for (const Variation &v : variations) {
    const std::string stem = spec.kernel + (v.variant.suffix.empty() ? "" : "_" + v.variant.suffix);
    if (out.empty() || out.back().stem != stem)
      out.push_back({stem, {}, arguments_of(v.kernel)});
    out.back().variations.push_back(&v);
  }
  for (Function &function : out)
    for (Argument &a : function.arguments)
      a.extents = a.var != kNone     ? extents_of(function, a.var)
                  : a.table != kNone ? table_extents(function, a.table)
                                     : "";
  return out;
}

bool has_device_tables(const Kernel &kernel) {
  return std::any_of(kernel.tables.begin(), kernel.tables.end(), [](const Table &t) { return !t.on_host; });
}

bool reads_device_table(const Kernel &kernel, const Check &check) {
  return std::ranges::any_of(check.tables, [&](TableId t) { return !kernel.tables[t].on_host; });
}

std::string status_of_check(const Check &check, Statuses &statuses) {
  return statuses.of(status_kind(check.kind), check.message, check.grid == kNone ? check.argument : std::string());
}

namespace {

// Of a single argument, on whose value nothing else depends.
bool is_of_argument(const Check &c) {
  return c.kind == Check::Kind::size_negative || c.kind == Check::Kind::size_multiple ||
         c.kind == Check::Kind::size_fixed;
}

bool reads_tables(const Check &c) { return !c.tables.empty() || c.table != kNone; }

// What must hold before the elements of arrays can be counted.
bool is_of_sizes(const Check &c) {
  return c.kind == Check::Kind::size_derived || c.kind == Check::Kind::extent_negative ||
         (c.kind == Check::Kind::relation && !reads_tables(c));
}

} // namespace

void print_argument_checks(const Variation &variation, Printer &p, Statuses &statuses, CheckedIn where) {
  CheckPrinter checks(p, statuses, where);
  checks.negative_sizes(variation.facts.checks);
  for (const Check &c : variation.facts.checks)
    if (c.kind == Check::Kind::size_multiple)
      checks.check(c);
  print_computed_sizes(variation, p, statuses, where);
}

// Other sizes first, then arrays (whether one may be null depends on the sizes), then what reads tables.
void print_checks(const Function &function, const Variation &variation, Printer &p, Statuses &statuses,
                  CheckedIn where) {
  const Kernel &kernel = variation.kernel;
  CheckPrinter checks(p, statuses, where);
  for (const Check &c : variation.facts.checks)
    if (is_of_sizes(c))
      checks.check(c);
  if (!is_query(where)) {
    print_arrays(function, variation, p, statuses);
    for (const bool of_tables : {false, true})
      for (const Check &c : variation.facts.checks)
        if (reads_tables(c) == of_tables && !is_of_argument(c) && !is_of_sizes(c) && c.kind != Check::Kind::overflow)
          checks.check(c); // those of bytes have the table of arrays
    print_requirements(p, statuses, where == CheckedIn::device_launcher);
  }
  const std::string nothing = writes_nothing(kernel, p);
  const bool on_device = where == CheckedIn::device_launcher || where == CheckedIn::device_query;
  if (!nothing.empty() && !(on_device && has_device_tables(kernel))) // else kernels have yet to look at the tables
    p.lines.add("if (" + nothing + ") return 0;");
  print_kept_sizes(variation, p, statuses, where);
}

} // namespace kgen
