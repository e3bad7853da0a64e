#include "emit/openmp/lanes/lane_printer.h"

#include <algorithm>

#include "emit/openmp/lanes/branches.h"
#include "emit/openmp/lanes/loop.h"
#include "emit/openmp/lanes/records.h"
#include "emit/openmp/lanes/scans.h"
#include "plan/index/exprs.h"

namespace kgen {

void LanePrinter::loop(const PlanNode &loop, const Printer::Range &range) {
  lane_loop(lanes_, totals_, outputs_, loop, range, ahead.of(loop));
}

void LanePrinter::tiles(const PlanNode &loop, const Printer::Range &range, const LanePart &part,
                        const Printer::Range &others) {
  turned_tiles(lanes_, loop, range, part, others, [&] { this->loop(loop, range); });
}

std::string LanePrinter::type_of(VarId var) {
  if (lanes_.axis == kNone || !lanes_.is_vector(var))
    return "";
  const Type type = lanes_.type(var);
  lanes_.note(type);
  return LaneScope::lanes_type(type);
}

bool LanePrinter::node(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  if (lanes_.axis == kNone) {
    if (n.on_lanes)
      loop(n, lanes_.printer.declared_range(n));
    return n.on_lanes.has_value();
  }
  lanes_.reads.gathered.clear();
  switch (n.kind) {
  case PlanNode::Kind::loop:
    if (n.fields > 0)
      loop_over_fields(lanes_, outputs_, n);
    return n.fields > 0;
  case PlanNode::Kind::branch:
    if (!lanes_.varies(n.condition))
      return false;
    branch(lanes_, n);
    return true;
  case PlanNode::Kind::repeat:
    if (lanes_.masks.mask.empty() && !lanes_.analysis.ends_by_lane(n, lanes_.axis))
      return false;
    repeat(lanes_, n, siblings);
    return true;
  case PlanNode::Kind::leave:
  case PlanNode::Kind::next:
    if (lanes_.masks.live.empty())
      return false;
    jump(lanes_, n);
    return true;
  case PlanNode::Kind::steps:
  case PlanNode::Kind::declare:
    return false;
  default:
    return statement(n, siblings);
  }
}

// Those that set something; false: all lanes share what they set.
bool LanePrinter::statement(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const bool along = folds_over(n, lanes_.axis) || (n.kind == PlanNode::Kind::scan_step && n.axis == lanes_.axis);
  if (!along && !lanes_.is_vector(n.target) && lanes_.step_of(n.target, n.coords).kind == LaneStep::Kind::none)
    return false;
  switch (n.kind) {
  case PlanNode::Kind::fold_init:
    start(n.target, lanes_.identity(n.monoid, lanes_.type(n.target)), siblings);
    if (n.partner != kNone)
      start(n.partner, lanes_.printer.spelling.constant(lanes_.type(n.partner), 0, 0), siblings);
    return true;
  case PlanNode::Kind::scan_init:
    start(n.target, lanes_.identity(monoid_of(n.scan), lanes_.type(n.target)), siblings);
    return true;
  case PlanNode::Kind::fold_step:
    return lanes_.placed(Standing::within, [&] {
      if (along)
        fold_across(lanes_, totals_, n, siblings);
      else
        fold_step(lanes_, totals_, outputs_, n, siblings);
      return true;
    });
  case PlanNode::Kind::scan_step:
    (along ? scan_along : scan_beside)(lanes_, outputs_, n, siblings);
    return true;
  default:
    assign(n, siblings);
    return true;
  }
}

void LanePrinter::start(VarId var, const std::string &value, const std::vector<PlanNode> &siblings) {
  lanes_.note(lanes_.type(var));
  set_text(lanes_, outputs_, var, value, false, siblings);
}

void LanePrinter::assign(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const bool moves = std::any_of(n.coords.begin(), n.coords.end(),
                                 [&](const Coordinate &c) { return !is_identity(lanes_.kernel, c); });
  const bool of_record = n.field && !n.coords.empty(), is_local = lanes_.is_vector(n.target);
  const Standing place = of_record ? Standing::within : is_local ? Standing::named : Standing::alone;
  lanes_.placed(place, [&] {
    if (of_record && n.fields > 0)
      store_record(lanes_, outputs_, n, siblings);
    else if (!of_record && (moves || n.scatter_add))
      store_elsewhere(lanes_, outputs_, n);
    else if (!of_record)
      assign_lanes(lanes_, outputs_, n, siblings);
    return true;
  });
}

} // namespace kgen
