// Offsets in a string to places in the file.
#include "spec/placed_text.h"

#include <algorithm>

#include "support/text.h"

namespace kgen {

Place PlacedText::at(size_t offset, size_t length) const {
  Place place = start;
  offset = std::min(offset, text.size());
  if (!exact.empty()) {
    const auto [line, column] = offset < exact.size() ? exact[offset] : exact.back();
    place.line = line;
    place.column = offset < exact.size() ? column : column + 1;
    const size_t last = std::min(offset + std::max<size_t>(length, 1), exact.size()) - 1;
    const bool one_line = offset < exact.size() && exact[last].first == line;
    place.length = one_line ? exact[last].second - column + 1 : 1;
    return place;
  }
  const std::string_view before = std::string_view(text).substr(0, offset);
  if (const size_t newline = before.rfind('\n'); newline != std::string_view::npos) {
    place.line += static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    place.column = static_cast<int>(offset - newline);
  } else {
    place.column += static_cast<int>(offset);
  }
  const size_t end = std::min(text.find('\n', offset), text.size());
  place.length = static_cast<int>(std::clamp<size_t>(length, 1, std::max<size_t>(end - offset, 1)));
  return place;
}

PlacedText PlacedText::part(size_t offset, size_t length) const {
  PlacedText out;
  out.text = text.substr(offset, length);
  out.start = at(offset, out.text.size());
  if (!exact.empty() && !out.text.empty())
    out.exact.assign(exact.begin() + static_cast<std::ptrdiff_t>(offset),
                     exact.begin() + static_cast<std::ptrdiff_t>(offset + out.text.size()));
  return out;
}

PlacedText PlacedText::trimmed() const {
  const std::string_view kept = trim(text);
  return part(kept.empty() ? 0 : static_cast<size_t>(kept.data() - text.data()), kept.size());
}

} // namespace kgen
