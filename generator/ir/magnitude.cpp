#include "ir/magnitude.h"

#include <algorithm>
#include <cmath>

#include "ir/op_rows.h"

namespace kgen {

namespace {

// One argument: value, magnitude, and the half-width of where the declared run's value may lie.
struct Known {
  double value, magnitude, error;
};

// Magnitude of a smooth function with derivative `slope` at a: what the argument brings, and its own rounding.
double smooth(double slope, Known a, double result) {
  double brought = a.magnitude == 0 ? 0 : std::fabs(slope) * a.magnitude;
  return brought + std::fabs(result);
}

constexpr double kOwn = 0.25; // own rounding of + - * /, in units of 8 u: half an ulp and room for a missing fma

double sech_squared(double tanh) { return 1 - tanh * tanh; }

double magnitude_of(Op op, const Known *a, double v, double slack) {
  double x = a[0].value, own = kOwn * std::fabs(v);
  switch (op) {
  case Op::add:
  case Op::sub:
    return a[0].magnitude + a[1].magnitude + own;
  case Op::mul: // with what the errors of both bring together, where both are near 0: the square of x - mean(x)
    return a[0].magnitude * std::fabs(a[1].value) + (std::fabs(x) + a[0].error) * a[1].magnitude + own;
  case Op::div:
    return (a[0].magnitude + std::fabs(v) * a[1].magnitude) / std::fabs(a[1].value) + own;
  case Op::rem:
    return a[0].magnitude + std::fabs(x / a[1].value) * a[1].magnitude + own;
  case Op::fma:
    return a[0].magnitude * std::fabs(a[1].value) + (std::fabs(x) + a[0].error) * a[1].magnitude + a[2].magnitude + own;
  case Op::neg:
  case Op::abs:
    return a[0].magnitude;
  case Op::min:
  case Op::max:
    if (std::fabs(x - a[1].value) > a[0].error + a[1].error)
      return v == x ? a[0].magnitude : a[1].magnitude;
    return std::max(a[0].magnitude, a[1].magnitude);
  case Op::clamp:
    return std::max({a[0].magnitude, v == a[1].value ? a[1].magnitude : 0, v == a[2].value ? a[2].magnitude : 0});
  case Op::exp:
  case Op::sigmoid:
    return smooth(op == Op::exp ? v : v * (1 - v), a[0], v) + slack;
  case Op::exp2:
    return smooth(v * M_LN2, a[0], v) + slack;
  case Op::expm1:
    return smooth(v + 1, a[0], v) + slack;
  case Op::log:
    return smooth(1 / x, a[0], v);
  case Op::log2:
    return smooth(M_LOG2E / x, a[0], v);
  case Op::log1p:
    return smooth(1 / (1 + x), a[0], v);
  case Op::sqrt:
    return smooth(0.5 / v, a[0], v);
  case Op::rsqrt:
    return smooth(0.5 * v / x, a[0], v);
  case Op::cbrt:
    return std::fabs(x) <= a[0].error && a[0].magnitude > 0 ? std::cbrt(2 * a[0].error) * a[0].magnitude / a[0].error
                                                            : smooth(1 / (3 * v * v), a[0], v);
  case Op::tanh:
    return smooth(sech_squared(v), a[0], v) + slack;
  case Op::sinh:
    return smooth(std::cosh(x), a[0], v) + slack;
  case Op::cosh:
    return smooth(std::sinh(x), a[0], v);
  case Op::erf:
    return smooth(M_2_SQRTPI * std::exp(-x * x), a[0], v) + slack;
  case Op::erfinv:
    return smooth(std::exp(v * v) / M_2_SQRTPI, a[0], v);
  case Op::sin:
    return smooth(std::cos(x), a[0], v);
  case Op::cos:
    return smooth(std::sin(x), a[0], v);
  case Op::tan:
    return smooth(1 + v * v, a[0], v);
  case Op::atan2: {
    if (std::isinf(x) || std::isinf(a[1].value)) // small changes turn nothing out there
      return std::fabs(v);
    double square = x * x + a[1].value * a[1].value;
    double brought = std::fabs(a[1].value) * a[0].magnitude + std::fabs(x) * a[1].magnitude;
    return (brought == 0 ? 0 : brought / square) + std::fabs(v);
  }
  case Op::pow: {
    double base = a[0].magnitude == 0 ? 0 : std::fabs(a[1].value / x) * a[0].magnitude;
    double exponent = a[1].magnitude == 0 || x == 0 ? 0 : std::fabs(std::log(std::fabs(x))) * a[1].magnitude;
    return std::fabs(v) * (base + exponent + 1) + slack;
  }
  default: // floor, ceil, round, trunc, sign, random: decided results are exact
    return std::fabs(v);
  }
}

bool crosses(double (*f)(double), Known a) { return f(a.value - a.error) != f(a.value + a.error); }

// Could the declared run take the other side of a jump?
bool jumps(Op op, const Known *a) {
  Known x = a[0];
  switch (op) {
  case Op::floor:
    return crosses(std::floor, x);
  case Op::ceil:
    return crosses(std::ceil, x);
  case Op::round:
    return crosses(std::nearbyint, x);
  case Op::trunc:
    return crosses(std::trunc, x);
  case Op::sign:
  case Op::sqrt:
  case Op::rsqrt:
  case Op::log:
  case Op::log2:
    return x.error > 0 && std::fabs(x.value) <= x.error;
  case Op::log1p:
    return x.error > 0 && std::fabs(1 + x.value) <= x.error;
  case Op::div: // by what may be 0; or of what may be 0, by 0
    return (a[1].error > 0 && std::fabs(a[1].value) <= a[1].error) ||
           (a[1].value == 0 && x.error > 0 && std::fabs(x.value) <= x.error);
  case Op::rem: {
    double quotient = x.value / a[1].value;
    double error = (x.error + std::fabs(quotient) * a[1].error) / std::fabs(a[1].value);
    return std::trunc(quotient - error) != std::trunc(quotient + error);
  }
  case Op::atan2:
    return a[1].value < 0 && x.error > 0 && std::fabs(x.value) <= x.error;
  default:
    return false;
  }
}

Known known(const ReferenceRow &row, int64_t i, double bound) {
  int64_t at = i * row.stride;
  double value = row.data[at].number, magnitude = row.magnitude[at];
  bool exact = (row.flags[at] & kInexact) == 0;
  return {value, magnitude, exact || !std::isfinite(value) ? 0 : bound * magnitude};
}

void floating_marks(Op op, Type result, int arity, const ReferenceRow *args, ReferenceOut out, int64_t i,
                    ErrorModel model, double slack) {
  Known a[3] = {};
  uint8_t flags = 0;
  for (int k = 0; k < arity; ++k) {
    flags |= args[k].flags[i * args[k].stride];
    if (op != Op::random)
      a[k] = known(args[k], i, model.bound);
  }
  // Where a sum takes up a product before it is rounded, one that overflows may still give a number.
  const auto has_overflowed = [](const Known &one) {
    return std::isinf(one.value) && one.magnitude > 0 && std::isfinite(one.magnitude);
  };
  if ((op == Op::add || op == Op::sub) && std::any_of(a, a + arity, has_overflowed))
    flags |= kUndecided;
  double &v = out.data[i].number;
  // A product that overflows may not do so where a sum takes it up before it is rounded: what it adds there stays
  // known.
  const bool overflows =
      op == Op::mul && std::fabs(v) > largest_finite(result) && std::isfinite(a[0].value) && std::isfinite(a[1].value);
  const double unrounded = std::fabs(v);
  if (std::fabs(v) > largest_finite(result))
    v = std::copysign(INFINITY, v);
  bool was_exact = (flags & kInexact) == 0;
  bool exact = is_a(op, op::Kind::step) ||
               (was_exact && has(op, op::exact) && (std::isinf(v) || std::isnan(v) || is_exact(v, result)));
  const bool nan = std::any_of(a, a + arity, [](const Known &one) { return std::isnan(one.value); });
  if (!was_exact && !nan && jumps(op, a))
    flags |= kUndecided;
  double magnitude = std::isfinite(v) ? magnitude_of(op, a, v, slack) : 0;
  out.magnitude[i] = std::isnan(magnitude) ? INFINITY : std::max(magnitude, std::isfinite(v) ? std::fabs(v) : 0);
  if (overflows)
    out.magnitude[i] = unrounded;
  out.flags[i] = (flags & kUndecided) | (exact ? 0 : kInexact);
}

} // namespace

bool is_exact(double value, Type type) {
  if (type == Type::f64) // the double itself may have been rounded
    return std::fabs(value) < 0x1p48 && value * 16 == std::nearbyint(value * 16);
  return round_to(value, type) == value;
}

void evaluate_reference_row(Op op, Type result, Type argument, const ReferenceRow *args, ReferenceOut out, int64_t n,
                            ErrorModel model) {
  int arity = op_arity(op);
  Row rows[3];
  for (int k = 0; k < arity; ++k)
    rows[k] = {args[k].data, args[k].stride};
  bool floating = is_floating(result);
  evaluate_row(op, floating ? Type::f64 : result, argument, rows, out.data, n);
  double slack = floating && model.unit > 0 ? smallest_normal(result) / model.unit : 0;
  for (int64_t i = 0; i < n; ++i) {
    if (floating) {
      floating_marks(op, result, arity, args, out, i, model, slack);
      continue;
    }
    uint8_t flags = 0;
    for (int k = 0; k < arity; ++k)
      flags |= args[k].flags[i * args[k].stride];
    if (is_floating(argument) && (flags & kInexact) != 0) {
      if (is_comparison(op)) {
        Known a = known(args[0], i, model.bound), b = known(args[1], i, model.bound);
        if (a.value == b.value ? a.error + b.error > 0 : std::fabs(a.value - b.value) <= a.error + b.error)
          flags |= kUndecided;
      } else if (op == Op::logical_not) {
        Known a = known(args[0], i, model.bound);
        if (a.error > 0 && std::fabs(a.value) <= a.error)
          flags |= kUndecided;
      }
    }
    out.magnitude[i] = 0;
    out.flags[i] = flags & kUndecided;
  }
}

void round_reference(Type type, double &value, double &magnitude, uint8_t flags, ErrorModel model) {
  if ((flags & kInexact) == 0) {
    value = round_to(value, type);
    magnitude = std::max(magnitude, std::fabs(value));
    return;
  }
  if (std::isfinite(value) && std::fabs(value) > largest_finite(type))
    value = std::copysign(INFINITY, value);
  if (std::isfinite(value) && model.unit > 0 && type != Type::f64)
    magnitude += (unit_roundoff(type) * std::fabs(value) + smallest_denormal(type)) / model.unit;
}

void convert_reference_row(Type from, Type to, ReferenceRow row, ReferenceOut out, int64_t n, ErrorModel model) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = i * row.stride;
    uint8_t flags = row.flags[at];
    double magnitude = row.magnitude[at];
    Value value = row.data[at];
    if (is_floating(from) && is_floating(to)) {
      if (type_row(to).significand_bits < type_row(from).significand_bits)
        round_reference(to, value.number, magnitude, flags, model);
    } else if (is_floating(from)) {
      Known a = known(row, i, model.bound);
      Value low = convert(number_value(a.value - a.error), from, to);
      Value high = convert(number_value(a.value + a.error), from, to);
      bool zero = to == Type::boolean && std::fabs(a.value) <= a.error;
      if (a.error > 0 && (low.integer != high.integer || zero))
        flags |= kUndecided;
      flags &= kUndecided;
      value = convert(value, from, to);
      magnitude = 0;
    } else {
      value = convert(value, from, is_floating(to) ? Type::f64 : to);
      if (is_floating(to)) {
        bool exact = round_to(value.number, to) == value.number;
        flags = (flags & kUndecided) | (exact ? 0 : kInexact);
        magnitude = std::fabs(value.number);
      }
    }
    out.data[i] = value;
    out.magnitude[i] = magnitude;
    out.flags[i] = flags;
  }
}

} // namespace kgen
