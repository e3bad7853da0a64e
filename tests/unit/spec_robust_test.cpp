// Garbage in: a message, in time, and never a crash.
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>

#include "spec_cases.h"

using namespace kgen;
using namespace kgen::test;

namespace {

// Milliseconds; code with sanitizers is slow, and only what grows out of bounds counts there.
#ifdef __SANITIZE_ADDRESS__
constexpr double kMostTime = 10000;
#else
constexpr double kMostTime = 2000;
#endif

// Milliseconds that loading takes; it must fail.
double time_to_refuse(const std::string &text) {
  const std::clock_t start = std::clock(); // of this process: the machine may be busy
  Diagnostics diags;
  CHECK(!load_spec("s", text, {}, diags).has_value());
  CHECK(diags.has_errors());
  diags.render(Diagnostics::Format::human, false);
  return 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

std::string repeat(const std::string &text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += text;
  return out;
}

const std::string kValid = R"~(kernel = "matmul"
types.T = ["f32", "bf16"]
params.bm = 64
params.act = ["relu", "gelu"]
axes.D = [64, 128]
axes.P = { equals = "(H + 2*bm - D) / 2 + 1" }
tables.col = { type = "i32[S]", sorted = true, range = "cdiv(K, bm)" }
inputs.x = { type = "T[..., (G C), K=64, H]", outside = -inf, optional = true }
inputs.y = { type = "f32[K, N]", block = ["bm", "squeeze"], index = ["col[s]", "j"] }
scalars.alpha = "f32"
outputs.z = { type = "f32[K, N]", partial = true }
grid.j = { axis = "N", block = [4, 8], semantics = "parallel" }
grid.s = { size = "S", at_most = "min(S, 7)" }
schedule.cuda.sm_90.precision = "tf32"
functions = 'real f(real v) { return v; }'
body = '''
if (first(z)) z = 0;
z += dot(x, y, K);
'''
)~";

} // namespace

TEST_CASE("bytes that are no text") {
  CHECK(messages(std::string("doc = 'a\x01") + "b'" + kRest) == "1:9: this is a control character [KG0105]\n");
  CHECK(messages("# \xff" + kRest) == "1:3: this byte is not UTF-8 [KG0105]\n");
  CHECK(messages("# é\n# \xed\xa0\x80" + kRest) == "2:3: this byte is not UTF-8 [KG0105]\n");
  CHECK(messages(std::string("a\0b", 3)) == "1:2: this is a control character [KG0105]\n");
  CHECK(messages("a = 1\rb = 2") == "1:6: this is a control character [KG0105]\n");
}

TEST_CASE("text that breaks the parser of TOML itself is an error at its line") {
  CHECK(messages("# one\na = [ }\nb = 1\n") == "2:1: this line is not TOML [KG0101]\n");
}

