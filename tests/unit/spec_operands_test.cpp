// Wrong operands, tables and grids.
#include "spec_cases.h"

using namespace kgen;
using namespace kgen::test;

TEST_CASE("brackets") {
  check_wrong({
      {R"~(inputs.x = 'f32[A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19, A20, A21, A22, A23, A24, A25, A26, A27, A28, A29, A30, A31, A32, A33, A34, A35, A36, A37, A38, A39, A40, A41, A42, A43, A44, A45, A46, A47, A48, A49, A50, A51, A52, A53, A54, A55, A56, A57, A58, A59, A60, A61, A62, A63]')~",
       R"~(
more than 64 axes [KG0140]
)~"},
      {R"~(inputs.x = 'f32')~",
       R"~(
1:13: `f32` has no brackets (name its dimensions, as in "f32[M, N]"; "f32[]" is a single value) [KG0132]
)~"},
      {R"~(inputs.x = 'f32[N')~",
       R"~(
1:16: this bracket is not closed [KG0133]
)~"},
      {R"~(inputs.x = 'f32[N)')~",
       R"~(
1:16: this bracket is not closed [KG0133]
)~"},
      {R"~(inputs.x = 'f32[N] y')~",
       R"~(
1:20: `y` stands after the brackets [KG0134]
)~"},
      {R"~(inputs.x = 'f32[N, ]')~",
       R"~(
1:19: a dimension is missing here [KG0135]
)~"},
      {R"~(inputs.x = 'f32[, N]')~",
       R"~(
1:17: a dimension is missing here [KG0135]
)~"},
      {R"~(inputs.x = 'f32[N, 2]')~",
       R"~(
1:20: `2` is no dimension (a dimension is an axis: write X=2 with an axis X of your naming) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[2*N]')~",
       R"~(
1:17: `2*N` is no dimension (a dimension is an axis: write X=2*N with an axis X of your naming) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[N, ...]')~",
       R"~(
1:20: `...` is no dimension (`...` stands for all dimensions before: it comes first) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[(N)]')~",
       R"~(
1:17: `(N)` is no dimension (a split dimension has two or more axes: (G C); one axis needs no parentheses) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[(G, C)]')~",
       R"~(
1:17: `(G, C)` is no dimension (a split dimension is written (G C): axes separated by blanks) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[(G C) H]')~",
       R"~(
1:17: `(G C) H` is no dimension (a split dimension is written (G C): two or more axes, outermost first) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[(G 2)]')~",
       R"~(
1:17: `(G 2)` is no dimension (a split dimension is written (G C): axes separated by blanks) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[(G C=2)]')~",
       R"~(
1:17: `(G C=2)` is no dimension (write the axis alone, and its extent as `axes.C = 2`) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[(G C=N/2)]')~",
       R"~(
1:17: `(G C=N/2)` is no dimension (write the axis alone, and its extent as `axes.C = { equals = "N/2" }`) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[N, N]')~",
       R"~(
1:20: axis `N` stands twice in one array (give one of them a name of its own: a square matrix is [M, K=M]) [KG0137]
)~"},
      {R"~(inputs.x = 'f32[(N N)]')~",
       R"~(
1:17: axis `N` stands twice in one array (give one of them a name of its own: a square matrix is [M, K=M]) [KG0137]
)~"},
      {R"~(inputs.x = 'f32[N=]')~",
       R"~(
1:19: the expression is empty [KG0168]
)~"},
      {R"~(inputs.x = 'f32[N==4]')~",
       R"~(
1:17: `N==4` is no dimension (a dimension is an axis: write X=N==4 with an axis X of your naming) [KG0136]
)~"},
      {R"~(inputs.x = 'f32[K=-4]')~",
       R"~(
1:19: a size cannot be negative: -4 [KG0130]
)~"},
      {R"~(inputs.x = 'float32[N]'
inputs.y = 'qint4[N]'
inputs.u = 'fp32[N]')~",
       R"~(
1:13: unknown element type `float32` (it is called `f32` here) [KG0116]
2:13: unknown element type `qint4` (the types are `f64`, `f32`, `f16`, `bf16`, `i64`, `i32`, `i16`, `i8`, `u64`, `u32`, `u16`, `u8` and `bool`) [KG0116]
3:13: unknown element type `fp32` (it is called `f32` here) [KG0116]
)~"},
  });
}

