// The same kernel on the interpreter and on emitted code: do they agree, by the one formula, on edge sizes, seeds,
// threads and unaligned arrays? The core of `kgen verify`, of the conformance tests and of the fuzzer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "cli/native.h"

namespace kgen {

// Real numbers, and whole ones of any size; small integers; those, with some NaN; each of these in turn; or small
// integers, with ends of their types among scalars and numbers of 32 and 64 bits.
enum class RandomData { real, integers, nans, all, extremes };

struct DifferentialOptions {
  RunInput given;           // sizes that axes have in all cases, scalars that are not drawn
  int64_t work = 2'000'000; // element operations of the interpreter that one case may take
  std::vector<uint64_t> seeds = {1, 2, 3};
  RandomData data = RandomData::all;
  std::vector<int> threads = {1, 2, 3}; // all bitwise equal
  bool unaligned = true;
  int timeout_s = 60;
};

struct DifferentialReport {
  int cases = 0;
  int too_big = 0;      // beyond `work`
  int refused = 0;      // by both
  int64_t elements = 0; // compared
  int64_t exact = 0;    // of these, bit for bit
  int64_t undecided = 0;
  struct Tally {
    int64_t compared = 0, undecided = 0;
  };
  std::map<std::string, Tally> tally; // by output
  std::string no_verdict;             // why nothing is known, if so: an output is mostly undecided, or nothing ran
  std::vector<std::string> sizes;     // tried, as "M=1 N=7"
  std::string difference;             // the first one; empty: none
  std::string failed_assert;          // the first one; empty: none
};

// Sizes that tend to go wrong: 0, 1, around each block, primes, one bigger; one axis at a time.
std::vector<std::map<std::string, int64_t>> edge_sizes(const Kernel &kernel);

// One input on both; `kernel` is what the interpreter runs. False: they differ, see `report.difference`, or an assert
// fails.
bool compare_once(const Kernel &kernel, const NativeKernel &native, const RunInput &input, uint64_t seed,
                  const DifferentialOptions &options, DifferentialReport &report);

// All variants, sizes and seeds, up to the first difference.
DifferentialReport verify_native(const Compiled &compiled, const NativeKernel &native,
                                 const DifferentialOptions &options);

} // namespace kgen
