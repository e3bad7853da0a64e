#include "emit/emit.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "emit/format.h"
#include "emit/header.h"
#include "emit/selfcheck.h"
#include "emit/target_file.h"
#include "support/check.h"
#include "support/text.h"

namespace kgen {

namespace {

// Standard headers by what the text mentions.
Views includes(const std::string &text, std::vector<std::string> first) {
  static const std::vector<std::pair<std::string, std::string>> table = {{"std::sort", "algorithm"},
                                                                         {"std::exp", "cmath"},
                                                                         {"std::", "cmath"},
                                                                         {"INFINITY", "cmath"},
                                                                         {"std::numeric_limits", "limits"},
                                                                         {"std::make_index_sequence", "utility"},
                                                                         {"NAN", "cmath"},
                                                                         {"std::malloc", "cstdlib"},
                                                                         {"memcpy", "cstring"},
                                                                         {"initializer_list", "initializer_list"},
                                                                         {"std::set", "set"},
                                                                         {"std::conditional", "type_traits"},
                                                                         {"std::enable_if", "type_traits"},
                                                                         {"std::index_sequence", "utility"},
                                                                         {"std::is_", "type_traits"},
                                                                         {"std::vector", "vector"}};
  for (const auto &[word, header] : table) {
    if (text.find(word) == std::string::npos)
      continue;
    if (word == "std::" && text.find("std::") == std::string::npos)
      continue;
    if (std::find(first.begin(), first.end(), header) == first.end())
      first.push_back(header);
  }
  std::sort(first.begin(), first.end());
  Views out;
  for (const std::string &name : first)
    out.push_back(View().set("name", name));
  return out;
}

Views texts(const std::vector<std::string> &list) {
  Views out;
  for (const std::string &text : list)
    out.push_back(View().set("text", text));
  return out;
}

std::string error_function(const Spec &spec, const Templates &templates, const Statuses &statuses) {
  Views messages;
  for (size_t i = 0; i < statuses.messages().size(); ++i)
    messages.push_back(View().set("number", std::to_string(i + 1)).set("text", statuses.messages()[i]));
  return templates.render("common/error.cpp", View().set("kernel", spec.kernel).set("messages", messages));
}

constexpr std::string_view kHelpersMark = "// (helpers)";

// The helpers, laid out, in place of the line that stands for them: the last one, for only banners have users' text.
std::string with_helpers(std::string text, const std::vector<std::string> &helpers, Layouts &layouts) {
  if (helpers.empty())
    return text;
  const size_t mark = text.rfind("\n" + std::string(kHelpersMark) + "\n");
  KGEN_CHECK(mark != std::string::npos);
  std::string all;
  for (const std::string &helper : helpers)
    if (const std::string_view own = trim(helper); !own.empty()) // some only stand for others
      all += layouts.of(std::string(own) + "\n") + "\n";
  return text.replace(mark + 1, kHelpersMark.size() + 1, all);
}

EmittedFile source_file(const Spec &spec, const Templates &templates, TargetKind target, TargetSource source,
                        const std::string &last, Layouts &layouts) {
  const bool cuda = target == TargetKind::cuda;
  const std::vector<std::string> helpers = helper_texts(templates, target, source.helpers);
  std::string all;
  for (const std::string &text : helpers)
    all += text + "\n";
  for (const auto *list : {&source.kernels, &source.launchers})
    for (const std::string &text : *list)
      all += text;
  if (!last.empty())
    source.launchers.push_back(last);
  View view;
  view.set("banner", banner(spec, source.plan)).set("kernel", spec.kernel);
  std::vector<std::string> first;
  if (cuda) {
    first = {"cuda_runtime.h"};
    if (all.find("bfloat16") != std::string::npos)
      first.push_back("cuda_bf16.h");
    if (all.find("__half") != std::string::npos)
      first.push_back("cuda_fp16.h");
  }
  view.set("includes", includes(all, first))
      .set("helpers", helpers.empty() ? Views{} : texts({std::string(kHelpersMark)}));
  view.set("kernels", texts(source.kernels)).set("launchers", texts(source.launchers));
  const std::string path = cuda ? "cuda/file.cu" : "openmp/file.cpp";
  return {spec.kernel + (cuda ? "_cuda.cu" : "_openmp.cpp"),
          with_helpers(format_cpp(templates.render(path, view)), helpers, layouts)};
}

} // namespace

std::vector<std::string> helper_texts(const Templates &templates, TargetKind target,
                                      const std::set<std::string> &wanted) {
  HelperSections sections;
  sections.add(templates.text("common/helpers.h"));
  const std::vector<std::string> files =
      target == TargetKind::cuda
          ? std::vector<std::string>{"cuda/helpers.h", "cuda/scans.h"}
          : std::vector<std::string>{"openmp/helpers.h", "openmp/lanes.h",       "openmp/memory.h", "openmp/extremes.h",
                                     "openmp/folds.h",   "openmp/conversions.h", "openmp/maths.h"};
  for (const std::string &file : files)
    sections.add(templates.text(file));
  std::set<std::string> needed;
  std::vector<std::string> todo(wanted.begin(), wanted.end());
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    if (!needed.insert(name).second)
      continue;
    for (const std::string &need : sections.needs[name])
      todo.push_back(need);
  }
  std::vector<std::string> out;
  for (const auto &[name, text] : sections.sections)
    if (needed.erase(name) != 0)
      out.push_back(text);
  KGEN_CHECK(needed.empty());
  const bool cuda = target == TargetKind::cuda;
  for (std::string &text : out) {
    replace_all(text, "FUNCTION", cuda ? "__host__ __device__ inline" : "inline");
    replace_all(text, "DEVICE", "__device__ inline");
    replace_all(text, "EXP_F32", cuda ? "expf" : "std::exp");
    replace_all(text, "EXP_F64", cuda ? "exp" : "std::exp");
  }
  return out;
}

