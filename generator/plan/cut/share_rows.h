// Few long rows that are folded and then gone through again, as in softmax and the norms: workers share each of them.
#pragma once

#include "plan/plan.h"

namespace kgen {

// A list of rows `for m { fold x[m]; for n { y = ... } }` becomes three where a row does not stay in the cache between
// the two: totals of shares of the rows, then the totals of each row from these, in order, then the last loop over
// shares of rows. How many shares there are depends on sizes only. Other rows keep the list as it was.
void share_rows(Plan &plan);

} // namespace kgen
