// The body's statements as the kernel's: calls inlined with fresh locals, early returns made structured, for and while
// as one loop, types and accumulators settled, literals folded. Calls become statements that stand before the statement
// of the call; in an arm that may not be evaluated they stand under its condition.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/build.h"

namespace kgen::build {

class Lowering {
public:
  explicit Lowering(Build &build);
  void run();

private:
  using Block = std::vector<const body::Stmt *>;

  // What an axis parameter stands for: axes, and which elements along them take part.
  struct BoundAxes {
    std::vector<AxisId> list;
    ExprId kept = kNone; // none: all
  };

  // The body, or one inlined call of a function.
  struct Frame {
    const body::Function *function = nullptr;
    const std::vector<body::Local> *locals = nullptr;
    std::vector<VarId> vars;                     // of the locals; kNone: none yet
    std::map<int, ExprId> values;                // parameters that stand for their argument
    std::map<int, BoundAxes> axes;               // axis parameters
    std::map<int, const body::Expr *> questions; // what locals ask: present(x)
    bool asks = false;      // whether elements take part: it says itself what it gives for the others
    VarId result = kNone;   // what early returns assign
    VarId returned = kNone; // has it returned: where structure alone cannot say
    int loops = 0;          // open in this function
    Place call;             // of a library function: the call that the user wrote
  };

  // What is surely assigned here; `dead` after break, continue, return.
  struct Flow {
    std::set<VarId> assigned;
    bool dead = false;
  };

  // Statements (build_statements.cpp).
  void list(const Block &block);
  void statement(const body::Stmt &s);
  void evaluate(const body::Stmt &s);
  void require(const body::Stmt &s); // build_requirements.cpp
  bool may_require(ExprId id);
  void declare(const body::Stmt &s);
  void assign(const body::Stmt &s);
  void assign_scatter(const body::Stmt &s, Stmt out);
  void assign_value(const body::Stmt &s, Stmt out, ExprId old);
  void branch(ExprId condition, const Block &then, const Block &otherwise, const Place &place);
  void loop(const body::Stmt &s);
  void leave(Stmt::Kind kind, const Place &place);
  void emit(Stmt s);
  void note_question(const body::Stmt &s, ExprId initial);
  bool mentions_present(ExprId id) const;
  void emit_assign(VarId target, ExprId value, const Place &place);
  std::vector<Stmt> collect(const std::function<void()> &lower);
  static Block flatten(const std::vector<body::Stmt> &statements);
  static Flow meet(const Flow &a, const Flow &b);

  // Inlining (build_inline.cpp).
  ExprId call(const body::Expr &e);
  static bool is_assigned(const std::vector<body::Stmt> &statements, int local);
  void bind(const body::Expr &e, Frame &frame);
  // Elements that a `where` leaves out (build_kept.cpp).
  BoundAxes bound_axes(const body::Expr &e);
  BoundAxes elements_of(const body::Expr &e);
  ExprId both(ExprId a, ExprId b, const Place &place);
  ExprId keep(ExprId value, ExprId otherwise, size_t from = 0);
  ExprId keep_value(ExprId value, size_t from = 0); // 0 for the others
  void keep_statement(Stmt &s);
  AxisId one_axis(const body::Expr &e, const char *because, bool of_all);
  void keep_elements(const BoundAxes &axes);

  bool is_plain(ExprId id) const; // a value that has a name, or a number
  bool is_input(ExprId id) const;
  void give(const body::Stmt &s);
  bool early_return(const Block &block, size_t at);
  VarId local(int index);
  static std::vector<std::string> local_names(const std::string &name, const body::Function *of,
                                              const body::Function *caller);
  VarId fresh(const std::string &name, Type type, const Place &place);
  VarId fresh(const std::vector<std::string> &wishes, Type type, const Place &place);
  Place here(const Place &place) const;

