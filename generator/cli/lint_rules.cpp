// A rule that asks "would it do without?" tries it: the spec is changed and goes through the same analysis again.
#include "cli/lint_rules.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "grad/functions.h"
#include "support/text.h"

namespace kgen {

namespace {

// --- words ---

// Calls `found(begin, end)` for each name in C++ text, comments left out. Numbers are no names.
void each_name(std::string_view text, const std::function<void(size_t, size_t)> &found) {
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    } else if (is_word(text[i])) {
      const size_t begin = i;
      while (i < text.size() && is_word(text[i]))
        ++i;
      if (std::isdigit(static_cast<unsigned char>(text[begin])) == 0)
        found(begin, i);
    } else {
      ++i;
    }
  }
}

using Words = std::map<std::string, int, std::less<>>;

void count_words(std::string_view text, Words &words) {
  each_name(text, [&](size_t begin, size_t end) { ++words[std::string(text.substr(begin, end - begin))]; });
}

// Those of all strings but the ones that only describe or only list.
void count_words(const Node &node, Words &words) {
  if (node.kind == Node::Kind::string)
    count_words(node.text.text, words);
  for (const Node &item : node.items)
    count_words(item, words);
  for (const Entry &entry : node.entries)
    if (entry.key != "doc" && entry.key != "license" && entry.key != "kernel" && entry.key != "batch" &&
        entry.key != "functions_from")
      count_words(entry.value, words);
}

// --- the rules ---

bool is_inline(const Linted &linted) {
  const Spec &spec = linted.compiled.spec;
  return spec.functions.given() && spec.functions.place.file == spec.path;
}

// Does it alone tell what `...` stands for, as others that have it may be absent?
bool tells_the_rest(const Spec &spec, const OperandDecl &operand) {
  const auto tells = [&](const OperandDecl &other, bool optional) {
    return &other != &operand && other.role == Role::input && has_rest(other) && other.optional == optional;
  };
  return has_rest(operand) && !operand.optional &&
         std::ranges::any_of(spec.operands, [&](const OperandDecl &other) { return tells(other, true); }) &&
         std::ranges::none_of(spec.operands, [&](const OperandDecl &other) { return tells(other, false); });
}

// A name that no text mentions is not used. (One that is mentioned may still be useless; that is not claimed.)
void find_unused_names(const Linted &linted, Diagnostics &diags) {
  const Spec &spec = linted.compiled.spec;
  Words words;
  count_words(linted.document, words);
  if (!is_inline(linted))
    count_words(spec.functions.text, words);
  auto ask = [&](const std::string &what, const std::string &name, const Place &place) {
    if (words.count(name) == 0 && place.line > 0)
      diags.add(DiagId::lint_unused, place, {what, name, "used"});
  };
  for (const OperandDecl &operand : spec.operands)
    if (operand.role != Role::output && !tells_the_rest(spec, operand))
      ask(operand.role == Role::input ? "input" : "scratch", operand.name, operand.place);
  for (const Scalar &scalar : spec.scalars)
    ask("scalar", scalar.name, scalar.place);
  for (const TableDecl &table : spec.tables)
    ask("table", table.name, table.place);
  for (const TypeParam &type : spec.types)
    ask("type parameter", type.name, type.place);
  for (const Param &param : spec.params)
    ask("parameter", param.name, param.place);
  for (const AxisDecl &axis : spec.axes)
    ask("axis", axis.name, axis.place);
}

// What `derivative` and `second_derivative` call: NAME_derivative of a choice of a parameter, perhaps with the number
// of an argument. And what `kgen grad` takes for the derivative of another function.
bool is_derivative(const Spec &spec, std::string_view name) {
  const size_t last = name.rfind("_derivative"), second = name.rfind("_second_derivative");
  const size_t end = second == std::string_view::npos ? last : second;
  if (end == std::string_view::npos)
    return false;
  return grad::functions_with_derivatives(spec).count(std::string(name.substr(0, end))) != 0 ||
         std::ranges::any_of(spec.params, [&](const Param &param) {
           return std::ranges::any_of(param.choices, [&](const ParamValue &value) {
             const auto *choice = std::get_if<std::string>(&value);
             return choice != nullptr && *choice == name.substr(0, end);
           });
         });
}

// It has the parameters of NAME, needed or not.
bool is_parameter_of_derivative(const Linted &linted, const Place &place) {
  const std::vector<std::string> lines = split(linted.text, '\n');
  const std::string &line = lines[static_cast<size_t>(place.line) - 1];
  const std::string before = line.substr(0, static_cast<size_t>(place.column) - 1);
  const size_t bracket = before.find('('), name = before.find_last_of(' ', bracket) + 1;
  return bracket != std::string::npos && name < bracket &&
         is_derivative(linted.compiled.spec, before.substr(name, bracket - name));
}

