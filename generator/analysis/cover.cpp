// Do the windows of an output together reach every element? Proved one dimension at a time, where each dimension has
// grid steps (or quotients and remainders of them) of its own: their strides must chain without gaps, from 0 to the
// extent.
#include <algorithm>

#include "analysis/affine.h"
#include "analysis/context.h"
#include "analysis/digits.h"
#include "analysis/witness.h"

namespace kgen::analysis {
namespace {

const Polynomial kOne = Polynomial::constant(1);

class Cover {
public:
  Cover(Context &context, VarId output)
      : context_(context), kernel_(context.kernel), output_(output), var_(context.var(output)),
        symbols_(context.kernel, extents(var_)) {}

  Finding judge() {
    if (var_.partial)
      return {Verdict::proved, "may stay partly as it was", {}};
    bool separate = true;
    for (const Dim &dim : var_.dims)
      if (!dim.whole && !(dim.axis != kNone && kernel_.axes[dim.axis].ragged != kNone))
        separate = separate && along(dim);
    if (separate && relations_.empty())
      return {Verdict::proved, "blocks follow each other to the end", {}};
    const Tested tested = context_.search.uncovered(output_);
    if (separate && (tested.holds || !tested.fails))
      return by_relations();
    return {Verdict::refuted,
            tested.fails ? "an element is in no window" : "not proved that the windows reach every element",
            in_no_window(tested.fails)};
  }

private:
  static std::vector<Size> extents(const Var &output) {
    std::vector<Size> out;
    for (const Dim &dim : output.dims)
      out.push_back(dim.extent);
    return out;
  }

  // A run may first come upon an element that has a window and is not written either.
  std::optional<Witness> in_no_window(const std::optional<Witness> &found) {
    const std::optional<Witness> run = executed(context_, found, Fault::unwritten, output_);
    return run && found && run->sizes == found->sizes ? found : std::nullopt;
  }

  struct Part {
    Polynomial stride;
    Polynomial most; // times 0 .. most
  };

  // The parts of which a start is made; nullopt where it is made of something else.
  std::optional<std::vector<Part>> parts(const Polynomial &start, Polynomial &constant) {
    std::vector<Part> out;
    for (const auto &[m, c] : start.terms) {
      Polynomial term;
      term.terms[m] = c;
      const auto moving = std::find_if(m.begin(), m.end(), [&](int id) { return symbols_.atom(id).steps != 0; });
      if (moving == m.end()) {
        constant = constant + term;
        continue;
      }
      const int id = *moving;
      const auto split = Symbols::linear(term, id);
      const auto most = range(id);
      if (!split || symbols_.steps_of(split->first) != 0 || !most)
        return std::nullopt;
      out.push_back({split->first, *most});
    }
    return out;
  }

  // The greatest value of an atom that takes every value from 0 on, whatever the others are.
  std::optional<Polynomial> range(int id) {
    const Atom &atom = symbols_.atom(id);
    if (atom.kind == Atom::Kind::modulo)
      if (const int step = turning(atom); step != kNone && claim({step, kOne, std::nullopt}))
        return atom.args[1] - kOne;
    if (atom.kind == Atom::Kind::table)
      return permuted(atom);
    const auto digit = digit_of(symbols_, id);
    if (!digit || symbols_.atom(digit->step).grid == kNone)
      return std::nullopt;
    const GridDim &grid = kernel_.grid[symbols_.atom(digit->step).grid];
    const Polynomial steps = symbols_.polynomial(grid.size);
    const Polynomial high = digit->high.value_or(steps);
    const auto values = Symbols::divide(high, digit->low);
    if (!values || !Symbols::divide(steps, high) || steps_of(kernel_, grid.size) != 0 || !claim(*digit))
      return std::nullopt;
    return *values - kOne;
  }

  // Entries that differ, as many as there are values for them: read one by one, they take every value.
  std::optional<Polynomial> permuted(const Atom &entry) {
    const Table *table = entry.table == kNone ? nullptr : &kernel_.tables[entry.table];
    if (table == nullptr || !table->unique || !table->range || table->dims.size() != 1)
      return std::nullopt;
    const Polynomial &place = entry.args[0], values = symbols_.polynomial(*table->range);
    const bool plain =
        place.terms.size() == 1 && place.terms.begin()->first.size() == 1 && place.terms.begin()->second == 1;
    const int step = plain ? place.terms.begin()->first[0] : kNone;
    const GridId grid = plain ? symbols_.atom(step).grid : kNone;
    if (grid == kNone || steps_of(kernel_, kernel_.grid[grid].size) != 0 ||
        !(symbols_.polynomial(kernel_.grid[grid].size) - values).is_zero() ||
        !(symbols_.polynomial(table->dims[0]) - values).is_zero() || !claim({step, kOne, std::nullopt}))
      return std::nullopt;
    return values - kOne;
  }

