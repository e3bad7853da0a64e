#include "ir/roles.h"

#include "support/check.h"
#include "support/naming.h"

namespace kgen {
namespace {

constexpr size_t kLongest = 20; // of what stands behind the fold's word

std::string word_of(ScanKind scan) {
  switch (scan) {
  case ScanKind::sum:
    return "sum";
  case ScanKind::product:
    return "product";
  case ScanKind::max:
    return "greatest";
  case ScanKind::linear:
    return "";
  }
  KGEN_UNREACHABLE("scan");
}

bool alike(const Kernel &kernel, ExprId a, ExprId b) {
  const Expr &one = kernel.expr(a), &other = kernel.expr(b);
  if (a == b)
    return true;
  if (one.op != other.op || one.ref != other.ref || one.axis != other.axis || one.args.size() != other.args.size() ||
      !one.coords.empty() || !other.coords.empty() || one.op == Op::constant)
    return false;
  for (size_t i = 0; i < one.args.size(); ++i)
    if (!alike(kernel, one.args[i], other.args[i]))
      return false;
  return true;
}

class Describing {
public:
  explicit Describing(const Kernel &kernel) : kernel_(kernel) {}

  std::string words(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    const std::string text = full(e);
    return text.size() <= kLongest ? text : operand(id);
  }

private:
  std::string full(const Expr &e) const {
    const auto arg = [&](size_t i) { return words(e.args[i]); };
    switch (e.op) {
    case Op::read:
    case Op::element:
      return kernel_.vars[e.ref].name;
    case Op::cast:
    case Op::round_like:
    case Op::neg:
      return arg(0);
    case Op::fold:
      return fold_names(kernel_, e).front();
    case Op::size:
      return "size_" + lower_case(kernel_.axes[e.axis].name);
    case Op::choose:
      return arg(1).empty() ? arg(2) : arg(1);
    case Op::mul:
      if (alike(kernel_, e.args[0], e.args[1]))
        return name_of_parts(arg(0), "squared");
      return name_of_parts(arg(0), arg(1));
    case Op::abs:
      return name_of_parts("abs", arg(0));
    case Op::exp:
      return name_of_parts("exp", arg(0));
    case Op::log:
      return name_of_parts("log", arg(0));
    case Op::sqrt:
      return name_of_parts("root", arg(0));
    case Op::scalar:
      return kernel_.scalars[e.ref].name;
    default:
      for (ExprId inner : e.args)
        if (std::string first = words(inner); !first.empty())
          return first;
      return "";
    }
  }

  // The first that is read.
  std::string operand(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::read || e.op == Op::element)
      return kernel_.vars[e.ref].name;
    for (ExprId arg : e.args)
      if (std::string first = operand(arg); !first.empty())
        return first;
    return "";
  }

  const Kernel &kernel_;
};

std::string along(const Kernel &kernel, AxisSet axes) {
  std::string text = "along";
  for (AxisId axis : axes.list())
    text += "_" + lower_case(kernel.axes[axis].name);
  return text;
}

// `word_what`, and with the axes behind it.
std::vector<std::string> wishes(const Kernel &kernel, const std::string &word, ExprId value, AxisSet axes) {
  const std::string name = name_of_parts(word, description(kernel, value));
  return {name, name_of_parts(name, along(kernel, axes))};
}

std::vector<std::string> scan_wishes(const Kernel &kernel, const Expr &scan, const std::string &first) {
  const std::string name =
      name_of_parts(name_of_parts(first, word_of(scan.scan)), description(kernel, scan.args.back()));
  const char *way = scan.exclusive ? (scan.reverse ? "behind" : "before") : scan.reverse ? "from_end" : "";
  const std::string whole = name_of_parts(name, way);
  return {whole, name_of_parts(whole, along(kernel, AxisSet::of(scan.axis)))};
}

} // namespace

std::string fold_word(Monoid monoid) {
  switch (monoid) {
  case Monoid::sum:
    return "sum";
  case Monoid::product:
    return "product";
  case Monoid::min:
    return "least";
  case Monoid::max:
    return "greatest";
  case Monoid::mean:
    return "mean";
  case Monoid::all:
    return "all";
  case Monoid::any:
    return "any";
  case Monoid::argmax:
    return "argmax";
  case Monoid::argmin:
    return "argmin";
  }
  KGEN_UNREACHABLE("monoid");
}

std::string description(const Kernel &kernel, ExprId id) {
  const std::string words = Describing(kernel).words(id);
  return words.size() <= 2 * kLongest ? words : "";
}

std::vector<std::string> fold_names(const Kernel &kernel, const Expr &fold) {
  const Expr &value = kernel.expr(fold.args[0]);
  const bool counts = fold.monoid == Monoid::sum && value.op == Op::constant;
  const bool counts_true =
      fold.monoid == Monoid::sum && value.op == Op::cast && kernel.expr(value.args[0]).type == Type::boolean;
  if (!counts)
    return wishes(kernel, counts_true ? "count" : fold_word(fold.monoid), fold.args[0], fold.reduced);
  std::vector<std::string> names = {"count", name_of_parts("count", along(kernel, fold.reduced))};
  if (fold.args.size() > 1)
    names.push_back(name_of_parts("count", description(kernel, fold.args[1])));
  return names;
}

std::vector<std::string> best_names(const Kernel &kernel, const Expr &fold) {
  return wishes(kernel, fold.monoid == Monoid::argmax ? "greatest" : "least", fold.args[0], fold.reduced);
}

std::vector<std::string> scan_names(const Kernel &kernel, const Expr &scan) {
  return scan_wishes(kernel, scan, "running");
}

std::vector<std::string> carry_names(const Kernel &kernel, const Expr &scan) {
  return scan_wishes(kernel, scan, "carried");
}

} // namespace kgen
