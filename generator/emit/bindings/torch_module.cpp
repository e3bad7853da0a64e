// NAME_torch.py: builds and loads the library, and says what torch's transforms need to know of the operators.
#include <algorithm>
#include <set>

#include "emit/bindings/size_text.h"
#include "emit/bindings/torch.h"
#include "emit/target_file.h"
#include "support/text.h"

namespace kgen::torch_binding {
namespace {

using Op = Size::Op;
using Kind = SignatureParameter::Kind;

const char *const kPythonComment = "#"; // two slashes divide there

class Module {
public:
  explicit Module(const BindingInput &input) : s_(input.signature), input_(input) {}

  std::string text() {
    const Signature *forward = differentiable(s_) ? input_.forward : nullptr;
    const Signature *backward = differentiable(s_) && forward == nullptr ? input_.backward : nullptr;
    View view;
    view.set("banner", python_banner(input_.spec));
    view.set("kernel", s_.kernel).set("function", s_.function).set("namespace", input_.options.bind_namespace);
    view.set("autograd_note", std::string(backward == nullptr && forward == nullptr ? "" : ", autograd too"));
    view.set("cuda", s_.has_cuda).set("openmp", s_.has_openmp);
    Views others; // whose operators this module calls
    for (const auto &[role, other] : {std::pair("backward", backward), std::pair("forward", forward)})
      if (other != nullptr)
        others.push_back(View().set("role", std::string(role)).set("name", other->kernel));
    view.set("others", others);
    const std::string rules = fake() + autograd_text(input_, backward) + vmap_text(input_) + function();
    const std::string helpers(trim(python_helpers(input_.templates, "bindings/numpy_helpers.py", rules) +
                                   python_helpers(input_.templates, "bindings/torch_helpers.py", rules)));
    const std::string body = types() + helpers + (helpers.empty() ? "" : "\n\n\n") + rules;
    std::string imports = "import importlib.util\n";
    if (mentions_word(body, "math", kPythonComment))
      imports += "import math\n";
    imports += std::string("import os\nimport shlex\n") + (s_.has_cuda ? "import shutil\n" : "") +
               "import subprocess\nimport sys\nimport tempfile\n";
    view.set("imports", line_views(imports)).set("body", body);
    return input_.templates.render("bindings/torch.py", view);
  }

private:
  const SignatureArray &array(int a) const { return s_.arrays[a]; }
  std::string name(int a) const { return python_name(array(a).parameter); }
  std::string parameter(const SignatureParameter &p) const { return python_name(parameter_of(s_, p)); }
  // "x, bias=None, *, act='relu', N"
  std::vector<std::string> parameters() const {
    std::vector<std::string> out;
    bool has_star = false;
    for (const SignatureParameter &p : s_.parameters) {
      if (p.keyword_only && !has_star)
        out.emplace_back("*");
      has_star = has_star || p.keyword_only;
      const bool is_word = p.kind == Kind::choice && s_.choices[p.index].first_always_fits;
      const std::string value = is_word ? "\"" + s_.choices[p.index].choices[0] + "\"" : "None";
      out.push_back(parameter(p) + (p.has_default ? "=" + value : ""));
    }
    return out;
  }
  std::vector<int> array_arguments() const {
    std::vector<int> out;
    for (const SignatureParameter &p : s_.parameters)
      if (p.kind == Kind::array)
        out.push_back(p.index);
    return out;
  }

  // --- types: a row for each set of them
  std::string types() {
    std::vector<std::string> columns, rows;
    for (const int c : parameter_choices(s_))
      columns.push_back(s_.choices[c].name);
    for (const int a : columns_of_arrays(s_))
      columns.push_back(array(a).name);
    for (const CFunction &f : s_.functions) {
      std::vector<std::string> row;
      for (const int c : parameter_choices(s_))
        row.push_back("\"" + f.choices[c] + "\"");
      for (const int a : columns_of_arrays(s_))
        row.push_back(torch_type(f.array_types[a]));
      if (const std::string text = lines("    (", row, row.size() == 1 ? ",)," : "),");
          std::find(rows.begin(), rows.end(), text) == rows.end())
        rows.push_back(text);
    }
    return "_FUNCTIONS = (  # " + join(columns) + "\n" + join(rows, "") +
           ")\n\n\n"
           "# The types of the outputs, by choices and arrays in the order of the table; None: absent.\n"
           "def _output_types(*given):\n"
           "    given = [getattr(value, \"dtype\", value) for value in given]\n"
           "    for row in _FUNCTIONS:\n"
           "        if all(value is None or value == own for value, own in zip(given, row)):\n"
           "            return row[len(given):]\n"
           "    raise TypeError(f\"" +
           s_.kernel + ": there is no function for {given}\")\n\n\n";
  }

