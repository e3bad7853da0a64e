// What the analysis shows as an example has been executed; right specs that it once refused with a false one are taken.
#include <doctest/doctest.h>

#include "analysis_harness.h"

using namespace kgen;
using kgen::test::analyse;
using kgen::test::Analysed;
using kgen::test::has;
using kgen::test::legal;
using kgen::test::refused;

namespace {

std::string row_sums(const std::string &body) {
  return R"toml(kernel = "sums"
tables.row = { type = "i32[S]", sorted = true, range = "G" }
scalars.a = "i32"
inputs.x = { type = "f32[S, D]", block = ["squeeze", "whole"], index = ["s", 0] }
outputs.y = { type = "f32[G, D]", block = ["squeeze", "whole"], index = ["row[s]", 0], partial = true }
scratch.acc = "f32[D]"
grid.s = { size = "S", semantics = "arbitrary" }
body = '''
)toml" + body +
         "\n'''\n";
}

} // namespace

TEST_CASE("locals that name a step are seen through") {
  legal(row_sums("bool begins = first(s);\nif (begins) acc = 0;\nacc += x;\nif (last(s)) y = acc; else y = 0;"));
  legal(row_sums("bool begins = first(s);\nbool ends = last(s);\nbool edge = begins || ends;\nif (edge) acc = 0;\n"
                 "acc += x;\ny = acc;"));
  legal(row_sums("int at_ = s == 0 ? 1 : 0;\nif (at_ == 1) acc = 0;\nacc += x;\ny = acc;"));
}

TEST_CASE("the entry that picks a window tells where it begins and ends") {
  const std::string work = "if (begins) y = 0;\ny += x;";
  legal(row_sums("bool begins = first(s) || row[s] != row[s - 1];\n" + work));
  legal(
      row_sums("bool begins = !(s > 0 && row[s - 1] == row[s]);\nbegins = first(s) || row[s - 1] != row[s];\n" + work));
  // The entry behind is another question.
  const std::string help =
      refused(row_sums("bool begins = first(s) || row[s] != row[s + 1];\n" + work), "undefined_read");
  CHECK(has(help, "row[1] = "));
  CHECK(!refused(row_sums("bool begins = first(s) && row[s] != row[s - 1];\n" + work), "undefined_read").empty());
}

TEST_CASE("windows that begin at the same places begin in the same steps") {
  const auto totals = [](const std::string &conditions, const std::string &place) {
    return R"toml(kernel = "k"
tables.row = { type = "i32[S]", sorted = true, range = "G" }
inputs.x = { type = "f32[S, D]", block = ["squeeze", "whole"], index = ["s", 0] }
outputs.y = { type = "f32[G, D]", block = ["squeeze", "whole"], index = ["row[s]", 0], partial = true }
outputs.n = { type = "i32[G]", block = ["squeeze"], index = [")toml" +
           place + R"toml("], partial = true, overwrite = true }
grid.s = { size = "S", semantics = "arbitrary" }
body = '''
)toml" + conditions +
           "if (begins) {\n  y = 0;\n  n = 0;\n}\ny += x;\nn += 1;\nif (ends) y = y / n;\n'''\n";
  };
  const std::string by_entries =
      "bool begins = first(s) || row[s] != row[s - 1];\nbool ends = last(s) || row[s] != row[s + 1];\n";
  const std::string by_windows = "bool begins = first(y);\nbool ends = last(n);\n";
  legal(totals(by_entries, "row[s]"));
  legal(totals(by_windows, "row[s]"));
  CHECK(!refused(totals(by_windows, "min(s, G - 1)"), "undefined_read").empty());
}

TEST_CASE("a condition that is asked twice comes out the same") {
  const auto spec = [](const std::string &second) {
    return "kernel = \"k\"\nscalars.a = \"i32\"\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\nbody = '''\n"
           "bool few = a < 3;\nif (few) y = x;\nif (" +
           second + ") y = 1;\n'''\n";
  };
  legal(spec("!few"));
  legal(spec("a >= 3"));
  legal(spec("!(3 > a)"));
  CHECK(has(refused(spec("a > 3"), "not_written"), "at N = 1 and with 3 in all inputs and scalars: y[0] is never"));
  CHECK(has(refused(spec("few"), "not_written"), "y[0] is never written"));
}

