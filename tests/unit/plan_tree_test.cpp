// What the planner makes of bodies: fusion into loops, phases, placements, and that spellings of one kernel meet in one
// plan.
#include "plan_harness.h"

#include <doctest/doctest.h>

#include "plan/tree/tree.h"

using namespace kgen;

namespace {

Plan plan_of(const std::string &text, TargetKind target = TargetKind::openmp) { return test::plan_of(text, target); }

// The loops and statements of all phases as one line each, without the numbers of variables and how lanes go.
std::string shape(const Plan &plan) {
  std::string out;
  const std::string text = print(plan);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.find("memory is asked for") != std::string::npos)
      continue;
    for (const char *of_lanes : {", on lanes", ", around the caches"})
      line = line.substr(0, line.find(of_lanes));
    std::string clean;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] != '#') {
        clean += line[i];
        continue;
      }
      while (i + 1 < line.size() && std::isdigit(static_cast<unsigned char>(line[i + 1])))
        ++i;
    }
    out += clean + "\n";
  }
  return out;
}

const std::string kMatmul = R"(kernel = "matmul"
inputs.x = "f32[M, K]"
inputs.y = "f32[K, N]"
outputs.z = "f32[M, N]"
)";

} // namespace

TEST_CASE("a chain of pointwise statements is one loop nest over memory order") {
  const Plan plan = plan_of(R"(kernel = "chain"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = '''
real a = x * 2;
real b = a + 1;
y = b * b;
''')");
  REQUIRE(plan.phases.size() == 1);
  CHECK(plan.phases[0].kind == Phase::Kind::parallel);
  CHECK(plan.phases[0].split == 2);
  CHECK(shape(plan).find("  for M: parallel\n    for N: parallel\n      a = round.f32(x * 2.0)") != std::string::npos);
}

TEST_CASE("a sum beside a scan is a loop of its own, so that workers share both; copies side by side are one") {
  const Plan plan = plan_of(R"(kernel = "compact"
inputs.x = "f32[N]"
outputs.place = "i32[N]"
outputs.count = "i32[]"
body = '''
bool keep = x > 0;
int before = cumsum_exclusive(keep, N);
place = keep ? before : -1;
count = sum(keep, N);
'''
)");
  const std::string text = shape(plan);
  CHECK(text.find("for N: in order, a share\n") != std::string::npos);
  CHECK(text.find("chunks of the outermost loop") != std::string::npos);
  size_t copies = 0;
  for (size_t at = text.find(" keep ="); at != std::string::npos; at = text.find(" keep =", at + 1))
    ++copies;
  CHECK(copies == 3); // in the shares' totals, in the scan, and in the sum
}

TEST_CASE("a loss with its elements and counts is one pass over memory") {
  const Plan plan = plan_of(R"(kernel = "loss"
inputs.x = "f32[B, N]"
inputs.y = "f32[B, N]"
outputs.element = "f32[B, N]"
outputs.loss = "f32[]"
body = '''
element = abs(x - y);
loss = sum(element, B, N) / max(sum(y != 0, B, N), 1);
''')");
  int chunked = 0;
  for (const Phase &phase : plan.phases)
    chunked += phase.kind == Phase::Kind::chunked ? 1 : 0;
  CHECK(chunked == 1);
  CHECK(plan.phases.back().kind == Phase::Kind::serial);
}

TEST_CASE("all spellings of a matrix product give one plan") {
  const std::string plain = shape(plan_of(kMatmul + "body = 'z = dot(x, y, K);'\n"));
  const std::string blocked = shape(plan_of(kMatmul + R"(grid.i = { axis = "M", block = 32 }
grid.j = { axis = "N", block = 64 }
body = 'z = dot(x, y, K);'
)"));
  const std::string carried = shape(plan_of(kMatmul + R"(scratch.acc = "f32[M, N]"
grid.i = { axis = "M", block = 32, semantics = "parallel" }
grid.j = { axis = "N", block = 64, semantics = "parallel" }
grid.k = { axis = "K", block = 16, semantics = "arbitrary" }
body = '''
if (first(k)) acc = 0;
acc += dot(x, y, K);
if (last(k)) z = acc;
''')"));
  CHECK(plain == blocked);
  // Written out, the accumulator has its own name; the loops are the same.
  for (const char *loops : {"for M: parallel\n    for N: parallel\n", "for K: reduction\n"}) {
    CHECK(plain.find(loops) != std::string::npos);
    CHECK(carried.find(loops) != std::string::npos);
  }
  CHECK(carried.find("steps") == std::string::npos);
}

TEST_CASE("a prefix over an arbitrary dimension stays in order, its columns run side by side") {
  const Plan plan = plan_of(R"(kernel = "prefix"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
scratch.carry = "f32[N]"
grid.j = { axis = "N", block = 128, semantics = "parallel" }
grid.i = { axis = "M", block = 64, semantics = "arbitrary" }
body = '''
if (first(i)) carry = 0;
y = carry + cumsum(x, M);
carry += sum(x, M);
''')");
  REQUIRE(plan.phases.size() == 1);
  CHECK(plan.phases[0].kind == Phase::Kind::parallel);
  const std::string text = shape(plan);
  CHECK(text.find("for N: parallel, in parts of 2048\n    steps i: in order\n") != std::string::npos);
  CHECK(text.find("for M: in order\n        for N: parallel\n") != std::string::npos);
}

TEST_CASE("what comes of a scan from the end alone is stored by its own loop") {
  const Plan plan = plan_of(R"(kernel = "both_ways"
inputs.x = "f32[M, N]"
outputs.up = "f32[M, N]"
outputs.down = "f32[M, N]"
outputs.both = "f32[M, N]"
body = '''
up = cumsum(x, N);
real rest = cumsum_reverse(x, N);
down = rest * 2;
both = up + cummax_reverse(x, N);
''')");
  const std::string text = shape(plan);
  const size_t down = text.find("for N: in order, downwards, a share\n"), up = text.find("for N: in order, a share\n"),
               doubled = text.find("down = rest * 2.0\n"),
               both = text.find("both = up_here + running_greatest_x_from_end\n");
  REQUIRE(both != std::string::npos);
  CHECK(down < doubled);
  CHECK(doubled < up);
  CHECK(up < both);
  CHECK(text.find("buffer of each worker N\n") == text.rfind("buffer of each worker N\n")); // of what `both` needs
}

TEST_CASE("an output that is read where it was written is read from a variable; at other points, or written twice, "
          "from memory") {
  const auto text_of = [](const std::string &body) {
    return print(plan_of("kernel = \"forward\"\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\noutputs.z = \"f32[N]\"\n"
                         "body = '''\n" +
                         body + "\n'''"));
  };
  const auto forwards = [&](const std::string &body) { return text_of(body).find("y_here") != std::string::npos; };
  CHECK(forwards("y = 2 * x; z = y + 1;"));
  CHECK(!forwards("y = 2 * x; z = at(y, N = size(N) - 1 - index(N));"));
  CHECK(!forwards("y = 2 * x; y = y * y; z = y;"));
  CHECK(!forwards("y = 2 * x; z = x;"));
}