  bool claim(const Digit &digit) {
    if (!std::all_of(claimed_.begin(), claimed_.end(), [&](const Digit &other) { return separate(digit, other); }))
      return false;
    claimed_.push_back(digit);
    return true;
  }

  // (i + anything) % d with d steps of i: whatever the rest is, all remainders occur.
  int turning(const Atom &atom) {
    for (const auto &[m, c] : atom.args[0].terms) {
      if (m.size() != 1 || (c != 1 && c != -1) || symbols_.atom(m[0]).grid == kNone)
        continue;
      const GridId grid = symbols_.atom(m[0]).grid;
      const auto split = Symbols::linear(atom.args[0], m[0]);
      const bool alone = split && (symbols_.steps_of(split->second) >> grid & 1) == 0 &&
                         steps_of(kernel_, kernel_.grid[grid].size) == 0 && symbols_.steps_of(atom.args[1]) == 0;
      if (alone && (symbols_.polynomial(kernel_.grid[grid].size) - atom.args[1]).is_zero())
        return m[0];
    }
    return kNone;
  }

  // By what holds of all sizes, or of those that the spec requires.
  bool nonnegative(const Polynomial &p) {
    if (symbols_.nonnegative(p))
      return true;
    const Size size = symbols_.size_of(p);
    if (kernel_.requirements.empty() || p.overflow || !context_.sizes_only(size))
      return false;
    bool exhausted = false;
    return impossible(kernel_, {Size::make(Size::Op::less, {size, Size::integer(0)})}, {}, exhausted);
  }

  bool require(const Polynomial &p) {
    if (nonnegative(p))
      return true;
    const Size size = symbols_.size_of(p);
    if (p.overflow || p.as_constant() || !context_.sizes_only(size))
      return false;
    relations_.push_back(Size::make(Size::Op::greater_equal, {size, Size::integer(0)}));
    return true;
  }

  bool along(const Dim &dim) {
    Polynomial constant;
    auto open = parts(symbols_.polynomial(dim.start), constant);
    if (!open)
      return false;
    for (Part &part : *open) // what counts down, counted from its end
      if (const Polynomial up = part.stride * Polynomial::constant(-1); symbols_.nonnegative(up)) {
        constant = constant + part.stride * part.most;
        part.stride = up;
      }
    if (!nonnegative(constant * Polynomial::constant(-1)))
      return false;
    // So many elements follow each other so far, from `constant` on. The next part is one whose stride leaves no gap.
    Polynomial reach = symbols_.polynomial(dim.block);
    while (!open->empty()) {
      auto next = std::find_if(open->begin(), open->end(), [&](const Part &part) {
        return nonnegative(part.stride) && nonnegative(reach - part.stride);
      });
      if (next == open->end()) {
        next = open->begin();
        if (open->size() > 1 || !require(reach - next->stride))
          return false;
      }
      reach = reach + next->stride * next->most;
      open->erase(next);
    }
    return require(constant + reach - symbols_.polynomial(dim.extent));
  }

  Finding by_relations() {
    for (const Size &relation : relations_) {
      Check check;
      check.kind = Check::Kind::coverage;
      check.condition = nonempty_or(relation);
      check.var = output_;
      check.argument = var_.name;
      check.message = "the blocks would not reach every element of " + var_.name;
      context_.facts.checks.push_back(std::move(check));
    }
    return {Verdict::checked, "the launcher tests the sizes", {}};
  }

  // The relation matters only if the output has elements.
  Size nonempty_or(Size relation) const {
    for (const Dim &dim : var_.dims)
      if (!dim.extent.is_integer())
        relation = unless_empty(dim.extent, relation);
    return relation;
  }

  Context &context_;
  const Kernel &kernel_;
  VarId output_;
  const Var &var_;
  Symbols symbols_;
  std::vector<Digit> claimed_;
  std::vector<Size> relations_;
};

} // namespace

void judge_window_cover(Context &context) {
  for (size_t v = 0; v < context.kernel.vars.size(); ++v) {
    const OperandFact &fact = context.facts.operands[v];
    // Windows that are wrong already are not asked for more.
    if (!context.is_output(static_cast<VarId>(v)) || fact.bounds.verdict == Verdict::refuted ||
        fact.disjoint.verdict == Verdict::refuted || fact.revisit.verdict == Verdict::refuted)
      continue;
    Finding &finding = context.facts.operands[v].windows_cover;
    finding = Cover(context, static_cast<VarId>(v)).judge();
    if (finding.verdict != Verdict::refuted)
      continue;
    const Var &var = context.kernel.vars[v];
    Diagnostic &error =
        context.diags.add(finding.witness ? DiagId::not_covered : DiagId::cover_unknown, var.place, {var.name});
    const std::string help = "write partial = true if such elements may stay as they were";
    error.help = finding.witness ? to_string(context.kernel, *finding.witness) + " is in no window; " + help : help;
  }
}

} // namespace kgen::analysis
