// A plan has alternatives: phases and branches that it goes through only where a question of sizes is answered so. Each
// way through it must compute the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// Of each question that a plan asks, which answer it gets.
class Answers {
public:
  // Is the condition true? It is made of questions.
  bool holds(const Kernel &kernel, ExprId condition) const;
  // Has what the axis counts several shares? Yes, where no one asks.
  bool has_several(AxisId shares) const;

private:
  friend std::vector<Answers> answers_of(const Plan &plan);
  std::map<std::string, bool> answers_; // by the question's text: passes ask the same one anew
  std::map<AxisId, std::string> several_;
};

// All combinations; of many questions those that differ in one from all yes or all no.
std::vector<Answers> answers_of(const Plan &plan);

} // namespace kgen
