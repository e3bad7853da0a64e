// Functions that differ in the types of their elements alone are one template, of which launchers call instances.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/target_file.h"

namespace kgen {

// What was printed for one C function, in order: structs of workspaces, kernels, functions of the host.
struct Printed {
  const Function *function;
  std::vector<std::string> texts;
};

// How launchers name what was printed: the struct or function itself, or an instance of a template.
class PrintedNames {
public:
  struct Instance {
    std::string name, arguments; // no arguments: it is no template
  };
  void add(const std::string &printed, Instance instance) { instances_[printed] = std::move(instance); }

  // `first`: an argument that it takes before those, if any.
  std::string of(const std::string &printed, const std::string &first = "") const;

private:
  std::map<std::string, Instance> instances_;
};

// The texts of all functions, each once; the helpers that templates need are noted.
std::vector<std::string> each_once(const std::vector<Printed> &printed, Spelling &spelling, PrintedNames &names);

} // namespace kgen
