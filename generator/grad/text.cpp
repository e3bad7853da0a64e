#include "grad/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "ir/op_rows.h"
#include "support/check.h"
#include "support/text.h"

namespace kgen::grad {

using Kind = Node::Kind;

namespace {

constexpr int kChoice = 1, kEither = 2, kBoth = 3, kSum = 10, kProduct = 11, kSign = 12, kName = 13;

constexpr std::string_view kFolds[] = {"sum", "prod", "min", "max", "mean", "all", "any", "argmax", "argmin"};
constexpr std::string_view kScans[] = {"cumsum", "cumprod", "cummax", "linrec"};

} // namespace

std::string type_name(Type type) {
  switch (type) {
  case Type::boolean:
    return "bool";
  case Type::i32:
    return "int";
  case Type::i64:
    return "int64_t";
  case Type::i16:
    return "int16_t";
  case Type::i8:
    return "int8_t";
  case Type::u64:
    return "uint64_t";
  case Type::u32:
    return "uint32_t";
  case Type::u16:
    return "uint16_t";
  case Type::u8:
    return "uint8_t";
  default:
    return "real";
  }
}

std::string number_text(double value) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  std::string out = text;
  if (out.find('e') != std::string::npos && std::fabs(value) >= 1 && std::fabs(value) < 1e15 &&
      value == std::floor(value))
    out = std::to_string(static_cast<int64_t>(value));
  if (const size_t e = out.find('e'); e != std::string::npos) // 1e-05 is written 1e-5
    while (out.size() > e + 3 && out[e + 2] == '0')
      out.erase(e + 2, 1);
  return out;
}

std::string Text::axes(AxisSet set) const {
  std::vector<std::string> out;
  for (AxisId axis : set.list())
    out.push_back(graph_.axis(axis).name);
  return join(out, ", ");
}

std::string Text::coordinate(NodeId id) const {
  const Node &n = graph_.node(id);
  if (names_.count(id) == 0 && n.kind == Kind::cast && is_integer(n.type) && is_integer(graph_.node(n.args[0]).type))
    return coordinate(n.args[0]);
  const bool outer = std::exchange(in_coordinate_, true);
  std::string out = piece(id).text;
  in_coordinate_ = outer;
  return out;
}

std::string Text::places(const Node &node, size_t first) const {
  std::string out;
  for (size_t i = 0; i < node.places.size(); ++i)
    out += ", " + graph_.axis(node.places[i]).name + " = " + coordinate(node.args[first + i]);
  return out;
}

Text::Piece Text::made_real(const Piece &piece) { return {"real(" + piece.text + ")", kName, Type::f32}; }

bool Text::any_floating(const std::vector<Piece> &pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [](const Piece &p) { return kgen::is_floating(p.type); });
}

std::string Text::list_of(const std::vector<Piece> &pieces) {
  std::vector<std::string> out;
  for (const Piece &piece : pieces)
    out.push_back(piece.text);
  return join(out, ", ");
}

// What is computed from these is floating: none of them may say so, or only one behind the first two.
void Text::make_real(std::vector<Piece> &pieces) const {
  const size_t first = std::min<size_t>(pieces.size(), 2);
  if (!widths_.doubles || std::any_of(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(first),
                                      [&](const Piece &piece) { return says_real(piece); }))
    return;
  Piece &one = pieces[first == 2 && pieces[0].literal ? 1 : 0];
  one = made_real(one);
}

// A literal that a float does not hold.
bool Text::rounds(NodeId id) const {
  const Node &n = graph_.node(id);
  return n.kind == Kind::number && kgen::is_floating(n.type) && std::isfinite(n.number) &&
         static_cast<double>(static_cast<float>(n.number)) != n.number;
}

Text::Piece Text::operand(const Node &n) const { return {n.name, kName, n.type, widths_.narrower.count(n.name) != 0}; }

