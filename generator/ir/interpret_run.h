// One run of the interpreter. The parts, a file each: steps (which there are, and which output windows they share),
// memory (addresses, reads, writes and what is strict about them), masks, expressions, folds and scans, statements.
#pragma once

#include <set>

#include "ir/interpret_sizes.h"
#include "ir/interpret_tensor.h"

namespace kgen::interpreter {

// What an operand, scratch or local holds. `writer` says who wrote an element: 0 nobody, else for outputs the run of
// steps that share the window, for the others 1.
struct Storage {
  bool present = true;
  bool all_written = false;
  std::vector<Value> values;
  std::vector<double> magnitudes;
  std::vector<uint8_t> flags;
  std::vector<uint32_t> writer;
  std::vector<uint32_t>
      reader;                  // outputs that are aliases: the parallel step, counted from 1, that read the input there
  std::vector<uint32_t> stamp; // of scatters: the statement execution that wrote it last
  std::vector<int64_t> stride; // by dimension (operands, scratch) or rank of the axis (locals)
  int64_t lanes = 1;           // locals: elements of an array lie this far apart
  std::array<Range, 64> range; // locals: positions there is memory for
  std::array<Range, 64> exists; // locals: positions that it has, in all of the body
};

struct DimState {
  int64_t start = 0, block = 0, extent = 0;
  bool missing = false; // there is no window in this step
  Range range;          // positions whose element exists (windows of inputs by offset: all)
};

// How an element is found: per dimension a coordinate.
struct Address {
  struct Part {
    const Tensor *coordinate = nullptr; // else base (+ position along axis)
    AxisId axis = kNone;
    int64_t base = 0;
    Range valid;
    int64_t origin = 0, stride = 0;
    AxisId row_of = kNone; // the row of a pair with this ragged axis
    bool packed = true;    // a pair whose rows follow each other: the row's own stride is the pair's
  };
  std::vector<Part> parts;
  int64_t base = 0;
};

struct ExprInfo {
  bool dynamic = false; // reads what may not have been written
};

class Run {
public:
  Run(const Kernel &kernel, const RunInput &input, const RunOptions &options, RunResult &result);
  void execute();
  std::vector<int64_t> current_step() const; // empty: none runs

private:
  struct OutputRuns {
    VarId var;
    std::vector<uint32_t> run;      // by step
    std::vector<uint8_t> edge;      // by step: 1 first, 2 last of its window
    std::vector<uint32_t> instance; // by run
  };
  struct CompiledDim {
    SizeNode start, block, extent;
    std::vector<SizeNode> needed; // lengths without which there is no window
  };

  void run_steps();
  // steps
  void enumerate_steps();
  void enumerate_dim(size_t dim);
  int64_t count_steps(size_t dim);
  void note_step();
  void note_windows();
  void begin_instance();
  void begin_step(size_t step);
  void settle_axes();
  void settle_dims(VarId id);
  void settle_ranges();
  void settle_locals();
  bool spread_ranges(const std::vector<Stmt> &list, std::vector<ExprId> &conditions);
  void note_plain(const std::vector<Stmt> &list);
  void note_added_up();
  bool is_missing(const CompiledDim &dim) const;
  void note_no_window(OutputRuns &runs, size_t step);
  void check_window(const Var &var, const Dim &dim, const DimState &state);
  void check_window_limits();
  std::string step_text() const;

  // memory
  void load_operand(VarId id);
  void load_values(Storage &storage, const Array &array);
  void make_scratch(VarId id);
  void make_local(VarId id);
  void allocate(Storage &storage, int64_t elements);
  Address address_of(VarId id, const std::vector<Coordinate> &coords, const std::vector<Tensor> &values);
  void place_in_scratch(AxisId axis, const DimState &state, Address::Part &part) const;
  void pair_rows(std::vector<Address::Part> &parts) const;
  Address local_address(VarId id, const std::vector<Coordinate> &coords, const std::vector<Tensor> &values);
  void address_row(const Address &address, AxisId inner, int64_t n, int64_t *offsets, uint8_t *valid);
  Tensor read(const Expr &e);
  Tensor read_view(const Expr &e, const Address &address);
  Tensor gather(VarId id, AxisSet axes, const Address &address, const std::vector<Tensor> &coordinates, Place place);
  Tensor read_element(const Expr &e);
  Tensor read_table(const Expr &e);
  Tensor inside(const Expr &e);
  bool may_be_unwritten(VarId id) const;
  void check_written(VarId id, int64_t offset, const Place &place);
  void check_kept(VarId id, int64_t offset, const Place &place);
  void check_read(VarId id, int64_t offset, const Place &place) const;
  bool is_plain(const Address &address) const;
  std::string element_text(VarId id, int64_t offset) const;
  void store_output(VarId id);
  void check_coverage(VarId id);
  uint32_t expected_writer(VarId id) const;

