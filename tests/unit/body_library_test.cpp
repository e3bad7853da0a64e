// The lists that bodies are checked against: builtins, library, C++ words.
#include <doctest/doctest.h>

#include <regex>

#include "body/builtins.h"
#include "body/library.h"
#include "body_testing.h"
#include "support/embedded.h"

using namespace kgen;
using namespace kgen::body;

TEST_CASE("every builtin is declared, and nothing else is") {
  const std::string prelude(*find_embedded(embedded_prelude(), "builtins.h"));
  const std::regex declaration(R"(template <[^>]*> [^;{]*?(\w+)\(([A-Z] &&, )?A\.\.\.\);)");
  std::set<std::string> declared;
  for (std::sregex_iterator it(prelude.begin(), prelude.end(), declaration), end; it != end; ++it)
    if (!(*it)[1].str().starts_with("kgen_")) // for companions alone
      declared.insert((*it)[1]);
  std::set<std::string> listed;
  for (const BuiltinRow &row : builtins())
    listed.emplace(row.name);
  CHECK(declared == listed);
}

TEST_CASE("every library function is documented and parses for every type") {
  CHECK(library_functions().size() >= 20);
  for (const LibraryFunction &function : library_functions()) {
    CAPTURE(function.name);
    CHECK_FALSE(function.doc.empty());
    CHECK(function.signature.find(" " + function.name + "(") != std::string::npos);
    const bool along_axis = function.signature.find("axis A") != std::string::npos;
    const std::string arguments = function.name == "lerp"                                    ? "x, x, x"
                                  : function.name == "hypot" || function.name == "logaddexp" ? "x, x"
                                  : along_axis                                               ? "x, N"
                                                                                             : "x";
    const Outcome out = parse_spec("kernel = \"k\"\ntypes.T = [\"f32\", \"f64\", \"bf16\"]\ninputs.x = \"T[M, N]\"\n"
                                   "outputs.o = \"T[M, N]\"\nbody = 'o = " +
                                   function.name + "(" + arguments + ");'\n");
    CHECK(out.messages == "");
    CHECK(out.bodies.size() == 3);
  }
}

TEST_CASE("only what is mentioned, and what that needs, is parsed") {
  const std::string text = library_text({"relu", "x"});
  CHECK(text.find("V relu(V v)") != std::string::npos);
  CHECK(text.find("relu6") == std::string::npos);
  CHECK(library_text({}) == "");
}

TEST_CASE("every refused word has help") {
  for (const char *word : {"new", "asm", "goto", "switch", "do", "static", "::", "..."}) {
    REQUIRE(find_refused_word(word) != nullptr);
    CHECK_FALSE(find_refused_word(word)->help.empty());
  }
  CHECK(find_refused_word("if") == nullptr);
}
