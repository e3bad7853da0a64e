// How messages are collected and shown.
#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "support/diagnostics.h"

using namespace kgen;
using Format = Diagnostics::Format;

namespace {

Diagnostics sample() {
  Diagnostics diags;
  diags.add_source("specs/a.toml", "kernel = \"é\"\n\toutput.x = 1\nlast = 2\n\nbody\n");
  Diagnostic &d = diags.add(DiagId::unknown_key, {"specs/a.toml", 2, 2, 6}, {"output", ""});
  d.help = "did you mean `outputs`?";
  d.labels.push_back({{"specs/a.toml", 5, 1, 4}, "because of this"});
  return diags;
}

} // namespace

TEST_CASE("for people: the line, a caret under what is meant, labels and help") {
  CHECK("\n" + sample().render(Format::human, false) == R"~(
error[KG0102]: unknown key `output`
 --> specs/a.toml:2:2
  |
2 | 	output.x = 1
  | 	^^^^^^
  ...
5 | body
  | ---- because of this
  = help: did you mean `outputs`?
)~");
  const std::string colored = sample().render(Format::human, true);
  CHECK(colored.find("\033[1;31merror[KG0102]\033[0m") != std::string::npos);
}

TEST_CASE("a caret stands under its letter, however many bytes come before") {
  Diagnostics diags;
  diags.add_source("a", "x = \"éé\" + y");
  diags.add(DiagId::unknown_key, {"a", 1, 14, 1}, {"y", ""});
  diags.add(DiagId::unknown_key, {"a", 1, 6, 4}, {"w", ""});
  CHECK("\n" + diags.render(Format::human, false) == R"~(
error[KG0102]: unknown key `w`
 --> a:1:6
  |
1 | x = "éé" + y
  |      ^^
  = help: leave it out

error[KG0102]: unknown key `y`
 --> a:1:14
  |
1 | x = "éé" + y
  |            ^
  = help: leave it out
)~");
}

TEST_CASE("labels in another file are shown under its name") {
  Diagnostics diags;
  diags.add_source("a", "one\ntwo\n");
  diags.add_source("b", "three\r\nfour\r\n");
  diags.add(DiagId::unknown_key, {"a", 2, 1, 3}, {"x", ""}).labels.push_back({{"b", 2, 1, 4}, "seen here"});
  CHECK("\n" + diags.render(Format::human, false) == R"~(
error[KG0102]: unknown key `x`
 --> a:2:1
  |
2 | two
  | ^^^
 ::: b:2:1
  |
2 | four
  | ---- seen here
  = help: leave it out
)~");
}

TEST_CASE("places without a line, outside the file or in no known file do no harm") {
  Diagnostics diags;
  diags.add_source("a", "one\n");
  diags.add(DiagId::unknown_key, {"a", 0, 0, 0}, {"x", ""});
  diags.add(DiagId::unknown_key, {"a", 7, 3, 1}, {"x", ""});
  diags.add(DiagId::unknown_key, {"a", 1, 90, 500}, {"x", ""});
  diags.add(DiagId::unknown_key, {"b", 1, 1, 1}, {"x", ""});
  diags.add(DiagId::unknown_key, {"", 0, 0, 0}, {"x", ""});
  const std::string text = diags.render(Format::human, false);
  CHECK(text.find(" --> a\n") != std::string::npos);
  CHECK(text.find(" --> a:7:3\n") != std::string::npos);
  CHECK(text.find("1 | one\n") != std::string::npos);
  CHECK(text.find(" --> b:1:1\n") != std::string::npos);
  for (const Format format : {Format::short_lines, Format::json, Format::github})
    CHECK(!diags.render(format, false).empty());
}

TEST_CASE("long lines are cut around the caret") {
  Diagnostics diags;
  diags.add_source("a", std::string(5000, 'x') + "HERE" + std::string(5000, 'y'));
  diags.add(DiagId::unknown_key, {"a", 1, 5001, 4}, {"x", ""});
  const std::string text = diags.render(Format::human, false);
  CHECK(text.size() < 600);
  CHECK(text.find("HERE") != std::string::npos);
  CHECK(text.find("^^^^\n") != std::string::npos);
}

