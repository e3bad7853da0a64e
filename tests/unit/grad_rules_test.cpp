// The rules that keep gradients short, by the names that docs/gradients.md gives them.
#include <algorithm>

#include <doctest/doctest.h>

#include "grad/graph.h"
#include "grad/moved.h"
#include "grad/nesting.h"
#include "grad/parts.h"
#include "grad/recurrence.h"
#include "grad/rules.h"
#include "grad/shift.h"
#include "grad/text.h"
#include "grad/transpose.h"

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
  std::string text(NodeId id) const {
    const std::set<NodeId> named;
    const std::map<NodeId, std::string> saved;
    Absent absent(graph, {}, named, saved); // nothing is optional
    return grad::Text(graph, {}, {}, absent).use(id);
  }
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

TEST_CASE("common factors: both arms of a choice, but for numbers, and not in the forward kernel") {
  Maths m;
  const NodeId c = m.graph.compare(Op::gt, m.x, m.graph.number(0));
  const NodeId a = m.op(Op::exp, {m.x}), b = m.op(Op::tanh, {m.x});
  CHECK(m.graph.node(m.graph.choose(c, m.graph.mul(m.w, a), m.graph.mul(m.w, b))).kind == Node::Kind::choose);
  m.graph.end_of_forward();
  CHECK(m.text(m.graph.choose(c, m.graph.mul(m.s, a), m.graph.mul(m.s, b))) == "s * (x > 0 ? exp(x) : tanh(x))");
  CHECK(m.text(m.graph.choose(c, m.graph.mul(m.s, m.graph.number(2)), m.graph.mul(m.s, m.graph.number(3)))) ==
        "x > 0 ? 2 * s : 3 * s");
}

TEST_CASE("exponentials: expm1(x) + 1 is exp(x), unless it has a name") {
  Maths m;
  const NodeId named = m.op(Op::expm1, {m.w});
  m.graph.hold(named);
  m.graph.end_of_forward();
  CHECK(m.text(m.graph.add(m.op(Op::expm1, {m.x}), m.graph.number(1))) == "exp(x)");
  CHECK(m.text(m.graph.add(m.graph.number(2), m.graph.mul(m.graph.number(2), m.op(Op::expm1, {m.x})))) == "2 * exp(x)");
  CHECK(m.text(m.graph.add(named, m.graph.number(1))) == "expm1(w) + 1");
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
  CHECK(m.text(library_derivative(m.graph, "relu", {m.x}, y, 0)) == "x > 0 ? 1 : 0");
}

TEST_CASE("division by whole numbers does not drop the fraction") {
  Maths m;
  const NodeId size = m.graph.real(m.graph.size_of(kN));
  CHECK(m.text(m.graph.div(m.graph.number(1), size)) == "1.0 / size(N)");
  CHECK(m.text(m.graph.div(m.s, size)) == "s / size(N)");
}

TEST_CASE("known comparisons: an index is one of 0 to the size of its axis, a remainder is less than its divisor") {
  Maths m;
  Graph &g = m.graph;
  const NodeId index = g.index(kN), size = g.size_of(kN), seven = g.integer(7);
  CHECK(g.compare(Op::lt, index, size) == g.truth(true));
  CHECK(g.compare(Op::ge, index, g.integer(0)) == g.truth(true));
  CHECK(g.compare(Op::eq, size, size) == g.truth(true));
  CHECK(g.compare(Op::lt, seven, g.op(Op::rem, {size, seven}, Type::i64)) == g.truth(false));
  CHECK(m.text(g.compare(Op::lt, index, seven)) == "index(N) < 7");
  const NodeId from_end = g.op(Op::sub, {g.op(Op::sub, {size, g.integer(1)}, Type::i64), index}, Type::i64);
  CHECK(g.compare(Op::ge, from_end, g.integer(0)) == g.truth(true));
  CHECK(g.compare(Op::lt, from_end, size) == g.truth(true));
  const NodeId before = g.op(Op::sub, {index, g.integer(2)}, Type::i64);
  CHECK(g.compare(Op::lt, before, size) == g.truth(true));
  CHECK(g.compare(Op::eq, before, size) == g.truth(false));
  CHECK(m.text(g.compare(Op::ge, before, g.integer(0))) == "index(N) >= 2");
}

