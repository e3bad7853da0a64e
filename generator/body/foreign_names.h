// What NumPy, PyTorch, C and CUDA call things that have another name in a body, or are written in another way.
#pragma once

#include <string_view>

namespace kgen::body {

// What to write instead; empty: the name is none of them.
std::string_view instead_of(std::string_view foreign_name);

} // namespace kgen::body
