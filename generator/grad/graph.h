// The maths of a kernel without its statements: every value once, as a node that depends on others. Equal values are
// the same node, so that what the gradient needs of the forward kernel is found by asking for it. All floating types
// are one here (`real`): text that is made of a graph is the same for all choices of types.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/kernel.h"

namespace kgen::grad {

using NodeId = int;

constexpr NodeId kNoNode = -1;

struct Node {
  enum class Kind {
    number,     // `number` where floating, else `integer`
    undefined,  // what a variable holds before it is assigned
    carried,    // name: of a variable that holds what an earlier step of the grid left
    round,      // which: of a loop: how many rounds there were before this one
    handed,     // which: what a round of a loop finds in a variable; name: of it
    looped,     // which: what a loop leaves in its variable number `integer`, or in its arrays, which are counted after
                // the variables; args: what the loop depends on
    operand,    // name: an array at the current point
    scalar,     // name: of a scalar or a parameter
    table,      // name; args: indices
    index,      // axis
    size,       // axis
    present,    // name
    inside,     // name; args: a value for each of `places`
    at,         // args[0] at other places: then a value for each of `places`
    op,         // op, args
    choose,     // args: condition, then, else
    both,       // args
    either,     // args
    cast,       // args[0] to type
    bitcast,    // the same bits as another type
    fold,       // monoid over `reduced`; args: element, perhaps a condition
    scan,       // scan along axis; args
    call,       // name: a function that is kept; args
    derivative, // of that function, by arguments `by` one after the other
    product,    // number * args[i] to the power of powers[i] ...
    sum,        // of args
    element,    // args[0], an array that a loop leaves, of the round args[1]
  };
  Kind kind = Kind::number;
  Op op = Op::constant;
  Type type = Type::f32; // f32 stands for every floating type
  std::string name;
  std::vector<NodeId> args;
  std::vector<AxisId> places;
  std::vector<int> powers;
  AxisId axis = kNone;
  AxisSet reduced;
  Monoid monoid = Monoid::sum;
  ScanKind scan = ScanKind::sum;
  bool reverse = false, exclusive = false;
  double number = 0;
  int64_t integer = 0;
  int which = 0;         // of what has no other difference
  std::vector<int> by;   // arguments
  AxisSet axes;          // along which the value differs; found by the graph, but for operands
  bool in_loop = false;  // it depends on the round of a loop
  bool may_fail = false; // it is perhaps infinite, or no number, where what it is made of is a number
};

// So many rounds, each of which hands values on to the next one: for (int r = 0; r < rounds; ++r), or from the last one
// to the first. Its body is what `next` is made of: element by element, and sums, means and extremes. Where no number
// says how many rounds there are, `count` does. Unless it is made of parameters, no value of theirs can be kept.
struct Loop {
  struct Variable {
    std::string name; // that is wished
    NodeId entry = kNoNode, found = kNoNode, next = kNoNode;
    NodeId result = kNoNode;
  };
  struct Array { // of a value of each round
    std::string name;
    NodeId value = kNoNode, result = kNoNode;
  };
  int64_t rounds = 0;
  NodeId count = kNoNode;
  NodeId unknown = kNoNode; // stands for what cannot be kept
  bool backwards = false;
  NodeId round = kNoNode;
  std::string counter; // in the forward kernel, if it counts the rounds
  std::vector<Variable> variables;
  std::vector<Array> arrays;
  AxisSet lanes; // axes of all that it hands on
  Place place;
};

Size as_divisor(const Size &size); // 1 instead of 0
bool gives_numbers(Op op);         // of numbers, as far as these are not too large

class Graph {
public:
  explicit Graph(std::vector<Axis> axes, const std::vector<Param> &params = {});

  bool is_parameter(const std::string &scalar) const { return parameters_.count(scalar) != 0; }
  // The same in all of a call and, if it is required, greater than 0: whole parameters that are so in the spec, and
  // quotients of sizes.
  bool is_stride(NodeId id) const;
  void require_positive(NodeId product); // of strides
  const std::set<NodeId> &required_positive() const { return required_positive_; }
  Size size_of_stride(NodeId id) const; // or of a number
  bool is_count(NodeId id) const;
  bool is_positive_constant(NodeId id) const; // a number, a parameter, or a size where there is something
  bool is_positive_parameter(const Node &n) const;

