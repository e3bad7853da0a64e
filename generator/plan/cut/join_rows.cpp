// The statements of a row move into the innermost walk over the rows of a share; around it stands what the folds of
// columns had there.
#include "plan/cut/join_rows.h"

#include <algorithm>
#include <map>
#include <optional>

#include "plan/cut/share_lists.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/order.h"
#include "plan/place/storage.h"
#include "plan/program/anew.h"

namespace kgen {
namespace {

using Nodes = std::vector<PlanNode>;

void append(Nodes &to, const Nodes &from) { to.insert(to.end(), from.begin(), from.end()); }

// Folds of columns in shares of their rows, taken apart.
struct Columns {
  PlanNode shares, walk;           // the loops over shares, and over the rows of one, without what is in them
  Nodes before, after;             // of a share
  std::optional<PlanNode> block;   // the loop over blocks of its rows, if there are any,
  Nodes before_block, after_block; // and what stands around the rows of one
  Nodes row;                       // of each
};

PlanNode without_body(PlanNode loop) {
  loop.body.clear();
  return loop;
}

// for shares { for parts of n { ...; for rows, perhaps in blocks of these { for n { ... } } ...} }
std::optional<Columns> take_apart(const PlanNode &shares, AxisId row) {
  const PlanNode &part = shares.body.front();
  const auto walks = [&](const PlanNode &n) { return n.kind == PlanNode::Kind::loop && n.axis == row; };
  if (shares.body.size() != 1 || part.kind != PlanNode::Kind::loop || part.parts == 0 || part.kept ||
      std::count_if(part.body.begin(), part.body.end(), walks) != 1)
    return std::nullopt;
  Columns out;
  out.shares = without_body(shares);
  auto walk = std::find_if(part.body.begin(), part.body.end(), walks);
  out.before = {part.body.begin(), walk};
  out.after = {walk + 1, part.body.end()};
  if (walk->parts > 0) {
    out.block = without_body(*walk);
    const Nodes &body = walk->body;
    walk = std::find_if(body.begin(), body.end(), walks);
    if (walk == body.end())
      return std::nullopt;
    out.before_block = {body.begin(), walk};
    out.after_block = {walk + 1, body.end()};
  }
  out.walk = without_body(*walk);
  out.row = walk->body;
  const bool fits = walk->share == shares.axis && !walk->reversed && walk->limits.empty() &&
                    std::all_of(out.row.begin(), out.row.end(), [&](const PlanNode &n) {
                      return n.kind == PlanNode::Kind::loop && n.axis == part.axis;
                    });
  return fits ? std::optional(std::move(out)) : std::nullopt;
}

class Join {
public:
  Join(Plan &plan, size_t rows) : plan_(plan), kernel_(plan.kernel), rows_(rows) {}

  // The phase over rows, and all folds of columns that can go with it.
  bool run() {
    if (!is_of_rows(plan_.phases[rows_]))
      return false;
    row_ = plan_.phases[rows_].nodes.front().axis;
    for (size_t i = 0; i + 1 < plan_.phases.size(); ++i)
      if (folds_columns(plan_.phases[i]) && may_join(i))
        columns_.push_back(i);
    if (columns_.empty() || kernel_.axes[shares()].size.is_integer(1))
      return false;
    put(joined());
    return true;
  }

private:
  bool is_of_rows(const Phase &phase) const {
    const PlanNode &root = phase.nodes.front();
    return phase.kind == Phase::Kind::parallel && root.kind == PlanNode::Kind::loop &&
           !plan_.shares.contains(root.axis) && root.parts == 0 && contains_loop(root.body) &&
           !contains_contraction(phase) && kernel_.axes[root.axis].ragged == kNone && root.limits.empty() &&
           reads_rows(phase);
  }

