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
  // A parameter of the template, with what it is in C for this instance: as stored, and as computed with.
  struct Parameter {
    std::string name, stored, stored_type, value, value_type; // T, Stored<T>, uint16_t, Value<T>, float
  };
  struct Instance {
    std::string name, arguments; // no arguments: it is no template
    std::vector<Parameter> parameters;
    std::string sizes = {}; // further arguments, which all instances have
  };
  void add(const std::string &printed, Instance instance) { instances_[printed] = std::move(instance); }
  // What was defined under one name is called by another, with a size as an argument if one is given.
  void rename(const std::string &name, const std::string &other, const std::string &size = "");

  // `first`: an argument that it takes before those, if any.
  std::string of(const std::string &printed, const std::string &first = "") const;
  // As a template with the same parameters calls it: softmax<int32_t, T>.
  std::string in_template(const std::string &printed, const std::string &first = "") const;
  Instance instance(const std::string &printed) const;

private:
  std::map<std::string, Instance> instances_;
};

// The texts of all functions, each once; the helpers that templates need are noted.
std::vector<std::string> each_once(const std::vector<Printed> &printed, Spelling &spelling, PrintedNames &names);

} // namespace kgen