  const Node &node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  AxisSet axes(NodeId id) const { return id == kNoNode ? AxisSet() : node(id).axes; }
  size_t size() const { return nodes_.size(); }
  // Axes of the forward kernel's outputs, and those that all of them have.
  void set_output_axes(AxisSet axes, AxisSet of_all) { output_axes_ = axes, axes_of_all_outputs_ = of_all; }
  AxisSet output_axes() const { return output_axes_; }
  void end_of_forward() { first_of_gradients_ = static_cast<NodeId>(nodes_.size()); }
  bool is_of_forward(NodeId id) const { return id < first_of_gradients_; }
  const Axis &axis(AxisId id) const { return axes_[static_cast<size_t>(id)]; }
  bool is_ragged(AxisId axis) const; // or has rows that are
  // Another axis of the same size, for sums over lanes whose own axis is the one that is asked for.
  AxisId twin(AxisId axis);
  AxisId add_axis(const Axis &axis);
  // One along the positions of a block of so many.
  AxisId within(AxisId blocked, const Size &block) { return add_part(blocked, "within", block); }
  // One along so many blocks.
  AxisId blocks(AxisId blocked, const Size &count) { return add_part(blocked, "block", count); }
  const std::map<AxisId, AxisId> &twins() const { return twins_; } // of each twin, the axis that it is like
  const std::map<AxisId, Size> &made() const { return made_; }     // of twins and parts, what declares them
  int axis_count() const { return static_cast<int>(axes_.size()); }

  // The node as it is.
  NodeId intern(Node node);
  // The same sum of other terms, of which some are sums, or the same product. No rule looks at it any more.
  void nest(NodeId whole, std::vector<NodeId> parts, std::vector<int> powers, double number);
  void make_multiple(NodeId whole, double times, NodeId of); // it becomes that, and has the same value

  // With the rules of docs/gradients.md. Conditions may be kNoNode, which holds always.
  NodeId number(double value);
  NodeId integer(int64_t value, Type type = Type::i64);
  NodeId truth(bool value) { return integer(value ? 1 : 0, Type::boolean); }
  NodeId index(AxisId axis);
  NodeId size_of(AxisId axis);
  NodeId op(Op op, std::vector<NodeId> args, Type type);
  NodeId compare(Op op, NodeId a, NodeId b) { return this->op(op, {a, b}, Type::boolean); }
  NodeId lies_in(AxisId axis, NodeId place) {
    return both(compare(Op::ge, place, integer(0)), compare(Op::lt, place, size_of(axis)));
  }
  NodeId lies_in(const std::vector<std::pair<AxisId, NodeId>> &places) {
    NodeId out = kNoNode;
    for (const auto &[axis, place] : places)
      out = both(out, lies_in(axis, place));
    return out;
  }
  NodeId real(NodeId id); // as a floating number
  NodeId mul(NodeId a, NodeId b);
  NodeId div(NodeId a, NodeId b);
  NodeId neg(NodeId a) { return mul(number(-1), a); }
  NodeId add(NodeId a, NodeId b);
  NodeId choose(NodeId condition, NodeId then, NodeId otherwise);
  NodeId either_value(NodeId condition, NodeId value) { return choose(condition, value, number(0)); }
  NodeId both(NodeId a, NodeId b);
  NodeId either(NodeId a, NodeId b);
  // Conditions that never hold are kNoNode here.
  NodeId any(NodeId a, NodeId b);
  NodeId only(NodeId condition, NodeId lanes) { return lanes == kNoNode ? kNoNode : both(condition, lanes); }
  NodeId no(NodeId condition);
  bool opposite(NodeId a, NodeId b) const; // does one of two conditions hold, and never both?
  // What a round finds, or a loop leaves, is 0 wherever the condition does not hold.
  void set_nothing_outside(NodeId id, NodeId condition) { nothing_outside_[id] = condition; }
  void add_given(NodeId present) { given_.push_back(present); } // one of them holds in each call
  void set_range(const std::string &table, NodeId end) { table_ends_[table] = end; }
  NodeId strip(NodeId id) const;
  NodeId inside(Node node);
  // The sum over axes, of the lanes where the condition holds. Along an axis that neither has it is a multiple.
  NodeId sum(NodeId value, AxisSet over, NodeId where = kNoNode);
  NodeId times_size(AxisSet axes);   // the product of their sizes
  NodeId count_of(const Node &fold); // so many elements a mean is of
  // That there is a lane to sum; kNoNode where there always is one.
  NodeId some(AxisSet over, NodeId where);
  // The condition without what `some` asks, where the value is 0 anyway, and where these lanes exist. What comes of the
  // value has the axes `ends`: where a whole one is empty, there is nothing that it could come to.
  NodeId needed(NodeId condition, NodeId value);
  NodeId needed_of(NodeId condition, AxisSet lanes, AxisSet ends);
  NodeId fold(Monoid monoid, NodeId element, AxisSet over, NodeId where, Type type);
  NodeId scan(ScanKind kind, std::vector<NodeId> args, AxisId axis, bool reverse, bool exclusive);
  AxisSet own_axes(NodeId value, NodeId where) const;
  bool asks(NodeId condition, NodeId part) const; // is it that part, or does it ask that as well?
  NodeId without(NodeId condition, const std::function<bool(NodeId)> &part); // what it asks besides such parts
  NodeId spread(NodeId value, AxisId axis); // the same, as something that differs along the axis
  NodeId at(NodeId base, const std::vector<std::pair<AxisId, NodeId>> &places);
  // Whether an element is the greatest is asked by ==, of numbers that were computed once: elsewhere, or in another
  // kernel, they may be rounded differently. Is it such an extreme, or such a question?
  bool is_computed_extreme(NodeId id) const;
  bool asks_for_computed_extreme(NodeId id) const;

