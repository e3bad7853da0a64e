// The statements that the threads of a block run together: parallel loops are strided over the threads, reductions end
// in a fold over the block, scans go in tiles, other ordered loops are run by one thread. Barriers stand where memory
// that one statement writes is touched by another.
#pragma once

#include <optional>
#include <set>

#include "emit/cuda/folds.h"
#include "plan/cuda/nests.h"

namespace kgen {

// Of a row that several blocks share: which points are the block's, and what of it stays on the chip.
struct RowPart {
  Printer::Range points;
  std::map<VarId, std::string> kept = {}; // what has the elements of each array
  std::set<VarId> loaded = {};            // by an earlier loop
  // Threads may have all their packs in registers; then this says whether a thread has any.
  std::string takes_part = "";
};

struct Block {
  KernelText &out;
  Team team = {};
  std::set<VarId> shared = {};  // memory that statements exchange
  std::set<VarId> pending = {}; // folds that go on over the rounds of the block
  std::optional<RowPart> part = {};
};

void block_list(Block &block, const std::vector<PlanNode> &list);
void block_node(Block &block, const PlanNode &node, const std::vector<PlanNode> &siblings);
// The threads of the block take neighbouring points of the loops in turn, `points` of them or all.
void strided(Block &block, const Nest &nest, const Printer::Range *points);
// Scans along the loop. They take a tile of it at a time: one position for each thread, or several side by side where
// these are packed. What comes before a scan in the loop's body is done for all positions of the tile, then the block
// scans their values, then comes what is behind; the carry goes from tile to tile. Positions past the end have the
// identity.
void block_scans(Block &block, const PlanNode &loop);
// Those folds of the loop that end with it.
std::vector<const PlanNode *> ending_folds(const Block &block, const PlanNode &loop);

// The buffers of the block, one after the other in shared memory, or in the workspace where they are too long.
void take_buffers(KernelText &out, const std::vector<VarId> &buffers);
constexpr int kFoldBytes = 32 * 16; // one slot a warp for folds over the block, before them

} // namespace kgen
