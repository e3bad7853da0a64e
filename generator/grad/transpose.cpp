// A coordinate that is an index times a number and others is solved for that index: the lane that reads the element is
// then known, and it remains to sum over the other axes. Coordinates that cannot be solved are compared, lane by lane.
#include "grad/transpose.h"

#include <algorithm>
#include <numeric>

#include "grad/affine.h"
#include "grad/arms.h"

namespace kgen::grad {

using Kind = Node::Kind;

bool reads_memory(const Graph &graph, NodeId id) {
  const Node &n = graph.node(id);
  return n.kind == Kind::operand || n.kind == Kind::table || n.kind == Kind::fold || n.kind == Kind::scan ||
         n.kind == Kind::carried ||
         std::any_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return reads_memory(graph, arg); });
}

namespace {

bool holds_index(const Graph &graph, NodeId id, AxisSet lanes) { return !(graph.axes(id) & lanes).empty(); }

// Does it go through floating numbers that differ between the lanes?
bool is_from_floats(const Graph &graph, NodeId id, AxisSet lanes) {
  const Node &n = graph.node(id);
  return holds_index(graph, id, lanes) &&
         (is_floating(n.type) ||
          std::any_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return is_from_floats(graph, arg, lanes); }));
}

// A block's number times its size and a position in it.
struct Digits {
  AxisId within = kNone;
  NodeId size = kNoNode, block = kNoNode;
};

std::optional<Digits> digits_of(Graph &graph, NodeId place, AxisSet open) {
  const Node sum = graph.node(graph.strip(place));
  if (sum.kind != Kind::op || sum.op != Op::add)
    return std::nullopt;
  for (const size_t last : {1, 0}) {
    const Node within = graph.node(graph.strip(sum.args[last]));
    const Node blocks = graph.node(graph.strip(sum.args[1 - last]));
    if (within.kind != Kind::index || !open.contains(within.axis) || blocks.kind != Kind::op || blocks.op != Op::mul ||
        graph.axes(sum.args[1 - last]).contains(within.axis))
      continue;
    for (const size_t by : {0, 1})
      if (const NodeId size = wide(graph, graph.strip(blocks.args[by]));
          size == graph.size_of(within.axis) && !graph.is_number(size, 1))
        return Digits{within.axis, size, graph.strip(blocks.args[1 - by])};
  }
  return std::nullopt;
}

// Is it the entry of a sorted table for each position of an axis of the lanes?
bool is_sorted_entry(const Graph &graph, NodeId id, AxisSet open, const std::vector<Table> &tables) {
  const Node &n = graph.node(graph.strip(id));
  if (n.kind != Kind::table || n.args.size() != 1)
    return false;
  const Node &index = graph.node(graph.strip(n.args[0]));
  if (index.kind != Kind::index || !open.contains(index.axis) || graph.axis(index.axis).ragged != kNone)
    return false;
  return std::any_of(tables.begin(), tables.end(), [&](const Table &table) {
    return table.name == n.name && table.sorted && is_size_of(graph.axis(index.axis), table.dims[0]);
  });
}

class Transposer {
public:
  Transposer(Graph &graph, NodeId read, const Part &part, AxisSet lanes)
      : graph_(graph), read_(graph.node(read)), part_(part) {
    kept_ = graph.axes(read_.args[0]);
    for (AxisId axis : read_.places)
      kept_ -= AxisSet::of(axis);
    open_ = lanes_ = lanes - kept_;
  }

