// NumPy's .npy files: one dense array with its element type and shape. bf16 travels as its bits in '<u2'.
#pragma once

#include <optional>
#include <string>

#include "ir/interpret.h"

namespace kgen {

// The array as `wanted`, whose bytes the file's type must have. nullopt with a `reason`.
std::optional<Array> parse_npy(const std::string &bytes, Type wanted, std::string &reason);
std::string format_npy(const Array &array);

constexpr size_t kLargestArray = size_t{1} << 40; // bytes of a file, and elements
bool write_npy(const std::string &path, const Array &array, std::string &reason);

} // namespace kgen
