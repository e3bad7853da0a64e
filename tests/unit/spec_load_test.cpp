// What right specs become: order, places, every form of every section, variants.
#include "spec_cases.h"

using namespace kgen;
using namespace kgen::test;

namespace {

Spec load(const std::string &text, const LoadOptions &options = {}) {
  Diagnostics diags;
  auto spec = load_spec("dir/s.toml", text, options, diags);
  CHECK_MESSAGE(spec.has_value(), diags.render(Diagnostics::Format::human, false));
  return spec.value_or(Spec{});
}

std::vector<std::string> suffixes(const Spec &spec) {
  std::vector<std::string> out;
  for (const Variant &variant : variants_of(spec))
    out.push_back(variant.suffix);
  return out;
}

using Strings = std::vector<std::string>;

} // namespace

TEST_CASE("a whole spec, printed") {
  const Spec spec = load(R"~(
kernel = "everything"
doc = """two
lines"""
license = "MIT"
types.T = ["f32", "bf16"]
types.S = ["f32", "f16"]
types.only = [["f32", "f32"], ["bf16", "f32"]]
params.bm = 64
params.eps = 1e-5
params.act = ["relu", "gelu"]
params.shift = [-3, 4]
axes.D = [64, 128]
axes.I = 3
axes.P = { equals = "(H + 2 - I) / 2 + 1", multiple_of = 2 }
axes.Q = "2 * bm"
axes.N = { ragged = "row_start", over = "B" }
inputs.x = "T[..., H]"
inputs.w = { type = "S[(G C), K=D, 1, I]", layout = "strided", optional = true, outside = -inf }
tables.row_start = "i64[B + 1]"
inputs.r = "T[B, N, D]"
scalars.alpha = "T"
tables.col = { type = "i32[L, 2]", sorted = true, unique = true, range = "cdiv(M, bm)", where = "host" }
outputs.y = { type = "f32[M, P]", block = ["bm", "whole"], index = ["col[i][0]", 0], partial = true }
outputs.z = { type = "T[..., H]", alias = "x" }
outputs.a = { type = "f32[M, L]", block = ["squeeze", 4], offset = ["i", "4 * j"], overwrite = true, atomic = true }
scratch.acc = "f32[M]"
grid.j = { axis = "L", block = [4, 8], semantics = "parallel" }
grid.i = { size = "j + col[0][1]", at_most = "M", semantics = "sequential" }
batch.E = ["r", "y", "z", "a", "x"]
schedule.openmp.lanes = false
schedule.cuda.precision = "tf32"
schedule.cuda.sm_90.precision = "tf32x3"
body = '''
y = 0;
'''
)~");
  CHECK("\n" + print(spec) == R"~(
kernel everything
type T = f32 | bf16
type S = f32 | f16
only f32 f32
only bf16 f32
param bm = 64
param eps = 1e-05
params act = relu | gelu
params shift = -3 | 4
axis D = 64 | 128
axis I = 3
axis P multiple of 2 equals (H + 2 - I) / 2 + 1
axis Q equals 2 * bm
axis N ragged by row_start over B
input x: T[..., H]
input w: S[(G C), K=D, 1, I] outside -inf strided optional
input r: T[B, N, D]
output y: f32[M, P] partial block [max(bm, 1), whole] index [col[i][0], 0]
output z: T[..., H] alias x partial
output a: f32[M, L] overwrite atomic block [squeeze, 4] offset [i, 4 * j]
scratch acc: f32[M]
scalar alpha: T
table row_start: i64[B + 1]
table col: i32[L, 2] sorted unique range cdiv(M, bm) on host
grid j: axis L block 4 | 8 parallel
grid i: size j + col[0][1] at most M arbitrary
batch E: r y z a x
schedule openmp.lanes = 0
schedule cuda.precision = tf32
schedule cuda.sm_90.precision = tf32x3
axes rows H G C K D I B N L M P Q
arguments w row_start r alpha col y z a
body
  y = 0;
)~");
  CHECK(spec.doc == "two\nlines");
  CHECK(spec.license == "MIT");
  CHECK(spec.file_name == "s.toml");
}

