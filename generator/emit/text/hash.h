// Hashes that tell whether a text is still the one it was.
#pragma once

#include <string>
#include <string_view>

namespace kgen {

// The first 128 bits of the text's SHA-256, in hexadecimal.
std::string hash_of(std::string_view text);

} // namespace kgen
