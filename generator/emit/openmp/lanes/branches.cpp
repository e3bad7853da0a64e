#include "emit/openmp/lanes/branches.h"

#include <algorithm>

#include "emit/openmp/lanes/values.h"
#include "plan/index/access.h"

namespace kgen {
namespace {

bool is_jumping_branch(const PlanNode &n) { return n.kind == PlanNode::Kind::branch && jumps_out(n); }

// Does a statement go on with the next round of the loop around it?
bool has_next(const PlanNode &n) {
  if (n.kind == PlanNode::Kind::repeat)
    return false;
  return n.kind == PlanNode::Kind::next || std::any_of(n.body.begin(), n.body.end(), has_next) ||
         std::any_of(n.otherwise.begin(), n.otherwise.end(), has_next);
}

// The masks of what follows a jump.
std::vector<std::string> jump_masks(const LaneScope &lanes, const PlanNode &jump) {
  std::vector<std::string> masks = lanes.masks.branches;
  if (!lanes.masks.round.empty())
    masks.push_back(lanes.masks.round);
  if (jump.kind == PlanNode::Kind::leave)
    masks.push_back(lanes.masks.live);
  return masks;
}

void masked(LaneScope &lanes, const std::string &mask, const std::vector<PlanNode> &nodes) {
  const std::string outer = lanes.masks.mask;
  lanes.masks.mask = mask;
  if (std::any_of(nodes.begin(), nodes.end(), is_jumping_branch))
    lanes.masks.branches.push_back(mask);
  lanes.add("if (" + lanes.helper("any_lane") + "(" + mask + ")) {");
  lanes.printer.list(nodes);
  lanes.add("}");
  if (!lanes.masks.branches.empty() && lanes.masks.branches.back() == mask)
    lanes.masks.branches.pop_back();
  lanes.masks.mask = outer;
}

// The numbers that nobody reads after the loop, nor when it is entered again. A lane that has left it stays out: they
// may go on changing there. (Whole numbers might overflow.)
std::vector<VarId> own_numbers(LaneScope &lanes, const PlanNode &loop, const std::vector<PlanNode> &siblings) {
  std::map<VarId, int> reads;
  const auto count = [&](const PlanNode &node, int sign) {
    for (const Access &a : accesses_of(lanes.kernel, node))
      if (!a.write)
        reads[a.var] += sign;
  };
  count(loop, -1);
  std::vector<VarId> out;
  for (const PlanNode &before : siblings) {
    if (&before == &loop)
      break;
    const VarId var = before.kind == PlanNode::Kind::assign && before.coords.empty() ? before.target : kNone;
    if (var != kNone && is_floating(lanes.type(var)) && lanes.kind_of(var) == Storage::Kind::scalar)
      out.push_back(var);
  }
  if (out.empty())
    return out;
  for (const Phase &phase : lanes.printer.plan.phases)
    for (const PlanNode &root : phase.nodes)
      count(root, 1);
  out.erase(std::remove_if(out.begin(), out.end(), [&](VarId var) { return reads[var] != 0; }), out.end());
  return out;
}

} // namespace

void branch(LaneScope &lanes, const PlanNode &n) {
  const bool only_jumps = n.body.size() == 1 && is_jump(n.body[0]) && n.otherwise.empty();
  if (only_jumps && jump_masks(lanes, n.body[0]) == std::vector<std::string>{lanes.masks.current()}) {
    const std::string condition = at_least(on_lanes(lanes, n.condition), binding::kUnary);
    lanes.add(lanes.masks.current() + " = " + lanes.masks.current() + " && !" + condition + ";");
    return;
  }
  const std::string condition = lanes.names.claim("chosen");
  // A jump inside a branch within it takes lanes away.
  const bool loses_lanes = std::any_of(n.body.begin(), n.body.end(), is_jumping_branch) ||
                           std::any_of(n.otherwise.begin(), n.otherwise.end(), is_jumping_branch);
  const std::string type = loses_lanes ? "auto " : "const auto ";
  lanes.add(type + condition + " = " + lanes.masks.current() + " && " +
            at_least(on_lanes(lanes, n.condition), binding::kAnd + 1) + ";");
  lanes.helper("active_mask");
  if (!n.body.empty())
    masked(lanes, condition, n.body);
  if (n.otherwise.empty())
    return;
  const std::string rest = lanes.names.claim("others");
  lanes.add(type + rest + " = " + lanes.masks.current() + " && !" + condition + ";");
  masked(lanes, rest, n.otherwise);
}

void repeat(LaneScope &lanes, const PlanNode &n, const std::vector<PlanNode> &siblings) {
  lanes.helper("active_mask");
  const std::string live = lanes.names.claim("live"), mask = std::exchange(lanes.masks.mask, live);
  const std::string outer_live = std::exchange(lanes.masks.live, live),
                    outer_round = std::exchange(lanes.masks.round, "");
  const std::vector<std::string> outer_branches = std::exchange(lanes.masks.branches, {});
  const std::map<VarId, std::string> outer_unmasked = lanes.masks.unmasked;
  for (VarId var : own_numbers(lanes, n, siblings))
    lanes.masks.unmasked[var] = live;
  lanes.add("auto " + live + " = mask_of(" + (mask.empty() ? lanes.masks.active : mask) + ");");
  const std::string test =
      n.condition == kNone ? live
                           : live + " = " + live + " && " + at_least(on_lanes(lanes, n.condition), binding::kAnd + 1);
  lanes.add("while (" + lanes.helper("any_lane") + "(" + test + ")) {");
  if (std::any_of(n.body.begin(), n.body.end(), has_next)) {
    lanes.masks.round = lanes.masks.mask = lanes.names.claim("going_on");
    lanes.add("auto " + lanes.masks.round + " = " + live + ";");
  }
  lanes.printer.list(n.body);
  lanes.masks.mask = live;
  lanes.printer.list(n.step);
  lanes.add("}");
  lanes.masks.mask = mask;
  lanes.masks.live = outer_live;
  lanes.masks.round = outer_round;
  lanes.masks.branches = outer_branches;
  lanes.masks.unmasked = outer_unmasked;
}

void jump(LaneScope &lanes, const PlanNode &n) {
  for (const std::string &mask : jump_masks(lanes, n))
    if (mask != lanes.masks.mask)
      lanes.add(mask + " = " + mask + " && !" + lanes.masks.mask + ";");
  if (lanes.masks.mask == lanes.masks.live || lanes.masks.mask == lanes.masks.round)
    lanes.add(lanes.masks.mask + " = false;");
}

} // namespace kgen