  std::optional<Transposed> run() {
    // Lanes that run along an axis of the array which is asked for elsewhere go by another name, unless all of them
    // read one element there.
    for (size_t i = 0; i < read_.places.size(); ++i)
      if (open_.contains(read_.places[i]) && !is_fixed(i))
        rename(read_.places[i]);
    if (failed_)
      return std::nullopt;
    for (size_t i = 0; i < read_.places.size(); ++i)
      if (is_fixed(i))
        fix(read_.places[i], read_.args[i + 1]);
    for (size_t round = 0; round < 2 * read_.places.size(); ++round) { // what one place tells may solve another
      makes_axes_ = round % 2 == 1;
      for (size_t i = 0; i < read_.places.size() && !failed_; ++i)
        if (!done_[read_.places[i]])
          solve(read_.places[i], read_.args[i + 1]);
    }
    for (size_t i = 0; i < read_.places.size() && !failed_; ++i)
      if (!done_[read_.places[i]])
        compare(read_.places[i], moved(graph_, read_.args[i + 1], twins_));
    for (AxisId axis : open_.list()) // no body has sums over the lanes of a row beside those of the same row
      failed_ = failed_ || (is_twin(axis) && graph_.is_ragged(axis));
    if (failed_)
      return std::nullopt;
    std::map<AxisId, NodeId> places = twins_;
    for (const auto &[axis, place] : solved_)
      places[axis] = place;
    for (const auto &[axis, twin] : twins_) // a twin that was solved
      if (const auto found = solved_.find(graph_.node(twin).axis); found != solved_.end())
        places[axis] = found->second;
    // Rule "read back": where lanes are those that read an element, its place is the element's own.
    std::map<NodeId, NodeId> known;
    for (size_t i = 0; i < read_.places.size() && twins_.empty(); ++i)
      known.emplace(read_.args[i + 1], graph_.index(read_.places[i]));
    const NodeId value = moved(graph_, part_.value, places, known);
    NodeId condition = condition_;
    if (part_.condition != kNoNode) {
      const NodeId own = moved(graph_, part_.condition, places, known);
      if (own == kNoNode)
        return std::nullopt;
      condition = graph_.both(condition, own);
    }
    if (value == kNoNode)
      return std::nullopt;
    Transposed out;
    out.slice = slice_;
    out.summed = !open_.empty() || by_rows_;
    if (open_.empty()) {
      out.part = Part{graph_.both(own_, condition), value};
      return out;
    }
    // Where no lanes read the element it is 0, whatever it is multiplied by later.
    const auto differs = [&](NodeId part) { return !(graph_.axes(part) & open_).empty(); };
    const NodeId where = graph_.without(condition, [&](NodeId part) { return !differs(part); });
    const NodeId rest = graph_.both(own_, graph_.without(condition, differs));
    out.part =
        Part{where == kNoNode ? rest : graph_.both(rest, graph_.some(open_, where)), graph_.sum(value, open_, where)};
    return out;
  }

private:
  // Do all lanes read one element there?
  bool is_fixed(size_t place) const { return !holds_index(graph_, read_.args[place + 1], lanes_); }

  void fix(AxisId target, NodeId place) {
    const NodeId element = graph_.strip(place);
    const Node n = graph_.node(element);
    done_[target] = true;
    if (n.kind == Kind::number && read_.places.size() == 1)
      slice_ = {target, n.integer};
    else
      own_ = graph_.both(own_, graph_.compare(Op::eq, graph_.index(target), wide(graph_, element)));
  }

  void rename(AxisId axis) {
    const Axis &lane = graph_.axis(axis);
    const bool same_row = lane.ragged != kNone && kept_.contains(lane.over);
    if (graph_.is_ragged(axis) && !same_row) { // a row of its own length has no other like it
      failed_ = true;
      return;
    }
    const AxisId twin = graph_.twin(axis);
    twins_[axis] = graph_.index(twin);
    open_ = (open_ - AxisSet::of(axis)) | AxisSet::of(twin);
  }

  bool is_twin(AxisId axis) const { return graph_.twins().count(axis) != 0; }
  AxisId like(AxisId axis) const { return is_twin(axis) ? graph_.twins().at(axis) : axis; }

  // Rows of their own lengths stay beside their table: which row it is cannot be solved while positions in it are
  // lanes.
  bool may_solve(AxisId axis) const {
    const std::vector<AxisId> lanes = lanes_.list();
    return open_.contains(axis) && std::none_of(lanes.begin(), lanes.end(),
                                                [&](AxisId lane) { return is_ragged_over(graph_.axis(lane), axis); });
  }