  // --- fake
  std::string size_text(const Size &size) const {
    return python_size(size, [&](const Size &s) {
      if (s.op == Op::param)
        return "int(" + choice_name(s.name) + ")";
      return s.op == Op::table ? python_extent(array_named(s_, s.name), static_cast<size_t>(s.args[0].value),
                                               python_name(array_named(s_, s.name).parameter))
                               : size_name(s.name);
    });
  }
  std::string size_name(const std::string &name) const { return python_name(s_.find_size(name)->parameter); }
  std::string choice_name(const std::string &name) const {
    return python_name(std::ranges::find(s_.choices, name, &ChoiceParameter::name)->parameter);
  }

  std::vector<std::string> dims(const SignatureArray &a) const {
    std::vector<std::string> out;
    const int rest = array_with_rest(s_);
    for (size_t d = 0; d < a.dims.size(); ++d)
      out.push_back(static_cast<int>(d) != a.rest || rest < 0 ? size_text(a.dims[d])
                                                              : "*" + python_rest(array(rest), name(rest)));
    return out;
  }

  // Sizes that the text mentions, in the order in which they are found.
  std::string sizes(const std::string &text) const {
    std::string out;
    for (size_t i = s_.size_order.size(); i-- > 0;) {
      const SignatureSize &size = s_.sizes[s_.size_order[i]];
      if (mentions_word(text + out, size_name(size.name), kPythonComment))
        out = "    " + size_name(size.name) + " = " + size_text(size.value) + "\n" + out;
    }
    return out;
  }

  // Outputs are passed by keyword, as they are called in the schema.
  std::string passed(int a) const { return array(a).is_argument() ? name(a) : array(a).parameter; }

  // Of the arrays of a call, `outputs` among them: they lie together, and have the sizes that others tell.
  std::string devices(bool outputs) const {
    std::vector<std::string> parts;
    for (size_t a = 0; a < s_.arrays.size(); ++a)
      if (s_.arrays[a].is_argument() || outputs)
        parts.push_back(s_.arrays[a].parameter + "=" + passed(static_cast<int>(a)));
    return parts.size() < 2 ? "" : lines("    _check_devices(", parts, ")");
  }
  std::string shapes(bool outputs) const {
    std::string out;
    for (size_t a = 0; a < s_.arrays.size(); ++a) {
      const SignatureArray &array = s_.arrays[a];
      const bool is_told = array.rest < 0 || !array.is_argument() ||
                           std::ranges::count(s_.checks, static_cast<int>(a), &ExtentCheck::array) != 0;
      if ((!array.is_argument() && !outputs) || !is_told)
        continue;
      std::vector<std::string> parts = dims(array);
      parts.insert(parts.begin(), {"\"" + array.parameter + "\"", passed(static_cast<int>(a))});
      out += lines("    _check_shape(", parts, ")");
    }
    return out;
  }

  std::string device() const {
    for (const int a : array_arguments())
      if (!array(a).optional)
        return ", device=" + name(a) + ".device";
    return "";
  }

  std::string new_output(int o, const std::string &type) const {
    return "torch.empty(" + tuple_text(dims(array(o))) + ", dtype=" + type + device() + ")";
  }

  std::string fake() const {
    std::vector<std::string> params = parameters();
    if (has_optional_outputs(s_)) {
      if (std::find(params.begin(), params.end(), "*") == params.end())
        params.emplace_back("*");
      params.emplace_back("wanted=-1");
    }
    std::string body;
    std::vector<std::string> results;
    const std::vector<int> outputs = s_.outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::string one = new_output(outputs[i], "types[" + std::to_string(i) + "]");
      if (array(outputs[i]).optional)
        one += " if wanted >> " + std::to_string(i) + " & 1 else None";
      results.push_back(one);
    }
    body = shapes(false) + types_of_call() + returned(results);
    std::string out =
        decorator("fake", s_.function) + lines("def _fake(", params, "):") + devices(false) + sizes(body) + body;
    return out + "\n\n" + fake_of_other();
  }

  std::string types_of_call() const {
    std::vector<std::string> given;
    for (const int c : parameter_choices(s_))
      given.push_back(python_name(s_.choices[c].parameter));
    for (const int a : array_arguments())
      given.push_back(name(a));
    return lines("    types = _output_types(", given, ")");
  }
  static std::string returned(const std::vector<std::string> &results) {
    if (results.size() == 1)
      return "    return " + results[0] + "\n";
    std::string out = "    return (\n";
    for (const std::string &result : results)
      out += "        " + result + ",\n";
    return out + "    )\n";
  }

  std::string decorator(const std::string &what, const std::string &op) const {
    return "@torch.library.register_" + what + "(\"" + input_.options.bind_namespace + "::" + op + "\")\n";
  }

