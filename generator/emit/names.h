// Identifiers of one emitted scope: user names are kept where C++ allows, made-up ones step aside.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/kernel.h"

namespace kgen {

class Names {
public:
  struct Claim {
    std::string name, base, suffix; // base and suffix: the wish
  };

  // The wish itself, or with a number where it is taken or reserved.
  std::string claim(const std::string &wish) { return claim(wish, ""); }
  // One that goes with another name, which was claimed before: `total2` and `_lanes`.
  std::string claim(const std::string &base, const std::string &suffix);
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
  std::map<std::string, int> next_; // the number that the next one of a wish may have
};

// `x_` and `_end` are `x_end`: two underscores together are the compiler's.
std::string joined(const std::string &base, const std::string &suffix);

// The n-th name for a wish: total, total2; the second of words of the language, of letters and of what ends with a
// number gets an underscore.
std::string numbered(const std::string &wish, int n);

// A name of the user's as emitted files spell it: with an underscore after it where it would hide something that the
// files use (a helper, a further argument of launchers, a local of theirs, a built-in variable of CUDA, a macro).
std::string c_name(const std::string &name);

std::string lower_case(std::string text);

// What the loop variable of an axis would be called.
std::string loop_name(const Axis &axis);

} // namespace kgen