  // masks
  MaskPtr and_mask(const MaskPtr &old, const Tensor &condition, bool negate, bool whole);
  MaskPtr minus(const MaskPtr &a, const MaskPtr &b);
  MaskPtr unite(const MaskPtr &a, const MaskPtr &b);
  template <class Combine> void combine_masks(Mask &to, const Mask &from, const Combine &combine);
  MaskPtr project(const MaskPtr &mask, AxisSet onto);
  MaskPtr ragged_mask(AxisSet axes);
  MaskPtr finish_mask(std::shared_ptr<Mask> mask);
  std::shared_ptr<Mask> empty_mask(AxisSet axes, const Box &box);
  int64_t mask_offset(const Mask &mask) const; // of the low corner of the box

  // expressions: the value over the current box
  Tensor eval(ExprId id);
  Tensor eval_whole(ExprId id); // by chunks where that saves memory
  void copy_lanes(const Tensor &part, const Tensor &out, Buffer &buffer, int64_t base);
  Tensor copied(const Tensor &t);
  Tensor eval_to(ExprId id, Type type, bool floating);
  Tensor constant(ExprId id);
  Tensor scalar_op(const Expr &e);
  Tensor converted(const Tensor &t, Type from, Type to);
  Tensor uniform(Value value, Type type);
  Tensor ramp(const Expr &e);
  Tensor size_of(const Expr &e);
  Tensor choose(const Expr &e);
  Tensor logical(const Expr &e);
  bool reads_no_more(ExprId arm, ExprId condition);
  bool reads_plainly(ExprId id, VarId var);
  Tensor select(const Tensor &condition, const Tensor &yes, const Tensor &no, AxisSet axes, Type type, bool everywhere);
  Tensor new_tensor(AxisSet axes, Buffer *&buffer, int64_t &lanes);
  Tensor leaf(const Expr &e);
  // How far expressions reach along an axis, and what of it they use: arrays and locals, the index.
  struct Reach {
    Range range;
    bool touches = false, counts = false;
  };
  Range range_of(std::initializer_list<ExprId> ids, AxisId axis);
  Range within(AxisId axis) const;
  void reach_of(ExprId id, AxisId axis, Reach &reach);
  void reach_of_var(const Expr &e, AxisId axis, Reach &reach);
  void scan_info();

  // folds
  Tensor fold(ExprId id);
  Tensor scan(ExprId id);
  Tensor remembered(ExprId id, Tensor (Run::*compute)(ExprId));

  // statements
  void run_statements(const std::vector<Stmt> &list);
  void run_statement(const Stmt &s);
  void assign(const Stmt &s);
  Tensor apart_from(const Storage &storage, const Tensor &t);
  void store_rows(const Stmt &s, AxisSet lanes, const Tensor &value, const Address &address, const MaskPtr &mask);
  void store_element(const Stmt &s, int64_t offset, Value value, double magnitude, uint8_t flags, bool active);
  void store_range(const Stmt &s, AxisSet lanes, AxisSet named);
  void branch(const Stmt &s);
  void loop(const Stmt &s);
  void leave(const MaskPtr &lanes);
  MaskPtr all_lanes();
  void widen_box(AxisSet axes);

  // reports
  template <class Visit> void for_each_lane(AxisSet axes, const MaskPtr &mask, Visit visit);
  std::string lane_text(const Tensor &tensor, Type type) const;
  std::string place_text(AxisSet axes, bool with_step) const;
  bool is_asked_for(AxisSet axes) const;
  void tell(const std::string &what, const std::string &line);
  void tell_of_more();
  void settle_box(const Stmt &s, const std::vector<ExprId> &values);
  void check(const Stmt &s);
  void note_failed(const Stmt &s, const MaskPtr &failing);
  void print(const Stmt &s);
  int64_t whole_size(AxisId axis) const;
  std::vector<VarId> traced() const;
  void trace_values();
  void trace_empty();
  void trace_values_of(VarId id);
  void trace_step();
  void check_requirements();

  // Calls body(pos) for each row along the last axis of `axes`; pos by axis.
  template <class Body> void for_each_row(AxisSet axes, Body body);
  int64_t row_offset(const Tensor &t, AxisId inner) const;
  // Calls body() with the box cut into pieces of at most kChunk lanes over `axes`.
  template <class Body> void for_each_chunk(AxisSet axes, Body body);
  void work(int64_t lanes);
  [[noreturn]] void fail(const std::string &text, const Place &place, Fault fault = Fault::other,
                         VarId faulty = kNone) const;
  [[noreturn]] void fail_at(VarId id, int64_t offset, const std::string &text, const Place &place, Fault fault) const;
  ErrorModel model() const;

