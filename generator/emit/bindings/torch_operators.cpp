// NAME_torch.cpp: the operators, which check arrays, allocate outputs and call the C functions.
#include <algorithm>
#include <set>

#include "emit/bindings/size_text.h"
#include "emit/bindings/torch.h"
#include "emit/interface/header.h"
#include "emit/text/names.h"

namespace kgen::torch_binding {
namespace {

using Op = Size::Op;
using Kind = SignatureParameter::Kind;

// What the template has for itself: a name of the spec's steps aside.
const std::set<std::string> &template_names() {
  static const std::set<std::string> names = {"Array",       "Call",      "Device",
                                              "ScalarType",  "Shape",     "Tensor",
                                              "Workspace",   "joined",    "keep_apart",
                                              "check",       "choose",    "cuda",
                                              "device",      "fail",      "function",
                                              "kFunctions",  "kTypes",    "name_of",
                                              "new_array",   "openmp",    "run",
                                              "stream",      "type_of",   "wanted",
                                              "whole",       "memory",    "ceil_div",
                                              "floor_div",   "floor_mod", "guard",
                                              "call",        "torch",     "aoti_torch_device_type_cuda",
                                              "LargeMemory", "dtype_of",  "array_of_torch"};
  return names;
}

// Beside new_y(), which makes an output, and the parameter y_given.
bool is_of_another(const std::string &name) { return name.starts_with("new_") || name.ends_with("_given"); }

std::string spelled(const std::string &name) {
  const std::string c = c_name(name);
  return template_names().count(c) != 0 || is_of_another(c) ? c + "_" : c;
}

class Operators {
public:
  explicit Operators(const BindingInput &input) : s_(input.signature), input_(input) {}

  std::string text() {
    View view;
    view.set("banner", banner(input_.spec, "")).set("kernel", s_.kernel);
    view.set("namespace", input_.options.bind_namespace);
    set_functions(view);
    set_arguments(view);
    set_outputs(view);
    view.set("targets", targets()).set("dispatch", dispatch());
    view.set("operators", operators());
    view.set("schemas", schemas());
    view.set("registrations", registrations());
    const std::string sizes = input_.templates.text("bindings/sizes.h");
    view.set("size_helpers", divides_ ? sizes + "\n" : "");
    return input_.templates.render("bindings/torch.cpp", view);
  }

private:
  const SignatureArray &array(int a) const { return s_.arrays[a]; }
  std::string name(int a) const { return spelled(array(a).parameter); }

  std::string size_text(const Size &size) {
    divides_ = divides_ || any_node(size, [](const Size &s) {
                 return s.op == Op::divide || s.op == Op::modulo || s.op == Op::cdiv;
               });
    return cpp_size(size, [&](const Size &s) {
      if (s.op != Op::table)
        return spelled(s.name);
      return spelled(array_named(s_, s.name).parameter) + ".extent(" + std::to_string(s.args[0].value) + ")";
    });
  }

  // --- the table of functions
  void set_functions(View &view) {
    std::vector<std::string> columns;
    for (const int c : parameter_choices(s_))
      columns.push_back(s_.choices[c].name);
    for (const int a : columns_of_arrays(s_))
      columns.push_back(array(a).name);
    view.set("columns", join(columns)).set("column_count", std::to_string(columns.size()));
    Views rows;
    for (const CFunction &f : s_.functions)
      rows.push_back(View().set("columns", join(row(f))).set("stem", f.stem));
    view.set("functions", rows);
  }
  std::vector<std::string> row(const CFunction &f) const {
    std::vector<std::string> out;
    for (const int c : parameter_choices(s_))
      out.push_back("\"" + f.choices[c] + "\"");
    for (const int a : columns_of_arrays(s_))
      out.push_back("\"" + std::string(type_row(f.array_types[a]).name) + "\"");
    return out;
  }
  std::string column(int a) const {
    const std::vector<int> arrays = columns_of_arrays(s_);
    const auto at = std::find(arrays.begin(), arrays.end(), a) - arrays.begin();
    return std::to_string(parameter_choices(s_).size() + static_cast<size_t>(at));
  }

