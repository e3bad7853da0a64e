// The kernel: what is computed, for one variant. Operands, axes, grid and statements, with every type and every axis
// set known, functions inlined and the batch applied. The interpreter gives it its meaning; rewrite changes it; plan
// reads it.
//
// A step of the grid runs all statements. In a step each axis counts positions 0 .. block-1; an operand's element is at
// start + position along each of its dimensions. Statements take effect for all lanes before the next begins.
//
// Expressions live in one pool and never change once made; ids are indices. Statements are a tree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "body/body.h"
#include "spec/spec.h"
#include "support/types.h"

namespace kgen {

using AxisId = int;
using VarId = int;
using TableId = int;
using ScalarId = int;
using GridId = int;
using ExprId = int;
constexpr int kNone = -1;

// At most 64 axes a kernel.
class AxisSet {
public:
  constexpr AxisSet() = default;
  constexpr explicit AxisSet(uint64_t bits) : bits_(bits) {}
  static constexpr AxisSet of(AxisId axis) { return AxisSet(uint64_t{1} << axis); }
  constexpr bool contains(AxisId axis) const { return axis >= 0 && (bits_ >> axis & 1) != 0; }
  constexpr bool contains(AxisSet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int count() const { return __builtin_popcountll(bits_); }
  constexpr AxisSet operator|(AxisSet o) const { return AxisSet(bits_ | o.bits_); }
  constexpr AxisSet operator&(AxisSet o) const { return AxisSet(bits_ & o.bits_); }
  constexpr AxisSet operator-(AxisSet o) const { return AxisSet(bits_ & ~o.bits_); }
  constexpr AxisSet &operator|=(AxisSet o) {
    bits_ |= o.bits_;
    return *this;
  }
  constexpr AxisSet &operator-=(AxisSet o) {
    bits_ &= ~o.bits_;
    return *this;
  }
  constexpr bool operator==(const AxisSet &) const = default;
  constexpr uint64_t bits() const { return bits_; }
  std::vector<AxisId> list() const {
    std::vector<AxisId> out;
    for (uint64_t b = bits_; b != 0; b &= b - 1)
      out.push_back(__builtin_ctzll(b));
    return out;
  }

private:
  uint64_t bits_ = 0;
};

struct Axis {
  std::string name;
  Size size; // `axis(name)` when the caller gives it; else fixed or derived from others
  int64_t multiple_of = 1;
  TableId ragged = kNone; // row b is table[b] .. table[b+1]; `size` is then the total
  AxisId over = kNone;
  bool derived = false; // `equals`: checked not to be negative
  bool batch = false;
  // A loop counts to its size in an int, or an int holds what is computed of its index: launchers refuse larger sizes,
  // which that does not hold. 0: any.
  int64_t most_in_int = 0;
  bool rest = false; // the axis of a leading `...`; its size argument is `rows`
  // The window that operands with this axis share. `uniform` is false when their windows differ; then only the dims
  // count.
  bool uniform = true;
  Size start;          // global index of position 0; over grid names and sizes
  Size block;          // positions in a step; equal to `size` when nothing blocks it
  int64_t most = 0;    // positions that it has at most in the calls which a plan is for; 0: any number
  int64_t mean = 0;    // of ragged rows: how many these have about, on average, in such calls; 0: any number
  GridId grid = kNone; // the dimension whose `axis` this is
  Place place;
};

inline void hold_in_int(Axis &axis, int64_t most) {
  if (axis.most_in_int == 0 || most < axis.most_in_int)
    axis.most_in_int = most;
}

// Does its length depend on the position along that axis?
inline bool is_ragged_over(const Axis &axis, AxisId over) { return axis.ragged != kNone && axis.over == over; }

// How many positions it has, or has at most, where that is known.
inline std::optional<int64_t> most_positions(const Axis &axis) {
  if (axis.most > 0)
    return axis.most;
  const bool known = axis.uniform && axis.ragged == kNone && axis.block.is_integer();
  return known ? std::optional(axis.block.value) : std::nullopt;
}

// The least size from there on that the axis may have.
inline int64_t fitting_size(const Axis &axis, int64_t size) {
  return (size + axis.multiple_of - 1) / axis.multiple_of * axis.multiple_of;
}

// Is this the size of the whole axis? (A derived axis has a formula, and is called by its name.)
inline bool is_size_of(const Axis &axis, const Size &size) {
  return size == axis.size || (size.op == Size::Op::axis && size.name == axis.name);
}

// One dimension of an array with one axis or none. A split dimension `(G C)` is two of these with one array_dim: in
// memory it is one. So is a ragged axis with the axis that it is ragged over: [B, N] is one packed dimension, element
// table[b] + n. A window that moves (not whole) may be that of an axis which the body does not see (squeezed: axis
// kNone).
struct Dim {
  AxisId axis = kNone;   // kNone: extent 1 in a step (written `1`, or squeezed)
  Size extent;           // of the array
  Size start;            // first element of the window
  Size block;            // elements of the window
  bool whole = true;     // the window is the whole dimension
  bool offset = false;   // start counts elements (inputs then read `outside`, and never remove lanes)
  bool may_miss = false; // found by analysis: squeezed, and a step may run while the array has no elements
  int array_dim = 0;     // dimension as written, for strides
};

struct Var {
  enum class Kind { input, output, scratch, local };
  Kind kind = Kind::local;
  std::string name;
  Type type = Type::f32; // as stored
  AxisSet axes;          // of an operand: those of its dims; of a local: found by the fixpoint
  std::vector<Dim> dims; // operands and scratch
  double outside = 0;
  bool strided = false;
  bool optional = false;
  bool partial = false;
  bool overwrite = false;
  bool atomic = false;
  VarId alias = kNone;        // output: the input whose memory it is (that input has no C argument); input: that output
  std::vector<int64_t> array; // local: fixed-size array
  bool named = false;         // local: by the user, so that a trace shows it
  bool asked = false;         // local: it names a question, which is read in its place
  Place place;
};

struct Table {
  std::string name;
  Type type = Type::i32;
  std::vector<Size> dims;
  bool sorted = false;
  bool unique = false;
  std::optional<Size> range;
  bool on_host = false;
  Place place;
};

struct GridDim {
  std::string name;
  Size size; // number of steps; over sizes, outer grid names and tables. Over an axis and not stated
             // parallel: max(1, cdiv(...)). Over a ragged axis by its total: never too few steps
  std::optional<Size> at_most;
  AxisId axis = kNone; // blocks this axis by `block`
  Size block;
  std::optional<Semantics> stated;
  Semantics semantics = Semantics::arbitrary; // stated, or inferred by analysis
  Place place;
};

enum class Op {
  constant,   // `integer` or `number`, by type
  scalar,     // ref: ScalarId
  read,       // ref: VarId; coords: at other coordinates; else the current point. Type: the arithmetic type
  element,    // ref: VarId of a local array; args: indices
  table,      // ref: TableId; args: indices; 0 outside
  index,      // axis; ref: VarId or kNone: global index
  size,       // axis; ref: VarId or kNone
  block,      // axis
  grid_index, // ref: GridId
  grid_size,  // ref: GridId
  first,      // ref: GridId: is this its first step
  last,
  window_first, // ref: VarId of an output: first step of its current window
  window_last,
  present,    // ref: VarId
  inside,     // ref: VarId; coords
  cast,       // args[0] to type
  bitcast,    // args[0] to type
  round_like, // args[0] rounded to `element`
  choose,     // args: condition, then, else; only what is needed is evaluated
  both,       // && : the same
  either,     // ||
  fold,       // monoid over `reduced`; args: element, and the condition of `where` when there are two
  scan,       // scan over `axis`; args: element (linrec: a, b)
  named_call, // ref: Kernel::named_functions; args: a call that is kept as one, where names are kept
  row_of,     // axis: ragged; args: the packed place of an element. The row that it is of. Plans alone have it
  kept,       // while building: args: value, condition, otherwise. A choice where the value differs along `reduced`,
              // else the value
#define KGEN_OP(id, ...) id,
#include "ir/ops.def"
#undef KGEN_OP
};

enum class Monoid { sum, product, min, max, mean, all, any, argmax, argmin };
enum class ScanKind { sum, product, max, linear }; // linear: h = a * h + b

// `H = e`: an operand's coordinate in its array, or an axis' global index of a local or scratch.
struct Coordinate {
  AxisId axis;
  ExprId value;
};

// The one along the axis; none where there is no axis.
inline const Coordinate *find_coordinate(const std::vector<Coordinate> &coords, AxisId axis) {
  for (const Coordinate &c : coords)
    if (axis != kNone && c.axis == axis)
      return &c;
  return nullptr;
}

// A whole number is one of low .. high, and below the size of an axis.
struct Bounds {
  int64_t low = INT64_MIN, high = INT64_MAX;
  AxisId below = kNone;
};
Bounds bounds_of(Type type); // all of its values; what is said of u64 means nothing

struct Expr {
  Op op = Op::constant;
  Type type = Type::f32; // arithmetic types only (never f16, bf16)
  AxisSet axes;          // along which the value differs
  std::vector<ExprId> args;
  int ref = kNone;
  AxisId axis = kNone;
  std::vector<Coordinate> coords;
  int64_t integer = 0;
  double number = 0;
  Monoid monoid = Monoid::sum;
  AxisSet reduced;
  ScanKind scan = ScanKind::sum;
  bool reverse = false;
  bool exclusive = false;
  Type accumulator = Type::f32; // of fold and scan
  Type element = Type::f32;     // round_like
  bool safe = false;            // a read, element or table access at coordinates that analysis proved inside
  bool nan_shows = false;       // min, max: by its arguments in all that depends on this, so that this may ignore it
  Bounds bounds;                // as analysis found them
  Place place;
};

// Was anything found of the value, that is, can its exact value be held by its type?
inline bool is_bounded(const Expr &e) {
  const Bounds all = bounds_of(e.type);
  return e.bounds.low > all.low || e.bounds.high < all.high;
}
inline bool is_within(const Expr &e, int64_t extent) { return e.bounds.low >= 0 && e.bounds.high < extent; }

// What a print shows: a text, or a value.
struct Shown {
  std::string text;
  ExprId value = kNone;
};

struct Stmt {
  enum class Kind {
    assign,  // target (at coords, an output: scatter) = value; `update`: target = target op value
    declare, // a local array comes to life, zeroed
    branch,  // value: condition; body, otherwise
    loop, // while (value) { body; step }; value kNone: forever. Initialisation stands before it. Its axes: those of the
          // condition and of the conditions of its breaks and continues
    leave, // break
    next,  // continue: goes on with `step`
    check, // assert: value. The interpreter alone knows this one and the next
    print, // `shown`, for each lane
  };
  Kind kind = Kind::assign;
  VarId target = kNone;
  std::vector<ExprId> indices;    // element of a local array
  std::vector<Coordinate> coords; // at(o, N = e) = value
  bool scatter_add = false;       // at(o, ...) += v: value is evaluated for all lanes first, then each lane adds
  std::vector<Shown> shown;       // print
  bool update = false;            // was written as target op= value (value reads target already)
  ExprId value = kNone;
  std::vector<Stmt> body, otherwise, step;
  AxisSet axes;    // lanes: of the target for assign, of the condition for branch and loop
  AxisSet context; // axes of the enclosing conditions
  Place place;
};

struct ScalarArgument {
  std::string name;
  Type type;
};

// What the caller must keep, for all positions along the axes of the condition: it reads sizes, scalars and tables
// only.
struct Requirement {
  ExprId condition;
  std::string text;
  Place place;
};

// Which sizes keep a window inside its array, whatever entries a table has that keeps to its declared range.
struct WindowLimit {
  VarId var;
  Size condition;
};

struct Kernel {
  std::string name;   // of the kernel
  std::string suffix; // of the variant
  std::string doc;
  std::vector<Axis> axes;
  std::vector<Var> vars; // operands first, in file order
  std::vector<ScalarArgument> scalars;
  std::vector<Table> tables;
  std::vector<GridDim> grid;                 // outermost first; the batch, if any, is dimension 0
  std::vector<ArgumentRef> arguments;        // C order, before the sizes; operand = VarId
  std::vector<AxisId> size_arguments;        // C order
  std::map<std::string, int64_t> fixed_axes; // specialised: the launcher checks that the argument is this
  std::vector<Expr> exprs;
  std::vector<Requirement> requirements;
  std::vector<WindowLimit> window_limits; // found by the analysis
  std::vector<Stmt> statements;
  std::vector<ScheduleEntry> schedule;
  std::vector<Pin> pins;                    // of the plan's numbers
  std::vector<std::string> named_functions; // of calls that are kept as such

