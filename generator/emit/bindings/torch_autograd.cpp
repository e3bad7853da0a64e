// The section of NAME_torch.py that says how gradients are computed.
#include <algorithm>
#include <array>

#include "emit/bindings/size_text.h"
#include "emit/bindings/torch.h"

namespace kgen::torch_binding {
namespace {

using Op = Size::Op;
using Kind = SignatureParameter::Kind;
using Role = SignatureArray::Role;

// What gradients are called in a backward kernel: d_x, d2_x or d3_x.
std::string gradient_of(const Signature &forward, const std::string &name) {
  for (const std::string prefix : {"d_", "d2_", "d3_"})
    if (const std::string of = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
        std::ranges::find(forward.arrays, of, &SignatureArray::name) != forward.arrays.end() ||
        std::ranges::find(forward.scalars, of, &SignatureScalar::name) != forward.scalars.end())
      return of;
  return "";
}

class Autograd {
public:
  Autograd(const BindingInput &input, const Signature &backward)
      : s_(input.signature), b_(backward), op_(input.options.bind_namespace + "::" + input.signature.function) {}

  std::string text() const {
    return setup_context() + "\n\n" + formula() + "\n\ntorch.library.register_autograd(\"" + op_ +
           "\", _backward, setup_context=_setup_context)\n\n\n";
  }

private:
  int place_of(Kind kind, const std::string &name) const {
    int place = 0;
    for (const SignatureParameter &p : s_.parameters) {
      if (p.kind == kind && (kind == Kind::array ? s_.arrays[p.index].name : s_.scalars[p.index].name) == name)
        return place;
      place += p.keyword_only ? 0 : 1;
    }
    return -1;
  }
  int output_place(const std::string &name) const {
    const std::vector<int> outputs = s_.outputs();
    for (size_t i = 0; i < outputs.size(); ++i)
      if (s_.arrays[outputs[i]].name == name)
        return static_cast<int>(i);
    return -1;
  }
  std::string output_value(int place) const {
    return s_.outputs().size() == 1 ? "output" : "output[" + std::to_string(place) + "]";
  }
  // The forward kernel's array, where setup_context finds it.
  std::string value_of(const std::string &name) const {
    const int place = place_of(Kind::array, name);
    return place >= 0 ? "inputs[" + std::to_string(place) + "]" : output_value(output_place(name));
  }

  // Arrays of the backward kernel that are arrays of the forward one.
  std::vector<std::string> saved() const {
    std::vector<std::string> out;
    for (const SignatureParameter &p : b_.parameters)
      if (p.kind == Kind::array && gradient_of(s_, b_.arrays[p.index].name).empty())
        out.push_back(b_.arrays[p.index].name);
    return out;
  }

  // A gradient that is not given must be null for the kernel, or zeros.
  bool materializes() const {
    return gradients_taken() > 1 && std::ranges::any_of(b_.arrays, [&](const SignatureArray &a) {
             return a.is_argument() && !a.optional && !gradient_of(s_, a.name).empty();
           });
  }

  size_t gradients_taken() const {
    const std::vector<int> outputs = s_.outputs();
    return static_cast<size_t>(std::ranges::count_if(
        outputs, [&](int output) { return backward_array(s_.arrays[output].name, false) != nullptr; }));
  }

  std::string setup_context() const {
    const bool keywords =
        has_optional_outputs(s_) || std::ranges::any_of(s_.parameters, &SignatureParameter::keyword_only);
    std::vector<std::string> values;
    for (const std::string &name : saved())
      values.push_back(value_of(name));
    std::string out = std::string("def _setup_context(ctx, inputs, ") + (keywords ? "keyword_only_inputs, " : "") +
                      "output):\n" + lines("    ctx.save_for_backward(", values, ")");
    if (!materializes())
      out += "    ctx.set_materialize_grads(False)\n";
    for (const SignatureParameter &p : b_.parameters)
      if (p.kind != Kind::array)
        out += "    ctx." + attribute(p) + " = " + number(p) + "\n";
    return out;
  }
  std::string attribute(const SignatureParameter &p) const { return "kgen_" + parameter_of(b_, p); }

