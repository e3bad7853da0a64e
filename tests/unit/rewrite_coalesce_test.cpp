// Axes that go together everywhere become one; whatever tells them apart keeps them.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/coalesce.h"
#include "rewrite/one_row.h"

using namespace kgen;

namespace {

// The axes that operands have after it.
std::string dims_of(const std::string &text) {
  const test::Analysed a = test::analyse(text);
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = coalesce(a.kernel);
  CHECK(verify(kernel) == "");
  std::string out;
  for (const Var &var : kernel.vars) {
    if (var.dims.empty())
      continue;
    out += (out.empty() ? "" : " ") + var.name + "[";
    for (const Dim &dim : var.dims)
      out += (out.back() == '[' ? "" : ",") + (dim.axis == kNone ? "1" : kernel.axes[dim.axis].name);
    out += "]";
  }
  return out;
}

std::string kernel(const std::string &operands, const std::string &body) {
  return "kernel = \"k\"\n" + operands + "body = '''\n" + body + "\n'''\n";
}

const std::string kSame = "inputs.x = \"f32[B, M, N]\"\noutputs.y = \"f32[B, M, N]\"\n";

} // namespace

TEST_CASE("axes that all arrays have side by side become one") {
  CHECK(dims_of(kernel(kSame, "real t = x * 2;\nif (t > 0) y = t; else y = 0;")) == "x[B*M*N] y[B*M*N]");
  CHECK(dims_of(kernel(kSame + "outputs.s = \"f32[]\"\n", "y = x;\ns = sum(x, B, M, N);")) == "x[B*M*N] y[B*M*N]");
  CHECK(dims_of(kernel(kSame + "outputs.s = \"f32[B]\"\n", "y = x - mean(x, M, N);\ns = sum(x, M, N);")) ==
        "x[B,M*N] y[B,M*N] s[B]");
}

TEST_CASE("axes stay apart where an array, a reduction or a coordinate tells them apart") {
  CHECK(dims_of(kernel(kSame + "inputs.bias = \"f32[N]\"\n", "y = x + bias;")) == "x[B*M,N] y[B*M,N] bias[N]");
  CHECK(dims_of(kernel(kSame, "y = x / sum(x, M);")) == "x[B,M,N] y[B,M,N]");
  CHECK(dims_of(kernel(kSame, "y = cumsum(x, N);")) == "x[B*M,N] y[B*M,N]");
  CHECK(dims_of(kernel(kSame, "y = at(x, M = M - 1);")) == "x[B,M,N] y[B,M,N]");
  CHECK(dims_of(kernel(kSame, "y = x * index(B);")) == "x[B,M*N] y[B,M*N]");
  CHECK(dims_of(kernel("inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[N, M]\"\n", "y = x;")) == "x[M,N] y[N,M]");
  CHECK(dims_of(kernel("inputs.x = \"f32[M, N=7]\"\noutputs.y = { type = \"f32[M, N=7]\", layout = \"strided\" }\n",
                       "y = x;")) == "x[M,N] y[M,N]");
  CHECK(dims_of(kernel("tables.t = \"i64[M + 1]\"\naxes.N = { ragged = \"t\", over = \"M\" }\n"
                       "inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n",
                       "y = x;")) == "x[M,N] y[M,N]");
}

namespace {

// "B,M into N without bias"; empty: nothing becomes one row.
std::string one_row(const std::string &text) {
  const test::Analysed a = test::analyse(text);
  INFO(a.errors);
  REQUIRE(a.built);
  const Kernel kernel = coalesce(a.kernel);
  const std::optional<OneRow> row = one_row_without_inputs(kernel);
  if (!row)
    return "";
  std::string out;
  for (AxisId axis : row->outer)
    out += (out.empty() ? "" : ",") + kernel.axes[axis].name;
  out += " into " + kernel.axes[row->inner.back()].name + " without";
  for (VarId var : row->absent)
    out += " " + kernel.vars[var].name;
  return out;
}

const std::string kBias = kSame + "inputs.bias = { type = \"f32[N]\", optional = true }\n";

} // namespace

TEST_CASE("without inputs that a call may leave out, axes are one row where nothing else tells them apart") {
  CHECK(one_row(kernel(kBias, "y = present(bias) ? x + bias : x;")) == "B,M into N without bias");
  CHECK(one_row(kernel(kBias, "real v = present(bias) ? x + bias : x;\ny = v * v;")) == "B,M into N without bias");
  CHECK(one_row(kernel(kBias, "y = (present(bias) ? x + bias : x) + sum(x, N);")) == "");
  CHECK(one_row(kernel(kBias, "y = (present(bias) ? x + bias : x) + index(N);")) == "");
  CHECK(one_row(kernel(kBias + "inputs.scale = \"f32[N]\"\n", "y = (present(bias) ? x + bias : x) * scale;")) == "");
  CHECK(one_row(kernel(kSame, "y = x;")) == "");
}
