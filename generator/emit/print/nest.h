// Loops around each other that are counted by one number: from how many positions, and which position of each a number
// stands for.
#pragma once

#include <string>
#include <vector>

#include "emit/print/printer.h"

namespace kgen {

class CountedNest {
public:
  // `wish`: what the number is called where there are several loops; that of one is its own variable.
  CountedNest(std::vector<const PlanNode *> loops, const std::string &wish, Printer &printer, Names &names);

  const std::string &number() const { return number_; }
  std::string count();                          // of all positions, as a factor
  std::string span();                           // `{0, M}`: the values of the number
  std::string room() const;                     // at least as many as any span of a call has, as a factor
  std::string decoded(const std::string &text); // what a text that uses their variables needs before it

private:
  std::vector<const PlanNode *> loops_;
  Printer &printer_;
  std::string number_;
};

} // namespace kgen