  // What a round of a loop knows: values of variables, which differ along the axes, and its number.
  NodeId handed(const std::string &name, Type type, AxisSet axes);
  NodeId round(Type type = Type::i32);
  // The nodes that the next values are made of and that depend on the round, arguments first.
  std::vector<NodeId> body_of(const Loop &loop) const;
  // What the body reads from outside.
  std::vector<NodeId> outside_of(const Loop &loop) const;
  void add_loop(Loop &loop); // gives its results
  NodeId element(NodeId array, NodeId round);
  int loop_count() const { return static_cast<int>(loops_.size()); }
  const Loop &loop(int which) const { return loops_[static_cast<size_t>(which)]; }
  // The loop whose rounds find this value, and which of its variables it is.
  std::pair<int, size_t> variable_of(NodeId handed) const;

  bool is_number(NodeId id, double value) const;
  bool is_zero(NodeId id) const { return is_number(id, 0); }
  bool is_floating(NodeId id) const { return kgen::is_floating(node(id).type); }

  // A product or quotient that the forward kernel computes: later products take it up.
  void know_product(NodeId id);
  // A value that has a name: products take it as a whole.
  void hold(NodeId id) { held_.insert(id); }
  // A sum with a logarithm in it that the forward kernel gives: exponentials that are divided by what the logarithm is
  // of take it up.
  void know_logarithm(NodeId id);
  // A sum that the forward kernel gives: sums of sums take it up.
  void know_sum(NodeId id);

private:
  bool is_element(NodeId id) const;
  struct Range {
    int64_t low = INT64_MIN, high = INT64_MAX;
  };
  Range range_of(NodeId id) const;
  // Nodes times whole numbers, and a number.
  struct Terms {
    Type type = Type::i64;
    std::map<NodeId, int64_t> of;
    int64_t constant = 0;
    void add(int64_t times, int64_t number) { // which may wrap around
      constant = static_cast<int64_t>(static_cast<uint64_t>(constant) +
                                      static_cast<uint64_t>(times) * static_cast<uint64_t>(number));
    }
  };
  AxisId add_part(AxisId of, const char *what, const Size &size);
  AxisId make_axis(Axis axis, const char *what, const Size &declared);
  static bool adds(const Node &n, Type type);
  void add_terms(NodeId id, int64_t times, Terms &out) const;
  std::vector<NodeId> sizes_in(const Terms &terms) const;
  bool is_extent(NodeId id) const; // an index or a size
  bool add_size(const Size &size, int64_t times, Terms &out);
  int parts_of_sum(NodeId id, Type type) const;
  static int parts_of(const Terms &terms);
  static bool is_few(const Terms &terms);
  NodeId sum_of(const Terms &terms);
  NodeId shorter_sum(Op op, NodeId a, NodeId b, Type type);
  NodeId shorter_comparison(Op op, NodeId a, NodeId b);
  Terms difference(NodeId a, NodeId b) const;
  NodeId end_of(NodeId id);
  std::optional<int64_t> least_of(Terms terms);
  std::optional<NodeId> known_comparison(Op op, NodeId a, NodeId b);
  NodeId shorter(Op op, NodeId a, NodeId b, Type type);
  bool is_known(Op relation, NodeId a, NodeId b);
  bool is_below(NodeId low, NodeId high, AxisSet axes);
  NodeId known_whole(Op op, const std::vector<NodeId> &args, Type type);
  NodeId shorter_digits(Op op, NodeId a, NodeId b, Type type);
  NodeId joined_digits(NodeId a, NodeId b) const;
  NodeId last_of_scan(NodeId base, AxisId axis, NodeId place);
  struct Factors {
    double number = 1;
    std::map<NodeId, int> powers;
    void multiply(const Factors &by);
    void divide(const Factors &by);
  };
  Factors factors_of(NodeId id) const;
  Factors factors_of_product(NodeId id) const;
  NodeId product(Factors factors);
  void use_known(Factors &factors) const;
  void know_masked(NodeId id);
  NodeId known_where(NodeId condition, NodeId value);
  void use_means(Factors &factors);
  void use_logarithms(Factors &factors);
  Factors all_factors(NodeId id, NodeId where) const;
  std::optional<Factors> besides(const Factors &others, const Node &inner, const Factors &given, AxisSet over) const;
  NodeId by_known_sum(const Factors &factors, AxisSet over, NodeId where);
  void forward_terms(NodeId id, double times, std::vector<std::pair<NodeId, double>> &out);
  NodeId without_logarithm(NodeId exponent, NodeId of);
  bool covers(NodeId condition, NodeId value);
  bool implies(NodeId a, NodeId b) const;
  bool implies_bound(NodeId a, NodeId b) const;
  NodeId where_holds(NodeId condition, NodeId value);
  NodeId common_to_arms(NodeId condition, NodeId then, NodeId otherwise);
  NodeId exponential(const std::vector<std::pair<NodeId, double>> &terms);
  static double without_rounding(double value);
  bool asks_inside(NodeId condition, NodeId read);
  bool asks_all(NodeId condition, NodeId other) const;
  bool is_each_place(std::vector<NodeId> conditions) const;
  bool is_case_of(NodeId condition, NodeId wider) const;
  bool is_any_given(NodeId a, NodeId b) const;
  NodeId one_of(NodeId a, NodeId b) const;
  NodeId under_both(const Node &first, double times, const Node &second, double other_times);
  NodeId add_others(const std::vector<std::pair<NodeId, double>> &terms, size_t i, size_t k, NodeId one);
  void terms_of(NodeId id, double times, std::vector<std::pair<NodeId, double>> &out);
  NodeId varying_alone(const Factors &factors, AxisSet over) const;
  bool vanishes(NodeId term, AxisSet over) const;
  // The lane of an axis whose index a condition asks for.
  struct Lane {
    AxisId axis = kNone;
    NodeId place = kNoNode;
    NodeId exists = kNoNode; // always
  };
  Lane lane_of(NodeId condition);
  Lane read_lane(NodeId condition);
  std::optional<std::pair<Lane, NodeId>> lane_alone(AxisSet over, NodeId where);
  NodeId one_lane(NodeId value, AxisSet over);
  NodeId one_lane(NodeId value, AxisSet over, NodeId where);
  AxisSet closed(AxisSet axes) const;
  AxisSet axes_of(const Node &node) const;
  bool may_fail(const Node &node) const;
  bool says_some(NodeId condition, NodeId some) const;
  bool is_some(NodeId condition) const;
  bool is_any(NodeId condition) const;
  bool may_be_empty(AxisId axis) const;
  bool is_ended_by(AxisId axis) const;
  AxisId asked_axis(NodeId condition) const;
  bool is_nothing(NodeId value, NodeId unless); // is it exactly 0 where `unless` does not hold?
  bool find_nothing(NodeId value, NodeId unless);
  bool fails_with(NodeId value, NodeId unless);
  bool is_made_of_sizes(NodeId id, AxisSet lanes) const;

