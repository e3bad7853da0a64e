// Folds over the threads that share a work item, and what blocks leave of them in the workspace for the last one to
// combine. Both go in an order that depends on sizes alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/cuda/kernel_text.h"

namespace kgen {

// The threads that share a work item: how one of them knows its place, and which writes what all have.
struct Team {
  std::string index = "threadIdx.x", size = "blockDim.x", writer = "threadIdx.x == 0", fold = "block_fold",
              helper = "block_fold";
  bool columns = false;     // its threads go down columns, each its own
  std::string present = ""; // the question whether a thread has a column; empty: all do
};

// What each thread has of a fold, while it goes through its share of a loop.
struct Share {
  std::string whole, mine; // names
  bool begins = true;      // or has the thread had one already
};
using Shares = std::map<VarId, Share>;

// From here on the folds go into variables of each thread, which this declares; until they end.
Shares begin_shares(KernelText &out, const std::vector<const PlanNode *> &folds);
// The same, where threads without a part in the loop have nothing of its folds.
Shares shares_of_takers(KernelText &out, const std::vector<const PlanNode *> &folds, Shares shares,
                        const std::string &takes_part);
void end_shares(Printer &printer, const Shares &shares);

// The place of a fold takes in what the threads of the block have. That of a chunk, and that of the whole array, has
// nothing yet, nor is it declared.
enum class Result { item, chunk, whole };
void fold_shares(KernelText &out, const Team &team, const PlanNode &fold, const Shares &shares,
                 Result of = Result::item);
// What they have of a fold, as a text.
std::string team_fold(KernelText &out, const Team &team, const PlanNode &fold, const Shares &shares);
// A thread takes what a block has left in the workspace into its share.
void fold_parts(KernelText &out, const std::vector<const PlanNode *> &folds, const Shares &shares,
                const std::string &slot);
const std::string &parts_name(Printer &printer, VarId var);

// `[](float a, float b) { return float(a + b); }`: what a fold or scan makes of two totals.
std::string combination_of(KernelText &out, const PlanNode &step);
// Not in variables of each thread.
bool in_memory(const Printer &printer, VarId var);

} // namespace kgen
