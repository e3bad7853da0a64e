// The C functions of a source: each checks its arguments, finds memory for intermediates, and runs what was made for
// the sizes. What differs in types and names alone is one template, of which the C functions are calls.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emit/text/each_once.h"

namespace kgen {

// A function that a launcher may run.
struct Made {
  std::string name;      // softmax_f32_short
  std::string condition; // of the sizes; empty: it is for all that are left
  std::string of_tables; // the same of tables, which is not known where the bytes of the workspace are asked for
  std::string arrays;    // of what arrays are there; empty: whatever is
  bool workspace = false;
  std::string sizes;     // that the struct of the workspace asks for
  bool has_team = false; // each thread has a part of it
  std::string why = "";  // what it does otherwise than the one for all sizes, and why
};

// One C function, with what was made for each of its variations, in the order in which they are tried.
struct Launched {
  const Function *function;
  std::vector<std::vector<Made>> made;
  // CUDA: what stands before the run of this variation; it may call a kernel, which `requirements` names.
  std::function<std::string(size_t variation, const std::string &requirements)> before_run;
  std::vector<std::string> requirements; // by variation; empty: there is none
};

// Adds them to the source: templates to its kernels, C functions to its launchers.
void add_launchers(const std::string &kernel, const std::vector<Launched> &launched, const PrintedNames &names,
                   bool cuda, Spelling &spelling, Statuses &statuses, TargetSource &source);

} // namespace kgen
