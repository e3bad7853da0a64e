#include "emit_testing.h"

#include "analysis/facts.h"

namespace kgen {
namespace {

std::string softmax(const std::string &suffix) {
  return emitted_text("kernel = \"k\"\ninputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n"
                      "body = 'y = softmax(x, N);'\n",
                      suffix, suffix == ".cpp" ? "void k(" : "__global__", true);
}

} // namespace

TEST_CASE("a sentence before each pass says what it finds and fills") {
  const std::string text = softmax(".cpp");
  CHECK(has(text, "// One pass along n: greatest_x. "));
  CHECK(has(text, "// One pass along n: fills y. "));
}

TEST_CASE("a sentence before each merge says what it puts right, also where rows are cut in shares") {
  CHECK(
      has(softmax(".cpp"), "// A greater value: what was added up so far is scaled down to it. if (greatest_x_now >"));
  const std::string variance = emitted_text("kernel = \"k\"\ninputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M]\"\n"
                                            "body = 'real m = mean(x, N); y = mean((x - m) * (x - m), N);'\n",
                                            ".cpp", "void k(", true);
  const std::string sentence = "// Squares about the mean before and about this block's become those about both.";
  const size_t first = variance.find(sentence);
  REQUIRE(first != std::string::npos);
  CHECK(variance.find(sentence, first + 1) != std::string::npos);
}

TEST_CASE("the head of a file says which function serves which calls and why, and the operations") {
  const std::string text = emitted_text("kernel = \"k\"\ninputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n"
                                        "body = 'y = softmax(x, N);'\n",
                                        ".cpp", "// Code", true);
  CHECK(has(text, "// Where N <= 15 && N <= M: k_short takes rows side by side, as one fills no vector."));
  CHECK(has(text, "// Operations: N * M each of add, sub, div, max, exp."));
}

TEST_CASE("loops that only hold others have no sentence") {
  CHECK(softmax(".cpp").find("// One pass along m: .") == std::string::npos);
  CHECK(softmax(".cpp").find(": .") == std::string::npos);
}

} // namespace kgen