TEST_CASE("known comparisons: what they say of magnitudes, and of the larger and smaller one") {
  Maths m;
  Graph &g = m.graph;
  const NodeId n = g.index(kN), size = g.size_of(kN), zero = g.integer(0);
  const auto whole = [&](Op op, std::vector<NodeId> args) { return g.op(op, std::move(args), Type::i64); };
  const NodeId next = whole(Op::add, {n, g.integer(1)}), before = whole(Op::sub, {n, g.integer(1)});
  CHECK(whole(Op::abs, {n}) == n);
  CHECK(whole(Op::abs, {whole(Op::neg, {n})}) == n);
  CHECK(whole(Op::max, {n, zero}) == n);
  CHECK(whole(Op::max, {zero, next}) == next);
  CHECK(whole(Op::min, {size, n}) == n);
  CHECK(m.text(whole(Op::max, {before, zero})) == "max(index(N) - 1, 0)");
  CHECK(m.text(whole(Op::abs, {before})) == "abs(index(N) - 1)");
  CHECK(g.no(g.compare(Op::lt, before, zero)) == g.compare(Op::ge, before, zero));
}

TEST_CASE("digits: a multiple of an index and a rest") {
  Maths m;
  Graph &g = m.graph;
  const auto whole = [&](Op op, std::vector<NodeId> args) { return g.op(op, std::move(args), Type::i64); };
  const NodeId two = g.integer(2), n = g.index(kN), odd = whole(Op::add, {whole(Op::mul, {two, n}), g.integer(1)});
  CHECK(whole(Op::div, {odd, two}) == n);
  CHECK(g.is_number(whole(Op::rem, {odd, two}), 1));
  CHECK(m.text(whole(Op::rem, {odd, g.integer(3)})) == "(2 * index(N) + 1) % 3");
  CHECK(m.text(whole(Op::div, {whole(Op::sub, {odd, g.integer(2)}), two})) == "(2 * index(N) - 1) / 2"); // rounds up
}

TEST_CASE("known comparisons: an entry of a table lies in the range that is declared") {
  Maths m;
  Graph &g = m.graph;
  const auto entry = [&](const std::string &name) {
    Node node;
    node.kind = Node::Kind::table;
    node.type = Type::i64;
    node.name = name;
    node.args = {g.index(kM)};
    return g.intern(node);
  };
  g.set_range("label", g.size_of(kN));
  const NodeId label = entry("label"), other = entry("other");
  CHECK(g.compare(Op::ge, label, g.integer(0)) == g.truth(true));
  CHECK(g.compare(Op::lt, label, g.size_of(kN)) == g.truth(true));
  CHECK(g.compare(Op::lt, g.op(Op::sub, {label, g.integer(1)}, Type::i64), g.size_of(kN)) == g.truth(true));
  CHECK(m.text(g.compare(Op::lt, label, g.size_of(kM))) == "label[index(M)] < size(M)");
  CHECK(m.text(g.compare(Op::ge, other, g.integer(0))) == "other[index(M)] >= 0");
  CHECK(m.text(g.compare(Op::gt, label, g.integer(0))) == "label[index(M)] > 0");
}

TEST_CASE("whole numbers: numbers that are added one after the other are added at once") {
  Maths m;
  Graph &g = m.graph;
  const auto by = [&](Op op, NodeId n, int64_t number) { return g.op(op, {n, g.integer(number)}, Type::i64); };
  const NodeId n = g.index(kN);
  CHECK(by(Op::add, by(Op::sub, n, 2), 2) == n);
  CHECK(m.text(by(Op::sub, by(Op::sub, n, 2), 1)) == "index(N) - 3");
  CHECK(m.text(by(Op::sub, g.op(Op::add, {g.integer(4), n}, Type::i64), 1)) == "index(N) + 3");
}

