// Only what the loop's first statement with it surely reads is loaded there: an arm of a choice may be kept from
// reading what does not exist. What is the same for all lanes is there, whoever reads it. What is only moved is
// read where it goes: halves that become numbers would lose bits.
#include "plan/tidy/repeats.h"

#include <algorithm>
#include <map>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/place/storage.h"
#include "plan/program/known.h"
#include "support/naming.h"

namespace kgen {
namespace {

class Repeats {
public:
  explicit Repeats(Plan &plan) : plan_(plan), kernel_(plan.kernel) {}

  void loop(PlanNode &loop) const {
    if (loop.parts > 0)
      return;
    for (const auto &[var, read] : repeated(loop))
      for (size_t i = 0; i < loop.body.size(); ++i) {
        if (!mentions(loop.body[i], var))
          continue;
        if (surely_reads(loop.body[i], var))
          loop.body.insert(loop.body.begin() + static_cast<std::ptrdiff_t>(i), load(loop, var, read));
        break;
      }
  }

  // What loops of the list read that does not differ between their rounds is read before them. `open`: the axes that
  // have one position there.
  void before_loops(std::vector<PlanNode> &list, const std::set<const PlanNode *> &taken, AxisSet open) const {
    std::vector<PlanNode> out;
    std::map<VarId, VarId> loaded; // by a loop before
    for (PlanNode &node : list) {
      if (node.contraction) {
        out.push_back(std::move(node));
        continue;
      }
      if (taken.count(&node) != 0 && node.parts == 0)
        for (const auto &[var, read] : shared(node, open)) {
          const auto known = loaded.find(var);
          if (known != loaded.end())
            read_from(known->second, node, var, read);
          else
            loaded[var] = out.emplace_back(load(node, var, read)).target;
        }
      for (std::vector<PlanNode> *inner : {&node.body, &node.otherwise, &node.step})
        before_loops(*inner, taken, open | position_of(node));
      out.push_back(std::move(node));
    }
    list = std::move(out);
  }

  // The axis that has one position in the loop's body; in a part of it there are many.
  static AxisSet position_of(const PlanNode &node) {
    return node.kind == PlanNode::Kind::loop && node.parts == 0 ? AxisSet::of(node.axis) : AxisSet();
  }

private:
  // The current element into another array.
  bool only_moves(const PlanNode &node) const {
    if (node.kind != PlanNode::Kind::assign || node.scatter_add)
      return false;
    const Expr &value = kernel_.expr(node.value);
    return value.op == Op::read && value.coords.empty() &&
           kernel_.vars[value.ref].type == kernel_.vars[node.target].type;
  }

  std::vector<ExprId> computed_in(const PlanNode &node) const {
    std::vector<ExprId> out = expressions_of(node);
    if (only_moves(node))
      std::erase(out, node.value);
    return out;
  }

  // Inputs of which the loop reads one element only, with such a read.
  std::map<VarId, ExprId> shared(const PlanNode &loop, AxisSet open) const {
    std::map<VarId, ExprId> out;
    std::set<VarId> others;
    for_each_node(loop, [&](const PlanNode &node) {
      for (ExprId root : computed_in(node))
        walk(kernel_, root, [&](ExprId at) {
          const Expr &e = kernel_.expr(at);
          const bool one = e.op == Op::read && is_there(e) && (open - AxisSet::of(loop.axis)).contains(e.axes);
          if (one)
            out[e.ref] = at;
          else if (e.op == Op::read || e.op == Op::element)
            others.insert(e.ref);
          return true;
        });
    });
    std::erase_if(out, [&](const auto &read) { return others.count(read.first) != 0; });
    return out;
  }

  // Inputs of which the loop reads the current element several times, and no other; with one such read. Those that say
  // where something else stands are asked for lane by lane.
  std::map<VarId, ExprId> repeated(const PlanNode &loop) const {
    std::map<VarId, std::vector<ExprId>> all;
    std::set<VarId> places;
    for_each_node(loop, [&](const PlanNode &node) {
      for (ExprId root : computed_in(node))
        walk(kernel_, root, [&](ExprId at) {
          const Expr &e = kernel_.expr(at);
          if (known_answer(kernel_, at)) // which is printed, without what it compares
            return false;
          if (e.op == Op::read)
            all[e.ref].push_back(at);
          if (e.op == Op::read || e.op == Op::element || e.op == Op::table)
            note_reads_below(e, places);
          return true;
        });
    });
    std::map<VarId, ExprId> out;
    for (const auto &[var, reads] : all)
      if (reads.size() > 1 && places.count(var) == 0 &&
          std::all_of(reads.begin(), reads.end(), [&](ExprId at) { return may_load(kernel_.expr(at), loop); }))
        out[var] = reads[0];
    return out;
  }

