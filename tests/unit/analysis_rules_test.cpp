// Each rule of section 4 that the analysis holds: a spec that keeps it and one that breaks it, with its witness.
#include <algorithm>

#include <doctest/doctest.h>

#include "analysis/symbols.h"
#include "analysis_harness.h"

using namespace kgen;
using kgen::test::analyse;
using kgen::test::Analysed;
using kgen::test::has;
using kgen::test::legal;
using kgen::test::refused;

namespace {

const std::string kMatmul = R"toml(kernel = "matmul"
inputs.x = "f32[M, K]"
inputs.y = "f32[K, N]"
outputs.z = "f32[M, N]"
scratch.acc = "f32[M, N]"
grid.i = { axis = "M", block = 8 }
grid.j = { axis = "N", block = 16 }
grid.k = { axis = "K", block = 4 }
body = '''
if (first(k)) acc = 0;
acc += dot(x, y, K);
if (last(k)) z = acc;
'''
)toml";

} // namespace

TEST_CASE("semantics are inferred") {
  const Analysed a = legal(kMatmul);
  CHECK(a.parallel("i"));
  CHECK(a.parallel("j"));
  CHECK(!a.parallel("k"));
  CHECK(a.dimension("k").carried.size() == 1);
  CHECK(a.dimension("i").dissolvable);
  CHECK(a.dimension("j").dissolvable);
  CHECK(a.axis("M").independent);
  CHECK(!a.axis("K").independent);
  CHECK(a.axis("K").folded);
}

TEST_CASE("a parallel dimension within an arbitrary one has scratch of its own") {
  const std::string text = R"toml(kernel = "a"
inputs.x = "f32[K, N]"
outputs.y = "f32[K, N]"
scratch.s = "f32[N]"
grid.k = { axis = "K", block = 2, semantics = "arbitrary" }
grid.n = { axis = "N", block = 3, semantics = "parallel" }
body = '''
if (first(k)) s = 0;
s += sum(x, K);
y = x + s;
'''
)toml";
  CHECK(legal(text).dimension("n").carried.empty());
  std::string broken = text;
  broken.replace(broken.find("first(k)"), 8, "first(n)");
  CHECK(has(refused(broken, "parallel_carries"), "semantics"));
}

TEST_CASE("entries of device tables prove no read") {
  const std::string text = R"toml(kernel = "a"
tables.col = { type = "i32[S]", range = "K" }
inputs.x = "f32[K]"
outputs.y = "f32[S]"
body = 'y = at(x, K = col[index(S)]);'
)toml";
  const auto guarded = [](const Analysed &a) {
    return std::any_of(a.kernel.exprs.begin(), a.kernel.exprs.end(),
                       [](const Expr &e) { return e.op == Op::read && !e.coords.empty() && !e.safe; });
  };
  CHECK(guarded(legal(text)));
  std::string host = text;
  host.replace(host.find("range"), 5, "where = \"host\", range");
  CHECK(!guarded(legal(host)));
}

TEST_CASE("scratch may begin with the window of an output") {
  const std::string text = R"toml(kernel = "a"
tables.row = { type = "i32[S]", sorted = true, range = "G" }
inputs.x = { type = "f32[S, N]", block = ["squeeze", 4], index = ["s", "j"] }
outputs.z = { type = "f32[G, N]", block = ["squeeze", 4], index = ["row[s]", "j"], partial = true }
scratch.acc = "f32[N]"
grid.j = { size = "cdiv(N, 4)", semantics = "parallel" }
grid.s = { size = "S", semantics = "arbitrary" }
body = '''
if (first(z)) acc = 0;
acc += x;
if (last(z)) z = acc;
'''
)toml";
  legal(text);
  std::string broken = text;
  broken.replace(broken.find("first(z)"), 8, "last(z) ");
  CHECK(refused(broken, "undefined_read") != "");
}

TEST_CASE("a matmul with scratch accumulates over K") {
  const Analysed a = legal(kMatmul);
  REQUIRE(a.dimension("k").accumulates);
  const Accumulation &sum = *a.dimension("k").accumulates;
  REQUIRE(sum.carried.size() == 1);
  CHECK(a.kernel.vars[sum.carried[0].var].name == "acc");
  CHECK(sum.carried[0].monoid == Monoid::sum);
  REQUIRE(sum.carried[0].init.size() == 1);
  REQUIRE(sum.carried[0].updates.size() == 1);
  CHECK(statement(a.kernel, sum.carried[0].init[0]).target == sum.carried[0].var);
  CHECK(statement(a.kernel, sum.carried[0].updates[0]).update);
  CHECK(sum.last.size() == 1);
  CHECK(sum.every.empty());
}