TEST_CASE("whole numbers: sums are as short as they can be, and so are comparisons of indices and sizes") {
  Maths m;
  Graph &g = m.graph;
  const NodeId n = g.index(kN), k = g.index(kM), size = g.size_of(kN), one = g.integer(1), zero = g.integer(0);
  const auto plus = [&](NodeId a, NodeId b) { return g.op(Op::add, {a, b}, Type::i64); };
  const auto minus = [&](NodeId a, NodeId b) { return g.op(Op::sub, {a, b}, Type::i64); };
  CHECK(minus(plus(plus(minus(n, k), one), k), one) == n); // n - k + 1 + k - 1
  CHECK(minus(n, n) == zero);
  CHECK(m.text(minus(size, plus(n, one))) == "size(N) - index(N) - 1");
  CHECK(m.text(minus(minus(one, n), plus(one, k))) == "-index(N) - index(M)");
  CHECK(m.text(g.compare(Op::ge, minus(n, one), zero)) == "index(N) >= 1");
  CHECK(m.text(g.compare(Op::lt, minus(size, n), size)) == "index(N) > 0");
  CHECK(m.text(g.compare(Op::lt, plus(n, one), size)) == "index(N) + 1 < size(N)");
  CHECK(m.text(g.compare(Op::gt, size, zero)) == "size(N) > 0");
}

TEST_CASE("one of them: what is one number is no other") {
  Maths m;
  Graph &g = m.graph;
  const NodeId n = g.index(kN);
  const auto not_one = g.no(g.compare(Op::eq, n, g.integer(1))), not_two = g.compare(Op::ne, n, g.integer(2));
  const NodeId three = g.compare(Op::eq, n, g.integer(3));
  CHECK(g.both(not_one, three) == three);
  CHECK(g.both(g.both(not_one, not_two), three) == three);
  CHECK(m.text(g.both(g.compare(Op::ne, n, g.integer(3)), g.compare(Op::eq, n, g.size_of(kM)))) ==
        "index(N) != 3 && index(N) == size(M)");
}

TEST_CASE("like terms: products of the same are added, but for those that have a name") {
  Maths m;
  const NodeId square = m.op(Op::mul, {m.x, m.x}), twice = m.op(Op::mul, {m.graph.number(2), m.x});
  CHECK(m.text(m.graph.add(square, m.graph.mul(twice, m.x))) == "3 * x * x");
  CHECK(m.text(m.graph.add(twice, m.op(Op::mul, {m.x, m.graph.number(2)}))) == "4 * x");
  Maths named;
  const NodeId half = named.op(Op::mul, {named.graph.number(0.5), named.x});
  named.graph.hold(half);
  CHECK(named.text(named.graph.mul(half, named.w)).find("x * 0.5") == std::string::npos);
  CHECK(named.graph.node(named.graph.mul(half, named.w)).number == 1);
}

TEST_CASE("digits: a quotient and its remainder are the number again") {
  Maths m;
  Graph &g = m.graph;
  const NodeId n = g.index(kN), block = g.integer(8);
  const NodeId quotient = g.op(Op::div, {n, block}, Type::i64), rest = g.op(Op::rem, {n, block}, Type::i64);
  CHECK(g.op(Op::add, {g.op(Op::mul, {quotient, block}, Type::i64), rest}, Type::i64) == n);
  const NodeId other = g.op(Op::mul, {quotient, g.integer(4)}, Type::i64);
  CHECK(g.op(Op::add, {other, rest}, Type::i64) != n);
}

TEST_CASE("digits: sizes that are added have no part in the remainder by them") {
  Maths m;
  Graph &g = m.graph;
  const auto whole = [&](Op op, std::vector<NodeId> args) { return g.op(op, std::move(args), Type::i64); };
  const NodeId n = g.index(kN), size = g.size_of(kN), around = whole(Op::mul, {size, g.integer(2)});
  CHECK(whole(Op::rem, {whole(Op::add, {n, size}), size}) == whole(Op::rem, {n, size}));
  CHECK(whole(Op::rem, {whole(Op::add, {around, n}), size}) == whole(Op::rem, {n, size}));
  CHECK(g.is_number(whole(Op::rem, {around, size}), 0));
  CHECK(whole(Op::rem, {whole(Op::sub, {n, g.integer(1)}), size}) != whole(Op::rem, {n, size}));
  const NodeId before = whole(Op::sub, {n, g.integer(1)}); // may be negative, as its remainder then is
  CHECK(whole(Op::rem, {whole(Op::add, {before, size}), size}) != whole(Op::rem, {before, size}));
}

