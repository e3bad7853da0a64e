// The reference comes from the printer of scalar code: its types are taken for Number by name. What a function's
// arguments are filled with follows from what the kernel declares of them.
#include "emit/interface/selfcheck.h"

#include <algorithm>
#include <regex>
#include <set>

#include "emit/emit.h"
#include "emit/interface/header.h"
#include "emit/target_file.h"
#include "emit/text/helpers.h"
#include "emit/text/reuse_names.h"
#include "ir/evaluate.h"
#include "ir/interpret.h"
#include "plan/naive.h"

namespace kgen {
namespace {

Size product(std::vector<Size> factors) {
  Size out = Size::integer(1);
  for (Size &factor : factors)
    out = Size::make(Size::Op::multiply, {out, std::move(factor)});
  return out;
}

Size least(const Size &a, const Size &b) { return Size::make(Size::Op::min, {a, b}); }

constexpr int64_t kLargestConstant = 4096; // of those that sizes are taken from

// Scalar C++ over Numbers.
std::string over_numbers(const std::string &text) {
  static const std::pair<std::regex, const char *> kRows[] = {
      {std::regex("\\b(float|double)\\b"), "Number"},
      {std::regex("bits_as<Number>"), "bits_as<float>"}, // of whole numbers: the float that they are
      {std::regex("std::([a-z]\\w*)\\("), "$1("},
      {std::regex("\\b((to|from)_b?f16)\\("), "Number::$1("}};
  std::string out = text;
  for (const auto &[pattern, with] : kRows)
    out = std::regex_replace(out, pattern, with);
  return out;
}

std::string element_type(Type type) {
  switch (type) {
  case Type::f64:
    return "Floating<F64>";
  case Type::f32:
    return "Floating<F32>";
  case Type::bf16:
    return "Floating<BF16>";
  case Type::f16:
    return "Floating<F16>";
  default:
    return "Whole<" + Spelling::c_type(type) + ">";
  }
}

std::string reference_type(Type type) { return is_floating(type) ? "Number" : Spelling::c_type(type); }

Names names_beside_numbers(const Function &function, const Kernel &kernel) {
  Names names = names_of(function, kernel);
  for (const char *name : {"Number", "Buffer", "Array", "Whole", "Floating", "F32", "F64", "F16", "BF16", "Random",
                           "Cost", "Axis", "Tally", "kUnit", "kLargest", "slack", "close_calls"})
    names.reserve(name);
  return names;
}

// One variation as plain loops: `void reference_softmax_f32(const Number* x, Number* y, int64_t rows, int64_t N)`.
class Reference {
public:
  Reference(const Function &function, const Variation &variation, Spelling &spelling)
      : function_(function), variation_(variation), plan_(make_naive_plan(variation.kernel, variation.facts)),
        names_(names_beside_numbers(function, plan_.kernel)), printer_(plan_, variation.facts, spelling, names_) {
    printer_.plain = true;
  }

  std::string text() {
    std::string buffers;
    for (const Buffer &b : buffers_of(plan_, printer_))
      buffers += "Buffer<" + reference_type(b.type) + "> " + b.name + "(" + b.elements + ");\n";
    printer_.list(plan_.phases.front().nodes);
    const std::string body = over_numbers(buffers + printer_.lines.text());
    std::string parameters;
    std::vector<std::string> names;
    for (const Argument &a : function_.arguments) {
      parameters += (parameters.empty() ? "" : ", ") + parameter(a);
      names.push_back(a.name);
    }
    const std::string text = "inline void reference_" + variation_name(function_, variation_) + "(" + parameters +
                             ") {\n" + silence_unused(names, body) + derived_declarations(printer_, body) + body +
                             "}\n";
    return reuse_names({text}, names_).front();
  }

private:
  std::string parameter(const Argument &a) const {
    const bool constant = a.kind == Argument::Kind::in || a.kind == Argument::Kind::table;
    if (a.var != kNone)
      return (constant ? "const " : "") + reference_type(plan_.kernel.vars[a.var].type) + "* " + a.name;
    return a.kind == Argument::Kind::scalar ? over_numbers(a.declaration()) : a.declaration();
  }

