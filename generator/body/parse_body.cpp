// The stage from end to end: look at the words, let Clang parse, convert.
#include <algorithm>
#include <optional>

#include "body/body.h"
#include "body/builtins.h"
#include "body/clang_parse.h"
#include "body/library.h"
#include "body/source.h"
#include "body/unit.h"
#include "support/text.h"

namespace kgen::body {
namespace {

// A param that is a name must name a function; said at the param, which may come from the command line.
bool check_function_params(const Spec &spec, const SourceText *functions, Diagnostics &diags) {
  bool good = true;
  for (const Param &param : spec.params)
    for (const ParamValue &value : param.choices) {
      const auto *name = std::get_if<std::string>(&value);
      if (name == nullptr)
        continue;
      std::vector<std::string> known;
      for (const LibraryFunction &function : library_functions())
        known.push_back(function.name);
      for (const BuiltinRow &row : builtins())
        known.emplace_back(row.name);
      if (functions != nullptr)
        known.insert(known.end(), functions->identifiers.begin(), functions->identifiers.end());
      if (std::ranges::find(known, *name) != known.end())
        continue;
      good = false;
      const std::optional<std::string> meant = nearest(*name, known);
      diags.add(DiagId::body_unknown_function, param.place, {*name}).help =
          meant ? "did you mean `" + *meant + "`?" : "write it in `functions`, or use one of the library";
    }
  return good;
}

// In double kernels `auto c = 0.1` is `real`, which Clang cannot know in one pass: such locals are named, and parsed
// again.
ParseResult parse_until_settled(const Spec &spec, const std::vector<Variant> &variants, const SourceText &body,
                                const SourceText *functions, Reporter &reporter) {
  std::vector<Span> real_locals;
  while (true) {
    const Unit unit = make_unit(spec, variants, body, functions, real_locals);
    ParseResult result = parse_unit(unit, reporter);
    if (result.real_locals.empty() || reporter.failed())
      return result;
    real_locals.insert(real_locals.end(), result.real_locals.begin(), result.real_locals.end());
  }
}

// Clang reads the texts once for each set of functions.
bool check_copies(const SourceText &text, size_t sets, Reporter &reporter) {
  constexpr size_t kMost = 4000000;
  if (text.text().size() * sets <= kMost)
    return true;
  reporter.add(DiagId::body_too_long, {&text, 0, 1},
               {"this text, once for each of " + std::to_string(sets) + " sets of functions,",
                std::to_string(kMost) + " characters"});
  return false;
}

} // namespace

std::optional<std::vector<Body>> parse_body(const Spec &spec, const std::vector<Variant> &variants,
                                            Diagnostics &diags) {
  Reporter reporter(diags);
  SourceText body(spec.body, true);
  std::optional<SourceText> functions;
  check_text(body, reporter);
  if (spec.functions.given()) {
    functions.emplace(spec.functions, false);
    check_text(*functions, reporter);
  }
  reporter.next_phase();
  const SourceText *known_functions = functions ? &*functions : nullptr;
  if (!check_function_params(spec, known_functions, diags) || !body.sound || (functions && !functions->sound))
    return std::nullopt;
  if (!check_copies(body, variants.size(), reporter) ||
      (functions && !check_copies(*functions, variants.size(), reporter)))
    return std::nullopt;
  ParseResult result = parse_until_settled(spec, variants, body, known_functions, reporter);
  if (reporter.failed())
    return std::nullopt;
  return std::move(result.bodies);
}

} // namespace kgen::body
