#include "grad/document.h"

#include <algorithm>

#include "body/definitions.h"
#include "grad/text.h"
#include "spec/declared_text.h"
#include "spec/format_document.h"
#include "support/text.h"

namespace kgen::grad {
namespace {

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text)
    out += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? "\\n" : std::string(1, c);
  return out + "\"";
}

// As a word of its own.
bool mentions_word(const std::string &text, const std::string &name) {
  const auto in_word = [&](size_t at) { return at < text.size() && is_word(text[at]); };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + name.size()))
      return true;
  return false;
}

class Writer {
public:
  Writer(const Spec &spec, const Document &document) : spec_(spec), document_(document) {}

  std::string run() {
    find_arrays();
    line("kernel = " + quoted(spec_.kernel + "_backward"));
    std::vector<std::string> names;
    for (const GradientOutput &output : document_.outputs)
      names.push_back(output.of);
    line("doc = " + quoted("The gradient of " + spec_.kernel + " by " + enumerate_plainly(names) + ", given that of " +
                           enumerate_plainly(document_.differentiated)));
    if (!spec_.license.empty())
      line("license = " + quoted(spec_.license));
    line("backward_of = " + quoted(spec_.kernel));
    types();
    params();
    axes();
    arrays();
    if (!document_.functions_from.empty())
      line("functions_from = " + quoted(document_.functions_from));
    else if (!document_.functions.empty())
      line("functions = '''\n" + document_.functions + "'''");
    line("body = '''\n" + document_.body + "'''");
    return format_document(out_);
  }

private:
  void line(const std::string &text) { out_ += text + "\n"; }

  static std::string enumerate_plainly(const std::vector<std::string> &names) {
    std::string out;
    for (size_t i = 0; i < names.size(); ++i)
      out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return out;
  }

  bool is_used(const std::string &name) const {
    return document_.used.count(name) != 0 || (gives_shape_ != nullptr && gives_shape_->name == name);
  }
  bool is_differentiated(const std::string &name) const {
    const auto &list = document_.differentiated;
    return std::find(list.begin(), list.end(), name) != list.end();
  }

  // Several gradients of outputs are optional, and none of them need be there. What `...` stands for, some array must
  // tell: an input that the body does not read, where it reads none.
  void find_shape() {
    const auto tells = [](const OperandDecl &operand) { return !operand.optional && has_rest(operand); };
    if (document_.differentiated.size() < 2 || std::ranges::any_of(spec_.operands, [&](const OperandDecl &operand) {
          return is_used(operand.name) && tells(operand);
        }))
      return;
    const auto found = std::ranges::find_if(
        spec_.operands, [&](const OperandDecl &operand) { return operand.role == Role::input && tells(operand); });
    gives_shape_ = found == spec_.operands.end() ? nullptr : &*found;
  }

  // The arrays of the backward kernel: what names an axis there.
  void find_arrays() {
    find_shape();
    for (const OperandDecl &operand : spec_.operands) {
      const bool has_gradient = std::any_of(document_.outputs.begin(), document_.outputs.end(),
                                            [&](const GradientOutput &output) { return output.of == operand.name; });
      if (is_used(operand.name) || has_gradient || is_differentiated(operand.name))
        arrays_.push_back(&operand);
    }
    for (const OperandDecl *operand : arrays_)
      for (const DimDecl &dim : operand->dims) {
        axes_.insert(dim.axes.begin(), dim.axes.end());
        if (dim.extent)
          note_axes(*dim.extent);
      }
    for (const BatchDecl &batch : spec_.batch)
      axes_.insert(batch.axis);
    for (const TableDecl &table : spec_.tables)
      if (is_used(table.name) || is_row_start(table.name)) {
        for (const Size &dim : table.dims)
          note_axes(dim);
        if (table.range)
          note_axes(*table.range, in_formulas_);
      }
    for (const auto &[name, size] : document_.made_axes)
      note_axes(size, in_formulas_);
  }

  void note_axes(const Size &size) { note_axes(size, axes_); }

