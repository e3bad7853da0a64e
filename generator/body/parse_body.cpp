// The stage from end to end: look at the words, let Clang parse, convert.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>

#include "body/body.h"
#include "body/builtins.h"
#include "body/clang_parse.h"
#include "body/foreign_names.h"
#include "body/library.h"
#include "body/source.h"
#include "body/unit.h"
#include "spec/sketch.h"
#include "support/text.h"

namespace kgen::body {
namespace {

using Words = std::set<std::string, std::less<>>;

// A param that is a name must name a function; said at the param, which may come from the command line. Returns those
// that do not.
Words check_function_params(const Spec &spec, const SourceText *functions, Diagnostics &diags) {
  Words bad;
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
      bad.insert(param.name);
      const std::optional<std::string> meant = nearest(*name, known);
      const std::string_view ours = instead_of(*name);
      diags.add(DiagId::body_unknown_function, param.value_place, {*name}).help =
          !ours.empty() ? std::string(ours)
          : meant       ? "did you mean `" + *meant + "`?"
                        : "write it in `functions`, or use one of the library";
    }
  return bad;
}

// In double kernels `auto c = 0.1` is `real`, which Clang cannot know in one pass: such locals are named, and parsed
// again.
ParseResult parse_until_settled(const Spec &spec, const std::vector<Variant> &variants, const UnitOptions &options,
                                const SourceText &body, const SourceText *functions, Reporter &reporter) {
  std::vector<Span> real_locals;
  while (true) {
    const Unit unit = make_unit(spec, variants, options, body, functions, real_locals);
    ParseResult result = parse_unit(unit, reporter);
    if (result.real_locals.empty() || reporter.failed())
      return result;
    real_locals.insert(real_locals.end(), result.real_locals.begin(), result.real_locals.end());
  }
}

struct StatementWords {
  Words all, assigned; // those before the first `=`
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Those of comments as well: what is looked for is doubt.
std::vector<StatementWords> words_of_statements(const SourceText &source) {
  const std::string &text = source.text();
  std::vector<StatementWords> out(source.statement_ends.size() + 1);
  size_t assignment = 0; // statements up to this one have met their `=`
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t begin = at, statement = source.statement(at);
    if (text[at] == '=')
      assignment = statement + 1;
    while (at < text.size() && in_word(text[at]))
      ++at;
    if (at == begin)
      continue;
    const std::string word = text.substr(begin, at-- - begin);
    out[statement].all.insert(word);
    if (assignment <= statement)
      out[statement].assigned.insert(word);
  }
  return out;
}

// Is a name given a value as a whole somewhere? A function of the library that is must be meant as something else.
bool is_assigned(const std::string &text, const std::string &name) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size()) {
    const size_t after = text.find_first_not_of(" \n", at + name.size());
    const bool begins = at == 0 || !in_word(text[at - 1]);
    if (begins && after != std::string::npos && text[after] == '=' && text.compare(after, 2, "==") != 0)
      return true;
  }
  return false;
}

// Says nothing of statements that depend on what is in doubt, be it through what they assign. Of functions, all are in
// doubt or none.
void leave_doubtful(const SourceText &source, const Words &known, Words &doubtful, Reporter &reporter) {
  const std::vector<StatementWords> words = words_of_statements(source);
  std::vector<bool> left(words.size(), false);
  auto leave = [&](size_t i) {
    left[i] = true;
    std::ranges::copy_if(source.is_body() ? words[i].assigned : words[i].all, std::inserter(doubtful, doubtful.end()),
                         [&](const std::string &word) { return !known.contains(word); });
    reporter.silence({&source, i < source.statement_ends.size() ? source.statement_ends[i] : source.text().size(), 1});
  };
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < words.size(); ++i)
      if (!left[i] &&
          std::ranges::any_of(words[i].all, [&](const std::string &word) { return doubtful.contains(word); })) {
        leave(i);
        more = true;
      }
  }
  if (!source.is_body() && std::ranges::find(left, true) != left.end())
    for (size_t i = 0; i < words.size(); ++i)
      leave(i);
}

