// What kernels mean, executed: blocks and edges, masks, folds and scans, tables, ragged rows, scatters, and all that a
// strict run refuses. The analysis does not run here, so that what it would refuse can be seen to fail.
#include "ir/interpret.h"

#include <cmath>

#include "ir/evaluate.h"
#include "ir_build_test.h"

using namespace kgen;
using kgen::test::contains;

namespace {

using Numbers = std::vector<double>;

struct Given {
  std::map<std::string, int64_t> sizes;
  std::map<std::string, Numbers> arrays; // operands and tables
  std::map<std::string, double> scalars;
};

struct Ran {
  RunResult result;
  Numbers out(const std::string &name) const {
    auto it = result.outputs.find(name);
    Numbers values;
    for (int64_t i = 0; it != result.outputs.end() && i < it->second.elements(); ++i) {
      Value v = load_value(it->second.bytes.data() + i * bytes_of(it->second.type), it->second.type);
      values.push_back(is_floating(it->second.type) ? v.number : static_cast<double>(v.integer));
    }
    return values;
  }
};

Array array_of(Type type, std::vector<int64_t> shape, const Numbers &values) {
  Array array{type, std::move(shape), {}};
  array.bytes.resize(values.size() * bytes_of(type));
  for (size_t i = 0; i < values.size(); ++i)
    store_value(array.bytes.data() + i * bytes_of(type), type, convert(number_value(values[i]), Type::f64, type));
  return array;
}

Ran run(const std::string &text, const Given &given, RunOptions options = {}) {
  test::Built built = test::build(text);
  Ran out;
  if (!built.kernel) {
    out.result.error = built.messages;
    return out;
  }
  RunInput input;
  input.sizes = given.sizes;
  input.scalars = given.scalars;
  for (const Var &var : built.kernel->vars)
    if (auto it = given.arrays.find(var.name); it != given.arrays.end())
      input.arrays[var.name] = array_of(var.type, {static_cast<int64_t>(it->second.size())}, it->second);
  for (const Table &table : built.kernel->tables)
    if (auto it = given.arrays.find(table.name); it != given.arrays.end())
      input.tables[table.name] = array_of(table.type, {static_cast<int64_t>(it->second.size())}, it->second);
  out.result = interpret(*built.kernel, input, options);
  return out;
}

Numbers outputs(const std::string &text, const Given &given, const std::string &name) {
  Ran ran = run(text, given);
  CHECK(ran.result.error == "");
  return ran.out(name);
}

std::string error(const std::string &text, const Given &given) { return run(text, given).result.error; }

Numbers counting(int n, double from = 0) {
  Numbers out;
  for (int i = 0; i < n; ++i)
    out.push_back(from + i);
  return out;
}

const double kInf = INFINITY;

std::string kernel(const std::string &rest, const std::string &body) {
  return "kernel = \"k\"\n" + rest + "body = '''\n" + body + "\n'''\n";
}

} // namespace

TEST_CASE("element by element, with blocks that do not divide") {
  for (int n : {0, 1, 3, 4, 5, 9}) {
    Numbers z = outputs(kernel("inputs.x = \"f32[N]\"\noutputs.z = \"f32[N]\"\n"
                               "grid.i = { axis = \"N\", block = 4, semantics = \"parallel\" }\n",
                               "z = 2 * x + 1;"),
                        {{{"N", n}}, {{"x", counting(n)}}, {}}, "z");
    REQUIRE(z.size() == static_cast<size_t>(n));
    for (int i = 0; i < n; ++i)
      CHECK(z[i] == 2 * i + 1);
  }
}

TEST_CASE("a matmul accumulated over blocks is that of the whole, also for K = 0") {
  std::string blocked = kernel("inputs.x = \"f32[M, K]\"\ninputs.y = \"f32[K, N]\"\noutputs.z = \"f32[M, N]\"\n"
                               "scratch.acc = \"f32[M, N]\"\n"
                               "grid.i = { axis = \"M\", block = 2, semantics = \"parallel\" }\n"
                               "grid.k = { axis = \"K\", block = 3, semantics = \"arbitrary\" }\n",
                               "if (first(k)) acc = 0;\nacc += dot(x, y, K);\nif (last(k)) z = acc;");
  std::string whole =
      kernel("inputs.x = \"f32[M, K]\"\ninputs.y = \"f32[K, N]\"\noutputs.z = \"f32[M, N]\"\n", "z = dot(x, y, K);");
  for (int k : {0, 1, 3, 7}) {
    Given given{{{"M", 5}, {"K", k}, {"N", 2}}, {{"x", counting(5 * k, -3)}, {"y", counting(k * 2, 1)}}, {}};
    Numbers z = outputs(blocked, given, "z");
    CHECK(z == outputs(whole, given, "z"));
    if (k == 0)
      CHECK(z == Numbers(10, 0));
  }
}

