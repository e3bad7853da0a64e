#include "plan/verify/atoms.h"

#include <algorithm>

namespace kgen {

int Atoms::number_of(const ValueAtom &atom) {
  const auto [found, fresh] = numbers_.emplace(atom, static_cast<int>(list_.size()));
  if (fresh)
    list_.push_back(atom);
  return found->second;
}

void AtomBits::add(int number) {
  const size_t word = static_cast<size_t>(number) / 64;
  if (words_.size() <= word)
    words_.resize(word + 1);
  words_[word] |= uint64_t{1} << number % 64;
}

void AtomBits::add(const AtomBits &other) {
  if (words_.size() < other.words_.size())
    words_.resize(other.words_.size());
  for (size_t i = 0; i < other.words_.size(); ++i)
    words_[i] |= other.words_[i];
}

void AtomBits::keep(const AtomBits &other) {
  words_.resize(std::min(words_.size(), other.words_.size()));
  for (size_t i = 0; i < words_.size(); ++i)
    words_[i] &= other.words_[i];
  while (!words_.empty() && words_.back() == 0)
    words_.pop_back();
}

bool AtomBits::contains(int number) const {
  const size_t word = static_cast<size_t>(number) / 64;
  return word < words_.size() && (words_[word] >> number % 64 & 1) != 0;
}

void MadeOf::add(int number) {
  surely.add(number);
  possibly.add(number);
}

void MadeOf::add(const MadeOf &other) {
  surely.add(other.surely);
  possibly.add(other.possibly);
}

} // namespace kgen
