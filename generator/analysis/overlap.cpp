// Two steps of the grid: can their windows of an output meet? Overlapping windows are equations between the steps; what
// solving them leaves open goes to isl, then to the search for a witness.
#include <algorithm>
#include <set>

#include "analysis/affine.h"
#include "analysis/determine.h"
#include "analysis/witness.h"
#include "support/text.h"

namespace kgen::analysis {
namespace {

// `size` as another step sees it: grid names get a prime.
Size primed(const Kernel &kernel, const Size &size) {
  return rewrite(size, [&](const Size &node) -> std::optional<Size> {
    if (node.op == Size::Op::grid)
      return Size::grid(node.name + "'");
    if (node.op == Size::Op::grid_size)
      for (const GridDim &dim : kernel.grid)
        if (dim.name == node.name)
          return primed(kernel, dim.size);
    return std::nullopt;
  });
}

// By isl: no two steps that differ in one of `steps` have overlapping windows.
bool affine_disjoint(Context &context, VarId output, uint64_t steps) {
  const Kernel &kernel = context.kernel;
  std::vector<std::pair<std::string, Size>> variables;
  for (const GridDim &dim : kernel.grid)
    variables.emplace_back(dim.name + "'", primed(kernel, dim.size));
  std::vector<Size> meet;
  for (const Dim &dim : context.var(output).dims) {
    const Size start = primed(kernel, dim.start);
    if (dim.whole)
      continue;
    meet.push_back(Size::make(Size::Op::less, {dim.start, Size::make(Size::Op::add, {start, dim.block})}));
    meet.push_back(Size::make(Size::Op::less, {start, Size::make(Size::Op::add, {dim.start, dim.block})}));
  }
  for (GridId g : list_of(steps)) {
    std::vector<Size> conditions = meet;
    const std::string &name = kernel.grid[g].name;
    conditions.push_back(Size::make(Size::Op::less, {Size::grid(name), Size::grid(name + "'")}));
    bool exhausted = false;
    if (!impossible(kernel, conditions, variables, exhausted)) {
      if (exhausted)
        context.facts.notes.push_back("windows of " + context.var(output).name + " exceeded the effort of a proof");
      return false;
    }
  }
  return true;
}

Size starts_of(const Var &var) {
  Size all = Size::integer(0);
  for (const Dim &dim : var.dims)
    if (!dim.whole)
      all = Size::make(Size::Op::add, {all, dim.start});
  return all;
}

// The first table on a device that a launcher would read to walk the steps and see the windows that they have.
TableId table_on_device(const Context &context, const Var &var) {
  std::vector<TableId> tables = context.tables_of(starts_of(var));
  for (const GridDim &dim : context.kernel.grid)
    for (TableId table : context.tables_of(dim.size))
      tables.push_back(table);
  const auto device = std::ranges::find_if(tables, [&](TableId t) { return !context.on_host({t}); });
  return device == tables.end() ? kNone : *device;
}

void add_relations(Context &context, VarId output, const Determined &determined) {
  for (const Size &relation : determined.relations) {
    Check check;
    check.kind = Check::Kind::disjoint;
    check.condition = relation;
    check.var = output;
    check.argument = context.var(output).name;
    check.message = "blocks of " + context.var(output).name + " would overlap";
    context.facts.checks.push_back(std::move(check));
  }
}

// Do sizes at which the relations fail really fail? (Relations are enough for the claim; they may ask for more.)
bool relations_matter(Context &context, const Determined &determined, const Tested &tested) {
  if (tested.fails)
    return tested.holds;
  for (const Size &relation : determined.relations)
    if (context.search.condition(relation, Size::integer(1)).fails)
      return false;
  return true;
}

class Disjoint {
public:
  Disjoint(Context &context, VarId output) : context_(context), output_(output), var_(context.var(output)) {}

  Finding judge() {
    const uint64_t parallel = context_.parallel_steps();
    const uint64_t proved = determined_steps(context_, output_, false).steps;
    open_ = parallel & ~proved;
    if (open_ == 0)
      return {Verdict::proved, parallel == 0 ? "no parallel steps" : "the window tells the step", {}};
    if (affine_disjoint(context_, output_, open_))
      return {Verdict::proved, "no two windows meet", {}};
    const Tested tested = context_.search.overlap(output_, parallel);
    const Determined related = determined_steps(context_, output_, true);
    if ((open_ & ~related.steps) == 0 && relations_matter(context_, related, tested)) {
      add_relations(context_, output_, related);
      return {Verdict::checked, "the launcher tests the sizes", {}};
    }
    const std::vector<TableId> tables = context_.tables_of(starts_of(var_));
    if (!tables.empty() && table_on_device(context_, var_) == kNone && (tested.holds || !tested.fails))
      return by_entries(tables);
    auto witness = executed(context_, tested.fails, Fault::collides, output_);
    if (!witness) {
      reads_ = true;
      witness = executed(context_, tested.fails, Fault::undefined, output_);
    }
    return {Verdict::refuted, "steps of " + context_.grid_names(open_) + " write the same elements", witness};
  }

