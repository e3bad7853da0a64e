// Prints loops as lanes: a group of neighbouring iterations is one pass over the body, whose values are vectors. What
// is the same for all lanes stays scalar, and what has no vector form is computed lane by lane.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/print/printer.h"
#include "plan/index/lanes.h"

namespace kgen {

// Stands for the number of lanes until the widest type of the loop is known.
inline constexpr const char *kLaneCount = "kLanesOfThisLoop";

class LanePrinter {
public:
  LanePrinter(Printer &printer, Names &names);

  bool takes(const PlanNode &loop) const { return loop.on_lanes.has_value(); }
  // Does it go through an array in strides whose elements are neighbours along the other axis?
  bool crosses(const PlanNode &loop, AxisId other) const { return analysis_.crosses(loop, other); }
  bool neighbours(VarId var, AxisId lane) const {
    return analysis_.step_of(var, {}, lane).kind == LaneStep::Kind::neighbour;
  }
  // The loop over part of its range.
  void loop(const PlanNode &loop, const Printer::Range &range);
  // The call that computes a contraction, by the team and in the memory that these C++ texts name. Returns how it is
  // cut, for the room that its panels take.
  std::string contraction(const PlanNode &nest, const std::string &team, const std::string &memory);
  // Does it read arrays whose neighbours lie along the other axis, so that their tiles can be turned?
  bool has_tiles(const PlanNode &loop, AxisId other);
  // How far apart its rows along the other axis begin; empty: they do not lie so.
  std::string pitch_of(VarId var, AxisId other);
  // The parts in which a loop's range is gone through: their length in C++, what that is at most, and where the first
  // one begins, before the range; empty: with it.
  struct Part {
    std::string text;
    int64_t most = 0;
    std::string first;
  };
  // The loop over a part of its range within a part of the one over the other axis.
  void tiles(const PlanNode &loop, const Printer::Range &lanes, const Part &part, AxisId other,
             const Printer::Range &others);
  // Before the statements of a row: a later loop over it fetches what the first one of the next row will read.
  void fetch_ahead(const PlanNode &rows);
  // Before a loop down columns, over that range.
  void fetch_rows(const PlanNode &rows, const Printer::Range &down);
  // Before the statements of a block of a row: the second loop over it fetches what the first one of the next block
  // will read.
  void fetch_block(const PlanNode &block, const Printer::Range &whole);
  // Before the statements of a part of columns, within the loop over another axis, if there is one.
  void fetch_parts(const PlanNode &part, const Printer::Range &whole, AxisId outer);
  // Before a loop that may read many arrays, where the condition says that they come from memory.
  void fetch_streams(const PlanNode &loop, const std::string &far);
  // Stores of these outputs go around the caches where `flag` says so; empty: none.
  void stream(std::set<VarId> outputs, const std::string &flag) {
    streamed_ = std::move(outputs);
    around_ = flag;
  }
  // Prints the node if it is a loop to take or a vector statement; false: the scalar printer's way is right.
  bool node(const PlanNode &node, const std::vector<PlanNode> &siblings);
  // It was declared: lanes that take no part have no value in it that somebody wants.
  void came_to_life(VarId var) { unmasked_[var] = mask_; }
  // The C++ type of a variable that has a value for each lane; empty: it has not.
  std::string type_of(VarId var);

private:
  struct Accumulator {
    const PlanNode *step;
    std::string lanes; // name
  };

  // How an access may leave its array: by a coordinate that moves with the lanes, and by what all lanes share.
  struct Border {
    std::vector<std::pair<std::string, std::string>> fixed;
    std::string at, extent, index;
    int64_t step = 0;
  };

  // Where an expression stands: it is all of what a new local is, or all of another statement's value, or a part of it
  // that is always evaluated, or it may be that it is not evaluated where the statement begins.
  enum class Standing { named, alone, within, elsewhere };

