// The plan: how one target computes a kernel. A list of phases, each a loop tree over the kernel's statements, with the
// folds and scans taken out of expressions and every intermediate value placed. `choose` decides; emit prints the tree.
//
// In the tree an axis loop runs over global indices: from the origin of the axis' window to its end. A statement stands
// under exactly the loops of its lanes. Fold accumulators are variables: an init, a step inside the reduced loops.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/facts.h"
#include "ir/kernel.h"
#include "plan/decisions.h"

namespace kgen {

// Expr::integer of a size: of the axis, or of the row at hand where it is ragged; of all rows together; of the part at
// hand of a loop in parts.
constexpr int64_t kSizeOfAxis = 0, kSizeOfRows = 1, kSizeOfPart = 2;

// A fold over values of rows and columns (see contractions): how many loops of each stand around its body, and the
// numbers of which it is made.
struct Contraction {
  int rows = 0, columns = 0;
  VarId left = kNone, right = kNone, total = kNone;
  // Of sums of products of short whole numbers, of which several positions of the depth are taken at a time: the types
  // that hold the left and the right ones, i8, u8 or i16.
  std::optional<std::pair<Type, Type>> short_types;
  std::optional<Type> stored; // of sums of products of floating numbers that arrays of this type hold
  // How factors are stored otherwise than tiles read them: left ones of a column of rows are neighbours, right ones
  // that one column meets are.
  bool left_along_rows = false, right_along_depth = false;
};

// OpenMP, of folds along lanes: what each lane has for itself until it joins the total.
struct LaneTotal {
  enum class Form {
    plain,   // a value
    turns,   // several sums, of which one round adds to each in turn, as additions wait for each other
    extreme, // the greatest or least value, and whether any was NaN
    best,    // the greatest or least value and what is noted of it
    words,   // a sum of numbers of 16 bits, or of products of two such, in 32 bits
  };
  Form form = Form::plain;
  Type type = Type::f32;       // of a value, or of what is noted
  std::vector<ExprId> factors; // of words

  Type type_of_lanes() const { return form == Form::words ? Type::i16 : type; }
};

// OpenMP, of loops that go over several positions at once, as lanes of vectors.
struct LaneLoop {
  struct Turned {
    ExprId read;
    int64_t fields; // of records: all that lies between neighbours along the lanes; else 0
  };
  int64_t block = 0;          // totals of lanes join those of the loop every so many positions; 0: behind it
  AxisId crossed = kNone;     // that of the loop around, along which arrays have their neighbours: threads share tiles
  std::vector<Turned> turned; // what is read so, of which tiles are turned first,
  int64_t turned_columns = 0; // of so many positions of that axis
};

// OpenMP: what a loop on lanes asks memory for before it is wanted.
struct Ahead {
  enum class What {
    soon,    // what it reads itself, some positions further on
    streams, // the same, of each of many arrays
    rows,    // what it reads of the rows that come next
    row,     // what the first loop over a row reads of the next row
    part,    // what an earlier loop reads of the next part of the range
  };
  What what = What::soon;
  size_t asks = 0;           // which loop does: its number among the nodes inside, as for_each_node meets them
  std::vector<ExprId> reads; // one of each array
};

// One statement of the program, before and in the tree.
struct PlanNode {
  enum class Kind {
    loop,      // over `axis`: body
    steps,     // over grid dimension `grid`, in order or in parallel: body
    assign,    // target (at coords or indices) = value
    fold_init, // target = identity of its monoid
    fold_step, // target = combine(target, value), where `condition` holds
    scan_init, // the carry `target` = identity
    scan_step, // result = combine(carry, value): see Kernel's scan
    declare,   // a local array, zeroed
    branch,    // condition: body, otherwise
    repeat,    // while (condition) body; step
    leave,
    next,
  };
  Kind kind = Kind::assign;
  AxisId axis = kNone;
  GridId grid = kNone;
  VarId target = kNone;
  VarId partner = kNone; // argmax, argmin: the best value; scans: the result, if more than the total is wanted
  std::vector<ExprId> indices;
  std::vector<Coordinate> coords;
  bool scatter_add = false;
  bool apart = false;    // no two workers add to the same element
  bool streamed = false; // OpenMP: written around the caches where it is large, as nobody would find it there
  ExprId value = kNone;
  ExprId second = kNone; // linrec: b; argmax, argmin: what to note of the best
  ExprId condition = kNone;
  Monoid monoid = Monoid::sum;
  AxisSet reduced; // of fold_step and fold_init
  ScanKind scan = ScanKind::sum;
  bool reverse = false;
  bool exclusive = false;
  AxisSet lanes;   // the axes whose loops must surround this
  AxisSet context; // of assignments: the axes of the conditions around it
  std::vector<PlanNode> body, otherwise, step;
  Place place;
  int origin = kNone; // of folds, scans, and assignments to what has several: its number in the program; copies keep it

