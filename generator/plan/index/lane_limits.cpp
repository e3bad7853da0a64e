// Reads of neighbours that stay at the ends of a row: clamp(n + k, 0, N - 1), min, max, and `n < k ? 0 : n - k`.
#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"

namespace kgen {
namespace {

// A whole number as another one and a constant.
struct Shifted {
  ExprId base = kNone; // kNone: a constant
  int64_t by = 0;
};

Shifted shifted(const Kernel &kernel, ExprId id) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const Expr &e = kernel.expr(id);
  const auto number = [&](const Expr &of) {
    return of.op == Op::constant && of.integer > -kMost && of.integer < kMost ? std::optional(of.integer)
                                                                              : std::nullopt;
  };
  if (const auto value = number(e))
    return {kNone, *value};
  if (e.op == Op::add || e.op == Op::sub)
    if (const auto by = number(kernel.expr(e.args[1]))) {
      const Shifted inner = shifted(kernel, e.args[0]);
      return {inner.base, inner.by + (e.op == Op::add ? *by : -*by)};
    }
  return {id, 0};
}

// a - b, where it is a number.
std::optional<int64_t> difference(const Kernel &kernel, ExprId a, ExprId b) {
  const Shifted x = shifted(kernel, a), y = shifted(kernel, b);
  const bool alike = x.base == kNone || y.base == kNone ? x.base == y.base : same(kernel, x.base, y.base);
  return alike ? std::optional(x.by - y.by) : std::nullopt;
}

} // namespace

std::optional<LaneAnalysis::Nearest> LaneAnalysis::nearest(const Expr &read, AxisId lane) const {
  if (!read.safe || plan_.storage[read.ref].kind != Storage::Kind::argument)
    return std::nullopt;
  std::vector<Coordinate> coords = read.coords;
  Nearest found;
  for (Coordinate &c : coords) {
    if (!varies(c.value, lane) || coefficient(c.value, lane))
      continue;
    if (found.axis != kNone || kernel_.axes[c.axis].ragged != kNone || !held_back(c.value, lane, found))
      return std::nullopt;
    found.axis = c.axis;
    c.value = found.at;
  }
  if (found.axis == kNone || step_of(read.ref, coords, lane).kind != LaneStep::Kind::neighbour)
    return std::nullopt;
  return found;
}

// The limits of min, max and clamp that are the same for all lanes.
bool LaneAnalysis::held_back(ExprId id, AxisId lane, Nearest &found) const {
  const Expr &e = kernel_.expr(id);
  const auto limit = [&](ExprId &slot, ExprId by) {
    const bool fits = slot == kNone && !varies(by, lane);
    slot = by;
    return fits;
  };
  if (const auto moves = coefficient(id, lane)) {
    found.at = id;
    return *moves == 1;
  }
  if (e.op == Op::clamp)
    return limit(found.least, e.args[1]) && limit(found.most, e.args[2]) && held_back(e.args[0], lane, found);
  if (e.op == Op::choose)
    return chosen_limit(e, lane, found);
  if (e.op != Op::min && e.op != Op::max)
    return false;
  found.least_wins = found.least_wins || (e.op == Op::min && found.least != kNone);
  const bool first = varies(e.args[0], lane);
  ExprId &slot = e.op == Op::min ? found.most : found.least;
  return limit(slot, e.args[first ? 1 : 0]) && held_back(e.args[first ? 0 : 1], lane, found);
}

// A choice between a limit and what it holds back: which of both is taken where they are equal does not matter.
bool LaneAnalysis::chosen_limit(const Expr &choice, AxisId lane, Nearest &found) const {
  const Expr &asked = kernel_.expr(choice.args[0]);
  if (asked.op != Op::lt && asked.op != Op::le && asked.op != Op::gt && asked.op != Op::ge)
    return false;
  const bool limit_first = !varies(choice.args[1], lane), number_first = varies(asked.args[0], lane);
  const ExprId limit = choice.args[limit_first ? 1 : 2], number = asked.args[number_first ? 0 : 1],
               end = asked.args[number_first ? 1 : 0];
  if (varies(limit, lane) || varies(end, lane) || !held_back(choice.args[limit_first ? 2 : 1], lane, found))
    return false;
  // The limit is taken where `number op end`.
  Op op = number_first ? asked.op : mirrored(asked.op);
  op = limit_first ? op : negated(op);
  const auto ahead = difference(kernel_, number, found.at), from = difference(kernel_, end, limit);
  if (!ahead || !from || (*ahead != 0 && !is_bounded(kernel_.expr(found.at))))
    return false;
  const int64_t apart = *from - *ahead; // found.at - limit op apart
  const bool below = op == Op::lt || op == Op::le;
  const int64_t least = op == Op::lt || op == Op::ge ? 0 : -1;
  ExprId &slot = below ? found.least : found.most;
  if (slot != kNone || apart < least || apart > least + 1)
    return false;
  slot = limit;
  found.least_wins = true; // what is read lies inside: where limits cross, that is the least one
  return true;
}

} // namespace kgen
