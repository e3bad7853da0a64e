#include "emit/launcher.h"

#include <algorithm>
#include <map>
#include <set>

#include "emit/arrays.h"

namespace kgen {
namespace {

// How a launcher's text calls what differs between functions that are otherwise alike.
struct Naming {
  bool shared; // by the parameters of a template
  std::string stem;
  const PrintedNames &printed;

  // softmax_short<float>, or run_short. Functions for CUDA are made for indices of 32 and of 64 bits.
  std::string function(const std::string &name, const std::string &index = "") const {
    return shared ? "run" + name.substr(stem.size()) + (index == "int64_t" ? "_wide" : "") : printed.of(name, index);
  }
  std::string space(const std::string &name) const {
    return shared ? "Space" + camel(name.substr(stem.size())) : printed.of(camel(name) + "Workspace");
  }
};

std::string where(const std::string &condition, const std::string &statements) {
  return condition.empty() ? statements : "if (" + condition + ") {\n" + statements + "}\n";
}

std::string join_comma(const std::vector<std::string> &parts) {
  std::string out;
  for (const std::string &part : parts)
    if (!part.empty())
      out += (out.empty() ? "" : ", ") + part;
  return out;
}

class Launchers {
public:
  Launchers(const std::string &kernel, const std::vector<Launched> &launched, const PrintedNames &names, bool cuda,
            Spelling &spelling, Statuses &statuses, TargetSource &source)
      : kernel_(kernel), launched_(launched), names_(names), cuda_(cuda), spelling_(spelling), statuses_(statuses),
        source_(source) {}

  void add() {
    find_types();
    std::vector<std::vector<size_t>> runs, queries;
    std::map<std::string, size_t> run_of, query_of;
    for (size_t i = 0; i < launched_.size(); ++i) {
      const std::string own = shares_ ? "" : stem(i);
      group(i, own + parameters(i, true) + body(i, naming(i, true)), runs, run_of);
      if (takes_workspace(i))
        group(i, own + query(i, naming(i, true)), queries, query_of);
    }
    std::vector<std::string> texts(launched_.size()), query_texts(launched_.size());
    for (const std::vector<size_t> &alike : runs)
      launchers(alike, runs.size() == 1, texts);
    for (const std::vector<size_t> &alike : queries)
      workspaces(alike, queries.size() == 1, query_texts);
    for (size_t i = 0; i < launched_.size(); ++i)
      source_.launchers.push_back(query_texts[i] + (query_texts[i].empty() ? "" : "\n") + texts[i]);
  }

private:
  const Function &function(size_t i) const { return *launched_[i].function; }
  const std::string &stem(size_t i) const { return function(i).stem; }

  static void group(size_t i, const std::string &text, std::vector<std::vector<size_t>> &groups,
                    std::map<std::string, size_t> &group_of) {
    const auto [found, fresh] = group_of.try_emplace(text, groups.size());
    if (fresh)
      groups.emplace_back();
    groups[found->second].push_back(i);
  }

  // Types that differ between functions become parameters of templates, named after their first argument.
  void find_types() {
    const std::vector<std::string> names = names_of_arguments(function(0));
    const bool alike =
        std::ranges::all_of(launched_, [&](const Launched &one) { return names_of_arguments(*one.function) == names; });
    std::map<std::vector<std::string>, std::string> parameters;
    for (size_t a = 0; a < names.size(); ++a) {
      std::vector<std::string> types;
      for (const Launched &one : launched_)
        types.push_back(alike ? one.function->arguments[a].type : "");
      if (std::ranges::adjacent_find(types, std::not_equal_to<>()) == types.end())
        continue;
      parameters.try_emplace(types, names[a]);
      parameter_of_[names[a]] = camel(parameters[types]) + "Element";
    }
    if (parameters.size() == 1 && std::ranges::find(names, "T") == names.end())
      for (auto &[argument, type] : parameter_of_)
        type = "T";
    const auto hides = [](const std::string &name) { // a parameter of a template
      return name.starts_with("run") || name.starts_with("Run") || name.starts_with("Space") ||
             name.ends_with("Element");
    };
    shares_ = alike && std::ranges::none_of(names, hides);
  }

