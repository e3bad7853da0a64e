// The small C++ file that lets kgen call any launcher: its arguments come from arrays.
#pragma once

#include <string>
#include <string_view>

#include "cli/native.h"

namespace kgen {

std::string_view sources_of(NativeTarget target); // how the name of the file that is compiled ends
std::string function_name(const Kernel &kernel, NativeTarget target);
std::string shim_text(const Compiled &compiled, NativeTarget target);

} // namespace kgen
