// Expressions: a whitelist of nodes, every one with the type that Clang gave it and every conversion made explicit.
#include <utility>

#include "body/builtins.h"
#include "body/calls.h"
#include "body/converter.h"
#include "body/exprs.h"

namespace kgen::body {
namespace {

constexpr int kMaxDepth = 1000;

// What people call the expressions that are refused.
std::string expression_noun(const clang::Expr *e) {
  switch (e->getStmtClass()) {
  case clang::Stmt::LambdaExprClass:
    return "lambdas";
  case clang::Stmt::StringLiteralClass:
  case clang::Stmt::CharacterLiteralClass:
    return "text values";
  case clang::Stmt::CXXNewExprClass:
  case clang::Stmt::CXXDeleteExprClass:
    return "`new` and `delete`";
  case clang::Stmt::CXXThrowExprClass:
    return "exceptions";
  case clang::Stmt::UnaryExprOrTypeTraitExprClass:
    return "`sizeof` and its kin";
  case clang::Stmt::StmtExprClass:
    return "statements inside expressions";
  case clang::Stmt::ImaginaryLiteralClass:
    return "complex numbers";
  case clang::Stmt::MemberExprClass:
    return "members";
  default:
    return std::string("expressions of this kind (") + e->getStmtClassName() + ")";
  }
}

class Count {
public:
  explicit Count(int &count) : count_(++count), held_(count) {}
  ~Count() { --held_; }
  Count(const Count &) = delete;
  Count &operator=(const Count &) = delete;
  int count() const { return count_; }

private:
  int count_;
  int &held_;
};

} // namespace

const clang::Expr *peel(const clang::Expr *e) {
  while (true) {
    const clang::Expr *inner = e->IgnoreParens();
    if (const auto *cleanups = llvm::dyn_cast<clang::ExprWithCleanups>(inner))
      inner = cleanups->getSubExpr();
    else if (const auto *temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(inner))
      inner = temporary->getSubExpr();
    else if (const auto *constant = llvm::dyn_cast<clang::ConstantExpr>(inner))
      inner = constant->getSubExpr();
    else if (const auto *substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(inner))
      inner = substituted->getReplacement();
    else if (const auto *standard = llvm::dyn_cast<clang::CXXDefaultArgExpr>(inner))
      inner = standard->getExpr();
    if (inner == e)
      return e;
    e = inner;
  }
}

std::optional<Type> Converter::type_of(clang::QualType type) const {
  const auto *builtin = type.getCanonicalType().getUnqualifiedType()->getAs<clang::BuiltinType>();
  if (builtin == nullptr)
    return std::nullopt;
  switch (builtin->getKind()) {
  case clang::BuiltinType::Bool:
    return Type::boolean;
  case clang::BuiltinType::Float:
    return Type::f32;
  case clang::BuiltinType::Double:
    return Type::f64;
  case clang::BuiltinType::SChar:
    return Type::i8;
  case clang::BuiltinType::Short:
    return Type::i16;
  case clang::BuiltinType::Int:
    return Type::i32;
  case clang::BuiltinType::Long:
  case clang::BuiltinType::LongLong:
    return Type::i64;
  case clang::BuiltinType::UChar:
    return Type::u8;
  case clang::BuiltinType::UShort:
    return Type::u16;
  case clang::BuiltinType::UInt:
    return Type::u32;
  case clang::BuiltinType::ULong:
  case clang::BuiltinType::ULongLong:
    return Type::u64;
  default:
    return std::nullopt;
  }
}

Type Converter::arithmetic(clang::QualType type, const Span &span) {
  if (const std::optional<Type> found = type_of(type))
    return *found;
  if (type->isPointerType() || type->isReferenceType() || type->isArrayType()) {
    fail(DiagId::body_address, span, {type->isReferenceType() ? "references" : "pointers"}, "write a value");
  } else if (const Standing what = standing(type); what == Standing::axis) {
    fail(DiagId::body_axis_value, span, {tag_id(type) < 0 ? "this" : unit_.axes[static_cast<size_t>(tag_id(type))]},
         "the position along it is `index(...)`; a parameter for an axis is an `axis`");
  } else if (what == Standing::grid) {
    fail(DiagId::body_type, span, {"grid dimension"}, "write `int64_t`");
  } else {
    fail(DiagId::body_type, span, {type.getUnqualifiedType().getAsString()},
         "there are `real float double bool`, `int int64_t` and the like");
  }
  return Type::f32;
}

// The classes of the prelude, told apart by name.
Standing Converter::standing(clang::QualType type) const {
  type = type.getNonReferenceType();
  const clang::CXXRecordDecl *record = type->getAsCXXRecordDecl();
  if (record == nullptr)
    return type->isArithmeticType() ? Standing::value : Standing::other;
  const llvm::StringRef name = record->getName();
  if (name == "kgen_axis" || name == "axis")
    return Standing::axis;
  if (name == "kgen_grid")
    return Standing::grid;
  if (name == "kgen_table")
    return Standing::table;
  if (name == "kgen_where")
    return Standing::where;
  return name == "kgen_coordinate" ? Standing::coordinate : Standing::other;
}

// Which axis or grid dimension; -1: an axis parameter.
int Converter::tag_id(clang::QualType type) const {
  const clang::CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const auto *made = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (made == nullptr)
    return -1;
  return static_cast<int>(made->getTemplateArgs()[0].getAsIntegral().getExtValue());
}

bool Converter::from_prelude(const clang::Decl *d) const {
  const auto *scope = llvm::dyn_cast<clang::NamespaceDecl>(d->getDeclContext());
  return scope != nullptr && scope->getName() == "kgen" && scope->getDeclContext()->isTranslationUnit();
}

Expr Converter::condition(const clang::Expr *e) { return cast(value(e), Type::boolean, true); }

// An arithmetic value. An axis in its place is its index in a coordinate and a mistake elsewhere.
Expr Converter::value(const clang::Expr *e) {
  Expr out = argument(e);
  if (out.kind == Expr::Kind::axis) {
    std::optional<Expr> index = axis_as_value(std::move(out), in_coordinate_, span(e), reporter_);
    return index ? *std::move(index) : failed_value();
  }
  if (!is_value(out)) {
    const bool where = out.kind == Expr::Kind::where;
    return fail(DiagId::body_coordinate, span(e), {where ? "`where` is no value" : "a coordinate is no value"},
                where ? "it stands last in a reduction" : "it stands inside `at` or `inside`");
  }
  return out;
}

// As `value`, but an axis, a grid dimension, a coordinate or where stay what they are.
Expr Converter::argument(const clang::Expr *e) {
  e = peel(e);
  if (e->containsErrors())
    return failed_value();
  const Count depth(depth_);
  if (!count_operations(1, span(e)))
    return failed_value();
  if (depth.count() > kMaxDepth)
    return std::exchange(too_deep_, true) ? failed_value()
                                          : fail(DiagId::body_too_deep, span(clang::SourceRange(e->getExprLoc())),
                                                 {"expressions", std::to_string(kMaxDepth)});
  return value_node(e);
}

Expr Converter::value_node(const clang::Expr *e) {
  const Span at = span(e);
  if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(e))
    return reference(name);
  if (const auto *integer = llvm::dyn_cast<clang::IntegerLiteral>(e))
    return literal(integer);
  if (const auto *number = llvm::dyn_cast<clang::FloatingLiteral>(e)) {
    Expr out = float_literal(number->getValue().convertToDouble(), arithmetic(number->getType(), at), place(at));
    out.weak = out.type == Type::f64; // the only way to write a double literal is without a suffix
    return out;
  }
  if (const auto *text = llvm::dyn_cast<clang::StringLiteral>(e)) {
    Expr out;
    out.kind = Expr::Kind::text;
    out.name = text->getString().str();
    out.place = place(at);
    return out;
  }
  if (const auto *boolean = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(e))
    return integer_literal(boolean->getValue() ? 1 : 0, Type::boolean, place(at));
  if (const auto *converted = llvm::dyn_cast<clang::ImplicitCastExpr>(e))
    return implicit_cast(converted);
  if (const auto *converted = llvm::dyn_cast<clang::ExplicitCastExpr>(e))
    return explicit_cast(converted);
  if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(e))
    return unary_operator(unary);
  if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(e))
    return binary_operator(binary);
  if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(e))
    return conditional(choice);
  if (const auto *subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e))
    return element(subscript);
  if (const auto *called = llvm::dyn_cast<clang::CallExpr>(e))
    return call(called);
  if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(e)) // a copy of an axis, or an axis parameter's
    return made->getNumArgs() == 1 ? argument(made->getArg(0))
                                   : failed_value(); // else of a class, refused by its words
  if (llvm::isa<clang::CXXScalarValueInitExpr, clang::ImplicitValueInitExpr>(e))
    return cast(integer_literal(0, Type::i32, place(at)), arithmetic(e->getType(), at), true);
  if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(e)) {
    if (list->getNumInits() == 0)
      return cast(integer_literal(0, Type::i32, place(at)), arithmetic(e->getType(), at), true);
    if (list->getNumInits() == 1)
      return value(list->getInit(0));
  }
  return hopeless(e) ? failed_value() : refuse(expression_noun(e), at);
}

