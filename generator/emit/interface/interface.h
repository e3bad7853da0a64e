// The C interface of a kernel's functions: arguments in order, checks as C++.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/facts.h"
#include "emit/interface/statuses.h"
#include "emit/print/printer.h"
#include "plan/variants/plans.h"
#include "spec/spec.h"

namespace kgen {

struct Argument {
  enum class Kind { in, out, inout, scalar, table, size, stride };
  Kind kind;
  std::string name;
  std::string type;    // of the element, in C
  std::string extents; // "[M, K]" as C expressions
  bool optional = false;
  VarId var = kNone;
  TableId table = kNone;
  std::string declaration() const;
};

// One variant, analysed: what both targets print from.
struct Variation {
  Variant variant;
  Kernel kernel;                   // as built, without asserts and prints
  Kernel lowered;                  // canonical form
  std::optional<Kernel> reporting; // as built, where it has some
  Facts facts;                     // of `kernel`
  Facts lowered_facts;
  std::optional<Kernel> all_outputs; // `lowered`, for calls that want all optional outputs, where it has some
  Facts all_outputs_facts;
  std::map<TargetKind, TargetPlans> plans; // of the targets that are wanted

  const Kernel &interpreted() const { return reporting ? *reporting : kernel; }
};

// Functions that share a name: one variant, or the specialisations of axes between which the launcher chooses.
struct Function {
  std::string stem; // matmul_f32
  std::vector<const Variation *> variations;
  std::vector<Argument> arguments;
};

std::vector<Function> functions_of(const Spec &spec, const std::vector<Variation> &variations);

std::vector<std::string> names_of_arguments(const Function &function);

// Where checks stand: in a launcher, on the host or for a device, whose tables it cannot read; or in what gives the
// bytes of the workspace, which has the sizes alone and returns a status as a negative number.
enum class CheckedIn { host_launcher, device_launcher, host_query, device_query };
bool is_query(CheckedIn where);

// The checks of a launcher: lines that return a status. Those of the arguments come first: whatever is computed from
// sizes stands behind them.
void print_argument_checks(const Variation &variation, Printer &printer, Statuses &statuses, CheckedIn where);
void print_checks(const Function &function, const Variation &variation, Printer &printer, Statuses &statuses,
                  CheckedIn where);

bool has_device_tables(const Kernel &kernel);

// Does the check ask entries of tables that lie in device memory, which a launcher for a device cannot read?
bool reads_device_table(const Kernel &kernel, const Check &check);

std::string status_of_check(const Check &check, Statuses &statuses);

} // namespace kgen
