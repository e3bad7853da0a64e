// How maps are written: how CUDA threads reach memory, several positions in one access and tiles where arrays lie
// crosswise; and how vectors do what has several forms.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

std::string cuda_text(const std::string &spec_text) { return emitted_text(spec_text, ".cu", "__global__"); }

std::string map(const std::string &operands, const std::string &body) {
  return "kernel = \"k\"\ndoc = \"d\"\n" + operands + "body = '''\n" + body + "\n'''\n";
}

TEST_CASE("a thread loads 16 bytes of each array before it computes, and stores 16 bytes") {
  const std::string text = cuda_text(map(R"(
inputs.x = "f32[N]"
inputs.y = "f32[N]"
outputs.z = "f32[N]"
)",
                                         "z = x + y;"));
  CHECK(has(text, "const auto x_pack = load_pack<kElements>(&x[n_first], remaining); const auto y_pack = "
                  "load_pack<kElements>(&y[n_first], remaining); Pack<float, kElements> z_pack; #pragma unroll"));
  CHECK(has(text, "{ z_pack[i] = x_pack[i] + y_pack[i]; } store_pack(&z[n_first], z_pack, remaining);"));
  CHECK(has(text, "const int elements = aligned({x, y, z}) ? 4 : 1;"));
}

TEST_CASE("the narrowest array sets how many positions a thread takes, the widest bounds it") {
  auto positions = [](const std::string &in, const std::string &out) {
    const std::string text = cuda_text(map("inputs.x = \"" + in + "[N]\"\noutputs.z = \"" + out + "[N]\"\n", "z = x;"));
    const size_t at = text.find(" : 1; const int64_t groups");
    return text.substr(at - 2, 2);
  };
  CHECK(positions("f32", "f32") == " 4");
  CHECK(positions("bf16", "bf16") == " 8");
  CHECK(positions("u8", "u8") == "16");
  CHECK(positions("f64", "f64") == " 2");
  CHECK(positions("f32", "u8") == " 8");
  CHECK(positions("f64", "f32") == " 4");
}

TEST_CASE("rows must follow each other at multiples of an access, broadcast ones too") {
  const std::string text = cuda_text(map(R"(
inputs.x = "f32[M, N]"
inputs.b = "f32[N]"
inputs.c = "f32[M]"
outputs.z = "f32[M, N]"
)",
                                         "z = x + b * c;"));
  CHECK(has(text, "const auto b_pack = load_pack<kElements>(&b[n_first], remaining);"));
  CHECK(has(text, "z_pack[i] = x_pack[i] + b_pack[i] * c[m];"));
  CHECK(has(text, "aligned({x, b, z}) && N % 4 == 0 ? 4 : 1"));
}

TEST_CASE("a structure of an array is one access, those of 12 bytes go by fours") {
  const std::string text = cuda_text(map(R"(
inputs.p = "f32[N, C=3]"
outputs.z = "f32[N]"
)",
                                         "z = at(p, C = 0) - at(p, C = 2);"));
  CHECK(has(text, "const auto p_pack = load_pack<kElements, 3>(&p[n_first * 3], remaining);"));
  CHECK(has(text, "z_pack[i] = p_pack[3 * i] - p_pack[3 * i + 2];"));
  CHECK(has(text, "elements = aligned({p, z}) ? 4 : 1"));
}

TEST_CASE("strides that the caller gives are asked whether elements are neighbours") {
  const std::string text = cuda_text(map(R"(
inputs.x = {type = "f32[M, N]", layout = "strided"}
outputs.z = "f32[M, N]"
)",
                                         "z = x;"));
  CHECK(has(text, "aligned({x, z}) && x_stride_N == 1 && N % 4 == 0 && x_stride_M % 4 == 0 ? 4 : 1"));
}

TEST_CASE("neighbours that are not whole accesses are read one by one, in a loop past the loads") {
  const std::string text = cuda_text(map(R"(
inputs.x = "f32[N]"
outputs.z = "f32[N]"
)",
                                         "z = x + at(x, N = index(N) + 1);"));
  CHECK(has(text, "const Index n = n_first + (i < remaining ? i : remaining - 1); z_pack[i] = x_pack[i] + "
                  "(inside(int64_t(n) + 1, N) ? x[int64_t(n) + 1] : 0.0f);"));
}

