// Operands that may be absent, reads before writes, outputs that nothing writes, and sums that became one per element.
#include "ir/build.h"

#include <algorithm>

#include "ir/presence.h"

namespace kgen::build {

namespace {

using Known = std::set<VarId>;

class DefinitionChecks {
public:
  explicit DefinitionChecks(Build &build) : build_(build), kernel_(build.kernel) {}

  void run() {
    for_each(kernel_.statements, [&](const Stmt &s) {
      if (s.kind == Stmt::Kind::assign)
        writes_.insert(s.target);
    });
    walk(kernel_.statements, {});
    if (endless())
      return; // what follows is never reached
    for (VarId id = 0; id < static_cast<VarId>(kernel_.vars.size()); ++id) {
      const Var &var = kernel_.vars[id];
      bool needed = var.kind == Var::Kind::output && (!var.partial || var.alias != kNone);
      if (needed && !writes_.count(id))
        build_.diags.add(DiagId::output_unwritten, var.place, {var.name}).help = "assign it in the body";
    }
    widened();
  }

private:
  bool endless() {
    bool found = false;
    for_each(kernel_.statements, [&](const Stmt &s) {
      if (s.kind != Stmt::Kind::loop || leaves(s.body))
        return;
      const std::string away = s.value != kNone ? moves_away(s) : "";
      if (s.value != kNone && away.empty() && may_fail(s))
        return;
      Diagnostic &d = build_.diags.add(DiagId::loop_endless, s.place, {s.value == kNone ? "" : " once it begins"});
      if (s.value != kNone)
        d.help = away.empty() ? "nothing in it changes what the condition reads" : away;
      found = true;
    });
    return found;
  }

  // `i < n` where each round makes a signed i smaller, and the like: what to say of it, or nothing.
  std::string moves_away(const Stmt &loop) const {
    const Expr &condition = kernel_.expr(loop.value);
    const bool below = condition.op == Op::lt || condition.op == Op::le;
    if (!below && condition.op != Op::gt && condition.op != Op::ge)
      return "";
    const Expr &counter = without_casts(condition.args[0]);
    if (counter.op != Op::read || !is_integer(counter.type) || is_unsigned(counter.type) ||
        kernel_.vars[counter.ref].kind != Var::Kind::local)
      return "";
    bool bound_changes = false, away = true;
    int changes = 0;
    for (const auto *list : {&loop.body, &loop.step})
      for_each(*list, [&](const Stmt &s) {
        if (s.kind != Stmt::Kind::assign)
          return;
        visit(condition.args[1],
              [&](const Expr &e) { bound_changes = bound_changes || (e.op == Op::read && e.ref == s.target); });
        changes += s.target == counter.ref;
        away = away && (s.target != counter.ref || added_to(counter.ref, s.value) * (below ? 1 : -1) < 0);
      });
    if (changes == 0 || bound_changes || !away)
      return "";
    const std::string &name = kernel_.vars[counter.ref].name;
    return "each round makes `" + name + "` " + (below ? "smaller" : "larger") + ", and it ends where `" + name +
           "` is too " + (below ? "large" : "small");
  }

  const Expr &without_casts(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    return e.op == Op::cast ? without_casts(e.args[0]) : e;
  }

  // What is added to the variable where the value is it and a number; else 0.
  int64_t added_to(VarId var, ExprId value) const {
    const Expr &e = without_casts(value);
    if (e.op != Op::add && e.op != Op::sub)
      return 0;
    const Expr &first = without_casts(e.args[0]), &second = without_casts(e.args[1]);
    if (first.op != Op::read || first.ref != var || second.op != Op::constant)
      return 0;
    return e.op == Op::add ? second.integer : -second.integer;
  }

  // May a round change what the condition depends on?
  bool may_fail(const Stmt &loop) const {
    std::set<VarId> reads;
    visit(loop.value, [&](const Expr &e) {
      if (e.op == Op::read || e.op == Op::element)
        reads.insert(e.ref);
    });
    bool changes = false;
    for (const auto *list : {&loop.body, &loop.step})
      for_each(*list, [&](const Stmt &s) { changes = changes || reads.count(s.target) > 0; });
    return changes || kernel_.expr(loop.value).op == Op::constant;
  }

  template <class Visit> void visit(ExprId id, const Visit &see) const {
    const Expr &e = kernel_.expr(id);
    see(e);
    for (ExprId arg : e.args)
      visit(arg, see);
    for (const Coordinate &coord : e.coords)
      visit(coord.value, see);
  }

  // Is there a `break` that ends the loop with this body?
  static bool leaves(const std::vector<Stmt> &body) {
    return std::any_of(body.begin(), body.end(), [](const Stmt &s) {
      return s.kind == Stmt::Kind::leave || (s.kind == Stmt::Kind::branch && (leaves(s.body) || leaves(s.otherwise)));
    });
  }

