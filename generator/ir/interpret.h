// The strict interpreter: the written meaning of a kernel, executed. Stricter than any target: memory starts poisoned,
// inputs are constant, reads of what was never written, accesses outside, late revisits and racing steps are errors.
// It runs in the declared types, or all in double with a magnitude beside each value (the reference of the agreement
// formula).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace kgen {

// A dense row-major array in memory of `type` (f16 and bf16 as their bits).
struct Array {
  Type type = Type::f32;
  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes;
  int64_t elements() const;
};

struct RunInput {
  std::map<std::string, int64_t> sizes; // the size arguments, by axis name
  std::map<std::string, Array> arrays;  // inputs and in/out arrays; an optional one may be absent
  std::map<std::string, double> scalars;
  std::map<std::string, int64_t> integers; // scalars of integer types, where a double does not hold them
  std::map<std::string, Array> tables;
};

struct RunOptions {
  bool reference = false; // compute in double, keep magnitudes
  uint64_t seed = 1;      // order of parallel steps
  bool trace = false;     // one line a step: windows and what was written
  int64_t work_limit = 0; // stop with an error after so many element operations; 0: no limit
};

// One output of a reference run: value and magnitude of each element; `undecided` where an exact result hangs on a
// comparison or rounding of floats that lie within their bound; `defined` false where a partial output was not written;
// `exact` where no rounding took part, so that every target must give the same bits.
struct ReferenceOutput {
  std::vector<double> value, magnitude;
  std::vector<bool> undecided, defined, exact;
};

struct RunResult {
  std::string error; // empty: it ran. Else a sentence with step, element and the place in the body
  Place place;
  std::map<std::string, Array> outputs;
  std::map<std::string, ReferenceOutput> reference;
  std::vector<std::string> trace;
  int64_t longest_reduction = 1; // n of the agreement formula
  int64_t operations = 0;        // counted element operations, and bytes read and written by windows
  int64_t failed_asserts = 0;
};

RunResult interpret(const Kernel &kernel, const RunInput &input, const RunOptions &options);

// The extents of an operand's or table's array for given sizes, as the C interface has it (split dimensions as one).
// nullopt: a size is unknown, negative, or overflows.
std::optional<std::vector<int64_t>> array_shape(const Kernel &kernel, const Var &var, const RunInput &input);

std::optional<std::vector<int64_t>> table_shape(const Kernel &kernel, const Table &table, const RunInput &input);
// A size over the axes (no grid names, no tables) for given arguments.
std::optional<int64_t> size_value(const Kernel &kernel, const Size &size, const RunInput &input);

// The type in which a kernel accumulates: f64 if it computes in nothing else, else f32.
Type accumulating_type(const Kernel &kernel);

// The agreement formula of design.md section 4: may `out` stand for `ref`?
bool agrees(double out, double ref, double magnitude, Type stored, Type accumulator, int64_t longest_reduction);

} // namespace kgen