std::string helper_text(const Templates &templates, TargetKind target, const std::set<std::string> &wanted) {
  std::string out;
  for (const std::string &text : helper_texts(templates, target, wanted))
    out += text + "\n";
  return out;
}

std::string parameters_text(const Function &function) {
  std::string text;
  for (const Argument &a : function.arguments)
    text += (text.empty() ? "" : ", ") + a.declaration();
  return text;
}

std::string arguments_text(const Function &function) {
  std::string text;
  for (const Argument &a : function.arguments)
    text += (text.empty() ? "" : ", ") + a.name;
  return text;
}

std::string size_parameters_text(const Function &function) {
  std::string text;
  for (const Argument &a : function.arguments)
    if (a.kind == Argument::Kind::size)
      text += (text.empty() ? "" : ", ") + a.declaration();
  return text;
}

std::string size_arguments_text(const Function &function) {
  std::string text;
  for (const Argument &a : function.arguments)
    if (a.kind == Argument::Kind::size)
      text += (text.empty() ? "" : ", ") + a.name;
  return text;
}

std::vector<Buffer> buffers_of(const Plan &plan, Printer &printer) {
  std::vector<Buffer> out;
  for (VarId v = 0; v < static_cast<VarId>(plan.kernel.vars.size()); ++v) {
    const Storage &s = plan.storage[v];
    if (s.kind != Storage::Kind::worker && s.kind != Storage::Kind::program)
      continue;
    if (!printer.scopes.of(v).used)
      continue;
    out.push_back(
        {printer.name(v), printer.buffer_elements(v), plan.kernel.vars[v].type, s.kind == Storage::Kind::worker, v});
  }
  return out;
}

Names names_of(const Function &function, const Kernel &kernel) {
  Names names;
  for (const Argument &a : function.arguments)
    names.reserve(a.name);
  for (const Axis &axis : kernel.axes)
    names.reserve(c_name(axis.name));
  names.reserve(c_name(function.stem));
  return names;
}

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

} // namespace

// What follows a point is the name of a member.
bool mentions_word(const std::string &text, const std::string &word) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size())
    if ((at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.')) &&
        (at + word.size() == text.size() || !is_word(text[at + word.size()])))
      return true;
  return false;
}

std::set<std::string> words_of(const std::string &text) {
  std::set<std::string> out;
  for (auto end = text.begin(); end != text.end();) {
    const auto begin = std::find_if(end, text.end(), is_word);
    end = std::find_if_not(begin, text.end(), is_word);
    if (begin != end && (begin == text.begin() || *(begin - 1) != '.'))
      out.emplace(begin, end);
  }
  return out;
}

