// Sums down few columns, of which several rows go as one (see plan/tidy/rows_at_once.h).
#include "emit/print/printer.h"

namespace kgen {
namespace {

constexpr int64_t kFewColumns = 16; // a part of columns has all of them, however many threads there are

// As many rows as have so many numbers, but no more than there are; one, where a row fills vectors.
Size count_at_once(const Kernel &kernel, const PlanNode &blocks, AxisId columns) {
  const auto op = [](Size::Op o, std::vector<Size> args) { return Size::make(o, std::move(args)); };
  const Size one = Size::integer(1), &width = kernel.axes[columns].size;
  const Size some = op(Size::Op::divide, {Size::integer(blocks.at_once), op(Size::Op::max, {one, width})});
  const Size all = op(Size::Op::max, {one, kernel.axes[blocks.axis].size});
  return op(Size::Op::choose,
            {op(Size::Op::less_equal, {width, Size::integer(kFewColumns)}), op(Size::Op::min, {some, all}), one});
}

} // namespace

void Printer::declare_rows_at_once(const PlanNode &blocks) {
  const AxisId columns = blocks.body.front().axis;
  at_once_ = names_.claim(axis_names_[blocks.axis], "_at_once");
  lines.add("// Rows that fill no vector: several go as one.");
  lines.add("const int64_t " + at_once_ + " = " + size_text(count_at_once(kernel, blocks, columns)) + ";");
}

void Printer::rows_at_once(const PlanNode &walk, const Range &rows) {
  const PlanNode &columns = walk.body.front();
  const std::string &row = axis_names_[walk.axis];
  walked_rows_ = {row, rows.begin + ", " + rows.end + ", " + at_once_ + ", "};
  inside_loops({&walk}, [&] { list(walk.body); });
  walked_rows_ = {};
  for (const PlanNode &step : columns.body)
    if (step.kind == PlanNode::Kind::fold_step) {
      const int bits = 8 * bytes_of(type_row(kernel.vars[step.target].type).arithmetic);
      lines.add(spelling.helper("add_rows") + "<" + spelling.helper("kLanes" + std::to_string(bits)) + ">(" +
                var_names_[step.target] + ", " + at_once_ + ", " + range(columns).end + ");");
    }
}

} // namespace kgen
