// Refutation by example: the windows of all steps of small concrete grids. Sizes come from a short list and from the
// blocks; tables are filled by patterns that obey their declared facts. What it finds is a witness; finding nothing
// proves nothing.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analysis/facts.h"

namespace kgen {

// "z[0, 3]", as witnesses have it.
std::string element_text(const std::string &name, const std::vector<int64_t> &index);

// A size without tables at the (first) step of a witness.
std::optional<int64_t> value_at(const Kernel &kernel, const Witness &witness, const Size &size);

// All names of sizes with values.
struct Trial {
  std::vector<std::optional<int64_t>> axes; // per Kernel::axes
  std::vector<std::vector<int64_t>> tables; // row-major
  std::vector<std::vector<int64_t>> table_dims;
  int number = 0;
};

// What trials showed of a claim.
struct Tested {
  std::optional<Witness> fails; // the first trial at which it fails
  bool holds = false;           // it holds in some trial where it says something
};

class Search {
public:
  explicit Search(const Kernel &kernel);

  // A condition on sizes, over all steps. Trials where `relevant` is 0 are passed over, and on demand those with a
  // window outside, which launchers refuse.
  Tested condition(const Size &condition, const Size &relevant, bool inside_only = false);
  // Windows of `var`: outside the array; overlapping in two steps that differ in a dimension of `parallel`; visited
  // again; an element in no window.
  Tested outside(VarId var);
  Tested overlap(VarId var, uint64_t parallel);
  Tested revisit(VarId var);
  Tested uncovered(VarId var);
  // The sizes and step (0, .., 0) of a small non-trivial trial, for witnesses that need no search; `moved` gives steps
  // along one dimension.
  std::optional<Witness> example(const std::vector<std::pair<GridId, int64_t>> &moved = {});

  // The trials that launchers take, with their steps, until `visit` returns false.
  using Steps = std::vector<std::vector<int64_t>>;
  void legal_runs(const std::function<bool(const Trial &, const Steps &)> &visit);
  std::optional<int64_t> value(const Trial &trial, const Size &size, const std::vector<int64_t> &steps) const;
  Witness witness(const Trial &trial, Steps steps, std::string element) const;
  // With the sizes and entries that it names.
  const Trial *trial_of(const Witness &witness);

private:
  struct Box {
    std::vector<std::pair<int64_t, int64_t>> sides; // clipped to the array, end exclusive
  };
  struct Walk {
    std::vector<std::vector<int64_t>> steps;
    std::vector<Box> boxes;
    std::vector<int64_t> extents;
  };

  // A trial with its steps, and whether all its windows are legal; nullopt: too large, or no step.
  struct Run {
    std::optional<std::vector<std::vector<int64_t>>> steps;
    bool inside = false;
  };

  const std::vector<Trial> &trials();
  const Run &run(size_t trial);
  bool fill_tables(Trial &trial, int pattern) const;
  std::optional<std::vector<std::vector<int64_t>>> steps_of(const Trial &trial) const;
  bool windows_inside(const Trial &trial, const std::vector<std::vector<int64_t>> &steps, VarId except) const;
  std::optional<Walk> walk(size_t trial, VarId var);
  Tested over_cells(VarId var, const std::function<bool(const Trial &, const Walk &, Tested &)> &judge);

  const Kernel &kernel_;
  std::vector<Trial> trials_;
  std::vector<std::optional<Run>> runs_; // per trial
};

} // namespace kgen
