// What the outputs of a list of statements are made of: which inputs, scalars, tables and folds each depends on, once
// surely and once possibly. A plan that keeps the dependences of its kernel gives the sets that the kernel's statements
// give; one that has lost, moved or mixed up a statement mostly does not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "plan/plan.h"
#include "plan/verify/answers.h"

namespace kgen {

// What values are made of. Sets of them are bits.
struct Atom {
  enum class Kind {
    nothing,    // was never written
    unfinished, // read while a loop around goes on that still changes it, or other elements of it
    initial,    // what an argument holds at first
    scalar,
    table,
    fold,      // or scan, by its number in the program
    step,      // one of several assignments, by its number; and which it followed
    operation, // and constants: a plan may have more of these
  };
  Kind kind;
  int id = 0;
  uint64_t detail = 0;
  auto operator<=>(const Atom &) const = default;
};

class Atoms {
public:
  int number_of(const Atom &atom);
  const Atom &of(int number) const { return list_[number]; }
  size_t count() const { return list_.size(); }

private:
  std::map<Atom, int> numbers_;
  std::vector<Atom> list_;
};

class AtomBits {
public:
  void add(int number);
  void add(const AtomBits &other);
  void keep(const AtomBits &other); // those of both
  bool contains(int number) const;
  bool operator==(const AtomBits &other) const = default;

private:
  std::vector<uint64_t> words_; // the last is not 0
};

// Of one variable.
struct Made {
  AtomBits surely, possibly;
};

// By variable: what it holds at the end.
std::vector<Made> effects_of(const Kernel &kernel, const std::vector<PlanNode> &program, const Answers &answers,
                             Atoms &atoms);
std::vector<Made> effects_of(const Plan &plan, const Answers &answers, Atoms &atoms);

} // namespace kgen
