// Folds whose elements are made of one value of the rows and one value of the columns, as those of a matrix product
// are: products of matrices, distances, convolutions. Tiles of them are computed in registers.
#pragma once

#include <string>

#include "plan/plan.h"

namespace kgen {

// OpenMP. Loops over rows in which such a fold stands beside other statements are gone through several times, with what
// comes before it, with it, and with what comes after; what passes between them is kept. That costs less than the fold
// gains.
void part_contractions(Plan &plan);

// OpenMP. Marks the phases that are such a fold with the statements around it, and puts their loops in order: those
// that both factors have, the rows, the columns. `depth` loops stand in the innermost body, whose one fold step takes
// two numbers, `left` and `right`, that are set right before it.
void find_contractions(Plan &plan);

// The innermost loop over columns of a phase that is one, and the list in it in which the depth loops stand.
const PlanNode &column_loop(const Phase &phase);

// "tiles of M x N, for each B", for readers.
std::string contraction_words(const Plan &plan, const Phase &phase);

} // namespace kgen