  // A scalar, size or choice of the backward kernel, from the forward call.
  std::string number(const SignatureParameter &p) const {
    const std::string &name = parameter_of(b_, p);
    for (const SignatureParameter &own : s_.parameters)
      if (own.kind == p.kind && parameter_of(s_, own) == name)
        return own.keyword_only ? "keyword_only_inputs[\"" + name + "\"]"
                                : "inputs[" + std::to_string(place_of(Kind::scalar, s_.scalars[own.index].name)) + "]";
    return p.kind == Kind::size ? size(b_.sizes[p.index].name) : type_name(p);
  }
  std::string size(const std::string &name) const {
    const SignatureSize *size = s_.find_size(name);
    if (size == nullptr)
      return "0";
    return python_size(size->value, [&](const Size &s) {
      return s.op == Op::table
                 ? python_extent(array_named(s_, s.name), static_cast<size_t>(s.args[0].value), value_of(s.name))
                 : this->size(s.name);
    });
  }
  // A type parameter that arrays of the forward kernel tell.
  std::string type_name(const SignatureParameter &p) const {
    const ChoiceParameter &choice = b_.choices[p.index];
    for (const SignatureArray &a : s_.arrays)
      if (a.element.kind == ElementType::Kind::parameter && s_.choices[a.element.choice].name == choice.name)
        return names_of_types(choice) + "[" + value_of(a.name) + ".dtype]";
    return "\"" + choice.choices[0] + "\"";
  }
  static std::string names_of_types(const ChoiceParameter &choice) {
    std::vector<std::string> entries;
    for (const std::string &type : choice.choices)
      entries.push_back(torch_type(*find_type(type)) + ": \"" + type + "\"");
    return "{" + join(entries) + "}";
  }

  std::string formula() const {
    std::string out = "def _backward(ctx, *gradients):\n";
    if (has_optional_outputs(b_) || !inputs_without_gradient().empty()) // torch says nothing of last ones left out
      out += "    needed = (*ctx.needs_input_grad, *(False,) * " + std::to_string(positional()) + ")\n";
    out += refusals();
    std::vector<std::string> names = saved();
    for (std::string &name : names)
      name = python_name(name);
    if (!names.empty())
      out += lines_of_tuple("    ", names, names.size() == 1 ? ", = ctx.saved_tensors" : " = ctx.saved_tensors");
    std::vector<std::string> results;
    for (const int o : b_.outputs())
      results.push_back(python_name(b_.arrays[o].name));
    if (has_optional_outputs(b_))
      out += "    wanted = sum(needed[i] << bit for bit, i in enumerate(" + tuple_text(wanted()) + "))\n";
    const std::string call = lines_of_tuple("    ", results, " = _backward_operator(");
    const size_t last = call.rfind('\n', call.size() - 2) + 1; // 0: there is one line
    return out + call.substr(0, last) + lines(call.substr(last, call.size() - last - 1), arguments(), ")") +
           lines_of_tuple("    return ", gradients_of_inputs(), "");
  }

  // Gradients that the backward kernel knows nothing of.
  std::string refusals() const {
    std::string out;
    const std::vector<int> outputs = s_.outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const SignatureArray *gradient = backward_array(s_.arrays[outputs[i]].name, false);
      const std::string at = "gradients[" + std::to_string(i) + "]";
      if (gradient == nullptr && is_real(outputs[i]))
        out += "    if " + at + " is not None:\n        raise RuntimeError(\"" + b_.kernel + " takes no gradient of " +
               s_.arrays[outputs[i]].name + "\")\n";
      if (gradient != nullptr && !gradient->optional && gradients_taken() == 1)
        out += "    if " + at + " is None:\n        return (None,) * " + std::to_string(positional()) + "\n";
    }
    if (gradients_taken() > 1 && !materializes()) // the operator would have no array that says where it runs
      out += "    if all(gradient is None for gradient in gradients):\n        return (None,) * " +
             std::to_string(positional()) + "\n";
    for (const std::string &name : inputs_without_gradient())
      out += "    if needed[" + std::to_string(place_of(Kind::array, name)) + "]:\n        raise RuntimeError(\"" +
             b_.kernel + " gives no gradient of " + name + "\")\n";
    return out;
  }
  // Floating ones.
  std::vector<std::string> inputs_without_gradient() const {
    std::vector<std::string> out;
    for (const SignatureParameter &p : s_.parameters)
      if (p.kind == Kind::array && is_real(p.index) && s_.arrays[p.index].role == Role::input &&
          backward_array(s_.arrays[p.index].name, true) == nullptr)
        out.push_back(s_.arrays[p.index].name);
    return out;
  }
  bool is_real(int array) const {
    return std::ranges::any_of(s_.functions, [&](const CFunction &f) { return is_floating(f.array_types[array]); });
  }
  int positional() const {
    return static_cast<int>(std::ranges::count(s_.parameters, false, &SignatureParameter::keyword_only));
  }
  // The gradient of a forward array among the backward kernel's arguments or outputs.
  const SignatureArray *backward_array(const std::string &of, bool output) const {
    for (const SignatureArray &a : b_.arrays)
      if ((a.role == Role::output) == output && gradient_of(s_, a.name) == of)
        return &a;
    return nullptr;
  }