  void report(const Finding &finding) {
    for (GridId g : list_of(open_)) {
      if (context_.facts.grid[g].finding.verdict == Verdict::refuted)
        return; // said already
      const GridDim &dim = context_.kernel.grid[g];
      const auto &moves = context_.facts.operands[output_].moves_with;
      const bool constant = std::find(moves.begin(), moves.end(), g) == moves.end();
      Diagnostic &error = context_.diags.add(constant ? DiagId::parallel_constant : DiagId::parallel_overlap, dim.place,
                                             {dim.name, var_.name});
      error.labels.push_back({var_.place, constant ? "its window does not move with " + dim.name : "its window"});
      const std::string help = "write semantics = \"arbitrary\", or leave it out";
      error.help = help;
      if (!finding.witness)
        return;
      const bool two = finding.witness->steps.size() > 1;
      const std::string what = reads_
                                   ? two ? "one step reads what the other writes" : "it reads what another step writes"
                               : two ? "both steps write it"
                                     : "another step writes it, too";
      error.help = to_string(context_.kernel, *finding.witness) + ": " + what + "; " + help;
      return;
    }
  }

private:
  Finding by_entries(const std::vector<TableId> &tables) {
    Check check;
    check.kind = Check::Kind::table_disjoint;
    check.tables = tables;
    check.table = tables.front();
    check.var = output_;
    check.argument = context_.kernel.tables[tables.front()].name;
    check.message =
        "entries of " + check.argument + " make steps that run at once write the same block of " + var_.name;
    context_.facts.checks.push_back(std::move(check));
    return {Verdict::checked, "the launcher tests the entries", {}};
  }

  Context &context_;
  VarId output_;
  const Var &var_;
  uint64_t open_ = 0;
  bool reads_ = false; // the witness is of a step that reads what another wrote
};

// Does the atom never fall (or never rise) as the step of `g` rises?
bool rises_with(const Symbols &symbols, const Kernel &kernel, int id, GridId g) {
  const Atom &atom = symbols.atom(id);
  if (atom.grid == g)
    return true;
  if (atom.args.empty() || (atom.kind == Atom::Kind::table && !kernel.tables[atom.table].sorted))
    return false;
  static const std::set<Atom::Kind> kRising = {Atom::Kind::table, Atom::Kind::divide, Atom::Kind::cdiv, Atom::Kind::min,
                                               Atom::Kind::max};
  if (kRising.count(atom.kind) == 0)
    return false;
  const bool quotient = atom.kind == Atom::Kind::divide || atom.kind == Atom::Kind::cdiv;
  if (quotient && (symbols.steps_of(atom.args[1]) >> g & 1) != 0)
    return false;
  for (size_t a = 0; a < (quotient ? 1 : atom.args.size()); ++a)
    for (const auto &[m, c] : atom.args[a].terms)
      for (int inner : m)
        if ((symbols.atom(inner).steps >> g & 1) != 0 &&
            (c < 0 || m.size() > 1 || !rises_with(symbols, kernel, inner, g)))
          return false;
  return true;
}

class Revisits {
public:
  Revisits(Context &context, VarId output) : context_(context), output_(output), var_(context.var(output)) {}

  Finding judge() {
    const uint64_t all = context_.all_steps();
    const uint64_t known = determined_steps(context_, output_, false).steps & all;
    uint64_t moving = 0;
    for (GridId g : context_.facts.operands[output_].moves_with)
      moving |= uint64_t{1} << g;
    moving &= all;
    constant_ = all & ~moving;
    const uint64_t open = moving & ~known;
    if (in_order(open, known))
      return {Verdict::proved, "each window is one run of steps", {}};
    const Tested tested = context_.search.revisit(output_);
    const Determined related = determined_steps(context_, output_, true);
    if (in_order(moving & ~related.steps, related.steps & all) && relations_matter(context_, related, tested)) {
      add_relations(context_, output_, related);
      return {Verdict::checked, "the launcher tests the sizes", {}};
    }
    const std::vector<TableId> tables = context_.tables_of(starts_of(var_));
    if (!tables.empty() && table_on_device(context_, var_) == kNone && (tested.holds || !tested.fails))
      return by_entries(tables);
    if (const auto witness = tested.fails ? executed(context_, tested.fails, Fault::comes_back, output_) : std::nullopt)
      return {Verdict::refuted, "the grid returns to a window", witness};
    // isl can still show that no two steps meet at all.
    if (constant_ == 0 && affine_disjoint(context_, output_, open))
      return {Verdict::proved, "no two windows meet", {}};
    return {Verdict::refuted, "not proved that each window is one run of steps", {}};
  }