TEST_CASE("conditions that differ in a small number or in a type are two conditions") {
  const auto spec = [](const std::string &first, const std::string &second) {
    return "kernel = \"k\"\nscalars.a = \"f32\"\ninputs.x = \"f16[N]\"\ninputs.w = \"bf16[N]\"\noutputs.y = "
           "\"f32[N]\"\n"
           "body = '''\nif (" +
           first + ") y = x;\nif (!(" + second + ")) y = w;\n'''\n";
  };
  legal(spec("a > 2e-9", "a > 2e-9"));
  CHECK(!refused(spec("a > 2e-9", "a > 1e-9"), "not_written").empty());
  legal(spec("round_like(a, x) > 1", "round_like(a, x) > 1"));
  CHECK(!refused(spec("round_like(a, x) > 1", "round_like(a, w) > 1"), "not_written").empty());
}

TEST_CASE("a conversion that changes values makes another condition") {
  const auto spec = [](const std::string &second) {
    return "kernel = \"k\"\nscalars.a = \"u32\"\nscalars.b = \"u32\"\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n"
           "body = '''\nif (a < b) y = x;\nif (!(" +
           second + ")) y = 0;\n'''\n";
  };
  legal(spec("a < b"));
  legal(spec("int64_t(a) < int64_t(b)"));
  CHECK(!refused(spec("int32_t(a) < int32_t(b)"), "not_written").empty());
}

TEST_CASE("declared ranges of tables hold in examples and proofs") {
  const auto spec = [](const std::string &range) {
    return "kernel = \"pick_block\"\ntables.t = { type = \"i32[S]\", range = \"" + range +
           "\" }\ninputs.x = { type = \"f32[M]\", block = [4], index = [\"t[s]\"] }\n"
           "outputs.y = { type = \"f32[S, M=4]\", block = [\"squeeze\", 4], index = [\"s\", 0] }\n"
           "grid.s = { size = \"S\" }\nbody = 'y = x;'\n";
  };
  legal(spec("M / 4"));
  CHECK(has(refused(spec("cdiv(M, 4)"), "not_written"), "at S = 1, M = 1, t[0] = 0"));
}

TEST_CASE("an element that is told to be in no window is in none, though another one is unwritten before it") {
  CHECK(has(refused("kernel = \"k\"\ninputs.x = \"f32[N]\"\n"
                    "outputs.y = { type = \"f32[N]\", block = [2], index = [\"i / 2\"] }\n"
                    "grid.i = { size = \"(N + 3) / 2\" }\nbody = 'if (first(i)) y = 1;'\n",
                    "not_covered not_written"),
            "at N = 5, element y[4] is in no window"));
}

TEST_CASE("windows that begin outside and cover") {
  const auto spec = [](const std::string &offset, const std::string &steps) {
    return "kernel = \"k\"\noutputs.y = { type = \"f32[N]\", block = [2], offset = [\"" + offset +
           "\"] }\ngrid.i = { size = \"" + steps + "\" }\nbody = 'y = 1;'\n";
  };
  CHECK(legal(spec("2 * i - 1", "N / 2 + 1")).operand("y").windows_cover.verdict == Verdict::proved);
  CHECK(has(refused(spec("3 * i - 1", "N / 3 + 1"), "not_covered"), "is in no window"));
}

TEST_CASE("what only some runs show is told with its data") {
  const std::string text = R"toml(kernel = "k"
inputs.x = "f32[N]"
inputs.to = "i32[N]"
outputs.z = { type = "f32[M]", partial = true }
body = 'at(z, M = to) = x;'
)toml";
  CHECK(has(refused(text, "scatter_collides"), "z[0] is stored to twice"));
}

TEST_CASE("no example is shown where none was found") {
  // Each place is stored to once, but by a rule that no proof knows.
  const std::string text = R"toml(kernel = "k"
inputs.x = "f32[N]"
outputs.z = { type = "f32[N]", partial = true }
body = '''
int64_t i = index(N);
at(z, N = i ^ 1) = x;
'''
)toml";
  const std::string help = refused(text, "scatter_collides");
  CHECK(has(help, "elements whose coordinates are equal meet"));
  CHECK(help.find("twice") == std::string::npos);
}

TEST_CASE("an example that takes many operations is shown, too") {
  const std::string help = refused(R"toml(kernel = "late"
axes.D = 64
inputs.q = "f32[S, D]"
inputs.k = "f32[R, D]"
outputs.o = "f32[S, D]"
scratch.acc = "f32[S, D]"
grid.i = { axis = "S", block = 64 }
grid.j = { axis = "R", block = 64, semantics = "arbitrary" }
grid.more = { axis = "D", block = 5 }
body = '''
if (first(j)) acc = 0;
real s = dot(q, k, D);
acc += dot(s, k, R);
if (last(j)) o = acc;
'''
)toml",
                                   "late_revisit");
  CHECK(has(help, "and (i = 0, j = 1, more = 0)"));
}