  Code expression(ExprId id);
  Code read(const Expr &e, ExprId id);
  Code element(const Expr &e, ExprId id);
  Code operation(const Expr &e, ExprId id);
  Code vector_operation(Op op, Type type, const std::vector<Code> &args, bool loose = false);
  Code positions_as(ExprId first, Type type, int64_t step);
  Code small_number(ExprId id, Type type);
  std::optional<Code> number_as(ExprId id, Type to);
  std::optional<Code> compared(const Expr &e);
  Code cast(const Code &value, Type from, Type to);
  Code choose(const Expr &e, ExprId id);
  Code logical(const Expr &e, ExprId id);
  // Lane by lane, by the scalar text; within a larger expression under a name of its own.
  Code gather(ExprId id);
  std::string name_of_gathered(const std::string &text, const Expr &e);
  // What print() gives, with `place_` set to that meanwhile.
  template <class Print> auto placed(Standing place, const Print &print) {
    const Standing outer = std::exchange(place_, place);
    auto text = print();
    place_ = outer;
    return text;
  }
  // The parts of an expression all of which are evaluated.
  template <class Print> auto within(const Print &print) {
    return placed(place_ == Standing::elsewhere ? place_ : Standing::within, print);
  }
  std::string first_index(VarId var, const std::vector<Coordinate> &coords,
                          std::vector<std::pair<std::string, std::string>> *checks);
  std::optional<Border> border(const Expr &access);
  Code inside(const Expr &e, ExprId id);
  std::string rows_of(const Expr &e);
  Code row_of(const Expr &e, ExprId id);
  std::string load_by_row(const Expr &e);
  std::string load_inside(const Expr &read, const LaneStep &step);
  Code load_nearest(const Expr &read, const LaneAnalysis::Nearest &nearest);
  std::string widened_half(const std::string &text, Type type);
  std::string unconverted(ExprId value, Type to);
  bool as_bits_ = false; // what is read is of a half type, and wanted as it lies
  std::string load_field(VarId var, const std::string &element, const LaneStep &step);
  std::string guard_of(const Expr &read);
  // A value that is a vector, whatever it was made of.
  std::string widened(ExprId id, Type type, int least = binding::kMultiply);
  std::string factors(const Expr &product);
  std::string multiply_add(const Expr &product, const std::string &sum);
  std::string loaded(VarId var, const std::vector<Coordinate> &coords);
  std::string stored(const Code &value, Type from, Type to);

  std::string left_factor(const PlanNode &setting);
  std::string kept_steps(const PlanNode &step);
  std::string end_of_row(const PlanNode &loop);
  std::string right_factor(const PlanNode &setting);
  std::string finish(const PlanNode &columns, size_t fold, VarId total);

