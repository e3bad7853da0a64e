// Statements and locals. A whitelist: what has no case of its own is refused.
#include "body/convert.h"

#include "body/builtins.h"
#include "body/converter.h"
#include "body/exprs.h"

namespace kgen::body {
namespace {

constexpr int64_t kMaxElements = 4096; // of a local array

// What people call the statements that are refused.
std::string statement_noun(const clang::Stmt *s) {
  switch (s->getStmtClass()) {
  case clang::Stmt::LabelStmtClass:
    return "labels";
  case clang::Stmt::GotoStmtClass:
  case clang::Stmt::IndirectGotoStmtClass:
    return "`goto`s";
  case clang::Stmt::SwitchStmtClass:
    return "`switch` statements";
  case clang::Stmt::DoStmtClass:
    return "`do` loops";
  case clang::Stmt::CXXForRangeStmtClass:
    return "range-based loops";
  case clang::Stmt::CXXTryStmtClass:
    return "exceptions";
  case clang::Stmt::AttributedStmtClass:
    return "attributes";
  default:
    return std::string("statements of this kind (") + s->getStmtClassName() + ")";
  }
}

const clang::NamespaceDecl *find_namespace(const clang::DeclContext *where, const std::string &name) {
  for (const clang::Decl *d : where->decls())
    if (const auto *found = llvm::dyn_cast<clang::NamespaceDecl>(d); found != nullptr && found->getName() == name)
      return found;
  return nullptr;
}

// Calls that are statements.
bool is_statement(std::string_view builtin) {
  return builtin == "assert" || builtin == "print" || builtin == "require";
}

} // namespace

Body convert_variant(clang::ASTContext &context, const Unit &unit, int variant, Reporter &reporter,
                     std::vector<Span> &real_locals) {
  return Converter(context, unit, variant, reporter, real_locals).run();
}

Converter::Converter(clang::ASTContext &context, const Unit &unit, int variant, Reporter &reporter,
                     std::vector<Span> &real_locals)
    : context_(context), unit_(unit), variant_(variant), reporter_(reporter), real_locals_(real_locals) {}

Body Converter::run() {
  const clang::NamespaceDecl *scope =
      find_namespace(context_.getTranslationUnitDecl(), "kgen_v" + std::to_string(variant_));
  const clang::NamespaceDecl *user = scope == nullptr ? nullptr : find_namespace(scope, "kgen_user");
  const clang::NamespaceDecl *inner = user == nullptr ? nullptr : find_namespace(user, "kgen_body");
  const clang::FunctionDecl *statements_of_body = nullptr;
  if (inner != nullptr)
    for (const clang::Decl *d : inner->decls())
      if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(d))
        statements_of_body = function;
  if (statements_of_body == nullptr || !statements_of_body->hasBody())
    return {}; // Clang gave up, and said why

  Frame frame;
  frame.locals = &body_.locals;
  frame.function = statements_of_body;
  frame.in_body = true;
  frame.scopes.emplace_back();
  frame_ = &frame;
  statements(llvm::cast<clang::CompoundStmt>(statements_of_body->getBody()), body_.statements);
  check_functions(user);
  if (gave_up_ && !reporter_.failed()) // nothing is dropped in silence
    refuse("such statements", statement_.value_or(Span{unit_.body, 0, 1}));
  return std::move(body_);
}

// False where the name cannot stand: then what uses it says no more.
bool Converter::check_local_name(const clang::VarDecl *variable, const std::string &name) {
  if (frame_->in_library || name.empty())
    return true;
  std::string meaning = find_builtin(name) != nullptr ? "a builtin" : "";
  if (frame_->in_body && meaning.empty())
    meaning = describe_name(*unit_.spec, name);
  for (const std::set<std::string> &scope : frame_->scopes)
    if (scope.count(name) != 0)
      meaning = "a local";
  if (!meaning.empty())
    fail(DiagId::body_name_taken, span(variable->getLocation()), {name, meaning}, "use another name for this local");
  frame_->scopes.back().insert(name);
  return meaning.empty();
}