  // Of loops, filled by the tree builder:
  enum class Order { parallel, reduction, ordered };
  Order order = Order::parallel; // may iterations run at once; do folds finish after it; or must they go in order
  bool reversed = false;         // an ordered loop that counts down
  AxisId share = kNone;          // goes over the part of its range that belongs to the current position of this axis
  int64_t share_step = 1;        // shares begin at multiples of so many positions
  int64_t parts = 0;             // goes over parts of so many positions; loops over the axis inside go over one part
  std::optional<Size> at_once;   // so many rows go as one, of few columns:
  AxisId along = kNone;          // loops over the columns go along several of these rows
  ExprId end = kNone;            // goes no further than this, whatever the range
  TableId table = kNone;         // goes over the positions for which this sorted table
  ExprId entry = kNone;          // has this entry
  std::optional<Size> kept;      // of parts: the bytes of each position that wait in the cache to be read again,
  bool row_by_row = false;       // those of a position beside each other
  std::vector<std::pair<VarId, int>> limits; // (var, dim): windows that bound the loop
  std::optional<Contraction> contraction;    // of the outermost loop over the rows of one, which stays as it is
  std::optional<LaneLoop> on_lanes;          // of loops (see plan/lanes)
  std::optional<LaneTotal> lane_total;       // of folds along these
  std::vector<Ahead> ahead;                  // of loops: what those inside, or they themselves, ask for
  // Inside these, where lanes write whole records. Of a loop over their fields, or of the first of the statements that
  // set one each: how many there are.
  int64_t fields = 0;
  std::optional<int64_t> field; // which one a statement sets; in a loop over the fields 0, for that of the round
  // CUDA: threads share the loop, and each takes several positions at once.
  struct Packs {
    int together = 1;               // so many
    bool whole = false;             // wide accesses leave no rest
    bool unrolled = true;           // several rounds may be under way at once
    std::vector<VarId> reciprocals; // of these are taken once, for all that is divided by them
  };
  std::optional<Packs> packs;