TEST_CASE("the loop of folds of the first so many of a row ends there, unless other folds go on or the end moves") {
  const auto ends = [&](const std::string &body) {
    return print(
               plan_of(
                   "kernel = \"ends\"\ninputs.x = \"f32[B, N]\"\ninputs.length = \"i32[B]\"\ninputs.wide = \"i64[B]\"\n"
                   "outputs.y = \"f32[B]\"\nbody = '''\n" +
                   body + "\n'''"))
               .find(", up to i64(length_") != std::string::npos;
  };
  CHECK(ends("y = sum(x, N, where(index(N) < length));"));
  CHECK(ends("y = sum(x, N, where(length > index(N))) + max(x, N, where(index(N) < length));"));
  CHECK(!ends("y = sum(index(N) < length ? x : 1, N);"));
  CHECK(!ends("y = sum(x, N, where(index(N) < length)) + max(x, N);"));
  CHECK(ends("y = sum(x, N, where(index(N) <= length));"));
  CHECK(ends("real v = exp(x - max(x, N, where(index(N) < length))); y = sum(v, N, where(index(N) < length));"));
  CHECK(!ends("y = sum(x, N, where(index(N) <= wide));"));
  CHECK(!ends("y = sum(x, N, where(index(N) < x));"));
}

TEST_CASE("the loop of folds where a sorted table has one entry goes over that segment, unless other folds go on") {
  const auto segments = [&](const std::string &body, const std::string &facts = "sorted = true, ") {
    return print(plan_of("kernel = \"segments\"\ntables.row = { type = \"i32[S]\", " + facts +
                         "range = \"R\" }\ninputs.x = \"f32[S]\"\noutputs.y = \"f32[R]\"\nbody = '" + body + "'"))
               .find(", where row is ") != std::string::npos;
  };
  CHECK(segments("y = sum(x, S, where(row[index(S)] == index(R)));"));
  CHECK(segments("y = sum(x, S, where(x > 0 && index(R) == row[index(S)]));"));
  CHECK(segments("y = max(x, S, where(row[index(S)] == index(R)));"));
  CHECK(!segments("y = sum(x, S, where(row[index(S)] == index(R)));", ""));
  CHECK(!segments("y = sum(x, S, where(row[index(S)] == index(R))) + max(x * index(R), S);"));
  CHECK(!segments("y = sum(x, S, where(row[index(S) + 1] == index(R)));"));
  CHECK(!segments("y = sum(x, S, where(row[index(S)] == index(R) + index(S) % 2));"));
}

