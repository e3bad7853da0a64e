// The NumPy binding: one Python module that calls the OpenMP functions by ctypes. What differs between kernels is
// written out, so that a call does no more than one written by hand.
#include <algorithm>
#include <set>

#include "emit/bindings/bindings.h"
#include "emit/bindings/python.h"
#include "emit/bindings/size_text.h"
#include "support/check.h"
#include "support/text.h"

namespace kgen {
namespace {

std::string dtype_name(Type type) { return "_" + numpy_type(type); }

std::string ctypes_name(Type type) {
  switch (type) {
  case Type::f64:
    return "ctypes.c_double";
  case Type::f32:
  case Type::f16:
  case Type::bf16:
    return "ctypes.c_float";
  case Type::boolean:
    return "ctypes.c_bool";
  default:
    return "ctypes.c_" + numpy_type(type);
  }
}

class NumpyWriter {
public:
  explicit NumpyWriter(const Signature &s) : s_(s), names_(s) {}

  std::vector<std::string> body() {
    for (const SignatureArray &a : s_.arrays)
      if (a.is_argument())
        convert(a);
    choose_function();
    for (const SignatureParameter &p : s_.parameters)
      if (p.kind == SignatureParameter::Kind::size)
        add(s_.sizes[p.index].parameter + " = _size(" + s_.sizes[p.index].parameter + ", \"" +
            s_.sizes[p.index].parameter + "\")");
    for_arrays([&](const SignatureArray &a) { check_type_and_rank(a); });
    find_sizes();
    for (size_t a = 0; a < s_.arrays.size(); ++a)
      if (s_.arrays[a].is_argument())
        check_extents(static_cast<int>(a));
    make_outputs();
    for_arrays([&](const SignatureArray &a) { lay_out(a); }, true);
    call();
    return std::move(lines_);
  }

  // The functions by what chooses them; or the only one.
  std::string table() {
    const std::string arguments = shared_arguments();
    if (key_parts().empty())
      return arguments + "_call = " + function_text(s_.functions[0]) + "\n";
    std::string out = arguments + "# By what chooses them: " + join(key_names(), ", ") + ".\n_FUNCTIONS = {\n";
    std::set<std::string> seen;
    for (const CFunction &f : s_.functions)
      for (const std::string &key : keys_of(f))
        if (seen.insert(key).second)
          out += join(wrapped("    " + key + ": (", entry_of(f), "),"), "\n") + "\n";
    return out + "}\n" + chosen_by();
  }

private:
  void add(const std::string &line) { lines_.push_back(line); }
  // Adds the lines under `condition`, or as they are.
  template <class Do> void under(const std::string &condition, Do act) {
    const size_t before = lines_.size();
    act();
    if (condition.empty() || lines_.size() == before)
      return;
    for (size_t i = before; i < lines_.size(); ++i)
      lines_[i] = "    " + lines_[i];
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(before), "if " + condition + ":");
  }
  void raise_if(const std::string &condition, const std::string &what) {
    add("if " + condition + ":");
    add("    raise " + what);
  }

  template <class Do> void for_arrays(Do act, bool outputs_too = false) {
    for (const SignatureArray &a : s_.arrays)
      if (a.is_argument() || outputs_too)
        under(a.optional ? a.parameter + " is not None" : "", [&] { act(a); });
  }

  void convert(const SignatureArray &a) {
    add("if " + std::string(a.optional ? a.parameter + " is not None and " : "") + "type(" + a.parameter +
        ") is not np.ndarray:");
    add("    " + a.parameter + " = _array(" + a.parameter + ", \"" + a.parameter + "\")");
  }