// Functions of the spec itself; a file of functions may serve other specs.
void find_unused_functions(const Linted &linted, Diagnostics &diags) {
  if (!is_inline(linted))
    return;
  const Text &functions = linted.compiled.spec.functions;
  Words words;
  count_words(linted.document, words);
  const std::string_view text = functions.text;
  each_name(text, [&](size_t begin, size_t end) {
    const std::string_view before = text.substr(0, begin);
    const bool outermost =
        std::count(before.begin(), before.end(), '{') == std::count(before.begin(), before.end(), '}') &&
        std::count(before.begin(), before.end(), '(') == std::count(before.begin(), before.end(), ')');
    const size_t next = text.find_first_not_of(" \t\n", end);
    if (!outermost || next == std::string_view::npos || text[next] != '(')
      return;
    const std::string name(text.substr(begin, end - begin));
    if (words[name] > 1 || is_derivative(linted.compiled.spec, name))
      return;
    const size_t line_begin = before.find_last_of('\n');
    Place place = functions.place;
    place.line += static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    place.column = static_cast<int>(line_begin == std::string_view::npos ? begin + static_cast<size_t>(place.column)
                                                                         : begin - line_begin);
    place.length = static_cast<int>(end - begin);
    diags.add(DiagId::lint_unused, place, {"function", name, "called"});
  });
}

// Locals and scratch that are assigned and in no variant read.
void find_unread(const Linted &linted, Diagnostics &diags) {
  const Spec &spec = linted.compiled.spec;
  std::map<std::pair<int, int>, std::pair<const Var *, bool>> by_place; // and whether any variant reads it
  for (const Variation &variation : linted.compiled.variations) {
    std::set<VarId> read;
    for (const Expr &expr : variation.kernel.exprs)
      if (expr.op == Op::read || expr.op == Op::element)
        read.insert(expr.ref);
    for (size_t v = 0; v < variation.kernel.vars.size(); ++v) {
      const Var &var = variation.kernel.vars[v];
      const bool local = var.kind == Var::Kind::local && var.place.file == spec.path;
      if ((!local && var.kind != Var::Kind::scratch) || var.place.line == 0)
        continue;
      auto &entry = by_place[{var.place.line, var.place.column}];
      entry = {&var, entry.second || var.asked || read.count(static_cast<VarId>(v)) != 0};
    }
  }
  Words words;
  count_words(linted.document, words);
  for (const auto &[place, entry] : by_place)
    if (const Var &var = *entry.first;
        !entry.second && words[var.name] > 0 && !is_parameter_of_derivative(linted, var.place))
      diags.add(DiagId::lint_unused, var.place,
                {var.kind == Var::Kind::scratch ? "scratch" : "local", var.name, "read"});
}

// The variants of a changed spec, analyzed anew; none where the change is a mistake.
std::vector<Variation> analyzed(const Spec &spec, const Compiled &before) {
  Diagnostics diags;
  std::vector<Variation> out;
  const std::optional<std::vector<body::Body>> bodies = body::parse_body(spec, before.variants, diags);
  for (size_t v = 0; bodies && v < before.variants.size(); ++v) {
    std::optional<Kernel> kernel = build_kernel(spec, before.variants[v], (*bodies)[v], diags);
    if (!kernel)
      return {};
    Variation variation;
    variation.kernel = std::move(*kernel);
    variation.facts = analyze(variation.kernel, diags);
    out.push_back(std::move(variation));
  }
  return diags.has_errors() ? std::vector<Variation>{} : out;
}

void find_parallel(const Linted &linted, Diagnostics &diags) {
  const Spec &spec = linted.compiled.spec;
  const size_t batches = spec.batch.size(); // stand in front of the grid
  for (size_t g = 0; g < spec.grid.size(); ++g) {
    if (spec.grid[g].semantics != Semantics::arbitrary)
      continue;
    Spec without = spec;
    without.grid[g].semantics.reset();
    const std::vector<Variation> tried = analyzed(without, linted.compiled);
    if (!tried.empty() && std::all_of(tried.begin(), tried.end(), [&](const Variation &variation) {
          return variation.kernel.grid[g + batches].semantics == Semantics::parallel;
        }))
      diags.add(DiagId::lint_parallel, spec.grid[g].semantics_place, {spec.grid[g].name});
  }
}

