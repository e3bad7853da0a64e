// A body as text: C++ again, with every implicit conversion shown as `type'(...)` and every declaration with its type.
#include <cmath>
#include <cstdio>

#include "body/body.h"
#include "support/text.h"

namespace kgen::body {
namespace {

using Kind = Expr::Kind;

std::string number_text(double value) {
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  if (std::isnan(value))
    return "nan";
  for (int digits = 1; digits <= 17; ++digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::stod(text) == value) {
      const std::string out = text;
      return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
    }
  }
  return {};
}

class Printer {
public:
  Printer(const std::vector<Local> &locals, const std::vector<Function> &functions)
      : locals_(locals), functions_(functions) {}

  void statements(const std::vector<Stmt> &list, int indent) {
    for (const Stmt &s : list)
      statement(s, indent);
  }

  std::string take() { return std::move(out_); }

private:
  void line(int indent, const std::string &text) {
    out_ += std::string(static_cast<size_t>(indent) * 2, ' ') + text + "\n";
  }

  std::string type(Type t) const { return std::string(type_row(t).name); }

  std::string list(const std::vector<Expr> &args, size_t from = 0) const {
    std::vector<std::string> parts;
    for (size_t i = from; i < args.size(); ++i)
      parts.push_back(text(args[i]));
    return join(parts, ", ");
  }

  std::string text(const Expr &e) const {
    switch (e.kind) {
    case Kind::literal:
      if (is_floating(e.type))
        return number_text(e.number) + suffix(e);
      if (e.type == Type::boolean)
        return e.integer != 0 ? "true" : "false";
      return (is_unsigned(e.type) ? std::to_string(static_cast<uint64_t>(e.integer)) : std::to_string(e.integer)) +
             suffix(e);
    case Kind::operand:
    case Kind::local:
    case Kind::axis:
    case Kind::grid:
      return e.name;
    case Kind::table:
    case Kind::element: {
      std::string out = e.name;
      for (const Expr &index : e.args)
        out += "[" + text(index) + "]";
      return out;
    }
    case Kind::unary:
      return e.name + text(e.args[0]);
    case Kind::binary:
      return "(" + text(e.args[0]) + " " + e.name + " " + text(e.args[1]) + ")";
    case Kind::conditional:
      return "(" + text(e.args[0]) + " ? " + text(e.args[1]) + " : " + text(e.args[2]) + ")";
    case Kind::cast:
      return type(e.type) + (e.implicit ? "'" : "") + "(" + text(e.args[0]) + ")";
    case Kind::builtin:
      return e.name + (e.name == "bitcast" ? "<" + type(e.type) + ">" : "") + "(" + list(e.args) + ")";
    case Kind::call:
      return functions_[static_cast<size_t>(e.function)].name + "#" + std::to_string(e.function) + "(" + list(e.args) +
             ")";
    case Kind::coordinate:
      return e.name + " = " + text(e.args[0]);
    case Kind::where:
      return "where(" + text(e.args[0]) + ")";
    case Kind::axes:
      return list(e.args);
    case Kind::text:
      return "\"" + e.name + "\"";
    }
    return {};
  }

  // A weak literal shows no type.
  std::string suffix(const Expr &e) const {
    return e.weak && (e.type == Type::f32 || e.type == Type::i32) ? "" : ":" + type(e.type);
  }

  std::string assignment(const Stmt &s) const {
    std::string out = text(s.target) + " " + s.op + "= " + text(s.value);
    return s.op.empty() ? out : out + "  // in " + type(s.op_type);
  }

  std::string local(const Local &l) const {
    std::string out = (l.is_axis ? "axis" : type(l.type)) + " " + l.name;
    for (int64_t dim : l.dims)
      out += "[" + std::to_string(dim) + "]";
    return out;
  }

  void block(const std::string &head, const std::vector<Stmt> &body, int indent) {
    line(indent, head + "{");
    statements(body, indent + 1);
    line(indent, "}");
  }

  void statement(const Stmt &s, int indent) {
    switch (s.kind) {
    case Stmt::Kind::declare:
      return line(indent, local(locals_[static_cast<size_t>(s.local)]) + (s.has_value ? " = " + text(s.value) : ""));
    case Stmt::Kind::assign:
      return line(indent, assignment(s));
    case Stmt::Kind::evaluate:
      return line(indent, text(s.value));
    case Stmt::Kind::branch:
      block("if (" + text(s.value) + ") ", s.body, indent);
      if (!s.otherwise.empty())
        block("else ", s.otherwise, indent);
      return;
    case Stmt::Kind::loop:
      statements(s.init, indent);
      block("while (" + (s.has_value ? text(s.value) : "true") + ") ", s.body, indent);
      if (!s.step.empty())
        block("step ", s.step, indent);
      return;
    case Stmt::Kind::leave:
      return line(indent, "break");
    case Stmt::Kind::next:
      return line(indent, "continue");
    case Stmt::Kind::give:
      return line(indent, "return " + text(s.value));
    case Stmt::Kind::block:
      return block("", s.body, indent);
    }
  }

  const std::vector<Local> &locals_;
  const std::vector<Function> &functions_;
  std::string out_;
};

} // namespace

std::string print(const Body &body) {
  std::string out;
  for (size_t i = 0; i < body.functions.size(); ++i) {
    const Function &f = body.functions[i];
    std::vector<std::string> parameters;
    for (int p = 0; p < f.parameters; ++p) {
      const Local &local = f.locals[static_cast<size_t>(p)];
      parameters.push_back((local.is_axis ? "axis" : std::string(type_row(local.type).name)) + " " + local.name);
    }
    out += std::string(type_row(f.result).name) + " " + f.name + "#" + std::to_string(i) + "(" +
           join(parameters, ", ") + ")\n";
    Printer printer(f.locals, body.functions);
    printer.statements(f.statements, 1);
    out += printer.take();
  }
  Printer printer(body.locals, body.functions);
  printer.statements(body.statements, 0);
  return out + printer.take();
}

} // namespace kgen::body
