// What `kgen grad` writes: the known short forms, names, and what stays of a spec.
#include <doctest/doctest.h>

#include "grad/grad.h"

using namespace kgen;

namespace {

struct Written {
  std::string text, messages;
  std::string body() const {
    const size_t begin = text.find("body = '''\n") + 11;
    return text.substr(begin, text.rfind("'''") - begin);
  }
  bool says(const std::string &part) const { return text.find(part) != std::string::npos; }
  bool has(const std::string &line) const { return says(line + "\n"); }
};

Written backward(const std::string &operands, const std::string &body, const GradOptions &options = {}) {
  Written out;
  Diagnostics diags;
  const std::string text = "kernel = \"k\"\n" + operands + "body = '''\n" + body + "\n'''\n";
  const std::optional<Spec> spec = load_spec("k.toml", text, {}, diags);
  if (spec) {
    const std::vector<Variant> variants = variants_of(*spec);
    if (const auto bodies = body::parse_body(*spec, variants, diags))
      if (const auto made = differentiate(*spec, variants, *bodies, options, diags))
        out.text = made->text;
  }
  out.messages = diags.render(Diagnostics::Format::short_lines, false);
  return out;
}

const std::string kRows = "inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n";

} // namespace

TEST_CASE("the gradient of softmax needs its result alone") {
  const Written w = backward(kRows, "y = softmax(x, N);");
  CHECK(w.body() == "d_x = (d_y - dot(d_y, y, N)) * y;\n");
  CHECK(w.has("inputs.y = \"f32[M, N]\""));
  CHECK_FALSE(w.has("inputs.x = \"f32[M, N]\""));
}

TEST_CASE("what is summed of nothing is 0 times what is then no number") {
  const std::string operands =
      "inputs.x = \"f32[M, N]\"\ninputs.q = \"f32[M]\"\ninputs.mask = \"bool[N]\"\noutputs.y = \"f32[M]\"\n";
  const Written asked = backward(operands, "y = sum(x / q, N, where(mask));");
  CHECK(asked.body().find("d_q = any(mask, N) ? ") != std::string::npos);
  CHECK(asked.body().find("d_x = mask ? d_y / q : 0;") != std::string::npos);
  const Written safe = backward(operands, "y = sum(x * q, N, where(mask));"); // 0 anyway
  CHECK(safe.body().find("any(") == std::string::npos);
  const Written two = backward(operands + "inputs.other = \"bool[N]\"\n",
                               "y = sum(x * q, N, where(mask)) + sum(x * x * q, N, where(other));");
  CHECK(two.body().find("any(") == std::string::npos);
}

TEST_CASE("the gradient of cross entropy is p - 1 at the label") {
  const Written w = backward("inputs.x = \"f32[B, V]\"\ninputs.label = \"i32[B]\"\noutputs.loss = \"f32[B]\"\n",
                             "loss = logsumexp(x, V) - at(x, V = label);");
  CHECK(w.body().find("index(V) == label ? -d_loss : 0") != std::string::npos);
  CHECK(w.body().find("d_m") == std::string::npos); // the maximum only shifts
}

TEST_CASE("the transpose of a broadcast is a sum over the axes that are missing") {
  const Written w =
      backward("inputs.x = \"f32[M, N]\"\ninputs.b = \"f32[N]\"\noutputs.y = \"f32[M, N]\"\n", "y = x * b;");
  CHECK(w.body() == "d_x = d_y * b;\nd_b = dot(d_y, x, M);\n");
  CHECK(w.has("outputs.d_b = { type = \"f32[N]\", optional = true }"));
}

TEST_CASE("where a name is taken, all gradients are d2_") {
  const Written w =
      backward("inputs.x = \"f32[N]\"\ninputs.d_x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n", "y = x * d_x;");
  CHECK(w.body() == "d2_x = d_x * d2_y;\nd2_d_x = d2_y * x;\n");
}

