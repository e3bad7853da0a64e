// Texts as comments of emitted files.
#pragma once

#include <string>

namespace kgen {

void replace_all(std::string &text, const std::string &from, const std::string &to);
// User text for a comment: it cannot leave the lines that it is put into.
std::string comment_text(std::string text);
// The same as a comment, each line of the text cut where it is too long; what goes on is indented.
std::string as_comment(const std::string &text);

} // namespace kgen
