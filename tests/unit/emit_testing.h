// The text that a spec becomes.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "body/body.h"
#include "emit/emit.h"
#include "rewrite/canonicalize.h"

namespace kgen {

// A spec as far as emit wants it, without the rewrites that are only for speed.
inline std::vector<Variation> variations_of(const Spec &spec) {
  Diagnostics diags;
  const auto variants = variants_of(spec);
  const auto bodies = body::parse_body(spec, variants, diags);
  REQUIRE(bodies);
  std::vector<Variation> variations;
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto kernel = build_kernel(spec, variants[i], (*bodies)[i], diags);
    REQUIRE(kernel);
    Variation v;
    v.variant = variants[i];
    v.kernel = *kernel;
    v.facts = analyze(v.kernel, diags);
    REQUIRE(!diags.has_errors());
    v.lowered = canonicalize(v.kernel, v.facts);
    v.lowered_facts = v.facts;
    for (TargetKind target : {TargetKind::openmp, TargetKind::cuda})
      v.plans[target] = make_plans(v.lowered, v.lowered_facts, v.all_outputs, v.all_outputs_facts, target);
    variations.push_back(std::move(v));
  }
  return variations;
}

// Without the sentences before passes and merges.
inline std::string without_sentences(const std::string &text) {
  constexpr std::string_view kSentences[] = {"// One pass along ", "// Puts the ",   "// A greater value: ",
                                             "// Squares about ",  "// Long folds ", "// Each fold "};
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const std::string words = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (std::ranges::none_of(kSentences, [&](std::string_view start) { return words.starts_with(start); }))
      out += line + "\n";
  }
  return out;
}

// The emitted file of this suffix from the first `start` on, without line breaks and indentation.
inline std::string emitted_text(const std::string &spec_text, const std::string &suffix, const std::string &start,
                                bool sentences = false) {
  Diagnostics diags;
  const auto spec = load_spec("test.toml", spec_text, {}, diags);
  REQUIRE(spec);
  const std::vector<Variation> variations = variations_of(*spec);
  EmitOptions options;
  options.standalone = true; // with helpers, of which some tests are
  for (const EmittedFile &file : emit_files(*spec, variations, options)) {
    if (!file.name.ends_with(suffix))
      continue;
    std::string flat;
    const std::string text = sentences ? file.text : without_sentences(file.text);
    for (char c : text.substr(text.find(start))) {
      const bool space = c == ' ' || c == '\n';
      if (!space || (!flat.empty() && flat.back() != ' '))
        flat += space ? ' ' : c;
    }
    return flat;
  }
  return "";
}

// `{ x = 1; }` as `x = 1;`: short statements stand on the line of their loop or condition, others in braces.
inline std::string without_short_braces(std::string text) {
  for (size_t open = text.rfind('{'); open != std::string::npos; open = open == 0 ? open : text.rfind('{', open - 1)) {
    const size_t end = text.find_first_of("{};", open + 1);
    if (end != std::string::npos && text.compare(end, 3, "; }") == 0 && text.compare(open, 2, "{ ") == 0)
      text.erase(end + 1, 2), text.erase(open, 2);
    if (open == 0)
      break;
  }
  return text;
}

// Says what the text is where it has no such part.
inline bool has(const std::string &text, const std::string &part) {
  const bool found = without_short_braces(text).find(without_short_braces(part)) != std::string::npos;
  if (!found)
    MESSAGE(text);
  return found;
}

} // namespace kgen
