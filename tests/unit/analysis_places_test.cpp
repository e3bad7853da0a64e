// Which stores at other coordinates are legal, and when they have written an output: each with what breaks the rule.
#include <algorithm>

#include <doctest/doctest.h>

#include "analysis_harness.h"

using namespace kgen;
using kgen::test::Analysed;
using kgen::test::has;
using kgen::test::legal;
using kgen::test::refused;

TEST_CASE("stores at other coordinates are one-to-one") {
  const auto spec = [](const std::string &target, const std::string &statement) {
    return "kernel = \"a\"\ntables.to = { type = \"i32[N]\", unique = true, range = \"N\" }\ninputs.x = \"f32[N]\"\n"
           "outputs.z = " +
           target + "\nbody = '" + statement + "'\n";
  };
  const std::string part = "{ type = \"f32[M]\", partial = true }", all = "\"f32[M=N]\"";
  legal(spec(all, "at(z, M = size(N) - 1 - N) = x;"));
  legal(spec(all, "at(z, M = to[N]) = x;"));
  legal(spec(part, "at(z, M = 2 * N + 1) = x;"));
  refused(spec("\"f32[M]\"", "at(z, M = 2 * N + 1) = x;"), "not_written");
  CHECK(has(refused(spec(part, "at(z, M = N / 2) = x;"), "scatter_collides"),
            "at N = 2, M = 2, to[0] = 0, to[1] = 1: z[0] is stored to twice"));
  refused(spec(part, "at(z, M = N % 3) = x;"), "scatter_collides");
  refused(spec(part, "at(z, M = 5) = x;"), "scatter_collides");
}

TEST_CASE("what is the same for all lanes may be added to a place, but not round by round") {
  const auto spec = [](const std::string &body) {
    return "kernel = \"a\"\nscalars.pos = \"i64\"\ntables.start = \"i32[B]\"\ninputs.place = \"i32[B]\"\n"
           "inputs.k = \"f32[B, T]\"\noutputs.own = { type = \"f32[B, S]\", partial = true }\n"
           "outputs.shared = { type = \"f32[S]\", partial = true }\nbody = '" +
           body + "'\n";
  };
  for (const char *body : {"at(own, S = pos + index(T)) = k;", "at(own, S = 2 * index(T) - pos) = k;",
                           "int64_t from = place + pos; at(own, S = index(T) + from) = k;",
                           "at(shared, S = start[0] - index(T)) = at(k, B = 0);"})
    legal(spec(body));
  for (const char *body :
       {"at(shared, S = place + index(T)) = k;", "at(shared, S = pos + index(T) / 2) = at(k, B = 0);",
        "at(own, S = pos + index(T) * index(T) - index(T)) = k;", "at(own, S = place) = k;",
        "for (int64_t i = 0; i < 2; ++i) at(own, S = index(T) + i) = k;",
        "int64_t i = 0; while (i < 2) { at(own, S = index(T) + i * pos) = k; ++i; }"})
    CHECK_MESSAGE(refused(spec(body), "scatter_collides") != "", body);
}

TEST_CASE("an output is written once all its slices are") {
  const auto spec = [](const std::string &body) {
    return "kernel = \"a\"\ninputs.x = \"f32[N]\"\noutputs.z = \"f32[N, P=3]\"\nbody = '''\n" + body + "\n'''\n";
  };
  CHECK(legal(spec("at(z, P = 0) = x; at(z, P = 2) = x; at(z, P = 1) = x;")).errors == "");
  CHECK(legal(spec("for (int p = 0; p < 3; ++p) at(z, P = p) = x + p;")).errors == "");
  CHECK(legal(spec("for (int p = 2; p >= 0; p = p - 1) { if (p == 1) at(z, P = p) = 0; else at(z, P = p) = x; }"))
            .errors == "");
  CHECK(refused(spec("at(z, P = 0) = x; at(z, P = 2) = x;"), "not_written") != "");
  CHECK(refused(spec("for (int p = 0; p < 2; ++p) at(z, P = p) = x;"), "not_written") != "");
  CHECK(refused(spec("for (int p = 0; p < 3; ++p) { if (p == 2 && x > 0) break; at(z, P = p) = x; }"), "not_written") !=
        "");
  CHECK(refused(spec("if (x > 0) at(z, P = 0) = x; at(z, P = 1) = x; at(z, P = 2) = x;"), "not_written") != "");
}

