// Where variables lie: in a register, in memory of a worker or of all, or nowhere, as they are computed again.
#include "plan_harness.h"

#include <doctest/doctest.h>

#include <set>

#include "plan/index/access.h"

using namespace kgen;

namespace {

Plan plan_of(const std::string &text, TargetKind target = TargetKind::openmp) { return test::plan_of(text, target); }

} // namespace

TEST_CASE("softmax shares the loop over rows and keeps its exponentials in a buffer of the worker") {
  const Plan plan = plan_of(R"(kernel = "softmax"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = '''
real e = exp(x - max(x, N));
y = e / sum(e, N);
''')");
  REQUIRE(plan.phases.size() == 4);
  CHECK(plan.phases[0].split == 1);
  int buffers = 0;
  for (const Storage &s : plan.storage)
    buffers += s.kind == Storage::Kind::worker ? 1 : 0;
  CHECK(buffers == 1);
  // Longer rows are shared: the totals of shares, those of rows, and the last loop over shares.
  for (size_t i = 0; i < 4; ++i)
    CHECK(plan.phases[i].unless == (i > 0));
  CHECK(plan.phases[1].split == 2);
  CHECK(plan.phases[2].kind == Phase::Kind::serial);
  CHECK(plan.phases[3].split == 2);
}

TEST_CASE("what is cheap is computed again instead of being stored") {
  const Plan plan = plan_of(R"(kernel = "centre"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
body = '''
real d = x - mean(x, N);
y = d * rsqrt(mean(d * d, N) + 1e-5);
''')");
  for (const Storage &s : plan.storage)
    CHECK(s.kind != Storage::Kind::worker);
}

TEST_CASE("of a recurrence that is written out, what is computed again on a GPU has a bound") {
  const auto of_step = [](std::string text, int i) {
    for (const auto &[sign, number] : {std::pair('#', i), std::pair('@', i + 1)})
      for (size_t at = 0; (at = text.find(sign, at)) != std::string::npos;)
        text.replace(at, 1, std::to_string(number));
    return text;
  };
  constexpr int kSteps = 8; // with each the copies were some 1.5 times as many
  std::string body = "real a0 = x;\n";
  for (int i = 0; i < kSteps; ++i)
    body += of_step("real b# = at(a#, N = N - 1);\nreal m# = max(a#, b#);\nreal e# = exp(a# - m#);\n"
                    "real f# = exp(b# - m#);\nreal s# = e# + f#;\nreal a@ = m# + log(s#);\n",
                    i);
  body += of_step("real d# = x;\n", kSteps);
  for (int i = kSteps; i-- > 0;)
    body += of_step("real u# = d@ * f# / s# * (b# > a# ? 2 : 1);\nreal d# = d@ * e# / s# + at(u#, N = N + 1);\n", i);
  const Plan plan =
      plan_of("kernel = \"k\"\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\nbody = '''\n" + body + "y = d0;\n'''",
              TargetKind::cuda);
  int statements = 0;
  for (const Phase &phase : plan.phases)
    for (const PlanNode &root : phase.nodes)
      for_each_node(root, [&](const PlanNode &) { ++statements; });
  CHECK(statements < 200);
}

TEST_CASE("a copy whose reader was merged with another one is gone") {
  const Plan plan = plan_of(R"(kernel = "merged"
scalars.z = "i32"
outputs.g = "i32[J]"
outputs.x = "i64[J]"
outputs.q = { type = "i64[J]", partial = true }
outputs.y = "i64[]"
body = '''
int v1 = cummax((index(J) - z), J);
int v2 = sum((z + v1), J);
g = v1;
v2 += (~z);
for (int i4 = 0; i4 < 3; ++i4) {
  v2 = v2 - (z * v2);
  x = v2;
}
bool v7 = (v1 >= 1);
int64_t v8 = cumsum_exclusive(int64_t(v7), J);
if (v7) {
  at(q, J = v8) = (v8 + index(J));
}
x = z;
y = v2;
''')");
  std::set<VarId> assigned, read;
  for (const Phase &phase : plan.phases)
    for (const PlanNode &root : phase.nodes) {
      for_each_node(root, [&](const PlanNode &n) {
        if (n.kind == PlanNode::Kind::assign && plan.kernel.vars[n.target].kind == Var::Kind::local)
          assigned.insert(n.target);
      });
      for (const Access &a : accesses_of(plan.kernel, root))
        if (!a.write)
          read.insert(a.var);
    }
  for (VarId var : assigned)
    CHECK(read.count(var) == 1);
}

TEST_CASE("what two later loops need is stored once, not computed and stored for each") {
  const Plan plan = plan_of(R"(kernel = "moments"
inputs.p = "f32[C, N]"
outputs.a = "f32[C]"
outputs.b = "f32[C]"
body = '''
real s = softmax(p, C);
a = sum(s, N);
b = sum(s * s, N);
'''
)");
  int stored = 0;
  for (VarId v = 0; v < static_cast<VarId>(plan.storage.size()); ++v)
    stored += plan.kernel.vars[v].name == "s" && plan.storage[v].kind != Storage::Kind::scalar;
  CHECK(stored == 1);
}

TEST_CASE("a local that is read at other points is computed there where that is quick, and seldom") {
  const auto keeps = [&](const std::string &body) {
    return print(plan_of("kernel = \"elsewhere\"\ninputs.x = \"u8[N]\"\n"
                         "outputs.y = \"f32[N]\"\naxes.I = 3\nbody = '''\n" +
                         body + "\n'''"))
               .find("buffer of the kernel") != std::string::npos;
  };
  CHECK(!keeps("float v = x / 255.0f; y = at(v, N = index(N) + 1) - v;"));
  CHECK(!keeps("float v = x + index(N); y = at(v, N = size(N) - 1 - index(N));"));
  CHECK(keeps("float v = exp(float(x)); y = at(v, N = index(N) + 1) - v;"));
  CHECK(keeps("float v = x / 255.0f; y = sum(at(v, N = index(N) + I), I);"));
  CHECK(keeps("float v = x; v = v * 2; y = at(v, N = index(N) + 1);"));
  CHECK(keeps("float v = 0; if (x > 3) v = x; y = at(v, N = index(N) + 1);"));
}

