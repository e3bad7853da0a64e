// Runs Clang's front end on a buffer: no driver, no file system, no flags of the user's, a stack of its own size.
// Messages are collected with their notes and reported before the tree is converted, so that the converter leaves alone
// what Clang refused.
#include "body/clang_parse.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Basic/Stack.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/thread.h>
#include <mutex>
#include <new>

#include "body/convert.h"
#include "body/messages.h"
#include "support/check.h"

namespace kgen::body {
namespace {

constexpr unsigned kStackBytes = 256u << 20; // reserved, not used: only what recursion touches is memory

constexpr size_t kMostInstances = 10000, kMostInstancesOfOne = 50; // of function templates; of each set of functions

constexpr const char *kArguments[] = {"-x",
                                      "c++",
                                      "-std=c++20",
                                      "-triple",
                                      "x86_64-unknown-linux-gnu",
                                      "-ffreestanding",
                                      "-fno-builtin",
                                      "-undef",
                                      "-nostdsysteminc",
                                      "-nobuiltininc",
                                      "-fcxx-exceptions",
                                      "-fexceptions",
                                      "-ferror-limit",
                                      "1000",
                                      "-fconstexpr-steps=100000",
                                      "-ftemplate-depth=64",
                                      "-Wno-everything",
                                      "-Wuninitialized",
                                      "-Wsometimes-uninitialized",
                                      "-Wreturn-type",
                                      "body.cpp"};

// Keeps what Clang says; a note belongs to the message before it.
class MessageCollector : public clang::DiagnosticConsumer {
public:
  explicit MessageCollector(const Unit &unit) : unit_(unit) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info) override {
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    std::optional<Span> span;
    int variant = 0;
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      span = span_of(info);
      const clang::SourceManager &sources = info.getSourceManager();
      variant = unit_.variant_at(sources.getFileOffset(sources.getFileLoc(info.getLocation())));
    }
    if (level == clang::DiagnosticsEngine::Note) {
      if (!messages_.empty())
        add_note(messages_.back(), text.str().str(), span, variant);
      return;
    }
    // Some warnings are mistakes in a body; all others are switched off.
    if (level >= clang::DiagnosticsEngine::Warning && !text.str().starts_with("too many errors"))
      messages_.push_back({text.str().str(), span, variant, {}, {}, {}});
  }

  const std::vector<ClangMessage> &messages() const { return messages_; }

private:
  static void add_note(ClangMessage &message, std::string text, const std::optional<Span> &span, int variant) {
    const bool instantiation = text.find("requested here") != std::string::npos;
    if (instantiation && span && !message.used_from) {
      message.used_from = span;
      message.variant = variant;
    }
    if (text.starts_with("uninitialized use occurs here"))
      message.used_at = span;
    if (text.find("candidate") != std::string::npos && span) // of the user's; those of the prelude have no place
      message.notes.push_back(std::move(text));
  }

  // Clang points at the `=` of an assignment that cannot be; its left side is what matters.
  static bool is_about_left_side(unsigned id) {
    return id == clang::diag::err_typecheck_assign_const ||
           id == clang::diag::err_typecheck_expression_not_modifiable_lvalue;
  }

  std::optional<Span> span_of(const clang::Diagnostic &info) const {
    const clang::SourceManager &sources = info.getSourceManager();
    const clang::SourceLocation at = sources.getFileLoc(info.getLocation());
    const size_t begin = sources.getFileOffset(at);
    if (is_about_left_side(info.getID()) && !info.getRanges().empty()) {
      const clang::SourceLocation left = sources.getFileLoc(info.getRange(0).getBegin());
      return unit_.span(sources.getFileOffset(left), end_of(info.getRange(0), sources) - sources.getFileOffset(left));
    }
    size_t end = begin + clang::Lexer::MeasureTokenLength(at, sources, clang::LangOptions());
    for (const clang::CharSourceRange &range : info.getRanges())
      if (range.isValid() && sources.getFileOffset(sources.getFileLoc(range.getBegin())) == begin)
        end = std::max(end, end_of(range, sources));
    return unit_.span(begin, std::max<size_t>(end - begin, 1));
  }

