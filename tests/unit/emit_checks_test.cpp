// What launchers ask of sizes and entries before they start anything.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

std::string launcher(const std::string &spec_text, const std::string &suffix) {
  return emitted_text(spec_text, suffix, suffix == "_openmp.cpp" ? "int launch_" : "extern \"C\" int");
}

TEST_CASE("a CUDA launcher asks what it can without the entries of tables on a device") {
  const auto spec = [](const std::string &where) {
    return "kernel = \"k\"\ntables.t = { type = \"i32[S]\", unique = true" + where +
           " }\ninputs.x = \"f32[N]\"\n"
           "outputs.y = { type = \"f32[K]\", block = [4], index = [\"t[i]\"], partial = true }\n"
           "grid.i = { size = \"N\" }\nbody = 'y = 1;'\n";
  };
  const std::string sizes =
      "for (int64_t i = 0; i < N; ++i) { if (!(i < S)) return status_of(KGEN_TABLE_OUTSIDE, 1); }";
  const std::string entries =
      "if (!(K <= 0 ? 1 : int64_t(table_at(t, i, S)) * 4 < K)) return status_of(KGEN_WINDOW, 3);";
  const std::string facts = "if (has_duplicates(t, S)) return status_of(KGEN_TABLE_UNIQUE, 1);";
  for (const std::string &text :
       {launcher(spec(""), "_openmp.cpp"), launcher(spec(", where = \"host\""), "_cuda.cu")}) {
    CHECK(has(text, sizes));
    CHECK(has(text, entries));
    CHECK(has(text, facts));
  }
  const std::string device = launcher(spec(""), "_cuda.cu");
  CHECK(has(device, sizes));
  CHECK(device.find("table_at(") == std::string::npos);
  CHECK(device.find("has_duplicates(") == std::string::npos);
}

TEST_CASE("a call is over where none of its outputs has elements, and each size is asked once") {
  const auto asks = [](const std::string &outputs, const std::string &condition) {
    const std::string text =
        launcher("kernel = \"k\"\ninputs.x = \"f32[N]\"\ninputs.w = \"f32[M]\"\n" + outputs, "_openmp.cpp");
    return has(text, "if (" + condition + ") return 0;");
  };
  CHECK(asks("outputs.y = \"f32[N, P=N]\"\nbody = 'y = x + sum(w, M);'\n", "N == 0"));
  CHECK(asks("outputs.y = \"f32[M, N]\"\noutputs.z = \"f32[M]\"\nbody = 'y = w + x; z = w;'\n", "M == 0"));
  CHECK(asks("outputs.y = \"f32[N]\"\noutputs.z = \"f32[M]\"\nbody = 'y = x; z = w;'\n", "N == 0 && M == 0"));
}

} // namespace
} // namespace kgen
