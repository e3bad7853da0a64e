// What is refused, where, and in which words: one row a mistake.
#include <doctest/doctest.h>

#include "body_testing.h"

using namespace kgen;
using namespace kgen::body;

TEST_CASE("what C++ has and a body has not, by its words") {
  CHECK(messages("o = new int;") ==
        "15:5: `new` is not in the body language | use a local, a fixed-size local array or scratch\n");
  CHECK(messages("goto end; o = 1;") ==
        "15:1: `goto` is not in the body language | use `if`, `for`, `while`, `break` and `continue`\n");
  CHECK(messages("throw 1;") ==
        "15:1: `throw` is not in the body language | nothing throws in a body; `assert(condition)` counts in "
        "the interpreter\n");
  CHECK(messages("try { o = 1; } catch (...) { }") ==
        "15:1: `try` is not in the body language | nothing throws in a body; `assert(condition)` counts in the "
        "interpreter\n");
  CHECK(messages("switch (c) { case 1: o = 1; break; default: break; }") ==
        "15:1: `switch` is not in the body language | use `if`, `for`, `while`, `break` and `continue`\n");
  CHECK(messages("do { o = 1; } while (x > 0);") ==
        "15:1: `do` is not in the body language | write `while (true) { ...; if (!condition) break; }`, or "
        "repeat the statements before a `while`\n");
  CHECK(messages("static int q = 3;") ==
        "15:1: `static` is not in the body language | a value that lives across steps of the grid is `scratch`\n");
  CHECK(messages("asm(\"nop\");") ==
        "15:1: `asm` is not in the body language | every operation has a name: see the list of builtins\n");
  CHECK(messages("struct S { int a; }; S q; o = q.a;") ==
        "15:1: `struct` is not in the body language | a body computes with the arithmetic types only\n");
  CHECK(messages("using Q = int;") ==
        "15:1: `using` is not in the body language | declare functions in `functions`; the names of the body "
        "need no scope\n");
  CHECK(messages("o = sizeof(int);") ==
        "15:5: `sizeof` is not in the body language | `size(A)` is the size of an axis\n");
  CHECK(messages("volatile int v = 3;") ==
        "15:1: `volatile` is not in the body language | a value that lives across steps of the grid is `scratch`\n");
  CHECK(messages("o = kgen::sum(x, N);") == "15:5: `kgen` is a reserved name\n");
  CHECK(messages("kgen_foo = 3;") == "15:1: `kgen_foo` is a reserved name\n");
  CHECK(messages("o = __COUNTER__;") == "15:5: `__COUNTER__` is a reserved name\n");
  CHECK(messages("_Pragma(\"x\")") == "15:1: `_Pragma` is a reserved name\n");
  CHECK(messages("template <class V> V f(V v) { return v; }") ==
        "15:1: `template` is not in the body language | declare functions in `functions`\n");
  CHECK(messages("o = f(x);", "template <class... V> real f(V... v) { return 1; }") ==
        "15:16: `...` is not in the body language | write each parameter\n");
  CHECK(messages("o = \"text\";") == "15:5: text is no value of the body language\n");
  CHECK(messages("o = 'a';") == "15:5: text is no value of the body language\n");
  CHECK(messages("[[maybe_unused]] int q = 1;") == "15:1: attributes are not in the body language\n");
  CHECK(messages("char q = 1;") == "15:1: `char` is not in the body language | write `int8_t` or `uint8_t`\n");
}

TEST_CASE("no preprocessor") {
  CHECK(messages("o = 1;\n  # define A 3") ==
        "16:3: `# define` is not allowed: a body has no preprocessor | constants are `params`, shared functions "
        "come by `functions_from`\n");
  CHECK(messages("#include <cmath>\no = 1;") ==
        "15:1: `#include` is not allowed: a body has no preprocessor | constants are `params`, shared functions "
        "come by `functions_from`\n");
  CHECK(messages("o = 1; \\\no = 2;") == "15:8: signs such as `\\` are not in the body language\n");
  CHECK(messages("o = f(x);", "#pragma once\nreal f(real v) { return v; }") ==
        "15:1: `#pragma` is not allowed: a body has no preprocessor | constants are `params`, shared functions "
        "come by `functions_from`\n");
}