  const Function &function_;
  const Variation &variation_;
  Plan plan_;
  Names names_;
  Printer printer_;
};

// The arguments of a function, made for given sizes: a struct with what the checking code asks of it.
class Case {
public:
  Case(const Function &function, Spelling &spelling)
      : function_(function), variation_(*function.variations.front()), kernel_(variation_.kernel),
        nothing_(nothing(kernel_)), names_(names_of(function, kernel_)),
        printer_(nothing_, variation_.facts, spelling, names_) {}

  std::string name() const { return camel(function_.stem) + "Case"; }

  std::string text() {
    return "struct " + name() + " {\nstatic constexpr const char* kName = \"" + function_.stem + "\";\n" + axes() +
           cost() + members() + constructor() + calls() + "};\n";
  }

private:
  static Plan nothing(const Kernel &kernel) {
    Plan plan;
    plan.kernel = kernel;
    plan.storage.resize(kernel.vars.size());
    return plan;
  }

  template <class Visit> void each(Argument::Kind kind, Visit visit) {
    for (const Argument &a : function_.arguments)
      if (a.kind == kind)
        visit(a);
  }

  static bool is_array(const Argument &a) { return a.var != kNone; }
  Type type_of(const Argument &a) const { return kernel_.vars[a.var].type; }

  // Sizes worth trying: few, around the machine's vectors, and around blocks.
  std::set<int64_t> sizes_of(AxisId id) const {
    const Axis &axis = kernel_.axes[id];
    std::set<int64_t> out;
    for (const Variation *variation : function_.variations) {
      const auto fixed = variation->variant.axes.find(axis.name);
      if (fixed != variation->variant.axes.end())
        out.insert(fixed->second);
    }
    if (!out.empty())
      return out;
    out = {0, 1, 2, 3, 7, 8, 17, 33, 64, 130};
    auto note = [&](const Size &block) {
      if (block.is_integer() && block.value > 1)
        out.insert({block.value - 1, block.value, block.value + 1});
    };
    for (const GridDim &dim : kernel_.grid)
      if (dim.axis == id)
        note(dim.block);
    for (const Var &var : kernel_.vars)
      for (const Dim &dim : var.dims)
        if (dim.axis == id && !dim.whole)
          note(dim.block);
    // Where a derived size turns: axes.F = "(N - 400) / 160 + 1".
    for (const Axis &other : kernel_.axes)
      if (other.derived && mentions(other.size, Size::Op::axis, axis.name))
        any_node(other.size, [&](const Size &node) {
          if (node.is_integer() && node.value > 2 && node.value <= kLargestConstant)
            out.insert({node.value - 1, node.value, 2 * node.value + 1});
          return false;
        });
    std::set<int64_t> multiples;
    for (int64_t size : out)
      multiples.insert(fitting_size(axis, size));
    return multiples;
  }

  std::string axes() const {
    std::string rows;
    for (AxisId id : kernel_.size_arguments) {
      const Axis &axis = kernel_.axes[id];
      std::string sizes;
      for (int64_t size : sizes_of(id))
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
      const bool listed = variation_.variant.axes.count(axis.name) != 0;
      rows += (rows.empty() ? "" : ", ") + ("{\"" + (axis.rest ? "rows" : axis.name)) + "\", " +
              std::to_string(axis.multiple_of) + ", " + (listed ? "true" : "false") + ", {" + sizes + "}}";
    }
    return "static std::vector<Axis> axes() { return {" + rows + "}; }\n";
  }

  // `const int64_t M = size[0], ...` for what the text needs of them.
  std::string size_declarations(const std::string &text) {
    const std::string derived = derived_declarations(printer_, text);
    std::string out;
    int position = 0;
    each(Argument::Kind::size, [&](const Argument &a) {
      out += "const int64_t " + a.name + " = size[" + std::to_string(position++) + "];\n";
      if (!mentions_word(derived + text, a.name))
        out += "(void)" + a.name + ";\n";
    });
    return (position == 0 ? "(void)size;\n" : "") + out + derived;
  }

