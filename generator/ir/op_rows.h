// The rows of ops.def. What is true of an operation is asked here; what is done with one is a switch in one place:
// its value in ir/evaluate.cpp, the growth of its error in ir/magnitude.cpp.
#pragma once

#include <span>
#include <string_view>

#include "ir/kernel.h"

namespace kgen {

namespace op {
enum class Result { same, real, boolean };
enum class Kind { plain, comparison, function, step, random };
enum Fact : unsigned { none = 0, carries_nan = 1, low_bits = 2, small = 4, exact = 8, call = 16, lanes = 32 };
} // namespace op

struct OpRow {
  Op op;
  std::string_view name;
  int arity;
  op::Result result;
  op::Kind kind;
  int binds, again;
  unsigned facts;
  std::string_view whole, cpp, cuda_f32, cuda_f64, derivatives;
};

std::span<const OpRow> op_rows();
const OpRow &op_row(Op op); // of a scalar operation

bool has(Op op, op::Fact fact);                // false of what is no scalar operation
bool is_a(Op op, op::Kind kind);               // the same
bool is_comparison(Op op);                     // a < b and so on
const OpRow *infix_row(std::string_view sign); // of two arguments: "+". nullptr: none has it

} // namespace kgen
