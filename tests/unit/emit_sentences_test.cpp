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

TEST_CASE("loops that only hold others have no sentence") {
  CHECK(softmax(".cpp").find("// One pass along m: .") == std::string::npos);
  CHECK(softmax(".cpp").find(": .") == std::string::npos);
}

} // namespace kgen
