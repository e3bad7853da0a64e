// Each choice of types and parameters is differentiated by itself, and all must give the same text.
#include "grad/grad.h"

#include <algorithm>
#include <set>

#include "analysis/facts.h"
#include "grad/arrays_of_sizes.h"
#include "grad/document.h"
#include "grad/fixed_numbers.h"
#include "grad/functions.h"
#include "grad/program.h"
#include "grad/rules.h"
#include "grad/saving.h"
#include "grad/without_batch.h"
#include "rewrite/canonicalize.h"
#include "rewrite/folds_of_loops.h"
#include "support/text.h"

namespace kgen {
namespace grad {
namespace {

using Kind = Node::Kind;

// An axis of several sizes has any: the text is the same for all of them.
Spec without_sizes(Spec spec) {
  for (AxisDecl &axis : spec.axes)
    if (axis.fixed.size() > 1)
      axis.fixed.clear();
  return spec;
}

// A statement as it stands in the text, on one line.
std::string statement_at(const Spec &spec, const Place &place) {
  const Text *text = place.file == spec.body.place.file && spec.body.place.line > 0 ? &spec.body : nullptr;
  if (text == nullptr || place.line < text->place.line)
    text = spec.functions.given() && place.file == spec.functions.place.file ? &spec.functions : text;
  if (text == nullptr || place.line < text->place.line)
    return "";
  size_t at = 0;
  for (int line = text->place.line; line < place.line; ++line)
    at = std::min(text->text.find('\n', at), text->text.size() - 1) + 1;
  at += static_cast<size_t>(place.column - (place.line == text->place.line ? text->place.column : 1));
  if (at >= text->text.size())
    return "";
  // From the end of what stands before to its own end.
  size_t begin = at == 0 ? std::string::npos : text->text.find_last_of(";{}", at - 1);
  begin = begin == std::string::npos ? 0 : begin + 1;
  int depth = 0; // of brackets, in which a loop has semicolons
  for (size_t i = begin; i < at; ++i) {
    depth += text->text[i] == '(' ? 1 : text->text[i] == ')' ? -1 : 0;
    if (depth < 0) { // of the loop around it
      begin = i + 1;
      depth = 0;
    }
  }
  depth = 0;
  std::string out;
  for (size_t i = begin; i < text->text.size() && (text->text[i] != ';' || depth > 0) && text->text[i] != '{'; ++i) {
    depth += text->text[i] == '(' ? 1 : text->text[i] == ')' ? -1 : 0;
    const bool blank = text->text[i] == ' ' || text->text[i] == '\n';
    if (!blank || (!out.empty() && out.back() != ' '))
      out += blank ? ' ' : text->text[i];
  }
  if (const size_t comment = out.rfind("// "); comment != std::string::npos)
    return ""; // its own text is hard to tell from the comment
  constexpr size_t kMost = 90;
  return out.size() > kMost ? out.substr(0, out.rfind(' ', kMost)) + " ..." : out;
}

// The first statement in which one body is another than the other, of each.
std::pair<std::string, std::string> first_difference(const std::string &one, const std::string &other) {
  const auto statements = [](const std::string &body) {
    std::vector<std::string> out = split(body, '\n');
    std::erase_if(out, [](const std::string &line) { return line.empty() || line.starts_with("//"); });
    return out;
  };
  const std::vector<std::string> ones = statements(one), others = statements(other);
  const auto [a, b] = std::mismatch(ones.begin(), ones.end(), others.begin(), others.end());
  return {a == ones.end() ? "nothing" : "`" + *a + "`", b == others.end() ? "nothing" : "`" + *b + "`"};
}

class Differentiation {
public:
  Differentiation(const Spec &spec, const GradOptions &options, Diagnostics &diags)
      : spec_(spec), flat_(with_fixed_numbers(without_batch(spec))), exact_outputs_(exact_outputs(spec)),
        options_(options), diags_(diags) {}