bool Converter::array_dims(const clang::VarDecl *variable, clang::QualType &type, std::vector<int64_t> &dims) {
  int64_t elements = 1;
  while (const clang::ArrayType *array = context_.getAsArrayType(type)) {
    const auto *constant = llvm::dyn_cast<clang::ConstantArrayType>(array);
    if (constant == nullptr) {
      fail(DiagId::body_array, span(variable->getLocation()), {"the size of a local array must be a constant"},
           "use a number or an integer param");
      return false;
    }
    const uint64_t size = constant->getSize().getLimitedValue(kMaxElements + 1);
    elements *= static_cast<int64_t>(size);
    if (elements > kMaxElements || elements == 0) {
      fail(DiagId::body_array, span(variable->getLocation()),
           {"a local array has 1 to " + std::to_string(kMaxElements) + " elements"}, "larger ones are `scratch`");
      return false;
    }
    dims.push_back(static_cast<int64_t>(size));
    type = array->getElementType();
  }
  return true;
}

int Converter::add_local(const clang::VarDecl *variable) {
  Local local;
  local.name = variable->getNameAsString();
  const Span at = span(variable->getLocation());
  local.place = place(at);
  clang::QualType type = variable->getType();
  if (type->isReferenceType() || type->isPointerType()) {
    fail(DiagId::body_address, at, {type->isPointerType() ? "pointers" : "references"},
         "write a value: `auto v = ...`");
    return -1;
  }
  if (!array_dims(variable, type, local.dims))
    return -1;
  if (!check_local_name(variable, local.name))
    return -1;
  if (const Standing what = standing(type); what == Standing::axis) {
    const std::string axis = tag_id(type) < 0 ? "this" : unit_.axes[static_cast<size_t>(tag_id(type))];
    fail(DiagId::body_axis_value, at, {axis}, "write `int64_t " + local.name + " = index(" + axis + ")`");
    return -1;
  } else if (what == Standing::grid) {
    fail(DiagId::body_cpp, at, {"`auto` makes this no number, but a grid dimension"},
         "write `int64_t " + local.name + "`");
    return -1;
  }
  if (!type_of(type)) {
    const auto *record = type->getAsCXXRecordDecl();
    const bool of_user = record != nullptr && standing(type) == Standing::other;
    if (!of_user) // the user's classes were refused by their words
      arithmetic(type, at);
    return -1;
  }
  local.type = arithmetic(type, at);
  warn_double(local.type, at);
  frame_->ids[variable] = static_cast<int>(frame_->locals->size());
  frame_->locals->push_back(std::move(local));
  return static_cast<int>(frame_->locals->size()) - 1;
}

void Converter::statements(const clang::CompoundStmt *s, std::vector<Stmt> &out) {
  for (const clang::Stmt *child : s->body())
    statement(child, out);
}

// As the body of a branch or loop: braces make no block of their own.
std::vector<Stmt> Converter::nested(const clang::Stmt *s) {
  std::vector<Stmt> out;
  if (s == nullptr)
    return out;
  frame_->scopes.emplace_back();
  if (const auto *compound = llvm::dyn_cast<clang::CompoundStmt>(s))
    statements(compound, out);
  else
    statement(s, out);
  frame_->scopes.pop_back();
  return out;
}

void Converter::statement(const clang::Stmt *s, std::vector<Stmt> &out) {
  const Span at = span(s);
  auto add = [&](Stmt::Kind kind) {
    out.emplace_back();
    out.back().kind = kind;
    out.back().place = place(at);
  };
  if (llvm::isa<clang::NullStmt>(s))
    return;
  statement_ = at;
  if (!count_operations(1, at))
    return;
  if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(s)) {
    for (const clang::Decl *d : declarations->decls())
      declaration(d, out);
  } else if (const auto *e = llvm::dyn_cast<clang::Expr>(s)) {
    expression_statement(e, out);
  } else if (llvm::isa<clang::CompoundStmt>(s)) {
    std::vector<Stmt> inner = nested(s);
    add(Stmt::Kind::block);
    out.back().body = std::move(inner);
  } else if (const auto *if_statement = llvm::dyn_cast<clang::IfStmt>(s)) {
    branch(if_statement, out);
  } else if (const auto *for_statement = llvm::dyn_cast<clang::ForStmt>(s)) {
    for_loop(for_statement, out);
  } else if (const auto *while_statement = llvm::dyn_cast<clang::WhileStmt>(s)) {
    while_loop(while_statement, out);
  } else if (llvm::isa<clang::BreakStmt>(s)) {
    add(Stmt::Kind::leave);
  } else if (llvm::isa<clang::ContinueStmt>(s)) {
    add(Stmt::Kind::next);
  } else if (const auto *result = llvm::dyn_cast<clang::ReturnStmt>(s)) {
    give(result, out);
  } else if (llvm::isa<clang::LabelStmt>(s) && unit_.body->identifiers.contains("goto")) {
    gave_up_ = true; // the `goto` was refused
  } else if (hopeless(s)) {
    gave_up_ = true;
  } else {
    refuse(statement_noun(s), span(clang::SourceRange(s->getBeginLoc())));
  }
}

