// Two steps of the grid: can their windows of an output meet? Equal windows are turned into equations between the steps,
// which are solved one atom at a time: an atom whose stride exceeds all that the rest can make up must be equal too.
// What this leaves open goes to isl, then to the search for a witness.
#include <algorithm>
#include <set>

#include "analysis/affine.h"
#include "analysis/context.h"
#include "support/text.h"

namespace kgen::analysis {
namespace {

const Polynomial kOne = Polynomial::constant(1);

// Along one dimension, two overlapping windows have starts at most `slack` apart.
struct Equation {
  Polynomial start;
  Polynomial slack;
};

class Determiner {
public:
  Determiner(const Context &context, const Var &output, bool with_relations)
      : context_(context), symbols_(context.kernel, extents(output)), with_relations_(with_relations) {
    for (const Dim &dim : output.dims)
      if (!dim.whole)
        equations_.push_back({symbols_.polynomial(dim.start), symbols_.polynomial(dim.block) - kOne});
  }

  Determined run() {
    while (step() || (with_relations_ && step_with_relation())) {
    }
    return known_;
  }

private:
  static std::vector<Size> extents(const Var &output) {
    std::vector<Size> out;
    for (const Dim &dim : output.dims)
      out.push_back(dim.extent);
    return out;
  }

  bool is_known(int atom) const {
    const uint64_t steps = symbols_.atom(atom).steps;
    return (steps & ~known_.steps) == 0 || known_atoms_.count(atom) > 0;
  }

  // The terms that are not pinned down yet.
  Polynomial unknown_part(const Polynomial &p) const {
    Polynomial out;
    out.overflow = p.overflow;
    for (const auto &[m, c] : p.terms)
      if (!std::all_of(m.begin(), m.end(), [&](int id) { return is_known(id); }))
        out.terms[m] = c;
    return out;
  }

  // How far a sum of bounded atoms ranges; nullopt: not known.
  std::optional<Polynomial> width(const Polynomial &p) {
    Polynomial out;
    for (const auto &[m, c] : p.terms) {
      Polynomial term;
      term.terms[m] = c;
      int moving = kNone;
      for (int id : m)
        if (!is_known(id))
          moving = moving == kNone ? id : -2;
      if (moving < 0 || symbols_.atom(moving).upper.empty() || symbols_.atom(moving).low != 0)
        return std::nullopt;
      const auto split = Symbols::linear(term, moving);
      if (!split)
        return std::nullopt;
      const Polynomial &upper = symbols_.atom(moving).upper.front();
      const bool rising = symbols_.nonnegative(split->first);
      if (!rising && !symbols_.nonnegative(split->first * Polynomial::constant(-1)))
        return std::nullopt;
      out = out + split->first * Polynomial::constant(rising ? 1 : -1) * upper;
    }
    return out;
  }

  // What must not be negative for `atom` to be pinned down by this equation.
  std::optional<Polynomial> requirement(const Equation &equation, const Polynomial &open, int atom) {
    const auto split = Symbols::linear(open, atom);
    if (!split || (symbols_.steps_of(split->first) & ~known_.steps) != 0)
      return std::nullopt;
    const auto range = width(split->second);
    if (!range || (symbols_.steps_of(*range) & ~known_.steps) != 0)
      return std::nullopt;
    const bool falling = !symbols_.nonnegative(split->first) && symbols_.nonnegative(split->first * Polynomial::constant(-1));
    return split->first * Polynomial::constant(falling ? -1 : 1) - *range - equation.slack - kOne;
  }