TEST_CASE("what is not first, accumulate, last stays in order") {
  const auto reason = [](const std::string &body) {
    const Analysed a = legal(R"toml(kernel = "a"
inputs.x = "f32[M, K]"
outputs.z = "f32[M]"
scratch.acc = "f32[M]"
scratch.top = "f32[M]"
grid.k = { axis = "K", block = 4, semantics = "arbitrary" }
body = ''')toml" + body + "'''\n");
    return a.dimension("k").accumulates ? "accumulates" : a.dimension("k").accumulate_reason;
  };
  CHECK(reason("if (first(k)) acc = 1; acc += sum(x, K); if (last(k)) z = acc;") == "accumulates");
  CHECK(reason("if (first(k)) acc = -inf; acc = max(max(x, K), acc); if (last(k)) z = acc;") == "accumulates");
  CHECK(reason("if (first(k)) { acc = 0; top = 0; } acc += sum(x, K); top = max(top, max(x * x, K)); "
               "if (last(k)) z = acc / top;") == "accumulates");
  CHECK(reason("if (first(k)) acc = 0; real y = x * x; acc += sum(y, K); if (last(k)) z = acc;") == "accumulates");
  CHECK(reason("if (first(k)) acc = 0; acc = 0.5 * acc + sum(x, K); if (last(k)) z = acc;") != "accumulates");
  CHECK(reason("if (first(k)) acc = 0; acc += max(x, K); if (last(k)) z = acc;") != "accumulates");
  CHECK(reason("if (first(k)) acc = 0; acc += sum(x * acc, K); if (last(k)) z = acc;") != "accumulates");
  CHECK(reason("if (first(k)) acc = 0; acc += sum(x * k, K); if (last(k)) z = acc;") != "accumulates");
  CHECK(reason("if (first(k)) acc = 0; if (last(k)) z = acc; acc += sum(x, K);") != "accumulates");
  CHECK(reason("if (first(k)) acc = 0; real m = max(x, K); acc += sum(x - m, K); if (last(k)) z = acc;") !=
        "accumulates");
  CHECK(reason("if (first(k)) acc = 0; acc += sum(x, K); if (last(k)) z = acc + max(x, K);") != "accumulates");
}

TEST_CASE("what goes through other types in each step may come as a whole where that gives the same") {
  const auto accumulates = [](const std::string &type, const std::string &update) {
    const Analysed a =
        legal("kernel = \"a\"\ninputs.x = \"i8[K]\"\ninputs.n = \"i32[K]\"\ninputs.f = \"f16[K]\"\n"
              "outputs.z = \"" +
              type + "[]\"\ngrid.k = { axis = \"K\", block = 4 }\nbody = '''\nif (first(k)) z = 0;\nz = " + update +
              ";\n'''\n");
    return a.dimension("k").accumulates.has_value();
  };
  CHECK(accumulates("i8", "min(z, min(x, K))"));
  CHECK(accumulates("i32", "min(z, int(min(x, K)))"));
  CHECK(accumulates("i16", "z + sum(n, K)"));
  CHECK(accumulates("f32", "max(z, max(f, K))"));
  CHECK(!accumulates("i8", "min(z, min(n, K))"));
  CHECK(!accumulates("u32", "max(z, uint32_t(max(n, K)))"));
  CHECK(!accumulates("i32", "min(z, int(min(int64_t(n) * 4096, K)))"));
  CHECK(!accumulates("i32", "z + int(int8_t(sum(n, K)))"));
}

TEST_CASE("a stated parallel is held to") {
  CHECK(has(refused(R"toml(kernel = "a"
inputs.x = "f32[M, N]"
outputs.z = "f32[N]"
grid.i = { axis = "M", block = 8, semantics = "parallel" }
body = '''
if (first(i)) z = 0;
z += sum(x, M);
'''
)toml",
                    "parallel_constant"),
            "steps (i = 0) and (i = 1), element z[0]"));
  CHECK(has(refused(R"toml(kernel = "a"
inputs.x = "f32[M, N]"
outputs.z = "f32[M, N]"
scratch.acc = "f32[N]"
grid.i = { axis = "M", block = 8, semantics = "parallel" }
body = '''
if (first(i)) acc = 0;
acc += sum(x, M);
z = acc;
'''
)toml",
                    "parallel_carries"),
            "step (i = 1), element acc[0]: it reads what only another step may have written"));
  CHECK(has(refused(R"toml(kernel = "a"
outputs.z = { type = "f32[N]", block = [4], offset = ["3 * i"] }
grid.i = { size = "cdiv(N, 3)", semantics = "parallel" }
body = 'z = 1;'
)toml",
                    "parallel_overlap"),
            "at N = 4, steps (i = 0) and (i = 1), element z[3]"));
}

TEST_CASE("windows lie inside, or the launcher asks, or it is refused") {
  const auto spec = [](const std::string &index, const std::string &steps) {
    return "kernel = \"a\"\ninputs.x = { type = \"f32[N]\", block = [16], index = [\"" + index +
           "\"] }\noutputs.z = { type = \"f32[N]\", block = [16], index = [\"i\"], partial = true }\ngrid.i = { size = "
           "\"" +
           steps + "\" }\nbody = 'z = 1;'\n";
  };
  CHECK(legal(spec("i", "cdiv(N, 16)")).operand("x").bounds.verdict == Verdict::proved);
  CHECK(legal(spec("min(i, 0)", "cdiv(N, 16)")).operand("x").bounds.verdict == Verdict::proved);
  CHECK(legal(spec("cdiv(N, 16) - 1 - i", "cdiv(N, 16)")).operand("x").bounds.verdict == Verdict::proved);
  const Analysed two = legal(spec("i", "2"));
  CHECK(two.operand("x").bounds.verdict == Verdict::checked);
  REQUIRE(two.checks(Check::Kind::window).size() == 1);
  CHECK(to_string(two.checks(Check::Kind::window)[0].condition) == "N <= 0 ? 1 : 16 < N");
  CHECK(has(refused(spec("i + 1", "cdiv(N, 16)"), "window_outside"), "at N = 1, step (i = 0)"));
  CHECK(has(refused(spec("i - 1", "cdiv(N, 16)"), "window_outside"), "= -16"));
  CHECK(has(refused("axes.P = { equals = \"2 * N\" }\n" + spec("i - P", "cdiv(N, 16)"), "window_outside"),
            "starts at (i - P) * 16 = -32"));
}

