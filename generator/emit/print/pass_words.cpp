#include "emit/print/pass_words.h"

#include <algorithm>
#include <vector>

#include "plan/index/access.h"
#include "support/text.h"

namespace kgen {
namespace {

struct Pass {
  std::vector<std::string> folds, scans, stores;
  bool inner = false; // are there loops in it that have sentences of their own?
};

void add(std::vector<std::string> &list, const std::string &name) {
  if (std::ranges::find(list, name) == list.end())
    list.push_back(name);
}

// What happens in each round, under conditions too, but not in further loops.
void look(const Printer &printer, const std::vector<PlanNode> &nodes, AxisId axis, Pass &pass) {
  for (const PlanNode &n : nodes) {
    if (n.kind == PlanNode::Kind::loop || n.kind == PlanNode::Kind::steps) {
      pass.inner = true;
      continue;
    }
    if (n.kind == PlanNode::Kind::fold_step && n.reduced.contains(axis))
      add(pass.folds, printer.name(n.target));
    if (n.kind == PlanNode::Kind::scan_step && n.axis == axis)
      add(pass.scans, printer.name(n.partner == kNone ? n.target : n.partner));
    if (n.kind == PlanNode::Kind::assign && printer.plan.storage[n.target].kind != Storage::Kind::scalar)
      add(pass.stores, printer.name(n.target));
    for (const auto *inner : {&n.body, &n.otherwise, &n.step})
      look(printer, *inner, axis, pass);
  }
}

std::string listed(const std::vector<std::string> &names) {
  constexpr size_t kMost = 4; // of what a line can name
  if (names.size() > kMost)
    return std::to_string(names.size()) + " values";
  if (names.size() < 2)
    return join(names, "");
  return join({names.begin(), names.end() - 1}, ", ") + " and " + names.back();
}

} // namespace

std::string pass_words(const Printer &printer, const PlanNode &loop) {
  Pass pass;
  look(printer, loop.body, loop.axis, pass);
  if (pass.folds.empty() && pass.scans.empty() && (pass.stores.empty() || pass.inner))
    return "";
  const bool shares = printer.plan.shares.contains(loop.axis);
  std::vector<std::string> parts;
  if (!pass.folds.empty())
    parts.push_back(listed(pass.folds));
  if (!pass.scans.empty())
    parts.push_back(listed(pass.scans) + (loop.reversed ? ", from the end" : ", in order"));
  if (!pass.stores.empty())
    parts.push_back("fills " + listed(pass.stores));
  const std::string start = shares && pass.stores.empty() ? "Puts the shares together, in order"
                            : loop.share != kNone ? "One pass along this share of " + printer.axis_name(loop.axis)
                                                  : "One pass along " + printer.axis_name(loop.axis);
  return "// " + start + ": " + join(parts, "; ") + ".\n";
}

std::string merge_words(const Plan &plan, const PlanNode &branch) {
  for (const FollowedTotal &total : plan.followed)
    for (const PlanNode &n : branch.body)
      if (std::ranges::find(total.followers, n.target) != total.followers.end())
        return total.seen == kNone
                   ? "// A greater value: what was added up so far is scaled down to it.\n"
                   : "// Squares about the mean before and about this block's become those about both.\n";
  return "";
}

std::string regime_words(const Plan &plan, const Phase &phase) {
  if (plan.shares == AxisSet())
    return "";
  bool shared = false, copies = false, scatters = false;
  for (const PlanNode &root : phase.nodes)
    for_each_node(root, [&](const PlanNode &n) {
      shared |= n.share != kNone || (n.kind == PlanNode::Kind::loop && plan.shares.contains(n.axis));
      scatters |= n.scatter_add;
      copies |= n.scatter_add && !(plan.kernel.vars[n.target].axes & plan.shares).empty();
    });
  if (copies)
    return "// What is added to is small: each share adds to a copy of its own, and nothing waits for others.\n";
  if (scatters && !shared)
    return "// What is added to is large: all threads add to the one that there is.\n";
  if (shared)
    return std::string("// Long folds and scans are cut in shares, so that several ") +
           (plan.target == TargetKind::cuda ? "blocks" : "threads") + " work on each.\n";
  const bool is_near = !phase.unless && plan.kernel.expr(phase.when).op == Op::le;
  return is_near ? "// Each fold in one piece: a core finds in its cache again what it folds.\n"
                 : "// Each fold in one piece.\n";
}

} // namespace kgen