TEST_CASE("operands") {
  check_wrong({
      {R"~(inputs.x = 7)~",
       R"~(
1:12: `x` must be a type such as "f32[M, N]", or a table; this is a whole number [KG0103]
)~"},
      {R"~(inputs.x = { block = [1] })~",
       R"~(
1:8: `x` needs `type` (write type = "f32[M, N]" in the table) [KG0104]
)~"},
      {R"~(inputs.x = ['f32[N]'])~",
       R"~(
1:12: `x` must be a type such as "f32[M, N]", or a table; this is a list [KG0103]
)~"},
      {R"~(inputs.x = { type = 'f32[N]', alias = 'z', partial = true, atomic = false, overwrite = true })~",
       R"~(
1:31: `alias` cannot be said of an input, only of an output [KG0128]
1:44: `partial` cannot be said of an input, only of an output [KG0128]
1:60: `atomic` cannot be said of an input, only of an output [KG0128]
1:76: `overwrite` cannot be said of an input, only of an output [KG0128]
)~"},
      {R"~(scratch.s = { type = 'f32[N]', optional = true, layout = 'strided', index = [0] })~",
       R"~(
1:32: `optional` cannot be said of scratch, only of an input or an output [KG0128]
1:49: `layout` cannot be said of scratch, only of an input or an output [KG0128]
1:69: `index` cannot be said of scratch, only of an input or an output [KG0128]
)~"},
      {R"~(inputs.x = { type = 'f32[N]', optional = 1, layout = 'columns', outside = '-inf' })~",
       R"~(
1:42: `optional` must be true or false; this is a whole number [KG0103]
1:54: `columns` is no choice of `layout` (a layout is "strided" (its strides are arguments) or "dense", the default) [KG0127]
1:75: `outside` must be a number, `inf`, `-inf` or `nan` (without quotes), or a parameter; this is a string [KG0103]
)~"},
      {R"~(inputs.x = { type = 'i8[N]', outside = -inf }
inputs.y = { type = 'u8[N]', outside = -1 }
inputs.w = { type = 'i32[N]', outside = 0.5 }
inputs.b = { type = 'bool[N]', outside = 1 })~",
       R"~(
1:40: the `outside` of `x` is no value of type i8 [KG0143]
2:40: the `outside` of `y` is no value of type u8 [KG0143]
3:41: the `outside` of `w` is no value of type i32 [KG0143]
)~"},
      {R"~(inputs.x = { type = 'f32[N]', block = 4, index = ['n'] })~",
       R"~(
1:39: `block` must be a list with one entry per dimension; this is a whole number [KG0103]
1:52: there is no axis, parameter, grid dimension or table `n` (did you mean `N`?) [KG0175]
)~"},
      {R"~(inputs.x = { type = 'f32[N]', index = [0] })~",
       R"~(
1:31: `x` needs `block` (`index` and `offset` place a block: say its size, one entry per dimension) [KG0104]
)~"},
      {R"~(inputs.x = { type = 'f32[N]', block = [4] })~",
       R"~(
1:31: `x` needs `index` (say which block a step sees: `index` counts blocks, `offset` counts elements) [KG0104]
)~"},
      {R"~(inputs.x = { type = 'f32[N]', block = [4], index = [0], offset = [0] })~",
       R"~(
1:66: `index` and `offset` cannot both be given (`index` counts blocks, `offset` counts elements: keep the one that is meant) [KG0142]
)~"},
      {R"~(inputs.x = { type = 'f32[M, (G C), 1]', block = [1, 2], index = [0, 0, 0, 0] })~",
       R"~(
1:49: `block` has 2 entries instead of 4 [KG0141]
)~"},
      {R"~(inputs.x = { type = 'f32[N]', block = [0], index = [0] }
inputs.y = { type = 'f32[N]', block = ['-1'], index = [0] }
inputs.w = { type = 'f32[N]', block = ['half'], index = [0.5] })~",
       R"~(
1:40: a block must be at least 1 [KG0129]
2:40: a block must be at least 1 [KG0129]
3:41: there is no axis, parameter, grid dimension or table `half` (there is only `N`) [KG0175]
3:58: an entry of `index` must be a whole number or an expression in quotes; this is a number with a point [KG0103]
)~"},
      {R"~(outputs.y = { type = 'f32[N]', alias = 'a' }
inputs.b = 'f32[N]')~",
       R"~(
1:41: `a` is no input (there is only `b`) [KG0144]
)~"},
      {R"~(outputs.y = { type = 'f32[N]', alias = 'z' })~",
       R"~(
1:41: `z` is no input [KG0144]
)~"},
      {R"~(inputs.a = 'f32[N]'
outputs.x = { type = 'f32[N]', alias = 'a' }
outputs.y = { type = 'f32[N]', alias = 'a' })~",
       R"~(
3:41: `a` is the memory of another output already [KG0145]
)~"},
      {R"~(inputs.a = 'f32[N]'
outputs.y = { type = 'f16[N]', alias = 'a' }
inputs.b = 'f32[N, M]'
outputs.x = { type = 'f32[M, N]', alias = 'b' })~",
       R"~(
2:23: `y` and its alias `a` differ in type or shape [KG0146]
4:23: `x` and its alias `b` differ in type or shape [KG0146]
)~"},
      {R"~(inputs.a = { type = 'f32[N]', layout = 'strided' }
outputs.y = { type = 'f32[N]', alias = 'a' })~",
       R"~(