TEST_CASE("a thread takes one position where loops run by element") {
  const std::string text = cuda_text(
      map("inputs.x = \"f32[N]\"\noutputs.z = \"f32[N]\"\n", "real v = x;\nwhile (v > 1) v = v / 2;\nz = v;"));
  CHECK(has(text, "while (v > 1.0f)"));
  CHECK(text.find("elements") == std::string::npos);
}

TEST_CASE("arrays that lie crosswise go through a padded tile, loads and stores of neighbours only") {
  const std::string text = cuda_text(map(R"(
inputs.x = "f32[M, N]"
outputs.y = "f32[N, M]"
)",
                                         "y = x;"));
  CHECK(has(text, "__shared__ Tile<float, 32> x_tile;"));
  CHECK(has(text, "x_tile.at[i][column] = x[m * N + n]; } __syncthreads();"));
  CHECK(has(text, "y[n * M + m] = x_tile.at[column][i];"));
}

TEST_CASE("a minimum on vectors cares for NaN only where that shows nowhere else") {
  const std::string text = emitted_text(R"(
kernel = "between"
inputs.a = "f32[N]"
inputs.b = "f32[N]"
outputs.gap = "f32[N]"
outputs.least = "f32[N]"
body = '''
gap = (max(a, b) - 1) / (a + b);
least = min(a, b);
'''
)",
                                        ".cpp", "\nvoid ");
  CHECK(has(text, "(greater(a_here, b_here) - 1.0f) / (a_here + b_here)"));
  CHECK(has(text, "minimum(a_here, b_here)"));
}

TEST_CASE("vectors load once what several statements need") {
  const std::string text = emitted_text(R"(
kernel = "twice"
inputs.x = "bf16[N]"
inputs.x_ = "f32[N]"
inputs.once = "f32[N]"
outputs.y = "f32[N]"
outputs.z = "f32[N]"
body = '''
y = x * x + x_ * once;
z = x + x_;
'''
)",
                                        ".cpp", "\nvoid ");
  CHECK(has(text, "const auto x_here = from_bf16(load_once(&x[n], active));"));
  CHECK(has(text, "const auto x_here_again = load_once(&x_[n], active);"));
  CHECK(has(text, "x_here * x_here + x_here_again * load(&once[n], active)"));
  CHECK(has(text, "n_first + 4096"));
}

TEST_CASE("what a loop inside reads stays there") {
  const std::string text = emitted_text(R"(
kernel = "inside"
axes.M = 3
inputs.a = "u16[H, M]"
outputs.x = "i64[]"
body = '''
x = prod(index(H) % 2 + 1, H) + sum(a, M, H, where(a != 3));
'''
)",
                                        ".cpp", "\nvoid ");
  CHECK(has(text, "a[h * 3 + m]"));
}

TEST_CASE("an element of a row that is moved does not stand for the row's others") {
  const std::string text = emitted_text(R"(
kernel = "first"
inputs.x = "f32[M, N]"
outputs.y = "f32[M]"
body = '''
real begin = at(x, N = 0);
y = prod(x - begin, N);
y -= max(x, N);
'''
)",
                                        ".cpp", "\nvoid ");
  CHECK(has(text, "const auto begin = inside(0, N) ? load_every(&x[m * N], N, active) : 0.0f;"));
  CHECK(has(text, "(load_every(&x[m * N + n], N, active) - begin)"));
}

TEST_CASE("a branch begins with what it does") {
  const std::string text = emitted_text(R"(
kernel = "other"
inputs.n = "i32[]"
outputs.y = "f32[N]"
body = '''
y = 0;
if (n > 1) {
} else {
  y = 2;
}
'''
)",
                                        ".cpp", "\nvoid ");
  CHECK(has(text, "if (!(n[0] > 1))"));
}

TEST_CASE("nothing is loaded for an arm of a choice") {
  const std::string text = emitted_text(R"(
kernel = "chosen"
inputs.c = "i32[N]"
inputs.x = { type = "f32[N]", optional = true }
outputs.y = "f32[N]"
body = '''
y = (c > 0 ? c : 2) + (present(x) ? x * x : 0);
'''
)",
                                        ".cpp", "\nvoid ");
  CHECK(has(text, "const auto c_here = load_once(&c[n], active);"));
  CHECK(!has(text, "const auto x_"));
}

} // namespace
} // namespace kgen
