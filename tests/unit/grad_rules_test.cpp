// The rules that keep gradients short, by the names that docs/gradients.md gives them.
#include <doctest/doctest.h>

#include "grad/graph.h"
#include "grad/rules.h"
#include "grad/shift.h"
#include "grad/text.h"

using namespace kgen;
using namespace kgen::grad;

namespace {

constexpr AxisId kM = 0, kN = 1;

struct Maths {
  Graph graph{{axis("M"), axis("N")}};
  NodeId x = operand("x", {kM, kN}), w = operand("w", {kN}), s = operand("s", {kM}), t = operand("t", {kM});
  AxisSet n = AxisSet::of(kN);

  static Axis axis(const std::string &name) {
    Axis out;
    out.name = name;
    out.size = Size::axis(name);
    return out;
  }
  NodeId operand(const std::string &name, std::vector<AxisId> axes) {
    Node node;
    node.kind = Node::Kind::operand;
    node.name = name;
    for (AxisId a : axes)
      node.axes |= AxisSet::of(a);
    return graph.intern(node);
  }
  NodeId op(Op op, std::vector<NodeId> args) { return graph.op(op, std::move(args), Type::f32); }
  std::string text(NodeId id) const { return grad::Text(graph, {}).use(id); }
};

} // namespace

TEST_CASE("lanes alike: a sum along an axis that nothing differs along is a multiple") {
  Maths m;
  CHECK(m.text(m.graph.sum(m.s, m.n)) == "s * size(N)");
}

TEST_CASE("invariant factors: what does not differ along the axes leaves a sum") {
  Maths m;
  CHECK(m.text(m.graph.sum(m.graph.mul(m.graph.mul(m.x, m.s), m.w), m.n)) == "s * dot(x, w, N)");
  CHECK(m.text(m.graph.sum(m.graph.div(m.x, m.s), m.n)) == "sum(x, N) / s");
}

TEST_CASE("centred values: x - mean(x, N) sums to nothing along N") {
  Maths m;
  const NodeId mean = m.graph.fold(Monoid::mean, m.x, m.n, kNoNode, Type::f32);
  const NodeId centred = m.op(Op::sub, {m.x, mean});
  CHECK(m.graph.is_zero(m.graph.sum(m.graph.mul(centred, m.s), m.n)));
  CHECK(m.text(m.graph.sum(m.graph.add(m.graph.mul(centred, m.s), m.w), m.n)) == "sum(w, N)");
  CHECK_FALSE(m.graph.is_zero(m.graph.sum(m.graph.mul(centred, m.w), m.n)));
}

TEST_CASE("mean: a sum over axes, divided by their sizes") {
  Maths m;
  const NodeId size = m.graph.real(m.graph.size_of(kN));
  CHECK(m.text(m.graph.div(m.graph.sum(m.x, m.n), size)) == "mean(x, N)");
}

TEST_CASE("common factors: a / s - b / s is (a - b) / s") {
  Maths m;
  const NodeId sum = m.graph.add(m.graph.div(m.x, m.s), m.graph.neg(m.graph.div(m.w, m.s)));
  CHECK(m.text(sum) == "(x - w) / s");
  CHECK(m.text(m.graph.add(m.x, m.x)) == "2 * x");
  CHECK(m.graph.is_zero(m.graph.add(m.x, m.graph.neg(m.x))));
}

TEST_CASE("known quotient: e / s is y where the forward kernel has computed y = e / s") {
  Maths m;
  const NodeId y = m.op(Op::div, {m.x, m.s});
  m.graph.know_product(y);
  CHECK(m.graph.mul(m.x, m.graph.div(m.w, m.s)) == m.graph.mul(y, m.w));
}

TEST_CASE("equal conditions: (c ? a : 0) + (c ? 0 : b) is c ? a : b") {
  Maths m;
  const NodeId condition = m.graph.compare(Op::gt, m.x, m.graph.number(0)), zero = m.graph.number(0);
  const NodeId sum = m.graph.add(m.graph.choose(condition, m.w, zero), m.graph.choose(condition, zero, m.s));
  CHECK(m.text(sum) == "x > 0 ? w : s");
  CHECK(m.graph.add(m.graph.choose(condition, m.w, zero), m.graph.choose(condition, zero, m.w)) == m.w);
}

TEST_CASE("times a choice of numbers: d * (c ? 1 : 0) is c ? d : 0") {
  Maths m;
  const NodeId condition = m.graph.compare(Op::gt, m.x, m.graph.number(0));
  const NodeId slope = m.graph.choose(condition, m.graph.number(1), m.graph.number(0));
  CHECK(m.text(m.graph.mul(m.w, slope)) == "x > 0 ? w : 0");
}

TEST_CASE("steady shift: the maximum of a softmax has no gradient, that of a sum has") {
  Maths m;
  const NodeId most = m.graph.fold(Monoid::max, m.x, m.n, kNoNode, Type::f32);
  const NodeId e = m.op(Op::exp, {m.op(Op::sub, {m.x, most})});
  const NodeId sum = m.graph.fold(Monoid::sum, e, m.n, kNoNode, Type::f32);
  const NodeId y = m.op(Op::div, {e, sum});
  const NodeId logarithm = m.op(Op::add, {most, m.op(Op::log, {sum})});
  const NodeId count = static_cast<NodeId>(m.graph.size());
  CHECK(steady_extremes(m.graph, {y}, count).count(most) == 1);
  CHECK(steady_extremes(m.graph, {logarithm}, count).count(most) == 1);
  CHECK(steady_extremes(m.graph, {sum}, count).empty());
  CHECK(steady_extremes(m.graph, {y, most}, count).empty());
}

TEST_CASE("a derivative of the table is that of its text") {
  Maths m;
  const NodeId y = m.op(Op::tanh, {m.x});
  CHECK(m.text(derivative_of(m.graph, Op::tanh, {m.x}, y, 0)) == "1 - tanh(x) * tanh(x)");
  CHECK(m.text(derivative_of(m.graph, Op::max, {m.x, m.w}, y, 1)) == "w > x ? 1 : x == w ? 0.5 : 0");
  CHECK(derivative_of(m.graph, Op::floor, {m.x}, y, 0) == kNoNode);
  CHECK(m.text(library_derivative(m.graph, "relu", m.x, y)) == "x > 0 ? 1 : 0");
}

TEST_CASE("division by whole numbers does not drop the fraction") {
  Maths m;
  const NodeId size = m.graph.real(m.graph.size_of(kN));
  CHECK(m.text(m.graph.div(m.graph.number(1), size)) == "1.0 / size(N)");
  CHECK(m.text(m.graph.div(m.s, size)) == "s / size(N)");
}