TEST_CASE("a local that a fold finds has the fold's total, unless it is changed later or is of another type") {
  const auto copies = [](const std::string &body) {
    return shape(plan_of(
                     "kernel = \"found\"\ninputs.x = \"f32[M, N]\"\ninputs.n = \"i32[M, N]\"\noutputs.y = \"f32[M]\"\n"
                     "body = '''\n" +
                     body + "\n'''"))
               .find("greatest_") != std::string::npos;
  };
  CHECK(!copies("real m = max(x, N); y = m * m;"));
  CHECK(copies("real m = max(x, N); if (m > 2) m = 2; y = m * m;"));
  CHECK(copies("real m = 0; if (index(M) > 2) m = max(x, N); y = m * m;"));
  CHECK(copies("int64_t m = max(n, N); y = m * m;"));
}

TEST_CASE("what another phase needs is in a variable as well, where it was computed") {
  const std::string text = shape(plan_of(R"(kernel = "kept"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
outputs.z = "f32[N]"
body = '''
auto s = sum(x * x, N);
auto r = rsqrt(s);
y = x * r;
z = sum(x * r * s, M);
'''
)"));
  CHECK(text.find("  for M: parallel\n    s_here = identity of sum\n    for N: reduction\n"
                  "      x_here = x\n      s_here = sum with x_here * x_here\n") != std::string::npos);
  CHECK(text.find("    s = s_here\n") != std::string::npos);
  CHECK(text.find("y = x * r_here") != std::string::npos);
}

TEST_CASE("a fold with no array of its larger reader goes its own way: it does not turn the reader's nest") {
  const auto of = [](const std::string &body) {
    return shape(plan_of("kernel = \"nests\"\ninputs.x = \"f32[M, N]\"\ninputs.w = \"f32[K, N]\"\n"
                         "outputs.y = \"f32[M, N]\"\nbody = '" +
                         body + "'\n"));
  };
  const std::string apart = "  for M: parallel\n    for N: parallel\n      y = x";
  CHECK(of("real s = sum(w, K); y = x * s;").find(apart) != std::string::npos);
  CHECK(of("real s = sum(w, K); real r = rsqrt(s); y = x * r;").find(apart) != std::string::npos);
  CHECK(of("real s = sum(x, M); real r = exp(s); y = x * r;").find(apart) == std::string::npos);
}

TEST_CASE("an array is filled as it lies, beside one of other axes, unless both read another as large") {
  const auto of = [](const std::string &z, const std::string &body) {
    return shape(plan_of("kernel = \"nests\"\ninputs.x = \"f32[M, N]\"\ninputs.b = \"f32[N]\"\n"
                         "outputs.y = \"f32[M, N]\"\noutputs.z = \"f32[" +
                         z + "]\"\nbody = '" + body + "'\n"));
  };
  const std::string as_it_lies = "  for M: parallel\n    for N: parallel\n      y = ";
  CHECK(of("N", "y = x * b; z = 2 * b;").find(as_it_lies) != std::string::npos);
  CHECK(of("N", "z = 2 * b; y = x * b;").find(as_it_lies) != std::string::npos);
  CHECK(of("N", "z = 2 * b; y = x * z;").find(as_it_lies) != std::string::npos);
  CHECK(of("N", "z = at(x, M = 0); y = x;").find(as_it_lies) != std::string::npos);
  CHECK(of("N", "z = 2 * b; y = 1; if (index(N) == 0) { y = x; }").find(as_it_lies) != std::string::npos);
  CHECK(of("N, M", "z = b; y = x;").find(as_it_lies + "x\n") != std::string::npos);
  CHECK(of("N, M", "z = x; y = x;").find(as_it_lies + "x\n") == std::string::npos);
}

TEST_CASE("what a loop keeps for another one it has in a variable itself") {
  const std::string text = shape(plan_of("kernel = \"kept\"\ninputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n"
                                         "body = 'real e = exp(x); y = e / sum(e, N);'\n"));
  CHECK(text.find("e_here = exp(x)\n      e = e_here\n      sum_e = sum with e_here\n") != std::string::npos);
}

TEST_CASE("locals that only a later loop reads stand there, with those that they are made of") {
  const auto of = [](const std::string &count) {
    return shape(plan_of("kernel = \"late\"\ninputs.x = \"f32[N]\"\ninputs.w = \"f32[N]\"\noutputs.y = \"f32[N]\"\n"
                         "body = 'real a = exp(x); real b = exp(a); real c = a * b; y = c * b / sum(" +
                         count + ", N);'\n"));
  };
  CHECK(of("w").find("buffer") == std::string::npos);
  CHECK(of("w").find("  for N: parallel\n    a = exp(x)\n    b = exp(a)\n") != std::string::npos);
  CHECK(of("b").find("b: buffer of the kernel") != std::string::npos);
}

TEST_CASE("what all lanes of a loop share is read before it, but not what may be absent") {
  const auto reads_before = [](const std::string &input, const std::string &value) {
    return shape(plan_of("kernel = \"shared\"\ninputs.x = \"f32[M, N]\"\ninputs.b = " + input +
                         "\noutputs.y = \"f32[M]\"\nbody = 'y = max(x * " + value + ", N);'\n"))
               .find("    b_here = b\n") != std::string::npos;
  };
  CHECK(reads_before("\"f32[M]\"", "b"));
  CHECK(!reads_before("\"f32[M, N]\"", "b"));
  CHECK(!reads_before("{ type = \"f32[M]\", optional = true }", "(present(b) ? b : 1)"));
  CHECK(!reads_before("\"f32[M]\"", "at(b, M = index(N))"));
}

TEST_CASE("numbers with a name stand before all loops, and turn no nest that they would not turn without one") {
  const auto of = [](const std::string &body) {
    return shape(plan_of("kernel = \"numbers\"\ninputs.x = \"f32[M, N]\"\nscalars.k = \"f32\"\n"
                         "outputs.y = \"f32[M, N]\"\nbody = '" +
                         body + "'\n"));
  };
  const std::string named = of("real eps = 1e-5; real two = 2 * k; y = two * x / (sum(abs(x), M) + eps);");
  CHECK(named.find("phase 1: one worker\n  eps = 1e-05\n  two = round.f32(2.0 * k)\n") != std::string::npos);
  CHECK(named.find("for N: parallel, in parts of 512\n") != std::string::npos);
  CHECK(of("real eps = 1e-5; if (k > 0) eps = k; y = x + eps;").find("one worker\n  eps") == std::string::npos);
}

TEST_CASE("folds of columns go with the rows that are at hand, but not before what they need, nor instead of it") {
  const auto joins = [](const std::string &body) {
    const std::string text = shape(plan_of("kernel = \"joined\"\ninputs.x = \"f32[M, N]\"\ninputs.dy = \"f32[M, N]\"\n"
                                           "outputs.y = \"f32[M, N]\"\noutputs.s = \"f32[N]\"\nbody = '" +
                                           body + "'\n"));
    const size_t walk = text.find("      for M: reduction, a share\n        greatest_x = identity of max\n");
    return walk != std::string::npos && text.find("_in_block = sum with ", walk) < text.find("phase 2", walk);
  };
  CHECK(joins("y = softmax(x, N); s = sum(dy, M);"));
  CHECK(joins("s = sum(dy, M); y = softmax(x, N);"));
  CHECK(joins("y = softmax(x, N); s = sum(y * dy, M);"));
  CHECK(!joins("s = sum(dy, M); y = softmax(x * s, N);"));
  CHECK(!joins("y = softmax(x, N); s = sum(at(y, M = index(M) - 1) * dy, M);"));
}

TEST_CASE("what starts a fold stands before its steps, not in an earlier loop over the same axis") {
  const std::string text = shape(plan_of(R"(kernel = "two_folds"
inputs.x = "f32[M, N]"
outputs.w = "f32[N]"
outputs.z = "f32[N]"
body = '''
w = sum(x, M);
z = sum(x * rsqrt(sum(x * x, N)), M);
'''
)"));
  CHECK(text.find(
            "      for N: parallel\n        sum_x = identity of sum\n        sum_x_sum_x_squared = identity of sum\n"
            "      for M: reduction, a share, in parts of 512\n") != std::string::npos);
}

TEST_CASE("a read at other points waits until the value is whole") {
  const Plan plan = plan_of(R"(kernel = "smooth"
inputs.x = "f32[N]"
outputs.y = "f32[N]"
body = '''
real v = exp(x);
y = v + at(v, N = index(N) - 1);
''')");
  CHECK(plan.phases.size() == 2);
}

TEST_CASE("on CUDA neighbouring threads take neighbouring elements, or a block shares a row") {
  const std::string map = R"(kernel = "map"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = 'y = x + 1;'
)";
  CHECK(plan_of(map, TargetKind::cuda).phases[0].mapping == Phase::Mapping::item_per_thread);
  const std::string rows = R"(kernel = "rows"
inputs.x = "f32[M, N]"
outputs.s = "f32[M]"
body = 's = sum(x, N);'
)";
  CHECK(plan_of(rows, TargetKind::cuda).phases[0].mapping == Phase::Mapping::item_per_block);
  const std::string columns = R"(kernel = "columns"
inputs.x = "f32[M, N]"
outputs.s = "f32[N]"
body = 's = sum(x, M);'
)";
  const std::string steps = R"(kernel = "steps"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