TEST_CASE("parameters keep their names, and a batch is an axis") {
  const Written w = backward("params.eps = 1e-5\nbatch.B = [\"x\"]\ninputs.x = \"f32[N]\"\ninputs.w = \"f32[N]\"\n"
                             "outputs.y = \"f32[N]\"\n",
                             "y = w / (x + eps);");
  CHECK(w.has("params.eps = 1e-5"));
  CHECK(w.has("inputs.x = \"f32[B, N]\""));
  CHECK(w.body().find("real d_y_scaled = d_y / (x + eps);") != std::string::npos);
  CHECK(w.body().find("d_w = sum(d_y_scaled, B);") != std::string::npos);
}

TEST_CASE("what is scattered along two axes and summed again asks for the place along both") {
  const Written w = backward("inputs.x = \"f32[E]\"\ninputs.i = \"i32[E]\"\ninputs.j = \"i32[E]\"\n"
                             "outputs.h = { type = \"f32[M, N]\", atomic = true }\noutputs.t = \"f32[]\"\n",
                             "h = 0;\nat(h, M = i, N = j) += x * x;\nt = sum(h * h, M, N);");
  CHECK(w.body().starts_with("d_x = i >= 0 && i < size(M) && (j >= 0 && j < size(N)) ? 2 * x"));
}

TEST_CASE("a parameter keeps its sign, and a whole number is divided as a real one where it was") {
  const std::string operands = "params.n = 2\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n";
  CHECK(backward(operands, "y = x * x * -n;").body() == "d_x = 2 * d_y * x * -n;\n");
  CHECK(backward(operands, "y = x * (real(1) / n);").body() == "d_x = d_y * (1.0 / n);\n");
  CHECK(backward(operands, "y = x * (1 / n);").body() == "d_x = d_y * (1 / n);\n");
}

TEST_CASE("two signs are none") {
  const Written w = backward(
      "inputs.s = \"f32[C]\"\ninputs.y = \"f32[B, C]\"\ninputs.g = \"f32[B, C]\"\n"
      "outputs.m = { type = \"f32[C]\", optional = true }\noutputs.t = { type = \"f32[C]\", optional = true }\n",
      "m = -sum(g, B) / s;\nt = -dot(g, y, B) / s;");
  CHECK(w.has("d_s = (present(d_t) ? d_t * (dot(g, y, B) / s) / s : 0) + "
              "(present(d_m) ? d_m * (sum(g, B) / s) / s : 0);"));
}

TEST_CASE("slices at constant places are written slice by slice") {
  const Written w = backward("inputs.x = \"f32[N, C=2]\"\noutputs.y = \"f32[N]\"\n", "y = at(x, C = 0) * 3;");
  CHECK(w.body() == "at(d_x, C = 0) = 3 * d_y;\nat(d_x, C = 1) = 0;\n");
}

TEST_CASE("a slice that is written over the whole takes its place") {
  CHECK(backward("inputs.x = \"f32[N]\"\noutputs.y = \"f32[N, Z=2]\"\n", "y = x;\nat(y, Z = 1) = 2 * x * x;").body() ==
        "d_x = at(d_y, Z = 0) + 4 * x * at(d_y, Z = 1);\n");
  CHECK(backward(kRows, "y = x * x;\nat(y, N = 0) = 7;").body() == "d_x = index(N) == 0 ? 0 : 2 * d_y * x;\n");
  CHECK(backward(kRows, "y = x * x;\nif (index(N) > 2) at(y, N = index(N) - 1) = x;").messages.find("KG0601") !=
        std::string::npos);
  const std::string blocks =
      "grid.i = { size = \"cdiv(N, 8)\" }\ninputs.x = { type = \"f32[N]\", block = [8], index = [\"i\"] }\n"
      "outputs.y = { type = \"f32[N, Z=2]\", block = [8, 2], index = [\"i\", 0] }\n";
  CHECK(backward(blocks, "y = x;\nat(y, Z = 1) = x * x;").messages.find("KG0601") != std::string::npos);
  CHECK(backward(blocks, "y = 0;\nat(y, Z = 1) = x;").messages.empty());
}