  std::vector<Axis> axes_;
  AxisSet output_axes_, axes_of_all_outputs_;

  std::set<std::string> parameters_, positive_parameters_;
  std::set<NodeId> required_positive_;
  std::map<AxisId, AxisId> twins_;
  std::map<AxisId, Size> made_;
  std::map<std::string, NodeId> table_ends_; // of those with a range
  std::vector<Loop> loops_;
  int handed_ = 0;
  std::vector<Node> nodes_;
  NodeId first_of_gradients_ = 0;
  std::vector<NodeId> given_;
  std::map<NodeId, NodeId> nothing_outside_;
  std::set<NodeId> held_;
  std::map<std::string, NodeId> ids_;
  std::vector<std::pair<Factors, NodeId>> known_;
  struct Masked { // value is condition ? quotient : 0, and that is divided / by, which is there / by under the
                  // condition
    NodeId condition, quotient, divided, there, by, value;
  };
  std::vector<Masked> masked_;
  struct Logarithm {
    NodeId log, of, sum; // sum is times * log(of) and other terms
    double times;
  };
  std::vector<Logarithm> logarithms_;
  struct KnownSum {
    NodeId fold, value; // value is times * fold
    double times;
  };
  std::vector<KnownSum> known_sums_;
  std::map<std::pair<NodeId, NodeId>, bool> nothing_;  // of values and conditions
  std::map<std::pair<NodeId, AxisId>, bool> hangs_on_; // of values, whether they ask for all of an axis
};

} // namespace kgen::grad