  // What arrays and callers tell: the dtype of one array for each type, and choices.
  struct KeyPart {
    int choice;
    std::string expression, name;
  };
  std::vector<KeyPart> parts() const {
    std::vector<KeyPart> out;
    for (size_t c = 0; c < s_.choices.size(); ++c) {
      const auto told = std::ranges::find_if(
          s_.arrays, [&](const SignatureArray &a) { return tells(a) && a.element.choice == static_cast<int>(c); });
      if (s_.choices[c].is_parameter)
        out.push_back({static_cast<int>(c), s_.choices[c].parameter, s_.choices[c].parameter});
      else if (told != s_.arrays.end() && s_.functions.size() > 1)
        out.push_back({static_cast<int>(c), told->parameter + ".dtype", "the type of " + told->parameter});
    }
    return out;
  }
  static bool tells(const SignatureArray &a) {
    return a.is_argument() && !a.optional && a.element.kind == ElementType::Kind::parameter;
  }
  std::vector<std::string> key_parts() const {
    std::vector<std::string> out;
    for (const KeyPart &part : parts())
      out.push_back(part.expression);
    return out;
  }
  std::vector<std::string> key_names() const {
    std::vector<std::string> out;
    for (const KeyPart &part : parts())
      out.push_back(part.name);
    return out;
  }

  // Where the first choice does not always fit, None stands for the first that does.
  std::vector<std::string> keys_of(const CFunction &f) const {
    std::vector<std::vector<std::string>> keys = {{}};
    for (const KeyPart &part : parts()) {
      const ChoiceParameter &c = s_.choices[part.choice];
      std::vector<std::string> values = {c.is_parameter ? "\"" + f.choices[part.choice] + "\""
                                                        : dtype_name(*find_type(f.choices[part.choice]))};
      if (c.is_parameter && !c.first_always_fits)
        values.emplace_back("None");
      std::vector<std::vector<std::string>> longer;
      for (const auto &key : keys)
        for (const std::string &value : values) {
          longer.push_back(key);
          longer.back().push_back(value);
        }
      keys = std::move(longer);
    }
    std::vector<std::string> out;
    for (const auto &key : keys)
      out.push_back(key.size() == 1 ? key[0] : "(" + join(key, ", ") + ")");
    return out;
  }

  // Types that arrays are compared with, or outputs made of: `_T`, `_real`.
  std::vector<std::string> type_variables() const {
    std::vector<std::string> out;
    for (size_t c = 0; c < s_.choices.size(); ++c)
      if (s_.choices[c].is_type && needs_type(static_cast<int>(c)))
        out.push_back("_" + s_.choices[c].name);
    if (std::ranges::any_of(s_.arrays, [](const auto &a) { return a.element.kind == ElementType::Kind::real; }))
      out.emplace_back("_real");
    return out;
  }
  bool needs_type(int choice) const {
    return std::ranges::count_if(s_.arrays, [&](const SignatureArray &a) {
             return a.element.kind == ElementType::Kind::parameter && a.element.choice == choice;
           }) > (key_array(choice) == nullptr ? 0 : 1);
  }
  const SignatureArray *key_array(int choice) const {
    if (s_.choices[choice].is_parameter || s_.functions.size() == 1)
      return nullptr;
    const auto it = std::ranges::find_if(
        s_.arrays, [&](const SignatureArray &a) { return tells(a) && a.element.choice == choice; });
    return it == s_.arrays.end() ? nullptr : &*it;
  }
  std::vector<std::string> entry_of(const CFunction &f) const {
    std::vector<std::string> out = {function_text(f)};
    for (size_t c = 0; c < s_.choices.size(); ++c)
      if (s_.choices[c].is_type && needs_type(static_cast<int>(c)))
        out.push_back(dtype_name(*find_type(f.choices[c])));
    for (size_t a = 0; a < s_.arrays.size(); ++a)
      if (s_.arrays[a].element.kind == ElementType::Kind::real) {
        out.push_back(dtype_name(f.array_types[a]));
        break;
      }
    if (out.size() == 1)
      out[0] += ","; // a tuple all the same
    return out;
  }