TEST_CASE("an output is written once a counter has gone through it") {
  const auto spec = [](const std::string &body) {
    return "kernel = \"a\"\ninputs.x = \"f32[N, T]\"\noutputs.z = \"f32[N, T, P=2]\"\nbody = '''\n" + body + "\n'''\n";
  };
  const std::string up = "for (int t = 0; t < size(T); ++t) ", at = "at(z, T = t, P = 0) = 1; at(z, T = t, P = 1) = 2;";
  for (const std::string &whole :
       std::vector<std::string>{up + "{ " + at + " }", up + "for (int p = 0; p < 2; ++p) at(z, T = t, P = p) = p;",
                                "for (int64_t t = 0; size(T) != t; t += 1) { " + at + " }",
                                "for (int64_t t = 0; t <= size(T) - 1; ++t) { " + at + " }",
                                "for (int64_t t = size(T) - 1; t >= 0; --t) { " + at + " }",
                                "for (int64_t t = size(T); t > 0; --t) for (int p = 0; p < "
                                "2; ++p) at(z, T = t - 1, P = p) = p;",
                                up + "for (int p = 0; p < 2; ++p) at(z, T = size(T) - 1 - t, P = p) = p;"})
    CHECK_MESSAGE(legal(spec(whole)).errors == "", whole);
  for (const std::string &part : std::vector<std::string>{
           up + "at(z, T = t, P = 0) = 1;", "for (int t = 1; t < size(T); ++t) { " + at + " }",
           "for (int t = 0; t < size(T) - 1; ++t) { " + at + " }",
           "for (int64_t t = size(T) - 1; t > 0; --t) { " + at + " }",
           "for (int t = 0; t < size(T); t += 2) { " + at + " }", up + "{ if (at(x, T = t) > 0) break; " + at + " }",
           up + "{ if (at(x, T = t) > 0) continue; " + at + " }", up + "if (at(x, T = t) > 0) { " + at + " }",
           up + "{ " + at + " t += 1; }", up + "for (int n = 0; n < size(T) - 1; ++n) { " + at + " }",
           "for (int t = 0; t < size(N); ++t) { " + at + " }",
           "int begin = 1; for (int t = begin; t < size(T); ++t) { " + at + " }"})
    CHECK_MESSAGE(refused(spec(part), "not_written") != "", part);
}

TEST_CASE("launchers refuse sizes that a loop's int does not hold, and so the int stays inside") {
  const auto spec = [](const std::string &loop, const std::string &place) {
    return "kernel = \"a\"\ninputs.x = \"f32[N, T]\"\noutputs.z = \"f32[N]\"\nbody = '''\nfloat total = 0;\n" + loop +
           " total += at(x, T = " + place + ");\nz = total;\n'''\n";
  };
  const auto inside = [](const Analysed &a) {
    return std::any_of(a.kernel.exprs.begin(), a.kernel.exprs.end(),
                       [](const Expr &e) { return e.op == Op::read && !e.coords.empty() && e.safe; });
  };
  const Analysed up = legal(spec("for (int t = 0; t < size(T); ++t)", "t"));
  CHECK(inside(up));
  REQUIRE(up.checks(Check::Kind::relation).size() == 1);
  CHECK(up.checks(Check::Kind::relation)[0].message ==
        "T must be at most 2147483647, or an int of the body would wrap around");
  CHECK(inside(legal(spec("for (int t = size(T) - 1; t >= 0; --t)", "t"))));
  CHECK(inside(legal(spec("for (int t = 0; t < size(T); ++t)", "size(T) - 1 - t"))));
  CHECK_FALSE(inside(legal(spec("for (int t = 0; t <= size(T); ++t)", "t"))));
  CHECK_FALSE(inside(legal(spec("for (int t = 0; t < size(T); ++t)", "t + 1"))));
  CHECK_FALSE(inside(legal(spec("for (int t = 0; t < size(N); ++t)", "t"))));
  const Analysed wide = legal(spec("for (int64_t t = 0; t < size(T); ++t)", "t"));
  CHECK(inside(wide));
  CHECK(wide.checks(Check::Kind::relation).empty());
}

TEST_CASE("an int that says which element is met holds what it is computed of, and limits the axis") {
  const auto spec = [](const std::string &body) {
    return "kernel = \"a\"\nscalars.s = \"i32\"\ninputs.x = \"f32[N]\"\noutputs.z = { type = \"f32[N]\", partial = "
           "true }\n"
           "body = 'int i = index(N); " +
           body + "'\n";
  };
  const std::pair<const char *, const char *> cases[] = {
      {"at(z, N = size(N) - 1 - i) = x;", "2147483647"},
      {"int j = i + 3; at(z, N = j) = x;", "2147483644"},
      {"int n = size(N); at(z, N = n - 1 - i) = x;", "2147483646"},
      {"at(z, N = 2 * i + 1) = x;", "1073741823"},
      {"int far = 3 * index(N) + 5; at(z, N = far) = x;", "715827880"},
      {"z = at(x, N = i / 2);", "2147483647"},
  };
  for (const auto &[body, most] : cases) {
    const Analysed found = legal(spec(body));
    REQUIRE(found.checks(Check::Kind::relation).size() == 1);
    CHECK(found.checks(Check::Kind::relation)[0].message ==
          "N must be at most " + std::string(most) + ", or an int of the body would wrap around");
  }
  // Adding a number that nobody knows tells elements apart even where it wraps around; multiplying does not, and what
  // says no place need not fit.
  CHECK(legal(spec("at(z, N = i + s) = x;")).errors == "");
  CHECK(refused(spec("at(z, N = i * s) = x;"), "scatter_collides") != "");
  CHECK(refused(spec("at(z, N = 1000 * i) = x;"), "scatter_collides").find("compute the place in int64_t") !=
        std::string::npos);
  CHECK(legal(spec("z = x * i;")).checks(Check::Kind::relation).empty());
  CHECK(legal(spec("at(z, N = index(N)) = x;")).checks(Check::Kind::relation).empty());
}

