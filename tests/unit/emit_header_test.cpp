// What a header promises: only what is so of its kernel.
#include <doctest/doctest.h>

#include <algorithm>

#include "emit_testing.h"

namespace kgen {
namespace {

// The contract, without the slashes of comments.
std::string header(const std::string &spec_text) {
  std::string text = emitted_text(spec_text, ".h", "// Each element");
  text.erase(std::min(text.find("#ifndef"), text.size()));
  for (size_t at; (at = text.find(" // ")) != std::string::npos;)
    text.erase(at, 3);
  return text;
}

TEST_CASE("the contract has the formula with its constants") {
  const std::string text = header("kernel = \"k\"\nparams.eps = 1e-5\nparams.n = 3\ninputs.x = \"f32[N]\"\n"
                                  "outputs.y = \"f32[N]\"\nbody = 'y = x * n + eps;'\n");
  CHECK(has(text, "Each element, by named axes: y = x * n + eps; with eps = 1e-05, n = 3"));
}

TEST_CASE("the contract has the functions that the formula calls") {
  const std::string text = header("kernel = \"k\"\nparams.how = \"twice\"\ninputs.x = \"f32[N]\"\n"
                                  "outputs.y = \"f32[N]\"\nfunctions = 'real twice(real v) { return v + v; }'\n"
                                  "body = 'y = how(x);'\n");
  CHECK(has(text, "Each element, by named axes: y = how(x); with the functions: real twice(real v) { return v + v; } "
                  "with how = twice"));
}

TEST_CASE("the contract says which output may be which input") {
  const auto of = [](const std::string &body) {
    return header("kernel = \"k\"\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\nbody = '" + body + "'\n");
  };
  CHECK(has(of("y = x + 1;"), "but exactly, element for element, y may be x."));
  CHECK(of("y = at(x, N = size(N) - 1 - index(N));").find("may be") == std::string::npos);
}

TEST_CASE("the contract names arrays with strides, tables of the host, and sums in any order") {
  const std::string dense = header("kernel = \"k\"\ninputs.x = \"i32[N]\"\noutputs.y = \"i32[N]\"\nbody = 'y = x;'\n");
  CHECK(dense.find("strides") == std::string::npos);
  CHECK(dense.find("of the host") == std::string::npos);
  CHECK(dense.find("table_status") == std::string::npos);
  CHECK(dense.find("any order") == std::string::npos);
  CHECK(dense.find("NaN") == std::string::npos);
  CHECK(has(dense, "whole ones wrap around"));
  const std::string text = header(R"(kernel = "k"
tables.t = { type = "i32[N]", range = "B", where = "host" }
inputs.x = { type = "f32[N]", layout = "strided" }
inputs.id = "i32[N]"
outputs.y = { type = "f32[B]", atomic = true }
body = 'y = 0; at(y, B = id) += x + t[index(N)];'
)");
  CHECK(has(text, "but x by strides, in elements"));
  CHECK(has(text, "but t, of the host"));
  CHECK(has(text, "but y, to which floats are added in any order, may differ"));
}

TEST_CASE("the contract says of CUDA what callers must do, and what depends on the device") {
  const std::string row = header("kernel = \"k\"\ninputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n"
                                 "body = 'y = x - max(x, N);'\n");
  CHECK(has(row, "The stream belongs to the current device."));
  CHECK(has(row, "nvcc makes fused multiply-adds of products and sums, unless -fmad=false is given to it."));
  CHECK(has(row, "Several blocks may share a row."));
  CHECK(has(row, "what is in it does not matter; calls in two streams need two."));
  const std::string tables =
      header("kernel = \"k\"\ntables.t = { type = \"i32[N]\", range = \"M\" }\n"
             "inputs.x = \"i32[M]\"\noutputs.y = \"i32[N]\"\nbody = 'y = at(x, M = t[index(N)]);'\n");
  CHECK(tables.find("fused") == std::string::npos);
  CHECK(tables.find("share a row") == std::string::npos);
  CHECK(has(tables, "no loop is endless; results of wrong ones mean nothing."));
}

TEST_CASE("a size that follows from one of several is said for each of them, and what is no argument by what it is") {
  const std::string spec = R"(kernel = "k"
axes.D = [64, 128]
axes.P = { equals = "D / 2 + 1" }
tables.t = { type = "i32[D / 4]", range = "M" }
inputs.x = "f32[M, H=D / 2]"
inputs.w = "f32[D, R=2 * M + 1]"
outputs.y = "f32[P]"
body = 'y = at(x, M = t[0], H = index(P)) + sum(w, D, R);'
)";
  const std::string lines = emitted_text(spec, ".h", "#ifndef");
  CHECK(has(lines, "table t i32 [D == 64 ? 16 : 32]"));
  CHECK(has(lines, "in x f32 [M, D == 64 ? 32 : 64]; in w f32 [D, 2 * M + 1]; out y f32 [D == 64 ? 33 : 65]"));
  CHECK(has(lines, "size D one_of 64 128"));
  CHECK(has(lines, "return ((D == 64) ? 33 : 65);"));
}

TEST_CASE("each of several sizes is told once, and memory is shared only where it may be for all of them") {
  const std::string spec = R"(kernel = "k"
axes.D = [1, 4]
axes.E = [2, 8]
inputs.x = "f32[D, E]"
outputs.y = "f32[D, E]"
body = 'y = at(x, D = size(D) - 1 - index(D));'
)";
  CHECK(has(emitted_text(spec, ".h", "#ifndef"), "size D one_of 1 4; size E one_of 2 8 */"));
  CHECK(header(spec).find("y may be x") == std::string::npos);
}

} // namespace
} // namespace kgen
