// One checker per kind of builtin. The prelude lets every call through, so that all mistakes are found and worded here.
#include "body/calls.h"

#include <algorithm>

#include "body/exprs.h"
#include "body/foreign_names.h"

namespace kgen::body {
namespace {

using Kind = Expr::Kind;

constexpr size_t kMaxFactors = 8;

class BuiltinMaker {
public:
  BuiltinMaker(Call call, const Spec &spec, Reporter &reporter)
      : call_(std::move(call)), spec_(spec), reporter_(reporter) {}

  std::optional<Expr> run() {
    if (any_failed(call_.args))
      return std::nullopt;
    check();
    if (failed_)
      return std::nullopt;
    Expr out;
    out.kind = call_.row->kind == BuiltinKind::where ? Kind::where : Kind::builtin;
    out.type = call_.type;
    out.name = call_.row->name;
    out.place = call_.place;
    out.weak = pointwise_ && std::ranges::all_of(call_.args, &Expr::weak);
    out.args = std::move(call_.args);
    return out;
  }

private:
  size_t count() const { return call_.args.size(); }
  Expr &arg(size_t i) { return call_.args[i]; }
  bool is(size_t i, Kind kind) const { return i < call_.args.size() && call_.args[i].kind == kind; }

  void wrong(const std::string &help = {}) {
    if (failed_)
      return;
    failed_ = true;
    Diagnostic *d = reporter_.add(DiagId::body_arguments, call_.span,
                                  {std::string(call_.row->name), std::string(call_.row->takes)});
    if (d != nullptr)
      d->help = help.empty() ? std::string(instead_of(call_.row->name)) : help;
  }

  // Argument `i` as a value of its own type.
  void value(size_t i) {
    if (i >= count() || !is_value(arg(i)))
      return wrong();
    if (!is(i, Kind::axis))
      return;
    std::optional<Expr> index = axis_as_value(arg(i), call_.in_coordinate, call_.spans[i], reporter_);
    failed_ |= !index;
    if (index)
      arg(i) = *std::move(index);
  }

  void value(size_t i, Type type) {
    value(i);
    if (!failed_)
      arg(i) = cast(std::move(arg(i)), type, true);
  }

  void values(size_t wanted, Type type) {
    if (count() != wanted)
      return wrong();
    for (size_t i = 0; i < wanted; ++i)
      value(i, type);
  }

  // From argument `from` on: axes, at most `most` of them, then perhaps where.
  void axes(size_t from, size_t most, bool where) {
    size_t end = from;
    while (is(end, Kind::axis))
      ++end;
    if (end < count() && is(end, Kind::grid))
      return wrong("`" + arg(end).name + "` is a grid dimension; reductions and scans go along axes");
    if (is(end, Kind::where) && !where)
      return wrong("`where` restricts reductions and `dot` only");
    const size_t axes = end - from;
    for (size_t i = from; i < end; ++i)
      for (size_t j = from; j < i; ++j)
        if (arg(i).name == arg(j).name)
          return wrong("axis `" + arg(i).name + "` stands twice");
    if (axes == 0 || axes > most || count() - end > (is(end, Kind::where) ? 1u : 0u))
      wrong();
  }

  void check() {
    const size_t wanted = static_cast<size_t>(call_.row->values);
    switch (call_.row->kind) {
    case BuiltinKind::reduction:
      return check_reduction();
    case BuiltinKind::extreme:
      return is(1, Kind::axis) || is(1, Kind::where) || count() != 2 ? check_reduction() : check_pointwise(wanted);
    case BuiltinKind::product:
      return check_product();
    case BuiltinKind::scan:
      return check_scan(wanted);
    case BuiltinKind::where:
    case BuiltinKind::assertion:
      return values(1, Type::boolean);
    case BuiltinKind::printing:
      return check_printing();
    case BuiltinKind::requirement:
      return check_requirement();
    case BuiltinKind::at:
    case BuiltinKind::inside:
      return check_coordinates();
    case BuiltinKind::position:
      return check_position();
    case BuiltinKind::step:
      return check_step();
    case BuiltinKind::present:
      return check_present();
    case BuiltinKind::round_like:
      return check_round_like();
    case BuiltinKind::bitcast:
      return check_bitcast();
    case BuiltinKind::random:
      return check_random(wanted);
    case BuiltinKind::maths:
      return check_pointwise(wanted);
    case BuiltinKind::popcount:
      check_pointwise(wanted);
      if (!failed_ && !is_integer(call_.type))
        wrong();
      return;
    case BuiltinKind::predicate:
      value(0);
      if (!failed_ && !is_floating(arg(0).type))
        arg(0) = cast(std::move(arg(0)), Type::f32, true);
      if (!failed_ && count() != wanted)
        wrong();
      return;
    }
  }

  void check_pointwise(size_t wanted) {
    pointwise_ = true;
    values(wanted, call_.type);
  }

  void check_reduction() {
    const bool one_axis = call_.row->name == "argmax" || call_.row->name == "argmin";
    const bool logical = call_.row->name == "any" || call_.row->name == "all";
    axes(1, one_axis ? 1 : count(), true);
    if (failed_)
      return;
    if (logical)
      value(0, Type::boolean);
    else if (call_.row->name == "mean")
      value(0, call_.type);
    else
      value(0);
  }