  void note_reads_below(const Expr &e, std::set<VarId> &vars) const {
    const auto note = [&](ExprId id) {
      walk(kernel_, id, [&](ExprId at) {
        if (kernel_.expr(at).op == Op::read)
          vars.insert(kernel_.expr(at).ref);
        return true;
      });
    };
    for (ExprId arg : e.args)
      note(arg);
    for (const Coordinate &c : e.coords)
      note(c.value);
  }

  bool may_load(const Expr &read, const PlanNode &loop) const {
    return is_there(read) && read.axes.contains(loop.axis);
  }

  // The current element of an array that nothing changes.
  bool is_there(const Expr &read) const {
    const Var &var = kernel_.vars[read.ref];
    return var.kind == Var::Kind::input && var.alias == kNone && !var.optional && read.coords.empty() &&
           plan_.storage[read.ref].kind == Storage::Kind::argument &&
           std::none_of(var.dims.begin(), var.dims.end(), [](const Dim &dim) { return dim.offset; });
  }

  bool mentions(const PlanNode &node, VarId var) const {
    bool found = false;
    for_each_node(node, [&](const PlanNode &n) {
      for (ExprId id : expressions_of(n))
        found = found || reads(kernel_, id, var);
    });
    return found;
  }

  bool surely_reads(const PlanNode &node, VarId var) const {
    if (node.kind == PlanNode::Kind::loop || is_composite(node)) // it may have no rounds
      return false;
    if (node.condition != kNone)
      return reads_always(node.condition, var);
    return reads_always(node.value, var) || reads_always(node.second, var);
  }

  bool reads_always(ExprId id, VarId var) const {
    if (id == kNone)
      return false;
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::read)
      return e.ref == var;
    const bool chooses = e.op == Op::choose || e.op == Op::both || e.op == Op::either;
    return std::any_of(e.args.begin(), e.args.begin() + (chooses ? 1 : static_cast<std::ptrdiff_t>(e.args.size())),
                       [&](ExprId arg) { return reads_always(arg, var); });
  }

  // Statement that loads the element; the loop then reads what is loaded.
  PlanNode load(PlanNode &loop, VarId from, ExprId read) const {
    Var var;
    var.kind = Var::Kind::local;
    var.name = name_of_parts(kernel_.vars[from].name, "here");
    var.type = kernel_.expr(read).type;
    var.axes = kernel_.expr(read).axes;
    var.place = loop.place;
    const VarId own = add_var(kernel_, std::move(var));
    read_from(own, loop, from, read);
    return make_assign(kernel_, own, read, loop.place);
  }

  void read_from(VarId own, PlanNode &loop, VarId from, ExprId read) const {
    const ExprId here = make_read(kernel_, own);
    kernel_.exprs[here].bounds = kernel_.expr(read).bounds;
    for_each_node(loop, [&](PlanNode &node) {
      const ExprId value = node.value;
      const bool stays = only_moves(node);
      replace_reads(kernel_, node, from, here, false);
      if (stays)
        node.value = value;
    });
  }

  Plan &plan_;
  Kernel &kernel_;
};

} // namespace

void load_once(Plan &plan) {
  const std::set<const PlanNode *> taken = LaneAnalysis(plan).choose();
  const Repeats repeats(plan);
  for (Phase &phase : plan.phases)
    for (PlanNode &root : phase.nodes)
      for_each_node_of_loops(root, [&](PlanNode &node) {
        if (taken.count(&node) != 0)
          repeats.loop(node);
      });
  for (Phase &phase : plan.phases) {
    AxisSet open; // in the loops that workers share, which stay one in the other
    std::vector<PlanNode> *list = &phase.nodes;
    for (int i = 0; i < (phase.kind == Phase::Kind::chunked ? 1 : phase.split); ++i) {
      open |= Repeats::position_of(list->front());
      list = &list->front().body;
    }
    repeats.before_loops(*list, taken, open);
  }
  place_variables(plan);
}

} // namespace kgen
