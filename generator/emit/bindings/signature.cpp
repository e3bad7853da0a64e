#include "emit/bindings/signature.h"

#include <algorithm>

#include "emit/bindings/sizes_of_arrays.h"
#include "emit/interface/computed_sizes.h"
#include "emit/interface/header.h"
#include "ir/interpret_sizes.h"
#include "support/text.h"

namespace kgen {
namespace {

// Words of Python, what `out` and `self` are to all bindings, and what their functions call.
constexpr std::string_view kTakenNames =
    "False None True and as assert async await break class continue def del elif else except for from global if import "
    "in is lambda nonlocal not or pass raise return try while with yield "
    "out self np jax jnp torch math ctypes len type int float bool str tuple list max min isinstance";

// What modules of bindings have besides their function.
constexpr std::string_view kNamesOfModules =
    "build command ctypes importlib kgen numpy operator os shlex shutil subprocess sys tempfile typing";

// With underscores behind what is taken, and behind what begins with one, as the bindings' own names do.
std::string parameter_name(const std::string &name) {
  const std::vector<std::string> taken = split(kTakenNames, ' ');
  return name.starts_with("_") || std::ranges::count(taken, name) != 0 ? name + "_" : name;
}

std::string function_name(const std::string &kernel) {
  const std::vector<std::string> taken = split(kNamesOfModules, ' ');
  return std::ranges::count(taken, kernel) != 0 ? kernel + "_" : parameter_name(kernel);
}

std::string text_of(const ParamValue &value) {
  if (const auto *number = std::get_if<int64_t>(&value))
    return std::to_string(*number);
  return std::get<std::string>(value);
}

std::vector<ChoiceParameter> choices_of(const Spec &spec) {
  std::vector<ChoiceParameter> out;
  for (const Param &param : spec.params) {
    if (!param.is_list)
      continue;
    ChoiceParameter c;
    c.name = param.name;
    c.is_number = std::holds_alternative<int64_t>(param.choices[0]);
    for (const ParamValue &value : param.choices)
      c.choices.push_back(text_of(value));
    out.push_back(std::move(c));
  }
  for (const TypeParam &type : spec.types) {
    ChoiceParameter c;
    c.name = type.name;
    c.is_type = true;
    for (const Type choice : type.choices)
      c.choices.emplace_back(type_row(choice).name);
    out.push_back(std::move(c));
  }
  for (ChoiceParameter &c : out)
    c.parameter = parameter_name(c.name);
  return out;
}

std::vector<std::string> chosen(const std::vector<ChoiceParameter> &choices, const Variant &variant) {
  std::vector<std::string> out;
  for (const ChoiceParameter &c : choices)
    out.push_back(c.is_type ? std::string(type_row(variant.types.at(c.name)).name)
                            : text_of(variant.params.at(c.name)));
  return out;
}

// Extents as callers see them: a packed row is no dimension, and `(G C)` is one.
std::vector<Size> dims_of(const Kernel &kernel, const Var &var) {
  std::vector<Size> out;
  int last = -1;
  for (size_t d = 0; d < var.dims.size(); ++d) {
    if (interpreter::is_packed(kernel, var, d))
      continue;
    const Size extent = in_arguments(kernel, extent_in_arguments(kernel, var.dims[d]));
    if (var.dims[d].array_dim == last)
      out.back() = Size::make(Size::Op::multiply, {out.back(), extent});
    else
      out.push_back(extent);
    last = var.dims[d].array_dim;
  }
  return out;
}

std::vector<Size> dims_of(const Kernel &kernel, const Table &table) {
  std::vector<Size> out;
  for (const Size &dim : table.dims)
    out.push_back(in_arguments(kernel, dim));
  return out;
}

class Builder {
public:
  Builder(const Spec &spec, const std::vector<Function> &functions,
          const std::map<std::string, const TargetSource *> &targets)
      : spec_(spec), functions_(functions), targets_(targets), kernel_(functions[0].variations[0]->kernel) {}