TEST_CASE("a number is a condition that holds where it is not 0") {
  const auto spec = [](const std::string &index) {
    return "kernel = \"a\"\ninputs.x = { type = \"f32[X=4]\", block = [\"squeeze\"], index = [\"" + index +
           "\"] }\noutputs.y = \"f32[N]\"\ngrid.i = { axis = \"N\", block = 1 }\nbody = 'y = x;'\n";
  };
  CHECK(legal(spec("i % 5 ? i % 5 - 1 : 0")).operand("x").bounds.verdict == Verdict::proved);
  CHECK(has(refused(spec("i % 5 ? 0 : i % 5 - 1"), "window_outside"), "at N = 1, step (i = 0)"));
}

TEST_CASE("windows that depend on tables") {
  const auto spec = [](const std::string &facts) {
    return "kernel = \"a\"\ntables.col = { type = \"i32[S]\"" + facts +
           " }\ninputs.x = { type = \"f32[K]\", block = [64], index = [\"col[s]\"] }\n"
           "outputs.z = { type = \"f32[S, K=64]\", block = [\"squeeze\", \"whole\"], index = [\"s\", 0] }\n"
           "grid.s = { size = \"S\" }\nbody = 'z = 0; z += x;'\n";
  };
  const Analysed ranged = legal(spec(", range = \"cdiv(K, 64)\""));
  CHECK(ranged.operand("x").bounds.verdict == Verdict::proved);
  CHECK(ranged.facts.guards.size() == 2); // entries of device memory are never trusted with an access
  CHECK(ranged.checks(Check::Kind::table_range).size() == 1);
  const Analysed host = legal(spec(", where = \"host\""));
  CHECK(host.operand("x").bounds.verdict == Verdict::checked);
  CHECK(host.facts.guards.empty());
  REQUIRE(host.checks(Check::Kind::window).size() == 2);
  CHECK(host.checks(Check::Kind::window)[0].loops == std::vector<GridId>{0});
  const Analysed other = legal(spec(", range = \"8\""));
  CHECK(other.operand("x").bounds.verdict == Verdict::checked);
  CHECK(to_string(other.checks(Check::Kind::window)[0].condition) == "S <= 0 ? 1 : K <= 0 ? 1 : 448 < K");
  CHECK(has(refused(spec(""), "window_unknown"), "range = \"cdiv(K, 64)\""));
}

TEST_CASE("the order of a table decides whether windows come back") {
  const auto spec = [](const std::string &facts, const std::string &grid) {
    return "kernel = \"a\"\ntables.row = { type = \"i32[S]\", range = \"cdiv(M, 64)\"" + facts +
           " }\ninputs.a = { type = \"f32[S, M=64]\", block = [\"squeeze\", \"whole\"], index = [\"s\", 0] }\n"
           "outputs.z = { type = \"f32[M]\", block = [64], index = [\"row[s]\"], partial = true }\ngrid.s = { size = "
           "\"S\"" +
           grid + " }\nbody = '''\nif (first(z)) z = 0;\nz += a;\n'''\n";
  };
  const Analysed sorted = legal(spec(", sorted = true", ""));
  CHECK(!sorted.parallel("s"));
  CHECK(sorted.operand("z").revisit.verdict == Verdict::proved);
  CHECK(legal(spec(", unique = true", "")).parallel("s"));
  CHECK(legal(spec(", unique = true", ", semantics = \"parallel\"")).operand("z").disjoint.verdict == Verdict::proved);
  CHECK(legal(spec(", where = \"host\"", "")).checks(Check::Kind::table_runs).size() == 1);
  CHECK(legal(spec(", where = \"host\"", ", semantics = \"parallel\"")).checks(Check::Kind::table_disjoint).size() ==
        1);
  CHECK(has(refused(spec("", ""), "late_revisit"), "declare tables.row"));
  refused(spec(", sorted = true", ", semantics = \"parallel\""), "parallel_overlap");
}

