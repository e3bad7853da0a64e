#include "emit/emit.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "emit/format.h"
#include "emit/target_file.h"
#include "support/check.h"

namespace kgen {
namespace {

// Names that a C header cannot bear, although a spec may use them.
std::string header_name(const std::string &name) {
  static const std::set<std::string> taken = {"I", "complex", "imaginary", "restrict", "inline", "_Bool"};
  return taken.count(name) != 0 ? name + "_" : name;
}

void replace_all(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// User text cannot leave the comment it stands in: one line at a time, no continuation.
std::string comment_text(std::string text) {
  replace_all(text, "\r", "");
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\\' || std::isspace(static_cast<unsigned char>(line.back())) != 0))
      line.pop_back();
    replace_all(line,
                "?"
                "?/",
                "?"
                "? /");
    out += line + "\n";
  }
  while (!out.empty() && out.back() == '\n')
    out.pop_back();
  return out;
}

std::string kind_word(const Argument &a) {
  switch (a.kind) {
  case Argument::Kind::in:
    return a.optional ? "in?" : "in";
  case Argument::Kind::out:
    return "out";
  case Argument::Kind::inout:
    return "inout";
  case Argument::Kind::scalar:
    return "scalar";
  case Argument::Kind::table:
    return "table";
  case Argument::Kind::size:
    return "size";
  case Argument::Kind::stride:
    return "stride";
  }
  KGEN_UNREACHABLE("argument kind");
}

std::string spec_type(const Kernel &kernel, const Argument &a) {
  if (a.var != kNone)
    return std::string(type_row(kernel.vars[a.var].type).name);
  if (a.table != kNone)
    return std::string(type_row(kernel.tables[a.table].type).name);
  for (const ScalarArgument &s : kernel.scalars)
    if (s.name == a.name)
      return std::string(type_row(s.type).name);
  return "i64";
}

// The line that scripts read instead of parsing C: /* @function matmul_f32 args: in x f32 [M, K]; ... */
std::string interface_line(const Function &function) {
  std::string text;
  for (const Argument &a : function.arguments) {
    text += (text.empty() ? "" : "; ") + kind_word(a) + " " + a.name;
    if (a.kind != Argument::Kind::size && a.kind != Argument::Kind::stride)
      text += " " + spec_type(function.variations[0]->kernel, a);
    if (!a.extents.empty())
      text += " " + a.extents;
  }
  return "/* @function " + function.stem + " args: " + text + " */";
}

std::string describe(const Kernel &kernel, const Argument &a) {
  std::string text = a.name + ": ";
  switch (a.kind) {
  case Argument::Kind::size:
    return "";
  case Argument::Kind::stride:
    return text + "elements from one to the next along " + a.name.substr(a.name.find("_stride_") + 8);
  case Argument::Kind::scalar:
    return text + spec_type(kernel, a);
  default:
    break;
  }
  text += spec_type(kernel, a) + a.extents;
  if (a.kind == Argument::Kind::inout)
    text += ", read and written";
  if (a.optional)
    text += ", may be null";
  if (a.kind == Argument::Kind::table) {
    const Table &t = kernel.tables[a.table];
    if (t.sorted)
      text += ", sorted";
    if (t.unique)
      text += ", without repetition";
    if (t.range)
      text += ", each in 0 .. " + to_string(*t.range) + " - 1";
  }
  return text;
}

std::string header_parameters(const Function &function) {
  std::string text;
  for (const Argument &a : function.arguments) {
    Argument copy = a;
    copy.name = header_name(a.name);
    text += (text.empty() ? "" : ", ") + copy.declaration();
  }
  return text;
}

std::string helper_text(const Templates &templates, TargetKind target, const std::set<std::string> &wanted) {
  HelperSections sections;
  sections.add(templates.text("common/helpers.h"));
  sections.add(templates.text(target == TargetKind::cuda ? "cuda/helpers.h" : "openmp/helpers.h"));
  if (target == TargetKind::openmp)
    sections.add(templates.text("openmp/lanes.h"));
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
  std::string out;
  for (const auto &[name, text] : sections.sections)
    if (needed.erase(name) != 0)
      out += text + "\n";
  KGEN_CHECK(needed.empty());
  const bool cuda = target == TargetKind::cuda;
  replace_all(out, "FUNCTION", cuda ? "__host__ __device__ inline" : "inline");
  replace_all(out, "DEVICE", "__device__ inline");
  replace_all(out, "EXP_F32", cuda ? "expf" : "std::exp");
  replace_all(out, "EXP_F64", cuda ? "exp" : "std::exp");
  return out;
}

// Standard headers by what the text mentions.
Views includes(const std::string &text, std::vector<std::string> first) {
  static const std::vector<std::pair<std::string, std::string>> table = {{"std::sort", "algorithm"},
                                                                         {"std::exp", "cmath"},
                                                                         {"std::", "cmath"},
                                                                         {"INFINITY", "cmath"},
                                                                         {"NAN", "cmath"},
                                                                         {"std::malloc", "cstdlib"},
                                                                         {"memcpy", "cstring"},
                                                                         {"initializer_list", "initializer_list"},
                                                                         {"std::set", "set"},
                                                                         {"std::conditional", "type_traits"},
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

// The head of every file, as one comment.
std::string banner(const Spec &spec, const std::string &plan) {
  std::string text = "// Code generated by kgen from " + spec.file_name + ". DO NOT EDIT.\n";
  auto add = [&](const std::string &part) {
    if (part.empty())
      return;
    std::istringstream in(part);
    for (std::string line; std::getline(in, line);)
      text += line.empty() ? "//\n" : "// " + line + "\n";
  };
  add(comment_text(spec.license));
  text += "//\n";
  add(comment_text(spec.doc.empty() ? spec.kernel : spec.kernel + ": " + spec.doc));
  if (!plan.empty())
    text += "//\n";
  add(comment_text(plan));
  return text;
}

std::string comment(const std::string &text) {
  std::string out;
  std::istringstream in(comment_text(text));
  for (std::string line; std::getline(in, line);)
    out += "// " + line + "\n";
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

EmittedFile source_file(const Spec &spec, const Templates &templates, TargetKind target, TargetSource source,
                        const std::string &last) {
  const bool cuda = target == TargetKind::cuda;
  const std::string helpers = helper_text(templates, target, source.helpers);
  std::string all = helpers;
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
  view.set("includes", includes(all, first)).set("helpers", helpers.empty() ? Views{} : texts({helpers}));
  view.set("kernels", texts(source.kernels)).set("launchers", texts(source.launchers));
  const std::string path = cuda ? "cuda/file.cu" : "openmp/file.cpp";
  return {spec.kernel + (cuda ? "_cuda.cu" : "_openmp.cpp"), format_cpp(templates.render(path, view))};
}

// A size expression in C, for the header: floor division by a small inline function.
std::string c_size(const Kernel &kernel, const std::string &prefix, const Size &s, bool &divides) {
  using O = Size::Op;
  auto arg = [&](size_t i) { return c_size(kernel, prefix, s.args[i], divides); };
  auto infix = [&](const char *symbol) { return "(" + arg(0) + " " + symbol + " " + arg(1) + ")"; };
  switch (s.op) {
  case O::integer:
    return std::to_string(s.value);
  case O::axis:
    return header_name(s.name);
  case O::negate:
    return "(-" + arg(0) + ")";
  case O::add:
    return infix("+");
  case O::subtract:
    return infix("-");
  case O::multiply:
    return infix("*");
  case O::less:
    return infix("<");
  case O::less_equal:
    return infix("<=");
  case O::greater:
    return infix(">");
  case O::greater_equal:
    return infix(">=");
  case O::equal:
    return infix("==");
  case O::not_equal:
    return infix("!=");
  case O::choose:
    return "(" + arg(0) + " ? " + arg(1) + " : " + arg(2) + ")";
  case O::min:
    return "(" + arg(0) + " < " + arg(1) + " ? " + arg(0) + " : " + arg(1) + ")";
  case O::max:
    return "(" + arg(0) + " > " + arg(1) + " ? " + arg(0) + " : " + arg(1) + ")";
  case O::divide:
    divides = true;
    return prefix + "_floor_div(" + arg(0) + ", " + arg(1) + ")";
  case O::modulo: {
    divides = true;
    const std::string a = arg(0), b = arg(1);
    return "(" + a + " - " + prefix + "_floor_div(" + a + ", " + b + ") * " + b + ")";
  }
  case O::cdiv:
    divides = true;
    return "(-" + prefix + "_floor_div(-" + arg(0) + ", " + arg(1) + "))";
  case O::param:
  case O::grid:
  case O::grid_size:
  case O::table:
    break;
  }
  KGEN_UNREACHABLE("a derived size over steps or tables");
}

// `axes.P = { equals = ... }`: an inline function gives the size to callers that allocate.
std::string derived_sizes(const Spec &spec, const Kernel &kernel) {
  std::string parameters, unused, out;
  for (AxisId axis : kernel.size_arguments) {
    const std::string name = header_name(kernel.axes[axis].rest ? "rows" : kernel.axes[axis].name);
    parameters += (parameters.empty() ? "int64_t " : ", int64_t ") + name;
    unused += "(void)" + name + "; ";
  }
  bool divides = false;
  for (const Axis &axis : kernel.axes)
    if (axis.derived)
      out += "\n// The size " + axis.name + ", which follows from the others.\nstatic inline int64_t " + spec.kernel +
             "_" + axis.name + "(" + (parameters.empty() ? "void" : parameters) + ") {\n" + unused + "\nreturn " +
             c_size(kernel, spec.kernel, axis.size, divides) + ";\n}\n";
  if (!divides)
    return out;
  return "\nstatic inline int64_t " + spec.kernel +
         "_floor_div(int64_t a, int64_t b) {\nif (b == 0) return 0;\n"
         "return a / b - (a % b != 0 && (a < 0) != (b < 0));\n}\n" +
         out;
}

// The declarations of one function, with what its arguments are.
std::string declarations(const Function &function, const std::map<std::string, const TargetSource *> &targets,
                         bool &any_workspace) {
  std::string out = "\n";
  for (const Argument &a : function.arguments)
    out += comment(describe(function.variations[0]->kernel, a));
  std::string line = interface_line(function);
  out += line + "\n";
  for (const auto &[target, source] : targets) {
    const std::string stem = function.stem + "_" + target;
    const bool memory = std::any_of(source->launchers.begin(), source->launchers.end(), [&](const std::string &text) {
      return text.find(stem + "_workspace(") != std::string::npos;
    });
    any_workspace = any_workspace || memory;
    std::string sizes;
    for (const Argument &a : function.arguments)
      if (a.kind == Argument::Kind::size)
        sizes += (sizes.empty() ? "int64_t " : ", int64_t ") + header_name(a.name);
    if (memory)
      out += "int64_t " + stem + "_workspace(" + (sizes.empty() ? "void" : sizes) + ");\n";
    std::string parameters = header_parameters(function);
    if (target == "cuda" && has_device_tables(function.variations[0]->kernel))
      parameters += ", int32_t* table_status";
    if (memory)
      parameters += ", void* workspace, int64_t workspace_bytes";
    if (target == "cuda")
      parameters += ", void* stream";
    out += "int " + stem + "(" + parameters + ");\n";
  }
  return out;
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
    names.reserve(axis.name);
  names.reserve(function.stem);
  return names;
}

bool mentions_word(const std::string &text, const std::string &word) {
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size())
    if ((at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.')) &&
        (at + word.size() == text.size() || !is_word(text[at + word.size()])))
      return true;
  return false;
}

std::string derived_declarations(Printer &printer, const std::string &text) {
  const Kernel &kernel = printer.kernel;
  std::string out;
  // Later ones may be needed by earlier ones only the other way round: walk backwards, so that all needs are seen.
  for (size_t i = kernel.axes.size(); i-- > 0;) {
    const Axis &axis = kernel.axes[i];
    const bool argument = std::find(kernel.size_arguments.begin(), kernel.size_arguments.end(),
                                    static_cast<AxisId>(i)) != kernel.size_arguments.end();
    if (argument || axis.size.is_integer() || !mentions_word(text + out, axis.name))
      continue;
    out = "const int64_t " + axis.name + " = " + printer.size_text(axis.size) + ";\n" + out;
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
  std::string name = function.stem;
  for (const auto &[axis, size] : variation.variant.axes)
    name += "_" + lower_case(axis) + std::to_string(size);
  return name;
}

std::string variation_condition(const Variation &variation) {
  std::string text;
  for (const auto &[axis, size] : variation.variant.axes)
    text += (text.empty() ? "" : " && ") + axis + " == " + std::to_string(size);
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
  std::string list;
  bool any_workspace = false;
  for (const Function &function : functions)
    list += declarations(function, targets, any_workspace);
  View header;
  header.set("banner", banner(spec, "")).set("kernel", spec.kernel).set("functions", list);
  header.set("sizes", derived_sizes(spec, functions.front().variations[0]->kernel));
  header.set("workspace_note",
             std::string(any_workspace ? "\n// Intermediates live in the workspace; null lets the function allocate it."
                                       : ""));
  files.push_back({spec.kernel + ".h", format_cpp(templates.render("common/header.h", header))});

  // Either file may be linked alone, so both define it, weakly.
  const std::string error = error_function(spec, templates, statuses);
  if (options.openmp)
    files.push_back(source_file(spec, templates, TargetKind::openmp, openmp, error));
  if (options.cuda)
    files.push_back(source_file(spec, templates, TargetKind::cuda, cuda, error));
  return files;
}

} // namespace kgen
