#include "emit/interface.h"

#include <algorithm>
#include <set>

#include "analysis/in_place.h"
#include "ir/interpret_sizes.h"
#include "plan/exprs.h"
#include "support/check.h"

namespace kgen {
namespace {

// Derived sizes are no arguments: what they follow from stands for them.
Size in_arguments(const Kernel &kernel, const Size &size) {
  return rewrite(size, [&](const Size &s) -> std::optional<Size> {
    if (s.op != Size::Op::axis)
      return std::nullopt;
    for (const Axis &axis : kernel.axes)
      if (axis.name == s.name && axis.derived)
        return in_arguments(kernel, axis.size);
    return std::nullopt;
  });
}

// "[M, (G * C), 4]": the array's dimensions as the caller sees them.
std::string extents_of(const Kernel &kernel, const Var &var) {
  std::string text = "[";
  int last = -1;
  for (size_t d = 0; d < var.dims.size(); ++d) {
    if (interpreter::is_packed(kernel, var, d)) // rows lie one behind the other: the ragged axis behind has all of them
      continue;
    const std::string one = to_string(in_arguments(kernel, var.dims[d].extent));
    if (var.dims[d].array_dim == last)
      text += " * (" + one + ")";
    else
      text += (text.size() > 1 ? ", " : "") +
              (d + 1 < var.dims.size() && var.dims[d + 1].array_dim == var.dims[d].array_dim ? "(" + one + ")" : one);
    last = var.dims[d].array_dim;
  }
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
      a.extents = extents_of(kernel, var);
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
      for (size_t d = 0; d < table.dims.size(); ++d)
        a.extents += (d == 0 ? "[" : ", ") + to_string(table.dims[d]);
      a.extents += "]";
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

// A size beyond that, in a sum, might leave 64 bits before the sum is looked at.
constexpr const char *kMostInSums = "INT64_MAX / 8";

class CheckPrinter {
public:
  CheckPrinter(Printer &printer, Statuses &statuses, bool device) : p_(printer), statuses_(statuses), device_(device) {}

  void check(const Check &c) {
    if (c.kind == Check::Kind::overflow && !is_new(c))
      return;
    const int status = statuses_.of(c.message);
    const std::string refuse = "return " + std::to_string(status) + ";";
    if (device_ && reads_device_table(c))
      return;
    switch (c.kind) {
    case Check::Kind::overflow: {
      std::string factors;
      for (const Size &f : c.factors)
        bound_sums(f, refuse);
      for (const Size &f : c.factors)
        factors += (factors.empty() ? "" : ", ") + p_.size_text(f);
      p_.lines.add("if (" + p_.spelling.helper("overflows") + "({" + factors + "})) " + refuse);
      return;
    }
    case Check::Kind::table_sorted:
      return entries(c, "1", "TABLE[entry - 1] > TABLE[entry]", refuse);
    case Check::Kind::table_range:
      return entries(c, "0", "TABLE[entry] < 0 || TABLE[entry] >= " + at_least(p_.size(c.condition), binding::kAdd),
                     refuse);
    case Check::Kind::table_unique: {
      const Table &t = p_.kernel.tables[c.table];
      p_.lines.add("if (" + p_.spelling.helper("has_duplicates") + "(" + c_name(t.name) + ", " + count(t) + ")) " +
                   refuse);
      return;
    }
    case Check::Kind::ragged: {
      const Table &t = p_.kernel.tables[c.table];
      const std::string n = count(t);
      p_.lines.add("if (" + n + " > 0 && (" + c_name(t.name) + "[0] != 0 || " + c_name(t.name) + "[" + n +
                   " - 1] != " + p_.size_name(c.axis) + ")) " + refuse);
      return entries(c, "1", "TABLE[entry - 1] > TABLE[entry]", refuse);
    }
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

  // The same product, in any order, need not be asked for twice.
  // `B + 1` is computed before the product is tested, so B itself is bounded first.
  void bound_sums(const Size &factor, const std::string &refuse) {
    if (factor.args.empty())
      return;
    any_node(factor, [&](const Size &node) {
      if (node.op == Size::Op::axis && bounded_.insert(node.name).second)
        p_.lines.add("if (" + p_.size_text(node) + " > " + kMostInSums + ") " + refuse);
      return false;
    });
  }

  bool is_new(const Check &c) {
    std::multiset<std::string> factors;
    for (const Size &f : c.factors)
      factors.insert(to_string(f));
    std::string key;
    for (const std::string &f : factors)
      key += f + ";";
    return seen_.insert(key).second;
  }

  bool reads_device_table(const Check &c) const {
    return std::any_of(c.tables.begin(), c.tables.end(), [&](TableId t) { return !p_.kernel.tables[t].on_host; });
  }

  std::string count(const Table &table) {
    std::string text;
    for (const Size &dim : table.dims)
      text += (text.empty() ? "" : " * ") + at_least(p_.size(dim), binding::kMultiply);
    return table.dims.size() > 1
               ? "(" + text + ")"
               : at_least({text, table.dims[0].args.empty() ? binding::kPrimary : binding::kAdd}, binding::kAdd);
  }

  void entries(const Check &c, const std::string &first, std::string bad, const std::string &refuse) {
    const Table &t = p_.kernel.tables[c.table];
    for (size_t at; (at = bad.find("TABLE")) != std::string::npos;)
      bad.replace(at, 5, c_name(t.name));
    p_.lines.add("for (int64_t entry = " + first + "; entry < " + count(t) + "; ++entry) {");
    p_.lines.add("if (" + bad + ") " + refuse);
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
    p_.lines.add("if (!windows." + std::string(c.kind == Check::Kind::table_runs ? "continues" : "is_new") + "({" +
                 key + "})) " + refuse);
    for (size_t i = 0; i < loops.size(); ++i)
      p_.lines.add("}");
    p_.lines.add("}");
  }

  Printer &p_;
  Statuses &statuses_;
  bool device_;
  std::set<std::string> seen_;    // conditions that an earlier line has refused
  std::set<std::string> bounded_; // sizes
};

bool is_output(const Argument &a) { return a.kind == Argument::Kind::out || a.kind == Argument::Kind::inout; }

// The elements of an output whose strides are arguments must not lie on each other.
void print_apart(const Kernel &kernel, const Var &var, Printer &p, Statuses &statuses) {
  std::string dims;
  for (size_t d = 0; d < var.dims.size();) {
    const int array_dim = var.dims[d].array_dim;
    Size extent = Size::integer(1);
    for (; d < var.dims.size() && var.dims[d].array_dim == array_dim; ++d)
      extent = Size::make(Size::Op::multiply, {extent, var.dims[d].extent});
    dims += (dims.empty() ? "{" : ", {") + p.size_text(extent) + ", " + stride_name(kernel, var, array_dim) + "}";
  }
  p.lines.add(
      "if (!" + p.spelling.helper("keeps_apart") + "({" + dims + "})) return " +
      std::to_string(statuses.of("the strides of " + c_name(var.name) + " must keep its elements apart, in memory")) +
      ";");
}

// Outputs must be memory of their own, or exactly an input that may be overwritten.
class OverlapPrinter {
public:
  OverlapPrinter(const Function &function, const Variation &variation, Printer &p, Statuses &statuses)
      : p_(p), statuses_(statuses), in_place_(variation.kernel, variation.facts) {
    const Kernel &kernel = variation.kernel;
    for (const Argument &a : function.arguments) {
      if (a.var == kNone || kernel.vars[a.var].strided)
        continue;
      const Var &var = kernel.vars[a.var];
      const Size bytes =
          Size::make(Size::Op::multiply, {variation.facts.operands[a.var].elements, Size::integer(bytes_of(var.type))});
      arrays_.push_back({&a, p.size_text(bytes)});
    }
  }

  void print() {
    constexpr size_t kMostPairs = 64; // then a sentence for each is too much
    const auto outputs = static_cast<size_t>(
        std::count_if(arrays_.begin(), arrays_.end(), [](const Array &a) { return is_output(*a.argument); }));
    if (outputs * (arrays_.size() - 1) > kMostPairs)
      return print_list();
    for (const Array &out : arrays_)
      for (const Array &other : arrays_)
        if (is_output(*out.argument) && out.argument != other.argument &&
            (!is_output(*other.argument) || other.argument->name >= out.argument->name))
          print_pair(out, other);
  }

private:
  struct Array {
    const Argument *argument;
    std::string bytes;
  };

  void print_pair(const Array &out, const Array &other) {
    const std::string &z = out.argument->name, &x = other.argument->name;
    const bool same = may_be(out, other);
    p_.lines.add("if (" + std::string(same ? "static_cast<const void*>(" + x + ") != " + z + " && " : "") +
                 p_.spelling.helper("overlap") + "(" + x + ", " + other.bytes + ", " + z + ", " + out.bytes +
                 ")) return " + std::to_string(statuses_.of(z + " must not overlap " + x)) + ";");
  }

  bool may_be(const Array &out, const Array &other) const {
    return other.argument->kind == Argument::Kind::in && in_place_.allowed(other.argument->var, out.argument->var);
  }

  // Each array with its status, and the inputs that it may be.
  void print_list() {
    p_.lines.add("if (const int status = " + p_.spelling.helper("overlapping") + "({");
    for (const Array &array : arrays_) {
      const std::string &name = array.argument->name;
      std::string line = "{" + name + ", " + array.bytes;
      if (is_output(*array.argument)) {
        line += ", " + std::to_string(statuses_.of(name + " must not overlap another array"));
        std::string inputs;
        for (const Array &other : arrays_)
          if (may_be(array, other))
            inputs += (inputs.empty() ? "" : ", ") + other.argument->name;
        if (!inputs.empty())
          line += ", {" + inputs + "}";
      }
      p_.lines.add(line + "}" + (&array == &arrays_.back() ? "" : ","));
    }
    p_.lines.add("})) return status;");
  }

  Printer &p_;
  Statuses &statuses_;
  std::vector<Array> arrays_;
  InPlace in_place_;
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

int Statuses::of(const std::string &message) {
  const auto [found, fresh] = numbers_.try_emplace(message, static_cast<int>(messages_.size()) + 1);
  if (fresh)
    messages_.push_back(message);
  return found->second;
}

std::vector<Function> functions_of(const Spec &spec, const std::vector<Variation> &variations) {
  std::vector<Function> out;
  for (const Variation &v : variations) {
    const std::string stem = spec.kernel + (v.variant.suffix.empty() ? "" : "_" + v.variant.suffix);
    if (out.empty() || out.back().stem != stem)
      out.push_back({stem, {}, arguments_of(v.kernel)});
    out.back().variations.push_back(&v);
  }
  return out;
}

bool has_device_tables(const Kernel &kernel) {
  return std::any_of(kernel.tables.begin(), kernel.tables.end(), [](const Table &t) { return !t.on_host; });
}

void print_checks(const Function &function, const Variation &variation, Printer &p, Statuses &statuses, bool device) {
  const Kernel &kernel = variation.kernel;
  CheckPrinter checks(p, statuses, device);
  // Sizes first, then pointers (whether one may be null hangs on the sizes), then what reads tables.
  auto reads_tables = [](const Check &c) { return !c.tables.empty() || c.table != kNone; };
  for (const Check &c : variation.facts.checks)
    if (!reads_tables(c))
      checks.check(c);
  for (const Argument &a : function.arguments) {
    std::string elements;
    if (a.var != kNone && !a.optional)
      elements = p.size_text(variation.facts.operands[a.var].elements);
    if (a.table != kNone)
      for (const Size &dim : kernel.tables[a.table].dims)
        elements += (elements.empty() ? "" : " * ") + at_least(p.size(dim), binding::kMultiply);
    if (elements.empty())
      continue;
    const bool always = elements == "1";
    p.lines.add("if (" + a.name + " == nullptr" +
                (always ? "" : " && " + at_least({elements, binding::kMultiply}, binding::kLess) + " > 0") +
                ") return " + std::to_string(statuses.of(a.name + " must not be null")) + ";");
  }
  for (const Check &c : variation.facts.checks)
    if (reads_tables(c))
      checks.check(c);
  for (const Var &var : kernel.vars)
    if (var.kind == Var::Kind::output && var.strided)
      print_apart(kernel, var, p, statuses);
  OverlapPrinter(function, variation, p, statuses).print();
}

} // namespace kgen