  // Expressions (build_expressions.cpp).
  ExprId value(const body::Expr &e);
  ExprId value(const body::Expr &e, Type type) { return as(value(e), type); }
  ExprId condition(const body::Expr &e) { return as(value(e), Type::boolean); }
  ExprId read(const body::Expr &e);
  ExprId read_local(const body::Expr &e);
  ExprId element(const body::Expr &e);
  const Param &param(const std::string &name) const;
  ExprId kept_param(const body::Expr &e);
  bool is_kept_call(const body::Expr &e) const;
  ExprId kept_call(const body::Expr &e);
  ExprId binary(const body::Expr &e);
  bool narrow(ExprId &value, ExprId &constant);
  ExprId conditional(const body::Expr &e);
  ExprId lazy(Op op, const body::Expr &e);
  ExprId arm(const body::Expr &e, Type type, std::vector<Stmt> &before);
  bool must_hoist(ExprId condition, const std::vector<Stmt> &before, ExprId value) const;
  bool mixes(ExprId id) const;
  bool is_uniform(ExprId id) const;
  std::vector<ExprId> indices(const std::vector<body::Expr> &args);

  // What constants decide to leave out (build_decided.cpp).
  void leave_out(const body::Expr &e);
  void leave_out(const Block &block);
  void note_left_out(const body::Expr &e, Dropped &out);
  void note_left_out(const Block &block, Dropped &out, std::set<VarId> &assigned);
  Dropped left_out_since(size_t from) const;
  ExprId along(AxisSet axes, const Place &place);
  void keep_along(ExprId id, ExprId along, size_t from);
  void note_left_out_of(int local, size_t from); // of what is assigned to it

  // Builtins (build_builtins.cpp).
  ExprId builtin(const body::Expr &e);
  ExprId scalar_op(Op op, const body::Expr &e);
  ExprId fold(Monoid monoid, const body::Expr &e);
  ExprId scan(const body::Expr &e);
  ExprId small_power(ExprId base, ExprId exponent, const Place &place);
  ExprId product(const std::vector<ExprId> &factors, const Place &place);
  ExprId at(Op op, const body::Expr &e);
  ExprId converted_like(ExprId argument, ExprId read, const Place &place);
  ExprId query(const body::Expr &e);
  ExprId round_like(const body::Expr &e);
  AxisId axis_of(const body::Expr &e);
  VarId operand_of(const body::Expr &e);
  std::vector<Coordinate> coordinates(const body::Expr &e, VarId var);
  void touch(VarId var, const std::vector<Coordinate> &coords);

  // Types and constants (build_types.cpp).
  ExprId make(Op op, Type type, std::vector<ExprId> args, const Place &place);
  ExprId node(Op op, Type type, const Place &place, int ref = kNone, AxisId axis = kNone);
  ExprId number(Type type, double value, bool weak, const Place &place);
  ExprId integer(Type type, int64_t value, const Place &place);
  ExprId as(ExprId id, Type type, bool implicit = true);
  ExprId fold_constants(Op op, Type type, const std::vector<ExprId> &args, const Place &place);
  bool is_constant(ExprId id) const { return kernel_.exprs[id].op == Op::constant; }
  Type type(ExprId id) const { return kernel_.exprs[id].type; }
  Type common_type(Type a, Type b) const;
  Type sum_accumulator(ExprId element) const;
  // The type of an expression before promotion: an integer or bool, or nullopt when made of literals only.
  std::optional<Type> natural(ExprId id) const;

  Build &build_;
  Kernel &kernel_;
  std::vector<Frame> frames_;
  std::vector<Stmt> *out_ = nullptr;
  Flow flow_;
  std::vector<std::vector<std::set<VarId>>> exits_; // per open loop: what is assigned at its breaks
  int coordinate_depth_ = 0;                        // an axis name means its index
  struct Kept {
    ExprId condition;
    AxisSet along;
  };
  std::vector<Kept> kept_;    // what the calls around leave out
  std::set<ExprId> weak_;     // constants that adapt to the other operand
  std::set<ExprId> implicit_; // casts that C++ or kgen inserted
  std::set<VarId> generated_; // assigned by construction
  std::set<VarId> reported_;  // one message a local
  std::vector<Dropped> dropped_;
  std::set<std::string> names_;
};

} // namespace kgen::build
