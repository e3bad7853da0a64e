// Which plain statements write every element of their window. A lane exists where all that the statement touches lies
// inside; so a block copied from an array that may end in it leaves a gap, unless the sizes forbid that. What is not
// shown to fail by an example is taken to hold: reads of what is missing stay guarded.
#include <algorithm>
#include <map>

#include "analysis/context.h"
#include "analysis/flow.h"

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

  // What is wrong with it in words, or nothing.
  std::string find(const Stmt &stmt) {
    for (const Dim &dim : context_.var(stmt.target).dims) {
      if (dim.axis == kNone || kernel_.axes[dim.axis].ragged != kNone)
        continue;
      visited_.clear();
      sources_.clear();
      collect(stmt.value, dim.axis);
      for (const auto &[var, source] : sources_)
        if (const std::string text = compare(dim, var, *source); !text.empty())
          return text;
    }
    return {};
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

  std::string compare(const Dim &target, VarId var, const Dim &source) {
    const bool reads_outside = source.offset && context_.var(var).kind == Var::Kind::input;
    if (source.whole || reads_outside || (source.start == target.start && source.extent == target.extent))
      return {};
    const auto left = [](const Dim &dim) { return Size::make(Size::Op::subtract, {dim.extent, dim.start}); };
    const Size wanted = Size::make(Size::Op::min, {target.block, left(target)});
    const Size covered = Size::make(Size::Op::greater_equal, {left(source), wanted});
    const Tested tested = context_.search.condition(covered, Size::integer(1), true);
    if (!tested.fails)
      return {};
    const std::string &name = context_.var(var).name;
    std::string help = to_string(kernel_, *tested.fails) + ": the block of " + name +
                       " ends with its array before the window of the output does";
    if (source.extent.op == Size::Op::axis)
      help += "; declare axes." + source.extent.name + " = { multiple_of = " + to_string(source.block) + " }";
    return help;
  }

  Context &context_;
  const Kernel &kernel_;
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
    const std::string gap = context.is_output(stmt.target) ? gaps.find(stmt) : "";
    if (gap.empty())
      complete.insert({&stmt, stmt.target});
    else
      context.gaps.emplace(stmt.target, gap);
  });
}

} // namespace kgen::analysis
