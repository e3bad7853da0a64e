// NAME_torch_test.py: small arguments that the kernel takes, and what torch checks with them.
#include <algorithm>

#include "emit/bindings/torch.h"
#include "ir/small_sizes.h"

namespace kgen::torch_binding {
namespace {

using Op = Size::Op;
using Kind = SignatureParameter::Kind;
using Role = SignatureArray::Role;

class Test {
public:
  explicit Test(const BindingInput &input) : s_(input.signature), input_(input) { choose_sizes(); }

  std::string text() const {
    const bool gradients = differentiable(s_);
    View view;
    view.set("banner", python_banner(input_.spec)).set("kernel", s_.kernel).set("function", s_.function);
    view.set("functions", functions()).set("arguments", arguments()).set("keywords", join(keywords()));
    view.set("into_outputs", works_in_place(s_) ? Views{} : Views{into_outputs()});
    view.set("in_place", works_in_place(s_) ? Views{View().set("places", places())} : Views{});
    const std::string batched = batched_places();
    view.set("vmap", batched.empty() ? Views{} : Views{View().set("batched", batched)});
    view.set("gradcheck", gradients && input_.backward != nullptr && input_.forward == nullptr && has_doubles()
                              ? Views{View().set("differentiable", differentiable_places()).set("results", results())}
                              : Views{});
    view.set("no_backward", gradients && input_.backward == nullptr);
    return input_.templates.render("bindings/torch_test.py", view);
  }

private:
  // --- sizes: small unlike ones, others where they give an array no elements or the spec requires it
  void choose_sizes() {
    for (size_t i = 0; i < s_.sizes.size(); ++i)
      sizes_[s_.sizes[i].name] =
          s_.sizes[i].one_of.empty() ? s_.sizes[i].multiple_of * (static_cast<int64_t>(i) + 2) : s_.sizes[i].one_of[0];
    if (!all_have_elements())
      for (const auto &[name, size] : small_sizes(input_.kernel, {}, 2).value_or(AxisSizes()))
        if (sizes_.count(name) != 0)
          sizes_[name] = size;
    sizes_ = required_sizes({&input_.kernel}, sizes_, {}, 1).value_or(sizes_);
  }
  bool all_have_elements() const {
    return std::ranges::all_of(s_.arrays, [&](const SignatureArray &a) {
      return std::ranges::all_of(a.dims, [&](const Size &dim) { return value(dim) > 0; });
    });
  }
  int64_t value(const Size &size) const {
    const auto named = [&](Op op, std::string_view name) -> std::optional<long long> {
      if (op == Op::param)
        return first_choice(std::string(name));
      const auto it = sizes_.find(std::string(name));
      return it == sizes_.end() ? std::nullopt : std::optional<long long>(it->second);
    };
    return evaluate(size, {named, nullptr}).value_or(0);
  }
  std::optional<long long> first_choice(const std::string &name) const {
    for (const ChoiceParameter &choice : s_.choices)
      if (choice.name == name)
        return std::stoll(choice.choices[0]);
    return std::nullopt;
  }

  std::string shape(const SignatureArray &a) const {
    std::vector<std::string> out;
    for (const Size &dim : a.dims)
      out.push_back(std::to_string(value(dim)));
    return tuple_text(out);
  }

  // Those that the sizes are chosen for.
  std::string functions() const {
    std::vector<std::string> conditions;
    const std::vector<int> choices = parameter_choices(s_);
    for (size_t c = 0; c < choices.size(); ++c)
      if (s_.choices[choices[c]].is_number)
        conditions.push_back("row[" + std::to_string(c) + "] == \"" + s_.choices[choices[c]].choices[0] + "\"");
    return conditions.empty() ? "kernel._FUNCTIONS"
                              : "[row for row in kernel._FUNCTIONS if " + join(conditions, " and ") + "]";
  }

  // --- arguments
  Views arguments() const {
    Views out;
    for (const SignatureParameter &p : s_.parameters)
      if (!p.keyword_only)
        out.push_back(View()
                          .set("name", parameter_of(s_, p))
                          .set("text", p.kind == Kind::array ? array(p.index) : scalar(s_.scalars[p.index].type)));
    return out;
  }
  static std::string scalar(Type type) { return is_floating(type) ? "0.5" : type == Type::boolean ? "True" : "1"; }
  std::string array(int a) const {
    if (s_.arrays[a].role == Role::table)
      return table(s_.arrays[a]);
    const std::vector<int> columns = columns_of_arrays(s_);
    const auto at = std::find(columns.begin(), columns.end(), a) - columns.begin();
    return "_array(" + shape(s_.arrays[a]) + ", row[" +
           std::to_string(parameter_choices(s_).size() + static_cast<size_t>(at)) + "])";
  }

