#include "emit/openmp/lanes/prefetches.h"

#include <set>

#include "plan/index/access.h"

namespace kgen {
namespace {

const PlanNode &asking(const PlanNode &around, const Ahead &ahead) {
  size_t count = 0;
  const PlanNode *found = nullptr;
  for_each_node(around, [&](const PlanNode &n) {
    if (count++ == ahead.asks)
      found = &n;
  });
  return *found;
}

std::string distance(const std::string &from, const std::string &to) { return from == "0" ? to : to + " - " + from; }

} // namespace

void Prefetches::before(const PlanNode &rows, const Printer::Range &down) {
  for (const Ahead &ahead : rows.ahead) {
    if (ahead.what != Ahead::What::rows)
      continue;
    const Printer::Range part = lanes_.printer.range(asking(rows, ahead));
    const std::string &row = lanes_.printer.axis_name(rows.axis);
    const std::string left = rows.reversed ? distance(down.begin, row) + " + 1" : distance(row, down.end);
    ask_if_far(rows, ahead, [&](const Expr &read, const std::string &element) {
      const std::string stride =
          lanes_.printer.size_text(lanes_.analysis.step_of(read.ref, read.coords, rows.axis).stride);
      return lanes_.helper("prefetch_row") + "(&" + element + ", " + left + ", " + distance(down.begin, down.end) +
             ", " + (rows.reversed ? "-" : "") + stride + ", " + distance(part.begin, part.end) + ")";
    });
  }
}

void Prefetches::inside(const PlanNode &loop, const Printer::Range &whole, AxisId outer) {
  for (const Ahead &ahead : loop.ahead) {
    if (ahead.what == Ahead::What::row)
      next_row(loop, ahead);
    if (ahead.what == Ahead::What::soon)
      ask_if_far(loop, ahead, [&](const Expr &, const std::string &element) {
        return lanes_.helper("prefetch_soon") + "(" + number(Decision::ahead_bytes) + ", &" + element + ")";
      });
    if (ahead.what == Ahead::What::part) {
      const Printer::Range part = lanes_.printer.range(asking(loop, ahead));
      ask_if_far(loop, ahead, [&](const Expr &read, const std::string &element) {
        return next_part(read, element, part, whole, outer);
      });
    }
  }
}

void Prefetches::streams(const PlanNode &loop, const std::string &far) {
  for (const Ahead &ahead : loop.ahead) {
    std::string elements;
    for (ExprId read : ahead.reads)
      elements += ", &" + lanes_.element(lanes_.expr(read).ref, lanes_.expr(read).coords);
    asks_[&loop] =
        "if (" + far + ") " + lanes_.helper("prefetch_soon") + "(" + number(Decision::ahead_bytes) + elements + ");\n";
  }
}

void Prefetches::ask_if_far(const PlanNode &around, const Ahead &ahead, const Call &call) {
  std::map<std::string, std::string> elements; // and what asks for those further on
  std::set<VarId> arrays;
  for (ExprId id : ahead.reads) {
    const Expr &read = lanes_.expr(id);
    const std::string element = lanes_.element(read.ref, read.coords);
    elements.emplace(element, call(read, element));
    arrays.insert(read.ref);
  }
  std::string beside;
  for (VarId array : arrays)
    beside += "_" + lanes_.name(array);
  const std::string far = lanes_.names.claim_one_of("from_memory", {"", beside});
  lanes_.add("const bool " + far + " = " + lanes_.printer.bytes_text(arrays) + " >= " + lanes_.helper("kBeyondCaches") +
             ";");
  for (const auto &[element, asks] : elements)
    asks_[&asking(around, ahead)] += "if (" + far + ") " + asks + ";\n";
}

// Behind the last block of a row comes the first one of the next row.
std::string Prefetches::next_part(const Expr &read, const std::string &element, const Printer::Range &part,
                                  const Printer::Range &whole, AxisId outer) const {
  const LaneStep step = outer == kNone ? LaneStep{} : lanes_.analysis.step_of(read.ref, read.coords, outer);
  std::string behind = step.kind == LaneStep::Kind::stride ? lanes_.printer.size_text(step.stride) : "0";
  if (behind != "0" && whole.begin != "0")
    behind += " + " + whole.begin;
  return lanes_.helper("prefetch_part") + "(&" + element + ", " + part.begin + ", " + part.end + ", " + whole.end +
         ", " + behind + ")";
}

void Prefetches::next_row(const PlanNode &rows, const Ahead &ahead) {
  Printer &printer = lanes_.printer;
  const PlanNode &asks = asking(rows, ahead);
  const std::string row = printer.axis_name(rows.axis), next = lanes_.names.claim(row, "_ahead"),
                    last = printer.range(rows).end + " - 1";
  int bytes = 0;
  printer.rename_axis(rows.axis, next);
  for (ExprId id : ahead.reads) {
    const Expr &read = lanes_.expr(id);
    bytes += bytes_of(lanes_.type(read.ref));
    asks_[&asks] += lanes_.helper("prefetch") + "(&" + lanes_.element(read.ref, read.coords) + ");\n";
  }
  printer.rename_axis(rows.axis, row);
  const int64_t most = printer.plan.decide(Decision::ahead_row_bytes) / bytes;
  lanes_.add("const int64_t " + next + " = " + printer.range(asks).end + " <= " + std::to_string(most) + " ? " +
             lanes_.helper("smaller") + "(" + row + " + 1, " + last + ") : " + row + ";");
}

} // namespace kgen
