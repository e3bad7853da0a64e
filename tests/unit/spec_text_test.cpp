// Wrong TOML, wrong bytes, wrong sections, wrong names.
#include "spec_cases.h"

using namespace kgen;
using namespace kgen::test;

TEST_CASE("TOML that is none, and sections that are unknown") {
  check_wrong({
      {R"~(inputs.x = 'f32[N]'
inputs.x = 'f32[N]')~",
       R"~(
2:12: what this sets has a value already (a key is set once; write a table with dotted keys or under a [header], not both) [KG0101]
)~"},
      {R"~(inputs.x = 'f32[N]'
[inputs]
y = 'f32[N]')~",
       R"~(
2:1: what this sets has a value already (a key is set once; write a table with dotted keys or under a [header], not both) [KG0101]
)~"},
      {R"~(axes.I = cdiv(N, 2))~",
       R"~(
1:10: could not determine value type (in value) (names and expressions stand in quotes: "cdiv(M, 2)") [KG0101]
)~"},
      {R"~(inputs.x = { type = 'f32[N]'
})~",
       R"~(
1:29: expected key or closing '}', saw '\n' (in inline table) (a table in braces stands on one line, its keys separated by commas) [KG0101]
)~"},
      {R"~(axes.I = 007)~",
       R"~(
1:13: leading zeroes are prohibited (in decimal integer) (write the number without leading zeros) [KG0101]
)~"},
      {R"~(doc = "two
lines")~",
       R"~(
1:11: unescaped control characters other than TAB (U+0009) are explicitly prohibited (in string) (a string in " or ' ends on its line; ''' holds several lines) [KG0101]
)~"},
      {R"~(a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s = 1)~",
       R"~(
1:34: nested too deeply [KG0107]
)~"},
      {R"~(functions = "int f(int x) { return x; }")~",
       R"~(
1:13: `functions` must be a string in single quotes (write it between ''' and ''' (or ' and '): there backslashes and quotes stand for themselves, and messages find the column) [KG0109]
)~"},
      {R"~(functions = 'int f(int x) { return x; }'
functions_from = 'f.h')~",
       R"~(
2:1: `functions` and `functions_from` cannot both be given (move all functions into the file, or into the spec) [KG0114]
)~"},
      {R"~(functions_from = '../f.h')~",
       R"~(
1:18: cannot take functions from `../f.h`: it must be a path without `..` below the folder of the spec (other folders are named on the command line: --include FOLDER) [KG0115]
)~"},
      {R"~(functions_from = '/etc/passwd')~",
       R"~(
1:18: cannot take functions from `/etc/passwd`: it must be a path without `..` below the folder of the spec (other folders are named on the command line: --include FOLDER) [KG0115]
)~"},
      {R"~(functions_from = 'no/such/file.h')~",
       R"~(
1:18: cannot take functions from `no/such/file.h`: there is no such file (looked in the folder of the spec) [KG0115]
)~"},
      {R"~(output.y = 'f32[N]')~",
       R"~(
1:1: unknown key `output` (did you mean `outputs`?) [KG0102]
)~"},
      {R"~(speed = 3
kernels = 'x')~",
       R"~(
1:1: unknown key `speed` [KG0102]
2:1: unknown key `kernels` (did you mean `kernel`?) [KG0102]
)~"},
      {R"~(inputs = 'f32[N]')~",
       R"~(
1:10: `inputs` must be a table, or dotted keys such as inputs.x; this is a string [KG0103]
)~"},
      {R"~(doc = 3
license = ['MIT'])~",
       R"~(
1:7: `doc` must be a string; this is a whole number [KG0103]
2:11: `license` must be a string; this is a list [KG0103]
)~"},
      {R"~(date = 2020-01-01
axes.N = 2020-01-01)~",
       R"~(
1:1: unknown key `date` [KG0102]
2:10: `N` must be a size, a list of sizes or a table; this is a date [KG0103]
)~"},
  });
}

