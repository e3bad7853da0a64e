// Functions that differ in element types alone become one template.
#include "emit_testing.h"

#include "emit/text/aligned_text.h"
#include "emit/text/write_once.h"

using namespace kgen;

namespace {

const std::vector<TypeParameter> kFloats = {{"T", {Type::f32, Type::f64}}};
const std::vector<TypeParameter> kWithHalves = {{"T", {Type::f32, Type::bf16}}};

// The template of two texts, in which the functions are k_a and k_b; empty if they do not align.
std::string aligned(const std::vector<TypeParameter> &parameters, const std::string &first, const std::string &second,
                    const std::set<std::string> &templates = {}) {
  const std::vector<StemNames> stems = {{{"k_a", "k_b"}, "k"}, {{"KA", "KB"}, "K"}};
  const auto made = align({first, second}, parameters, stems, templates);
  return made ? made->text : "";
}

std::string in_function(const std::string &statement) { return "template <class T>\nvoid k() { " + statement + " }"; }

// Of one statement in a function.
std::string statement(const std::vector<TypeParameter> &parameters, const std::string &first,
                      const std::string &second) {
  return aligned(parameters, "void k_a() { " + first + " }", "void k_b() { " + second + " }");
}

const std::string kScale = R"(
kernel = "scale"
doc = "y = 2 * x"
types.T = ["f32", "f64", "bf16"]
inputs.x = "T[N]"
outputs.y = "T[N]"
body = 'y = 2 * x;'
)";

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

} // namespace

TEST_CASE("a type that differs is the parameter, or what is stored or computed of it") {
  CHECK(statement(kFloats, "float s = x;", "double s = x;") == in_function("T s = x;"));
  CHECK(statement(kWithHalves, "float s = x;", "float s = x;") == "void k() { float s = x; }");
  CHECK(statement(kWithHalves, "float* s = x;", "uint16_t* s = x;") == in_function("Stored<T>* s = x;"));
}

TEST_CASE("a literal is the number that both round to, and no other") {
  CHECK(statement(kFloats, "s = 0.5f;", "s = 0.5;") == in_function("s = T(0.5);"));
  CHECK(statement(kFloats, "s = 0.1f;", "s = 0.1;") == in_function("s = T(0.1);"));
  CHECK(statement(kFloats, "s = 0.1f;", "s = 0.2;") == "");
  CHECK(statement(kFloats, "s = 0.5;", "s = 0.5f;") == "");
}

TEST_CASE("numbers that go with the size of an element say so, with parentheses where they bind less") {
  CHECK(statement(kFloats, "n = 4;", "n = 8;") == in_function("n = kBytes<T>;"));
  CHECK(statement(kFloats, "n = m * 4;", "n = m * 2;") == in_function("n = m * (16 / kBytes<T>);"));
  CHECK(statement(kFloats, "n = m - 12;", "n = m - 16;") == in_function("n = m - (kBytes<T> + 8);"));
  CHECK(statement(kFloats, "n = m + 3;", "n = m + 1;") == in_function("n = m + 16 / kBytes<T> - 1;"));
  CHECK(statement(kWithHalves, "n = 8;", "n = 6;") == in_function("n = kBytes<T> + kBytes<Value<T>>;"));
  CHECK(statement(kFloats, "n = 3;", "n = 5;") == "");
}

TEST_CASE("a factor that elements of one byte go without is there for all") {
  const std::vector<TypeParameter> bytes = {{"T", {Type::f32, Type::i8}}};
  CHECK(statement(bytes, "n = m * 4;", "n = m;") == in_function("n = m * kBytes<T>;"));
  const std::vector<TypeParameter> only = {{"T", {Type::i8, Type::u8}}};
  CHECK(statement(only, "n = a;", "n = b;") == ""); // and the search ends
}

TEST_CASE("a conversion that only halves need is a function that does nothing for the others") {
  CHECK(statement(kWithHalves, "s = x[i];", "s = from_bf16(x[i]);") == in_function("s = to_value<T>(x[i]);"));
  CHECK(statement(kWithHalves, "y[i] = f(a, (b));", "y[i] = to_bf16(f(a, (b)));") ==
        in_function("y[i] = to_stored<T>(f(a, (b)));"));
  CHECK(statement(kFloats, "s = -INFINITY;", "s = -double(INFINITY);") == in_function("s = -T(INFINITY);"));
  CHECK(statement(kFloats, "s = x;", "s = double(x);") == ""); // x may be anything
  CHECK(statement(kWithHalves, "s = 0.0f;", "s = uint16_t{0};") == in_function("s = Stored<T>(0);"));
}

TEST_CASE("the own names of functions are those of the template, with arguments where one is meant") {
  CHECK(aligned(kFloats, "void k_a(float x) { k_a_rows(x); }", "void k_b(double x) { k_b_rows(x); }", {"k_rows"}) ==
        "template <class T>\nvoid k(T x) { k_rows<T>(x); }");
  CHECK(aligned(kFloats, "void k_a(float x) { k_a_rows<1>(x); }", "void k_b(double x) { k_b_rows<1>(x); }",
                {"k_rows"}) == "template <class T>\nvoid k(T x) { k_rows<1, T>(x); }");
}

