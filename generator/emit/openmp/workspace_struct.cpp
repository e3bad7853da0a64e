#include "emit/openmp/workspace_struct.h"

#include <algorithm>

#include "emit/print/phase_work.h"
#include "support/text.h"

namespace kgen {

void WorkspaceStruct::add(const std::string &field, const std::string &count, const std::string &bytes,
                          bool per_thread) {
  fields_.push_back(field);
  body_ += field + " = " + printer_.spelling.helper("reserve") + "(" + (per_thread ? "thread_bytes, " : "bytes, ") +
           count + ", " + bytes + ");\n";
}

void WorkspaceStruct::add_team(const std::vector<std::vector<std::string>> &items) {
  body_ += "most_threads = " + most_threads(items) + ";\n";
}

// How many threads find work in the phases where each has memory of its own.
std::string WorkspaceStruct::most_threads(const std::vector<std::vector<std::string>> &items) const {
  std::string out;
  for (const std::vector<std::string> &counts : items) {
    const bool known = std::ranges::all_of(
        counts, [&](const std::string &count) { return is_of_sizes(function_, printer_.kernel, count); });
    const std::string here = printer_.spelling.helper("workers_for") + "({" +
                             (known ? join(counts, ", ") : std::to_string(kMostThreads)) + "})";
    out = out.empty() || out == here ? here : printer_.spelling.helper("larger") + "(" + out + ", " + here + ")";
  }
  return out.empty() ? "1" : out;
}

WorkspaceText WorkspaceStruct::text(const std::string &kernel) const {
  return workspace_text(kernel, function_, " : " + printer_.spelling.helper("Workspace"),
                        "int64_t " + join(fields_, ", ") + ";", derived_declarations(printer_, body_) + body_);
}

} // namespace kgen
