// A local that names a place is read as what it stands for; one that changes, or that memory decides, stays.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/open_places.h"

using namespace kgen;

namespace {

// The coordinate of the last read elsewhere, after it.
std::string place(const std::string &body) {
  const test::Analysed a = test::analyse("kernel = \"k\"\ninputs.x = \"f32[M, N]\"\ninputs.k = \"i32[N]\"\n"
                                         "scalars.by = \"i32\"\nscalars.far = \"i64\"\n"
                                         "outputs.y = \"f32[M, N]\"\nbody = '''\n" +
                                         body + "\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = open_places(a.kernel);
  CHECK(verify(kernel) == "");
  std::string out;
  for (const Expr &e : kernel.exprs)
    if (e.op == Op::read && !e.coords.empty())
      out = print(kernel, e.coords.back().value);
  return out;
}

} // namespace

TEST_CASE("a local that is set once, of positions, sizes and scalars, is what a coordinate says") {
  CHECK(place("int64_t right = index(N) + 1;\ny = at(x, N = right);") == place("y = at(x, N = index(N) + 1);"));
  CHECK(place("int j = index(N);\nint left = j - 2;\ny = at(x, N = left);") == place("y = at(x, N = index(N) - 2);"));
  CHECK(place("auto a = index(N) + far;\nauto b = a % size(N);\ny = at(x, N = b);") ==
        place("y = at(x, N = (index(N) + far) % size(N));"));
  CHECK(place("int j = index(N);\nint before = j > 0 ? j - 1 : 0;\ny = at(x, N = before);") ==
        place("y = at(x, N = index(N) > 0 ? index(N) - 1 : 0);"));
  CHECK(place("int64_t a = index(N) + 3;\nint64_t b = a - 5;\ny = at(x, N = b + 2);") ==
        place("y = at(x, N = index(N));"));
}

TEST_CASE("a name that changes stands for what it is at the moment, in a loop too") {
  CHECK(place("int64_t a = index(N);\na += 1;\ny = at(x, N = a);") == place("y = at(x, N = index(N) + 1);"));
  CHECK(place("y = 0;\nfor (int i = 0; i < 3; ++i) { int64_t w = index(N) + i - 1; y += at(x, N = w); }") ==
        place("y = 0;\nfor (int i = 0; i < 3; ++i) y += at(x, N = index(N) + i - 1);"));
}

TEST_CASE("a local stays where it changes, where memory decides, and where an int may wrap around") {
  const auto stays = [](const std::string &body) { return place(body).find("a") != std::string::npos; };
  CHECK(stays("int64_t a = k;\ny = at(x, N = a);"));
  CHECK(stays("int a = int(index(N)) + by;\ny = at(x, N = a);"));
  CHECK(stays("int64_t a = 0;\nfor (int i = 0; i < 3; ++i) { a = index(N) + i; }\ny = at(x, N = a);"));
  CHECK(stays("int64_t a = index(N);\ny = 0;\nfor (int i = 0; i < 3; ++i) { y += at(x, N = a); a += i; }"));
  CHECK(stays("int64_t a = index(N);\nif (k > 0) a = k;\ny = at(x, N = a);"));
}
