// All expressions of a kernel made again, in order, since arguments stand before what they are arguments of.
#pragma once

#include <algorithm>

#include "ir/kernel.h"
#include "ir/statements.h"

namespace kgen {

class Rebuild {
public:
  explicit Rebuild(Kernel &kernel) : before(kernel), out_(kernel) {}

  // `make(id)` gives what stands for an expression of before in the new kernel, kNone: the same as before.
  template <class Make> void run(const Make &make) {
    out_.exprs.clear();
    for (ExprId id = 0; id < static_cast<ExprId>(before.exprs.size()); ++id) {
      ExprId made = make(id);
      if (made == kNone) {
        Expr e = before.expr(id);
        std::ranges::for_each(e.args, [&](ExprId &arg) { arg = now[arg]; });
        std::ranges::for_each(e.coords, [&](Coordinate &c) { c.value = now[c.value]; });
        made = out_.add(std::move(e));
      }
      now.push_back(made);
    }
    const auto move = [&](ExprId &id) { id = id == kNone ? kNone : now[id]; };
    for (Requirement &r : out_.requirements)
      move(r.condition);
    for_each(out_.statements, [&](Stmt &s) {
      move(s.value);
      std::ranges::for_each(s.indices, move);
      std::ranges::for_each(s.coords, [&](Coordinate &c) { move(c.value); });
      std::ranges::for_each(s.shown, [&](Shown &shown) { move(shown.value); });
    });
  }

  const Kernel before;
  std::vector<ExprId> now; // of each expression of before so far

private:
  Kernel &out_;
};

} // namespace kgen
