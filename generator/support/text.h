// Small helpers on text: joining, splitting, names, and the did-you-mean of error messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kgen {

std::string join(const std::vector<std::string> &parts, std::string_view separator);
// Always at least one part; keeps empty ones.
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string ticked(std::string_view name); // `name`, the way messages set off what the user wrote
bool is_identifier(std::string_view text); // of C, in ASCII
bool is_word(char c);                      // may it stand in an identifier?

// Steps of insert, delete, replace and swap of neighbours; counting stops above `limit`.
int edit_distance(std::string_view a, std::string_view b, int limit);
// The candidate most like `name`, if one is near enough to be meant. Letter case counts little.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string> &candidates);
// "did you mean `x`?", or, where nothing is near and the choice is small, "there are `a`, `b` and `c`"; else empty.
std::string did_you_mean(std::string_view name, const std::vector<std::string> &candidates);
// "`a`, `b` and `c`"
std::string enumerate(const std::vector<std::string> &names, std::string_view last = "and");

// The offset of the first byte that is no well-formed UTF-8, or npos.
size_t find_bad_utf8(std::string_view text);
// The first control character that is no blank and ends no line (a lone carriage return is a line's end to some readers
// only); npos if there is none.
size_t find_control(std::string_view text);
// Bytes that a terminal should not be sent (controls, bad UTF-8) become `?`; tabs stay.
std::string printable(std::string_view text);
// As a string of JSON, with its quotes; bad UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);
// Code points, so that a caret stands under its letter.
size_t display_width(std::string_view text);

} // namespace kgen
