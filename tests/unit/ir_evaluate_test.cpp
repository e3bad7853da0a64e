// The value of each scalar operation, by the rules of the language.
#include "ir/evaluate.h"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "ir/half.h"
#include "ir/interpret.h"
#include "ir/magnitude.h"

using namespace kgen;

namespace {

int64_t integers(Op op, Type type, int64_t a, int64_t b = 0, int64_t c = 0) {
  Value args[3] = {integer_value(a), integer_value(b), integer_value(c)};
  return evaluate(op, type, type, args).integer;
}

double numbers(Op op, Type type, double a, double b = 0, double c = 0) {
  Value args[3] = {number_value(a), number_value(b), number_value(c)};
  return evaluate(op, type, type, args).number;
}

bool compares(Op op, Type type, double a, double b) {
  Value args[3] = {number_value(a), number_value(b), number_value(0)};
  return evaluate(op, Type::boolean, type, args).integer != 0;
}

constexpr double kInf = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("integers wrap, and nothing traps") {
  CHECK(integers(Op::add, Type::i32, INT32_MAX, 1) == INT32_MIN);
  CHECK(integers(Op::mul, Type::u8, 200, 2) == 144);
  CHECK(integers(Op::sub, Type::u32, 0, 1) == 4294967295);
  CHECK(integers(Op::neg, Type::i8, -128) == -128);
  CHECK(integers(Op::abs, Type::i32, INT32_MIN) == INT32_MIN);
  CHECK(integers(Op::div, Type::i32, 7, 0) == 0);
  CHECK(integers(Op::rem, Type::i32, 7, 0) == 0);
  CHECK(integers(Op::div, Type::i32, INT32_MIN, -1) == INT32_MIN);
  CHECK(integers(Op::rem, Type::i32, INT32_MIN, -1) == 0);
  CHECK(integers(Op::div, Type::i64, INT64_MIN, -1) == INT64_MIN);
  CHECK(integers(Op::div, Type::i32, -7, 2) == -3);
  CHECK(integers(Op::rem, Type::i32, -7, 2) == -1);
  CHECK(integers(Op::div, Type::u64, -1, 2) == INT64_MAX);
}

TEST_CASE("shift counts are modulo the width; unsigned shifts fill with zeros") {
  CHECK(integers(Op::shl, Type::i32, 1, 33) == 2);
  CHECK(integers(Op::shl, Type::i32, 1, 31) == INT32_MIN);
  CHECK(integers(Op::shl, Type::i64, 1, 64) == 1);
  CHECK(integers(Op::shr, Type::i32, -8, 1) == -4);
  CHECK(integers(Op::shr, Type::u32, 0xfffffff8, 1) == 0x7ffffffc);
  CHECK(integers(Op::shr, Type::u64, -8, 1) == 0x7ffffffffffffffc);
  CHECK(integers(Op::shl, Type::i32, 1, -1) == INT32_MIN);
}

TEST_CASE("bits") {
  CHECK(integers(Op::popcount, Type::i32, -1) == 32);
  CHECK(integers(Op::popcount, Type::i64, -1) == 64);
  CHECK(integers(Op::popcount, Type::u8, 0xf1) == 5);
  CHECK(integers(Op::bit_not, Type::u8, 0x0f) == 0xf0);
  CHECK(integers(Op::bit_xor, Type::i32, 6, 3) == 5);
  CHECK(bitcast(number_value(1.0), Type::f32, Type::i32).integer == 0x3f800000);
  CHECK(bitcast(integer_value(0x7f800000), Type::u32, Type::f32).number == kInf);
  CHECK(bitcast(number_value(-2.0), Type::f64, Type::i64).integer == int64_t(0xc000000000000000));
}

TEST_CASE("min, max and clamp keep integers and hand NaN on") {
  CHECK(integers(Op::max, Type::u64, -1, 1) == -1);
  CHECK(integers(Op::min, Type::i64, -1, 1) == -1);
  CHECK(integers(Op::clamp, Type::i32, 9, 0, 5) == 5);
  CHECK(integers(Op::sign, Type::i32, -9) == -1);
  CHECK(std::isnan(numbers(Op::max, Type::f32, NAN, 1)));
  CHECK(std::isnan(numbers(Op::max, Type::f32, 1, NAN)));
  CHECK(std::isnan(numbers(Op::min, Type::f32, NAN, 1)));
  CHECK(std::isnan(numbers(Op::clamp, Type::f32, NAN, 0, 1)));
  CHECK(std::isnan(numbers(Op::clamp, Type::f32, 0.5, 0, NAN)));
  CHECK(std::isnan(numbers(Op::sign, Type::f32, NAN)));
  CHECK(numbers(Op::clamp, Type::f32, 7, -1, 1) == 1);
  CHECK(numbers(Op::sign, Type::f32, -0.5) == -1);
}

TEST_CASE("floats round to their type after each operation") {
  CHECK(numbers(Op::add, Type::f32, 16777216, 1) == 16777216);
  CHECK(numbers(Op::add, Type::f64, 16777216, 1) == 16777217);
  CHECK(numbers(Op::div, Type::f32, 1, 3) == static_cast<double>(1.0f / 3.0f));
  CHECK(numbers(Op::div, Type::f32, 1, 0) == kInf);
  CHECK(numbers(Op::round, Type::f32, 2.5) == 2);
  CHECK(numbers(Op::round, Type::f32, 3.5) == 4);
  CHECK(numbers(Op::round, Type::f32, -0.5) == 0);
  CHECK(numbers(Op::trunc, Type::f32, -1.5) == -1);
  CHECK(numbers(Op::fma, Type::f64, 3, 4, 5) == 17);
  CHECK(numbers(Op::rsqrt, Type::f64, 4) == 0.5);
  CHECK(numbers(Op::sigmoid, Type::f64, 0) == 0.5);
  CHECK(numbers(Op::exp, Type::f32, 89) == kInf);
}

TEST_CASE("erfinv undoes erf") {
  for (double x : {-3.5, -1.0, -0.3, 0.0, 1e-9, 0.1, 0.9, 2.0, 4.0})
    CHECK(numbers(Op::erfinv, Type::f64, std::erf(x)) == doctest::Approx(x).epsilon(1e-7));
  CHECK(numbers(Op::erfinv, Type::f32, 1) == kInf);
  CHECK(std::isnan(numbers(Op::erfinv, Type::f32, 1.5)));
}

TEST_CASE("comparisons") {
  CHECK(compares(Op::ne, Type::f32, NAN, NAN));
  CHECK_FALSE(compares(Op::le, Type::f32, NAN, 1));
  Value args[2] = {integer_value(-1), integer_value(1)};
  CHECK(evaluate(Op::gt, Type::boolean, Type::u64, args).integer == 1);
  CHECK(evaluate(Op::gt, Type::boolean, Type::i64, args).integer == 0);
  Value nan = number_value(NAN);
  CHECK(evaluate(Op::isnan, Type::boolean, Type::f32, &nan).integer == 1);
  CHECK(evaluate(Op::isinf, Type::boolean, Type::f32, &nan).integer == 0);
}

TEST_CASE("conversions saturate, and NaN gives 0") {
  auto to = [](double v, Type type) { return convert(number_value(v), Type::f64, type).integer; };
  CHECK(to(1e20, Type::i32) == INT32_MAX);
  CHECK(to(-1e20, Type::i32) == INT32_MIN);
  CHECK(to(NAN, Type::i64) == 0);
  CHECK(to(1e30, Type::i64) == INT64_MAX);
  CHECK(to(-1e30, Type::i64) == INT64_MIN);
  CHECK(to(9223372036854775807.0, Type::i64) == INT64_MAX);
  CHECK(to(-5, Type::u8) == 0);
  CHECK(to(300, Type::u8) == 255);
  CHECK(to(-128.9, Type::i8) == -128);
  CHECK(to(1e30, Type::u64) == -1);
  CHECK(to(-1.9, Type::i32) == -1);
  CHECK(to(0.5, Type::boolean) == 1);
  CHECK(convert(integer_value(300), Type::i32, Type::i8).integer == 44);
  CHECK(convert(integer_value(-1), Type::i32, Type::u16).integer == 65535);
  CHECK(convert(integer_value(-1), Type::u64, Type::f64).number == 18446744073709551615.0);
  CHECK(convert(integer_value(16777217), Type::i32, Type::f32).number == 16777216);
}

TEST_CASE("halves round to nearest, ties to even, from the double at once") {
  CHECK(round_to_f16(2049) == 2048);
  CHECK(round_to_f16(2051) == 2052);
  CHECK(round_to_f16(65519) == 65504);
  CHECK(round_to_f16(65520) == kInf);
  CHECK(round_to_f16(0x1p-25) == 0);
  CHECK(round_to_f16(0x1.8p-25) == 0x1p-24);
  CHECK(round_to_bf16(257) == 256);
  CHECK(round_to_bf16(259) == 260);
  CHECK(round_to_bf16(257 + 1e-12) == 258); // by way of float it would be a tie
  CHECK(round_to_bf16(3.4e38) == kInf);
  CHECK(std::isnan(round_to_f16(NAN)));
  for (int bits = 0; bits < 0x10000; ++bits) {
    double f16 = f16_value(static_cast<uint16_t>(bits)), bf16 = bf16_value(static_cast<uint16_t>(bits));
    if (!std::isnan(f16))
      REQUIRE(f16_bits(f16) == bits);
    if (!std::isnan(bf16))
      REQUIRE(bf16_bits(bf16) == bits);
  }
  CHECK(f16_value(0x3555) == 0.333251953125);
}

TEST_CASE("Philox 4x32-10 gives its published values") {
  using Words = std::array<uint32_t, 4>;
  CHECK(philox_4x32_10({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox_4x32_10({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox_4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  Value args[2] = {integer_value(0), integer_value(0)};
  CHECK(evaluate(Op::random, Type::f32, Type::i64, args).number == (0x6627e8d5 >> 8) * 0x1p-24);
  CHECK(evaluate(Op::random_bits, Type::u32, Type::i64, args).integer == 0x6627e8d5);
}

TEST_CASE("memory holds every type") {
  unsigned char bytes[8];
  for (Type type : {Type::f64, Type::f32, Type::f16, Type::bf16}) {
    store_value(bytes, type, number_value(-1.5));
    CHECK(load_value(bytes, type).number == -1.5);
  }
  for (Type type : {Type::i64, Type::i32, Type::i16, Type::i8}) {
    store_value(bytes, type, integer_value(-2));
    CHECK(load_value(bytes, type).integer == -2);
  }
  store_value(bytes, Type::u16, integer_value(65535));
  CHECK(load_value(bytes, Type::u16).integer == 65535);
}

TEST_CASE("magnitudes: a difference keeps what cancelled; comparisons within it are undecided") {
  ErrorModel model{8 * 0x1p-24, 8 * 0x1p-24};
  Value values[2] = {number_value(1000.03), number_value(1000.0300001)};
  double magnitudes[2] = {1000, 1000};
  uint8_t flags[2] = {kInexact, kInexact};
  ReferenceRow rows[2] = {{&values[0], &magnitudes[0], &flags[0], 0}, {&values[1], &magnitudes[1], &flags[1], 0}};
  Value out;
  double magnitude;
  uint8_t marks;
  evaluate_reference_row(Op::sub, Type::f32, Type::f32, rows, {&out, &magnitude, &marks}, 1, model);
  CHECK(magnitude >= 2000);
  CHECK(marks == kInexact);
  evaluate_reference_row(Op::lt, Type::boolean, Type::f32, rows, {&out, &magnitude, &marks}, 1, model);
  CHECK(marks == kUndecided);
  flags[0] = flags[1] = 0; // exact values are never undecided
  evaluate_reference_row(Op::lt, Type::boolean, Type::f32, rows, {&out, &magnitude, &marks}, 1, model);
  CHECK(marks == 0);
}

TEST_CASE("magnitudes: NaN is near no jump") {
  ErrorModel model{8 * 0x1p-24, 8 * 0x1p-24};
  Value value = number_value(2.9999999), out;
  double magnitude = 3;
  uint8_t flags = kInexact, marks;
  ReferenceRow row{&value, &magnitude, &flags, 0};
  evaluate_reference_row(Op::floor, Type::f32, Type::f32, &row, {&out, &magnitude, &marks}, 1, model);
  CHECK(marks == kUndecided);
  value = number_value(NAN);
  evaluate_reference_row(Op::floor, Type::f32, Type::f32, &row, {&out, &magnitude, &marks}, 1, model);
  CHECK((marks & kUndecided) == 0);
}

TEST_CASE("the agreement formula") {
  CHECK(agrees(1.0, 1.0 + 0x1p-23, 1, Type::f32, Type::f32, 1));
  CHECK_FALSE(agrees(1.0, 1.0 + 0x1p-18, 1, Type::f32, Type::f32, 1));
  CHECK(agrees(1.0, 1.0 + 0x1p-18, 1, Type::f32, Type::f32, 1 << 10)); // a long reduction may
  CHECK(agrees(0.0, 0x1p-18, 8, Type::f32, Type::f32, 1));             // what cancelled was big
  CHECK(agrees(1.0, 1.01, 1, Type::bf16, Type::f32, 1));
  CHECK(agrees(NAN, NAN, 0, Type::f32, Type::f32, 1));
  CHECK_FALSE(agrees(NAN, 1, 1, Type::f32, Type::f32, 1));
  CHECK_FALSE(agrees(3, 4, 1e9, Type::i32, Type::f32, 1));
  CHECK(agrees(kInf, 65519.9, 65519.9, Type::f16, Type::f32, 1));
  CHECK_FALSE(agrees(kInf, 100, 100, Type::f16, Type::f32, 1));
}