  // --- the arguments of a call
  void set_arguments(View &view) {
    Views arrays;
    for (size_t a = 0; a < s_.arrays.size(); ++a)
      arrays.push_back(View()
                           .set("name", name(static_cast<int>(a)))
                           .set("parameter", s_.arrays[a].parameter)
                           .set("brackets", brackets(s_.arrays[a]))
                           .set("dims", std::to_string(s_.arrays[a].dims.size()))
                           .set("rest", std::to_string(s_.arrays[a].rest >= 0 ? static_cast<size_t>(s_.arrays[a].rest)
                                                                              : s_.arrays[a].dims.size())));
    view.set("wholes", std::ranges::any_of(s_.scalars, [](const SignatureScalar &scalar) {
               return scalar_value(scalar).starts_with("whole<");
             }));
    view.set("arrays", arrays).set("members", line_views(members())).set("setup", line_views(setup()));
    view.set("call_parameters", join(parameters()));
  }

  static std::string scalar_type(const SignatureScalar &scalar) {
    return is_floating(scalar.type) ? "double" : scalar.type == Type::boolean ? "bool" : "int64_t";
  }

  std::string members() {
    std::string out;
    for (const SignatureScalar &scalar : s_.scalars)
      out += scalar_type(scalar) + " " + spelled(scalar.parameter) + ";\n";
    for (const ChoiceParameter &choice : s_.choices)
      if (choice.is_number)
        out += "int64_t " + spelled(choice.name) + " = 0;\n";
    for (const SignatureSize &size : s_.sizes)
      out += "int64_t " + spelled(size.name) + " = 0;\n";
    return out;
  }

  static std::string given(const std::string &parameter) { return parameter + "_given"; }

  std::vector<std::string> parameters() const {
    std::vector<std::string> out;
    for (const SignatureParameter &p : s_.parameters)
      switch (p.kind) {
      case Kind::array:
        out.push_back((array(p.index).optional ? "const std::optional<Tensor>& " : "const Tensor& ") +
                      given(array(p.index).parameter));
        break;
      case Kind::scalar:
        out.push_back(scalar_type(s_.scalars[p.index]) + " " + given(s_.scalars[p.index].parameter));
        break;
      case Kind::choice:
        out.push_back(
            (s_.choices[p.index].first_always_fits ? "const std::string& " : "const std::optional<std::string>& ") +
            given(s_.choices[p.index].parameter));
        break;
      case Kind::size:
        out.push_back("int64_t " + given(s_.sizes[p.index].parameter));
        break;
      }
    return out;
  }

  std::string setup() {
    std::string out;
    for (const SignatureParameter &p : s_.parameters)
      if (p.kind == Kind::array)
        out += name(p.index) + ".take(device, " + given(array(p.index).parameter) + ");\n";
    for (const SignatureScalar &scalar : s_.scalars)
      out += spelled(scalar.parameter) + " = " + scalar_value(scalar) + ";\n";
    out += "function = choose({" + join(what_is_given()) + "});\n";
    for (const SignatureParameter &p : s_.parameters)
      if (p.kind == Kind::choice && s_.choices[p.index].is_number)
        out += spelled(s_.choices[p.index].name) + " = std::stoll(kFunctions[function][" +
               std::to_string(column_of_choice(p.index)) + "]);\n";
    return out + sizes() + checks();
  }
  // Torch has whole numbers of 64 bits.
  static std::string scalar_value(const SignatureScalar &scalar) {
    if (!is_integer(scalar.type) || scalar.type == Type::i64)
      return given(scalar.parameter);
    const std::string type(type_row(scalar.type).name);
    return "whole<" + std::string(type_row(scalar.type).c_type) + ">(" + given(scalar.parameter) + ", \"" +
           scalar.parameter + "\", \"" + type + "\")";
  }
  int column_of_choice(int choice) const {
    const std::vector<int> choices = parameter_choices(s_);
    return static_cast<int>(std::find(choices.begin(), choices.end(), choice) - choices.begin());
  }
  std::vector<std::string> what_is_given() const {
    std::vector<std::string> out;
    for (const int c : parameter_choices(s_)) {
      const std::string value = given(s_.choices[c].parameter);
      out.push_back("{\"" + s_.choices[c].parameter + "\", " +
                    (s_.choices[c].first_always_fits ? "" : value + " == std::nullopt ? nullptr : ") +
                    (s_.choices[c].first_always_fits ? value + "." : value + "->") + "c_str()}");
    }
    for (const int a : columns_of_arrays(s_))
      if (array(a).is_argument())
        out.push_back("{\"" + array(a).parameter + "\", " + name(a) + ".type()}");
    return out;
  }

