// What a body may find when it asks which step it is: whether this is the first or last one of its dimension, and of
// the windows of outputs, and how the other conditions come out that it asks more than once. Within a scenario each of
// these has one answer. A kernel has few scenarios, for it asks few such questions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/context.h"

namespace kgen::analysis {

enum class Truth : signed char { no, yes, unknown };

struct Scenario {
  std::vector<Truth> first, last;               // per grid dimension
  std::vector<Truth> window_first, window_last; // per variable; of outputs
  std::map<std::string, Truth> others;          // conditions that are the same for all lanes, by their text
};

// Dimensions along which the window of an output (or all of scratch) stays: of more than one step.
uint64_t constant_steps(const Context &context, VarId var);

// Is the step, as far as the scenario says, one where all of `steps` are first (last), or the window of `var` begins
// (ends)?
bool begins(const Scenario &scenario, uint64_t steps, VarId window);
bool ends(const Scenario &scenario, uint64_t steps, VarId window);

// What conditions say in a scenario. They are looked at through locals that name them, or parts of them.
class Conditions {
public:
  using Numbers = std::map<VarId, int64_t>; // locals that are the same for all lanes, where their value is known

  explicit Conditions(const Context &context);

  std::vector<Scenario> scenarios() const;
  Truth truth(const Scenario &scenario, const Numbers &known, ExprId id) const;
  std::optional<int64_t> integer(const Scenario &scenario, const Numbers &known, ExprId id) const;

private:
  struct Question {
    Op op;
    int ref;
    std::string text; // of other conditions
    auto operator<=>(const Question &) const = default;
  };
  // Does a table entry, which picks the windows of `outputs`, differ from that of the step before (or behind) it?
  struct Change {
    GridId grid;
    bool behind, differs;
    std::vector<VarId> outputs;
  };

  void note_locals();
  void note_changes();
  void note_windows_alike();
  void note_conditions();
  void note_condition(ExprId id, std::map<std::string, int> &times);
  void choose_questions(const std::map<std::string, int> &times);

  ExprId bare(ExprId id) const;
  std::optional<Question> question_of(const Expr &expr) const;
  std::optional<Size> entry(ExprId id) const;
  std::optional<Change> change_of(const Expr &expr) const;
  bool picks(const Size &entry, GridId g, VarId output) const;
  bool same_in_step(ExprId id) const;
  std::string text(ExprId id) const;
  Truth other(const Scenario &scenario, ExprId id) const;
  Truth change(const Scenario &scenario, const Change &change) const;
  Truth answer(const Scenario &scenario, const Question &question) const;
  Truth comparison(const Scenario &scenario, const Numbers &known, const Expr &expr) const;
  bool regular(VarId var) const;
  std::optional<Scenario> make(uint64_t bits) const;
  bool window(VarId v, const std::vector<Truth> &steps, Truth &result) const;

  const Context &context_;
  const Kernel &kernel_;
  std::map<VarId, ExprId> named_; // locals that are set once, to what is the same all through a step
  std::map<ExprId, Change> changes_;
  std::vector<std::pair<VarId, VarId>> alike_;            // outputs whose windows begin, and end, in the same steps
  std::map<ExprId, std::pair<std::string, bool>> others_; // the text, and whether it is its negation that is asked
  std::vector<Question> free_;
};

} // namespace kgen::analysis