TEST_CASE("the order is that of the file, across sections and whatever the alphabet says") {
  const Spec spec = load("kernel = 'k'\noutputs.z = 'f32[N]'\nscalars.s = 'f32'\ninputs.a = 'f32[M, N]'\n"
                         "tables.t = 'i32[Q]'\ninputs.A = 'f32[M]'\nbody = ''' z = 0; '''\n");
  Strings names;
  for (const OperandDecl &operand : spec.operands)
    names.push_back(operand.name);
  CHECK(names == Strings{"z", "a", "A"});
  CHECK(spec.axis_order == Strings{"N", "M", "Q"});
  CHECK(spec.arguments.size() == 5);
  CHECK(spec.arguments[1].kind == ArgumentRef::Kind::scalar);
  CHECK(spec.arguments[3].kind == ArgumentRef::Kind::table);
}

TEST_CASE("tables and dotted keys say the same") {
  const Spec dotted = load("kernel = 'k'\nbody = 'z = x;'\ninputs.x = { type = 'f32[N]', block = [4], index = ['i'] }\n"
                           "outputs.z = 'f32[N]'\ngrid.i = { axis = 'N', block = 4 }\n");
  const Spec tables =
      load("kernel = 'k'\nbody = 'z = x;'\n[inputs.x]\ntype = 'f32[N]'\nblock = [\n  4,\n]\nindex = ['i']\n"
           "[outputs]\nz = 'f32[N]'\n[grid]\ni.axis = 'N'\ni.block = 4\n");
  CHECK(print(dotted) == print(tables));
}

TEST_CASE("code knows where it stands") {
  const Spec one = load("kernel = 'k'\noutputs.z = 'f32[N]'\nbody = 'z = 0;'\n");
  CHECK(one.body.text == "z = 0;");
  CHECK(one.body.place.line == 3);
  CHECK(one.body.place.column == 9);
  // The line break after ''' belongs to the quotes.
  const Spec lines = load("kernel = 'k'\noutputs.z = 'f32[N]'\nbody = '''\n  z = 0;\n'''\n");
  CHECK(lines.body.text == "  z = 0;\n");
  CHECK(lines.body.place.line == 4);
  CHECK(lines.body.place.column == 1);
  const Spec inside = load("kernel = 'k'\noutputs.z = 'f32[N]'\nbody = '''z = 0;\n'''\n");
  CHECK(inside.body.place.line == 3);
  CHECK(inside.body.place.column == 11);
  const Spec windows = load("kernel = 'k'\r\noutputs.z = 'f32[N]'\r\nbody = '''\r\nint a;\r\nz = 0;\r\n'''\r\n");
  CHECK(windows.body.text == "int a;\nz = 0;\n");
  CHECK(windows.body.place.line == 4);
  const Spec marked = load("\xEF\xBB\xBFkernel = 'k'\noutputs.z = 'f32[N]'\nbody = 'z = 0;'\n");
  CHECK(marked.kernel_place.column == 11);
  const Spec functions = load("kernel = 'k'\nfunctions = '''\nint f();\n'''\noutputs.z = 'f32[N]'\nbody = 'z = 0;'\n");
  CHECK(functions.functions.place.line == 3);
  CHECK(!one.functions.given());
}