  std::string sizes() {
    std::string out;
    for (const SignatureParameter &p : s_.parameters)
      if (p.kind == Kind::size)
        out += spelled(s_.sizes[p.index].name) + " = " + given(s_.sizes[p.index].parameter) + ";\n";
    for (const int i : s_.size_order)
      out += spelled(s_.sizes[i].name) + " = " + size_text(s_.sizes[i].value) + ";\n";
    return out;
  }

  std::string checks() {
    std::string out;
    const int rest = array_with_rest(s_);
    for (size_t a = 0; a < s_.arrays.size(); ++a)
      if (rest >= 0 && s_.arrays[a].is_argument() && s_.arrays[a].rest >= 0 && static_cast<int>(a) != rest)
        out += name(static_cast<int>(a)) + ".expect_rest(" + name(rest) + ");\n";
    for (const ExtentCheck &check : s_.checks)
      if (!(rest >= 0 && check.dim == array(check.array).rest))
        out += expectation(check.array, check.dim, check.expected, check.given_by);
    return out;
  }

  std::string expectation(int a, int dim, const Size &expected, const std::vector<int> &given_by) {
    std::string out = name(a) + ".expect(" + std::to_string(dim) + ", " + size_text(expected);
    if (expected.is_integer())
      return out + ");\n";
    std::vector<std::string> names;
    for (const int giver : given_by)
      names.push_back(array(giver).parameter);
    return out + ", \"" + to_string(expected) + "\", \"" + (names.empty() ? "" : " as in " + join(names, " and ")) +
           "\");\n";
  }

  // --- outputs
  void set_outputs(View &view) {
    Views outputs, finish;
    std::vector<std::string> run_parameters;
    std::string prepare;
    for (const int o : s_.outputs()) {
      outputs.push_back(View()
                            .set("name", name(o))
                            .set("column", column(o))
                            .set("shape", shape(array(o)))
                            .set("partial", array(o).partial));
      finish.push_back(View().set("name", name(o)));
      run_parameters.push_back("const std::optional<Tensor>& " + given(array(o).parameter));
      prepare += name(o) + ".take(device, " + given(array(o).parameter) + ");\n" + output_checks(o);
    }
    for (size_t a = 0; a < s_.arrays.size(); ++a)
      if (s_.arrays[a].alias < 0 || s_.arrays[a].in_place())
        prepare += name(static_cast<int>(a)) + ".make_dense(" + (s_.arrays[a].strided ? "true" : "") + ");\n";
    std::vector<std::string> results, operands; // as the C functions know them
    for (size_t a = 0; a < s_.arrays.size(); ++a)
      if (!s_.arrays[a].is_argument() || s_.arrays[a].alias < 0)
        (s_.arrays[a].is_argument() ? operands : results).push_back("&" + name(static_cast<int>(a)));
    prepare += "keep_apart({" + join(results) + "}, {" + join(operands) + "});\n";
    view.set("outputs", outputs).set("finish", finish).set("run_parameters", join(run_parameters));
    view.set("prepare", line_views(prepare));
  }

  std::string shape(const SignatureArray &output) {
    std::vector<std::string> before, behind;
    for (size_t d = 0; d < output.dims.size(); ++d)
      if (static_cast<int>(d) != output.rest)
        (static_cast<int>(d) < output.rest ? before : behind).push_back(size_text(output.dims[d]));
    if (output.rest < 0)
      return "Shape{" + join(behind) + "}";
    const int rest = array_with_rest(s_);
    return "joined({" + join(before) + "}, " +
           (rest >= 0 ? name(rest) + ".rest()" : "Shape{" + size_text(output.dims[output.rest]) + "}") + ", {" +
           join(behind) + "})";
  }

