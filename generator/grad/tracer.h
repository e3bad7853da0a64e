// What goes through the statements of the forward kernel.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "grad/reads.h"
#include "grad/trace.h"
#include "grad/transpose.h"

namespace kgen::grad {

constexpr int kMostRounds = 64;           // of a loop that is written out
constexpr int64_t kFewRounds = 4;         // it is, where it has no more
constexpr int64_t kFewLeftRounds = 2;     // or no more, and is left by `break`
constexpr int64_t kMostKeptRounds = 4096; // of a loop that stays one, which may keep a value of each round
constexpr size_t kMostNodes = 20000;

// Does it leave the loop around it by `break`, or, if that is asked, its round by `continue`?
bool leaves(const Stmt &stmt, bool or_round);

class Tracer {

public:
  Tracer(const Kernel &kernel, const WholeDims &dims, Graph &graph, const std::set<std::string> &exact,
         Trouble &trouble)
      : kernel_(kernel), graph_(graph), exact_(exact), trouble_(trouble), steps_(kernel, dims, graph, trouble) {}
  Trace run();

private:
  using Held = std::map<VarId, NodeId>;
  // Lanes that are done with a round of a loop, or with all of it. Never: kNoNode.
  struct Leaving {
    NodeId rounds = kNoNode, loop = kNoNode;
  };

