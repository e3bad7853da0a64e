// Prints a plan's nodes as the C++ of one thread: scalar statements under loops. Both targets use it; what a target
// does around the loops (work lists, blocks of threads, lane groups) is printed by its own file.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/facts.h"
#include "emit/print/spelling.h"
#include "emit/text/names.h"
#include "plan/index/scopes.h"
#include "plan/plan.h"

namespace kgen {

// Lines of C++; clang-format does the layout.
class Lines {
public:
  void add(const std::string &line) { text_ += line + "\n"; }
  void append(const std::string &lines) { text_ += lines; }
  const std::string &text() const { return text_; }
  bool empty() const { return text_.empty(); }
  std::string last() const { return empty() ? "" : text_.substr(last_begin(), text_.size() - 1 - last_begin()); }
  void drop_last() { text_.erase(last_begin()); }

private:
  size_t last_begin() const { return text_.size() < 2 ? 0 : text_.rfind('\n', text_.size() - 2) + 1; }

  std::string text_;
};

class Statuses;
class LanePrinter;

class Printer {
public:
  Printer(const Plan &plan, const Facts &facts, Spelling &spelling, Names &names);

  bool plain = false; // sums and products are operations of their own, as the kernel has them

  Code expression(ExprId id);
  Code size(const Size &size);
  std::string size_text(const Size &s) { return size(s).text; }
  // Is the value an element of the half type that it is stored as?
  bool is_moved(ExprId value, Type to) const;
  // The bits of an element that is stored as the half type which it has: a NaN keeps them all. None: it is computed.
  std::optional<Code> unconverted(ExprId value, Type to);
  // What is read outside of an array of a half type, as bits.
  std::string bits_of_half(double number, Type type) const;
  std::string bytes_text(const std::set<VarId> &arrays); // of all of them
  // The statements of a list, in order, each variable declared where its scope begins.
  void list(const std::vector<PlanNode> &nodes);
  void node(const PlanNode &node, const std::vector<PlanNode> &siblings);
  void loop(const PlanNode &node);
  // Prints what stands inside nested loops. On the CPU, the begin and the length of a row of a ragged axis get names.
  void inside_loops(const std::vector<const PlanNode *> &loops, const std::function<void()> &print);
  // That of the innermost loop around what is printed; none where that is one of the grid.
  AxisId innermost_axis() const;
  // What is printed meanwhile, instead of printing it.
  std::string captured(const std::function<void()> &print);
  // Declarations that must stand before this node of the list.
  void declare_before(const std::vector<PlanNode> &list, size_t index);

  struct Range {
    std::string begin, end;  // of global indices
    std::string length = ""; // of every part but the last, where it is a part
  };
  // Rows that a loop over columns goes down, several at a time: what counts them, and the arguments that say which.
  struct WalkedRows {
    std::string row, arguments;
  };
  const WalkedRows &walked_rows() const { return walked_rows_; }
  Range range(const PlanNode &loop);
  Range share_range(const PlanNode &loop);
  Range declared_range(const PlanNode &loop); // before the loop
  // Loops over an axis or a dimension of the grid: what they count with, how often, and where they begin.
  const std::string &counter(const PlanNode &loop) const;
  Range counted_range(const PlanNode &loop);
  Code trips(const PlanNode &loop);
  void open(const PlanNode &loop);
  // What stands between two phases, of which either may be none: those under one condition stand together.
  std::string between(const Phase *before, const Phase *after);
  // Opens a loop over parts of the loop's range; returns the part at hand.
  Range open_parts(const PlanNode &loop, const Range &whole, const std::string &length, const std::string &from = "");
  // The same by the name of where a part begins.
  Range open_rounds(const std::string &first, const Range &whole, const std::string &length);
  // The same for the loops over the axis inside; as long as the plan says, or as `length` does.
  Range open_part(const PlanNode &loop, std::string length = ""); // gives the whole range
  // How many positions are in a part, for which memory is wanted or where nothing else limits it.
  std::string part_length(int64_t most, const std::optional<Size> &kept);
  // Where a row of a ragged axis begins, and how long it is.
  std::string row_start(AxisId axis, const std::string &row);
  Code row_length(AxisId axis, const std::string &row);
  // The row that an element is of, by its packed place.
  Code row_of(AxisId axis, const std::string &element);
  // Loops over the axis go over this part of their range, until it is cleared.
  void set_part(AxisId axis, Range part) { parts_[axis] = std::move(part); }
  bool in_part(AxisId axis) const { return parts_.count(axis) != 0; }
  void clear_part(AxisId axis) { parts_.erase(axis); }
  void clear_parts() { parts_.clear(); }
  const std::string &axis_name(AxisId axis) const { return axis_names_[axis]; }
  const std::string &grid_name(GridId grid) const { return grid_names_[grid]; }
  const std::string &name(VarId var) const { return var_names_[var]; }
  std::vector<std::string> suffixes_of(VarId var) const;
  const std::string &name_beside(VarId var, const std::string &suffix); // the same each time
  std::string size_name(AxisId axis) const;
  std::string steps_text(GridId grid);
  // The same, where the steps run in order: for blocks of rows of different lengths a variable, which is declared
  // first.
  std::string step_count_text(GridId grid);
  void start(VarId var, const std::vector<PlanNode> &siblings); // at 0
  void declare_step_count(GridId grid);

