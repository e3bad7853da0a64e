// Composes the translation unit. Per variant a namespace: types, library, params, functions, then axes, grid dimensions
// and tables as objects of their own types, then the body as a function whose parameters are the operands: plain
// scalars, so that C++'s own rules give every expression its type.
#include "body/unit.h"

#include <algorithm>
#include <tuple>

#include "body/builtins.h"
#include "body/companions.h"
#include "body/definitions.h"
#include "body/library.h"
#include "support/check.h"
#include "support/embedded.h"

namespace kgen::body {
namespace {

std::string_view spelling(Type type) {
  switch (type_row(type).arithmetic) {
  case Type::f64:
    return "double";
  case Type::f32:
    return "float";
  case Type::i64:
    return "int64_t";
  case Type::i32:
    return "int32_t";
  case Type::i16:
    return "int16_t";
  case Type::i8:
    return "int8_t";
  case Type::u64:
    return "uint64_t";
  case Type::u32:
    return "uint32_t";
  case Type::u16:
    return "uint16_t";
  case Type::u8:
    return "uint8_t";
  case Type::boolean:
    return "bool";
  default:
    KGEN_UNREACHABLE("a half type is not an arithmetic type");
  }
}

VariantNames names_of(const Spec &spec, const Variant &variant) {
  VariantNames out;
  for (const OperandDecl &operand : spec.operands) {
    const Type type = type_of(operand.type, variant);
    out.has_f64 |= type == Type::f64;
    out.operands[operand.name] = type_row(type).arithmetic;
  }
  out.real = variant.real;
  for (const Scalar &scalar : spec.scalars) {
    const Type type = type_of(scalar.type, variant);
    out.has_f64 |= type == Type::f64;
    out.operands[scalar.name] = type_row(type).arithmetic;
  }
  return out;
}

// Every axis that a body may name: those of the operands, the declared ones and the grid's; not the batch's.
std::vector<std::string> axes_of(const Spec &spec) {
  std::vector<std::string> out;
  auto add = [&](const std::string &name) {
    const bool batch = std::ranges::any_of(spec.batch, [&](const BatchDecl &b) { return b.axis == name; });
    if (!name.empty() && !batch && std::ranges::find(out, name) == out.end())
      out.push_back(name);
  };
  for (const std::string &axis : spec.axis_order)
    add(axis);
  for (const AxisDecl &axis : spec.axes)
    add(axis.name);
  for (const OperandDecl &operand : spec.operands)
    for (const DimDecl &dim : operand.dims)
      for (const std::string &axis : dim.axes)
        add(axis);
  for (const GridDecl &grid : spec.grid)
    add(grid.axis);
  return out;
}

class Composer {
public:
  Composer(Unit &unit, bool needed_alone, const std::vector<Span> &real_locals)
      : unit_(unit), needed_alone_(needed_alone), real_locals_(real_locals) {}

  void run() {
    const std::optional<std::string_view> prelude = find_embedded(embedded_prelude(), "builtins.h");
    KGEN_CHECK(prelude.has_value());
    unit_.text += *prelude;
    // The derivative of a function that a parameter names is a function by its name: relu_derivative(v), or
    // iou_derivative_3(a, b, ...) by one of several arguments. So is that of a derivative: relu_second_derivative(v),
    // iou_second_derivative_3_0(a, b, ...).
    add("#define derivative(f, x, ...) kgen_derivative_##__VA_OPT__(by)(f, x __VA_OPT__(, ) __VA_ARGS__)\n"
        "#define kgen_derivative_(f, x) f##_derivative(x)\n"
        "#define kgen_derivative_by(f, k, ...) f##_derivative_##k(__VA_ARGS__)\n"
        "#define second_derivative(f, x, ...) kgen_second_##__VA_OPT__(by)(f, x __VA_OPT__(, ) __VA_ARGS__)\n"
        "#define kgen_second_(f, x) f##_second_derivative(x)\n"
        "#define kgen_second_by(f, k, l, ...) f##_second_derivative_##k##_##l(__VA_ARGS__)\n");
    std::set<std::string, std::less<>> mentioned = unit_.body->identifiers;
    if (unit_.functions != nullptr)
      mentioned.insert(unit_.functions->identifiers.begin(), unit_.functions->identifiers.end());
    find_derivatives(mentioned);
    for (size_t i = 0; i < unit_.variants->size(); ++i)
      add_variant(static_cast<int>(i), mentioned);
  }

private:
  void add(std::string_view text) { unit_.text += text; }

