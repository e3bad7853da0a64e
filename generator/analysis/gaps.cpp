// Which plain statements write every element of their window. A lane exists where all that the statement touches lies
// inside; so a block copied from an array that may end in it leaves a gap, unless the sizes forbid that.
#include <algorithm>
#include <map>

#include "analysis/affine.h"
#include "analysis/context.h"
#include "analysis/flow.h"
#include "ir/picked_windows.h"

namespace kgen::analysis {

namespace {

class Gaps {
public:
  explicit Gaps(Context &context) : context_(context), kernel_(context.kernel) {
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
      if (stmt.kind == Stmt::Kind::assign && context_.var(stmt.target).kind == Var::Kind::local)
        assigned_[stmt.target].push_back(stmt.value);
    });
  }

  // What is wrong with it, or nothing.
  std::optional<Gap> find(const Stmt &stmt) {
    partial_ = context_.var(stmt.target).partial;
    for (const Dim &dim : context_.var(stmt.target).dims) {
      if (dim.axis == kNone || kernel_.axes[dim.axis].ragged != kNone)
        continue;
      visited_.clear();
      sources_.clear();
      collect(stmt.value, dim.axis);
      for (const auto &[var, source] : sources_)
        if (auto gap = compare(dim, var, *source))
          return gap;
    }
    return std::nullopt;
  }

private:
  // The windows along `axis` of what the value reads at the current point, through locals too.
  void collect(ExprId id, AxisId axis) {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::fold && e.reduced.contains(axis))
      return;
    for (const ExprId arg : e.args)
      collect(arg, axis);
    if (e.op != Op::read || find_coordinate(e.coords, axis) != nullptr)
      return;
    const Var &var = context_.var(e.ref);
    if (var.kind == Var::Kind::local && visited_.insert(e.ref).second)
      for (const ExprId value : assigned_[e.ref])
        collect(value, axis);
    if (var.kind == Var::Kind::input || var.kind == Var::Kind::output)
      for (const Dim &dim : var.dims)
        if (dim.axis == axis)
          sources_[e.ref] = &dim;
  }

  std::optional<Gap> compare(const Dim &target, VarId var, const Dim &source) {
    const bool reads_outside = source.offset && context_.var(var).kind == Var::Kind::input;
    if (source.whole || reads_outside || (source.start == target.start && source.extent == target.extent))
      return std::nullopt;
    const auto left = [](const Dim &dim) { return Size::make(Size::Op::subtract, {dim.extent, dim.start}); };
    if (proved(left(source), target.block) || proved(left(source), left(target)))
      return std::nullopt;
    const Size wanted = Size::make(Size::Op::min, {target.block, left(target)});
    const Size covered = Size::make(Size::Op::greater_equal, {left(source), wanted});
    const Tested tested = context_.search.condition(covered, Size::integer(1), true);
    if (!tested.fails) {
      if (!partial_)
        check(where_it_exists(kernel_, source.start, covered, Size::integer(1)), var);
      return std::nullopt;
    }
    const std::string &name = context_.var(var).name;
    std::string what = "the block of " + name + " ends with its array before the window of the output does";
    if (source.extent.op == Size::Op::axis)
      what += "; declare axes." + source.extent.name + " = { multiple_of = " + to_string(source.block) + " }";
    return Gap{*tested.fails, what};
  }

  bool proved(const Size &more, const Size &less) const {
    Symbols symbols(kernel_);
    bool exhausted = false;
    return symbols.nonnegative(symbols.polynomial(more) - symbols.polynomial(less)) ||
           impossible(kernel_, {Size::make(Size::Op::less, {more, less})}, {}, exhausted);
  }

  // Neither proved nor shown to fail: launchers look at each step.
  void check(const Size &covered, VarId source) {
    Check check;
    check.kind = Check::Kind::coverage;
    check.condition = covered;
    check.loops = list_of(steps_of(kernel_, covered));
    check.tables = context_.tables_of(covered);
    check.var = source;
    check.argument = context_.var(source).name;
    check.message = "a block of " + check.argument + " would end before the block that it is copied to";
    context_.facts.checks.push_back(std::move(check));
  }

  Context &context_;
  const Kernel &kernel_;
  bool partial_ = false;                          // the output of the statement at hand
  std::map<VarId, std::vector<ExprId>> assigned_; // values of locals
  std::set<VarId> visited_;
  std::map<VarId, const Dim *> sources_;
};

} // namespace

void add_whole_writes(Context &context, WholeWrites &complete) {
  Gaps gaps(context);
  visit_statements(context.kernel.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind != Stmt::Kind::assign || !stmt.coords.empty())
      return;
    if (auto gap = context.is_output(stmt.target) ? gaps.find(stmt) : std::nullopt)
      context.gaps.emplace(stmt.target, std::move(*gap));
    else
      complete.insert({&stmt, stmt.target});
  });
}

} // namespace kgen::analysis
