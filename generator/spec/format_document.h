// The pinned layout of specs. Only what means nothing is changed: blanks, blank lines and line breaks around keys and
// values. Keys, values and comments stay as they are and where they are; so does the text of strings.
#pragma once

#include <string>
#include <string_view>

#include "spec/document.h"

namespace kgen {

// `text` must be a document that read_document takes.
std::string format_document(std::string_view text);

// Do two documents say the same, in the same order? Blanks at the ends of lines of code say nothing.
bool same_meaning(const Node &a, const Node &b);

} // namespace kgen