TEST_CASE("big steps are cut into chunks without a change") {
  Given given{{{"M", 130}, {"K", 200}, {"N", 90}}, {{"x", counting(130 * 200)}, {"y", counting(200 * 90)}}, {}};
  for (double &v : given.arrays["x"])
    v = std::fmod(v, 7) - 3;
  for (double &v : given.arrays["y"])
    v = std::fmod(v, 5) - 2;
  Numbers z = outputs(kernel("inputs.x = \"f32[M, K]\"\ninputs.y = \"f32[K, N]\"\noutputs.z = \"f32[M, N]\"\n",
                             "z = dot(x, y, K) - max(dot(x, y, K), N);"),
                      given, "z");
  Numbers plain(130 * 90);
  for (int m = 0; m < 130; ++m) {
    double most = -kInf;
    for (int n = 0; n < 90; ++n) {
      for (int k = 0; k < 200; ++k)
        plain[m * 90 + n] += given.arrays["x"][m * 200 + k] * given.arrays["y"][k * 90 + n];
      most = std::max(most, plain[m * 90 + n]);
    }
    for (int n = 0; n < 90; ++n)
      plain[m * 90 + n] -= most;
  }
  CHECK(z == plain);
}

TEST_CASE("empty reductions, and where that keeps nothing") {
  std::string text =
      kernel("inputs.x = \"f32[N]\"\noutputs.s = \"f32[]\"\noutputs.p = \"f32[]\"\noutputs.m = \"f32[]\"\n"
             "outputs.a = \"f32[]\"\noutputs.i = \"i64[]\"\noutputs.every = \"bool[]\"\noutputs.some = \"bool[]\"\n",
             "s = sum(x, N, where(x > 100));\np = prod(x, N, where(x > 100));\nm = max(x, N, where(x > 100));\n"
             "a = mean(x, N, where(x > 100));\ni = argmax(x, N, where(x > 100));\n"
             "every = all(x > 0, N, where(x > 100));\nsome = any(x > 0, N, where(x > 100));");
  for (int n : {0, 3}) {
    Ran ran = run(text, {{{"N", n}}, {{"x", counting(n)}}, {}});
    REQUIRE(ran.result.error == "");
    CHECK(ran.out("s") == Numbers{0});
    CHECK(ran.out("p") == Numbers{1});
    CHECK(ran.out("m") == Numbers{-kInf});
    CHECK(std::isnan(ran.out("a")[0]));
    CHECK(ran.out("i") == Numbers{-1});
    CHECK(ran.out("every") == Numbers{1});
    CHECK(ran.out("some") == Numbers{0});
  }
}

