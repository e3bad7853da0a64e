#include "emit/emit.h"
#include "emit/interface/c_functions.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <sstream>

#include "emit/bindings/bindings.h"
#include "emit/interface/computed_sizes.h"
#include "emit/interface/header.h"
#include "emit/interface/selfcheck.h"
#include "emit/openmp/instruction_sets.h"
#include "emit/target_file.h"
#include "emit/text/format.h"
#include "emit/text/helpers.h"
#include "support/check.h"
#include "support/embedded.h"
#include "support/text.h"

namespace kgen {

namespace {

Views texts(const std::vector<std::string> &list) {
  Views out;
  for (const std::string &text : list)
    out.push_back(View().set("text", text));
  return out;
}

constexpr std::string_view kHelpersMark = "// (helpers)", kSetHelpersMark = "// (helpers of a set)";

// The helpers in place of the line that stands for them: the last one, for only banners have users' text.
void put(std::string &text, std::string_view mark, const std::string &helpers) {
  const size_t at = text.rfind("\n" + std::string(mark) + "\n");
  KGEN_CHECK(at != std::string::npos);
  text.replace(at + 1, mark.size() + 1, helpers);
}

// What stands in the place of the helpers, and, for OpenMP, of those of a set of instructions.
HelperTexts helpers_of(const Templates &templates, TargetKind target, const TargetSource &source,
                       const EmitOptions &options, const std::string &file) {
  if (!options.standalone)
    return {helper_include(templates, target, options.to_root, file), ""};
  HelperTexts out = helper_texts(templates, target, source.helpers);
  if (target == TargetKind::openmp)
    out.shared = templates.text("openmp/omp.h") + "\n" + templates.text("openmp/sets.h") + "\n" + out.shared + "\n" +
                 standalone_sets(templates, file);
  out.shared = templates.text("common/strict_maths.h") + "\n" + out.shared;
  return out;
}

EmittedFile source_file(const Spec &spec, const Templates &templates, TargetKind target, TargetSource source,
                        const EmitOptions &options) {
  const bool cuda = target == TargetKind::cuda;
  const std::string file = spec.kernel + (cuda ? "_cuda.cu" : "_openmp.cpp");
  const HelperTexts helpers = helpers_of(templates, target, source, options, file);
  std::string all = options.standalone ? helpers.shared + helpers.of_set : "";
  for (const auto *list : {&source.kernels, &source.launchers})
    for (const std::string &text : *list)
      all += text;
  View view;
  view.set("banner", banner(spec, source.plan)).set("kernel", spec.kernel).set("helpers", std::string(kHelpersMark));
  view.set("includes", includes(all, cuda ? cuda_includes(all) : std::vector<std::string>()));
  if (cuda) // without any, its namespace is not there
    view.set("helper_namespace", options.standalone && source.helpers.empty()
                                     ? Views{}
                                     : Views{View().set("name", helper_names(target).helpers)});
  else
    view.set("set_helpers", std::string(kSetHelpersMark))
        .set("helper_namespace",
             std::string(options.standalone && helpers.of_set.empty() ? "kgen_openmp" : "kgen_openmp::KGEN_SET"));
  if (!cuda)
    source.launchers.push_back("extern \"C\" const char* " + instructions_function(spec) +
                               "(void) {\nreturn kgen_openmp::instructions();\n}\n");
  view.set("kernels", texts(source.kernels)).set("launchers", c_functions_text(spec.kernel, source.launchers));
  std::string text = format_cpp(templates.render(cuda ? "cuda/file.cu" : "openmp/file.cpp", view));
  if (!cuda)
    put(text, kSetHelpersMark, helpers.of_set);
  put(text, kHelpersMark, helpers.shared);
  return {file, text};
}

} // namespace

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

std::vector<std::string> size_names(const Function &function) {
  std::vector<std::string> out;
  for (const Argument &a : function.arguments)
    if (a.kind == Argument::Kind::size)
      out.push_back(a.name);
  return out;
}

std::string size_arguments_text(const Function &function) { return join(size_names(function), ", "); }

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

bool begins_word(const std::string &text, size_t at) {
  return at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.');
}

// Does the comment of its line begin before it?
bool in_comment(const std::string &text, size_t at, const std::string &mark) {
  const size_t line = text.rfind('\n', at) + 1; // 0 where there is none
  return std::string_view(text).substr(line, at - line).find(mark) != std::string_view::npos;
}

} // namespace