TEST_CASE("nothing summed: nobody asks for lanes where the sum is 0 anyway") {
  Maths m;
  Graph &g = m.graph;
  const NodeId mask = g.compare(Op::gt, m.w, g.number(0)), some = g.some(m.n, mask);
  CHECK(m.text(some) == "any(w > 0, N)");
  const NodeId sum = g.sum(m.x, m.n, mask);
  CHECK(g.needed(some, g.mul(sum, m.s)) == kNoNode);
  CHECK(m.text(g.either_value(some, g.mul(sum, m.s))) == "s * sum(x, N, where(w > 0))");
  CHECK(g.needed(some, g.div(sum, m.s)) == some); // 0 / 0
  CHECK(g.needed(some, g.add(sum, m.s)) == some); // not 0
  CHECK(g.needed(some, g.sum(m.x, m.n)) == some); // all lanes
  CHECK(g.both(some, mask) == mask);              // a lane says that there is one
}

TEST_CASE("nothing summed: a whole axis has lanes, unless its size says otherwise") {
  Maths m;
  Graph &g = m.graph;
  const NodeId some = g.some(m.n, kNoNode), sum = g.sum(m.x, m.n), size = g.real(g.size_of(kN));
  CHECK(m.text(some) == "size(N) > 0");
  CHECK(g.needed(some, sum) == kNoNode);
  CHECK(g.needed(some, g.div(sum, m.s)) == kNoNode); // what is no number for another reason, stays so
  CHECK(m.text(g.either_value(some, g.div(sum, size))) == "size(N) > 0 ? mean(x, N) : 0");
  const NodeId total = g.sum(m.op(Op::exp, {m.x}), m.n);
  CHECK(g.needed(some, g.div(sum, total)) == some);
  CHECK(g.needed_of(some, m.n, {}) == kNoNode);
  CHECK(g.needed_of(some, {}, m.n) == kNoNode); // it comes to nothing but elements along N
  CHECK(g.needed_of(some, {}, {}) == some);
}

TEST_CASE("known where: e / s is y where m holds, if the forward kernel has computed y = m ? e / s : 0") {
  Maths m;
  Graph &g = m.graph;
  const NodeId mask = g.compare(Op::gt, m.w, g.number(0)), zero = g.number(0);
  const NodeId exp = m.op(Op::exp, {m.x}), e = g.choose(mask, exp, zero), total = g.sum(e, m.n);
  const NodeId quotient = m.op(Op::div, {e, total}), y = g.choose(mask, quotient, zero);
  g.know_product(y);
  CHECK(g.choose(mask, quotient, zero) == y);
  CHECK(g.choose(mask, g.mul(m.s, quotient), zero) == g.choose(mask, g.mul(m.s, y), zero));
  CHECK(g.choose(mask, g.div(g.mul(m.s, exp), total), zero) == g.choose(mask, g.mul(m.s, y), zero));
  CHECK(g.sum(g.mul(m.x, quotient), m.n, mask) == g.sum(g.mul(m.x, y), m.n, mask));
  CHECK(g.sum(g.mul(m.x, quotient), m.n) != g.sum(g.mul(m.x, y), m.n)); // all lanes
}

TEST_CASE("powers: pow(x, 1) is x, and pow(x, 0) is 1") {
  Maths m;
  CHECK(m.op(Op::pow, {m.x, m.graph.number(1)}) == m.x);
  CHECK(m.graph.is_number(m.op(Op::pow, {m.x, m.graph.number(0)}), 1));
  CHECK(m.text(m.op(Op::pow, {m.x, m.graph.number(2)})).starts_with("pow(x, 2"));
}

