// Wrong types, parameters, scalars, axes, batches and schedules.
#include "spec_cases.h"

using namespace kgen;
using namespace kgen::test;

TEST_CASE("types, params and scalars") {
  check_wrong({
      {R"~(types.T = 'f32')~",
       R"~(
1:11: `T` must be a list of element types, such as ["f32", "bf16"]; this is a string [KG0103]
)~"},
      {R"~(types.T = [])~",
       R"~(
1:11: `T` is an empty list [KG0117]
)~"},
      {R"~(types.T = ['f32', 'float', 'f32', 4])~",
       R"~(
1:20: unknown element type `float` (it is called `f32` here) [KG0116]
1:28: f32 is listed twice [KG0118]
1:35: an element type must be a string; this is a whole number [KG0103]
)~"},
      {R"~(types.T = ['f32', 'bf16']
types.only = [['f64'], ['f32', 'f32'], ['f32'], ['f32']])~",
       R"~(
2:16: f64 is not among the choices of `T` [KG0120]
2:24: this row has 2 types for 1 type parameters [KG0119]
2:49: this row is listed twice [KG0118]
)~"},
      {R"~(types.T = ['f32']
types.only = ['f32'])~",
       R"~(
2:15: a row of `only` must be a list, such as ["bf16", "f32"]; this is a string [KG0103]
)~"},
      {R"~(types.T = ['f32']
types.only = [])~",
       R"~(
2:14: `only` is an empty list [KG0117]
)~"},
      {R"~(params.p = 'a b'
params.q = true
params.r = []
params.s = [1, 2.5]
params.t = ['relu', 1]
params.u = [3, 3])~",
       R"~(
1:12: `a b` is neither a number nor the name of a function (a parameter is a number, or the name of a function) [KG0121]
2:12: a parameter must be a number or the name of a function; this is a truth value [KG0103]
3:12: `r` is an empty list [KG0117]
4:16: a list of choices holds names only, or whole numbers only (each choice names a set of functions; a number with a point cannot) [KG0122]
5:21: a list of choices holds names only, or whole numbers only (each choice names a set of functions; a number with a point cannot) [KG0122]
6:16: this choice is listed twice [KG0118]
)~"},
      {R"~(params.p = 'while')~",
       R"~(
1:12: `while` is neither a number nor the name of a function (a parameter is a number, or the name of a function) [KG0121]
)~"},
      {R"~(scalars.a = 'f32[N]'
scalars.b = 'integer'
scalars.c = 1)~",
       R"~(
1:13: the scalar `a` is a single value (write the type alone, as in "f32"; arrays go under `inputs`) [KG0123]
2:14: unknown element type `integer` (the types are `f64`, `f32`, `f16`, `bf16`, `i64`, `i32`, `i16`, `i8`, `u64`, `u32`, `u16`, `u8` and `bool`) [KG0116]
3:13: `c` must be a type such as "f32" (constants go under `params`); this is a whole number [KG0103]
)~"},
      {R"~(types.T = ['i32']
tables.t = 'T[S]')~",
       R"~(
2:13: table `t` must hold whole numbers (its type is a plain one, such as "i32[S]") [KG0149]
)~"},
      {R"~(params.p = ['a', 'a_b']
params.q = ['b_c', 'c'])~",
       R"~(
two choices would both be named `k_a_b_c` ((p = a, q = b_c) and (p = a_b, q = c): rename one of them) [KG0167]
)~"},
  });
}