Text::Piece Text::number(const Node &n, bool floating) const {
  if (n.type == Type::boolean)
    return {n.integer != 0 ? "true" : "false", kName, Type::boolean};
  if (!kgen::is_floating(n.type)) {
    const std::string text =
        n.type == Type::u64 ? std::to_string(static_cast<uint64_t>(n.integer)) + "u" : std::to_string(n.integer);
    const bool wide = n.integer > INT32_MAX || n.integer < INT32_MIN;
    return {text, n.integer < 0 ? kSign : kName, wide ? n.type : Type::i32, true, true};
  }
  if (std::isnan(n.number))
    return {"nan", kName, Type::f32, true, true};
  if (std::isinf(n.number))
    return {n.number > 0 ? "inf" : "-inf", n.number > 0 ? kName : kSign, Type::f32, true, true};
  std::string text = number_text(n.number);
  const bool whole = text.find_first_of(".e") == std::string::npos;
  if (whole && floating)
    text += ".0";
  return {text, n.number < 0 ? kSign : kName, whole && !floating ? Type::i32 : Type::f32, true, true};
}

Text::Piece Text::floating(double value, bool as_such) const {
  Node n;
  n.number = value;
  return number(n, as_such);
}

// Each is asked for several times by what it is a part of.
Text::Piece Text::piece(NodeId id, bool floating, bool defines) const {
  const Node &n = graph_.node(id);
  if (defines)
    return written(n, floating);
  if (const auto name = names_.find(id); name != names_.end())
    return {name->second, kName, n.type, n.kind == Kind::operand && operand(n).bare};
  const std::tuple asked(id, floating, in_coordinate_, there_);
  const auto known = pieces_.find(asked);
  return known != pieces_.end() ? known->second : pieces_.emplace(asked, written(n, floating)).first->second;
}

Text::Piece Text::written(const Node &n, bool floating) const {
  switch (n.kind) {
  case Kind::number:
    return number(n, floating);
  case Kind::undefined:
    return kgen::is_floating(n.type)
               ? Piece{floating ? "0.0" : "0", kName, floating ? Type::f32 : Type::i32, true, true}
               : Piece{n.type == Type::boolean ? "false" : "0", kName, n.type};
  case Kind::operand:
  case Kind::scalar:
    return operand(n);
  case Kind::carried:
    return {n.name, kName, n.type};
  case Kind::round:
  case Kind::handed:
  case Kind::looped: // they have names
    break;
  case Kind::table: {
    std::string out = n.name;
    for (NodeId arg : n.args) {
      const bool outer = std::exchange(in_coordinate_, false);
      out += "[" + piece(arg).text + "]";
      in_coordinate_ = outer;
    }
    return {out, kName, n.type};
  }
  case Kind::element: {
    const bool outer = std::exchange(in_coordinate_, false);
    const Piece out = {piece(n.args[0]).text + "[" + piece(n.args[1]).text + "]", kName, n.type};
    in_coordinate_ = outer;
    return out;
  }
  case Kind::index:
    return {in_coordinate_ ? graph_.axis(n.axis).name : "index(" + graph_.axis(n.axis).name + ")", kName, Type::i64};
  case Kind::size:
    return {"size(" + graph_.axis(n.axis).name + ")", kName, Type::i64};
  case Kind::present:
    return {"present(" + n.name + ")", kName, Type::boolean};
  case Kind::inside:
    return {"inside(" + n.name + places(n, 0) + ")", kName, Type::boolean};
  case Kind::at: {
    const Piece array = piece(n.args[0]);
    return {"at(" + array.text + places(n, 1) + ")", kName, n.type, array.bare};
  }
  case Kind::cast: {
    const Piece inner = piece(n.args[0]);
    if (kgen::is_floating(n.type) && !floating)
      return inner;
    return {type_name(n.type) + "(" + inner.text + ")", kName, n.type};
  }
  case Kind::bitcast:
    return {"bitcast<" + bits_type(n) + ">(" + piece(n.args[0]).text + ")", kName, n.type};
  case Kind::op:
    return operation(n, floating);
  case Kind::choose:
    return choice(n, floating);
  case Kind::both:
    return infix("&&", n.args[0], n.args[1], kBoth, n.type);
  case Kind::either:
    return infix("||", n.args[0], n.args[1], kEither, n.type);
  case Kind::fold: {
    Piece out = fold(n);
    return floating && !kgen::is_floating(out.type) ? made_real(out) : out;
  }
  case Kind::scan: {
    std::string name(kScans[static_cast<size_t>(n.scan)]);
    name += std::string(n.reverse ? "_reverse" : "") + (n.exclusive ? "_exclusive" : "");
    std::vector<Piece> pieces;
    for (NodeId arg : n.args)
      pieces.push_back(piece(arg, kgen::is_floating(n.type)));
    if (kgen::is_floating(n.type))
      make_real(pieces);
    return {name + "(" + list_of(pieces) + ", " + graph_.axis(n.axis).name + ")", kName, n.type};
  }
  case Kind::call:
    return call(n.name, n, true);
  case Kind::derivative: {
    std::string text = (n.by.size() > 1 ? "second_derivative(" : "derivative(") + n.name;
    for (size_t i = 0; i < n.by.size() && n.args.size() > 1; ++i)
      text += ", " + std::to_string(n.by[i]);
    Piece out = call("", n, true);
    out.text = text + ", " + out.text.substr(1);
    return out;
  }
  case Kind::product:
    return product(n, 1);
  case Kind::sum:
    return sum(n);
  }
  KGEN_UNREACHABLE("a node without a text");
}