TEST_CASE("launchers walk no steps that entries on a device count") {
  const auto spec = [](const std::string &row, const std::string &length) {
    return "kernel = \"a\"\ntables.row = { type = \"i32[S]\", range = \"G\"" + row +
           " }\ntables.length = { type = \"i32[S]\", range = \"N + 1\"" + length +
           " }\ninputs.x = { type = \"f32[N]\", block = [8], index = [\"j\"] }\n"
           "outputs.y = { type = \"f32[G]\", block = [1], index = [\"row[s]\"], partial = true }\n"
           "grid.s = { size = \"S\", semantics = \"arbitrary\" }\n"
           "grid.j = { size = \"cdiv(length[s], 8)\", semantics = \"arbitrary\" }\n"
           "body = '''\nif (first(y)) y = 0;\ny += sum(x, N);\n'''\n";
  };
  const std::string host = ", where = \"host\"";
  CHECK(legal(spec(host, host)).checks(Check::Kind::table_runs).size() == 1);
  CHECK(legal(spec(", sorted = true", "")).operand("y").revisit.verdict == Verdict::proved);
  CHECK(has(refused(spec(host, ""), "late_revisit"), "or tables.length = { ..., where = \"host\" }"));
  CHECK(has(refused(spec("", host), "late_revisit"), "sorted = true }, or where = \"host\""));
}

TEST_CASE("late revisits name the order that works") {
  const std::string help = refused(R"toml(kernel = "a"
inputs.x = "f32[M, K]"
outputs.z = "f32[M]"
grid.k = { axis = "K", block = 8, semantics = "arbitrary" }
grid.i = { axis = "M", block = 8 }
body = '''
if (first(k)) z = 0;
z += sum(x, K);
'''
)toml",
                                   "late_revisit");
  CHECK(has(help, "steps (k = 0, i = 0) and (k = 1, i = 0), element z[0]"));
  CHECK(has(help, "put `k` after `i`"));
}

TEST_CASE("windows of an output reach every element") {
  const auto spec = [](const std::string &index, const std::string &grid) {
    return "kernel = \"a\"\ninputs.s = \"f32[N]\"\noutputs.z = { type = \"f32[N]\", block = [16], index = [\"" + index +
           "\"] }\n" + grid + "body = 'z = 1;'\n";
  };
  CHECK(legal(spec("i", "grid.i = { size = \"cdiv(N, 16)\" }\n")).operand("z").windows_cover.verdict ==
        Verdict::proved);
  CHECK(legal(spec("4 * i + j", "grid.i = { size = \"cdiv(N, 64)\" }\ngrid.j = { size = \"4\" }\n"))
            .operand("z")
            .windows_cover.verdict == Verdict::proved);
  CHECK(
      legal(spec("cdiv(N, 16) - 1 - i", "grid.i = { size = \"cdiv(N, 16)\" }\n")).operand("z").windows_cover.verdict ==
      Verdict::proved);
  CHECK(legal(spec("i", "grid.i = { size = \"3\" }\n")).operand("z").windows_cover.verdict == Verdict::checked);
  CHECK(has(refused(spec("2 * i", "grid.i = { size = \"cdiv(N, 32)\" }\n"), "not_covered"),
            "element z[16] is in no window"));
}

TEST_CASE("that windows reach every element follows from what is required of sizes") {
  const auto cover = [](const std::string &required) {
    return legal("kernel = \"a\"\noutputs.z = { type = \"f32[N]\", block = [4], index = [\"i\"] }\n"
                 "inputs.x = \"f32[K]\"\ngrid.i = { size = \"K / 4\" }\nbody = '''\n" +
                 required + "z = 1 + sum(x, K);\n'''\n")
        .operand("z")
        .windows_cover.verdict;
  };
  CHECK(cover("") == Verdict::checked);
  CHECK(cover("require(size(K) == size(N), \"as many\");\n") == Verdict::checked);
  CHECK(cover("require(size(K) == size(N) && size(K) % 4 == 0, \"fours\");\n") == Verdict::proved);
  CHECK(cover("require(size(K) > size(N) + 3, \"more\");\n") == Verdict::proved);
  CHECK(cover("require(size(K) == size(N) || size(N) == 4, \"either\");\n") == Verdict::checked);
}

TEST_CASE("blocks numbered by quotients and remainders of one step") {
  const auto spec = [](const std::string &row, const std::string &column, const std::string &steps) {
    const std::string window = "block = [32, 64], index = [\"" + row + "\", \"" + column + "\"]";
    return "kernel = \"a\"\ninputs.x = { type = \"f32[M, N]\", " + window + " }\noutputs.z = { type = \"f32[M, N]\", " +
           window + " }\ngrid.t = { size = \"" + steps + "\" }\nbody = 'z = x;'\n";
  };
  const std::string rows = "cdiv(M, 32)", columns = "cdiv(N, 64)", groups = "cdiv(M, 128)", width = "(4 * cdiv(N, 64))";
  const Analysed plain = legal(spec("t / " + columns, "t % " + columns, rows + " * " + columns));
  CHECK(plain.parallel("t"));
  CHECK(plain.operand("z").bounds.verdict == Verdict::proved);
  CHECK(plain.operand("z").windows_cover.verdict == Verdict::proved);
  const Analysed grouped =
      legal(spec("t / " + width + " * 4 + t % 4", "t % " + width + " / 4", groups + " * 4 * " + columns));
  CHECK(grouped.parallel("t"));
  CHECK(grouped.operand("z").bounds.verdict == Verdict::checked);
  CHECK(grouped.operand("z").windows_cover.verdict == Verdict::proved);
  // Digits that are left out make windows repeat.
  refused(spec("t / " + width + " * 4", "t % " + width + " / 4", groups + " * 4 * " + columns), "revisit_unknown");
  refused(spec("t / " + columns, "t % " + columns + " / 2", rows + " * " + columns), "revisit_unknown");
}