  std::vector<std::string> argument_types(const CFunction &f) const {
    std::vector<std::string> types;
    for (const CArgument &a : s_.c_arguments)
      types.push_back(a.kind == CArgument::Kind::array    ? "_pointer"
                      : a.kind == CArgument::Kind::scalar ? ctypes_name(f.scalar_types[a.index])
                                                          : "_count");
    if (f.openmp_workspace)
      types.insert(types.end(), {"_pointer", "_count"});
    return types;
  }
  // Of all functions, where they are the same.
  std::string shared_arguments() const {
    const std::vector<std::string> types = argument_types(s_.functions[0]);
    if (std::ranges::any_of(s_.functions, [&](const CFunction &f) { return argument_types(f) != types; }))
      return "";
    return join(wrapped("_ARGUMENTS = [", types, "]"), "\n") + "\n";
  }
  std::string function_text(const CFunction &f) const {
    return "_function(\"" + f.stem + "_openmp\", " +
           (shared_arguments().empty() ? "[" + join(argument_types(f), ", ") + "]" : "_ARGUMENTS") + ")";
  }

  std::string chosen_by() const {
    std::string out = "_CHOSEN_BY = [\n";
    for (const KeyPart &part : parts()) {
      const ChoiceParameter &c = s_.choices[part.choice];
      std::vector<std::string> values;
      for (const std::string &value : c.choices)
        values.push_back(c.is_parameter ? "\"" + value + "\"" : dtype_name(*find_type(value)));
      out += "    (\"" + part.name + "\", [" + join(values, ", ") + "]),\n";
    }
    return out + "]\n";
  }

  void choose_function() {
    const std::vector<std::string> key = key_parts();
    if (key.empty())
      return;
    std::vector<std::string> got = {"_call"};
    for (const std::string &name : type_variables())
      got.push_back(name);
    const std::string left = join(got, ", ") + (got.size() == 1 ? ", = " : " = ");
    add("try:");
    add("    " + left + "_FUNCTIONS[" + join(key, ", ") + "]");
    add("except (KeyError, TypeError):");
    add("    " + left + "_choose(" + join(key, ", ") + ")");
    for (const ChoiceParameter &c : s_.choices)
      if (c.is_number && is_mentioned(c.name))
        add(c.parameter + " = int(" + c.parameter + ")");
  }
  bool is_mentioned(const std::string &param) const {
    return std::ranges::any_of(s_.arrays, [&](const SignatureArray &a) {
      return std::ranges::any_of(a.dims, [&](const Size &d) { return mentions(d, Size::Op::param, param); });
    });
  }

  // What stands for the type of an array's elements.
  std::string dtype_of(const SignatureArray &a) const {
    const size_t index = static_cast<size_t>(&a - s_.arrays.data());
    if (key_parts().empty() || a.element.kind == ElementType::Kind::fixed)
      return dtype_name(s_.functions[0].array_types[index]);
    if (a.element.kind == ElementType::Kind::real)
      return "_real";
    return "_" + s_.choices[a.element.choice].name;
  }

  void check_type_and_rank(const SignatureArray &a) {
    const bool is_key =
        !key_parts().empty() && a.element.kind == ElementType::Kind::parameter && key_array(a.element.choice) == &a;
    if (!is_key)
      raise_if(a.parameter + ".dtype != " + dtype_of(a),
               "_wrong_type(\"" + a.parameter + "\", " + a.parameter + ", " + dtype_of(a) + ")");
    const size_t least = a.dims.size() - (a.rest < 0 ? 0 : 1);
    if (a.rest >= 0 && least == 0)
      return;
    raise_if(a.parameter + ".ndim " + (a.rest < 0 ? "!= " : "< ") + std::to_string(least),
             "_wrong_rank(\"" + a.parameter + "\", " + a.parameter + ", \"" + names_.brackets(a) + "\")");
  }

  void find_sizes() {
    const SignatureSize *rows = s_.find_size(std::string(kRestAxis));
    for (const SignatureArray &a : s_.arrays)
      if (const std::vector<std::string> names = sizes_of_shape(a); names.size() > 1)
        add(join(names, ", ") + " = " + a.parameter + ".shape");
    for (const int i : s_.size_order) {
      const SignatureSize &size = s_.sizes[i];
      if (sizes_of_shape(s_.arrays[size.array]).size() > 1)
        continue;
      if (&size == rows)
        add("_rest = " + names_.rest_of(s_.arrays[size.array]));
      add(size.parameter + " = " + (&size == rows ? "math.prod(_rest)" : names_.python(size.value)));
    }
    if (rows != nullptr && rows->array < 0)
      add("_rest = (" + rows->parameter + ",)");
  }