  // A size of the kernel, which may differ between the specialisations of axes.
  template <class Get> std::string size_text(Get get) {
    std::string out;
    bool same = true;
    for (size_t v = function_.variations.size(); v-- > 0;) {
      const Variation &variation = *function_.variations[v];
      const std::string one = printer_.size_text(get(variation));
      same &= out.empty() || one == printer_.size_text(get(*function_.variations.back()));
      out = out.empty() ? one : variation_condition(variation) + " ? " + one + " : " + out;
    }
    return same ? printer_.size_text(get(variation_)) : "(" + out + ")";
  }

  static Size operations(const Variation &variation) {
    Size out = Size::integer(0);
    for (const auto &[op, count] : variation.facts.counts.operations)
      out = Size::make(Size::Op::add, {out, count});
    return out;
  }

  static Size bytes(const Variation &variation) {
    const Counts &counts = variation.facts.counts;
    return Size::make(Size::Op::add, {counts.bytes_read, counts.bytes_written});
  }

  static Size longest(const Variation &variation) {
    AxisSet reduced;
    for (const Expr &e : variation.kernel.exprs)
      reduced |= e.op == Op::fold ? e.reduced : e.op == Op::scan ? AxisSet::of(e.axis) : AxisSet();
    std::vector<Size> folded;
    for (AxisId axis : reduced.list())
      folded.push_back(variation.kernel.axes[axis].size);
    return product(folded);
  }

  std::string cost() {
    std::string values;
    for (auto *get : {operations, bytes, longest})
      values += (values.empty() ? "" : ", ") + ("static_cast<double>(" + size_text(get)) + ")";
    const std::string text = "return {" + values + "};\n";
    return "static Cost cost(const int64_t* size) {\n" + size_declarations(text) + text + "}\n";
  }

  std::string members() {
    std::string out;
    for (const Argument &a : function_.arguments) {
      if (is_array(a))
        out += "Array<" + element_type(type_of(a)) + "> " + a.name + ";\n";
      else if (a.kind == Argument::Kind::table)
        out += "Buffer<" + Spelling::c_type(kernel_.tables[a.table].type) + "> " + a.name + ";\n";
      else
        out += a.type + " " + a.name + " = 0;\n";
    }
    return "struct {\n" + out + "} arguments;\n\n";
  }

  // Integers that a coordinate is made of lie in its dimension.
  std::optional<Size> coordinate_end(VarId var) const {
    std::optional<Size> out;
    for (const Expr &e : kernel_.exprs)
      if (e.op == Op::read || e.op == Op::inside)
        note_coordinates(kernel_.vars[e.ref], e.coords, var, out);
    note_coordinates(kernel_.statements, var, out);
    return out;
  }
  void note_coordinates(const std::vector<Stmt> &list, VarId var, std::optional<Size> &out) const {
    for (const Stmt &s : list) {
      if (s.kind == Stmt::Kind::assign)
        note_coordinates(kernel_.vars[s.target], s.coords, var, out);
      for (const auto *inner : {&s.body, &s.otherwise, &s.step})
        note_coordinates(*inner, var, out);
    }
  }
  void note_coordinates(const Var &target, const std::vector<Coordinate> &coords, VarId var,
                        std::optional<Size> &out) const {
    for (const Coordinate &c : coords) {
      ExprId value = c.value;
      while (kernel_.expr(value).op == Op::cast)
        value = kernel_.expr(value).args[0];
      for (const Dim &dim : target.dims)
        if (kernel_.expr(value).op == Op::read && kernel_.expr(value).ref == var && dim.axis == c.axis)
          out = dim.extent;
    }
  }