TEST_CASE("every element of a window is written") {
  const auto body = [](const std::string &text) {
    return "kernel = \"a\"\ninputs.x = \"f32[M, K]\"\noutputs.z = \"f32[M]\"\n"
           "grid.k = { axis = \"K\", block = 8, semantics = \"arbitrary\" }\nbody = '''\n" +
           text + "\n'''\n";
  };
  legal(body("if (first(k)) z = 0; else z += sum(x, K);"));
  legal(body("if (k == 0) z = 0; z += sum(x, K);"));
  legal(body("if (last(k)) z = 1;"));
  legal(body("if (last(k)) { if (index(M) > 3) z = 1; else z = 2; }"));
  legal(body("if (last(k)) for (int n = 0; n < 2; ++n) z = n;"));
  refused(body("if (last(k)) { if (index(M) > 3) z = 1; }"), "not_written");
  refused(body("if (last(k)) for (int n = 0; n < size(M); ++n) z = n;"), "not_written");
  refused(body("if (first(k) && !last(k)) z = 0;"), "not_written");
}

TEST_CASE("a block that ends with its array leaves a gap") {
  const auto spec = [](const std::string &axes, const std::string &more, const std::string &body) {
    return "kernel = \"a\"\n" + axes +
           "inputs.x = { type = \"f32[K]\", block = [64], index = [\"s\"] }\n"
           "outputs.z = { type = \"f32[S, K=64]\", block = [\"squeeze\", \"whole\"], index = [\"s\", 0]" +
           more + " }\ngrid.s = { size = \"S\" }\nbody = '" + body + "'\n";
  };
  CHECK(has(refused(spec("", "", "z = x;"), "not_written"), "the block of x ends with its array"));
  CHECK(has(refused(spec("", "", "real a = x; real b = a; z = b + 1;"), "not_written"), "multiple_of = 64"));
  legal(spec("axes.K = { multiple_of = 64 }\n", "", "z = x;"));
  legal(spec("", ", partial = true", "z = x;"));
  legal(spec("", "", "z = 0; z += x;"));
  legal(spec("", "", "z = at(x, K = 3);"));
}

TEST_CASE("what a statement touches in any way ends its lanes") {
  const auto spec = [](const std::string &body) {
    return "kernel = \"a\"\ntables.t = { type = \"i32[S]\", range = \"cdiv(K, 2)\" }\n"
           "inputs.x = { type = \"f32[K]\", block = [2], index = [\"t[s]\"] }\n"
           "inputs.w = { type = \"f32[L, K]\", block = [\"whole\", 2], index = [0, \"t[s]\"] }\n"
           "inputs.u = \"f32[L]\"\n"
           "outputs.z = { type = \"f32[S, K=2]\", block = [\"squeeze\", 2], index = [\"s\", 0] }\n"
           "grid.s = { size = \"S\" }\nbody = '" +
           body + "'\n";
  };
  // Conditions, locals that only conditions assign, local arrays, coordinates, questions about places.
  for (const char *const body :
       {"if (x > 0) z = 1; else z = 2;", "float v; if (x > 0) v = 1; else v = 2; z = v;",
        "float a[2]; a[0] = x; a[1] = 1; z = a[0] + a[1];", "z = at(u, L = int(x));", "z = inside(w, L = 3) ? 1 : 2;",
        "z = x > 0 ? 1 : 2;", "z = sum(w, L);", "for (int i = 0; i < 3 || x > 0; ++i) z = 1;"})
    CHECK(has(refused(spec(body), "not_written"), "at S = 1"));
  for (const char *const body : {"z = 0; if (x > 0) z = 1; else z = 2;", "float v = 1; if (x > 0) v = 2; z = v;",
                                 "z = at(x, K = 1);", "float a[2]; a[1] = 1; z = a[0] + a[1];"})
    legal(spec(body));
}

TEST_CASE("stores at other coordinates leave out what a statement has no lanes for") {
  const auto spec = [](const std::string &range, const std::string &body) {
    return "kernel = \"a\"\ntables.t = { type = \"i32[S]\", range = \"" + range +
           "\" }\ninputs.x = { type = \"f32[K]\", block = [2], index = [\"t[s]\"] }\n"
           "outputs.z = { type = \"f32[S, K=2, P=3]\", block = [\"squeeze\", 2, \"whole\"], index = [\"s\", 0, 0] }\n"
           "grid.s = { size = \"S\" }\nbody = '" +
           body + "'\n";
  };
  for (const char *const body :
       {"at(z, P = P) = x;", "at(z, P = 0) = 1; at(z, P = 1) = x; at(z, P = 2) = 1;",
        "for (int p = 0; p < 3; ++p) at(z, P = p) = x;", "for (int p = 0; p < size(P); ++p) at(z, P = p) = x;"}) {
    refused(spec("cdiv(K, 2)", body), "not_written");
    legal(spec("K / 2", body));
  }
}

