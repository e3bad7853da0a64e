// Sums down few columns: rows that fill no vector are taken several at a time, as if they were one, where they follow
// each other in memory.
#pragma once

#include "plan/plan.h"

namespace kgen {

void take_rows_at_once(Plan &plan);

} // namespace kgen