  // `x[(b * N + n)]`, at the current point or at coordinates; extra indices of a local array last.
  std::string element(VarId var, const std::vector<Coordinate> &coords, const std::vector<ExprId> &indices);
  Code position(AxisId axis);      // within the step's window
  Size room_of(AxisId axis) const; // positions that a buffer must hold
  Code room_text(AxisId axis);     // the same, of the part at hand where the loops around go over parts
  std::string buffer_elements(VarId var);
  // Does the step join a product and its total in one operation?
  bool fuses(const PlanNode &step) const;
  // A fold's total, or a scan's carry, with a further value or with another total.
  Code combined(const PlanNode &step, const std::string &total, const Code &value);
  // Lines that leave a step whose windows, by entries of device tables, would lie outside; they note it in
  // table_status.
  std::string step_guard(Statuses &statuses, const std::string &leave = "continue");
  void mark_declared(VarId var) { declared_[var] = true; }
  bool is_declared(VarId var) { return declared_[var]; }
  std::string storage_type(VarId var) const;
  void rename(VarId var, const std::string &name) { var_names_[var] = name; }
  void rename_axis(AxisId axis, const std::string &name) { axis_names_[axis] = name; }
  // Elements of arrays that are in registers: "x[n]" -> what holds it.
  std::map<std::string, std::string> held;
  std::map<VarId, std::string> reciprocals; // what is divided by -> what to multiply with instead
  std::map<std::string, std::string>
      named;           // where rows begin and how long they are: the text -> a variable of that value
  std::set<VarId> own; // of each thread, wherever the plan has what they become
  Storage::Kind kind_of(VarId var) const {
    return own.count(var) != 0 ? Storage::Kind::scalar : plan.storage[var].kind;
  }
  std::set<VarId> by_lane;              // vectors of which one lane is meant, whose number is `lane`
  std::map<ExprId, std::string> places; // coordinates that have been computed: their variables
  std::string takes_part;               // the condition under which the point takes part in folds; empty: it does
  // What must hold for the element to be inside; empty: nothing.
  std::string guard(VarId var, const std::vector<Coordinate> &coords);

