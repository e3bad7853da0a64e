// Specs in, printed bodies or messages out: what the tests of the body stage have in common.
#pragma once

#include <string>

#include "body/body.h"
#include "spec/spec.h"

namespace kgen::body {

// The head of a spec that most tests share: f32 operands, an int8 pair, a table, params and a grid. Its body starts at
// line 20 (line 14 where there are no functions), column 1.
inline const std::string kHead = R"(kernel = "k"
params.eps = 1e-5
params.bm = 4
tables.row = "i32[B + 1]"
scalars.alpha = "f32"
inputs.x = "f32[B, N]"
inputs.y = { type = "f32[B, N]", optional = true }
inputs.w = "i8[N]"
inputs.u = "i8[N]"
outputs.o = "f32[B, N]"
outputs.c = "i32[B]"
scratch.s = "f32[B, N]"
grid.k = { axis = "N", block = "bm", semantics = "arbitrary" }
)";

struct Outcome {
  std::vector<std::string> bodies; // printed, one per variant
  std::string messages;            // "line:column: error[KG0201]: text" and so on, one a line
  std::vector<Diagnostic> list;
};

inline Outcome parse_spec(const std::string &toml) {
  Outcome out;
  Diagnostics diags;
  if (const std::optional<Spec> spec = load_spec("k.toml", toml, {}, diags))
    if (const auto bodies = parse_body(*spec, variants_of(*spec), diags))
      for (const Body &body : *bodies)
        out.bodies.push_back(print(body));
  out.list = diags.sorted();
  for (const Diagnostic &d : out.list) {
    out.messages += std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + ": " +
                    (d.severity == Severity::warning ? "warning: " : "") + d.text;
    out.messages += (d.help.empty() ? "" : " | " + d.help) + "\n";
  }
  return out;
}

inline Outcome parse_text(const std::string &body, const std::string &functions = {}) {
  const std::string with = functions.empty() ? "" : "functions = '''\n" + functions + "\n'''\n";
  return parse_spec(kHead + with + "body = '''\n" + body + "\n'''\n");
}

// The only variant's body; empty when there were messages.
inline std::string printed(const std::string &body, const std::string &functions = {}) {
  const Outcome out = parse_text(body, functions);
  return out.messages.empty() && out.bodies.size() == 1 ? out.bodies.front() : out.messages;
}

inline std::string messages(const std::string &body, const std::string &functions = {}) {
  return parse_text(body, functions).messages;
}

} // namespace kgen::body
