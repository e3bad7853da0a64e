// How things are written down: numbers, operations, names, helper sections, layout.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "emit/interface/header.h"
#include "emit/print/spelling.h"
#include "emit/text/comments.h"
#include "emit/text/format.h"
#include "emit/text/helpers.h"
#include "emit/text/names.h"
#include "emit/text/render.h"
#include "emit/text/reuse_names.h"
#include "emit/text/wrap.h"

using namespace kgen;

TEST_CASE("constants come back as the same number") {
  const Spelling cpp(TargetKind::openmp);
  CHECK(cpp.constant(Type::f32, 0, 0.1) == "0.1f");
  CHECK(cpp.constant(Type::f64, 0, 0.1) == "0.1");
  CHECK(cpp.constant(Type::f32, 0, 2) == "2.0f");
  CHECK(cpp.constant(Type::f32, 0, -std::numeric_limits<double>::infinity()) == "-INFINITY");
  CHECK(cpp.constant(Type::f64, 0, std::nan("")) == "double(NAN)");
  CHECK(cpp.constant(Type::boolean, 1, 0) == "true");
  CHECK(cpp.constant(Type::i32, std::numeric_limits<int32_t>::min(), 0) == "INT32_MIN");
  CHECK(cpp.constant(Type::i64, std::numeric_limits<int64_t>::min(), 0) == "INT64_MIN");
  for (double v : {1.0 / 3, 1e-45, 3.4e38, 16777217.0})
    CHECK(std::strtof(cpp.constant(Type::f32, 0, v).c_str(), nullptr) == static_cast<float>(v));
}

TEST_CASE("parentheses stand where C++ needs them and nowhere else") {
  Spelling cpp(TargetKind::openmp);
  const Code a{"a"}, b{"b"}, c{"c"};
  const Code sum = cpp.operation(Op::add, Type::f32, {a, b});
  CHECK(sum.text == "a + b");
  CHECK(cpp.operation(Op::mul, Type::f32, {sum, c}).text == "(a + b) * c");
  CHECK(cpp.operation(Op::add, Type::f32, {cpp.operation(Op::mul, Type::f32, {a, b}), c}).text == "a * b + c");
  CHECK(cpp.operation(Op::sub, Type::f32, {a, cpp.operation(Op::sub, Type::f32, {b, c})}).text == "a - (b - c)");
  CHECK(cpp.operation(Op::neg, Type::f32, {cpp.operation(Op::neg, Type::f32, {a})}).text == "-(-a)");
}

TEST_CASE("integer arithmetic that may overflow or trap goes through helpers") {
  Spelling cpp(TargetKind::openmp);
  const Code a{"a"}, b{"b"};
  CHECK(cpp.operation(Op::add, Type::i32, {a, b}).text == "wrapping_add(a, b)");
  CHECK(cpp.operation(Op::div, Type::i32, {a, b}).text == "divide(a, b)");
  CHECK(cpp.operation(Op::div, Type::i32, {a, {"3"}}).text == "a / 3");
  CHECK(cpp.operation(Op::shl, Type::u32, {a, b}).text == "shift_left(a, b)");
  CHECK(cpp.helpers().count("divide") == 1);
  CHECK(cpp.cast({"v"}, Type::f32, Type::i8).text == "saturate<int8_t>(v)");
}

TEST_CASE("one table row spells an operation for both targets and both widths") {
  Spelling cpp(TargetKind::openmp), cuda(TargetKind::cuda);
  CHECK(cpp.operation(Op::exp, Type::f32, {{"v"}}).text == "std::exp(v)");
  CHECK(cuda.operation(Op::exp, Type::f32, {{"v"}}).text == "expf(v)");
  CHECK(cuda.operation(Op::exp, Type::f64, {{"v"}}).text == "exp(v)");
}

TEST_CASE("names step aside for keywords and for each other") {
  Names names;
  CHECK(names.claim("total") == "total");
  CHECK(names.claim_one_of("total", {"", "_per_row"}) == "total_per_row");
  CHECK(names.claim_one_of("total", {"", "_per_row"}) == "total_per_row_two"); // the last resort
  CHECK(names.claim("total") == "total_two");
  CHECK(names.claim("total") == "total_three");
  CHECK(names.claim("int") == "int_");
  CHECK(names.claim("typeof") == "typeof_");   // a word of the GNU dialect
  CHECK(names.claim("k_", "_end") == "k_end"); // `k__end` would be the compiler's
}

namespace {
std::string with_names_again(const std::string &text, const Names &names) { return reuse_names({text}, names).front(); }
} // namespace

