#include "emit/interface/requirements.h"

#include <algorithm>

#include "emit/interface/table_checks.h"
#include "emit/print/printer.h"
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

// The small kernel: its body, and how many turns its longest loop has.
class DeviceChecks {
public:
  DeviceChecks(Printer &printer, Statuses &statuses) : p_(printer), statuses_(statuses) {}

  std::string most = "int64_t{1}";

  // What is declared of the entries of a table.
  void entries(const Check &check) {
    const std::string status = status_of_check(check, statuses_), count = entries_of(p_, p_.kernel.tables[check.table]);
    if (check.kind == Check::Kind::ragged)
      p_.lines.add("if (blockIdx.x == 0 && threadIdx.x == 0 && " + wrong_ends(p_, check) + ") " + note(status));
    const EntryCheck entry = entry_check(p_, check);
    p_.lines.add("for (int64_t entry = int64_t{blockIdx.x} * blockDim.x + threadIdx.x" +
                 (entry.first == "0" ? "" : " + " + entry.first) + "; entry < " + count +
                 "; entry += int64_t{gridDim.x} * blockDim.x) {");
    p_.lines.add("if (" + entry.bad + ") " + note(status));
    p_.lines.add("}");
    lasts(count);
  }

  void requirement(const Requirement &r, int number) {
    const std::string status = statuses_.of_requirement(number, text_of(r));
    if (!asks_device_table(p_.kernel, r.condition))
      return;
    const std::vector<AxisId> loops = loops_of(p_.kernel, r);
    if (!loops.empty())
      lasts(p_.size_text(p_.kernel.axes[loops.front()].size));
    print_requirement(r, p_, note(status), true);
  }

private:
  std::string note(const std::string &status) {
    p_.spelling.helper("status_of");
    return p_.spelling.helper("note_status") + "(table_status, " + status + ");";
  }

  void lasts(const std::string &turns) {
    if (most.find(turns) == std::string::npos)
      most = p_.spelling.helper("larger") + "(" + most + ", " + turns + ")";
  }

  Printer &p_;
  Statuses &statuses_;
};

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
  DeviceChecks device(printer, statuses);
  for (const Check &check : variation.facts.checks)
    if (is_of_entries(check) && reads_device_table(kernel, check))
      device.entries(check);
  int number = 0;
  for (const Requirement &r : kernel.requirements)
    device.requirement(r, ++number);
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
  out.kernel = "// Notes in table_status what the tables do not keep to.\n__global__ void " + name + "(" + parameters +
               "int32_t* table_status) {\n" + body + "}\n";
  out.launch = "if (table_status != nullptr) {\n" + derived_declarations(printer, device.most, AxisSet()) +
               "if (const int status = " + spelling.helper("cuda_status") + "(" + spelling.helper("launch") + "(" +
               name + ", " + spelling.helper("smaller") + "(" + spelling.helper("ceil_div") + "(" + device.most +
               ", int64_t{256}), int64_t{1024}), 256, 0, queue, " + arguments + "table_status))) return status;\n}\n";
  return out;
}

} // namespace kgen
