// What only the elements of a mask need is computed under it.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/masks.h"

using namespace kgen;

namespace {

const std::string kArrays = "inputs.x = \"f32[M, N]\"\ninputs.m = \"bool[M, N]\"\ninputs.row = \"bool[M]\"\n"
                            "outputs.y = \"f32[M, N]\"\noutputs.z = \"f32[M, N]\"\n";
// 18 operations.
const std::string kMuch = "real v = x * x * x * x * x * x * x * x * x + x + x + x + x + x + x + x + x + x;\n";

// The statements after it, as they print.
std::string masked(const std::string &body, const std::string &operands = kArrays) {
  const test::Analysed a = test::analyse("kernel = \"k\"\n" + operands + "body = '''\n" + body + "\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = compute_under_masks(a.kernel);
  CHECK(verify(kernel) == "");
  const std::string text = print(kernel);
  return text.substr(text.find("body\n") + 5);
}

bool asks(const std::string &body, const std::string &mask = "m") {
  return masked(body).find("  if {M, N} " + mask + "\n") != std::string::npos;
}

} // namespace

TEST_CASE("what only the taken side of choices needs is computed under their mask, and is the other side elsewhere") {
  CHECK(masked(kMuch + "real w = v + 1;\ny = m ? w : -1;\nz = m ? v : 2;") ==
        "  v{M, N} = 2.0\n  w{M, N} = -1.0\n  if {M, N} m\n    v{M, N} = x * x * x * x * x * x * x * x * x + x + x + x "
        "+ x "
        "+ x + x + x + x + x\n    w{M, N} = v + 1.0\n  y{M, N} = w\n  z{M, N} = v\n");
}

TEST_CASE("where readers take different sides they go on choosing") {
  const std::string text = masked(kMuch + "y = m ? v : 1;\nz = m ? v : 2;");
  CHECK(test::has(text, "  v{M, N} = 0.0\n  if {M, N} m\n"));
  CHECK(test::has(text, "y{M, N} = m ? v : 1.0"));
}

TEST_CASE("choices by the mask are made within it") {
  CHECK(test::has(masked(kMuch + "real w = m ? v : 3;\ny = m ? w : 0;\nz = 0;"), "    w{M, N} = v\n"));
}

TEST_CASE("a mask may be a local, or that of rows") {
  CHECK(asks("bool good = x > 0;\n" + kMuch + "y = good ? v : 0;\nz = 0;", "good"));
  CHECK(test::has(masked(kMuch + "y = row ? v : 0;\nz = 0;"), "  if {M} row\n"));
}

TEST_CASE("a fold of all elements is found before the mask is asked") {
  const std::string text = masked(kMuch + "real w = v / sum(x, M, N);\ny = m ? w : 0;\nz = 0;");
  CHECK(test::has(text, "  sum_x{} = sum.f32[M, N](x)\n"));
  CHECK(test::has(text, "    w{M, N} = v / sum_x\n"));
}

TEST_CASE("what others need, what differs by less than the mask, and what costs little is computed for all") {
  CHECK(!asks(kMuch + "y = m ? v : 0;\nz = v;"));
  CHECK(!asks(kMuch + "y = m ? v : 0;\nz = sum(v, N);"));
  CHECK(!asks(kMuch + "y = m ? at(v, N = 0) : 0;\nz = 0;"));
  CHECK(!asks(kMuch + "y = m ? 0 : v;\nz = 0;"));
  CHECK(!asks("real v = x * x;\ny = m ? v : 0;\nz = 0;"));
  CHECK(!asks(kMuch + "real w = cumsum(v, N);\ny = m ? w : 0;\nz = 0;"));
  CHECK(masked("real v = sum(x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x, N);\n"
               "y = m ? v : 0;\nz = 0;")
            .find("if ") == std::string::npos);
}

TEST_CASE("a statement that reads what was changed meanwhile stands behind that") {
  const std::string text = masked(kMuch + "z = 0;\nif (x > 0) z = 1;\nreal w = v + z;\ny = m ? w : 0;");
  CHECK(text.find("z{M, N} = 1.0") < text.find("w{M, N} = v + z"));
  CHECK(test::has(text, "  v{M, N} = 0.0\n  if {M, N} m\n"));
}
