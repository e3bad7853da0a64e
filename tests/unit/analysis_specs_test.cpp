// The shipped specs, end to end: read, parsed, built, analysed. All are legal, and what is known of them is stated
// here.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis_harness.h"

using namespace kgen;
using kgen::test::analyse;
using kgen::test::analyse_file;
using kgen::test::Analysed;

TEST_CASE("every shipped spec is legal") {
  int count = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator("specs")) {
    if (entry.path().extension() != ".toml")
      continue;
    ++count;
    INFO(entry.path().string());
    const Analysed result = analyse_file(entry.path().string());
    CHECK_MESSAGE(result.errors == "", result.errors);
  }
  CHECK(count >= 30);
}