TEST_CASE("what is written in part may be read in that part") {
  const auto spec = [](const std::string &body, const std::string &range = "cdiv(K, 2)") {
    return "kernel = \"a\"\ntables.t = { type = \"i32[S]\", range = \"" + range +
           "\" }\ninputs.x = { type = \"f32[K, L]\", block = [2, \"whole\"], index = [\"t[s]\", 0] }\n"
           "inputs.o = { type = \"f32[K=2 * S, L]\", block = [2, \"whole\"], index = [\"s\", 0] }\n"
           "scratch.kept = \"f32[K, L]\"\noutputs.z = { type = \"f32[K=2 * S, L]\", block = [2, \"whole\"], "
           "index = [\"s\", 0], partial = true }\ngrid.s = { size = \"S\" }\nbody = '" +
           body + "'\n";
  };
  for (const char *const body :
       {"z = x; z = z + x;", "z = x; z += o * x;", "z = x; float v = x + 1; z *= v;", "z = x; if (x > 0) z = z + 1;",
        "z = x; float v = x > sum(z, L) ? 1 : 2;", "z = x; for (int i = 0; i < 3; ++i) z = z / 2 + x;",
        "z = o; z += 1; z += x;", "kept = x; z = kept + x;", "kept = o; z = kept + x;"})
    legal(spec(body));
  for (const char *const body : {"z = x; z = z + 1;", "z = x; z += o;", "z = x; if (z > 0) z = x;",
                                 "z = x; if (x > 0) z = o; z += o;", "z = x; float v = z; z = v * x;"})
    CHECK(has(refused(spec(body), "undefined_read"), "the block of x ends with its array before the window"));
  CHECK(has(refused(spec("kept = x; z = kept;"), "undefined_read"), "before what is read of kept does"));
  CHECK(has(refused(spec("kept = x; z = kept;"), "undefined_read"), "at S = "));
  refused(spec("kept = x; kept += 1; z = kept * x;"), "undefined_read");
  legal(spec("kept = x; z = kept; z += 1;", "K / 2"));
}

TEST_CASE("scratch that later steps read has been written as far as they go") {
  const auto spec = [](const std::string &window, const std::string &body) {
    return "kernel = \"a\"\ntables.t = { type = \"i32[S]\", range = \"cdiv(K, 2)\" }\n"
           "inputs.x = { type = \"f32[J, K]\", block = [\"squeeze\", 2], index = [\"j\", \"" +
           window +
           "\"] }\nscratch.kept = \"f32[K]\"\n"
           "outputs.z = { type = \"f32[S, K=2]\", block = [\"squeeze\", 2], index = [\"s\", 0], partial = true }\n"
           "grid.s = { size = \"S\" }\ngrid.j = { size = \"J\", semantics = \"arbitrary\" }\nbody = '" +
           body + "'\n";
  };
  const std::string updated = "if (first(j)) kept = x; else kept += x; ";
  legal(spec("t[s]", updated + "if (last(j)) z = kept + x;"));
  refused(spec("t[s]", updated + "if (last(j)) z = kept;"), "undefined_read");
  refused(spec("j % max(cdiv(K, 2), 1)", updated + "if (last(j)) z = kept + x;"), "undefined_read");
}

TEST_CASE("nothing is read before it is written") {
  const auto body = [](const std::string &text) {
    return "kernel = \"a\"\ninputs.x = \"f32[M, K]\"\noutputs.z = \"f32[M]\"\nscratch.acc = \"f32[M]\"\n"
           "grid.i = { axis = \"M\", block = 4 }\n"
           "grid.k = { axis = \"K\", block = 8, semantics = \"arbitrary\" }\nbody = '''\n" +
           text + "\n'''\n";
  };
  legal(body("if (first(k)) acc = 0; acc += sum(x, K); if (last(k)) z = acc;"));
  legal(body("if (!first(k)) acc += sum(x, K); else acc = 0; if (last(k)) z = acc;"));
  legal(body("acc = first(k) ? 0 : acc + sum(x, K); if (last(k)) z = acc;"));
  CHECK(has(refused(body("acc += sum(x, K); if (last(k)) z = acc;"), "undefined_read"),
            "begin with if (first(k)) acc = 0;"));
  refused(body("if (last(k)) acc = 0; acc += sum(x, K); if (last(k)) z = acc;"), "undefined_read");
  refused(body("if (first(k) && x > 0) acc = 0; acc += sum(x, K); if (last(k)) z = acc;"), "condition_axis_missing");
  refused(body("if (first(k) && index(M) > 0) acc = 0; acc += sum(x, K); if (last(k)) z = acc;"), "undefined_read");
}

TEST_CASE("an aliased input is read in time") {
  const auto spec = [](const std::string &grid, const std::string &statements) {
    return "kernel = \"a\"\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\noutputs.z = { type = \"f32[N]\", alias = "
           "\"x\" }\n" +
           grid + "body = '''\n" + statements + "\n'''\n";
  };
  legal(spec("", "y = x; z = x + 1;"));
  legal(spec("", "y = 0; z = at(x, N = size(N) - 1 - N);"));
  legal(spec("grid.i = { axis = \"N\", block = 8 }\n", "y = x; z = x + 1;"));
  CHECK(has(refused(spec("", "z = x + 1; y = x;"), "alias_stale"), "auto old = x;"));
  refused(spec("grid.i = { axis = \"N\", block = 8 }\n", "y = 0; z = at(x, N = size(N) - 1 - N);"), "alias_window");
}

