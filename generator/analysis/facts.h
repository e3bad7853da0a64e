// What is true of a kernel beyond what its spec says: which grid dimensions are parallel, which windows stay inside,
// that no two parallel steps write one element, that everything is written before it is left and read. Each claim
// carries one of three verdicts: proved now, checked at the call, or refuted with a witness (an error). What is neither
// is refused.
//
// Proofs are structural first (a window start is a step times a block, no product of symbols is multiplied out), then
// by isl within a fixed budget; refutations come from evaluating all windows of small concrete grids.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/kernel.h"
#include "support/diagnostics.h"

namespace kgen {

enum class Verdict {
  proved,
  checked, // by a Check in the launcher
  guarded, // by a Guard in each step: what it refuses is skipped and reported through the table status
  refuted,
};

// Concrete sizes, steps and an element at which a claim fails.
struct Witness {
  std::vector<std::pair<std::string, int64_t>> sizes; // argument order
  std::vector<std::vector<int64_t>> steps;            // one value per grid dimension; one step or two
  std::string element;                                // "z[0, 3]"; may be empty
};
// "at M = 3, N = 2: steps (i = 0, j = 0) and (i = 1, j = 0) both write z[0, 0]" without the verb.
std::string to_string(const Kernel &kernel, const Witness &witness);

struct Finding {
  Verdict verdict = Verdict::proved;
  std::string reason; // one clause for `explain`
  std::optional<Witness> witness;
};

// Something the launcher verifies before anything is written. Order is the order of verification: a later one may rely
// on all earlier ones (an extent is evaluated only after the sizes in it are known not to be negative).
struct Check {
  enum class Kind {
    size_negative,   // a size argument
    size_multiple,   // `multiple_of`
    size_fixed,      // a specialised axis has another size here
    size_derived,    // an `equals` axis is negative
    extent_negative, // `X=e`
    overflow,        // the product of `factors` (extents and bytes of an element, or steps) exceeds 63 bits
    grid_negative,   // a `size` dimension
    grid_empty,      // no step, yet an output has elements
    at_most,         // more steps than declared
    window,          // a window has no element inside its array
    disjoint,        // parallel steps would write the same elements
    coverage,        // the windows do not reach every element of an output
    relation,        // another condition on sizes that a proof depends on
    table_index,     // a table is read outside its own extent by a window or grid size
    table_sorted,    // declared facts of `table`
    table_unique,
    table_range,    // 0 <= entry < `condition` (an expression over sizes)
    table_runs,     // steps of equal windows of `var` are consecutive
    table_disjoint, // parallel steps have different windows of `var`
    ragged,         // `table` starts at 0, never falls, and ends at the total
  };
  Kind kind = Kind::relation;
  // Must not be 0 for all values of `loops`. Over size arguments, tables, and the grid names in `loops`. Unused by
  // overflow, and by the table_ and ragged kinds but for table_range.
  Size condition = Size::integer(1);
  std::vector<GridId> loops;   // outermost first; sizes of inner ones may use outer ones
  std::vector<Size> factors;   // overflow
  std::vector<TableId> tables; // read by the condition: without host access this check is not made (Guards are)
  TableId table = kNone;       // whose entries are checked
  VarId var = kNone;
  AxisId axis = kNone;
  GridId grid = kNone;
  std::string argument; // the C argument to blame, in the spec's name for it
  std::string message;  // a sentence for `<kernel>_error(status)`: "N must not be negative"
};

// In a kernel whose tables are device memory: the step runs only where the condition holds.
struct Guard {
  Size condition;
  std::vector<TableId> tables;
  VarId var = kNone;    // whose window it is; none: it is about a table
  std::string argument; // to blame, in the spec's name for it
  std::string message;
};

// Where a statement stands: indices from the top; in between 0 body, 1 otherwise, 2 step.
using StmtPath = std::vector<int>;
const Stmt &statement(const Kernel &kernel, const StmtPath &path);

// A body of the form first / accumulate / last over one arbitrary dimension that blocks an axis.
struct Accumulation {
  struct Carried {
    VarId var;
    Monoid monoid;                 // sum product min max all any
    std::vector<StmtPath> init;    // assignments under first(k), all of them unconditional otherwise
    std::vector<StmtPath> updates; // v = v (+) fold over the axis
  };
  std::vector<Carried> carried;
  std::vector<StmtPath> last;  // top-level statements under last(k)
  std::vector<StmtPath> every; // top-level statements of every step that are not updates: pointwise along the axis
};

struct GridFact {
  Semantics semantics = Semantics::arbitrary;
  bool stated = false;
  Finding finding;            // why it is (or is not) parallel
  std::vector<VarId> carried; // scratch and outputs whose values cross its steps
  // A parallel dimension over an axis that may be dropped: its axis then is whole, and may be tiled anew.
  bool dissolvable = false;
  std::string dissolve_reason; // why not
  // Set for an arbitrary dimension over an axis whose body is canonical along it; else the reason.
  std::optional<Accumulation> accumulates;
  std::string accumulate_reason;
};

struct AxisFact {
  bool independent = true; // the body never mixes locals, scratch or outputs along it, and windows move alike
  bool folded = false;     // a fold or scan runs along it
  std::string reason;      // what mixes it
};

struct OperandFact {
  Finding bounds;                 // at least one element of each window is inside
  std::vector<Verdict> dims;      // the same per dimension
  std::vector<GridId> moves_with; // dimensions on which the window depends
  // Outputs only.
  Finding disjoint;               // over parallel steps
  Finding revisit;                // in file order
  Finding windows_cover;          // every element is in some window
  Finding written;                // every element of a window is written before it is left
  Finding initialised;            // also scratch: nothing is read before it is written
  bool read_before_write = false; // an aliased input: all its reads come before the output's first write
  // Counts, over sizes (of the kernel) and grid names (of a step).
  Size elements;      // of the array; scratch: of one block
  Size step_elements; // of a window
};

struct Counts {
  std::map<Op, Size> operations;  // lane operations of scalar ops; folds and scans count as add, mul, min, max
  Size bytes_read, bytes_written; // each array once
  Size step_bytes_read, step_bytes_written; // windows of one step
  Size steps;                               // of the grid
  bool bounded = true;                      // false: a loop of unknown length was counted as one trip
};

struct Facts {
  std::vector<GridFact> grid;        // per Kernel::grid
  std::vector<AxisFact> axes;        // per Kernel::axes
  std::vector<OperandFact> operands; // per Kernel::vars; of locals only `initialised`
  std::vector<Check> checks;         // in the order of verification
  std::vector<Guard> guards;
  // Reads at coordinates (input `read`, `table`) that are proved inside: no guard needed. By ExprId.
  std::vector<bool> inside;
  std::map<ExprId, std::string> inside_reason;
  // Scatter statements proved one-to-one are not listed; scatter_add needs no proof.
  Counts counts;
  Size largest_index;             // of any array, as elements: below 2^31 32-bit indices are safe
  std::vector<std::string> notes; // what exceeded the effort bound and became a check
};

// Number of steps: of an arbitrary dimension over an axis at least one.
Size grid_steps(const Kernel &kernel, GridId grid);

// Finds everything; sets the semantics of inferred dimensions in `kernel`. Errors go to `diags`; the facts are then
// still whole enough to be printed.
Facts analyze(Kernel &kernel, Diagnostics &diags);

// Notes in the kernel which of its reads are proved to lie inside.
void mark_safe(Kernel &kernel, const Facts &facts);

std::string print(const Kernel &kernel, const Facts &facts);

} // namespace kgen