  // Entries that the facts of a table allow.
  std::string table(const SignatureArray &a) const {
    const TableDecl &decl = *std::ranges::find(input_.spec.tables, a.name, &TableDecl::name);
    int64_t count = 1;
    for (const Size &dim : a.dims)
      count *= value(dim);
    std::string entries = "torch.arange(" + std::to_string(count) + ")";
    if (const AxisDecl *ragged = ragged_by(a.name))
      entries +=
          " * " + std::to_string(sizes_.at(ragged->name)) + " // " + std::to_string(std::max<int64_t>(count - 1, 1));
    else if (decl.range && decl.sorted)
      entries += " * " + std::to_string(std::max<int64_t>(value(*decl.range), 1)) + " // " + std::to_string(count);
    else if (decl.range)
      entries += " % " + std::to_string(std::max<int64_t>(value(*decl.range), 1));
    const std::string typed = "(" + entries + ").to(" + torch_type(decl.type) + ")";
    return a.dims.size() == 1 ? typed : typed + ".reshape" + shape(a);
  }
  const AxisDecl *ragged_by(const std::string &table) const {
    const auto it = std::ranges::find(input_.spec.axes, table, &AxisDecl::ragged);
    return it == input_.spec.axes.end() || sizes_.count(it->name) == 0 ? nullptr : &*it;
  }

  std::vector<std::string> keywords() const {
    std::vector<std::string> out;
    size_t column = 0;
    for (const SignatureParameter &p : s_.parameters)
      if (p.kind == Kind::choice)
        out.push_back(parameter_of(s_, p) + "=row[" + std::to_string(column++) + "]");
      else if (p.kind == Kind::size)
        out.push_back(parameter_of(s_, p) + "=" + std::to_string(sizes_.at(s_.sizes[p.index].name)));
    return out;
  }

  // --- outputs
  View into_outputs() const {
    std::vector<std::string> names;
    for (const int o : s_.outputs())
      names.push_back("\"" + s_.arrays[o].parameter + "\"");
    return View()
        .set("outputs", join(names))
        .set("function", s_.function)
        .set("namespace", input_.options.bind_namespace);
  }
  // Results, and the arguments whose memory they are.
  std::string places() const {
    std::vector<std::string> out;
    const std::vector<int> outputs = s_.outputs();
    for (size_t i = 0; i < outputs.size(); ++i)
      if (s_.arrays[outputs[i]].in_place())
        out.push_back(std::to_string(i) + ": " + std::to_string(place_of(s_.arrays[outputs[i]].alias)));
    return "{" + join(out) + "}";
  }
  int place_of(int array) const {
    for (size_t i = 0; i < s_.parameters.size(); ++i)
      if (s_.parameters[i].kind == Kind::array && s_.parameters[i].index == array)
        return static_cast<int>(i);
    return -1;
  }

  // Inputs that vmap may add a dimension to behind their first one: those that have one.
  std::string batched_places() const {
    std::vector<std::string> out;
    for (size_t i = 0; i < s_.parameters.size(); ++i)
      if (s_.parameters[i].kind == Kind::array && s_.arrays[s_.parameters[i].index].role == Role::input &&
          !s_.arrays[s_.parameters[i].index].dims.empty())
        out.push_back(std::to_string(i));
    return out.empty() ? "" : tuple_text(out);
  }

  // --- gradients
  bool has_doubles() const {
    return std::ranges::any_of(s_.functions, [](const CFunction &f) {
      return std::ranges::all_of(f.array_types, [](Type t) { return !is_floating(t) || t == Type::f64; });
    });
  }
  std::string differentiable_places() const {
    std::vector<std::string> out;
    for (const std::string &input : inputs_with_gradient(s_, *input_.backward))
      out.push_back(std::to_string(place_of(static_cast<int>(&array_named(s_, input) - s_.arrays.data()))));
    return tuple_text(out);
  }

  // The results whose gradients the backward kernel takes.
  std::string results() const {
    std::vector<std::string> taken;
    const std::vector<int> outputs = s_.outputs();
    for (size_t i = 0; i < outputs.size(); ++i)
      if (takes_gradient_of(*input_.backward, s_.arrays[outputs[i]].name))
        taken.push_back(std::to_string(i));
    const std::string all = "_list(kernel." + s_.function + "(*a, **keywords))";
    return taken.size() == outputs.size() ? all : "[" + all + "[i] for i in " + tuple_text(taken) + "]";
  }

  const Signature &s_;
  const BindingInput &input_;
  std::map<std::string, int64_t> sizes_;
};

} // namespace

std::string test_text(const BindingInput &input) { return Test(input).text(); }

} // namespace kgen::torch_binding