// What follows a point is the name of a member.
bool mentions_word(const std::string &text, const std::string &word, const std::string &comment) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size())
    if (begins_word(text, at) && (at + word.size() == text.size() || !is_word(text[at + word.size()])) &&
        !in_comment(text, at, comment))
      return true;
  return false;
}

std::set<std::string> words_of(const std::string &text) {
  std::set<std::string> out;
  for (auto end = text.begin(); end != text.end();) {
    const auto begin = std::find_if(end, text.end(), [](char c) { return is_word(c) || c == '/'; });
    if (begin != text.end() && *begin == '/') { // a division, or a comment up to the end of its line
      const bool comment = begin + 1 != text.end() && *(begin + 1) == '/';
      end = comment ? std::find(begin, text.end(), '\n') : begin + 1;
      continue;
    }
    end = std::find_if_not(begin, text.end(), is_word);
    if (begin != end && begins_word(text, static_cast<size_t>(begin - text.begin())))
      out.emplace(begin, end);
  }
  return out;
}

std::string derived_declarations(Printer &printer, const std::string &text, AxisSet known) {
  const Kernel &kernel = printer.kernel;
  std::string out;
  // What a size is computed from stands before it.
  const std::function<void(const std::string &)> declare_all = [&](const std::string &needing) {
    for (size_t i = 0; i < kernel.axes.size(); ++i) {
      const Axis &axis = kernel.axes[i];
      const auto id = static_cast<AxisId>(i);
      const bool argument =
          std::find(kernel.size_arguments.begin(), kernel.size_arguments.end(), id) != kernel.size_arguments.end();
      if (argument || known.contains(id) || axis.size.is_integer() || !mentions_word(needing, c_name(axis.name)))
        continue;
      known |= AxisSet::of(id);
      const std::string value = printer.size_text(axis.size);
      declare_all(value);
      out += "const int64_t " + c_name(axis.name) + " = " + value + ";\n";
    }
  };
  declare_all(text);
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

std::string with_printer(const Function &function, const Variation &v, Spelling &spelling,
                         const std::function<void(Printer &)> &print) {
  Plan nothing;
  nothing.kernel = v.kernel;
  nothing.storage.resize(v.kernel.vars.size());
  Names names = names_of(function, v.kernel);
  Printer printer(nothing, v.facts, spelling, names);
  print(printer);
  return printer.lines.text();
}

Checks checks_of(const Function &function, const Variation &v, Spelling &spelling, Statuses &statuses,
                 CheckedIn where) {
  Checks out;
  std::string derived;
  const std::string arguments = with_printer(
      function, v, spelling, [&](Printer &printer) { print_argument_checks(v, printer, statuses, where); });
  if (where == CheckedIn::device_launcher)
    out.small =
        with_printer(function, v, spelling, [&](Printer &printer) { printer.lines.add(small_text(v, printer)); });
  const std::string others = with_printer(function, v, spelling, [&](Printer &printer) {
    print_checks(function, v, printer, statuses, where);
    derived = derived_declarations(printer, printer.lines.text() + out.small);
  });
  out.text = arguments + derived + others;
  return out;
}

namespace {

// Types of CUDA's headers: int4, uchar2.
std::set<std::string> types_of_cuda() {
  std::set<std::string> out = {"ushort", "uint", "ulong", "half", "half2", "nv_bfloat16", "nv_bfloat162"};
  for (const char *element : {"char", "short", "int", "long", "longlong"})
    for (const char *sign : {"", "u"})
      for (const char *count : {"1", "2", "3", "4"})
        out.insert(std::string(sign) + element + count);
  for (const char *element : {"float", "double"})
    for (const char *count : {"1", "2", "3", "4"})
      out.insert(std::string(element) + count);
  return out;
}

// All that helper headers call or define as functions, and types that stand beside them.
const std::set<std::string> &helper_functions() {
  static const std::set<std::string> names = [] {
    std::set<std::string> out = types_of_cuda();
    for (const EmbeddedFile &file : embedded_templates()) {
      if (!file.path.ends_with(".h"))
        continue;
      for (size_t at = 0; (at = file.text.find('(', at)) != std::string_view::npos; ++at) {
        size_t begin = at;
        while (begin > 0 && is_word(file.text[begin - 1]))
          --begin;
        out.emplace(file.text.substr(begin, at - begin));
      }
    }
    return out;
  }();
  return names;
}

} // namespace

bool is_helper_function(const std::string &name) { return helper_functions().count(name) != 0; }

std::string variation_name(const Function &function, const Variation &variation) {
  std::string name = c_name(function.stem);
  for (const auto &[axis, size] : variation.variant.axes)
    name += "_" + lower_case(axis) + std::to_string(size);
  if (is_helper_function(name)) // it would be hidden from the kernel
    name += "_kernel";
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

WorkspaceText workspace_text(const std::string &kernel, const Function &function, const std::string &base,
                             const std::string &members, const std::string &body) {
  std::vector<std::string> parameters, arguments;
  for (const Argument &a : function.arguments)
    if (a.kind == Argument::Kind::size && mentions_word(body, a.name)) {
      parameters.push_back(a.declaration());
      arguments.push_back(a.name);
    }
  const std::string name = camel(kernel) + "Workspace";
  return {"// Where the intermediates lie in the workspace.\nstruct " + name + base + " {\n" + members + "\nexplicit " +
              name + "(" + join(parameters, ", ") + ") {\n" + body + "}\n};\n",
          join(arguments, ", ")};
}

std::string workspace_parameters(const std::string &kernel) {
  return ", const " + camel(kernel) + "Workspace& space, char* workspace";
}

std::vector<EmittedFile> helper_headers(const EmitOptions &options) {
  std::vector<EmittedFile> out;
  const Templates templates(options.templates);
  for (const auto &[wanted, target] :
       {std::pair{options.openmp, TargetKind::openmp}, std::pair{options.cuda, TargetKind::cuda}})
    if (wanted && !options.standalone)
      out.push_back({helper_names(target).header, helper_header(templates, target)});
  return out;
}

namespace {

// The sources of the targets that are wanted.
struct Sources {
  TargetSource openmp, cuda;
  std::map<std::string, const TargetSource *> targets;

  Sources(const Spec &spec, const std::vector<Function> &functions, const EmitOptions &options, Statuses &statuses) {
    if (options.openmp) {
      openmp = openmp_source(spec, functions, statuses);
      targets["openmp"] = &openmp;
    }
    if (options.cuda) {
      cuda = cuda_source(spec, functions, statuses);
      targets["cuda"] = &cuda;
    }
  }
};

} // namespace

Signature signature_of(const Spec &spec, const std::vector<Variation> &variations, const EmitOptions &options) {
  const std::vector<Function> functions = functions_of(spec, variations);
  Statuses statuses;
  const Sources sources(spec, functions, options, statuses);
  return signature_of(spec, functions, sources.targets);
}

std::vector<EmittedFile> emit_files(const Spec &spec, const std::vector<Variation> &variations,
                                    const EmitOptions &options) {
  const Templates templates(options.templates);
  const std::vector<Function> functions = functions_of(spec, variations);
  Statuses statuses;
  Sources sources(spec, functions, options, statuses);
  std::vector<EmittedFile> files;

  files.push_back({spec.kernel + ".h", format_cpp(header_text(spec, functions, sources.targets, statuses, templates))});

  if (options.openmp)
    files.push_back(source_file(spec, templates, TargetKind::openmp, sources.openmp, options));
  if (options.openmp && options.selfcheck)
    files.push_back(
        {spec.kernel + "_selfcheck.cpp", format_cpp(selfcheck_text(spec, functions, sources.openmp, templates))});
  if (options.cuda)
    files.push_back(source_file(spec, templates, TargetKind::cuda, sources.cuda, options));
  if (!options.bindings.empty()) {
    const Signature signature = signature_of(spec, functions, sources.targets);
    const BindingInput input{
        spec, functions[0].variations[0]->kernel, signature, options.backward, options.forward, templates, options};
    for (const std::string &name : options.bindings)
      for (EmittedFile &file : find_binding(name)->files(input))
        files.push_back(std::move(file));
  }
  return files;
}

} // namespace kgen
