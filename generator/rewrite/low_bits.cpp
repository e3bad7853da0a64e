// The low bits of sums, differences and products are made of the low bits of what they are of.
#include "rewrite/low_bits.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ir/axes_of_values.h"
#include "ir/op_rows.h"
#include "ir/rebuild.h"
#include "ir/statements.h"

namespace kgen {
namespace {

bool is_wide(Type type) { return type == Type::i64 || type == Type::u64; }
Type half_of(Type type) { return type == Type::u64 ? Type::u32 : Type::i32; }

class LowBits {
public:
  explicit LowBits(const Kernel &kernel) : out_(kernel) {}

  Kernel run() {
    find_asked();
    find_data();
    find_short();
    shorten();
    return std::move(out_);
  }

private:
  // A total, or made of others by operations whose low bits are those of the arguments'.
  bool passes_low_bits(const Expr &e) const {
    switch (e.op) {
    case Op::read:
      return is_plain_local(e);
    case Op::fold:
      return e.monoid == Monoid::sum || e.monoid == Monoid::product;
    case Op::scan:
      return e.scan == ScanKind::sum || e.scan == ScanKind::product;
    case Op::cast:
      return is_integer(out_.expr(e.args[0]).type) || out_.expr(e.args[0]).type == Type::boolean;
    default:
      return e.op == Op::constant || e.op == Op::choose || (is_scalar_op(e.op) && has(e.op, op::low_bits));
    }
  }

  bool is_plain_local(const Expr &e) const {
    return out_.vars[e.ref].kind == Var::Kind::local && out_.vars[e.ref].array.empty() && e.coords.empty();
  }

  // Is this argument part of the value, not a condition?
  static bool is_value(const Expr &e, size_t arg) {
    return e.op == Op::choose ? arg > 0 : e.op == Op::fold ? arg == 0 : true;
  }

  // Which numbers, and which locals, somebody needs whole.
  void find_asked() {
    whole_locals_.assign(out_.vars.size(), false);
    for (bool changed = true; changed;) {
      const std::vector<bool> before = whole_locals_;
      whole_.assign(out_.exprs.size(), false);
      for (std::vector<char> *all : {&asked_whole_, &asked_low_})
        all->assign(out_.exprs.size(), false);
      for_each(out_.statements, [&](const Stmt &s) { ask(s); });
      for (const Requirement &r : out_.requirements)
        ask(r.condition, true);
      changed = whole_locals_ != before;
    }
  }

  void ask(const Stmt &s) {
    const bool to_local = s.kind == Stmt::Kind::assign && s.indices.empty() && s.coords.empty() &&
                          out_.vars[s.target].kind == Var::Kind::local && out_.vars[s.target].array.empty() &&
                          is_wide(out_.vars[s.target].type);
    ask(s.value, !to_local || whole_locals_[s.target]);
    for (ExprId index : s.indices)
      ask(index, true);
    for (const Coordinate &c : s.coords)
      ask(c.value, true);
    for (const Shown &shown : s.shown)
      ask(shown.value, true);
  }

  void ask(ExprId id, bool whole) {
    if (id == kNone || std::exchange((whole ? asked_whole_ : asked_low_)[id], true))
      return;
    const Expr &e = out_.expr(id);
    const bool low = is_wide(e.type) && !whole && passes_low_bits(e);
    if (is_wide(e.type) && !low)
      whole_[id] = true;
    if (e.op == Op::read && !low)
      whole_locals_[e.ref] = true;
    const bool shortens = e.op == Op::cast && is_integer(e.type) && !is_wide(e.type);
    for (size_t i = 0; i < e.args.size(); ++i)
      ask(e.args[i], !((low || shortens) && is_value(e, i)));
    for (const Coordinate &c : e.coords)
      ask(c.value, true);
  }

  // What differs from element to element of data: numbers that lanes share cost nothing, and places are understood in
  // 64 bits.
  void find_data() {
    data_locals_.assign(out_.vars.size(), false);
    for (bool changed = true; changed;) {
      const std::vector<bool> before = data_locals_;
      data_.assign(out_.exprs.size(), false);
      for (ExprId id = 0; id < static_cast<ExprId>(out_.exprs.size()); ++id)
        data_[id] = is_data(out_.expr(id));
      for_each(out_.statements, [&](const Stmt &s) {
        if (s.kind == Stmt::Kind::assign && data_[s.value])
          data_locals_[s.target] = true;
      });
      changed = data_locals_ != before;
    }
  }

  bool is_data(const Expr &e) const {
    if (e.op == Op::read && out_.vars[e.ref].kind != Var::Kind::local)
      return true;
    return (e.op == Op::read && data_locals_[e.ref]) ||
           std::ranges::any_of(e.args, [&](ExprId arg) { return data_[arg]; });
  }

