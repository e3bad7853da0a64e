#include "emit/interface/launcher.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <sstream>

#include "emit/interface/arrays.h"
#include "emit/text/shared_types.h"
#include "rewrite/one_row.h"
#include "support/text.h"

namespace kgen {
namespace {

// How a launcher's text calls what was made for it.
struct Naming {
  enum class By {
    own_name,   // softmax<float>: of one function
    parameter,  // softmax<T>: of all functions that one template was made for
    passed_name // run: what callers pass, as it differs between functions that are otherwise alike
  };
  By by;
  std::string stem;
  const PrintedNames &printed;

  // Functions for CUDA are made for indices of 32 and of 64 bits.
  std::string function(const std::string &name, const std::string &index = "") const {
    if (by == By::passed_name)
      return "run" + name.substr(stem.size()) + (index == "int64_t" ? "_wide" : "");
    return by == By::parameter ? printed.in_template(name, index) : printed.of(name, index);
  }
  std::string space(const std::string &name) const {
    const std::string own = workspace_name(name);
    if (by == By::passed_name)
      return "Space" + camel(name.substr(stem.size()));
    return by == By::parameter ? printed.in_template(own) : printed.of(own);
  }
  static std::string workspace_name(const std::string &name) { return camel(name) + "Workspace"; }
};
using By = Naming::By;

// A template of functions whose kernels are instances of one template: its parameters, and what they are for each.
struct Together {
  std::vector<std::string> parameters;
  std::map<std::string, std::string> types;        // by argument, where they differ
  std::vector<std::vector<std::string>> arguments; // by function: none where there are no parameters
};

std::string where(const std::string &condition, const std::string &statements) {
  return condition.empty() ? statements : "if (" + condition + ") {\n" + statements + "}\n";
}

// Lines `if (a) return 0;` that follow each other are one.
std::string joined_zeros(const std::string &text) {
  constexpr std::string_view kIf = "if (", kZero = ") return 0;";
  std::istringstream in(text);
  std::vector<std::string> conditions;
  std::string out;
  const auto put_conditions = [&] {
    if (conditions.size() > 1)
      for (std::string &condition : conditions)
        condition = condition.find(" && ") == std::string::npos ? condition : "(" + condition + ")";
    if (!conditions.empty())
      out += std::string(kIf) + join(conditions, " || ") + std::string(kZero) + "\n";
    conditions.clear();
  };
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(kIf) && line.ends_with(kZero)) {
      conditions.push_back(line.substr(kIf.size(), line.size() - kIf.size() - kZero.size()));
    } else {
      put_conditions();
      out += line + "\n";
    }
  put_conditions();
  return out;
}

std::string both(const std::string &a, const std::string &b) { return a.empty() || b.empty() ? a + b : a + " && " + b; }

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
      group(i, own + parameters(i, types_.of_arguments) + body(i, naming(i, By::passed_name)), runs, run_of);
      if (takes_workspace(i))
        group(i, own + query(i, naming(i, By::passed_name)), queries, query_of);
    }
    std::vector<std::string> texts(launched_.size()), query_texts(launched_.size());
    for (const std::vector<size_t> &alike : runs)
      launchers(alike, runs.size() == 1, texts);
    for (const std::vector<size_t> &alike : queries)
      workspaces(alike, queries.size() == 1, query_texts);
    for (size_t i = 0; i < launched_.size(); ++i)
      source_.launchers.push_back(query_texts[i] + texts[i]);
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

  // Types that differ between functions become parameters of templates.
  void find_types() {
    const std::vector<std::string> names = names_of_arguments(function(0));
    const std::set<std::string> passed = names_of_passed();
    const auto hides = [&](const std::string &name) { return passed.count(name) != 0 || name.ends_with("Element"); };
    shares_ = std::ranges::none_of(names, hides) && std::ranges::all_of(launched_, [&](const Launched &one) {
                return names_of_arguments(*one.function) == names;
              });
    std::vector<const Function *> functions;
    for (const Launched &one : launched_)
      functions.push_back(one.function);
    if (shares_)
      types_ = shared_types(functions);
  }

  // What templates call that which callers pass.
  std::set<std::string> names_of_passed() const {
    std::set<std::string> out;
    for (size_t i = 0; i < launched_.size(); ++i) {
      const Passed own = passed(i, naming(i, By::passed_name));
      out.insert(own.spaces.begin(), own.spaces.end());
      for (const std::string &name : own.functions)
        out.insert({name, camel(name)});
    }
    return out;
  }

  Naming naming(size_t i, By by) const { return {by, c_name(stem(i)), names_}; }

  // Of the C function; or of a template, which has these types for some arguments.
  using Types = std::map<std::string, std::string>;
  std::string parameters(size_t i, const Types &types = {}) const {
    std::vector<std::string> out;
    for (Argument a : function(i).arguments) {
      if (const auto type = types.find(a.name); type != types.end())
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
      else if (!takes_workspace(i))
        calls += as_one_row(function(i).variations[v]->lowered);
      for (const Made &one : launched_[i].made[v])
        calls += where(both(both(one.arrays, one.condition), one.of_tables), call(i, one, names));
      text += where(variation_condition(*function(i).variations[v]), calls);
    }
    return text + refuse_others(i, "");
  }

  // Rows that nothing tells apart in this call are one, however short they are. (The workspace is asked for by the
  // sizes alone, so that kernels which have one are left as they are.)
  static std::string as_one_row(const Kernel &kernel) {
    const std::optional<OneRow> row = one_row_without_inputs(kernel);
    if (!row)
      return "";
    const auto name = [&](AxisId axis) { return c_name(kernel.axes[axis].size.name); };
    std::string condition, names, product, ones;
    for (VarId var : row->absent) {
      condition = both(condition, c_name(kernel.vars[var].name) + " == nullptr");
      names += (names.empty() ? "" : " and ") + kernel.vars[var].name;
    }
    for (AxisId axis : row->outer) {
      product += (product.empty() ? "" : " * ") + name(axis);
      ones += name(axis) + " = ";
    }
    return "// Without " + names + ", all is one row.\n" +
           where(condition, name(row->inner.back()) + " *= " + product + ";\n" + ones + "1;\n");
  }

  std::string requirements(size_t i, size_t v, const Naming &names) const {
    const std::string &name = launched_[i].requirements[v];
    return name.empty() ? "" : names.function(name);
  }

  // The memory and the call.
  std::string call(size_t i, const Made &made, const Naming &names) {
    std::string text;
    if (made.workspace) {
      text += "const " + names.space(made.name) + " space" + (made.sizes.empty() ? "" : "(" + made.sizes + ")") + ";\n";
      text += "const " + spelling_.helper("Memory") + " memory(workspace, workspace_bytes, " +
              (cuda_ ? "space.bytes, arrays, queue" : "space, arrays") + ");\n";
    }
    const std::string passed = "(" +
                               join_comma({arguments_text(function(i)), has_table_status(i) ? "table_status" : "",
                                           made.workspace ? "space, memory.data" : "",
                                           made.has_team ? "memory.threads" : "", cuda_ ? "queue" : ""}) +
                               ")";
    if (!cuda_)
      return text + (made.workspace ? "if (memory.status == 0) " : "") + names.function(made.name) + passed +
             ";\nreturn " + (made.workspace ? "memory.status" : "0") + ";\n";
    if (made.workspace)
      text += "if (memory.status != 0) return memory.status;\n";
    return text + "return " + spelling_.helper("cuda_status") + "(small ? " + names.function(made.name, "int32_t") +
           passed + " : " + names.function(made.name, "int64_t") + passed + ");\n";
  }

  std::string query(size_t i, const Naming &names) {
    statuses_.begin_function(names_of_arguments(function(i)));
    const std::vector<Checks> all = checks(i, cuda_ ? CheckedIn::device_query : CheckedIn::host_query);
    const std::string first = common(all);
    std::string text = first;
    for (size_t v = 0; v < all.size(); ++v) {
      std::string bytes = first.empty() ? all[v].text : "";
      for (const Made &one : launched_[i].made[v])
        if (one.arrays == launched_[i].made[v].front().arrays)
          bytes += (one.condition.empty() ? "" : "if (" + one.condition + ") ") + "return " +
                   bytes_for_any_call(launched_[i].made[v], one, names) + ";\n";
      text += where(variation_condition(*function(i).variations[v]), bytes);
    }
    return silence_unused(size_names(function(i)), text) + joined_zeros(text) + refuse_others(i, "-");
  }

  // Which arrays there are, and what tables hold, is not known yet: the most of all functions that calls of these sizes
  // may run.
  std::string bytes_for_any_call(const std::vector<Made> &all, const Made &made, const Naming &names) {
    std::vector<std::string> bytes;
    const auto add = [&](const Made &one) {
      const std::string text = bytes_text(one, names.space(one.name) + "(" + one.sizes + ")");
      if (one.workspace && std::ranges::find(bytes, text) == bytes.end())
        bytes.push_back(text);
    };
    bool is_later = false; // and tried where the tables are none for this one
    for (const Made &one : all) {
      const bool may_run = (is_later && !made.of_tables.empty()) || (&one == &all.back() && !made.arrays.empty());
      if (&one == &made || may_run)
        add(one);
      is_later = is_later || &one == &made;
    }
    return bytes.empty() ? "0" : bytes.size() == 1 ? bytes[0] : "std::max({" + join(bytes, ", ") + "})";
  }

  std::string bytes_text(const Made &made, const std::string &space) {
    if (!made.workspace)
      return "0";
    return cuda_ ? space + ".bytes" : spelling_.helper("bytes_of") + "(" + space + ")";
  }

  // What one template takes and its callers pass: types that must be named, and functions.
  struct Passed {
    std::vector<std::string> spaces, functions;
  };
  // One for each name that the template has for it, whether or not several are the same.
  Passed passed(size_t i, const Naming &names) const {
    Passed out;
    std::set<std::string> seen;
    const Naming in_template = naming(i, By::passed_name);
    const auto add = [&](std::vector<std::string> &list, const auto &name) {
      if (seen.insert(name(in_template)).second)
        list.push_back(name(names));
    };
    for (size_t v = 0; v < launched_[i].made.size(); ++v) {
      if (cuda_ && !launched_[i].requirements[v].empty())
        add(out.functions, [&](const Naming &by) { return requirements(i, v, by); });
      for (const Made &one : launched_[i].made[v]) {
        if (one.workspace)
          add(out.spaces, [&](const Naming &by) { return by.space(one.name); });
        for (const char *index : {"int32_t", "int64_t"})
          if (cuda_ || index == std::string("int32_t"))
            add(out.functions, [&](const Naming &by) { return by.function(one.name, cuda_ ? index : ""); });
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

  // What function i calls, as it was printed; the workspaces alone where `spaces` is set.
  std::vector<std::string> symbols(size_t i, bool spaces) const {
    std::vector<std::string> out = spaces ? std::vector<std::string>() : launched_[i].requirements;
    for (const std::vector<Made> &made : launched_[i].made)
      for (const Made &one : made) {
        if (one.workspace)
          out.push_back(Naming::workspace_name(one.name));
        if (!spaces)
          out.push_back(one.name);
      }
    return out;
  }

  // None where the functions call different templates.
  std::optional<Together> together(const std::vector<size_t> &alike, bool spaces) const {
    Together out;
    std::vector<PrintedNames::Instance> instances(alike.size()); // of a template, for each function
    const std::vector<std::string> first = symbols(alike[0], spaces);
    for (size_t i = 0; i < alike.size(); ++i) {
      const std::vector<std::string> own = symbols(alike[i], spaces);
      for (size_t s = 0; s < own.size(); ++s) {
        const PrintedNames::Instance one = names_.instance(own[s]);
        if (names_.in_template(own[s]) != names_.in_template(first[s]))
          return std::nullopt;
        if (!one.parameters.empty())
          instances[i] = one;
      }
      out.arguments.push_back(instances[i].arguments.empty() ? std::vector<std::string>()
                                                             : std::vector<std::string>{instances[i].arguments});
    }
    for (const PrintedNames::Parameter &parameter : instances[0].parameters)
      out.parameters.push_back(parameter.name);
    for (size_t a = 0; !spaces && a < function(alike[0]).arguments.size(); ++a)
      if (!find_type(alike, a, instances, out.types))
        return std::nullopt;
    return out;
  }

  // The type of an argument of the template, where it differs between the functions.
  bool find_type(const std::vector<size_t> &alike, size_t a, const std::vector<PrintedNames::Instance> &instances,
                 Types &types) const {
    const auto all = [&](auto holds) { return std::ranges::all_of(std::views::iota(size_t{0}, alike.size()), holds); };
    const auto type = [&](size_t i) -> const std::string & { return function(alike[i]).arguments[a].type; };
    if (all([&](size_t i) { return type(i) == type(0); }))
      return true;
    for (size_t p = 0; p < instances[0].parameters.size(); ++p) {
      const PrintedNames::Parameter &first = instances[0].parameters[p];
      if (all([&](size_t i) { return instances[i].parameters[p].stored_type == type(i); }))
        types[function(alike[0]).arguments[a].name] = first.stored;
      else if (all([&](size_t i) { return instances[i].parameters[p].value_type == type(i); }))
        types[function(alike[0]).arguments[a].name] = first.value;
      else
        continue;
      return true;
    }
    return false;
  }

  static std::string template_line(const std::vector<std::string> &types) {
    return types.empty() ? "" : "template <class " + join(types, ", class ") + ">\n";
  }

  // A template where there are at least two functions. Kernels for CPUs are compiled for several sets of instructions,
  // so there what checks and runs is a function of each set.
  void launchers(const std::vector<size_t> &alike, bool only, std::vector<std::string> &texts) {
    const size_t first = alike[0];
    const auto head = [&](size_t i) {
      return "extern \"C\" int " + stem(i) + (cuda_ ? "_cuda(" : "_openmp(") + parameters(i) + ") {\n";
    };
    if (alike.size() == 1 && cuda_) {
      texts[first] = head(first) + body(first, naming(first, By::own_name)) + "}\n";
      return;
    }
    const std::string name = template_name("launch_", alike, only);
    if (alike.size() == 1) {
      source_.kernels.push_back("// Checks the arguments, then runs.\nint " + name + "(" + parameters(first) + ") {\n" +
                                body(first, naming(first, By::own_name)) + "}\n");
      texts[first] = head(first) + chosen("return " + name + "(" + arguments(first) + ")") + "}\n";
      return;
    }
    if (const std::optional<Together> one = together(alike, false)) {
      source_.kernels.push_back("// Checks the arguments, then runs.\n" + template_line(one->parameters) + "int " +
                                name + "(" + parameters(first, one->types) + ") {\n" +
                                body(first, naming(first, By::parameter)) + "}\n");
      for (size_t i = 0; i < alike.size(); ++i)
        texts[alike[i]] = head(alike[i]) +
                          chosen("return " + name + in_angles(one->arguments[i]) + "(" + arguments(alike[i]) + ")") +
                          "}\n";
      return;
    }
    const Naming names = naming(alike[0], By::passed_name);
    const Passed symbols = passed(alike[0], names);
    std::vector<std::string> types, functions;
    for (const std::string &space : symbols.spaces)
      types.push_back("class " + space);
    for (const std::string &type : types_.parameters)
      types.push_back("class " + type);
    for (const std::string &symbol : symbols.functions) {
      types.push_back("class " + camel(symbol));
      functions.push_back(camel(symbol) + " " + symbol);
    }
    source_.kernels.push_back("// Checks the arguments, then runs.\ntemplate <" + join_comma(types) + ">\nint " + name +
                              "(" + join_comma({parameters(alike[0], types_.of_arguments), join_comma(functions)}) +
                              ") {\n" + body(alike[0], names) + "}\n");
    for (size_t i : alike) {
      const Passed own = passed(i, naming(i, By::own_name));
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
      texts[first] = head(first) + query(first, naming(first, By::own_name)) + "}\n";
      return;
    }
    const std::string name = template_name("workspace_of_", alike, only);
    const std::string comment = "// The bytes of the workspace, or a status as a negative number.\n";
    if (alike.size() == 1) {
      source_.kernels.push_back(comment + "int64_t " + name + "(" + size_parameters_text(function(first)) + ") {\n" +
                                query(first, naming(first, By::own_name)) + "}\n");
      texts[first] = head(first) + chosen("return " + name + "(" + size_arguments_text(function(first)) + ")") + "}\n";
      return;
    }
    if (const std::optional<Together> one = together(alike, true)) {
      source_.kernels.push_back(comment + template_line(one->parameters) + "int64_t " + name + "(" +
                                size_parameters_text(function(first)) + ") {\n" +
                                query(first, naming(first, By::parameter)) + "}\n");
      for (size_t i = 0; i < alike.size(); ++i)
        texts[alike[i]] = head(alike[i]) +
                          chosen("return " + name + in_angles(one->arguments[i]) + "(" +
                                 size_arguments_text(function(alike[i])) + ")") +
                          "}\n";
      return;
    }
    const Naming names = naming(alike[0], By::passed_name);
    std::vector<std::string> types;
    for (const std::string &space : passed(alike[0], names).spaces)
      types.push_back("class " + space);
    source_.kernels.push_back(comment + "template <" + join_comma(types) + ">\nint64_t " + name + "(" +
                              size_parameters_text(function(alike[0])) + ") {\n" + query(alike[0], names) + "}\n");
    for (size_t i : alike)
      texts[i] = head(i) +
                 chosen("return " + name + in_angles(passed(i, naming(i, By::own_name)).spaces) + "(" +
                        size_arguments_text(function(i)) + ")") +
                 "}\n";
  }

  static std::string in_angles(const std::vector<std::string> &types) {
    return types.empty() ? "" : "<" + join_comma(types) + ">";
  }

  const std::string &kernel_;
  const std::vector<Launched> &launched_;
  const PrintedNames &names_;
  bool cuda_;
  Spelling &spelling_;
  Statuses &statuses_;
  TargetSource &source_;
  SharedTypes types_;
  bool shares_ = false;
};

} // namespace

void add_launchers(const std::string &kernel, const std::vector<Launched> &launched, const PrintedNames &names,
                   bool cuda, Spelling &spelling, Statuses &statuses, TargetSource &source) {
  Launchers(kernel, launched, names, cuda, spelling, statuses, source).add();
}

} // namespace kgen
