// How the threads of a CUDA map reach memory. Along the lanes, a thread takes the elements of several neighbouring
// positions, so that one access moves 16 bytes where arrays and rows begin at multiples of that. Where arrays lie the
// other way round, a block takes a tile of both axes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/index/lanes.h"

namespace kgen {

constexpr int kMostTogether = 16; // positions that it takes

// An access whose elements of neighbouring positions are neighbours in memory.
struct PackedAccess {
  int fields = 1;            // elements of the array for one position
  int field = 0;             // which of them
  std::vector<AxisId> inner; // dimensions whose coordinates tell the field
  std::optional<Size> unit;  // a stride argument that must be 1
  std::vector<Size> strides; // elements from row to row: must be multiples of an access
};

std::optional<PackedAccess> packed_access(const Plan &plan, const LaneAnalysis &lanes, VarId var,
                                          const std::vector<Coordinate> &coords, AxisId lane);

// Of a loop, a thread of which takes several positions at once: what it loads and stores side by side, as it comes.
struct Pack {
  VarId var = kNone;
  std::vector<Coordinate> coords;
  bool load = true, safe = false; // safe: it is inside of the array
  PackedAccess access;
};
std::vector<Pack> packs_of(const Plan &plan, const PlanNode &loop);
// When these accesses are wide.
Phase::Launch::Aligned aligned_for(const Plan &plan, const std::vector<const PlanNode *> &loops, int together);
// How a thread goes along the loop then.
PlanNode::Packs packs_along(const Plan &plan, const PlanNode &loop, const Phase::Launch &launch);

// Bytes of an access where the arrays begin at multiples of the widest access.
int access_bytes(int bytes_together);

// The positions that a thread takes of the loop; 1 where it takes them one by one.
int positions_together(const Plan &plan, const PlanNode &loop);

// A map over two of the loops of a work list, some of whose arrays have neighbours along the one, some along the other.
struct Crossing {
  const PlanNode *other = nullptr; // the loop that crosses the last one
  int side = 32;                   // positions of a tile along both
};
std::optional<Crossing> crossing(const Plan &plan, const std::vector<const PlanNode *> &chain);

} // namespace kgen