TEST_CASE("text stays inside its function") {
  CHECK(messages("o = x; } void f() {") ==
        "15:8: this `}` closes nothing that the body opened | a body is one list of statements; functions go in "
        "`functions`\n");
  CHECK(messages("o = (x;\no = 3;") == "15:5: `(` has no counterpart\n");
  CHECK(messages("if (x > 0 { o = 3; }") == "15:4: `(` has no counterpart\n");
  CHECK(messages("/* open") == "15:1: `/*` has no counterpart\n");
  CHECK(messages("if (x > 0) { o = 1;") == "15:12: `{` has no counterpart\n");
  CHECK(messages("o = f(x);", "real f(real v) { return v; } }") ==
        "15:30: this `}` closes nothing that the text of `functions` opened\n");
}

TEST_CASE("pointers, references, lambdas and other nodes") {
  CHECK(messages("int *p = 0;") == "15:6: pointers are not in the body language | write a value: `auto v = ...`\n");
  CHECK(messages("auto &r = o; r = 3;") ==
        "15:7: references are not in the body language | write a value: `auto v = ...`\n");
  CHECK(messages("auto p = &x; o = *p;") ==
        "15:6: pointers are not in the body language | write a value: `auto v = ...`\n");
  CHECK(messages("o = *(int*)7;") == "15:5: pointers are not in the body language\n");
  CHECK(messages("o = (int*)7 == 0;") == "15:5: pointers are not in the body language\n");
  CHECK(messages("auto f = [](int a) { return a; }; o = f(1);") == "15:10: lambdas are not in the body language\n");
  CHECK(messages("foo: o = 1;") == "15:1: labels are not in the body language\n");
  CHECK(messages("o = (1, 2);") ==
        "15:6: commas between expressions are not in the body language | write two statements\n");
  CHECK(messages("return; o = 1;") ==
        "15:1: `return`s from the body are not in the body language | put the rest under an `if`\n");
  CHECK(messages("float f(float a); o = 1;") ==
        "15:7: functions inside functions are not in the body language | functions go in `functions`\n");
  CHECK(messages("if (int q = 3) o = q;") ==
        "15:1: declarations in a condition and `if constexpr` are not in the body language | declare before the "
        "`if`\n");
  CHECK(messages("auto v = {1, 2};") == "15:10: lists as values are not in the body language\n");
  CHECK(messages("long double q = 1;") ==
        "15:13: `long double` is not a type of the body language | there are `real float double bool`, `int "
        "int64_t` and the like\n");
  CHECK(messages("o = 0.5L;") ==
        "15:5: `long double` is not a type of the body language | there are `real float double bool`, `int "
        "int64_t` and the like\n");
  CHECK(messages("o = x <=> 2;") == "15:7: `<=>`s are not in the body language\n");
  CHECK(messages("o = q(x);", "real q(real &v) { return v; }") ==
        "15:8: references are not in the body language | write a value\n");
}

TEST_CASE("assignments are statements") {
  CHECK(messages("if (o = 3) o = 1;") ==
        "15:5: an assignment inside an expression | make it a statement of its own; `==` compares\n");
  CHECK(messages("o = s = 3;") == "15:5: an assignment inside an expression | write two statements\n");
  CHECK(messages("o = c++;") == "15:5: an assignment inside an expression | make it a statement of its own\n");
  CHECK(messages("c = 1, o = 2;") ==
        "15:1: commas between expressions are not in the body language | write two statements\n");
  CHECK(messages("o == 1;") == "15:1: this statement has no effect | an assignment is written with one `=`\n");
  CHECK(messages("x + 1;") == "15:1: this statement has no effect\n");
  CHECK(messages("exp(x);") == "15:1: this statement has no effect\n");
}