  // Elements of arrays, not just what others have found for each row.
  bool reads_rows(const Phase &phase) const {
    const AxisId row = phase.nodes.front().axis;
    const Accesses accesses = accesses_of(kernel_, phase.nodes);
    return std::any_of(accesses.begin(), accesses.end(), [&](const Access &a) {
      const Var &var = kernel_.vars[a.var];
      return !a.write && var.kind == Var::Kind::input && var.axes.contains(row) && var.axes.count() > 1;
    });
  }

  bool folds_columns(const Phase &phase) const {
    const PlanNode &root = phase.nodes.front();
    return phase.kind == Phase::Kind::parallel && phase.when == kNone && phase.split == 2 &&
           plan_.shares.contains(root.axis) && (columns_.empty() || root.axis == shares()) && take_apart(root, row_);
  }

  AxisId shares() const { return plan_.phases[columns_.front()].nodes.front().axis; }

  // Is what the folds read there when the row is, and may they stand where the rows do? Earlier ones must not see what
  // the rows write, and bring the phase along that adds their shares up.
  bool may_join(size_t phase) const {
    Accesses moving = accesses_of(kernel_, plan_.phases[phase].nodes);
    const Accesses rows = accesses_of(kernel_, plan_.phases[rows_].nodes);
    Accesses written;
    std::copy_if(moving.begin(), moving.end(), std::back_inserter(written), [](const Access &a) { return a.write; });
    if (!may_exchange(phase < rows_ ? moving : written, rows) || !may_share_loop(moving, rows, row_))
      return false;
    size_t first = rows_ + 1, last = phase; // what is between them
    if (phase < rows_) {
      const Phase &sums = plan_.phases[phase + 1];
      const Accesses results = accesses_of(kernel_, sums.nodes);
      if (phase + 1 == rows_ || sums.when != kNone || !may_exchange(results, rows))
        return false;
      moving.insert(moving.end(), results.begin(), results.end());
      first = phase + 2;
      last = rows_;
    }
    for (size_t i = first; i < last; ++i)
      if (!is_instead_of_rows(plan_.phases[i]) && !may_exchange(moving, accesses_of(kernel_, plan_.phases[i].nodes)))
        return false;
    return true;
  }

  // For calls for which the rows are not gone through?
  bool is_instead_of_rows(const Phase &phase) const {
    const Phase &rows = plan_.phases[rows_];
    return phase.when != kNone && phase.when == rows.when && phase.unless != rows.unless;
  }

  // The statements with variables of their own.
  Nodes anew(const Phase &phase) {
    Nodes again = phase.nodes;
    declare_anew(plan_, phase.nodes, again);
    return again;
  }

  Phase joined() {
    Phase out = plan_.phases[rows_];
    Nodes row = anew(out).front().body, before, after, before_block, after_block;
    std::optional<Columns> last;
    std::optional<PlanNode> block;
    for (size_t i : columns_) {
      last = take_apart(anew(plan_.phases[i]).front(), row_);
      append(before, last->before);
      append(before_block, last->before_block);
      append(row, last->row);
      append(after_block, last->after_block);
      append(after, last->after);
      if (last->block)
        block = last->block;
    }
    forward(row);
    for (const Nodes *list : {&before, &before_block, &row, &after_block, &after})
      count_uses(*list, uses_);
    for (Nodes *list : {&before, &before_block, &row, &after_block, &after})
      merge_neighbours(*list);
    PlanNode walk = last->walk, shares = last->shares;
    walk.order = PlanNode::Order::reduction;
    walk.body = std::move(row);
    if (block) {
      block->body = std::move(before_block);
      block->body.push_back(std::move(walk));
      append(block->body, after_block);
      walk = std::move(*block);
    }
    shares.body = std::move(before);
    shares.body.push_back(std::move(walk));
    append(shares.body, after);
    out.lane = plan_.phases[columns_.front()].lane;
    out.nodes = {std::move(shares)};
    out.split = 1;
    return out;
  }

