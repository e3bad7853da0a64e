// The expressions that stand in a spec's strings: sizes, block numbers, offsets. Integers of 64 bits, floor division,
// overflow checked. The same tree is evaluated by the interpreter and printed into launchers and kernels.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.h"

namespace kgen {

struct Size {
  enum class Op {
    integer,   // value
    param,     // name: an integer param; gone once a variant is chosen
    axis,      // name: the size of that axis
    grid,      // name: the step of that grid dimension
    grid_size, // name: the number of steps of that grid dimension (only made by kgen)
    table,     // name[args...]
    negate,
    add,
    subtract,
    multiply,
    divide, // floor
    modulo, // floor
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    choose, // args[0] ? args[1] : args[2]
    min,
    max,
    cdiv,
  };
  Op op = Op::integer;
  long long value = 0;
  std::string name;
  std::vector<Size> args;
  Place place;

  static Size integer(long long value);
  static Size axis(std::string name);
  static Size grid(std::string name);
  // These fold constants and drop neutral elements.
  static Size make(Op op, std::vector<Size> args);

  bool is_integer() const { return op == Op::integer; }
  bool is_integer(long long v) const { return op == Op::integer && value == v; }
};

bool operator==(const Size &a, const Size &b); // structural; places do not count

// `x * 2 + 1` and the like, with few parentheses, in the grammar of specs.
std::string to_string(const Size &size);

// Does any node satisfy the test?
bool any_node(const Size &size, const std::function<bool(const Size &)> &test);
bool mentions(const Size &size, Size::Op op, std::string_view name);

// Replaces each node for which `replace` gives a value; then folds.
Size rewrite(const Size &size, const std::function<std::optional<Size>(const Size &)> &replace);

// What a name stands for at evaluation. nullopt: unknown (the whole result is then unknown).
struct SizeValues {
  std::function<std::optional<long long>(Size::Op, std::string_view)> name;
  std::function<std::optional<long long>(std::string_view, const std::vector<long long> &)> table;
};
// nullopt on overflow, division by zero or an unknown name. `choose` evaluates only the arm that it takes.
std::optional<long long> evaluate(const Size &size, const SizeValues &values);

} // namespace kgen
