// How frameworks call kernels: what each spec's function takes, and where types, sizes and shapes come from.
#include <doctest/doctest.h>

#include "emit/bindings/signature.h"
#include "emit/bindings/size_text.h"
#include "emit/bindings/sizes_of_arrays.h"
#include "emit_testing.h"
#include "support/files.h"

namespace kgen {
namespace {

std::string signature(const std::string &spec_text, const std::string &path = "test.toml") {
  Diagnostics diags;
  const auto spec = load_spec(path, spec_text, {}, diags);
  REQUIRE_MESSAGE(spec, diags.render(Diagnostics::Format::human, false));
  const std::vector<Variation> variations = variations_of(*spec);
  const std::vector<Function> functions = functions_of(*spec, variations);
  Statuses statuses;
  const TargetSource openmp = openmp_source(*spec, functions, statuses);
  return "\n" + print(signature_of(*spec, functions, {{"openmp", &openmp}}));
}

std::string shipped(const std::string &name) {
  const std::string path = "specs/" + name + ".toml";
  Diagnostics diags;
  return signature(read_source(path, diags).value_or(""), path);
}

std::string small(const std::string &declarations) { return signature("kernel = 'k'\n" + declarations); }

TEST_CASE("a type comes from the arrays that have it, and `...` gives rows") {
  CHECK(shipped("norm/softmax") == R"(
softmax(x)
choice T: f32, f64, bf16, f16; known
in x: T[...rows, N]
out y: T[...rows, N]
size rows = x[0]
size N = x[1]
c x, y, rows, N
function softmax_f32: x f32, y f32; workspace of openmp
function softmax_f64: x f64, y f64; workspace of openmp
function softmax_bf16: x bf16, y bf16; workspace of openmp
function softmax_f16: x f16, y f16; workspace of openmp
)");
}

TEST_CASE("what arrays do not tell is a keyword, and arrays with one size are compared") {
  CHECK(shipped("matmul/matmul_activation") == R"(
matmul_activation(x, y, bias, *, activation='identity')
choice activation: identity, relu, gelu
choice T: f32, bf16; known
in x: T[M, K]
in y: T[K, N]
in bias: f32[N]
out z: T[M, N]
size M = x[0]
size K = x[1]
size N = y[1]
check y[0] is K, by x
check bias[0] is N, by y
c x, y, bias, z, M, K, N
function matmul_activation_identity_f32: x f32, y f32, bias f32, z f32; workspace of openmp
function matmul_activation_identity_bf16: x bf16, y bf16, bias f32, z bf16; workspace of openmp
function matmul_activation_relu_f32: x f32, y f32, bias f32, z f32; workspace of openmp
function matmul_activation_relu_bf16: x bf16, y bf16, bias f32, z bf16; workspace of openmp
function matmul_activation_gelu_f32: x f32, y f32, bias f32, z f32; workspace of openmp
function matmul_activation_gelu_bf16: x bf16, y bf16, bias f32, z bf16; workspace of openmp
)");
  CHECK(shipped("elementwise/iota") == R"(
iota(*, N)
out z: i32[N]
size N is given
c z, N
function iota: z i32
)");
  CHECK(shipped("sparse/coo_matmul") == R"(
coo_matmul(row, col, a, x, *, M)
in row: i32[S] table
in col: i32[S] table
in a: f32[S, 64, 64]
in x: f32[K, N]
out z: f32[M, N]
size S = row[0]
size M is given
size K = x[0]
size N = x[1]
check col[0] is S, by row
check a[0] is S, by row
check a[1] is 64
check a[2] is 64
c row, col, a, x, z, S, M, K, N
function coo_matmul: row i32, col i32, a f32, x f32, z f32; workspace of openmp; table_status
)");
}

TEST_CASE("an optional array has a default where nothing required follows; derived sizes are expressions") {
  CHECK(shipped("conv/conv2d") == R"(
conv2d(x, w, bias=None)
in x: f32[B, C, H, W]
in w: f32[O, C, 3, 3]
in bias: f32[O] optional
out y: f32[B, O, (H + 2 - 3) / 2 + 1, (W + 2 - 3) / 2 + 1]
size B = x[0]
size C = x[1]
size H = x[2]
size W = x[3]
size O = w[0]
check w[1] is C, by x
check w[2] is 3
check w[3] is 3
check bias[0] is O, by w
c x, w, bias, y, B, C, H, W, O
function conv2d: x f32, w f32, bias f32, y f32; workspace of openmp
)");
  CHECK(small(R"(scalars.a = "f32"
inputs.x = "f32[N]"
inputs.w = { type = "f32[N]", optional = true }
outputs.y = "f32[N]"
body = 'y = a * x + (present(w) ? w : 0);'
)") == R"(
k(x, w, a)
in x: f32[N]
in w: f32[N] optional
out y: f32[N]
size N = x[0]
check w[0] is N, by x
c a, x, w, y, N
function k: x f32, w f32, y f32, a f32
)");
}

TEST_CASE("ragged arrays are packed: the table gives the number of rows") {
  CHECK(shipped("giou/loss_ragged") == R"(
giou_loss_ragged(box_start, pred, target)
choice T: f32, f16, bf16, f64; known
in box_start: i64[B + 1] table
in pred: T[N, 4]
in target: T[N, 4]
out giou: T[N]
out picture_loss: T[B]
out loss: T[]
size B = box_start[0] - 1
size N = pred[0]
check pred[1] is 4
check target[0] is N, by pred
check target[1] is 4
c box_start, pred, target, giou, picture_loss, loss, B, N
function giou_loss_ragged_f32: box_start i64, pred f32, target f32, giou f32, picture_loss f32, loss f32; workspace of openmp; table_status
function giou_loss_ragged_f16: box_start i64, pred f16, target f16, giou f16, picture_loss f16, loss f16; workspace of openmp; table_status
function giou_loss_ragged_bf16: box_start i64, pred bf16, target bf16, giou bf16, picture_loss bf16, loss bf16; workspace of openmp; table_status
function giou_loss_ragged_f64: box_start i64, pred f64, target f64, giou f64, picture_loss f64, loss f64; workspace of openmp; table_status
)");
}

TEST_CASE("an input that is an output's memory is a parameter, and no argument of the C function") {
  CHECK(shipped("memory/sgd_momentum") == R"(
sgd_momentum(old_weight, old_velocity, gradient, rate, momentum)
in old_weight: f32[N] alias weight
in old_velocity: f32[N] alias velocity
in gradient: f32[N]
out weight: f32[N] alias old_weight
out velocity: f32[N] alias old_velocity
size N = old_weight[0]
check old_velocity[0] is N, by old_weight
check gradient[0] is N, by old_weight
c gradient, rate, momentum, weight, velocity, N
function sgd_momentum: old_weight f32, old_velocity f32, gradient f32, weight f32, velocity f32, rate f32, momentum f32
)");
}

TEST_CASE("a type is a keyword where types.only leaves a choice, with no default where the first may not fit") {
  CHECK(shipped("memory/convert") == R"(
convert(x, *, U=None)
choice T: f32, bf16, f16, i8; known
choice U: f32, bf16, f16, i8
in x: T[N]
out y: U[N]
size N = x[0]
c x, y, N
function convert_f32_bf16: x f32, y bf16
function convert_bf16_f32: x bf16, y f32
function convert_f32_f16: x f32, y f16
function convert_f16_f32: x f16, y f32
function convert_f32_i8: x f32, y i8
function convert_i8_f32: x i8, y f32
)");
}

TEST_CASE("one of the sizes that share a dimension is a keyword, the other follows") {
  CHECK(shipped("norm/group_norm") == R"(
group_norm(x, gamma, beta, *, G)
choice T: f32, f64, bf16; known
in x: T[B, G * C, H, W]
in gamma: real[G * C]
in beta: real[G * C]
out y: T[B, G * C, H, W]
size B = x[0]
size G is given
size C = x[1] / G
size H = x[2]
size W = x[3]
check x[1] is G * C
check gamma[0] is G * C, by x
check beta[0] is G * C, by x
c x, gamma, beta, y, B, G, C, H, W
function group_norm_f32: x f32, gamma f32, beta f32, y f32; workspace of openmp
function group_norm_f64: x f64, gamma f64, beta f64, y f64; workspace of openmp
function group_norm_bf16: x bf16, gamma f32, beta f32, y bf16; workspace of openmp
)");
}

TEST_CASE("extents depend on whole numbers that are chosen; a size is found where it is the only unknown") {
  CHECK(small(R"(params.act = ['relu', 'identity']
params.r = [2, 3]
types.T = ['f32', 'f64']
inputs.x = 'f32[N, J=r]'
inputs.w = 'f32[P=2*Q, R=N*r+2]'
outputs.y = 'T[N, Q]'
body = 'y = act(sum(x, J)) + sum(w, P, R);'
)") == R"(
k(x, w, *, act='relu', r='2', T='f32')
choice act: relu, identity
choice r: 2, 3
choice T: f32, f64
in x: f32[N, r == 2 ? 2 : 3]
in w: f32[2 * Q, r == 2 ? N * 2 + 2 : N * 3 + 2]
out y: T[N, Q]
size N = x[0]
size Q = w[0] / 2
check x[1] is r == 2 ? 2 : 3
check w[0] is 2 * Q
check w[1] is r == 2 ? N * 2 + 2 : N * 3 + 2, by x
c x, w, y, N, Q
function k_relu_2_f32: x f32, w f32, y f32; workspace of openmp
function k_relu_2_f64: x f32, w f32, y f64; workspace of openmp
function k_relu_3_f32: x f32, w f32, y f32; workspace of openmp
function k_relu_3_f64: x f32, w f32, y f64; workspace of openmp
function k_identity_2_f32: x f32, w f32, y f32; workspace of openmp
function k_identity_2_f64: x f32, w f32, y f64; workspace of openmp
function k_identity_3_f32: x f32, w f32, y f32; workspace of openmp
function k_identity_3_f64: x f32, w f32, y f64; workspace of openmp
)");
}

TEST_CASE("extents that follow from one of several sizes are a choice by it") {
  const std::string text = small(R"(axes.D = [4, 6]
inputs.x = 'f32[M, H=D / 2]'
inputs.z = 'f32[M, D]'
outputs.y = 'f32[M]'
body = 'y = sum(x, H) + sum(z, D);'
)");
  CHECK(text.find("in x: f32[M, D == 4 ? 2 : 3]") != std::string::npos);
  CHECK(text.find("check x[1] is D == 4 ? 2 : 3") != std::string::npos);
}

TEST_CASE("words of Python get an underscore; sizes of the kernel's choosing and multiples are told") {
  CHECK(small(R"(scalars.lambda = "f16"
axes.N = { ragged = "row_start", over = "B" }
axes.D = [64, 128]
axes.E = { multiple_of = 8 }
tables.row_start = "i64[B + 1]"
inputs.x = { type = "f32[B, N]", layout = "strided" }
inputs.out = { type = "real[(D E), 1]", optional = true }
outputs.y = "f32[B, N]"
outputs.z = { type = "f32[(D E)]", optional = true }
body = 'y = lambda * x; z = present(out) ? out : 0;'
)") == R"(
k(row_start, x, out_, lambda_, *, D, E)
in row_start: i64[B + 1] table
in x: f32[N] strided
in out: real[D * E, 1] optional
out y: f32[N]
out z: f32[D * E] optional
size B = row_start[0] - 1
size N = x[0]
size D is given, one of 64 128
size E is given, a multiple of 8
check out[0] is D * E
check out[1] is 1
c lambda, row_start, x, out, y, z, B, N, D, E, stride 0 of x
function k: row_start i64, x f32, out f32, y f32, z f32, lambda f16; table_status
)");
}

TEST_CASE("a batch stands before `...`, and each dimension has a stride") {
  CHECK(small(R"(batch.W = ["x"]
inputs.x = { type = "f32[..., N]", layout = "strided" }
outputs.y = { type = "f32[..., N]", layout = "strided" }
body = 'y = x;'
)") == R"(
k(x)
in x: f32[W, ...rows, N] strided
out y: f32[W, ...rows, N] strided
size W = x[0]
size rows = x[1]
size N = x[2]
c x, y, W, rows, N, stride 0 of x, stride 1 of x, stride 2 of x, stride 0 of y, stride 1 of y, stride 2 of y
function k: x f32, y f32
)");
}

Size op(Size::Op op, const Size &a, const Size &b) { return Size::make(op, {a, b}); }
const Size kN = Size::axis("N"), kM = Size::axis("M"), kTwo = Size::integer(2), kGiven = Size::axis("given");

std::string solved(const Size &e) {
  const std::optional<Size> value = solve(e, "N", kGiven);
  return value ? to_string(*value) : "-";
}

TEST_CASE("an expression is solved where each step can be undone") {
  using O = Size::Op;
  CHECK(solved(kN) == "given");
  CHECK(solved(op(O::add, op(O::multiply, kN, kTwo), kM)) == "(given - M) / 2");
  CHECK(solved(op(O::subtract, kM, kN)) == "M - given");
  CHECK(solved(Size::make(O::choose, {op(O::equal, kM, kTwo), op(O::add, kN, kTwo), kN})) ==
        "M == 2 ? given - 2 : given");
  CHECK(solved(op(O::multiply, kN, kN)) == "-");
  CHECK(solved(op(O::divide, kN, kTwo)) == "-");
  CHECK(solved(op(O::max, kN, kTwo)) == "-");
}

std::string python(const Size &size) {
  return python_size(size, [](const Size &name) { return name.name; });
}
std::string cpp(const Size &size) {
  return cpp_size(size, [](const Size &name) { return name.name; });
}

TEST_CASE("sizes are written in Python and in C++") {
  using O = Size::Op;
  const Size sum = op(O::add, kN, kTwo);
  CHECK(python(op(O::multiply, sum, op(O::subtract, kM, kN))) == "(N + 2) * (M - N)");
  CHECK(python(op(O::divide, sum, kTwo)) == "(N + 2) // 2");
  CHECK(python(op(O::cdiv, sum, kTwo)) == "-(-(N + 2) // 2)");
  CHECK(python(op(O::modulo, kN, kM)) == "_floor_mod(N, M)");
  CHECK(python(Size::make(O::choose, {op(O::less, kN, kM), kN, kTwo})) == "N if N < M else 2");
  CHECK(python(op(O::max, sum, Size::integer(0))) == "max(N + 2, 0)");
  CHECK(cpp(op(O::divide, sum, kTwo)) == "floor_div(N + 2, 2)");
  CHECK(cpp(op(O::max, sum, Size::integer(0))) == "std::max<int64_t>(N + 2, 0)");
  CHECK(cpp(Size::make(O::choose, {op(O::less, kN, kM), kN, kTwo})) == "N < M ? N : 2");
  CHECK(may_divide_by_zero(op(O::divide, kN, kM)));
  CHECK(!may_divide_by_zero(op(O::divide, kN, kTwo)));
}

} // namespace
} // namespace kgen