  // The axis that is best solved for: of a size that is not fixed, not one that the forward kernel sums over (which are
  // as many lanes as the sum here will have), and once for each index.
  AxisId choose(const Affine &a) const {
    AxisId best = kNone;
    auto rank = [&](AxisId axis) {
      const bool fixed = graph_.axis(axis).size.is_integer();
      return (fixed ? 0 : 4) + (graph_.output_axes().contains(like(axis)) ? 2 : 0) +
             (a.times.at(axis).is_one() ? 1 : 0);
    };
    for (const auto &[axis, times] : a.times)
      if (times.number != 0 && may_solve(axis) && (best == kNone || rank(axis) > rank(best)))
        best = axis;
    return best;
  }

  void solve(AxisId target, NodeId given) {
    NodeId place = moved(graph_, given, twins_);
    if (place != kNoNode)
      place = moved(graph_, place, solved_);
    if (place == kNoNode) {
      failed_ = true;
      return;
    }
    place = without_bits(graph_, place);
    if (digits(target, place) || around(target, place))
      return;
    const Dividend whole = dividend(target, place, remainder_where(graph_, given, part_.condition));
    const Affine a = affine(graph_, whole.place);
    const AxisId axis = choose(a);
    const bool rest_moves = holds_index(graph_, a.rest, open_ - (axis == kNone ? AxisSet() : AxisSet::of(axis)));
    if (axis == kNone || holds_index(graph_, a.rest, AxisSet::of(axis)) || (rest_moves && !a.good) ||
        holds_index(graph_, whole.element, AxisSet::of(axis)))
      return;
    for (const NodeId condition : whole.conditions)
      require(condition);
    if (whole.within != kNone)
      open_ |= AxisSet::of(whole.within);
    for (const NodeId stride : whole.strides)
      graph_.require_positive(stride);
    if (const NodeId strides = a.times.at(axis).strides; strides != kNoNode)
      graph_.require_positive(strides);
    solve_for(axis, a, whole.element);
    done_[target] = true;
  }

  // The lanes whose place is the element's: of a quotient the dividend is, which is one of as many as it is divided by.
  struct Dividend {
    NodeId place, element;
    AxisId within = kNone;
    std::vector<NodeId> strides = {}, conditions = {};
  };

  Dividend dividend(AxisId target, NodeId place, std::optional<int64_t> remainder) {
    const Dividend plain{place, graph_.index(target)};
    Dividend out = plain;
    while (!is_quotient(out.place)) {
      if (repeats(target, out))
        return out;
      if (!peel(out))
        return plain;
    }
    const Node quotient = graph_.node(graph_.strip(out.place));
    const NodeId divisor = graph_.strip(quotient.args[1]);
    const bool is_stride = graph_.is_stride(divisor);
    if (is_stride)
      out.strides.push_back(divisor);
    const Node peeled = graph_.node(out.element); // a multiple, where it was divided
    const NodeId first = peeled.kind == Kind::op && peeled.op == Op::div && peeled.args[1] == wide(graph_, divisor)
                             ? peeled.args[0]
                             : graph_.op(Op::mul, {wide(graph_, divisor), out.element}, Type::i64);
    out.place = quotient.args[0];
    if (remainder) {
      out.element = plus(graph_, first, graph_.integer(*remainder));
      return out;
    }
    const Node by = graph_.node(divisor);
    const bool is_number = by.kind == Kind::number && by.integer > 1;
    const bool is_natural = graph_.is_number(graph_.compare(Op::ge, out.place, graph_.integer(0)), 1);
    if (!makes_axes_ || !is_natural || (!is_number && !is_stride))
      return plain;
    out.within = graph_.within(target, graph_.size_of_stride(divisor));
    out.element = plus(graph_, first, graph_.index(out.within));
    return out;
  }