  std::string output_checks(int o) {
    std::string out;
    const int rest = array_with_rest(s_);
    if (array(o).rest >= 0 && rest >= 0)
      out += name(o) + ".expect_rest(" + name(rest) + ");\n";
    for (size_t d = 0; d < array(o).dims.size(); ++d)
      if (static_cast<int>(d) != array(o).rest || rest < 0)
        out += expectation(o, static_cast<int>(d), array(o).dims[d], givers(array(o).dims[d]));
    return out + name(o) + ".expect_type(kFunctions[function][" + column(o) + "]);\n";
  }
  std::vector<int> givers(const Size &extent) const {
    std::vector<int> out;
    for (const SignatureSize &size : s_.sizes)
      if (size.array >= 0 && mentions(extent, Op::axis, size.name) &&
          std::find(out.begin(), out.end(), size.array) == out.end())
        out.push_back(size.array);
    return out;
  }

  // --- the C functions
  Views targets() const {
    Views out;
    if (s_.has_openmp)
      out.push_back(View().set("text", openmp()));
    if (s_.has_cuda)
      out.push_back(View().set("text", cuda()));
    return out;
  }

  std::string dispatch() const {
    if (!s_.has_cuda)
      return "openmp();";
    const std::string cuda = "#ifdef KGEN_CUDA\nif (device.type == aoti_torch_device_type_cuda()) cuda();\n#endif\n";
    return cuda + (s_.has_openmp ? "if (device.type == aoti_torch_device_type_cpu()) openmp();\n" : "");
  }

  std::string openmp() const {
    return "void openmp() {\n"
           "torch::stable::get_num_threads(); // with it, OpenMP has torch's number of threads in this thread\n" +
           calls("openmp", &CFunction::openmp_workspace, "") + "}\n";
  }
  std::string cuda() const {
    const bool status = s_.functions[0].table_status;
    return "#ifdef KGEN_CUDA\n"
           "void cuda() {\n"
           "const torch::stable::accelerator::DeviceGuard guard(device.index);\n"
           "const torch::stable::accelerator::Stream current = "
           "torch::stable::accelerator::getCurrentStream(device.index);\n"
           "void* const stream = current.nativeHandle();\n" +
           calls("cuda", &CFunction::cuda_workspace, status ? ", nullptr" : "") + "}\n#endif\n";
  }

  std::string calls(const std::string &target, bool CFunction::*workspace, const std::string &status) const {
    const std::string end = target == "cuda" ? ", stream" : "";
    const std::string arguments = join(c_arguments()) + status;
    std::string macros, undefine, cases;
    const auto define = [&](bool memory) {
      const std::string macro = memory ? "KGEN_RUN_IN_MEMORY" : "KGEN_RUN";
      macros += "#define " + macro + "(name) { \\\n";
      if (memory)
        macros += "const Workspace memory(device, name##_" + target + "_workspace(" + join(c_sizes()) + ")); \\\n";
      macros += "return check(name##_" + target + "(" + arguments + (memory ? ", memory.data, memory.bytes" : "") +
                end + ")); }\n";
      undefine += "#undef " + macro + "\n";
    };
    for (const bool memory : {false, true})
      if (std::ranges::any_of(s_.functions, [&](const CFunction &f) { return f.*workspace == memory; }))
        define(memory);
    for (size_t f = 0; f < s_.functions.size(); ++f)
      cases += "case " + std::to_string(f) + ":\n" +
               (s_.functions[f].*workspace ? "KGEN_RUN_IN_MEMORY(" : "KGEN_RUN(") + s_.functions[f].stem + ");\n";
    return macros + "switch (function) {\n" + cases + "}\n" + undefine;
  }