  std::optional<BackwardSpec> run(const std::vector<Variant> &variants, const std::vector<body::Body> &bodies) {
    if (!check_names())
      return std::nullopt;
    find_prefix(bodies);
    several_reals_ = std::any_of(variants.begin(), variants.end(),
                                 [&](const Variant &variant) { return variant.real != variants[0].real; });
    std::optional<Document> first;
    size_t first_at = 0;
    // Choices for which fewer arrays are floating are left out.
    size_t most = 0;
    for (const Variant &variant : variants)
      most = std::max(most, floating_arrays(variant));
    for (size_t v = 0; v < variants.size(); ++v) {
      if (!has_real_input(variants[v]) || floating_arrays(variants[v]) < most)
        continue;
      std::optional<Document> document = differentiate(variants[v], bodies[v], first.has_value());
      if (!document)
        return std::nullopt;
      if (first && (document->body != first->body || document->used != first->used)) {
        const auto [here, there] = first_difference(document->body, first->body);
        Diagnostic &differs = diags_.add(DiagId::grad_differs, spec_.kernel_place,
                                         {name_of(variants[v]), name_of(variants[first_at]), here, there});
        if (const std::string fixed = defines_of(variants[v], variants[first_at]); !fixed.empty())
          differs.help = "make one of them: " + fixed;
        return std::nullopt;
      }
      std::vector<Type> row;
      for (const TypeParam &type : spec_.types)
        row.push_back(variants[v].types.at(type.name));
      if (!first) {
        first = std::move(document);
        first_at = v;
      }
      if (std::find(first->types.begin(), first->types.end(), row) == first->types.end())
        first->types.push_back(row);
    }
    if (!first) {
      const bool input = std::any_of(variants.begin(), variants.end(),
                                     [&](const Variant &variant) { return !wanted(variant).empty(); });
      add_nothing(input);
      return std::nullopt;
    }
    if (!add_functions(spec_, options_.functions_from_stay, *first, diags_))
      return std::nullopt;
    return BackwardSpec{spec_.kernel + "_backward", prefix_, backward_document(flat_, *first), first->used, ""};
  }

private:
  static std::string name_of(const Variant &variant) { return variant.suffix.empty() ? "the kernel" : variant.suffix; }

  bool is_real(const TypeName &type, const Variant &variant) const { return is_floating(type_of(type, variant)); }

  size_t floating_arrays(const Variant &variant) const {
    return static_cast<size_t>(std::count_if(spec_.operands.begin(), spec_.operands.end(), [&](const auto &operand) {
      return operand.role != Role::scratch && is_real(operand.type, variant);
    }));
  }

  bool has_real_input(const Variant &variant) const {
    const auto real = [&](const auto &decl) { return is_real(decl.type, variant); };
    const bool input = std::any_of(spec_.operands.begin(), spec_.operands.end(), [&](const OperandDecl &operand) {
      return operand.role == Role::input && real(operand);
    });
    const bool output = std::any_of(spec_.operands.begin(), spec_.operands.end(), [&](const OperandDecl &operand) {
      return operand.role == Role::output && real(operand);
    });
    return (input || !options_.of.empty()) && output;
  }

  // No floating input is wanted, or no floating output given.
  void add_nothing(bool has_input) {
    const char *what = has_input ? "output" : options_.of.empty() ? "input" : "input that --of names";
    diags_.add(DiagId::grad_no_input, spec_.kernel_place, {spec_.kernel, what}).help =
        "whole numbers and truth values have no gradient; give the array a floating type";
  }

  const OperandDecl *operand(const std::string &name) const {
    for (const OperandDecl &operand : spec_.operands)
      if (operand.name == name)
        return &operand;
    return nullptr;
  }

  bool check_names() {
    const size_t before = diags_.error_count();
    for (const std::string &name : options_.of) {
      const OperandDecl *found = operand(name);
      const bool scalar = std::any_of(spec_.scalars.begin(), spec_.scalars.end(),
                                      [&](const Scalar &scalar) { return scalar.name == name; });
      if (!scalar && (found == nullptr || found->role != Role::input))
        diags_.add(DiagId::grad_unknown, spec_.kernel_place, {"--of", name, "an input or a scalar"}).help =
            other_names(name, Role::input, true);
    }
    for (const std::string &name : options_.with)
      if (const OperandDecl *found = operand(name); found == nullptr || found->role != Role::output)
        diags_.add(DiagId::grad_unknown, spec_.kernel_place, {"--with", name, "an output"}).help =
            other_names(name, Role::output);
    return diags_.error_count() == before;
  }

  std::string other_names(const std::string &name, Role role, bool scalars = false) const {
    std::vector<std::string> names = names_of(role);
    for (const Scalar &scalar : spec_.scalars)
      if (scalars && (!scalar.type.param.empty() || is_floating(scalar.type.type)))
        names.push_back(scalar.name);
    const std::string meant = did_you_mean(name, names);
    return meant.empty() ? "name one of " + enumerate(names) : meant;
  }

