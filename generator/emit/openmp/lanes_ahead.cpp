// Rows that several loops go over: the first of them waits for memory, the others do not. While the second computes,
// the next row is fetched. One fold alone waits for memory all the time, and so does a loop down columns, some of each
// row at a time, or through many arrays: they ask early for what comes soon, as what fetches by itself does not go from
// page to page, nor follow many.
#include <algorithm>

#include "emit/openmp/lanes.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {} // namespace

// What the loop reads along its lanes, of the row of this step where there is one; loops inside it read further
// elements.
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
            (row == kNone || analysis_.step_of(e.ref, e.coords, row).kind == LaneStep::Kind::stride))
          out.push_back(&e);
        return true;
      });
  });
  lane_ = kNone;
  return out;
}

// `loop` asks for what `reader` reads.
void LanePrinter::fetch_soon(const PlanNode &loop, const PlanNode &reader, AxisId row,
                             const std::function<std::string(const Expr &, const std::string &)> &call) {
  std::map<std::string, std::string> elements; // and what asks for those further on
  std::set<VarId> arrays;
  for (const Expr *read : row_reads(reader, row)) {
    const std::string element = printer_.element(read->ref, read->coords, {}), asks = call(*read, element);
    if (asks.empty())
      continue;
    elements.emplace(element, asks);
    arrays.insert(read->ref);
  }
  if (elements.empty() || std::ssize(elements) > printer_.plan.decide(Decision::ahead_rows))
    return;
  std::string beside;
  for (VarId array : arrays)
    beside += "_" + printer_.name(array);
  const std::string far = names_.claim_one_of("from_memory", {"", beside});
  printer_.lines.add("const bool " + far + " = " + printer_.bytes_text(arrays) + " >= " + helper("kBeyondCaches") +
                     ";");
  for (const auto &[element, asks] : elements)
    ahead_[&loop] += "if (" + far + ") " + asks + ";\n";
}

void LanePrinter::fetch_streams(const PlanNode &loop, const std::string &far) {
  std::set<VarId> arrays;
  std::string elements;
  for (const Expr *read : row_reads(loop, kNone))
    if (arrays.insert(read->ref).second)
      elements += ", &" + printer_.element(read->ref, read->coords, {});
  if (std::ssize(arrays) >= printer_.plan.decide(Decision::ahead_arrays))
    ahead_[&loop] = "if (" + far + ") " + helper("prefetch_soon") + "(" +
                    std::to_string(printer_.plan.decide(Decision::ahead_bytes)) + elements + ");\n";
}

void LanePrinter::fetch_rows(const PlanNode &rows, const Printer::Range &down) {
  if (lane_ != kNone || kernel_.axes[rows.axis].ragged != kNone) // the latter are mostly few, and follow each other
    return;
  const auto is_columns = [&](const PlanNode &n) { return takes(n) && printer_.in_part(n.axis); };
  const auto columns = std::find_if(rows.body.begin(), rows.body.end(), is_columns);
  if (columns == rows.body.end())
    return;
  if (walked_.count(&rows) != 0)
    return;
  const Printer::Range part = printer_.range(*columns);
  const std::string &row = printer_.axis_name(rows.axis);
  const auto distance = [](const std::string &from, const std::string &to) {
    return from == "0" ? to : to + " - " + from;
  };
  const std::string left = rows.reversed ? distance(down.begin, row) + " + 1" : distance(row, down.end);
  fetch_soon(*columns, *columns, rows.axis, [&](const Expr &read, const std::string &element) {
    const std::string stride = printer_.size_text(analysis_.step_of(read.ref, read.coords, rows.axis).stride);
    return helper("prefetch_row") + "(&" + element + ", " + left + ", " + distance(down.begin, down.end) + ", " +
           (rows.reversed ? "-" : "") + stride + ", " + distance(part.begin, part.end) + ")";
  });
}

// Behind the last block of a row comes the first one of the next row.
std::string LanePrinter::next_part(const Expr &read, const std::string &element, const Printer::Range &part,
                                   const Printer::Range &whole, AxisId outer) {
  const LaneStep step = outer == kNone ? LaneStep{} : analysis_.step_of(read.ref, read.coords, outer);
  std::string behind = step.kind == LaneStep::Kind::stride ? printer_.size_text(step.stride) : "0";
  if (behind != "0" && whole.begin != "0")
    behind += " + " + whole.begin;
  return helper("prefetch_part") + "(&" + element + ", " + part.begin + ", " + part.end + ", " + whole.end + ", " +
         behind + ")";
}