  // Strides of a row-major array with gaps, and the elements that it then takes.
  std::string strides(const Argument &a, std::string &elements) {
    const Var &var = kernel_.vars[a.var];
    std::vector<std::pair<std::string, std::vector<Size>>> dims; // stride argument and extents, by array dimension
    const auto own = [&](const Argument &s) { return s.name.rfind(var.name + "_stride_", 0) == 0; };
    each(Argument::Kind::stride, [&](const Argument &s) {
      if (own(s))
        dims.push_back({s.name, {}});
    });
    int last = -1, at = -1;
    for (const Dim &dim : var.dims) {
      at += dim.array_dim != last;
      last = dim.array_dim;
      dims[static_cast<size_t>(at)].second.push_back(dim.extent);
    }
    std::string out, step = "2";
    for (auto it = dims.rbegin(); it != dims.rend(); ++it) {
      out += "this->arguments." + it->first + " = " + step + ";\n";
      step = "this->arguments." + it->first + " * larger(1, " + printer_.size_text(product(it->second)) + ")";
      printer_.spelling.helper("larger");
    }
    elements = step;
    return out;
  }

  // What entries of a table may be: as declared; else what windows by it allow; else the smallest axis.
  Size table_end(const Table &table) const {
    if (table.range)
      return *table.range;
    std::optional<Size> out;
    auto note = [&](Size size) { out = out ? least(*out, size) : size; };
    for (const Var &var : kernel_.vars)
      for (const Dim &dim : var.dims)
        if (mentions(dim.start, Size::Op::table, table.name))
          note(dim.offset ? Size::make(Size::Op::add,
                                       {Size::make(Size::Op::subtract, {dim.extent, dim.block}), Size::integer(1)})
                          : Size::make(Size::Op::cdiv, {dim.extent, dim.block}));
    for (size_t a = 0; !out && a < kernel_.axes.size(); ++a)
      note(kernel_.axes[a].size);
    return out.value_or(Size::integer(1));
  }

  std::string fill_table(const Argument &a) {
    const Table &table = kernel_.tables[a.table];
    const std::string type = Spelling::c_type(table.type),
                      count = size_text([&](const Variation &v) { return product(v.kernel.tables[a.table].dims); });
    for (const Axis &axis : kernel_.axes)
      if (axis.ragged == a.table)
        return "make_row_starts<" + type + ">(" + count + ", " + printer_.size_text(axis.size) + ", random);\n";
    return "make_table<" + type + ">(" + count + ", " + printer_.size_text(table_end(table)) + ", " +
           (table.sorted ? "true, " : "false, ") + (table.unique ? "true" : "false") + ", random);\n";
  }

  std::string fill_array(const Argument &a) {
    std::string out, elements = size_text([&](const Variation &v) { return v.facts.operands[a.var].elements; });
    const Var &var = kernel_.vars[a.var];
    if (var.strided)
      out = strides(a, elements);
    const std::optional<Size> end =
        is_integer(var.type) && a.kind != Argument::Kind::out ? coordinate_end(a.var) : std::nullopt;
    out += "this->arguments." + a.name + (end ? ".fill_below(" : ".fill(") + elements + ", random" +
           (end ? ", " + printer_.size_text(*end) : "") + ");\n";
    if (a.optional)
      out += "this->arguments." + a.name + ".present = random.below(2) == 0;\n";
    return out;
  }

  std::string constructor() {
    std::string body;
    for (const Argument &a : function_.arguments) {
      const std::string place = "this->arguments." + a.name + " = ";
      if (is_array(a))
        body += fill_array(a);
      else if (a.kind == Argument::Kind::table)
        body += place + fill_table(a);
      else if (a.kind == Argument::Kind::size)
        body += place + a.name + ";\n";
      else if (a.kind == Argument::Kind::scalar)
        body += place + "static_cast<" + a.type + ">(" +
                (a.type == "float" || a.type == "double"
                     ? "random.whole ? 1.0 + static_cast<double>(random.below(3)) : 0.25 + 0.5 * random.unit()"
                     : "1 + random.below(5)") +
                ");\n";
    }
    if (!mentions_word(body, "random"))
      body += "(void)random;\n";
    return name() + "(const int64_t* size, Random& random) {\n" + size_declarations(body) + body + "}\n";
  }