TEST_CASE("reads at coordinates that stay inside need no guard") {
  const auto guarded = [](const std::string &coordinate) {
    const Analysed a =
        legal("kernel = \"a\"\naxes.P = { equals = \"(H - 1) / 2 + 1\" }\naxes.I = 3\ninputs.x = \"f32[H]\"\n"
              "inputs.w = \"i32[P]\"\noutputs.y = \"f32[P]\"\nbody = 'y = sum(at(x, H = " +
              coordinate + ") + index(I) * 0, I) + w;'\n");
    int count = 0;
    for (const Expr &expr : a.kernel.exprs)
      count += expr.op == Op::read && !expr.coords.empty() && !expr.safe;
    return count > 0;
  };
  CHECK(!guarded("2 * P"));
  CHECK(!guarded("P"));
  CHECK(!guarded("min(2 * P + I, size(H) - 1)"));
  CHECK(guarded("2 * P + I"));
  CHECK(guarded("2 * P - 1"));
  CHECK(guarded("w"));
}

TEST_CASE("so do coordinates that locals name, clamp or choose") {
  const auto guarded = [](const std::string &statements) {
    const Analysed a = legal("kernel = \"a\"\ninputs.x = \"f32[N]\"\ninputs.w = \"i64[N]\"\noutputs.y = \"f32[N]\"\n"
                             "body = '''\n" +
                             statements + "\ny = at(x, N = p);\n'''\n");
    return std::any_of(a.kernel.exprs.begin(), a.kernel.exprs.end(),
                       [](const Expr &expr) { return expr.op == Op::read && !expr.coords.empty() && !expr.safe; });
  };
  CHECK(!guarded("int64_t p = max(index(N) - 1, 0);"));
  CHECK(!guarded("int64_t p = clamp(index(N) + 1, 0, size(N) - 1);"));
  CHECK(!guarded("int64_t p = index(N) == 0 ? size(N) - 1 : index(N) - 1;"));
  CHECK(!guarded("int64_t q = index(N) + 1; int64_t p = min(q, size(N) - 1);"));
  CHECK(guarded("int64_t p = index(N) - 1;"));
  CHECK(guarded("int64_t p = index(N); if (w > 0) p = p + 1;"));
  CHECK(guarded("int64_t p = index(N); p = p + 1;"));
  CHECK(guarded("int64_t p = index(N); for (int i = 0; i < 3; ++i) p = p + 1;"));
  CHECK(!guarded("int p = int(max(index(N) - 1, 0));")); // the launcher refuses sizes for which it would wrap around
  CHECK(guarded("int p = int(max(1000 * index(N), 1000) / 1000 - 1);"));
  CHECK(guarded("int64_t p = index(N) == 0 ? size(N) : index(N) - 1;"));
  CHECK(guarded("int64_t p = clamp(w, 0, size(N));"));
}

TEST_CASE("launchers test sizes in order") {
  const Analysed a = legal(R"toml(kernel = "a"
axes.M = { multiple_of = 8 }
axes.D = [64, 128]
axes.P = { equals = "H - 3" }
inputs.x = "f32[M, D, H]"
inputs.y = "f32[K=M - 2 * H]"
outputs.z = "f32[M, P]"
body = 'z = 1;'
)toml");
  CHECK(a.checks(Check::Kind::size_multiple).size() == 1);
  CHECK(a.checks(Check::Kind::size_fixed).size() == 1);
  REQUIRE(a.checks(Check::Kind::size_derived).size() == 1);
  CHECK(to_string(a.checks(Check::Kind::size_derived)[0].condition) == "H - 3 >= 0");
  CHECK(a.checks(Check::Kind::extent_negative).size() == 1);
  CHECK(a.checks(Check::Kind::overflow).size() == 3);
  CHECK(a.facts.checks.front().kind == Check::Kind::size_negative);
}

TEST_CASE("a dimension without steps must leave nothing unwritten") {
  const Analysed a = legal(R"toml(kernel = "a"
inputs.x = "f32[N]"
outputs.z = "f32[M]"
grid.s = { size = "N", semantics = "arbitrary" }
body = 'if (first(s)) z = 0;'
)toml");
  REQUIRE(a.checks(Check::Kind::grid_empty).size() == 1);
  CHECK(to_string(a.checks(Check::Kind::grid_empty)[0].condition) == "N > 0 ? 1 : M <= 0 ? 1 : 0");
}

