// What ops.def says of operations, held against their values.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ir/evaluate.h"
#include "ir/op_rows.h"

using namespace kgen;

namespace {

constexpr int64_t kNumbers[] = {0, 1, -1, 2, -3, 7, 255, -256, 30000, -30001, 32767, -32768};

// All arguments of so many numbers.
std::vector<std::vector<int64_t>> arguments(int arity) {
  std::vector<std::vector<int64_t>> out = {{}};
  for (int k = 0; k < arity; ++k) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto &begun : out)
      for (int64_t number : kNumbers) {
        longer.push_back(begun);
        longer.back().push_back(number);
      }
    out = std::move(longer);
  }
  return out;
}

int64_t whole(Op op, Type result, Type type, const std::vector<int64_t> &numbers) {
  Value args[3] = {};
  for (size_t k = 0; k < numbers.size(); ++k)
    args[k] = integer_value(wrap(numbers[k], type));
  return evaluate(op, result, type, args).integer;
}

} // namespace

TEST_CASE("what rows say of NaN is so") {
  for (const OpRow &row : op_rows())
    for (int of = 0; has(row.op, op::carries_nan) && of < row.arity; ++of)
      for (double other : {0.0, 1.0, -2.5, std::numeric_limits<double>::infinity()}) {
        Value args[3] = {number_value(other), number_value(other), number_value(other)};
        args[of] = number_value(std::nan(""));
        CHECK_MESSAGE(std::isnan(evaluate(row.op, Type::f64, Type::f64, args).number), row.name);
      }
}

TEST_CASE("what rows say of low bits and of small types is so, and these are all of which it is") {
  for (const OpRow &row : op_rows()) {
    if (row.result != op::Result::same || row.kind == op::Kind::random)
      continue;
    bool low_bits = true, small = true;
    for (const std::vector<int64_t> &numbers : arguments(row.arity)) {
      const int64_t wide = whole(row.op, Type::i64, Type::i64, numbers);
      low_bits = low_bits && wrap(wide, Type::i8) == whole(row.op, Type::i8, Type::i8, numbers);
      small = small && (wide != wrap(wide, Type::i16) || wide == whole(row.op, Type::i16, Type::i16, numbers));
    }
    INFO(row.name);
    CHECK(low_bits == has(row.op, op::low_bits));
    if (has(row.op, op::small))
      CHECK(small);
  }
}

TEST_CASE("exact operations of whole numbers that fit give whole numbers") {
  for (const OpRow &row : op_rows())
    if (has(row.op, op::exact) && row.result == op::Result::same && row.op != Op::div)
      for (const std::vector<int64_t> &numbers : arguments(row.arity)) {
        Value args[3] = {};
        for (size_t k = 0; k < numbers.size(); ++k)
          args[k] = number_value(static_cast<double>(numbers[k]));
        const double value = evaluate(row.op, Type::f64, Type::f64, args).number;
        CHECK_MESSAGE((std::isnan(value) || value == std::nearbyint(value)), row.name);
      }
}

TEST_CASE("comparisons turned round and negated are what they say") {
  int seen = 0;
  for (const OpRow &row : op_rows()) {
    if (!is_comparison(row.op))
      continue;
    ++seen;
    for (const std::vector<int64_t> &numbers : arguments(2)) {
      const bool holds = whole(row.op, Type::boolean, Type::i64, numbers) != 0;
      CHECK(holds == (whole(mirrored(row.op), Type::boolean, Type::i64, {numbers[1], numbers[0]}) != 0));
      CHECK(holds != (whole(negated(row.op), Type::boolean, Type::i64, numbers) != 0));
    }
  }
  CHECK(seen == 6);
  CHECK(mirrored(Op::add) == Op::add);
}

TEST_CASE("rows are found by their number, name and sign") {
  for (const OpRow &row : op_rows()) {
    CHECK(&op_row(row.op) == &row);
    CHECK(op_name(row.op) == row.name);
    CHECK((row.binds > 0) == (infix_row(row.cpp) == &row || (row.binds > 0 && row.arity == 1)));
  }
  CHECK(infix_row("-")->op == Op::sub);
  CHECK(infix_row("&&") == nullptr);
  CHECK(op_name(Op::kept) == "kept");
  CHECK_FALSE(is_scalar_op(Op::kept));
  CHECK_FALSE(has(Op::read, op::lanes));
}
