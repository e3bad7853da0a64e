// Sizes from arrays, random inputs, and the comparison of emitted code with the interpreter, which must notice a fault.
#include "cli/differential.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "ir/evaluate.h"

using namespace kgen;

namespace {

Compiled compiled(const std::string &text) {
  Diagnostics diags;
  CompileOptions options;
  std::optional<Compiled> out = compile("test.toml", text, options, diags);
  REQUIRE_MESSAGE(out, diags.render(Diagnostics::Format::short_lines, false));
  return std::move(*out);
}

Array zeros(Type type, std::vector<int64_t> shape) {
  Array array{type, std::move(shape), {}};
  array.bytes.resize(array.elements() * bytes_of(type));
  return array;
}

std::vector<int64_t> integers(const Array &array) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < array.elements(); ++i)
    out.push_back(load_value(array.bytes.data() + i * bytes_of(array.type), array.type).integer);
  return out;
}

const char *kAdd = R"(kernel = "add"
inputs.x = "f32[M, N]"
inputs.y = "f32[N]"
outputs.z = "f32[M, N]"
outputs.s = "f32[M]"
body = '''
z = x + y;
s = sum(x, N);
'''
)";

std::unique_ptr<NativeKernel> build(const Compiled &compiled) {
  std::string reason;
  std::unique_ptr<NativeKernel> native = NativeKernel::build(compiled, {}, reason);
  REQUIRE_MESSAGE(native, reason);
  return native;
}

} // namespace

TEST_CASE("sizes come from arrays; contradictions are named") {
  Compiled add = compiled(kAdd);
  const Kernel &kernel = add.variations[0].kernel;
  RunInput input;
  std::string reason;
  CHECK(missing_sizes(kernel, input) == std::vector<std::string>{"M", "N"});
  input.arrays["x"] = zeros(Type::f32, {3, 5});
  CHECK(infer_sizes(kernel, input, reason));
  CHECK(input.sizes == std::map<std::string, int64_t>{{"M", 3}, {"N", 5}});
  input.arrays["y"] = zeros(Type::f32, {4});
  CHECK_FALSE(infer_sizes(kernel, input, reason));
  CHECK(reason == "`y` makes N 4, but it is 5");
  input.arrays["y"] = zeros(Type::f32, {4, 1});
  CHECK_FALSE(infer_sizes(kernel, input, reason));
  CHECK(reason == "`y` has 2 dimensions instead of 1");
}

TEST_CASE("of two axes in one dimension, the one that is not known follows from the other") {
  const auto sizes = [](const std::string &first, std::vector<int64_t> shape) {
    Compiled spec = compiled("kernel = \"k\"\ninputs.w = \"f32[" + first +
                             "]\"\ninputs.x = \"f32[N, (G C)]\"\noutputs.y = \"f32[N, G, C]\"\nbody = 'y = x + w;'\n");
    RunInput input;
    input.arrays["w"] = zeros(Type::f32, std::move(shape));
    input.arrays["x"] = zeros(Type::f32, {7, 12});
    std::string reason;
    CHECK(infer_sizes(spec.variations[0].kernel, input, reason));
    return input.sizes;
  };
  using Sizes = std::map<std::string, int64_t>;
  CHECK(sizes("C", {4}) == Sizes{{"C", 4}, {"G", 3}, {"N", 7}});
  CHECK(sizes("G", {4}) == Sizes{{"C", 3}, {"G", 4}, {"N", 7}});
  CHECK(sizes("", {}) == Sizes{{"N", 7}});
}

TEST_CASE("arrays that are too large to hold are over the work limit, not a crash") {
  Compiled spec = compiled(R"(kernel = "wide"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
scratch.t = "f32[M, N]"
grid.m = { axis = "M", block = 1000000 }
grid.n = { axis = "N", block = 1000000 }
body = 't = x; y = at(t, N = max(0, index(N) - 1));'
)");
  DifferentialReport report = verify_native(spec, *build(spec), {});
  CHECK(report.difference == "");
  CHECK(report.too_big > 0);
}

