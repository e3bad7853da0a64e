// Calls: of builtins, of functions, and the operators of kgen's own classes, which are coordinates and table reads.
#include <algorithm>
#include <utility>

#include "body/builtins.h"
#include "body/calls.h"
#include "body/converter.h"
#include "body/exprs.h"

namespace kgen::body {
namespace {

constexpr int kMaxCoordinates = 6; // within each other: a guarded read writes its coordinates down more than once

} // namespace

Expr Converter::table_read(const clang::CXXOperatorCallExpr *e) {
  const Span at = span(e);
  Expr out;
  out.kind = Expr::Kind::table;
  out.place = place(at);
  std::vector<const clang::Expr *> indices;
  const clang::Expr *base = e;
  while (const auto *subscript = llvm::dyn_cast<clang::CXXOperatorCallExpr>(base)) {
    if (subscript->getOperator() != clang::OO_Subscript)
      break;
    indices.insert(indices.begin(), subscript->getArg(1));
    base = peel(subscript->getArg(0))->IgnoreParenImpCasts();
    base = peel(base);
  }
  const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(base);
  if (name == nullptr)
    return refuse("such tables", at);
  out.name = name->getDecl()->getNameAsString();
  const std::optional<Type> type = type_of(e->getType());
  if (!type)
    return fail(DiagId::body_array, at, {"`" + out.name + "` needs one index for each of its dimensions"});
  out.type = *type;
  for (const clang::Expr *index : indices) {
    Expr converted = value(index);
    if (is_failed(converted))
      return converted;
    if (is_floating(converted.type))
      return fail(DiagId::body_array, span(index), {"an index is a whole number"});
    out.args.push_back(cast(std::move(converted), Type::i64, true));
  }
  return out;
}

Expr Converter::call(const clang::CallExpr *e) {
  const Span at = span(e);
  if (const auto *sign = llvm::dyn_cast<clang::CXXOperatorCallExpr>(e)) {
    if (sign->getOperator() == clang::OO_Subscript && standing(sign->getArg(0)->getType()) == Standing::table)
      return table_read(sign);
    if (sign->getOperator() == clang::OO_Equal && standing(sign->getArg(0)->getType()) == Standing::axis)
      return coordinate(sign);
    return hopeless(e) ? failed_value() : refuse("such operators", at);
  }
  if (const auto *method = llvm::dyn_cast<clang::CXXMemberCallExpr>(e)) {
    const auto *conversion = llvm::dyn_cast_or_null<clang::CXXConversionDecl>(method->getMethodDecl());
    return conversion != nullptr ? argument(method->getImplicitObjectArgument()) : refuse("members", at);
  }
  const clang::FunctionDecl *callee = e->getDirectCallee();
  if (callee == nullptr)
    return refuse("calls of values", at);
  return from_prelude(callee) ? builtin_call(e, callee) : function_call(e, callee);
}

Expr Converter::coordinate(const clang::CXXOperatorCallExpr *e) {
  const Span at = span(e);
  Expr out = argument(e->getArg(0));
  out.kind = Expr::Kind::coordinate;
  out.place = place(at);
  if (coordinate_depth_ == kMaxCoordinates)
    return std::exchange(too_deep_, true)
               ? failed_value()
               : fail(DiagId::body_too_deep, at, {"coordinates", std::to_string(kMaxCoordinates)});
  const bool outer = std::exchange(in_coordinate_, true);
  ++coordinate_depth_;
  Expr inner = value(e->getArg(1));
  --coordinate_depth_;
  in_coordinate_ = outer;
  if (is_failed(inner) || is_failed(out))
    return failed_value();
  if (is_floating(inner.type))
    return fail(DiagId::body_coordinate, span(e->getArg(1)), {"a coordinate is a whole number"},
                "write `int64_t(...)`, which drops the fraction");
  out.args.clear();
  out.args.push_back(cast(std::move(inner), Type::i64, true));
  return out;
}

Expr Converter::builtin_call(const clang::CallExpr *e, const clang::FunctionDecl *callee) {
  Call made;
  made.row = find_builtin(callee->getName().str());
  made.span = span(e->getCallee());
  made.place = place(span(e));
  made.in_coordinate = in_coordinate_;
  if (made.row == nullptr)
    return refuse("such calls", made.span);
  if (made.row->kind != BuiltinKind::where && !e->getType()->isVoidType())
    made.type = arithmetic(e->getType().getNonReferenceType(), made.span);
  const bool takes_coordinates = made.row->kind == BuiltinKind::at || made.row->kind == BuiltinKind::inside;
  for (const clang::Expr *arg : e->arguments()) {
    if (takes_coordinates && !made.args.empty() && !check_coordinate(arg, *made.row, made.span))
      return failed_value();
    made.args.push_back(argument(arg));
    made.spans.push_back(span(arg));
  }
  const Span whole = made.span;
  std::optional<Expr> out = make_builtin(std::move(made), *unit_.spec, reporter_);
  if (!out)
    return failed_value();
  if (!out->weak && out->kind == Expr::Kind::builtin && out->name == "bitcast")
    warn_double(out->type, whole);
  out->param = param_of_callee(e);
  return *std::move(out);
}

// Before it is converted: an axis in what is no coordinate would be a second mistake.
bool Converter::check_coordinate(const clang::Expr *e, const BuiltinRow &row, const Span &call) {
  const clang::Expr *arg = peel(e);
  while (const auto *copied = llvm::dyn_cast<clang::CXXConstructExpr>(arg)) {
    if (copied->getNumArgs() != 1)
      break;
    arg = peel(copied->getArg(0)->IgnoreImpCasts());
  }
  arg = peel(arg->IgnoreImpCasts());
  const auto *sign = llvm::dyn_cast<clang::CXXOperatorCallExpr>(arg);
  if ((sign != nullptr && sign->getOperator() == clang::OO_Equal) || hopeless(e))
    return true;
  const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(arg);
  const bool compares = binary != nullptr && binary->getOpcode() == clang::BO_EQ;
  fail(DiagId::body_arguments, call, {std::string(row.name), std::string(row.takes)},
       compares ? "a coordinate is written with one `=`" : "");
  return false;
}

// All later stages take time and memory for each operation of each set of functions. False when there are too many.
bool Converter::count_operations(int64_t count, const Span &at) {
  constexpr int64_t kMax = 20000, kMaxOfAll = 100000;
  const int64_t sets = static_cast<int64_t>(unit_.sets), most = std::min(kMax, kMaxOfAll / sets);
  frame_->operations = std::min(frame_->operations + count, kMax + 1);
  if (frame_->operations <= most)
    return true;
  if (!std::exchange(too_large_, true))
    fail(DiagId::body_too_large, at, {std::to_string(most)},
         most < kMax ? "with fewer types and choices there may be more, or split the kernel" : "split the kernel");
  return false;
}

// The parameter by whose name a function is called; empty: by its own.
std::string Converter::param_of_callee(const clang::CallExpr *e) const {
  const clang::SourceLocation at = e->getCallee()->getBeginLoc();
  if (!at.isMacroID())
    return {};
  return clang::Lexer::getImmediateMacroName(at, context_.getSourceManager(), context_.getLangOpts()).str();
}

namespace {

// The call that a companion makes; null: the function is none.
const clang::CallExpr *call_of_companion(const clang::FunctionDecl *function) {
  const bool is_companion = llvm::any_of(function->parameters(), [](const clang::ParmVarDecl *parameter) {
    return parameter->getName().starts_with("kgen_axis_");
  });
  const clang::FunctionDecl *definition = nullptr;
  if (!is_companion || !function->hasBody(definition))
    return nullptr;
  const auto *statements = llvm::dyn_cast<clang::CompoundStmt>(definition->getBody());
  const auto *result = statements == nullptr || statements->body_empty()
                           ? nullptr
                           : llvm::dyn_cast<clang::ReturnStmt>(statements->body_front());
  return result == nullptr ? nullptr : llvm::dyn_cast<clang::CallExpr>(peel(result->getRetValue()));
}

// Below copies, too.
const clang::Expr *peel_copies(const clang::Expr *e) {
  e = peel(peel(e)->IgnoreImpCasts());
  const auto *copied = llvm::dyn_cast<clang::CXXConstructExpr>(e);
  return copied != nullptr && copied->getNumArgs() == 1 ? peel_copies(copied->getArg(0)) : e;
}

} // namespace

// Several axes, or a where: the call is that of the function behind the companion, with the arguments that the user
// gave the companion.
Expr Converter::companion_call(const clang::CallExpr *e, const clang::FunctionDecl *companion,
                               const clang::CallExpr *inner) {
  const Span at = span(e);
  const clang::FunctionDecl *callee = inner->getDirectCallee();
  if (callee == nullptr)
    return failed_value();
  // What the user gave for what the companion passes on.
  const auto given = [&](const clang::Expr *passed) -> const clang::Expr * {
    const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(peel_copies(passed));
    const auto *parameter = name == nullptr ? nullptr : llvm::dyn_cast<clang::ParmVarDecl>(name->getDecl());
    return parameter == nullptr ? passed : e->getArg(parameter->getFunctionScopeIndex());
  };
  Expr out;
  out.kind = Expr::Kind::call;
  out.place = place(at);
  out.name = companion->getNameAsString();
  out.function = function_of(callee, span(e->getCallee()));
  if (out.function < 0 || !count_operations(sizes_[static_cast<size_t>(out.function)], at))
    return failed_value();
  const Function made = body_.functions[static_cast<size_t>(out.function)];
  out.type = made.result;
  for (unsigned i = 0; i < inner->getNumArgs() && i < static_cast<unsigned>(made.parameters); ++i) {
    const Local &parameter = made.locals[i];
    if (!parameter.is_axis) {
      out.args.push_back(cast(value(given(inner->getArg(i))), parameter.type, true));
      continue;
    }
    Expr axes;
    axes.kind = Expr::Kind::axes;
    axes.name = out.name;
    axes.place = out.place;
    if (const auto *list = llvm::dyn_cast<clang::CallExpr>(peel_copies(inner->getArg(i))))
      for (const clang::Expr *one : list->arguments())
        axes.args.push_back(argument(given(one)));
    if (any_failed(axes.args))
      return failed_value();
    out.args.push_back(std::move(axes));
  }
  return any_failed(out.args) ? failed_value() : out;
}

Expr Converter::function_call(const clang::CallExpr *e, const clang::FunctionDecl *callee) {
  if (const clang::CallExpr *inner = call_of_companion(callee))
    return companion_call(e, callee, inner);
  const Span at = span(e);
  Expr out;
  out.kind = Expr::Kind::call;
  out.place = place(at);
  out.name = callee->getNameAsString();
  out.param = param_of_callee(e);
  out.function = function_of(callee, span(e->getCallee()));
  if (out.function < 0)
    return failed_value();
  if (!count_operations(sizes_[static_cast<size_t>(out.function)], at))
    return failed_value();
  const Function made = body_.functions[static_cast<size_t>(out.function)];
  out.type = made.result;
  for (unsigned i = 0; i < e->getNumArgs() && i < static_cast<unsigned>(made.parameters); ++i) {
    const Local &parameter = made.locals[i];
    out.given += static_cast<size_t>(!llvm::isa<clang::CXXDefaultArgExpr>(e->getArg(i)));
    if (!parameter.is_axis) {
      out.args.push_back(cast(value(e->getArg(i)), parameter.type, true));
      continue;
    }
    Expr axis = argument(e->getArg(i));
    if (is_failed(axis))
      return axis;
    if (axis.kind != Expr::Kind::axis)
      return fail(DiagId::body_function, span(e->getArg(i)), {"`" + out.name + "` takes an axis here"});
    out.args.push_back(std::move(axis));
  }
  return any_failed(out.args) ? failed_value() : out;
}

namespace {
std::string text_of(const Span &span) {
  constexpr size_t kMost = 40;
  const std::string text = span.source->text().substr(span.begin, std::min(span.length, kMost));
  return span.length > kMost ? text + "..." : text;
}
} // namespace

// What may stand left of `=`.
Expr Converter::target(const clang::Expr *e) {
  const clang::Expr *left = peel(e);
  Expr out = argument(left);
  const bool input_at = out.kind == Expr::Kind::builtin && out.name == "at";
  const bool assignable =
      out.kind == Expr::Kind::operand || out.kind == Expr::Kind::local || out.kind == Expr::Kind::element || input_at;
  if (!assignable && !is_failed(out))
    return fail(DiagId::body_not_assignable, span(e), {text_of(span(e)), "a value"});
  return out;
}

} // namespace kgen::body
