// What a spec with mistakes still says for sure, so that its body is looked at in the same run: the mistakes there that
// cannot follow from those of the spec are reported, too.
#pragma once

#include <set>
#include <string>

#include "spec/spec.h"

namespace kgen {

struct Sketch {
  Spec spec;                      // with its sound declarations only
  std::set<std::string> doubtful; // declared names that are not in it
  std::set<std::string> words;    // that stand elsewhere outside the texts and may name something
  bool usable = false;            // the texts are known
  bool lacks_axes = false;        // those of declarations that were not understood
};

// As load_spec; after errors `sketch` holds what could be understood.
std::optional<Spec> load_spec(const std::string &path, const std::string &text, const LoadOptions &options,
                              Diagnostics &diags, Sketch &sketch);

} // namespace kgen
