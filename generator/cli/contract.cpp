#include "cli/contract.h"

#include <algorithm>
#include <set>

#include "grad/without_batch.h"
#include "spec/declared_text.h"
#include "support/text.h"

namespace kgen {

namespace {

using Words = std::set<std::string>;

// What a type may be in the end.
Words choices_of(const Spec &spec, const TypeName &type) {
  Words out;
  for (const TypeParam &param : spec.types)
    if (param.name == type.param)
      for (const Type choice : param.choices)
        out.insert(std::string(type_row(choice).name));
  return out.empty() ? Words{type_text(type)} : out;
}

bool share_one(const Words &a, const Words &b) {
  return std::ranges::any_of(a, [&](const std::string &word) { return b.contains(word); });
}

// What says how long it is: `M` of [N=M], `(G C)`.
std::string extent_of(const DimDecl &dim) {
  return dim.kind == DimDecl::Kind::axes && dim.extent ? to_string(*dim.extent) : dim_text(dim);
}

std::vector<std::string> extents_of(const OperandDecl &operand) {
  std::vector<std::string> out;
  for (const DimDecl &dim : operand.dims)
    out.push_back(extent_of(dim));
  return out;
}

template <class List> auto named(const List &list, std::string_view name) {
  const auto it = std::ranges::find_if(list, [&](const auto &one) { return one.name == name; });
  return it == list.end() ? nullptr : &*it;
}

const OperandDecl *operand(const Spec &spec, Role role, std::string_view name) {
  const OperandDecl *found = named(spec.operands, name);
  return found != nullptr && found->role == role ? found : nullptr;
}

class Contract {
public:
  Contract(const Spec &forward, const Spec &backward, Diagnostics &diags)
      : forward_(grad::without_batch(forward)), backward_(grad::without_batch(backward)), diags_(diags) {}

  void check() {
    for (const OperandDecl &o : backward_.operands)
      if (o.role == Role::output)
        check_output(o);
      else if (o.role == Role::input)
        check_input(o);
    check_others();
  }

  // Of one that gives more outputs: all that the forward kernel takes and gives, by the same declarations.
  void check_saving() {
    for (const OperandDecl &o : forward_.operands)
      if (o.role != Role::scratch)
        check_same(operand(backward_, o.role, o.name), o);
    for (const OperandDecl &o : backward_.operands)
      if (o.role == Role::input && operand(forward_, Role::input, o.name) == nullptr)
        refuse(o.name, o.place, "is no input there", kSavingHelp);
    for (const TableDecl &table : forward_.tables)
      check_there(named(backward_.tables, table.name) != nullptr, table.name);
    for (const Scalar &scalar : forward_.scalars)
      check_there(named(backward_.scalars, scalar.name) != nullptr, scalar.name);
    check_others();
  }

private:
  static constexpr std::string_view kSavingHelp =
      "it takes and gives what that kernel does, and gives more outputs; `kgen grad --save` writes one";

  // Tables, scalars, and the axes of arrays that have been compared.
  void check_others() {
    for (const TableDecl &table : backward_.tables)
      check_table(table);
    for (const Scalar &scalar : backward_.scalars)
      check_scalar(scalar);
    for (const std::string &axis : axes_)
      check_axis(axis);
  }

  void check_there(bool is, const std::string &name) {
    if (!is)
      refuse(name, backward_.kernel_place, "is missing", kSavingHelp);
  }

  void check_same(const OperandDecl *own, const OperandDecl &there) {
    check_there(own != nullptr, there.name);
    if (own == nullptr)
      return;
    compare(*own, there);
    if (own->optional != there.optional)
      refuse(own->name, own->place, own->optional ? "is optional here, not there" : "is optional there, not here",
             own->optional ? "leave optional out" : "write optional = true");
  }

  void refuse(const std::string &name, const Place &place, const std::string &why, std::string_view help) {
    diags_.add(DiagId::file_bad_array, place, {"this kernel", forward_.kernel, "`" + name + "` " + why}).help = help;
  }
  void refuse_name(const std::string &name, const Place &place, const std::string &why) {
    refuse(name, place, why, "`kgen grad " + forward_.file_name + "` writes one whose arrays bindings know");
  }
  // Two declarations, of `of` in the forward kernel.
  void refuse_declaration(const std::string &name, const Place &place, const std::string &is, const std::string &of,
                          const std::string &wanted) {
    refuse(name, place, "is " + is + ", and " + (of == name ? "" : "`" + of + "` is ") + wanted + " there",
           "write \"" + wanted + "\"");
  }

