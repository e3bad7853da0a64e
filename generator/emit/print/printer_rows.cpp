// Sums down few columns, of which several rows go as one (see plan/tidy/rows_at_once.h).
#include "emit/print/printer.h"

namespace kgen {

void Printer::declare_rows_at_once(const PlanNode &blocks) {
  at_once_ = names_.claim(axis_names_[blocks.axis], "_at_once");
  lines.add("// Rows that fill no vector: several go as one.");
  lines.add("const int64_t " + at_once_ + " = " + size_text(*blocks.at_once) + ";");
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
