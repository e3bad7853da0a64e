#include "emit/openmp/lanes/scans.h"

#include "emit/openmp/lanes/monoids.h"
#include "emit/openmp/lanes/reads.h"
#include "emit/openmp/lanes/values.h"
#include "plan/index/exprs.h"

namespace kgen {

// A scan along the lanes: lanes that take no part leave the carry as it is.
void scan_along(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &n,
                const std::vector<PlanNode> &siblings) {
  const Type type = lanes.type(n.target);
  lanes.note(type);
  const Monoid monoid = monoid_of(n.scan);
  const std::string carry = lanes.name(n.target), step = n.reverse ? "-1" : "1";
  const auto kept = [&](ExprId id, const std::string &other) {
    return lanes.helper("keep") + "(" + lanes.masks.current() + ", " + widened(lanes, id, type, 0) + ", " + other + ")";
  };
  std::string running;
  if (lanes.analysis.regroups(n)) {
    const std::string identity = lanes.identity(monoid, type);
    const auto &[one, other] = lanes.names.pair();
    if (monoid == Monoid::max && is_floating(type))
      lanes.printer.spelling.helper("maximum"); // of the carries
    running = lanes.helper(n.exclusive ? "scan_before" : "scan_lanes") + "<" + step + ">(" + carry + ", " +
              kept(n.value, identity) + ", " + identity + ", " +
              combiner(lanes, combined(lanes, monoid, type, one, other), one, other, "auto") + ")";
  } else {
    const bool linear = n.scan == ScanKind::linear;
    const std::string one = lanes.identity(Monoid::product, type);
    running = lanes.helper(linear ? "scan_linear" : "scan_products") + "<" + step +
              (n.exclusive ? ", true>(" : ", false>(") + carry + ", " + kept(n.value, one) +
              (linear ? ", " + kept(n.second, lanes.identity(Monoid::sum, type)) : "") + ")";
  }
  if (n.partner != kNone)
    set_text(lanes, outputs, n.partner, running, true, siblings);
  else // only the total is wanted
    lanes.add(running + ";");
}

void scan_beside(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &n,
                 const std::vector<PlanNode> &siblings) {
  const Type type = lanes.type(n.target);
  lanes.note(type);
  const std::string carry = loaded(lanes, n.target, {});
  std::string next;
  if (lanes.printer.fuses(n)) {
    lanes.helper("lanes_multiply_add");
    next =
        "multiply_add(" + widened(lanes, n.value, type, 0) + ", " + carry + ", " + on_lanes(lanes, n.second).text + ")";
  } else if (n.scan == ScanKind::linear) {
    next =
        widened(lanes, n.value, type) + " * " + carry + " + " + at_least(on_lanes(lanes, n.second), binding::kAdd + 1);
  } else {
    next = combined(lanes, monoid_of(n.scan), type, carry, widened(lanes, n.value, type));
  }
  const bool wanted = n.partner != kNone; // or only the total
  if (wanted && n.exclusive)
    set_text(lanes, outputs, n.partner, carry, true, siblings);
  set_text(lanes, outputs, n.target, next, false, siblings);
  if (wanted && !n.exclusive)
    set_text(lanes, outputs, n.partner, carry, true, siblings);
}

} // namespace kgen
