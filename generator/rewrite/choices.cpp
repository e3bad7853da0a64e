// Inner branches first, so that chains of `else if` become nested choices. A branch that is the same for all lanes
// stays one, and so does one under which something is folded, scanned or may be absent.
#include "rewrite/choices.h"

#include <algorithm>
#include <set>

#include "analysis/flow.h"
#include "ir/axes_of_values.h"
#include "ir/op_rows.h"

namespace kgen {
namespace {

constexpr size_t kMostTargets = 4;
constexpr int kCheap = 8;     // operations that may as well be done where the condition does not hold
constexpr int kElsewhere = 4; // what a read at another place counts as

class Choices {
public:
  explicit Choices(const Kernel &kernel) : out_(kernel) {}

  Kernel run() {
    list(out_.statements);
    find_axes_of_values(out_);
    return std::move(out_);
  }

private:
  void list(std::vector<Stmt> &statements) {
    const std::set<VarId> before = set_;
    std::vector<Stmt> out;
    for (Stmt &s : statements) {
      for (std::vector<Stmt> *inner : {&s.body, &s.otherwise, &s.step})
        list(*inner);
      if (!as_choices(s, out))
        add(std::move(s), out);
    }
    statements = std::move(out);
    set_ = before;
  }

  void add(Stmt s, std::vector<Stmt> &out) {
    if (is_plain(s))
      set_.insert(s.target);
    out.push_back(std::move(s));
  }

  bool as_choices(const Stmt &branch, std::vector<Stmt> &out) {
    if (branch.kind != Stmt::Kind::branch || out_.expr(branch.value).axes.empty() || !end_alike(branch.value) ||
        branch.body.size() > kMostTargets || !may_be_chosen(branch.body) || !may_be_chosen(branch.otherwise))
      return false;
    if (branch.otherwise.empty())
      return branch.body.size() == 1 && of_one_arm(branch, out);
    const bool alike = std::ranges::equal(branch.body, branch.otherwise, {}, &Stmt::target, &Stmt::target);
    // The condition is asked once.
    const bool once = branch.body.size() == 1 || std::ranges::none_of(branch.body, [&](const Stmt &s) {
                        return analysis::reads(out_, branch.value, s.target);
                      });
    if (!alike || !once)
      return false;
    for (size_t i = 0; i < branch.body.size(); ++i)
      add(chosen(branch, branch.body[i], branch.otherwise[i].value), out);
    return true;
  }

  // What the target has else is what the statement before has set it to, or what is at hand in a local.
  bool of_one_arm(const Stmt &branch, std::vector<Stmt> &out) {
    const Stmt &arm = branch.body.front();
    const bool is_set_before = !out.empty() && is_plain(out.back()) && out.back().target == arm.target &&
                               !analysis::reads(out_, branch.value, arm.target) &&
                               !analysis::reads(out_, arm.value, arm.target) && may_be_chosen({out.back()});
    if (is_set_before) {
      const Stmt before = out.back();
      out.back() = chosen(branch, arm, before.value);
      return true;
    }
    if (out_.vars[arm.target].kind != Var::Kind::local || !set_.contains(arm.target) || operations(arm.value) > kCheap)
      return false;
    Expr read;
    read.op = Op::read;
    read.type = out_.expr(arm.value).type;
    read.ref = arm.target;
    read.place = arm.place;
    add(chosen(branch, arm, out_.add(read)), out);
    return true;
  }

  Stmt chosen(const Stmt &branch, const Stmt &arm, ExprId otherwise) {
    Expr choice;
    choice.op = Op::choose;
    choice.type = out_.expr(arm.value).type;
    choice.args = {branch.value, arm.value, otherwise};
    choice.place = branch.place;
    Stmt out = arm;
    out.value = out_.add(choice);
    out.update = false;
    out.context = branch.context;
    return out;
  }

  static bool is_plain(const Stmt &s) {
    return s.kind == Stmt::Kind::assign && s.coords.empty() && s.indices.empty() && !s.scatter_add;
  }

  bool may_be_chosen(const std::vector<Stmt> &arm) const {
    return std::ranges::all_of(arm, [&](const Stmt &s) {
      return is_plain(s) && !out_.vars[s.target].partial && !out_.vars[s.target].optional &&
             is_at_hand(s.value, s.target) && end_alike(s.value);
    });
  }

  // A statement has the elements that all arrays in it have: of arms that differ in that, each keeps its own.
  bool end_alike(ExprId id) const {
    return std::ranges::all_of(out_.expr(id).axes.list(), [&](AxisId axis) {
      const auto is_whole = [&](const Dim &dim) { return dim.axis != axis || is_size_of(out_.axes[axis], dim.extent); };
      return out_.axes[axis].uniform &&
             std::ranges::all_of(out_.vars, [&](const Var &var) { return std::ranges::all_of(var.dims, is_whole); });
    });
  }

  // Nothing goes along an axis, may be absent, or reads the target at another place.
  bool is_at_hand(ExprId id, VarId target) const {
    bool found = true;
    analysis::visit_expressions(out_, id, [&](const Expr &e, ExprId) {
      found = found && e.op != Op::fold && e.op != Op::scan && e.op != Op::table && e.op != Op::named_call &&
              !((e.op == Op::read || e.op == Op::inside) &&
                (out_.vars[e.ref].optional || (e.ref == target && !e.coords.empty())));
    });
    return found;
  }

  int operations(ExprId id) const {
    int count = 0;
    analysis::visit_expressions(out_, id, [&](const Expr &e, ExprId) {
      count += is_scalar_op(e.op) ? op_row(e.op).again : e.op == Op::read && !e.coords.empty() ? kElsewhere : 0;
    });
    return count;
  }

  Kernel out_;
  std::set<VarId> set_; // by statements before that surely run
};

} // namespace

Kernel branches_as_choices(const Kernel &kernel) { return Choices(kernel).run(); }

} // namespace kgen
