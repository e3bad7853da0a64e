// What backward kernels must be like: all that `kgen grad` writes is, and what differs is said at its place.
#include "cli/contract.h"

#include <doctest/doctest.h>
#include <filesystem>

#include "cli/gradient.h"
#include "support/files.h"

using namespace kgen;

namespace {

std::string said(const Diagnostics &diags) { return diags.render(Diagnostics::Format::short_lines, false); }

Spec loaded(const std::string &text, Diagnostics &diags) {
  std::optional<Spec> spec = load_spec("k.toml", text, LoadOptions(), diags);
  REQUIRE_MESSAGE(spec, said(diags));
  return std::move(*spec);
}

std::string trouble(const std::string &forward, const std::string &backward) {
  Diagnostics diags;
  const Spec spec = loaded(forward, diags), gradient = loaded(backward, diags);
  check_contract(spec, gradient, diags);
  return said(diags);
}

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

const char *kForward = R"(kernel = "mix"
types.T = ["f32", "f16"]
axes.R = { ragged = "start", over = "B" }
scalars.a = "f32"
tables.start = "i64[B + 1]"
tables.t = "i32[M, 2]"
inputs.x = "T[B, R, N]"
inputs.w = { type = "real[K=N]", optional = true }
inputs.unit = "f64[1]"
outputs.y = "T[B, R, N]"
body = 'y = a * x;'
)";
const char *kBackward = R"(kernel = "mix_backward"
backward_of = "mix"
types.T = ["f32", "f16"]
axes.R = { ragged = "start", over = "B" }
tables.start = "i64[B + 1]"
tables.t = "i32[M, 2]"
inputs.x = "T[B, R, N]"
inputs.w = { type = "real[K=N]", optional = true }
inputs.y = "T[B, R, N]"
inputs.d_y = "T[B, R, N]"
scalars.a = "f32"
outputs.d_x = "T[B, R, N]"
outputs.d_w = "real[N]"
outputs.d_unit = "f64[1]"
outputs.d_a = "f32[]"
body = 'd_x = a * d_y;'
)";

} // namespace

TEST_CASE("what kgen grad writes keeps the contract") {
  int written = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator("specs")) {
    if (entry.path().extension() != ".toml")
      continue;
    Diagnostics unused, diags;
    const std::string path = entry.path().generic_string();
    const std::string folder_of = entry.path().parent_path().generic_string();
    const std::optional<BackwardSpec> backward = backward_of(Options(), path, folder_of, unused);
    if (!backward)
      continue;
    const std::optional<Spec> forward = load_spec(path, *read_source(path, diags), LoadOptions(), diags);
    const std::optional<Spec> gradient = load_spec(folder_of + "/gradient.toml", backward->text, LoadOptions(), diags);
    REQUIRE(forward);
    REQUIRE_MESSAGE(gradient, said(diags));
    check_contract(*forward, *gradient, diags);
    CHECK_MESSAGE(!diags.has_errors(), said(diags));
    ++written;
  }
  CHECK(written > 30);
}

TEST_CASE("declarations that mean the same are the same") {
  CHECK(trouble(kForward, kBackward) == "");
  CHECK(trouble(kForward, replaced(kBackward, "K=N", "N")) == "");
  CHECK(trouble(kForward, replaced(kBackward, R"(T = ["f32", "f16"])", R"(T = ["f16"])")) == "");
  CHECK(trouble(kForward, replaced(kBackward, R"("T[B, R, N]"
outputs.d_w)",
                                   R"({ type = "real[B, R, N]", atomic = true }
outputs.d_w)")) == "");
}

TEST_CASE("a batch may be written out") {
  const std::string forward = R"(kernel = "mix"
batch.B = ["x"]
inputs.x = "f32[..., N]"
outputs.y = "f32[..., N]"
body = 'y = x;'
)";
  const std::string backward = R"(kernel = "mix_backward"
inputs.d_y = "f32[B, rows, N]"
outputs.d_x = "f32[B, rows, N]"
body = 'd_x = d_y;'
)";
  CHECK(trouble(forward, backward) == "");
  CHECK(trouble(forward, replaced(backward, "d_y = \"f32[B, rows, N]", "d_y = \"f32[rows, N]")).find("d_y") !=
        std::string::npos);
}