  // index % by: of each block of so many one lane, along an axis of blocks.
  bool repeats(AxisId target, Dividend &out) {
    const Node n = graph_.node(graph_.strip(out.place));
    if (n.kind != Kind::op || n.op != Op::rem)
      return false;
    const Node index = graph_.node(graph_.strip(n.args[0]));
    const NodeId block = wide(graph_, graph_.strip(n.args[1]));
    const Node by = graph_.node(block);
    const bool is_lane = index.kind == Kind::index && may_solve(index.axis) && !graph_.is_ragged(index.axis);
    const bool is_size = by.kind == Kind::size && block == graph_.size_of(target) && !graph_.is_ragged(target);
    if (!makes_axes_ || !is_lane || !(is_size || (by.kind == Kind::number && by.integer > 1)) ||
        graph_.is_number(graph_.size_of(index.axis), 0))
      return false;
    const AxisId lane = like(index.axis);
    const Size size = graph_.axis(lane).size.is_integer() ? graph_.axis(lane).size : Size::axis(graph_.axis(lane).name);
    out.within = graph_.blocks(lane, Size::make(Size::Op::cdiv, {size, as_divisor(graph_.size_of_stride(block))}));
    out.conditions.push_back(graph_.compare(Op::lt, out.element, block));
    out.element = plus(graph_, graph_.op(Op::mul, {block, graph_.index(out.within)}, Type::i64), out.element);
    out.place = n.args[0];
    return true;
  }

  bool is_quotient(NodeId id) const {
    const Node &n = graph_.node(graph_.strip(id));
    return n.kind == Kind::op && n.op == Op::div && holds_index(graph_, id, open_);
  }

  bool holds_quotient(NodeId id) const {
    const Node &n = graph_.node(graph_.strip(id));
    return is_quotient(id) || (n.kind == Kind::op && std::any_of(n.args.begin(), n.args.end(),
                                                                 [&](NodeId arg) { return holds_quotient(arg); }));
  }

  // Takes what a quotient is multiplied by, or what is added to it, to the other side.
  bool peel(Dividend &out) {
    Node n = graph_.node(graph_.strip(out.place));
    if (n.kind != Kind::op || (n.op != Op::add && n.op != Op::sub && n.op != Op::mul))
      return false;
    if (const Node rest = graph_.node(graph_.strip(n.args[1])); // x - x % 8 is 8 * (x / 8)
        n.op == Op::sub && rest.kind == Kind::op && rest.op == Op::rem && rest.args[0] == n.args[0]) {
      n.op = Op::mul;
      n.args = {rest.args[1], graph_.op(Op::div, rest.args, rest.type)};
    }
    const size_t quotient = holds_quotient(n.args[0]) ? 0 : 1;
    const NodeId other = graph_.strip(n.args[1 - quotient]);
    if (!holds_quotient(n.args[quotient]) || holds_quotient(other))
      return false;
    out.place = n.args[quotient];
    if (n.op != Op::mul) {
      out.element = n.op == Op::sub && quotient == 1
                        ? plus(graph_, other, out.element, Op::sub)
                        : plus(graph_, out.element, other, n.op == Op::add ? Op::sub : Op::add);
      out.conditions.push_back(graph_.compare(Op::ge, out.element, graph_.integer(0)));
      return true;
    }
    const bool is_number = graph_.node(other).kind == Kind::number && graph_.node(other).integer > 0;
    if (!is_number && !graph_.is_stride(other))
      return false;
    if (!is_number)
      out.strides.push_back(other);
    out.conditions.push_back(
        graph_.compare(Op::eq, graph_.op(Op::rem, {out.element, wide(graph_, other)}, Type::i64), graph_.integer(0)));
    out.element = graph_.op(Op::div, {out.element, wide(graph_, other)}, Type::i64);
    return true;
  }

