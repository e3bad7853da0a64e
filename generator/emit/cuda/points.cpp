#include "emit/cuda/points.h"

#include <algorithm>

#include "plan/index/access.h"
#include "support/text.h"

namespace kgen {

using Work = Phase::Launch::Work;

namespace {

// Kernels are told how many steps there are.
Code trips(Printer &printer, const PlanNode &loop) {
  return loop.kind == PlanNode::Kind::steps ? code_of(printer.counted_range(loop).end) : printer.trips(loop);
}

} // namespace

std::string points_text(Printer &printer, const Nest &nest) {
  if (nest.size() == 1)
    return trips(printer, *nest.front()).text;
  std::vector<std::string> factors;
  for (const PlanNode *loop : nest)
    factors.push_back(at_least(trips(printer, *loop), binding::kMultiply));
  return join(factors, " * ");
}

std::string length_text(Printer &printer, const std::vector<Size> &factors) {
  std::vector<std::string> texts;
  for (const Size &factor : factors)
    texts.push_back(at_least(printer.size(factor), binding::kMultiply));
  return join(texts, " * ");
}

std::string length_text(Printer &printer, const Nest &nest) {
  return nest.empty() ? "" : length_text(printer, lengths_of(printer.kernel, {nest}).front());
}

std::string longest_text(Printer &printer, const Phase::Launch &launch) {
  if (launch.work == Work::points)
    return "chunk";
  std::string longest;
  for (auto factors = launch.lengths.rbegin(); factors != launch.lengths.rend(); ++factors) {
    const std::string length = length_text(printer, *factors);
    longest = longest.empty() ? length : printer.spelling.helper("larger") + "(" + length + ", " + longest + ")";
  }
  return longest.empty() ? "1" : longest;
}

void decode(KernelText &out, const Nest &nest, const std::string &number) {
  std::string rest = number;
  std::vector<std::pair<std::string, std::string>> lines;
  for (size_t i = nest.size(); i-- > 0;) {
    const PlanNode &loop = *nest[i];
    const Printer::Range r = out.printer.counted_range(loop);
    const std::string count = at_least(trips(out.printer, loop), binding::kUnary), &v = out.printer.counter(loop);
    std::string value = i == 0 ? rest : rest + " % " + count;
    if (r.begin != "0")
      value = at_least(code_of(r.begin), binding::kAdd) + " + " + value;
    const bool plain = value == number;
    lines.push_back({v, "const Index " + v + " = " + (plain ? value : "Index(" + value + ")") + ";"});
    rest += " / " + count;
  }
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    out.declare_spare(line->first, line->second);
}

namespace {

// Where the item's share of a loop begins and ends, once for all loops over that axis.
void name_shares(KernelText &out, const std::vector<PlanNode> &list) {
  AxisSet inside; // loops that go from share to share themselves
  for (const PlanNode &root : list)
    for_each_node(root, [&](const PlanNode &node) {
      if (node.kind == PlanNode::Kind::loop)
        inside |= AxisSet::of(node.axis);
    });
  for (const PlanNode &root : list)
    for_each_node(root, [&](const PlanNode &node) {
      if (node.kind != PlanNode::Kind::loop || node.share == kNone || inside.contains(node.share) ||
          out.printer.in_part(node.axis))
        return;
      const std::string &axis = out.printer.axis_name(node.axis), &begin = out.loop_names.of(axis, "_begin"),
                        &end = out.loop_names.of(axis, "_end");
      const Printer::Range share = out.printer.share_range(node);
      out.add("const Index " + begin + " = Index(" + share.begin + "), " + end + " = Index(" + share.end + ");");
      out.printer.set_part(node.axis, {begin, end});
    });
}

} // namespace

void open_item(KernelText &out, const Nest &items) {
  decode(out, items, "item");
  name_rows(out, items);
  name_shares(out, items.back()->body);
}

void name_rows(KernelText &out, const Nest &nest) {
  for (size_t r = 0; r < out.kernel().axes.size(); ++r) {
    const Axis &axis = out.kernel().axes[r];
    const bool here = std::any_of(nest.begin(), nest.end(), [&](const PlanNode *node) {
      return node->kind == PlanNode::Kind::loop && axis.ragged != kNone && node->axis == axis.over;
    });
    if (!here || out.kernel().tables[axis.ragged].on_host)
      continue;
    const AxisId id = static_cast<AxisId>(r);
    const std::string &row = out.printer.axis_name(axis.over), &name = out.printer.axis_name(id);
    auto declare = [&](const std::string &variable, const std::string &value) {
      out.declare_spare(variable, "const auto " + variable + " = " + value + ";");
      out.printer.named[value] = variable;
    };
    declare(out.loop_names.of(name, "_start"), out.printer.row_start(id, row));
    declare(out.loop_names.of(name, "_count"), out.printer.row_length(id, row).text);
  }
}

void guard_item(KernelText &out, const Nest &items, const std::string &leave) {
  const bool steps =
      std::any_of(items.begin(), items.end(), [](const PlanNode *n) { return n->kind == PlanNode::Kind::steps; });
  if (steps && out.printer.guards != nullptr && !contains_steps(items.back()->body))
    out.add(out.printer.step_guard(*out.printer.guards, leave));
}

} // namespace kgen
