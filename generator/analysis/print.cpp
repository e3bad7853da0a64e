// The facts as text: for --stop-after facts, and the body of `explain`.
#include <sstream>

#include "analysis/facts.h"
#include "support/text.h"

namespace kgen {
namespace {

std::string_view name_of(Verdict verdict) {
  static constexpr std::string_view kNames[] = {"proved", "checked", "guarded", "refuted"};
  return kNames[static_cast<int>(verdict)];
}

std::string text_of(const Finding &finding) {
  return std::string(name_of(finding.verdict)) + (finding.reason.empty() ? "" : ": " + finding.reason);
}

std::string names_of(const Kernel &kernel, const std::vector<GridId> &dims) {
  std::vector<std::string> names;
  for (GridId g : dims)
    names.push_back(kernel.grid[g].name);
  return names.empty() ? "nothing" : join(names, ", ");
}

void print_grid(std::ostream &out, const Kernel &kernel, const Facts &facts) {
  for (size_t g = 0; g < facts.grid.size(); ++g) {
    const GridDim &dim = kernel.grid[g];
    const GridFact &fact = facts.grid[g];
    out << "grid " << dim.name << ": " << to_string(dim.size) << " steps, "
        << (fact.semantics == Semantics::parallel ? "parallel" : "arbitrary")
        << (fact.stated ? " (stated)" : " (inferred)") << ", " << fact.finding.reason << "\n";
    if (fact.dissolvable)
      out << "  dissolves into " << kernel.axes[dim.axis].name << "\n";
    else if (!fact.dissolve_reason.empty())
      out << "  stays: " << fact.dissolve_reason << "\n";
    if (fact.accumulates) {
      std::vector<std::string> names;
      for (const auto &carried : fact.accumulates->carried)
        names.push_back(kernel.vars[carried.var].name);
      out << "  accumulates " << join(names, ", ") << " over " << kernel.axes[dim.axis].name << "\n";
    } else if (!fact.accumulate_reason.empty()) {
      out << "  in order: " << fact.accumulate_reason << "\n";
    }
  }
}

void print_operands(std::ostream &out, const Kernel &kernel, const Facts &facts) {
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    const Var &var = kernel.vars[v];
    const OperandFact &fact = facts.operands[v];
    if (var.kind == Var::Kind::local)
      continue;
    const bool output = var.kind == Var::Kind::output;
    out << (output                         ? "output "
            : var.kind == Var::Kind::input ? "input "
                                           : "scratch ")
        << var.name << ": " << to_string(fact.elements) << " elements";
    if (var.kind != Var::Kind::scratch) {
      out << ", moves with " << names_of(kernel, fact.moves_with) << "\n";
      out << "  bounds " << text_of(fact.bounds) << "\n";
    } else {
      out << "\n";
    }
    if (output) {
      out << "  disjoint " << text_of(fact.disjoint) << "\n  visits " << text_of(fact.revisit) << "\n";
      out << "  reached " << text_of(fact.windows_cover) << "\n  written " << text_of(fact.written) << "\n";
    }
    if (var.kind != Var::Kind::input && !fact.initialised.reason.empty())
      out << "  defined " << text_of(fact.initialised) << "\n";
  }
}

void print_checks(std::ostream &out, const Kernel &kernel, const Facts &facts) {
  for (size_t i = 0; i < facts.checks.size(); ++i) {
    const Check &check = facts.checks[i];
    out << "check " << i + 1 << ": " << check.message;
    const bool plain = check.factors.empty() && !(check.table != kNone && check.kind != Check::Kind::table_index);
    if (plain) {
      out << " [" << to_string(check.condition) << "]";
      if (!check.loops.empty())
        out << " for all " << names_of(kernel, check.loops);
    }
    out << "\n";
  }
  for (const Guard &guard : facts.guards)
    out << "guard: " << guard.message << " unless " << to_string(guard.condition) << "\n";
}

} // namespace

std::string print(const Kernel &kernel, const Facts &facts) {
  std::ostringstream out;
  print_grid(out, kernel, facts);
  for (size_t a = 0; a < facts.axes.size(); ++a)
    out << "axis " << kernel.axes[a].name << ": "
        << (facts.axes[a].independent ? "independent" : "not independent, " + facts.axes[a].reason) << "\n";
  print_operands(out, kernel, facts);
  for (const auto &[id, reason] : facts.inside_reason)
    if (!facts.inside[id])
      out << "guarded read: " << reason << "\n";
  print_checks(out, kernel, facts);
  const Counts &counts = facts.counts;
  out << "bytes read " << to_string(counts.bytes_read) << ", written " << to_string(counts.bytes_written) << "\n";
  out << "a step reads " << to_string(counts.step_bytes_read) << ", writes " << to_string(counts.step_bytes_written)
      << "\n";
  for (const auto &[op, count] : counts.operations)
    out << "operations " << op_name(op) << ": " << to_string(count) << "\n";
  if (!counts.bounded)
    out << "loops were counted as one turn\n";
  for (const std::string &note : facts.notes)
    out << "note: " << note << "\n";
  return out.str();
}

} // namespace kgen
