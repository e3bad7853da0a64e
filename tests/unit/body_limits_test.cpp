// Sizes and depths that no person writes: a message in bounded time, never a crash. And places in texts that do not
// start a line of their own.
#include <doctest/doctest.h>

#include "body_testing.h"

using namespace kgen;
using namespace kgen::body;

namespace {

std::string repeat(const std::string &text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i)
    out += text;
  return out;
}

} // namespace

TEST_CASE("depth is limited") {
  CHECK(messages("o = " + repeat("(", 180) + "x" + repeat(")", 180) + ";") == "");
  CHECK(messages("o = " + repeat("(", 100000) + "x;") == "15:205: brackets nested more than 200 deep\n");
  CHECK(messages(repeat("{", 300) + repeat("}", 300)) == "15:201: brackets nested more than 200 deep\n");
  CHECK(messages("o = x" + repeat(" + x", 900) + ";") == "");
  CHECK(parse_text("o = x" + repeat(" + x", 9000) + ";").list.size() == 1);
  CHECK(parse_text("o = " + repeat("- ", 9000) + "x;").list.size() == 1);
  CHECK(parse_text("o = " + repeat("(float)", 4000) + "x;").list.size() == 1);
  CHECK(parse_text("o = " + repeat("x > 0 ? x : ", 2000) + "x;").list.size() == 1);
  CHECK(messages("if (x > 0) o = 1; " + repeat("else if (x > 1) o = 2; ", 150)) == "");
  CHECK(messages(repeat("for (;;) ", 5000) + "o = 1;") == "15:1801: `if` and loops nested more than 200 deep\n");
}

TEST_CASE("length is limited") {
  CHECK(messages("o = " + repeat("- ", 30000) + "x;") == "15:39999: this statement is longer than 20000 words\n");
  Spec spec;
  spec.kernel = "k";
  spec.body = {repeat("o = 1; ", 200000), {"k.toml", 1, 1, 1}};
  Diagnostics diags;
  CHECK_FALSE(parse_body(spec, {Variant{}}, diags).has_value());
  REQUIRE(diags.sorted().size() == 1);
  CHECK(diags.sorted()[0].text == "this text is longer than 1000000 characters");
}

TEST_CASE("numbers are no longer than a stack holds") {
  CHECK(messages("o = 0." + std::string(900, '7') + ";") == "");
  CHECK(messages("o = 0." + std::string(100000, '7') + ";") == "15:5: this number is longer than 1000 digits\n");
}

TEST_CASE("coordinates within coordinates are limited") {
  auto nested = [](int depth) {
    return "o = " + repeat("at(x, N = int64_t(", depth) + "x" + repeat("))", depth) + ";";
  };
  CHECK(messages(nested(6)) == "");
  CHECK(messages(nested(7)).find("coordinates nested more than 6 deep") != std::string::npos);
}

TEST_CASE("templates that name each other twice do not make millions of functions") {
  const std::string
      head = "template <int K, int J> real f(real v) { return f<(K > 0 ? K - 1 : 0), (K > 0 ? 2 * J : 0)>(v)",
      tail = " + f<(K > 0 ? K - 1 : 0), (K > 0 ? 2 * J + 1 : 0)>(v); }";
  CHECK(messages("o = f<20, 0>(x);", head + tail).find("functions come from templates") != std::string::npos);
}

TEST_CASE("all sets of functions together are limited") {
  std::string head = "kernel = \"k\"\ninputs.x = \"f32[N]\"\noutputs.o = \"f32[N]\"\n";
  for (int i = 0; i < 10; ++i)
    head += "params.p" + std::to_string(i) + " = [1, 2]\n";
  CHECK(parse_spec(head + "body = 'o = x" + repeat(" + x", 20) + ";'\n").messages == "");
  CHECK(parse_spec(head + "body = 'o = x" + repeat(" + x", 200) + ";'\n").messages.find("more than 97 operations") !=
        std::string::npos);
  CHECK(parse_spec(head + "body = ''' " + repeat("o = x;\n", 1000) + "'''\n")
            .messages.find("once for each of 1024 sets") != std::string::npos);
}

TEST_CASE("many statements are no matter") {
  const Outcome out = parse_text(repeat("o = x;\n", 5000));
  CHECK(out.messages == "");
  CHECK(out.bodies.size() == 1);
  CHECK(messages(repeat("o = x;\n", 5001)) == "5015:6: this body is longer than 5000 statements\n");
  CHECK(messages(repeat("o = x + x + x + x;\n", 4000)).find("more than 20000 operations") != std::string::npos);
}

