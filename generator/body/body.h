// The body as kgen's own small typed syntax tree: what Clang made of the text, with every name resolved to what it
// stands for and every conversion explicit. No Clang type leaves this folder. User and library functions are kept as
// functions (instantiated, one per set of argument types); ir inlines them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/spec.h"
#include "support/diagnostics.h"
#include "support/types.h"

namespace kgen {
struct Sketch;
}

namespace kgen::body {

struct Expr {
  enum class Kind {
    literal, // `integer` or `number`, by type; `weak` when it adapts to the other operand
    operand, // name: input, output or scratch at the current point, or a run-time scalar
    local,   // local: index into Body::locals or, in a function, Function::locals (parameters come first)
    axis,    // name: an axis as an argument (as a value, in a coordinate, it is the builtin "index"). In a function:
             // local = its axis parameter
    grid,    // name: a grid dimension; as a value its step
    table,   // name, args: t[a][b]
    element, // local array element: local, args: one index per dimension
    unary,   // name: "-" "!" "~" ; args[0]
    binary,  // name: "+" ... "&&" "||" "<" ...; args[0], args[1], already converted to one type
    conditional, // args: condition, then, else
    cast,        // args[0] to `type`; `implicit`
    builtin,     // name: "exp", "sum", "at", "index", ...; args in order (coordinates, axes, where included)
    call,        // function: index into Body::functions; args
    coordinate,  // name: axis (or local = axis parameter); args[0]: `H = e`
    where,       // args[0]: the condition
    axes,        // name: a function; args: axes, then perhaps where: an argument for its axis parameter
    text,        // name: the text, an argument of print or require
  };
  Kind kind = Kind::literal;
  Type type = Type::f32; // of the value; irrelevant for axis, coordinate, where, text
  std::string name;
  int local = -1;
  int function = -1;
  int64_t integer = 0;
  double number = 0;     // as written, also where `type` is f32
  std::string param;     // the parameter that this number is, or that names the function of this call; else empty
  bool weak = false;     // an unsuffixed literal or a float param, or made of such only
  bool implicit = false; // a cast that C++ inserted
  size_t given = 0;      // of a call: its arguments before those that the function itself has values for
  std::vector<Expr> args;
  Place place;
};

struct Stmt {
  enum class Kind {
    declare,  // local; value when `has_value`
    assign,   // target = value, or target op= value with `op` ("+" for +=, ++ and so on)
    evaluate, // value: a call for its effect: assert(...), print(...), require(...)
    branch,   // value: condition; body, otherwise
    loop,     // init; value: condition (absent = forever); step; body   (for and while)
    leave,    // break
    next,     // continue
    give,     // return value (functions only)
    block,    // body
  };
  Kind kind = Kind::block;
  int local = -1;
  bool has_value = false;
  Expr target; // operand, local, element, or builtin "at" of one of them
  std::string op;
  Type op_type = Type::f32; // the type in which a compound assignment computes
  Expr value;
  std::vector<Stmt> init, step, body, otherwise;
  Place place;
};

struct Local {
  std::string name;
  Type type = Type::f32;
  bool is_axis = false;       // an axis parameter
  std::vector<int64_t> dims;  // a fixed-size array
  bool weak_constant = false; // initialised by literals only
  Place place;
};

struct Function {
  std::string name;
  int parameters = 0; // the first locals
  Type result = Type::f32;
  std::vector<Local> locals;
  std::vector<Stmt> statements;
  bool from_library = false;
  Place place;
};

struct Body {
  std::vector<Local> locals;
  std::vector<Stmt> statements;
  std::vector<Function> functions;
};

// Parses the body once for all variants (one translation unit); the same mistake in several variants is one message.
// nullopt after errors; else one Body per variant.
std::optional<std::vector<Body>> parse_body(const Spec &spec, const std::vector<Variant> &variants, Diagnostics &diags);

// Of a spec with mistakes: says which mistakes its body has beside them, as far as that is sure.
void check_body(const Sketch &sketch, Diagnostics &diags);

std::string print(const Body &body);

} // namespace kgen::body
