#include "emit/requirements.h"

#include <algorithm>

#include "emit/printer.h"
#include "emit/target_file.h"

namespace kgen {
namespace {

bool asks_device_table(const Kernel &kernel, ExprId id) {
  const Expr &e = kernel.expr(id);
  const bool of_axis = e.op == Op::size || e.op == Op::index;
  const TableId table = e.op == Op::table ? e.ref : of_axis ? kernel.axes[e.axis].ragged : kNone;
  return (table != kNone && !kernel.tables[table].on_host) ||
         std::any_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return asks_device_table(kernel, arg); });
}

// In a string of C, where two question marks may begin another sign.
std::string text_of(const Requirement &requirement) {
  std::string out = requirement.text;
  for (size_t at = 0; (at = out.find("??", at)) != std::string::npos; at += 2)
    out.insert(at + 1, "\\");
  return out;
}

// The axes of its condition, those of a row behind the row.
std::vector<AxisId> loops_of(const Kernel &kernel, const Requirement &requirement) {
  std::vector<AxisId> out;
  for (AxisId axis : kernel.expr(requirement.condition).axes.list())
    out.insert(kernel.axes[axis].ragged == kNone ? out.begin() : out.end(), axis);
  return out;
}

// For all positions along its axes; the first is shared by the threads of a kernel.
void print_requirement(const Requirement &requirement, Printer &p, const std::string &refuse, bool by_threads) {
  const std::vector<AxisId> loops = loops_of(p.kernel, requirement);
  for (AxisId axis : loops) {
    const Axis &a = p.kernel.axes[axis];
    const std::string &name = p.axis_name(axis);
    const Code size = a.ragged == kNone ? p.size(a.size) : p.row_length(axis, p.axis_name(a.over));
    const bool shared = by_threads && axis == loops.front();
    p.lines.add("for (int64_t " + name + " = " +
                (shared ? "int64_t{blockIdx.x} * blockDim.x + threadIdx.x; " : std::string("0; ")) + name + " < " +
                at_least(size, binding::kAdd) + "; " +
                (shared ? name + " += int64_t{gridDim.x} * blockDim.x" : "++" + name) + ") {");
  }
  p.lines.add("if (!(" + p.expression(requirement.condition).text + ")) " + refuse);
  for (size_t i = 0; i < loops.size(); ++i)
    p.lines.add("}");
}

} // namespace

void print_requirements(Printer &printer, Statuses &statuses, bool device) {
  int number = 0;
  for (const Requirement &r : printer.kernel.requirements) {
    const std::string status = statuses.of_requirement(++number, text_of(r));
    if (device && asks_device_table(printer.kernel, r.condition))
      continue;
    printer.spelling.helper("status_of");
    print_requirement(r, printer, "return " + status + ";", false);
  }
}

DeviceRequirements device_requirements(const Function &function, const Variation &variation, const std::string &name,
                                       Spelling &spelling, Statuses &statuses) {
  const Kernel &kernel = variation.kernel;
  Plan nothing;
  nothing.kernel = kernel;
  nothing.storage.resize(kernel.vars.size());
  Names names = names_of(function, kernel);
  Printer printer(nothing, variation.facts, spelling, names);
  std::string most = "int64_t{1}";
  int number = 0;
  for (const Requirement &r : kernel.requirements) {
    const std::string status = statuses.of_requirement(++number, text_of(r));
    if (!asks_device_table(kernel, r.condition))
      continue;
    spelling.helper("status_of");
    const std::vector<AxisId> loops = loops_of(kernel, r);
    if (!loops.empty())
      most = spelling.helper("larger") + "(" + most + ", " + printer.size_text(kernel.axes[loops.front()].size) + ")";
    print_requirement(r, printer, "*table_status = " + status + ";", true);
  }
  const std::string checks = printer.lines.text();
  if (checks.empty())
    return {};
  const std::string body = derived_declarations(printer, checks, AxisSet()) + checks;
  std::string parameters, arguments;
  for (const Argument &a : function.arguments)
    if (mentions_word(body, a.name)) {
      parameters += a.declaration() + ", ";
      arguments += a.name + ", ";
    }
  DeviceRequirements out;
  out.kernel = "// Notes in table_status which requirement the tables do not meet.\n__global__ void " + name + "(" +
               parameters + "int32_t* table_status) {\n" + body + "}\n";
  out.launch = "if (table_status != nullptr) {\n" + derived_declarations(printer, most, AxisSet()) +
               "if (const int status = " + spelling.helper("cuda_status") + "(" + spelling.helper("launch") + "(" +
               name + ", " + spelling.helper("smaller") + "(" + spelling.helper("ceil_div") + "(" + most +
               ", int64_t{256}), int64_t{1024}), 256, 0, queue, " + arguments + "table_status))) return status;\n}\n";
  return out;
}

} // namespace kgen
