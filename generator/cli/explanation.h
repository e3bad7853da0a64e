// What was found out about one variant of a kernel, as sections of rows: one set of data, shown to people as aligned
// columns and to programs as JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/compile.h"

namespace kgen {

struct Explanation {
  struct Cell {
    std::string key, text;
    bool number = false;
  };
  using Row = std::vector<Cell>; // of text without anything: left out
  struct Section {
    std::string name;
    std::vector<Row> rows;
    std::string below;      // lines as they are
    std::string at;         // the sizes that it holds at, if not all
    std::string title = ""; // instead of the name, for people
  };
  std::string function, doc, spec;
  std::vector<Section> sections;

  std::string text() const;
  std::string json() const; // on one line
};

// `sizes`: of axes, for the numbers at the end; those not given are taken to be 1024. Plans and numbers are those of
// the targets.
Explanation explain_variation(const Spec &spec, const Variation &variation, const std::map<std::string, int64_t> &sizes,
                              const std::vector<TargetKind> &targets);

// The part of it that is a target's plan: explain_plan.cpp.
std::vector<Explanation::Section> explain_plan(const Variation &variation, TargetKind target);

} // namespace kgen
