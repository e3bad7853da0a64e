// A thread takes several neighbouring positions, of a map or of a loop that the threads of a block share. It loads all
// that lies side by side for them in wide accesses, computes position by position in registers, and stores the results
// the same way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emit/cuda/block.h"

namespace kgen {

// A part of a loop's body: what is done for each position of a thread, or once.
struct LoopPiece {
  std::string text;
  bool each = true;
};

// A loop that threads of a block share, `part` of it or all.
void packed_loop(Block &block, const Nest &nest, const Printer::Range *part);
// A tile of one, which begins at `tile`; its pieces are printed for a name of the position, and for the condition under
// which there is one.
using PiecesOf = std::function<std::vector<LoopPiece>(const std::string &position, const std::string &takes_part)>;
void packed_tile(KernelText &out, const PlanNode &loop, const std::string &tile, const PiecesOf &pieces);

// When the kernel's accesses can be wide, as the host asks.
std::string aligned_text(Printer &printer, const Phase::Launch::Aligned &aligned);

} // namespace kgen