  Known with(Known known, ExprId condition, bool value) const {
    known.merge(present_where(kernel_, condition, value));
    return known;
  }

  void read(const Expr &e, const Known &known) {
    const Var &var = kernel_.vars[e.ref];
    if (var.optional && !known.count(e.ref) && reported_.insert(e.ref).second)
      build_.diags.add(DiagId::optional_unguarded, e.place, {var.name}).help =
          "ask first: present(" + var.name + ") ? ... : ..., or if (present(" + var.name + "))";
    if (var.kind != Var::Kind::output && var.kind != Var::Kind::scratch)
      return;
    if (!writes_.count(e.ref)) {
      if (reported_.insert(e.ref).second)
        build_.diags.add(DiagId::never_written, e.place, {var.name}).help = "it starts undefined; assign it first";
      return;
    }
    if (!written_.count(e.ref) && !comes_back(var) && reported_.insert(e.ref).second) {
      std::string old =
          var.alias == kNone ? "" : "; what the array held before is `" + kernel_.vars[var.alias].name + "`";
      build_.diags.add(DiagId::read_before_write, e.place, {var.name}).help =
          "it starts undefined in every step; assign it first" + old;
    }
  }

  // May a step find what an earlier step left in it?
  bool comes_back(const Var &var) const {
    if (var.kind == Var::Kind::scratch)
      return std::any_of(kernel_.grid.begin(), kernel_.grid.end(),
                         [](const GridDim &dim) { return dim.stated != Semantics::parallel; });
    std::set<GridId> moves = moves_with(build_, var);
    if (moves.size() < kernel_.grid.size())
      return true;
    return std::any_of(var.dims.begin(), var.dims.end(), [](const Dim &dim) {
      return any_node(dim.start, [](const Size &node) {
        return node.op == Size::Op::table || node.op == Size::Op::divide || node.op == Size::Op::modulo;
      });
    });
  }

  void walk(const std::vector<Stmt> &statements, const Known &known) {
    for (const Stmt &s : statements) {
      if (s.kind == Stmt::Kind::loop) // an earlier turn may have written
        for (const std::vector<Stmt> *part : {&s.body, &s.step})
          for_each(*part, [&](const Stmt &inner) {
            if (inner.kind == Stmt::Kind::assign)
              written_.insert(inner.target);
          });
      for (ExprId root : roots(s))
        visit_reads(kernel_, root, known, [&](const Expr &e, const Known &there) { read(e, there); });
      if (s.kind == Stmt::Kind::assign)
        written_.insert(s.target);
      bool asks = s.kind == Stmt::Kind::branch || (s.kind == Stmt::Kind::loop && s.value != kNone);
      walk(s.body, asks ? with(known, s.value, true) : known);
      walk(s.otherwise, asks ? with(known, s.value, false) : known);
      walk(s.step, asks ? with(known, s.value, true) : known);
    }
  }

  // float s = 0; s += x;  where a sum over the axes of x was meant. Within a loop it is one over the loop.
  void widened() {
    std::map<VarId, AxisSet> plain;
    std::set<const Stmt *> in_loops;
    for_each(kernel_.statements, [&](const Stmt &s) {
      if (s.kind == Stmt::Kind::loop)
        for (const std::vector<Stmt> *part : {&s.body, &s.step})
          for_each(*part, [&](const Stmt &inner) { in_loops.insert(&inner); });
    });
    for_each(kernel_.statements, [&](const Stmt &s) {
      if (s.kind == Stmt::Kind::assign && !s.update)
        plain[s.target] |= kernel_.expr(s.value).axes | s.context;
    });
    for_each(kernel_.statements, [&](const Stmt &s) {
      if (s.kind != Stmt::Kind::assign || !s.update || !build_.constant_initialised.count(s.target) ||
          in_loops.count(&s) != 0)
        return;
      ExprId value = s.value;
      while (kernel_.expr(value).op == Op::cast)
        value = kernel_.expr(value).args[0];
      if (kernel_.expr(value).args.size() != 2)
        return;
      AxisSet axes = kernel_.expr(kernel_.expr(value).args[1]).axes - plain[s.target] - s.context - build_.batch_axes;
      if (axes.empty())
        return;
      const std::string &name = kernel_.vars[s.target].name;
      build_.diags.add(DiagId::sum_widened, s.place, {name, build_.axis_names(axes)}).help =
          "for one sum over all of them write sum(..., " + build_.axis_names(axes, ", ") + ")";
      plain[s.target] |= axes;
    });
  }

  Build &build_;
  const Kernel &kernel_;
  Known writes_;   // assigned anywhere
  Known written_;  // assigned before, in body order
  Known reported_; // one message an operand
};

} // namespace

void check_definitions(Build &build) { DefinitionChecks(build).run(); }

} // namespace kgen::build