  // The sizes that are the shape of the array, if each of its dimensions gives one.
  std::vector<std::string> sizes_of_shape(const SignatureArray &a) const {
    std::vector<std::string> out;
    for (size_t d = 0; d < a.dims.size() && a.rest < 0; ++d)
      for (const SignatureSize &size : s_.sizes)
        if (size.array >= 0 && &s_.arrays[size.array] == &a && size.dim == static_cast<int>(d) &&
            size.value == extent_of(a, d))
          out.push_back(size.parameter);
    return out.size() == a.dims.size() ? out : std::vector<std::string>();
  }

  void check_extents(int array) {
    const SignatureArray &a = s_.arrays[array];
    under(a.optional ? a.parameter + " is not None" : "", [&] {
      for (const ExtentCheck &check : s_.checks)
        if (check.array == array)
          check_extent(a, check);
    });
  }

  void check_extent(const SignatureArray &a, const ExtentCheck &check) {
    std::vector<std::string> by;
    for (const int other : check.given_by)
      by.push_back(s_.arrays[other].parameter);
    if (check.dim == a.rest) {
      const std::string have = names_.rest_of(a);
      return raise_if(have + " != _rest",
                      "_other_rest(\"" + a.parameter + "\", " + have + ", _rest, \"" + join(by, ", ") + "\")");
    }
    const bool is_name = check.expected.args.empty();
    const std::string expected = names_.python(check.expected), at = names_.place(a, check.dim);
    raise_if(a.parameter + ".shape[" + at + "] != " + (is_name ? expected : "(_n := " + expected + ")"),
             "_mismatch(\"" + a.parameter + "\", " + at + ", " + a.parameter + ", \"" + to_string(check.expected) +
                 "\", " + (is_name ? expected : "_n") + ", \"" + join(by, ", ") + "\")");
  }

  void make_outputs() {
    const std::vector<int> outputs = s_.outputs();
    add("if out is None:");
    for (const int o : outputs)
      add("    " + s_.arrays[o].parameter + " = " + made(s_.arrays[o]));
    add("else:");
    std::vector<std::string> names;
    for (const int o : outputs)
      names.push_back(s_.arrays[o].parameter);
    if (outputs.size() > 1)
      add("    " + join(names, ", ") + " = _outputs(out, (\"" + join(names, "\", \"") + "\"))");
    for (const int o : outputs)
      take_output(s_.arrays[o], outputs.size() == 1 ? "out" : s_.arrays[o].parameter);
    keep_apart();
  }

  static std::string own_entry(const SignatureArray &a) { return "\"" + a.parameter + "\": " + a.parameter; }

  // What an output is not given as its input is computed elsewhere and copied when all went well. The C function then
  // does not see where it goes.
  void keep_apart() {
    std::vector<std::string> elsewhere, inputs, outputs, aliases;
    for (const SignatureArray &a : s_.arrays) {
      (a.is_argument() ? inputs : outputs).push_back(own_entry(a));
      if (!a.in_place())
        continue;
      elsewhere.push_back(a.parameter + " is not " + s_.arrays[a.alias].parameter);
      aliases.push_back("\"" + a.parameter + "\": \"" + s_.arrays[a.alias].parameter + "\"");
    }
    if (elsewhere.empty())
      return;
    add("    if " + join(elsewhere, " or ") + ":");
    add("        _apart({" + join(outputs, ", ") + "}, {" + join(inputs, ", ") + "}, {" + join(aliases, ", ") + "})");
    for (const SignatureArray &a : s_.arrays)
      if (a.in_place())
        add(memory_of(a) + " = " + a.parameter + " if out is None or " +
            (a.optional ? a.parameter + " is None or " : "") + a.parameter + " is " + s_.arrays[a.alias].parameter +
            " else " + s_.arrays[a.alias].parameter + ".copy()");
  }

  // Where the C function finds an array.
  static std::string memory_of(const SignatureArray &a) { return (a.in_place() ? "_memory_of_" : "") + a.parameter; }

