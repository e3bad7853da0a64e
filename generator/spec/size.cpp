// Size expressions as values: folding, equality, text, evaluation.
#include "spec/size.h"

#include <algorithm>
#include <limits>

#include "support/check.h"

namespace kgen {

namespace {

using Op = Size::Op;

// How an operation is written. Functions have no infix symbol. Comparisons are always set in parentheses within another
// one, because they do not chain.
struct OpRow {
  Op op;
  std::string_view symbol; // infix symbol or function name
  int binding;             // 0: not infix
};
constexpr OpRow kOps[] = {
    {Op::equal, "==", 2},   {Op::not_equal, "!=", 2},     {Op::less, "<", 2},   {Op::less_equal, "<=", 2},
    {Op::greater, ">", 2},  {Op::greater_equal, ">=", 2}, {Op::add, "+", 3},    {Op::subtract, "-", 3},
    {Op::multiply, "*", 4}, {Op::divide, "/", 4},         {Op::modulo, "%", 4}, {Op::min, "min", 0},
    {Op::max, "max", 0},    {Op::cdiv, "cdiv", 0},
};
constexpr int kChooseBinding = 1, kComparisonBinding = 2, kUnaryBinding = 5, kAtomBinding = 6;

const OpRow *find_row(Op op) {
  const auto row = std::find_if(std::begin(kOps), std::end(kOps), [&](const OpRow &r) { return r.op == op; });
  return row == std::end(kOps) ? nullptr : row;
}

bool is_name(Op op) { return op == Op::param || op == Op::axis || op == Op::grid || op == Op::grid_size; }

std::optional<long long> floor_divide(long long a, long long b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<long long>::min()))
    return std::nullopt;
  const long long quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// The value of an operation on values; nullopt on overflow and division by zero.
std::optional<long long> compute(Op op, const std::vector<long long> &v) {
  long long out = 0;
  auto checked = [&](bool overflow) { return overflow ? std::nullopt : std::optional(out); };
  switch (op) {
  case Op::negate:
    return checked(__builtin_sub_overflow(0LL, v[0], &out));
  case Op::add:
    return checked(__builtin_add_overflow(v[0], v[1], &out));
  case Op::subtract:
    return checked(__builtin_sub_overflow(v[0], v[1], &out));
  case Op::multiply:
    return checked(__builtin_mul_overflow(v[0], v[1], &out));
  case Op::divide:
    return floor_divide(v[0], v[1]);
  case Op::modulo: {
    if (v[1] == 0)
      return std::nullopt;
    const long long rest = v[1] == -1 ? 0 : v[0] % v[1];
    return rest != 0 && (rest < 0) != (v[1] < 0) ? rest + v[1] : rest;
  }
  case Op::cdiv: {
    const auto quotient = floor_divide(v[0], v[1]);
    return quotient ? std::optional(*quotient + (v[0] % v[1] != 0 ? 1 : 0)) : std::nullopt;
  }
  case Op::less:
    return v[0] < v[1];
  case Op::less_equal:
    return v[0] <= v[1];
  case Op::greater:
    return v[0] > v[1];
  case Op::greater_equal:
    return v[0] >= v[1];
  case Op::equal:
    return v[0] == v[1];
  case Op::not_equal:
    return v[0] != v[1];
  case Op::min:
    return std::min(v[0], v[1]);
  case Op::max:
    return std::max(v[0], v[1]);
  default:
    KGEN_UNREACHABLE("not an operation on values");
  }
}

// What a node is equal to without computing: x + 0, x * 1, min(x, x) and so on.
std::optional<Size> simplify(Op op, const std::vector<Size> &a) {
  auto integer = [&](size_t i, long long value) { return a[i].is_integer(value); };
  switch (op) {
  case Op::negate:
    if (a[0].op == Op::negate)
      return a[0].args[0];
    break;
  case Op::add:
    if (integer(0, 0))
      return a[1];
    if (integer(1, 0))
      return a[0];
    break;
  case Op::subtract:
    if (integer(1, 0))
      return a[0];
    if (a[0] == a[1])
      return Size::integer(0);
    break;
  case Op::multiply:
    if (integer(0, 1))
      return a[1];
    if (integer(1, 1))
      return a[0];
    if (integer(0, 0) || integer(1, 0))
      return Size::integer(0);
    break;
  case Op::divide:
  case Op::cdiv:
    if (integer(1, 1))
      return a[0];
    break;
  case Op::modulo:
    if (integer(1, 1))
      return Size::integer(0);
    break;
  case Op::min:
  case Op::max:
    if (a[0] == a[1])
      return a[0];
    break;
  case Op::choose:
    if (a[0].is_integer())
      return a[a[0].value != 0 ? 1 : 2];
    if (a[1] == a[2])
      return a[1];
    break;
  default:
    break;
  }
  return std::nullopt;
}

} // namespace