  static void note_axes(const Size &size, std::set<std::string> &axes) {
    if (size.op == Size::Op::axis)
      axes.insert(size.name);
    for (const Size &arg : size.args)
      note_axes(arg, axes);
  }

  bool is_row_start(const std::string &table) const {
    return std::any_of(spec_.axes.begin(), spec_.axes.end(),
                       [&](const AxisDecl &axis) { return axis.ragged == table && keeps(axis); });
  }

  void types() {
    for (size_t t = 0; t < spec_.types.size(); ++t) {
      std::vector<std::string> choices;
      for (Type type : spec_.types[t].choices)
        if (std::any_of(document_.types.begin(), document_.types.end(),
                        [&](const std::vector<Type> &row) { return row[t] == type; }))
          choices.push_back(quoted(std::string(type_row(type).name)));
      line("types." + spec_.types[t].name + " = [" + join(choices, ", ") + "]");
    }
    size_t all = 1;
    for (size_t t = 0; t < spec_.types.size(); ++t) {
      std::set<Type> choices;
      for (const std::vector<Type> &row : document_.types)
        choices.insert(row[t]);
      all *= choices.size();
    }
    if (spec_.types.size() < 2 || all == document_.types.size())
      return;
    std::vector<std::string> rows;
    for (const std::vector<Type> &row : document_.types) {
      std::vector<std::string> names;
      for (Type type : row)
        names.push_back(quoted(std::string(type_row(type).name)));
      rows.push_back("[" + join(names, ", ") + "]");
    }
    line("types.only = [" + join(rows, ", ") + "]");
  }

  static std::string value_text(const ParamValue &value) {
    if (const auto *integer = std::get_if<int64_t>(&value))
      return std::to_string(*integer);
    if (const auto *name = std::get_if<std::string>(&value))
      return quoted(*name);
    std::string text = number_text(std::get<double>(value));
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }

  bool sizes_need(const std::string &param) const {
    auto needs = [&](const Size &size) { return mentions(size, Size::Op::param, param); };
    for (const OperandDecl *operand : arrays_)
      for (const DimDecl &dim : operand->dims)
        if (dim.extent && needs(*dim.extent))
          return true;
    for (const AxisDecl &axis : spec_.axes)
      if (axis.equals && needs(*axis.equals) && keeps(axis))
        return true;
    for (const TableDecl &table : spec_.tables)
      if ((is_used(table.name) || is_row_start(table.name)) &&
          ((table.range && needs(*table.range)) || std::any_of(table.dims.begin(), table.dims.end(), needs)))
        return true;
    return false;
  }

  void params() {
    for (const Param &param : spec_.params) {
      if (document_.params.count(param.name) == 0 && !is_used(param.name) && !sizes_need(param.name) &&
          !mentions_word(document_.functions, param.name))
        continue;
      std::vector<std::string> values;
      for (const ParamValue &value : param.choices)
        values.push_back(value_text(value));
      line("params." + param.name + " = " + (param.is_list ? "[" + join(values, ", ") + "]" : values[0]));
    }
  }

  // Is its declaration one that the backward kernel can keep? What a formula mentions must be there.
  bool keeps(const AxisDecl &axis) const {
    if (axes_.count(axis.name) == 0 && in_formulas_.count(axis.name) == 0 && !mentions_word(document_.body, axis.name))
      return false;
    if (!axis.equals)
      return true;
    return !any_node(*axis.equals, [&](const Size &node) {
      const bool declared = std::any_of(spec_.axes.begin(), spec_.axes.end(), [&](const AxisDecl &other) {
        return other.name == node.name && !other.fixed.empty();
      });
      return node.op == Size::Op::axis && axes_.count(node.name) == 0 && !declared;
    });
  }