TEST_CASE("places are bytes of the file, through escapes, letters of several bytes and line breaks") {
  // One unknown name each; its column.
  const std::pair<std::string, std::string> cases[] = {
      {"axes.P = { equals = 'N + q' }", "1:26"},
      {"doc = 'é'\naxes.P = { equals = 'N + q' } # é", "2:26"},
      {"axes.\"P\" = { equals = \"N\\t+\\u0020q\" }", "1:34"},
      {"axes.P = { equals = \"\"\"\nN +\n   q\"\"\" }", "3:4"},
      {"axes.P = { equals = \"\"\"N + \\\n    q\"\"\" }", "2:5"},
      {"axes.P = { equals = '''\r\nN +\r\n q''' }", "3:2"},
      {"axes.P.equals = \"\"\"\r\nN +\r\n\\u0020 q\"\"\"", "3:8"},
  };
  for (const auto &[spec, place] : cases) {
    CAPTURE(spec);
    CHECK(messages(spec + kRest).starts_with(place + ": there is no axis, parameter, grid dimension or table `q`"));
  }
}

TEST_CASE("brackets") {
  const Spec spec = load("inputs.x = ' f32 [ (G  C) , K = max(M, 2) ,1, N ] '\ninputs.e = 'i8[]'" + kRest);
  const std::vector<DimDecl> &dims = spec.operands[0].dims;
  REQUIRE(dims.size() == 4);
  CHECK(dims[0].axes == Strings{"G", "C"});
  CHECK(to_string(*dims[1].extent) == "max(M, 2)");
  CHECK(dims[2].kind == DimDecl::Kind::one);
  CHECK(dims[3].place.column == 47);
  CHECK(spec.operands[1].dims.empty());
  CHECK(spec.axis_order == Strings{"G", "C", "K", "M", "N"});
  // A name that only the C header cannot bear, the names of types in brackets, and the kernel's own.
  CHECK(load("kernel = 'k'\ninputs.I = 'f32[E, k]'\noutputs.z = 'f32[E]'\nbody = 'z = 0;'\n").operands.size() == 2);
}

TEST_CASE("blocks given by expressions are raised to 1, numbers stay") {
  const Spec spec =
      load("params.bm = [0, 4]\ngrid.i = { axis = 'N', block = ['bm', 'cdiv(N, 2)', '3 + 1', 7, '1 - 1'] }" + kRest);
  Strings blocks;
  for (const Size &block : spec.grid[0].blocks)
    blocks.push_back(to_string(block));
  CHECK(blocks == Strings{"max(bm, 1)", "max(cdiv(N, 2), 1)", "4", "7", "1"});
}

TEST_CASE("variants: list parameters first, then types, then sizes, the last fastest") {
  const std::string text = "types.T = ['f32', 'bf16']\nparams.bm = 3\nparams.act = ['relu', 'gelu']\nparams.m = [-3]\n"
                           "axes.D = [64, 128]\naxes.E = 4" +
                           kRest;
  const Spec spec = load(text);
  CHECK(suffixes(spec) == Strings{"relu_m3_f32", "relu_m3_f32", "relu_m3_bf16", "relu_m3_bf16", "gelu_m3_f32",
                                  "gelu_m3_f32", "gelu_m3_bf16", "gelu_m3_bf16"});
  const Variant second = variants_of(spec)[1];
  CHECK(second.axes == std::map<std::string, int64_t>{{"D", 128}});
  CHECK(second.types == std::map<std::string, Type>{{"T", Type::f32}});
  CHECK(second.params ==
        std::map<std::string, ParamValue>{{"act", std::string("relu")}, {"bm", int64_t{3}}, {"m", int64_t{-3}}});
  CHECK(suffixes(load(kRest)) == Strings{""});
  CHECK(suffixes(load("types.T = ['f32', 'f16']\ntypes.U = ['i8', 'bool']" + kRest)) ==
        Strings{"f32_i8", "f32_bool", "f16_i8", "f16_bool"});
  CHECK(suffixes(load("types.T = ['f32', 'f16']\ntypes.U = ['i8']\ntypes.only = [['f16', 'i8']]" + kRest)) ==
        Strings{"f16_i8"});
}