TEST_CASE("arrays of other sizes share an axis by blocks") {
  const auto spec = [](const std::string &x, const std::string &y, const std::string &body) {
    return "kernel = \"k\"\ntables.t = { type = \"i32[T]\", range = \"M / 4\" }\ninputs.x = { type = \"f32[R=M]\", " +
           x + ", index = [\"t[s]\"] }\noutputs.y = { type = \"f32[R=4 * T]\", " + y +
           ", index = [\"s\"] }\ngrid.s = { size = \"T\" }\nbody = '" + body + "'\n";
  };
  legal(spec("block = [4]", "block = [4]", "y = x;"));
  legal(spec("block = [4]", "block = [4]", "y = x + index(x, R) + size(y, R);"));
  CHECK(analyse(spec("block = [4]", "block = [8]", "y = x;")).names() == "blocks_differ");
  CHECK(has(refused(spec("block = [4]", "block = [4]", "y = x + size(R);"), "axis_many_sizes"), "size(x, R)"));
  CHECK(has(refused(spec("block = [4]", "block = [4]", "y = x + index(R);"), "index_not_uniform"), "index(x, R)"));
}

TEST_CASE("rows of a ragged axis take steps of their own") {
  const Analysed a = legal(R"toml(kernel = "rag"
axes.S = { ragged = "start", over = "R" }
tables.start = "i32[R + 1]"
tables.col = { type = "i32[S]", range = "K" }
inputs.a = "f32[R, S]"
inputs.x = { type = "f32[K, N]", block = ["squeeze", "whole"], index = ["col[start[r] + s]", 0] }
outputs.z = "f32[R, N]"
grid.r = { axis = "R", block = 1 }
grid.s = { axis = "S", block = 1 }
body = '''
if (first(s)) z = 0;
z += sum(a, S) * x;
'''
)toml");
  CHECK(to_string(a.kernel.grid[1].size) == "max(1, start[r + 1] - start[r])");
  CHECK(a.checks(Check::Kind::table_index).empty()); // proved
}

TEST_CASE("what is declared of tables and axes enters proofs") {
  const auto permuted = [](const std::string &facts) {
    return "kernel = \"permuted\"\ntables.row = { type = \"i32[cdiv(M, 64)]\", range = \"cdiv(M, 64)\"" + facts +
           " }\noutputs.z = { type = \"f32[M]\", block = [64], index = [\"row[s]\"] }\n"
           "grid.s = { size = \"cdiv(M, 64)\" }\nbody = 'z = 1;'\n";
  };
  const Analysed a = legal(permuted(", unique = true"));
  CHECK(a.operand("z").windows_cover.verdict == Verdict::proved);
  CHECK(!analyse(permuted(", sorted = true")).errors.empty());
  const auto blocks = [](const std::string &more) {
    return legal("kernel = \"blocks\"\naxes.M = { multiple_of = " + more +
                 " }\noutputs.z = { type = \"f32[M]\", block = [8], index = [\"i\"] }\n"
                 "grid.i = { size = \"M / 8\" }\nbody = 'z = 1;'\n")
        .operand("z")
        .windows_cover.verdict;
  };
  CHECK(blocks("16") == Verdict::proved);
  CHECK(blocks("4") == Verdict::checked);
}

TEST_CASE("two arrays that are one: an element is named where a run reads what was written") {
  const auto in_place = [](const std::string &body, const std::string &semantics = "arbitrary") {
    return "kernel = \"k\"\ninputs.x = \"f32[M]\"\ninputs.c = \"bool[M]\"\noutputs.z = { type = \"f32[M]\", alias = "
           "\"x\" }\ngrid.i = { axis = \"M\", block = 4, semantics = \"" +
           semantics + "\" }\nbody = '''\n" + body + "\n'''\n";
  };
  CHECK(has(refused(in_place("z = at(x, M = M - 1);"), "alias_window"),
            "at M = 5, steps (i = 1) and (i = 0), element x[3]"));
  CHECK(has(refused(in_place("z = at(x, M = M + 1);", "parallel"), "alias_window"), "element x["));
  CHECK(has(refused(in_place("z = 1; z = x;"), "alias_stale"), "x[0] is read after it was written"));
  // Refused, but no step of these reads what was written.
  for (const char *const body : {"z = at(x, M = M + 1);", "z = index(M) % 4 != 0 ? at(x, M = M - 1) : x;"}) {
    const std::string help = refused(in_place(body), "alias_window");
    CHECK(has(help, "give both the same window"));
    CHECK(!has(help, "x["));
  }
  const std::string help = refused(in_place("if (c) z = 1;\nif (!c) z = x;"), "alias_stale");
  CHECK(has(help, "keep the old value first"));
  CHECK(!has(help, "is read after"));
}
