// OpenMP. Which sums take a product in one operation, and which products are rounded first. Nothing of it is left to
// compilers, so that their flags change no bits.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Marks the sums of a kernel that are written with one product: `a * b + c`. A product with a name is rounded, and so
// are two products, so that what is symmetric stays so whatever is computed again where.
void mark_fused(Kernel &kernel);

// Makes one operation of what is marked, and rounds other products that may meet a sum, but for those that a fold adds
// up: these join its total in one operation.
void round_products(Plan &plan);

// The operation `a * b + c`: rounded once in sets of instructions that have it, and else twice.
bool is_multiply_add(const Expr &e);
// A product that no sum takes in one operation.
bool is_rounded(const Expr &e);
// Does the step of a fold add a product to its total, or that of a linear scan the factor times the total to the term?
bool adds_product(const Kernel &kernel, const PlanNode &step);

} // namespace kgen