  void set(const PlanNode &node, const std::vector<PlanNode> &siblings);
  bool is_whole(VarId var) const;
  std::string replaced(VarId var, const std::string &place, const std::string &value);
  void set_text(VarId var, const std::string &value, bool is_lanes, const std::vector<PlanNode> &siblings);
  void store_elsewhere(const PlanNode &node);
  void store_at(VarId var, const std::vector<Coordinate> &coords, const std::string &value, bool may_stream);
  int64_t fields_of(const PlanNode &loop);
  std::string record_of(const PlanNode &node, const PlanNode &loop, int64_t fields);
  bool records(const PlanNode &loop);
  std::optional<int64_t> field_of(const PlanNode &node);
  bool have_one_place(const PlanNode &a, const PlanNode &b) const;
  std::vector<const PlanNode *> fields_from(const PlanNode &first, const std::vector<PlanNode> &siblings);
  bool record(const PlanNode &first, const std::vector<PlanNode> &siblings);
  std::string chosen_lanes(const PlanNode &fold, const std::vector<PlanNode> &siblings);
  bool is_worth_skipping(ExprId value) const;
  void fold_step(const PlanNode &node, const std::vector<PlanNode> &siblings);
  void add_product(const PlanNode &fold);
  void fold_across(const PlanNode &node, const std::vector<PlanNode> &siblings);
  void scan_along(const PlanNode &node, const std::vector<PlanNode> &siblings);
  void select(const PlanNode &node, const std::string &taking_part);
  void branch(const PlanNode &node);
  std::vector<VarId> own_numbers(const PlanNode &loop, const std::vector<PlanNode> &siblings);
  void repeat(const PlanNode &node, const std::vector<PlanNode> &siblings);
  void jump(const PlanNode &node);
  std::vector<std::string> jump_masks(const PlanNode &jump) const;
  void masked(const std::string &mask, const std::vector<PlanNode> &nodes);
  std::vector<std::string> changed_from_outside(const PlanNode &loop);
  std::string lines_of(const PlanNode &loop, const std::string &begin);
  std::string total_type(const PlanNode &fold);
  void combine(const Accumulator &accumulator);
  std::string combined(Monoid monoid, Type type, const std::string &total, const std::string &value);
  std::string combination(Monoid monoid, Type type);
  std::string combiner(const std::string &text, const std::string &one, const std::string &other,
                       const std::string &type);
  std::vector<Accumulator> accumulators(const PlanNode &loop);
  void fetch_soon(const PlanNode &loop, const PlanNode &reader, AxisId row,
                  const std::function<std::string(const Expr &, const std::string &)> &call);
  std::string next_part(const Expr &read, const std::string &element, const Printer::Range &part,
                        const Printer::Range &whole, AxisId outer);
  std::vector<const PlanNode *> loops_of_block(const PlanNode &block) const;
  std::vector<const Expr *> row_reads(const PlanNode &loop, AxisId row);
  int64_t fields_of_record(const Expr &read, AxisId lane, AxisId other) const;
  void for_each_turned(const PlanNode &loop, AxisId other, const std::function<void(const Expr &)> &visit);
  std::string small_lanes(ExprId id, Type type);

  std::string lanes_type(Type type) const; // Lanes<float, kLanes32>
  bool varies(ExprId id) const { return analysis_.varies(id, lane_); }
  const std::string &helper(const std::string &name) { return printer_.spelling.helper(name); }
  void note(Type type);
  std::string current() const { return mask_.empty() ? active_ : mask_; }

  Printer &printer_;
  Names &names_;
  std::map<AxisId, std::string> one_of_; // what each position of a group is called where it is asked for by itself
  const Kernel &kernel_;
  LaneAnalysis analysis_;
  std::set<VarId> streamed_;
  std::string around_; // the C++ flag

  std::pair<std::string, std::string> factors_;   // what those of contractions are called
  std::map<std::string, std::string> turned_;     // elements of arrays -> those of turned tiles
  std::map<const PlanNode *, std::string> ahead_; // what a loop fetches for another one
  std::map<VarId, std::string> in_registers_;     // totals of columns while rows go by
  std::set<const PlanNode *> walked_;             // loops over rows of which an earlier part has asked

  // While a loop is printed:
  AxisId lane_ = kNone;
  std::string active_, mask_; // the lanes that take part, and those of them for which conditions hold
  std::map<const PlanNode *, std::string> chosen_; // those for which conditions of folds hold
  // The masks of the loop that jumps leave: the lanes that are still in it, those of this round, and of branches in it.
  std::string live_, round_;
  std::vector<std::string> branches_;
  std::map<VarId, std::string>
      unmasked_;                        // the mask under which a variable came to life, or of the loop whose own it is
  std::map<VarId, std::string> fields_; // outputs of which a loop makes records -> the vector of the field at hand
  std::set<const PlanNode *> written_;  // statements whose field a record has
  std::vector<Accumulator> accumulators_;
  Standing place_ = Standing::elsewhere;
  std::map<std::string, std::string> gathered_; // the names of what the statement at hand gathers
  std::string first_;                           // where the loop, or its block, begins
  AxisId looked_up_ = kNone;                    // whose rows the elements of the loop at hand look up;
  std::string near_row_;                        // the variable that says which one is at hand, or one near it
  int widest_ = 1;                              // bytes of the widest type that is computed on lanes
};

} // namespace kgen