  Signature build() {
    s_.kernel = spec_.kernel;
    s_.function = function_name(spec_.kernel);
    s_.file_name = spec_.file_name;
    s_.doc = spec_.doc;
    s_.license = spec_.license;
    s_.backward_of = spec_.backward_of;
    s_.has_openmp = targets_.count("openmp") != 0;
    s_.has_cuda = targets_.count("cuda") != 0;
    s_.choices = choices_of(spec_);
    add_arrays_and_scalars();
    add_sizes();
    add_functions();
    drop_unused_types();
    add_dims();
    find_sizes(s_);
    find_choices();
    add_parameters();
    add_c_arguments();
    return std::move(s_);
  }

private:
  ElementType element_type(const TypeName &type) const {
    ElementType out;
    out.type = type.type;
    if (type.param == kRealType)
      out.kind = ElementType::Kind::real;
    else if (!type.param.empty()) {
      out.kind = ElementType::Kind::parameter;
      out.choice = choice_named(type.param);
    }
    return out;
  }

  int choice_named(const std::string &name) const {
    const auto is_it = [&](const ChoiceParameter &c) { return c.name == name; };
    return static_cast<int>(std::find_if(s_.choices.begin(), s_.choices.end(), is_it) - s_.choices.begin());
  }

  // The file's order: spec.operands without scratch, with tables and aliased inputs where they stand.
  void add_arrays_and_scalars() {
    for (const OperandDecl &operand : spec_.operands)
      if (operand.role != Role::scratch)
        add_array(operand);
    for (const TableDecl &table : spec_.tables)
      add_table(table);
    std::stable_sort(s_.arrays.begin(), s_.arrays.end(), [&](const SignatureArray &a, const SignatureArray &b) {
      return places_.at(a.name) < places_.at(b.name);
    });
    for (size_t i = 0; i < s_.arrays.size(); ++i)
      for (size_t j = 0; j < s_.arrays.size(); ++j)
        if (const auto alias = aliases_.find(s_.arrays[i].name);
            alias != aliases_.end() && alias->second == s_.arrays[j].name) {
          s_.arrays[i].alias = static_cast<int>(j);
          s_.arrays[j].alias = static_cast<int>(i);
        }
    for (const Scalar &scalar : spec_.scalars)
      s_.scalars.push_back(
          {scalar.name, parameter_name(scalar.name), type_of(scalar.type, functions_[0].variations[0]->variant)});
  }

  void add_array(const OperandDecl &operand) {
    SignatureArray a;
    a.role = operand.role == Role::input ? SignatureArray::Role::input : SignatureArray::Role::output;
    a.name = operand.name;
    a.parameter = parameter_name(operand.name);
    a.element = element_type(operand.type);
    a.optional = operand.optional;
    a.partial = operand.role == Role::output && operand.partial && operand.alias.empty();
    a.strided = operand.strided;
    if (!operand.alias.empty())
      aliases_[operand.name] = operand.alias;
    places_[a.name] = {operand.place.line, operand.place.column};
    s_.arrays.push_back(std::move(a));
  }

  void add_table(const TableDecl &table) {
    SignatureArray a;
    a.role = SignatureArray::Role::table;
    a.name = table.name;
    a.parameter = parameter_name(table.name);
    a.element.type = table.type;
    places_[a.name] = {table.place.line, table.place.column};
    s_.arrays.push_back(std::move(a));
  }

  void add_sizes() {
    for (const AxisId id : kernel_.size_arguments) {
      const Axis &axis = kernel_.axes[id];
      SignatureSize size;
      size.name = axis.rest ? std::string(kRestAxis) : axis.name;
      size.parameter = parameter_name(size.name);
      size.multiple_of = axis.multiple_of;
      for (const Variation *variation : functions_[0].variations)
        if (const auto it = variation->variant.axes.find(axis.name);
            it != variation->variant.axes.end() && std::ranges::count(size.one_of, it->second) == 0)
          size.one_of.push_back(it->second);
      s_.sizes.push_back(std::move(size));
    }
  }

  // Types that no row of types.only has are none to choose.
  void drop_unused_types() {
    for (size_t c = 0; c < s_.choices.size(); ++c)
      if (s_.choices[c].is_type)
        std::erase_if(s_.choices[c].choices, [&](const std::string &choice) {
          return std::ranges::none_of(s_.functions, [&](const CFunction &f) { return f.choices[c] == choice; });
        });
  }

  void add_functions() {
    for (const Function &function : functions_) {
      const Variation &v = *function.variations[0];
      CFunction f;
      f.stem = function.stem;
      f.choices = chosen(s_.choices, v.variant);
      for (const SignatureArray &a : s_.arrays)
        f.array_types.push_back(type_in(v.kernel, a.name));
      for (const Scalar &scalar : spec_.scalars)
        f.scalar_types.push_back(type_of(scalar.type, v.variant));
      for (const auto &[target, source] : targets_)
        (target == "openmp" ? f.openmp_workspace : f.cuda_workspace) = takes_workspace(function, target, *source);
      f.table_status = has_device_tables(v.kernel);
      s_.functions.push_back(std::move(f));
    }
  }

