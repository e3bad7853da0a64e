// NAME_jax.py: the rules of custom_vjp, by the backward kernel where there is one.
#include <algorithm>
#include <cctype>

#include "emit/bindings/jax.h"
#include "emit/bindings/python.h"
#include "support/text.h"

namespace kgen {
namespace {

using Array = SignatureArray;

const Array *array_named(const Signature &s, const std::string &name) {
  const auto it = std::ranges::find(s.arrays, name, &Array::name);
  return it == s.arrays.end() ? nullptr : &*it;
}

// x of d_x, d2_x, ...; empty where the name is no gradient's.
std::string of_gradient(const std::string &name) {
  const size_t bar = name.find('_');
  const bool is_one = bar != std::string::npos && name[0] == 'd' &&
                      std::all_of(name.begin() + 1, name.begin() + static_cast<std::ptrdiff_t>(bar),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  return is_one ? name.substr(bar + 1) : "";
}

// Does each argument and output have the meaning that `kgen grad` gives it by its name? A spec that is called
// NAME_backward may be anything.
bool is_gradient_of(const Signature &forward, const Signature &backward) {
  const auto is_known = [&](const Array &a) {
    const Array *same = array_named(forward, a.name), *other = array_named(forward, of_gradient(a.name));
    return a.is_argument() ? same != nullptr || (other != nullptr && !other->is_argument())
                           : other != nullptr && other->is_argument();
  };
  const auto is_named = [](const auto &list, const auto &one) {
    return std::ranges::any_of(list, [&](const auto &other) { return other.name == one.name; });
  };
  return std::ranges::all_of(backward.arrays, is_known) &&
         std::ranges::all_of(backward.scalars, [&](const auto &one) { return is_named(forward.scalars, one); }) &&
         std::ranges::all_of(backward.choices, [&](const auto &one) { return is_named(forward.choices, one); }) &&
         std::ranges::all_of(backward.sizes,
                             [&](const auto &one) { return one.array >= 0 || is_named(forward.sizes, one); });
}

class Rules {
public:
  // `keeping` is the forward kernel, or the one that gives more for the backward kernel.
  Rules(const Spec &spec, const Signature &forward, const Signature &keeping, const Signature &backward)
      : spec_(spec), f_(forward), k_(keeping), b_(backward) {
    for (const Array &a : b_.arrays)
      if (a.is_argument() && array_named(k_, a.name) != nullptr)
        saved_.push_back(array_named(k_, a.name)->parameter);
  }

  std::string text() {
    const std::string returned = "return " + python_tuple(of_inputs());
    add("arrays, variable = _differentiated(primals)");
    unpack(inputs(), "arrays");
    const bool keeps = &k_ != &f_;
    if (keeps)
      call(k_, "results");
    else
      add("results = _apply(call, *arrays)");
    unpack(saved_outputs(), "results");
    add("return results" + (keeps ? "[:" + std::to_string(f_.outputs().size()) + "]" : "") + ", (variable, " +
        python_tuple(saved_) + ")");
    if (keeps)
      find_choices();
    const std::string forward = indented(join(std::exchange(lines_, {}), "\n"));
    add("variable, " + python_tuple(saved_) + " = saved");
    unpack(gradients(), "gradients");
    refuse();
    name_zeros();
    std::vector<std::string> results;
    for (const int i : b_.outputs())
      results.push_back(b_.arrays[static_cast<size_t>(i)].parameter);
    call(b_, join(results, ", "));
    add(returned);
    find_choices();
    return "def _forward(call, *primals):\n" + forward + "\n\n\ndef _backward(call, saved, gradients):\n" +
           indented(join(lines_, "\n")) + "\n";
  }

private:
  void add(const std::string &line) { lines_.push_back(line); }
  static std::string unpacked(const std::vector<std::string> &names) {
    return names.size() == 1 ? python_tuple(names) : join(names, ", ");
  }
  void unpack(const std::vector<std::string> &names, const std::string &value) {
    if (!names.empty())
      add(unpacked(names) + " = " + value);
  }

  std::vector<std::string> inputs() const {
    std::vector<std::string> out;
    for (const Array &a : f_.arrays)
      if (a.is_argument())
        out.push_back(a.parameter);
    return out;
  }

  // All outputs, if the backward kernel reads one.
  std::vector<std::string> saved_outputs() const {
    std::vector<std::string> out;
    bool any = false;
    for (const int i : k_.outputs()) {
      out.push_back(k_.arrays[static_cast<size_t>(i)].parameter);
      any = any || std::ranges::find(saved_, out.back()) != saved_.end();
    }
    return any ? out : std::vector<std::string>();
  }

  std::vector<std::string> gradients() const {
    std::vector<std::string> out;
    for (const int i : f_.outputs()) {
      const Array *gradient = gradient_of(f_.arrays[static_cast<size_t>(i)], true);
      out.push_back(gradient != nullptr ? gradient->parameter : is_real(i) ? not_taken(i) : "_");
    }
    return out;
  }

  // Gradients that the backward kernel knows nothing of are not 0.
  void refuse() {
    int place = 0;
    for (size_t i = 0; i < f_.arrays.size(); ++i) {
      const Array &a = f_.arrays[i];
      const bool is_missing =
          is_real(static_cast<int>(i)) && a.role != Array::Role::table && gradient_of(a, !a.is_argument()) == nullptr;
      if (is_missing)
        raise_if(a.is_argument()
                     ? "variable[" + std::to_string(place) + "]"
                     : "not isinstance(" + not_taken(static_cast<int>(i)) + ", jax.custom_derivatives.SymbolicZero)",
                 b_.kernel + (a.is_argument() ? " gives" : " takes") + " no gradient of " + a.name);
      place += a.is_argument() ? 1 : 0;
    }
  }
  void raise_if(const std::string &condition, const std::string &message) {
    add("if " + condition + ":");
    add("    raise NotImplementedError(\"" + message + "\")");
  }
  bool is_real(int array) const {
    return std::ranges::any_of(
        f_.functions, [&](const CFunction &f) { return is_floating(f.array_types[static_cast<size_t>(array)]); });
  }
  std::string not_taken(int output) const { return "_d_" + f_.arrays[static_cast<size_t>(output)].name; }

  // An output that nothing depends on has a gradient without an array.
  void name_zeros() {
    for (const int i : f_.outputs())
      if (const Array *gradient = gradient_of(f_.arrays[static_cast<size_t>(i)], true))
        add(gradient->parameter + " = _gradient(" + gradient->parameter + (gradient->optional ? ", or_none=True" : "") +
            ")");
  }

  // The backward kernel's argument that is an output's gradient, or its output that is an input's.
  const Array *gradient_of(const Array &array, bool is_argument) const {
    const auto is_it = [&](const Array &a) {
      return a.is_argument() == is_argument && of_gradient(a.name) == array.name &&
             !(is_argument && array_named(f_, a.name) != nullptr);
    };
    const auto it = std::ranges::find_if(b_.arrays, is_it);
    return it == b_.arrays.end() ? nullptr : &*it;
  }

  std::vector<std::string> choice_names() const {
    std::vector<std::string> names;
    for (const ChoiceParameter &c : f_.choices)
      names.push_back(c.parameter);
    if (has_real(spec_, f_))
      names.emplace_back(kRealType);
    return names;
  }
  // What the lines so far need to know of the choices of this call.
  void find_choices() {
    const std::string text = join(lines_, "\n");
    if (text.find("_cast(") != std::string::npos || std::ranges::any_of(f_.choices, [&](const ChoiceParameter &c) {
          return text.find(c.parameter + "=" + c.parameter) != std::string::npos;
        }))
      lines_.insert(lines_.begin(), unpacked(choice_names()) + " = _FUNCTIONS[call.function]");
  }

  // Of another kernel's function.
  void call(const Signature &other, const std::string &results) {
    std::vector<std::string> arguments;
    for (const SignatureParameter &p : other.parameters)
      arguments.push_back(argument(other, p));
    if (&other == &b_ && has_optional_outputs(b_))
      arguments.push_back("_wanted=" + wanted());
    const std::string name = &other == &b_ ? "backward" : "forward";
    add(name + " = _sibling(\"" + other.kernel + "_jax\")." + other.function);
    for (std::string &line : wrapped(results + " = " + name + "(", arguments, ")"))
      lines_.push_back(std::move(line));
  }

  // Which gradients are asked for, in the order of the backward kernel's outputs.
  std::string wanted() const {
    std::vector<std::string> out;
    const std::vector<std::string> all = inputs();
    for (const int i : b_.outputs()) {
      const auto at = std::ranges::find(all, parameter_of(of_gradient(b_.arrays[static_cast<size_t>(i)].name)));
      out.push_back("variable[" + std::to_string(at - all.begin()) + "]");
    }
    return python_tuple(out);
  }
  std::string parameter_of(const std::string &name) const {
    const Array *array = array_named(k_, name);
    return array == nullptr ? name : array->parameter;
  }

  std::string argument(const Signature &s, const SignatureParameter &p) const {
    using Kind = SignatureParameter::Kind;
    const auto at = static_cast<size_t>(p.index);
    switch (p.kind) {
    case Kind::array:
      return parameter_of(s.arrays[at].name) == s.arrays[at].name ? s.arrays[at].parameter
                                                                  : parameter_of(s.arrays[at].name);
    case Kind::scalar:
      return "call.attribute(\"" + s.scalars[at].name + "\")";
    case Kind::choice:
      return s.choices[at].parameter + "=" + s.choices[at].parameter;
    case Kind::size:
      break;
    }
    return s.sizes[at].parameter + "=call.attribute(\"" + s.sizes[at].name + "\")";
  }

  std::vector<std::string> of_inputs() const {
    std::vector<std::string> out;
    for (const Array &a : f_.arrays)
      if (a.is_argument())
        out.push_back(of_input(a));
    return out;
  }

  // Sums in `real` become the type of the input.
  std::string of_input(const Array &a) const {
    const Array *gradient = gradient_of(a, false);
    if (gradient == nullptr)
      return "None";
    const bool is_as_input =
        a.element.kind != ElementType::Kind::parameter || gradient->element.kind == ElementType::Kind::parameter;
    if (is_as_input)
      return gradient->parameter;
    return "_cast(" + gradient->parameter + ", " + f_.choices[static_cast<size_t>(a.element.choice)].parameter + ")";
  }

  const Spec &spec_;
  const Signature &f_, &k_, &b_;
  std::vector<std::string> saved_;
  std::vector<std::string> lines_;
};

} // namespace

std::string jax_gradient(const BindingInput &input) {
  const Signature &forward = input.signature, &keeping = input.forward != nullptr ? *input.forward : forward;
  if (input.backward != nullptr && is_gradient_of(keeping, *input.backward))
    return Rules(input.spec, forward, keeping, *input.backward).text();
  return "def _forward(call, *arrays):\n    raise NotImplementedError(\n        \"" + forward.kernel +
         " has no gradient: write " + forward.kernel + "_backward.toml with `kgen grad " + forward.file_name +
         "`\"\n        \" beside it, and run kgen again; " + std::string(kOfLoaded) +
         "\"\n    )\n\n\ndef _backward(call, saved, gradients):\n"
         "    raise AssertionError(\"_forward has raised\")\n";
}

} // namespace kgen