  // What a row puts into memory it has in a variable; in memory it is for those only that stand elsewhere.
  void forward(Nodes &row) {
    Nodes out;
    for (size_t i = 0; i < row.size(); ++i) {
      if (!is_kept_for_later(row[i]) || is_set_inside(row, row[i].target)) {
        out.push_back(std::move(row[i]));
        continue;
      }
      const VarId memory = row[i].target, here = in_variable(row[i], out);
      for (size_t later = i + 1; later < row.size() && (later == i + 1 || row[later - 1].target != memory); ++later)
        replace_reads(kernel_, row[later], memory, make_read(kernel_, here), true);
      if (!is_read_elsewhere(memory) || is_set_again(row, i))
        continue;
      out.push_back(make_assign(kernel_, memory, make_read(kernel_, here), row[i].place));
      out.back().origin = row[i].origin;
    }
    row = std::move(out);
  }

  // Does a statement set it that stands in another?
  static bool is_set_inside(const Nodes &row, VarId var) {
    return std::any_of(row.begin(), row.end(),
                       [&](const PlanNode &n) { return n.target != var && targets_of({n}).count(var) != 0; });
  }

  bool is_set_again(const Nodes &row, size_t at) const {
    return std::any_of(row.begin() + static_cast<std::ptrdiff_t>(at) + 1, row.end(),
                       [&](const PlanNode &n) { return n.target == row[at].target && is_kept_for_later(n); });
  }

  // A number of the row that other phases may read.
  bool is_kept_for_later(const PlanNode &n) const {
    return n.kind == PlanNode::Kind::assign && n.coords.empty() && n.indices.empty() &&
           kernel_.vars[n.target].kind == Var::Kind::local && static_cast<size_t>(n.target) < plan_.storage.size() &&
           plan_.storage[n.target].kind == Storage::Kind::program && kernel_.vars[n.target].axes == AxisSet::of(row_);
  }

  // The local that the statement copies, or one with its value; of several assignments each sets the same.
  VarId in_variable(const PlanNode &set, Nodes &out) {
    const Expr &value = kernel_.expr(set.value);
    if (set.origin == kNone && value.op == Op::read && value.coords.empty() &&
        value.type == kernel_.vars[set.target].type && kernel_.vars[value.ref].kind == Var::Kind::local)
      return value.ref;
    const auto [found, fresh] = here_.try_emplace(set.target, kNone);
    if (fresh) {
      Var var = kernel_.vars[set.target];
      var.name += "_here";
      found->second = add_var(kernel_, std::move(var));
    }
    out.push_back(make_assign(kernel_, found->second, set.value, set.place));
    out.back().origin = set.origin;
    return found->second;
  }

  bool is_read_elsewhere(VarId var) const {
    for (size_t i = 0; i < plan_.phases.size(); ++i) {
      if (i == rows_ || std::find(columns_.begin(), columns_.end(), i) != columns_.end())
        continue;
      const Accesses accesses = accesses_of(kernel_, plan_.phases[i].nodes);
      if (std::any_of(accesses.begin(), accesses.end(), [&](const Access &a) { return a.var == var && !a.write; }))
        return true;
    }
    return false;
  }

  // Loops side by side over the same columns are one; what both compute in the same way is computed once.
  void merge_neighbours(Nodes &list) {
    Nodes out;
    for (PlanNode &node : list) {
      const bool joins = !out.empty() && are_alike(out.back(), node) &&
                         may_share_loop(accesses_of(kernel_, out.back()), accesses_of(kernel_, node), node.axis);
      if (!joins) {
        out.push_back(std::move(node));
        continue;
      }
      for (PlanNode &n : node.body)
        out.back().body.push_back(std::move(n));
      compute_once(out.back().body);
    }
    list = std::move(out);
  }

  static bool are_alike(const PlanNode &a, const PlanNode &b) {
    const auto plain = [](const PlanNode &n) {
      return n.kind == PlanNode::Kind::loop && n.order == PlanNode::Order::parallel && n.parts == 0 &&
             n.share == kNone && n.end == kNone && n.table == kNone && !contains_loop(n.body);
    };
    return plain(a) && plain(b) && a.axis == b.axis && a.limits == b.limits;
  }