TEST_CASE("elements at a jump are left out, and too many of them are no verdict") {
  auto verified = [](const std::string &body) {
    Compiled spec =
        compiled("kernel = \"jump\"\ninputs.x = \"f32[M, N]\"\noutputs.q = \"i32[M, N]\"\nbody = '" + body + "'\n");
    return verify_native(spec, *build(spec), {});
  };
  // A quantiser meets halves exactly, now and then.
  DifferentialReport some = verified("real m = max(abs(x), N) / 127; q = m > 0 ? round(x / m) : 0;");
  CHECK(some.difference == "");
  CHECK(some.no_verdict == "");
  CHECK(some.undecided > 0);
  DifferentialReport all = verified("real s = exp(x) - exp(x); q = s > 0 ? 1 : 0;");
  CHECK(all.difference == "");
  CHECK(all.no_verdict.find("elements of q") != std::string::npos);
}

TEST_CASE("floats that are added in any order need not have the same bits in each run") {
  Compiled spec = compiled(R"(kernel = "update"
inputs.x = "f32[N, D]"
inputs.label = "i32[N]"
outputs.s = { type = "f32[K, D]", atomic = true }
body = 's = 0; at(s, K = label) += x;'
)");
  DifferentialReport report = verify_native(spec, *build(spec), {});
  CHECK(report.difference == "");
  CHECK(report.cases > 0);
}

TEST_CASE("nothing that ran is no verdict") {
  Compiled spec = compiled("kernel = \"k\"\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\nbody = 'y = x;'\n");
  DifferentialOptions options;
  options.work = -1;
  CHECK(verify_native(spec, *build(spec), options).no_verdict.starts_with("no element was compared: "));
}

TEST_CASE("random tables keep their declared facts; row starts run from 0 to the total") {
  Compiled spec = compiled(R"(kernel = "ragged"
axes.N = { ragged = "start", over = "B" }
tables.start = "i64[B + 1]"
tables.order = { type = "i32[B]", unique = true, range = "B" }
inputs.x = "f32[B, N]"
outputs.y = "f32[B]"
body = 'y = sum(x, N) + order[index(B)];'
)");
  for (uint64_t seed = 1; seed < 20; ++seed) {
    RunInput input;
    input.sizes = {{"B", 6}, {"N", 9}};
    std::string reason;
    RandomOptions options;
    options.seed = seed;
    REQUIRE(fill_random(spec.variations[0].kernel, input, options, reason));
    std::vector<int64_t> start = integers(input.tables.at("start")), order = integers(input.tables.at("order"));
    CHECK(start.front() == 0);
    CHECK(start.back() == 9);
    CHECK(std::is_sorted(start.begin(), start.end()));
    std::sort(order.begin(), order.end());
    CHECK(order == std::vector<int64_t>{0, 1, 2, 3, 4, 5});
    CHECK(interpret(spec.variations[0].kernel, input, {}).error == "");
  }
}

TEST_CASE("extreme data hold the ends of wide whole numbers, and small ones") {
  Compiled spec = compiled(R"(kernel = "add"
scalars.w = "i64"
scalars.v = "u64"
scalars.b = "bool"
inputs.x = "i32[N]"
inputs.s = "i16[N]"
outputs.y = "i64[N]"
body = 'y = x + w + int64_t(v) + s + b;'
)");
  std::set<int64_t> scalars, unsigned_scalars, elements;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RunInput input;
    input.sizes = {{"N", 20}};
    std::string reason;
    RandomOptions options;
    options.seed = seed;
    options.integers = options.extremes = true;
    REQUIRE(fill_random(spec.variations[0].kernel, input, options, reason));
    if (input.integers.count("w"))
      scalars.insert(input.integers.at("w"));
    if (input.integers.count("v"))
      unsigned_scalars.insert(input.integers.at("v"));
    CHECK(input.integers.count("b") == 0);
    for (int64_t x : integers(input.arrays.at("x")))
      elements.insert(x);
    for (int64_t s : integers(input.arrays.at("s")))
      CHECK(std::abs(s) < 5);
  }
  CHECK(scalars.count(INT64_MIN) == 1);
  CHECK(scalars.count(INT64_MAX) == 1);
  CHECK(unsigned_scalars.count(-1) == 1);
  CHECK(elements.count(INT32_MIN) == 1);
  CHECK(elements.count(INT32_MAX) == 1);
  CHECK(elements.count(0) == 1);
}

TEST_CASE("emitted code agrees with the interpreter") {
  Compiled add = compiled(kAdd);
  DifferentialReport report = verify_native(add, *build(add), {});
  CHECK(report.difference == "");
  CHECK(report.cases > 20);
  CHECK(report.elements > 1000);
  CHECK(std::find(report.sizes.begin(), report.sizes.end(), "M=0 N=7") != report.sizes.end());
  CHECK(report.too_big == 0);
  CHECK(report.refused == 0);
  DifferentialOptions little;
  little.work = 100;
  DifferentialReport few = verify_native(add, *build(add), little);
  CHECK(few.cases > 0);
  CHECK(few.cases < report.cases);
  CHECK(few.cases + few.too_big == report.cases);
}

