// What all that prints lanes has at hand. A group of neighbouring iterations is one pass over the body of a loop, whose
// values are vectors. What is the same for all lanes stays scalar, and what has no vector form is computed lane by
// lane.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emit/print/printer.h"
#include "plan/index/lanes.h"

namespace kgen {

// Stands for the number of lanes until the widest type of the loop is known.
inline constexpr const char *kLaneCount = "kLanesOfThisLoop";

// Which lanes take part: names of C++ masks.
struct LaneMasks {
  std::string active, mask; // those of the group, and those of them for which conditions hold; empty: all of them
  // Of the loop that jumps leave: the lanes that are still in it, those of this round, and of branches in it.
  std::string live, round;
  std::vector<std::string> branches;
  // The mask under which a variable came to life, or of the loop whose own it is.
  std::map<VarId, std::string> unmasked;

  const std::string &current() const { return mask.empty() ? active : mask; }
  // Does nobody want what the lanes have in it that take no part here?
  bool is_whole(VarId var) const;
};

// Where an expression stands: it is all of what a new local is, or all of another statement's value, or a part of it
// that is always evaluated, or it may be that it is not evaluated where the statement begins.
enum class Standing { named, alone, within, elsewhere };

// What reads of a statement go by.
struct LaneReads {
  Standing place = Standing::elsewhere;
  bool as_bits = false;                        // what is read is of a half type, and wanted as it lies
  std::map<std::string, std::string> gathered; // the names of what the statement at hand gathers
  std::map<std::string, std::string> turned;   // elements of arrays -> those of turned tiles
  std::map<AxisId, std::string> one_of; // what each position of a group is called where it is asked for by itself
  AxisId looked_up = kNone;             // whose rows the elements of the loop at hand look up;
  std::string near_row;                 // the variable that says which one is at hand, or one near it
};

struct LaneScope {
  LaneScope(Printer &printer, Names &names);

  Printer &printer;
  Names &names;
  const Kernel &kernel;
  const LaneAnalysis analysis;
  AxisId axis = kNone; // of the loop that is printed; none: no lanes are
  int widest = 1;      // bytes of the widest type that is computed on them
  LaneMasks masks;
  LaneReads reads;

  void note(Type type);
  // What the plan and the scalar printer say of it.
  const Expr &expr(ExprId id) const { return kernel.expr(id); }
  Type type(VarId var) const { return kernel.vars[var].type; }
  Storage::Kind kind_of(VarId var) const { return printer.plan.storage[var].kind; }
  bool is_vector(VarId var) const { return analysis.is_vector(var, axis); }
  LaneStep step_of(VarId var, const std::vector<Coordinate> &coords) const {
    return analysis.step_of(var, coords, axis);
  }
  const std::string &name(VarId var) const { return printer.name(var); }
  std::string element(VarId var, const std::vector<Coordinate> &coords, const std::vector<ExprId> &indices = {}) const {
    return printer.element(var, coords, indices);
  }
  std::string identity(Monoid monoid, Type type) const { return printer.spelling.identity(monoid, type); }
  Code scalar(ExprId id) const { return printer.expression(id); }
  bool varies(ExprId id) const { return analysis.varies(id, axis); }
  void add(const std::string &line) const { printer.lines.add(line); }
  const std::string &helper(const std::string &name) const { return printer.spelling.helper(name); }
  static std::string lanes_type(Type type); // Lanes<float, kLanes32>
  // The text with the number of lanes that the widest type leaves.
  std::string with_count(std::string text);
  // What print() gives, with the place set to that meanwhile.
  template <class Print> auto placed(Standing place, const Print &print) {
    const Standing outer = std::exchange(reads.place, place);
    auto text = print();
    reads.place = outer;
    return text;
  }
  // The parts of an expression all of which are evaluated.
  template <class Print> auto within(const Print &print) {
    return placed(reads.place == Standing::elsewhere ? reads.place : Standing::within, print);
  }
};

} // namespace kgen