// Bits have a width: `real` would not say it.
std::string Text::bits_type(const Node &n) const {
  if (!kgen::is_floating(n.type))
    return type_name(n.type);
  return bytes_of(graph_.node(n.args[0]).type) == 8 ? "double" : "float";
}

Text::Piece Text::call(const std::string &name, const Node &n, bool floating) const {
  const bool outer = std::exchange(in_coordinate_, false);
  const bool one_will_do =
      n.kind == Kind::op && (n.op == Op::max || n.op == Op::min || n.op == Op::clamp) &&
      std::any_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return kgen::is_floating(piece(arg).type); });
  std::vector<Piece> pieces;
  for (NodeId arg : n.args)
    pieces.push_back(piece(arg, floating && !one_will_do));
  in_coordinate_ = outer;
  if (floating && n.kind == Kind::op)
    make_real(pieces);
  return {name + "(" + list_of(pieces) + ")", kName, n.type};
}

Text::Piece Text::infix(const std::string &sign, NodeId a, NodeId b, int strength, Type type) const {
  return {within(piece(a), strength) + " " + sign + " " + within(piece(b), strength + 1), strength, type};
}

Text::Piece Text::operation(const Node &n, bool) const {
  if (n.op == Op::neg || n.op == Op::bit_not)
    return {(n.op == Op::neg ? "-" : "~") + within(piece(n.args[0], kgen::is_floating(n.type)), kName), kSign, n.type};
  if (n.op == Op::logical_not) {
    const Node &inner = graph_.node(n.args[0]);
    const bool whole = inner.kind == Kind::op && (inner.op == Op::eq || inner.op == Op::ne) &&
                       names_.count(n.args[0]) == 0 && !graph_.is_floating(inner.args[0]);
    if (whole)
      return infix(inner.op == Op::eq ? "!=" : "==", inner.args[0], inner.args[1], 7, Type::boolean);
    return {"!" + within(piece(n.args[0]), kSign), kSign, Type::boolean};
  }
  if (const OpRow &row = op_row(n.op); row.binds > 0) {
    std::vector<Piece> sides = {piece(n.args[0]), piece(n.args[1])};
    Piece &a = sides[0], &b = sides[1];
    const bool shifts = row.op == Op::shl || row.op == Op::shr;
    if (shifts && bytes_of(n.type) == 8 && bytes_of(a.type) < 8) // the left one says how wide it is
      a = {type_name(n.type) + "(" + a.text + ")", kName, n.type};
    const bool comparison = n.type == Type::boolean;
    const bool floats = kgen::is_floating(comparison ? graph_.node(n.args[0]).type : n.type);
    if (floats)
      make_real(sides);
    if (floats && !any_floating(sides))
      a = piece(n.args[0], true);
    // What the other operand makes it anyway: C++ goes by the longer one, and of two as long by the one without a sign.
    for (const auto &[own, other, node] : {std::tuple(&a, &b, n.args[0]), std::tuple(&b, &a, n.args[1])}) {
      const Node &cast = graph_.node(node);
      const Type from = cast.kind == Kind::cast ? graph_.node(cast.args[0]).type : Type::f32;
      const bool wider = is_integer(from) && (bytes_of(from) < bytes_of(cast.type) ||
                                              (bytes_of(from) == bytes_of(cast.type) && is_unsigned(cast.type)));
      if (!floats && wider && names_.count(node) == 0 && other->type == cast.type && !shifts)
        *own = piece(cast.args[0]);
    }
    return {within(a, row.binds) + " " + std::string(row.cpp) + " " + within(b, row.binds + 1), row.binds, n.type};
  }
  return call(std::string(op_name(n.op)), n, kgen::is_floating(n.type) && n.op != Op::random);
}