Expr Converter::literal(const clang::IntegerLiteral *e) {
  const Span at = span(e);
  Expr out =
      integer_literal(static_cast<int64_t>(e->getValue().getLimitedValue()), arithmetic(e->getType(), at), place(at));
  // Hexadecimal digits are none of these letters.
  const clang::SourceManager &sources = context_.getSourceManager();
  const char *text = sources.getCharacterData(sources.getFileLoc(e->getLocation()));
  const unsigned length =
      clang::Lexer::MeasureTokenLength(sources.getFileLoc(e->getLocation()), sources, context_.getLangOpts());
  out.weak = llvm::StringRef(text, length).find_last_of("uUlLzZ") == llvm::StringRef::npos;
  return out;
}

Expr Converter::reference(const clang::DeclRefExpr *e) {
  const Span at = span(e);
  const auto *variable = llvm::dyn_cast<clang::VarDecl>(e->getDecl());
  if (llvm::isa<clang::BindingDecl, clang::EnumConstantDecl>(e->getDecl()))
    return failed_value(); // refused where it is declared
  if (variable == nullptr)
    return fail(DiagId::body_function, at, {"`" + e->getDecl()->getNameAsString() + "` is a function, not a value"},
                "call it");
  Expr out;
  out.place = place(at);
  out.name = variable->getNameAsString();
  if (const auto found = frame_->ids.find(variable); found != frame_->ids.end()) {
    const Local &local = (*frame_->locals)[static_cast<size_t>(found->second)];
    if (!local.dims.empty())
      return fail(DiagId::body_array, at, {"`" + local.name + "` is an array"}, "name one element");
    out.kind = local.is_axis ? Expr::Kind::axis : Expr::Kind::local;
    out.type = local.is_axis ? Type::i64 : local.type;
    out.local = found->second;
    return out;
  }
  if (llvm::isa<clang::ParmVarDecl>(variable) && frame_->in_body) {
    out.kind = Expr::Kind::operand;
    out.type = names().operands.at(out.name);
    return out;
  }
  return variable->isLocalVarDeclOrParm() ? failed_value() : named_object(variable, e);
}