  void report(const Finding &finding) {
    const std::vector<TableId> tables = context_.tables_of(starts_of(var_));
    Diagnostic &error =
        context_.diags.add(finding.witness ? DiagId::late_revisit : DiagId::revisit_unknown, var_.place, {var_.name});
    if (finding.witness)
      error.help = to_string(context_.kernel, *finding.witness) + "; ";
    const uint64_t moving = context_.all_steps() & ~constant_;
    if (constant_ != 0 && moving != 0 && (moving >> __builtin_ctzll(constant_)) != 0)
      error.help += "put " + context_.grid_names(constant_) + " after " + context_.grid_names(moving) + " in the file";
    else if (!tables.empty())
      error.help += "declare tables." + context_.kernel.tables[tables.front()].name + " = { ..., sorted = true }" +
                    or_on_host(tables.front());
    else
      error.help += "give windows that do not overlap, each used in consecutive steps";
  }

private:
  std::string or_on_host(TableId named) const {
    const TableId device = table_on_device(context_, var_);
    if (device == kNone)
      return "";
    return device == named ? ", or where = \"host\""
                           : ", or tables." + context_.kernel.tables[device].name + " = { ..., where = \"host\" }";
  }

  // Dimensions along which the window stays come last; one that moves in order may stand right before them.
  bool in_order(uint64_t open, uint64_t known) const {
    const uint64_t still = constant_ | open;
    if (still == 0)
      return true;
    const GridId outermost = __builtin_ctzll(still);
    if ((known >> outermost) != 0)
      return false;
    if (open == 0)
      return true;
    return open == uint64_t{1} << outermost && moves_in_order(context_, output_, outermost);
  }

  Finding by_entries(const std::vector<TableId> &tables) {
    Check check;
    check.kind = Check::Kind::table_runs;
    check.tables = tables;
    check.table = tables.front();
    check.var = output_;
    check.argument = context_.kernel.tables[tables.front()].name;
    check.message = "entries of " + check.argument + " return to a block of " + var_.name + " that was left";
    context_.facts.checks.push_back(std::move(check));
    return {Verdict::checked, "the launcher tests the entries", {}};
  }

  Context &context_;
  VarId output_;
  const Var &var_;
  uint64_t constant_ = 0;
};

} // namespace

Determined determined_steps(const Context &context, VarId output, bool with_relations) {
  std::vector<Size> extents;
  for (const Dim &dim : context.var(output).dims)
    extents.push_back(dim.extent);
  Symbols symbols(context.kernel, extents);
  Determiner determiner(context, symbols);
  for (const Dim &dim : context.var(output).dims)
    if (!dim.whole)
      determiner.add(symbols.polynomial(dim.start), symbols.polynomial(dim.block) - Polynomial::constant(1));
  return determiner.run(with_relations);
}

bool moves_in_order(const Context &context, VarId output, GridId g) {
  Symbols symbols(context.kernel);
  for (const Dim &dim : context.var(output).dims) {
    const Polynomial p = symbols.polynomial(dim.start);
    if (dim.whole || (symbols.steps_of(p) >> g & 1) == 0)
      continue;
    const auto blocks = Symbols::divide(p, symbols.polynomial(dim.block));
    if (!blocks)
      return false;
    for (const auto &[m, c] : blocks->terms)
      for (int id : m)
        if ((symbols.atom(id).steps >> g & 1) != 0 &&
            (c < 0 || m.size() > 1 || !rises_with(symbols, context.kernel, id, g)))
          return false;
  }
  return true;
}

void judge_disjoint(Context &context) {
  for (size_t v = 0; v < context.kernel.vars.size(); ++v) {
    if (!context.is_output(static_cast<VarId>(v)))
      continue;
    Disjoint disjoint(context, static_cast<VarId>(v));
    Finding &finding = context.facts.operands[v].disjoint;
    finding = disjoint.judge();
    if (finding.verdict == Verdict::refuted)
      disjoint.report(finding);
  }
}

void judge_revisits(Context &context) {
  for (size_t v = 0; v < context.kernel.vars.size(); ++v) {
    OperandFact &fact = context.facts.operands[v];
    if (!context.is_output(static_cast<VarId>(v)) || fact.disjoint.verdict == Verdict::refuted)
      continue;
    Revisits revisits(context, static_cast<VarId>(v));
    fact.revisit = revisits.judge();
    if (fact.revisit.verdict == Verdict::refuted)
      revisits.report(fact.revisit);
  }
}

} // namespace kgen::analysis