  // times * axis + others + rest is the element.
  void solve_for(AxisId axis, const Affine &a, NodeId element) {
    const Times times = a.times.at(axis);
    NodeId left = times.number > 0 ? element : graph_.integer(0);
    const Op back = times.number > 0 ? Op::sub : Op::add, forth = times.number > 0 ? Op::add : Op::sub;
    for (const auto &[other, count] : a.times)
      if (other != axis && count.number != 0)
        left = graph_.is_number(left, 0) && times.number < 0 && count.number > 0
                   ? step(other, count)
                   : plus(graph_, left, step(other, count), count.number > 0 ? back : forth);
    if (times.number > 0 && !graph_.is_number(a.rest, 0))
      left = plus(graph_, left, a.rest, Op::sub);
    if (times.number < 0) {
      left = graph_.is_number(left, 0)     ? wide(graph_, a.rest)
             : graph_.is_number(a.rest, 0) ? left
                                           : plus(graph_, a.rest, left, Op::add);
      left = plus(graph_, left, element, Op::sub);
    }
    const NodeId zero = graph_.integer(0),
                 by = times_of(graph_, graph_.integer(1), std::abs(times.number), times.strides);
    if (!times.is_one())
      require(graph_.compare(Op::eq, graph_.op(Op::rem, {left, by}, Type::i64), zero));
    const NodeId solution = graph_.op(Op::div, {left, by}, Type::i64);
    if (graph_.node(solution).kind != Kind::index || !same_extent(graph_.node(solution).axis, axis)) {
      if (left != element)
        require(graph_.compare(Op::ge, left, zero));
      require(graph_.compare(Op::lt, solution, graph_.size_of(like(axis))));
    }
    by_rows_ = by_rows_ || (graph_.is_ragged(axis) && !is_twin(axis));
    know(axis, solution);
  }

  NodeId step(AxisId axis, const Times &times) {
    return times_of(graph_, graph_.index(axis), std::abs(times.number), times.strides);
  }

  void know(AxisId axis, NodeId solution) {
    const auto move = [&](NodeId &of_lane) {
      of_lane = moved(graph_, of_lane, {{axis, solution}});
      failed_ = failed_ || of_lane == kNoNode;
    };
    for (auto &[earlier, lane] : solved_) // what was solved before may depend on this lane
      move(lane);
    if (condition_ != kNoNode)
      move(condition_);
    solved_[axis] = solution;
    open_ -= AxisSet::of(axis);
  }

  // (index + rest) % size of all of an axis, which goes around in the array: as many places back, around again.
  bool around(AxisId target, NodeId place) {
    const Node n = graph_.node(graph_.strip(place));
    if (n.kind != Kind::op || n.op != Op::rem)
      return false;
    const Affine a = affine(graph_, n.args[0]);
    const NodeId size = wide(graph_, graph_.strip(n.args[1]));
    const auto found = std::find_if(a.times.begin(), a.times.end(), [&](const auto &t) {
      return t.second.is_one() && may_solve(t.first) && graph_.axis(t.first).ragged == kNone &&
             size == graph_.size_of(like(t.first)) && same_extent(t.first, target);
    });
    if (found == a.times.end() || holds_index(graph_, a.rest, open_))
      return false;
    NodeId rest = a.rest;
    for (const auto &[axis, times] : a.times)
      if (axis != found->first && times.number != 0)
        rest = plus(graph_, rest, step(axis, times), times.number > 0 ? Op::add : Op::sub);
    if (found->second.number < 0) {
      know(found->first, turned(target, rest, size));
      done_[target] = true;
      return true;
    }
    const NodeId solution = remainder(graph_.index(target), rest, size);
    const Node number = graph_.node(rest), back = graph_.node(plus(graph_, size, rest, Op::sub));
    const bool is_positive = (number.kind == Kind::number && number.integer >= 0) ||
                             (back.kind == Kind::number && back.integer <= 1); // an axis with lanes has a size
    if (!is_positive)
      require_place(plus(graph_, solution, rest), target);
    know(found->first, solution);
    done_[target] = true;
    return true;
  }

  // What (rest - index) % size is the element of, which goes the other way around.
  NodeId turned(AxisId target, NodeId rest, NodeId size) {
    const NodeId element = graph_.index(target), zero = graph_.integer(0);
    const bool is_whole = graph_.is_number(graph_.compare(Op::ge, plus(graph_, rest, element, Op::sub), zero), 1);
    const bool is_positive = graph_.is_number(graph_.compare(Op::ge, rest, zero), 1);
    NodeId from = rest;
    if (!is_whole && !is_positive)
      from = plus(graph_, graph_.op(Op::rem, {wide(graph_, rest), size}, Type::i64), size);
    if (!is_whole)
      from = plus(graph_, from, size);
    const NodeId solution = graph_.op(Op::rem, {plus(graph_, from, element, Op::sub), size}, Type::i64);
    if (!is_whole)
      require_place(plus(graph_, rest, solution, Op::sub), target);
    return solution;
  }

