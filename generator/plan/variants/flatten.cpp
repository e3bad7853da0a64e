#include "plan/variants/flatten.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plan/index/exprs.h"

namespace kgen {
namespace {

class Flattening {
public:
  Flattening(const Kernel &kernel, AxisId along, int64_t mean)
      : given_(kernel), kernel_(kernel), along_(along), rows_(kernel.axes[along].over) {
    kernel_.axes[along].mean = mean;
  }

  std::optional<Kernel> run(int64_t least_operations) {
    elements_ = add_elements();
    for (Var &var : kernel_.vars)
      turn(var);
    std::vector<Stmt> statements = list(given_.statements);
    if (refused_ || operations_ < least_operations)
      return std::nullopt;
    statements.insert(statements.begin(), first_.begin(), first_.end());
    kernel_.statements = std::move(statements);
    return std::move(kernel_);
  }

private:
  AxisId add_elements() {
    Axis axis;
    axis.name = "Packed";
    for (const Axis &other : given_.axes)
      if (other.name == axis.name)
        axis.name += "Elements";
    axis.size = axis.block = given_.axes[along_].size;
    axis.place = given_.axes[along_].place;
    kernel_.axes.push_back(axis);
    return static_cast<AxisId>(kernel_.axes.size()) - 1;
  }

  AxisSet both() const { return AxisSet::of(rows_) | AxisSet::of(along_); }

  AxisSet of_elements(AxisSet axes) const {
    return (axes & both()).empty() ? axes : (axes - both()) | AxisSet::of(elements_);
  }

  // [B, N, C] is [element, C].
  void turn(Var &var) {
    if (!var.axes.contains(along_))
      return;
    var.axes = of_elements(var.axes);
    if (var.kind == Var::Kind::local)
      return;
    const auto packed =
        std::find_if(var.dims.begin(), var.dims.end(), [&](const Dim &dim) { return dim.axis == along_; });
    if (packed == var.dims.begin() || (packed - 1)->axis != rows_ || var.strided || var.kind == Var::Kind::scratch)
      return refuse();
    packed->axis = elements_;
    packed->extent = packed->block = kernel_.axes[elements_].size;
    packed->start = Size::integer(0);
    var.dims.erase(packed - 1);
  }

  void refuse() { refused_ = true; }

  // ---- statements --------------------------------------------------------------------------------------------------

  std::vector<Stmt> list(const std::vector<Stmt> &given) {
    std::vector<Stmt> out;
    for (const Stmt &stmt : given) {
      std::optional<Stmt> turned = statement(stmt);
      if (unsure_ > 0 && !before_.empty()) // it would be computed where its branch is not taken
        refuse();
      std::move(before_.begin(), before_.end(), std::back_inserter(out));
      before_.clear();
      if (turned)
        out.push_back(std::move(*turned));
    }
    return out;
  }

  std::optional<Stmt> statement(const Stmt &stmt) {
    switch (stmt.kind) {
    case Stmt::Kind::assign:
    case Stmt::Kind::declare:
      return stored(stmt);
    case Stmt::Kind::branch:
      return branch(stmt);
    case Stmt::Kind::check:
    case Stmt::Kind::print:
      return std::nullopt; // the interpreter's alone
    case Stmt::Kind::loop:
    case Stmt::Kind::leave:
    case Stmt::Kind::next:
      break;
    }
    refuse();
    return std::nullopt;
  }

  bool is_of_elements(const Stmt &stmt) const { return given_.vars[stmt.target].axes.contains(along_); }

  Stmt stored(const Stmt &stmt) {
    Stmt out = stmt;
    const bool flat = is_of_elements(stmt);
    const bool elsewhere =
        find_coordinate(stmt.coords, along_) != nullptr || find_coordinate(stmt.coords, rows_) != nullptr;
    if (!stmt.coords.empty() && (!flat || elsewhere))
      refuse();
    const auto turned = [&](ExprId id) { return id == kNone ? id : flat ? of_element(id) : of_row(id); };
    out.value = turned(stmt.value);
    for (ExprId &index : out.indices)
      index = turned(index);
    for (Coordinate &c : out.coords)
      c.value = turned(c.value);
    if (flat) {
      count(stmt.value);
      out.axes = of_elements(stmt.axes);
      out.context = of_elements(stmt.context);
    }
    return out;
  }

  // All that stands in it is about elements, or nothing is.
  std::optional<Stmt> branch(const Stmt &stmt) {
    const bool flat = holds_elements(stmt);
    if (flat && holds_others(stmt))
      refuse();
    Stmt out = stmt;
    out.value = flat ? of_element(stmt.value) : of_row(stmt.value);
    if (flat) {
      out.axes = of_elements(stmt.axes | kernel_.expr(out.value).axes);
      out.context = of_elements(stmt.context);
    }
    const std::vector<Stmt> before = std::exchange(before_, {});
    ++unsure_;
    out.body = list(stmt.body);
    out.otherwise = list(stmt.otherwise);
    --unsure_;
    before_ = before;
    return out;
  }

