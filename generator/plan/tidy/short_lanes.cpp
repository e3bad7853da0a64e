#include "plan/tidy/short_lanes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/evaluate.h"
#include "ir/op_rows.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lane_numbers.h"
#include "plan/index/lanes.h"

namespace kgen {
namespace {

constexpr int kShort = 2; // bytes

bool is_short(Type type) { return type == Type::boolean || (is_integer(type) && bytes_of(type) <= kShort); }

Bounds around(Bounds a, Bounds b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// The type of 16 bits that has all these numbers.
std::optional<Type> short_type(Bounds bounds) {
  for (Type type : {Type::i16, Type::u16})
    if (const Bounds all = bounds_of(type); all.low <= bounds.low && bounds.high <= all.high)
      return type;
  return std::nullopt;
}

// One loop, tried on a copy of its statements. What does not fit clears `fits_`.
class ShortLoop {
public:
  ShortLoop(Plan &plan, const LaneAnalysis &analysis, const PlanNode &loop)
      : plan_(plan), kernel_(plan.kernel), analysis_(analysis), loop_(loop), lane_(loop.axis) {}

  // The statements in short numbers; none: they do not fit, or are short as they are.
  std::optional<std::vector<PlanNode>> statements() {
    find_own();
    std::vector<PlanNode> body = loop_.body;
    list(body);
    if (!fits_ || !shortened_)
      return std::nullopt;
    return body;
  }
  // The locals of the loop that are short then.
  const std::map<VarId, Type> &locals() const { return own_; }

private:
  bool varies(ExprId id) const { return analysis_.varies(id, lane_); }
  ExprId refuse(ExprId id) {
    fits_ = false;
    return id;
  }

  // ---- locals of the loop

  void find_own() {
    std::map<VarId, int> inside, all;
    for (const Access &access : accesses_of(kernel_, loop_))
      ++inside[access.var];
    for (const Phase &phase : plan_.phases)
      for (const PlanNode &root : phase.nodes)
        for (const Access &access : accesses_of(kernel_, root))
          ++all[access.var];
    std::map<VarId, Bounds> seen;
    for_each_node(loop_, [&](const PlanNode &node) {
      for (ExprId id : expressions_of(node))
        walk(kernel_, id, [&](ExprId at) {
          const Expr &e = kernel_.expr(at);
          if (const auto known = seen.find(e.ref); e.op == Op::read)
            seen[e.ref] = known == seen.end() ? e.bounds : around(known->second, e.bounds);
          return true;
        });
    });
    for (const auto &[var, bounds] : seen) {
      const Var &v = kernel_.vars[var];
      const bool own = v.kind == Var::Kind::local && plan_.storage[var].kind == Storage::Kind::scalar &&
                       analysis_.is_vector(var, lane_) && inside[var] == all[var];
      const std::optional<Type> type = short_type(bounds);
      if (own && type && is_integer(v.type) && !is_short(v.type))
        own_[var] = *type;
    }
  }

  // ---- statements

  void list(std::vector<PlanNode> &nodes) {
    for (PlanNode &node : nodes) {
      statement(node);
      list(node.body);
      list(node.otherwise);
    }
  }

  void statement(PlanNode &node) {
    switch (node.kind) {
    case PlanNode::Kind::assign:
      fits_ = fits_ && !node.scatter_add && node.indices.empty();
      return is_shared(node) ? void() : set(node);
    case PlanNode::Kind::fold_init:
      fits_ = fits_ && node.monoid == Monoid::sum && takes(node.target);
      return;
    case PlanNode::Kind::fold_step:
      fits_ = fits_ && node.monoid == Monoid::sum && !node.reduced.contains(lane_);
      if (node.condition != kNone)
        node.condition = value(node.condition);
      return set(node);
    case PlanNode::Kind::branch:
      node.condition = value(node.condition);
      return;
    case PlanNode::Kind::loop:
      fits_ = fits_ && node.end == kNone && node.table == kNone;
      return;
    default:
      fits_ = false;
    }
  }

  // Have all lanes one such number?
  bool is_shared(const PlanNode &node) const {
    return plan_.storage[node.target].kind == Storage::Kind::scalar && !analysis_.is_vector(node.target, lane_) &&
           !varies(node.value);
  }

  // Is it a local of 16 bits, or something whose lanes are as short as it is?
  bool takes(VarId var) const {
    return own_.count(var) != 0 || (is_short(kernel_.vars[var].type) && !is_half(kernel_.vars[var].type));
  }

  void set(PlanNode &node) {
    if (!takes(node.target)) {
      fits_ = false;
      return;
    }
    const Type type = kernel_.expr(node.value).type;
    if (const auto own = own_.find(node.target); own != own_.end())
      node.value = low_bits(node.value, own->second);
    else if (is_short(type))
      node.value = value(node.value);
    else if (kernel_.vars[node.target].type == Type::boolean || !is_integer(type))
      fits_ = false;
    else
      node.value = some_bits(node.value);
  }

  // ---- expressions

  Bounds bounds_of_value(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::constant)
      return {e.integer, e.integer};
    if (is_short(e.type) && !is_bounded(e))
      return bounds_of(e.type);
    if (e.op == Op::cast && !is_bounded(e) && e.type == Type::i64 && !is_floating(kernel_.expr(e.args[0]).type))
      return bounds_of_value(e.args[0]);
    return e.bounds;
  }

  // A value of at most 16 bits as it is, or a truth value.
  ExprId value(ExprId id) {
    const Expr e = kernel_.expr(id);
    if (!varies(id) || !fits_)
      return id;
    switch (e.op) {
    case Op::read:
    case Op::inside:
      return is_short(e.type) ? id : refuse(id);
    case Op::cast: {
      const Type from = kernel_.expr(e.args[0]).type;
      if (is_floating(from))
        return refuse(id);
      if (e.type == Type::boolean)
        return same_type(e, Type::boolean);
      return converted(is_short(from) ? value(e.args[0]) : some_bits(e.args[0]), e.type);
    }
    case Op::logical_not:
      return with(e, e.type, {value(e.args[0])});
    case Op::both:
    case Op::either:
      return analysis_.hazardous(e.args[1]) ? refuse(id) : with(e, e.type, {value(e.args[0]), value(e.args[1])});
    case Op::choose:
      return hangs_on_choice(e) ? refuse(id) : with(e, e.type, {value(e.args[0]), value(e.args[1]), value(e.args[2])});
    default:
      if (!is_comparison(e.op))
        return refuse(id);
      return compares_positions(e) ? id : same_type(e, Type::boolean);
    }
  }

  // The low bits of a whole number, and the number itself where they are enough.
  ExprId some_bits(ExprId id) { return low_bits(id, short_type(bounds_of_value(id)).value_or(Type::i16)); }

  // The low bits of a whole number, as a number of that type.
  ExprId low_bits(ExprId id, Type type) {
    const Expr e = kernel_.expr(id);
    if (!fits_ || is_floating(e.type))
      return refuse(id);
    if (e.op == Op::constant)
      return make_constant(kernel_, type, wrap(e.integer, type), 0);
    if (!varies(id))
      return make_cast(kernel_, id, type);
    if (is_short(e.type))
      return converted(value(id), type);
    shortened_ = true;
    if (has(e.op, op::low_bits)) {
      std::vector<ExprId> args;
      for (ExprId arg : e.args)
        args.push_back(low_bits(arg, type));
      return with(e, type, std::move(args));
    }
    switch (e.op) {
    case Op::read: {
      const auto own = own_.find(e.ref);
      return own == own_.end() ? refuse(id) : converted(with(e, own->second, {}), type);
    }
    case Op::cast:
      return low_bits(e.args[0], type);
    case Op::choose:
      return hangs_on_choice(e)
                 ? refuse(id)
                 : with(e, type, {value(e.args[0]), low_bits(e.args[1], type), low_bits(e.args[2], type)});
    case Op::div:
    case Op::rem:
      return divides_by_number(kernel_, e) ? same_type(e, type) : refuse(id);
    case Op::shl:
    case Op::shr: {
      const Bounds by = bounds_of_value(e.args[1]);
      if (by.low < 0 || by.high >= 8 * kShort)
        return refuse(id);
      return e.op == Op::shr ? same_type(e, type)
                             : with(e, type, {low_bits(e.args[0], type), low_bits(e.args[1], type)});
    }
    default:
      return has(e.op, op::small) ? same_type(e, type) : refuse(id);
    }
  }

  // An operation on the arguments as they are, in a type that has all of them, and so the result.
  ExprId same_type(const Expr &e, Type result) {
    Bounds all = bounds_of_value(e.args[0]);
    for (ExprId arg : e.args) {
      if (is_floating(kernel_.expr(arg).type))
        return refuse(arg);
      all = around(all, bounds_of_value(arg));
    }
    if (e.op == Op::abs && all.low > INT64_MIN)
      all = around(all, {-all.low, -all.low});
    const std::optional<Type> type = short_type(all);
    if (!type)
      return refuse(e.args[0]);
    std::vector<ExprId> args;
    for (ExprId arg : e.args)
      args.push_back(low_bits(arg, *type));
    if (e.type == Type::boolean)
      return with(e, Type::boolean, std::move(args));
    return converted(with(e, *type, std::move(args)), result);
  }

  // What is computed lane by lane because an arm may not be evaluated elsewhere.
  bool hangs_on_choice(const Expr &e) const { return analysis_.hazardous(e.args[1]) || analysis_.hazardous(e.args[2]); }

  // Vectors as narrow as others compare positions with one number.
  bool compares_positions(const Expr &e) const {
    const LaneNumbers numbers(kernel_, analysis_);
    const bool turned = !varies(e.args[0]);
    const auto step = numbers.step(e.args[turned ? 1 : 0], lane_);
    return step && (*step == 1 || *step == -1) && !varies(e.args[turned ? 0 : 1]);
  }

  // Of at most 16 bits: on the way the bits need not be read in another way.
  ExprId converted(ExprId id, Type type) {
    const Expr &e = kernel_.expr(id);
    const bool same_bits = e.op == Op::cast && is_integer(e.type) && bytes_of(e.type) == kShort &&
                           bytes_of(kernel_.expr(e.args[0]).type) == kShort;
    return make_cast(kernel_, same_bits ? e.args[0] : id, type);
  }

  ExprId with(Expr e, Type type, std::vector<ExprId> args) {
    e.type = type;
    e.args = std::move(args);
    return kernel_.add(std::move(e));
  }

  Plan &plan_;
  Kernel &kernel_;
  const LaneAnalysis &analysis_;
  const PlanNode &loop_;
  const AxisId lane_;
  std::map<VarId, Type> own_;
  bool fits_ = true, shortened_ = false;
};

} // namespace

void shorten_lanes(Plan &plan) {
  if (!wants_lanes(plan.kernel))
    return;
  const LaneAnalysis analysis(plan);
  const std::set<const PlanNode *> taken = analysis.choose();
  std::map<VarId, Type> types;
  for (Phase &phase : plan.phases)
    for (PlanNode &root : phase.nodes)
      for_each_node_of_loops(root, [&](PlanNode &node) {
        if (taken.count(&node) == 0)
          return;
        ShortLoop loop(plan, analysis, node);
        if (auto statements = loop.statements()) {
          node.body = std::move(*statements);
          types.insert(loop.locals().begin(), loop.locals().end());
        }
      });
  for (const auto &[var, type] : types)
    plan.kernel.vars[var].type = type;
}

} // namespace kgen