  static size_t end_of(const clang::CharSourceRange &range, const clang::SourceManager &sources) {
    const clang::SourceLocation last = sources.getFileLoc(range.getEnd());
    const size_t token =
        range.isTokenRange() ? clang::Lexer::MeasureTokenLength(last, sources, clang::LangOptions()) : 0;
    return sources.getFileOffset(last) + token;
  }

  const Unit &unit_;
  std::vector<ClangMessage> messages_;
};

class Consumer : public clang::ASTConsumer {
public:
  Consumer(const Unit &unit, const MessageCollector &collector, Reporter &reporter, ParseResult &result)
      : unit_(unit), collector_(collector), reporter_(reporter), result_(result) {}

  void HandleTranslationUnit(clang::ASTContext &context) override {
    report_clang_messages(collector_.messages(), unit_, reporter_);
    reporter_.next_phase();
    for (size_t i = 0; i < unit_.variants->size(); ++i)
      result_.bodies.push_back(convert_variant(context, unit_, static_cast<int>(i), reporter_, result_.real_locals));
  }

  // Depth is bounded by an option, but a few templates that name each other twice are millions of functions.
  void HandleCXXImplicitFunctionInstantiation(clang::FunctionDecl *function) override {
    const size_t most = kMostInstances + kMostInstancesOfOne * unit_.variants->size();
    if (++instances_ < most)
      return;
    function->setInvalidDecl(); // so that its body is not made, and nothing that it calls
    if (instances_ > most)
      return;
    clang::DiagnosticsEngine &engine = function->getASTContext().getDiagnostics();
    engine.Report(function->getLocation(),
                  engine.getCustomDiagID(clang::DiagnosticsEngine::Error, "more than %0 functions come from templates"))
        << std::to_string(most);
  }

private:
  const Unit &unit_;
  const MessageCollector &collector_;
  Reporter &reporter_;
  ParseResult &result_;
  size_t instances_ = 0;
};

class Action : public clang::ASTFrontendAction {
public:
  Action(const Unit &unit, const MessageCollector &collector, Reporter &reporter, ParseResult &result)
      : unit_(unit), collector_(collector), reporter_(reporter), result_(result) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &, llvm::StringRef) override {
    return std::make_unique<Consumer>(unit_, collector_, reporter_, result_);
  }

private:
  const Unit &unit_;
  const MessageCollector &collector_;
  Reporter &reporter_;
  ParseResult &result_;
};

void run_clang(const Unit &unit, Reporter &reporter, ParseResult &result) {
  clang::noteBottomOfStack();
  MessageCollector collector(unit);
  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  const bool understood = clang::CompilerInvocation::CreateFromArgs(*invocation, kArguments, compiler.getDiagnostics());
  KGEN_CHECK(understood);
  clang::LangOptions &language = invocation->getLangOpts();
  language.SinglePrecisionConstants = true; // exact literals stay in the tree, below the conversion to float
  language.CPlusPlusModules = false;
  language.Digraphs = false;
  const std::unique_ptr<llvm::MemoryBuffer> buffer = llvm::MemoryBuffer::getMemBuffer(unit.text, "body.cpp");
  invocation->getFrontendOpts().Inputs = {
      clang::FrontendInputFile(buffer->getMemBufferRef(), clang::InputKind(clang::Language::CXX))};
  compiler.setInvocation(std::move(invocation));
  // -W options are read again by the diagnostics that the compiler owns.
  compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  compiler.createFileManager(llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
  Action action(unit, collector, reporter, result);
  compiler.ExecuteAction(action);
}

} // namespace

ParseResult parse_unit(const Unit &unit, Reporter &reporter) {
  ParseResult result;
  // Without memory or threads LLVM would abort with words of its own. Whoever catches nothing says what ran out.
  static std::once_flag once;
  std::call_once(once, [] {
    const auto give_up = [](void *, const char *, bool) { throw std::bad_alloc(); };
    llvm::install_fatal_error_handler(give_up);
    llvm::install_bad_alloc_error_handler(give_up);
  });
  llvm::thread worker(std::optional<unsigned>(kStackBytes), [&] { run_clang(unit, reporter, result); });
  worker.join();
  return result;
}

} // namespace kgen::body