std::string derived_declarations(Printer &printer, const std::string &text, AxisSet known) {
  const Kernel &kernel = printer.kernel;
  std::string out;
  // Later ones may be needed by earlier ones only the other way round: walk backwards, so that all needs are seen.
  for (size_t i = kernel.axes.size(); i-- > 0;) {
    const Axis &axis = kernel.axes[i];
    const bool argument = std::find(kernel.size_arguments.begin(), kernel.size_arguments.end(),
                                    static_cast<AxisId>(i)) != kernel.size_arguments.end();
    if (argument || known.contains(static_cast<AxisId>(i)) || axis.size.is_integer() ||
        !mentions_word(text + out, c_name(axis.name)))
      continue;
    out = "const int64_t " + c_name(axis.name) + " = " + printer.size_text(axis.size) + ";\n" + out;
  }
  return out;
}

std::string small_text(const Variation &v, Printer &printer) {
  constexpr int64_t kLargest32 = int64_t{1} << 30; // indices below this, and the threads around them, fit 32 bits
  return "const bool small = " + at_least(printer.size(v.facts.largest_index), binding::kLess + 1) + " < " +
         std::to_string(kLargest32) + ";";
}

std::string silence_unused(const std::vector<std::string> &names, const std::string &text) {
  std::string out;
  for (const std::string &name : names)
    if (!mentions_word(text, name))
      out += "(void)" + name + ";\n";
  return out;
}

std::string checks_text(const Function &function, const Variation &v, Spelling &spelling, Statuses &statuses,
                        bool device) {
  Plan nothing;
  nothing.kernel = v.kernel;
  nothing.storage.resize(v.kernel.vars.size());
  Names names = names_of(function, v.kernel);
  Printer printer(nothing, v.facts, spelling, names);
  print_checks(function, v, printer, statuses, device);
  if (device)
    printer.lines.add(small_text(v, printer));
  const std::string checks = printer.lines.text();
  return derived_declarations(printer, checks) + checks;
}

std::string variation_name(const Function &function, const Variation &variation) {
  std::string name = c_name(function.stem);
  for (const auto &[axis, size] : variation.variant.axes)
    name += "_" + lower_case(axis) + std::to_string(size);
  // An argument of this name would hide the function from its launcher.
  while (std::any_of(function.arguments.begin(), function.arguments.end(),
                     [&](const Argument &a) { return a.name == name; }))
    name += "_";
  return name;
}

std::string variation_condition(const Variation &variation) {
  std::string text;
  for (const auto &[axis, size] : variation.variant.axes)
    text += (text.empty() ? "" : " && ") + c_name(axis) + " == " + std::to_string(size);
  return text;
}

std::string camel(const std::string &name) {
  std::string out;
  bool up = true;
  for (char c : name) {
    if (c == '_') {
      up = true;
      continue;
    }
    out += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    up = false;
  }
  return out;
}

std::string workspace_declaration(const std::string &kernel, const Function &function) {
  const std::string sizes = size_arguments_text(function);
  return "const " + camel(kernel) + "Workspace space" + (sizes.empty() ? "" : "(" + sizes + ")") + ";\n";
}

EmitOptions::EmitOptions() : layouts(std::make_shared<Layouts>()) {}

std::vector<EmittedFile> emit_files(const Spec &spec, const std::vector<Variation> &variations,
                                    const EmitOptions &options) {
  const Templates templates(options.templates);
  const std::vector<Function> functions = functions_of(spec, variations);
  Statuses statuses;
  TargetSource openmp, cuda;
  if (options.openmp)
    openmp = openmp_source(spec, functions, statuses);
  if (options.cuda)
    cuda = cuda_source(spec, functions, statuses);
  std::vector<EmittedFile> files;

  std::map<std::string, const TargetSource *> targets;
  if (options.openmp)
    targets["openmp"] = &openmp;
  if (options.cuda)
    targets["cuda"] = &cuda;
  files.push_back({spec.kernel + ".h", format_cpp(header_text(spec, functions, targets, templates))});

  // Either file may be linked alone, so both define it, weakly.
  const std::string error = error_function(spec, templates, statuses);
  if (options.openmp)
    files.push_back(source_file(spec, templates, TargetKind::openmp, openmp, error, *options.layouts));
  if (options.openmp && options.selfcheck)
    files.push_back(
        {spec.kernel + "_selfcheck.cpp", format_cpp(selfcheck_text(spec, functions, files.back().text, templates))});
  if (options.cuda)
    files.push_back(source_file(spec, templates, TargetKind::cuda, cuda, error, *options.layouts));
  return files;
}

} // namespace kgen
