// Random bodies with scratch, guards and grids: what passes the analysis runs on the strict interpreter without a fault
// (nothing read before it is written, no output left unwritten, no racing steps), for several sizes and orders.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "analysis_harness.h"
#include "ir/interpret.h"

using namespace kgen;
using kgen::test::analyse;
using kgen::test::Analysed;

namespace {

class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string spec() {
    const bool k_first = pick(6) == 0;
    const std::string i = grid("i", "M", 2), k = grid("k", "K", 3);
    std::string out = "kernel = \"a\"\ninputs.x = \"f32[M, K]\"\noutputs.z = \"f32[M]\"\n";
    if (pick(2) == 0)
      out += "outputs.w = \"f32[M, K]\"\n";
    has_w_ = out.find("outputs.w") != std::string::npos;
    out += "scratch.a = \"f32[M]\"\nscratch.b = \"f32[M]\"\n" + (k_first ? k + i : i + k) + "body = '''\n";
    const int count = pick(4) + 1;
    out +=
        std::vector<std::string>{"if (first(k)) a = 0;\n", "a = 0;\n", "if (k == 0) { a = 0; b = 1; }\n", ""}[pick(4)];
    for (int n = 0; n < count; ++n)
      out += statement(2);
    out += std::vector<std::string>{"if (last(k)) z = a;\n", "z = 1;\n",
                                    "if (first(k)) z = 0; z += sum(x, K);\n"}[pick(3)];
    if (has_w_)
      out += std::vector<std::string>{"w = x + a;\n", "w = x;\n", "if (x > 0) w = 0; else w = b;\n"}[pick(3)];
    return out + "'''\n";
  }

private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::string grid(const std::string &name, const std::string &axis, int block) {
    const std::string stated =
        std::vector<std::string>{"", "", ", semantics = \"parallel\"", ", semantics = \"arbitrary\""}[pick(4)];
    return "grid." + name + " = { axis = \"" + axis + "\", block = " + std::to_string(block) + stated + " }\n";
  }

  std::string value() {
    return std::vector<std::string>{
        "0",        "sum(x, K)",        "a + sum(x, K)", "b", "a", "max(a, b)", "max(a, max(x, K))",
        "index(M)", "first(k) ? 0 : a", "a + 1"}[pick(10)];
  }

  std::string statement(int depth) {
    const std::string target = std::vector<std::string>{"a", "b", "b", "a"}[pick(4)];
    const std::string assign = target + " = " + value() + ";\n";
    if (depth == 0 || pick(3) == 0)
      return assign;
    switch (pick(10)) {
    case 0:
      return "if (first(k)) " + assign;
    case 1:
      return "if (last(k)) " + assign;
    case 2:
      return "if (!first(k)) { " + statement(depth - 1) + " } else { " + statement(depth - 1) + " }\n";
    case 3:
      return "if (first(i)) " + assign;
    case 4:
      return "if (first(k) && first(i)) " + assign;
    case 5:
      return "if (index(M) > 1) { " + assign + " }" + (pick(2) == 0 ? "" : " else { " + target + " = 2; }") + "\n";
    case 6:
      return "for (int n = 0; n < " + std::string(pick(2) == 0 ? "2" : "size(M)") + "; ++n) { " + statement(depth - 1) +
             " }\n";
    case 7:
      return "for (int n = 0; n < 3; ++n) { if (n == " + std::to_string(pick(3)) + ") " +
             (pick(2) == 0 ? "break" : "continue") + "; " + assign + " }\n";
    case 8:
      return "if (first(z)) " + assign;
    default:
      return "{ real t = " + value() + "; " + target + " = t; }\n";
    }
  }

  std::mt19937 random_;
  bool has_w_ = false;
};

Array input(int64_t m, int64_t k) {
  Array out;
  out.type = Type::f32;
  out.shape = {m, k};
  for (int64_t i = 0; i < m * k; ++i) {
    const float v = static_cast<float>(i % 5 - 2);
    out.bytes.resize(out.bytes.size() + sizeof v);
    std::memcpy(out.bytes.data() + out.bytes.size() - sizeof v, &v, sizeof v);
  }
  return out;
}

} // namespace

TEST_CASE("bodies that pass the analysis run on the interpreter") {
  int accepted = 0, refused = 0;
  for (unsigned seed = 1; seed <= 700; ++seed) {
    const std::string text = Generator(seed).spec();
    const Analysed a = analyse(text);
    INFO(text);
    if (!a.built || !a.errors.empty()) {
      refused += a.built;
      continue;
    }
    ++accepted;
    for (const auto &[m, k] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {2, 3}, {3, 4}, {5, 7}, {4, 9}, {6, 2}, {0, 2}, {3, 0}}) {
      CAPTURE(m);
      CAPTURE(k);
      RunInput run;
      run.sizes = {{"M", m}, {"K", k}};
      run.arrays = {{"x", input(m, k)}};
      RunOptions options;
      options.seed = seed;
      const RunResult result = interpret(a.kernel, run, options);
      CHECK_MESSAGE(result.error == "", result.error);
    }
  }
  CHECK(accepted > 50);
  CHECK(refused > 50);
  MESSAGE(accepted << " accepted, " << refused << " refused");
}
