// Functions: each instantiation becomes one Function. ir inlines them, so that recursion is refused here.
#include <algorithm>
#include <utility>

#include "body/converter.h"
#include "body/exprs.h"
#include "body/library.h"

namespace kgen::body {
namespace {

constexpr int kMaxCalls = 64;

} // namespace

// Functions that nobody calls are converted too, to find what is wrong with them, and dropped again.
void Converter::check_functions(const clang::DeclContext *user) {
  const size_t called = body_.functions.size();
  for (const clang::Decl *d : user->decls()) {
    if (!unit_.span(context_.getSourceManager().getFileOffset(context_.getSourceManager().getFileLoc(d->getLocation())),
                    1))
      continue; // kgen's own: params
    if (const auto *pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(d))
      check_function(pattern->getTemplatedDecl());
    else if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(d)) {
      check_function(function);
      if (function->isThisDeclarationADefinition() && !function->isInvalidDecl() && functions_.count(function) == 0)
        function_of(function, span(function->getLocation()));
    } else if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(d)) {
      if (!variable->getType().isConstQualified())
        fail(DiagId::body_function, span(variable->getLocation()), {"`functions` holds functions and constants only"},
             "write `constexpr`, or declare `scratch` for what changes");
    } else if (!llvm::isa<clang::EmptyDecl, clang::NamespaceDecl>(d) && !d->isInvalidDecl()) {
      fail(DiagId::body_function, span(d->getSourceRange()), {"`functions` holds functions and constants only"});
    }
  }
  body_.functions.resize(called);
}

void Converter::check_function(const clang::FunctionDecl *function) {
  const std::string name = function->getNameAsString();
  const std::string meaning = describe_name(*unit_.spec, name);
  const auto &library = library_functions();
  if (std::ranges::any_of(library, [&](const LibraryFunction &f) { return f.name == name; }))
    reporter_.add(DiagId::body_shadows, span(function->getLocation()), {name});
  if (!meaning.empty())
    fail(DiagId::body_name_taken, span(function->getLocation()), {name, meaning});
}

int Converter::function_of(const clang::FunctionDecl *function, const Span &call) {
  const clang::FunctionDecl *definition = nullptr;
  if (!function->hasBody(definition)) {
    const clang::FunctionDecl *pattern = function->getTemplateInstantiationPattern();
    if (pattern != nullptr && pattern->hasBody())
      return -1; // Clang could not instantiate it, and said why
    fail(DiagId::body_function, call, {"`" + function->getNameAsString() + "` is declared, but has no body"});
    return -1;
  }
  if (active_calls_ >= kMaxCalls && functions_.count(definition) == 0)
    return too_many_calls(call);
  const auto [known, is_new] = functions_.emplace(definition, -1);
  if (!is_new) {
    if (known->second < 0)
      fail(DiagId::body_recursion, call, {function->getNameAsString()}, "use a loop");
    return known->second < 0 ? -1 : note_height(known->second, call);
  }
  Frame *outer = frame_;
  const std::optional<Span> outer_site = call_site_;
  const bool outer_coordinate = in_coordinate_;
  Frame frame;
  frame.function = definition;
  frame.in_library = !unit_.span(context_.getSourceManager().getFileOffset(definition->getLocation()), 1);
  if (frame.in_library && !call_site_)
    call_site_ = call;
  frame_ = &frame;
  in_coordinate_ = false;
  ++active_calls_;
  Function converted = convert_function(definition);
  --active_calls_;
  frame_ = outer;
  call_site_ = outer_site;
  in_coordinate_ = outer_coordinate;

  const int index = static_cast<int>(body_.functions.size());
  body_.functions.push_back(std::move(converted));
  sizes_.resize(body_.functions.size());
  sizes_.back() = frame.operations;
  heights_.resize(body_.functions.size());
  heights_.back() = frame.calls;
  functions_[definition] = index;
  return note_height(index, call);
}

// ir inlines as deep as calls are nested.
int Converter::note_height(int function, const Span &call) {
  frame_->calls = std::max(frame_->calls, heights_[static_cast<size_t>(function)] + 1);
  return frame_->calls > kMaxCalls ? too_many_calls(call) : function;
}

int Converter::too_many_calls(const Span &call) {
  if (!std::exchange(too_deep_, true))
    fail(DiagId::body_too_deep, call, {"calls", std::to_string(kMaxCalls)});
  return -1;
}

Function Converter::convert_function(const clang::FunctionDecl *definition) {
  Function out;
  out.name = definition->getNameAsString();
  out.from_library = frame_->in_library;
  const Span at = span(definition->getLocation());
  out.place = place(at);
  frame_->locals = &out.locals;
  frame_->scopes.emplace_back();
  if (definition->getReturnType()->isVoidType())
    fail(DiagId::body_function, at, {"a function must return a value"}, "statements belong in the body");
  else
    out.result = arithmetic(definition->getReturnType(), at);
  if (!type_of(definition->getReturnType()))
    return out;
  for (const clang::ParmVarDecl *parameter : definition->parameters())
    add_parameter(parameter);
  out.parameters = static_cast<int>(out.locals.size());
  if (const auto *compound = llvm::dyn_cast<clang::CompoundStmt>(definition->getBody()))
    statements(compound, out.statements);
  return out;
}

void Converter::add_parameter(const clang::ParmVarDecl *parameter) {
  const Standing what = standing(parameter->getType());
  Local local;
  local.name = parameter->getNameAsString();
  const Span at = span(parameter->getSourceRange());
  local.place = place(at);
  if (what == Standing::axis)
    local.is_axis = true;
  else
    local.type = arithmetic(parameter->getType(), at);
  warn_double(local.type, at);
  check_local_name(parameter, local.name);
  frame_->ids[parameter] = static_cast<int>(frame_->locals->size());
  frame_->locals->push_back(std::move(local));
}

void Converter::give(const clang::ReturnStmt *s, std::vector<Stmt> &out) {
  if (frame_->in_body) {
    refuse("`return`s from the body", span(clang::SourceRange(s->getReturnLoc())), "put the rest under an `if`");
    return;
  }
  if (s->getRetValue() == nullptr || s->getRetValue()->containsErrors())
    return;
  Stmt made;
  made.kind = Stmt::Kind::give;
  made.place = place(span(s));
  made.value = value(s->getRetValue());
  if (const std::optional<Type> type = type_of(frame_->function->getReturnType()))
    made.value = cast(std::move(made.value), *type, true);
  out.push_back(std::move(made));
}

} // namespace kgen::body
