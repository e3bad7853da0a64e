// Functions with one axis parameter take several axes and a where, too: `softmax(x, M, N, where(keep))`. For C++ these
// are functions of their own, with the same name, which stand behind the one that the text defines and call it:
//
//   real softmax(real v, axis kgen_axis_1, kgen_an_axis auto kgen_axis_2, kgen_where kgen_kept) {
//     return softmax(v, kgen_axes(kgen_axis_1, kgen_axis_2, kgen_kept));
//   }
//
// The converter looks through them: nothing else knows of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::body {

struct Companions {
  size_t after; // where in the text they belong: behind the definition
  std::string text;
};

// Of the functions that a text defines, for up to so many axes. A name that several functions share has none.
std::vector<Companions> companions_of(std::string_view text, size_t most_axes);

} // namespace kgen::body