  bool holds_elements(const Stmt &stmt) const {
    return any_target(stmt, [&](const Stmt &s) { return is_of_elements(s); });
  }
  bool holds_others(const Stmt &stmt) const {
    return any_target(stmt, [&](const Stmt &s) { return !is_of_elements(s); });
  }

  template <class Question> static bool any_target(const Stmt &stmt, const Question &question) {
    if (stmt.target != kNone && question(stmt))
      return true;
    for (const std::vector<Stmt> *list : {&stmt.body, &stmt.otherwise, &stmt.step})
      for (const Stmt &s : *list)
        if (any_target(s, question))
          return true;
    return false;
  }

  Stmt assign(VarId target, ExprId value) const {
    Stmt out;
    out.target = target;
    out.value = value;
    out.axes = kernel_.vars[target].axes;
    return out;
  }

  VarId add_local(const std::string &name, Type type, AxisSet axes) {
    Var var;
    var.name = name;
    var.type = type;
    var.axes = axes;
    return add_var(kernel_, std::move(var));
  }

  void count(ExprId id) {
    if (id != kNone)
      walk(given_, id, [&](ExprId at) { return operations_ += is_scalar_op(given_.expr(at).op), true; });
  }

  // ---- values ------------------------------------------------------------------------------------------------------

  ExprId make(Op op, Type type, std::vector<ExprId> args, AxisId axis = kNone) {
    const ExprId id = make_op(kernel_, op, type, std::move(args));
    kernel_.exprs[id].axis = axis;
    return id;
  }

  ExprId make_index(AxisId axis) {
    const ExprId id = make(Op::index, Type::i64, {}, axis);
    kernel_.exprs[id].axes = AxisSet::of(axis);
    if (kernel_.axes[axis].over != kNone)
      kernel_.exprs[id].axes |= AxisSet::of(kernel_.axes[axis].over);
    return id;
  }

  // The row of the element at hand.
  ExprId row() {
    if (finding_ > 0) // each element would look for its row by itself
      refuse();
    const ExprId id = make(Op::row_of, Type::i64, {make_index(elements_)}, along_);
    kernel_.exprs[id].bounds = {0, INT64_MAX, rows_};
    return id;
  }

  // Where a row's elements begin, of the row at hand.
  ExprId row_start() {
    const TableId table = given_.axes[along_].ragged;
    const ExprId entry = make(Op::table, given_.tables[table].type, {make_index(rows_)});
    kernel_.exprs[entry].ref = table;
    kernel_.exprs[entry].safe = true;
    return make_cast(kernel_, entry, Type::i64);
  }

  ExprId at(VarId var, AxisId axis, ExprId where) {
    const ExprId id = make_read(kernel_, var);
    Expr &read = kernel_.exprs[id];
    read.coords = {{axis, where}};
    read.axes = (kernel_.vars[var].axes - AxisSet::of(axis)) | kernel_.expr(where).axes;
    read.safe = true;
    return id;
  }

  template <class Turn> ExprId copy(const Expr &given, const Turn &turn) {
    Expr out = given;
    for (ExprId &arg : out.args)
      arg = turn(arg);
    for (Coordinate &c : out.coords)
      c.value = turn(c.value);
    return kernel_.add(std::move(out));
  }

  bool reads_elements(const Expr &e) const {
    return (e.op == Op::read || e.op == Op::element || e.op == Op::inside) && given_.vars[e.ref].axes.contains(along_);
  }

  // In a statement about elements.
  ExprId of_element(ExprId id) {
    const Expr e = given_.expr(id);
    if (!e.axes.contains(rows_))
      return of_row(id);
    if (!e.axes.contains(along_) && !stays(id))
      return of_its_row(id);
    const bool mixes = e.op == Op::inside || (e.op == Op::fold && !(e.reduced & both()).empty()) ||
                       (e.op == Op::scan && both().contains(e.axis)) || asks_elsewhere(e);
    if (mixes || e.op == Op::block || !both().contains(e.axes)) // with further axes, rows fill vectors
      refuse();
    if (e.op == Op::index)
      return make(Op::sub, Type::i64, {make_index(elements_), of_table(row_starts_, "row_start", row_start())});
    const bool asks = e.op == Op::choose || e.op == Op::both || e.op == Op::either;
    const bool finds = !e.coords.empty() || e.op == Op::table || e.op == Op::element;
    size_t arg = 0;
    const ExprId out = copy(e, [&](ExprId inner) {
      const bool unsure = asks && arg++ > 0;
      unsure_ += unsure;
      finding_ += finds;
      const ExprId turned = of_element(inner);
      finding_ -= finds;
      unsure_ -= unsure;
      return turned;
    });
    kernel_.exprs[out].axes = of_elements(e.axes);
    return out;
  }

  // Other elements than the one at hand are not known by their packed place; what rows have at computed places would be
  // looked for by each element.
  bool asks_elsewhere(const Expr &e) const {
    if (reads_elements(e))
      return find_coordinate(e.coords, along_) != nullptr || find_coordinate(e.coords, rows_) != nullptr;
    return (e.op == Op::read || e.op == Op::element) && given_.vars[e.ref].axes.contains(rows_);
  }