TEST_CASE("too deep, too long, too many") {
  const std::pair<std::string, std::string> cases[] = {
      {"x = " + repeat("[", 100'000), "1:37: nested too deeply [KG0107]\n"},
      {"x = " + repeat("{a=", 100'000), "1:101: nested too deeply [KG0107]\n"},
      {repeat("a.", 300'000) + "a = 1", "1:34: nested too deeply [KG0107]\n"},
      {"[" + repeat("a.", 300'000) + "a]", "1:35: nested too deeply [KG0107]\n"},
      {repeat("#", 10'000'000), "the spec is too large: more than 1048576 bytes [KG0106]\n"},
      {"axes.A = [" + repeat("1,", 30'000) + "1]", "the spec is too large: more than 20000 values [KG0106]\n"},
  };
  for (const auto &[text, said] : cases) {
    CHECK(messages(text) == said);
    CHECK(time_to_refuse(text) < kMostTime);
  }
  // Brackets and dots in strings and comments are no nesting.
  CHECK(messages("doc = '" + repeat("[.", 1000) + "' # " + repeat("{.", 1000) + "\nlicense = \"\"\"\\\"\"\"" +
                 repeat("[", 100) + "\"\"\"\"\"" + kRest) == "");
}

TEST_CASE("counts are bounded") {
  std::string types, many, grid, axes, dims = "A";
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i);
    types += i < 6 ? "types.T" + n + " = ['f32', 'f16', 'f64', 'i32']\n" : "";
    many += "inputs.x" + n + " = 'f32[N]'\n";
    grid += i < 17 ? "grid.g" + n + " = { size = 2 }\n" : "";
    axes += i < 65 ? "axes.A" + n + " = 3\n" : "";
    dims += i < 64 ? ", A" + n : "";
  }
  CHECK(messages(types + kRest) ==
        "the choices multiply to more than 1024 sets of functions (write types.only = [...], or "
        "fix some choices with -D) [KG0166]\n");
  CHECK(messages(many + kRest) == "more than 256 arguments [KG0140]\n");
  CHECK(messages(grid + kRest) == "more than 16 grid dimensions [KG0140]\n");
  CHECK(messages(axes + kRest) == "more than 64 axes [KG0140]\n");
  CHECK(messages("inputs.x = 'f32[" + dims + "]'" + kRest) == "1:16: more than 64 dimensions [KG0140]\n");
}

TEST_CASE("many mistakes take no long time") {
  std::string inputs, names, exprs;
  for (int i = 0; i < 9000; ++i) {
    inputs += "inputs.x" + std::to_string(i) + " = 'f31[N" + std::to_string(i) + "]'\n";
    names += "params.some_long_name" + std::to_string(i) + " = 'no name'\n";
    exprs += "axes.A" + std::to_string(i) + " = 'B" + std::to_string(i) + " + 1'\n";
  }
  CHECK(time_to_refuse(inputs + kRest) < kMostTime);
  CHECK(time_to_refuse(names + kRest) < kMostTime);
  CHECK(time_to_refuse(exprs + kRest) < kMostTime);
  CHECK(time_to_refuse("inputs.x = 'f32[" + repeat("A,", 400'000) + "A]'" + kRest) < kMostTime);
  CHECK(time_to_refuse("inputs.x = 'f32[" + repeat("(", 400'000) + "A]'" + kRest) < kMostTime);
  CHECK(time_to_refuse("inputs.x = '" + repeat("x", 900'000) + "[N]'" + kRest) < kMostTime);
  CHECK(time_to_refuse("inputs." + repeat("x", 900'000) + " = 'f32[N]'" + kRest) < kMostTime);
}

TEST_CASE("random changes of a spec never crash") {
  Diagnostics diags;
  REQUIRE_MESSAGE(load_spec("s", kValid, {}, diags).has_value(), diags.render(Diagnostics::Format::human, false));
  std::mt19937 random(1);
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  const std::string interesting = "[](){}.,='\"\\#\n\r +-*/%<>!?:0129abMNKxT_\t\x7f\xc3\xa9\xff";
  for (int round = 0; round < 6000; ++round) {
    std::string text = kValid;
    for (size_t changes = 1 + below(4); changes > 0; --changes) {
      const size_t at = below(text.size());
      const size_t length = std::min(1 + below(8), text.size() - at);
      switch (below(4)) {
      case 0:
        text[at] = interesting[below(interesting.size())];
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, 1, interesting[below(interesting.size())]);
        break;
      default:
        text.insert(below(text.size()), text.substr(at, length));
      }
      if (text.empty())
        text = "x";
    }
    Diagnostics said;
    const auto spec = load_spec("s", text, {}, said);
    CHECK(spec.has_value() != said.has_errors());
    if (spec) {
      print(*spec);
      variants_of(*spec);
    }
    for (const auto format : {Diagnostics::Format::human, Diagnostics::Format::json})
      CHECK(said.render(format, true).empty() == said.empty());
    for (const Diagnostic &d : said.sorted())
      CHECK((d.place.line == 0 || (d.place.column >= 1 && d.place.length >= 1)));
  }
  for (size_t cut = 0; cut < kValid.size(); cut += 3) {
    Diagnostics said;
    CHECK(!load_spec("s", kValid.substr(0, cut), {}, said).has_value());
  }
}

TEST_CASE("functions come from below the spec's folder or an include folder, and from nowhere else") {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("kgen_spec_test_" + std::to_string(std::random_device()()));
  fs::create_directories(root / "specs/sub");
  fs::create_directories(root / "include");
  std::ofstream(root / "specs/sub/f.h") << "real f(real v) { return v; }\n";
  std::ofstream(root / "include/g.h") << "real g(real v) { return v; }\n";
  std::ofstream(root / "secret.h") << "secret\n";
  std::ofstream(root / "specs/binary.h") << "a\xff";
  fs::create_symlink(root / "secret.h", root / "specs/link.h");
  fs::create_symlink(root / "specs/sub", root / "specs/inner");
  auto take = [&](const std::string &name) {
    LoadOptions options;
    options.include_roots = {(root / "include").string()};
    Diagnostics diags;
    const auto spec =
        load_spec((root / "specs/s.toml").string(), "functions_from = '" + name + "'" + kRest, options, diags);
    if (spec)
      return spec->functions.text + " at " + fs::path(spec->functions.place.file).lexically_relative(root).string() +
             ":" + std::to_string(spec->functions.place.line);
    return diags.sorted().at(0).text;
  };
  CHECK(take("sub/f.h") == "real f(real v) { return v; }\n at specs/sub/f.h:1");
  CHECK(take("inner/f.h") == "real f(real v) { return v; }\n at specs/inner/f.h:1");
  CHECK(take("g.h") == "real g(real v) { return v; }\n at include/g.h:1");
  CHECK(take("link.h") == "cannot take functions from `link.h`: a link leads out of the folder");
  CHECK(take("sub") == "cannot take functions from `sub`: it is a folder");
  CHECK(take("binary.h") == "cannot take functions from `binary.h`: it is not UTF-8 text without control characters");
  CHECK(take("../secret.h") ==
        "cannot take functions from `../secret.h`: it must be a path without `..` below the folder of the spec");
  CHECK(take((root / "secret.h").string()).find("it must be a path without `..`") != std::string::npos);
  fs::remove_all(root);
}