TEST_CASE("what cannot be assigned") {
  CHECK(messages("x = 3;") ==
        "15:1: `x` is an input and cannot be assigned | copy it to a local, or declare an output with `alias = "
        "\"x\"`\n");
  CHECK(messages("alpha = 3;") == "15:1: `alpha` is a run-time scalar and cannot be assigned\n");
  CHECK(messages("eps = 1;") == "15:1: `eps` is a param and cannot be assigned\n");
  CHECK(messages("bm = 2;") == "15:1: `bm` is a param and cannot be assigned\n");
  CHECK(messages("N = 3;") ==
        "15:1: `N` is an axis and cannot be assigned | coordinates stand inside `at(x, H = ...)`\n");
  CHECK(messages("at(x, N = 2) = 4;") == "15:1: `at(...)` is an element of an input and cannot be assigned\n");
  CHECK(messages("inf = 3;") == "15:1: `inf` is a constant and cannot be assigned\n");
  CHECK(messages("const float q = 1; q = 2;") == "15:20: `q` is a constant and cannot be assigned\n");
  CHECK(messages("o + 1 = 2;") == "15:1: `o + 1` is a value and cannot be assigned\n");
  CHECK(messages("row[1] = 2;") == "15:1: `row[1]` is a value and cannot be assigned\n");
}

TEST_CASE("names are declared once") {
  CHECK(messages("float x = 3;") == "15:7: `x` is already an input | use another name for this local\n");
  CHECK(messages("float q = 1; { float q = 2; o = q; }") ==
        "15:22: `q` is already a local | use another name for this local\n");
  CHECK(messages("float q = 1; float q = 2;") == "15:20: `q` is already a local | use another name for this local\n");
  CHECK(messages("float N = 1;") == "15:7: `N` is already an axis | use another name for this local\n");
  CHECK(messages("float max = 2;") == "15:7: `max` is already a builtin | use another name for this local\n");
  CHECK(messages("float k = 1;") == "15:7: `k` is already a grid dimension | use another name for this local\n");
  CHECK(messages("o = max(x, 0);", "real max(real v, real w) { return v; }") == "15:6: `max` is already a builtin\n");
  CHECK(messages("o = f(x);", "real f(real v) { real v = 1; return v; }") ==
        "15:23: `v` is already declared | functions, and the names within one, each have a name of their own\n");
}

TEST_CASE("undeclared names") {
  CHECK(messages("o = sun(x, N);") == "15:5: `sun` is not declared\n");
  CHECK(messages("o = rleu(x);") == "15:5: `rleu` is not declared\n");
  CHECK(messages("flaot t = 1;") == "15:1: `flaot` is not declared\n");
  CHECK(messages("float total = x; o = totl;") == "15:22: `totl` is not declared | did you mean `total`?\n");
  CHECK(messages("o = derivative(f, x);", "real f(real v) { return v * v; }") ==
        "18:5: `f_derivative` is not declared | the derivative of a function of `functions` is one, too: write `real "
        "f_derivative(real v) { ... }` there\n");
  CHECK(messages("o = derivative(tanh, x) + derivative(pow, 1, x, x);") == "");
  CHECK(messages("o = qqq;") == "15:5: `qqq` is not declared\n");
  CHECK(messages("o = f(x);", "real f(real v) { return v + x; }") ==
        "15:29: `x` is not declared | functions do not see what `x` is in the body (an input): make it an "
        "argument\n");
  CHECK(messages("o = f(x);", "real f(real v) { return sum(v, N); }") ==
        "15:32: `N` is not declared | functions do not see what `N` is in the body (an axis): make it an "
        "argument, `axis N`\n");
  CHECK(messages("o = snip(x);", "real snip_at(real v) { return v; }") == "18:5: `snip` is not declared\n");
  CHECK(messages("o = f(x);", "real f(real v) { return g(v); } real g(real v) { return v; }") ==
        "15:25: `g` is not declared | declare functions before they are called\n");
}