  std::string made(const SignatureArray &a) const {
    if (a.in_place())
      return s_.arrays[a.alias].parameter + ".copy()";
    const bool may_fail =
        std::ranges::any_of(a.dims, [&](const Size &d) { return may_fall_below_zero(d) || is_given_by_callers(d); });
    if (may_fail)
      return "_empty(\"" + a.parameter + "\", " + names_.shape(a) + ", " + dtype_of(a) +
             (a.partial ? ", np.zeros)" : ")");
    return std::string(a.partial ? "np.zeros(" : "np.empty(") + names_.shape(a) + ", " + dtype_of(a) + ")";
  }

  bool is_given_by_callers(const Size &size) const {
    return any_node(size, [&](const Size &s) {
      const SignatureSize *found = s.op == Size::Op::axis ? s_.find_size(s.name) : nullptr;
      return found != nullptr && (found->array < 0 || is_given_by_callers(found->value));
    });
  }

  bool may_fall_below_zero(const Size &size) const {
    return any_node(size, [&](const Size &s) {
      const SignatureSize *found = s.op == Size::Op::axis ? s_.find_size(s.name) : nullptr;
      return s.op == Size::Op::subtract || s.op == Size::Op::negate ||
             (found != nullptr && found->array >= 0 && may_fall_below_zero(found->value));
    });
  }

  void take_output(const SignatureArray &a, const std::string &given) {
    const std::string taken = a.parameter + " = _output(" + given + ", \"" + a.parameter + "\", " + names_.shape(a) +
                              ", " + dtype_of(a) + (a.strided ? ", strided=True)" : ")");
    if (a.optional) {
      add("    if " + given + " is None:");
      add("        " + a.parameter + " = None");
      add("    else:");
    }
    add(std::string(a.optional ? "        " : "    ") + taken);
  }

  // Dense, or with strides that the C function can take.
  void lay_out(const SignatureArray &a) {
    const std::string name = memory_of(a);
    if (!a.strided && a.is_argument() && a.alias < 0) {
      add("if not " + name + ".flags.c_contiguous:");
      add("    " + name + " = " + name + ".copy()");
    }
    if (!a.strided || (a.is_argument() && a.alias >= 0))
      return;
    add(steps_of(a) + " = " + steps_text(a));
    add("if " + steps_of(a) + " is None:");
    if (!a.is_argument()) {
      add("    raise ValueError(f\"the strides {" + name + ".strides} of " + name + " are none that can be taken\")");
      return;
    }
    add("    " + name + " = " + name + ".copy()");
    add("    " + steps_of(a) + " = " + steps_text(a));
  }
  static std::string steps_of(const SignatureArray &a) { return "_steps_of_" + a.parameter; }
  static std::string steps_text(const SignatureArray &a) {
    const size_t behind = a.dims.size() - static_cast<size_t>(a.rest) - 1;
    return "_steps(" + memory_of(a) +
           (a.rest < 0 ? ")" : ", " + std::to_string(a.rest) + ", " + std::to_string(behind) + ")");
  }

  std::vector<std::string> call_arguments() {
    std::vector<std::string> out;
    for (const CArgument &c : s_.c_arguments)
      switch (c.kind) {
      case CArgument::Kind::array: {
        const SignatureArray &a = s_.arrays[c.index];
        out.push_back((a.optional ? "None if " + a.parameter + " is None else " : "") + "_address(" + memory_of(a) +
                      ")");
        break;
      }
      case CArgument::Kind::scalar:
        out.push_back(scalar_text(s_.scalars[c.index]));
        break;
      case CArgument::Kind::size:
        out.push_back(s_.sizes[c.index].parameter);
        break;
      case CArgument::Kind::stride:
        if (c.dim == 0)
          out.push_back("*" + strides_text(s_.arrays[c.index]));
        break;
      }
    if (s_.functions[0].openmp_workspace)
      out.insert(out.end(), {"None", "0"});
    return out;
  }
  static std::string strides_text(const SignatureArray &a) {
    if (!a.optional)
      return steps_of(a);
    return "((0,) * " + std::to_string(a.dims.size()) + " if " + a.parameter + " is None else " + steps_of(a) + ")";
  }