  static const Var *find_var(const Kernel &kernel, const std::string &name) {
    const auto is_it = [&](const Var &var) { return var.name == name && var.kind != Var::Kind::local; };
    const auto it = std::find_if(kernel.vars.begin(), kernel.vars.end(), is_it);
    return it == kernel.vars.end() ? nullptr : &*it;
  }
  static const Table &find_table(const Kernel &kernel, const std::string &name) {
    return *std::find_if(kernel.tables.begin(), kernel.tables.end(), [&](const Table &t) { return t.name == name; });
  }
  static Type type_in(const Kernel &kernel, const std::string &name) {
    const Var *var = find_var(kernel, name);
    return var != nullptr ? var->type : find_table(kernel, name).type;
  }
  static std::vector<Size> dims_in(const Kernel &kernel, const std::string &name) {
    const Var *var = find_var(kernel, name);
    return var != nullptr ? dims_of(kernel, *var) : dims_of(kernel, find_table(kernel, name));
  }

  void add_dims() {
    for (SignatureArray &a : s_.arrays) {
      const size_t count = dims_in(kernel_, a.name).size();
      for (size_t d = 0; d < count; ++d)
        a.dims.push_back(over_choices(a.name, d));
      for (size_t d = 0; d < count; ++d)
        if (a.dims[d].op == Size::Op::axis && a.dims[d].name == kRestAxis && begins_with_rest(a.name))
          a.rest = static_cast<int>(d);
    }
  }
  bool begins_with_rest(const std::string &name) const {
    return std::ranges::any_of(spec_.operands, [&](const OperandDecl &operand) {
      return operand.name == name && !operand.dims.empty() && operand.dims[0].kind == DimDecl::Kind::rest;
    });
  }

  // The extent for all functions: where whole numbers that are chosen make it differ, a choice by them.
  Size over_choices(const std::string &array, size_t dim) const {
    std::vector<std::pair<Size, Size>> cases; // condition, extent
    for (size_t f = 0; f < functions_.size(); ++f) {
      const Size condition = is_chosen(s_.functions[f]);
      if (std::ranges::none_of(cases, [&](const auto &one) { return one.first == condition; }))
        cases.emplace_back(condition, over_variations(functions_[f], [&](const Kernel &kernel) {
                             return dims_in(kernel, array)[dim];
                           }));
    }
    Size out = cases.back().second;
    for (size_t i = cases.size() - 1; i-- > 0;)
      if (!(cases[i].second == out))
        out = Size::make(Size::Op::choose, {cases[i].first, cases[i].second, out});
    return out;
  }

  Size is_chosen(const CFunction &function) const {
    Size out = Size::integer(1);
    for (size_t c = 0; c < s_.choices.size(); ++c) {
      if (!s_.choices[c].is_number)
        continue;
      Size name;
      name.op = Size::Op::param;
      name.name = s_.choices[c].name;
      const Size is = Size::make(Size::Op::equal, {name, Size::integer(std::stoll(function.choices[c]))});
      out = Size::make(Size::Op::multiply, {out, is});
    }
    return out;
  }

  // A type is told by arrays that are always there, by types.only, or by being the only one.
  void find_choices() {
    std::vector<int> told;
    for (size_t c = 0; c < s_.choices.size(); ++c)
      if (is_told_by_arrays(static_cast<int>(c)))
        told.push_back(static_cast<int>(c));
    for (size_t c = 0; c < s_.choices.size(); ++c)
      if (s_.choices[c].is_type && follows(static_cast<int>(c), told))
        s_.choices[c].is_parameter = false;
    for (ChoiceParameter &c : s_.choices)
      c.first_always_fits = !c.is_type || fits_always(choice_named(c.name), told);
  }
  // Does the first choice of this type go with all that arrays may tell?
  bool fits_always(int choice, const std::vector<int> &told) const {
    std::map<std::vector<std::string>, bool> fits;
    for (const CFunction &f : s_.functions) {
      bool &one = fits[told_by(f, told)];
      one = one || f.choices[choice] == s_.choices[choice].choices[0];
    }
    return std::ranges::all_of(fits, [](const auto &entry) { return entry.second; });
  }
  static std::vector<std::string> told_by(const CFunction &f, const std::vector<int> &told) {
    std::vector<std::string> out;
    for (const int t : told)
      out.push_back(f.choices[t]);
    return out;
  }
  bool is_told_by_arrays(int choice) const {
    return std::any_of(s_.arrays.begin(), s_.arrays.end(), [&](const SignatureArray &a) {
      return a.is_argument() && !a.optional && a.element.kind == ElementType::Kind::parameter &&
             a.element.choice == choice;
    });
  }
  bool follows(int choice, const std::vector<int> &told) const {
    std::map<std::vector<std::string>, std::string> values;
    return std::ranges::all_of(s_.functions, [&](const CFunction &f) {
      return values.emplace(told_by(f, told), f.choices[choice]).first->second == f.choices[choice];
    });
  }