2:9: `y` and its alias `a` differ in layout [KG0147]
)~"},
      {R"~(inputs.a = { type = 'f32[N]', optional = true }
outputs.y = { type = 'f32[N]', alias = 'a' })~",
       R"~(
2:41: `a` is optional, and one array with its alias: it cannot be absent [KG0148]
)~"},
  });
}

TEST_CASE("tables") {
  check_wrong({
      {R"~(tables.t = 'f32[S]'
tables.u = 'i32[]'
tables.v = { sorted = 1 }
tables.w = { type = 'i32[S]', where = 'gpu', unique = 'yes', range = 1.5 }
tables.q = 3)~",
       R"~(
1:13: table `t` must hold whole numbers (its type is a plain one, such as "i32[S]") [KG0149]
2:12: table `u` has no dimensions (a single number is a scalar: scalars.u = "i32") [KG0150]
3:8: `v` needs `type` (write type = "i32[S]" in the table) [KG0104]
3:23: `sorted` must be true or false; this is a whole number [KG0103]
4:39: `gpu` is no choice of `where` (a table is on the "host" or on the "device", the default) [KG0127]
4:55: `unique` must be true or false; this is a string [KG0103]
4:70: `range` must be a whole number or an expression in quotes; this is a number with a point [KG0103]
5:12: `q` must be a type such as "i32[S]", or a table; this is a whole number [KG0103]
)~"},
      {R"~(tables.t = 'i32[t[0]]')~",
       R"~(
1:17: `t` is a table: it cannot stand in the size of an array [KG0177]
)~"},
  });
}

TEST_CASE("grid") {
  check_wrong({
      {R"~(grid.i = 4
grid.j = {}
grid.k = { axis = 'N', size = 3 }
grid.l = { axis = 'N' }
grid.m = { size = 3, block = 2 }
grid.n = { axis = 'M', block = 1, at_most = 3 }
inputs.x = 'f32[M]')~",
       R"~(
1:10: `i` must be a table such as { axis = "M", block = 128 }; this is a whole number [KG0103]
2:6: `j` needs `axis` (a dimension goes over an axis in blocks, { axis = "M", block = 128 }, or has a number of steps, { size = "n" }) [KG0104]
3:6: `axis` and `size` cannot both be given (the number of steps follows from axis and block) [KG0156]
4:6: `l` needs `block` (say how many elements of the axis a step takes: block = 128) [KG0104]
4:20: axis `N` is blocked by two grid dimensions [KG0160]
5:6: `block` goes with `axis`, not with `size` (write { axis = ..., block = ... }, or give the operands their own `block` and `index`) [KG0157]
6:6: `at_most` goes with `size`, not with `axis` [KG0158]
)~"},
      {R"~(grid.i = { axis = 'M', block = 1 }
grid.j = { axis = 'N', block = [4, 0, '0', 1.5] }
grid.k = { axis = 'N', block = [] , semantics = 'serial' }
grid.l = { size = -1 }
grid.m = { axis = 'z', block = 1 })~",
       R"~(
1:20: there is no axis `M` (there is only `N`) [KG0139]
2:36: a block must be at least 1 [KG0129]
2:40: a block must be at least 1 [KG0129]
2:44: `block` must be a whole number or an expression in quotes; this is a number with a point [KG0103]
3:20: axis `N` is blocked by two grid dimensions [KG0160]
3:32: `block` is an empty list [KG0117]
3:49: `serial` is no choice of `semantics` (a dimension is "parallel" or "arbitrary" (in order); left out, kgen finds it) [KG0127]
4:19: a size cannot be negative: -1 [KG0130]
5:20: there is no axis `z` (`z` is an output) [KG0139]
)~"},
      {R"~(grid.i = { size = 'j' }
grid.j = { size = 'i + k' }
grid.k = { size = 'N', at_most = 'i' })~",
       R"~(
1:20: `j` is a grid dimension: it cannot stand in the size of a grid dimension (a size may use the dimensions outside it: those that stand before it in the file) [KG0177]
2:24: `k` is a grid dimension: it cannot stand in the size of a grid dimension (a size may use the dimensions outside it: those that stand before it in the file) [KG0177]
3:35: `i` is a grid dimension: it cannot stand in `at_most` [KG0177]
)~"},
      {R"~(grid.i = { size = 't[0]', semantics = 'parallel' }
tables.t = 'i32[N]')~",
       R"~(
1:20: `i` is parallel and its size comes from a table: it needs `at_most` (add at_most = ..., an expression over sizes: steps are handed out before the table is read) [KG0159]
)~"},
      {R"~(grid.i = { axis = 'N', block = 'i' }
grid.j = { axis = 'N', block = 1 })~",
       R"~(
1:33: `i` is a grid dimension: it cannot stand in the size of a block [KG0177]
2:20: axis `N` is blocked by two grid dimensions [KG0160]
)~"},
  });
}