  // What must be asked before an element is touched, and whether it holds: coordinates, and how many positions there
  // are.
  std::vector<std::pair<std::string, std::string>> buffer_checks(VarId var, const std::vector<Coordinate> &coords);
  std::vector<std::pair<std::string, std::string>> place_checks(VarId var, const std::vector<Coordinate> &coords);
  std::vector<std::pair<std::string, std::string>> array_checks(VarId var, const std::vector<ExprId> &indices);
  Code index_text(VarId var, const std::vector<Coordinate> &coords,
                  std::vector<std::pair<std::string, std::string>> *checks);
  Code inside(const std::vector<std::pair<std::string, std::string>> &checks);
  std::string where_inside(const std::vector<std::pair<std::string, std::string>> &checks,
                           const std::string &statement);
  // Is the variable declared where the list's statement sets it? And set by that one alone?
  bool starts_here(VarId var, const std::vector<PlanNode> &siblings);
  bool is_constant(VarId var) const { return assignments_[var] == 1; }
  // ` += ` and the like, where the statement changes what it sets by one operation; else empty.
  std::string updating(const PlanNode &node) const;

  // Set by the targets.
  std::string index_type = "int64_t";
  bool parallel = false;                          // scattered additions must be atomic
  LanePrinter *lanes = nullptr;                   // prints the loops that it takes
  std::function<void(const PlanNode &)> contract; // prints a contraction among other statements
  Statuses *guards = nullptr;                     // set where tables are device memory: steps then check their windows

  Lines lines;
  Spelling &spelling;
  const Plan &plan;
  const Kernel &kernel;
  const Facts &facts;
  const Scopes scopes;

private:
  Names &names_;
  std::map<AxisId, Range> parts_;
  std::string at_once_; // how many rows of few columns the loops at hand take as one
  WalkedRows walked_rows_;
  std::vector<const PlanNode *> open_; // the loops around what is printed
  void declare_rows_at_once(const PlanNode &blocks);
  void rows_at_once(const PlanNode &walk, const Range &rows);
  Code read(const Expr &e, ExprId id);
  Code table(const Expr &e);
  Code table_entry(const Table &table, const std::vector<Code> &at, bool safe);
  std::string lane_of(VarId var) const { return by_lane.count(var) != 0 ? "[lane]" : ""; }
  Code array_index(VarId var, ExprId id);
  std::string argument_element(VarId var, const Code &index) const;
  Code window_edge(const Expr &e);
  Code coordinate(const Dim &dim);
  bool given_elsewhere(const Dim &dim, const std::vector<Coordinate> &coords) const;
  std::pair<std::string, std::string> within(const Code &coordinate, const Coordinate *given, const Size &start,
                                             const Size &block, const Size &extent);
  std::string coordinate_text(const Dim &dim, const std::vector<Coordinate> &coords);
  bool counts_rows(GridId grid) const;
  static Size written(std::string text); // stands for itself
  Size step_count(GridId grid) const;
  void assign(const PlanNode &node, const std::vector<PlanNode> &siblings);
  void store(const PlanNode &node);
  std::string sum_text(const std::string &place, const PlanNode &node);
  void set(VarId var, const std::string &value, const std::vector<PlanNode> &siblings);
  void fold_step(const PlanNode &node);
  std::string arm(ExprId id);
  Code multiply_add(const std::vector<Code> &operands);
  void scan_step(const PlanNode &node, const std::vector<PlanNode> &siblings);
  Range segment(const PlanNode &loop, const Range &within);
  const std::string &row_name(const std::string &axis, const std::string &suffix);
  void repeat(const PlanNode &node, const std::vector<PlanNode> &siblings);
  bool sets_one_number(const std::vector<PlanNode> &nodes);
  std::string counting(const PlanNode &loop) const;
  bool reads_only(ExprId id, VarId var) const;
  bool counts_below(const PlanNode &loop) const;
  std::string counter_of(const PlanNode &loop, const std::vector<PlanNode> &siblings);
  void steps(const PlanNode &node);
  std::string array_elements(VarId var);

  bool as_bits_ = false; // what is read next, of a half type
  std::vector<std::string> axis_names_, grid_names_, var_names_;
  std::vector<int> assignments_;
  std::map<VarId, bool> declared_;
  std::map<std::string, std::string> row_names_; // what names the beginning or the length of a row would have -> has
  std::map<std::pair<VarId, std::string>, std::string> names_beside_;
};

} // namespace kgen