  void count_uses(const Nodes &list, std::map<VarId, int> &uses) const {
    for (const PlanNode &node : list)
      for (const Access &a : accesses_of(kernel_, node))
        ++uses[a.var];
  }

  // Of locals of the loop that are set to the same value the first one serves.
  void compute_once(Nodes &list) {
    std::map<VarId, int> settings, uses;
    count_uses(list, uses);
    for (const PlanNode &root : list)
      for_each_node(root, [&](const PlanNode &n) { ++settings[n.target]; });
    const auto is_value = [&](const PlanNode &n) {
      bool value = n.kind == PlanNode::Kind::assign && n.coords.empty() && n.indices.empty() &&
                   kernel_.vars[n.target].kind == Var::Kind::local && settings[n.target] == 1 &&
                   uses[n.target] == uses_[n.target];
      if (value)
        walk(kernel_, n.value, [&](ExprId at) {
          const Expr &e = kernel_.expr(at);
          const bool read = e.op == Op::read || e.op == Op::element;
          return value = value && (!read || settings.count(memory_of(kernel_, e.ref)) == 0);
        });
      return value;
    };
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t k = i + 1; k < list.size(); ++k) {
        if (!is_value(list[i]) || !is_value(list[k]) || !same(kernel_, list[i].value, list[k].value))
          continue;
        for (size_t later = k + 1; later < list.size(); ++later)
          replace_reads(kernel_, list[later], list[k].target, make_read(kernel_, list[i].target), true);
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(k--));
      }
  }

  ExprId both(ExprId a, ExprId b) {
    return a == kNone ? b : b == kNone ? a : make_op(kernel_, Op::both, Type::boolean, {a, b});
  }

  // The joined phase stands where the rows did, and is for calls that go through them and have several shares; the
  // others are for other calls.
  void put(Phase joined) {
    const auto is_taken = [&](size_t i) { return std::find(columns_.begin(), columns_.end(), i) != columns_.end(); };
    Phase rows = plan_.phases[rows_];
    const ExprId gone_through = rows.unless ? make_not(kernel_, rows.when) : rows.when;
    const ExprId several = kernel_.axes[shares()].size.is_integer() ? kNone : has_several(kernel_, shares());
    joined.when = both(gone_through, several);
    joined.unless = false;
    std::vector<Phase> out;
    const auto put_other = [&](Phase phase) {
      phase.when = joined.when;
      phase.unless = true;
      if (joined.when != kNone)
        out.push_back(std::move(phase));
    };
    for (size_t i = 0; i < plan_.phases.size(); ++i)
      if (i == rows_) {
        out.push_back(joined);
        if (several != kNone) {
          rows.unless = gone_through == kNone;
          rows.when = rows.unless ? several : both(gone_through, make_not(kernel_, several));
          out.push_back(std::move(rows));
        }
        for (size_t earlier : columns_)
          if (earlier < rows_)
            put_other(plan_.phases[earlier]);
        for (size_t earlier : columns_)
          if (earlier < rows_)
            out.push_back(plan_.phases[earlier + 1]);
      } else if (is_taken(i)) {
        if (i > rows_)
          put_other(plan_.phases[i]);
      } else if (!(i > 0 && i < rows_ && is_taken(i - 1))) {
        out.push_back(plan_.phases[i]);
      }
    plan_.phases = std::move(out);
  }

  Plan &plan_;
  Kernel &kernel_;
  const size_t rows_;
  AxisId row_ = kNone;
  std::vector<size_t> columns_; // phases that fold them
  std::map<VarId, int> uses_;   // in what is joined
  std::map<VarId, VarId> here_; // what a row has at hand of what it puts into memory
};

} // namespace

void join_rows(Plan &plan) {
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (!Join(plan, i).run())
      continue;
    place_variables(plan);
    i = 0;
  }
}

} // namespace kgen