scratch.carry = "f32[N]"
grid.i = { axis = "M", block = 64, semantics = "arbitrary" }
body = '''
if (first(i)) carry = 0;
y = carry + cumsum(x, M);
carry += sum(x, M);
'''
)";
  CHECK(plan_of(steps, TargetKind::cuda).phases[0].mapping == Phase::Mapping::item_per_thread);
  CHECK(plan_of(columns, TargetKind::cuda).phases[0].mapping == Phase::Mapping::item_per_thread);
}

TEST_CASE("memory order puts the contiguous axis of the outputs innermost") {
  const test::Analysed a = test::analyse(R"(kernel = "turn"
inputs.x = "f32[M, N]"
outputs.y = "f32[N, M]"
body = 'y = x;'
)");
  REQUIRE(a.built);
  const std::vector<AxisId> order = memory_order(a.kernel);
  CHECK(a.kernel.axes[order.back()].name == "M");
}

TEST_CASE("variables of one name are numbered in the text of a plan, others are not") {
  const std::string text = print(plan_of(R"(kernel = "k"
inputs.x = "f32[M, N]"
inputs.y = "f32[M, N]"
outputs.o = "f32[M]"
body = 'o = sum(x, N) / sum(y, N);')"));
  CHECK(text.find(" o = sum_x#") != std::string::npos);
  CHECK(text.find("sum_x /") == std::string::npos);
  CHECK(text.find("sum_x_part = ") != std::string::npos);
  CHECK(print(plan_of(kMatmul + "body = 'z = dot(x, y, K);'")).find('#') == std::string::npos);
}

TEST_CASE("the lengths of all ragged rows together are their total, so that nothing waits for a pass over the rows") {
  const Plan plan = plan_of(R"(kernel = "shares"
axes.N = { ragged = "start", over = "B" }
tables.start = "i64[B + 1]"
inputs.x = "f32[B, N]"
outputs.y = "f32[B, N]"
body = '''
real square = exp(x * x);
y = square / sum(size(N), B) + square;
''')");
  REQUIRE(plan.phases.size() == 1);
  CHECK(plan.phases[0].kind == Phase::Kind::parallel);
  CHECK(shape(plan).find("reduction") == std::string::npos);
}
