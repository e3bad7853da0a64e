// A variable is declared where the fold that fills it ends.
#include <doctest/doctest.h>

#include "emit/text/declare_at_fold.h"

using namespace kgen;

namespace {

// A total of this declaration, and how it takes in a fold.
std::string text(const std::string &declaration, const std::string &update) {
  return declaration + "\n// One pass: total.\nfor (;;) {\nown += x;\n}\n" + update + "\ny = total;\n";
}

const std::string kLoop = "// One pass: total.\nfor (;;) {\nown += x;\n}\n";

bool stays(const std::string &text) { return declare_at_fold(text) == text; }

} // namespace

TEST_CASE("a total that begins with nothing is declared with what the fold has found") {
  CHECK(declare_at_fold(text("float total = 0.0f;", "total = total + block_fold(own, Plus());")) ==
        kLoop + "float total = block_fold(own, Plus());\ny = total;\n");
  CHECK(declare_at_fold(text("double total = 0.0;", "total += across(own, Plus());")) ==
        kLoop + "double total = across(own, Plus());\ny = total;\n");
  CHECK(declare_at_fold(text("float total = -INFINITY;", "total = maximum(total, team.fold(own, Greatest()));")) ==
        kLoop + "float total = team.fold(own, Greatest());\ny = total;\n");
  CHECK(declare_at_fold(text("float total = 0.0f;", "total = total + total_own;")) ==
        kLoop + "float total = total_own;\ny = total;\n");
}

TEST_CASE("a total that begins with something, or that anything else reads or writes before, stays where it is") {
  CHECK(stays(text("float total = 1.0f;", "total += across(own, Plus());")));
  CHECK(stays(text("float total = 0.0f;", "total = total * across(own, Times());")));
  CHECK(stays(text("float total = 0.0f;", "total += x;")));
  CHECK(stays(text("float total = 0.0f;", "total += across(own, Plus()) + x;")));
  CHECK(stays(text("float total = 0.0f;", "g(total);\ntotal += across(own, Plus());")));
  CHECK(stays(text("float total = 0.0f;", "for (;;) {\ntotal += across(own, Plus());\n}")));
}