  std::vector<std::string> names_of(Role role) const {
    std::vector<std::string> out;
    for (const OperandDecl &operand : spec_.operands)
      if (operand.role == role)
        out.push_back(operand.name);
    return out;
  }

  // d_, or d2_ and so on where such a name is taken.
  void find_prefix(const std::vector<body::Body> &bodies) {
    auto add = [&](const auto &list) {
      for (const auto &entry : list)
        taken_.insert(entry.name);
    };
    add(spec_.operands), add(spec_.scalars), add(spec_.params), add(spec_.tables), add(spec_.axes), add(spec_.grid);
    add(spec_.types);
    taken_.insert(spec_.axis_order.begin(), spec_.axis_order.end());
    std::set<std::string> all = taken_;
    for (const body::Body &body : bodies) {
      for (const body::Local &local : body.locals)
        all.insert(local.name);
      for (const body::Function &function : body.functions)
        taken_.insert(function.name), all.insert(function.name);
    }
    for (int count = 1;; ++count) {
      prefix_ = count == 1 ? "d_" : "d" + std::to_string(count) + "_";
      if (std::none_of(all.begin(), all.end(), [&](const std::string &name) { return all.count(prefix_ + name) != 0; }))
        return;
    }
  }

  std::optional<Kernel> kernel_of(Variant variant, const body::Body &body) {
    const KeptNames kept{library_rows(), with_derivatives_};
    variant.axes.clear();
    std::optional<Kernel> kernel = build_kernel(without_sizes(flat_), variant, body, diags_, &kept);
    if (!kernel)
      return std::nullopt;
    Diagnostics none; // the spec is right
    const Facts facts = analyze(*kernel, none);
    Kernel out = folds_of_loops(canonicalize(*kernel, facts), false);
    for (Axis &axis : out.axes) {
      const bool declared = std::any_of(spec_.axes.begin(), spec_.axes.end(),
                                        [&](const AxisDecl &decl) { return decl.name == axis.name; });
      if (!declared && (!axis.uniform || differ_along(out, axis.name)))
        axis.size = Size::axis(axis.name); // arrays with a size of their own along it have an axis of their own
      if (!axis.uniform && out.grid.empty()) {
        diags_.add(DiagId::grad_refused, axis.place, {"an axis along which arrays differ in size"}).help =
            "give the arrays axes of their own, and read one of them with `at`";
        return std::nullopt;
      }
    }
    return out;
  }

  // An axis along which arrays differ in size is one of its own for each size.
  WholeDims whole_dims(const Kernel &kernel, Graph &graph) {
    WholeDims out;
    std::map<std::string, AxisId> named;
    for (AxisId a = 0; a < static_cast<AxisId>(kernel.axes.size()); ++a)
      named[kernel.axes[a].name] = a;
    std::map<std::pair<AxisId, std::string>, AxisId> own;
    renamed_.clear();
    for (VarId v = 0; v < static_cast<VarId>(kernel.vars.size()); ++v) {
      const auto decl = std::find_if(flat_.operands.begin(), flat_.operands.end(),
                                     [&](const OperandDecl &o) { return o.name == kernel.vars[v].name; });
      if (decl == flat_.operands.end() || decl->role == Role::scratch || kernel.grid.empty())
        continue;
      for (const DimDecl &dim : decl->dims) {
        if (dim.kind == DimDecl::Kind::one)
          out[v].push_back(kNone);
        for (const std::string &name : dim.axes) {
          AxisId axis = named.count(name) != 0 ? named.at(name) : kNone;
          const size_t at = out[v].size();
          if (axis != kNone && dim.extent && at < kernel.vars[v].dims.size() && differ_along(kernel, name))
            axis = axis_of(kernel.axes[axis], axis, kernel.vars[v], kernel.vars[v].dims[at].extent, own, graph);
          out[v].push_back(axis);
        }
      }
    }
    return out;
  }

  // Has each array its own size along it?
  bool differ_along(const Kernel &kernel, const std::string &axis) const {
    std::set<std::string> sizes;
    for (const OperandDecl &decl : flat_.operands)
      for (const DimDecl &dim : decl.dims)
        if (decl.role != Role::scratch && std::find(dim.axes.begin(), dim.axes.end(), axis) != dim.axes.end())
          sizes.insert(dim.extent ? to_string(*dim.extent) : "");
    return !kernel.grid.empty() && sizes.size() > 1;
  }

