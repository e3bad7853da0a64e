// Sizes, grid numbers and tables of one run: the specs' integer expressions with every name resolved to a slot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/evaluate.h"
#include "ir/interpret.h"

namespace kgen::interpreter {

// Ends a run. Caught where it began.
struct Failure {
  std::string text;
  Place place;
  Fault fault = Fault::other;
  VarId faulty = kNone;
  std::string element;
};

struct SizeNode {
  Size::Op op = Size::Op::integer;
  int64_t value = 0; // or the slot of a name
  std::vector<SizeNode> args;
  Place place;
};

struct TableData {
  std::vector<int64_t> shape;
  std::vector<int64_t> values;
};

class SizeContext {
public:
  // Settles the sizes of all axes, and with `with_tables` the tables. Throws Failure.
  SizeContext(const Kernel &kernel, const RunInput &input, bool with_tables);

  SizeNode compile(const Size &size) const;
  int64_t evaluate(const SizeNode &node) const; // throws Failure
  int64_t evaluate(const Size &size) const { return evaluate(compile(size)); }

  const TableData &table(TableId id) const { return tables_[id]; }
  // Entry by indices; nullopt outside.
  std::optional<int64_t> entry(TableId id, const std::vector<int64_t> &indices) const;

  int64_t axis_size(AxisId axis) const { return axis_sizes_[axis]; } // ragged: the total
  int64_t row_start(AxisId ragged, int64_t row) const { return tables_[kernel_.axes[ragged].ragged].values[row]; }
  int64_t row_length(AxisId ragged, int64_t row) const { return row_start(ragged, row + 1) - row_start(ragged, row); }
  int64_t longest_row(AxisId ragged) const { return longest_[ragged]; }

  std::vector<int64_t> step;        // current step of each grid dimension
  std::vector<int64_t> step_counts; // and how many there are

private:
  int64_t settle_axis(AxisId axis, std::vector<int> &state, const RunInput &input);
  void load_table(const Table &table, const RunInput &input);
  void check_facts(const Table &table, const TableData &data) const;
  void check_ragged(AxisId axis);

  const Kernel &kernel_;
  std::vector<int64_t> axis_sizes_;
  std::vector<int64_t> longest_;
  std::vector<TableData> tables_;
};

// Is this dimension the row of a packed pair `B, N`? The pair is one dimension of the array, the total of N.
bool is_packed(const Kernel &kernel, const Var &var, size_t dim);
std::vector<int64_t> operand_shape(const Kernel &kernel, const Var &var, const SizeContext &sizes); // throws Failure

} // namespace kgen::interpreter
