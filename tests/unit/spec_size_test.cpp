// Size expressions: reading, printing, folding and evaluating.
#include <limits>

#include "spec/parse_size.h"
#include "spec_cases.h"

using namespace kgen;
using namespace kgen::test;

namespace {

Size parse(const std::string &text) {
  Diagnostics diags;
  const auto size = parse_size({text, {"s", 1, 1, 1}, {}}, diags);
  CHECK_MESSAGE(size.has_value(), text << "\n" << diags.render(Diagnostics::Format::short_lines, false));
  return size.value_or(Size::integer(-999));
}

// M = 10, K = 3, t[i] = 100 + i
std::optional<long long> value(const Size &size) {
  SizeValues values;
  values.name = [](Size::Op, std::string_view name) {
    return name == "M" ? std::optional(10LL) : name == "K" ? std::optional(3LL) : std::nullopt;
  };
  values.table = [](std::string_view, const std::vector<long long> &index) { return std::optional(100 + index.at(0)); };
  return evaluate(size, values);
}

Size folded(const Size &size) {
  return rewrite(size, [](const Size &) { return std::nullopt; });
}

constexpr long long kLowest = std::numeric_limits<long long>::min();

} // namespace

TEST_CASE("expressions have the values of C, but for division that floors") {
  const std::pair<std::string, long long> cases[] = {
      {"7", 7},
      {"-7", -7},
      {"- -7", 7},
      {"-9223372036854775808", kLowest},
      {"2 + 3 * 4", 14},
      {"(2 + 3) * 4", 20},
      {"10 - 3 - 2", 5},
      {"10 - (3 - 2)", 9},
      {"M / K", 3},
      {"-M / K", -4},
      {"M / -K", -4},
      {"-M / -K", 3},
      {"M % K", 1},
      {"-M % K", 2},
      {"M % -K", -2},
      {"-M % -K", -1},
      {"M % -1", 0},
      {"cdiv(M, K)", 4},
      {"cdiv(-M, K)", -3},
      {"cdiv(9, 3)", 3},
      {"min(M, K)", 3},
      {"max(M, K, 11, 2)", 11},
      {"M < K", 0},
      {"M >= 10", 1},
      {"M == 10 ? 5 : 6", 5},
      {"M != 10 ? 5 : 6", 6},
      {"M < K ? 1 : M < 11 ? 2 : 3", 2},
      {"M <= 10 ? K : 1 / 0", 3},
      {"t[K + 1]", 104},
      {"t[t[0] - 100] * 2", 200},
      {" ( ( M ) ) ", 10},
      {"2*M+1", 21},
  };
  for (const auto &[text, wanted] : cases) {
    CAPTURE(text);
    const Size size = parse(text);
    CHECK(value(size) == wanted);
    CHECK(value(folded(size)) == wanted);
    CHECK(value(parse(to_string(size))) == wanted);
    CHECK(to_string(parse(to_string(size))) == to_string(size));
  }
}

TEST_CASE("what has no value is unknown") {
  for (const std::string text :
       {"1 / 0", "M % 0", "cdiv(M, 0)", "Q + 1", "9223372036854775807 + 1", "-9223372036854775808 - 1",
        "-9223372036854775808 / -1", "4611686018427387904 * 2", "cdiv(-9223372036854775808, -1)"}) {
    CAPTURE(text);
    CHECK(!value(parse(text)).has_value());
    CHECK(!value(folded(parse(text))).has_value());
  }
  CHECK(value(parse("-9223372036854775808 % -1")) == 0);
}

TEST_CASE("folding computes numbers and drops what does nothing") {
  const std::pair<std::string, std::string> cases[] = {
      {"2 * 3 + 1", "7"},
      {"M + 0", "M"},
      {"0 + M * 1", "M"},
      {"M * 0", "0"},
      {"(M - M) + K / 1", "K"},
      {"max(M, M)", "M"},
      {"cdiv(M, 1) % 1", "0"},
      {"- (-M)", "M"},
      {"1 < 2 ? M : K", "M"},
      {"K ? M : M", "M"},
      {"t[1 + 1]", "t[2]"},
      {"1 / 0", "1 / 0"},
      {"max(cdiv(M, 2), 1)", "max(cdiv(M, 2), 1)"},
  };
  for (const auto &[text, wanted] : cases)
    CHECK(to_string(folded(parse(text))) == wanted);
}

