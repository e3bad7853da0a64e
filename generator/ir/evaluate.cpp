#include "ir/evaluate.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/half.h"
#include "ir/op_rows.h"
#include "support/check.h"

namespace kgen {

namespace {

// One loop for every operation; strides 0 and 1 are spelled out so that it vectorises.
template <class F> void loop1(const Row *a, Value *out, int64_t n, F f) {
  if (a[0].stride == 1)
    for (int64_t i = 0; i < n; ++i)
      out[i] = f(a[0].data[i]);
  else
    for (int64_t i = 0; i < n; ++i)
      out[i] = f(a[0].data[i * a[0].stride]);
}

template <class F> void loop2(const Row *a, Value *out, int64_t n, F f) {
  const Value *x = a[0].data, *y = a[1].data;
  int64_t sx = a[0].stride, sy = a[1].stride;
  if (sx == 1 && sy == 1)
    for (int64_t i = 0; i < n; ++i)
      out[i] = f(x[i], y[i]);
  else if (sx == 0 && sy == 1)
    for (int64_t i = 0; i < n; ++i)
      out[i] = f(x[0], y[i]);
  else if (sx == 1 && sy == 0)
    for (int64_t i = 0; i < n; ++i)
      out[i] = f(x[i], y[0]);
  else
    for (int64_t i = 0; i < n; ++i)
      out[i] = f(x[i * sx], y[i * sy]);
}

template <class F> void loop3(const Row *a, Value *out, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = f(a[0].data[i * a[0].stride], a[1].data[i * a[1].stride], a[2].data[i * a[2].stride]);
}

double min_number(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : b < a ? b : a; }
double max_number(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : b > a ? b : a; }

// Winitzki's start value, then Halley steps on erf (on erfc in the tails, where erf has no digits left).
double erfinv(double y) {
  if (std::isnan(y) || std::fabs(y) > 1)
    return NAN;
  if (std::fabs(y) == 1)
    return std::copysign(INFINITY, y);
  double w = -std::log1p(-y * y);
  double log_term = 2 / (M_PI * 0.147) - w / 2;
  double x = std::copysign(std::sqrt(std::sqrt(log_term * log_term + w / 0.147) - log_term), y);
  for (int step = 0; step < 4; ++step) {
    double error = std::fabs(y) < 0.5 ? std::erf(x) - y : (y > 0 ? (1 - y) - std::erfc(x) : std::erfc(-x) - (1 + y));
    double newton = error / (2 / std::sqrt(M_PI) * std::exp(-x * x));
    x -= newton / (1 + x * newton);
  }
  return x;
}

double sign_number(double v) { return v > 0 ? 1 : v < 0 ? -1 : v; }

#define KGEN_UNARY(id, expression)                                                                                     \
  case Op::id:                                                                                                         \
    loop1(a, out, n, [](Value v) {                                                                                     \
      double x = v.number;                                                                                             \
      return number_value(expression);                                                                                 \
    });                                                                                                                \
    return
#define KGEN_BINARY(id, expression)                                                                                    \
  case Op::id:                                                                                                         \
    loop2(a, out, n, [](Value v, Value w) {                                                                            \
      double x = v.number, y = w.number;                                                                               \
      return number_value(expression);                                                                                 \
    });                                                                                                                \
    return

// Floating results, not yet rounded to the result type.
void floating_row(Op op, const Row *a, Value *out, int64_t n) {
  switch (op) {
    KGEN_BINARY(add, x + y);
    KGEN_BINARY(sub, x - y);
    KGEN_BINARY(mul, x * y);
    KGEN_BINARY(div, x / y);
    KGEN_BINARY(rem, std::fmod(x, y));
    KGEN_BINARY(min, min_number(x, y));
    KGEN_BINARY(max, max_number(x, y));
    KGEN_BINARY(atan2, std::atan2(x, y));
    KGEN_BINARY(pow, std::pow(x, y));
    KGEN_UNARY(neg, -x);
    KGEN_UNARY(abs, std::fabs(x));
    KGEN_UNARY(sign, sign_number(x));
    KGEN_UNARY(exp, std::exp(x));
    KGEN_UNARY(exp2, std::exp2(x));
    KGEN_UNARY(expm1, std::expm1(x));
    KGEN_UNARY(log, std::log(x));
    KGEN_UNARY(log2, std::log2(x));
    KGEN_UNARY(log1p, std::log1p(x));
    KGEN_UNARY(sqrt, std::sqrt(x));
    KGEN_UNARY(rsqrt, 1 / std::sqrt(x));
    KGEN_UNARY(cbrt, std::cbrt(x));
    KGEN_UNARY(tanh, std::tanh(x));
    KGEN_UNARY(sinh, std::sinh(x));
    KGEN_UNARY(cosh, std::cosh(x));
    KGEN_UNARY(sigmoid, 1 / (1 + std::exp(-x)));
    KGEN_UNARY(erf, std::erf(x));
    KGEN_UNARY(erfinv, erfinv(x));
    KGEN_UNARY(sin, std::sin(x));
    KGEN_UNARY(cos, std::cos(x));
    KGEN_UNARY(tan, std::tan(x));
    KGEN_UNARY(floor, std::floor(x));
    KGEN_UNARY(ceil, std::ceil(x));
    KGEN_UNARY(round, std::nearbyint(x));
    KGEN_UNARY(trunc, std::trunc(x));
  case Op::clamp:
    loop3(a, out, n, [](Value v, Value low, Value high) {
      return number_value(min_number(max_number(v.number, low.number), high.number));
    });
    return;
  case Op::fma:
    loop3(a, out, n, [](Value x, Value y, Value z) { return number_value(std::fma(x.number, y.number, z.number)); });
    return;
  case Op::random:
    loop2(a, out, n, [](Value seed, Value index) {
      return number_value((random_word(seed.integer, index.integer) >> 8) * 0x1p-24);
    });
    return;
  default:
    KGEN_UNREACHABLE("not an operation with a floating result");
  }
}

bool compare(Op op, auto x, auto y) {
  switch (op) {
  case Op::lt:
    return x < y;
  case Op::le:
    return x <= y;
  case Op::gt:
    return x > y;
  case Op::ge:
    return x >= y;
  case Op::eq:
    return x == y;
  default:
    return x != y;
  }
}

void boolean_row(Op op, Type argument, const Row *a, Value *out, int64_t n) {
  bool floating = is_floating(argument);
  switch (op) {
  case Op::isnan:
    return loop1(a, out, n, [=](Value v) { return integer_value(floating && std::isnan(v.number)); });
  case Op::isinf:
    return loop1(a, out, n, [=](Value v) { return integer_value(floating && std::isinf(v.number)); });
  case Op::logical_not:
    return loop1(a, out, n, [=](Value v) { return integer_value(floating ? v.number == 0 : v.integer == 0); });
  default:
    break;
  }
  if (floating)
    loop2(a, out, n, [=](Value x, Value y) { return integer_value(compare(op, x.number, y.number)); });
  else if (argument == Type::u64)
    loop2(a, out, n, [=](Value x, Value y) {
      return integer_value(compare(op, static_cast<uint64_t>(x.integer), static_cast<uint64_t>(y.integer)));
    });
  else
    loop2(a, out, n, [=](Value x, Value y) { return integer_value(compare(op, x.integer, y.integer)); });
}

uint64_t bits(Value v) { return static_cast<uint64_t>(v.integer); }
Value from_bits(uint64_t v) { return integer_value(static_cast<int64_t>(v)); }

Value divide(Value x, Value y, bool remainder, bool wide_unsigned) {
  if (y.integer == 0)
    return integer_value(0);
  if (wide_unsigned)
    return from_bits(remainder ? bits(x) % bits(y) : bits(x) / bits(y));
  if (y.integer == -1)
    return from_bits(remainder ? 0 : 0 - bits(x));
  return integer_value(remainder ? x.integer % y.integer : x.integer / y.integer);
}

// Whether x is the less; u64 compares as unsigned, all others as they stand.
bool less(Value x, Value y, bool wide_unsigned) { return wide_unsigned ? bits(x) < bits(y) : x.integer < y.integer; }

// Integer results, not yet wrapped to the result type.
void integer_row(Op op, Type type, const Row *a, Value *out, int64_t n) {
  bool wide = type == Type::u64;
  int width_mask = bits_of(type) - 1;
  switch (op) {
  case Op::add:
    return loop2(a, out, n, [](Value x, Value y) { return from_bits(bits(x) + bits(y)); });
  case Op::sub:
    return loop2(a, out, n, [](Value x, Value y) { return from_bits(bits(x) - bits(y)); });
  case Op::mul:
    return loop2(a, out, n, [](Value x, Value y) { return from_bits(bits(x) * bits(y)); });
  case Op::div:
    return loop2(a, out, n, [=](Value x, Value y) { return divide(x, y, false, wide); });
  case Op::rem:
    return loop2(a, out, n, [=](Value x, Value y) { return divide(x, y, true, wide); });
  case Op::bit_and:
    return loop2(a, out, n, [](Value x, Value y) { return from_bits(bits(x) & bits(y)); });
  case Op::bit_or:
    return loop2(a, out, n, [](Value x, Value y) { return from_bits(bits(x) | bits(y)); });
  case Op::bit_xor:
    return loop2(a, out, n, [](Value x, Value y) { return from_bits(bits(x) ^ bits(y)); });
  case Op::shl:
    return loop2(a, out, n, [=](Value x, Value y) { return from_bits(bits(x) << (y.integer & width_mask)); });
  case Op::shr:
    return loop2(a, out, n, [=](Value x, Value y) {
      int count = static_cast<int>(y.integer & width_mask);
      return wide ? from_bits(bits(x) >> count) : integer_value(x.integer >> count);
    });
  case Op::min:
    return loop2(a, out, n, [=](Value x, Value y) { return less(y, x, wide) ? y : x; });
  case Op::max:
    return loop2(a, out, n, [=](Value x, Value y) { return less(x, y, wide) ? y : x; });
  case Op::clamp:
    return loop3(a, out, n, [=](Value v, Value low, Value high) {
      Value raised = less(v, low, wide) ? low : v;
      return less(high, raised, wide) ? high : raised;
    });
  case Op::neg:
    return loop1(a, out, n, [](Value x) { return from_bits(0 - bits(x)); });
  case Op::bit_not:
    return loop1(a, out, n, [](Value x) { return from_bits(~bits(x)); });
  case Op::abs:
    return loop1(a, out, n, [=](Value x) { return !wide && x.integer < 0 ? from_bits(0 - bits(x)) : x; });
  case Op::sign:
    return loop1(a, out, n, [=](Value x) {
      return integer_value(x.integer == 0 ? 0 : !wide && x.integer < 0 ? -1 : 1);
    });
  case Op::popcount: {
    uint64_t mask = ~uint64_t{0} >> (64 - bits_of(type));
    return loop1(a, out, n, [=](Value x) { return integer_value(std::popcount(bits(x) & mask)); });
  }
  case Op::random_bits:
    return loop2(a, out, n, [](Value seed, Value i) { return from_bits(random_word(seed.integer, i.integer)); });
  default:
    KGEN_UNREACHABLE("not an operation with an integer result");
  }
}

template <class T> int64_t saturate(double value) {
  if (std::isnan(value))
    return 0;
  // 2^width and -2^width are doubles, so these comparisons are exact.
  if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    return static_cast<int64_t>(std::numeric_limits<T>::max());
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return static_cast<int64_t>(std::numeric_limits<T>::min());
  return static_cast<int64_t>(static_cast<T>(value));
}

int64_t saturate_to(double value, Type type) {
  switch (type) {
  case Type::i64:
    return saturate<int64_t>(value);
  case Type::i32:
    return saturate<int32_t>(value);
  case Type::i16:
    return saturate<int16_t>(value);
  case Type::i8:
    return saturate<int8_t>(value);
  case Type::u64:
    return saturate<uint64_t>(value);
  case Type::u32:
    return saturate<uint32_t>(value);
  case Type::u16:
    return saturate<uint16_t>(value);
  case Type::u8:
    return saturate<uint8_t>(value);
  default:
    KGEN_UNREACHABLE("not an integer type");
  }
}

} // namespace

int bits_of(Type type) { return 8 * bytes_of(type); }

double round_to(double value, Type type) {
  switch (type) {
  case Type::f64:
    return value;
  case Type::f32:
    return static_cast<float>(value);
  case Type::f16:
    return round_to_f16(value);
  case Type::bf16:
    return round_to_bf16(value);
  default:
    KGEN_UNREACHABLE("not a floating type");
  }
}

int64_t wrap(int64_t value, Type type) {
  switch (type) {
  case Type::i32:
    return static_cast<int32_t>(value);
  case Type::i16:
    return static_cast<int16_t>(value);
  case Type::i8:
    return static_cast<int8_t>(value);
  case Type::u32:
    return static_cast<uint32_t>(value);
  case Type::u16:
    return static_cast<uint16_t>(value);
  case Type::u8:
    return static_cast<uint8_t>(value);
  case Type::boolean:
    return value != 0;
  default:
    return value;
  }
}

void evaluate_row(Op op, Type result, Type argument, const Row *args, Value *out, int64_t n) {
  if (result == Type::boolean && (is_floating(argument) || op_row(op).result == op::Result::boolean))
    return boolean_row(op, argument, args, out, n);
  if (is_floating(result)) {
    floating_row(op, args, out, n);
    if (result == Type::f32)
      for (int64_t i = 0; i < n; ++i)
        out[i].number = static_cast<float>(out[i].number);
    return;
  }
  integer_row(op, result, args, out, n);
  if (result == Type::i32)
    for (int64_t i = 0; i < n; ++i)
      out[i].integer = static_cast<int32_t>(out[i].integer);
  else if (bits_of(result) < 64)
    for (int64_t i = 0; i < n; ++i)
      out[i].integer = wrap(out[i].integer, result);
}

Value evaluate(Op op, Type result, Type argument, const Value *args) {
  Row rows[3] = {{args, 0}, {args + 1, 0}, {args + 2, 0}};
  Value out;
  evaluate_row(op, result, argument, rows, &out, 1);
  return out;
}

Value convert(Value value, Type from, Type to) {
  if (from == to)
    return value;
  if (is_floating(from)) {
    if (is_floating(to))
      return number_value(round_to(value.number, to));
    return integer_value(to == Type::boolean ? value.number != 0 : saturate_to(value.number, to));
  }
  if (!is_floating(to))
    return integer_value(wrap(value.integer, to));
  if (to == Type::f32) // straight from the integer: no second rounding by way of double
    return number_value(from == Type::u64 ? static_cast<float>(bits(value)) : static_cast<float>(value.integer));
  double wide = from == Type::u64 ? static_cast<double>(bits(value)) : static_cast<double>(value.integer);
  return number_value(round_to(wide, to));
}

void convert_row(Type from, Type to, Row row, Value *out, int64_t n) {
  if (from == Type::f64 && to == Type::f32)
    return loop1(&row, out, n, [](Value v) { return number_value(static_cast<float>(v.number)); });
  if (from == to || (from == Type::f32 && to == Type::f64))
    return loop1(&row, out, n, [](Value v) { return v; });
  loop1(&row, out, n, [=](Value v) { return convert(v, from, to); });
}

Value bitcast(Value value, Type from, Type to) {
  unsigned char bytes[8] = {};
  store_value(bytes, from, value);
  return load_value(bytes, to);
}

double unit_roundoff(Type type) { return std::ldexp(1.0, -type_row(type).significand_bits); }

double smallest_normal(Type type) {
  return type == Type::f64 ? DBL_MIN : type == Type::f16 ? 0x1p-14 : static_cast<double>(FLT_MIN);
}

double smallest_denormal(Type type) {
  return type == Type::f64 ? 0x1p-1074 : type == Type::f32 ? 0x1p-149 : type == Type::f16 ? 0x1p-24 : 0x1p-133;
}

double largest_finite(Type type) {
  return type == Type::f64   ? DBL_MAX
         : type == Type::f32 ? static_cast<double>(FLT_MAX)
         : type == Type::f16 ? 65504.0
                             : 0x1.fep127;
}

Value lowest_value(Type type) {
  if (is_floating(type))
    return number_value(-INFINITY);
  if (is_unsigned(type) || type == Type::boolean)
    return integer_value(0);
  return integer_value(std::numeric_limits<int64_t>::min() >> (64 - bits_of(type)));
}

Value highest_value(Type type) {
  if (is_floating(type))
    return number_value(INFINITY);
  if (type == Type::boolean)
    return integer_value(1);
  if (is_unsigned(type))
    return from_bits(~uint64_t{0} >> (64 - bits_of(type)));
  return integer_value(std::numeric_limits<int64_t>::max() >> (64 - bits_of(type)));
}

namespace {
template <class T> T read_as(const unsigned char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}
template <class T> void write_as(unsigned char *bytes, T value) { std::memcpy(bytes, &value, sizeof value); }
// A NaN of fewer bits stands at the top of a double's fraction. One that is only moved keeps its bits so.
struct NanForm {
  int bits, fraction;
};
constexpr NanForm kNanOfF32 = {32, 23}, kNanOfF16 = {16, 10}, kNanOfBf16 = {16, 7};
constexpr int kFractionOfF64 = 52;

Value widened(uint64_t bits, NanForm form, double value) {
  if (!std::isnan(value))
    return number_value(value);
  const uint64_t fraction = bits & ((uint64_t{1} << form.fraction) - 1), sign = bits >> (form.bits - 1);
  return number_value(std::bit_cast<double>(sign << 63 | uint64_t{0x7ff} << kFractionOfF64 |
                                            fraction << (kFractionOfF64 - form.fraction)));
}

uint64_t nan_bits(double value, NanForm form) {
  const uint64_t bits = std::bit_cast<uint64_t>(value), top = uint64_t{1} << form.fraction;
  const uint64_t fraction = bits >> (kFractionOfF64 - form.fraction) & (top - 1);
  const uint64_t exponent = (uint64_t{1} << (form.bits - 1)) - top;
  return bits >> 63 << (form.bits - 1) | exponent | (fraction != 0 ? fraction : top / 2);
}

} // namespace

Value load_value(const unsigned char *bytes, Type type) {
  switch (type) {
  case Type::f64:
    return number_value(read_as<double>(bytes));
  case Type::f32:
    return widened(read_as<uint32_t>(bytes), kNanOfF32, read_as<float>(bytes));
  case Type::f16:
    return widened(read_as<uint16_t>(bytes), kNanOfF16, f16_value(read_as<uint16_t>(bytes)));
  case Type::bf16:
    return widened(read_as<uint16_t>(bytes), kNanOfBf16, bf16_value(read_as<uint16_t>(bytes)));
  case Type::i64:
  case Type::u64:
    return integer_value(read_as<int64_t>(bytes));
  case Type::i32:
    return integer_value(read_as<int32_t>(bytes));
  case Type::i16:
    return integer_value(read_as<int16_t>(bytes));
  case Type::i8:
    return integer_value(read_as<int8_t>(bytes));
  case Type::u32:
    return integer_value(read_as<uint32_t>(bytes));
  case Type::u16:
    return integer_value(read_as<uint16_t>(bytes));
  case Type::u8:
    return integer_value(read_as<uint8_t>(bytes));
  case Type::boolean:
    return integer_value(read_as<uint8_t>(bytes) != 0);
  }
  KGEN_UNREACHABLE("not a type");
}

void store_value(unsigned char *bytes, Type type, Value value) {
  switch (type) {
  case Type::f64:
    return write_as(bytes, value.number);
  case Type::f32:
    if (std::isnan(value.number))
      return write_as(bytes, static_cast<uint32_t>(nan_bits(value.number, kNanOfF32)));
    return write_as(bytes, static_cast<float>(value.number));
  case Type::f16:
  case Type::bf16:
    if (std::isnan(value.number))
      return write_as(bytes, static_cast<uint16_t>(nan_bits(value.number, type == Type::f16 ? kNanOfF16 : kNanOfBf16)));
    return write_as(bytes, type == Type::f16 ? f16_bits(value.number) : bf16_bits(value.number));
  default:
    std::memcpy(bytes, &value.integer, bytes_of(type)); // little-endian: the low bytes come first
  }
}

std::array<uint32_t, 4> philox_4x32_10(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(p0)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return c;
}

uint32_t random_word(int64_t seed, int64_t index) {
  auto low = [](int64_t v) { return static_cast<uint32_t>(v); };
  auto high = [](int64_t v) { return static_cast<uint32_t>(static_cast<uint64_t>(v) >> 32); };
  return philox_4x32_10({low(index), high(index), 0, 0}, {low(seed), high(seed)})[0];
}

} // namespace kgen
