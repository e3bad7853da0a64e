// A variable that begins with nothing, and next takes in what one fold has found, is declared where it does.
#pragma once

#include <string>

namespace kgen {

// `float sum = 0.0f; ... sum = sum + block_fold(...);` becomes `... float sum = block_fold(...);`, with the same bits:
// no fold of sums gives -0.
std::string declare_at_fold(const std::string &text);

} // namespace kgen
