// How a target writes things: types, scalar operations, sizes. Which helper functions the text needs is noted as it
// goes.
#pragma once

#include <set>
#include <string>

#include "ir/kernel.h"
#include "plan/plan.h"

namespace kgen {

namespace binding {
// As operations bind by their rows.
enum { kChoose = 1, kOr, kAnd, kBitOr, kBitXor, kBitAnd, kEqual, kLess, kShift, kAdd, kMultiply, kUnary, kPrimary };
} // namespace binding

// A piece of C++ with how tightly its outermost operator binds; larger binds tighter.
struct Code {
  std::string text;
  int binding = binding::kPrimary;
};
// The text, in parentheses when it binds less tightly than `least`.
std::string at_least(const Code &code, int least);
// Text of unknown structure: bound as its loosest operator, wherever in it that stands.
Code code_of(const std::string &text);

class Spelling {
public:
  explicit Spelling(TargetKind target) : target_(target) {}

  TargetKind target() const { return target_; }
  static std::string c_type(Type type);       // in the interface
  static std::string element_type(Type type); // of a template over elements: BF16 and F16 are none of C
  static std::string arithmetic(Type type);   // of a C++ variable
  std::string constant(Type type, int64_t integer, double number) const;
  // One of its own type even where C++ has no such numbers: small types need it beside an element.
  std::string typed_constant(Type type, int64_t integer, double number) const;
  // A scalar operation of ops.def on printed arguments. `wraps`: a signed result may leave the range of its type.
  Code operation(Op op, Type argument, const std::vector<Code> &args, bool wraps = true);
  // && and ||, each in parentheses within the other as compilers ask.
  static Code logical(Op op, const Code &a, const Code &b);
  // The same by its operator, for types whose operators are right as they are.
  Code infix(Op op, const std::vector<Code> &args) const;
  Code cast(const Code &value, Type from, Type to);
  // What stands in `if (...)`: one that begins as `int64_t(f(int32_t(v)))` is taken for the declaration of a function
  // f.
  static std::string condition(const std::string &text);
  // An element as loaded from memory of its type, as the body's arithmetic type; and back.
  Code loaded(const std::string &element, Type type);
  std::string stored(const Code &value, Type from, Type to);
  Code combine(Monoid monoid, Type type, const std::string &total, const Code &value, bool wraps);
  std::string identity(Monoid monoid, Type type) const;
  static std::string update(Monoid monoid); // the operator that takes a value in; empty: there is none
  // The helper that combines two values as the text does; empty: there is none.
  std::string combiner(const std::string &text, const std::string &one, const std::string &other);

  const std::string &helper(const std::string &name); // notes it; returns the name
  const std::set<std::string> &helpers() const { return helpers_; }

private:
  TargetKind target_;
  std::set<std::string> helpers_;
};

} // namespace kgen