void Converter::declaration(const clang::Decl *d, std::vector<Stmt> &out) {
  const auto *variable = llvm::dyn_cast<clang::VarDecl>(d);
  if (variable == nullptr) {
    if (!d->isInvalidDecl())
      refuse(llvm::isa<clang::FunctionDecl>(d) ? "functions inside functions" : "such declarations inside functions",
             span(d->getLocation()), "functions go in `functions`");
    return;
  }
  if (variable->isInvalidDecl() || (variable->getInit() != nullptr && variable->getInit()->containsErrors()))
    return;
  if (llvm::isa<clang::DecompositionDecl>(variable)) {
    refuse("structured bindings", span(d->getLocation()), "declare each local");
    return;
  }
  if (!variable->hasLocalStorage()) {
    refuse("variables that outlive the step", span(d->getLocation()), "declare `scratch`");
    return;
  }
  const clang::Expr *init = variable->getInit();
  const bool is_array = context_.getAsArrayType(variable->getType()) != nullptr;
  // The initial value comes first: it must not see the new name.
  Expr initial;
  const Standing what = standing(variable->getType());
  if (init != nullptr && !is_array && (type_of(variable->getType()) || what == Standing::other) &&
      !variable->getType()->isPointerType() && !variable->getType()->isReferenceType())
    initial = value(init);
  if (what == Standing::other && is_failed(initial))
    return;
  const int local = add_local(variable);
  if (local < 0)
    return;
  Stmt s;
  s.kind = Stmt::Kind::declare;
  s.local = local;
  s.place = place(span(variable->getSourceRange()));
  Local &made = (*frame_->locals)[static_cast<size_t>(local)];
  if (init != nullptr && !is_array) {
    made.weak_constant = initial.weak;
    note_real_local(variable, initial);
    s.has_value = true;
    s.value = cast(std::move(initial), made.type, true);
  }
  const Place where = s.place;
  out.push_back(std::move(s));
  if (init == nullptr || !is_array)
    return;
  Expr element;
  element.kind = Expr::Kind::element;
  element.type = made.type;
  element.name = made.name;
  element.local = local;
  element.place = where;
  const std::vector<int64_t> dims = made.dims;
  array_values(init, std::move(element), dims, out);
}

// {1, 2, 3}: an assignment for each element that is given; the others are zero as they are.
void Converter::array_values(const clang::Expr *init, Expr element, const std::vector<int64_t> &dims,
                             std::vector<Stmt> &out) {
  if (llvm::isa<clang::ImplicitValueInitExpr>(init))
    return;
  if (element.args.size() == dims.size()) {
    Stmt s;
    s.kind = Stmt::Kind::assign;
    s.place = element.place;
    s.op_type = element.type;
    s.value = cast(value(init), element.type, true);
    s.target = std::move(element);
    out.push_back(std::move(s));
    return;
  }
  const auto *list = llvm::dyn_cast<clang::InitListExpr>(init);
  if (list == nullptr) {
    refuse("such values of arrays", span(init), "write `{1, 2, 3}`");
    return;
  }
  for (unsigned i = 0; i < list->getNumInits(); ++i) {
    Expr inner = element;
    inner.args.push_back(integer_literal(i, Type::i64, element.place));
    array_values(list->getInit(i), std::move(inner), dims, out);
  }
}

void Converter::note_real_local(const clang::VarDecl *variable, const Expr &value) {
  const bool narrow = value.weak && value.type == Type::f32 && names().real == Type::f64;
  if (!narrow || variable->getType()->getContainedAutoType() == nullptr)
    return;
  const clang::SourceManager &sources = context_.getSourceManager();
  const clang::SourceLocation at = sources.getFileLoc(variable->getTypeSpecStartLoc());
  const std::optional<Span> where = unit_.span(sources.getFileOffset(at), 4);
  if (where && where->source->text().substr(where->begin, 4) == "auto")
    real_locals_.push_back(*where);
}

