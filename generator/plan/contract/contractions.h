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

// Makes a phase one; false: it is none.
bool contract(Plan &plan, Phase &phase);

// What is wanted of a loop over rows that may be one: its loops in order and marked, or nothing. Such as the axis has
// loops around them already.
bool make_contraction(Plan &plan, PlanNode &rows);

// The nest of a contracted phase, and the innermost loop over columns of a nest, in which the depth loops stand.
const PlanNode &nest_of(const Phase &phase);
const PlanNode &column_loop(const PlanNode &nest);
PlanNode &column_loop(PlanNode &nest);

// "tiles of M x N", for readers; of a phase with "for each B".
std::string contraction_words(const Plan &plan, const PlanNode &nest);
std::string contraction_words(const Plan &plan, const Phase &phase);
// ", by parts of S: tiles of S x R and tiles of S x D"; empty where no part of rows has one.
std::string row_contraction_words(const Plan &plan, const Phase &phase);

} // namespace kgen
