// Two folds are the same if they print the same: what they read are operands, whose names are unique, and locals of a
// name of their own that are set once. The local of a fold is assigned before the first statement that has it, if that
// statement computes it in any case.
#include "rewrite/share.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "rewrite/fold_locals.h"

namespace kgen {
namespace {

struct Group {
  std::string text;
  ExprId first;
  size_t at;    // the statement of the kernel that has it first
  bool certain; // computed there, whatever the values
  std::set<ExprId> members;
};

class Sharing {
public:
  explicit Sharing(const Kernel &kernel) : out_(kernel) {}

  Kernel run() {
    find_set_once();
    for (size_t i = 0; i < out_.statements.size(); ++i)
      visit(out_.statements[i], i, true);
    // Inner folds were found after those around them, and must come first.
    std::reverse(groups_.begin(), groups_.end());
    std::stable_sort(groups_.begin(), groups_.end(), [](const Group &a, const Group &b) { return a.at < b.at; });
    std::vector<Stmt> statements;
    auto group = groups_.begin();
    for (size_t i = 0; i < out_.statements.size(); ++i) {
      for (; group != groups_.end() && group->at == i; ++group)
        if (group->members.size() > 1 && group->certain)
          statements.push_back(keep_fold(out_, group->first, group->members));
      statements.push_back(std::move(out_.statements[i]));
    }
    out_.statements = std::move(statements);
    return std::move(out_);
  }

private:
  // Locals whose only assignment is a statement of the kernel, under no condition and in no loop.
  void find_set_once() {
    std::map<VarId, int> writes;
    const std::function<void(const Stmt &)> count = [&](const Stmt &s) {
      if (s.target != kNone)
        ++writes[s.target];
      for (const std::vector<Stmt> *list : {&s.body, &s.otherwise, &s.step})
        for (const Stmt &inner : *list)
          count(inner);
    };
    std::map<std::string, int> names;
    for (const Var &var : out_.vars)
      ++names[var.name];
    for (const Stmt &s : out_.statements)
      count(s);
    for (const Stmt &s : out_.statements)
      if (s.kind == Stmt::Kind::assign && writes[s.target] == 1 && s.indices.empty() && s.coords.empty() &&
          out_.vars[s.target].kind == Var::Kind::local && out_.vars[s.target].array.empty() &&
          names[out_.vars[s.target].name] == 1)
        set_once_.insert(s.target);
  }

  void visit(const Stmt &s, size_t at, bool certain) {
    const bool always = certain && (s.kind == Stmt::Kind::assign || s.kind == Stmt::Kind::branch);
    visit(s.value, at, always);
    for (ExprId index : s.indices)
      visit(index, at, always);
    for (const Coordinate &coordinate : s.coords)
      visit(coordinate.value, at, always);
    for (const std::vector<Stmt> *list : {&s.body, &s.otherwise, &s.step})
      for (const Stmt &inner : *list)
        visit(inner, at, false);
  }

  void visit(ExprId id, size_t at, bool certain) {
    if (id == kNone)
      return;
    const Expr &e = out_.expr(id);
    if (e.op == Op::fold && stays(id))
      note(id, at, certain);
    const bool chooses = e.op == Op::choose || e.op == Op::both || e.op == Op::either;
    const bool leaves_out = e.op == Op::fold && e.args.size() > 1;
    for (size_t i = 0; i < e.args.size(); ++i)
      visit(e.args[i], at, certain && !leaves_out && !(chooses && i > 0));
    for (const Coordinate &coordinate : e.coords)
      visit(coordinate.value, at, certain);
  }

  void note(ExprId id, size_t at, bool certain) {
    const std::string text = std::string(type_row(out_.expr(id).type).name) + " " + print(out_, id);
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group &g) { return g.text == text; });
    if (group == groups_.end())
      group = groups_.insert(groups_.end(), {text, id, at, certain, {}});
    group->certain = group->certain || (group->at == at && certain);
    group->members.insert(id);
  }

  // Has it one value wherever it stands?
  bool stays(ExprId id) const {
    const Expr &e = out_.expr(id);
    const std::vector<AxisId> axes = (e.axes | e.reduced).list();
    if (std::any_of(axes.begin(), axes.end(), [&](AxisId axis) { return !out_.axes[axis].uniform; }))
      return false;
    const bool reads = e.op == Op::read || e.op == Op::inside || e.op == Op::present;
    if (reads && set_once_.count(e.ref) == 0 &&
        (out_.vars[e.ref].kind != Var::Kind::input || out_.vars[e.ref].alias != kNone))
      return false;
    return e.op != Op::element && std::all_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return stays(arg); }) &&
           std::all_of(e.coords.begin(), e.coords.end(), [&](const Coordinate &c) { return stays(c.value); });
  }

  Kernel out_;
  std::set<VarId> set_once_;
  std::vector<Group> groups_;
};

} // namespace

Kernel share_folds(const Kernel &kernel) { return kernel.grid.empty() ? Sharing(kernel).run() : kernel; }

} // namespace kgen