TEST_CASE("at most 20 messages") { CHECK(parse_text(repeat("o = N;\n", 1000)).list.size() == 20); }

TEST_CASE("calls of calls of calls are counted as they inline") {
  std::string twice = "real f0(real v) { return v + v; }\n", once = twice;
  for (int i = 1; i < 5000; ++i) {
    const std::string below = "f" + std::to_string(i - 1) + "(v)", head = "real f" + std::to_string(i);
    if (i < 60)
      twice += head + "(real v) { return " + below + " + " + below + "; }\n";
    once += head + "(real v) { return " + below + "; }\n";
  }
  const Outcome large = parse_text("o = f59(x);", twice);
  REQUIRE(large.list.size() == 1);
  CHECK(large.list[0].text == "with all calls inlined, this has more than 20000 operations");
  const Outcome deep = parse_text("o = f4999(x);", once);
  REQUIRE(deep.list.size() == 1);
  CHECK(deep.list[0].text == "calls nested more than 64 deep");
  const Outcome stepwise = parse_text("o = f40(x) + f80(x) + f120(x);", once);
  REQUIRE(stepwise.list.size() == 1);
  CHECK(stepwise.list[0].text == "calls nested more than 64 deep");
}

TEST_CASE("templates that instantiate themselves without end are recursion") {
  const std::string out = messages("o = f<3>(x);", "template <int K> real f(real v) { return f<K + 1>(v); }");
  CHECK(out.find("`f` calls itself") != std::string::npos);
}

TEST_CASE("columns are right in a text that starts within a line") {
  const std::string head = "kernel = \"k\"\ninputs.x = \"f32[N]\"\noutputs.o = \"f32[N]\"\n";
  CHECK(parse_spec(head + "body = 'o = sun(x, N);'\n").messages ==
        "4:13: `sun` is not declared | did you mean `sum`?\n");
  CHECK(parse_spec(head + "functions = 'real f(real v) { return v + q; }'\nbody = 'o = f(x) + r;'\n").messages ==
        "4:42: `q` is not declared\n5:20: `r` is not declared\n");
  CHECK(parse_spec(head + "body = '''  o = q;\n o = r;'''\n").messages ==
        "4:17: `q` is not declared\n5:6: `r` is not declared\n");
}

TEST_CASE("one mistake in all variants is one message") {
  CHECK(parse_spec("kernel = \"k\"\ntypes.T = [\"f32\", \"f64\", \"bf16\"]\ninputs.x = \"T[N]\"\noutputs.o = \"T[N]\"\n"
                   "body = 'x = 3; o = N;'\n")
            .list.size() == 2);
}

TEST_CASE("a param must name a function that exists") {
  CHECK(parse_spec("kernel = \"k\"\nparams.act = [\"rleu\", \"tanh\"]\ninputs.x = \"f32[N]\"\noutputs.o = \"f32[N]\"\n"
                   "body = 'o = act(x);'\n")
            .messages == "2:8: no function is named `rleu` | did you mean `relu`?\n");
}

TEST_CASE("a mistake of some variants names them") {
  const std::string head =
      "kernel = \"k\"\ntypes.T = [\"i32\", \"f32\", \"f64\"]\ninputs.x = \"T[N]\"\noutputs.o = \"T[N]\"\n"
      "grid.k = { axis = \"N\", block = 4 }\n";
  CHECK(parse_spec(head + "body = 'o = x % 2;'\n").messages ==
        "6:15: invalid operands to binary expression (`float` and `int`) | this is so for `f32` and `f64` only; "
        "`%`, shifts and `& | ^` take whole numbers\n");
  CHECK(parse_spec(head + "body = 'o = relu(k);'\n").messages ==
        "6:13: `k` is a grid dimension, which this function cannot take | write `int64_t(k)`\n");
}

TEST_CASE("names of builtins are kept from operands") {
  for (const char *name :
       {"sum", "at", "index", "exp", "random_bits", "inf", "real", "axis", "where", "cumsum_reverse"})
    CHECK(parse_spec("kernel = \"k\"\ninputs." + std::string(name) +
                     " = \"f32[N]\"\noutputs.o = \"f32[N]\"\n"
                     "body = 'o = 1;'\n")
              .list.size() == 1);
}