  void add_parameters() {
    using Kind = SignatureParameter::Kind;
    for (size_t i = 0; i < s_.arrays.size(); ++i)
      if (s_.arrays[i].is_argument())
        s_.parameters.push_back({Kind::array, static_cast<int>(i)});
    for (size_t i = 0; i < s_.scalars.size(); ++i)
      s_.parameters.push_back({Kind::scalar, static_cast<int>(i)});
    for (size_t i = s_.parameters.size(); i-- > 0;) {
      SignatureParameter &p = s_.parameters[i];
      if (p.kind != Kind::array || !s_.arrays[p.index].optional)
        break;
      p.has_default = true;
    }
    for (size_t i = 0; i < s_.choices.size(); ++i)
      if (s_.choices[i].is_parameter)
        s_.parameters.push_back({Kind::choice, static_cast<int>(i), true, true});
    for (size_t i = 0; i < s_.sizes.size(); ++i)
      if (s_.sizes[i].array < 0)
        s_.parameters.push_back({Kind::size, static_cast<int>(i), true, false});
  }

  void add_c_arguments() {
    std::vector<CArgument> strides;
    for (const ArgumentRef &ref : kernel_.arguments) {
      if (ref.kind == ArgumentRef::Kind::scalar) {
        s_.c_arguments.push_back({CArgument::Kind::scalar, ref.index});
        continue;
      }
      const bool is_table = ref.kind == ArgumentRef::Kind::table;
      const int array = array_named(is_table ? kernel_.tables[ref.index].name : kernel_.vars[ref.index].name);
      if (array < 0 || (s_.arrays[array].role == SignatureArray::Role::input && s_.arrays[array].alias >= 0))
        continue;
      s_.c_arguments.push_back({CArgument::Kind::array, array});
      for (size_t d = 0; s_.arrays[array].strided && d < s_.arrays[array].dims.size(); ++d)
        strides.push_back({CArgument::Kind::stride, array, static_cast<int>(d)});
    }
    for (size_t i = 0; i < s_.sizes.size(); ++i)
      s_.c_arguments.push_back({CArgument::Kind::size, static_cast<int>(i)});
    s_.c_arguments.insert(s_.c_arguments.end(), strides.begin(), strides.end());
  }
  int array_named(const std::string &name) const {
    for (size_t i = 0; i < s_.arrays.size(); ++i)
      if (s_.arrays[i].name == name)
        return static_cast<int>(i);
    return -1;
  }

  const Spec &spec_;
  const std::vector<Function> &functions_;
  const std::map<std::string, const TargetSource *> &targets_;
  const Kernel &kernel_; // of the first function
  Signature s_;
  std::map<std::string, std::string> aliases_; // of outputs
  std::map<std::string, std::pair<int, int>> places_;
};

} // namespace

Size extent_of(const SignatureArray &array, size_t dim) {
  Size out;
  out.op = Size::Op::table;
  out.name = array.name;
  out.args = {Size::integer(static_cast<long long>(dim))};
  return out;
}

std::vector<int> Signature::outputs() const {
  std::vector<int> out;
  for (size_t i = 0; i < arrays.size(); ++i)
    if (arrays[i].role == SignatureArray::Role::output)
      out.push_back(static_cast<int>(i));
  return out;
}

const SignatureSize *Signature::find_size(const std::string &name) const {
  for (const SignatureSize &size : sizes)
    if (size.name == name)
      return &size;
  return nullptr;
}

Signature signature_of(const Spec &spec, const std::vector<Function> &functions,
                       const std::map<std::string, const TargetSource *> &targets) {
  return Builder(spec, functions, targets).build();
}

} // namespace kgen