Text::Piece Text::choice(const Node &n, bool floating) const {
  const Piece condition = piece(n.args[0]);
  const bool real = kgen::is_floating(n.type);
  const Absent::Inputs there = absent_.asked_by(n.args[0]);
  Piece then = where_there(there, n.args[1], false);
  Piece otherwise = where_there(absent_.asked_by(n.args[0], false), n.args[2], false);
  const bool is_real = kgen::is_floating(then.type) || kgen::is_floating(otherwise.type);
  if (real && floating && !is_real)
    then = where_there(there, n.args[1], true);
  if (real && widths_.doubles && !says_real(then) && !says_real(otherwise) && (rounds(n.args[1]) || rounds(n.args[2])))
    then = made_real(then);
  const Type type = real ? (is_real || floating ? Type::f32 : Type::i32) : n.type;
  return {within(condition, kChoice + 1) + " ? " + within(then, kChoice + 1) + " : " + within(otherwise, kChoice),
          kChoice, type, !says_real(then) && !says_real(otherwise)};
}

Text::Piece Text::where_there(const Absent::Inputs &inputs, NodeId id, bool floating) const {
  Absent::Inputs around = there_;
  there_.insert(inputs.begin(), inputs.end());
  const Piece out = piece(id, floating);
  there_ = std::move(around);
  return out;
}

std::string Text::asked_use(NodeId id, const Absent::Inputs &there) const {
  Absent::Inputs unknown = absent_.read_by(id);
  std::erase_if(unknown, [&](const std::string &input) { return there.count(input) != 0; });
  return asked(where_there(there, id, false), unknown).text;
}

// 0 where one of them is absent.
Text::Piece Text::asked(const Piece &piece, const Absent::Inputs &inputs) const {
  std::vector<std::string> questions;
  for (const std::string &input : inputs)
    if (there_.count(input) == 0)
      questions.push_back("present(" + input + ")");
  if (questions.empty())
    return piece;
  const std::string text = piece.text.find('?') == std::string::npos ? piece.text : "(" + piece.text + ")";
  return {join(questions, " && ") + " ? " + text + " : 0", kChoice, piece.type, piece.bare};
}

// A truth value counts as 1 or 0 beside other factors, as in C++.
Text::Piece Text::factor(NodeId id) const {
  const Node &n = graph_.node(id);
  if (names_.count(id) == 0 && n.kind == Kind::cast) {
    const Piece inner = factor(n.args[0]);
    if (inner.type == Type::boolean)
      return inner;
  }
  return piece(id);
}

// Two signs would be read as one that assigns: --x.
bool Text::take_minus(Piece &piece) {
  const bool minus = piece.strength >= kProduct && piece.text.starts_with("-");
  if (minus)
    piece.text.erase(0, 1);
  return minus;
}

