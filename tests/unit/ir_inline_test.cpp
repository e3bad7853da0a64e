// Calls become statements: parameters, early returns, loops in functions, calls in arms that may not be evaluated.
#include "ir_build_test.h"

using namespace kgen;
using namespace kgen::test;

namespace {

std::string with(const std::string &functions, const std::string &body) {
  return "kernel = \"k\"\ninputs.x = \"f32[M, N]\"\ninputs.bias = { type = \"f32[N]\", optional = true }\n"
         "outputs.z = \"f32[M, N]\"\nfunctions = '''\n" +
         functions + "'''\nbody = '''\n" + body + "\n'''\n";
}

} // namespace

TEST_CASE("a parameter that is only read stands for its argument") {
  CHECK(statements(with("real twice(real v) { return v + v; }\n", "z = twice(x) + twice(2 * x);")) ==
        "  v{M, N} = 2.0 * x\n"
        "  z{M, N} = x + x + (v + v)\n");
}

TEST_CASE("an input that is given to a function is read elsewhere as the array, converted like the parameter") {
  CHECK(statements(with("real f(real v, axis A) { return v - at(v, A = A + 1); }\n", "z = f(x, N);")) ==
        "  z{M, N} = x - x[N = index(N) + 1]\n");
  CHECK(statements(with("double f(double v, axis A, int by) { return at(v, A = A + by); }\n",
                        "z = f(x, N, 0) + f(x, N, -2);")) ==
        "  z{M, N} = f32(f64(x[N = index(N)]) + f64(x[N = index(N) - 2]))\n");
}

TEST_CASE("a parameter that is assigned, or read elsewhere where it is no input, is a local") {
  CHECK(statements(with("real f(real v) { v *= 2; return v; }\n", "z = f(x);")) == "  v{M, N} = x\n"
                                                                                   "  v{M, N} := v * 2.0\n"
                                                                                   "  z{M, N} = v\n");
  CHECK(statements(with("real f(real v, axis A) { return v - at(v, A = A + 1); }\n", "z = f(2 * x, N);")) ==
        "  v{M, N} = 2.0 * x\n"
        "  z{M, N} = v - v[N = index(N) + 1]\n");
}

TEST_CASE("axis parameters and fresh locals per call") {
  CHECK(statements(with("real norm(real v, axis A) { real e = exp(v); return e / sum(e, A); }\n",
                        "z = norm(x, N) + norm(x, M);")) ==
        "  e{M, N} = exp(x)\n"
        "  e_of_norm{M, N} = exp(x)\n"
        "  z{M, N} = e / sum.f32[N](e) + e_of_norm / sum.f32[M](e_of_norm)\n");
}

TEST_CASE("early returns become arms") {
  CHECK(statements(
            with("real f(real v) { if (v < 0) return 0; real r = sqrt(v); if (r > 2) { return 2; } else { r += 1; } "
                 "return r; }\n",
                 "z = f(x);")) == "  if {M, N} x < 0.0\n"
                                  "    f_result{M, N} = 0.0\n"
                                  "  else\n"
                                  "    r{M, N} = sqrt(x)\n"
                                  "    if {M, N} r > 2.0\n"
                                  "      f_result{M, N} = 2.0\n"
                                  "    else\n"
                                  "      r{M, N} := r + 1.0\n"
                                  "      f_result{M, N} = r\n"
                                  "  z{M, N} = f_result\n");
}

TEST_CASE("a return inside loops sets a flag and breaks") {
  CHECK(statements(
            with("int f(real v) { for (int i = 0; i < 9; ++i) { for (int j = 0; j < i; ++j) { if (v < j) return j; } } "
                 "return -1; }\n",
                 "z = f(x);")) == "  f_returned{M, N} = false\n"
                                  "  i{M, N} = 0\n"
                                  "  while {M, N} i < 9\n"
                                  "    j{M, N} = 0\n"
                                  "    while {M, N} j < i\n"
                                  "      if {M, N} x < f32(j)\n"
                                  "        f_result{M, N} = j\n"
                                  "        f_returned{M, N} = true\n"
                                  "        break\n"
                                  "    step\n"
                                  "      j{M, N} := j + 1\n"
                                  "    if {M, N} f_returned\n"
                                  "      break\n"
                                  "  step\n"
                                  "    i{M, N} := i + 1\n"
                                  "  if {M, N} !f_returned\n"
                                  "    f_result{M, N} = -1\n"
                                  "    f_returned{M, N} = true\n"
                                  "  z{M, N} = f32(f_result)\n");
}

TEST_CASE("a return in one arm only, with a statement after it") {
  CHECK(statements(with("real f(real v) { real r = v; if (v > 0) { if (v > 1) return 1; r = 2; } return r; }\n",
                        "z = f(x);")) == "  f_returned{M, N} = false\n"
                                         "  r{M, N} = x\n"
                                         "  if {M, N} x > 0.0\n"
                                         "    if {M, N} x > 1.0\n"
                                         "      f_result{M, N} = 1.0\n"
                                         "      f_returned{M, N} = true\n"
                                         "    else\n"
                                         "      r{M, N} = 2.0\n"
                                         "  if {M, N} !f_returned\n"
                                         "    f_result{M, N} = r\n"
                                         "    f_returned{M, N} = true\n"
                                         "  z{M, N} = f_result\n");
}

TEST_CASE("a call in an arm stands under its condition") {
  CHECK(statements(with("real f(real v) { real r = v * v; return r + r; }\n",
                        "z = present(bias) ? f(x + bias) : f(x);")) == "  if {} present(bias)\n"
                                                                       "    v{M, N} = x + bias\n"
                                                                       "    r{M, N} = v * v\n"
                                                                       "    chosen{M, N} = r + r\n"
                                                                       "  else\n"
                                                                       "    r_of_f{M, N} = x * x\n"
                                                                       "    chosen{M, N} = r_of_f + r_of_f\n"
                                                                       "  z{M, N} = chosen\n");
}

TEST_CASE("a call with a reduction in a per-element arm is computed for all elements") {
  CHECK(statements(with("real f(real v, axis A) { real e = exp(v); return e / sum(e, A); }\n",
                        "z = x > 0 ? f(x, N) : 0;")) == "  e{M, N} = exp(x)\n"
                                                        "  z{M, N} = x > 0.0 ? e / sum.f32[N](e) : 0.0\n");
}

TEST_CASE("a call in a loop's condition, in && and under where") {
  CHECK(statements(with("real f(real v) { real r = v * v; return r; }\n",
                        "real y = x; while (f(y) > 1) y *= 0.5; z = sum(f(x), N, where(x > 0 && f(x) < 4));")) ==
        "  y{M, N} = x\n"
        "  while {M, N} true\n"
        "    r{M, N} = y * y\n"
        "    if {M, N} !(r > 1.0)\n"
        "      break\n"
        "    y{M, N} := y * 0.5\n"
        "  decided{M, N} = x > 0.0\n"
        "  if {M, N} x > 0.0\n"
        "    r_of_f{M, N} = x * x\n"
        "    decided{M, N} = r_of_f < 4.0\n"
        "  if {M, N} decided\n"
        "    r_of_f_two{M, N} = x * x\n"
        "  z{M, N} = sum.f32[N](r_of_f_two where decided)\n");
}