TEST_CASE("names of different blocks may be alike") {
  Names names;
  for (int i = 0; i < 4; ++i)
    names.claim("total");
  CHECK(with_names_again("void f() { { int total; } { int total_two; } }", names) ==
        "void f() { { int total; } { int total; } }");
  CHECK(with_names_again("void f() { for (int total = 0; total < 3; ++total) {} for (int total_two = 0;;) total_two; }",
                         names) ==
        "void f() { for (int total = 0; total < 3; ++total) {} for (int total = 0;;) total; }");
  CHECK(with_names_again("void f(int total) {} void g(int total_three) { total_three; }", names) ==
        "void f(int total) {} void g(int total) { total; }");
  // Not where one is seen from the other, or used behind its loop.
  for (const char *text :
       {"void f() { int total; { int total_two; } }", "void f() { { int total_two; } int total; }",
        "void f(int total) { int total_two; }", "void f() { int total; for (int total_two = 0;;) {} }",
        "void f() { { int total; } for (;;) {} total_two; { total; } }"})
    CHECK(with_names_again(text, names) == text);
  // The third one steps into the gap, which is no other's.
  CHECK(
      with_names_again("void f() { int total; { int total_two; } { int total_three; { int total_four; } } }", names) ==
      "void f() { int total; { int total_two; } { int total_two; { int total_three; } } }");
}

TEST_CASE("names that go with others follow them") {
  Names names;
  for (int i = 0; i < 2; ++i)
    names.claim(names.claim("total"), "_lanes");
  CHECK(with_names_again("void f() { { int total, total_lanes; } { int total_two, total_two_lanes; } }", names) ==
        "void f() { { int total, total_lanes; } { int total, total_lanes; } }");
  CHECK(with_names_again("void f() { int total; { int total_lanes; } { int total_two, total_two_lanes; } }", names) ==
        "void f() { int total; { int total_lanes; } { int total_two, total_two_lanes; } }");
  CHECK(with_names_again("void f() { { int total_two, total_two_lanes; } { int total_lanes; } }", names) ==
        "void f() { { int total, total_lanes; } { int total_lanes; } }");
  CHECK(with_names_again("void f() { int total; { int total_two; } } // \"total_two\" of total_two's {", names) ==
        "void f() { int total; { int total_two; } } // \"total_two\" of total_two's {");
}

TEST_CASE("names that become alike still differ where they meet, also if no name was like that before") {
  Names names;
  for (int i = 0; i < 2; ++i)
    names.claim("total");
  for (int i = 0; i < 2; ++i)
    names.claim(names.claim("total"), "_parts");
  CHECK(with_names_again("void f() { total; { total_three; } { total_four; } total_three_parts; total_four_parts; }",
                         names) ==
        "void f() { total; { total_two; } { total_two; } total_two_parts; total_two_parts_two; }");
}

TEST_CASE("names of the user stay as they are, and are not given to others") {
  Names names;
  names.reserve("x");
  names.claim("x");
  CHECK(with_names_again("void f() { { int x_; } }", names) == "void f() { { int x_; } }");
  names.claim("total");
  names.claim("total");
  names.claim("total_two_x"); // not of the total_two above
  CHECK(with_names_again("void f() { { total; } { total_two; total_two_x; } }", names) ==
        "void f() { { total; } { total; total_two_x; } }");
}

TEST_CASE("helper sections bring what they need") {
  HelperSections sections;
  sections.add("//@ a\ntext a\n//@ b: a\ntext b\n");
  REQUIRE(sections.sections.size() == 2);
  CHECK(sections.sections[1].second == "text b\n");
  CHECK(sections.needs["b"] == std::vector<std::string>{"a"});
}

TEST_CASE("user text cannot leave its comment") {
  CHECK(comment_text("one\\\ntwo") == "one\ntwo");
  CHECK(comment_text("one \\  \\") == "one");
  CHECK(comment_text("a\r\nb\r") == "a\nb");
}

TEST_CASE("pragmas come out as macros, indented like the loop they belong to") {
  const std::string text = format_cpp("void f() {\nif (true) {\n#pragma omp parallel for\nfor (;;) {\n}\n}\n}\n");
  CHECK(text.find("    OMP(omp parallel for)\n    for (;;) {") != std::string::npos);
  CHECK(text.find("#pragma") == std::string::npos);
}

namespace {
std::string without_spaces(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }), text.end());
  return text;
}

size_t longest_line(const std::string &text) {
  size_t longest = 0, begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    longest = std::max(longest, end - begin);
  return longest;
}