// A third is a division by 3.
double Text::divisor(double number) {
  constexpr size_t kShort = 4; // characters that read well as they are: 0.25
  const double turned = 1 / number;
  const bool divides = number_text(number).size() > kShort && number < 1 && turned == std::floor(turned) &&
                       1 / turned == number && turned < 1e9;
  return divides ? turned : 1;
}

// Those of a product without a name, too.
void Text::add_factors(NodeId id, std::vector<NodeId> &out) const {
  const Node &n = graph_.node(id);
  const bool multiplies = n.kind == Kind::op ? n.op == Op::mul && kgen::is_floating(n.type)
                                             : n.kind == Kind::product && n.number == 1 &&
                                                   std::ranges::all_of(n.powers, [](int power) { return power == 1; });
  if (names_.count(id) != 0 || !multiplies)
    return out.push_back(id);
  for (NodeId arg : n.args)
    add_factors(arg, out);
}

// The gradients first. What says `real` stands before a second one that does not.
std::vector<Text::Piece> Text::multiplied(const Node &n, double number, bool minus) const {
  std::vector<NodeId> factors;
  for (size_t i = 0; i < n.args.size(); ++i)
    for (int times = 0; times < n.powers[i]; ++times)
      add_factors(n.args[i], factors);
  std::stable_partition(factors.begin(), factors.end(),
                        [&](NodeId id) { return use(id).starts_with("d") && use(id).find("_") < 4; });
  std::vector<Piece> out;
  if (number != 1 || factors.empty())
    out.push_back(floating(number, false));
  for (const NodeId id : factors)
    out.push_back(factors.size() == 1 ? piece(id) : factor(id));
  const auto real = std::find_if(out.begin(), out.end(), [&](const Piece &p) { return says_real(p); });
  const bool wraps = std::any_of(out.begin(), real, [](const Piece &p) { return is_unsigned(p.type); });
  if (real != out.end() && ((minus && wraps) || real - out.begin() > 1)) // or whole numbers would be multiplied first
    std::rotate(out.begin(), real, real + 1);
  if (!any_floating(out) && !widths_.doubles) // whole numbers would be divided as such
    out[0] = number != 1 || factors.empty() ? floating(number, true) : piece(factors[0], true);
  return out;
}

std::vector<Text::Piece> Text::divided_by(const Node &n, double number) const {
  std::vector<Piece> out;
  if (number != 1)
    out.push_back(floating(number, false));
  for (size_t i = 0; i < n.args.size(); ++i)
    for (int times = 0; times < -n.powers[i]; ++times)
      out.push_back(piece(n.args[i]));
  if (out.size() > 1 && any_floating(out))
    make_real(out);
  return out;
}

// d / (2 * s)
Text::Piece Text::product(const Node &n, double sign) const {
  const bool any_above = std::any_of(n.powers.begin(), n.powers.end(), [](int power) { return power > 0; });
  const double number = std::fabs(n.number), turned = any_above ? divisor(number) : 1;
  bool minus = n.number * sign < 0;
  std::vector<Piece> above = multiplied(n, turned != 1 ? 1 : number, minus), below = divided_by(n, turned);
  const bool real_below = std::any_of(below.begin(), below.end(), [&](const Piece &p) { return says_real(p); });
  if (above.size() > 1 || !real_below)
    make_real(above[0].literal && above.size() == 1 && !below.empty() ? below : above);
  for (Piece &piece : above)
    minus = minus && !take_minus(piece);
  std::string text = minus ? "-" : "";
  for (size_t i = 0; i < above.size(); ++i)
    text += (i == 0 ? "" : " * ") + within(above[i], i == 0 && minus ? kName : i == 0 ? kProduct : kProduct + 1);
  std::vector<std::string> divisors;
  for (const Piece &piece : below)
    divisors.push_back(within(piece, kProduct + 1));
  if (divisors.size() == 1)
    text += " / " + divisors[0];
  if (divisors.size() > 1)
    text += " / (" + join(divisors, " * ") + ")";
  return {text, above.size() == 1 && below.empty() ? kSign : kProduct, Type::f32};
}

