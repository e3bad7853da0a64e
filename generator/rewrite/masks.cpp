// A mask is an input of bools or a local that is set once. Candidates are locals with the axes of the mask, set once by
// a statement of the kernel; those stay that nobody needs but each other and the side of choices that the mask takes.
// Folds among their values go on with all elements: they become locals before the mask is asked.
#include "rewrite/masks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "rewrite/fold_locals.h"

namespace kgen {
namespace {

constexpr int kWorthAsking = 16; // operations: about what a branch costs that is not foreseen

class UnderMasks {
public:
  explicit UnderMasks(const Kernel &kernel) : out_(kernel) {}

  Kernel run() {
    find_homes();
    for (VarId mask : masks()) {
      find_homes();
      mask_ = mask;
      find_members();
      if (operations() >= kWorthAsking)
        move();
    }
    return std::move(out_);
  }

private:
  using Visit = std::function<void(const Expr &, bool taken)>;

  // Locals that are set once, as a whole and in any case: by which statement.
  void find_homes() {
    homes_.clear();
    std::map<VarId, int> writes;
    for (const Stmt &s : out_.statements)
      for_each_target(s, [&](VarId var) { ++writes[var]; });
    for (size_t i = 0; i < out_.statements.size(); ++i) {
      const Stmt &s = out_.statements[i];
      if (s.kind == Stmt::Kind::assign && writes[s.target] == 1 && s.indices.empty() && s.coords.empty() &&
          out_.vars[s.target].kind == Var::Kind::local && out_.vars[s.target].array.empty())
        homes_[s.target] = i;
    }
  }

  static void for_each_target(const Stmt &s, const std::function<void(VarId)> &visit) {
    if (s.target != kNone)
      visit(s.target);
    for (const std::vector<Stmt> *list : {&s.body, &s.otherwise, &s.step})
      for (const Stmt &inner : *list)
        for_each_target(inner, visit);
  }

  bool never_changes(VarId id) const {
    const Var &var = out_.vars[id];
    return homes_.count(id) != 0 || (var.kind == Var::Kind::input && var.alias == kNone && !var.optional);
  }

  // Those that choices ask.
  std::set<VarId> masks() const {
    std::set<VarId> found;
    const Visit visit = [&](const Expr &e, bool) {
      if (e.op == Op::choose && is_plain_read(e.args[0]) && never_changes(out_.expr(e.args[0]).ref))
        found.insert(out_.expr(e.args[0]).ref);
    };
    for (const Stmt &s : out_.statements)
      walk(s, visit);
    return found;
  }

  bool is_plain_read(ExprId id) const { return out_.expr(id).op == Op::read && out_.expr(id).coords.empty(); }
  bool is_mask(ExprId id) const { return is_plain_read(id) && out_.expr(id).ref == mask_; }

  // `taken`: is it evaluated where the mask holds only?
  void walk(const Stmt &s, const Visit &visit) const {
    walk(s.value, false, visit);
    for (ExprId index : s.indices)
      walk(index, false, visit);
    for (const Coordinate &c : s.coords)
      walk(c.value, false, visit);
    for (const Shown &shown : s.shown)
      walk(shown.value, false, visit);
    for (const std::vector<Stmt> *list : {&s.body, &s.otherwise, &s.step})
      for (const Stmt &inner : *list)
        walk(inner, visit);
  }

  void walk(ExprId id, bool taken, const Visit &visit) const {
    if (id == kNone)
      return;
    const Expr &e = out_.expr(id);
    visit(e, taken);
    const bool chooses = e.op == Op::choose && is_mask(e.args[0]);
    const bool filters = e.op == Op::fold && e.args.size() > 1 && is_mask(e.args[1]);
    for (size_t i = 0; i < e.args.size(); ++i)
      walk(e.args[i], taken || (chooses && i == 1) || (filters && i == 0), visit);
    for (const Coordinate &c : e.coords)
      walk(c.value, taken, visit);
  }

  // ---- what goes under it -------------------------------------------------------------------------------------------

  void find_members() {
    members_.clear();
    for (const auto &[var, home] : homes_)
      if (may_go_under(var, home))
        members_.insert(var);
    size_t before;
    do {
      before = members_.size();
      for (VarId var : needed_elsewhere())
        members_.erase(var);
    } while (members_.size() != before);
  }

  bool may_go_under(VarId var, size_t home) const {
    const auto mask = homes_.find(mask_);
    const bool follows = mask == homes_.end() || mask->second < home;
    bool fits = var != mask_ && follows && out_.vars[var].axes.contains(out_.vars[mask_].axes);
    walk(out_.statements[home].value, false,
         [&](const Expr &e, bool) { fits = fits && e.op != Op::scan && (e.op != Op::fold || stays_outside(e)); });
    return fits;
  }

