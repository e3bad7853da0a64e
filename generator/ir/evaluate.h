// The value of each scalar operation in each type, by the rules of the language: integers wrap, division by zero is 0,
// shift counts count modulo the width, float to integer saturates, min and max hand NaN on. Nothing traps.
//
// A Value holds a floating type as a double that is exactly representable in that type, an integer sign- or
// zero-extended to 64 bits (u64 as its bits), a bool as 0 or 1.
#pragma once

#include <array>
#include <cstdint>

#include "ir/kernel.h"

namespace kgen {

union Value {
  double number;
  int64_t integer;
};

inline Value number_value(double v) {
  Value value;
  value.number = v;
  return value;
}
inline Value integer_value(int64_t v) {
  Value value;
  value.integer = v;
  return value;
}

// Values one `stride` apart (0: the same for all).
struct Row {
  const Value *data;
  int64_t stride;
};

// n results of a row of ops.def. `argument` is the type of the arguments; when `result` is floating they are floating,
// but for random (integers).
void evaluate_row(Op op, Type result, Type argument, const Row *args, Value *out, int64_t n);
Value evaluate(Op op, Type result, Type argument, const Value *args);

// A C++ conversion between any two types, memory types included, with saturation from floats to integers.
Value convert(Value value, Type from, Type to);
void convert_row(Type from, Type to, Row from_row, Value *out, int64_t n);

// The nearest value of a floating type, ties to even; of a half type too.
double round_to(double value, Type type);
// Modulo 2^width, sign- or zero-extended.
int64_t wrap(int64_t value, Type type);
// The bits of one type read as another of the same width.
Value bitcast(Value value, Type from, Type to);

int bits_of(Type type);
double unit_roundoff(Type type);
double smallest_normal(Type type);
double smallest_denormal(Type type);
double largest_finite(Type type);
// -inf of a floating type, the least integer of others; and the opposite.
Value lowest_value(Type type);
Value highest_value(Type type);

// Memory <-> Value.
Value load_value(const unsigned char *bytes, Type type);
void store_value(unsigned char *bytes, Type type, Value value);

std::array<uint32_t, 4> philox_4x32_10(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);
uint32_t random_word(int64_t seed, int64_t index);

} // namespace kgen