  AxisId axis_of(const Axis &axis, AxisId id, const Var &var, const Size &extent,
                 std::map<std::pair<AxisId, std::string>, AxisId> &own, Graph &graph) {
    const auto [known, is_new] = own.emplace(std::pair(id, to_string(extent)), kNone);
    if (is_new) {
      Axis made = axis;
      made.name = axis.name + "_" + var.name;
      made.size = made.block = extent;
      known->second = graph.add_axis(made);
    }
    renamed_[{var.name, axis.name}] = graph.axis(known->second).name;
    return known->second;
  }

  std::optional<Document> differentiate(const Variant &variant, const body::Body &body, bool again) {
    std::optional<Kernel> kernel = kernel_of(variant, body);
    if (!kernel)
      return std::nullopt;
    Trouble trouble;
    Graph graph(kernel->axes, spec_.params);
    AxisSet output_axes;
    std::optional<AxisSet> of_all;
    for (const Var &var : kernel->vars)
      if (var.kind == Var::Kind::output) {
        output_axes |= var.axes;
        of_all = of_all.value_or(var.axes) & var.axes;
      }
    graph.set_output_axes(output_axes, of_all.value_or(AxisSet()));
    const WholeDims dims = whole_dims(*kernel, graph);
    const Trace forward = trace(*kernel, dims, graph, exact_outputs_, trouble);
    ReverseOptions options;
    options.additions = !options_.deterministic;
    options.kept_functions = with_derivatives_;
    for (const Param &param : spec_.params)
      options.kept_functions.insert(param.name);
    std::vector<std::string> wanted = this->wanted(variant);
    options.wanted.insert(wanted.begin(), wanted.end());
    std::vector<Seed> seeds;
    Document document;
    document.prefix = prefix_;
    if (!trouble)
      seeds = this->seeds(*kernel, dims, graph, variant, document.differentiated);
    if (wanted.empty() || (seeds.empty() && !trouble)) {
      add_nothing(!wanted.empty());
      return std::nullopt;
    }
    Gradients gradients;
    if (!trouble)
      gradients = reverse(*kernel, graph, forward, seeds, options, trouble);
    if (trouble) {
      Diagnostic &d = diags_.add(trouble.first->id, trouble.first->place, {});
      d.text = trouble.first->text;
      d.help = trouble.first->help;
      return std::nullopt;
    }
    std::vector<Root> roots;
    for (const std::string &name : wanted)
      add_roots(graph, name, gradients.of[name], roots, document, variant, again);
    for (const Gradients::SummedNode &node : gradients.summed)
      if (const auto name = forward.names.find(node.node); name != forward.names.end() && !again)
        note_sums(graph, DiagId::grad_local_summed, name->second, node.summed, node.place);
    Naming naming;
    naming.taken = taken_;
    naming.prefix = prefix_;
    naming.statement = statement_at;
    naming.given = given_;
    for (const std::string &z : document.differentiated)
      naming.taken.insert(prefix_ + z);
    if (options_.advise && !again && kernel->grid.empty())
      advise(graph, forward, roots, body, bytes_of(variant.real));
    const Program program = write_program(spec_, graph, forward, gradients, roots, naming, widths_of(spec_, prefix_));
    document.body = program.body;
    document.used = program.operands;
    document.renamed = renamed_;
    document.params = program.functions;
    document.derivatives = program.derivatives;
    if (program.unknown != kNoNode) {
      const Unknown &why = forward.unknown.at(program.unknown);
      diags_.add(DiagId::grad_refused, why.place, {why.what}).help = why.help;
      return std::nullopt;
    }
    for (AxisId made : program.made)
      document.made_axes[graph.axis(made).name] = graph.made().at(made);
    for (AxisId step : forward.steps)
      if (program.axes.contains(step))
        document.made_axes[graph.axis(step).name] = graph.axis(step).size;
    for (AxisId axis = 0; axis < static_cast<AxisId>(kernel->axes.size()); ++axis)
      if (program.axes.contains(axis) && kernel->axes[axis].ragged == kNone)
        add_body_axis(*kernel, kernel->axes[axis], document);
      else if (program.axes.contains(axis))
        use_array_along(kernel->axes[axis].name, flat_, document);
    use_arrays_of_sizes(flat_, document);
    for (const std::string &name : forward.written_over)
      if (document.used.count(name) != 0) {
        std::string output;
        for (const OperandDecl &operand : spec_.operands)
          if (operand.alias == name)
            output = operand.name;
        diags_.add(DiagId::grad_overwritten, operand(name)->place, {name, output});
        return std::nullopt;
      }
    return document;
  }

