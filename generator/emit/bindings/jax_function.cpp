// NAME_jax.py: the function that people call. It runs when JAX traces: what it finds out is fixed in the compiled call.
#include <algorithm>

#include "emit/bindings/jax.h"
#include "emit/bindings/python.h"
#include "support/text.h"

namespace kgen {
namespace {

using Array = SignatureArray;

std::string quoted(const std::string &text) { return "\"" + text + "\""; }

std::string real_of(const Spec &spec, const Signature &s, const CFunction &f) {
  for (size_t i = 0; i < s.arrays.size(); ++i)
    if (s.arrays[i].element.kind == ElementType::Kind::real)
      return std::string(type_row(f.array_types[i]).name);
  const auto is_real = [](const Scalar &scalar) { return scalar.type.param == kRealType; };
  const auto scalar = std::ranges::find_if(spec.scalars, is_real) - spec.scalars.begin();
  return std::string(type_row(f.scalar_types[static_cast<size_t>(scalar)]).name);
}

class JaxFunction {
public:
  JaxFunction(const Spec &spec, const Signature &s) : spec_(spec), s_(s), names_(s) {}

  std::vector<std::string> lines() {
    for (const Array &a : s_.arrays)
      if (a.is_argument())
        take(a);
    if (!s_.choices.empty() || has_real(spec_, s_))
      choose();
    for (size_t i = 0; i < s_.scalars.size(); ++i)
      add(s_.scalars[i].parameter + " = _scalar(" + s_.scalars[i].parameter + ", " + quoted(s_.scalars[i].parameter) +
          ", " + scalar_type(i) + ")");
    find_sizes();
    for (const Array &a : s_.arrays)
      if (a.is_argument())
        match(a);
    call();
    return std::move(lines_);
  }

private:
  void add(const std::string &line) { lines_.push_back(line); }
  void add_wrapped(const std::string &before, const std::vector<std::string> &parts, const std::string &after) {
    for (std::string &line : wrapped(before, parts, after, kWidth))
      lines_.push_back(std::move(line));
  }

  void take(const Array &a) {
    const size_t rank = a.dims.size() - (a.rest >= 0 ? 1 : 0);
    add(a.parameter + " = _array(" + a.parameter + ", " + quoted(a.parameter) + ", " + std::to_string(rank) +
        (a.rest >= 0 ? ", or_more=True" : "") + (a.optional ? ", optional=True" : "") +
        (a.role == Array::Role::table ? ", is_table=True" : "") + ")");
  }

  void choose() {
    std::vector<std::string> columns, given;
    for (size_t c = 0; c < s_.choices.size(); ++c) {
      const ChoiceParameter &choice = s_.choices[c];
      const Array *array = array_that_tells(static_cast<int>(c));
      columns.push_back(choice.parameter);
      if (choice.is_parameter)
        given.push_back(choice.parameter + "=" + chosen(choice));
      else if (array != nullptr)
        given.push_back(choice.parameter + "=(" + quoted(array->parameter) + ", " + array->parameter + ")");
    }
    if (has_real(spec_, s_))
      columns.emplace_back(kRealType);
    add_wrapped("_function, " + python_tuple(columns) + " = _choose(", given, ")");
    for (const ChoiceParameter &choice : s_.choices)
      if (choice.is_number)
        add(choice.parameter + " = int(" + choice.parameter + ")");
  }

  // None stands for the first choice that fits; where the first always fits, it is none of the choices.
  static std::string chosen(const ChoiceParameter &choice) {
    const std::string value = choice.is_type ? "_type_choice(" + choice.parameter + ")" : choice.parameter;
    return choice.first_always_fits ? "str(" + value + ")" : value;
  }

  const Array *array_that_tells(int choice) const {
    const auto tells = [&](const Array &a) {
      return a.is_argument() && !a.optional && a.element.kind == ElementType::Kind::parameter &&
             a.element.choice == choice;
    };
    const auto it = std::ranges::find_if(s_.arrays, tells);
    return it == s_.arrays.end() ? nullptr : &*it;
  }

  // The name of an element type: a string, or the variable that holds it.
  std::string element(const ElementType &e) const {
    switch (e.kind) {
    case ElementType::Kind::fixed:
      return quoted(std::string(type_row(e.type).name));
    case ElementType::Kind::parameter:
      return s_.choices[static_cast<size_t>(e.choice)].parameter;
    case ElementType::Kind::real:
      break;
    }
    return std::string(kRealType);
  }