TEST_CASE("whole specs") {
  check_wrong(
      {
          {R"~()~",
           R"~(
the spec needs `kernel` (begin with kernel = "its_name", above any [table]) [KG0104]
the spec needs `body` (end with body = '''...''', which says what happens to one element) [KG0104]
the spec has no output (name what the kernel makes: outputs.z = "f32[M, N]") [KG0165]
)~"},
          {R"~(kernel = 'k'
[outputs]
z = 'f32[N]'
body = 'z = 0;'
)~",
           R"~(
4:1: `body` stands inside the table `outputs` (what follows a [table] header belongs to that table: move `body` above the first header, or write dotted keys such as inputs.x) [KG0108]
)~"},
          {R"~(kernel = 'k'
[grid.i]
axis = 'N'
block = 1
body = 'z = 0;'
)~",
           R"~(
the spec has no output (name what the kernel makes: outputs.z = "f32[M, N]") [KG0165]
3:9: there is no axis `N` [KG0139]
5:1: `body` stands inside the table `grid.i` (what follows a [table] header belongs to that table: move `body` above the first header, or write dotted keys such as inputs.x) [KG0108]
)~"},
          {R"~(kernel = 'k'
outputs.z = 'f32[N]'
body = "z = 0;"
)~",
           R"~(
3:8: `body` must be a string in single quotes (write it between ''' and ''' (or ' and '): there backslashes and quotes stand for themselves, and messages find the column) [KG0109]
)~"},
          {R"~(kernel = 'k'
outputs.z = 'f32[N]'
body = 7
)~",
           R"~(
3:8: `body` must be a string; this is a whole number [KG0103]
)~"},
          {R"~(kernel = 'k'
outputs.z = 'f32[N]'
body = ''' 
 '''
)~",
           R"~(
3:8: the body is empty [KG0110]
)~"},
          {R"~(kernel = '3k'
outputs.z = 'f32[N]'
body = 'z = 0;'
)~",
           R"~(
1:11: `3k` is no name (a name has up to 100 letters, digits and _, and does not begin with a digit) [KG0111]
)~"},
          {R"~(kernel = 'int'
outputs.z = 'f32[N]'
body = 'z = 0;'
)~",
           R"~(
1:11: `int` is reserved: it is a word of C++ [KG0112]
)~"},
          {R"~(kernel = ['k']
outputs.z = 'f32[N]'
body = 'z = 0;'
)~",
           R"~(
1:10: `kernel` must be a string; this is a list [KG0103]
)~"},
          {R"~(kernel = 'k'
inputs.x = 'f32[N]'
body = 'x;'
)~",
           R"~(
the spec has no output (name what the kernel makes: outputs.z = "f32[M, N]") [KG0165]
)~"},
      },
      "");
}

TEST_CASE("what follows a table header belongs to it") {
  check_wrong(
      {
          {R"~(kernel = 'k'
outputs.z = 'f32[N]'
body = 'z = 0;'
[inputs]
x = 'f32[N]'
[inputs.y]
type = 'f32[N]'
doc = 'about y'
)~",
           R"~(
8:1: unknown key `doc` in `inputs.y` (what follows a [table] header belongs to that table: move `doc` above the first header) [KG0102]
)~"},
      },
      "");
}

TEST_CASE("names that cannot stand") {
  check_wrong({
      {R"~(inputs."a b" = 'f32[N]')~",
       R"~(
1:8: `a b` is no name (a name has up to 100 letters, digits and _, and does not begin with a digit) [KG0111]
)~"},
      {R"~(inputs.for = 'f32[N]')~",
       R"~(
1:8: `for` is reserved: it is a word of C++ (choose another name) [KG0112]
)~"},
      {R"~(inputs.sum = 'f32[N]')~",
       R"~(
1:8: `sum` is reserved: it is built into the body language (choose another name) [KG0112]
)~"},
      {R"~(axes.real = 3)~",
       R"~(
1:6: `real` is reserved: it is a type of the body language (choose another name) [KG0112]
)~"},
      {R"~(inputs.__x = 'f32[N]')~",
       R"~(
1:8: `__x` is reserved: it is a name that C++ keeps for compilers (choose another name) [KG0112]
)~"},
      {R"~(inputs.x = 'f32[N, size]'
inputs.y = 'f32[N, size]')~",
       R"~(
1:20: `size` is reserved: it is built into the body language (choose another name) [KG0112]
)~"},
      {R"~(inputs.N = 'f32[N]')~",
       R"~(
1:17: `N` is an input, not an axis [KG0138]
)~"},
      {R"~(params.z = 1)~",
       R"~(
3:9: `z` is a parameter already [KG0113]
)~"},
      {R"~(inputs.x = 'f32[z]')~",
       R"~(
1:17: `z` is an output, not an axis [KG0138]
)~"},
      {R"~(params.n = 4
inputs.x = 'f32[n]')~",
       R"~(
2:17: `n` is a parameter, not an axis (give the dimension an axis of its own: X=n) [KG0138]
)~"},
      {R"~(inputs.x = 'f32[..., N]'
scalars.rows = 'i32')~",
       R"~(
1:17: `rows` is a scalar, not an axis [KG0138]
)~"},
  });
}