TEST_CASE("an output that gives places is read there by other lanes, too") {
  GradOptions deterministic;
  deterministic.deterministic = true;
  const std::string
      operands = "inputs.x = \"f32[N]\"\ninputs.c = \"i32[N]\"\noutputs.y = \"f32[N]\"\noutputs.n = \"i32[N]\"\n",
      body = "n = 0;\nat(n, N = c) += 1;\ny = at(x, N = n) * x;";
  CHECK(backward(operands, body).body().find("at(d_x, N = value_n) += d_y * x;\n") != std::string::npos);
  const Written sums = backward(operands, body, deterministic);
  CHECK(sums.body().find("where(index(N) == at(n, N = N_other))") != std::string::npos);
  CHECK(sums.messages.find("over all of N") != std::string::npos);
}

TEST_CASE("a gather through values adds, or sums over all lanes") {
  const std::string operands = "inputs.token = \"i32[N]\"\ninputs.t = \"f32[V, D]\"\noutputs.y = \"f32[N, D]\"\n";
  const Written adds = backward(operands, "y = at(t, V = token);");
  CHECK(adds.body() == "d_t = 0;\nat(d_t, V = token) += d_y;\n");
  CHECK(adds.has("outputs.d_t = { type = \"f32[V, D]\", atomic = true }"));
  CHECK(adds.messages.find("KG0607") != std::string::npos);
  GradOptions deterministic;
  deterministic.deterministic = true;
  CHECK(backward(operands, "y = at(t, V = token);", deterministic).body() ==
        "d_t = sum(d_y, N, where(index(V) == token));\n");
}

TEST_CASE("a gather through a sorted table gives sums over its segments, and nothing in any order") {
  const std::string operands = "tables.seg = { type = \"i32[N]\", sorted = true, range = \"V\" }\n"
                               "inputs.t = \"f32[V, D]\"\noutputs.y = \"f32[N, D]\"\n";
  const Written w = backward(operands, "y = at(t, V = seg[index(N)]);");
  CHECK(w.body() == "d_t = sum(d_y, N, where(index(V) == seg[index(N)]));\n");
  CHECK(w.has("outputs.d_t = \"f32[V, D]\""));
  CHECK(w.messages.empty());
  const Written blocks = backward("axes.I = 4\n" + operands, "y = sum(at(t, V = 4 * seg[index(N)] + I), I);");
  CHECK(blocks.body() == "d_t = sum(d_y, N, where(seg[index(N)] == index(V) / 4));\n");
  const Written moved = backward(operands, "y = at(t, V = seg[index(N)] + 1);");
  CHECK(moved.has("at(d_t, V = seg[index(N)] + 1) += d_y;"));
}

TEST_CASE("the gradient of a sum over a table's segment reads the table") {
  const Written w = backward("tables.seg = { type = \"i32[N]\", sorted = true, range = \"V\" }\n"
                             "inputs.x = \"f32[N, D]\"\noutputs.y = \"f32[V, D]\"\n",
                             "y = sum(x * x, N, where(index(V) == seg[index(N)]));");
  CHECK(w.body() == "d_x = 2 * x * at(d_y, V = seg[index(N)]);\n");
}

TEST_CASE("rows of different lengths that are read at shifted places are read the other way") {
  const std::string rows = "axes.N = { ragged = \"start\", over = \"B\" }\ntables.start = \"i64[B + 1]\"\n"
                           "inputs.x = \"f32[B, N]\"\noutputs.y = \"f32[B, N]\"\n";
  CHECK(backward(rows, "y = x + at(x, N = index(N) + 1);").body() == "d_x = d_y + at(d_y, N = N - 1);\n");
  CHECK(backward(rows, "y = x + at(x, N = index(N) / 2);").body() ==
        "d_x = d_y + at(d_y, N = 2 * N) + at(d_y, N = 2 * N + 1);\n");
  CHECK(backward(rows, "y = x + at(x, N = index(N) / 5);").body() ==
        "d_x = d_y + sum(at(d_y, N = 5 * N + N_within), N_within, where(5 * index(N) + index(N_within) < size(N)));\n");
  const Written squares = backward(rows, "y = x + at(x, N = index(N) * index(N));");
  CHECK(squares.messages.find("KG0601") != std::string::npos);
}