  std::string scalar_type(size_t i) const {
    const TypeName &type = spec_.scalars[i].type;
    for (const ChoiceParameter &c : s_.choices)
      if (c.name == type.param)
        return c.parameter;
    return type.param.empty() ? quoted(std::string(type_row(type.type).name)) : type.param;
  }

  void find_sizes() {
    for (const SignatureSize &size : s_.sizes)
      if (size.array < 0)
        add(size.parameter + " = _size(" + size.parameter + ", " + quoted(size.parameter) + ")");
    if (std::ranges::any_of(s_.arrays, [](const Array &a) { return a.rest >= 0; })) {
      const Array *rows = jax_array_of_rows(s_);
      add("_rest = " + (rows != nullptr && rows->is_argument() ? names_.rest_of(*rows) : "(rows,)"));
    }
    for (const int i : s_.size_order)
      find_size(s_.sizes[static_cast<size_t>(i)]);
  }

  void find_size(const SignatureSize &size) {
    const bool is_rest = size.dim == s_.arrays[static_cast<size_t>(size.array)].rest;
    if (!is_rest)
      add(size.parameter + " = " + names_.python(size.value));
    else if (is_jax_attribute(s_, size) || is_mentioned(size))
      add(size.parameter + " = math.prod(_rest)");
  }

  // Does an extent that Python computes depend on it?
  bool is_mentioned(const SignatureSize &size) const {
    const auto says = [&](const Size &e) { return mentions(e, Size::Op::axis, size.name); };
    for (const Array &a : s_.arrays)
      for (size_t d = 0; d < a.dims.size(); ++d)
        if (static_cast<int>(d) != a.rest && says(a.dims[d]))
          return true;
    return std::ranges::any_of(s_.sizes, [&](const SignatureSize &other) { return says(other.value); });
  }

  void match(const Array &a) {
    std::vector<std::string> parts = {a.parameter, quoted(a.parameter),
                                      is_wide_table(a) ? quoted("i64 i32") : element(a.element), names_.shape(a),
                                      quoted(written(a))};
    if (const std::string by = givers(a); !by.empty())
      parts.push_back(quoted(by));
    add_wrapped("_match(", parts, ")");
  }

  // As in the spec: real[..., N].
  static std::string type_in_spec(const Signature &s, const ElementType &e) {
    return e.kind == ElementType::Kind::fixed       ? std::string(type_row(e.type).name)
           : e.kind == ElementType::Kind::parameter ? s.choices[static_cast<size_t>(e.choice)].name
                                                    : std::string(kRealType);
  }
  std::string written(const Array &a) const { return type_in_spec(s_, a.element) + PythonNames::brackets(a); }

  // The other arrays that told the type and the extents of this one.
  std::string givers(const Array &a) const {
    std::vector<std::string> names;
    const auto add_name = [&](const Array *other) {
      if (other != nullptr && other != &a && std::ranges::find(names, other->parameter) == names.end())
        names.push_back(other->parameter);
    };
    for (size_t c = 0; c < s_.choices.size(); ++c)
      if (a.element.kind == ElementType::Kind::real || a.element.choice == static_cast<int>(c))
        add_name(array_that_tells(static_cast<int>(c)));
    for (const ExtentCheck &check : s_.checks)
      for (const int giver : check.given_by)
        if (&s_.arrays[static_cast<size_t>(check.array)] == &a)
          add_name(&s_.arrays[static_cast<size_t>(giver)]);
    return join(names, " and ");
  }

  void call() {
    std::vector<std::string> arrays, results, attributes;
    for (const Array &a : s_.arrays)
      if (a.is_argument())
        arrays.push_back(a.parameter);
    for (const int i : s_.outputs())
      results.push_back(result(s_.arrays[static_cast<size_t>(i)]));
    for (const Array &a : s_.arrays)
      if (a.optional)
        attributes.push_back(quoted(jax_given(a)) + ": " +
                             (a.is_argument() ? a.parameter + " is not None" : is_wanted(a)));
    for (const SignatureScalar &scalar : s_.scalars)
      attributes.push_back(quoted(scalar.name) + ": " + scalar.parameter);
    for (const SignatureSize &size : s_.sizes)
      if (is_jax_attribute(s_, size))
        attributes.push_back(quoted(size.name) + ": " + size.parameter);
    if (has_optional_outputs(s_))
      add("_wanted = [bool(one) for one in _wanted or " + python_tuple(std::vector<std::string>(results.size(), "1")) +
          "]");
    add_wrapped("_results = (", results, results.size() == 1 ? ",)" : ")");
    add_wrapped("_attributes = {", attributes, "}");
    add("return _call(" + python_tuple(arrays) + ", _results, _attributes" +
        (s_.choices.empty() && !has_real(spec_, s_) ? "" : ", _function") + alias_argument() + partial_argument() +
        ")");
  }