  std::vector<std::string> arguments() const {
    std::vector<std::string> out;
    for (const SignatureParameter &p : b_.parameters) {
      const std::string of = p.kind == Kind::array ? gradient_of(s_, b_.arrays[p.index].name) : "";
      if (!of.empty())
        out.push_back("gradients[" + std::to_string(output_place(of)) + "]");
      else if (p.kind == Kind::array)
        out.push_back(python_name(b_.arrays[p.index].name));
      else
        out.push_back((p.keyword_only ? parameter_of(b_, p) + "=" : "") + "ctx." + attribute(p));
    }
    if (has_optional_outputs(b_))
      out.emplace_back("wanted=wanted");
    return out;
  }
  // Forward arguments, by the outputs of the backward kernel that are their gradients.
  std::vector<std::string> wanted() const {
    std::vector<std::string> out;
    for (const int o : b_.outputs()) {
      const std::string of = gradient_of(s_, b_.arrays[o].name);
      out.push_back(std::to_string(std::max(place_of(Kind::array, of), place_of(Kind::scalar, of))));
    }
    return out;
  }
  std::vector<std::string> gradients_of_inputs() const {
    std::vector<std::string> out;
    for (const SignatureParameter &p : s_.parameters) {
      if (p.keyword_only)
        continue;
      const SignatureArray *gradient = p.kind == Kind::array ? backward_array(s_.arrays[p.index].name, true) : nullptr;
      out.push_back(gradient == nullptr ? "None" : python_name(gradient->name));
    }
    return out;
  }

  const Signature &s_;
  const Signature &b_;
  std::string op_;
};

} // namespace

std::vector<std::string> inputs_with_gradient(const Signature &forward, const Signature &backward) {
  std::vector<std::string> out;
  for (const int o : backward.outputs())
    if (const std::string of = gradient_of(forward, backward.arrays[o].name);
        std::ranges::find(forward.arrays, of, &SignatureArray::name) != forward.arrays.end())
      out.push_back(of);
  return out;
}

bool takes_gradient_of(const Signature &backward, const std::string &output) {
  return std::ranges::any_of(backward.arrays, [&](const SignatureArray &a) {
    return a.is_argument() && (a.name == "d_" + output || a.name == "d2_" + output || a.name == "d3_" + output);
  });
}

std::string autograd_text(const BindingInput &input, const Signature *backward) {
  const Signature &s = input.signature;
  if (backward != nullptr)
    return Autograd(input, *backward).text();
  if (!differentiable(s))
    return "";
  const std::string why = input.forward != nullptr ? "the operator " + s.kernel + " keeps too little for gradients; " +
                                                         s.function + "() of " + s.kernel + "_torch keeps more"
                                                   : s.kernel + " has no backward kernel; `kgen grad " + s.file_name +
                                                         "` writes one; \"\n        \"" + std::string(kOfLoaded);
  return "def _backward(ctx, *gradients):\n    raise RuntimeError(\n        \"" + why + "\"\n    )\n\n\n" +
         "torch.library.register_autograd(\"" + input.options.bind_namespace + "::" + s.function +
         "\", _backward)\n\n\n";
}

} // namespace kgen::torch_binding
