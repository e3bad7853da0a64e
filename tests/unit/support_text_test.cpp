#include <doctest/doctest.h>

#include "support/text.h"
#include "support/types.h"

using namespace kgen;
using Strings = std::vector<std::string>;

TEST_CASE("join, split and trim") {
  CHECK(join({}, ", ") == "");
  CHECK(join({"a", "b"}, ", ") == "a, b");
  CHECK(split("", ',') == Strings{""});
  CHECK(split("a,,b,", ',') == Strings{"a", "", "b", ""});
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim(" ") == "");
  CHECK(enumerate({"a"}) == "`a`");
  CHECK(enumerate({"a", "b", "c"}, "or") == "`a`, `b` or `c`");
}

TEST_CASE("identifiers are C's, in ASCII") {
  for (const char *good : {"a", "_", "A1", "x_y"})
    CHECK(is_identifier(good));
  for (const char *bad : {"", "1a", "a b", "a-b", "é", "a."})
    CHECK(!is_identifier(bad));
}

TEST_CASE("edit distance counts insertions, deletions, replacements and swaps, up to a limit") {
  CHECK(edit_distance("block", "block", 3) == 0);
  CHECK(edit_distance("block", "blok", 3) == 1);
  CHECK(edit_distance("block", "bolck", 3) == 1);
  CHECK(edit_distance("", "abc", 3) == 3);
  CHECK(edit_distance("kitten", "sitting", 3) == 3);
  CHECK(edit_distance("kitten", "sitting", 2) == 3);
  CHECK(edit_distance("abcdef", "uvwxyz", 2) == 3);
}

TEST_CASE("did you mean") {
  const Strings keys = {"inputs", "outputs", "scratch"};
  CHECK(did_you_mean("input", keys) == "did you mean `inputs`?");
  CHECK(did_you_mean("Outputs", keys) == "did you mean `outputs`?");
  CHECK(did_you_mean("speed", keys) == "there are `inputs`, `outputs` and `scratch`");
  CHECK(did_you_mean("speed", {"x"}) == "there is only `x`");
  CHECK(did_you_mean("speed", {}) == "");
  CHECK(nearest("n", {"M", "N"}) == "N");
  CHECK(!nearest("k", {"abc"}));
  CHECK(!nearest("inputs", {"inputs"}));
}

TEST_CASE("UTF-8") {
  CHECK(find_bad_utf8("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80") == std::string_view::npos);
  for (const std::string bad : {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"})
    CHECK(find_bad_utf8("ab" + bad) == 2);
  CHECK(printable("a\tb\033[1m\xC3\xA9\xC2\x9B\xFF") == "a\tb?[1m\xC3\xA9??");
  CHECK(display_width("a\xC3\xA9") == 2);
}

TEST_CASE("element types") {
  CHECK(find_type("bool") == Type::boolean);
  CHECK(find_type("bf16") == Type::bf16);
  CHECK(!find_type("boolean"));
  CHECK(type_row(Type::f16).arithmetic == Type::f32);
  CHECK(bytes_of(Type::u16) == 2);
  CHECK(is_integer(Type::u8));
  CHECK(!is_integer(Type::boolean));
  CHECK(is_half(Type::bf16));
}