TEST_CASE("what builtins take") {
  CHECK(messages("o = sum(x);") ==
        "15:5: `sum` takes a value, then the axes to sum over: sum(x, N) or sum(x, M, N, where(condition))\n");
  CHECK(messages("o = sum(x, 3);") ==
        "15:5: `sum` takes a value, then the axes to sum over: sum(x, N) or sum(x, M, N, where(condition))\n");
  CHECK(messages("o = sum(x, N, k);") ==
        "15:5: `sum` takes a value, then the axes to sum over: sum(x, N) or sum(x, M, N, where(condition)) | "
        "`k` is a grid dimension; reductions and scans go along axes\n");
  CHECK(messages("o = sum();") ==
        "15:5: `sum` takes a value, then the axes to sum over: sum(x, N) or sum(x, M, N, where(condition))\n");
  CHECK(messages("o = max(x, where(x > 1));") ==
        "15:5: `max` takes two values, or one value and axes: max(a, b) or max(x, N)\n");
  CHECK(messages("o = dot(x, N);") ==
        "15:5: `dot` takes 2 to 8 factors, then the axes to sum over: dot(x, y, K) | for one value there is `sum`\n");
  CHECK(messages("o = dot(x,x,x,x,x,x,x,x,x,N);") ==
        "15:5: `dot` takes 2 to 8 factors, then the axes to sum over: dot(x, y, K)\n");
  CHECK(messages("o = cumsum(x, N, B);") == "15:5: `cumsum` takes a value and one axis: cumsum(x, N)\n");
  CHECK(messages("o = cumsum(x, N, where(x > 0));") ==
        "15:5: `cumsum` takes a value and one axis: cumsum(x, N) | `where` restricts reductions and `dot` only\n");
  CHECK(messages("o = argmax(x, N, B);") == "15:5: `argmax` takes a value, then one axis: argmax(x, N)\n");
  CHECK(messages("o = first(N);") ==
        "15:5: `first` takes a grid dimension or an output: first(k) or first(z) | `N` is an axis; name the "
        "grid dimension that blocks it\n");
  CHECK(messages("o = first(s);") == "15:5: `first` takes a grid dimension or an output: first(k) or first(z)\n");
  CHECK(messages("o = index(k);") ==
        "15:5: `index` takes an axis, or an operand and an axis: index(H) or index(x, H) | `k` is a grid "
        "dimension; its plain name is its step\n");
  CHECK(messages("o = size(x);") ==
        "15:5: `size` takes an axis, an operand and an axis, or a grid dimension: size(H), size(x, H) or size(i)\n");
  CHECK(messages("o = block(k);") == "15:5: `block` takes an axis: block(H) | `k` is a grid dimension\n");
  CHECK(messages("o = present(x);") ==
        "15:5: `present` takes an optional operand: present(bias) | declare it with `optional = true`\n");
  CHECK(messages("o = round_like(x, x + 1);") ==
        "15:5: `round_like` takes a value and the operand whose type it is rounded to: round_like(p, v)\n");
  CHECK(messages("o = bitcast<double>(x);") ==
        "15:5: `bitcast` takes a type and a value of its size: bitcast<int>(x)\n");
  CHECK(messages("o = bitcast(x);") == "15:5: `bitcast` takes a type and a value of its size: bitcast<int>(x)\n");
  CHECK(messages("o = popcount(x);") == "15:5: `popcount` takes one whole number\n");
  CHECK(messages("o = random(x, 2);") == "15:5: `random` takes two whole numbers: random(seed, i)\n");
  CHECK(messages("o = exp(x, x);") == "15:5: `exp` takes one value\n");
  CHECK(messages("o = where(x > 0);") ==
        "15:5: `where` is no value | it stands last in a reduction: sum(x, N, where(x > 0)); one of two "
        "values is `x > 0 ? x : 0`\n");
  CHECK(messages("assert(x, x);") == "15:1: `assert` takes one condition\n");
}

