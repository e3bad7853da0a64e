// Wrong specs and what is said about each: line, column, text, help and code of every message.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "spec/spec.h"

namespace kgen::test {

// Lines that make a spec of a fragment. They come last, so that the fragment's own lines count from 1.
inline const std::string kRest = "\nkernel = 'k'\noutputs.z = 'f32[N]'\nbody = 'z = 0;'\n";

// The messages about a spec, one a line, without the file's name.
inline std::string messages(const std::string &text, const LoadOptions &options = {}) {
  Diagnostics diags;
  const bool loaded = load_spec("s", text, options, diags).has_value();
  CHECK(loaded != diags.has_errors());
  std::string out;
  for (const Diagnostic &d : diags.sorted()) {
    if (d.place.line > 0)
      out += std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + ": ";
    out += d.text + (d.help.empty() ? "" : " (" + d.help + ")") + " [" + std::string(diagnostic_row(d.id).code) + "]\n";
  }
  return out;
}

struct Wrong {
  std::string spec; // a whole one, or what stands before kRest
  std::string said;
};

inline void check_wrong(const std::vector<Wrong> &cases, const std::string &rest = kRest) {
  for (const Wrong &wrong : cases) {
    CAPTURE(wrong.spec);
    CHECK("\n" + messages(wrong.spec + rest) == wrong.said);
  }
}

} // namespace kgen::test