Text::Piece Text::sum(const Node &n) const {
  const bool floats =
      std::any_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return kgen::is_floating(piece(arg).type); });
  std::vector<Piece> pieces;
  std::vector<bool> minus;
  for (NodeId arg : n.args) {
    const Node &term = graph_.node(arg);
    const bool named = names_.count(arg) != 0;
    const bool taken =
        !named && ((term.kind == Kind::product && term.number < 0) || (term.kind == Kind::number && term.number < 0));
    pieces.push_back(taken && term.kind == Kind::product ? product(term, -1)
                     : taken                             ? floating(-term.number, false)
                                                         : piece(arg, !floats && pieces.empty()));
    minus.push_back(take_minus(pieces.back()) != taken);
    pieces.back() = asked(pieces.back(), absent_.read_by_term(n, arg));
  }
  make_real(pieces);
  std::string text;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int strength = minus[i] ? kProduct : i == 0 ? kSum : kSum + 1;
    const std::string sign = i == 0 ? (minus[i] ? "-" : "") : minus[i] ? " - " : " + ";
    text += sign + within(pieces[i], strength);
  }
  return {text, kSum, Type::f32};
}

// The factors of what `dot` can say.
bool Text::factors_of(NodeId id, std::vector<NodeId> &out) const {
  const Node &n = graph_.node(id);
  if (names_.count(id) == 0 && n.kind == Kind::op && n.op == Op::mul && kgen::is_floating(n.type))
    return factors_of(n.args[0], out) && factors_of(n.args[1], out);
  if (names_.count(id) == 0 && n.kind == Kind::product) {
    for (size_t i = 0; i < n.args.size(); ++i)
      for (int times = 0; times < n.powers[i]; ++times)
        out.push_back(n.args[i]);
    return n.number == 1 && std::all_of(n.powers.begin(), n.powers.end(), [](int power) { return power > 0; });
  }
  out.push_back(id);
  return kgen::is_floating(piece(id).type);
}

Text::Piece Text::fold(const Node &n) const {
  std::string name(kFolds[static_cast<size_t>(n.monoid)]), element;
  bool bare = false;
  std::vector<NodeId> factors;
  if (n.monoid == Monoid::sum && kgen::is_floating(n.type) && factors_of(n.args[0], factors) && factors.size() > 1 &&
      factors.size() <= 8 && !(factors.size() == 2 && factors[0] == factors[1])) {
    name = "dot";
    std::stable_sort(factors.begin(), factors.end(), [&](NodeId a, NodeId b) {
      auto is_gradient = [&](NodeId id) { return use(id).starts_with("d_"); };
      return is_gradient(a) && !is_gradient(b);
    });
    std::vector<Piece> pieces;
    for (NodeId factor : factors)
      pieces.push_back(piece(factor));
    make_real(pieces);
    element = list_of(pieces);
  } else {
    std::vector<Piece> pieces = {piece(n.args[0], kgen::is_floating(n.type))};
    const bool exact = n.monoid == Monoid::max || n.monoid == Monoid::min || pieces[0].literal;
    if (kgen::is_floating(n.type) && !exact)
      make_real(pieces);
    bare = exact && pieces[0].bare;
    element = pieces[0].text;
  }
  std::string text = name + "(" + element + ", " + axes(n.reduced);
  if (n.args.size() > 1)
    text += ", where(" + piece(n.args[1]).text + ")";
  return {text + ")", kName, n.type, bare};
}

std::string Text::requirements() const {
  std::set<std::string> out;
  for (const NodeId stride : graph_.required_positive()) {
    const Node &n = graph_.node(stride);
    const std::string text = definition(stride);
    std::string positive = text + " > 0";
    if (n.kind == Kind::op) // or nothing is divided, or by nothing
      positive = definition(n.args[0]) + " >= " + definition(n.args[1]) + " || " + definition(n.args[0]) + " == 0";
    out.insert("require(" + positive + ", \"" + text + " must be greater than 0\");\n");
  }
  return join({out.begin(), out.end()}, "");
}

} // namespace kgen::grad
