// A kernel from the text of a spec, for tests: the first variant, or the messages.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "ir/kernel.h"

namespace kgen::test {

struct Built {
  std::optional<Kernel> kernel;
  std::string messages; // short lines
};

inline Built build(const std::string &text, size_t which = 0) {
  Built out;
  Diagnostics diags;
  std::optional<Spec> spec = load_spec("test.toml", text, {}, diags);
  if (spec) {
    std::vector<Variant> variants = variants_of(*spec);
    auto bodies = body::parse_body(*spec, variants, diags);
    if (bodies)
      out.kernel = build_kernel(*spec, variants.at(which), bodies->at(which), diags);
  }
  out.messages = diags.render(Diagnostics::Format::short_lines, false);
  return out;
}

// The printed kernel, or the messages if there is none.
inline std::string printed(const std::string &text, size_t which = 0) {
  Built built = build(text, which);
  return built.kernel ? print(*built.kernel) : built.messages;
}

// The part of the printed kernel after "body".
inline std::string statements(const std::string &text, size_t which = 0) {
  std::string all = printed(text, which);
  size_t at = all.find("\nbody\n");
  return at == std::string::npos ? all : all.substr(at + 6);
}

inline bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace kgen::test

#define CHECK_CONTAINS(text, part)                                                                                     \
  CHECK_MESSAGE(kgen::test::contains(text, part), "no `" << (part) << "` in\n" << (text))
#define CHECK_LACKS(text, part) CHECK_MESSAGE(!kgen::test::contains(text, part), "`" << (part) << "` in\n" << (text))