  // Which numbers are made of short ones, and only others that are short are made of: a wide number from memory would
  // have to be cut, and one that stays wide would be extended.
  void find_short() {
    for (VarId var = 0; var < static_cast<VarId>(out_.vars.size()); ++var) {
      const Var &v = out_.vars[var];
      short_locals_.push_back(v.kind == Var::Kind::local && v.array.empty() && is_wide(v.type) && !whole_locals_[var] &&
                              data_locals_[var]);
    }
    stays_.assign(out_.exprs.size(), false);
    for (bool changed = true; changed;) {
      const auto before = std::pair(stays_, short_locals_);
      short_.assign(out_.exprs.size(), false);
      for (ExprId id = 0; id < static_cast<ExprId>(out_.exprs.size()); ++id)
        short_[id] = is_short(id);
      for (ExprId id = 0; id < static_cast<ExprId>(out_.exprs.size()); ++id)
        if (is_wide(out_.expr(id).type) && !short_[id])
          for (ExprId arg : out_.expr(id).args)
            keep_wide(arg);
      for_each(out_.statements, [&](const Stmt &s) {
        if (s.kind != Stmt::Kind::assign || !is_wide(out_.expr(s.value).type))
          return;
        if (data_[s.value] && !short_[s.value])
          short_locals_[s.target] = false;
        if (!short_locals_[s.target])
          keep_wide(s.value);
      });
      changed = before != std::pair(stays_, short_locals_);
    }
  }

  void keep_wide(ExprId id) {
    stays_[id] = true;
    if (out_.expr(id).op == Op::read && is_plain_local(out_.expr(id)))
      short_locals_[out_.expr(id).ref] = false;
  }

  bool is_short(ExprId id) const {
    const Expr &e = out_.expr(id);
    if (!is_wide(e.type) || whole_[id] || stays_[id] || !data_[id] || !passes_low_bits(e))
      return false;
    if (e.op == Op::read)
      return short_locals_[e.ref];
    for (size_t i = 0; i < e.args.size(); ++i)
      if (is_value(e, i) && data_[e.args[i]] && is_wide(out_.expr(e.args[i]).type) && !short_[e.args[i]])
        return false;
    return true;
  }

  void shorten() {
    Rebuild rebuild(out_);
    rebuild.run([&](ExprId id) { return made(rebuild, id); });
    for (size_t var = 0; var < short_locals_.size(); ++var)
      if (short_locals_[var])
        out_.vars[var].type = half_of(out_.vars[var].type);
    for_each(out_.statements, [&](Stmt &s) {
      if (s.kind == Stmt::Kind::assign && short_locals_[s.target])
        s.value = as(s.value, out_.vars[s.target].type);
    });
    find_axes_of_values(out_);
  }

  // kNone: as it was.
  ExprId made(const Rebuild &rebuild, ExprId id) {
    Expr e = rebuild.before.expr(id);
    if (e.op == Op::cast && (short_[id] || short_[e.args[0]]))
      return as(rebuild.now[e.args[0]], short_[id] ? half_of(e.type) : e.type);
    bool changed = short_[id];
    for (size_t i = 0; i < e.args.size(); ++i) {
      const Type wanted = short_[id] && is_value(e, i) ? half_of(e.type) : rebuild.before.expr(e.args[i]).type;
      const ExprId now = rebuild.now[e.args[i]];
      changed = changed || out_.expr(now).type != wanted;
      e.args[i] = as(now, wanted);
    }
    if (!changed)
      return kNone;
    for (Coordinate &c : e.coords)
      c.value = rebuild.now[c.value];
    if (short_[id]) {
      e.type = half_of(e.type);
      e.integer = static_cast<int32_t>(e.integer);
      e.accumulator = e.op == Op::fold || e.op == Op::scan ? e.type : e.accumulator;
      e.bounds = Bounds();
    }
    return out_.add(std::move(e));
  }

  ExprId as(ExprId id, Type type) {
    Expr e = out_.expr(id);
    if (e.type == type)
      return id;
    if (e.op == Op::constant && is_integer(e.type)) {
      e.integer = type == Type::u32 ? static_cast<uint32_t>(e.integer) : static_cast<int32_t>(e.integer);
      e.type = type;
      return out_.add(std::move(e));
    }
    Expr cast;
    cast.op = Op::cast;
    cast.type = type;
    cast.axes = e.axes;
    cast.args = {id};
    cast.place = e.place;
    return out_.add(std::move(cast));
  }

  Kernel out_;
  std::vector<bool> whole_, data_, short_, stays_; // by expression
  std::vector<char> asked_whole_, asked_low_;
  std::vector<bool> whole_locals_, data_locals_, short_locals_;
};

} // namespace

Kernel low_bits(const Kernel &kernel) { return LowBits(kernel).run(); }

} // namespace kgen
