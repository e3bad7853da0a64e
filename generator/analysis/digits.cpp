// Digits of digits: cutting at low * d keeps the lower or the upper part, where the cut divides what was there.
#include "analysis/digits.h"

namespace kgen::analysis {
namespace {

// The atom that a polynomial is, and nothing else.
int sole_atom(const Polynomial &p) {
  if (p.overflow || p.terms.size() != 1)
    return kNone;
  const auto &[m, c] = *p.terms.begin();
  return c == 1 && m.size() == 1 ? m[0] : kNone;
}

bool divides(const Polynomial &d, const Polynomial &p) { return Symbols::divide(p, d).has_value(); }

} // namespace

std::optional<Digit> digit_of(const Symbols &symbols, int id) {
  const Atom &atom = symbols.atom(id);
  if (atom.kind == Atom::Kind::step)
    return Digit{id, Polynomial::constant(1), std::nullopt};
  if (atom.kind != Atom::Kind::divide && atom.kind != Atom::Kind::modulo)
    return std::nullopt;
  const int inner = sole_atom(atom.args[0]);
  if (inner == kNone || symbols.steps_of(atom.args[1]) != 0)
    return std::nullopt;
  auto digit = digit_of(symbols, inner);
  if (!digit)
    return std::nullopt;
  const Polynomial cut = digit->low * atom.args[1];
  if (digit->high && !divides(cut, *digit->high))
    return std::nullopt;
  (atom.kind == Atom::Kind::divide ? digit->low : digit->high.emplace()) = cut;
  return digit;
}

bool separate(const Digit &a, const Digit &b) {
  return a.step != b.step || (a.high && divides(*a.high, b.low)) || (b.high && divides(*b.high, a.low));
}

} // namespace kgen::analysis
