// The struct of an OpenMP kernel that says where its intermediates lie in the workspace.
#pragma once

#include <string>
#include <vector>

#include "emit/interface/interface.h"
#include "emit/print/printer.h"
#include "emit/target_file.h"

namespace kgen {

constexpr int64_t kMostThreads = 64; // that have memory of their own

class WorkspaceStruct {
public:
  WorkspaceStruct(const Function &function, Printer &printer) : function_(function), printer_(printer) {}

  // Room for so many elements of so many bytes: of all threads together, or of each.
  void add(const std::string &field, const std::string &count, const std::string &bytes, bool per_thread);
  // Each thread has memory of its own, for what it does in phases with so many items.
  void add_team(const std::vector<std::vector<std::string>> &items);
  WorkspaceText text(const std::string &kernel) const;

private:
  std::string most_threads(const std::vector<std::vector<std::string>> &items) const;

  const Function &function_;
  Printer &printer_;
  std::vector<std::string> fields_;
  std::string body_;
};

} // namespace kgen