TEST_CASE("axes are no values") {
  CHECK(messages("o = x + N;") ==
        "15:9: `N` is an axis, not a value | the position along it is `index(N)`, its size `size(N)`\n");
  CHECK(messages("o = exp(N);") ==
        "15:9: `N` is an axis, not a value | the position along it is `index(N)`, its size `size(N)`\n");
  CHECK(messages("o = max(N, 3);") ==
        "15:9: `N` is an axis, not a value | the position along it is `index(N)`, its size `size(N)`\n");
  CHECK(messages("auto n = N;") == "15:6: `N` is an axis, not a value | write `int64_t n = index(N)`\n");
  CHECK(messages("o = -N;") ==
        "15:6: `N` is an axis, not a value | the position along it is `index(N)`, its size `size(N)`\n");
  CHECK(messages("if (N) o = 1;") ==
        "15:5: `N` is an axis, not a value | the position along it is `index(N)`, its size `size(N)`\n");
  CHECK(messages("o += N;") ==
        "15:6: `N` is an axis, not a value | the position along it is `index(N)`, its size `size(N)`\n");
  CHECK(messages("o = row[N];") ==
        "15:9: `N` is an axis, not a value | the position along it is `index(N)`, its size `size(N)`\n");
  CHECK(messages("o = f(x, N);", "real f(real v, axis A) { return v + A; }") ==
        "15:37: `A` is an axis, not a value | the position along it is `index(A)`, its size `size(A)`\n");
  CHECK(messages("o = relu(N);") == "15:5: `N` is an axis, not a value | the position along it is `index(...)`\n");
}

TEST_CASE("coordinates") {
  CHECK(messages("o = at(x, 3);") == "15:5: `at` takes an operand or a local, then coordinates: at(x, H = 2*P + 1)\n");
  CHECK(messages("o = at(x, N == 3);") ==
        "15:5: `at` takes an operand or a local, then coordinates: at(x, H = 2*P + 1) | a coordinate is written "
        "with one `=`\n");
  CHECK(messages("o = at(x + 1, N = 2);") ==
        "15:5: `at` takes an operand or a local, then coordinates: at(x, H = 2*P + 1) | give the value a name first: "
        "`real v = ...;`, then `at(v, ...)`\n");
  CHECK(messages("o = at(x);") == "15:5: `at` takes an operand or a local, then coordinates: at(x, H = 2*P + 1)\n");
  CHECK(messages("o = at(x, N = 1, N = 2);") == "15:18: a second coordinate for `N`\n");
  CHECK(messages("o = at(x, N = 0.5);") ==
        "15:15: a coordinate is a whole number | write `int64_t(...)`, which drops the fraction\n");
  CHECK(messages("o = at(x, k = 1);") == "15:11: only an axis can be given a coordinate | `k` is a grid dimension\n");
  CHECK(messages("o = at(x, Q = 1);") ==
        "15:11: `Q` is not declared | a coordinate is named by an axis of the array: `at(x, N = e)`\n");
}

TEST_CASE("local arrays") {
  CHECK(messages("int n = 3; float t[n]; t[0] = 1;") ==
        "15:18: the size of a local array must be a constant | use a number or an integer param\n");
  CHECK(messages("float t[0];") == "15:7: a local array has 1 to 4096 elements | larger ones are `scratch`\n");
  CHECK(messages("float t[100000];") == "15:7: a local array has 1 to 4096 elements | larger ones are `scratch`\n");
  CHECK(messages("float t[3]; o = t[3];") == "15:19: index 3 is outside `t`, which has 3 elements\n");
  CHECK(messages("float t[3]; o = t[-1];") == "15:19: index -1 is outside `t`, which has 3 elements\n");
  CHECK(messages("float t[3]; o = t;") == "15:17: an array is no value | name one element\n");
  CHECK(messages("float t[3][2]; o = t[1];") == "15:20: an array is no value | name one element\n");
  CHECK(messages("o = x[3];") ==
        "15:6: a value has no `[...]` | a body computes one element: `x` is that of the array at hand, another is "
        "`at(x, N = e)`\n");
  CHECK(messages("o = row[0.5];") == "15:9: an index is a whole number\n");
  CHECK(messages("o = row;") == "15:5: a table is no value | read its entries: `t[i]`\n");
}

