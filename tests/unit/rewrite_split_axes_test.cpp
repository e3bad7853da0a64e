// An axis of which a body asks for digits becomes two; whatever goes along it in order keeps it.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/split_axes.h"

using namespace kgen;

namespace {

// The output's axes after it.
std::string axes_of_output(const std::string &text) {
  const test::Analysed a = test::analyse(text);
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = split_axes(a.kernel);
  CHECK(verify(kernel) == "");
  std::string out;
  for (const Var &var : kernel.vars)
    if (var.kind == Var::Kind::output)
      for (const Dim &dim : var.dims)
        out += (out.empty() ? "" : " ") + kernel.axes[dim.axis].name + "=" + to_string(dim.extent);
  return out;
}

std::string enlarged(const std::string &axis, const std::string &body, const std::string &more = "") {
  return "kernel = \"k\"\naxes.Q = " + axis + "\ninputs.x = \"f32[H, W]\"\n" + more +
         "outputs.y = \"f32[H, Q]\"\nbody = '''\n" + body + "\n'''\n";
}

const std::string kTwice = "{ equals = \"2 * W\" }";

} // namespace

TEST_CASE("an axis whose index is divided by one number becomes the quotient and the remainder") {
  CHECK(axes_of_output(enlarged(kTwice, "y = at(x, W = index(Q) / 2);")) == "H=H Q_by_2=W Q_of_2=2");
  CHECK(axes_of_output(enlarged(kTwice, "int64_t w = index(Q) / 2;\nreal v = at(x, W = w);\n"
                                        "y = index(Q) % 2 == 0 ? v : -v * index(Q);")) == "H=H Q_by_2=W Q_of_2=2");
  CHECK(axes_of_output(enlarged("{ equals = \"W * 6\" }", "y = at(x, W = index(Q) / 3);")) ==
        "H=H Q_by_3=2 * W Q_of_3=3");
  CHECK(axes_of_output(enlarged("{ multiple_of = 16 }", "y = at(x, W = index(Q) / 8);")) ==
        "H=H Q_by_8=Q / 8 Q_of_8=8");
  CHECK(axes_of_output(enlarged("64", "y = at(x, W = index(Q) / 2);")) == "H=H Q_by_2=32 Q_of_2=2");
}

TEST_CASE("an axis stays whole where digits are no help, or something goes along it") {
  const std::string whole = "H=H Q=Q";
  CHECK(axes_of_output(enlarged("{ equals = \"W + 1\" }", "y = at(x, W = index(Q) / 2);")) == whole);
  CHECK(axes_of_output(enlarged(kTwice, "y = at(x, W = index(Q) / 2) + at(x, W = index(Q) / 4);")) == whole);
  CHECK(axes_of_output(enlarged("{ equals = \"5 * W\" }", "y = at(x, W = index(Q) / 5);")) == whole);
  CHECK(axes_of_output(enlarged("8", "y = at(x, W = index(Q) / 2);")) == "H=H Q=8");
  CHECK(axes_of_output(enlarged(kTwice, "y = cumsum(at(x, W = index(Q) / 2), Q);")) == whole);
  CHECK(axes_of_output(enlarged(kTwice, "real v = at(x, W = index(Q) / 2);\ny = v - max(v, Q);")) == whole);
  CHECK(axes_of_output(enlarged(kTwice, "real v = at(x, W = index(Q) / 2);\ny = at(v, Q = index(Q) + 1);")) == whole);
  CHECK(axes_of_output(enlarged(kTwice, "y = index(Q) % 2 == 0 ? b : -b;", "inputs.b = \"f32[Q]\"\n")) == whole);
}