TEST_CASE("for programs") {
  CHECK(sample().render(Format::short_lines, false) ==
        "specs/a.toml:2:2: error: unknown key `output` (did you mean `outputs`?) [KG0102]\n");
  CHECK(sample().render(Format::json, false) ==
        R"~({"code":"KG0102","name":"unknown_key","severity":"error","message":"unknown key `output`",)~"
        R"~("file":"specs/a.toml","line":2,"column":2,"length":6,"labels":[{"file":"specs/a.toml","line":5,)~"
        R"~("column":1,"length":4,"text":"because of this"}],"help":"did you mean `outputs`?"})~"
        "\n");
  CHECK(sample().render(Format::github, false) ==
        "::error file=specs/a.toml,line=2,col=2,endColumn=8,title=KG0102::unknown key `output`%0A"
        "help: did you mean `outputs`?\n");
}

TEST_CASE("what users wrote cannot leave its place") {
  Diagnostics diags;
  diags.add(DiagId::toml_syntax, {"a,b:c\nd", 1, 1, 1}, {"\"\\\n\033[31m\xFF 100%"});
  CHECK(diags.render(Format::json, false).find(R"~("message":"\"\\\u000a\u001b[31m\ufffd 100%")~") !=
        std::string::npos);
  CHECK(diags.render(Format::github, false).starts_with("::error file=a%2Cb%3Ac%0Ad,line=1"));
  CHECK(diags.render(Format::github, false).find(" 100%25%0Ahelp: ") != std::string::npos);
  CHECK(diags.render(Format::short_lines, false) ==
        "a,b:c?d:1:1: error: \"\\??[31m? 100% (a spec is TOML: key = value, with strings in quotes) [KG0101]\n");
}

TEST_CASE("messages are sorted by place, files as they came, and said once") {
  Diagnostics diags;
  diags.add_source("b", "");
  diags.add_source("a", "");
  diags.add(DiagId::unknown_key, {"a", 1, 1, 1}, {"four", ""});
  diags.add(DiagId::unknown_key, {"b", 10, 1, 1}, {"three", ""});
  diags.add(DiagId::unknown_key, {"b", 2, 7, 1}, {"two", ""});
  diags.add(DiagId::unknown_key, {"b", 2, 3, 1}, {"one", ""});
  diags.add(DiagId::unknown_key, {"b", 2, 3, 1}, {"other", ""});
  diags.add(DiagId::unknown_key, {"b", 2, 3, 1}, {"one", ""});
  std::string order;
  for (const Diagnostic &d : diags.sorted())
    order += d.text.substr(12) + " ";
  CHECK(order == "`one` `other` `two` `three` `four` ");
}

TEST_CASE("what was not proved is not said beside a witness at the same place") {
  Diagnostics diags;
  diags.add(DiagId::revisit_unknown, {"a.toml", 3, 1}, {"y"});
  diags.add(DiagId::late_revisit, {"a.toml", 3, 1}, {"y"});
  diags.add(DiagId::revisit_unknown, {"a.toml", 4, 1}, {"z"});
  const std::vector<Diagnostic> shown = diags.sorted();
  REQUIRE(shown.size() == 2);
  CHECK(shown[0].id == DiagId::late_revisit);
  CHECK(shown[1].place.line == 4);
}

TEST_CASE("arguments replace their numbers once; errors are counted, warnings are none") {
  Diagnostics diags;
  CHECK(diags.add(DiagId::file_unreadable, {}, {"{1}", "reason"}).text == "cannot read {1}: reason");
  CHECK(diags.add(DiagId::file_unreadable, {}, {"a"}).text == "cannot read a: ");
  CHECK(diags.error_count() == 2);
  Diagnostics none;
  CHECK(!none.has_errors());
  CHECK(none.render(Format::human, true).empty());
}

TEST_CASE("more than a screen or two is cut, for people only") {
  Diagnostics diags;
  for (int i = 1; i <= 60; ++i)
    diags.add(DiagId::unknown_key, {"a", i, 1, 1}, {"x", ""});
  CHECK(diags.render(Format::human, false).ends_with("\n... and 10 more\n"));
  const std::string lines = diags.render(Format::short_lines, false);
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 60);
}

TEST_CASE("rows have codes of their own") {
  std::set<std::string_view> codes, names;
  for (const DiagnosticRow &row : diagnostic_rows()) {
    CHECK(codes.insert(row.code).second);
    CHECK(names.insert(row.name).second);
    CHECK(row.code.size() == 6);
  }
  CHECK(diagnostic_row(DiagId::unknown_key).name == "unknown_key");
}