  std::string passed(const Argument &a, bool reference) const {
    const std::string place = "arguments." + a.name;
    if (is_array(a))
      // The reference computes an output that is not wanted, too; it is not compared.
      return place + (!reference ? ".data()" : a.kind == Argument::Kind::out ? ".reference.data()" : ".expected()");
    return place + (a.kind == Argument::Kind::table ? ".data()" : "");
  }

  std::string calls() {
    std::string run, reference, remember, compare, choice;
    for (const Argument &a : function_.arguments) {
      run += (run.empty() ? "" : ", ") + passed(a, false);
      reference += (reference.empty() ? "" : ", ") + passed(a, true);
      if (is_array(a))
        remember += "arguments." + a.name + ".remember();\n";
    }
    each(Argument::Kind::out, [&](const Argument &a) { compare += compared(a); });
    each(Argument::Kind::inout, [&](const Argument &a) { compare += compared(a); });
    const std::string memory = ", nullptr, 0";
    for (const Variation *variation : function_.variations) {
      std::string condition;
      for (const auto &[axis, size] : variation->variant.axes)
        condition += (condition.empty() ? "" : " && ") + ("arguments." + c_name(axis)) + " == " + std::to_string(size);
      choice += (condition.empty() ? "" : "if (" + condition + ") ") + "reference_" +
                variation_name(function_, *variation) + "(" + reference + ");\n";
    }
    return "int run() { return " + function_.stem + "_openmp(" + run + (needs_workspace ? memory : "") + "); }\n" +
           "void reference() {\n" + choice + "}\nvoid remember() {\n" + remember + "}\n" +
           "void compare(Tally& tally) {\n" + compare + "}\n";
  }

  static std::string compared(const Argument &a) {
    return "compare_array(\"" + a.name + "\", arguments." + a.name + ", tally);\n";
  }

  const Function &function_;
  const Variation &variation_;
  const Kernel &kernel_;
  Plan nothing_;
  Names names_;
  Printer printer_;

public:
  bool needs_workspace = false; // of the OpenMP function
};

std::string long_text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%aL", value);
  return buffer;
}

} // namespace

std::string selfcheck_text(const Spec &spec, const std::vector<Function> &functions, const TargetSource &openmp,
                           const Templates &templates) {
  Spelling spelling(TargetKind::openmp);
  Views references, cases, names;
  std::set<Type> types;
  bool all_double = true;
  for (const Function &function : functions) {
    for (const Variation *variation : function.variations) {
      references.push_back(View().set("text", Reference(function, *variation, spelling).text()));
      all_double &= accumulating_type(variation->kernel) == Type::f64;
      for (const Var &var : variation->kernel.vars)
        types.insert(var.type);
    }
    Case one(function, spelling);
    one.needs_workspace = takes_workspace(function, "openmp", openmp);
    cases.push_back(View().set("text", one.text()));
    names.push_back(View().set("text", one.name()));
  }
  for (Type type : types)
    if (is_half(type))
      for (const char *way : {"from_", "to_"})
        spelling.helper(way + std::string(type == Type::bf16 ? "bf16" : "f16"));
  const std::string helpers = helper_text(templates, TargetKind::openmp, spelling.helpers());
  View view;
  view.set("banner", banner(spec, "Checks and times the OpenMP functions: compile and link it with " + spec.kernel +
                                      "_openmp.cpp.\n"));
  view.set("arguments", templates.render("openmp/selfcheck_arguments.cpp",
                                         View().set("kernel", spec.kernel).set("functions", names)));
  view.set("kernel", spec.kernel).set("references", references).set("cases", cases).set("functions", names);
  view.set("helpers", helpers.empty() ? Views{} : Views{View().set("text", helpers)});
  view.set("bf16", types.count(Type::bf16) != 0).set("f16", types.count(Type::f16) != 0);
  view.set("unit", long_text(unit_roundoff(all_double ? Type::f64 : Type::f32)));
  view.set("largest", long_text(largest_finite(all_double ? Type::f64 : Type::f32)));
  return templates.render("openmp/selfcheck.cpp", view);
}

} // namespace kgen