TEST_CASE("asked already: an arm knows the condition around it") {
  Maths m;
  Graph &g = m.graph;
  const NodeId condition = g.compare(Op::eq, g.index(kN), g.integer(0));
  CHECK(g.choose(condition, m.s, g.choose(condition, m.t, m.x)) == g.choose(condition, m.s, m.x));
  CHECK(g.choose(condition, g.choose(condition, m.t, m.x), m.s) == g.choose(condition, m.t, m.s));
  // So does a factor there, unless the forward kernel has computed it, and what is asked behind it.
  const NodeId masked = g.choose(condition, m.t, g.number(0)), wanted = g.choose(condition, g.mul(m.t, m.x), m.s);
  CHECK(g.choose(condition, g.mul(masked, m.x), m.s) == wanted);
  g.end_of_forward();
  CHECK(g.choose(condition, g.mul(masked, m.x), m.s) != wanted);
  const NodeId other = g.compare(Op::lt, g.index(kM), g.integer(5));
  CHECK(g.both(condition, g.both(other, condition)) == g.both(condition, other));
  CHECK(g.both(condition, g.both(condition, other)) == g.both(condition, other));
}

TEST_CASE("inside already: a place that an index is equal to lies in its axis") {
  Maths m;
  Graph &g = m.graph;
  Node table;
  table.kind = Node::Kind::operand;
  table.name = "label";
  table.type = Type::i32;
  const NodeId label = g.intern(table), is_label = g.compare(Op::eq, g.index(kN), label);
  CHECK(g.both(is_label, g.compare(Op::ge, label, g.integer(0))) == is_label);
  CHECK(g.both(g.compare(Op::lt, label, g.size_of(kN)), is_label) == is_label);
  CHECK(g.both(is_label, g.compare(Op::lt, label, g.size_of(kM))) != is_label);
  CHECK(g.both(is_label, g.compare(Op::ge, label, g.integer(1))) != is_label);
}

TEST_CASE("numbers: those that came out one rounding away from a short one are that") {
  Maths m;
  const NodeId root = m.graph.number(0.7071067811865476);
  CHECK(m.text(m.graph.mul(root, m.graph.mul(root, m.x))) == "0.5 * x");
  CHECK(m.text(m.graph.mul(m.graph.number(0.3989422804014327), m.x)) == "0.3989422804014327 * x");
  CHECK(m.text(m.graph.div(m.x, m.graph.number(3))) == "x / 3");
}

TEST_CASE("last of a scan: the last of a running sum is the sum") {
  Maths m;
  Graph &g = m.graph;
  const NodeId last = g.op(Op::sub, {g.size_of(kN), g.integer(1)}, Type::i64);
  CHECK(m.text(g.at(g.scan(ScanKind::sum, {m.x}, kN, false, false), {{kN, last}})) == "sum(x, N)");
  CHECK(m.text(g.at(g.scan(ScanKind::sum, {m.x}, kN, false, true), {{kN, last}})) ==
        "at(cumsum_exclusive(x, N), N = size(N) - 1)");
}

TEST_CASE("what steps hand on: sums, greatest and least values, and recurrences are scans over the steps") {
  Maths m;
  Graph &g = m.graph;
  Node carried;
  carried.kind = Node::Kind::carried;
  carried.name = "acc";
  carried.axes = AxisSet::of(kM) | AxisSet::of(kN);
  const NodeId found = g.intern(carried);
  const NodeId first = g.compare(Op::eq, g.index(kN), g.integer(0));
  const NodeId cleared = g.choose(first, g.number(0), found);
  auto scanned = [&](NodeId left) { return found_by_scan(g, {found, left, {kN}}); };
  const auto sum = scanned(m.op(Op::add, {cleared, m.x}));
  REQUIRE(sum);
  CHECK(m.text(sum->found) == "cumsum_exclusive(x, N)");
  CHECK(m.text(sum->last) == "sum(x, N)");
  const auto most = scanned(m.op(Op::max, {found, m.x}));
  REQUIRE(most);
  CHECK(m.text(most->found) == "cummax_exclusive(x, N)");
  const NodeId start = g.number(9);
  const auto least = scanned(m.op(Op::min, {g.choose(first, start, found), m.x}));
  REQUIRE(least);
  CHECK(m.text(least->last) == "-max(-min(index(N) == 0 ? 9 : inf, x), N)");
  const auto recurrence = scanned(m.op(Op::add, {m.op(Op::mul, {found, m.x}), m.w}));
  REQUIRE(recurrence);
  CHECK(m.text(recurrence->last) == "at(linrec(x, w, N), N = size(N) - 1)");
  CHECK_FALSE(scanned(m.op(Op::mul, {found, found})));
  CHECK_FALSE(scanned(m.op(Op::exp, {found})));
}

