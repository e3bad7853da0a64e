// Rows that several loops go over: the first of them waits for memory, the others do not. While the second computes,
// the next row is fetched. One fold alone waits for memory all the time: it asks early for what comes soon, as what
// fetches by itself does not go from page to page.
#include <algorithm>

#include "emit/lanes.h"
#include "plan/access.h"
#include "plan/exprs.h"

namespace kgen {
namespace {

constexpr int kRowBytes = 64 * 1024; // longer rows would push out what the loops still need
constexpr size_t kFewArrays = 2;     // of more, the fetches would cost more than they save

} // namespace

// What the loop reads along its lanes, of the row of this step; loops inside it read further elements.
std::vector<const Expr *> LanePrinter::row_reads(const PlanNode &loop, AxisId row) {
  std::vector<const Expr *> out;
  AxisSet inside;
  for (const PlanNode &child : loop.body)
    for_each_node(child, [&](const PlanNode &node) {
      if (node.kind == PlanNode::Kind::loop)
        inside |= AxisSet::of(node.axis);
    });
  lane_ = loop.axis;
  for_each_node(loop, [&](const PlanNode &node) {
    for (ExprId id : expressions_of(node))
      walk(kernel_, id, [&](ExprId at) {
        const Expr &e = kernel_.expr(at);
        if (e.op != Op::read || printer_.plan.storage[e.ref].kind != Storage::Kind::argument)
          return true;
        const bool here =
            std::all_of(e.coords.begin(), e.coords.end(), [&](const Coordinate &c) { return is_identity(kernel_, c); });
        if (here && !kernel_.vars[e.ref].optional && (kernel_.vars[e.ref].axes & inside).empty() &&
            guard_of(e).empty() && analysis_.step_of(e.ref, e.coords, lane_).kind == LaneStep::Kind::neighbour &&
            analysis_.step_of(e.ref, e.coords, row).kind == LaneStep::Kind::stride)
          out.push_back(&e);
        return true;
      });
  });
  lane_ = kNone;
  return out;
}

void LanePrinter::fetch_soon(const PlanNode &fold, AxisId row) {
  std::set<std::string> elements;
  std::set<VarId> arrays;
  for (const Expr *read : row_reads(fold, row)) {
    elements.insert(printer_.element(read->ref, read->coords, {}));
    arrays.insert(read->ref);
  }
  if (elements.empty() || elements.size() > kFewArrays)
    return;
  const std::string far = names_.claim("from_memory");
  printer_.lines.add("const bool " + far + " = " + printer_.bytes_text(arrays) + " >= " + helper("kBeyondCaches") +
                     ";");
  for (const std::string &element : elements)
    ahead_[&fold] += "if (" + far + ") " + helper("prefetch_soon") + "(&" + element + ");\n";
}

void LanePrinter::fetch_ahead(const PlanNode &rows) {
  std::vector<const PlanNode *> loops;
  // Of rows that are computed in two ways, by their length, the short ones.
  const bool by_length = rows.body.size() == 1 && rows.body[0].kind == PlanNode::Kind::branch;
  for (const PlanNode &node : by_length ? rows.body[0].body : rows.body) {
    for (const PlanNode &inner : node.body)
      if (node.parts > 0 && takes(inner))
        loops.push_back(&inner);
    if (takes(node))
      loops.push_back(&node);
  }
  if (loops.size() == 1 && !folds_over(*loops[0]).empty())
    return fetch_soon(*loops[0], rows.axis);
  const Printer::Range range = printer_.range(rows);
  if (loops.size() < 2 || loops[0]->axis != loops[1]->axis || kernel_.axes[rows.axis].ragged != kNone ||
      kernel_.axes[loops[0]->axis].ragged != kNone || range.begin != "0")
    return;
  const Printer::Range first = printer_.range(*loops[0]), second = printer_.range(*loops[1]);
  if (first.begin != second.begin || first.end != second.end)
    return;
  const std::string row = printer_.axis_name(rows.axis), ahead = names_.claim(row + "_ahead");
  int bytes = 0;
  std::set<std::string> seen;
  printer_.rename_axis(rows.axis, ahead);
  for (const Expr *read : row_reads(*loops[0], rows.axis)) {
    const std::string element = printer_.element(read->ref, read->coords, {});
    if (!seen.insert(element).second)
      continue;
    bytes += bytes_of(kernel_.vars[read->ref].type);
    ahead_[loops[1]] += helper("prefetch") + "(&" + element + ");\n";
  }
  printer_.rename_axis(rows.axis, row);
  if (bytes > 0)
    printer_.lines.add("const int64_t " + ahead + " = " + first.end + " <= " + std::to_string(kRowBytes / bytes) +
                       " ? " + helper("smaller") + "(" + row + " + 1, " + range.end + " - 1) : " + row + ";");
}

} // namespace kgen