  void axes() {
    std::set<std::string> formulas; // axes of fixed sizes that stand in a formula that stays
    for (const AxisDecl &axis : spec_.axes)
      if (axis.equals && keeps(axis))
        any_node(*axis.equals, [&](const Size &node) {
          if (node.op == Size::Op::axis)
            formulas.insert(node.name);
          return false;
        });
    for (const AxisDecl &axis : spec_.axes) {
      if (!keeps(axis) && formulas.count(axis.name) == 0)
        continue;
      std::string text = "axes." + axis.name + " = ";
      if (!axis.ragged.empty())
        text += "{ ragged = " + quoted(axis.ragged) + ", over = " + quoted(axis.over) + " }";
      else if (axis.fixed.size() == 1)
        text += std::to_string(axis.fixed[0]);
      else if (!axis.fixed.empty()) {
        std::vector<std::string> sizes;
        for (int64_t size : axis.fixed)
          sizes.push_back(std::to_string(size));
        text += "[" + join(sizes, ", ") + "]";
      } else if (axis.equals)
        text += "{ equals = " + quoted(to_string(*axis.equals)) + " }";
      else if (axis.multiple_of != 1)
        text += "{ multiple_of = " + std::to_string(axis.multiple_of) + " }";
      else
        continue;
      line(text);
    }
    for (const auto &[name, size] : document_.body_axes) { // no array is left that would name it
      const bool declared = std::any_of(spec_.axes.begin(), spec_.axes.end(), [&, axis = name](const AxisDecl &decl) {
        return decl.name == axis && keeps(decl);
      });
      if (axes_.count(name) == 0 && !declared)
        line("axes." + name + " = " + (size == Size::axis(name) ? "{ multiple_of = 1 }" : size_text(size)));
    }
    for (const auto &[name, size] : document_.made_axes)
      line("axes." + name + " = " + size_text(size));
  }

  static std::string size_text(const Size &size) {
    return size.is_integer() ? to_string(size) : "{ equals = " + quoted(to_string(size)) + " }";
  }

  DimDecl renamed(const OperandDecl &operand, DimDecl dim) const {
    for (std::string &axis : dim.axes)
      if (const auto own = document_.renamed.find({operand.name, axis}); own != document_.renamed.end())
        axis = own->second;
    return dim;
  }

  std::string brackets(const OperandDecl &operand) const {
    std::vector<std::string> dims;
    for (const BatchDecl &batch : spec_.batch)
      if (std::find(batch.operands.begin(), batch.operands.end(), operand.name) != batch.operands.end() ||
          operand.role == Role::output)
        dims.push_back(batch.axis);
    for (const DimDecl &dim : operand.dims)
      dims.push_back(dim_text(renamed(operand, dim)));
    return "[" + join(dims, ", ") + "]";
  }

  void array(const std::string &section, const std::string &name, const std::string &type, const OperandDecl &operand,
             bool optional, bool atomic) {
    const std::string text = quoted(type + brackets(operand));
    std::string more = operand.strided ? ", layout = \"strided\"" : "";
    more += optional ? ", optional = true" : "";
    more += atomic ? ", atomic = true" : "";
    line(section + "." + name + " = " + (more.empty() ? text : "{ type = " + text + more + " }"));
  }

  void table(const TableDecl &table) {
    const std::string text = quoted(declared_text(table));
    std::string more = table.sorted ? ", sorted = true" : "";
    more += table.unique ? ", unique = true" : "";
    more += table.range ? ", range = " + quoted(to_string(*table.range)) : "";
    more += table.on_host ? ", where = \"host\"" : "";
    line("tables." + table.name + " = " + (more.empty() ? text : "{ type = " + text + more + " }"));
  }