TEST_CASE("code that computes something else is noticed") {
  std::string other = kAdd;
  other.replace(other.find("z = x + y"), 9, "z = x - y");
  std::string difference = verify_native(compiled(kAdd), *build(compiled(other)), {}).difference;
  CHECK_MESSAGE(difference.find("z[0, 0] is ") != std::string::npos, difference);
  other = kAdd; // wrong in the last element of long rows only
  other.replace(other.find("sum(x, N)"), 9, "sum(x, N, where(index(N) < 30))");
  difference = verify_native(compiled(kAdd), *build(compiled(other)), {}).difference;
  CHECK_MESSAGE(difference.find("s[0] is ") != std::string::npos, difference);
}

TEST_CASE("a crash, a hang, a write outside and a changed input are results") {
  const std::string sum = "int add_openmp(";
  auto with = [&](const std::string &statement, const char *text = kAdd, std::vector<int> threads = {1}) {
    Compiled add = compiled(text);
    for (EmittedFile &file : add.files)
      if (file.name == "add_openmp.cpp") {
        size_t brace = file.text.find('{', file.text.rfind(sum));
        REQUIRE(brace != std::string::npos);
        file.text.insert(brace + 1, statement);
      }
    DifferentialOptions options;
    options.timeout_s = 2;
    options.threads = std::move(threads);
    return verify_native(add, *build(add), options).difference;
  };
  auto has = [](const std::string &text, const char *part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  CHECK(with("") == "");
  has(with("*(volatile int*)8 = 1;"), "crashed");
  has(with("for (volatile int i = 0;; i = 1) {}"), "did not end within 2 s");
  has(with("z[M * N] = 1;"), "wrote outside `z`");
  has(with("z[-1] = 1;"), "crashed"); // a page that nobody may touch
  has(with("if (M * N > 0 && x[M * N] == 1) return 1;"), "crashed");
  has(with("if (M * N > 0 && x[-1] == 1) return 1;"), "crashed");
  has(with("const_cast<float*>(x)[0] += 1;"), "changed its input `x`");
  has(with("if (M == 1) return 1;"), "the launcher returned 1");
  const char *total = R"(kernel = "add"
inputs.x = "f32[N]"
outputs.y = "f32[N]"
body = 'y = x / sum(x * x, N);'
)";
  CHECK(with("", total) == "");
  has(with("if (workspace != nullptr) static_cast<char*>(workspace)[workspace_bytes] = 1;", total), "workspace");
  has(with("workspace_bytes = int64_t{1} << 40;", total), "wrote outside the workspace"); // given one that is too small
  // A workspace is given again and again, down to the least that is taken.
  has(with("static int calls = 0; if (workspace != nullptr && ++calls > 8) "
           "static_cast<char*>(workspace)[workspace_bytes] = 1;",
           total, {1, 2}),
      "wrote outside the workspace");
  // Each time, outputs are as before: what only the first call has written is not there.
  has(with("static int calls = 0; if (workspace != nullptr && ++calls > 8) return 0;", total, {1, 2}),
      "y[0] has other bits");
  // Whatever holds memory holds no zeros.
  const char *read = "if (workspace != nullptr && static_cast<char*>(workspace)[0] != 0) return 1;";
  has(with(read, total), "the launcher returned 1");
  has(with("void* some = std::malloc(64); const int held = static_cast<volatile char*>(some)[63]; std::free(some); "
           "if (held != 0) return 1;",
           total),
      "the launcher returned 1");
}

TEST_CASE("edge sizes surround every block and respect multiple_of") {
  Compiled spec = compiled(R"(kernel = "copy"
axes.N = { multiple_of = 4 }
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
grid.i = { axis = "M", block = 24, semantics = "parallel" }
body = 'y = x;'
)");
  std::vector<int64_t> m;
  for (const auto &sizes : edge_sizes(spec.variations[0].kernel)) {
    m.push_back(sizes.at("M"));
    CHECK(sizes.at("N") % 4 == 0);
  }
  for (int64_t size : {0, 1, 23, 24, 25})
    CHECK(std::find(m.begin(), m.end(), size) != m.end());
}
