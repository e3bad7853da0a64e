// Sizes as isl's piecewise affine expressions over parameters. isl's C++ interface throws; nothing of that leaves here.
#include "analysis/affine.h"

#include <algorithm>
#include <map>
#include <set>

#include <isl/cpp.h>

#include "analysis/coordinates.h"
#include "analysis/facts.h"

namespace kgen {
namespace {

constexpr int kMostNames = 40;
constexpr int kMostNodes = 400;
constexpr int kMostPieces = 64; // of a piecewise value

// Thrown and caught in this file: the question is beyond the bound.
struct TooLarge {};

class Translator {
public:
  Translator(const Kernel &kernel, isl::ctx ctx, const std::vector<std::pair<std::string, Size>> &variables)
      : kernel_(kernel), ctx_(ctx), universe_(isl::space::unit(ctx).universe_set()), context_(universe_) {
    for (const auto &[name, count] : variables)
      variables_[name] = count;
  }

  isl::set condition(const Size &size) {
    using Compare = isl::set (isl::pw_aff::*)(isl::pw_aff) const;
    static const std::map<Size::Op, Compare> kCompare = {
        {Size::Op::less, &isl::pw_aff::lt_set},    {Size::Op::less_equal, &isl::pw_aff::le_set},
        {Size::Op::greater, &isl::pw_aff::gt_set}, {Size::Op::greater_equal, &isl::pw_aff::ge_set},
        {Size::Op::equal, &isl::pw_aff::eq_set},   {Size::Op::not_equal, &isl::pw_aff::ne_set}};
    const auto compare = kCompare.find(size.op);
    if (compare == kCompare.end())
      return value(size).ne_set(constant(0));
    const isl::pw_aff left = value(size.args[0]);
    return (left.*compare->second)(value(size.args[1]));
  }

  // What holds of all names met so far; bounds may bring in more of them.
  isl::set context() {
    while (!pending_.empty()) {
      const auto [key, size] = *pending_.begin();
      pending_.erase(pending_.begin());
      bound(key, size);
    }
    return context_;
  }

private:
  isl::pw_aff constant(long v) {
    return isl::manage(isl_pw_aff_val_on_domain(universe_.copy(), isl::val(ctx_, v).release()));
  }

  // One parameter per text; a step and an axis of one name cannot be, names share a space.
  isl::pw_aff parameter(const Size &size) {
    const std::string key = to_string(size);
    const auto [entry, added] = numbers_.emplace(key, static_cast<int>(numbers_.size()));
    if (added)
      pending_.emplace(key, size);
    if (numbers_.size() > kMostNames)
      throw TooLarge();
    return isl::pw_aff::param_on_domain(universe_, isl::id(ctx_, "p" + std::to_string(entry->second)));
  }

  void require(const isl::set &set) { context_ = context_.intersect(set); }
  void require_below(const isl::pw_aff &p, const Size &count) { require(p.lt_set(value(count))); }

  void bound(const std::string &key, const Size &size) {
    const isl::pw_aff p =
        isl::pw_aff::param_on_domain(universe_, isl::id(ctx_, "p" + std::to_string(numbers_.at(key))));
    if (size.op == Size::Op::axis || size.op == Size::Op::grid)
      require(p.ge_set(constant(0)));
    for (const Axis &axis : kernel_.axes) {
      if (size.op != Size::Op::axis || axis.name != size.name)
        continue;
      if (!(axis.size == size))
        require(p.eq_set(value(axis.size)));
      if (axis.multiple_of > 1)
        require(p.mod(isl::val(ctx_, static_cast<long>(axis.multiple_of))).eq_set(constant(0)));
    }
    if (size.op == Size::Op::grid) {
      const auto variable = variables_.find(size.name);
      if (variable != variables_.end())
        require_below(p, variable->second);
      for (const GridDim &dim : kernel_.grid)
        if (dim.name == size.name && variable == variables_.end())
          require_below(p, dim.size);
    }
    if (size.op == Size::Op::table)
      for (const Table &table : kernel_.tables)
        if (table.name == size.name && table.range) {
          require(p.ge_set(constant(0)));
          require_below(p, *table.range);
        }
    if (size.op == Size::Op::cdiv || size.op == Size::Op::divide || size.op == Size::Op::multiply)
      bound_product(p, size);
  }

  // A product or quotient of symbols: only its sign is known.
  void bound_product(const isl::pw_aff &p, const Size &size) {
    Symbols symbols(kernel_);
    for (const auto &[name, count] : variables_)
      symbols.add_variable(name, count);
    if (symbols.nonnegative(symbols.polynomial(size)))
      require(p.ge_set(constant(0)));
  }

