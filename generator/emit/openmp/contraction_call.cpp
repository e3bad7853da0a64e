#include "emit/openmp/contraction_call.h"

#include "emit/openmp/lanes/lane_printer.h"
#include "emit/print/nest.h"
#include "plan/contract/contractions.h"
#include "plan/index/ranges.h"
#include "plan/tree/tree.h"

namespace kgen {
namespace {

// What both factors have along is gone through outside. Products that can be counted before the first one begins are
// computed by single threads, each its own part, where that is enough for them.
size_t countable(const std::vector<const PlanNode *> &loops, Printer &printer) {
  size_t count = 0;
  while (
      count < loops.size() && printer.counted_range(*loops[count]).begin == "0" &&
      !depends_on(printer.kernel, *loops[count], {loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(count)}))
    ++count;
  return count;
}

} // namespace

Panels panels_of(const PlanNode &nest, Printer &printer) {
  const VarId total = nest.contraction->total;
  return {printer.name_beside(total, "_panels"), printer.name_beside(total, "_own_panels"), "", false};
}

Panels print_contraction(const Phase &phase, const std::string &much, Printer &printer, Names &names,
                         const std::function<void()> &begin) {
  const std::vector<const PlanNode *> shared = leading_loops(phase.nodes.front(), phase.split);
  const auto split = shared.begin() + static_cast<std::ptrdiff_t>(countable(shared, printer));
  const std::vector<const PlanNode *> counted(shared.begin(), split), inner(split, shared.end());
  const PlanNode &nest = nest_of(phase);
  Panels panels = panels_of(nest, printer);
  panels.several = !counted.empty();
  Lines &out = printer.lines;
  out.add("char* const " + panels.shared + " = workspace + space." + panels.shared + ";");
  out.add(printer.spelling.helper("in_team") + "(" + much + ", threads, [&]() IN_SET {");
  begin();
  out.add("char* const " + panels.own + " = " + printer.spelling.helper("memory_of_thread") +
          "(space, workspace) + space." + panels.own + ";");
  const auto contract = [&](const std::string &team) {
    for (const PlanNode *loop : inner)
      printer.open(*loop);
    printer.inside_loops(
        inner, [&] { panels.cut = printer.lanes->contraction(nest, team, panels.shared + ", " + panels.own); });
    for (size_t i = 0; i < inner.size(); ++i)
      out.add("}");
  };
  if (counted.empty()) {
    printer.spelling.helper("Team");
    contract("all_threads()");
    return panels;
  }
  printer.spelling.helper("Batches");
  CountedNest batches(counted, "batch", printer, names);
  const std::string mine = names.claim("batches"), number = batches.number();
  const std::string body = printer.captured([&] { printer.inside_loops(counted, [&] { contract(mine + ".team"); }); });
  out.add("const Batches " + mine + " = batches_of(" + batches.count() + ", " + panels.cut + ".alone);");
  out.add("for (int64_t " + number + " = " + mine + ".some.first; " + number + " < " + mine + ".some.end; ++" + number +
          ") {");
  out.append(batches.decoded(body) + body + "}\n");
  return panels;
}

} // namespace kgen