  const Kernel &kernel_;
  const RunInput &input_;
  const RunOptions &options_;
  RunResult &result_;
  const bool reference_;
  SizeContext sizes_;

  std::vector<ExprInfo> info_;
  std::vector<Tensor> constants_; // by expression; data null: not yet
  struct Memo {                   // the last value of a fold or scan, good while nothing it depends on has changed
    uint64_t epoch = 0, mask = 0;
    std::vector<Range> ranges;
    Tensor tensor;
  };
  std::vector<Memo> memo_;
  uint64_t epoch_ = 1, mask_ids_ = 1;
  double unit_ = 0;

  // the steps, in file order
  std::vector<int64_t> steps_; // grid.size() numbers each
  size_t step_count_ = 0;
  std::vector<std::vector<size_t>> instances_; // steps of each choice of parallel steps
  std::vector<uint32_t> instance_of_;
  std::vector<OutputRuns> runs_;
  std::vector<int> runs_of_var_;

  std::vector<std::vector<CompiledDim>> compiled_dims_;
  std::vector<SizeNode> axis_start_, axis_block_, grid_size_;

  // the current step
  size_t step_ = 0;
  std::vector<Storage> storage_;
  std::vector<std::vector<DimState>> dims_;
  std::vector<int64_t> start_, block_; // by axis
  Box full_{}, box_{};
  std::array<int64_t, 64> pos_{};
  uint64_t uncommon_ = 0; // axes whose windows end at different positions
  std::set<VarId> plain_; // locals that are assigned outside of conditions, too
  std::map<uint64_t, MaskPtr> ragged_masks_;
  MaskPtr mask_;
  struct LoopFrame {
    MaskPtr left, skipped;
    bool any_left = false, any_skipped = false;
    bool any() const { return any_left || any_skipped; }
  };
  LoopFrame *frame_ = nullptr;
  uint32_t stamp_ = 0;
  std::set<const Stmt *> added_up_;       // in loops, in whatever order a plan likes
  bool in_any_order_ = false;             // is it one of these that stores?
  std::map<VarId, int64_t> written_here_; // for the trace
  std::map<std::string, int64_t> told_;   // lines of each print and traced name
};

template <class Body> void Run::for_each_row(AxisSet axes, Body body) {
  std::vector<AxisId> list = axes.list();
  AxisId inner = list.empty() ? kNone : list.back();
  for (AxisId axis : list) {
    pos_[axis] = box_[axis].lo;
    if (box_[axis].count() == 0)
      return;
  }
  int64_t n = inner == kNone ? 1 : box_[inner].count();
  for (;;) {
    body(inner, n);
    int k = static_cast<int>(list.size()) - 2;
    for (; k >= 0; --k) {
      if (++pos_[list[k]] < box_[list[k]].hi)
        break;
      pos_[list[k]] = box_[list[k]].lo;
    }
    if (k < 0)
      return;
  }
}

template <class Body> void Run::for_each_chunk(AxisSet axes, Body body) {
  int64_t lanes = 1;
  AxisId cut = kNone;
  int64_t step = 0;
  std::vector<AxisId> outer; // walked one position at a time, then `cut` by `step`
  std::vector<AxisId> list = axes.list();
  for (size_t k = list.size(); k-- > 0;) {
    int64_t n = box_[list[k]].count();
    if (n == 0)
      return;
    if (cut == kNone && lanes * n > kChunk) {
      cut = list[k];
      step = std::max<int64_t>(1, kChunk / lanes);
    } else if (cut != kNone) {
      outer.insert(outer.begin(), list[k]);
    }
    lanes *= n;
  }
  if (cut == kNone)
    return body();
  Box saved = box_;
  for (AxisId axis : outer)
    box_[axis].hi = box_[axis].lo + 1;
  for (;;) {
    for (int64_t lo = saved[cut].lo; lo < saved[cut].hi; lo += step) {
      box_[cut] = {lo, std::min(lo + step, saved[cut].hi)};
      body();
    }
    int k = static_cast<int>(outer.size()) - 1;
    for (; k >= 0; --k) {
      Range &range = box_[outer[k]];
      range = {range.lo + 1, range.hi + 1};
      if (range.hi <= saved[outer[k]].hi)
        break;
      range = {saved[outer[k]].lo, saved[outer[k]].lo + 1};
    }
    if (k < 0)
      break;
  }
  box_ = saved;
}

} // namespace kgen::interpreter