  isl::pw_aff value(const Size &size) {
    if (++nodes_ > kMostNodes)
      throw TooLarge();
    switch (size.op) {
    case Size::Op::integer:
      return constant(size.value);
    case Size::Op::negate:
      return value(size.args[0]).neg();
    case Size::Op::add:
      return value(size.args[0]).add(value(size.args[1]));
    case Size::Op::subtract:
      return value(size.args[0]).sub(value(size.args[1]));
    case Size::Op::min:
      return bounded(value(size.args[0]).min(value(size.args[1])));
    case Size::Op::max:
      return bounded(value(size.args[0]).max(value(size.args[1])));
    case Size::Op::multiply:
      if (size.args[0].is_integer())
        return value(size.args[1]).scale(isl::val(ctx_, static_cast<long>(size.args[0].value)));
      if (size.args[1].is_integer())
        return value(size.args[0]).scale(isl::val(ctx_, static_cast<long>(size.args[1].value)));
      return parameter(size);
    case Size::Op::divide:
    case Size::Op::cdiv:
    case Size::Op::modulo:
      return size.args[1].is_integer() && size.args[1].value > 0 ? quotient(size) : parameter(size);
    case Size::Op::choose: {
      const isl::set when = condition(size.args[0]);
      const isl::pw_aff indicator = isl::manage(isl_set_indicator_function(when.copy()));
      return bounded(indicator.cond(value(size.args[1]), value(size.args[2])));
    }
    case Size::Op::less:
    case Size::Op::less_equal:
    case Size::Op::greater:
    case Size::Op::greater_equal:
    case Size::Op::equal:
    case Size::Op::not_equal:
      return isl::manage(isl_set_indicator_function(condition(size).release()));
    case Size::Op::grid_size:
      for (const GridDim &dim : kernel_.grid)
        if (dim.name == size.name)
          return value(dim.size);
      return parameter(size);
    default:
      return parameter(size);
    }
  }

  // Each choice may double the pieces, and the memory with them, within few operations.
  static isl::pw_aff bounded(isl::pw_aff p) {
    if (isl_pw_aff_n_piece(p.get()) > kMostPieces)
      throw TooLarge();
    return p;
  }

  isl::pw_aff quotient(const Size &size) {
    const isl::val by(ctx_, static_cast<long>(size.args[1].value));
    const isl::pw_aff numerator = value(size.args[0]);
    if (size.op == Size::Op::modulo)
      return numerator.mod(by);
    const isl::pw_aff ratio = numerator.scale_down(by);
    return size.op == Size::Op::cdiv ? ratio.ceil() : ratio.floor();
  }

  const Kernel &kernel_;
  isl::ctx ctx_;
  isl::set universe_;
  isl::set context_;
  std::map<std::string, Size> variables_;
  std::map<std::string, int> numbers_;
  std::map<std::string, Size> pending_;
  int nodes_ = 0;
};

bool is_of_sizes(const Size &size) {
  return size.op != Size::Op::table && size.op != Size::Op::grid && size.op != Size::Op::grid_size &&
         std::all_of(size.args.begin(), size.args.end(), is_of_sizes);
}

// What the spec requires of sizes, as far as sizes can say it. All launchers have asked for that before they do
// anything; what is required of tables in device memory is found out too late to be built on.
void add_required(const Kernel &kernel, ExprId id, std::vector<Size> &out) {
  const Expr &e = kernel.expr(id);
  if (e.op == Op::both) {
    add_required(kernel, e.args[0], out);
    add_required(kernel, e.args[1], out);
    return;
  }
  Symbols symbols(kernel);
  const auto condition = analysis::Coordinates(kernel, symbols).size(id);
  if (condition && is_of_sizes(*condition))
    out.push_back(*condition);
}

bool ask(const Kernel &kernel, isl_ctx *raw, const std::vector<Size> &conditions,
         const std::vector<std::pair<std::string, Size>> &variables, bool &exhausted) {
  try {
    const isl::ctx ctx(raw);
    Translator translator(kernel, ctx, variables);
    isl::set all = isl::space::unit(ctx).universe_set();
    std::vector<Size> known = conditions;
    for (const Requirement &required : kernel.requirements)
      add_required(kernel, required.condition, known);
    for (const Size &condition : known)
      all = all.intersect(translator.condition(condition));
    return all.intersect(translator.context()).is_empty();
  } catch (const TooLarge &) {
    exhausted = true;
  } catch (const isl::exception &) {
    exhausted = true;
  }
  return false;
}

} // namespace

bool impossible(const Kernel &kernel, const std::vector<Size> &conditions,
                const std::vector<std::pair<std::string, Size>> &variables, bool &exhausted) {
  isl_ctx *ctx = isl_ctx_alloc();
  isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(ctx, kIslOperations);
  const bool result = ask(kernel, ctx, conditions, variables, exhausted);
  isl_ctx_free(ctx);
  return result;
}

} // namespace kgen