// What several loops of a part go over is in the cache for all but the first of them: the second one asks for the next
// part's. `outer`: the loop around the parts, if there is one.
void LanePrinter::fetch_parts(const PlanNode &part, const Printer::Range &whole, AxisId outer) {
  struct Walk {
    const PlanNode *rows, *columns;
    std::set<VarId> arrays;
  };
  std::vector<Walk> walks;
  const std::function<void(const PlanNode &, const PlanNode *)> find = [&](const PlanNode &node, const PlanNode *rows) {
    if (rows != nullptr && node.axis == part.axis && takes(node)) {
      walks.push_back({rows, &node, {}});
      for (const Expr *read : row_reads(node, rows->axis))
        walks.back().arrays.insert(read->ref);
      return;
    }
    const bool is_rows = node.kind == PlanNode::Kind::loop && node.parts == 0;
    for (const PlanNode &child : node.body)
      find(child, is_rows ? &node : rows);
  };
  for (const PlanNode &node : part.body)
    find(node, nullptr);
  std::set<VarId> seen;
  const auto second = std::find_if(walks.begin(), walks.end(), [&](const Walk &walk) {
    const bool again = std::any_of(walk.arrays.begin(), walk.arrays.end(), [&](VarId v) { return seen.count(v) != 0; });
    seen.insert(walk.arrays.begin(), walk.arrays.end());
    return again;
  });
  if (second == walks.end())
    return;
  for (const Walk &walk : walks)
    walked_.insert(walk.rows);
  const Printer::Range own = printer_.range(*second->columns);
  fetch_soon(*second->columns, *second->columns, second->rows->axis,
             [&](const Expr &read, const std::string &element) { return next_part(read, element, own, whole, outer); });
}

std::vector<const PlanNode *> LanePrinter::loops_of_block(const PlanNode &block) const {
  std::vector<const PlanNode *> out;
  for (const PlanNode &node : block.body)
    if (block.parts > 0 && node.axis == block.axis && takes(node))
      out.push_back(&node);
  return out;
}

void LanePrinter::fetch_block(const PlanNode &block, const Printer::Range &whole) {
  const std::vector<const PlanNode *> loops = loops_of_block(block);
  if (lane_ != kNone || loops.size() < 2)
    return;
  const Printer::Range part = printer_.range(*loops[1]);
  fetch_soon(*loops[1], *loops[0], kNone, [&](const Expr &read, const std::string &element) -> std::string {
    if (kernel_.vars[read.ref].axes == AxisSet::of(block.axis)) // the same for each row, and at hand
      return "";
    return next_part(read, element, part, whole, printer_.innermost_axis());
  });
}

void LanePrinter::fetch_ahead(const PlanNode &rows) {
  std::vector<const PlanNode *> loops;
  // Of rows that are computed in two ways, by their length, the short ones.
  const bool by_length = rows.body.size() == 1 && rows.body[0].near > 0;
  for (const PlanNode &node : by_length ? rows.body[0].body : rows.body) {
    if (loops_of_block(node).size() > 1) // these ask for the next block
      return;
    for (const PlanNode &inner : node.body)
      if (node.parts > 0 && takes(inner))
        loops.push_back(&inner);
    if (takes(node))
      loops.push_back(&node);
  }
  if (loops.size() == 1 && !folds_over(*loops[0]).empty())
    return fetch_soon(*loops[0], *loops[0], rows.axis, [&](const Expr &, const std::string &element) {
      return helper("prefetch_soon") + "(" + std::to_string(printer_.plan.decide(Decision::ahead_bytes)) + ", &" +
             element + ")";
    });
  const Printer::Range range = printer_.range(rows);
  if (loops.size() < 2 || loops[0]->axis != loops[1]->axis || kernel_.axes[rows.axis].ragged != kNone ||
      kernel_.axes[loops[0]->axis].ragged != kNone)
    return;
  const Printer::Range first = printer_.range(*loops[0]), second = printer_.range(*loops[1]);
  if (first.begin != second.begin || first.end != second.end)
    return;
  const std::string row = printer_.axis_name(rows.axis), ahead = names_.claim(row, "_ahead");
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
    printer_.lines.add("const int64_t " + ahead + " = " + first.end +
                       " <= " + std::to_string(printer_.plan.decide(Decision::ahead_row_bytes) / bytes) + " ? " +
                       helper("smaller") + "(" + row + " + 1, " + range.end + " - 1) : " + row + ";");
}

} // namespace kgen