TEST_CASE("a running count gives each element that it counts a place of its own") {
  const auto spec = [](const std::string &body) {
    return "kernel = \"a\"\ninputs.x = \"f32[B, N]\"\ninputs.from = \"i64[B]\"\noutputs.z = { type = \"f32[B, N]\", "
           "partial = true }\nbody = '''\n" +
           body + "\n'''\n";
  };
  const std::string keep = "bool keep = x > 0; ", count = "int place = cumsum_exclusive(int(keep), N); ",
                    store = "at(z, N = place) = x;";
  for (const std::string &legal_body :
       std::vector<std::string>{keep + count + "if (keep) " + store,
                                keep + "int64_t place = cumsum(int64_t(keep), N) - 1; if (keep) " + store,
                                keep + "int64_t place = from + cumsum_exclusive(keep ? 1 : 0, N); if (keep) " + store,
                                "int place = cumsum_exclusive(int(x > 0), N); if (x > 0 && x < 8) " + store,
                                "bool keep = x > 0 && x < 8 && index(N) != 3; " + count + "if (keep) " + store,
                                "if (size(B) > 2) { " + keep + count + "if (keep) " + store + " }"})
    CHECK_MESSAGE(legal(spec(legal_body)).errors == "", legal_body);
  for (const std::string &refused_body : std::vector<std::string>{
           keep + count + store, // of all elements, not of those that are counted
           keep + count + "if (!keep) " + store, keep + count + "if (keep) {} else " + store,
           "bool keep = x > 0 && x < 8; " + count + "if (x > 0) " + store,
           keep + count + "if (size(B) > 2) { keep = x < 0; } if (keep) " + store,
           keep + count + "if (x >= 0) " + store, keep + count + "if (keep || x < -3) " + store,
           keep + "int place = cumsum_exclusive(keep ? 1 : -1, N); if (keep) " + store,
           keep + "int place = cumsum_exclusive(keep ? 0 : 1, N); if (keep) " + store,
           keep + count + "place = place / 2; if (keep) " + store,
           keep + "int place = cumsum_exclusive(int(keep), N) - int(index(N)); if (keep) " + store,
           keep + "int16_t place = int16_t(cumsum_exclusive(int(keep), N)); if (keep) " + store,
           keep + "int place = cumsum_exclusive(int(keep), B); if (keep) at(z, B = 0, N = place) = x;",
           keep + count + "if (keep) at(z, B = 0, N = place) = x;",
           keep + count + "for (int i = 0; i < 2; ++i) if (keep) at(z, N = place + i) = x;"})
    CHECK_MESSAGE(refused(spec(refused_body), "scatter_collides") != "", refused_body);
}

TEST_CASE("proofs know what is required of sizes, not what is required of tables and scalars") {
  const auto guarded = [](const std::string &body) {
    const Analysed a = kgen::test::analyse("kernel = \"a\"\ntables.t = \"i32[M]\"\nscalars.s = \"i64\"\ninputs.x = "
                                           "\"f32[N]\"\noutputs.y = \"f32[M]\"\nbody = '''\n" +
                                           body + "\n'''\n");
    CHECK(a.errors == "");
    int out = 0;
    for (const auto &[read, reason] : a.facts.inside_reason)
      out += reason == "inside" ? 0 : 1;
    return out;
  };
  CHECK(guarded("y = at(x, N = 3);") == 1);
  CHECK(guarded("require(size(N) >= 3, \"three\");\ny = at(x, N = 3);") == 1);
  CHECK(guarded("require(size(N) >= 4, \"four\");\ny = at(x, N = 3) + at(x, N = size(N) - 4);") == 0);
  CHECK(guarded("require(size(M) <= size(N) && size(M) > 0, \"more\");\ny = at(x, N = M);") == 0);
  CHECK(guarded("require(size(M) <= size(N) || size(M) > 9, \"either\");\ny = at(x, N = M);") == 1);
  CHECK(guarded("require(t[index(M)] >= 0 && t[index(M)] < size(N), \"by a table\");\ny = at(x, N = t[M]);") > 0);
  CHECK(guarded("require(s >= 0 && s < size(N), \"by a scalar\");\ny = at(x, N = s);") > 0);
}
