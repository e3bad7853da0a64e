// Arguments for a run: sizes, from the command line or from given arrays; arrays, tables and scalars, given or random.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/interpret.h"

namespace kgen {

// Fills in sizes that the given arrays tell. False with a `reason` when arrays contradict each other or a size.
bool infer_sizes(const Kernel &kernel, RunInput &input, std::string &reason);
// The size arguments that are still missing.
std::vector<std::string> missing_sizes(const Kernel &kernel, const RunInput &input);

struct RandomOptions {
  uint64_t seed = 1;
  bool integers = false;          // all are small integers: every target must agree bit for bit
  bool nans = false;              // but some elements, which are NaN
  bool extremes = false;          // but scalars and operands of 32 and 64 bits, which often are ends of their types
  bool optional_operands = false; // else they are absent
  bool fewer_outputs = false;     // some of the optional outputs are absent
  bool partial_outputs = false;   // give outputs that may keep their elements some to keep
};

// What is not given yet: small values; tables in range, sorted where declared; integer operands that are used as
// coordinates mostly inside. False with a `reason` when an extent is negative or overflows.
bool fill_random(const Kernel &kernel, RunInput &input, const RandomOptions &options, std::string &reason);

} // namespace kgen
