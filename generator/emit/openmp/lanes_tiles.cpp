// Loops in tiles: where an array has its neighbours along another loop than the lanes, a tile of it is turned first, in
// whole lines of memory both ways, and read as if it lay like the others.
#include <algorithm>

#include "emit/openmp/lanes.h"
#include "plan/cuda/packs.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {}

void LanePrinter::for_each_turned(const PlanNode &loop, AxisId other, const std::function<void(const Expr &)> &visit) {
  lane_ = loop.axis;
  std::set<VarId> written; // here: a tile would keep what was there before
  for (const Access &a : accesses_of(kernel_, loop))
    if (a.write)
      written.insert(a.memory);
  AxisSet inner; // the tile is turned outside of the loops inside, and of ordered steps
  bool steps = false;
  for_each_node(loop, [&](const PlanNode &node) {
    if (node.kind == PlanNode::Kind::loop && &node != &loop)
      inner |= AxisSet::of(node.axis);
    steps = steps || node.kind == PlanNode::Kind::steps;
  });
  const auto is_whole = [](const Dim &dim) { return dim.whole; };
  for_each_node(loop, [&](const PlanNode &node) {
    for (ExprId id : expressions_of(node))
      walk(kernel_, id, [&](ExprId at) {
        const Expr &e = kernel_.expr(at);
        if (e.op != Op::read || !is_crossing(analysis_, e.ref, e.coords, loop.axis, other))
          return true;
        const Var &var = kernel_.vars[e.ref];
        const bool here =
            std::all_of(e.coords.begin(), e.coords.end(), [&](const Coordinate &c) { return is_identity(kernel_, c); });
        const bool outside =
            (var.axes & inner).empty() && (!steps || std::all_of(var.dims.begin(), var.dims.end(), is_whole));
        if (here && outside && written.count(memory_of(kernel_, e.ref)) == 0 && !var.optional &&
            var.type != Type::boolean && guard_of(e).empty() &&
            printer_.plan.storage[e.ref].kind == Storage::Kind::argument)
          visit(e);
        return true;
      });
  });
  lane_ = kNone;
}

bool LanePrinter::has_tiles(const PlanNode &loop, AxisId other) {
  bool found = false;
  for_each_turned(loop, other, [&](const Expr &) { found = true; });
  return found;
}

std::string LanePrinter::pitch_of(VarId var, AxisId other) {
  const LaneStep step = analysis_.step_of(var, {}, other);
  return step.kind == LaneStep::Kind::stride ? printer_.size_text(step.stride) : "";
}

// Where all that lies between neighbours along the lanes is one element for each position of the other axis, and these
// are few: how many. Else 0.
int64_t LanePrinter::fields_of_record(const Expr &read, AxisId lane, AxisId other) const {
  const Axis &axis = kernel_.axes[other];
  const bool known = axis.uniform && axis.ragged == kNone && axis.start.is_integer(0) && axis.block.is_integer() &&
                     axis.block.value >= 2 && axis.block.value <= 4;
  return known && analysis_.step_of(read.ref, read.coords, lane).stride.is_integer(axis.block.value) &&
                 analysis_.step_of(read.ref, read.coords, other).kind == LaneStep::Kind::neighbour
             ? axis.block.value
             : 0;
}

void LanePrinter::tiles(const PlanNode &loop, const Printer::Range &lanes, const Part &part, AxisId other,
                        const Printer::Range &others) {
  int64_t columns = 1;
  bool all_records = true;
  for_each_turned(loop, other, [&](const Expr &e) {
    columns =
        std::max<int64_t>(columns, machine_of(TargetKind::openmp).line_bytes / bytes_of(kernel_.vars[e.ref].type));
    all_records = all_records && fields_of_record(e, loop.axis, other) > 0;
  });
  if (all_records)
    columns = most_positions(kernel_.axes[other]).value_or(columns);
  const std::string v = printer_.axis_name(other), group = names_.claim(v, "_group"), step = std::to_string(columns),
                    most = std::to_string(part.most), &smaller = helper("smaller");
  Lines &out = printer_.lines;
  out.add("for (int64_t " + group + " = " + others.begin + "; " + group + " < " + others.end + "; " + group +
          " += " + step + ") {");
  const std::string end = names_.claim(v, "_end");
  out.add("const int64_t " + end + " = " + smaller + "(" + group + " + " + step + ", " + others.end + ");");
  for_each_turned(loop, other, [&](const Expr &e) {
    const std::string element = printer_.element(e.ref, e.coords, {});
    if (turned_.count(element) != 0)
      return;
    const std::string tile = names_.claim(printer_.name(e.ref), "_turned"), lane = printer_.axis_name(loop.axis);
    printer_.rename_axis(other, group);
    printer_.rename_axis(loop.axis, lanes.begin);
    const std::string first = printer_.element(e.ref, e.coords, {});
    printer_.rename_axis(other, v);
    printer_.rename_axis(loop.axis, lane);
    out.add(Spelling::c_type(kernel_.vars[e.ref].type) + " " + tile + "[" + step + " * " + most + "];");
    const std::string target = tile + ", " + part.text + ", &" + first + ", ", rows = lanes.end + " - " + lanes.begin;
    if (const int64_t fields = fields_of_record(e, loop.axis, other); fields > 0)
      out.add(helper("turn_records") + "(" + target + rows + ", std::make_index_sequence<" + std::to_string(fields) +
              ">{});");
    else
      out.add(helper("turn_tile") + "(" + target +
              printer_.size_text(analysis_.step_of(e.ref, e.coords, loop.axis).stride) + ", " + rows + ", " + end +
              " - " + group + ");");
    turned_[element] = tile + "[(" + v + " - " + group + ") * " + part.text + " + " + lane + " - " + lanes.begin + "]";
  });
  out.add("for (int64_t " + v + " = " + group + "; " + v + " < " + end + "; ++" + v + ") {");
  this->loop(loop, lanes);
  out.add("}\n}");
  turned_.clear();
}

} // namespace kgen