void Converter::expression_statement(const clang::Expr *e, std::vector<Stmt> &out) {
  if (e->containsErrors())
    return;
  e = e->IgnoreParens();
  if (const auto *cleanups = llvm::dyn_cast<clang::ExprWithCleanups>(e))
    e = cleanups->getSubExpr()->IgnoreParens();
  if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(e); binary != nullptr && binary->isAssignmentOp())
    return assignment(binary, out);
  if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(e); unary != nullptr && unary->isIncrementDecrementOp())
    return increment(unary, out);
  const Span at = span(e);
  if (const auto *call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(e);
      call != nullptr && call->getOperator() == clang::OO_Equal) {
    const Expr axis = argument(call->getArg(0));
    fail(DiagId::body_not_assignable, span(call->getArg(0)), {axis.name, "an axis"},
         "coordinates stand inside `at(x, H = ...)`");
    return;
  }
  const Expr effect = value(e);
  if (effect.kind == Expr::Kind::builtin && is_statement(effect.name)) {
    Stmt s;
    s.kind = Stmt::Kind::evaluate;
    s.value = effect;
    s.place = place(at);
    out.push_back(std::move(s));
    return;
  }
  const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(e);
  const bool compares = binary != nullptr && binary->getOpcode() == clang::BO_EQ;
  if (!is_failed(effect))
    fail(DiagId::body_no_effect, at, {}, compares ? "an assignment is written with one `=`" : "");
}

void Converter::assignment(const clang::BinaryOperator *e, std::vector<Stmt> &out) {
  Stmt s;
  s.kind = Stmt::Kind::assign;
  s.place = place(span(e));
  s.target = target(e->getLHS());
  s.op_type = s.target.type;
  const clang::Expr *right = e->getRHS()->IgnoreParens();
  if (const auto *inner = llvm::dyn_cast<clang::BinaryOperator>(right->IgnoreImpCasts()->IgnoreParens());
      inner != nullptr && inner->isAssignmentOp()) {
    fail(DiagId::body_nested_assignment, span(inner), {}, "write two statements");
    return;
  }
  s.value = value(right);
  if (const auto *compound = llvm::dyn_cast<clang::CompoundAssignOperator>(e)) {
    s.op = clang::BinaryOperator::getOpcodeStr(clang::BinaryOperator::getOpForCompoundAssignment(e->getOpcode())).str();
    s.op_type = arithmetic(compound->getComputationLHSType(), span(e));
  }
  s.value = cast(std::move(s.value), s.op_type, true);
  out.push_back(std::move(s));
}

void Converter::increment(const clang::UnaryOperator *e, std::vector<Stmt> &out) {
  Stmt s;
  s.kind = Stmt::Kind::assign;
  s.place = place(span(e));
  s.target = target(e->getSubExpr());
  s.op = e->isIncrementOp() ? "+" : "-";
  s.op_type = is_floating(s.target.type) || bytes_of(s.target.type) >= 4 ? s.target.type : Type::i32;
  Expr one = integer_literal(1, Type::i32, s.place);
  one.weak = true;
  s.value = cast(std::move(one), s.op_type, true);
  out.push_back(std::move(s));
}

void Converter::branch(const clang::IfStmt *s, std::vector<Stmt> &out) {
  if (s->hasInitStorage() || s->hasVarStorage() || s->isConstexpr() || s->isConsteval()) {
    refuse("declarations in a condition and `if constexpr`", span(clang::SourceRange(s->getIfLoc())),
           "declare before the `if`");
    return;
  }
  Stmt made;
  made.kind = Stmt::Kind::branch;
  made.place = place(span(clang::SourceRange(s->getIfLoc(), s->getRParenLoc())));
  made.value = condition(s->getCond());
  made.body = nested(s->getThen());
  made.otherwise = nested(s->getElse());
  out.push_back(std::move(made));
}