  void check_product() {
    size_t factors = 0;
    while (factors < count() && is_value(arg(factors)) && !is(factors, Kind::axis) && !is(factors, Kind::grid))
      ++factors;
    if (factors < 2 || factors > kMaxFactors)
      return wrong(factors == 1 && is(1, Kind::axis) ? "for one value there is `sum`" : "");
    axes(factors, count(), true);
  }

  void check_scan(size_t wanted) {
    axes(wanted, 1, false);
    for (size_t i = 0; i < wanted && !failed_; ++i)
      if (wanted == 2) // linrec computes in floating point
        value(i, call_.type);
      else
        value(i);
  }

  bool is_array(size_t i) const {
    const bool operand = is(i, Kind::operand) && std::ranges::any_of(spec_.operands, [&](const OperandDecl &o) {
                           return o.name == call_.args[i].name;
                         });
    return operand || is(i, Kind::local);
  }

  void check_coordinates() {
    if (count() < 2)
      return wrong();
    if (!is_array(0))
      return wrong("give the value a name first: `real v = ...;`, then `at(v, ...)`");
    for (size_t i = 1; i < count(); ++i) {
      if (!is(i, Kind::coordinate))
        return wrong();
      for (size_t j = 1; j < i; ++j)
        if (arg(j).name == arg(i).name && arg(j).local == arg(i).local) {
          failed_ = true;
          reporter_.add(DiagId::body_coordinate, call_.spans[i], {"a second coordinate for `" + arg(i).name + "`"});
          return;
        }
    }
  }

  void check_position() {
    const bool of_operand = call_.row->name != "block" && count() == 2 && is_array(0) && is(1, Kind::axis);
    const bool of_axis = count() == 1 && is(0, Kind::axis);
    const bool of_grid = call_.row->name == "size" && count() == 1 && is(0, Kind::grid);
    if (of_operand || of_axis || of_grid)
      return;
    if (count() == 1 && is(0, Kind::grid) && call_.row->name == "index")
      return wrong("`" + arg(0).name + "` is a grid dimension; its plain name is its step");
    wrong(count() == 1 && is(0, Kind::grid) ? "`" + arg(0).name + "` is a grid dimension" : "");
  }

  void check_step() {
    const bool output =
        count() == 1 && is(0, Kind::operand) && std::ranges::any_of(spec_.operands, [&](const OperandDecl &o) {
          return o.name == arg(0).name && o.role == Role::output;
        });
    if (output || (count() == 1 && is(0, Kind::grid)))
      return;
    wrong(count() == 1 && is(0, Kind::axis) ? "`" + arg(0).name + "` is an axis; name the grid dimension that blocks it"
                                            : "");
  }

  void check_present() {
    const bool optional =
        count() == 1 && is(0, Kind::operand) &&
        std::ranges::any_of(spec_.operands, [&](const OperandDecl &o) { return o.name == arg(0).name && o.optional; });
    const bool of_function = count() == 1 && is(0, Kind::axis) && arg(0).local >= 0;
    if (!optional && !of_function)
      wrong(count() == 1 && is(0, Kind::operand) ? "declare it with `optional = true`" : "");
  }

  void check_printing() {
    if (count() == 0)
      return wrong();
    for (size_t i = 0; i < count() && !failed_; ++i)
      if (!is(i, Kind::text))
        value(i);
  }

  void check_requirement() {
    if (count() != 2 || !is(1, Kind::text) || arg(1).name.empty())
      return wrong();
    value(0, Type::boolean);
  }

  void check_round_like() {
    if (count() != 2 || !(is(1, Kind::operand) || is(1, Kind::local)))
      return wrong();
    value(0, call_.type);
  }

  void check_bitcast() {
    value(0);
    if (failed_)
      return;
    const bool same_size = count() == 1 && bytes_of(arg(0).type) == bytes_of(call_.type);
    if (!same_size || arg(0).type == Type::boolean || call_.type == Type::boolean)
      wrong();
  }

  void check_random(size_t wanted) {
    for (size_t i = 0; i < wanted && !failed_; ++i) {
      value(i);
      if (!failed_ && is_floating(arg(i).type))
        wrong();
    }
    if (!failed_)
      values(wanted, Type::i64);
  }

  Call call_;
  const Spec &spec_;
  Reporter &reporter_;
  bool failed_ = false;
  bool pointwise_ = false;
};

} // namespace

std::optional<Expr> axis_as_value(Expr axis, bool in_coordinate, const Span &span, Reporter &reporter) {
  if (!in_coordinate) {
    if (Diagnostic *d = reporter.add(DiagId::body_axis_value, span, {axis.name}))
      d->help = "the position along it is `index(" + axis.name + ")`, its size `size(" + axis.name + ")`";
    return std::nullopt;
  }
  Expr out;
  out.kind = Kind::builtin;
  out.type = Type::i64;
  out.name = "index";
  out.place = axis.place;
  out.args.push_back(std::move(axis));
  return out;
}

std::optional<Expr> make_builtin(Call call, const Spec &spec, Reporter &reporter) {
  return BuiltinMaker(std::move(call), spec, reporter).run();
}

} // namespace kgen::body