  void check_output(const OperandDecl &o) {
    const std::string_view of = without_gradient_prefix(o.name);
    if (const OperandDecl *input = operand(forward_, Role::input, of))
      compare(o, *input);
    else if (named(forward_.scalars, of) == nullptr)
      refuse_name(o.name, o.place, "is not `d_` and an input of it");
    else if (!o.dims.empty() || !is_for_scalar(o.type))
      refuse(o.name, o.type_place, "is " + declared_text(o) + ", and `" + std::string(of) + "` is a scalar there",
             "write \"f32[]\", or \"f64[]\" where the kernel computes in f64");
  }

  static bool is_for_scalar(const TypeName &type) {
    return type.param.empty() ? type.type == Type::f32 || type.type == Type::f64 : type.param == kRealType;
  }

  void check_input(const OperandDecl &o) {
    const OperandDecl *input = operand(forward_, Role::input, o.name);
    const OperandDecl *output = operand(forward_, Role::output, o.name);
    const OperandDecl *given = operand(forward_, Role::output, without_gradient_prefix(o.name));
    if (input == nullptr && output == nullptr && given == nullptr)
      return refuse_name(o.name, o.place, "is neither an input or output of it, nor `d_` and an output");
    compare(o, input != nullptr ? *input : output != nullptr ? *output : *given);
    if (input != nullptr && input->optional && !o.optional)
      refuse(o.name, o.place, "is always there, and optional there",
             "write optional = true, and ask `present(" + o.name + ")`");
  }

  void compare(const OperandDecl &o, const OperandDecl &of) {
    if (!has_type(o, of) || extents_of(o) != extents_of(of))
      return refuse_declaration(o.name, o.type_place, declared_text(o), of.name, declared_text(of));
    for (const DimDecl &dim : o.dims)
      if (dim.kind == DimDecl::Kind::axes && !dim.extent)
        axes_.insert(dim.axes.begin(), dim.axes.end());
  }

  // What is added up at computed places is `real` where the input may be a half type; -D may have chosen another one.
  bool has_type(const OperandDecl &o, const OperandDecl &of) const {
    if (is_type(o.type, of.type))
      return true;
    return o.atomic && o.type.param == kRealType &&
           std::ranges::all_of(choices_of(forward_, of.type), [](const auto &name) {
             const std::optional<Type> type = find_type(name);
             return type && is_floating(*type);
           });
  }

  bool is_type(const TypeName &type, const TypeName &wanted) const {
    const Words here = choices_of(backward_, type), there = choices_of(forward_, wanted);
    return here == there || (type.param == wanted.param && share_one(here, there));
  }

  void check_table(const TableDecl &table) {
    const TableDecl *there = named(forward_.tables, table.name);
    if (there == nullptr)
      refuse_name(table.name, table.place, "is no table there");
    else if (declared_text(table) != declared_text(*there))
      refuse_declaration(table.name, table.place, declared_text(table), table.name, declared_text(*there));
  }

  void check_scalar(const Scalar &scalar) {
    const Scalar *there = named(forward_.scalars, scalar.name);
    if (there == nullptr)
      refuse_name(scalar.name, scalar.place, "is no scalar there");
    else if (!is_type(scalar.type, there->type))
      refuse_declaration(scalar.name, scalar.type.place, type_text(scalar.type), scalar.name, type_text(there->type));
  }

  // Less may be said of its size here, but nothing else; how rows are packed must be the same.
  void check_axis(const std::string &name) {
    const AxisDecl *found = named(backward_.axes, name), *there = named(forward_.axes, name);
    const AxisDecl none, &own = found != nullptr ? *found : none, &wanted = there != nullptr ? *there : none;
    const bool is_cut_alike = own.ragged == wanted.ragged && own.over == wanted.over;
    const bool is_long_alike = (own.fixed.empty() || own.fixed == wanted.fixed) &&
                               (!own.equals || (wanted.equals && *own.equals == *wanted.equals));
    if (is_cut_alike && is_long_alike)
      return;
    refuse(name, found != nullptr ? own.place : backward_.kernel_place, "is another axis there",
           there != nullptr ? "write axes." + name + " as there" : "leave axes." + name + " out");
  }

  const Spec forward_, backward_;
  Diagnostics &diags_;
  Words axes_; // that arrays have here and there
};

} // namespace

std::string_view without_gradient_prefix(std::string_view name) {
  for (const std::string_view prefix : {"d_", "d2_", "d3_"})
    if (name.starts_with(prefix))
      return name.substr(prefix.size());
  return {};
}

void check_contract(const Spec &forward, const Spec &backward, Diagnostics &diags) {
  Contract(forward, backward, diags).check();
}

void check_saving_forward(const Spec &forward, const Spec &saving, Diagnostics &diags) {
  Contract(forward, saving, diags).check_saving();
}

} // namespace kgen
