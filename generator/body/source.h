// The user's text before Clang sees it: where its lines and statements are, which names it mentions, and what of it is
// refused by its words alone. The Reporter keeps one mistake from being reported twice: by two checks, or for two
// variants.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "spec/spec.h"
#include "support/diagnostics.h"

namespace kgen::body {

class SourceText {
public:
  SourceText(const Text &text, bool is_body);

  const std::string &text() const { return text_.text; }
  bool is_body() const { return is_body_; }
  // For messages.
  std::string name() const { return is_body_ ? "body" : "text of `functions`"; }
  Place place(size_t begin, size_t length) const;
  // The number of the statement at `offset`: ends of statements are what check_text finds.
  size_t statement(size_t offset) const;

  std::vector<size_t> statement_ends; // ascending
  std::set<std::string, std::less<>> identifiers;
  bool sound = true; // brackets match and there is no directive: it may stand inside a function

private:
  Text text_;
  bool is_body_;
  std::vector<size_t> lines_;
};

// A stretch of a text.
struct Span {
  const SourceText *source = nullptr;
  size_t begin = 0;
  size_t length = 1;
};

class Reporter {
public:
  explicit Reporter(Diagnostics &diags) : diags_(diags) {}

  // nullptr when it is not shown: said before, in a statement that an earlier phase refused, or one too many.
  Diagnostic *add(DiagId id, const Span &span, const std::vector<std::string> &arguments = {});
  // There is something wrong here that was said elsewhere.
  void silence(const Span &span);
  // From now on, statements with an error are left alone.
  void next_phase();
  bool failed() const { return failed_; }

private:
  Diagnostics &diags_;
  std::set<std::tuple<DiagId, const SourceText *, size_t>> said_;
  std::set<std::pair<const SourceText *, size_t>> faulty_, newly_faulty_;
  int errors_ = 0;
  bool failed_ = false;
};

// Reads the words of `source`: fills its public members and reports what needs no parser to be refused.
void check_text(SourceText &source, Reporter &reporter);

} // namespace kgen::body
