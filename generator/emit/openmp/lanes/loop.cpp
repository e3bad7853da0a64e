#include "emit/openmp/lanes/loop.h"

#include <algorithm>
#include <set>

#include "emit/print/pass_words.h"
#include "emit/target_file.h"
#include "plan/index/access.h"

namespace kgen {
namespace {

// The variables around a loop that its body changes, and arrays. What else it uses is copied into the function that is
// called for each group: as references, pointers and sizes would be read again for each, since the stores might have
// changed them for all that the compiler knows.
std::vector<std::string> changed_from_outside(const LaneScope &lanes, const LaneTotals &totals, const PlanNode &loop) {
  std::set<VarId> folded;
  std::vector<std::string> names;
  for (const auto &[fold, of_lanes] : totals.of_lanes) {
    folded.insert({fold->target, fold->partner});
    names.push_back(of_lanes);
  }
  std::set<VarId> seen;
  for (const Access &access : accesses_of(lanes.kernel, loop)) {
    const Storage::Kind kind = lanes.kind_of(access.var);
    const bool changed = kind == Storage::Kind::array || (kind == Storage::Kind::scalar && access.write);
    if (changed && folded.count(access.var) == 0 && lanes.printer.is_declared(access.var) &&
        seen.insert(access.var).second)
      names.push_back(lanes.name(access.var));
  }
  for (const auto &[element, tile] : lanes.reads.turned)
    names.push_back(tile.substr(0, tile.find('[')));
  return names;
}

// Where outputs go around the caches by whole lines, groups begin with those of the widest one, wherever it lies: what
// says so and where, for the call. Empty: they must not, as the groups decide what is added up with what.
std::string lines_of(const LaneScope &lanes, const LaneTotals &totals, const LaneOutputs &outputs, const PlanNode &loop,
                     const std::string &begin) {
  const bool regroups = std::any_of(loop.body.begin(), loop.body.end(), [&](const PlanNode &n) {
    return n.kind == PlanNode::Kind::scan_step && n.axis == loop.axis;
  });
  if (!totals.of_lanes.empty() || regroups || loop.reversed || contains_loop(loop.body))
    return "";
  VarId widest = kNone;
  for (const PlanNode &n : loop.body)
    if (n.kind == PlanNode::Kind::assign && n.coords.empty() && outputs.streamed.count(n.target) != 0 &&
        (widest == kNone || bytes_of(lanes.type(n.target)) > bytes_of(lanes.type(widest))))
      widest = n.target;
  if (widest == kNone)
    return "";
  const std::string point = lanes.printer.axis_name(loop.axis);
  lanes.printer.rename_axis(loop.axis, begin);
  const std::string first = lanes.element(widest, {});
  lanes.printer.rename_axis(loop.axis, point);
  return outputs.around + ", &" + first + ", ";
}

// Of rows that are walked, totals are in registers: the parameters of the function for these, and where they lie.
std::pair<std::string, std::string> walked_totals(const LaneScope &lanes, LaneTotals &totals, const PlanNode &loop) {
  std::string parameters, sums;
  for (const PlanNode &n : loop.body)
    if (!lanes.printer.walked_rows().row.empty() && n.kind == PlanNode::Kind::fold_step) {
      totals.in_registers[n.target] = lanes.printer.name_beside(n.target, "_here");
      parameters += ", auto& " + totals.in_registers[n.target];
      sums += ", " + lanes.name(n.target);
    }
  return {parameters, sums};
}

} // namespace

void lane_loop(LaneScope &lanes, LaneTotals &totals, const LaneOutputs &outputs, const PlanNode &loop,
               const Printer::Range &whole, const std::string &ahead) {
  Printer &printer = lanes.printer;
  lanes.axis = loop.axis;
  lanes.widest = 1;
  const int64_t wanted = loop.on_lanes->block;
  const bool is_shorter = printer.in_part(loop.axis) && printer.plan.decide(Decision::chunk) <= wanted;
  const int64_t block = is_shorter ? 0 : wanted;
  const std::string &v = printer.axis_name(loop.axis);
  totals.of_lanes = totals_of_lanes(lanes, loop);
  totals.first = block > 0 ? lanes.names.claim(v, "_block") : whole.begin;
  const std::vector<std::string> outer = changed_from_outside(lanes, totals, loop);
  const Printer::WalkedRows rows = printer.walked_rows();
  const auto [parameters, sums] = walked_totals(lanes, totals, loop);
  const std::string body = ahead + printer.captured([&] { printer.list(loop.body); });
  const std::string text = printer.captured([&] {
    printer.lines.append(pass_words(printer, loop));
    Printer::Range range = whole;
    if (block > 0)
      range = printer.open_rounds(totals.first, range, std::to_string(block));
    std::string references;
    for (const std::string &name : outer)
      if (mentions_word(body, name))
        references += ", &" + name;
    if (const AxisId looked_up = std::exchange(lanes.reads.looked_up, kNone); looked_up != kNone) {
      const std::string &row = lanes.reads.near_row;
      lanes.add("int64_t " + row + " = " + printer.row_of(looked_up, range.begin).text + ";");
      references += ", &" + row;
    }
    for (const auto &[fold, of_lanes] : totals.of_lanes)
      declare_total(lanes, *fold, of_lanes);
    const std::string active = mentions_word(body, lanes.masks.active) ? "auto " + lanes.masks.active : "auto";
    const std::string point = mentions_word(body, v) ? "int64_t " + v : "int64_t";
    lanes.helper("for_lanes");
    const std::string lines = rows.row.empty() ? lines_of(lanes, totals, outputs, loop, range.begin) : rows.arguments;
    lanes.add(lanes.helper(!rows.row.empty() ? "for_rows"
                           : loop.reversed   ? "for_lanes_down"
                           : lines.empty()   ? "for_lanes"
                                             : "for_lines") +
              "<" + kLaneCount + ">(" + lines + range.begin + ", " + range.end + ", [=" + references + "](" +
              (rows.row.empty() ? "" : "int64_t " + rows.row + ", ") + point + ", " + active + parameters +
              ") IN_SET {");
    lanes.add(body + "}" + sums + ");");
    lanes.axis = kNone;
    for (const auto &[fold, of_lanes] : totals.of_lanes)
      combine(lanes, totals.first, *fold, of_lanes);
    if (block > 0)
      lanes.add("}");
  });
  printer.lines.append(lanes.with_count(text));
  totals = {};
}

} // namespace kgen