  // The remainder of a negative number is none of a position, but for 0.
  void require_place(NodeId divided, AxisId target) {
    const NodeId zero = graph_.integer(0);
    require(graph_.either(graph_.compare(Op::ge, divided, zero), graph_.compare(Op::eq, graph_.index(target), zero)));
  }

  // (at - rest) % size, which is not negative.
  NodeId remainder(NodeId at, NodeId rest, NodeId size) {
    const Node number = graph_.node(rest);
    const NodeId back =
        number.kind == Kind::number ? graph_.integer(-number.integer) : plus(graph_, size, rest, Op::sub);
    const Node ahead = graph_.node(graph_.strip(back)); // size - 1 places on are 1 back
    const bool is_ahead = ahead.kind == Kind::index || (ahead.kind == Kind::number && ahead.integer >= 0);
    const NodeId places = graph_.is_number(rest, 1) ? rest : graph_.op(Op::rem, {wide(graph_, rest), size}, Type::i64);
    const NodeId turned = is_ahead ? plus(graph_, at, back) : plus(graph_, plus(graph_, at, size), places, Op::sub);
    return graph_.op(Op::rem, {turned, size}, Type::i64);
  }

  // A quotient and a remainder.
  bool digits(AxisId target, NodeId place) {
    const std::optional<Digits> found = digits_of(graph_, place, open_);
    if (!found || !may_solve(found->within))
      return false;
    solve_digits(target, found->within, found->size, found->block);
    return true;
  }

  void solve_digits(AxisId target, AxisId within, NodeId size, NodeId block) {
    const NodeId quotient = graph_.op(Op::div, {graph_.index(target), size}, Type::i64);
    const Node number = graph_.node(block);
    know(within, graph_.op(Op::rem, {graph_.index(target), size}, Type::i64));
    done_[target] = true;
    if (number.kind != Kind::index || !may_solve(number.axis)) {
      const NodeId known = moved(graph_, block, solved_); // by another place, perhaps
      failed_ = failed_ || known == kNoNode;
      if (!failed_)
        require(graph_.compare(Op::eq, wide(graph_, known), quotient));
      return;
    }
    if (!covers(number.axis, within, target))
      require(graph_.compare(Op::lt, quotient, graph_.size_of(number.axis)));
    know(number.axis, quotient);
  }

  // Are there as many blocks as the axis needs?
  bool covers(AxisId blocks, AxisId within, AxisId target) const {
    const Size needed = Size::make(Size::Op::cdiv, {graph_.axis(target).size, graph_.axis(within).size});
    const Size &have = graph_.axis(blocks).size;
    const Size one = Size::integer(1);
    return have == needed || have == Size::make(Size::Op::max, {one, needed}) ||
           have == Size::make(Size::Op::max, {needed, one});
  }

  bool same_extent(AxisId a, AxisId b) const { return graph_.axis(a).size == graph_.axis(b).size; }

  // This lane reads the element if its place is that of the element.
  void compare(AxisId target, NodeId place) {
    const NodeId moved_place = moved(graph_, place, solved_);
    if (moved_place == kNoNode) {
      failed_ = true;
      return;
    }
    require(graph_.compare(Op::eq, graph_.index(target), wide(graph_, graph_.strip(moved_place))));
  }

  void require(NodeId condition) { condition_ = graph_.both(condition_, condition); }

  Graph &graph_;
  const Node read_;
  Part part_;
  AxisSet kept_, lanes_, open_; // lanes: all; open: by their names here, those that no element has told
  std::map<AxisId, NodeId> twins_, solved_;
  std::map<AxisId, bool> done_;
  NodeId condition_ = kNoNode; // of the lanes that read the element
  NodeId own_ = kNoNode;       // of the element
  std::optional<std::pair<AxisId, int64_t>> slice_;
  bool makes_axes_ = false; // where a place leaves several lanes open
  bool by_rows_ = false;    // by the place in a row of its own length
  bool failed_ = false;
};

} // namespace

