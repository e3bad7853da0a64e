// Single folds that blocks share, where columns, or rows, are few and long: the last block to come combines what all
// have found, in order.
#pragma once

#include "emit/cuda/block.h"

namespace kgen {

// The statements of an item, one of which is the loop that several blocks share; null: there is none. Totals in memory
// get their first value from the block that finishes the fold.
void list_of_folds(Block &block, const std::vector<PlanNode> &body, const PlanNode *split);

// `const NAME shape(...);`, and the tickets of the blocks that share the fold.
std::string prepare_shape(Printer &printer, const std::string &shape, const PlanNode *split);

// Which points of a nest are a block's: `first` and `last`, by the number of the block's part and how long parts are.
Printer::Range open_part(KernelText &out, const Nest &nest, const std::string &number, const std::string &chunk,
                         const std::string &type = "Index");

} // namespace kgen