TEST_CASE("a parameter that a place counts by is divided by, and must be positive") {
  const std::string strided = "inputs.x = \"f32[L]\"\ninputs.w = \"f32[K]\"\noutputs.y = \"f32[O]\"\n",
                    body = "y = dot(w, at(x, L = stride * index(O) + index(K)), K);";
  const Written two = backward("params.stride = 2\n" + strided, body);
  CHECK(two.has("require(stride > 0, \"stride must be greater than 0\");"));
  CHECK(two.has("d_x = dot(w, at(d_y, O = (L - K) / stride), K,"));
  CHECK(two.says("(index(L) - index(K)) % stride == 0"));
  const Written transposed =
      backward("params.stride = 2\ninputs.x = \"f32[W]\"\ninputs.w = \"f32[I]\"\noutputs.y = \"f32[P]\"\n",
               "int t = index(P) - index(I);\ny = sum(t % stride == 0 ? w * at(x, W = t / stride) : 0, I);");
  CHECK(transposed.says("d_x = dot(w, at(d_y, P = stride * W + I), I,"));
  const Written back = backward("params.stride = -2\n" + strided, body);
  CHECK_FALSE(back.says("require"));
  CHECK(back.says("d_x = "));
}

TEST_CASE("what a quotient of a place leaves open is summed over") {
  const std::string grouped = "inputs.x = \"f32[G]\"\noutputs.y = \"f32[N]\"\n";
  const Written eight = backward(grouped, "y = at(x, G = index(N) / 8);");
  CHECK(eight.has("axes.G_within = 8"));
  CHECK(eight.body() ==
        "d_x = sum(at(d_y, N = 8 * G + G_within), G_within, where(8 * index(G) + index(G_within) < size(N)));\n");
  const Written named = backward("params.group = 32\n" + grouped, "y = at(x, G = index(N) / group);");
  CHECK(named.has("axes.G_within = { equals = \"group\" }"));
  CHECK(named.says("require(group > 0,"));
  const Written whole =
      backward("inputs.x = \"f32[M]\"\noutputs.y = \"f32[N=8 * M]\"\n", "y = at(x, M = index(N) / 8);");
  CHECK(whole.body() == "d_x = sum(at(d_y, N = 8 * M + M_within), M_within);\n");
  const Written difference = backward(kRows, "y = x + at(x, N = index(N) - index(N) % 8);");
  CHECK(difference.says("index(N) % 8 == 0"));
  CHECK(difference.says("sum(at(d_y, N = N + N_within), N_within,"));
  for (const char *first : {"8 * (index(N) / 8)", "index(N) / 8 * 8", "index(N) & -8"})
    CHECK(backward(kRows, "y = x + at(x, N = " + std::string(first) + ");").body() == difference.body());
}

TEST_CASE("an int that holds an index is that index") {
  CHECK(backward(kRows, "int i = index(N);\ny = x + at(x, N = i + 1);").body() == "d_x = d_y + at(d_y, N = N - 1);\n");
  CHECK(backward(kRows, "int i = index(N);\nint before = i - 1;\ny = before >= 0 ? at(x, N = before) : 0;").body() ==
        "d_x = at(d_y, N = N + 1);\n");
  CHECK(backward(kRows, "int i = index(N);\ny = at(x, N = i) * at(x, N = i);").body() == "d_x = 2 * d_y * x;\n");
  CHECK(backward(kRows, "int i = index(N);\ny = x * (i * i % 7);").body().find("int(index(N)) * int(index(N)) % 7") !=
        std::string::npos);
  CHECK(backward(kRows, "y = at(x, N = index(N) ^ 1);").body().find("N_other") == std::string::npos);
}

TEST_CASE("one text serves all functions of a list") {
  const Written w = backward("params.act = [\"relu\", \"twice\"]\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n"
                             "functions = 'real twice(real v) { return 2 * v; }'\n",
                             "y = act(x);");
  CHECK(w.body() == "d_x = d_y * derivative(act, x);\n");
  CHECK(w.has("real relu_derivative(real v) {"));
  CHECK(w.has("real twice_derivative(real v) {"));
}