TEST_CASE("what differs in more than types stays apart") {
  CHECK(statement(kFloats, "a = b;", "a = c;") == "");
  CHECK(statement(kFloats, "a = b;", "a = b + c;") == "");
  CHECK(statement(kWithHalves, "s = x[i];", "s = from_f16(x[i]);") == "");
}

TEST_CASE("an emitted file has a kernel of three types once, and one macro for three functions for C") {
  for (const auto &[suffix, start, function] :
       {std::tuple{"_openmp.cpp", "#define SCALE", "void scale"}, {"_cuda.cu", "scale_kernel(", "scale_kernel("}}) {
    const std::string text = emitted_text(kScale, suffix, start);
    CHECK(count(text, std::string(function) + "_f32") == 0);
    CHECK(has(text, "Stored<T>"));
    CHECK(count(text, "extern \"C\" int scale_") == 1);
    CHECK(has(text, "SCALE_FUNCTIONS(f32, float, float)"));
    CHECK(has(text, "SCALE_FUNCTIONS(bf16, uint16_t, BF16)"));
  }
}

TEST_CASE("what differs in its own name alone is written once, and called by the first one's name") {
  std::vector<std::string> texts = {"struct ASpace { explicit ASpace(int n) { f(n); } };",
                                    "// Sums.\nvoid a_part1(int n) { g(n); }",
                                    "void a() { const ASpace space(1); a_part1(1); }",
                                    "struct BSpace { explicit BSpace(int n) { f(n); } };",
                                    "// Sums.\nvoid b_part1(int n) { g(n); }",
                                    "void b() { const BSpace space(2); b_part1(2); }",
                                    "struct CSpace { explicit CSpace(int n) { f(n); } };",
                                    "void c() { const CSpace space(2); a_part1(2); }"};
  PrintedNames names;
  names.add("c_f32", {"c", "float", {}});
  write_once(texts, {}, names);
  REQUIRE(texts.size() == 4);
  CHECK(texts[3] == "void b() { const ASpace space(2); a_part1(2); }");
  CHECK(names.of("BSpace") == "ASpace");
  CHECK(names.of("b_part1") == "a_part1");
  CHECK(names.of("c_f32") == "b<float>"); // as its calls have become the same
  CHECK(names.of("a") == "a");
}

TEST_CASE("what differs in a comment, and a text of several things, is written each time") {
  std::vector<std::string> texts = {"// Sums.\nvoid a() { f(); }", "// Products.\nvoid b() { f(); }",
                                    "void c() { f(); }\nvoid d() { f(); }", "void e() { f(); }\nvoid d() { f(); }"};
  const std::vector<std::string> before = texts;
  PrintedNames names;
  write_once(texts, {}, names);
  CHECK(texts == before);
}

TEST_CASE("what differs in a size that it was made for is one template") {
  std::vector<std::string> texts = {"struct AD64Space { int64_t x = 64; };",
                                    "template <class T>\nvoid a_d64_part1(T n) { f(n * 64, 128); }",
                                    "void a_d64() { const AD64Space space; a_d64_part1<T>(64); }",
                                    "struct AD32Space { int64_t x = 32; };",
                                    "template <class T>\nvoid a_d32_part1(T n) { f(n * 32, 128); }",
                                    "void a_d32() { const AD32Space space; a_d32_part1<T>(32); }"};
  PrintedNames names;
  names.add("a_f32_d32", {"a_d32", "float", {{"T", "T", "float", "T", "float"}}, ""});
  write_once(texts, {{"D", 64}, {"D", 32}}, names);
  REQUIRE(texts.size() == 3);
  CHECK(texts[0] == "template <int kD>\nstruct ASpace { int64_t x = kD; };");
  CHECK(texts[1] == "template <class T, int kD>\nvoid a_part1(T n) { f(n * kD, 128); }");
  CHECK(texts[2] == "template <int kD>\nvoid a() { const ASpace<kD> space; a_part1<T, kD>(kD); }");
  CHECK(names.of("AD32Space") == "ASpace<32>");
  CHECK(names.of("a_f32_d32", "int32_t") == "a<int32_t, float, 32>");
  CHECK(names.in_template("a_f32_d32") == "a<T, 32>");
}

TEST_CASE("what differs in more than the size that it was made for stays apart") {
  std::vector<std::string> texts = {"void a_d64() { f(64); g(4); }", "void a_d32() { f(32); g(2); }"};
  const std::vector<std::string> before = texts;
  PrintedNames names;
  write_once(texts, {{"D", 64}, {"D", 32}}, names);
  CHECK(texts == before);
}

TEST_CASE("functions are not called as types of CUDA") {
  const std::string one = "kernel = \"int4\"\ninputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\nbody = 'y = 2 * x;'\n";
  const std::string text = emitted_text(one, "_cuda.cu", "#include");
  CHECK(text.find("int4_kernel<int32_t>(") != std::string::npos);
  CHECK(text.find(" int4<") == std::string::npos);
}
