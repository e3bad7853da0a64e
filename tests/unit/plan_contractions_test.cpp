// Folds over values of rows and columns, found in all spellings, and what stays in general loops.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "plan/contract/contractions.h"
#include "plan/plan.h"
#include "rewrite/canonicalize.h"

using namespace kgen;

namespace {

std::string plan_of(const std::string &arrays, const std::string &body) {
  const test::Analysed a = test::analyse("kernel = \"k\"\n" + arrays + "body = '''\n" + body + "\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  return print(make_plan(canonicalize(a.kernel, a.facts), a.facts, TargetKind::openmp));
}

int count(const std::string &text, const std::string &what) {
  int found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
    ++found;
  return found;
}

const std::string kProduct = "inputs.x = \"f32[M, K]\"\ninputs.y = \"f32[K, N]\"\noutputs.z = \"f32[M, N]\"\n";

} // namespace

TEST_CASE("products, distances and greatest sums are contractions, whatever is done with the totals") {
  for (const char *body : {"z = dot(x, y, K);", "z = sum(x * y, K);", "real v = dot(x, y, K); z = v > 0 ? v : 0;",
                           "z = sum((x - y) * (x - y), K);", "z = max(x + y, K);", "z = sum(abs(x - y), K) * 2;"})
    CHECK_MESSAGE(count(plan_of(kProduct, body), ": tiles of M x N") == 1, body);
}

TEST_CASE("factors of a product are put together by their side") {
  const std::string plan =
      plan_of(kProduct + "inputs.s = \"f32[K]\"\ninputs.t = \"f32[N]\"\n", "z = dot(x, s * y * t, K);");
  CHECK(plan.find("left = round.f32(x * s)\n") != std::string::npos);
  CHECK(plan.find("right = round.f32(y * t)\n") != std::string::npos);
  const std::string divided =
      plan_of(kProduct + "inputs.s = \"f32[K]\"\ninputs.t = \"f32[M]\"\n", "z = sum(y * x * s / t, K);");
  CHECK(divided.find(": tiles of M x N") != std::string::npos);
}

TEST_CASE("neighbours in the result are columns, and rows and columns may be several axes") {
  const std::string turned =
      plan_of("inputs.x = \"f32[M, K]\"\ninputs.y = \"f32[K, N]\"\noutputs.z = \"f32[N, M]\"\n", "z = dot(x, y, K);");
  CHECK(turned.find(": tiles of N x M") != std::string::npos);
  const std::string conv = plan_of("inputs.x = \"f32[B, C, H, W]\"\ninputs.w = \"f32[O, C, I=3, J=3]\"\n"
                                   "outputs.y = \"f32[B, O, P=H - 2, Q=W - 2]\"\n",
                                   "y = dot(at(x, H = index(P) + index(I), W = index(Q) + index(J)), w, C, I, J);");
  CHECK(conv.find(": tiles of O x B*P*Q") != std::string::npos);
}

TEST_CASE("axes of both factors stand around") {
  const std::string plan = plan_of(
      "inputs.x = \"f32[B, M, K]\"\ninputs.y = \"f32[B, K, N]\"\noutputs.z = \"f32[B, M, N]\"\n", "z = dot(x, y, K);");
  CHECK(plan.find(": tiles of M x N, for each B") != std::string::npos);
}

TEST_CASE("what is no contraction stays in general loops") {
  CHECK(count(plan_of("inputs.x = \"f32[M, K=8]\"\ninputs.y = \"f32[K=8, N]\"\noutputs.z = \"f32[M, N]\"\n",
                      "z = dot(x, y, K);"),
              "tiles of") == 0);
  CHECK(count(plan_of("inputs.x = \"f32[M, K]\"\ninputs.v = \"f32[K]\"\noutputs.z = \"f32[M]\"\n", "z = dot(x, v, K);"),
              "tiles of") == 0);
}

TEST_CASE("products of whole numbers that 16 bits hold are summed in pairs, and bytes by fours") {
  const auto says = [](const std::string &x, const std::string &y, const std::string &what) {
    const std::string type = x == "f32" ? "f32" : "i32";
    return count(
        plan_of("inputs.x = \"" + x + "[M, K]\"\ninputs.y = \"" + y + "[K, N]\"\noutputs.z = \"" + type + "[M, N]\"\n",
                "z = dot(x, y, K);"),
        what);
  };
  CHECK(says("i8", "i8", ", four bytes at a time, or pairs") == 1);
  CHECK(says("u8", "i8", ", four bytes at a time, or pairs") == 1);
  CHECK(says("i8", "u8", ", four bytes at a time, or pairs") == 1);
  CHECK(says("i16", "i16", ", pairs of numbers at a time") == 1);
  CHECK(says("i16", "u8", ", pairs of numbers at a time") == 1);
  for (const char *type : {"u16", "i32", "f32"})
    CHECK(says(type, std::string(type) == "f32" ? "f32" : "i8", " at a time") == 0);
}

TEST_CASE("rows may say which steps they take, where the columns are harmless without") {
  for (const char *kept : {"index(K) <= index(M)", "index(K) % 2 == 0", "x > 0"})
    CHECK_MESSAGE(
        count(plan_of(kProduct, std::string("z = sum(x * y, K, where(") + kept + "));"), ": tiles of M x N") == 1,
        kept);
  CHECK(count(plan_of(kProduct, "z = sum(x * y, K, where(index(K) <= index(N)));"), "tiles of") == 0);
  CHECK(count(plan_of(kProduct, "z = sum(x * at(y, K = index(K) - 1), K, where(index(K) >= 1));"), "tiles of") == 0);
}

TEST_CASE("products inside of rows are contractions for parts of the rows, whichever loop goes over these") {
  const std::string body = "real s = dot(q, k, D);\nreal p = exp(s - max(s, R));\no = dot(p, v, R) / sum(p, R);";
  for (const char *arrays : {"inputs.q = \"f32[B, H, S, D]\"\ninputs.k = \"f32[B, H, R, D]\"\n"
                             "inputs.v = \"f32[B, H, R, E]\"\noutputs.o = \"f32[B, H, S, E]\"\n",
                             "inputs.q = \"f32[B, S, H, D]\"\ninputs.k = \"f32[B, R, H, D]\"\n"
                             "inputs.v = \"f32[B, R, H, E]\"\noutputs.o = \"f32[B, S, H, E]\"\n"}) {
    const std::string plan = plan_of(arrays, body);
    CHECK(plan.find(", by parts of S: tiles of S x R and tiles of S x E") != std::string::npos);
    CHECK(plan.find("where size(S) >= 32") != std::string::npos);
    for (const char *end : {"\n", ", on lanes"})
      CHECK(count(plan, std::string("\n    for R: parallel") + end) == 0); // the scores are found once
  }
}

TEST_CASE("rows that an item goes through are parted as well, and several folds beside each other are alone each") {
  const std::string arrays =
      "inputs.x = \"f32[B, S, D]\"\ninputs.y = \"f32[B, R, D]\"\n"
      "outputs.u = \"f32[B, S, D]\"\noutputs.v = \"f32[B, R, D]\"\noutputs.w = \"f32[B, R, D]\"\n";
  const std::string plan = plan_of(arrays, "real p = exp(dot(x, y, D));\nu = dot(p, y, R);\n"
                                           "v = dot(p, x, S);\nw = dot(p / sum(p, R), x, S);");
  CHECK(plan.find("tiles of S x R and tiles of S x D and tiles of R x D and tiles of R x D") != std::string::npos);
}

TEST_CASE("so are those within ordered steps, and those where rows say which steps they take") {
  const std::string arrays = "inputs.q = \"f32[B, S, D]\"\ninputs.k = \"f32[B, R, D]\"\ninputs.v = \"f32[B, R, E]\"\n"
                             "outputs.o = \"f32[B, S, E]\"\n";
  const std::string masked = plan_of(arrays, "real s = dot(q, k, D);\n"
                                             "o = dot(s, v, R, where(index(R) <= index(S)));");
  CHECK(masked.find("tiles of S x R and tiles of S x E") != std::string::npos);
  const std::string stepped = plan_of(
      arrays + "scratch.acc = \"f32[B, S, E]\"\ngrid.j = { axis = \"R\", block = 64, semantics = \"arbitrary\" }\n",
      "if (first(j)) acc = 0;\nreal s = dot(q, k, D);\nacc += dot(exp(s), v, R);\nif (last(j)) o = acc;");
  CHECK(stepped.find("tiles of S x R and tiles of S x E") != std::string::npos);
}

TEST_CASE("several in a body are phases, with what passes between them kept") {
  const std::string arrays = "inputs.x = \"f32[M, K]\"\ninputs.u = \"f32[K, H]\"\ninputs.v = \"f32[K, H]\"\n"
                             "inputs.w = \"f32[H, N]\"\noutputs.z = \"f32[M, N]\"\n";
  const std::string plan = plan_of(arrays, "real h = dot(x, u, K) * dot(x, v, K);\nz = dot(h, w, H);");
  CHECK(count(plan, ": tiles of M x H") == 2);
  CHECK(count(plan, ": tiles of M x N") == 1);
  const std::string norm = plan_of(kProduct, "real v = dot(x, y, K);\nz = v / sum(v, N);");
  CHECK(count(norm, ": tiles of M x N") == 1);
  CHECK(norm.find("phase 2: work list") != std::string::npos);
}

TEST_CASE("of causal attention, nothing is computed that nobody reads: scores, weights and their products end") {
  const std::string arrays = "inputs.q = \"f32[S, D]\"\ninputs.k = \"f32[R, D]\"\ninputs.v = \"f32[R, D]\"\n"
                             "outputs.o = \"f32[S, D]\"\naxes.D = 64\n";
  const std::string causal = "where(index(R) <= index(S))";
  const auto plan_with = [&](const std::string &of_sum) {
    return plan_of(arrays, "real s = dot(q, k, D); real p = exp(s - max(s, R, " + causal + ")); real l = sum(p, R" +
                               of_sum + "); o = dot(p, v, R, " + causal + ") / l;");
  };
  const std::string ends = ", up to index(S) + 1";
  CHECK(count(plan_with(", " + causal), "for R: parallel" + ends) == 1);
  CHECK(count(plan_with(", " + causal), "for R: reduction") ==
        count(plan_with(", " + causal), "for R: reduction" + ends));
  CHECK(count(plan_with(""), "for R: parallel" + ends) == 0);
  CHECK(count(plan_with(""), "for R: reduction" + ends) > 0);
}