  // Is it the same for all elements that the mask tells apart, and never changes?
  bool stays_outside(const Expr &fold) const {
    bool fits = (fold.axes & out_.vars[mask_].axes).empty();
    const Visit visit = [&](const Expr &e, bool) {
      if (e.op == Op::read || e.op == Op::inside || e.op == Op::present || e.op == Op::element)
        fits = fits && never_changes(e.ref);
      fits = fits && e.op != Op::scan;
    };
    for (ExprId arg : fold.args)
      walk(arg, false, visit);
    return fits;
  }

  std::set<VarId> needed_elsewhere() const {
    std::set<VarId> needed;
    for (size_t i = 0; i < out_.statements.size(); ++i) {
      const bool member = is_member(out_.statements[i]);
      walk(out_.statements[i], [&](const Expr &e, bool taken) {
        if (e.ref == kNone || e.op == Op::scalar || e.op == Op::table)
          return;
        if (e.op != Op::read || !e.coords.empty() || !(member || taken))
          needed.insert(e.ref);
      });
      if (member)
        in_folds(out_.statements[i].value, [&](const Expr &e, bool) { needed.insert(e.ref); });
    }
    return needed;
  }

  void in_folds(ExprId id, const Visit &visit) const {
    walk(id, false, [&](const Expr &e, bool) {
      if (e.op == Op::fold)
        for (ExprId arg : e.args)
          walk(arg, false, visit);
    });
  }

  bool is_member(const Stmt &s) const { return s.kind == Stmt::Kind::assign && members_.count(s.target) != 0; }

  int operations() const {
    int count = 0;
    for (VarId var : members_)
      walk(out_.statements[homes_.at(var)].value, false,
           [&](const Expr &e, bool) { count += is_scalar_op(e.op) || e.op == Op::choose; });
    return count;
  }

  // ---- the move -----------------------------------------------------------------------------------------------------

  void move() {
    keep_folds();
    std::vector<Stmt> statements;
    std::map<VarId, size_t> branch_of; // by where it stands
    size_t branch = 0;
    std::optional<std::set<VarId>> changed; // since the branch
    for (Stmt &s : out_.statements) {
      if (!is_member(s)) {
        if (changed)
          for_each_target(s, [&](VarId var) { changed->insert(var); });
        statements.push_back(std::move(s));
        continue;
      }
      s.value = under_mask(s.value);
      if (!changed || reads_any(s.value, *changed)) {
        branch = statements.size();
        statements.push_back(asking(s.place));
        changed.emplace();
      }
      branch_of[s.target] = branch;
      s.context |= out_.vars[mask_].axes;
      statements[branch].body.push_back(std::move(s));
    }
    out_.statements = std::move(statements);
    begin_outcomes(branch_of);
  }

  // Folds become locals, as early as what they are made of allows.
  void keep_folds() {
    std::set<ExprId> folds;
    for (VarId var : members_)
      find_folds(out_.statements[homes_.at(var)].value, folds);
    for (ExprId fold : folds) {
      size_t at = 0;
      walk(fold, false, [&](const Expr &e, bool) {
        if (const auto home = homes_.find(e.ref); e.op == Op::read && home != homes_.end())
          at = std::max(at, home->second + 1);
      });
      Stmt assign = keep_fold(out_, fold, {fold});
      out_.statements.insert(out_.statements.begin() + static_cast<std::ptrdiff_t>(at), std::move(assign));
      find_homes();
    }
  }

  void find_folds(ExprId id, std::set<ExprId> &folds) const {
    const Expr &e = out_.expr(id);
    if (e.op == Op::fold) {
      folds.insert(id);
      return;
    }
    for (ExprId arg : e.args)
      find_folds(arg, folds);
    for (const Coordinate &c : e.coords)
      find_folds(c.value, folds);
  }

  bool reads_any(ExprId id, const std::set<VarId> &vars) const {
    bool found = false;
    walk(id, false, [&](const Expr &e, bool) {
      if (e.op != Op::read && e.op != Op::element && e.op != Op::inside)
        return;
      found = found || vars.count(e.ref) != 0 ||
              (out_.vars[e.ref].alias != kNone && vars.count(out_.vars[e.ref].alias) != 0);
    });
    return found;
  }

  Stmt asking(const Place &place) {
    Stmt branch;
    branch.kind = Stmt::Kind::branch;
    branch.value = read(mask_, place);
    branch.axes = out_.vars[mask_].axes;
    branch.place = place;
    return branch;
  }

  ExprId read(VarId var, const Place &place) {
    Expr e;
    e.op = Op::read;
    e.type = out_.vars[var].type;
    e.axes = out_.vars[var].axes;
    e.ref = var;
    e.place = place;
    return out_.add(std::move(e));
  }