  Naming naming(size_t i, bool shared) const { return {shared, c_name(stem(i)), names_}; }

  // Of the C function, or of a template.
  std::string parameters(size_t i, bool shared) const {
    std::vector<std::string> out;
    for (Argument a : function(i).arguments) {
      if (const auto type = parameter_of_.find(a.name); shared && type != parameter_of_.end())
        a.type = type->second;
      out.push_back(a.declaration());
    }
    if (has_table_status(i))
      out.emplace_back("int32_t* table_status");
    if (takes_workspace(i))
      out.emplace_back("void* workspace, int64_t workspace_bytes");
    if (cuda_)
      out.emplace_back("void* stream");
    return join_comma(out);
  }

  std::string arguments(size_t i) const {
    return join_comma({arguments_text(function(i)), has_table_status(i) ? "table_status" : "",
                       takes_workspace(i) ? "workspace, workspace_bytes" : "", cuda_ ? "stream" : ""});
  }

  bool has_table_status(size_t i) const { return cuda_ && has_device_tables(function(i).variations[0]->kernel); }

  bool takes_workspace(size_t i) const {
    return std::ranges::any_of(launched_[i].made, [](const std::vector<Made> &made) {
      return std::ranges::any_of(made, [](const Made &one) { return one.workspace; });
    });
  }

  // The checks of all variations where they are the same, else none.
  std::string common(const std::vector<Checks> &checks) const {
    const bool same = std::ranges::all_of(checks, [&](const Checks &one) { return one.text == checks[0].text; });
    return same ? checks[0].text : "";
  }

  std::vector<Checks> checks(size_t i, CheckedIn where) {
    std::vector<Checks> out;
    for (const Variation *v : function(i).variations)
      out.push_back(checks_of(function(i), *v, spelling_, statuses_, where));
    return out;
  }

  // What a function does that has one for each of some sizes, where it has none for these.
  std::string refuse_others(size_t i, const char *sign) {
    const Variation &first = *function(i).variations[0];
    if (variation_condition(first).empty())
      return "";
    spelling_.helper("status_of");
    if (first.variant.axes.size() > 1)
      return "return " + std::string(sign) +
             statuses_.of(StatusKind::size_not_allowed, "the kernel was not made for these sizes") + ";\n";
    const std::string &axis = first.variant.axes.begin()->first;
    return "return " + std::string(sign) +
           statuses_.of(StatusKind::size_not_allowed, axis + " must be one of the sizes that this was made for", axis) +
           ";\n";
  }

  std::string body(size_t i, const Naming &names) {
    statuses_.begin_function(names_of_arguments(function(i)));
    if (takes_workspace(i))
      explain_workspace(function(i), statuses_, cuda_);
    const std::vector<Checks> all = checks(i, cuda_ ? CheckedIn::device_launcher : CheckedIn::host_launcher);
    const std::string first = common(all);
    std::string text = first;
    for (size_t v = 0; v < all.size(); ++v) {
      std::string calls = (first.empty() ? all[v].text : "") + all[v].small;
      if (cuda_)
        calls += "const cudaStream_t queue = static_cast<cudaStream_t>(stream);\n" +
                 launched_[i].before_run(v, requirements(i, v, names));
      for (const Made &one : launched_[i].made[v])
        calls += where(one.condition, call(i, one, names));
      text += where(variation_condition(*function(i).variations[v]), calls);
    }
    return text + refuse_others(i, "");
  }

  std::string requirements(size_t i, size_t v, const Naming &names) const {
    const std::string &name = launched_[i].requirements[v];
    return name.empty() ? "" : names.function(name);
  }

