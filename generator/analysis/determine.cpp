// The solver's rules. Each pins down one atom; what follows from that atom (its arguments, the number that a quotient
// and a remainder come from) becomes a new equation.
#include "analysis/determine.h"

#include <algorithm>

#include "analysis/digits.h"
#include "ir/picked_windows.h"

namespace kgen::analysis {
namespace {
const Polynomial kOne = Polynomial::constant(1);
}

Determined Determiner::run(bool with_relations) {
  while (step() || unwrap() || assemble() || place_in_rows() || (with_relations && step_with_relation())) {
  }
  return known_;
}

bool Determiner::is_known(int atom) const {
  const uint64_t steps = symbols_.atom(atom).steps;
  return (steps & ~known_.steps) == 0 || known_atoms_.count(atom) > 0;
}

// The terms that are not pinned down yet.
Polynomial Determiner::unknown_part(const Polynomial &p) const {
  Polynomial out;
  out.overflow = p.overflow;
  for (const auto &[m, c] : p.terms)
    if (!std::all_of(m.begin(), m.end(), [&](int id) { return is_known(id); }))
      out.terms[m] = c;
  return out;
}

// How far a sum of bounded atoms ranges; nullopt: not known.
std::optional<Polynomial> Determiner::width(const Polynomial &p) {
  Polynomial out;
  for (const auto &[m, c] : p.terms) {
    Polynomial term;
    term.terms[m] = c;
    int moving = kNone;
    for (int id : m)
      if (!is_known(id))
        moving = moving == kNone ? id : -2;
    if (moving < 0 || symbols_.atom(moving).upper.empty() || symbols_.atom(moving).low != 0)
      return std::nullopt;
    const auto split = Symbols::linear(term, moving);
    if (!split)
      return std::nullopt;
    const Polynomial &upper = symbols_.atom(moving).upper.front();
    const bool rising = symbols_.nonnegative(split->first);
    if (!rising && !symbols_.nonnegative(split->first * Polynomial::constant(-1)))
      return std::nullopt;
    out = out + split->first * Polynomial::constant(rising ? 1 : -1) * upper;
  }
  return out;
}

// What must not be negative for `atom` to be pinned down by this equation.
std::optional<Polynomial> Determiner::requirement(const Equation &equation, const Polynomial &open, int atom) {
  const auto split = Symbols::linear(open, atom);
  if (!split || (symbols_.steps_of(split->first) & ~known_.steps) != 0)
    return std::nullopt;
  const auto range = width(split->second);
  if (!range || (symbols_.steps_of(*range) & ~known_.steps) != 0)
    return std::nullopt;
  const bool falling =
      !symbols_.nonnegative(split->first) && symbols_.nonnegative(split->first * Polynomial::constant(-1));
  return split->first * Polynomial::constant(falling ? -1 : 1) - *range - equation.slack - kOne;
}

std::vector<int> Determiner::open_atoms(const Polynomial &open) const {
  std::vector<int> out;
  for (const auto &[m, c] : open.terms)
    for (int id : m)
      if (!is_known(id))
        out.push_back(id);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Determiner::learn(int id) {
  const Atom atom = symbols_.atom(id);
  known_atoms_.insert(id);
  if (atom.kind == Atom::Kind::step)
    known_.steps |= atom.steps;
  if (atom.kind == Atom::Kind::divide || atom.kind == Atom::Kind::cdiv)
    if ((symbols_.steps_of(atom.args[1]) & ~known_.steps) == 0)
      equations_.push_back({atom.args[0], atom.args[1] - kOne});
  if (atom.kind == Atom::Kind::table && context_.kernel.tables[atom.table].unique && atom.args.size() == 1)
    equations_.push_back({atom.args[0], Polynomial(), true});
  // A quotient and a remainder by the same divisor are the number itself.
  for (int other : known_atoms_) {
    const Atom &partner = symbols_.atom(other);
    if (partner.kind != atom.kind && (partner.kind == Atom::Kind::modulo || atom.kind == Atom::Kind::modulo) &&
        (partner.kind == Atom::Kind::divide || atom.kind == Atom::Kind::divide) &&
        (partner.args[0] - atom.args[0]).is_zero() && (partner.args[1] - atom.args[1]).is_zero())
      equations_.push_back({atom.args[0], Polynomial()});
  }
}

// A step all of whose digits are known. (From the lowest on; what is not a whole chain says nothing of the step.)
bool Determiner::assemble() {
  std::map<int, std::vector<Digit>> digits;
  for (int id : known_atoms_)
    if (const auto digit = digit_of(symbols_, id); digit && !is_known(digit->step))
      digits[digit->step].push_back(*digit);
  for (const auto &[step, list] : digits) {
    Polynomial reach = kOne;
    for (size_t i = 0; i < list.size();) {
      if (!(list[i].low - reach).is_zero()) {
        ++i;
        continue;
      }
      if (!list[i].high) {
        learn(step);
        return true;
      }
      reach = *list[i].high;
      i = 0;
    }
    // Or the digits reach beyond the last step.
    const auto &upper = symbols_.atom(step).upper;
    if (!upper.empty() && symbols_.nonnegative(reach - kOne - Polynomial(upper.front()))) {
      learn(step);
      return true;
    }
  }
  return false;
}

// A place in a packed array, `start[row] + n`, is that of one row and one step in it, where the row has any.
bool Determiner::place_in_rows() {
  const Kernel &kernel = context_.kernel;
  const auto is_single = [&](GridId grid) { return grid != kNone && kernel.grid[grid].block == Size::integer(1); };
  for (const Equation &equation : equations_) {
    const std::vector<int> open = open_atoms(unknown_part(equation.start));
    if (!equation.is_picked || !equation.slack.is_zero() || open.size() != 2)
      continue;
    for (const auto &[step, begin] : {std::pair(open[0], open[1]), std::pair(open[1], open[0])}) {
      const Atom n = symbols_.atom(step), entry = symbols_.atom(begin);
      if (n.kind != Atom::Kind::step || n.grid == kNone || entry.kind != Atom::Kind::table || entry.args.size() != 1 ||
          !is_single(n.grid) || !counts_own_row(kernel, n.grid))
        continue;
      const Axis &axis = kernel.axes[kernel.grid[n.grid].axis];
      const GridId rows = kernel.axes[axis.over].grid;
      const Polynomial row = symbols_.polynomial(Size::grid(kernel.grid[rows].name)), index = entry.args[0];
      Polynomial place;
      place.terms[{step}] = place.terms[{begin}] = 1;
      if (axis.ragged != entry.table || !is_single(rows) || !(index - row).is_zero() ||
          !(unknown_part(equation.start) - place).is_zero())
        continue;
      known_.steps |= symbols_.steps_of(row) | symbols_.atom(step).steps;
      return true;
    }
  }
  return false;
}

// Of numbers that differ by less than the divisor, equal remainders make equal numbers.
bool Determiner::unwrap() {
  for (int id : known_atoms_) {
    const Atom atom = symbols_.atom(id);
    if (atom.kind != Atom::Kind::modulo || unwrapped_.count(id) > 0)
      continue;
    const auto range = width(unknown_part(atom.args[0]));
    if (!range || !symbols_.nonnegative(atom.args[1] - kOne - *range))
      continue;
    unwrapped_.insert(id);
    equations_.push_back({atom.args[0], Polynomial()});
    return true;
  }
  return false;
}

bool Determiner::step() {
  for (size_t e = 0; e < equations_.size(); ++e) {
    const Equation equation = equations_[e];
    const Polynomial open = unknown_part(equation.start);
    for (int atom : open_atoms(open)) {
      const auto required = requirement(equation, open, atom);
      if (required && symbols_.nonnegative(*required)) {
        learn(atom);
        return true;
      }
    }
  }
  return false;
}

bool Determiner::step_with_relation() {
  for (size_t e = 0; e < equations_.size(); ++e) {
    const Equation equation = equations_[e];
    const Polynomial open = unknown_part(equation.start);
    for (int atom : open_atoms(open)) {
      const auto required = requirement(equation, open, atom);
      if (!required || required->as_constant() || required->overflow || symbols_.atom(atom).upper.empty())
        continue;
      const Size single = symbols_.size_of(symbols_.atom(atom).upper.front());
      const Size enough = symbols_.size_of(*required);
      if (!context_.sizes_only(single) || !context_.sizes_only(enough))
        continue;
      const Size condition = unless_empty(single, Size::make(Size::Op::greater_equal, {enough, Size::integer(0)}));
      known_.relations.push_back(condition);
      learn(atom);
      return true;
    }
  }
  return false;
}

} // namespace kgen::analysis
