#include "emit/openmp/lanes/tiles.h"

namespace kgen {

void turned_tiles(LaneScope &lanes, const PlanNode &loop, const Printer::Range &range, const LanePart &part,
                  const Printer::Range &others, const std::function<void()> &print) {
  const AxisId other = loop.on_lanes->crossed;
  const std::string v = lanes.printer.axis_name(other), group = lanes.names.claim(v, "_group"),
                    step = std::to_string(loop.on_lanes->turned_columns), most = std::to_string(part.most),
                    &smaller = lanes.helper("smaller");
  Lines &out = lanes.printer.lines;
  out.add("for (int64_t " + group + " = " + others.begin + "; " + group + " < " + others.end + "; " + group +
          " += " + step + ") {");
  const std::string end = lanes.names.claim(v, "_end");
  out.add("const int64_t " + end + " = " + smaller + "(" + group + " + " + step + ", " + others.end + ");");
  for (const auto &[read, fields] : loop.on_lanes->turned) {
    const Expr &e = lanes.expr(read);
    const std::string element = lanes.element(e.ref, e.coords);
    if (lanes.reads.turned.count(element) != 0)
      continue;
    const std::string tile = lanes.names.claim(lanes.name(e.ref), "_turned"), lane = lanes.printer.axis_name(loop.axis);
    lanes.printer.rename_axis(other, group);
    lanes.printer.rename_axis(loop.axis, range.begin);
    const std::string first = lanes.element(e.ref, e.coords);
    lanes.printer.rename_axis(other, v);
    lanes.printer.rename_axis(loop.axis, lane);
    out.add(Spelling::c_type(lanes.type(e.ref)) + " " + tile + "[" + step + " * " + most + "];");
    const std::string target = tile + ", " + part.text + ", &" + first + ", ", rows = range.end + " - " + range.begin;
    if (fields > 0)
      out.add(lanes.helper("turn_records") + "(" + target + rows + ", std::make_index_sequence<" +
              std::to_string(fields) + ">{});");
    else
      out.add(lanes.helper("turn_tile") + "(" + target +
              lanes.printer.size_text(lanes.analysis.step_of(e.ref, e.coords, loop.axis).stride) + ", " + rows + ", " +
              end + " - " + group + ");");
    lanes.reads.turned[element] =
        tile + "[(" + v + " - " + group + ") * " + part.text + " + " + lane + " - " + range.begin + "]";
  }
  out.add("for (int64_t " + v + " = " + group + "; " + v + " < " + end + "; ++" + v + ") {");
  print();
  out.add("}\n}");
  lanes.reads.turned.clear();
}

} // namespace kgen
