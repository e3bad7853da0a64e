// What the reference run knows beside each value: a magnitude S, so that a result computed in the declared types lies
// within unit * S of the double, and two marks. One rule an operation.
//
// `unit` is 8 u of the accumulating type; `bound` is unit * (1 + log2 n), what comparisons and roundings must keep
// apart. An exact value has the same bits in every order of evaluation, so decisions on it are never undecided.
#pragma once

#include "ir/evaluate.h"

namespace kgen {

constexpr uint8_t kUndecided = 1; // depends on a comparison or rounding of floats that lie within their bound
constexpr uint8_t kInexact = 2;   // floating: rounding took part

struct ReferenceRow {
  const Value *data;
  const double *magnitude;
  const uint8_t *flags;
  int64_t stride;
};

struct ReferenceOut {
  Value *data;
  double *magnitude;
  uint8_t *flags;
};

struct ErrorModel {
  double unit = 0;
  double bound = 0;
};

void evaluate_reference_row(Op op, Type result, Type argument, const ReferenceRow *args, ReferenceOut out, int64_t n,
                            ErrorModel model);
void convert_reference_row(Type from, Type to, ReferenceRow row, ReferenceOut out, int64_t n, ErrorModel model);

// Adds what storing in `type` may change. An exact value is rounded; any other keeps its double and grows its
// magnitude.
void round_reference(Type type, double &value, double &magnitude, uint8_t flags, ErrorModel model);

// Is the value the same in every order, however it was made? (small multiples of 1/16)
bool is_exact(double value, Type type);

} // namespace kgen