TEST_CASE("printing uses few parentheses, and never too few") {
  const std::pair<std::string, std::string> cases[] = {
      {"((M)+(K))*2", "(M + K) * 2"},
      {"M-(K-1)", "M - (K - 1)"},
      {"(M-K)-1", "M - K - 1"},
      {"M/(K*2)", "M / (K * 2)"},
      {"-(M+1)", "-(M + 1)"},
      {"-M*2", "-M * 2"},
      {"(M<K)==(K<M)", "(M < K) == (K < M)"},
      {"(M<K?1:2)+1", "(M < K ? 1 : 2) + 1"},
      {"M<K?1:(K<2?2:3)", "M < K ? 1 : K < 2 ? 2 : 3"},
      {"(M?1:0)?2:3", "(M ? 1 : 0) ? 2 : 3"},
      {"min(M+1,K)", "min(M + 1, K)"},
      {"t[M+1]", "t[M + 1]"},
  };
  for (const auto &[text, wanted] : cases)
    CHECK(to_string(parse(text)) == wanted);
  Size steps = Size::grid("i");
  steps.op = Size::Op::grid_size;
  CHECK(to_string(Size::make(Size::Op::subtract, {steps, Size::integer(1)})) == "size(i) - 1");
}

TEST_CASE("nodes know their places, to the byte") {
  const Size size = parse("M + cdiv(K, 2)");
  CHECK(size.place.column == 1);
  CHECK(size.place.length == 14);
  CHECK(size.args[1].place.column == 5);
  CHECK(size.args[1].place.length == 10);
  CHECK(size.args[1].args[0].place.column == 10);
  CHECK(size.args[1].args[0].place.length == 1);
}

TEST_CASE("equality is structural, mentions looks everywhere, rewriting folds") {
  CHECK(parse("M + K") == parse("(M)  + K"));
  CHECK(!(parse("M + K") == parse("K + M")));
  CHECK(mentions(parse("t[M] < 2 ? 1 : K"), Size::Op::axis, "M"));
  CHECK(mentions(parse("t[M]"), Size::Op::table, "t"));
  CHECK(!mentions(parse("t[M]"), Size::Op::axis, "t"));
  const Size two = rewrite(parse("M * K + 1"), [](const Size &node) {
    return node.op == Size::Op::axis && node.name == "M" ? std::optional(Size::integer(0)) : std::nullopt;
  });
  CHECK(two.is_integer(1));
}