// The texts, their words checked.
struct Texts {
  SourceText body;
  std::optional<SourceText> functions;
  Texts(const Spec &spec, Reporter &reporter) : body(spec.body, true) {
    check_text(body, reporter);
    if (spec.functions.given())
      check_text(functions.emplace(spec.functions, false), reporter);
    reporter.next_phase();
  }
  const SourceText *known_functions() const { return functions ? &*functions : nullptr; }
  bool sound() const { return body.sound && (!functions || functions->sound); }
};

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

// Trees that are alike are made once, and a variant has the functions that it needs. Where there is anything to say,
// nothing: it names the choices that it is said of.
std::optional<std::vector<Body>> parse_distinct(const Spec &spec, const std::vector<Variant> &variants,
                                                const Texts &texts) {
  const DistinctVariants distinct = body::distinct(spec, variants);
  const bool all_differ = !texts.functions && distinct.variants.size() == variants.size();
  if (all_differ || variants.size() == 1)
    return std::nullopt;
  Diagnostics diags;
  Reporter reporter(diags);
  const ParseResult result = parse_until_settled(spec, distinct.variants, {variants.size(), true}, texts.body,
                                                 texts.known_functions(), reporter);
  if (!diags.empty() || reporter.failed())
    return std::nullopt;
  std::vector<Body> out;
  for (const size_t which : distinct.of)
    out.push_back(result.bodies[which]);
  return out;
}

} // namespace

std::optional<std::vector<Body>> parse_body(const Spec &spec, const std::vector<Variant> &variants,
                                            Diagnostics &diags) {
  Reporter reporter(diags);
  const Texts texts(spec, reporter);
  const Words bad_params = check_function_params(spec, texts.known_functions(), diags);
  if (!texts.sound())
    return std::nullopt;
  if (!bad_params.empty()) {
    check_body({spec, {bad_params.begin(), bad_params.end()}, {}, true}, diags);
    return std::nullopt;
  }
  if (!check_copies(texts.body, variants.size(), reporter) ||
      (texts.functions && !check_copies(*texts.functions, variants.size(), reporter)))
    return std::nullopt;
  if (!reporter.failed())
    if (std::optional<std::vector<Body>> bodies = parse_distinct(spec, variants, texts))
      return bodies;
  ParseResult result =
      parse_until_settled(spec, variants, {variants.size(), false}, texts.body, texts.known_functions(), reporter);
  if (reporter.failed())
    return std::nullopt;
  return std::move(result.bodies);
}

void check_body(const Sketch &sketch, Diagnostics &diags) {
  if (!sketch.usable)
    return;
  Spec spec = sketch.spec;
  Reporter reporter(diags);
  const Texts texts(spec, reporter);
  if (!texts.sound())
    return;
  Words known, doubtful(sketch.words.begin(), sketch.words.end());
  const Words bad_params = check_function_params(spec, texts.known_functions(), diags);
  std::erase_if(spec.params, [&](const Param &param) {
    return bad_params.contains(param.name) || sketch.doubtful.contains(param.name);
  });
  std::vector<Variant> variants(1); // one will do
  for (const TypeParam &type : spec.types)
    variants[0].types[type.name] = type.choices.front();
  for (const Param &param : spec.params)
    variants[0].params[param.name] = param.choices.front();
  for (const std::string &name :
       known_names(make_unit(spec, variants, {}, texts.body, texts.known_functions(), {}), true)) {
    known.insert(name);
    if (!doubtful.contains(name) || !is_assigned(texts.body.text(), name))
      doubtful.erase(name); // `size`, where it is a key of the grid
  }
  if (sketch.lacks_axes) // as which names with a capital are taken
    for (const StatementWords &words : words_of_statements(texts.body))
      std::ranges::copy_if(words.all, std::inserter(doubtful, doubtful.end()), [&](const std::string &word) {
        return std::isupper(static_cast<unsigned char>(word.front())) != 0 && !known.contains(word);
      });
  doubtful.insert(sketch.doubtful.begin(), sketch.doubtful.end());
  doubtful.insert(bad_params.begin(), bad_params.end());
  if (texts.functions)
    leave_doubtful(*texts.functions, known, doubtful, reporter);
  leave_doubtful(texts.body, known, doubtful, reporter);
  reporter.next_phase();
  parse_until_settled(spec, variants, {}, texts.body, texts.known_functions(), reporter);
}

} // namespace kgen::body
