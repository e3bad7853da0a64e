// A legal kernel verifies; each way of breaking it is found.
#include "ir_build_test.h"

using namespace kgen;
using namespace kgen::test;

namespace {

Kernel legal() {
  Built built = build(R"T(
kernel = "k"
inputs.x = "bf16[M, N]"
outputs.z = "f32[M, N]"
body = '''
real e = exp(x - max(x, N));
int n = 0;
while (n < 3) { if (e > 1) break; n = n + 1; }
z = e / sum(e, N) + n;
'''
)T");
  REQUIRE_MESSAGE(built.kernel.has_value(), built.messages);
  return *built.kernel;
}

Expr &find(Kernel &kernel, Op op) {
  for (Expr &e : kernel.exprs)
    if (e.op == op)
      return e;
  REQUIRE(false);
  return kernel.exprs[0];
}

// verify after a change.
template <class Change> std::string broken(const Change &change) {
  Kernel kernel = legal();
  change(kernel);
  return verify(kernel);
}

} // namespace

TEST_CASE("a kernel as built is legal") { CHECK(verify(legal()) == ""); }

TEST_CASE("what verify finds") {
  CHECK_CONTAINS(broken([](Kernel &k) { find(k, Op::exp).type = Type::f16; }), "half type");
  CHECK_CONTAINS(broken([](Kernel &k) { find(k, Op::exp).args[0] = static_cast<ExprId>(k.exprs.size()); }),
                 "stand before");
  CHECK_CONTAINS(broken([](Kernel &k) { find(k, Op::exp).args.clear(); }), "number of arguments");
  CHECK_CONTAINS(broken([](Kernel &k) { find(k, Op::exp).axes = AxisSet(); }), "axes that do not follow");
  CHECK_CONTAINS(broken([](Kernel &k) { find(k, Op::exp).type = Type::f64; }), "another type than its arguments");
  CHECK_CONTAINS(broken([](Kernel &k) { find(k, Op::lt).type = Type::i32; }), "not bool");
  CHECK_CONTAINS(broken([](Kernel &k) { find(k, Op::fold).accumulator = Type::i32; }), "accumulator");
  CHECK_CONTAINS(broken([](Kernel &k) { find(k, Op::fold).reduced = AxisSet(); }), "axes that are not there");
  CHECK_CONTAINS(broken([](Kernel &k) { find(k, Op::read).ref = 99; }), "out of range");
  CHECK_CONTAINS(broken([](Kernel &k) { k.vars[0].axes = AxisSet(); }), "not those of its dimensions");
  CHECK_CONTAINS(broken([](Kernel &k) { k.vars.back().type = Type::bf16; }), "local of a half type");
  CHECK_CONTAINS(broken([](Kernel &k) { k.statements[0].target = 0; }), "assignment to an input");
  CHECK_CONTAINS(broken([](Kernel &k) { k.statements.emplace_back().kind = Stmt::Kind::leave; }), "outside a loop");
  CHECK_CONTAINS(broken([](Kernel &k) { k.statements[2].body[1].context = AxisSet(); }), "context");
  CHECK_CONTAINS(broken([](Kernel &k) { k.size_arguments.push_back(64); }), "size argument");
}