TEST_CASE("wrong expressions") {
  const std::string before = "axes.P = { equals = ";
  const std::string after = " }\ninputs.x = 'f32[N]'\ntables.t = 'i32[N]'\nparams.eps = 0.5\nparams.bm = [4, 8]\n"
                            "grid.i = { size = 2 }\nscalars.a = 'f32'" +
                            kRest;
  const std::vector<Wrong> cases = {
      {R"~('')~", R"~(1:22: the expression is empty [KG0168]
)~"},
      {R"~('N +')~", R"~(1:25: the expression ends too early [KG0168]
)~"},
      {R"~('N + + 2')~", R"~(1:26: expected a number, a name or `(` [KG0168]
)~"},
      {R"~('(N')~", R"~(1:24: expected `)` [KG0168]
)~"},
      {R"~('N)')~", R"~(1:23: expected an operator or the end of the expression [KG0168]
)~"},
      {R"~('N M')~", R"~(1:24: expected an operator or the end of the expression [KG0168]
)~"},
      {R"~('1.5')~",
       R"~(1:23: expected an operator or the end of the expression (only whole numbers stand in sizes) [KG0168]
)~"},
      {R"~('2N')~", R"~(1:23: expected an operator after the number [KG0168]
)~"},
      {R"~('N == M == 2')~", R"~(1:29: comparisons do not chain: set the first one in parentheses [KG0168]
)~"},
      {R"~('N < 2 && N > 1')~",
       R"~(1:28: expected an operator or the end of the expression (multiply conditions: `(a < b) * (c < d)`) [KG0168]
)~"},
      {R"~('N ? 1')~", R"~(1:27: expected `:` of the choice [KG0168]
)~"},
      {R"~('N // 2')~",
       R"~(1:24: expected an operator or the end of the expression (`/` rounds down already; `cdiv(a, b)` rounds up) [KG0168]
)~"},
      {R"~('ceil(N)')~",
       R"~(1:22: unknown function `ceil` (there are `min`, `max` and `cdiv` (division that rounds up)) [KG0172]
)~"},
      {R"~('min(N)')~", R"~(1:22: `min` takes two or more arguments; this gives 1 [KG0173]
)~"},
      {R"~('cdiv(N, 2, 3)')~", R"~(1:22: `cdiv` takes two arguments; this gives 3 [KG0173]
)~"},
      {R"~('min(N, 2')~", R"~(1:30: expected `,` or `)` [KG0168]
)~"},
      {R"~('99999999999999999999')~", R"~(1:22: 99999999999999999999 does not fit in 64 bits [KG0171]
)~"},
      {R"~('t')~", R"~(1:22: `t` is a table: it has no value by itself (read an entry: t[i]) [KG0180]
)~"},
      {R"~('t[0, 1]')~", R"~(1:27: a table takes one bracket an index: t[a][b] [KG0168]
)~"},
      {R"~('t[0][1]')~", R"~(1:22: `t` is a table: it cannot stand in the size of an axis [KG0177]
)~"},
      {R"~('t[0')~", R"~(1:25: expected `]` [KG0168]
)~"},
      {R"~('x[1]')~", R"~(1:22: `x` is an input, not a table [KG0179]
)~"},
      {R"~('x')~",
       R"~(1:22: `x` is an input: it has no value here (sizes are made of axes, parameters and tables: their values are known before the kernel runs) [KG0176]
)~"},
      {R"~('M')~",
       R"~(1:22: there is no axis, parameter, grid dimension or table `M` (there are `N`, `P`, `bm` and `eps`) [KG0175]
)~"},
      {R"~('eps')~", R"~(1:22: parameter `eps` is no whole number [KG0178]
)~"},
      {R"~('i')~", R"~(1:22: `i` is a grid dimension: it cannot stand in the size of an axis [KG0177]
)~"},
      {R"~('1 / 0')~", R"~(1:22: 1 / 0 divides by zero [KG0174]
)~"},
      {R"~('N % (2 - 2)')~", R"~(1:22: N % 0 divides by zero [KG0174]
)~"},
      {R"~('4611686018427387904 * 2')~", R"~(1:22: 4611686018427387904 * 2 does not fit in 64 bits [KG0174]
)~"},
      {R"~('-9223372036854775808 - 1')~", R"~(1:22: -9223372036854775808 - 1 does not fit in 64 bits [KG0174]
)~"},
      {R"~('bm / (bm - 8)')~", R"~(1:22: a size cannot be negative: -1 (with bm = 4) [KG0130]
)~"},
      {R"~('a = 3')~", R"~(1:24: expected an operator or the end of the expression (`==` compares) [KG0168]
)~"},
      {R"~('q[0]')~", R"~(1:22: there is no axis, parameter, grid dimension or table `q` (there is only `t`) [KG0175]
)~"},
      {R"~("""
  N +
  1 +
  $""")~",
       R"~(4:3: expected a number, a name or `(` [KG0168]
)~"},
      {R"~("N \t + \u0024")~", R"~(1:29: expected a number, a name or `(` [KG0168]
)~"},
  };
  for (const Wrong &wrong : cases) {
    CAPTURE(wrong.spec);
    CHECK(messages(before + wrong.spec + after) == wrong.said);
  }
  CHECK(messages("inputs.x = { type = 'f32[N]', block = [1], index = ['t[0]'] }\ntables.t = 'i32[N, 2]'" + kRest) ==
        "1:54: table `t` has 2 dimensions; this gives 1 indices [KG0181]\n");
}

TEST_CASE("deep and long expressions are refused") {
  for (const size_t depth : {100, 200'000}) {
    const std::string said = messages("axes.P = { equals = '" + std::string(depth, '(') + "N' }" + kRest);
    CHECK(said == (depth == 100 ? "1:86: more than 64 parentheses within each other [KG0169]\n"
                                : "1:22: the expression is longer than 2000 characters [KG0170]\n"));
  }
  const std::string minus = messages("axes.P = { equals = '" + std::string(1500, '-') + "N' }" + kRest);
  CHECK(minus == "");
  std::string sum = "N";
  while (sum.size() < 1990)
    sum += "+N";
  CHECK(messages("axes.P = { equals = '" + sum + "' }" + kRest) == "");
}
