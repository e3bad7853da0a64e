// The function as a kernel of its own, whose gradient by one input is taken with 1 for that of the output.
#include "grad/functions.h"

#include <algorithm>
#include <map>

#include "body/body.h"
#include "body/definitions.h"
#include "body/library.h"
#include "grad/program.h"
#include "grad/rules.h"
#include "support/text.h"

namespace kgen::grad {
namespace {

constexpr const char *kAxis = "E", *kResult = "result";

std::vector<std::string> numbered(size_t count) {
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(count == 1 ? "v" : "v" + std::to_string(i));
  return out;
}

Spec spec_of(const Spec &spec, const std::string &function, const std::vector<std::string> &parameters) {
  Spec out = spec;
  out.operands.clear(), out.tables.clear(), out.grid.clear(), out.batch.clear(), out.scalars.clear();
  out.axes.clear(), out.schedule.clear(), out.pins.clear();
  out.axis_order = {kAxis};
  for (size_t i = 0; i <= parameters.size(); ++i) {
    OperandDecl operand;
    operand.name = i < parameters.size() ? parameters[i] : kResult;
    operand.role = i < parameters.size() ? Role::input : Role::output;
    DimDecl dim;
    dim.axes = {kAxis};
    operand.dims = {dim};
    operand.place = spec.kernel_place;
    out.operands.push_back(operand);
  }
  for (size_t i = 0; i < out.operands.size(); ++i)
    out.arguments.push_back({ArgumentRef::Kind::operand, static_cast<int>(i)});
  out.arguments.erase(out.arguments.begin(), out.arguments.end() - static_cast<std::ptrdiff_t>(out.operands.size()));
  out.body.text = std::string(kResult) + " = " + function + "(" + join(parameters, ", ") + ");";
  return out;
}

// Those of the function itself, where the kernel has nothing else by these names.
std::vector<std::string> parameters_of(const Spec &spec, const std::string &function, size_t count) {
  std::vector<std::string> out;
  for (const std::string &text : {body::library_text({function}), std::string(spec.functions.text)})
    for (const body::Definition &f : body::definitions_in(text))
      if (f.name == function && f.parameters.size() >= count) {
        out.clear();
        for (size_t i = 0; i < count; ++i)
          out.push_back(f.parameters[i].name);
      }
  const auto taken = [&](const std::string &name) {
    const auto named = [&](const auto &entry) { return entry.name == name; };
    return name.empty() || name == kResult || name == kAxis ||
           std::any_of(spec.params.begin(), spec.params.end(), named) ||
           std::any_of(spec.types.begin(), spec.types.end(), named);
  };
  return out.size() == count && std::none_of(out.begin(), out.end(), taken) ? out : numbered(count);
}

std::string indented(const std::string &body) {
  std::string out;
  for (const std::string &line : split(body, '\n'))
    if (!line.empty())
      out += "  " + line + "\n";
  return out;
}

std::optional<Kernel> kernel_of(const Spec &spec, const std::string &function,
                                const std::vector<std::string> &parameters, Diagnostics &diags) {
  const Spec alone = spec_of(spec, function, parameters);
  const std::vector<Variant> variants = {variants_of(alone).front()};
  const std::optional<std::vector<body::Body>> bodies = body::parse_body(alone, variants, diags);
  if (!bodies)
    return std::nullopt;
  KeptNames kept{library_rows(), functions_with_derivatives(spec)};
  kept.own.erase(function);
  return build_kernel(alone, variants[0], bodies->front(), diags, &kept);
}

// By the parameter with number `by`.
std::optional<std::string> derivative_function(const Spec &spec, const Kernel &kernel, const std::string &name,
                                               const std::vector<std::string> &parameters, size_t by,
                                               Diagnostics &diags) {
  Trouble trouble;
  Graph graph(kernel.axes, spec.params);
  Trace forward = trace(kernel, {}, graph, {}, trouble);
  ReverseOptions options;
  options.wanted = {parameters[by]};
  options.kept_functions = functions_with_derivatives(spec);
  const Seed one{static_cast<VarId>(parameters.size()), {kNoNode, graph.number(1)}};
  Gradients gradients;
  if (!trouble)
    gradients = reverse(kernel, graph, forward, {one}, options, trouble);
  if (trouble) {
    Diagnostic &d = diags.add(trouble.first->id, trouble.first->place, {});
    d.text = trouble.first->text;
    d.help = trouble.first->help;
    return std::nullopt;
  }
  forward.saved.clear();
  Naming naming;
  naming.taken.insert(parameters.begin(), parameters.end());
  const NodeId value = value_of(graph, gradients.of[parameters[by]].whole);
  const Program program = write_program(spec, graph, forward, gradients, {{"return", {}, value, kNoNode, false}},
                                        naming, widths_of_function(spec));
  if (program.unknown != kNoNode) {
    const Unknown &why = forward.unknown.at(program.unknown);
    diags.add(DiagId::grad_refused, why.place, {why.what}).help = why.help;
    return std::nullopt;
  }
  std::vector<std::string> typed;
  for (const std::string &parameter : parameters)
    typed.push_back("real " + parameter);
  return "real " + name + "(" + join(typed, ", ") + ") {\n" + indented(program.body) + "}\n";
}

} // namespace

std::set<std::string> functions_with_derivatives(const Spec &spec) {
  std::set<std::string> out;
  if (!spec.functions.given())
    return out;
  const std::vector<body::Definition> definitions = body::definitions_in(spec.functions.text);
  for (const body::Definition &derivative : definitions)
    for (const body::Definition &f : definitions)
      if (derivative.name == f.name + "_derivative" || derivative.name.starts_with(f.name + "_derivative_"))
        out.insert(f.name);
  return out;
}

std::optional<std::string> derivative_functions(const Spec &spec, const std::string &function,
                                                const CalledDerivatives &called, Diagnostics &diags) {
  std::map<std::string, std::vector<std::string>> parameters; // of functions that are differentiated
  const auto ending = [&](int argument) { return called.arguments > 1 ? "_" + std::to_string(argument) : ""; };
  std::map<std::string, std::optional<Kernel>> kernels; // of functions that are differentiated
  std::string out;
  for (const std::vector<int> &by : called.by) {
    const bool second = by.size() > 1;
    const std::string of = second ? function + "_derivative" + ending(by[0]) : function;
    const std::string name =
        second ? function + "_second_derivative" + ending(by[0]) + ending(by[1]) : of + "_derivative" + ending(by[0]);
    if (spec.functions.given() && spec.functions.text.find(name + "(") != std::string::npos)
      continue;
    if (kernels.count(of) == 0) {
      parameters[of] = parameters_of(spec, of, called.arguments);
      kernels[of] = kernel_of(spec, of, parameters[of], diags);
    }
    if (!kernels[of])
      return std::nullopt;
    const std::optional<std::string> text =
        derivative_function(spec, *kernels[of], name, parameters[of], static_cast<size_t>(by.back()), diags);
    if (!text)
      return std::nullopt;
    out += (out.empty() ? "" : "\n") + *text;
  }
  return out;
}

} // namespace kgen::grad