  const Expr &expr(ExprId id) const { return exprs[id]; }
  ExprId add(Expr e) {
    exprs.push_back(std::move(e));
    return static_cast<ExprId>(exprs.size()) - 1;
  }
};

// Is it one of 0 .. extent - 1, as far as its bounds tell?
inline bool is_within(const Kernel &kernel, const Expr &e, const Size &extent) {
  if (extent.is_integer() && is_within(e, extent.value))
    return true;
  return e.bounds.low >= 0 && e.bounds.below != kNone && is_size_of(kernel.axes[e.bounds.below], extent);
}

std::string_view op_name(Op op);
int op_arity(Op op);      // of a scalar operation
bool is_scalar_op(Op op); // a row of ops.def
Op mirrored(Op op);       // a < b is b > a; other operations are as they were
Op negated(Op op);        // of a comparison: !(a < b) is a >= b, but for NaN
// Axes of the current point on which `inside(x, ...)` hangs beside its coordinates: those where the point itself may
// lie outside the array, and that of the rows which a coordinate lies in or picks.
AxisSet axes_asked(const Kernel &kernel, const Expr &inside);

// What stays a name in a kernel from which a text is made again, as the gradient is: parameters that are numbers, which
// become scalars; calls of functions that a list of choices names; and calls of these functions.
struct KeptNames {
  std::set<std::string> of_library, own; // own: of the spec
};

// Spec + Body -> Kernel. Finds types, axes (the fixpoint), inlines calls, applies the batch. Refuses what the language
// forbids about axes, reductions, assignments and windows. A kernel with kept names is neither run nor planned. With
// `steps_are_positions`, the number of a step that has one position of an axis (block = 1) is the index of that
// position: the same number, but one that differs along the axis.
std::optional<Kernel> build_kernel(const Spec &spec, const Variant &variant, const body::Body &body, Diagnostics &diags,
                                   const KeptNames *kept = nullptr, bool steps_are_positions = false);

std::string print(const Kernel &kernel);
std::string print(const Kernel &kernel, ExprId expr);

// The legal form, checked after each stage that makes a Kernel. Empty: it is.
std::string verify(const Kernel &kernel);

} // namespace kgen
