// The converter's class, shared by its files: statements (convert.cpp), functions (convert_functions.cpp), expressions
// (convert_expressions.cpp) and calls (convert_calls.cpp). Includes Clang's headers: no other may include it.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include "body/body.h"
#include "body/builtins.h"
#include "body/unit.h"

namespace kgen::body {

// The expression below the wrappers that say nothing to us.
const clang::Expr *peel(const clang::Expr *e);

// What the class of an expression says that it stands for.
enum class Standing { value, axis, grid, table, where, coordinate, other };

class Converter {
public:
  Converter(clang::ASTContext &context, const Unit &unit, int variant, Reporter &reporter,
            std::vector<Span> &real_locals);
  Body run();

private:
  // The function being converted, or the body: its locals, and the names in scope.
  struct Frame {
    std::vector<Local> *locals = nullptr;
    std::map<const clang::VarDecl *, int> ids;
    std::vector<std::set<std::string>> scopes;
    const clang::FunctionDecl *function = nullptr;
    bool in_body = false;
    bool in_library = false;
    int64_t operations = 0; // with calls inlined
    int calls = 0;          // nested in each other, below this one
  };

  // convert_functions.cpp
  void check_functions(const clang::DeclContext *user);
  void check_function(const clang::FunctionDecl *function);
  int function_of(const clang::FunctionDecl *function, const Span &call);
  int note_height(int function, const Span &call);
  int too_many_calls(const Span &call);
  Function convert_function(const clang::FunctionDecl *definition);
  void add_parameter(const clang::ParmVarDecl *parameter);
  void give(const clang::ReturnStmt *s, std::vector<Stmt> &out);

  // convert.cpp
  int add_local(const clang::VarDecl *variable);
  bool check_local_name(const clang::VarDecl *variable, const std::string &name);
  bool array_dims(const clang::VarDecl *variable, clang::QualType &type, std::vector<int64_t> &dims);
  void statement(const clang::Stmt *s, std::vector<Stmt> &out);
  void statements(const clang::CompoundStmt *s, std::vector<Stmt> &out);
  std::vector<Stmt> nested(const clang::Stmt *s);
  void declaration(const clang::Decl *d, std::vector<Stmt> &out);
  void array_values(const clang::Expr *init, Expr element, const std::vector<int64_t> &dims, std::vector<Stmt> &out);
  void note_real_local(const clang::VarDecl *variable, const Expr &value);
  void expression_statement(const clang::Expr *e, std::vector<Stmt> &out);
  void assignment(const clang::BinaryOperator *e, std::vector<Stmt> &out);
  void increment(const clang::UnaryOperator *e, std::vector<Stmt> &out);
  void branch(const clang::IfStmt *s, std::vector<Stmt> &out);
  void for_loop(const clang::ForStmt *s, std::vector<Stmt> &out);
  void while_loop(const clang::WhileStmt *s, std::vector<Stmt> &out);

  // convert_expressions.cpp
  Expr value(const clang::Expr *e);
  Expr condition(const clang::Expr *e);
  Expr argument(const clang::Expr *e);
  Expr value_node(const clang::Expr *e);
  Expr reference(const clang::DeclRefExpr *e);
  Expr named_object(const clang::VarDecl *variable, const clang::DeclRefExpr *e);
  Expr literal(const clang::IntegerLiteral *e);
  Expr implicit_cast(const clang::CastExpr *e);
  Expr explicit_cast(const clang::ExplicitCastExpr *e);
  Expr unary_operator(const clang::UnaryOperator *e);
  void judge_division(const clang::BinaryOperator *e, const Expr &numerator, const Span &at);
  Expr binary_operator(const clang::BinaryOperator *e);
  Expr conditional(const clang::ConditionalOperator *e);
  Expr element(const clang::ArraySubscriptExpr *e);

  // convert_calls.cpp
  Expr table_read(const clang::CXXOperatorCallExpr *e);
  Expr call(const clang::CallExpr *e);
  Expr builtin_call(const clang::CallExpr *e, const clang::FunctionDecl *callee);
  bool count_operations(int64_t count, const Span &at);
  std::string param_of_callee(const clang::CallExpr *e) const;
  Expr function_call(const clang::CallExpr *e, const clang::FunctionDecl *callee);
  Expr companion_call(const clang::CallExpr *e, const clang::FunctionDecl *companion, const clang::CallExpr *inner);
  Expr coordinate(const clang::CXXOperatorCallExpr *e);
  bool check_coordinate(const clang::Expr *e, const BuiltinRow &row, const Span &call);
  Expr target(const clang::Expr *e);

  // All of them.
  Standing standing(clang::QualType type) const;
  int tag_id(clang::QualType type) const;
  std::optional<Type> type_of(clang::QualType type) const;
  Type arithmetic(clang::QualType type, const Span &span);
  void warn_double(Type type, const Span &span);
  Span span(clang::SourceRange range) const;
  Span span(const clang::Stmt *s) const { return span(s->getSourceRange()); }
  Place place(const Span &span) const { return span.source->place(span.begin, span.length); }
  Expr fail(DiagId id, const Span &span, const std::vector<std::string> &arguments, const std::string &help = {});
  Expr refuse(const std::string &what, const Span &span, const std::string &help = {});
  Expr failed_value();
  bool hopeless(const clang::Stmt *s) const;
  bool hopeless(const clang::Stmt *s, const std::set<const clang::Decl *> &own) const;
  bool from_prelude(const clang::Decl *d) const;
  const VariantNames &names() const { return unit_.names[static_cast<size_t>(variant_)]; }
  const Variant &variant() const { return (*unit_.variants)[static_cast<size_t>(variant_)]; }

  clang::ASTContext &context_;
  const Unit &unit_;
  int variant_;
  Reporter &reporter_;
  std::vector<Span> &real_locals_;
  Body body_;
  Frame *frame_ = nullptr;
  const clang::BinaryOperator *becomes_real_ = nullptr;  // the quotient that was converted last
  std::map<const clang::FunctionDecl *, int> functions_; // -1: being converted
  std::vector<int64_t> sizes_;                           // operations of each function, with calls inlined
  std::vector<int> heights_;                             // calls nested in each other in each function
  int active_calls_ = 0;
  std::optional<Span> call_site_; // of the user's call, while a library function is converted
  std::set<size_t> doubles_;      // statements that were warned of
  int depth_ = 0;
  int coordinate_depth_ = 0;
  bool too_deep_ = false; // said
  bool too_large_ = false;
  bool in_coordinate_ = false;
  bool gave_up_ = false;          // on something; then there must be a message
  std::optional<Span> statement_; // the one being converted
};

} // namespace kgen::body
