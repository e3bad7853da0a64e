#include "emit/cuda/folds.h"

#include "plan/cuda/nests.h"

namespace kgen {

bool in_memory(const Printer &printer, VarId var) {
  return printer.own.count(var) == 0 && in_memory(printer.plan, var);
}

const std::string &parts_name(Printer &printer, VarId var) { return printer.name_beside(var, "_parts"); }

namespace {

std::string begin_of(const KernelText &out, const PlanNode &fold, VarId var) {
  const Type type = out.kernel().vars[var].type;
  const Spelling &spelling = out.printer.spelling;
  return var == fold.target ? spelling.identity(fold.monoid, type) : spelling.constant(type, 0, 0);
}

} // namespace

Shares begin_shares(KernelText &out, const std::vector<const PlanNode *> &folds) {
  Shares shares;
  for (const PlanNode *fold : folds)
    for (VarId var : {fold->target, fold->partner}) {
      if (var == kNone)
        continue;
      const Type type = out.kernel().vars[var].type;
      const std::string whole = out.printer.name(var), mine = out.names.claim_one_of(whole, {"_own", "_of_thread"});
      out.add(Spelling::arithmetic(type) + " " + mine + " = " + begin_of(out, *fold, var) + ";");
      out.printer.rename(var, mine);
      shares[var] = {whole, mine, out.printer.own.insert(var).second};
    }
  return shares;
}

Shares shares_of_takers(KernelText &out, const std::vector<const PlanNode *> &folds, Shares shares,
                        const std::string &takes_part) {
  for (const PlanNode *fold : folds)
    for (VarId var : {fold->target, fold->partner})
      if (var != kNone)
        shares.at(var).mine = takes_part + " ? " + shares.at(var).mine + " : " + begin_of(out, *fold, var);
  return shares;
}

void end_shares(Printer &printer, const Shares &shares) {
  for (const auto &[var, share] : shares) {
    printer.rename(var, share.whole);
    if (share.begins)
      printer.own.erase(var);
  }
}

std::string team_fold(KernelText &out, const Team &team, const PlanNode &fold, const Shares &shares) {
  out.helper(team.helper);
  return team.fold + "(" + shares.at(fold.target).mine + ", " + combination_of(out, fold) + ")";
}

namespace {

// A total.
void fold_values(KernelText &out, const Team &team, const PlanNode &fold, const Shares &shares, bool fresh) {
  const Var &var = out.kernel().vars[fold.target];
  const std::string type = Spelling::arithmetic(var.type), place = out.printer.element(fold.target, {}, {});
  const std::string folded = team_fold(out, team, fold, shares);
  if (!in_memory(out.printer, fold.target)) {
    if (fresh)
      out.printer.mark_declared(fold.target);
    return out.add((fresh ? "const " + type + " " : "") + place + " = " +
                   (fresh ? folded : out.printer.combined(fold, place, {folded}).text) + ";");
  }
  // What is in memory is read and written by one thread, when all have come through the fold.
  const std::string whole = out.names.claim_one_of("whole", {"", "_" + var.name});
  out.add("const " + type + " " + whole + " = " + folded + ";");
  out.add("if (" + team.writer + ") " + place + " = " +
          (fresh ? whole : out.printer.combined(fold, place, {whole}).text) + ";");
}

// What `found` has, for the first time.
void set_best(KernelText &out, const Team &team, const PlanNode &fold, const std::string &found, bool of_whole) {
  for (const auto &[var, field] : {std::pair{fold.partner, ".value"}, std::pair{fold.target, ".index"}}) {
    const bool memory = in_memory(out.printer, var);
    if (!memory && of_whole && var == fold.partner)
      continue; // the best value has served
    if (!memory)
      out.printer.mark_declared(var);
    out.add(
        (memory ? "if (" + team.writer + ") " : "const " + Spelling::arithmetic(out.kernel().vars[var].type) + " ") +
        out.printer.element(var, {}, {}) + " = " + found + field + ";");
  }
}

// Or where it wins.
void keep_best(KernelText &out, const Team &team, const PlanNode &fold, const std::string &found,
               const std::string &better) {
  const std::string place = out.printer.element(fold.target, {}, {}), best = out.printer.element(fold.partner, {}, {});
  const bool index_in_memory = in_memory(out.printer, fold.target),
             value_in_memory = in_memory(out.printer, fold.partner);
  const std::string wins =
      found + ".index >= 0 && (" + place + " < 0 || " + better + "(" + found + ".value, " + best + "))";
  const std::string keeps_value = best + " = " + found + ".value;", keeps_index = place + " = " + found + ".index;";
  if (!index_in_memory && !value_in_memory)
    return out.add("if (" + wins + ") {\n" + keeps_value + "\n" + keeps_index + "\n}");
  const std::string name = out.names.claim("wins"); // all threads look before one of them writes
  out.add("const bool " + name + " = " + wins + ";");
  out.barrier();
  out.add("if (" + name + (value_in_memory ? " && " + team.writer + ") " : ") ") + keeps_value);
  out.add("if (" + name + (index_in_memory ? " && " + team.writer + ") " : ") ") + keeps_index);
}

// The better value, and of equals the smaller index: the order of threads does not count.
void fold_best(KernelText &out, const Team &team, const PlanNode &fold, const Shares &shares, Result of) {
  const auto &[a, b] = out.names.pair();
  const std::string best = "Best<" + Spelling::arithmetic(out.kernel().vars[fold.partner].type) + ">";
  const std::string &better = out.helper(fold.monoid == Monoid::argmax ? "above" : "below");
  const std::string found = out.names.claim("found");
  out.helper("Best"), out.helper(team.helper);
  out.add("const " + best + " " + found + " = " + team.fold + "(" + best + "{" + shares.at(fold.partner).mine + ", " +
          shares.at(fold.target).mine + "}, [](" + best + " " + a + ", " + best + " " + b + ") { return " +
          out.helper("first_" + better) + "(" + a + ", " + b + "); });");
  if (of == Result::item)
    keep_best(out, team, fold, found, better);
  else
    set_best(out, team, fold, found, of == Result::whole);
}

} // namespace

void fold_shares(KernelText &out, const Team &team, const PlanNode &fold, const Shares &shares, Result of) {
  if (fold.partner == kNone)
    fold_values(out, team, fold, shares, of != Result::item);
  else
    fold_best(out, team, fold, shares, of);
}

void fold_parts(KernelText &out, const std::vector<const PlanNode *> &folds, const Shares &shares,
                const std::string &slot) {
  auto part_of = [&](VarId var) { return parts_name(out.printer, var) + "[" + slot + "]"; };
  for (const PlanNode *fold : folds) {
    const std::string &mine = shares.at(fold->target).mine, part = part_of(fold->target);
    if (fold->partner == kNone) {
      out.add(mine + " = " + out.printer.combined(*fold, mine, {part}).text + ";");
      continue;
    }
    const std::string &best = shares.at(fold->partner).mine, value = part_of(fold->partner);
    out.add("if (" + part + " >= 0 && (" + mine + " < 0 || " +
            out.helper(fold->monoid == Monoid::argmax ? "above" : "below") + "(" + value + ", " + best + "))) {\n" +
            mine + " = " + part + ";\n" + best + " = " + value + ";\n}");
  }
}

std::string combination_of(KernelText &out, const PlanNode &step) {
  const std::string type = Spelling::arithmetic(out.kernel().vars[step.target].type);
  const auto &[a, b] = out.names.pair();
  const std::string text = out.printer.combined(step, a, {b}).text, named = out.printer.spelling.combiner(text, a, b);
  return !named.empty() ? named
                        : "[](" + type + " " + a + ", " + type + " " + b + ") { return " + type + "(" + text + "); }";
}

} // namespace kgen