TEST_CASE("functions") {
  CHECK(messages("o = f(x);", "real f(real v) { return f(v); }") == "15:25: `f` calls itself | use a loop\n");
  CHECK(messages("o = f(x);", "real g(real v); real f(real v) { return g(v); } real g(real v) { return f(v); }") ==
        "15:73: `f` calls itself | use a loop\n");
  CHECK(messages("o = f(x);", "template <class V> auto f(V v) { return f(v); }") ==
        "15:41: the result of `f` is not known yet | write its type instead of `auto`; functions do not call "
        "themselves\n");
  CHECK(messages("o = 1;", "void p(real v) { }") ==
        "15:6: a function must return a value | statements belong in the body\n");
  CHECK(messages("o = t(x);", "real t(real v) { if (v > 0) return 1; }") ==
        "15:39: a function must return a value on every way through it\n");
  CHECK(messages("o = 1;", "int count = 3;") ==
        "15:5: `functions` holds functions and constants only | write `constexpr`, or declare `scratch` for "
        "what changes\n");
  CHECK(messages("o = f(x);", "real f(real v);") == "18:5: `f` is declared, but has no body\n");
  CHECK(messages("o = f(x, x);", "real f(real v) { return v; }") ==
        "18:5: these are not the arguments of `f` | requires single argument `v`, but 2 arguments were provided\n");
  CHECK(messages("o = f(x, k);", "real f(real v, axis A) { return sum(v, A); }") ==
        "18:5: these are not the arguments of `f` | no known conversion from `grid dimension k` to `axis` for "
        "2nd argument\n");
  CHECK(messages("o = softmax(x);") ==
        "15:5: these are not the arguments of `softmax` | it is `real softmax(real v, axis A)`\n");
  CHECK(messages("o = sum;") == "15:5: a function is no value | call it\n");
  CHECK(messages("o = x(3);") == "15:6: a value cannot be called | a product is written with `*`\n");
  CHECK(messages("o = 1;", "real unused(real v) { return v + *(&v); }") ==
        "15:34: pointers are not in the body language\n");
}

TEST_CASE("locals are assigned before they are read") {
  CHECK(messages("float q; o = q;") ==
        "15:14: `q` is read before it is assigned | give it a value where it is declared\n");
  CHECK(messages("float q; if (x > 0) q = 1; o = q;") ==
        "15:32: `q` is read before it is assigned | it is not assigned on every way: give it a value where it "
        "is declared\n");
  CHECK(messages("float q; q += 1; o = q;") ==
        "15:10: `q` is read before it is assigned | give it a value where it is declared\n");
}

TEST_CASE("Clang's own messages are passed on") {
  CHECK(messages("o = x\no = 3;") == "15:6: expected `;` after expression | statements end with `;`\n");
  CHECK(messages("o = x % 2;") ==
        "15:7: invalid operands to binary expression (`float` and `int`) | `%`, shifts and `& | ^` take "
        "whole numbers\n");
  CHECK(messages("o = 1.5q;") ==
        "15:5: `__float128` is not a type of the body language | there are `real float double bool`, `int "
        "int64_t` and the like\n");
  CHECK(messages("o = x.y;") == "15:6: values have no members | sizes are `size(N)`, other elements `at(x, N = e)`\n");
  CHECK(messages("break;") == "15:1: `break` outside of a loop | it ends a `for` or `while`\n");
}

TEST_CASE("independent mistakes are all reported, each once") {
  CHECK(messages("o = sun(x, N);\nfloat q = N;\nx = 3;\nnew int;") ==
        "15:5: `sun` is not declared\n"
        "16:11: `N` is an axis, not a value | the position along it is `index(N)`, its size `size(N)`\n"
        "17:1: `x` is an input and cannot be assigned | copy it to a local, or declare an output with `alias = "
        "\"x\"`\n"
        "18:1: `new` is not in the body language | use a local, a fixed-size local array or scratch\n");
  CHECK(messages("o = y1 + y2;") == "15:5: `y1` is not declared\n"
                                    "15:10: `y2` is not declared\n");
}