  // A value that all elements of a row have.
  ExprId of_its_row(ExprId id) {
    const Expr &e = given_.expr(id);
    if (e.op == Op::index)
      return row();
    if (e.op == Op::read && e.coords.empty()) {
      const Var &var = given_.vars[e.ref];
      if (var.type == Type::boolean || var.axes.count() != 1 || var.strided) // as by load_by_row
        refuse();
      return at(e.ref, rows_, row());
    }
    if (e.op == Op::size)
      return of_table(row_lengths_, "row_length", id);
    return stored_by_row("row_value", of_row(id));
  }

  // What the table says of each row.
  ExprId of_table(VarId &var, const char *name, ExprId value) {
    if (var == kNone) {
      var = add_local(name, Type::i64, AxisSet::of(rows_));
      first_.push_back(assign(var, value));
    }
    return at(var, rows_, row());
  }

  ExprId stored_by_row(const std::string &name, ExprId value) {
    if (kernel_.expr(value).type == Type::boolean)
      refuse();
    const VarId var = add_local(name, kernel_.expr(value).type, kernel_.expr(value).axes);
    before_.push_back(assign(var, value));
    return at(var, rows_, row());
  }

  // Is it of rows, yet better computed for each element? It must be where not all of them may compute it.
  bool stays(ExprId id) const {
    const Expr &e = given_.expr(id);
    if (e.op == Op::index || e.op == Op::size || (e.op == Op::read && e.coords.empty()))
      return false;
    return (unsure_ > 0 && asks_memory(id)) || (is_light(given_, id) && !asks_rows(id));
  }

  bool asks_rows(ExprId id) const {
    return any_node(given_, id, [](const Expr &e) {
      return e.op == Op::fold || e.op == Op::scan || e.op == Op::size || e.op == Op::table;
    });
  }

  // Could it be asked for where the body does not, so that it is not there?
  bool asks_memory(ExprId id) const {
    return any_node(given_, id, [&](const Expr &e) {
      return reads_optional(e) || e.op == Op::table || e.op == Op::element || !e.coords.empty();
    });
  }

  // In a statement about rows, or about all of them.
  ExprId of_row(ExprId id) {
    const Expr e = given_.expr(id);
    if (e.op == Op::fold && e.reduced.contains(along_))
      return e.reduced.contains(rows_) ? fold_of_all(e) : fold_of_row(e);
    if ((e.op == Op::scan && e.axis == along_) || reads_elements(e) || (e.op == Op::index && e.axis == along_))
      refuse();
    if (e.args.empty() && e.coords.empty())
      return id;
    return copy(e, [&](ExprId inner) { return of_row(inner); });
  }

  ExprId fold_of_all(const Expr &fold) {
    if (fold.monoid == Monoid::argmax || fold.monoid == Monoid::argmin)
      refuse();
    for (ExprId arg : fold.args)
      count(arg);
    const ExprId id = copy(fold, [&](ExprId arg) { return of_element(arg); });
    kernel_.exprs[id].reduced = of_elements(fold.reduced);
    return id;
  }

  ExprId fold_of_row(const Expr &fold) {
    return copy(fold, [&](ExprId arg) { return in_row(arg); });
  }

  // What a row folds.
  ExprId in_row(ExprId id) {
    const Expr e = given_.expr(id);
    if (!e.axes.contains(along_))
      return of_row(id);
    VarId var = e.ref;
    if (e.op != Op::read || !e.coords.empty() || !reads_elements(e)) {
      if (unsure_ > 0 || any_node(given_, id, [&](const Expr &inner) { return reads_optional(inner); }))
        refuse();
      count(id);
      const ExprId value = of_element(id);
      var = add_local("folded", e.type, of_elements(e.axes));
      before_.push_back(assign(var, value));
    }
    const ExprId where = make(Op::add, Type::i64, {row_start(), make_index(along_)});
    kernel_.exprs[where].bounds = {0, INT64_MAX, elements_};
    return at(var, elements_, where);
  }

  bool reads_optional(const Expr &e) const { return e.op == Op::read && given_.vars[e.ref].optional; }

  const Kernel &given_;
  Kernel kernel_;
  const AxisId along_, rows_;
  AxisId elements_ = kNone;
  VarId row_starts_ = kNone, row_lengths_ = kNone;
  std::vector<Stmt> first_;  // what any statement may need
  std::vector<Stmt> before_; // what the statement at hand needs
  int finding_ = 0;          // does what is turned say where something lies?
  int unsure_ = 0;           // may what is turned not be evaluated at all?
  int64_t operations_ = 0;   // for each element
  bool refused_ = false;
};

} // namespace

std::optional<Kernel> flatten_rows(const Kernel &kernel, AxisId along, int64_t mean, int64_t least_operations) {
  return Flattening(kernel, along, mean).run(least_operations);
}

} // namespace kgen