  void add_variant(int index, std::set<std::string, std::less<>> mentioned) {
    const Variant &variant = (*unit_.variants)[static_cast<size_t>(index)];
    for (const Param &param : unit_.spec->params)
      if (const ParamValue value = param_value(param, variant); std::holds_alternative<std::string>(value))
        mentioned.insert(std::get<std::string>(value));
    add("namespace kgen_v" + std::to_string(index) + " {\nusing namespace kgen;\n");
    add("using real = " + std::string(spelling(unit_.names[static_cast<size_t>(index)].real)) + ";\n");
    for (const auto &[name, type] : variant.types)
      add("using " + name + " = " + std::string(spelling(type)) + ";\n");
    if (mentioned.contains("derivative"))
      add_derivatives(derivatives_, mentioned);
    const std::string library = library_text(mentioned);
    add(library);
    for (const Companions &companions : companions_of(library, unit_.axes.size()))
      add(companions.text);
    add("namespace kgen_user {\n");
    add_params(variant);
    if (unit_.functions != nullptr)
      add_user_text(*unit_.functions, index);
    add("namespace kgen_body {\n");
    add_places();
    add_body(index);
    add("}\n}\n}\n");
    for (const Param &param : unit_.spec->params)
      if (std::holds_alternative<std::string>(param_value(param, variant)))
        add("#undef " + param.name + "\n");
  }

  // Those of functions of the spec's own would be wrong, though the library may have some by their names.
  void find_derivatives(std::set<std::string, std::less<>> &mentioned) {
    std::set<std::string, std::less<>> own;
    if (unit_.functions != nullptr)
      for (const Definition &function : definitions_in(unit_.functions->text()))
        own.insert(function.name);
    for (const LibraryFunction &derivative : library_derivatives())
      if (own.contains(derivative.name.substr(0, derivative.name.find("_derivative"))))
        mentioned.erase(derivative.name);
      else
        derivatives_.insert(derivative.name);
  }

  // A name of a function is a macro: the token stays where it stands, and functions and templates alike go by it.
  void add_params(const Variant &variant) {
    for (const Param &param : unit_.spec->params) {
      const ParamValue value = param_value(param, variant);
      const std::string &name = param.name;
      if (const auto *integer = std::get_if<int64_t>(&value))
        add("constexpr int64_t " + name + " = int64_t(" + std::to_string(static_cast<uint64_t>(*integer)) + "ul);\n");
      else if (const auto *function = std::get_if<std::string>(&value))
        add("#define " + name + " " + *function + "\n");
      else
        add("extern const float " + name + ";\n");
    }
  }

  void add_places() {
    for (size_t i = 0; i < unit_.axes.size(); ++i)
      add("extern const kgen_axis<" + std::to_string(i) + "> " + unit_.axes[i] + ";\n");
    for (size_t i = 0; i < unit_.grid.size(); ++i)
      add("extern const kgen_grid<" + std::to_string(i) + "> " + unit_.grid[i] + ";\n");
    for (const TableDecl &table : unit_.spec->tables)
      add("extern const kgen_table<" + std::string(spelling(table.type)) + ", " + std::to_string(table.dims.size()) +
          "> " + table.name + ";\n");
  }

  void add_body(int index) {
    const VariantNames &names = unit_.names[static_cast<size_t>(index)];
    std::string parameters;
    auto add_parameter = [&](const std::string &name, bool assignable) {
      parameters += parameters.empty() ? "" : ", ";
      parameters += (assignable ? "" : "const ") + std::string(spelling(names.operands.at(name))) +
                    (assignable ? " &" : " ") + name;
    };
    for (const OperandDecl &operand : unit_.spec->operands)
      add_parameter(operand.name, operand.role != Role::input);
    for (const Scalar &scalar : unit_.spec->scalars)
      add_parameter(scalar.name, false);
    add("void kgen_statements(" + parameters + ") {\n");
    add_user_text(*unit_.body, index);
    add("}\n");
  }

  void add_user_text(const SourceText &source, int variant) {
    std::map<size_t, std::string> behind; // of functions: what stands there besides
    std::map<size_t, size_t> left_out;
    if (!source.is_body()) {
      for (const Companions &companions : companions_of(source.text(), unit_.axes.size()))
        behind[companions.after] = companions.text;
      const bool derives =
          source.identifiers.contains("derivative") || source.identifiers.contains("second_derivative");
      if (needed_alone_ && variant > 0 && !derives) // else a text names functions by parts of their names
        for (const Definition &unused : unused_definitions(source.text(), names_used(variant))) {
          left_out[unused.begin] = unused.end;
          behind.erase(unused.end);
        }
    }
    size_t from = 0;
    auto add_until = [&](size_t to) {
      for (; !left_out.empty() && left_out.begin()->first < to; left_out.erase(left_out.begin())) {
        add_piece(source, variant, from, left_out.begin()->first);
        from = left_out.begin()->second;
      }
      add_piece(source, variant, from, to);
      from = to;
    };
    for (const auto &[after, text] : behind) {
      add_until(after);
      add(text);
    }
    add_until(source.text().size());
  }

  // By the body: functions by their names and by those of parameters, and the derivatives of these.
  std::set<std::string, std::less<>> names_used(int variant) const {
    std::set<std::string, std::less<>> out = unit_.body->identifiers;
    for (const Param &param : unit_.spec->params)
      if (const ParamValue value = param_value(param, (*unit_.variants)[static_cast<size_t>(variant)]);
          std::holds_alternative<std::string>(value))
        out.insert(std::get<std::string>(value));
    add_derivatives(unit_.functions->identifiers, out);
    return out;
  }

