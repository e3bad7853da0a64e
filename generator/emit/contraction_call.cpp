#include "emit/contraction_call.h"

#include "emit/lanes.h"
#include "emit/nest.h"

namespace kgen {

// What both factors have along is gone through outside: by single threads, each its own part, where that is enough for
// them.
Panels print_contraction(const Phase &phase, const std::string &much, Printer &printer, Names &names,
                         const std::function<void()> &begin) {
  std::vector<const PlanNode *> shared;
  const PlanNode *node = &phase.nodes.front();
  for (int i = 0; i < phase.split; ++i, node = &node->body.front())
    shared.push_back(node);
  const VarId total = phase.contraction->total;
  Panels panels = {printer.name_beside(total, "_panels"), printer.name_beside(total, "_own_panels"), "",
                   !shared.empty()};
  Lines &out = printer.lines;
  out.add("char* const " + panels.shared + " = workspace + space." + panels.shared + ";");
  out.add(printer.spelling.helper("in_team") + "(" + much + ", threads, [&]() IN_SET {");
  begin();
  out.add("char* const " + panels.own + " = workspace + space.threads + " + printer.spelling.helper("thread_number") +
          "() * space.thread_bytes + space." + panels.own + ";");
  const auto contract = [&](const std::string &team) {
    panels.cut = printer.lanes->contraction(phase, team, panels.shared + ", " + panels.own);
  };
  if (shared.empty()) {
    printer.spelling.helper("Team");
    contract("all_threads()");
    return panels;
  }
  printer.spelling.helper("Batches");
  CountedNest batches(shared, "batch", printer, names);
  const std::string mine = names.claim("batches"), number = batches.number();
  const std::string body = printer.captured([&] { printer.inside_loops(shared, [&] { contract(mine + ".team"); }); });
  out.add("const Batches " + mine + " = batches_of(" + batches.count() + ", " + panels.cut + ".alone);");
  out.add("for (int64_t " + number + " = " + mine + ".first; " + number + " < " + mine + ".end; ++" + number + ") {");
  out.append(batches.decoded(body) + body + "}\n");
  return panels;
}

} // namespace kgen