  // The memory and the call.
  std::string call(size_t i, const Made &made, const Naming &names) {
    std::string text;
    if (made.workspace) {
      const std::string sizes = size_arguments_text(function(i));
      text += "const " + names.space(made.name) + " space" + (sizes.empty() ? "" : "(" + sizes + ")") + ";\n";
      text += "const " + spelling_.helper("Memory") + " memory(workspace, workspace_bytes, space.bytes, arrays" +
              (cuda_ ? ", queue" : "") + ");\nif (memory.status != 0) return memory.status;\n";
    }
    const std::string passed = "(" +
                               join_comma({arguments_text(function(i)), has_table_status(i) ? "table_status" : "",
                                           made.workspace ? "memory.data" : "", cuda_ ? "queue" : ""}) +
                               ")";
    if (!cuda_)
      return text + names.function(made.name) + passed + ";\nreturn 0;\n";
    return text + "return " + spelling_.helper("cuda_status") + "(small ? " + names.function(made.name, "int32_t") +
           passed + " : " + names.function(made.name, "int64_t") + passed + ");\n";
  }

  std::string query(size_t i, const Naming &names) {
    statuses_.begin_function(names_of_arguments(function(i)));
    const std::vector<Checks> all = checks(i, cuda_ ? CheckedIn::device_query : CheckedIn::host_query);
    const std::string first = common(all), sizes = size_arguments_text(function(i));
    std::string text = first;
    for (size_t v = 0; v < all.size(); ++v) {
      std::string bytes = first.empty() ? all[v].text : "";
      for (const Made &one : launched_[i].made[v])
        bytes += (one.condition.empty() ? "" : "if (" + one.condition + ") ") + "return " +
                 (!one.workspace ? "0" : names.space(one.name) + "(" + sizes + ").bytes") + ";\n";
      text += where(variation_condition(*function(i).variations[v]), bytes);
    }
    return text + refuse_others(i, "-");
  }

  // What one template takes and its callers pass: types that must be named, and functions.
  struct Passed {
    std::vector<std::string> spaces, functions;
  };
  Passed passed(size_t i, const Naming &names) const {
    Passed out;
    std::set<std::string> seen;
    const auto add = [&](std::vector<std::string> &list, const std::string &name) {
      if (seen.insert(name).second)
        list.push_back(name);
    };
    for (size_t v = 0; v < launched_[i].made.size(); ++v) {
      if (cuda_ && !launched_[i].requirements[v].empty())
        add(out.functions, requirements(i, v, names));
      for (const Made &one : launched_[i].made[v]) {
        if (one.workspace)
          add(out.spaces, names.space(one.name));
        add(out.functions, names.function(one.name, cuda_ ? "int32_t" : ""));
        if (cuda_)
          add(out.functions, names.function(one.name, "int64_t"));
      }
    }
    return out;
  }

  // A name for a template of these functions that no argument and no helper has.
  std::string template_name(const std::string &what, const std::vector<size_t> &alike, bool only) const {
    std::string name = what + (only ? kernel_ : stem(alike[0]));
    const auto taken = [&](const Argument &a) { return a.name == name; };
    while (is_helper_function(name) || std::ranges::any_of(function(alike[0]).arguments, taken))
      name += "_";
    return name;
  }

