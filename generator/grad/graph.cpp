// Nodes and the rules that keep them short. Each rule has a name here and in docs/gradients.md, and a test by it.
#include "grad/graph.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ir/evaluate.h"
#include "support/naming.h"

namespace kgen::grad {

using Kind = Node::Kind;

namespace {

std::string key_of(const Node &n) {
  std::string out;
  auto add = [&](auto value) { out.append(reinterpret_cast<const char *>(&value), sizeof value); };
  add(static_cast<int>(n.kind)), add(static_cast<int>(n.op)), add(static_cast<int>(n.type));
  add(n.axis), add(n.reduced.bits()), add(static_cast<int>(n.monoid)), add(static_cast<int>(n.scan));
  add(static_cast<int>(n.reverse) * 2 + static_cast<int>(n.exclusive));
  add(n.number), add(n.integer), add(n.which), add(static_cast<int>(n.args.size()));
  for (NodeId arg : n.args)
    add(arg);
  for (int power : n.powers)
    add(power);
  for (int argument : n.by)
    add(argument);
  for (AxisId place : n.places)
    add(place);
  return out + n.name;
}

} // namespace

Graph::Graph(std::vector<Axis> axes, const std::vector<Param> &params) : axes_(std::move(axes)) {
  for (const Param &param : params) {
    parameters_.insert(param.name);
    if (std::all_of(param.choices.begin(), param.choices.end(), [](const ParamValue &choice) {
          const auto *whole = std::get_if<int64_t>(&choice);
          const auto *real = std::get_if<double>(&choice);
          return (whole != nullptr && *whole > 0) || (real != nullptr && *real > 0);
        }))
      positive_parameters_.insert(param.name);
  }
}

Size as_divisor(const Size &size) {
  const bool may_be_0 = any_node(size, [](const Size &part) { return part.op == Size::Op::axis; });
  return may_be_0 ? Size::make(Size::Op::max, {Size::integer(1), size}) : size;
}

bool Graph::is_positive_parameter(const Node &n) const {
  return n.kind == Kind::scalar && positive_parameters_.count(n.name) != 0;
}

// Made of sizes and positive numbers.
bool Graph::is_count(NodeId id) const {
  const Node &n = node(strip(id));
  if (n.kind == Kind::op)
    return n.op == Op::mul && is_count(n.args[0]) && is_count(n.args[1]);
  return (is_integer(n.type) && is_positive_parameter(n)) || (n.kind == Kind::size && !is_ragged(n.axis)) ||
         (n.kind == Kind::number && is_integer(n.type) && n.integer > 0);
}

bool Graph::is_positive_constant(NodeId id) const {
  const Node &n = node(id);
  if (n.kind == Kind::number)
    return kgen::is_floating(n.type) ? n.number > 0 : n.integer > 0;
  return n.kind == Kind::cast ? is_count(n.args[0]) : is_positive_parameter(n);
}

bool Graph::is_stride(NodeId id) const {
  const Node &n = node(strip(id));
  return (is_integer(n.type) && is_positive_parameter(n)) ||
         (n.kind == Kind::op && n.op == Op::div && is_integer(n.type) && is_count(n.args[0]) && is_count(n.args[1]));
}

void Graph::require_positive(NodeId product) {
  product = strip(product);
  if (is_stride(product))
    required_positive_.insert(product);
  else
    for (const NodeId factor : std::vector<NodeId>(node(product).args))
      require_positive(factor);
}

Size Graph::size_of_stride(NodeId id) const {
  const Node &n = node(strip(id));
  if (n.kind == Kind::number)
    return Size::integer(n.integer);
  if (n.kind == Kind::size)
    return Size::axis(axis(n.axis).name);
  if (n.kind == Kind::op && n.op == Op::mul)
    return Size::make(Size::Op::multiply, {size_of_stride(n.args[0]), size_of_stride(n.args[1])});
  if (n.kind == Kind::op)
    return Size::make(Size::Op::divide, {size_of_stride(n.args[0]), as_divisor(size_of_stride(n.args[1]))});
  Size out;
  out.op = Size::Op::param, out.name = n.name;
  return out;
}

AxisSet Graph::closed(AxisSet axes) const {
  for (AxisId id : axes.list())
    if (axis(id).ragged != kNone && axis(id).over != kNone)
      axes |= AxisSet::of(axis(id).over);
  return axes;
}

AxisSet Graph::axes_of(const Node &n) const {
  AxisSet out, elsewhere;
  for (NodeId arg : n.args)
    out |= axes(arg);
  switch (n.kind) {
  case Kind::operand:
  case Kind::carried:
  case Kind::handed:
  case Kind::looped:
    return n.axes;
  case Kind::index:
    return AxisSet::of(n.axis);
  case Kind::size:
    return axis(n.axis).ragged != kNone ? AxisSet::of(axis(n.axis).over) : AxisSet();
  case Kind::fold:
    return out - n.reduced;
  case Kind::at: {
    for (AxisId place : n.places)
      elsewhere |= AxisSet::of(place);
    out = axes(n.args[0]) - elsewhere;
    for (size_t i = 1; i < n.args.size(); ++i)
      out |= axes(n.args[i]);
    return out;
  }
  default:
    return out;
  }
}

NodeId Graph::intern(Node n) {
  if (kgen::is_floating(n.type))
    n.type = Type::f32;
  const AxisSet given = n.axes;
  n.axes = closed(axes_of(n));
  const auto in_loop = [&](NodeId arg) { return node(arg).in_loop; };
  n.in_loop = n.kind == Kind::round || n.kind == Kind::handed || std::any_of(n.args.begin(), n.args.end(), in_loop);
  n.may_fail = may_fail(n);
  std::string key = key_of(n);
  if (n.kind == Kind::inside) { // its array's other axes may count, too
    n.axes |= given;
    const uint64_t bits = given.bits();
    key.append(reinterpret_cast<const char *>(&bits), sizeof bits);
  }
  const auto [known, is_new] = ids_.emplace(std::move(key), static_cast<NodeId>(nodes_.size()));
  if (is_new)
    nodes_.push_back(std::move(n));
  return known->second;
}

void Graph::nest(NodeId whole, std::vector<NodeId> parts, std::vector<int> powers, double number) {
  Node &n = nodes_[static_cast<size_t>(whole)];
  n.args = std::move(parts);
  n.powers = std::move(powers);
  n.number = number;
}

void Graph::make_multiple(NodeId whole, double times, NodeId of) {
  nodes_[static_cast<size_t>(whole)].kind = Kind::product;
  nest(whole, {of}, {1}, times);
}

bool Graph::is_ragged(AxisId id) const {
  return axis(id).ragged != kNone ||
         std::any_of(axes_.begin(), axes_.end(), [&](const Axis &a) { return a.over == id; });
}

AxisId Graph::twin(AxisId like) {
  for (const auto &[twin, of] : twins_)
    if (of == like)
      return twin;
  const AxisId made = make_axis(axis(like), "other", Size::axis(axis(like).name));
  twins_[made] = like;
  return made;
}

AxisId Graph::add_part(AxisId of, const char *what, const Size &size) {
  Axis made;
  made.name = axis(of).name;
  made.size = made.block = size;
  made.start = Size::integer(0);
  made.place = axis(of).place;
  return make_axis(made, what, size);
}

AxisId Graph::make_axis(Axis axis, const char *what, const Size &declared) {
  axis.name = free_name({name_of_parts(axis.name, what)}, [&](const std::string &name) {
    return std::any_of(axes_.begin(), axes_.end(), [&](const Axis &a) { return a.name == name; });
  });
  const AxisId made = add_axis(axis);
  made_[made] = declared;
  return made;
}

AxisId Graph::add_axis(const Axis &axis) {
  axes_.push_back(axis);
  return static_cast<AxisId>(axes_.size()) - 1;
}

NodeId Graph::number(double value) {
  Node n;
  n.number = value == 0 ? 0 : value; // no negative zero
  return intern(n);
}

NodeId Graph::integer(int64_t value, Type type) {
  Node n;
  n.type = type;
  n.integer = value;
  return intern(n);
}

NodeId Graph::index(AxisId axis) {
  Node n;
  n.kind = Kind::index;
  n.type = Type::i64;
  n.axis = axis;
  return intern(n);
}

NodeId Graph::size_of(AxisId axis) {
  const Axis &a = this->axis(axis);
  if (a.ragged == kNone && a.size.is_integer())
    return integer(a.size.value);
  Node n;
  n.kind = Kind::size;
  n.type = Type::i64;
  n.axis = axis;
  return intern(n);
}

bool Graph::is_number(NodeId id, double value) const {
  const Node &n = node(id);
  return n.kind == Kind::number &&
         (kgen::is_floating(n.type) ? n.number == value : static_cast<double>(n.integer) == value);
}

NodeId Graph::real(NodeId id) {
  const Node &n = node(id);
  if (kgen::is_floating(n.type))
    return id;
  if (n.kind == Kind::number)
    return number(static_cast<double>(n.integer));
  Node cast;
  cast.kind = Kind::cast;
  cast.args = {id};
  return intern(cast);
}

namespace {
// Does it read as well as what it is computed from? 2.25 does, a third does not.
bool is_plain(double value) { return std::fabs(value) < 1e6 && value * 64 == std::floor(value * 64); }
} // namespace

// Whole numbers and truth values are computed at once; so is the comparison of two numbers, and what is plain of
// others.
NodeId Graph::op(Op op, std::vector<NodeId> args, Type type) {
  const bool all_numbers =
      std::all_of(args.begin(), args.end(), [&](NodeId a) { return node(a).kind == Kind::number; });
  const Type from = node(args[0]).type;
  if (all_numbers && (!kgen::is_floating(from) || type == Type::boolean)) {
    std::vector<Value> values;
    for (NodeId arg : args)
      values.push_back(kgen::is_floating(from) ? number_value(node(arg).number) : integer_value(node(arg).integer));
    const Value value = evaluate(op, type, kgen::is_floating(from) ? Type::f64 : from, values.data());
    return kgen::is_floating(type) ? number(value.number) : integer(value.integer, type);
  }
  if (all_numbers && op != Op::random && op != Op::random_bits) {
    std::vector<Value> values;
    for (NodeId arg : args)
      values.push_back(number_value(node(arg).number));
    if (const double value = evaluate(op, Type::f64, Type::f64, values.data()).number; is_plain(value))
      return number(value);
  }
  if (type != Type::boolean && args.size() == 2) { // neutral elements; but -0 + 0 is 0
    const bool whole = is_integer(type);
    if ((op == Op::sub || (op == Op::add && whole)) && is_number(args[1], 0))
      return args[0];
    if (op == Op::add && whole && is_number(args[0], 0))
      return args[1];
    if (op == Op::mul && is_number(args[1], 1))
      return args[0];
    if (op == Op::mul && is_number(args[0], 1))
      return args[1];
    if (op == Op::div && is_number(args[1], 1))
      return args[0];
  }
  if (op == Op::pow && (is_number(args[1], 0) || is_number(args[1], 1))) // Rule "powers": pow(x, 1) is x
    return is_number(args[1], 0) ? number(1) : args[0];
  if (type == Type::boolean && args.size() == 2)
    for (int at : {0, 1})
      if (const Node &bound = node(args[1 - at]); bound.kind == Kind::number && is_integer(bound.type)) {
        args[at] = strip(args[at]);
        args[1 - at] = integer(bound.integer);
      }
  if (args.size() == 2 && is_integer(from)) {
    if (const auto known = known_comparison(op, args[0], args[1]))
      return *known;
    if (const NodeId whole = shorter(op, args[0], args[1], type); whole != kNoNode)
      return whole;
  }
  if (op == Op::logical_not && node(args[0]).kind == Kind::op && node(args[0]).op == Op::logical_not)
    return node(args[0]).args[0];
  if (const NodeId known = known_whole(op, args, type); known != kNoNode)
    return known;
  Node n;
  n.kind = Kind::op;
  n.op = op;
  n.type = type;
  n.args = std::move(args);
  return intern(n);
}

// 0.5 for what 0.7071067811865476 * 0.7071067811865476 rounds to: a number of few digits that is the next one.
double Graph::without_rounding(double value) {
  constexpr int kDigits = 15; // as many as every double has
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", kDigits, value);
  const double brief = std::strtod(text, nullptr);
  return std::nextafter(value, brief) == brief ? brief : value;
}

void Graph::Factors::multiply(const Factors &by) {
  number = without_rounding(number * by.number);
  for (const auto &[factor, power] : by.powers)
    powers[factor] += power;
}

void Graph::Factors::divide(const Factors &by) {
  number = without_rounding(number / by.number);
  for (const auto &[factor, power] : by.powers)
    powers[factor] -= power;
}

Graph::Factors Graph::factors_of(NodeId id) const {
  const Node &n = node(id);
  Factors out;
  if (n.kind == Kind::number)
    out.number = kgen::is_floating(n.type) ? n.number : static_cast<double>(n.integer);
  else if (n.kind == Kind::product) {
    out.number = n.number;
    for (size_t i = 0; i < n.args.size(); ++i)
      out.powers[n.args[i]] = n.powers[i];
  } else if (n.kind == Kind::op && n.op == Op::neg) {
    out = factors_of(n.args[0]);
    out.number = -out.number;
  } else if (n.kind == Kind::op && n.op == Op::mul && kgen::is_floating(n.type) && held_.count(id) == 0)
    return factors_of_product(id);
  else
    out.powers[id] = 1;
  return out;
}

// Rule "like terms": x * x + 2 * x * x is 3 * x * x. Other products stay one factor, which the forward kernel computes.
Graph::Factors Graph::factors_of_product(NodeId id) const {
  Factors out = factors_of(node(id).args[0]);
  out.multiply(factors_of(node(id).args[1]));
  std::erase_if(out.powers, [](const auto &factor) { return factor.second == 0; });
  if (out.number == 1 && out.powers.size() != 1)
    return {1, {{id, 1}}};
  return out;
}

NodeId Graph::product(Factors factors) {
  std::erase_if(factors.powers, [](const auto &factor) { return factor.second == 0; });
  use_known(factors);
  use_logarithms(factors);
  use_means(factors);
  if (factors.powers.empty() || factors.number == 0)
    return number(factors.number);
  if (factors.number == 1 && factors.powers.size() == 1 && factors.powers.begin()->second == 1)
    return factors.powers.begin()->first;
  Node n;
  n.kind = Kind::product;
  n.number = factors.number;
  for (const auto &[factor, power] : factors.powers) {
    n.args.push_back(factor);
    n.powers.push_back(power);
  }
  return intern(n);
}

NodeId Graph::mul(NodeId a, NodeId b) {
  a = real(a), b = real(b);
  for (const auto &[one, other] : {std::pair(a, b), std::pair(b, a)}) {
    const Node n = node(one);
    // Rule "times a choice of numbers": d * (c ? 1 : 0) is c ? d : 0.
    if (n.kind == Kind::choose && node(n.args[1]).kind == Kind::number && node(other).kind != Kind::number &&
        (node(n.args[2]).kind == Kind::number || node(n.args[2]).kind == Kind::choose)) {
      const NodeId then = mul(n.args[1], other), otherwise = mul(n.args[2], other);
      return choose(n.args[0], then, otherwise);
    }
  }
  Factors factors = factors_of(a);
  factors.multiply(factors_of(b));
  return product(std::move(factors));
}

NodeId Graph::div(NodeId a, NodeId b) {
  Factors factors = factors_of(real(a));
  factors.divide(factors_of(real(b)));
  return product(std::move(factors));
}

void Graph::terms_of(NodeId id, double times, std::vector<std::pair<NodeId, double>> &out) {
  const Node n = node(id);
  if (n.kind == Kind::sum) {
    for (NodeId arg : n.args)
      terms_of(arg, times, out);
    return;
  }
  Factors factors = factors_of(id);
  const double number = factors.number * times;
  factors.number = 1;
  if (number == 0)
    return;
  const NodeId plain = n.kind == Kind::number ? this->number(1) : product(std::move(factors));
  for (auto &[term, count] : out)
    if (term == plain) {
      count += number;
      return;
    }
  out.emplace_back(plain, number);
}

// Rule "exponentials": expm1(x) + 1 is exp(x); else kNoNode.
NodeId Graph::exponential(const std::vector<std::pair<NodeId, double>> &terms) {
  if (first_of_gradients_ == 0 || terms.size() != 2 || terms[0].second != terms[1].second)
    return kNoNode;
  const NodeId one = is_number(terms[0].first, 1) ? terms[0].first : terms[1].first;
  const NodeId other = one == terms[0].first ? terms[1].first : terms[0].first;
  const Node n = node(other);
  if (!is_number(one, 1) || n.kind != Kind::op || n.op != Op::expm1 || held_.count(other) != 0)
    return kNoNode;
  return mul(number(terms[0].second), op(Op::exp, n.args, n.type));
}

// The sum of terms, two of which are `one` together.
NodeId Graph::add_others(const std::vector<std::pair<NodeId, double>> &terms, size_t i, size_t k, NodeId one) {
  NodeId rest = number(0);
  for (size_t other = 0; other < terms.size(); ++other)
    if (other != i && other != k)
      rest = add(rest, mul(number(terms[other].second), terms[other].first));
  return is_zero(rest) ? one : add(rest, one);
}

// (c && e ? a : 0) + (c && !e ? b : 0) is c ? (e ? a : b) : 0; else kNoNode.
NodeId Graph::under_both(const Node &first, double times, const Node &second, double other_times) {
  const Node one = node(first.args[0]), other = node(second.args[0]);
  if (one.kind != Kind::both || other.kind != Kind::both || one.args[0] != other.args[0] ||
      !opposite(one.args[1], other.args[1]) || !is_zero(first.args[2]) || !is_zero(second.args[2]))
    return kNoNode;
  const NodeId then = mul(number(times), first.args[1]), otherwise = mul(number(other_times), second.args[1]);
  return choose(one.args[0], choose(one.args[1], then, otherwise), number(0));
}

// Rule "common factors": a / s - b / s is (a - b) / s.
NodeId Graph::add(NodeId a, NodeId b) {
  std::vector<std::pair<NodeId, double>> terms;
  terms_of(real(a), 1, terms);
  terms_of(real(b), 1, terms);
  std::erase_if(terms, [](const auto &term) { return term.second == 0; });
  if (terms.empty())
    return number(0);
  if (terms.size() == 1)
    return mul(number(terms[0].second), terms[0].first);
  // Rule "equal conditions": (c ? a : 0) + (c ? 0 : b) is c ? a : b, and so it is with !c.
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t k = i + 1; k < terms.size(); ++k) {
      const Node first = node(terms[i].first), second = node(terms[k].first);
      if (first.kind != Kind::choose || second.kind != Kind::choose)
        continue;
      const bool turned = opposite(first.args[0], second.args[0]);
      if (first.args[0] != second.args[0] && !turned) {
        const NodeId one = under_both(first, terms[i].second, second, terms[k].second);
        if (one == kNoNode)
          continue;
        return add_others(terms, i, k, one);
      }
      NodeId arms[2];
      for (const size_t arm : {0, 1})
        arms[arm] = add(mul(number(terms[i].second), first.args[arm + 1]),
                        mul(number(terms[k].second), second.args[turned ? 2 - arm : arm + 1]));
      return add_others(terms, i, k, choose(first.args[0], arms[0], arms[1]));
    }
  if (const NodeId exp = exponential(terms); exp != kNoNode)
    return exp;
  Factors common = factors_of(terms[0].first);
  for (const auto &[term, count] : terms) {
    const Factors own = factors_of(term);
    std::erase_if(common.powers, [&](const auto &factor) {
      const auto found = own.powers.find(factor.first);
      return found == own.powers.end() || found->second * factor.second < 0;
    });
    for (auto &[factor, power] : common.powers) {
      const int other = own.powers.at(factor);
      power = power > 0 ? std::min(power, other) : std::max(power, other);
    }
  }
  common.number = 1;
  const double scale = std::fabs(terms[0].second);
  const bool same_scale = scale != 1 && std::all_of(terms.begin(), terms.end(),
                                                    [&](const auto &term) { return std::fabs(term.second) == scale; });
  const bool shared = !common.powers.empty();
  if (shared || same_scale) {
    NodeId inner = number(0);
    for (const auto &[term, count] : terms) {
      Factors own = factors_of(term);
      for (const auto &[factor, power] : common.powers)
        own.powers[factor] -= power;
      own.number *= same_scale ? count / scale : count;
      std::erase_if(own.powers, [](const auto &factor) { return factor.second == 0; });
      inner = add(inner, product(std::move(own)));
    }
    common.number = same_scale ? scale : 1;
    return mul(product(std::move(common)), inner);
  }
  std::stable_sort(terms.begin(), terms.end(), [](const auto &x, const auto &y) {
    return (x.second > 0) > (y.second > 0); // a - b rather than -b + a
  });
  Node n;
  n.kind = Kind::sum;
  for (const auto &[term, count] : terms)
    n.args.push_back(mul(number(count), term));
  return intern(n);
}

} // namespace kgen::grad
