// What values are made of, as far as `verify` tells them apart, and sets of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kgen {

// Each has a number.
struct ValueAtom {
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
  auto operator<=>(const ValueAtom &) const = default;
};

class Atoms {
public:
  int number_of(const ValueAtom &atom);
  const ValueAtom &of(int number) const { return list_[number]; }
  size_t count() const { return list_.size(); }

private:
  std::map<ValueAtom, int> numbers_;
  std::vector<ValueAtom> list_;
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

// What a value is made of.
struct MadeOf {
  AtomBits surely, possibly;

  void add(int number);
  void add(const MadeOf &other);
  bool operator==(const MadeOf &) const = default;
};

} // namespace kgen
