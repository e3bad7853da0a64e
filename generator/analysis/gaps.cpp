// Where statements write the window of their target: everywhere, or in the lanes that other windows leave. A lane
// exists where all that the statement touches lies inside; so a block copied from an array that may end in it leaves a
// gap, unless the sizes forbid that.
#include <algorithm>

#include "analysis/context.h"
#include "analysis/flow.h"
#include "ir/picked_windows.h"

namespace kgen::analysis {

namespace {

class Gaps {
public:
  explicit Gaps(Context &context) : context_(context), kernel_(context.kernel), lanes_(context.lanes) {}

  // What limits the statement to less than the window of its target.
  Windows find(const Stmt &stmt, const std::vector<const Stmt *> &enclosing) {
    const Var &target = context_.var(stmt.target);
    checkable_ = context_.is_output(stmt.target) && !target.partial && stmt.context.empty();
    Windows sources = lanes_.of(stmt.value), out;
    for (const Coordinate &coordinate : stmt.coords)
      sources.merge(lanes_.of(coordinate.value));
    sources.merge(lanes_.under(enclosing));
    for (size_t d = 0; d < target.dims.size(); ++d)
      for (const Window &source : sources)
        if (target.dims[d].axis == lanes_.dim(source).axis &&
            find_coordinate(stmt.coords, target.dims[d].axis) == nullptr &&
            leaves_out({stmt.target, static_cast<int>(d)}, source))
          out.insert(source);
    return out;
  }

private:
  // Of scratch it is a matter of what is read later.
  bool leaves_out(const Window &target, const Window &source) {
    if (!context_.is_output(target.var))
      return true;
    if (lanes_.covers(source, target))
      return false;
    const Dim &to = lanes_.dim(target), &from = lanes_.dim(source);
    const auto left = [](const Dim &dim) { return Size::make(Size::Op::subtract, {dim.extent, dim.start}); };
    const Size wanted = Size::make(Size::Op::min, {to.block, left(to)});
    const Size covered = Size::make(Size::Op::greater_equal, {left(from), wanted});
    const Tested tested = context_.search.condition(covered, Size::integer(1), true);
    if (tested.fails)
      context_.gaps.emplace(target.var, Gap{*tested.fails, ends_early(context_, source, "the window of the output")});
    else if (checkable_)
      check(where_it_exists(kernel_, from.start, covered, Size::integer(1)), source.var);
    return tested.fails.has_value() || !checkable_;
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
  const Lanes &lanes_;
  bool checkable_ = false; // may launchers check what is not proved of the statement at hand?
};

} // namespace

std::string ends_early(const Context &context, const Window &window, const std::string &before) {
  const Dim &dim = context.var(window.var).dims[window.dim];
  std::string out = "the block of " + context.var(window.var).name + " ends with its array before " + before + " does";
  if (dim.extent.op == Size::Op::axis)
    out += "; declare axes." + dim.extent.name + " = { multiple_of = " + to_string(dim.block) + " }";
  return out;
}

void add_plain_writes(Context &context, Writes &writes) {
  Gaps gaps(context);
  visit_statements(context.kernel.statements, [&](const Stmt &stmt, const auto &enclosing) {
    if (stmt.kind != Stmt::Kind::assign || context.var(stmt.target).kind == Var::Kind::local)
      return;
    if (stmt.scatter_add)
      return;
    const Windows limits = gaps.find(stmt, enclosing);
    const auto scattered = writes.find({&stmt, stmt.target});
    if (stmt.coords.empty())
      writes[{&stmt, stmt.target}] = limits;
    else if (scattered != writes.end())
      scattered->second = limits;
    if (!stmt.coords.empty())
      context.slices[stmt.target].insert(limits.begin(), limits.end());
  });
}

} // namespace kgen::analysis