TEST_CASE("either way: one of two opposite conditions holds") {
  Maths m;
  const NodeId n = m.graph.index(kN), two = m.graph.integer(2);
  const NodeId is = m.graph.compare(Op::eq, n, two), is_not = m.graph.compare(Op::ne, n, two);
  CHECK(m.graph.opposite(is, is_not));
  CHECK(m.graph.opposite(is, m.graph.no(is)));
  CHECK(m.graph.either(is, is_not) == kNoNode); // always
  const NodeId around = m.graph.compare(Op::gt, m.graph.index(kM), two), other = m.graph.compare(Op::gt, m.x, m.w);
  const NodeId one = m.graph.both(around, is), another = m.graph.both(around, is_not);
  CHECK(m.graph.either(one, another) == around);
  CHECK(m.graph.either(m.graph.either(other, one), another) == m.graph.either(other, around));
  CHECK(m.graph.either(m.graph.either(m.graph.no(around), one), another) == kNoNode);
  CHECK_FALSE(m.graph.opposite(m.graph.compare(Op::lt, m.x, m.w), m.graph.compare(Op::ge, m.x, m.w))); // NaN is neither
}

TEST_CASE("equal conditions: opposite ones are as good") {
  Maths m;
  const NodeId n = m.graph.index(kN), two = m.graph.integer(2);
  const NodeId is = m.graph.compare(Op::eq, n, two), is_not = m.graph.compare(Op::ne, n, two);
  const NodeId sum = m.graph.add(m.graph.either_value(is, m.x), m.graph.either_value(is_not, m.w));
  CHECK(m.text(sum) == "index(N) == 2 ? x : w");
  const NodeId around = m.graph.compare(Op::gt, m.graph.index(kM), two);
  const auto under = [&](NodeId condition, NodeId value) {
    return m.graph.either_value(m.graph.both(around, condition), value);
  };
  CHECK(m.text(m.graph.add(under(is, m.x), under(is_not, m.w))) == "index(M) > 2 ? (index(N) == 2 ? x : w) : 0");
}

TEST_CASE("covered: terms that are 0 elsewhere need no condition that one of theirs holds") {
  Maths m;
  const NodeId a = m.graph.compare(Op::gt, m.x, m.w), b = m.graph.compare(Op::gt, m.s, m.w);
  const NodeId sum = m.graph.add(m.graph.either_value(a, m.x), m.graph.either_value(b, m.s));
  CHECK(m.graph.either_value(m.graph.either(a, b), sum) == sum);
  const NodeId more = m.graph.add(sum, m.t);
  CHECK(m.graph.either_value(m.graph.either(a, b), more) != more);
  const NodeId turned = m.graph.add(m.graph.choose(a, m.graph.number(0), m.x), m.graph.either_value(b, m.s));
  CHECK(m.graph.either_value(m.graph.either(m.graph.no(a), b), turned) == turned);
}

TEST_CASE("known logarithm: exp(x - m) / t is exp(x - l) where the forward kernel gives l = m + log(t)") {
  Maths m;
  const NodeId e = m.op(Op::exp, {m.op(Op::sub, {m.x, m.s})}), total = m.graph.sum(e, m.n);
  CHECK(m.text(m.graph.div(e, total)) == "exp(x - s) / sum(exp(x - s), N)");
  m.graph.know_logarithm(m.op(Op::add, {m.s, m.op(Op::log, {total})}));
  CHECK(m.text(m.graph.div(e, total)) == "exp(x - (s + log(sum(exp(x - s), N))))");
  CHECK(m.text(m.graph.mul(m.w, m.graph.div(e, total))).find(" / ") == std::string::npos);
  CHECK(m.text(m.graph.div(m.op(Op::exp, {m.w}), total)).find(" / ") != std::string::npos); // it would be longer
}

