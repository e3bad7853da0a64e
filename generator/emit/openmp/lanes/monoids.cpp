#include "emit/openmp/lanes/monoids.h"

#include "support/check.h"

namespace kgen {

std::string combined(LaneScope &lanes, Monoid monoid, Type type, const std::string &total, const std::string &value) {
  if (monoid == Monoid::min || monoid == Monoid::max)
    lanes.helper(type == Type::boolean ? "mask_order" : "extremes");
  switch (monoid) {
  case Monoid::sum:
  case Monoid::mean:
    return total + " + " + value;
  case Monoid::product:
    return total + " * " + at_least(code_of(value), binding::kMultiply + 1);
  case Monoid::min:
    return "minimum(" + total + ", " + value + ")";
  case Monoid::max:
    return "maximum(" + total + ", " + value + ")";
  case Monoid::all:
    return total + " && " + value;
  case Monoid::any:
    return total + " || " + value;
  case Monoid::argmax:
  case Monoid::argmin:
    break;
  }
  KGEN_UNREACHABLE("monoid");
}

// What combines two values, or two vectors of them, as the text does.
std::string combiner(const LaneScope &lanes, const std::string &text, const std::string &one, const std::string &other,
                     const std::string &type) {
  const std::string named = type == "auto" ? lanes.printer.spelling.combiner(text, one, other) : "";
  return !named.empty() ? named
                        : "[](" + type + " " + one + ", " + type + " " + other + ") IN_SET { return " + text + "; }";
}

// Of two totals of one number.
std::string combination(LaneScope &lanes, Monoid monoid, Type type) {
  const auto &[one, other] = lanes.names.pair();
  return combiner(lanes, combined(lanes, monoid, type, one, other), one, other, "auto");
}

} // namespace kgen