// What stands outside the functions: axes, grid dimensions, tables, params, constants.
Expr Converter::named_object(const clang::VarDecl *variable, const clang::DeclRefExpr *e) {
  Expr out;
  const Span at = span(e);
  out.place = place(at);
  out.name = variable->getNameAsString();
  const Standing what = standing(variable->getType());
  if (what == Standing::axis || what == Standing::grid) {
    out.kind = what == Standing::axis ? Expr::Kind::axis : Expr::Kind::grid;
    out.type = Type::i64;
    return out;
  }
  if (what == Standing::table)
    return fail(DiagId::body_type, at, {out.name}, "a table is read by its entries: `" + out.name + "[i]`");
  if (from_prelude(variable)) {
    const bool infinity = out.name == "inf";
    out = float_literal(infinity ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN(), Type::f32, out.place);
    out.weak = true;
    return out;
  }
  for (const Param &param : unit_.spec->params) {
    if (param.name != out.name)
      continue;
    const ParamValue value = param_value(param, variant());
    const auto *integer = std::get_if<int64_t>(&value);
    const auto *number = std::get_if<double>(&value);
    if (integer != nullptr)
      out = integer_literal(*integer, Type::i64, out.place);
    if (number != nullptr) {
      out = float_literal(*number, Type::f32, out.place);
      out.weak = true;
    }
    out.param = param.name;
    if (integer != nullptr || number != nullptr)
      return out;
  }
  if (variable->getInit() == nullptr || !variable->getType().isConstQualified())
    return failed_value(); // said where it is declared
  return cast(value(variable->getInit()), arithmetic(variable->getType(), at), true);
}

// The quotient that becomes a real number by itself: `y = x / 255`.
static const clang::BinaryOperator *quotient_in(const clang::Expr *converted) {
  const auto *e = llvm::dyn_cast<clang::BinaryOperator>(converted->IgnoreParens());
  return e != nullptr && e->getOpcode() == clang::BO_Div ? e : nullptr;
}

// A conversion that stands in the text, of which Clang has put a part below.
static bool is_written(const clang::CastExpr *e) {
  const auto *implicit = llvm::dyn_cast<clang::ImplicitCastExpr>(e);
  return implicit == nullptr || implicit->isPartOfExplicitCast();
}