  // With those that its size is made of.
  static void add_body_axis(const Kernel &kernel, const Axis &axis, Document &document) {
    if (!document.body_axes.emplace(axis.name, axis.size).second)
      return;
    for (const Axis &other : kernel.axes)
      if (mentions(axis.size, Size::Op::axis, other.name))
        add_body_axis(kernel, other, document);
  }

  // A local that would be worth saving.
  void advise(const Graph &graph, const Trace &forward, const std::vector<Root> &roots, const body::Body &body,
              int bytes) {
    std::map<std::string, Place> locals;
    for (const body::Stmt &stmt : body.statements)
      if (stmt.kind == body::Stmt::Kind::declare)
        if (const body::Local &local = body.locals[static_cast<size_t>(stmt.local)]; local.dims.empty())
          locals.emplace(local.name, local.place);
    std::set<std::string> names;
    for (const auto &[name, place] : locals)
      names.insert(name);
    const std::optional<Saving> saving = best_saving(graph, forward, roots, names, bytes);
    if (!saving)
      return;
    diags_
        .add(DiagId::grad_could_save, locals.at(saving->name),
             {saving->name, std::to_string(saving->operations), std::to_string(2 * bytes)})
        .help = "`kgen grad " + spec_.file_name + " --save " + saving->name +
                "` keeps it; sizes that the spec leaves open count as 256";
  }

  // The names whose gradients are outputs, in forward order.
  std::vector<std::string> wanted(const Variant &variant) const {
    std::vector<std::string> out;
    auto asked = [&](const std::string &name) {
      return std::find(options_.of.begin(), options_.of.end(), name) != options_.of.end();
    };
    for (const OperandDecl &operand : spec_.operands)
      if (operand.role == Role::input && is_real(operand.type, variant) && (options_.of.empty() || asked(operand.name)))
        out.push_back(operand.name);
    for (const Scalar &scalar : spec_.scalars)
      if (asked(scalar.name) && is_real(scalar.type, variant))
        out.push_back(scalar.name);
    return out;
  }

  std::vector<Seed> seeds(const Kernel &kernel, const WholeDims &dims, Graph &graph, const Variant &variant,
                          std::vector<std::string> &differentiated) {
    given_.clear();
    for (const OperandDecl &operand : spec_.operands)
      if (operand.role == Role::output && is_real(operand.type, variant) &&
          (options_.with.empty() ||
           std::find(options_.with.begin(), options_.with.end(), operand.name) != options_.with.end()))
        differentiated.push_back(operand.name);
    std::vector<Seed> out;
    for (VarId v = 0; v < static_cast<VarId>(kernel.vars.size()); ++v) {
      const Var &var = kernel.vars[v];
      if (var.kind != Var::Kind::output ||
          std::find(differentiated.begin(), differentiated.end(), var.name) == differentiated.end())
        continue;
      Node gradient;
      gradient.kind = Kind::operand;
      gradient.name = prefix_ + var.name;
      gradient.axes = var.axes;
      if (const auto whole = dims.find(v); whole != dims.end()) {
        gradient.axes = {};
        for (AxisId axis : whole->second)
          gradient.axes |= axis == kNone ? AxisSet() : AxisSet::of(axis);
      }
      Seed seed{v, {kNoNode, graph.intern(gradient)}};
      if (differentiated.size() > 1) {
        Node present;
        present.kind = Kind::present;
        present.type = Type::boolean;
        present.name = gradient.name;
        seed.given = graph.intern(present);
        seed.gradient.value = graph.either_value(seed.given, seed.gradient.value);
        given_[seed.gradient.value] = "given_" + var.name;
      }
      out.push_back(seed);
    }
    if (out.size() > 1)
      for (const Seed &seed : out)
        graph.add_given(seed.given);
    return out;
  }

