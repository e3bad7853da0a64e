// Equations between two points (steps of a grid, lanes of a store): sums of atoms that are equal, or at most so far
// apart. Solved one atom at a time: an atom whose stride exceeds all that the rest can make up must be the same in
// both.
#pragma once

#include <set>

#include "analysis/context.h"

namespace kgen::analysis {

class Determiner {
public:
  Determiner(const Context &context, Symbols &symbols) : context_(context), symbols_(symbols) {}

  // In both points `start` is the same up to `slack`.
  void add(Polynomial start, Polynomial slack) { equations_.push_back({std::move(start), std::move(slack)}); }
  // Variables (bits as in Atom::steps) known to be the same.
  void assume(uint64_t steps) { known_.steps |= steps; }

  // `with_relations`: where no proof is found, conditions on sizes are assumed and returned.
  Determined run(bool with_relations);

private:
  struct Equation {
    Polynomial start;
    Polynomial slack;
    bool is_picked = false; // by an entry of a table, so that in empty rows there is none
  };

  bool is_known(int atom) const;
  Polynomial unknown_part(const Polynomial &p) const;
  std::optional<Polynomial> width(const Polynomial &p);
  std::optional<Polynomial> requirement(const Equation &equation, const Polynomial &open, int atom);
  std::vector<int> open_atoms(const Polynomial &open) const;
  void learn(int id);
  bool step();
  bool unwrap();
  bool assemble();
  bool place_in_rows();
  bool step_with_relation();

  const Context &context_;
  Symbols &symbols_;
  std::vector<Equation> equations_;
  std::set<int> known_atoms_, unwrapped_;
  Determined known_;
};

} // namespace kgen::analysis
