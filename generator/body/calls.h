// Calls of builtins: checks the arguments and makes the node.
#pragma once

#include <optional>
#include <vector>

#include "body/body.h"
#include "body/builtins.h"
#include "body/source.h"

namespace kgen::body {

// An axis as a value: its index, allowed in coordinates only. nullopt after an error.
std::optional<Expr> axis_as_value(Expr axis, bool in_coordinate, const Span &span, Reporter &reporter);

struct Call {
  const BuiltinRow *row = nullptr;
  std::vector<Expr> args;  // values not yet converted; axes, grid dimensions, coordinates and where as such
  std::vector<Span> spans; // of the arguments
  Span span;               // of the callee
  Place place;             // of the whole
  Type type = Type::f32;   // of the result
  bool in_coordinate = false;
};

// nullopt after an error.
std::optional<Expr> make_builtin(Call call, const Spec &spec, Reporter &reporter);

} // namespace kgen::body
