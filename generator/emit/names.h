// Identifiers of one emitted scope: user names are kept where C++ allows, made-up ones step aside.
#pragma once

#include <set>
#include <string>

namespace kgen {

class Names {
public:
  Names();
  // The wish itself, or with a suffix where it is taken or reserved.
  std::string claim(const std::string &wish);
  void reserve(const std::string &name) { taken_.insert(name); }

private:
  std::set<std::string> taken_;
};

std::string lower_case(std::string text);

} // namespace kgen