  std::vector<std::string> c_arguments() const {
    std::vector<std::string> out;
    for (const CArgument &argument : s_.c_arguments)
      switch (argument.kind) {
      case CArgument::Kind::array:
        out.push_back(name(argument.index));
        break;
      case CArgument::Kind::scalar:
        out.push_back(spelled(s_.scalars[argument.index].parameter));
        break;
      case CArgument::Kind::size:
        out.push_back(spelled(s_.sizes[argument.index].name));
        break;
      case CArgument::Kind::stride:
        out.push_back(name(argument.index) + ".stride(" + std::to_string(argument.dim) + ")");
        break;
      }
    return out;
  }
  std::vector<std::string> c_sizes() const {
    std::vector<std::string> out;
    for (const SignatureSize &size : s_.sizes)
      out.push_back(spelled(size.name));
    return out;
  }

  // --- the operators
  std::vector<std::string> passed_on() const {
    std::vector<std::string> out;
    for (const SignatureParameter &p : s_.parameters)
      out.push_back(given(parameter_of(s_, p)));
    return out;
  }
  std::string call_declaration() const {
    return "Call call" + (s_.parameters.empty() ? "" : "(" + join(passed_on()) + ")") + ";\n";
  }

  std::string operators() const { return functional() + "\n" + (works_in_place(s_) ? in_place() : into_outputs()); }

  std::string result_type(size_t count) const {
    if (count == 0)
      return "void";
    return count == 1 ? "Tensor" : "std::tuple<" + join(std::vector<std::string>(count, "Tensor")) + ">";
  }
  static std::string result(const std::vector<std::string> &values) {
    if (values.empty())
      return "";
    return values.size() == 1 ? "return " + values[0] + ";\n" : "return {" + join(values) + "};\n";
  }

  std::string functional() const {
    std::vector<std::string> params = parameters(), results, passed;
    if (has_optional_outputs(s_))
      params.push_back("int64_t wanted");
    std::string body = call_declaration();
    int bit = 0;
    for (const int o : s_.outputs()) {
      const std::string out = array(o).parameter + "_new";
      if (array(o).optional)
        body += "std::optional<Tensor> " + out + ";\nif ((wanted >> " + std::to_string(bit) + " & 1) != 0) " + out +
                " = call.new_" + name(o) + "();\n";
      else
        body += "Tensor " + out + " = call.new_" + name(o) + "();\n";
      if (array(o).in_place())
        body += "torch::stable::copy_(" + out + ", " + given(array(array(o).alias).parameter) + ");\n";
      passed.push_back(out);
      results.push_back(array(o).optional ? out + ".value_or(Tensor())" : out);
      ++bit;
    }
    body += "call.run(" + join(passed) + ");\n";
    return result_type(results.size()) + " functional(" + join(params) + ") {\n" + body + result(results) + "}\n";
  }

  std::string into_outputs() const {
    std::vector<std::string> params = parameters(), passed;
    for (const int o : s_.outputs()) {
      params.push_back((array(o).optional ? "const std::optional<Tensor>& " : "const Tensor& ") + array(o).parameter +
                       "_new");
      passed.push_back(array(o).parameter + "_new");
    }
    return "void into_outputs(" + join(params) + ") {\n" + call_declaration() + "call.run(" + join(passed) + ");\n}\n";
  }

  std::string in_place() const {
    std::vector<std::string> results, passed;
    std::string body = call_declaration();
    for (const int o : s_.outputs()) {
      if (array(o).in_place()) {
        passed.push_back(given(array(array(o).alias).parameter));
        continue;
      }
      const std::string out = array(o).parameter + "_new";
      body += "Tensor " + out + " = call.new_" + name(o) + "();\n";
      passed.push_back(out);
      results.push_back(out);
    }
    body += "call.run(" + join(passed) + ");\n";
    return result_type(results.size()) + " in_place(" + join(parameters()) + ") {\n" + body + result(results) + "}\n";
  }

  // --- schemas
  Views schemas() const {
    std::vector<std::string> out = {functional_schema()};
    out.push_back(works_in_place(s_) ? in_place_schema() : out_schema());
    Views views;
    for (const std::string &schema : out)
      views.push_back(View().set("schema", schema));
    return views;
  }

  std::string tensor(const SignatureArray &a, const std::string &mutation) const {
    return "Tensor" + mutation + (a.optional ? "?" : "") + " " + a.parameter;
  }
  static std::string mutation(int n) { return std::string("(") + static_cast<char>('a' + n) + "!)"; }