  // A template where there are at least two functions. Kernels for CPUs are compiled for several sets of instructions,
  // so there what checks and runs is a function of each set.
  void launchers(const std::vector<size_t> &alike, bool only, std::vector<std::string> &texts) {
    const size_t first = alike[0];
    const auto head = [&](size_t i) {
      return "extern \"C\" int " + stem(i) + (cuda_ ? "_cuda(" : "_openmp(") + parameters(i, false) + ") {\n";
    };
    if (alike.size() == 1 && cuda_) {
      texts[first] = head(first) + body(first, naming(first, false)) + "}\n";
      return;
    }
    const std::string name = template_name("launch_", alike, only);
    if (alike.size() == 1) {
      source_.kernels.push_back("// Checks the arguments, then runs.\nint " + name + "(" + parameters(first, false) +
                                ") {\n" + body(first, naming(first, false)) + "}\n");
      texts[first] = head(first) + chosen("return " + name + "(" + arguments(first) + ")") + "}\n";
      return;
    }
    const Naming names = naming(alike[0], true);
    const Passed symbols = passed(alike[0], names);
    std::vector<std::string> types, functions;
    for (const std::string &space : symbols.spaces)
      types.push_back("class " + space);
    for (const std::string &type : type_parameters(alike[0]))
      types.push_back("class " + type);
    for (const std::string &symbol : symbols.functions) {
      types.push_back("class " + camel(symbol));
      functions.push_back(camel(symbol) + " " + symbol);
    }
    source_.kernels.push_back("// Checks the arguments, then runs.\ntemplate <" + join_comma(types) + ">\nint " + name +
                              "(" + join_comma({parameters(alike[0], true), join_comma(functions)}) + ") {\n" +
                              body(alike[0], names) + "}\n");
    for (size_t i : alike) {
      const Passed own = passed(i, naming(i, false));
      texts[i] = head(i) +
                 chosen("return " + name + in_angles(own.spaces) + "(" +
                        join_comma({arguments(i), join_comma(own.functions)}) + ")") +
                 "}\n";
    }
  }

  // A statement, of a set of instructions where there are several.
  std::string chosen(const std::string &statement) const {
    return cuda_ ? statement + ";\n" : "BY_SET(" + statement + ")\n";
  }

  void workspaces(const std::vector<size_t> &alike, bool only, std::vector<std::string> &texts) {
    const auto head = [&](size_t i) {
      return "extern \"C\" int64_t " + stem(i) + (cuda_ ? "_cuda" : "_openmp") + "_workspace(" +
             size_parameters_text(function(i)) + ") {\n";
    };
    const size_t first = alike[0];
    if (alike.size() == 1 && cuda_) {
      texts[first] = head(first) + query(first, naming(first, false)) + "}\n";
      return;
    }
    const std::string name = template_name("workspace_of_", alike, only);
    const std::string comment = "// The bytes of the workspace, or a status as a negative number.\n";
    if (alike.size() == 1) {
      source_.kernels.push_back(comment + "int64_t " + name + "(" + size_parameters_text(function(first)) + ") {\n" +
                                query(first, naming(first, false)) + "}\n");
      texts[first] = head(first) + chosen("return " + name + "(" + size_arguments_text(function(first)) + ")") + "}\n";
      return;
    }
    const Naming names = naming(alike[0], true);
    std::vector<std::string> types;
    for (const std::string &space : passed(alike[0], names).spaces)
      types.push_back("class " + space);
    source_.kernels.push_back(comment + "template <" + join_comma(types) + ">\nint64_t " + name + "(" +
                              size_parameters_text(function(alike[0])) + ") {\n" + query(alike[0], names) + "}\n");
    for (size_t i : alike)
      texts[i] = head(i) +
                 chosen("return " + name + in_angles(passed(i, naming(i, false)).spaces) + "(" +
                        size_arguments_text(function(i)) + ")") +
                 "}\n";
  }

  static std::string in_angles(const std::vector<std::string> &types) {
    return types.empty() ? "" : "<" + join_comma(types) + ">";
  }

  std::vector<std::string> type_parameters(size_t i) const {
    std::vector<std::string> out;
    for (const Argument &a : function(i).arguments)
      if (const auto type = parameter_of_.find(a.name);
          type != parameter_of_.end() && std::ranges::find(out, type->second) == out.end())
        out.push_back(type->second);
    return out;
  }

  const std::string &kernel_;
  const std::vector<Launched> &launched_;
  const PrintedNames &names_;
  bool cuda_;
  Spelling &spelling_;
  Statuses &statuses_;
  TargetSource &source_;
  std::map<std::string, std::string> parameter_of_; // by argument
  bool shares_ = false;
};

} // namespace

void add_launchers(const std::string &kernel, const std::vector<Launched> &launched, const PrintedNames &names,
                   bool cuda, Spelling &spelling, Statuses &statuses, TargetSource &source) {
  Launchers(kernel, launched, names, cuda, spelling, statuses, source).add();
}

} // namespace kgen