  // What the output holds in the end.
  void finish(VarId v);
  void save(VarId v, NodeId value);
  // What a step leaves in a variable: one that does not exist, what it found.
  NodeId left_by(VarId v);
  // Each step stores its window, the last one of those that have the same.
  void finish_steps(VarId v, NodeId value);
  // `known` gets what is found, so that each node is looked at once.
  NodeId at_last(NodeId id, const std::map<AxisId, NodeId> &lasts, std::map<NodeId, NodeId> &known);
  // May steps that do not follow the grid's order along still dimensions share a window? Tables pick it then.
  bool revisits(VarId v) const;
  bool is_carried(VarId v) const;
  // Variables of which it is now known what each step finds in them; then all is traced again with that.
  bool find_carried();
  // Does it depend on what variables carry of which that is not known yet?
  bool holds_others(NodeId id, NodeId own);
  NodeId carried(VarId v);
  void stores_in(const Stmt &stmt);
  NodeId undefined(Type type);
  NodeId unknown(VarId var, const Unknown &why);
  void forget(const std::vector<Stmt> &list, const Unknown &why);
  NodeId held(VarId var);
  NodeId unassigned(VarId var); // what it holds before anything is assigned to it
  // Does each element of the output lie in the window of a step, as far as the form of its windows tells?
  bool has_windows_everywhere(const Var &output) const;
  void statements(const std::vector<Stmt> &list, size_t from = 0);
  void statement(const Stmt &stmt);
  void assign(const Stmt &stmt);
  void assign_plain(const Stmt &stmt, const Var &var);
  void note_name(NodeId value, const Var &var, const Place &place);
  // The elements of a local array that indices may mean, each with the condition that they do.
  std::vector<std::pair<std::vector<int64_t>, NodeId>> elements_of(VarId var, const std::vector<ExprId> &indices);
  void assign_element(const Stmt &stmt);
  NodeId element(const Expr &e);
  void store(const Stmt &stmt);
  // What was written there before is gone.
  void write_over(const Store &store);
  bool replace_stores(const Store &store);
  bool are_apart(const Store &a, const Store &b);
  void write_over_stores(const Stmt &stmt);
  void meet_stores(VarId output, const Place &place);
  bool hold_written_over();
  bool asks_other_lanes(const Node &there) const;
  // What is read again: an element holds what the lane stores whose place it is.
  void hold_store(const Stmt &stmt, const Store &store);
  NodeId scattered(const Store &store, NodeId before, const Unknown &why);
  // All that either arm of a branch added to an output elsewhere; kNoNode: they hold something else.
  NodeId scattered_in_either(NodeId then, NodeId otherwise);
  NodeId plus(NodeId a, NodeId b);
  NodeId lanes_of(const Stmt &stmt, AxisSet axes); // kNoNode: all of the window
  // Within its window.
  void window_store(const Stmt &stmt, Store &store);
  // Where a place along an axis lies in the block of a step, and whether it does.
  NodeId in_block_at(VarId v, AxisId axis, NodeId place);
  NodeId in_block(VarId v, AxisId axis, NodeId place);
  void branch(const Stmt &stmt);
  void branch_by(NodeId condition, const Stmt &stmt);
  void in_either(NodeId condition, const Place &place, const std::function<void()> &then,
                 const std::function<void()> &otherwise);
  Leaving take_leaving();
  void join_leaving(const Leaving &outer, NodeId condition);
  // What is done where the condition holds, and elsewhere; afterwards each variable is a choice.
  template <class Then> void under(NodeId condition, const Place &place, Then then) {
    under(condition, place, then, [] {});
  }
  template <class Then, class Else> void under(NodeId condition, const Place &place, Then body, Else otherwise) {
    const Held before = held_;
    const auto arrays_before = arrays_;
    const NodeId around = condition_;
    condition_ = graph_.both(around, condition);
    body();
    Held then = std::exchange(held_, before);
    auto arrays_then = std::exchange(arrays_, arrays_before);
    condition_ = graph_.both(around, graph_.no(condition));
    otherwise();
    condition_ = around;
    place_ = place;
    for (const auto &[var, value] : then) {
      const NodeId other = held(var);
      if (value == other)
        continue;
      if (const NodeId both = scattered_in_either(value, other); both != kNoNode) {
        held_[var] = both;
        continue;
      }
      held_[var] = graph_.choose(condition, value, other);
      note_name(held_[var], kernel_.vars[var], place);
    }
    for (const auto &[var, other] : Held(held_))
      if (then.count(var) == 0)
        held_[var] = graph_.choose(condition, unassigned(var), other);
    for (auto &[var, elements] : arrays_then)
      for (const auto &[at, value] : elements) {
        NodeId &other = arrays_[var].try_emplace(at, zero(var)).first->second;
        other = graph_.choose(condition, value, other);
      }
    for (auto &[var, elements] : arrays_)
      for (auto &[at, value] : elements)
        if (arrays_then[var].count(at) == 0)
          value = graph_.choose(condition, zero(var), value);
  }
  NodeId zero(VarId var);
  // A loop stays one where its rounds are counted; a short one, and one that cannot stay, is written out.
  void loop(const Stmt &stmt);
  bool keep_loop(const Stmt &stmt, bool by_value = false); // whose rounds a number counts, or a value
  // A counter that goes from `first` by `step`, so many times; where no number says how many, `count` does.
  struct Counter {
    VarId var = kNone;
    NodeId first = kNoNode;
    int64_t step = 0, rounds = 0;
    NodeId count = kNoNode, last = kNoNode; // last: what it holds behind the loop
    Type type = Type::i32;                  // of the rounds
  };
  std::optional<Counter> counter_of(const Stmt &stmt, const std::set<VarId> &assigned, bool by_value);
  std::optional<Counter> counted(const Stmt &stmt);
  std::optional<Counter> counted_by_value(const Stmt &stmt, const std::set<VarId> &assigned);
  NodeId rounds_of(const Counter &counter, NodeId asked);
  bool is_constant(NodeId id) const;
  bool may_keep(NodeId rounds) const;
  NodeId in_round(const Counter &counter, NodeId round);
  NodeId cast_to(NodeId id, Type type);
  Unknown unknown_rounds(const Stmt &stmt) const;
  std::string parameter_in(ExprId id) const;
  struct KeptLoop {
    Loop loop;
    std::vector<VarId> vars; // of its variables, but for the one that says whether a lane goes on
  };
  std::optional<KeptLoop> loop_of(const Stmt &stmt, const Counter &counter, const std::set<VarId> &assigned);
  bool hold_left(Loop &loop, NodeId left, AxisSet &axes);
  // The round and all later ones. Each stands under the condition of the one before, so that counters stay numbers.
  void rounds(const Stmt &stmt, int round);
  void one_round(const Stmt &stmt, int round);
  NodeId value(ExprId id);
  std::vector<NodeId> values(const std::vector<ExprId> &list);
  NodeId named_call(const Expr &e);
  NodeId extent(const Expr &e);
  // Between floating types nothing is rounded: gradients are computed in `real`.
  NodeId cast(NodeId id, const Expr &e);
  std::vector<NodeId> in_one_width(const std::vector<ExprId> &list, bool never_wraps, Type &type);
  // An input where a step sees it.
  NodeId operand(VarId v);
  NodeId read(const Expr &e);
  // Beyond what it has, a variable is 0.
  NodeId read_held(const Expr &e);
  NodeId gathered(NodeId there, const std::vector<std::pair<AxisId, NodeId>> &places);
  NodeId inside(const Expr &e);
  NodeId accumulated(NodeId element) const;
  NodeId fold(const Expr &e);
  // Positions that do not exist leave a scan as it is.
  NodeId scan(const Expr &e);
  const Kernel &kernel_;
  Graph &graph_;
  const std::set<std::string> &exact_;
  Trouble &trouble_;
  Steps steps_;
  // Of variables that steps hand on: a name for what a step finds, the value of it, and what the last one leaves.
  std::map<VarId, NodeId> carried_, found_, last_;
  Trace out_;
  Held held_;
  std::map<VarId, std::map<std::vector<int64_t>, NodeId>> arrays_;
  std::set<VarId> stored_, written_over_;
  Reads read_; // by the body
  NodeId condition_ = kNoNode;
  std::vector<ExprId> conditions_around_; // that differ from lane to lane
  Place place_;
  int left_ = 0;          // all lanes, by `continue` (1) or `break` (2)
  Leaving leaving_;       // some lanes
  bool too_long_ = false; // a loop whose rounds are not known, or too many
  bool stays_ = true;     // may the last one stay a loop, as far as its body goes?
  size_t wasted_ = 0;     // nodes of such loops
  int unknowns_ = 0;
  NodeId perhaps_left_ = kNoNode; // those of the last statement
};

} // namespace kgen::grad