TEST_CASE("axes") {
  check_wrong({
      {R"~(axes.N = -1
axes.M = []
axes.P = [1, 1, -2]
axes.Q = 1.5
axes.R = {}
axes.S = { multiple_of = 0 }
axes.U = { multiple_of = 'N' }
axes.V = ['N']
axes.W = { times = 3 })~",
       R"~(
1:10: a size cannot be negative: -1 [KG0130]
2:10: `M` is an empty list [KG0117]
3:14: 1 is listed twice [KG0118]
3:17: a size cannot be negative: -2 [KG0130]
4:10: `Q` must be a size, a list of sizes or a table; this is a number with a point [KG0103]
5:6: `R` needs `equals` (axes that are only named need no declaration) [KG0104]
6:26: `multiple_of` must be at least 1 [KG0129]
7:27: `multiple_of` must be known when the code is generated: a number, or an expression over parameters of one value [KG0131]
8:12: a size of the list must be known when the code is generated: a number, or an expression over parameters of one value [KG0131]
9:12: unknown key `times` in `axes.W` (there are `multiple_of`, `equals`, `ragged` and `over`) [KG0102]
)~"},
      {R"~(axes.N = { ragged = 't' })~",
       R"~(
1:6: `N` needs `over` (a ragged axis is written { ragged = "row_start", over = "B" }) [KG0104]
)~"},
      {R"~(axes.N = { over = 'B' })~",
       R"~(
1:6: `N` needs `ragged` (a ragged axis is written { ragged = "row_start", over = "B" }) [KG0104]
)~"},
      {R"~(axes.N = { ragged = 't', over = 'B', multiple_of = 4 }
inputs.x = 'f32[B]'
tables.t = 'i32[B + 1]')~",
       R"~(
1:6: `N` is ragged: its size comes from its table alone [KG0151]
)~"},
      {R"~(axes.N = { ragged = 't', over = 'B' }
inputs.x = 'f32[B, M]'
tables.tt = 'i32[B]')~",
       R"~(
1:22: there is no table `t` (declare it: tables.t = "i64[B + 1]") [KG0152]
)~"},
      {R"~(axes.M = { ragged = 't', over = 'Q' }
inputs.x = 'f32[B, M]'
tables.t = 'i32[B]')~",
       R"~(
1:34: there is no axis `Q` (there are `B`, `M` and `N`) [KG0139]
)~"},
      {R"~(axes.M = { ragged = 't', over = 'B' }
inputs.x = 'f32[B, C, M]'
inputs.y = 'f32[B, M=4]'
inputs.w = 'f32[M]'
inputs.v = 'f32[B, M, C]'
tables.t = 'i32[B]')~",
       R"~(
2:23: `M` is ragged over `B`: in brackets it follows `B`, both plain [KG0154]
3:20: `M` is ragged over `B`: in brackets it follows `B`, both plain [KG0154]
4:17: `M` is ragged over `B`: in brackets it follows `B`, both plain [KG0154]
6:8: table `t` holds row starts: its size must be B + 1 [KG0153]
)~"},
      {R"~(axes.P = { equals = 'Q + 1' }
axes.Q = { equals = 'R' }
axes.R = { equals = 'P' }
axes.U = { equals = 'U' })~",
       R"~(
1:6: the size of `P` depends on itself (it depends on itself by P -> Q -> R -> P: one of these sizes must be given) [KG0155]
4:6: the size of `U` depends on itself (it depends on itself by U -> U: one of these sizes must be given) [KG0155]
)~"},
  });
}

TEST_CASE("batch") {
  check_wrong({
      {R"~(batch.B = 'z'
batch.C = ['z', 3]
batch.D = ['zz', 'z']
batch.E = ['z', 'z']
scratch.s = 'f32[N]'
batch.F = ['s', 'z']
batch.G = [])~",
       R"~(
1:11: `B` must be a list of operands, such as ["x", "z"]; this is a string [KG0103]
2:17: an operand must be a string; this is a whole number [KG0103]
3:13: `zz` is no input or output (did you mean `z`?) [KG0161]
4:18: `z` is listed twice [KG0162]
6:13: `s` is no input or output (each step of the batch has scratch of its own already) [KG0161]
7:11: `G` is an empty list [KG0117]
)~"},
      {R"~(batch.B = ['x', 'z']
inputs.x = 'f32[B, N]')~",
       R"~(
2:17: `B` is a batch dimension, not an axis (a batch axis is added to its operands by kgen: leave it out of the brackets) [KG0138]
)~"},
      {R"~(inputs.x = 'f32[N]'
outputs.y = { type = 'f32[N]', alias = 'x' }
batch.B = ['y', 'z'])~",
       R"~(
3:7: `x` is the memory of `y`: both are batched or none (all outputs are batched: add `x` to the list) [KG0164]
)~"},
  });
}