  std::string result(const Array &a) const {
    return "(" + quoted(a.name) + ", " + element(a.element) + ", " + names_.shape(a) + ", " + is_wanted(a) + ")";
  }

  // Only optional outputs may be left out.
  std::string is_wanted(const Array &a) const {
    const std::vector<int> outputs = s_.outputs();
    const auto is_it = [&](int i) { return &s_.arrays[static_cast<size_t>(i)] == &a; };
    const auto at = std::ranges::find_if(outputs, is_it) - outputs.begin();
    return a.optional ? "_wanted[" + std::to_string(at) + "]" : "True";
  }

  // Which input is the memory of which output, counted among the inputs and among the outputs.
  std::string alias_argument() const {
    std::vector<std::string> pairs;
    const std::vector<int> outputs = s_.outputs();
    int input = 0;
    for (const Array &a : s_.arrays) {
      if (!a.is_argument())
        continue;
      if (a.alias >= 0)
        pairs.push_back("(" + std::to_string(input) + ", " +
                        std::to_string(std::ranges::find(outputs, a.alias) - outputs.begin()) + ")");
      ++input;
    }
    return pairs.empty() ? "" : ", aliases=" + python_tuple(pairs);
  }

  // Outputs that may be left unwritten in places.
  std::string partial_argument() const {
    std::vector<std::string> places;
    const std::vector<int> outputs = s_.outputs();
    for (size_t i = 0; i < outputs.size(); ++i)
      if (s_.arrays[static_cast<size_t>(outputs[i])].partial)
        places.push_back(std::to_string(i));
    return places.empty() ? "" : ", partial=" + python_tuple(places);
  }

  static constexpr size_t kWidth = 116; // without the indentation

  const Spec &spec_;
  const Signature &s_;
  PythonNames names_;
  std::vector<std::string> lines_;
};

} // namespace

bool has_optional_outputs(const Signature &s) {
  return std::ranges::any_of(s.arrays,
                             [](const Array &a) { return a.role == SignatureArray::Role::output && a.optional; });
}

bool has_real(const Spec &spec, const Signature &s) {
  return std::ranges::any_of(s.arrays, [](const Array &a) { return a.element.kind == ElementType::Kind::real; }) ||
         std::ranges::any_of(spec.scalars, [](const Scalar &scalar) { return scalar.type.param == kRealType; });
}

std::string python_tuple(const std::vector<std::string> &parts) {
  return "(" + join(parts, ", ") + (parts.size() == 1 ? ",)" : ")");
}

std::string jax_function(const Spec &spec, const Signature &s) {
  return "def " + python_signature(s, has_optional_outputs(s) ? "_wanted=None" : "") + ":\n" +
         indented("\"\"\"" + python_doc(s) + "\n\"\"\"\n" + join(JaxFunction(spec, s).lines(), "\n")) + "\n";
}

std::string jax_choices(const Spec &spec, const Signature &s) {
  std::vector<std::string> names;
  for (const ChoiceParameter &c : s.choices)
    names.push_back(quoted(c.parameter));
  if (has_real(spec, s))
    names.push_back(quoted(std::string(kRealType)));
  if (names.empty())
    return "";
  std::string out = "_CHOICES = " + python_tuple(names) + "\n_FUNCTIONS = [\n";
  for (const CFunction &f : s.functions) {
    std::vector<std::string> row;
    for (const std::string &choice : f.choices)
      row.push_back(quoted(choice));
    if (has_real(spec, s))
      row.push_back(quoted(real_of(spec, s, f)));
    out += "    " + python_tuple(row) + ",\n";
  }
  return out + "]\n";
}

} // namespace kgen
