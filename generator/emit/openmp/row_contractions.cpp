#include "emit/openmp/row_contractions.h"

#include <algorithm>

#include "emit/openmp/lanes/lane_printer.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/tree/tree.h"
#include "support/text.h"

namespace kgen {

std::vector<const PlanNode *> RowContractions::of(const Phase &phase) {
  std::vector<const PlanNode *> out;
  if (phase.kind == Phase::Kind::parallel)
    for_each_node(phase.nodes.front(), [&](const PlanNode &n) {
      if (n.contraction)
        out.push_back(&n);
    });
  return out;
}

// Is the right factor the same for all parts of rows?
bool RowContractions::lasts(const PlanNode &nest, const PlanNode &parts) const {
  if (std::ranges::none_of(parts.body, [&](const PlanNode &n) { return &n == &nest; }))
    return false;
  const std::set<VarId> set = targets_of(parts.body);
  bool fixed = true;
  for_each_node(nest, [&](const PlanNode &n) {
    if (n.target != nest.contraction->right || n.kind != PlanNode::Kind::assign)
      return;
    fixed = !printer_.kernel.expr(n.value).axes.contains(parts.axis);
    walk(printer_.kernel, n.value, [&](ExprId id) {
      const Expr &e = printer_.kernel.expr(id);
      fixed = fixed && ((e.op != Op::read && e.op != Op::element) || set.count(e.ref) == 0);
      return fixed;
    });
  });
  return fixed;
}

// A thread takes parts of rows one after the other: what lies in panels for one serves the next one that stands at the
// same position of the loops around the rows.
void RowContractions::begin(const Phase &phase) {
  std::vector<const PlanNode *> loops = leading_loops(phase.nodes.front(), phase.split);
  lasting_.clear();
  for (const PlanNode *nest : of(phase))
    if (lasts(*nest, *loops.back()))
      lasting_.insert(nest);
  if (lasting_.empty())
    return;
  loops.pop_back();
  again_ = names_.claim("again");
  before_.clear();
  for (const PlanNode *loop : loops)
    before_.push_back({printer_.counter(*loop), names_.claim_one_of(printer_.counter(*loop), {"_before", "_last"})});
  if (loops.empty())
    before_.push_back({"0", names_.claim("before")});
  for (const auto &[here, before] : before_)
    printer_.lines.add("int64_t " + before + " = -1;");
}

void RowContractions::begin_part(const Phase &phase) {
  if (lasting_.empty() || of(phase).empty())
    return;
  std::vector<std::string> same;
  for (const auto &[here, before] : before_)
    same.push_back(before + " == " + here);
  printer_.lines.add("const bool " + again_ + " = " + join(same, " && ") + ";");
  for (const auto &[here, before] : before_)
    printer_.lines.add(before + " = " + here + ";");
}

Panels RowContractions::print(const PlanNode &nest) {
  Panels panels = panels_of(nest, printer_);
  panels.shared.clear();
  printer_.spelling.helper("Team");
  const std::string team = lasting_.count(&nest) != 0 ? "each_alone(" + again_ + ")" : "each_alone()";
  panels.cut = printer_.lanes->contraction(nest, team, "nullptr, " + panels.own);
  return panels;
}

} // namespace kgen