TEST_CASE("how many elements a window has is counted where it is asked, if positions alone tell") {
  const auto of = [](const std::string &count) {
    return print(plan_of("kernel = \"windows\"\naxes.I = 3\ninputs.x = \"f32[B, H]\"\ninputs.w = \"f32[I]\"\n"
                         "outputs.y = \"f32[B, H]\"\nbody = 'y = sum(at(x, H = index(H) + I), I) / " +
                         count + ";'\n"));
  };
  CHECK(of("sum(inside(x, H = index(H) + I), I)").find("buffer") == std::string::npos);
  CHECK(of("sum(inside(x, H = index(H) + I) ? w : 0, I)").find("buffer of the kernel H") != std::string::npos);
}

TEST_CASE("every variable has its place, also where placing ends before it has settled") {
  const std::string text = R"(kernel = "block"
inputs.x = "f32[B, S, D]"
inputs.w = "f32[D, E]"
inputs.u = "f32[E, D]"
outputs.y = "f32[B, S, D]"
outputs.aux = "f32[E]"
body = '''
real h = dot(x, w, D);
real g = gelu(h);
real p = softmax(g, E);
aux = mean(p, B, S);
y = x + dot(p * g, u, E);
y = layernorm(y, D, 1e-5);
''')";
  for (const TargetKind target : {TargetKind::openmp, TargetKind::cuda}) {
    const Plan plan = plan_of(text, target);
    CHECK(plan.storage.size() == plan.kernel.vars.size());
  }
}