  // Of branches that a pass has made: rows of so many positions of `axis` take the first list, longer ones the other,
  // and both compute the same. 0: a condition of the kernel, which is nothing to a pass.
  int64_t near = 0;
};

// Where a variable lives.
struct Storage {
  enum class Kind {
    argument, // an array of the caller
    scalar,   // a C++ variable at the place of its scope
    array,    // a small C++ array of constant extents
    worker,   // a buffer of one thread (OpenMP) or block (CUDA), in the workspace
    program,  // a buffer that phases share, in the workspace
  };
  Kind kind = Kind::scalar;
  std::vector<AxisId> dims; // of buffers: the axes that are stored
  AxisId in_parts = kNone;  // stored for the part at hand of this axis,
  int64_t part = 0;         // of at most so many positions
  std::optional<Size> kept; // of buffers in parts: as PlanNode has it
  bool operator==(const Storage &) const = default;
};

struct Phase {
  enum class Kind {
    serial,     // one worker does all of it
    parallel,   // the leading `split` loops of the root make a work list
    chunked,    // the root is a reduction over a whole axis: chunks of it, then a combine in order
    contracted, // OpenMP: behind the leading `split` loops, nothing but a contraction
  };
  enum class Mapping {
    item_per_thread, // CUDA: neighbouring threads take neighbouring items
    item_per_block,  // CUDA: the threads of a block share the loops inside one item
  };
  // CUDA: what the kernel is (see plan/cuda/launches.h).
  struct Launch {
    enum class Work {
      none,      // there is no kernel: all that the phase does, that of the phase before does
      items,     // a thread takes an item
      packs,     // a thread takes several neighbouring positions of the last loop of the work list
      crosswise, // a block takes a tile of two loops of the work list, through shared memory
      columns,   // threads of a block share the folds of an item, neighbouring threads have neighbouring items
      block,     // the threads of a block share the statements of an item, or of all
      warps,     // the same, by part of a block
      row,       // part of a block, or several blocks, share the one loop of folds of an item
      team,      // they share all loops of an item, and wait for each other
      points,    // blocks take chunks of the points of a nest, threads share them
      rounds,    // blocks take chunks of the outermost loop, threads share what is inside
    };
    // What blocks of one kernel leave for each other in the workspace.
    struct Room {
      enum Kind { parts, tickets, slots, ticket } kind = parts;
      VarId var = kNone;
    };
    // When a thread may take several positions at once.
    struct Aligned {
      std::vector<VarId> arrays;                       // begin at multiples of an access
      std::vector<Size> units;                         // strides are 1
      std::vector<std::pair<Size, int64_t>> multiples; // sizes are multiples of numbers
    };
    Work work = Work::none;
    int together = 1; // positions that a thread takes at once
    Aligned aligned;
    bool split = false;                     // several blocks may share an item
    bool folds = false;                     // threads of a block, or for all of them, find values
    bool doubles = false;                   // there are numbers in double precision
    std::vector<VarId> buffers;             // that each block has
    std::vector<VarId> kept;                // arrays that a row reads once and keeps on the chip where it fits
    int held = 0;                           // packs of each of those that a thread may have in registers
    std::vector<std::vector<Size>> lengths; // factors of the numbers of points that threads share, one nest each
    std::vector<Room> rooms;
  };
  Kind kind = Kind::serial;
  std::vector<PlanNode> nodes; // serial: several; else one root
  int split = 0;
  std::vector<VarId> partials; // accumulators of a chunked phase, and the best values of its argmax and argmin
  Mapping mapping = Mapping::item_per_block;
  AxisId lane = kNone; // the axis whose loop runs over neighbouring elements of memory
  ExprId when = kNone; // left out unless this holds, a question of sizes;
  bool unless = false; // or where it does
  bool whole = false;  // for calls whose rows have one share: these are not cut
  Launch launch;
};

// A total that sums depend on, in one loop over blocks: what a block or a share has added is put right when the total
// changes (see fuse_folds).
struct FollowedTotal {
  VarId total = kNone;          // the greatest so far; or a sum, whose mean counts
  Op power = Op::exp;           // of what depends on a greatest value: exp or exp2
  VarId seen = kNone;           // of a sum: how many positions it has
  std::vector<VarId> followers; // sums of powers beneath the greatest; of squares about the mean
};

struct Plan {
  TargetKind target = TargetKind::openmp;
  Decisions decisions; // asked by `decide`
  Kernel kernel;       // with the temporaries of folds and scans
  std::vector<Phase> phases;
  std::vector<Storage> storage; // by VarId
  std::vector<AxisId> axis_order;
  std::vector<FollowedTotal> followed;
  ExprId zero = kNone;            // CUDA: the constant, where structures begin
  AxisSet shares;                 // axes that the plan has added: which share of a fold's rounds
  std::vector<std::string> notes; // why, for `explain`

  // A number of the plan; `about` an axis or an operand where it may have one of its own.
  int64_t decide(Decision decision, AxisId about = kNone) const {
    return decisions(decision, about == kNone ? "" : kernel.axes[about].name);
  }
  int64_t decide(Decision decision, const Var &about) const { return decisions(decision, about.name); }
};

Plan make_plan(const Kernel &kernel, const Facts &facts, TargetKind target);

// CUDA. A statement that only sets an accumulator of a chunked phase, where its parts are combined.
bool starts_chunks(const Plan &plan, const PlanNode &node);
// OpenMP. Does it only set numbers that others use, made of constants, arguments and sizes?
bool sets_numbers(const Plan &plan, const Phase &phase);
// Does the phase become a kernel? What one worker does after chunks, the last block of their kernel does.
bool is_kernel(const Plan &plan, size_t phase);

std::string print(const Plan &plan);

} // namespace kgen