TEST_CASE("schedule") {
  check_wrong({
      {R"~(schedule.gpu.x = 1
schedule.cuda.y = [1]
schedule.cuda.sm_90.deep.z = 1
schedule.openmp.sm_90.z = 1
schedule.openmp.body = 'x'
schedule.cuda.sm_90.z = 1)~",
       R"~(
1:10: unknown key `gpu` in `schedule` (there are `openmp` and `cuda`) [KG0102]
2:15: unknown key `y` in `schedule.cuda` (there are `precision`, `sm_90`, `share_elements` and `block_threads`) [KG0102]
3:21: unknown key `deep` in `schedule.cuda.sm_90` (there is only `precision`) [KG0102]
4:17: unknown key `sm_90` in `schedule.openmp` (there are `lanes`, `share_elements`, `chunk` and `serial_below`) [KG0102]
5:17: `body` stands inside the table `schedule.openmp` (what follows a [table] header belongs to that table: move `body` above the first header, or write dotted keys such as inputs.x) [KG0108]
6:21: unknown key `z` in `schedule.cuda.sm_90` (there is only `precision`) [KG0102]
)~"},
      {R"~(schedule.openmp.chunk = 100
schedule.openmp.serial_below = -1
schedule.openmp.share_elements = 'few'
schedule.cuda.block_threads = 96
schedule.cuda.chunk = 128)~",
       R"~(
1:25: 100 is no legal value of `chunk` (legal are multiples of 64 from 64 to 1048576) [KG0185]
2:32: -1 is no legal value of `serial_below` (legal are 0 to 1073741824) [KG0185]
3:34: `share_elements` must be a whole number; this is a string [KG0103]
4:31: 96 is no legal value of `block_threads` (legal are powers of two from 64 to 512) [KG0185]
5:15: unknown key `chunk` in `schedule.cuda` (there are `precision`, `sm_90`, `share_elements` and `block_threads`) [KG0102]
)~"},
  });
}

TEST_CASE("-D and --batch") {
  LoadOptions options; // places are those of the command line, one -D a line
  options.defines = {{"bn", "3"}};
  CHECK(messages("params.bm = 4" + kRest, options) ==
        "1:4: -D bn: the spec has no such parameter (did you mean `bm`?) [KG0124]\n");
  options.defines = {{"bm", "x"}, {"eps", "1.2.3"}, {"act", "3"}, {"bk", "9223372036854775808"}};
  CHECK(messages("params.bm = 4\nparams.eps = 0.5\nparams.act = 'relu'\nparams.bk = 1" + kRest, options) ==
        "1:7: -D bm: expected a whole number, not `x` [KG0125]\n2:8: -D eps: expected a number, not `1.2.3` [KG0125]\n"
        "3:8: -D act: expected the name of a function, not `3` [KG0125]\n"
        "4:7: -D bk: expected a whole number, not `9223372036854775808` [KG0125]\n");
  options.defines = {{"T", "bf16"}, {"U", "int"}};
  CHECK(messages("types.T = ['f32', 'bf16']\ntypes.U = ['f32']\ntypes.only = [['f32', 'f32']]" + kRest, options) ==
        "1:6: -D T=bf16: no row of types.only has it [KG0126]\n"
        "2:6: -D U: expected an element type, not `int` (it is called `i32` here) [KG0125]\n");
  options.defines = {};
  options.batch = {{"B", "x"}, {"D", "z, q"}};
  CHECK(messages("inputs.x = 'f32[N]'" + kRest, options) ==
        "`q` is no input or output (there are `x` and `z`) [KG0161]\n");
}

TEST_CASE("a scalar may be called like a key of the root: its value is a type") {
  CHECK(messages("scalars.functions = 'f32'\nscalars.license = 'bool'\nscalars.doc = 'i64'" + kRest) == "");
  CHECK(messages("scalars.doc = 'what it does'" + kRest) != "");
}