  void add_roots(Graph &graph, const std::string &name, const InputGradient &gradient, std::vector<Root> &roots,
                 Document &document, const Variant &variant, bool again) {
    const std::string target = prefix_ + name;
    GradientOutput output{target, name, "", !gradient.additions.empty()};
    const OperandDecl *decl = operand(name);
    const Place place = decl != nullptr ? decl->place : spec_.kernel_place;
    if (decl == nullptr)
      output.type = several_reals_ ? "real" : variant.real == Type::f64 ? "f64" : "f32";
    bool half = false;
    if (decl != nullptr)
      for (const TypeParam &type : spec_.types)
        if (type.name == decl->type.param)
          half = std::any_of(type.choices.begin(), type.choices.end(), is_half);
    half = half || (decl != nullptr && decl->type.param.empty() && is_half(decl->type.type));
    if (output.atomic && half)
      output.type = "real";
    document.outputs.push_back(output);
    const size_t before = roots.size();
    const std::vector<InputGradient::Addition> stored = stored_alone(graph, gradient);
    for (const InputGradient::Addition &one : stored) {
      if (&one == &stored.front()) // what no lane reads
        roots.push_back({target, {}, graph.number(0), kNoNode, false});
      roots.push_back({target, one.places, one.part.value, one.part.condition, false});
    }
    if (stored.empty() && !slices(graph, target, gradient, roots)) {
      std::vector<Part> parts = gradient.whole;
      for (const auto &[axis, places] : gradient.slices) {
        NodeId chain = graph.number(0);
        for (auto it = places.rbegin(); it != places.rend(); ++it) {
          const NodeId here = graph.compare(Op::eq, graph.index(axis), graph.integer(it->first));
          chain = graph.choose(here, value_of(graph, it->second), chain);
        }
        parts.push_back({kNoNode, chain});
      }
      roots.push_back({target, {}, value_of(graph, parts), kNoNode, false});
    }
    for (const InputGradient::Addition &addition : gradient.additions)
      roots.push_back({target, addition.places, addition.part.value, addition.part.condition, true});
    const bool zero = std::all_of(roots.begin() + static_cast<std::ptrdiff_t>(before), roots.end(),
                                  [&](const Root &root) { return graph.is_zero(root.value); });
    if (zero && !again)
      diags_.add(DiagId::grad_zero, place, {name});
    if (output.atomic && !again)
      diags_.add(DiagId::grad_atomic, place, {name});
    if (gradient.summed && !again)
      note_sums(graph, DiagId::grad_summed, name, *gradient.summed, place);
  }

  // What a sum over all lanes costs, in place of additions.
  void note_sums(const Graph &graph, DiagId note, const std::string &name, const Summed &summed, const Place &place) {
    std::vector<std::string> over, times;
    for (AxisId axis : summed.over.list())
      over.push_back(graph.axis(axis).name);
    for (AxisId axis : summed.places)
      times.push_back("size(" + graph.axis(axis).name + ")");
    diags_.add(note, place, {name, join(over, ", "), join(times, " * ")});
  }

  // at(d_x, C = 0) = ...; for each place of a small axis, where nothing else adds to the gradient.
  bool slices(Graph &graph, const std::string &target, const InputGradient &gradient, std::vector<Root> &roots) const {
    constexpr int64_t kMostSlices = 32;
    if (!gradient.whole.empty() || !gradient.additions.empty() || gradient.slices.size() != 1)
      return false;
    const auto &[axis, places] = *gradient.slices.begin();
    const Axis &along = graph.axis(axis);
    if (!along.size.is_integer() || along.size.value > kMostSlices)
      return false;
    const int64_t count = along.size.value;
    if (places.begin()->first < 0 || places.rbegin()->first >= count)
      return false;
    for (int64_t place = 0; place < count; ++place) {
      const auto found = places.find(place);
      const NodeId value = found == places.end() ? graph.number(0) : value_of(graph, found->second);
      roots.push_back({target, {{axis, graph.integer(place)}}, value, kNoNode, false});
    }
    return true;
  }

  // What the body calls: the spec's own functions, and the derivatives of chosen ones.
  const Spec &spec_;
  const Spec flat_;
  const std::set<std::string> with_derivatives_ = functions_with_derivatives(spec_);
  const std::set<std::string> exact_outputs_;
  const GradOptions &options_;
  Diagnostics &diags_;
  std::set<std::string> taken_;
  std::map<std::pair<std::string, std::string>, std::string> renamed_; // axes of arrays
  std::map<NodeId, std::string> given_; // gradients that may be null, by what they are called then
  std::string prefix_ = "d_";
  bool several_reals_ = false; // choices of types have f32 and f64 for `real`
};

} // namespace
} // namespace grad

std::optional<BackwardSpec> differentiate(const Spec &spec, const std::vector<Variant> &variants,
                                          const std::vector<body::Body> &bodies, const GradOptions &options,
                                          Diagnostics &diags) {
  return grad::Differentiation(spec, options, diags).run(variants, bodies);
}

} // namespace kgen