TEST_CASE("another type, other brackets and other axes are refused") {
  const auto check = [](const std::string &what, const std::string &by, const std::string &message) {
    const std::string text = trouble(kForward, replaced(kBackward, what, by));
    CHECK_MESSAGE(text.find(message) != std::string::npos, text);
  };
  check("inputs.x = \"T[B, R, N]", "inputs.x = \"f32[B, R, N]", "`x` is f32[B, R, N], and T[B, R, N] there");
  check("inputs.x = \"T[B, R, N]", "inputs.x = \"T[N, B, R]", "`x` is T[N, B, R], and T[B, R, N] there");
  check("inputs.y = \"T[B, R, N]", "inputs.y = \"T[B, R]", "`y` is T[B, R], and T[B, R, N] there");
  check("d_y = \"T[B, R, N]", "d_y = \"real[B, R, N]", "`d_y` is real[B, R, N], and `y` is T[B, R, N] there");
  check("d_x = \"T[B, R, N]", "d_x = \"real[B, R, N]", "`d_x` is real[B, R, N], and `x` is T[B, R, N] there");
  check("d_w = \"real[N]", "d_w = \"real[K]", "`d_w` is real[K], and `w` is real[K=N] there");
  check("d_unit = \"f64[1]", "d_unit = \"f64[]", "`d_unit` is f64[], and `unit` is f64[1] there");
  check("d_a = \"f32[]", "d_a = \"f32[N]", "`d_a` is f32[N], and `a` is a scalar there");
  check("t = \"i32[M, 2]", "t = \"i64[M, 2]", "`t` is i64[M, 2], and i32[M, 2] there");
  check("t = \"i32[M, 2]", "t = \"i32[M, 1]", "`t` is i32[M, 1], and i32[M, 2] there");
  check("a = \"f32\"", "a = \"f64\"", "`a` is f64, and f32 there");
  check("\", optional = true", "\"", "`w` is always there, and optional there");
  check("axes.R = { ragged = \"start\", over = \"B\" }\n", "", "`R` is another axis there");
  check("inputs.x", "axes.N = 8\ninputs.x", "`N` is another axis there");
}

TEST_CASE("a forward kernel that saves takes and gives what the other one does") {
  const auto trouble_of = [](const std::string &what, const std::string &by) {
    Diagnostics diags;
    const std::string saving = replaced(replaced(kForward, "\"mix\"", "\"mix_forward\""),
                                        "outputs.y = ", "outputs.kept = \"real[B, R]\"\noutputs.y = ");
    const Spec forward = loaded(kForward, diags), other = loaded(replaced(saving, what, by), diags);
    check_saving_forward(forward, other, diags);
    return said(diags);
  };
  CHECK(trouble_of("= a * x", "= x * a") == "");
  const std::tuple<const char *, const char *, const char *> kWrong[] = {
      {"inputs.x = \"T[B, R, N]\"", "inputs.x = \"f32[B, R, N]\"", "`x` is f32[B, R, N], and T[B, R, N] there"},
      {"inputs.unit = ", "inputs.more = \"f32[N]\"\ninputs.unit = ", "`more` is no input there"},
      {"inputs.unit = \"f64[1]\"\n", "", "`unit` is missing"},
      {", optional = true", "", "`w` is optional there, not here"},
      {"scalars.a = \"f32\"", "scalars.a = \"f64\"", "`a` is f64, and f32 there"},
      {"tables.t = \"i32[M, 2]\"\n", "", "`t` is missing"}};
  for (const auto &[what, by, message] : kWrong) {
    const std::string text = trouble_of(what, by);
    CHECK_MESSAGE(text.find(message) != std::string::npos, text);
  }
}
