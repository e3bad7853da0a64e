// The C interface of a kernel's functions: arguments in order, statuses with their sentences, checks as C++.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/facts.h"
#include "emit/printer.h"
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
  Kernel kernel;  // as built
  Kernel lowered; // canonical form
  Facts facts;    // of `kernel`
  Facts lowered_facts;
};

// Functions that share a name: one variant, or the specialisations of axes between which the launcher chooses.
struct Function {
  std::string stem; // matmul_f32
  std::vector<const Variation *> variations;
  std::vector<Argument> arguments;
};

// Statuses are numbered over all functions of the kernel, so that one `_error` explains them.
class Statuses {
public:
  int of(const std::string &message);
  const std::vector<std::string> &messages() const { return messages_; }

private:
  std::vector<std::string> messages_;
  std::map<std::string, int> numbers_;
};

std::vector<Function> functions_of(const Spec &spec, const std::vector<Variation> &variations);

// The checks of a launcher: `if (...) return 3;` lines. `device` leaves out what reads tables in device memory.
void print_checks(const Function &function, const Variation &variation, Printer &printer, Statuses &statuses,
                  bool device);

bool has_device_tables(const Kernel &kernel);

} // namespace kgen
