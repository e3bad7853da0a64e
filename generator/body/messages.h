// Clang's messages in kgen's words: placed in the user's text, prelude names folded away, fixes as help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "body/source.h"
#include "body/unit.h"

namespace kgen::body {

struct ClangMessage {
  std::string text;
  std::optional<Span> span; // nullopt: not in the user's text
  int variant = 0;
  std::optional<Span> used_from; // of the innermost instantiation that the user's text asked for
  std::optional<Span> used_at;   // of an uninitialised local
  std::vector<std::string> notes;
};

void report_clang_messages(const std::vector<ClangMessage> &messages, const Unit &unit, Reporter &reporter);

} // namespace kgen::body
