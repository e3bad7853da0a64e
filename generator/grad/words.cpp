#include "grad/words.h"

#include <algorithm>
#include <cstdlib>

#include "body/builtins.h"
#include "ir/roles.h"
#include "support/naming.h"

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

constexpr size_t kLongestName = 28;

struct Noun {
  Op op;
  std::string_view name;
};
constexpr Noun kNouns[] = {{Op::add, "together"}, {Op::sub, "difference"}, {Op::mul, "product"}, {Op::div, "quotient"},
                           {Op::exp, "exp"},      {Op::sqrt, "root"},      {Op::rsqrt, "scale"}, {Op::max, "larger"},
                           {Op::min, "smaller"},  {Op::log, "log"},        {Op::tanh, "tanh"},   {Op::abs, "abs"}};

// By a name, which says what it gives: silu, sign.
bool is_called(Op op) {
  const auto &rows = body::builtins();
  return std::any_of(rows.begin(), rows.end(), [&](const body::BuiltinRow &row) { return row.name == op_name(op); });
}

// `0 <= p`, `p < size(N)`, and all such together.
bool asks_for_an_axis(const Graph &graph, NodeId id) {
  const Node &n = graph.node(id);
  if (n.kind == Kind::both)
    return std::all_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return asks_for_an_axis(graph, arg); });
  if (n.kind != Kind::op || (n.op != Op::ge && n.op != Op::lt))
    return false;
  const Node &bound = graph.node(n.args[1]);
  return n.op == Op::lt ? bound.kind == Kind::size : bound.kind == Kind::number && bound.integer == 0;
}

// A word for the operation, and whether it stands before what it is of.
std::pair<std::string, bool> word_of(const Graph &graph, NodeId id) {
  const Node &n = graph.node(id);
  switch (n.kind) {
  case Kind::fold:
    return {fold_word(n.monoid), true};
  case Kind::scan:
    return {"running", true};
  case Kind::at:
    return {"there", false};
  case Kind::choose:
    return {"chosen", true};
  case Kind::inside:
    return {"inside", true};
  case Kind::both:
    return {asks_for_an_axis(graph, id) ? "inside" : "holds", true};
  case Kind::either:
    return {"holds", true};
  case Kind::product:
    return {"scaled", false};
  case Kind::sum:
    return {"share", false};
  case Kind::derivative:
    return {"slope", true};
  case Kind::op:
    if (n.type == Type::boolean)
      return {"holds", true};
    for (const Noun &noun : kNouns)
      if (noun.op == n.op)
        return {std::string(noun.name), true};
    if (is_called(n.op))
      return {std::string(op_name(n.op)), true};
    return {"value", true};
  default:
    return {"value", true};
  }
}

// What the word is said of already: this is the next one of these.
std::string repeated(const std::string &of, const std::string &word, bool first) {
  if (first)
    return without_number(of).starts_with(word + "_") ? without_number(of) : "";
  const size_t at = (of + "_").find("_" + word + "_");
  return at == std::string::npos ? "" : of.substr(0, at + 1 + word.size());
}

// What 1 - x subtracts; else kNoNode.
NodeId subtracted_from_one(const Graph &graph, const Node &n) {
  const bool is_one = n.args.size() == 2 && graph.is_number(n.args[0], 1);
  if (is_one && n.kind == Kind::op && n.op == Op::sub)
    return n.args[1];
  const Node *negated = is_one && n.kind == Kind::sum ? &graph.node(n.args[1]) : nullptr;
  const bool one_factor = negated != nullptr && negated->kind == Kind::product && negated->args.size() == 1;
  return one_factor && negated->number == -1 && negated->powers[0] == 1 ? negated->args[0] : kNoNode;
}

} // namespace

bool is_slice(const Graph &graph, const Node &n) {
  return graph.node(n.args[0]).kind == Kind::operand && n.places.size() == 1 &&
         graph.node(n.args[1]).kind == Kind::number;
}

std::string Words::along(NodeId id) const {
  const Node &n = graph_.node(id);
  std::string text;
  for (AxisId axis : n.reduced.list())
    text += "_" + lower_case(graph_.axis(axis).name);
  for (AxisId axis : n.places)
    text += "_" + lower_case(graph_.axis(axis).name);
  return text.empty() ? "" : "along" + text;
}

