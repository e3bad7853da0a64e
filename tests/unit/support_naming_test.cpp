// Names by the role that a value has.
#include <doctest/doctest.h>

#include <set>

#include "support/naming.h"

using namespace kgen;

TEST_CASE("the first wish that nobody has is taken; then the last one gets a number in words") {
  const std::set<std::string> taken = {"sum", "sum_x", "sum_x_two"};
  const auto is_taken = [&](const std::string &name) { return taken.count(name) != 0; };
  CHECK(free_name({"sum", "total"}, is_taken) == "total");
  CHECK(free_name({"sum", "sum_x"}, is_taken) == "sum_x_three");
  CHECK(in_words("x", 21) == "x_two_one");
}

TEST_CASE("a name without its number is the one that was numbered") {
  CHECK(without_number("sum_x_three") == "sum_x");
  CHECK(without_number("sum_x_two_one") == "sum_x");
  CHECK(without_number("sum_x") == "sum_x");
  CHECK(without_number("two") == "two");
}