TEST_CASE("inner steps must leave no window unwritten that does not move with them") {
  const Analysed a = legal(R"toml(kernel = "a"
tables.length = { type = "i32[B]", range = "N + 1" }
inputs.x = { type = "f32[B, N]", block = ["squeeze", 1], index = ["b", "t"] }
outputs.z = { type = "f32[B, D]", block = ["squeeze", "whole"], index = ["b", 0] }
grid.b = { size = "B", semantics = "parallel" }
grid.t = { size = "length[b]", semantics = "arbitrary" }
body = 'if (first(t)) z = 0;'
)toml");
  REQUIRE(a.checks(Check::Kind::grid_empty).size() == 1);
  CHECK(to_string(a.checks(Check::Kind::grid_empty)[0].condition) == "length[b] > 0 ? 1 : B <= 0 ? 1 : D <= 0 ? 1 : 0");
  CHECK(a.checks(Check::Kind::grid_empty)[0].loops == std::vector<GridId>{0});
}

TEST_CASE("steps that depend on a table") {
  const auto spec = [](const std::string &more) {
    return "kernel = \"a\"\ntables.length = { type = \"i32[B]\", range = \"N + 1\" }\ninputs.x = \"f32[B, N]\"\n"
           "outputs.z = { type = \"f32[B, N]\", block = [\"squeeze\", 8], index = [\"b\", \"n\"], partial = true }\n"
           "grid.b = { size = \"B\" }\ngrid.n = { size = \"cdiv(length[b], 8)\"" +
           more + " }\nbody = 'z = 1;'\n";
  };
  CHECK(!legal(spec("")).parallel("n"));
  CHECK(legal(spec("")).parallel("b"));
  const Analysed most = legal(spec(", at_most = \"cdiv(N, 8)\""));
  CHECK(most.parallel("n"));
  CHECK(most.operand("z").bounds.verdict == Verdict::proved);
  REQUIRE(most.checks(Check::Kind::at_most).size() == 1);
  CHECK(most.checks(Check::Kind::at_most)[0].loops.size() == 1);
  CHECK(most.checks(Check::Kind::at_most)[0].tables.size() == 1);
}

TEST_CASE("tables are read inside their extent") {
  const auto spec = [](const std::string &index, const std::string &size) {
    return "kernel = \"a\"\ntables.col = { type = \"i32[S]\", range = \"cdiv(K, 64)\" }\n"
           "inputs.x = { type = \"f32[K]\", block = [64], index = [\"col[" +
           index +
           "]\"] }\noutputs.z = { type = \"f32[S, K=64]\", block = [\"squeeze\", \"whole\"], index = [\"s\", 0], "
           "partial = true }\ngrid.s = { size = \"" +
           size + "\" }\nbody = 'z = x;'\n";
  };
  CHECK(legal(spec("s", "S")).checks(Check::Kind::table_index).empty());
  CHECK(legal(spec("S - 1 - s", "S")).checks(Check::Kind::table_index).empty());
  CHECK(legal(spec("min(s, 3)", "S")).checks(Check::Kind::table_index).empty());
  CHECK(legal(spec("s + s", "cdiv(S, 2)")).checks(Check::Kind::table_index).empty());
  CHECK(legal(spec("s + 3", "max(S - 3, 1)")).checks(Check::Kind::table_index).size() == 1);
  CHECK(has(refused(spec("s + S", "S"), "table_outside"), "at S = 1, K = "));
}

TEST_CASE("counts of bytes and operations") {
  const Analysed a = legal(kMatmul);
  Symbols symbols(a.kernel);
  const auto is = [&](const Size &size, const Size &expected) {
    return (symbols.polynomial(size) - symbols.polynomial(expected)).is_zero();
  };
  const auto product = [](std::vector<Size> factors) {
    Size out = Size::integer(1);
    for (const Size &factor : factors)
      out = Size::make(Size::Op::multiply, {out, factor});
    return out;
  };
  const Size m = Size::axis("M"), n = Size::axis("N"), k = Size::axis("K"), four = Size::integer(4);
  CHECK(is(a.facts.counts.operations.at(Op::mul), product({m, n, k})));
  CHECK(is(a.facts.counts.bytes_written, product({m, n, four})));
  CHECK(is(a.facts.counts.bytes_read, Size::make(Size::Op::add, {product({m, k, four}), product({k, n, four})})));
  CHECK(is(a.facts.counts.step_bytes_written, Size::integer(8 * 16 * 4)));
}

TEST_CASE("arrays of several sizes along an axis count what their windows touch") {
  const auto bytes = [](const std::string &arrays) {
    const Analysed a =
        legal("kernel = \"k\"\ntables.t = { type = \"i32[T]\", range = \"M / 4\", unique = true, where = \"host\" }\n" +
              arrays + "grid.s = { size = \"T\" }\nbody = 'y = x;'\n");
    return to_string(a.facts.counts.bytes_read) + " read, " + to_string(a.facts.counts.bytes_written) + " written";
  };
  const std::string picked = "{ type = \"f32[R=M, N]\", block = [4, \"whole\"], index = [\"t[s]\", 0]";
  const std::string each = "{ type = \"f32[R=4 * T, N]\", block = [4, \"whole\"], index = [\"s\", 0]";
  CHECK(bytes("inputs.x = " + picked + " }\noutputs.y = " + each + " }\n") ==
        "4 * N * min(M, 4 * T) read, 16 * N * T written");
  CHECK(bytes("inputs.x = " + each + " }\noutputs.y = " + picked + ", partial = true }\n") ==
        "16 * N * T read, 4 * N * min(M, 4 * T) written");
}
