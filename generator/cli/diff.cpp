// The longest common lines by dynamic programming, within a bound: beyond it, what lies between the equal heads and
// tails counts as replaced as a whole.
#include "cli/diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/text.h"

namespace kgen {

namespace {

constexpr size_t kMostPairs = 16'000'000;
constexpr size_t kContext = 3;

struct Edit {
  char mark; // ' ' in both, '-' before only, '+' after only
  const std::string *line;
};
using Lines = std::vector<std::string>;

// lengths[i * (m + 1) + j]: of the longest common subsequence from lines i and j on.
void compare_middle(const Lines &a, size_t a_begin, size_t a_end, const Lines &b, size_t b_begin, size_t b_end,
                    std::vector<Edit> &out) {
  const size_t n = a_end - a_begin, m = b_end - b_begin;
  std::vector<uint32_t> lengths;
  auto at = [&](size_t i, size_t j) -> uint32_t & { return lengths[i * (m + 1) + j]; };
  const bool known = n * m <= kMostPairs;
  if (known) {
    lengths.assign((n + 1) * (m + 1), 0);
    for (size_t i = n; i-- > 0;)
      for (size_t j = m; j-- > 0;)
        at(i, j) = a[a_begin + i] == b[b_begin + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  }
  size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (known && i < n && j < m && a[a_begin + i] == b[b_begin + j])
      out.push_back({' ', &a[a_begin + i]}), ++i, ++j;
    else if (i < n && (j == m || !known || at(i + 1, j) >= at(i, j + 1)))
      out.push_back({'-', &a[a_begin + i++]});
    else
      out.push_back({'+', &b[b_begin + j++]});
  }
}

std::vector<Edit> compare(const Lines &a, const Lines &b) {
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head])
    ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<Edit> out;
  for (size_t i = 0; i < head; ++i)
    out.push_back({' ', &a[i]});
  compare_middle(a, head, a.size() - tail, b, head, b.size() - tail, out);
  for (size_t i = a.size() - tail; i < a.size(); ++i)
    out.push_back({' ', &a[i]});
  return out;
}

// The lines of a text; the last one, if nothing ends it, says so as `diff` does.
Lines lines_of(const std::string &text) {
  Lines out = split(text, '\n');
  if (out.back().empty())
    out.pop_back();
  else
    out.back() += "\n\\ No newline at end of file";
  return out;
}

std::string range(size_t first, size_t count) {
  return std::to_string(count == 0 ? first : first + 1) + (count == 1 ? "" : "," + std::to_string(count));
}

} // namespace

std::string unified_diff(const std::string &path, const std::string &before, const std::string &after,
                         const std::string &made_from) {
  const Lines a = lines_of(before), b = lines_of(after);
  const std::vector<Edit> edits = compare(a, b);
  std::string out;
  size_t a_line = 0, b_line = 0; // before the edit at `i`
  for (size_t i = 0; i < edits.size();) {
    const auto changed = [&](size_t e) { return edits[e].mark != ' '; };
    size_t next = i;
    while (next < edits.size() && !changed(next))
      ++next;
    if (next == edits.size())
      break;
    const size_t begin = std::max(i, next - std::min(next, kContext));
    a_line += begin - i, b_line += begin - i;
    size_t end = next;
    for (size_t e = next; e < edits.size() && e < end + 2 * kContext + 1; ++e)
      if (changed(e))
        end = e + 1;
    end = std::min(end + kContext, edits.size());
    std::string hunk;
    size_t a_count = 0, b_count = 0;
    for (i = begin; i < end; ++i) {
      hunk += edits[i].mark + *edits[i].line + "\n";
      a_count += edits[i].mark != '+', b_count += edits[i].mark != '-';
    }
    if (out.empty())
      out = "--- " + path + "\n+++ " + path + " (" + made_from + ")\n";
    out += "@@ -" + range(a_line, a_count) + " +" + range(b_line, b_count) + " @@\n" + hunk;
    a_line += a_count, b_line += b_count;
  }
  return out;
}

} // namespace kgen
