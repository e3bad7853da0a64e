// The strict interpreter: the written meaning of a kernel, executed. Stricter than any target: memory starts poisoned,
// inputs are constant, reads of what was never written, accesses outside, late revisits and racing steps are errors.
// It runs in the declared types, or all in double with a magnitude beside each value (the reference of the agreement
// formula).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
  std::set<std::string> unwanted;       // optional outputs that are absent
  std::map<std::string, double> scalars;
  std::map<std::string, int64_t> integers; // scalars of integer types, where a double does not hold them
  std::map<std::string, Array> tables;
};

struct RunOptions {
  bool reference = false;    // compute in double, keep magnitudes
  uint64_t seed = 1;         // order of parallel steps
  bool trace_steps = false;  // one line a step: windows and what was written
  bool trace_values = false; // one line an element of each named local, or of those in `trace_names`
  std::vector<std::string> trace_names;
  std::map<std::string, int64_t> only_at; // axis or grid dimension: the place that prints and traces are about
  int64_t most_lines = INT64_MAX;         // of each print, of each traced name
  int64_t work_limit = 0;                 // stop with an error after so many element operations; 0: no limit
};

// One output of a reference run: value and magnitude of each element; `undecided` where an exact result depends on a
// comparison or rounding of floats that lie within their bound; `defined` false where a partial output was not written;
// `exact` where no rounding took part, so that every target must give the same bits.
struct ReferenceOutput {
  std::vector<double> value, magnitude;
  std::vector<bool> undecided, defined, exact;
};

// What ends a run.
enum class Fault {
  none,
  repeats,       // a table that is declared unique
  refused,       // sizes, tables or arguments that launchers refuse
  table_outside, // a table is read outside its extent by a window or grid size
  outside,       // a window has no element inside its array
  comes_back,    // to a window of an output that was left
  collides,      // two parallel steps write an element
  meets,         // two lanes of one statement store to an element
  undefined,     // an element is read before it is written
  stale,         // an element of an array is read after another took its memory, or may be
  unwritten,     // an element is never written
  other,
};

// The first element at which it fails, and how many do.
struct FailedAssert {
  Place place;
  std::string where;  // "i = 0, N = 3"
  std::string values; // of what the condition reads: "x is -1, m is 2"
  int64_t lanes = 0;
};

// "spec.toml:7:1: this assert fails at i = 0, N = 3: x is -1, m is 2 (and for 4 elements more)"
std::string to_string(const FailedAssert &failed);

struct RunResult {
  std::string error; // empty: it ran. Else a sentence with step, element and the place in the body
  Place place;
  Fault fault = Fault::none;
  VarId faulty = kNone;             // the operand that it is about
  std::string element;              // "z[0, 3]"; may be empty
  std::vector<int64_t> faulty_step; // one number per grid dimension; empty: in no step
  std::map<std::string, Array> outputs;
  std::map<std::string, ReferenceOutput> reference;
  std::vector<std::string> trace;    // and what is printed
  int64_t longest_reduction = 1;     // n of the agreement formula
  int64_t operations = 0;            // counted element operations, and bytes read and written by windows
  int64_t failed_asserts = 0;        // lanes
  std::vector<FailedAssert> asserts; // by place
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