  std::vector<int> open_atoms(const Polynomial &open) const {
    std::vector<int> out;
    for (const auto &[m, c] : open.terms)
      for (int id : m)
        if (!is_known(id))
          out.push_back(id);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  void learn(int id) {
    const Atom atom = symbols_.atom(id);
    known_atoms_.insert(id);
    if (atom.grid != kNone)
      known_.steps |= uint64_t{1} << atom.grid;
    if (atom.kind == Atom::Kind::divide || atom.kind == Atom::Kind::cdiv)
      if ((symbols_.steps_of(atom.args[1]) & ~known_.steps) == 0)
        equations_.push_back({atom.args[0], atom.args[1] - kOne});
    if (atom.kind == Atom::Kind::table && context_.kernel.tables[atom.table].unique && atom.args.size() == 1)
      equations_.push_back({atom.args[0], Polynomial()});
    // A quotient and a remainder by the same divisor are the number itself.
    for (int other : known_atoms_) {
      const Atom &partner = symbols_.atom(other);
      if (partner.kind != atom.kind && (partner.kind == Atom::Kind::modulo || atom.kind == Atom::Kind::modulo) &&
          (partner.kind == Atom::Kind::divide || atom.kind == Atom::Kind::divide) &&
          (partner.args[0] - atom.args[0]).is_zero() && (partner.args[1] - atom.args[1]).is_zero())
        equations_.push_back({atom.args[0], Polynomial()});
    }
  }

  bool step() {
    for (size_t e = 0; e < equations_.size(); ++e) {
      const Equation equation = equations_[e];
      const Polynomial open = unknown_part(equation.start);
      for (int atom : open_atoms(open)) {
        const auto required = requirement(equation, open, atom);
        if (required && symbols_.nonnegative(*required)) {
          learn(atom);
          return true;
        }
      }
    }
    return false;
  }

  bool step_with_relation() {
    for (size_t e = 0; e < equations_.size(); ++e) {
      const Equation equation = equations_[e];
      const Polynomial open = unknown_part(equation.start);
      for (int atom : open_atoms(open)) {
        const auto required = requirement(equation, open, atom);
        if (!required || required->as_constant() || required->overflow || symbols_.atom(atom).upper.empty())
          continue;
        const Size single = symbols_.size_of(symbols_.atom(atom).upper.front());
        const Size enough = symbols_.size_of(*required);
        if (!context_.sizes_only(single) || !context_.sizes_only(enough))
          continue;
        const Size condition = Size::make(
            Size::Op::choose, {Size::make(Size::Op::less_equal, {single, Size::integer(0)}), Size::integer(1),
                               Size::make(Size::Op::greater_equal, {enough, Size::integer(0)})});
        known_.relations.push_back(condition);
        learn(atom);
        return true;
      }
    }
    return false;
  }

  const Context &context_;
  Symbols symbols_;
  bool with_relations_;
  std::vector<Equation> equations_;
  std::set<int> known_atoms_;
  Determined known_;
};

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
    if ((open_ & ~related.steps) == 0 && (tested.holds || !tested.fails))
      return by_relations(related);
    const std::vector<TableId> tables = context_.tables_of(starts_of(var_));
    if (!tables.empty() && context_.on_host(tables) && (tested.holds || !tested.fails))
      return by_entries(tables);
    return {Verdict::refuted, "steps of " + context_.grid_names(open_) + " write the same elements", tested.fails};
  }

  void report(const Finding &finding) {
    for (GridId g : list_of(open_)) {
      const GridDim &dim = context_.kernel.grid[g];
      const auto &moves = context_.facts.operands[output_].moves_with;
      const bool constant = std::find(moves.begin(), moves.end(), g) == moves.end();
      Diagnostic &error = context_.diags.add(constant ? DiagId::parallel_constant : DiagId::parallel_overlap, dim.place,
                                             {dim.name, var_.name});
      error.labels.push_back({var_.place, constant ? "its window does not move with " + dim.name : "its window"});
      const std::string help = "write semantics = \"arbitrary\", or leave it out";
      error.help = finding.witness ? to_string(context_.kernel, *finding.witness) + ": both steps write it; " + help : help;
      return;
    }
  }

private:
  Finding by_relations(const Determined &related) {
    for (const Size &relation : related.relations) {
      Check check;
      check.kind = Check::Kind::disjoint;
      check.condition = relation;
      check.var = output_;
      check.argument = var_.name;
      check.message = "blocks of " + var_.name + " that are written at once would overlap";
      context_.facts.checks.push_back(std::move(check));
    }
    return {Verdict::checked, "the launcher tests the sizes", {}};
  }

  Finding by_entries(const std::vector<TableId> &tables) {
    Check check;
    check.kind = Check::Kind::table_disjoint;
    check.tables = tables;
    check.table = tables.front();
    check.var = output_;
    check.argument = context_.kernel.tables[tables.front()].name;
    check.message = "entries of " + check.argument + " make steps that run at once write the same block of " + var_.name;
    context_.facts.checks.push_back(std::move(check));
    return {Verdict::checked, "the launcher tests the entries", {}};
  }

  Context &context_;
  VarId output_;
  const Var &var_;
  uint64_t open_ = 0;
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
        if ((symbols.atom(inner).steps >> g & 1) != 0 && (c < 0 || m.size() > 1 || !rises_with(symbols, kernel, inner, g)))
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
    constant_ = all & ~moving;
    const uint64_t open = moving & ~known;
    if (in_order(open, known))
      return {Verdict::proved, "each window is one run of steps", {}};
    const Tested tested = context_.search.revisit(output_);
    if (tested.fails)
      return {Verdict::refuted, "the grid returns to a window", tested.fails};
    const std::vector<TableId> tables = context_.tables_of(starts_of(var_));
    if (!tables.empty() && context_.on_host(tables))
      return by_entries(tables);
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
      error.help += "declare tables." + context_.kernel.tables[tables.front()].name +
                    " = { ..., sorted = true }, or where = \"host\"";
    else
      error.help += "give windows that do not overlap, each used in consecutive steps";
  }

private:
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
  return Determiner(context, context.var(output), with_relations).run();
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