Expr Converter::implicit_cast(const clang::CastExpr *e) {
  const clang::Expr *inner = e->getSubExpr();
  switch (e->getCastKind()) {
  case clang::CK_LValueToRValue:
  case clang::CK_NoOp:
  case clang::CK_UserDefinedConversion:
  case clang::CK_ConstructorConversion:
    return argument(inner);
  case clang::CK_IntegralCast:
  case clang::CK_IntegralToFloating:
  case clang::CK_FloatingToIntegral:
  case clang::CK_FloatingCast:
  case clang::CK_IntegralToBoolean:
  case clang::CK_FloatingToBoolean:
  case clang::CK_BooleanToSignedIntegral: {
    const Span at = span(e);
    if (e->getCastKind() == clang::CK_IntegralToFloating && !is_written(e))
      becomes_real_ = quotient_in(inner);
    return cast(value(inner), arithmetic(e->getType(), at), true);
  }
  case clang::CK_ArrayToPointerDecay:
    if (llvm::isa<clang::StringLiteral>(peel(inner)))
      return argument(inner);
    return fail(DiagId::body_array, span(e), {"an array is no value"}, "name one element");
  case clang::CK_FunctionToPointerDecay:
    return argument(inner);
  default:
    return refuse(std::string("conversions of this kind (") + e->getCastKindName() + ")", span(e));
  }
}

Expr Converter::explicit_cast(const clang::ExplicitCastExpr *e) {
  const Span at = span(e);
  if (!llvm::isa<clang::CStyleCastExpr, clang::CXXFunctionalCastExpr, clang::CXXStaticCastExpr>(e))
    return refuse("casts of this kind", at, "write `float(x)`");
  if (e->getType()->isVoidType())
    return refuse("casts to `void`", at);
  const Type type = arithmetic(e->getTypeAsWritten(), at);
  warn_double(type, at);
  // Clang may have put the conversion itself below, as an implicit one of the same type.
  Expr inner = value(e->getSubExpr());
  if (is_failed(inner))
    return inner;
  if (inner.kind == Expr::Kind::cast && inner.implicit && inner.type == type &&
      llvm::isa<clang::ImplicitCastExpr>(peel(e->getSubExpr()))) {
    inner.implicit = false;
    inner.place = place(at);
    return inner;
  }
  Expr out = cast(std::move(inner), type, false);
  out.place = place(at);
  return out;
}

Expr Converter::unary_operator(const clang::UnaryOperator *e) {
  const Span at = span(e);
  switch (e->getOpcode()) {
  case clang::UO_Plus:
    return value(e->getSubExpr());
  case clang::UO_Minus:
  case clang::UO_Not:
  case clang::UO_LNot: {
    Expr inner = value(e->getSubExpr());
    const Type type = arithmetic(e->getType(), at);
    const Type operand = e->getOpcode() == clang::UO_LNot ? Type::boolean : type;
    if (is_failed(inner))
      return inner;
    return unary(clang::UnaryOperator::getOpcodeStr(e->getOpcode()).str(), cast(std::move(inner), operand, true), type,
                 place(at));
  }
  case clang::UO_PreInc:
  case clang::UO_PostInc:
  case clang::UO_PreDec:
  case clang::UO_PostDec:
    return fail(DiagId::body_nested_assignment, at, {}, "make it a statement of its own");
  case clang::UO_AddrOf:
  case clang::UO_Deref: // a pointer that a function returns is refused there
    return hopeless(e) || llvm::isa<clang::CallExpr>(peel(e->getSubExpr()))
               ? failed_value()
               : fail(DiagId::body_address, at, {"pointers"});
  default:
    return refuse(expression_noun(e), at);
  }
}

// Quotients of whole numbers that were hardly meant as such: `1 / 2`, `1 / size(N)`, `y = x / 255`. (What `kgen grad`
// writes is asked for only where nothing is left over.)
void Converter::judge_division(const clang::BinaryOperator *e, const Expr &numerator, const Span &at) {
  const auto *above = llvm::dyn_cast<clang::IntegerLiteral>(e->getLHS()->IgnoreParenImpCasts());
  const auto *below = llvm::dyn_cast<clang::IntegerLiteral>(e->getRHS()->IgnoreParenImpCasts());
  const uint64_t number = above == nullptr ? 0 : above->getValue().getLimitedValue();
  if (number != 0 && e->getType()->isIntegerType() &&
      (below != nullptr ? number < below->getValue().getLimitedValue() : number == 1)) {
    if (Diagnostic *d =
            reporter_.add(DiagId::body_no_fraction, at, {below != nullptr ? "" : " for every divisor above 1"}))
      d->help = "write `real(" + std::to_string(number) + ") / ...` to keep the fraction";
  } else if (e == becomes_real_) {
    reporter_.add(DiagId::body_lost_fraction, at);
  } else if (may_be_negative(numerator) && unit_.spec->backward_of.empty()) {
    reporter_.add(DiagId::body_division, at);
  }
}