TEST_CASE("one text serves the second derivatives of all functions of a list") {
  const Written w = backward("params.act = [\"relu\", \"twice\"]\ninputs.x = \"f32[N]\"\ninputs.d_y = \"f32[N]\"\n"
                             "outputs.y = \"f32[N]\"\nfunctions = '''\nreal twice(real v) { return v * v * v; }\n"
                             "real relu_derivative(real v) { return v > 0 ? 1 : 0; }\n"
                             "real twice_derivative(real v) { return 3 * v * v; }\n'''\n",
                             "y = d_y * derivative(act, x);");
  CHECK(w.body() == "d2_x = d_y * d2_y * second_derivative(act, x);\nd2_d_y = d2_y * derivative(act, x);\n");
  CHECK(w.has("real relu_second_derivative(real v) {\n  return 0;"));
  CHECK(w.has("real twice_second_derivative(real v) {"));
}

TEST_CASE("a loop whose rounds are counted runs backwards, and keeps what rounds find only where they need it") {
  const std::string operands = "inputs.x = \"f64[N]\"\noutputs.y = \"f64[N]\"\n";
  const Written squares = backward(operands, "real z = x;\nfor (int i = 0; i < 100; ++i) z = z * z + x;\ny = z;");
  CHECK(squares.body() ==
        "// The forward kernel again.\nreal z = x;\nreal z_kept[100];\nfor (int i = 0; i < 100; ++i) {\n"
        "  z_kept[i] = z;\n  z = z * z + x;\n}\n"
        "// Back through for (int i = 0; i < 100; ++i) z = z * z + x\nreal d_z = d_y;\n"
        "real d_x_sum = 0;\nfor (int i = 99; i >= 0; --i) {\n  d_x_sum += d_z;\n"
        "  d_z = 2 * d_z * z_kept[i];\n}\nd_x = d_z + d_x_sum;\n");
  const Written linear = backward(operands, "real z = x;\nfor (int i = 0; i < 100; ++i) z = 0.5 * z + sin(x);\ny = z;");
  CHECK(linear.body().find("  d_z = 0.5 * d_z;\n") != std::string::npos);
  CHECK(linear.body().find("[100]") == std::string::npos);
}

TEST_CASE("rounds of a loop sum along axes, and what they name keeps its name") {
  const Written mean = backward("params.K = [20]\ninputs.x = \"f64[M, N]\"\noutputs.y = \"f64[M, N]\"\n",
                                "real z = x;\nfor (int i = 0; i < K; ++i) {\n  real m = mean(z, N);\n"
                                "  z = sin(z - m);\n}\ny = z;");
  CHECK(mean.body() == "// The forward kernel again.\nreal z = x;\nreal z_kept[K];\nfor (int i = 0; i < K; ++i) {\n"
                       "  z_kept[i] = z;\n  real m = mean(z, N);\n  z = sin(z - m);\n}\n"
                       "// Back through for (int i = 0; i < K; ++i)\nreal d_z = d_y;\n"
                       "for (int i = K - 1; i >= 0; --i) {\n  real m = mean(z_kept[i], N);\n"
                       "  real d_z_arg = d_z * cos(z_kept[i] - m);\n  d_z = d_z_arg - mean(d_z_arg, N);\n}\n"
                       "d_x = d_z;\n");
}

TEST_CASE("variables of a loop have the axes of their own values") {
  const Written w =
      backward("inputs.x = \"f64[M]\"\ninputs.w = \"f64[K]\"\noutputs.y = \"f64[M]\"\noutputs.u = \"f64[K]\"\n",
               "real z = x, v = w;\nfor (int i = 0; i < 30; ++i) {\n  z = sin(z);\n  v = cos(v);\n}\ny = z;\nu = v;");
  CHECK(w.body().find("d_x = d_z;\nd_w = d_v;\n") != std::string::npos);
}

TEST_CASE("the gradient of a scalar is `real` where choices of types differ in it") {
  const std::string operands = "inputs.x = \"T[N]\"\noutputs.y = \"T[N]\"\nscalars.alpha = \"T\"\n";
  GradOptions of_alpha;
  of_alpha.of = {"alpha"};
  CHECK(backward("types.T = [\"f16\", \"f64\"]\n" + operands, "y = alpha * x;", of_alpha)
            .has("outputs.d_alpha = \"real[]\""));
  CHECK(backward("types.T = [\"f16\", \"f32\"]\n" + operands, "y = alpha * x;", of_alpha)
            .has("outputs.d_alpha = \"f32[]\""));
}