  void add_piece(const SourceText &source, int variant, size_t from, size_t to) {
    const size_t begin = unit_.text.size();
    unit_.segments.push_back({begin, &source, variant, from, to - from});
    unit_.text += source.text().substr(from, to - from) + "\n";
    for (const Span &local : real_locals_)
      if (local.source == &source && local.begin >= from && local.begin < to)
        unit_.text.replace(begin + local.begin - from, 4, "real");
  }

  Unit &unit_;
  const bool needed_alone_;
  const std::vector<Span> &real_locals_;
  std::set<std::string, std::less<>> derivatives_; // that the library has for this spec
};

} // namespace

ParamValue param_value(const Param &param, const Variant &variant) {
  const auto found = variant.params.find(param.name);
  return found != variant.params.end() ? found->second : param.choices.front();
}

int Unit::variant_at(size_t offset) const {
  auto after = std::ranges::upper_bound(segments, offset, {}, &Segment::begin);
  return after == segments.begin() ? 0 : std::prev(after)->variant;
}

std::optional<Span> Unit::span(size_t begin, size_t length) const {
  auto after = std::ranges::upper_bound(segments, begin, {}, &Segment::begin);
  if (after == segments.begin())
    return std::nullopt;
  const Segment &segment = *std::prev(after);
  const size_t offset = begin - segment.begin;
  if (offset > segment.length)
    return std::nullopt;
  return Span{segment.source, segment.from + offset, length};
}

DistinctVariants distinct(const Spec &spec, const std::vector<Variant> &variants) {
  using Meaning = std::tuple<Type, bool, std::map<std::string, Type>, std::map<std::string, Type>,
                             std::map<std::string, ParamValue>>;
  std::map<Meaning, size_t> known;
  DistinctVariants out;
  for (const Variant &variant : variants) {
    const VariantNames names = names_of(spec, variant);
    std::map<std::string, Type> types;
    for (const auto &[name, type] : variant.types)
      types[name] = type_row(type).arithmetic;
    const auto [same, is_new] =
        known.emplace(Meaning(names.real, names.has_f64, names.operands, types, variant.params), out.variants.size());
    if (is_new)
      out.variants.push_back(variant);
    out.of.push_back(same->second);
  }
  return out;
}

Unit make_unit(const Spec &spec, const std::vector<Variant> &variants, const UnitOptions &options,
               const SourceText &body, const SourceText *functions, const std::vector<Span> &real_locals) {
  Unit unit;
  unit.spec = &spec;
  unit.variants = &variants;
  unit.sets = options.sets;
  unit.body = &body;
  unit.functions = functions;
  unit.axes = axes_of(spec);
  for (const GridDecl &grid : spec.grid)
    unit.grid.push_back(grid.name);
  for (const Variant &variant : variants)
    unit.names.push_back(names_of(spec, variant));
  Composer(unit, options.needed_alone, real_locals).run();
  return unit;
}

std::string describe_name(const Spec &spec, std::string_view name) {
  auto has = [&](const auto &list) {
    return std::ranges::any_of(list, [&](const auto &row) { return row.name == name; });
  };
  for (const OperandDecl &operand : spec.operands)
    if (operand.name == name)
      return operand.role == Role::input ? "an input" : operand.role == Role::output ? "an output" : "scratch";
  if (has(spec.scalars))
    return "a run-time scalar";
  if (has(spec.grid))
    return "a grid dimension";
  if (has(spec.tables))
    return "a table";
  if (has(spec.params))
    return "a param";
  if (has(spec.types) || name == "real")
    return "a type";
  const std::vector<std::string> axes = axes_of(spec);
  if (std::ranges::find(axes, name) != axes.end())
    return "an axis";
  if (find_builtin(name) != nullptr)
    return "a builtin";
  if (name == "inf" || name == "nan")
    return "a constant";
  return {};
}

std::vector<std::string> known_names(const Unit &unit, bool of_body) {
  std::vector<std::string> out = {"real",  "inf",   "nan",      "axis",  "auto", "float", "double",
                                  "bool",  "int",   "int64_t",  "const", "if",   "else",  "for",
                                  "while", "break", "continue", "true",  "false"};
  const Spec &spec = *unit.spec;
  auto add_all = [&](const auto &list) {
    for (const auto &row : list)
      out.emplace_back(row.name);
  };
  add_all(builtins());
  add_all(library_functions());
  add_all(spec.types);
  add_all(spec.params);
  if (!of_body)
    return out;
  add_all(spec.operands);
  add_all(spec.scalars);
  add_all(spec.grid);
  add_all(spec.tables);
  out.insert(out.end(), unit.axes.begin(), unit.axes.end());
  return out;
}

} // namespace kgen::body
