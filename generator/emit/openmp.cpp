// OpenMP C++: per variation a function, and one for short rows; then the launchers, which check everything before
// anything is written.
#include "emit/openmp_kernel.h"
#include "plan/short_rows.h"

namespace kgen {
namespace {

// In the order in which a launcher tries them.
using OpenmpFunctions = std::vector<OpenmpFunction>;

std::string where(const std::string &condition, const std::string &statements) {
  return condition.empty() ? statements : "if (" + condition + ") {\n" + statements + "}\n";
}

// The memory and the call.
std::string call(const OpenmpFunction &made, const Function &function, Spelling &spelling, Statuses &statuses) {
  if (made.workspace.empty())
    return made.name + "(" + arguments_text(function) + ");\nreturn 0;\n";
  std::string text = workspace_declaration(made.name, function);
  text += "const bool own = workspace == nullptr;\n";
  text += "void* const memory = own ? std::malloc(static_cast<size_t>(space.bytes)) : workspace;\n";
  text += "if (memory == nullptr || (!own && workspace_bytes < space.bytes)) return " +
          std::to_string(statuses.of("there is not enough memory for the workspace")) + ";\n";
  text += made.name + "(" + arguments_text(function) + ", " + spelling.helper("next_line") + "(memory));\n";
  return text + "if (own) std::free(memory);\nreturn 0;\n";
}

// The launcher of one function: checks, memory, the call. `made`: by variation.
std::string launcher(const Function &function, const std::vector<OpenmpFunctions> &made, Spelling &spelling,
                     Statuses &statuses) {
  bool memory = false;
  std::string body, query;
  for (size_t i = 0; i < made.size(); ++i) {
    const Variation &v = *function.variations[i];
    std::string calls = checks_text(function, v, spelling, statuses, false), bytes;
    for (const OpenmpFunction &one : made[i]) {
      memory = memory || !one.workspace.empty();
      calls += where(one.condition, call(one, function, spelling, statuses));
      const std::string needed =
          one.workspace.empty() ? "0" : camel(one.name) + "Workspace(" + size_arguments_text(function) + ").bytes";
      bytes += (one.condition.empty() ? "" : "if (" + one.condition + ") ") + "return " + needed + ";\n";
    }
    body += where(variation_condition(v), calls);
    const std::string condition = variation_condition(v);
    query +=
        made[i].size() > 1 ? where(condition, bytes) : (condition.empty() ? "" : "if (" + condition + ") ") + bytes;
  }
  if (!variation_condition(*function.variations[0]).empty()) {
    body += "return " + std::to_string(statuses.of("the kernel was not made for these sizes")) + ";\n";
    query += "return 0;\n";
  }
  std::string text = "extern \"C\" int " + function.stem + "_openmp(" + parameters_text(function);
  if (!memory)
    return text + ") {\n" + body + "}\n";
  return "extern \"C\" int64_t " + function.stem + "_openmp_workspace(" + size_parameters_text(function) + ") {\n" +
         query + "}\n\n" + text + ", void* workspace, int64_t workspace_bytes) {\n" + body + "}\n";
}

OpenmpFunctions functions_of(const Function &function, const Variation &variation, const Plan &plan,
                             Spelling &spelling) {
  OpenmpFunctions out;
  const std::string name = variation_name(function, variation);
  for (const ShortRows &rows : plan_short_rows(variation.lowered, variation.lowered_facts, plan)) {
    const std::string number = out.empty() ? "" : std::to_string(out.size() + 1);
    out.push_back(openmp_function(name + "_short" + number, function, rows.plan, variation.lowered_facts, spelling));
    out.back().condition = short_rows_condition(rows.plan.kernel, rows.axes, c_name);
    out.back().text = "// For " + out.back().condition + ": rows that fill no vector.\n" + out.back().text;
  }
  out.push_back(openmp_function(name, function, plan, variation.lowered_facts, spelling));
  return out;
}

std::string short_rows_comment(const OpenmpFunctions &made) {
  std::string text;
  for (const OpenmpFunction &one : made)
    if (!one.condition.empty())
      text += "Where " + one.condition + ": neighbouring rows side by side.\n";
  return text;
}

} // namespace

TargetSource openmp_source(const Spec &, const std::vector<Function> &functions, Statuses &statuses) {
  TargetSource source;
  Spelling spelling(TargetKind::openmp);
  for (const Function &function : functions) {
    std::vector<OpenmpFunctions> made;
    for (const Variation *variation : function.variations) {
      const Plan plan = make_plan(variation->lowered, variation->lowered_facts, TargetKind::openmp);
      made.push_back(functions_of(function, *variation, plan, spelling));
      if (source.plan.empty())
        source.plan = plan_comment(plan, variation->facts) + short_rows_comment(made.back());
      for (const OpenmpFunction &one : made.back()) {
        if (!one.workspace.empty())
          source.kernels.push_back(one.workspace);
        source.kernels.push_back(one.text);
      }
    }
    source.launchers.push_back(launcher(function, made, spelling, statuses));
  }
  source.helpers = spelling.helpers();
  return source;
}

} // namespace kgen