std::string nested(size_t count, const std::string &before, const std::string &middle, const std::string &after) {
  std::string out = middle;
  for (size_t i = 0; i < count; ++i)
    out = before + out + after;
  return out;
}
} // namespace

TEST_CASE("deep nests are laid out in time, and stay what they are") {
  for (const char *after : {" + 1.0f)", " * x_0_1[x0_1 * 10])", ", some_other_value) + (b) * c"}) {
    const std::string line = "y[n] = " + nested(30, "maximum(", "first", after) + ";\n";
    const std::string text = "void f() {\n" + nested(200, "", "", line) + "}\n";
    const std::string out = format_cpp(text);
    CHECK(without_spaces(out) == without_spaces(text));
    CHECK(longest_line(out) <= kColumns);
  }
}

TEST_CASE("long lines are laid out in time, and stay what they are") {
  const std::string sum = nested(300, "", "first", " + maximum(some_name[n], another)");
  const std::string text =
      "void f() {\nif (" + sum + " > 0) {\n" + nested(50, "", "", "y[n] = " + sum + ";\n") + "}\n}\n";
  const std::string out = format_cpp(text);
  CHECK(without_spaces(out) == without_spaces(text));
  CHECK(longest_line(out) <= kColumns);
  CHECK(out.find("\n    y[n] = first") != std::string::npos);
}

TEST_CASE("what is hidden looks like no cast") {
  const std::string line = nested(6, "maximum(first, ", "x[(b * H + h) * S + s]", ")");
  CHECK(format_cpp("auto a = " + line + ";\n").find("(b * H + h) * S") != std::string::npos);
}

TEST_CASE("a line of a comment that is too long goes on indented, and the next sentence begins a line of its own") {
  const std::string word(60, 'a');
  CHECK(as_comment(word + " " + word + "\nnext") == "// " + word + "\n//   " + word + "\n// next\n");
  CHECK(as_comment("  " + word + " " + word) == "//   " + word + " " + word + "\n"); // code
}

TEST_CASE("blocks deeper than a line is wide are laid out by their braces, in time") {
  const std::string text = nested(150, "if (first) {\n", "y[n] = first > 2.0f ? first : second;\n", "}\n");
  const std::string out = format_cpp("void f() {\n" + text + "}\n");
  CHECK(without_spaces(out) == without_spaces("void f() {\n" + text + "}\n"));
  CHECK(out.find("\n" + std::string(302, ' ') + "y[n] = first > 2.0f ? first : second;\n") != std::string::npos);
}

TEST_CASE("braces in comments are no blocks") {
  const std::string comment = "// " + nested(100, "{", "", "") + "\n";
  CHECK(format_cpp(comment + "void f() {\ng(  1 );\n}\n").ends_with("void f() { g(1); }\n"));
}

TEST_CASE("huge files are laid out by their braces") {
  std::string text = "namespace {\nvoid f(char c) {\nif (c == '{') {\ng(\"{\"); // {\n";
  const std::string call = "call(" + nested(30, "", "", "argument, ") + "last);\n";
  for (int i = 0; i < 2000; ++i)
    text += call;
  const std::string out = format_cpp(text + "}\n}\n}\n");
  CHECK(out.rfind("namespace {\nvoid f(char c) {\n  if (c == '{') {\n    g(\"{\"); // {\n    call(argument,", 0) == 0);
  CHECK(out.find("\n        argument, argument") != std::string::npos);
  CHECK(out.substr(out.size() - 9) == "\n  }\n}\n}\n");
  CHECK(longest_line(out) <= kColumns);
}

TEST_CASE("names of what helpers declare are theirs, as the templates have them") {
  const std::set<std::string> &helpers = names_of_helpers();
  for (const char *name : {"wrapping_add", // FUNCTION int32_t wrapping_add(
                           "for_lanes",    // inline __attribute__((always_inline)) void for_lanes(
                           "lane_numbers", // inline Lanes<T, int(sizeof...(kLane))> lane_numbers(
                           "kVectorBytes", // constexpr int kVectorBytes = 64;
                           "Mask", "VectorOf", "block_fold", "RowTeam"}) {
    CHECK_MESSAGE(helpers.count(name) == 1, name);
    CHECK(c_name(name) == std::string(name) + "_");
  }
  for (const char *word : {"", "inline", "template", "T", "__attribute__", "sizeof", "return", "struct"})
    CHECK_MESSAGE(helpers.count(word) == 0, word);
  CHECK(c_name("beta") == "beta");
  CHECK(c_name("start") == "start");             // of helpers that kernels do not call
  CHECK(c_name("random_bits") == "random_bits"); // bodies refuse operations' names
}