  // Of the operator that writes into memory which is there.
  std::string fake_of_other() const {
    const std::string op = s_.function + (works_in_place(s_) ? "_" : "_out");
    std::string body;
    std::vector<std::string> results;
    const std::vector<int> outputs = s_.outputs();
    for (size_t i = 0; i < outputs.size() && works_in_place(s_); ++i)
      if (!array(outputs[i]).in_place())
        results.push_back(new_output(outputs[i], "types[" + std::to_string(i) + "]"));
    const bool into = !works_in_place(s_);
    body = shapes(into) + (results.empty() ? "    return None\n" : types_of_call() + returned(results));
    std::vector<std::string> params = parameters();
    if (into && std::find(params.begin(), params.end(), "*") == params.end())
      params.emplace_back("*");
    for (const int o : outputs)
      if (into)
        params.push_back(passed(o));
    return decorator("fake", op) + lines("def _(", params, "):") + devices(into) + sizes(body) + body + "\n\n" +
           lines("_count_writes(", written(op), ")") + "\n\n";
  }

  // By that operator: arguments by their places, or by name.
  std::vector<std::string> written(const std::string &op) const {
    std::vector<std::string> out = {"\"" + op + "\""};
    if (!works_in_place(s_)) {
      for (const int o : s_.outputs())
        out.push_back("\"" + array(o).parameter + "\"");
      return out;
    }
    for (size_t i = 0; i < s_.parameters.size(); ++i)
      if (s_.parameters[i].kind == Kind::array && array(s_.parameters[i].index).alias >= 0)
        out.push_back(std::to_string(i));
    return out;
  }

  // --- the function
  std::string function() const {
    std::vector<std::string> passed;
    std::string names;
    for (const SignatureParameter &p : s_.parameters) {
      const std::string own = parameter(p);
      const bool is_type = p.kind == Kind::choice && s_.choices[p.index].is_type;
      const bool is_number = p.kind == Kind::choice && s_.choices[p.index].is_number;
      const std::string value = is_type     ? "_TYPE_NAMES.get(" + own + ", " + own + ")"
                                : is_number ? "str(" + own + ")"
                                            : own;
      passed.push_back(p.keyword_only ? parameter_of(s_, p) + "=" + value : value);
      if (is_type)
        names = type_names();
    }
    std::string out = names + function_text(s_.function, "_operator", passed);
    if (works_in_place(s_))
      out += "\n\n" + function_text(s_.function + "_",
                                    "torch.ops." + input_.options.bind_namespace + "." + s_.function + "_.default",
                                    passed);
    return out;
  }
  std::string function_text(const std::string &function, const std::string &op,
                            const std::vector<std::string> &passed) const {
    std::string out = lines("def " + function + "(", parameters(), "):");
    out += indented("\"\"\"" + python_doc(s_) + "\n\"\"\"\n");
    if (differentiable(s_))
      out += "    if _forward_ad._current_level >= 0:\n" + indented(lines("    _refuse_tangents(", array_names(), ")"));
    if (differentiable(s_) && function != s_.function)
      out += refused_for_gradients(function);
    else if (input_.forward != nullptr && differentiable(s_))
      out += kept_for_gradients(passed);
    return out + lines("    return " + op + "(", passed, ")");
  }
  std::string where_gradients_are_wanted() const {
    return "    if torch.is_grad_enabled() and any(a is not None and a.requires_grad for a in " +
           tuple_text(array_names()) + "):\n";
  }
  std::vector<std::string> array_names() const {
    std::vector<std::string> out;
    for (const int a : array_arguments())
      out.push_back(name(a));
    return out;
  }
  // There, the kernel that keeps more for them.
  std::string kept_for_gradients(const std::vector<std::string> &passed) const {
    const size_t outputs = s_.outputs().size();
    const std::string first = outputs == 1 ? "[0]" : "[:" + std::to_string(outputs) + "]";
    return where_gradients_are_wanted() + indented(lines("    return _forward_operator(", passed, ")" + first));
  }
  // And not what writes into arrays that are given, of which torch's graph knows nothing.
  std::string refused_for_gradients(const std::string &function) const {
    return where_gradients_are_wanted() +
           indented(lines(
               "    raise RuntimeError(",
               {"\"" + function + " has no gradient: call it under torch.no_grad(), or " + s_.function + "\""}, ")"));
  }
  std::string type_names() const {
    std::set<std::string> entries;
    for (const ChoiceParameter &choice : s_.choices)
      for (const std::string &type : choice.choices)
        if (choice.is_type && choice.is_parameter)
          entries.insert(torch_type(*find_type(type)) + ": \"" + type + "\"");
    return "_TYPE_NAMES = {" + join({entries.begin(), entries.end()}) + "}\n\n\n";
  }

  const Signature &s_;
  const BindingInput &input_;
};

} // namespace

std::string module_text(const BindingInput &input) { return Module(input).text(); }

} // namespace kgen::torch_binding
