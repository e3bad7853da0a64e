// From the innermost loops outwards, so that a value goes as far out as it can. Only what every round computes is
// moved, and only what cannot fail: a loop without rounds computes it for nothing.
#include "plan/tidy/hoist.h"

#include <algorithm>
#include <set>

#include "ir/op_rows.h"
#include "ir/roles.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/place/storage.h"
#include "support/naming.h"

namespace kgen {
namespace {

class Hoist {
public:
  explicit Hoist(Kernel &kernel) : kernel_(kernel) {}

  void list(std::vector<PlanNode> &nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].contraction)
        continue;
      for (std::vector<PlanNode> *inner : {&nodes[i].body, &nodes[i].otherwise, &nodes[i].step})
        list(*inner);
      if (nodes[i].kind != PlanNode::Kind::loop || nodes[i].parts > 0)
        continue;
      std::vector<PlanNode> before = from(nodes[i]);
      nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(i), before.begin(), before.end());
      i += before.size();
    }
  }

private:
  std::vector<PlanNode> from(PlanNode &loop) {
    written_.clear();
    for (const Access &a : accesses_of(kernel_, loop))
      if (a.write)
        written_.insert(a.memory);
    std::vector<PlanNode> out;
    std::erase_if(loop.body, [&](PlanNode &n) { // what came out of a loop inside goes further
      const bool moves = own_.count(n.target) != 0 && is_fixed(n.value, loop.axis);
      if (moves)
        out.push_back(n);
      return moves;
    });
    for (PlanNode &n : loop.body) {
      if (n.kind != PlanNode::Kind::assign && n.kind != PlanNode::Kind::fold_step)
        continue;
      for (ExprId *id : {&n.value, &n.condition})
        *id = replace(kernel_, *id, [&](ExprId at) { return hoisted(at, loop, out); });
    }
    return out;
  }

  // A read of the variable that has the value; kNone: look further inside.
  ExprId hoisted(ExprId id, const PlanNode &loop, std::vector<PlanNode> &out) {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::choose || e.op == Op::both || e.op == Op::either)
      return id; // what stands in their arms is not computed by all
    if (!is_floating(e.type) || !is_heavy(id) || !is_fixed(id, loop.axis))
      return kNone;
    const Type type = e.type;
    for (const PlanNode &known : out)
      if (same(kernel_, known.value, id))
        return make_read(kernel_, known.target);
    Var var;
    var.kind = Var::Kind::local;
    var.name = name_of_parts(name_of(e.op), description(kernel_, e.args.front()));
    var.type = type;
    var.axes = e.axes;
    var.place = loop.place;
    const VarId own = add_var(kernel_, std::move(var));
    own_.insert(own);
    out.push_back(make_assign(kernel_, own, id, loop.place));
    return make_read(kernel_, own);
  }

  static std::string name_of(Op op) {
    switch (op) {
    case Op::log:
      return "logarithm";
    case Op::rsqrt:
    case Op::sqrt:
      return "root";
    case Op::mul:
      return "factor";
    default:
      return "fixed";
    }
  }

  bool is_heavy(ExprId id) const {
    return any_node(kernel_, id, [](const Expr &e) { return is_a(e.op, op::Kind::function); });
  }

  bool is_fixed(ExprId id, AxisId axis) const {
    if (kernel_.expr(id).axes.contains(axis))
      return false;
    bool fixed = true;
    walk(kernel_, id, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (e.op == Op::read)
        fixed = fixed && written_.count(memory_of(kernel_, e.ref)) == 0 && e.coords.empty() && is_always_there(e.ref);
      else
        fixed = fixed && (e.op == Op::constant || e.op == Op::scalar || e.op == Op::size || e.op == Op::cast ||
                          e.op == Op::mul || (is_scalar_op(e.op) && is_floating(e.type)));
      return fixed;
    });
    return fixed;
  }

  bool is_always_there(VarId var) const {
    const Var &v = kernel_.vars[var];
    return !v.optional && std::none_of(v.dims.begin(), v.dims.end(), [](const Dim &dim) { return dim.offset; });
  }

  Kernel &kernel_;
  std::set<VarId> written_; // in the loop at hand
  std::set<VarId> own_;     // the values that were moved
};

} // namespace

void hoist_heavy(Plan &plan) {
  for (Phase &phase : plan.phases) {
    std::vector<PlanNode> *list = &phase.nodes; // within the loops that workers share, which stay one in the other
    for (int i = 0; i < (phase.kind == Phase::Kind::chunked ? 1 : phase.split); ++i)
      list = &list->front().body;
    Hoist(plan.kernel).list(*list);
  }
  place_variables(plan);
}

} // namespace kgen
