// Functions whose arguments differ in types alone share a template, of which each has an alias. What takes a struct is
// a friend that is defined inside it, so it is found by its argument alone and hides no C function: the address of the
// C function can be taken as if it had no overload.
#include "emit/interface/arguments_structs.h"

#include <algorithm>

#include "emit/interface/header.h"
#include "emit/text/shared_types.h"
#include "support/text.h"

namespace kgen {
namespace {

using Sources = std::map<std::string, const TargetSource *>;
using Group = std::vector<const Function *>;

bool has_table_status(const Function &function, const std::string &target) {
  return target == "cuda" && has_device_tables(function.variations[0]->kernel);
}

// What functions of one group have in common.
std::string shape(const Function &function, const Sources &targets) {
  std::string out;
  for (const Argument &a : function.arguments)
    out += std::to_string(static_cast<int>(a.kind)) + a.name + ",";
  for (const auto &[target, source] : targets)
    out += takes_workspace(function, target, *source) ? "w" : "-";
  return out;
}

std::vector<Group> groups_of(const std::vector<Function> &functions, const Sources &targets) {
  std::vector<Group> groups;
  std::map<std::string, size_t> group_of;
  for (const Function &function : functions) {
    const auto [found, fresh] = group_of.try_emplace(shape(function, targets), groups.size());
    if (fresh)
      groups.emplace_back();
    groups[found->second].push_back(&function);
  }
  return groups;
}

// A parameter's name that hides no member.
std::string free_parameter(const Function &function, std::string name) {
  while (std::ranges::any_of(function.arguments, [&](const Argument &a) { return header_name(a.name) == name; }))
    name += "_";
  return name;
}

// Of a template: the C function of a target.
std::string function_parameter(const Function &function, const std::string &target) {
  return free_parameter(function, target == "cuda" ? "kCuda" : "kOpenmp");
}

// Neighbours that are sizes stand on one line.
std::string members(const Function &function, const SharedTypes &types, bool memory) {
  std::string out;
  bool after_size = false;
  for (Argument a : function.arguments) {
    if (const auto shared = types.of_arguments.find(a.name); shared != types.of_arguments.end())
      a.type = shared->second;
    a.name = header_name(a.name);
    const bool size = a.kind == Argument::Kind::size;
    const std::string declaration = size && after_size ? a.name : a.declaration();
    const bool pointer = declaration.find('*') != std::string::npos;
    out += out.empty() ? "" : size && after_size ? ", " : ";\n";
    out += declaration + (pointer ? " = nullptr" : a.type == "bool" ? " = false" : " = 0");
    after_size = size;
  }
  return out + (out.empty() ? "" : ";\n") +
         (memory ? "void* workspace = nullptr;\nint64_t workspace_bytes = 0;\n" : "");
}

// The function that takes a struct of this name and calls a C function.
std::string caller(const std::string &kernel, const Function &function, const std::string &target, bool memory,
                   const std::string &name, const std::string &called) {
  const std::string given = free_parameter(function, "a"), stream = free_parameter(function, "stream");
  std::string parameters = "const " + name + "& " + given, passed;
  for (const Argument &a : function.arguments)
    passed += (passed.empty() ? "" : ", ") + given + "." + header_name(a.name);
  if (has_table_status(function, target)) {
    parameters += ", int32_t* table_status";
    passed += ", table_status";
  }
  if (memory)
    passed += ", " + given + ".workspace, " + given + ".workspace_bytes";
  if (target == "cuda") {
    parameters += ", void* " + stream;
    passed += ", " + stream;
  }
  return "friend int " + kernel + "_" + target + "(" + parameters + ") {\nreturn " + called + "(" + passed + ");\n}\n";
}

// The struct of a group, without what stands before it; `called` names what is called for each target.
template <class Called>
std::string struct_text(const std::string &kernel, const Function &function, const SharedTypes &types,
                        const Sources &targets, const std::string &name, Called called) {
  bool memory = false;
  std::string callers;
  for (const auto &[target, source] : targets) {
    const bool own = takes_workspace(function, target, *source);
    memory = memory || own;
    callers += caller(kernel, function, target, own, name, called(target));
  }
  return "struct " + name + " {\n" + members(function, types, memory) + "\n" + callers + "};\n";
}

std::string of_one(const std::string &kernel, const Function &function, const Sources &targets) {
  return struct_text(kernel, function, {}, targets, function.stem + "_arguments",
                     [&](const std::string &target) { return function.stem + "_" + target; });
}

std::string of_all(const std::string &kernel, const Group &group, const Sources &targets) {
  const Function &first = *group[0];
  const SharedTypes types = shared_types(group);
  std::vector<std::string> parameters;
  for (const std::string &type : types.parameters)
    parameters.push_back("class " + type);
  for (const auto &[target, source] : targets)
    parameters.push_back("auto* " + function_parameter(first, target));
  const std::string name = kernel + "_arguments";
  std::string out = "template <" + join(parameters, ", ") + ">\n" +
                    struct_text(kernel, first, types, targets, name,
                                [&](const std::string &target) { return function_parameter(first, target); });
  for (size_t i = 0; i < group.size(); ++i) {
    std::vector<std::string> own;
    for (const std::vector<std::string> &type : types.types)
      own.push_back(type[i]);
    for (const auto &[target, source] : targets)
      own.push_back(group[i]->stem + "_" + target);
    out += "using " + group[i]->stem + "_arguments = " + name + "<" + join(own, ", ") + ">;\n";
  }
  return out;
}

} // namespace

std::string arguments_structs(const std::string &kernel, const std::vector<Function> &functions,
                              const Sources &targets) {
  const std::vector<Group> groups = groups_of(functions, targets);
  const auto largest = std::ranges::max_element(groups, {}, &Group::size);
  std::string out;
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    const bool together = group == largest && group->size() > 1;
    out += together ? of_all(kernel, *group, targets) : "";
    for (const Function *function : together ? Group() : *group)
      out += of_one(kernel, *function, targets);
  }
  return out;
}

} // namespace kgen
