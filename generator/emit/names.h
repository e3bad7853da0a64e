// Identifiers of one emitted scope: user names are kept where C++ allows, made-up ones step aside.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "ir/kernel.h"

namespace kgen {

class Names {
public:
  Names();
  // The wish itself, or with a suffix where it is taken or reserved.
  std::string claim(const std::string &wish);
  void reserve(const std::string &name) { taken_.insert(name); }
  // What functions that combine two values call them: the same names each time, and none of the user's.
  const std::pair<std::string, std::string> &pair();

private:
  std::pair<std::string, std::string> pair_;
  std::set<std::string> taken_;
  std::map<std::string, int> next_; // the number that the next one of a wish may have
};

// A name of the user's as emitted files spell it: with an underscore after it where it would hide something that the
// files use (a helper, a further argument of launchers, a local of theirs, a built-in variable of CUDA, a macro).
std::string c_name(const std::string &name);

std::string lower_case(std::string text);

// What the loop variable of an axis would be called.
std::string loop_name(const Axis &axis);

} // namespace kgen