void find_tiling_grid(const Linted &linted, Diagnostics &diags) {
  const Spec &spec = linted.compiled.spec;
  const auto &variations = linted.compiled.variations;
  const bool remains = std::any_of(variations.begin(), variations.end(), [](const Variation &variation) {
    return std::any_of(variation.lowered.grid.begin(), variation.lowered.grid.end(), [&](const GridDim &dim) {
      return dim.axis == kNone || !variation.lowered.axes[dim.axis].batch;
    });
  });
  if (spec.grid.empty() || remains)
    return;
  Diagnostic &d = diags.add(DiagId::lint_only_tiles, spec.grid.front().place);
  std::string over;
  for (size_t g = 0; g < spec.grid.size(); ++g)
    if (variations.front().facts.grid[g + spec.batch.size()].accumulates)
      over += (over.empty() ? "" : " and ") + ticked(spec.grid[g].axis);
  if (!over.empty())
    d.help = "leave it out and fold over the whole of " + over + " at once: the accumulators in scratch go as well";
}

// Keys that permit something which never happens.
struct PermissionRow {
  const char *key;
  bool OperandDecl::*member;
  const char *reason;
};
constexpr PermissionRow kPermissions[] = {
    {"partial", &OperandDecl::partial, "every element is written"},
    {"overwrite", &OperandDecl::overwrite, "no step writes what another one wrote"},
    {"atomic", &OperandDecl::atomic, "nothing is added at other coordinates by several steps"},
};

void find_needless_permissions(const Linted &linted, Diagnostics &diags) {
  const Spec &spec = linted.compiled.spec;
  for (size_t o = 0; o < spec.operands.size(); ++o)
    for (const PermissionRow &row : kPermissions) {
      const OperandDecl &operand = spec.operands[o];
      if (!(operand.*row.member) || !operand.alias.empty())
        continue;
      Spec without = spec;
      without.operands[o].*row.member = false;
      const std::vector<Variation> tried = analyzed(without, linted.compiled);
      bool same = !tried.empty(); // a check more at the call is no proof
      for (size_t v = 0; v < tried.size(); ++v)
        same &= tried[v].facts.checks.size() == linted.compiled.variations[v].facts.checks.size();
      if (same)
        diags.add(DiagId::lint_no_effect, operand.place, {row.key, operand.name, row.reason});
    }
}

bool reads_outside(const Variation &variation, VarId var) {
  const Var &operand = variation.kernel.vars[var];
  if (std::any_of(operand.dims.begin(), operand.dims.end(), [](const Dim &dim) { return dim.offset; }))
    return true;
  for (size_t e = 0; e < variation.kernel.exprs.size(); ++e) {
    const Expr &expr = variation.kernel.exprs[e];
    if (expr.op == Op::read && expr.ref == var && !expr.coords.empty() && !variation.facts.inside[e])
      return true;
  }
  return false;
}

void find_needless_outside(const Linted &linted, Diagnostics &diags) {
  for (const OperandDecl &operand : linted.compiled.spec.operands) {
    bool needed = !operand.outside.has_value();
    for (const Variation &variation : linted.compiled.variations)
      for (size_t v = 0; v < variation.kernel.vars.size(); ++v)
        needed |= variation.kernel.vars[v].name == operand.name && reads_outside(variation, static_cast<VarId>(v));
    if (!needed)
      diags.add(DiagId::lint_no_effect, operand.outside_place, {"outside", operand.name, "no read lies outside"});
  }
}

// Constants that the coordinates of a read compute with: an axis may be a multiple of one of them.
std::set<int64_t> factors_in(const Kernel &kernel, const Expr &read) {
  std::set<int64_t> out;
  std::function<void(ExprId)> walk = [&](ExprId id) {
    const Expr &expr = kernel.expr(id);
    if (expr.op == Op::constant && is_integer(expr.type) && expr.integer > 1 && expr.integer <= 4096)
      out.insert(expr.integer);
    for (ExprId arg : expr.args)
      walk(arg);
  };
  for (const Coordinate &c : read.coords)
    walk(c.value);
  return out;
}

// Would the read be proved inside if the axis were known to be a multiple?
void try_multiples(const Variation &variation, ExprId id, Diagnostics &diags) {
  const Kernel &kernel = variation.kernel;
  const Expr &read = kernel.expr(id);
  for (AxisId axis : kernel.size_arguments)
    for (int64_t factor : factors_in(kernel, read)) {
      if (kernel.axes[axis].multiple_of != 1 || kernel.fixed_axes.count(kernel.axes[axis].name) != 0)
        continue;
      Kernel with = kernel;
      with.axes[axis].multiple_of = factor;
      Diagnostics ignored;
      if (!analyze(with, ignored).inside[id])
        continue;
      const std::string name = kernel.axes[axis].name;
      diags.add(DiagId::lint_guarded, read.place, {kernel.vars[read.ref].name}).help =
          "if " + name + " is always a multiple of " + std::to_string(factor) + ", axes." + name +
          " = { multiple_of = " + std::to_string(factor) + " } makes the check one at the call";
      return;
    }
}