  std::string scalar_text(const SignatureScalar &scalar) const {
    if (scalar.type == Type::boolean)
      return "_flag(" + scalar.parameter + ", \"" + scalar.parameter + "\")";
    return is_integer(scalar.type)
               ? "_whole(" + scalar.parameter + ", \"" + scalar.parameter + "\", " + dtype_name(scalar.type) + ")"
               : scalar.parameter;
  }

  void call() {
    const bool may_fail = std::ranges::any_of(s_.scalars, [](const auto &a) { return !is_integer(a.type); });
    const std::string indent = may_fail ? "    " : "";
    if (may_fail)
      add("try:");
    for (const std::string &line : wrapped(indent + "_status = _call(", call_arguments(), ")", 112))
      add(line);
    if (may_fail) {
      std::vector<std::string> names;
      for (const CArgument &c : s_.c_arguments)
        names.push_back(c.kind == CArgument::Kind::scalar ? "\"" + s_.scalars[c.index].parameter + "\"" : "None");
      add("except ctypes.ArgumentError as error:");
      for (const std::string &line : wrapped("    raise _wrong_argument(error, [", names, "]) from None", 112))
        add(line);
    }
    add("if _status:");
    add("    raise _failure(_status)");
    for (const SignatureArray &a : s_.arrays)
      if (a.in_place())
        add("if " + memory_of(a) + " is not " + a.parameter + ":\n    np.copyto(" + a.parameter + ", " + memory_of(a) +
            ")");
    std::vector<std::string> outputs;
    for (const int o : s_.outputs())
      outputs.push_back(s_.arrays[o].parameter);
    add("return " + (outputs.size() == 1 ? outputs[0] + " if out is None else out" : join(outputs, ", ")));
  }

  const Signature &s_;
  PythonNames names_;
  std::vector<std::string> lines_;
};

Views dtypes_of(const Signature &s) {
  Views out;
  std::vector<Type> types = types_in(s);
  for (const SignatureScalar &scalar : s.scalars)
    if (is_integer(scalar.type) && std::ranges::count(types, scalar.type) == 0)
      types.push_back(scalar.type);
  for (const Type type : types)
    out.push_back(View()
                      .set("name", dtype_name(type))
                      .set("value", type == Type::bf16 ? "bfloat16" : "\"" + numpy_type(type) + "\""));
  return out;
}

std::string out_text(const Signature &s) {
  const std::vector<int> outputs = s.outputs();
  if (outputs.size() == 1)
    return "out: the array to write to, if there is one already";
  const bool optional = std::ranges::any_of(outputs, [&](int o) { return s.arrays[o].optional; });
  return std::string("out: the arrays to write to, if there are some already") +
         (optional ? "; None for what is optional: it is not computed" : "");
}

} // namespace

std::vector<EmittedFile> numpy_files(const BindingInput &input) {
  const Signature &s = input.signature;
  NumpyWriter writer(s);
  const std::string body = join(writer.body(), "\n"), table = writer.table();
  const std::string helpers = python_helpers(input.templates, "bindings/numpy_helpers.py", table + body);
  std::string imports = "import ctypes\n";
  for (const char *name : {"math", "operator"})
    if ((body + helpers).find(name + std::string(".")) != std::string::npos)
      imports += std::string("import ") + name + "\n";
  View view;
  view.set("banner", python_banner(input.spec)).set("kernel", s.kernel).set("function", s.function);
  view.set("imports", imports).set("signature", python_signature(s, "out=None"));
  view.set("doc", std::string(trim(indented(python_doc(s, {out_text(s)}))))).set("body", indented(body));
  view.set("bf16", std::ranges::count(types_in(s), Type::bf16) != 0).set("dtypes", dtypes_of(s));
  view.set("table", table).set("helpers", helpers);
  return {{s.kernel + "_numpy.py", input.templates.render("bindings/numpy.py", view)}};
}

} // namespace kgen
