#include "plan/tidy/products.h"

#include <set>

#include "ir/op_rows.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

constexpr int64_t kAsPlanned = 1;                              // of `fma`, which otherwise is rounded once everywhere
enum Fused : int64_t { kNotFused, kFirstFused, kSecondFused }; // of `add` and `sub`: which argument is the product

bool is_product(const Kernel &kernel, ExprId id) {
  return id != kNone && kernel.expr(id).op == Op::mul && is_floating(kernel.expr(id).type);
}

bool is_sum(const Expr &e) { return (e.op == Op::add || e.op == Op::sub) && is_floating(e.type); }

class Products {
public:
  explicit Products(Plan &plan) : kernel_(plan.kernel) {
    for (const Phase &phase : plan.phases)
      for (const PlanNode &root : phase.nodes)
        for (const Access &access : accesses_of(kernel_, root))
          if (!access.write)
            read_.insert(access.memory);
  }

  void put(PlanNode &node) {
    node.value = put(node.value, adds_product(kernel_, node) || is_only_stored(node));
    for (ExprId *id : {&node.second, &node.condition, &node.end, &node.entry})
      *id = put(*id, false);
    for (ExprId &id : node.indices)
      id = put(id, false);
    for (Coordinate &c : node.coords)
      c.value = put(c.value, false);
  }

  // `stands`: no sum takes what this gives.
  ExprId put(ExprId id, bool stands) {
    if (id == kNone)
      return id;
    const Expr e = kernel_.expr(id);
    if (is_sum(e) && e.integer != kNotFused && is_product(kernel_, e.args[e.integer == kFirstFused ? 0 : 1]))
      return multiply_add(e);
    Expr changed = e;
    bool changes = false;
    const auto put_inside = [&](ExprId &inner, bool inner_stands) {
      const ExprId other = put(inner, inner_stands);
      changes = changes || other != inner;
      inner = other;
    };
    for (ExprId &arg : changed.args)
      put_inside(arg, rounds_itself(e, stands));
    for (Coordinate &c : changed.coords)
      put_inside(c.value, false);
    if (changes)
      id = kernel_.add(std::move(changed));
    return stands || !is_product(kernel_, id) ? id : rounded(id);
  }

private:
  // An output that nobody reads: what becomes of the product is memory's.
  bool is_only_stored(const PlanNode &node) const {
    return node.kind == PlanNode::Kind::assign && !node.scatter_add &&
           kernel_.vars[node.target].kind == Var::Kind::output && read_.count(memory_of(kernel_, node.target)) == 0;
  }

  // Do its arguments meet no sum in it?
  static bool rounds_itself(const Expr &e, bool stands) {
    if (e.op == Op::neg || e.op == Op::choose)
      return stands;
    return e.op == Op::mul || e.op == Op::div || is_comparison(e.op);
  }

  ExprId rounded(ExprId product) {
    const Type type = kernel_.expr(product).type;
    const ExprId out = make_op(kernel_, Op::round_like, type, {product});
    kernel_.exprs[static_cast<size_t>(out)].element = type;
    return out;
  }

  ExprId multiply_add(const Expr &sum) {
    const bool first = sum.integer == kFirstFused;
    const Expr product = kernel_.expr(sum.args[first ? 0 : 1]);
    ExprId a = put(product.args[0], true), b = put(product.args[1], true), c = put(sum.args[first ? 1 : 0], true);
    if (sum.op == Op::sub)
      (first ? c : a) = make_op(kernel_, Op::neg, sum.type, {first ? c : a});
    const ExprId out = make_op(kernel_, Op::fma, sum.type, {a, b, c});
    kernel_.exprs[static_cast<size_t>(out)].integer = kAsPlanned;
    return out;
  }

  Kernel &kernel_;
  std::set<VarId> read_; // the memory of these
};

} // namespace

void mark_fused(Kernel &kernel) {
  for (Expr &e : kernel.exprs) {
    const bool first = is_sum(e) && is_product(kernel, e.args[0]), second = is_sum(e) && is_product(kernel, e.args[1]);
    if (first != second)
      e.integer = first ? kFirstFused : kSecondFused;
  }
}

bool is_multiply_add(const Expr &e) { return e.op == Op::fma && e.integer == kAsPlanned; }

bool is_rounded(const Expr &e) { return e.op == Op::round_like && e.element == e.type; }

bool adds_product(const Kernel &kernel, const PlanNode &step) {
  if (step.kind == PlanNode::Kind::fold_step)
    return step.monoid == Monoid::sum && is_product(kernel, step.value);
  return step.kind == PlanNode::Kind::scan_step && step.scan == ScanKind::linear &&
         is_floating(kernel.vars[step.target].type);
}

void round_products(Plan &plan) {
  Products products(plan);
  for (Phase &phase : plan.phases) {
    phase.when = products.put(phase.when, false);
    for (PlanNode &root : phase.nodes)
      for_each_node(root, [&](PlanNode &node) { products.put(node); });
  }
}

} // namespace kgen
