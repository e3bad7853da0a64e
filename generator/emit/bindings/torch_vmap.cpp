// The section of NAME_torch.py that says what vmap does.
#include <algorithm>
#include <functional>

#include "emit/bindings/torch.h"

namespace kgen::torch_binding {
namespace {

using Kind = SignatureParameter::Kind;

class Vmap {
public:
  explicit Vmap(const BindingInput &input) : s_(input.signature), input_(input) {}

  std::string text() const {
    return "@torch.library.register_vmap(\"" + input_.options.bind_namespace + "::" + s_.function +
           "\")\n"
           "def _vmap(info, in_dims, *arguments, **keywords):\n"
           "    batched = [i for i, dim in enumerate(in_dims) if dim is not None]\n"
           "    arguments = [a if dim is None else a.movedim(dim, 0) for a, dim in zip(arguments, in_dims)]\n" +
           folded() + passed_on() + sliced() + "\n\n";
  }

private:
  std::vector<std::string> places(const std::function<bool(const SignatureArray &)> &which) const {
    std::vector<std::string> out;
    int place = 0;
    for (const SignatureParameter &p : s_.parameters) {
      if (p.kind == Kind::array && which(s_.arrays[p.index]))
        out.push_back(std::to_string(place));
      ++place;
    }
    return out;
  }
  std::string out_dims() const {
    return s_.outputs().size() == 1 ? "0" : "(0,) * " + std::to_string(s_.outputs().size());
  }
  // An expression for what one call gives, for each of its results.
  std::string for_each_result(const std::string &result, const std::string &then) const {
    if (s_.outputs().size() == 1)
      return result + then;
    const std::string one = has_optional_outputs(s_) ? "None if r is None else r" : "r";
    return "tuple(" + one + then + " for r in " + result + ")";
  }

  // One more dimension of a leading `...`.
  std::string folded() const {
    const std::vector<int> outputs = s_.outputs();
    if (!std::ranges::all_of(outputs, [&](int o) { return s_.arrays[o].rest == 0; }))
      return "";
    const std::vector<std::string> leading = places([](const SignatureArray &a) { return a.rest == 0; });
    if (leading.empty())
      return "";
    std::string out = "    leading = " + tuple_text(leading) +
                      "  # arguments that begin with `...`, which the dimension joins\n"
                      "    if all(i in leading for i in batched):\n";
    if (leading.size() > 1)
      out += "        for i in leading:\n"
             "            if i < len(arguments) and i not in batched and arguments[i] is not None:\n"
             "                arguments[i] = arguments[i].expand(info.batch_size, *arguments[i].shape)\n";
    return out + "        return _operator(*arguments, **keywords), " + out_dims() + "\n";
  }

  // The dimension joins the one that the spec's own batch adds.
  std::string passed_on() const {
    if (input_.spec.batch.size() != 1)
      return "";
    const std::vector<std::string> &set = input_.spec.batch[0].operands;
    const std::vector<std::string> in_batch =
        places([&](const SignatureArray &a) { return std::find(set.begin(), set.end(), a.name) != set.end(); });
    if (in_batch.empty())
      return "";
    return "    if batched == [" + join(in_batch) + "]:  # the dimension joins that of batch." +
           input_.spec.batch[0].axis + "\n        sizes = (info.batch_size, arguments[" + in_batch[0] +
           "].shape[1])\n"
           "        arguments = [a.flatten(0, 1) if i in batched else a for i, a in enumerate(arguments)]\n"
           "        result = _operator(*arguments, **keywords)\n"
           "        return " +
           for_each_result("result", ".unflatten(0, sizes)") + ", " + out_dims() + "\n";
  }

  std::string sliced() const {
    std::string out = "    if info.batch_size == 0:\n"
                      "        return _no_slices(batched, arguments, keywords), " +
                      out_dims() +
                      "\n"
                      "    slices = [\n"
                      "        _operator(*(a[k] if i in batched else a for i, a in enumerate(arguments)), **keywords)\n"
                      "        for k in range(info.batch_size)\n"
                      "    ]\n";
    if (s_.outputs().size() == 1)
      return out + "    return torch.stack(slices), 0\n";
    return out + "    return tuple(" + (has_optional_outputs(s_) ? "None if r[0] is None else " : "") +
           "torch.stack(r) for r in zip(*slices)), " + out_dims() + "\n";
  }

  const Signature &s_;
  const BindingInput &input_;
};

} // namespace

std::string vmap_text(const BindingInput &input) {
  return has_array_arguments(input.signature) ? Vmap(input).text() : "";
}

} // namespace kgen::torch_binding
