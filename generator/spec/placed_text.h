// The content of a TOML string that still knows where each of its bytes stands in the file, escapes and line breaks
// included.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/diagnostics.h"

namespace kgen {

struct PlacedText {
  std::string text;
  Place start;                            // of the first byte of the content
  std::vector<std::pair<int, int>> exact; // line and column of each byte; empty where counting from `start` is right

  Place at(size_t offset, size_t length = 1) const;
  PlacedText part(size_t offset, size_t length) const;
  // Without blanks at both ends.
  PlacedText trimmed() const;
};

} // namespace kgen