TEST_CASE("`real` as an element type is f64 where another operand is, else f32, and names no function") {
  const Spec spec = load("types.T = ['f64', 'bf16', 'i32']\ninputs.w = 'real[N]'\ninputs.x = 'T[N]'\n"
                         "scalars.s = 'real'\nscalars.d = 'f64'" +
                         kRest);
  std::vector<Type> found;
  for (const Variant &variant : variants_of(spec))
    for (const TypeName &name : {spec.operands[0].type, spec.scalars[0].type})
      found.push_back(type_of(name, variant));
  CHECK(found == std::vector<Type>{Type::f64, Type::f64, Type::f32, Type::f32, Type::f32, Type::f32});
  CHECK(suffixes(spec) == Strings{"f64", "bf16", "i32"});
  CHECK(messages("types.T = ['real']\ninputs.w = 'T[N]'" + kRest).starts_with("1:13: unknown element type `real`"));
  CHECK(messages("tables.t = 'real[N]'" + kRest).starts_with("1:13: table `t` must hold whole numbers"));
}

TEST_CASE("-D fixes a choice in the kind that the spec gives it") {
  LoadOptions options;
  options.defines = {{"T", "f64"}, {"bm", "-7"}, {"eps", "1e-3"}, {"act", "mish"}, {"list", "silu"}, {"bm", "8"}};
  const Spec spec = load("types.T = ['f32', 'bf16']\nparams.bm = 3\nparams.eps = 0.5\nparams.act = 'relu'\n"
                         "params.list = ['relu', 'gelu']" +
                             kRest,
                         options);
  CHECK(suffixes(spec) == Strings{"silu_f64"});
  CHECK(spec.params[0].choices == std::vector<ParamValue>{int64_t{8}});
  CHECK(spec.params[1].choices == std::vector<ParamValue>{1e-3});
  CHECK(spec.params[2].choices == std::vector<ParamValue>{std::string("mish")});
  options.defines = {{"T", "bf16"}};
  CHECK(suffixes(load(
            "types.T = ['f32', 'bf16']\ntypes.U = ['i8', 'f32']\ntypes.only = [['f32', 'i8'], ['bf16', 'f32']]" + kRest,
            options)) == Strings{"bf16_f32"});
}

TEST_CASE("numbers made of parameters see -D") {
  LoadOptions options;
  options.defines = {{"n", "8"}, {"low", "-inf"}};
  const Spec spec =
      load("params.n = 4\nparams.low = 0.5\naxes.D = ['n', '2 * n']\naxes.E = { multiple_of = 'n / 2' }\n"
           "inputs.x = { type = 'f32[D]', outside = 'low' }\ninputs.y = { type = 'i8[D]', outside = 'n' }" +
               kRest,
           options);
  CHECK(spec.axes[0].fixed == std::vector<int64_t>{8, 16});
  CHECK(spec.axes[1].multiple_of == 4);
  CHECK(*spec.operands[0].outside < -1e308);
  CHECK(*spec.operands[1].outside == 8);
}

TEST_CASE("--batch adds a batch") {
  LoadOptions options;
  options.batch = {{"B", "x, z"}};
  const Spec spec = load("inputs.x = 'f32[N]'" + kRest, options);
  REQUIRE(spec.batch.size() == 1);
  CHECK(spec.batch[0].operands == Strings{"x", "z"});
  CHECK(spec.axis_order == Strings{"N"});
}

TEST_CASE("numbers of TOML: inf, nan and wide integers") {
  const Spec spec = load(
      "inputs.x = { type = 'f32[N]', outside = nan }\ninputs.y = { type = 'i64[N]', outside = -9223372036854775808 }\n"
      "inputs.w = { type = 'u8[N]', outside = 255 }\nparams.top = inf\nparams.h = 0x10" +
      kRest);
  CHECK(*spec.operands[0].outside != *spec.operands[0].outside);
  CHECK(*spec.operands[1].outside == -9223372036854775808.0);
  CHECK(spec.params[1].choices[0] == ParamValue(int64_t{16}));
}
