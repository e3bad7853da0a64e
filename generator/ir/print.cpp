// The kernel as text, for --stop-after ir and goldens: every type, axis set, window and statement, one line each.
#include "ir/kernel.h"

#include <cmath>
#include <cstdio>

#include "ir/op_rows.h"
#include "support/check.h"

namespace kgen {

namespace {

constexpr std::string_view kMonoids[] = {"sum", "prod", "min", "max", "mean", "all", "any", "argmax", "argmin"};
constexpr std::string_view kScans[] = {"cumsum", "cumprod", "cummax", "linrec"};

std::string name_of(Type type) { return std::string(type_row(type).name); }

// Binding strength of infix operations, as in C++; 0: printed as a call.
int strength(Op op) {
  switch (op) {
  case Op::choose:
    return 1;
  case Op::either:
    return 2;
  case Op::both:
    return 3;
  default:
    return is_scalar_op(op) ? op_row(op).binds : 0;
  }
}

std::string_view spelling(Op op) { return op == Op::both ? "&&" : op == Op::either ? "||" : op_row(op).cpp; }

std::string number_text(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  std::string out = text;
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

class Printer {
public:
  explicit Printer(const Kernel &kernel) : k_(kernel) {}

  std::string expr(ExprId id, int outer = 0) const {
    const Expr &e = k_.expr(id);
    int own = strength(e.op);
    std::string text = own > 0 ? infix(e, own) : plain(e);
    return own > 0 && own < outer ? "(" + text + ")" : text;
  }

  std::string all() {
    header();
    for (const Requirement &r : k_.requirements)
      line("require " + expr(r.condition) + " \"" + r.text + "\"", 0);
    line("body", 0);
    statements(k_.statements, 1);
    return out_;
  }

private:
  std::string infix(const Expr &e, int own) const {
    if (e.op == Op::choose)
      return expr(e.args[0], own + 1) + " ? " + expr(e.args[1], own + 1) + " : " + expr(e.args[2], own);
    if (e.args.size() == 1)
      return std::string(spelling(e.op)) + expr(e.args[0], own);
    return expr(e.args[0], own) + " " + std::string(spelling(e.op)) + " " + expr(e.args[1], own + 1);
  }

  std::string call(const std::string &name, const Expr &e) const {
    std::string out = name + "(";
    for (size_t i = 0; i < e.args.size(); ++i)
      out += (i ? ", " : "") + expr(e.args[i]);
    return out + ")";
  }

  std::string axis(AxisId id) const { return id == kNone ? "?" : k_.axes[id].name; }

  std::string axes(AxisSet set, const char *open = "{", const char *close = "}") const {
    std::string out = open;
    for (AxisId id : set.list())
      out += (out.size() > 1 ? ", " : "") + axis(id);
    return out + close;
  }

  std::string coords(const std::vector<Coordinate> &list) const {
    std::string out = "[";
    for (const Coordinate &c : list)
      out += (out.size() > 1 ? ", " : "") + axis(c.axis) + " = " + expr(c.value);
    return out + "]";
  }

  std::string subscripts(const std::vector<ExprId> &list) const {
    std::string out;
    for (ExprId id : list)
      out += "[" + expr(id) + "]";
    return out;
  }

  std::string fold(const Expr &e) const {
    std::string out = std::string(kMonoids[static_cast<int>(e.monoid)]) + "." + name_of(e.accumulator);
    out += axes(e.reduced, "[", "]") + "(" + expr(e.args[0]);
    return out + (e.args.size() > 1 ? " where " + expr(e.args[1]) : "") + ")";
  }

  std::string scan(const Expr &e) const {
    std::string name(kScans[static_cast<int>(e.scan)]);
    name += std::string(e.reverse ? "_reverse" : "") + (e.exclusive ? "_exclusive" : "");
    return call(name + "." + name_of(e.accumulator) + "[" + axis(e.axis) + "]", e);
  }

  std::string about(const Expr &e) const { return e.ref == kNone ? "" : k_.vars[e.ref].name + ", "; }

  std::string constant(const Expr &e) const {
    if (is_floating(e.type))
      return number_text(e.number);
    if (e.type == Type::boolean)
      return e.integer ? "true" : "false";
    return e.type == Type::u64 ? std::to_string(static_cast<uint64_t>(e.integer)) : std::to_string(e.integer);
  }

  std::string plain(const Expr &e) const {
    switch (e.op) {
    case Op::constant:
      return constant(e);
    case Op::scalar:
      return k_.scalars[e.ref].name;
    case Op::read:
      return k_.vars[e.ref].name + (e.coords.empty() ? "" : coords(e.coords));
    case Op::element:
      return k_.vars[e.ref].name + subscripts(e.args);
    case Op::table:
      return k_.tables[e.ref].name + subscripts(e.args);
    case Op::index:
    case Op::size:
      return std::string(op_name(e.op)) + "(" + about(e) + axis(e.axis) + ")";
    case Op::block:
      return "block(" + axis(e.axis) + ")";
    case Op::row_of:
      return call("row of " + axis(k_.axes[e.axis].over), e);
    case Op::grid_index:
      return k_.grid[e.ref].name;
    case Op::grid_size:
      return "size(" + k_.grid[e.ref].name + ")";
    case Op::first:
    case Op::last:
      return std::string(op_name(e.op)) + "(" + k_.grid[e.ref].name + ")";
    case Op::window_first:
      return "first(" + k_.vars[e.ref].name + ")";
    case Op::window_last:
      return "last(" + k_.vars[e.ref].name + ")";
    case Op::present:
      return "present(" + k_.vars[e.ref].name + ")";
    case Op::inside:
      return "inside(" + k_.vars[e.ref].name + coords(e.coords) + ")";
    case Op::cast:
      return call(name_of(e.type), e);
    case Op::bitcast:
      return call("bitcast." + name_of(e.type), e);
    case Op::round_like:
      return call("round." + name_of(e.element), e);
    case Op::fold:
      return fold(e);
    case Op::scan:
      return scan(e);
    case Op::named_call:
      return call(k_.named_functions[e.ref], e);
    case Op::kept:
      return call("kept", e);
    default:
      return call(std::string(op_name(e.op)), e);
    }
  }

  void line(const std::string &text, int depth) { out_ += std::string(2 * depth, ' ') + text + "\n"; }

  void header() {
    line("kernel " + k_.name + (k_.suffix.empty() ? "" : "_" + k_.suffix), 0);
    if (!k_.axes.empty())
      line("axes", 0);
    for (const Axis &a : k_.axes)
      line(describe(a), 1);
    if (!k_.tables.empty())
      line("tables", 0);
    for (const Table &t : k_.tables)
      line(describe(t), 1);
    if (!k_.scalars.empty())
      line("scalars", 0);
    for (const ScalarArgument &s : k_.scalars)
      line(s.name + ": " + name_of(s.type), 1);
    line("operands", 0);
    for (const Var &v : k_.vars)
      if (v.kind != Var::Kind::local)
        operand(v);
    bool locals = false;
    for (const Var &v : k_.vars) {
      if (v.kind != Var::Kind::local)
        continue;
      if (!locals)
        line("locals", 0);
      locals = true;
      std::string array;
      for (int64_t n : v.array)
        array += "[" + std::to_string(n) + "]";
      line(v.name + array + ": " + name_of(v.type) + " " + axes(v.axes), 1);
    }
    if (!k_.grid.empty())
      line("grid", 0);
    for (const GridDim &g : k_.grid)
      line(describe(g), 1);
    line("arguments " + arguments(), 0);
  }

  std::string describe(const Axis &a) const {
    std::string out = a.name + ": size " + to_string(a.size);
    if (k_.fixed_axes.count(a.name))
      out += ", specialised";
    if (a.derived)
      out += ", derived";
    if (a.batch)
      out += ", batch";
    if (a.rest)
      out += ", flattened";
    if (a.multiple_of != 1)
      out += ", multiple of " + std::to_string(a.multiple_of);
    if (a.ragged != kNone)
      out += ", ragged by " + k_.tables[a.ragged].name + " over " + axis(a.over);
    if (a.grid != kNone)
      out += ", blocked by " + k_.grid[a.grid].name;
    return out + (a.uniform ? ", from " + to_string(a.start) + " block " + to_string(a.block) : ", windows differ");
  }

  std::string describe(const Table &t) const {
    std::string out = t.name + ": " + name_of(t.type) + "[";
    for (size_t i = 0; i < t.dims.size(); ++i)
      out += (i ? ", " : "") + to_string(t.dims[i]);
    out += "]";
    out += std::string(t.sorted ? ", sorted" : "") + (t.unique ? ", unique" : "") + (t.on_host ? ", on host" : "");
    return out + (t.range ? ", below " + to_string(*t.range) : "");
  }

  std::string describe(const GridDim &g) const {
    std::string out = g.name + ": " + to_string(g.size) + " steps";
    if (g.at_most)
      out += ", at most " + to_string(*g.at_most);
    if (g.axis != kNone)
      out += ", " + axis(g.axis) + " by " + to_string(g.block);
    return out + ", " + (g.semantics == Semantics::parallel ? "parallel" : "arbitrary") + (g.stated ? "" : " (open)");
  }

  void operand(const Var &v) {
    constexpr std::string_view kinds[] = {"input", "output", "scratch", "local"};
    std::string out =
        std::string(kinds[static_cast<int>(v.kind)]) + " " + v.name + ": " + name_of(v.type) + "[" + dims(v) + "]";
    if (v.outside != 0)
      out += ", outside " + number_text(v.outside);
    if (v.alias != kNone)
      out += ", alias " + k_.vars[v.alias].name;
    for (auto [set, word] :
         {std::pair(v.strided, "strided"), std::pair(v.optional, "optional"), std::pair(v.partial, "partial"),
          std::pair(v.overwrite, "overwrite"), std::pair(v.atomic, "atomic")})
      if (set)
        out += std::string(", ") + word;
    line(out, 1);
  }

  // `M`, `C=4`, `M: i * 128 + [128]`, `-=S: s + [1]`; dimensions that are one in memory in parentheses.
  std::string dims(const Var &v) const {
    std::string out;
    for (size_t i = 0; i < v.dims.size(); ++i) {
      const Dim &d = v.dims[i];
      bool opens = i + 1 < v.dims.size() && v.dims[i + 1].array_dim == d.array_dim;
      bool inside = i > 0 && v.dims[i - 1].array_dim == d.array_dim;
      out += std::string(i == 0 ? "" : inside ? " " : ", ") + (opens && !inside ? "(" : "");
      out += d.axis == kNone ? "-" : axis(d.axis);
      if (!(d.extent == Size::axis(axis(d.axis))))
        out += "=" + to_string(d.extent);
      if (!d.whole)
        out += ": " + to_string(d.start) + " + [" + to_string(d.block) + "]" + (d.offset ? " by offset" : "");
      out += inside && !opens ? ")" : "";
    }
    return out;
  }

  std::string arguments() const {
    std::string out;
    auto add = [&](const std::string &name) { out += (out.empty() ? "" : ", ") + name; };
    for (const ArgumentRef &a : k_.arguments)
      add(a.kind == ArgumentRef::Kind::operand  ? k_.vars[a.index].name
          : a.kind == ArgumentRef::Kind::scalar ? k_.scalars[a.index].name
                                                : k_.tables[a.index].name);
    for (AxisId id : k_.size_arguments)
      add(axis(id));
    return out;
  }

  void statements(const std::vector<Stmt> &list, int depth) {
    for (const Stmt &s : list)
      statement(s, depth);
  }

  void statement(const Stmt &s, int depth) {
    switch (s.kind) {
    case Stmt::Kind::assign:
      return line(k_.vars[s.target].name + subscripts(s.indices) + (s.coords.empty() ? "" : coords(s.coords)) +
                      axes(s.axes) +
                      (s.scatter_add ? " += "
                       : s.update    ? " := "
                                     : " = ") +
                      expr(s.value),
                  depth);
    case Stmt::Kind::declare:
      return line("array " + k_.vars[s.target].name, depth);
    case Stmt::Kind::branch:
      line("if " + axes(s.axes) + " " + expr(s.value), depth);
      statements(s.body, depth + 1);
      if (!s.otherwise.empty())
        line("else", depth);
      return statements(s.otherwise, depth + 1);
    case Stmt::Kind::loop:
      line("while " + axes(s.axes) + " " + (s.value == kNone ? "true" : expr(s.value)), depth);
      statements(s.body, depth + 1);
      if (!s.step.empty())
        line("step", depth);
      return statements(s.step, depth + 1);
    case Stmt::Kind::leave:
      return line("break", depth);
    case Stmt::Kind::next:
      return line("continue", depth);
    case Stmt::Kind::check:
      return line("assert " + expr(s.value), depth);
    case Stmt::Kind::print: {
      std::string out = "print";
      for (const Shown &shown : s.shown)
        out += " " + (shown.value == kNone ? "\"" + shown.text + "\"" : expr(shown.value));
      return line(out, depth);
    }
    }
  }

  const Kernel &k_;
  std::string out_;
};

} // namespace

std::string print(const Kernel &kernel) { return Printer(kernel).all(); }

std::string print(const Kernel &kernel, ExprId expr) { return Printer(kernel).expr(expr); }

} // namespace kgen
