#include "plan/lanes/totals.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lane_numbers.h"

namespace kgen {
namespace {

using Form = LaneTotal::Form;

constexpr int64_t kNarrowBlock = 32768; // positions and small numbers of so many fit 32 bits
constexpr int64_t kMostNarrow = 65535;

class Totals {
public:
  Totals(const Plan &plan, const LaneAnalysis &analysis, AxisId lane)
      : plan_(plan), kernel_(plan.kernel), analysis_(analysis), numbers_(plan.kernel, analysis), lane_(lane) {}

  LaneTotal of(const PlanNode &fold) const {
    const Type type = is_narrow(fold) ? Type::i32 : kernel_.vars[fold.target].type;
    if (fold.partner != kNone)
      return {Form::best, type, {}};
    if (std::vector<ExprId> factors = short_factors(fold, type); !factors.empty())
      return {Form::words, type, std::move(factors)};
    const bool extreme = fold.monoid == Monoid::max || fold.monoid == Monoid::min;
    return {is_floating(type) && extreme ? Form::extreme : Form::plain, type, {}};
  }

  // Sums of floats wait for each addition, unless other work is enough to fill the time; and registers are few.
  void add_in_turns(const std::vector<PlanNode *> &folds) const {
    constexpr size_t kMostChains = 4;
    for (PlanNode *fold : folds)
      if (folds.size() <= kMostChains && fold->monoid == Monoid::sum && is_floating(fold->lane_total->type) &&
          is_light(kernel_, fold->value))
        fold->lane_total->form = Form::turns;
  }

  // Long floating sums end in the scalar every so many iterations, and so do products, of which those of single lanes
  // would sink to numbers that take long; narrow numbers end in wide ones. 0: there are none.
  int64_t block(const std::vector<PlanNode *> &folds) const {
    int64_t block = 0;
    bool narrow = false;
    for (const PlanNode *fold : folds) {
      const Monoid monoid = fold->monoid;
      const bool grows = monoid == Monoid::sum || monoid == Monoid::mean || monoid == Monoid::product;
      if (grows && is_floating(fold->lane_total->type))
        block = plan_.decide(Decision::sum_block); // so that errors stay small
      else
        narrow |= fold->lane_total->type != kernel_.vars[fold->target].type;
    }
    if (narrow)
      block = block == 0 ? kNarrowBlock : std::min(block, kNarrowBlock);
    const std::optional<int64_t> most = most_positions(kernel_.axes[lane_]);
    return most && *most <= block ? 0 : block;
  }

private:
  // Does what a lane finds in a block fit 32 bits: a position along the loop, or a sum of small numbers?
  bool is_narrow(const PlanNode &fold) const {
    if (fold.partner != kNone) {
      const Expr &noted = kernel_.expr(fold.second);
      return noted.op == Op::index && noted.axis == lane_ && noted.ref == kNone;
    }
    if (fold.monoid != Monoid::sum || kernel_.vars[fold.target].type != Type::i64)
      return false;
    const Bounds bounds = kernel_.expr(fold.value).bounds;
    return bounds.low >= -kMostNarrow && bounds.high <= kMostNarrow && numbers_.fits(fold.value, lane_, Type::i32);
  }

  // Of a sum in 32 bits of numbers of 16, or of their products.
  std::vector<ExprId> short_factors(const PlanNode &fold, Type type) const {
    if (fold.monoid != Monoid::sum || type != Type::i32 || !analysis_.varies(fold.value, lane_))
      return {};
    const Expr &widened = kernel_.expr(fold.value);
    const bool was_i32 =
        widened.op == Op::cast && widened.type == Type::i64 && kernel_.expr(widened.args[0]).type == Type::i32;
    const ExprId value = was_i32 ? widened.args[0] : fold.value;
    const Expr &product = kernel_.expr(value);
    const auto is_short = [&](ExprId id) { return numbers_.fits(id, lane_, Type::i16); };
    if (product.op == Op::mul && std::all_of(product.args.begin(), product.args.end(), is_short))
      return product.args;
    return is_short(fold.value) ? std::vector<ExprId>{value} : std::vector<ExprId>{};
  }

  const Plan &plan_;
  const Kernel &kernel_;
  const LaneAnalysis &analysis_;
  const LaneNumbers numbers_;
  const AxisId lane_;
};

} // namespace

void find_totals(const Plan &plan, const LaneAnalysis &analysis, PlanNode &loop, bool in_part) {
  const Totals totals(plan, analysis, loop.axis);
  std::vector<PlanNode *> folds;
  for_each_node(loop, [&](PlanNode &node) {
    if (!folds_over(node, loop.axis))
      return;
    node.lane_total = totals.of(node);
    folds.push_back(&node);
  });
  totals.add_in_turns(folds);
  loop.on_lanes->block = in_part ? 0 : totals.block(folds);
}

} // namespace kgen
