// The kernels of CUDA, by what the plan says that one does (Phase::Launch::Work): each of these prints the body of one,
// and says how the host launches it.
#pragma once

#include "emit/cuda/kernel_text.h"
#include "plan/cuda/nests.h"

namespace kgen {

// Beside what the plan says of it.
struct KernelLaunch {
  std::string blocks;
  std::string prepare = {}; // statements of the host before it
  std::string threads = {}; // of a block, where the host's `shape` says them
  std::string slots = {};   // a team shares a row: where its blocks meet
  std::string chunk = {};   // the type of `chunk`: `chunks` blocks take so many points each
};

// Neighbouring threads take neighbouring work items, each runs the rest alone.
KernelLaunch thread_kernel(KernelText &out, const Phase &phase);
// The same for several neighbouring positions of a map (see packs.h).
KernelLaunch packs_kernel(KernelText &out, const Phase &phase);

// Maps whose arrays lie crosswise: a block takes a tile of both axes. What has its neighbours along the other axis goes
// through shared memory, so that neighbouring threads always touch neighbouring elements.
KernelLaunch crosswise_kernel(KernelText &out, const Phase &phase);

// Folds whose kept loop runs along memory, such as sums of columns, and what is then written for each of their
// elements: neighbouring threads take neighbouring columns, and the threads of a block with one threadIdx.x share the
// rows of their column. Blocks may share a column (see shared_folds.h).
KernelLaunch columns_kernel(KernelText &out, const Phase &phase);
std::string column_shape(Printer &printer, const Phase &phase); // that of the host

// The threads of a block, or of a warp, walk the statements of one item together (see block.h), or those of a phase
// that one block does.
KernelLaunch block_kernel(KernelText &out, const Phase &phase);

// Work items that are rows: folds along them, and what is computed from these, all over one nest of loops. Part of a
// warp, a block or several blocks share a row, as the host's table of lengths says. What several loops read stays in
// shared memory, where each thread finds again what it has loaded before. Blocks that share a single fold leave its end
// to the last of them; where more comes after a fold, they are a team, and wait for each other.
KernelLaunch row_kernel(KernelText &out, const Phase &phase);
KernelLaunch team_kernel(KernelText &out, const Phase &phase);
// With `wide`, the last argument is whether accesses are wide: then threads may have rows in registers.
std::string row_shape(Printer &printer, const Phase &phase, const std::string &wide = "");

// Folds over a whole array: blocks take chunks of the turns of its loops; the last to come combines what all have left
// in the workspace, and does what comes next.
KernelLaunch chunks_kernel(KernelText &out, const Phase &phase);
Nest chunked_nest(const Plan &plan, const Phase &phase);
std::string chunked_turns(Printer &printer, const Phase &phase);

} // namespace kgen
