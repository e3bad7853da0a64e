// Specs as text through all stages up to the facts, for tests.
#pragma once

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "analysis/facts.h"
#include "body/body.h"

namespace kgen::test {

struct Analysed {
  bool built = false;
  Kernel kernel;
  Facts facts;
  Diagnostics diags;
  std::string errors; // all messages as text

  GridId grid(const std::string &name) const {
    for (size_t g = 0; g < kernel.grid.size(); ++g)
      if (kernel.grid[g].name == name)
        return static_cast<GridId>(g);
    return kNone;
  }
  const GridFact &dimension(const std::string &name) const { return facts.grid.at(grid(name)); }
  bool parallel(const std::string &name) const { return dimension(name).semantics == Semantics::parallel; }
  const OperandFact &operand(const std::string &name) const {
    for (size_t v = 0; v < kernel.vars.size(); ++v)
      if (kernel.vars[v].name == name)
        return facts.operands.at(v);
    return facts.operands.at(facts.operands.size());
  }
  const AxisFact &axis(const std::string &name) const {
    for (size_t a = 0; a < kernel.axes.size(); ++a)
      if (kernel.axes[a].name == name)
        return facts.axes.at(a);
    return facts.axes.at(facts.axes.size());
  }
  std::vector<Check> checks(Check::Kind kind) const {
    std::vector<Check> out;
    for (const Check &check : facts.checks)
      if (check.kind == kind)
        out.push_back(check);
    return out;
  }
  // All messages in order of place, by the names of their rows: "parallel_overlap window_outside".
  std::string names() const {
    std::string out;
    for (const Diagnostic &d : diags.sorted())
      out += (out.empty() ? "" : " ") + std::string(diagnostic_row(d.id).name);
    return out;
  }
};

inline Analysed analyse(const std::string &text, const std::string &path = "test.toml") {
  Analysed out;
  const auto finish = [&] {
    for (const Diagnostic &d : out.diags.sorted())
      if (d.severity == Severity::error)
        out.errors +=
            std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + " " + d.text + " | " + d.help + "\n";
  };
  const auto spec = load_spec(path, text, {}, out.diags);
  const auto variants = spec ? variants_of(*spec) : std::vector<Variant>{};
  const auto bodies = spec ? body::parse_body(*spec, variants, out.diags) : std::nullopt;
  const auto kernel = bodies ? build_kernel(*spec, variants[0], (*bodies)[0], out.diags) : std::nullopt;
  if (kernel) {
    out.built = true;
    out.kernel = *kernel;
    out.facts = analyze(out.kernel, out.diags);
  }
  finish();
  return out;
}

inline Analysed analyse_file(const std::string &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return analyse(text.str(), path);
}

inline Analysed legal(const std::string &text) {
  Analysed out = analyse(text);
  CHECK_MESSAGE(out.errors == "", out.errors);
  REQUIRE(out.built);
  return out;
}

// The help of the one message; its name must be this.
inline std::string refused(const std::string &text, const std::string &name) {
  const Analysed out = analyse(text);
  CHECK_MESSAGE(out.names() == name, out.errors);
  return out.diags.empty() ? "" : out.diags.sorted()[0].help;
}

inline bool has(const std::string &text, const std::string &part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found)
    MESSAGE(text);
  return found;
}

} // namespace kgen::test