Expr Converter::binary_operator(const clang::BinaryOperator *e) {
  const Span at = span(e);
  if (e->isAssignmentOp())
    return fail(DiagId::body_nested_assignment, at, {}, "make it a statement of its own; `==` compares");
  if (e->getOpcode() == clang::BO_Comma)
    return refuse("commas between expressions", at, "write two statements");
  if (e->getOpcode() == clang::BO_Cmp || e->isPtrMemOp())
    return refuse(expression_noun(e), at);
  if (e->getLHS()->getType()->isPointerType() || e->getRHS()->getType()->isPointerType())
    return hopeless(e) ? failed_value() : fail(DiagId::body_address, at, {"pointers"});
  Expr out;
  out.kind = Expr::Kind::binary;
  out.name = e->getOpcodeStr().str();
  out.type = arithmetic(e->getType(), at);
  out.place = place(at);
  out.args.push_back(value(e->getLHS()));
  out.args.push_back(value(e->getRHS()));
  if (any_failed(out.args))
    return failed_value();
  if (e->getOpcode() == clang::BO_Div && !frame_->in_library)
    judge_division(e, out.args[0], at);
  if (e->isLogicalOp())
    for (Expr &arg : out.args)
      arg = cast(std::move(arg), Type::boolean, true);
  else if (e->isShiftOp()) // the count's value modulo the width is the same in any integer type
    out.args[1] = cast(std::move(out.args[1]), out.args[0].type, true);
  out.weak = out.args[0].weak && out.args[1].weak && !e->isLogicalOp() && !e->isComparisonOp();
  return out;
}

Expr Converter::conditional(const clang::ConditionalOperator *e) {
  const Span at = span(e);
  Expr out;
  out.kind = Expr::Kind::conditional;
  out.type = arithmetic(e->getType(), at);
  out.place = place(at);
  out.args.push_back(condition(e->getCond()));
  out.args.push_back(cast(value(e->getTrueExpr()), out.type, true));
  out.args.push_back(cast(value(e->getFalseExpr()), out.type, true));
  if (any_failed(out.args))
    return failed_value();
  out.weak = out.args[1].weak && out.args[2].weak;
  return out;
}

Expr Converter::element(const clang::ArraySubscriptExpr *e) {
  const Span at = span(e);
  Expr out;
  out.kind = Expr::Kind::element;
  out.place = place(at);
  std::vector<const clang::Expr *> indices;
  const clang::Expr *base = e;
  while (const auto *subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(base)) {
    indices.insert(indices.begin(), subscript->getIdx());
    base = subscript->getBase()->IgnoreParenImpCasts();
  }
  const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(base);
  const auto *variable = name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
  const auto found = variable == nullptr ? frame_->ids.end() : frame_->ids.find(variable);
  if (hopeless(e))
    return failed_value();
  if (found == frame_->ids.end())
    return variable != nullptr && variable->getType()->isArrayType()
               ? fail(DiagId::body_array, at, {"`" + variable->getNameAsString() + "` is not a local array"},
                      "declare it where it is used")
               : fail(DiagId::body_address, at, {"pointers"});
  const Local local = (*frame_->locals)[static_cast<size_t>(found->second)];
  out.name = local.name;
  out.local = found->second;
  out.type = local.type;
  if (indices.size() != local.dims.size())
    return fail(DiagId::body_array, at, {"`" + local.name + "` has " + std::to_string(local.dims.size()) + " indices"});
  for (size_t i = 0; i < indices.size(); ++i) {
    Expr index = cast(value(indices[i]), Type::i64, true);
    if (is_failed(index))
      return index;
    if (index.kind == Expr::Kind::literal && (index.integer < 0 || index.integer >= local.dims[i]))
      return fail(DiagId::body_array, span(indices[i]),
                  {"index " + std::to_string(index.integer) + " is outside `" + local.name + "`, which has " +
                   std::to_string(local.dims[i]) + " elements"});
    out.args.push_back(std::move(index));
  }
  return out;
}

} // namespace kgen::body