  // The expression where the mask holds.
  ExprId under_mask(ExprId id) {
    const Expr &e = out_.expr(id);
    if (e.op == Op::choose && is_mask(e.args[0]))
      return under_mask(e.args[1]);
    const bool is_made_of_arguments = is_scalar_op(e.op) || e.op == Op::choose || e.op == Op::both ||
                                      e.op == Op::either || e.op == Op::cast || e.op == Op::round_like;
    if (!is_made_of_arguments)
      return id;
    Expr copy = e;
    copy.axes = AxisSet();
    for (ExprId &arg : copy.args) {
      arg = under_mask(arg);
      copy.axes |= out_.expr(arg).axes;
    }
    return copy.args == out_.expr(id).args ? id : out_.add(std::move(copy));
  }

  // ---- what others read ---------------------------------------------------------------------------------------------

  struct Readers {
    std::set<ExprId> choices; // mask ? local : constant
    bool others = false;
    bool any() const { return others || !choices.empty(); }
  };

  // Locals that are read behind their branch begin, for the elements which it leaves out, as what choices take there.
  void begin_outcomes(const std::map<VarId, size_t> &branch_of) {
    std::map<size_t, std::vector<Stmt>> begins;
    for (const auto &[var, branch] : branch_of) {
      Readers readers;
      for (size_t i = 0; i < out_.statements.size(); ++i)
        if (i != branch)
          find_readers(out_.statements[i], var, readers);
      if (readers.any())
        begins[branch].push_back(begin(var, readers, out_.statements[branch].place));
    }
    std::vector<Stmt> statements;
    for (size_t i = 0; i < out_.statements.size(); ++i) {
      std::move(begins[i].begin(), begins[i].end(), std::back_inserter(statements));
      statements.push_back(std::move(out_.statements[i]));
    }
    out_.statements = std::move(statements);
  }

  void find_readers(const Stmt &s, VarId var, Readers &readers) const {
    find_readers(s.value, var, readers);
    for (ExprId index : s.indices)
      find_readers(index, var, readers);
    for (const Coordinate &c : s.coords)
      find_readers(c.value, var, readers);
    for (const std::vector<Stmt> *list : {&s.body, &s.otherwise, &s.step})
      for (const Stmt &inner : *list)
        find_readers(inner, var, readers);
  }

  void find_readers(ExprId id, VarId var, Readers &readers) const {
    if (id == kNone)
      return;
    const Expr &e = out_.expr(id);
    readers.others = readers.others || (e.op == Op::read && e.ref == var);
    const bool whole = e.op == Op::choose && is_mask(e.args[0]) && is_plain_read(e.args[1]) &&
                       out_.expr(e.args[1]).ref == var && out_.expr(e.args[2]).op == Op::constant;
    if (whole) {
      readers.choices.insert(id);
      return;
    }
    for (ExprId arg : e.args)
      find_readers(arg, var, readers);
    for (const Coordinate &c : e.coords)
      find_readers(c.value, var, readers);
  }

  // If all readers take the same constant, it is the local's, and nobody has to choose.
  Stmt begin(VarId var, const Readers &readers, const Place &place) {
    Stmt assign;
    assign.target = var;
    assign.axes = out_.vars[var].axes;
    assign.place = place;
    const std::optional<ExprId> constant = readers.others ? std::nullopt : one_constant(readers.choices);
    if (constant) {
      assign.value = out_.add(out_.expr(*constant));
      for (ExprId choice : readers.choices)
        out_.exprs[choice] = out_.expr(out_.expr(choice).args[1]);
    } else {
      Expr zero;
      zero.type = out_.vars[var].type;
      zero.place = place;
      assign.value = out_.add(zero);
    }
    return assign;
  }

  std::optional<ExprId> one_constant(const std::set<ExprId> &choices) const {
    const ExprId first = out_.expr(*choices.begin()).args[2];
    const Expr &value = out_.expr(first);
    const bool alike = std::all_of(choices.begin(), choices.end(), [&](ExprId choice) {
      const Expr &other = out_.expr(out_.expr(choice).args[2]);
      return other.integer == value.integer && other.number == value.number &&
             std::signbit(other.number) == std::signbit(value.number);
    });
    return alike ? std::optional(first) : std::nullopt;
  }

  Kernel out_;
  VarId mask_ = kNone;
  std::map<VarId, size_t> homes_;
  std::set<VarId> members_;
};

} // namespace

Kernel compute_under_masks(const Kernel &kernel) { return kernel.grid.empty() ? UnderMasks(kernel).run() : kernel; }

} // namespace kgen
