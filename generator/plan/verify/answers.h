// A plan has alternatives: phases and branches that it goes through only where a question of sizes is answered so. Each
// way through it must compute the same.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// Of each question that a plan asks, which answer it gets.
class Answers {
public:
  // Is it asked in a plan only, or whether optional arguments are there? Then all of a condition is.
  bool is_known(const Kernel &kernel, ExprId condition) const;
  // Is the condition true? It is made of questions.
  bool holds(const Kernel &kernel, ExprId condition) const;
  // Has what the axis counts several shares? Yes, where no one asks.
  bool has_several(AxisId shares) const;

private:
  friend std::vector<Answers> answers_of(const Plan &plan, const std::set<VarId> &absent);
  friend Answers answers_without(const std::set<VarId> &absent);
  std::map<ExprId, bool> answers_;
  std::map<AxisId, ExprId> several_; // the question about it
  std::set<VarId> absent_;
};

// Which arguments are not there in the calls to look at: none, and all optional ones but one.
std::vector<std::set<VarId>> absences(const Kernel &kernel);

// For what asks no questions of sizes.
Answers answers_without(const std::set<VarId> &absent);

// All combinations; of many questions those that differ in one from all yes or all no.
std::vector<Answers> answers_of(const Plan &plan, const std::set<VarId> &absent);

} // namespace kgen
