// Identifiers of one emitted scope: user names are kept where C++ allows, made-up ones step aside.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/kernel.h"
#include "support/naming.h"

namespace kgen {

class Names {
public:
  struct Claim {
    std::string name, base;
    std::vector<std::string> suffixes; // the base with each of them is a wish
  };

  std::string claim(const std::string &wish) { return claim(wish, std::string()); }
  // One that goes with another name, which was claimed before: `sum_x` and `_lanes`.
  std::string claim(const std::string &base, const std::string &suffix) { return claim_one_of(base, {suffix}); }
  // The first that is free. Words of the languages get an underscore.
  std::string claim_one_of(const std::string &base, const std::vector<std::string> &suffixes);
  void reserve(const std::string &name) { taken_.insert(name); }
  const std::vector<Claim> &claims() const { return claims_; } // the earliest first
  bool is_claimed(const std::string &name) const { return claimed_.count(name) != 0; }
  bool is_free(const std::string &name) const;
  // What functions that combine two values call them: the same names each time, and none of the user's.
  const std::pair<std::string, std::string> &pair();

private:
  std::vector<Claim> claims_;
  std::set<std::string> claimed_;
  std::pair<std::string, std::string> pair_;
  std::set<std::string> taken_;
  std::map<std::string, int> next_; // how often the last wish of some was taken already
};

// The names of a base with each suffix.
std::vector<std::string> wishes_of(const std::string &base, const std::vector<std::string> &suffixes);

// A name of the user's as emitted files spell it: with an underscore after it where it would hide something that the
// files use (a helper, a further argument of launchers, a local of theirs, a built-in variable of CUDA, a macro).
std::string c_name(const std::string &name);

// What the loop variable of an axis would be called.
std::string loop_name(const Axis &axis);

} // namespace kgen