std::optional<Transposed> transpose(Graph &graph, NodeId read, const Part &part, AxisSet lanes) {
  return Transposer(graph, read, part, lanes).run();
}

// The axes of whose lanes each has an entry of its own in a table; empty: that is not known.
AxisSet told_by_table(const Graph &graph, NodeId place, const std::vector<Table> &tables) {
  const Node &n = graph.node(graph.strip(place));
  const auto is_this = [&](const Table &table) { return table.name == n.name && table.unique; };
  AxisSet out;
  if (n.kind != Kind::table || std::none_of(tables.begin(), tables.end(), is_this))
    return out;
  for (NodeId arg : n.args) {
    const Node &index = graph.node(graph.strip(arg));
    if (index.kind != Kind::index || out.contains(index.axis))
      return {};
    out |= AxisSet::of(index.axis);
  }
  return out;
}

bool has_own_element(Graph &graph, NodeId read, AxisSet lanes, const std::vector<Table> &tables) {
  const Node n = graph.node(read);
  AxisSet open = lanes - graph.axes(n.args[0]);
  for (AxisId place : n.places)
    open |= lanes & AxisSet::of(place);
  AxisSet told;
  for (size_t i = 1; i < n.args.size(); ++i) {
    if (const AxisSet axes = told_by_table(graph, n.args[i], tables); !axes.empty() && (told & axes).empty()) {
      told |= axes;
      continue;
    }
    const Affine place = affine(graph, n.args[i]);
    if (!(graph.axes(place.rest) & open).empty() || place.times.size() > 1)
      return false;
    for (const auto &[axis, times] : place.times) {
      if (times.number == 0 || times.strides != kNoNode || told.contains(axis))
        return false;
      told |= AxisSet::of(axis);
    }
  }
  return told.contains(open);
}

bool never_meet(Graph &graph, NodeId a, NodeId b) {
  const Affine x = affine(graph, a), y = affine(graph, b);
  const NodeId apart = graph.op(Op::sub, {wide(graph, x.rest), wide(graph, y.rest)}, Type::i64);
  if (const Node rest = graph.node(apart); rest.kind == Kind::number) { // 2 * n and 2 * m + 1
    int64_t common = 0;
    for (const auto *times : {&x.times, &y.times})
      for (const auto &[axis, count] : *times)
        common = std::gcd(common, count.strides == kNoNode ? count.number : 1);
    if (common == 0 ? rest.integer != 0 : rest.integer % common != 0)
      return true;
  }
  std::map<AxisId, NodeId> lanes; // of the other one
  for (AxisId axis : (graph.axes(a) | graph.axes(b)).list()) {
    if (graph.is_ragged(axis))
      return false;
    lanes[axis] = graph.index(graph.twin(axis));
  }
  for (const auto &[one, other] : {std::pair(a, moved(graph, b, lanes)), std::pair(moved(graph, a, lanes), b)})
    if (one != kNoNode && other != kNoNode &&
        graph.is_number(graph.compare(Op::eq, wide(graph, one), wide(graph, other)), 0))
      return true;
  return false;
}

bool is_gather(Graph &graph, NodeId read, AxisSet lanes, const std::vector<Table> &tables) {
  const Node n = graph.node(read);
  AxisSet kept = graph.axes(n.args[0]);
  for (AxisId axis : n.places)
    kept -= AxisSet::of(axis);
  for (size_t i = 1; i < n.args.size(); ++i) {
    if (kept.contains(graph.axes(n.args[i])))
      continue;
    if (is_from_floats(graph, n.args[i], lanes - kept))
      return true;
    if (!reads_memory(graph, n.args[i]))
      continue;
    const std::optional<Digits> digits = digits_of(graph, n.args[i], lanes - kept);
    if (graph.is_ragged(n.places[i - 1]) ||
        !is_sorted_entry(graph, digits ? digits->block : n.args[i], lanes - kept, tables))
      return true;
  }
  return false;
}

} // namespace kgen::grad
