// Proofs about sizes that hold for all sizes. A size is a sum of products of atoms: axis sizes, grid steps, table
// entries, and whole quotients, remainders, minima, maxima. Symbols may multiply; that is what isl cannot do. A sum is
// proved not to be negative by replacing atoms with their bounds until every term is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace kgen {

using Monomial = std::vector<int>; // atoms, sorted, with repetition

struct Polynomial {
  std::map<Monomial, int64_t> terms;
  bool overflow = false; // then nothing is proved of it

  static Polynomial constant(int64_t value);
  bool is_zero() const { return terms.empty() && !overflow; }
  std::optional<int64_t> as_constant() const;
};
Polynomial operator+(const Polynomial &a, const Polynomial &b);
Polynomial operator-(const Polynomial &a, const Polynomial &b);
Polynomial operator*(const Polynomial &a, const Polynomial &b);

struct Atom {
  enum class Kind { axis, step, table, cdiv, divide, modulo, min, max, other };
  Kind kind = Kind::other;
  Size size;                       // what it is
  std::string name;                // axis, step
  int table = kNone;               // TableId
  GridId grid = kNone;             // a step of this dimension
  std::vector<Polynomial> args;    // of cdiv, divide, modulo, min, max
  std::vector<Polynomial> defined; // a derived axis: what it equals
  std::optional<int64_t> low;      // known constant lower bound
  std::vector<Polynomial> upper;   // known upper bounds
  uint64_t steps = 0;              // grid dimensions that it depends on
  bool reads_table = false;
};

class Symbols {
public:
  // Sizes named in `positive` are taken to be at least 1 (they are exempt otherwise).
  explicit Symbols(const Kernel &kernel, std::vector<Size> positive = {});

  // A further variable, as `Size::grid(name)`: 0 <= name < count. `bit`: in Atom::steps of what depends on it.
  void add_variable(const std::string &name, const Size &count, uint64_t bit = 0);
  // From here on; only sizes that are named later know it.
  void assume_positive(const Size &size) { assumed_.push_back(polynomial(size) - Polynomial::constant(1)); }
  // Steps of the grid are constants from here on (for questions about one step).
  void fix_steps() { fixed_steps_ = true; }

  Polynomial polynomial(const Size &size);
  Size size_of(const Polynomial &p) const;
  const Atom &atom(int id) const { return atoms_[id]; }
  int atom_count() const { return static_cast<int>(atoms_.size()); }

  bool nonnegative(const Polynomial &p);
  bool less(const Size &a, const Size &b) {
    return nonnegative(polynomial(b) - polynomial(a) - Polynomial::constant(1));
  }
  bool positive(const Size &a) { return nonnegative(polynomial(a) - Polynomial::constant(1)); }

  // Grid dimensions that a polynomial depends on, through tables too.
  uint64_t steps_of(const Polynomial &p) const;
  bool reads_table(const Polynomial &p) const;
  // p / d where that is exact.
  static std::optional<Polynomial> divide(const Polynomial &p, const Polynomial &d);
  // p = c * atom + rest, neither with the atom; nullopt when it is not linear in it.
  static std::optional<std::pair<Polynomial, Polynomial>> linear(const Polynomial &p, int atom);
  static bool contains(const Polynomial &p, int atom);

private:
  int find_atom(const Size &canonical);
  Polynomial atom_polynomial(Atom atom);
  Polynomial axis_polynomial(const std::string &name);
  Polynomial step_polynomial(const std::string &name);
  Polynomial operation(const Size &size);
  void bound_quotient(Atom &atom);
  void bound_entry(Atom &atom);
  bool is_multiple(const Polynomial &p, const Polynomial &d) const;
  bool prove(const Polynomial &p, int depth);
  bool plainly_nonnegative(const Polynomial &p) const;
  bool prove_with(const Polynomial &c, const Polynomial &rest, int id, int depth);

  const Kernel &kernel_;
  std::vector<Size> positive_;
  std::vector<Polynomial> assumed_; // not negative
  std::map<std::string, std::pair<Size, uint64_t>> variables_;
  bool fixed_steps_ = false;
  std::vector<Atom> atoms_;
  std::map<std::string, int> by_text_;
  int budget_ = 0;
  int spent_ = 0;
};

// Replaces fixed and derived axes by what they are, so that only size arguments, steps and tables are left.
Size expand_axes(const Kernel &kernel, const Size &size);

} // namespace kgen