  // Forward inputs and tables, forward outputs, gradients of outputs, scalars, gradients of inputs.
  void arrays() {
    std::vector<std::pair<int, int>> order; // line, then which
    for (size_t i = 0; i < spec_.operands.size(); ++i)
      if (spec_.operands[i].role == Role::input && is_used(spec_.operands[i].name))
        order.emplace_back(spec_.operands[i].place.line, static_cast<int>(i));
    for (size_t i = 0; i < spec_.tables.size(); ++i)
      if (is_used(spec_.tables[i].name) || is_row_start(spec_.tables[i].name))
        order.emplace_back(spec_.tables[i].place.line, -1 - static_cast<int>(i));
    std::stable_sort(order.begin(), order.end());
    for (const auto &[at, which] : order) {
      if (which < 0) {
        table(spec_.tables[static_cast<size_t>(-1 - which)]);
        continue;
      }
      const OperandDecl &operand = spec_.operands[static_cast<size_t>(which)];
      array("inputs", operand.name, type_text(operand.type), operand, operand.optional, false);
    }
    for (const OperandDecl &operand : spec_.operands)
      if (operand.role == Role::output && is_used(operand.name))
        array("inputs", operand.name, type_text(operand.type), operand, false, false);
    const bool several = document_.differentiated.size() > 1;
    for (const OperandDecl &operand : spec_.operands)
      if (operand.role == Role::output && is_differentiated(operand.name))
        array("inputs", document_.prefix + operand.name, type_text(operand.type), operand, several, false);
    for (const Scalar &scalar : spec_.scalars)
      if (is_used(scalar.name))
        line("scalars." + scalar.name + " = " + quoted(type_text(scalar.type)));
    for (const GradientOutput &output : document_.outputs) {
      const bool optional = document_.outputs.size() > 1;
      const auto of = std::find_if(spec_.operands.begin(), spec_.operands.end(),
                                   [&](const OperandDecl &operand) { return operand.name == output.of; });
      if (of != spec_.operands.end())
        array("outputs", output.name, output.type.empty() ? type_text(of->type) : output.type, *of, optional,
              output.atomic);
      else
        line("outputs." + output.name + " = " +
             (optional ? "{ type = \"" + output.type + "[]\", optional = true }" : "\"" + output.type + "[]\""));
    }
  }

  const Spec &spec_;
  const Document &document_;
  std::string out_;
  const OperandDecl *gives_shape_ = nullptr;
  std::vector<const OperandDecl *> arrays_;
  std::set<std::string> axes_, in_formulas_; // that arrays name; that ranges and other axes name
};

} // namespace

namespace {

// Without those that neither the body nor a choice calls.
std::string used_functions(const Spec &spec, const Document &document) {
  std::string text = document.functions;
  std::set<std::string, std::less<>> names, known;
  body::add_words(document.body, names);
  body::add_words(text, known);
  for (const Param &param : spec.params)
    for (const ParamValue &value : param.choices)
      if (const auto *function = std::get_if<std::string>(&value); function && document.params.count(param.name) != 0)
        names.insert(*function);
  body::add_derivatives(known, names);
  const std::vector<body::Definition> unused = body::unused_definitions(text, names);
  for (auto it = unused.rbegin(); it != unused.rend(); ++it)
    text.erase(it->begin, it->end - it->begin);
  const std::string_view rest = trim(text);
  return rest.empty() ? "" : std::string(rest) + "\n";
}

// The functions that a name in the body may mean: what a parameter chooses from, or itself.
std::vector<std::string> meanings(const Spec &spec, const std::string &name) {
  const auto param = std::ranges::find(spec.params, name, &Param::name);
  if (param == spec.params.end())
    return {name};
  std::vector<std::string> out;
  for (const ParamValue &value : param->choices)
    if (const auto *function = std::get_if<std::string>(&value))
      out.push_back(*function);
  return out;
}

} // namespace

bool add_functions(const Spec &spec, bool functions_from_stay, Document &document, Diagnostics &diags) {
  const std::string own = spec.functions.given() ? std::string(trim(spec.functions.text)) + "\n" : "";
  const std::set<std::string> with_derivatives = functions_with_derivatives(spec);
  if (std::ranges::any_of(document.params, [&](const std::string &name) {
        return with_derivatives.contains(name) ||
               std::ranges::find(spec.params, name, &Param::name) != spec.params.end();
      }))
    document.functions = own;
  for (const auto &[name, called] : document.derivatives)
    for (const std::string &function : meanings(spec, name)) {
      const std::optional<std::string> text = derivative_functions(spec, function, called, diags);
      if (!text)
        return false;
      document.functions += (document.functions.empty() || text->empty() ? "" : "\n") + *text;
    }
  if (functions_from_stay && !own.empty() && document.functions == own)
    document.functions_from = spec.functions_from;
  else
    document.functions = used_functions(spec, document);
  return true;
}

std::string backward_document(const Spec &spec, const Document &document) { return Writer(spec, document).run(); }

} // namespace kgen::grad