// The second of what it is made of, if it has another name than the first.
std::string Words::operand_beside(NodeId id) const {
  const Node &n = graph_.node(id);
  const std::string second = n.args.size() > 1 ? operand(n.args[1]) : "";
  return n.args.empty() || second != operand(n.args[0]) ? second : "";
}

// The first that has a name, of what it is made of.
std::string Words::operand(NodeId id) const {
  const auto known = names_.find(id);
  if (known != names_.end())
    return known->second.substr(0, known->second.find("_kept["));
  const Node &n = graph_.node(id);
  if (n.kind == Kind::operand || n.kind == Kind::scalar || n.kind == Kind::table)
    return n.name;
  for (NodeId arg : n.args)
    if (std::string name = operand(arg); !name.empty())
      return name;
  return "";
}

// Of two factors with names: d_y_times_x, d_y_over_s. Empty: it is none of these.
std::string Words::of_two(const Node &n) const {
  if (n.kind != Kind::product || n.args.size() != 2 || n.powers[0] + n.powers[1] < 0 || std::abs(n.powers[0]) != 1 ||
      std::abs(n.powers[1]) != 1)
    return "";
  std::string names[2];
  for (const size_t i : {0, 1}) {
    const Node &factor = graph_.node(n.args[i]);
    names[i] = names_.count(n.args[i]) != 0 || factor.kind == Kind::operand || factor.kind == Kind::scalar
                   ? operand(n.args[i])
                   : "";
  }
  const bool divides = n.powers[0] != n.powers[1];
  if (divides ? n.powers[0] < 0 : names[1].starts_with(prefix_))
    std::swap(names[0], names[1]);
  const std::string name = names[0] + (divides ? "_over_" : "_times_") + names[1];
  return names[0].empty() || names[1].empty() || name.size() > kLongestName ? "" : name;
}

// What a product or a sum is said to be of: a gradient, or else what has a name first.
std::string Words::gradient_among(const Node &n) const {
  std::string first;
  for (NodeId arg : n.args) {
    const std::string name = operand(arg);
    if (name.starts_with(prefix_))
      return name;
    first = first.empty() ? name : first;
  }
  return first;
}

// `x`, `x_squared`, `dy_x`; else what it is made of first.
std::string Words::description(NodeId id) const {
  const Node &n = graph_.node(id);
  if (names_.count(id) != 0 || n.kind != Kind::product)
    return operand(id);
  std::string text;
  for (size_t i = 0; i < n.args.size(); ++i)
    text = name_of_parts(text, name_of_parts(operand(n.args[i]), n.powers[i] == 2 ? "squared" : ""));
  return text.size() <= kLongestName ? text : operand(id);
}

// The array that says where, if it is one alone.
std::string Words::place_of(const Node &at) const {
  if (at.kind != Kind::at || at.places.size() != 1)
    return "";
  const Node *place = &graph_.node(at.args[1]);
  while (place->kind == Kind::cast)
    place = &graph_.node(place->args[0]);
  return place->kind == Kind::operand || place->kind == Kind::table ? place->name : "";
}

std::pair<std::string, bool> Words::role_of(NodeId id) const {
  const Node &n = graph_.node(id);
  if (n.kind == Kind::at && is_slice(graph_, n) && graph_.node(n.args[1]).integer >= 0)
    return {operand(n.args[0]) + "_" + std::to_string(graph_.node(n.args[1]).integer), false};
  if (const NodeId rest = subtracted_from_one(graph_, n); rest != kNoNode && !operand(rest).empty())
    return {name_of_parts("one_minus", operand(rest)), false};
  if (const std::string name = of_two(n); !name.empty())
    return {name, false};
  const bool counts = n.kind == Kind::fold && n.monoid == Monoid::sum && graph_.node(n.args[0]).type == Type::boolean;
  const std::string place = place_of(n);
  const auto [word, first] = counts           ? std::pair(std::string("count"), true)
                             : !place.empty() ? std::pair("at_" + place, false)
                                              : word_of(graph_, id);
  const bool any_order = n.kind == Kind::product || n.kind == Kind::sum;
  const std::string of = n.kind == Kind::fold ? description(n.args[0])
                         : any_order          ? gradient_among(n)
                         : n.args.empty()     ? ""
                                              : operand(n.args[0]);
  if (const std::string base = repeated(of, word, first); !base.empty())
    return {base, true};
  const std::string name = first ? name_of_parts(word, of) : name_of_parts(of, word);
  return {name.size() <= kLongestName ? name : word, false};
}

} // namespace kgen::grad
