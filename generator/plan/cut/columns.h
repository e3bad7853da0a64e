// Loops that go down the columns of arrays, turned around: each round then goes along a row, as memory lies.
#pragma once

#include "plan/plan.h"

namespace kgen {

// A work list over neighbouring columns, each of which is walked from row to row, becomes one over parts of the row:
// a part's accumulators and carries are small arrays, and inside each row the columns of the part are neighbours. Long
// floating sums are taken over blocks of rows, so that errors stay small. Sets Plan::storage anew.
void turn_columns(Plan &plan);

} // namespace kgen