TEST_CASE("known sum: a sum of p * dot(d, v, D) is dot(d, o, D) where the forward kernel gives the sum o of p * v") {
  Maths m;
  const AxisId depth = m.graph.add_axis(Maths::axis("D"));
  const NodeId v = m.operand("v", {kN, depth}), d = m.operand("d", {kM, depth});
  const NodeId inner = m.graph.sum(m.graph.mul(d, v), AxisSet::of(depth));
  const auto outer = [&] { return m.text(m.graph.sum(m.graph.mul(m.graph.mul(m.x, m.s), inner), m.n)); };
  CHECK(outer() == "s * dot(x, dot(v, d, D), N)");
  m.graph.know_sum(m.graph.fold(Monoid::sum, m.op(Op::mul, {m.x, v}), m.n, kNoNode, Type::f32));
  CHECK(outer() == "s * dot(d, dot(x, v, N), D)");
  CHECK(m.text(m.graph.sum(m.graph.mul(m.w, inner), m.n)) == "dot(w, dot(v, d, D), N)"); // that of x is given
}

TEST_CASE("read back: the place that a lane reads is that of the element it reads") {
  Maths m;
  const NodeId place = m.graph.op(Op::mul, {m.graph.integer(2), m.graph.index(kM)}, Type::i64);
  const NodeId read = m.graph.at(m.w, {{kN, place}});
  const std::optional<Transposed> back = transpose(m.graph, read, {kNoNode, read}, AxisSet::of(kM));
  REQUIRE(back);
  CHECK(m.text(back->part->value) == "w"); // not at(w, N = 2 * (N / 2))
}

TEST_CASE("one lane: a sum of what one index alone has is the value there") {
  Maths m;
  Axis two = Maths::axis("P");
  two.size = Size::integer(2);
  const AxisId p = m.graph.add_axis(two);
  const NodeId v = m.operand("v", {kM, p});
  const NodeId first = m.graph.compare(Op::eq, m.graph.index(p), m.graph.integer(0));
  CHECK(m.text(m.graph.sum(v, AxisSet::of(p), first)) == "at(v, P = 0)");
  CHECK(m.text(m.graph.sum(v, AxisSet::of(p), m.graph.no(first))) == "at(v, P = 1)"); // the other of two
  const NodeId positive = m.graph.compare(Op::gt, v, m.graph.number(0));
  CHECK(m.text(m.graph.sum(v, AxisSet::of(p) | AxisSet::of(kM), m.graph.both(positive, first))) ==
        "sum(at(v, P = 0), M, where(at(v, P = 0) > 0))");
  const NodeId beyond = m.graph.compare(Op::eq, m.graph.index(p), m.graph.integer(2)); // no lane
  CHECK(m.graph.is_zero(m.graph.sum(v, AxisSet::of(p), beyond)));
}

TEST_CASE("read there: what is made of much is read at other places, what is made of little is written for them") {
  Maths m;
  const NodeId before = m.op(Op::sub, {m.graph.index(kN), m.graph.integer(1)});
  const NodeId little = m.op(Op::tanh, {m.w});
  CHECK(m.text(moved(m.graph, little, {{kN, before}})) == "tanh(at(w, N = N - 1))");
  NodeId much = m.x;
  for (int step = 0; step < 4; ++step)
    much = m.op(Op::tanh, {m.graph.mul(much, m.graph.add(m.w, much))});
  const Node there = m.graph.node(moved(m.graph, much, {{kN, before}}));
  CHECK(there.kind == Node::Kind::at);
  CHECK(there.args[0] == much);
}

TEST_CASE("nested sums: a sum that has all terms of another one is that and the rest") {
  Maths m;
  const NodeId first = m.graph.add(m.x, m.w), second = m.graph.add(first, m.s), third = m.graph.add(second, m.t);
  const NodeId product = m.op(Op::tanh, {second});
  CHECK(m.graph.node(third).args.size() == 4);
  nest(m.graph, {product, third}, {}, {});
  CHECK(m.graph.node(third).args == std::vector<NodeId>{second, m.t});
  CHECK(m.graph.node(second).args.size() == 3); // nobody wants the first
}

