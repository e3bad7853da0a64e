#include "grad/words.h"

#include <algorithm>

#include "body/builtins.h"
#include "ir/roles.h"

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

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

} // namespace

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

} // namespace kgen::grad
