// What clang-format would take too long for: the layout of deep nests, whose breaks it finds by trying, and of huge
// files. Both are filled line by line instead.
#pragma once

#include <string>
#include <vector>

namespace kgen {

constexpr size_t kColumns = 110;
constexpr size_t kIndent = 2; // per block

// A line of C++, broken at spaces, or behind brackets, where it is too long. Lines that go on are indented by four.
std::string filled(const std::string &line);

// How many blocks are open behind a line, `depth` of them before it.
size_t depth_of_blocks(size_t depth, const std::string &line);

// The text with an indent for each block; lines that have one keep it.
std::string plain_layout(const std::string &text);

// Stands names in for what is nested too deep in lines that do not fit, and for lines that are far too long; puts both
// back once the rest is laid out.
class DeepNests {
public:
  std::string hide(const std::string &text);
  std::string restore(const std::string &text) const;

private:
  std::string name_of(const std::string &code);
  std::string hide_in(const std::string &line, size_t deepest);
  std::vector<std::string> hidden_; // by number; its name holds the number
};

} // namespace kgen