void find_guarded(const Linted &linted, Diagnostics &diags) {
  for (const Variation &variation : linted.compiled.variations)
    for (size_t e = 0; e < variation.kernel.exprs.size(); ++e) {
      const Expr &expr = variation.kernel.exprs[e];
      if (expr.op == Op::read && !expr.coords.empty() && !variation.facts.inside[e] &&
          variation.kernel.vars[expr.ref].kind == Var::Kind::input)
        try_multiples(variation, static_cast<ExprId>(e), diags);
    }
}

void find_prints(const std::vector<Stmt> &statements, Diagnostics &diags) {
  for (const Stmt &stmt : statements) {
    if (stmt.kind == Stmt::Kind::print)
      diags.add(DiagId::lint_print, stmt.place);
    for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
      find_prints(*inner, diags);
  }
}

void find_prints(const Linted &linted, Diagnostics &diags) {
  for (const Variation &variation : linted.compiled.variations)
    find_prints(variation.interpreted().statements, diags);
}

void each_statement(const std::vector<Stmt> &list, const std::function<void(const Stmt &)> &found) {
  for (const Stmt &s : list) {
    found(s);
    for (const std::vector<Stmt> *inner : {&s.body, &s.otherwise, &s.step})
      each_statement(*inner, found);
  }
}

// The sums in a value that reach the place where it is stored by whole numbers alone, also through locals.
class WholeSums {
public:
  explicit WholeSums(const Kernel &kernel) : kernel_(kernel) {
    each_statement(kernel.statements, [&](const Stmt &s) {
      if (s.kind == Stmt::Kind::assign && kernel.vars[s.target].kind == Var::Kind::local)
        values_[s.target].push_back(s.value);
    });
  }

  std::vector<const Expr *> of(ExprId value) {
    found_.clear();
    passed_.clear();
    add(value);
    return found_;
  }

private:
  void add(ExprId id) {
    const Expr &expr = kernel_.expr(id);
    if (!is_integer(expr.type))
      return;
    if (expr.op == Op::fold && expr.monoid == Monoid::sum && is_integer(expr.accumulator))
      found_.push_back(&expr);
    else if (expr.op == Op::cast || expr.op == Op::add || expr.op == Op::sub)
      std::ranges::for_each(expr.args, [&](ExprId arg) { add(arg); });
    else if (expr.op == Op::read && passed_.insert(expr.ref).second)
      std::ranges::for_each(values_[expr.ref], [&](ExprId value) { add(value); });
  }

  const Kernel &kernel_;
  std::map<VarId, std::vector<ExprId>> values_; // of locals
  std::vector<const Expr *> found_;
  std::set<VarId> passed_; // locals
};

// A sum knows its width, an array another one: nothing says so where the one is stored in the other.
void find_narrowed(const Linted &linted, Diagnostics &diags) {
  for (const Variation &variation : linted.compiled.variations) {
    const Kernel &kernel = variation.kernel;
    WholeSums sums(kernel);
    each_statement(kernel.statements, [&](const Stmt &s) {
      if (s.kind != Stmt::Kind::assign || kernel.vars[s.target].kind == Var::Kind::local ||
          !is_integer(kernel.vars[s.target].type))
        return;
      const Var &target = kernel.vars[s.target];
      for (const Expr *sum : sums.of(s.value)) {
        if (bytes_of(sum->accumulator) <= bytes_of(target.type) || sum->place.file != linted.compiled.spec.path)
          continue;
        const bool counts = kernel.expr(sum->args[0]).type == Type::boolean;
        if (!counts || bytes_of(target.type) < 4) // nobody counts more than 2^31
          diags.add(DiagId::lint_narrowed, sum->place,
                    {"sum", std::string(type_row(sum->accumulator).name), target.name,
                     std::string(type_row(target.type).name)});
      }
    });
  }
}

void find_no_doc(const Linted &linted, Diagnostics &diags) {
  if (trim(linted.compiled.spec.doc).empty())
    diags.add(DiagId::lint_no_doc, linted.compiled.spec.kernel_place);
}

} // namespace

void apply_lint_rules(const Linted &linted, Diagnostics &diags) {
  using Rule = void (*)(const Linted &, Diagnostics &);
  for (Rule rule : std::initializer_list<Rule>{find_unused_names, find_unused_functions, find_unread, find_parallel,
                                               find_tiling_grid, find_needless_permissions, find_needless_outside,
                                               find_guarded, find_prints, find_narrowed, find_no_doc})
    rule(linted, diags);
}

} // namespace kgen