TEST_CASE("nested products: one that has all factors of another one is that times the rest") {
  Maths m;
  const NodeId two = m.graph.mul(m.op(Op::tanh, {m.x}), m.w), three = m.graph.mul(two, m.s);
  const NodeId opposite = m.graph.mul(m.graph.number(-1), three);
  nest(m.graph, {two, three, opposite}, {}, {});
  CHECK(m.graph.node(three).args == std::vector<NodeId>{two, m.s});
  CHECK(m.graph.node(opposite).args == std::vector<NodeId>{three});
  CHECK(m.graph.node(opposite).number == -1);
}

TEST_CASE("nested products: one with a name is taken up by a single one, one without by several") {
  for (const bool named : {true, false}) {
    Maths m;
    const NodeId two = m.graph.mul(m.op(Op::tanh, {m.x}), m.w), three = m.graph.mul(two, m.s),
                 other = m.graph.mul(two, m.t);
    nest(m.graph, named ? std::vector{three} : std::vector{three, other}, named ? Others{{two}, {}} : Others{{}, {two}},
         {});
    CHECK(m.graph.node(three).args == std::vector<NodeId>{two, m.s});
  }
  Maths m;
  const NodeId two = m.graph.mul(m.op(Op::tanh, {m.x}), m.w), three = m.graph.mul(two, m.s);
  nest(m.graph, {three}, {{}, {two}}, {});
  CHECK(m.graph.node(three).args.size() == 3);
}

TEST_CASE("nested products: a difference that the forward kernel computes is that one") {
  Maths m;
  const NodeId forward = m.op(Op::sub, {m.graph.number(1), m.x});
  const NodeId own = m.graph.add(m.graph.number(1), m.graph.neg(m.x)), product = m.graph.mul(own, m.w);
  CHECK(own != forward);
  nest(m.graph, {product, forward}, {}, {});
  CHECK(std::ranges::count(m.graph.node(product).args, forward) == 1);
}

TEST_CASE("opposites: what is chosen with the other sign is not chosen again") {
  Maths m;
  const NodeId c = m.graph.compare(Op::gt, m.x, m.graph.number(0)), value = m.graph.mul(m.w, m.op(Op::exp, {m.x}));
  const NodeId one = m.graph.choose(c, value, m.graph.number(0));
  const NodeId other = m.graph.choose(c, m.graph.neg(value), m.graph.number(0));
  CHECK(m.graph.node(other).kind == Node::Kind::choose);
  nest(m.graph, {one, other}, {}, {});
  CHECK(m.graph.node(other).number == -1);
  CHECK(m.graph.node(other).args == std::vector<NodeId>{one});
}

TEST_CASE(
    "infinite extremes: what the greatest value is the greatest of asks whether it is infinite, and nothing else") {
  Maths m;
  const auto part_of = [&](NodeId value) {
    const NodeId top = m.graph.fold(Monoid::max, value, m.n, kNoNode, Type::f32);
    const NodeId finite = m.graph.no(m.graph.op(Op::isinf, {top}, Type::boolean));
    const NodeId other = m.graph.compare(Op::gt, m.w, m.graph.number(0));
    std::vector<Part> parts = {{m.graph.both(other, finite), m.s}};
    settle(m.graph, parts, value);
    return std::pair(parts[0].condition == other, m.graph.node(parts[0].value).kind == Node::Kind::choose);
  };
  CHECK(part_of(m.op(Op::tanh, {m.x})) == std::pair(true, true));
  CHECK(part_of(m.op(Op::log, {m.x})) == std::pair(false, false));
}

TEST_CASE("what is deep is written in time: each part once") {
  Maths m;
  NodeId value = m.x;
  for (int depth = 0; depth < 40; ++depth)
    value = m.graph.add(m.graph.mul(value, m.w), m.s);
  CHECK(m.text(value).size() < 1000);
}