TEST_CASE("lanes of rows that differ in length store where they read") {
  const Written w = backward("axes.N = { ragged = \"start\", over = \"B\" }\ntables.start = \"i64[B + 1]\"\n"
                             "inputs.x = \"f32[B, P]\"\ninputs.w = \"f32[B, N]\"\noutputs.y = \"f32[B, N]\"\n",
                             "y = w * at(x, P = N);");
  CHECK(w.body().find("d_x = 0;\nat(d_x, P = N) = d_y * w;\n") != std::string::npos);
}

TEST_CASE("what cannot be differentiated is refused at its line") {
  CHECK(backward(kRows, "y = x;\nwhile (y > 1) y = y / 2;").messages.find("k.toml:6:1: error") != std::string::npos);
  CHECK(backward("inputs.x = \"i32[N]\"\noutputs.y = \"i32[N]\"\n", "y = x;").messages.find("KG0602") !=
        std::string::npos);
}

TEST_CASE("a name of what reads an optional input asks for it") {
  const std::string operands = "inputs.x = \"f32[N]\"\ninputs.bias = { type = \"f32[N]\", optional = true }\n"
                               "outputs.y = \"f32[N]\"\n";
  const Written once = backward(operands, "real s = x; if (present(bias)) s += bias; y = silu(s);");
  CHECK(once.body().find("real s = present(bias) ? x + bias : x;") != std::string::npos);
  const Written shared =
      backward(operands, "real s = x;\nif (present(bias)) { real t = exp(bias); s += t * sin(x * t); }\ny = s;");
  CHECK(shared.body().find("real t = present(bias) ? exp(bias) : 0;") != std::string::npos);
}

TEST_CASE("elements that steps make of others are refused") {
  const std::string operands = "inputs.b = { type = \"f64[I]\", block = [\"squeeze\"], index = [\"i\"] }\n"
                               "outputs.x = { type = \"f64[I]\", block = [\"squeeze\"], index = [\"i\"] }\n"
                               "grid.i = { size = \"I\", semantics = \"arbitrary\" }\n";
  const std::string body = "if (first(i)) s = 0; double v = b + 0.5 * sum(s, J); x = v; if (index(J) == i) s = v;";
  for (const std::string size : {"4", "I"}) {
    const Written w = backward(operands + "scratch.s = \"f64[J=" + size + "]\"\n", body);
    CHECK(w.text.empty());
    CHECK(w.messages.find("what `s` carries from step to step") != std::string::npos);
  }
}

TEST_CASE("a gradient that may be absent is asked for around a slope that may be infinite, and only there") {
  const std::string two = "inputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\noutputs.z = \"f32[N]\"\n";
  CHECK(backward(two, "y = log(x); z = 2 * x;")
            .has("d_x = 2 * (present(d_z) ? d_z : 0) + (present(d_y) ? d_y / x : 0);"));
  CHECK(backward(two, "y = exp(x); z = x / (x * x + 1);").says("+ y * (present(d_y) ? d_y : 0);"));
  CHECK(backward(two, "real r = rsqrt(x); y = 2 * r; z = x + r;").says("d_x = given_z - 0.5 * d_r * r * r * r;"));
}

TEST_CASE("whether there are values, or a scale, is not asked where there is something to store") {
  const Written w = backward("inputs.q = \"f32[S, D]\"\ninputs.k = \"f32[R, D]\"\ninputs.v = \"f32[R, E]\"\n"
                             "outputs.o = \"f32[S, E]\"\n",
                             "real s = dot(q, k, D) / sqrt(size(D));\n"
                             "real p = softmax(s, R, where(index(R) <= index(S)));\no = dot(p, v, R);");
  CHECK(w.has("d_q = dot(d_p_share, k, p, R, where(index(R) <= index(S))) / root;"));
  CHECK(w.has("d_k = dot(d_p_share, q, p, S, where(index(R) <= index(S))) / root;"));
}