Size Size::integer(long long value) {
  Size out;
  out.value = value;
  return out;
}

Size Size::axis(std::string name) {
  Size out;
  out.op = Op::axis;
  out.name = std::move(name);
  return out;
}

Size Size::grid(std::string name) {
  Size out;
  out.op = Op::grid;
  out.name = std::move(name);
  return out;
}

Size Size::make(Op op, std::vector<Size> args) {
  if (const auto simple = simplify(op, args))
    return *simple;
  if (op != Op::choose && std::all_of(args.begin(), args.end(), [](const Size &a) { return a.is_integer(); })) {
    std::vector<long long> values;
    for (const Size &arg : args)
      values.push_back(arg.value);
    if (const auto value = compute(op, values)) // what overflows stays, to be refused where it is checked
      return integer(*value);
  }
  Size out;
  out.op = op;
  out.args = std::move(args);
  return out;
}

bool operator==(const Size &a, const Size &b) {
  return a.op == b.op && a.value == b.value && a.name == b.name && a.args == b.args;
}

namespace {

std::string print_at(const Size &size, int binding);

std::string print_arguments(const std::vector<Size> &args) {
  std::string out = "(";
  for (size_t i = 0; i < args.size(); ++i)
    out += (i > 0 ? ", " : "") + print_at(args[i], kChooseBinding);
  return out + ")";
}

// The text, and how tightly its outermost operation binds.
std::pair<std::string, int> print_loose(const Size &size) {
  switch (size.op) {
  case Op::integer:
    return {std::to_string(size.value), size.value < 0 ? kUnaryBinding : kAtomBinding};
  case Op::param:
  case Op::axis:
  case Op::grid:
    return {size.name, kAtomBinding};
  case Op::grid_size:
    return {"size(" + size.name + ")", kAtomBinding};
  case Op::table: {
    std::string text = size.name;
    for (const Size &index : size.args)
      text += "[" + print_at(index, kChooseBinding) + "]";
    return {text, kAtomBinding};
  }
  case Op::negate:
    return {"-" + print_at(size.args[0], kAtomBinding), kUnaryBinding};
  case Op::choose:
    return {print_at(size.args[0], kComparisonBinding) + " ? " + print_at(size.args[1], kChooseBinding) + " : " +
                print_at(size.args[2], kChooseBinding),
            kChooseBinding};
  default:
    break;
  }
  const OpRow *row = find_row(size.op);
  KGEN_CHECK(row != nullptr);
  if (row->binding == 0)
    return {std::string(row->symbol) + print_arguments(size.args), kAtomBinding};
  const int left = row->binding + (row->binding == kComparisonBinding ? 1 : 0);
  return {print_at(size.args[0], left) + " " + std::string(row->symbol) + " " +
              print_at(size.args[1], row->binding + 1),
          row->binding};
}

std::string print_at(const Size &size, int binding) {
  auto [text, own] = print_loose(size);
  return own < binding ? "(" + text + ")" : text;
}

} // namespace

std::string to_string(const Size &size) { return print_at(size, kChooseBinding); }

bool any_node(const Size &size, const std::function<bool(const Size &)> &test) {
  return test(size) ||
         std::any_of(size.args.begin(), size.args.end(), [&](const Size &arg) { return any_node(arg, test); });
}

bool mentions(const Size &size, Size::Op op, std::string_view name) {
  return any_node(size, [&](const Size &node) { return node.op == op && node.name == name; });
}

Size rewrite(const Size &size, const std::function<std::optional<Size>(const Size &)> &replace) {
  if (auto replaced = replace(size)) {
    if (replaced->place.line == 0)
      replaced->place = size.place;
    return *replaced;
  }
  if (size.args.empty())
    return size;
  std::vector<Size> args;
  for (const Size &arg : size.args)
    args.push_back(rewrite(arg, replace));
  Size out;
  if (size.op == Op::table) {
    out = size;
    out.args = std::move(args);
    return out;
  }
  out = Size::make(size.op, std::move(args));
  out.place = size.place;
  return out;
}

std::optional<long long> evaluate(const Size &size, const SizeValues &values) {
  if (size.op == Op::integer)
    return size.value;
  if (is_name(size.op))
    return values.name ? values.name(size.op, size.name) : std::nullopt;
  if (size.op == Op::choose) {
    const auto condition = evaluate(size.args[0], values);
    return condition ? evaluate(size.args[*condition != 0 ? 1 : 2], values) : std::nullopt;
  }
  std::vector<long long> args;
  for (const Size &arg : size.args) {
    const auto value = evaluate(arg, values);
    if (!value)
      return std::nullopt;
    args.push_back(*value);
  }
  if (size.op == Op::table)
    return values.table ? values.table(size.name, args) : std::nullopt;
  return compute(size.op, args);
}

} // namespace kgen