void Converter::for_loop(const clang::ForStmt *s, std::vector<Stmt> &out) {
  if (s->getConditionVariable() != nullptr) {
    refuse("declarations in a condition", span(clang::SourceRange(s->getForLoc())), "declare before the `for`");
    return;
  }
  Stmt made;
  made.kind = Stmt::Kind::loop;
  made.place = place(span(clang::SourceRange(s->getForLoc(), s->getRParenLoc())));
  frame_->scopes.emplace_back();
  if (s->getInit() != nullptr)
    statement(s->getInit(), made.init);
  made.has_value = s->getCond() != nullptr;
  if (made.has_value)
    made.value = condition(s->getCond());
  made.body = nested(s->getBody());
  // `++i, j += 2`
  std::vector<const clang::Expr *> steps;
  const clang::Expr *step = s->getInc();
  while (step != nullptr) {
    const auto *comma = llvm::dyn_cast<clang::BinaryOperator>(step->IgnoreParens());
    const bool two = comma != nullptr && comma->getOpcode() == clang::BO_Comma;
    steps.push_back(two ? comma->getRHS() : step);
    step = two ? comma->getLHS() : nullptr;
  }
  for (auto it = steps.rbegin(); it != steps.rend(); ++it)
    expression_statement(*it, made.step);
  frame_->scopes.pop_back();
  out.push_back(std::move(made));
}

void Converter::while_loop(const clang::WhileStmt *s, std::vector<Stmt> &out) {
  if (s->getConditionVariable() != nullptr) {
    refuse("declarations in a condition", span(clang::SourceRange(s->getWhileLoc())), "declare before the `while`");
    return;
  }
  Stmt made;
  made.kind = Stmt::Kind::loop;
  made.place = place(span(clang::SourceRange(s->getWhileLoc(), s->getRParenLoc())));
  made.has_value = true;
  made.value = condition(s->getCond());
  made.body = nested(s->getBody());
  out.push_back(std::move(made));
}

Span Converter::span(clang::SourceRange range) const {
  if (call_site_)
    return *call_site_;
  const clang::SourceManager &sources = context_.getSourceManager();
  const clang::SourceLocation begin = sources.getFileLoc(range.getBegin());
  const clang::SourceLocation end = sources.getFileLoc(range.getEnd());
  const size_t first = sources.getFileOffset(begin);
  const size_t last =
      sources.getFileOffset(end) + clang::Lexer::MeasureTokenLength(end, sources, context_.getLangOpts());
  const std::optional<Span> found = unit_.span(first, last > first ? last - first : 1);
  return found ? *found : Span{unit_.body, 0, 1};
}

void Converter::warn_double(Type type, const Span &span) {
  if (type != Type::f64 || names().has_f64 || frame_->in_library)
    return;
  if (doubles_.insert(span.source->statement(span.begin) * 2 + (span.source->is_body() ? 1 : 0)).second)
    if (Diagnostic *d = reporter_.add(DiagId::body_double, span))
      d->help = "write `real` or `float`";
}

Expr Converter::failed_value() {
  gave_up_ = true;
  return failed_expr(place({unit_.body, 0, 1}));
}

namespace {
void find_declared(const clang::Stmt *s, std::set<const clang::Decl *> &out) {
  if (s == nullptr)
    return;
  if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(s))
    out.insert(declarations->decl_begin(), declarations->decl_end());
  for (const clang::Stmt *child : s->children())
    find_declared(child, out);
}
} // namespace

// Does it use a local that was refused? Then there is nothing to add.
bool Converter::hopeless(const clang::Stmt *s) const {
  std::set<const clang::Decl *> own;
  find_declared(s, own);
  return hopeless(s, own);
}

bool Converter::hopeless(const clang::Stmt *s, const std::set<const clang::Decl *> &own) const {
  if (s == nullptr)
    return false;
  if (const auto *e = llvm::dyn_cast<clang::Expr>(s); e != nullptr && e->containsErrors())
    return true;
  if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(s))
    if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
        variable != nullptr && variable->isLocalVarDecl() && frame_->ids.count(variable) == 0 &&
        !own.contains(variable))
      return true;
  for (const clang::Stmt *child : s->children())
    if (hopeless(child, own))
      return true;
  return false;
}

Expr Converter::fail(DiagId id, const Span &span, const std::vector<std::string> &arguments, const std::string &help) {
  if (Diagnostic *d = reporter_.add(id, span, arguments))
    d->help = help;
  return failed_value();
}

Expr Converter::refuse(const std::string &what, const Span &span, const std::string &help) {
  return fail(DiagId::body_unsupported, span, {what}, help);
}

} // namespace kgen::body
