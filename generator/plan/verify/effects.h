// What the outputs of a list of statements are made of: which inputs, scalars, tables and folds each depends on, once
// surely and once possibly. A plan that keeps the dependences of its kernel gives the sets that the kernel's statements
// give; one that has lost, moved or mixed up a statement mostly does not.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "plan/verify/answers.h"
#include "plan/verify/atoms.h"
#include "plan/verify/values.h"

namespace kgen {

// By variable: what it holds at the end.
std::vector<MadeOf> effects_of(const Kernel &kernel, const std::vector<PlanNode> &program, const Answers &answers,
                               Atoms &atoms);
std::vector<MadeOf> effects_of(const Plan &plan, const Answers &answers, Values &values, Atoms &atoms);

} // namespace kgen