TEST_CASE("argmax: first of equals, NaN largest, the global index") {
  std::string text = kernel("inputs.x = \"f32[M, N]\"\noutputs.most = \"i64[M]\"\noutputs.least = \"i64[M]\"\n",
                            "most = argmax(x, N);\nleast = argmin(x, N);");
  Ran ran = run(text, {{{"M", 3}, {"N", 4}}, {{"x", {1, 5, 5, 0, 2, NAN, 9, NAN, 3, 3, 3, 3}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("most") == Numbers{1, 1, 0});
  CHECK(ran.out("least") == Numbers{3, 1, 0});
}

TEST_CASE("small integers accumulate in i32, and wrap") {
  std::string text =
      kernel("inputs.x = \"i8[K]\"\ninputs.w = \"i32[K]\"\noutputs.z = \"i32[]\"\noutputs.p = \"i32[]\"\n",
             "z = dot(x, x, K);\np = prod(w, K);");
  Ran ran = run(text, {{{"K", 3}}, {{"x", {-128, -128, -128}}, {"w", {65536, 65536, 3}}}, {}});
  CHECK(ran.out("z") == Numbers{3 * 16384});
  CHECK(ran.out("p") == Numbers{0});
}

TEST_CASE("halves are stored rounded, and read back so") {
  std::string text =
      kernel("inputs.x = \"f32[N]\"\noutputs.h = \"bf16[N]\"\noutputs.r = \"f32[N]\"\noutputs.back = \"f32[N]\"\n",
             "h = x;\nback = h;\nr = round_like(x, h);");
  Ran ran = run(text, {{{"N", 3}}, {{"x", {257, 259, 1}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("h") == Numbers{256, 260, 1});
  CHECK(ran.out("back") == Numbers{256, 260, 1});
  CHECK(ran.out("r") == Numbers{256, 260, 1});
}

TEST_CASE("scans: inclusive, exclusive, from the end, along either axis, longer than a chunk") {
  std::string text = kernel("inputs.x = \"i32[M, N]\"\noutputs.a = \"i32[M, N]\"\noutputs.b = \"i32[M, N]\"\n"
                            "outputs.c = \"i32[M, N]\"\noutputs.d = \"i32[M, N]\"\n",
                            "a = cumsum(x, N);\nb = cumsum_exclusive(x, M);\nc = cumprod_reverse(x, N);\n"
                            "d = cummax_reverse_exclusive(x, N);");
  Ran ran = run(text, {{{"M", 2}, {"N", 3}}, {{"x", {1, 2, 3, 4, 5, 6}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("a") == Numbers{1, 3, 6, 4, 9, 15});
  CHECK(ran.out("b") == Numbers{0, 0, 0, 1, 2, 3});
  CHECK(ran.out("c") == Numbers{6, 6, 3, 120, 30, 6});
  CHECK(ran.out("d") == Numbers{3, 3, -2147483648.0, 6, 6, -2147483648.0});
  Numbers long_sum = outputs(kernel("inputs.x = \"f64[N]\"\noutputs.y = \"f64[N]\"\n", "y = cumsum(x, N) + 1;"),
                             {{{"N", 20000}}, {{"x", counting(20000)}}, {}}, "y");
  CHECK(long_sum.back() == 20000.0 * 19999 / 2 + 1);
  CHECK(long_sum[8192] == 8192.0 * 8193 / 2 + 1);
  Numbers h =
      outputs(kernel("inputs.a = \"f32[N]\"\ninputs.b = \"f32[N]\"\noutputs.h = \"f32[N]\"\n", "h = linrec(a, b, N);"),
              {{{"N", 3}}, {{"a", {9, 2, 3}}, {"b", {1, 1, 1}}}, {}}, "h");
  CHECK(h == Numbers{1, 3, 10});
}

TEST_CASE("at reads the array anywhere, outside gives `outside`; inside asks") {
  std::string text =
      kernel("inputs.x = { type = \"f32[N]\", outside = -1 }\noutputs.y = \"f32[N]\"\noutputs.in = \"bool[N]\"\n"
             "grid.i = { axis = \"N\", block = 2, semantics = \"parallel\" }\n",
             "y = at(x, N = N + 1) + at(x, N = N - 1);\nin = inside(x, N = N - 1);");
  Ran ran = run(text, {{{"N", 5}}, {{"x", {10, 20, 30, 40, 50}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("y") == Numbers{19, 40, 60, 80, 39});
  CHECK(ran.out("in") == Numbers{0, 1, 1, 1, 1});
}

TEST_CASE("overlapping windows by offset read `outside` and remove no lanes") {
  std::string text = kernel("axes.F = { equals = \"cdiv(W, 2)\" }\n"
                            "inputs.x = { type = \"f32[W]\", block = [3], offset = [\"2 * f\"], outside = 100 }\n"
                            "outputs.e = \"f32[F]\"\noutputs.n = \"f32[F]\"\ngrid.f = { axis = \"F\", block = 1 }\n",
                            "e = sum(x, W);\nn = mean(x, W);");
  Ran ran = run(text, {{{"W", 5}}, {{"x", {1, 2, 3, 4, 5}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("e") == Numbers{6, 12, 205});
  CHECK(ran.out("n")[1] == 4);
}

TEST_CASE(
    "argmax over a window that begins before its array gives the negative index, and -1 where nothing is chosen") {
  std::string text = kernel("axes.F = { equals = \"W\" }\n"
                            "inputs.x = { type = \"f32[W]\", block = [3], offset = [\"f - 2\"], outside = 4 }\n"
                            "outputs.m = \"i64[F]\"\noutputs.c = \"i64[F]\"\ngrid.f = { axis = \"F\", block = 1 }\n",
                            "m = argmax(x, W);\nc = argmax(x, W, where(x > 5));");
  Ran ran = run(text, {{{"W", 4}}, {{"x", {1, 6, 2, 3}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("m") == Numbers{-2, 1, 1, 1});
  CHECK(ran.out("c") == Numbers{-1, 1, 1, 1});
}

TEST_CASE("windows with other ends along one axis: a lane needs all that it touches") {
  std::string text = kernel("inputs.x = { type = \"f32[N]\", block = [4], index = [0] }\n"
                            "inputs.w = { type = \"f32[N=2]\", block = [4], index = [0] }\noutputs.s = "
                            "\"f32[]\"\noutputs.t = { type = \"f32[]\", partial = true }\n",
                            "s = sum(x * w, N);\nt = sum(x, N);");
  Ran ran = run(text, {{{"N", 4}}, {{"x", {1, 2, 3, 4}}, {"w", {10, 100}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("s") == Numbers{210});
  CHECK(ran.out("t") == Numbers{10});
}

TEST_CASE("windows with other ends along one axis: a local has the lanes of its values, conditions keep the others") {
  std::string text = kernel("inputs.w = { type = \"f32[N=2]\", block = [4], index = [0] }\n"
                            "outputs.kept = { type = \"f32[N]\", block = [4], index = [0], partial = true }\n"
                            "outputs.only = { type = \"f32[N]\", block = [4], index = [0], partial = true }\n"
                            "outputs.left = { type = \"f32[N]\", block = [4], index = [0], partial = true }\n",
                            "float a = 5;\nif (w > 0) a = w;\nkept = a;\n"
                            "float b;\nif (w > 0) b = w; else b = 7;\nonly = b;\n"
                            "float c = 0;\nwhile (true) { c += 1; if (w < c) break; }\nleft = c;");
  Ran ran = run(
      text, {{{"N", 4}}, {{"w", {-1, 2}}, {"kept", {9, 9, 9, 9}}, {"only", {9, 9, 9, 9}}, {"left", {9, 9, 9, 9}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("kept") == Numbers{5, 2, 5, 5});
  CHECK(ran.out("only") == Numbers{7, 2, 9, 9});
  CHECK(ran.out("left") == Numbers{1, 3, 1, 1});
}

TEST_CASE("a loop that only a `break` ends has no rounds where there are no elements") {
  const std::string text =
      kernel("inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\noutputs.t = \"f32[M]\"\n",
             "float n = 0;\nwhile (true) { n += 1; if (x * n > 3) break; }\ny = n;\nt = sum(n, N);");
  const Ran ran = run(text, {{{"M", 2}, {"N", 0}}, {{"x", {}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("t") == Numbers{0, 0});
}

TEST_CASE("per-element if, while, break and continue") {
  std::string text =
      kernel("inputs.x = \"i32[N]\"\noutputs.steps = \"i32[N]\"\noutputs.odd = \"i32[N]\"\n",
             "int n = x;\nint count = 0;\n"
             "while (true) {\n  if (n <= 1) break;\n  n = n % 2 == 0 ? n / 2 : 3 * n + 1;\n  ++count;\n}\n"
             "steps = count;\n"
             "int total = 0;\nfor (int i = 0; i < x; ++i) {\n  if (i % 2 == 0) continue;\n  total += i;\n}\n"
             "odd = total;");
  Ran ran = run(text, {{{"N", 5}}, {{"x", {1, 2, 3, 7, 6}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("steps") == Numbers{0, 1, 7, 16, 8});
  CHECK(ran.out("odd") == Numbers{0, 1, 1, 9, 9});
}

TEST_CASE("a number that was converted is compared as what it was converted to") {
  std::string text = kernel("params.limit = 5\ninputs.x = \"i32[N]\"\noutputs.y = \"i32[N]\"\noutputs.z = \"i32[N]\"\n",
                            "y = uint32_t(x) < limit;\nz = int64_t(x) < limit;");
  Ran ran = run(text, {{{"N", 3}}, {{"x", {-1, 2, 7}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("y") == Numbers{0, 1, 0});
  CHECK(ran.out("z") == Numbers{1, 1, 0});
}

TEST_CASE("local arrays hold a value per element") {
  std::string text = kernel("inputs.x = \"i32[N]\"\noutputs.y = \"i32[N]\"\n",
                            "int a[3] = {};\na[x] = 10;\na[1] += x;\ny = a[0] + 100 * a[1] + 1000 * a[2];");
  CHECK(outputs(text, {{{"N", 3}}, {{"x", {0, 1, 2}}}, {}}, "y") == Numbers{10, 1100, 10200});
  // Outside of one there is nothing to write, and 0 to read.
  CHECK(outputs(text, {{{"N", 3}}, {{"x", {3, -1, 9}}}, {}}, "y") == Numbers{300, -100, 900});
  std::string read =
      kernel("inputs.x = \"i32[N]\"\noutputs.y = \"f32[N]\"\n", "float a[2];\na[0] = 1; a[1] = 2;\ny = a[x];");
  CHECK(outputs(read, {{{"N", 5}}, {{"x", {-1, 0, 1, 2, -2000000000}}}, {}}, "y") == Numbers{0, 1, 2, 0, 0});
}

TEST_CASE("tables choose elements; what lies outside reads 0 in the body") {
  std::string gather =
      kernel("tables.t = \"i32[S]\"\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[S]\"\noutputs.n = \"i32[S]\"\n",
             "y = at(x, N = t[index(S)]);\nn = t[index(S) + 1];");
  Ran ran = run(gather, {{{"S", 3}, {"N", 4}}, {{"t", {2, 0, 9}}, {"x", {5, 6, 7, 8}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("y") == Numbers{7, 5, 0});
  CHECK(ran.out("n") == Numbers{0, 9, 0});
}

TEST_CASE("declared facts of tables are held to") {
  std::string text =
      kernel("tables.t = { type = \"i32[S]\", sorted = true, unique = true, range = 4 }\noutputs.y = \"i32[S]\"\n",
             "y = t[index(S)];");
  CHECK(error(text, {{{"S", 3}}, {{"t", {0, 2, 3}}}, {}}) == "");
  CHECK_CONTAINS(error(text, {{{"S", 3}}, {{"t", {0, 3, 2}}}, {}}), "declared sorted");
  CHECK_CONTAINS(error(text, {{{"S", 3}}, {{"t", {0, 2, 2}}}, {}}), "declared unique");
  CHECK_CONTAINS(error(text, {{{"S", 3}}, {{"t", {0, 2, 4}}}, {}}), "outside 0 .. 3");
}

TEST_CASE("ragged rows: sums, counts and stores stay in the row") {
  std::string text =
      kernel("axes.N = { ragged = \"start\", over = \"B\" }\ntables.start = \"i64[B + 1]\"\n"
             "inputs.x = \"f32[B, N]\"\noutputs.s = \"f32[B]\"\noutputs.n = \"i64[B]\"\noutputs.y = \"f32[B, N]\"\n"
             "outputs.at_least = \"i64[B]\"\n",
             "s = sum(x, N);\nn = size(N);\ny = x * 10 + index(N);\nat_least = argmin(x, N);");
  Ran ran = run(text, {{{"B", 4}, {"N", 6}}, {{"start", {0, 2, 2, 3, 6}}, {"x", {1, 2, 3, 9, 8, 7}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("s") == Numbers{3, 0, 3, 24});
  CHECK(ran.out("n") == Numbers{2, 0, 1, 3});
  CHECK(ran.out("y") == Numbers{10, 21, 30, 90, 81, 72});
  CHECK(ran.out("at_least") == Numbers{0, -1, 0, 2});
  CHECK_CONTAINS(error(text, {{{"B", 2}, {"N", 2}}, {{"start", {0, 3, 2}}, {"x", {1, 2}}}, {}}), "monotone");
}

TEST_CASE("a scan along ragged rows inside of a fold over others, which goes in chunks, keeps to its own") {
  const std::string text =
      kernel("axes.C = { ragged = \"c_start\", over = \"M\" }\naxes.R = { ragged = \"r_start\", over = \"M\" }\n"
             "tables.c_start = \"i64[M + 1]\"\ntables.r_start = \"i64[M + 1]\"\n"
             "inputs.u = \"f32[M, C, N]\"\ninputs.a = \"f32[M, R]\"\noutputs.y = \"f32[M, C, N]\"\n",
             "y = sum(cumsum(u, C) * a, R);");
  const Ran ran =
      run(text, {{{"M", 2}, {"C", 600}, {"R", 40}, {"N", 3}},
                 {{"c_start", {0, 400, 600}}, {"r_start", {0, 25, 40}}, {"u", Numbers(1800, 1)}, {"a", Numbers(40, 1)}},
                 {}});
  CHECK(ran.result.error == "");
  const Numbers y = ran.out("y");
  REQUIRE(y.size() == 1800);
  for (size_t row = 0; row < 600; ++row)
    for (size_t n = 0; n < 3; ++n)
      CHECK(y[row * 3 + n] == (row < 400 ? double(row + 1) * 25 : double(row - 399) * 15));
}

TEST_CASE("scatters: adding counts, dropping what lies outside; two lanes on one element fail") {
  std::string histogram = kernel("inputs.x = \"u8[N]\"\noutputs.c = \"i32[K=4]\"\n", "c = 0;\nat(c, K = x) += 1;");
  CHECK(outputs(histogram, {{{"N", 6}}, {{"x", {1, 1, 3, 0, 7, 1}}}, {}}, "c") == Numbers{1, 3, 0, 1});
  test::Built built = test::build(kernel("tables.p = { type = \"i32[N]\", unique = true, range = \"N\" }\n"
                                         "inputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n",
                                         "at(y, N = p[N]) = x;"));
  REQUIRE_MESSAGE(built.kernel, built.messages);
  Kernel loose = *built.kernel;
  loose.tables[0].unique = false;
  RunInput input;
  input.sizes["N"] = 3;
  input.arrays["x"] = array_of(Type::f32, {3}, {5, 6, 7});
  input.tables["p"] = array_of(Type::i32, {3}, {2, 0, 1});
  RunResult moved = interpret(loose, input, {});
  CHECK(moved.error == "");
  CHECK(load_value(moved.outputs.at("y").bytes.data(), Type::f32).number == 6);
  input.tables["p"] = array_of(Type::i32, {3}, {2, 0, 2});
  CHECK_CONTAINS(interpret(loose, input, {}).error, "two lanes");
}

TEST_CASE("places are read before anything is stored to what they are read from") {
  CHECK(outputs(kernel("outputs.z = \"i64[N]\"\ninputs.h = \"i64[N, I=2]\"\n", "z = 1;\nat(z, N = z) += h;"),
                {{{"N", 3}}, {{"h", {3, -7, 5, 11, 2, 2}}}, {}}, "z") == Numbers{1, 17, 1});
}

TEST_CASE("an alias is read before it is written; partial outputs keep what no one writes") {
  std::string text = kernel("inputs.x = \"f32[N]\"\noutputs.y = { type = \"f32[N]\", alias = \"x\" }\n",
                            "real old = x;\ny = old + 1;\nif (index(N) > 1) y = old * 10;");
  CHECK(outputs(text, {{{"N", 3}}, {{"x", {1, 2, 3}}}, {}}, "y") == Numbers{2, 3, 30});
  const auto ends = [](const std::string &body, const std::string &grid) {
    return run(kernel("inputs.x = \"f32[N]\"\noutputs.y = { type = \"f32[N]\", alias = \"x\" }\n" + grid, body),
               {{{"N", 3}}, {{"x", {1, 2, 3}}}, {}})
        .result;
  };
  const RunResult late = ends("y = 1;\nif (index(N) > 1) y = x;", "");
  CHECK(late.fault == Fault::stale);
  CHECK_CONTAINS(late.error, "`x`[2] is read after it was written as `y`");
  CHECK(ends("if (index(N) > 1) y = 1;\nif (index(N) <= 1) y = x;", "").error == "");
  CHECK(ends("y = at(x, N = size(N) - 1 - N);", "").error == "");
  const std::string steps = "grid.i = { axis = \"N\", block = 1, semantics = ";
  CHECK(ends("y = at(x, N = N + 1);", steps + "\"arbitrary\" }\n").error == "");
  CHECK(ends("y = at(x, N = N - 1);", steps + "\"arbitrary\" }\n").fault == Fault::stale);
  // In whatever order steps run that are parallel.
  CHECK(ends("y = at(x, N = N - 1);", steps + "\"parallel\" }\n").fault == Fault::stale);
  CHECK(ends("y = at(x, N = N + 1);", steps + "\"parallel\" }\n").fault == Fault::stale);
  std::string partial = kernel("outputs.y = { type = \"f32[N]\", partial = true }\n", "if (index(N) == 1) y = 7;");
  CHECK(outputs(partial, {{{"N", 3}}, {{"y", {1, 2, 3}}}, {}}, "y") == Numbers{1, 7, 3});
}

TEST_CASE("optional operands: absent is seen, and not read") {
  std::string text =
      kernel("inputs.x = \"f32[N]\"\ninputs.b = { type = \"f32[N]\", optional = true }\noutputs.y = \"f32[N]\"\n",
             "y = present(b) ? x + b : x;");
  CHECK(outputs(text, {{{"N", 2}}, {{"x", {1, 2}}}, {}}, "y") == Numbers{1, 2});
  CHECK(outputs(text, {{{"N", 2}}, {{"x", {1, 2}}, {"b", {10, 20}}}, {}}, "y") == Numbers{11, 22});
}

TEST_CASE("integers do not trap, random numbers are the golden ones, asserts are counted") {
  std::string text = kernel("inputs.x = \"i32[N]\"\noutputs.q = \"i32[N]\"\noutputs.r = \"f32[N]\"\n",
                            "q = 7 / x;\nr = random(0, index(N));\nassert(x > 0);");
  Ran ran = run(text, {{{"N", 2}}, {{"x", {0, 2}}}, {}});
  CHECK(ran.result.error == "");
  CHECK(ran.out("q") == Numbers{0, 3});
  CHECK(ran.out("r")[0] == (0x6627e8d5 >> 8) * 0x1p-24);
  CHECK(ran.result.failed_asserts == 1);
}

TEST_CASE("reading what was never written fails, with step and element") {
  std::string output =
      kernel("outputs.z = \"f32[N]\"\ngrid.i = { axis = \"N\", block = 2, semantics = \"arbitrary\" }\n",
             "if (index(N) != 3) z = 1;\nif (first(i)) z = z + 1;\nif (last(i)) z = z + 1;");
  CHECK_CONTAINS(error(output, {{{"N", 4}}, {}, {}}), "step (i = 1): `z`[3] is read before it is written");
  std::string scratch = kernel("inputs.x = \"f32[N]\"\nscratch.a = \"f32[]\"\noutputs.z = \"f32[]\"\n"
                               "grid.i = { axis = \"N\", block = 2, semantics = \"arbitrary\" }\n",
                               "if (last(i)) a = 0;\na += sum(x, N);\nif (last(i)) z = a;");
  CHECK_CONTAINS(error(scratch, {{{"N", 4}}, {{"x", counting(4)}}, {}}), "`a`[] is read before it is written");
}

TEST_CASE("an element that was not written may be read in no lane, whichever chunk has the lane") {
  constexpr int kRows = 3, kColumns = 9000; // a chunk holds less than a row
  std::string text = kernel("inputs.k = \"f32[M]\"\ninputs.x = \"f32[M, N]\"\n"
                            "outputs.z = { type = \"f32[M]\", partial = true }\noutputs.y = \"f32[M, N]\"\n",
                            "if (k > 0) z = k;\ny = 0;\nif (x > 0) y = z + x;");
  for (int row = 0; row < kRows; ++row) {
    Given given{{{"M", kRows}, {"N", kColumns}}, {{"k", Numbers(kRows, 1)}, {"x", Numbers(kRows * kColumns, 1)}}, {}};
    given.arrays["k"][row] = 0;
    std::fill_n(given.arrays["x"].begin() + row * kColumns, kColumns, 0);
    CHECK(error(text, given) == "");
    given.arrays["x"][(row + 1) * kColumns - 1] = 1;
    CHECK_CONTAINS(error(text, given), "`z`[" + std::to_string(row) + "] is read before it is written");
  }
}

TEST_CASE("every element must be written, once, by one parallel step, in one window") {
  std::string missing = kernel("outputs.z = \"f32[N]\"\n", "if (index(N) > 0) z = 1;");
  CHECK_CONTAINS(error(missing, {{{"N", 3}}, {}, {}}), "`z`[0] is never written");
  std::string race = kernel("outputs.z = { type = \"f32[N]\", block = [2], index = [\"i / 2\"] }\n"
                            "grid.i = { size = \"4\", semantics = \"parallel\" }\n",
                            "z = 1;");
  CHECK_CONTAINS(error(race, {{{"N", 4}}, {}, {}}), "written by two parallel steps");
  std::string revisit = kernel("outputs.z = { type = \"f32[N]\", block = [2], index = [\"i % 2\"], overwrite = true }\n"
                               "grid.i = { size = \"4\", semantics = \"arbitrary\" }\n",
                               "z = 1;");
  CHECK_CONTAINS(error(revisit, {{{"N", 4}}, {}, {}}), "comes back to a window");
  std::string overlap = kernel("outputs.z = { type = \"f32[N]\", block = [3], offset = [\"2 * i\"] }\n"
                               "grid.i = { size = \"2\", semantics = \"arbitrary\" }\n",
                               "z = 1;");
  CHECK_CONTAINS(error(overlap, {{{"N", 5}}, {}, {}}), "in a window that an earlier step left");
}

TEST_CASE("a window wholly outside fails") {
  std::string text = kernel("tables.t = \"i32[S]\"\ninputs.x = { type = \"f32[N]\", block = [2], index = [\"t[s]\"] }\n"
                            "outputs.z = { type = \"f32[S]\", block = [1], index = [\"s\"] }\n"
                            "grid.s = { size = \"S\", semantics = \"arbitrary\" }\n",
                            "z = sum(x, N);");
  CHECK(outputs(text, {{{"S", 2}, {"N", 3}}, {{"t", {1, 0}}, {"x", {1, 2, 3}}}, {}}, "z") == Numbers{3, 3});
  CHECK_CONTAINS(error(text, {{{"S", 2}, {"N", 3}}, {{"t", {1, 2}}, {"x", {1, 2, 3}}}, {}}),
                 "step (s = 1): the window of `x` along N lies outside");
}

TEST_CASE("parallel steps run in another order for another seed, with scratch of their own") {
  std::string text = kernel("inputs.x = \"f32[M, N]\"\nscratch.a = \"f32[M]\"\noutputs.z = \"f32[M]\"\n"
                            "grid.j = { axis = \"N\", block = 1, semantics = \"arbitrary\" }\n"
                            "grid.i = { axis = \"M\", block = 1, semantics = \"parallel\" }\n",
                            "if (first(j)) a = 0;\na += sum(x, N);\nif (last(j)) z = a;");
  Given given{{{"M", 6}, {"N", 3}}, {{"x", counting(18)}}, {}};
  RunOptions options;
  options.trace_steps = true;
  Ran one = run(text, given, options);
  options.seed = 2;
  Ran two = run(text, given, options);
  // The output's window moves with the inner dimension, so it comes back: the file order is refused.
  CHECK_CONTAINS(one.result.error, "comes back");
  std::string sound = kernel("inputs.x = \"f32[M, N]\"\nscratch.a = \"f32[M]\"\noutputs.z = \"f32[M]\"\n"
                             "grid.i = { axis = \"M\", block = 1, semantics = \"parallel\" }\n"
                             "grid.j = { axis = \"N\", block = 1, semantics = \"arbitrary\" }\n",
                             "if (first(j)) a = 0;\na += sum(x, N);\nif (last(j)) z = a;");
  one = run(sound, given, options);
  options.seed = 3;
  two = run(sound, given, options);
  CHECK(one.result.error == "");
  CHECK(one.out("z") == two.out("z"));
  CHECK(one.result.trace.size() == 18);
  CHECK(one.result.trace != two.result.trace);
}

TEST_CASE("first and last of an output's window by table order") {
  std::string text = kernel("tables.row = { type = \"i32[S]\", sorted = true, range = \"N\" }\ninputs.x = \"f32[S]\"\n"
                            "outputs.z = { type = \"f32[N]\", block = [1], index = [\"row[s]\"], partial = true }\n"
                            "grid.s = { axis = \"S\", block = 1, semantics = \"arbitrary\" }\n",
                            "if (first(z)) z = 0;\nz += sum(x, S);\nif (last(z)) z = 10 * z;");
  CHECK(outputs(text, {{{"S", 4}, {"N", 3}}, {{"row", {0, 0, 2, 2}}, {"x", {1, 2, 3, 4}}, {"z", {-1, -1, -1}}}, {}},
                "z") == Numbers{30, -1, 70});
}

TEST_CASE("a reference run keeps what cancelled, and marks what depends on it") {
  std::string text =
      kernel("inputs.x = \"f32[N]\"\noutputs.s = \"f32[]\"\noutputs.positive = \"bool[]\"\noutputs.big = \"bool[]\"\n",
             "s = sum(x, N);\npositive = sum(x, N) > 0;\nbig = sum(x, N) > 1000;");
  RunOptions options;
  options.reference = true;
  Ran ran = run(text, {{{"N", 3}}, {{"x", {0.1, 0.2, -0.3}}}, {}}, options);
  CHECK(ran.result.error == "");
  const ReferenceOutput &sum = ran.result.reference.at("s");
  CHECK(std::fabs(sum.value[0]) < 1e-7);
  CHECK(sum.magnitude[0] > 0.59);
  CHECK(ran.result.reference.at("positive").undecided[0]);
  CHECK_FALSE(ran.result.reference.at("big").undecided[0]);
  CHECK(ran.result.longest_reduction == 3);
  ran = run(text, {{{"N", 3}}, {{"x", {1, 2, -3}}}, {}}, options);
  CHECK_FALSE(ran.result.reference.at("positive").undecided[0]); // small integers are exact
  CHECK(ran.result.reference.at("s").exact[0]);
}

TEST_CASE("a close comparison decides nothing where both arms say nearly the same") {
  std::string text = kernel("inputs.x = \"f32[N]\"\noutputs.smooth = \"f32[]\"\noutputs.jumps = \"f32[]\"\n",
                            "real s = sum(x, N);\nsmooth = s > 0 ? s : 2 * s;\njumps = s > 0 ? 1 : s;");
  RunOptions options;
  options.reference = true;
  Ran ran = run(text, {{{"N", 3}}, {{"x", {0.1, 0.2, -0.3}}}, {}}, options);
  CHECK(ran.result.error == "");
  CHECK_FALSE(ran.result.reference.at("smooth").undecided[0]);
  CHECK_FALSE(ran.result.reference.at("smooth").exact[0]);
  CHECK(ran.result.reference.at("jumps").undecided[0]);
}

TEST_CASE("a number is as large as itself, however inexact") {
  RunOptions options;
  options.reference = true;
  const Ran ran = run(kernel("inputs.x = \"f32[N]\"\noutputs.same = \"bool[]\"\noutputs.near = \"bool[]\"\n",
                             "real s = sum(x, N);\nreal t = sum(x * 1, N);\nsame = s >= s;\nnear = s >= t;"),
                      {{{"N", 3}}, {{"x", {0.1, 0.2, 0.4}}}, {}}, options);
  CHECK(ran.result.error == "");
  CHECK_FALSE(ran.result.reference.at("same").undecided[0]);
  CHECK(ran.result.reference.at("near").undecided[0]);
}

TEST_CASE("an angle to an infinite point is known") {
  RunOptions options;
  options.reference = true;
  Ran ran = run(kernel("inputs.x = \"f32[N]\"\noutputs.s = \"f32[N]\"\n", "s = atan2(1.0f, x);"),
                {{{"N", 2}}, {{"x", {INFINITY, 1}}}, {}}, options);
  CHECK(ran.result.reference.at("s").magnitude[0] < 1e-30);
  CHECK(ran.result.reference.at("s").magnitude[1] > 0);
}

TEST_CASE("a close comparison runs no arm that reads what it guards") {
  std::string text =
      kernel("inputs.x = \"f32[N]\"\noutputs.y = \"f32[]\"\noutputs.t = { type = \"f32[]\", partial = true }\n",
             "real s = sum(x, N);\nif (s > 100) t = s;\ny = s > 100 ? t : s;");
  RunOptions options;
  options.reference = true;
  Ran ran = run(text, {{{"N", 3}}, {{"x", {33.3, 33.4, 33.3}}}, {}}, options);
  CHECK(ran.result.error == "");
  CHECK(ran.result.reference.at("y").undecided[0]);
}

TEST_CASE("what a local array holds before it is set is an exact 0, in each round") {
  std::string text =
      kernel("inputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n",
             "real kept = 1;\nfor (int i = 0; i < 2; ++i) { real a[2]; kept = a[1]; a[1] = x; }\ny = kept;");
  RunOptions options;
  options.reference = true;
  const Ran ran = run(text, {{{"N", 2}}, {{"x", {0.1, 0.2}}}, {}}, options);
  CHECK(ran.result.error == "");
  CHECK(ran.result.reference.at("y").value[1] == 0);
  CHECK(ran.result.reference.at("y").magnitude[1] == 0);
}

TEST_CASE("what is added at computed places is exact only if every order gives it") {
  std::string text = kernel("inputs.x = \"f32[N]\"\noutputs.s = { type = \"f32[K=1]\", atomic = true }\n",
                            "s = 0;\nat(s, K = 0 * int(x)) += x;");
  RunOptions options;
  options.reference = true;
  Ran ran = run(text, {{{"N", 3}}, {{"x", {1, -1, 0x1p-30}}}, {}}, options); // 0x1p-30 is lost beside 1
  CHECK(ran.result.error == "");
  CHECK_FALSE(ran.result.reference.at("s").exact[0]);
  ran = run(text, {{{"N", 3}}, {{"x", {1, -1, 0.25}}}, {}}, options);
  CHECK(ran.result.reference.at("s").exact[0]);
  ran = run(text, {{{"N", 3}}, {{"x", {0x1p23, 1, 2}}}, {}}, options);
  CHECK_FALSE(ran.result.reference.at("s").exact[0]);
}

TEST_CASE("a run stops at its work limit") {
  RunOptions options;
  options.work_limit = 1000;
  Ran ran = run(kernel("outputs.z = \"f32[N]\"\n", "z = 1;"), {{{"N", 5000}}, {}, {}}, options);
  CHECK_CONTAINS(ran.result.error, "more than 1000 element operations");
  // A trip counts as one operation, so that a loop that does nothing ends as well.
  for (int64_t limit : {1000, 1001}) {
    options.work_limit = limit;
    ran = run(kernel("outputs.z = \"f32[]\"\n", "z = 1; int i = 0; while (i < 1) { if (i > 5) i = 2; }"), {}, options);
    CHECK_CONTAINS(ran.result.error, "element operations");
    CHECK(ran.result.operations == limit + 1);
  }
}