  // `mutated`: whether inputs that are outputs' memory are marked.
  std::vector<std::string> schema_parameters(bool mutated, bool &has_star) const {
    std::vector<std::string> out;
    int mutations = 0;
    for (const SignatureParameter &p : s_.parameters) {
      if (p.keyword_only && !has_star) {
        out.emplace_back("*");
        has_star = true;
      }
      if (p.kind == Kind::array)
        out.push_back(tensor(array(p.index), mutated && array(p.index).alias >= 0 ? mutation(mutations++) : "") +
                      (p.has_default ? "=None" : ""));
      else if (p.kind == Kind::scalar)
        out.push_back(schema_type(s_.scalars[p.index].type) + " " + s_.scalars[p.index].parameter);
      else if (p.kind == Kind::choice)
        out.push_back(s_.choices[p.index].first_always_fits
                          ? "str " + s_.choices[p.index].parameter + "='" + s_.choices[p.index].choices[0] + "'"
                          : "str? " + s_.choices[p.index].parameter + "=None");
      else
        out.push_back("SymInt " + s_.sizes[p.index].parameter);
    }
    return out;
  }
  static std::string schema_type(Type type) {
    return is_floating(type) ? "float" : type == Type::boolean ? "bool" : "int";
  }

  static std::string returns(size_t count) {
    return count == 1 ? "Tensor" : "(" + join(std::vector<std::string>(count, "Tensor")) + ")";
  }

  std::string functional_schema() const {
    bool has_star = false;
    std::vector<std::string> params = schema_parameters(false, has_star);
    if (has_optional_outputs(s_)) {
      if (!has_star)
        params.emplace_back("*");
      params.emplace_back("int wanted=-1");
    }
    return s_.function + "(" + join(params) + ") -> " + returns(s_.outputs().size());
  }
  std::string out_schema() const {
    bool has_star = false;
    std::vector<std::string> params = schema_parameters(false, has_star);
    if (!has_star)
      params.emplace_back("*");
    int mutations = 0;
    for (const int o : s_.outputs())
      params.push_back(tensor(array(o), mutation(mutations++)));
    return s_.function + "_out(" + join(params) + ") -> ()";
  }
  std::string in_place_schema() const {
    bool has_star = false;
    const std::vector<std::string> params = schema_parameters(true, has_star);
    const std::vector<int> outputs = s_.outputs();
    const auto fresh = std::ranges::count_if(outputs, [&](int o) { return !array(o).in_place(); });
    return s_.function + "_(" + join(params) + ") -> " + returns(static_cast<size_t>(fresh));
  }

  Views registrations() const {
    const auto entry = [](const std::string &name, const std::string &function) {
      return View().set("operator", name).set("function", function);
    };
    const View functional = entry(s_.function, "functional");
    const View other =
        works_in_place(s_) ? entry(s_.function + "_", "in_place") : entry(s_.function + "_out", "into_outputs");
    Views out;
    const auto add = [&](const std::string &key, Views operators) {
      const bool cuda = key == "CUDA";
      out.push_back(View()
                        .set("key", key)
                        .set("before", std::string(cuda ? "#ifdef KGEN_CUDA\n" : ""))
                        .set("operators", std::move(operators))
                        .set("after", std::string(cuda ? "#endif" : "")));
    };
    // Without arrays torch does not know which device is meant: it is the CPU.
    const bool on_any =
        std::ranges::none_of(s_.arrays, [](const SignatureArray &a) { return a.is_argument() && !a.optional; });
    if (on_any)
      add("CompositeExplicitAutograd", {functional});
    if (s_.has_openmp)
      add("CPU", on_any ? Views{other} : Views{functional, other});
    if (s_.has_cuda)
      add("CUDA", on_any ? Views{other} : Views{functional, other});
    return out;
  }

  const Signature &s_;
  const BindingInput &input_;
  bool divides_ = false;
};

} // namespace

std::string operators_text(const BindingInput &input) { return Operators(input).text(); }

} // namespace kgen::torch_binding
