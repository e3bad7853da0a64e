// Clang over the one translation unit, in memory. No Clang type shows here.
#pragma once

#include <vector>

#include "body/body.h"
#include "body/source.h"
#include "body/unit.h"

namespace kgen::body {

struct ParseResult {
  std::vector<Body> bodies;      // one per variant; meaningless after errors
  std::vector<Span> real_locals; // `auto` locals that hold a weak constant and should be `real`: parse again with these
};

ParseResult parse_unit(const Unit &unit, Reporter &reporter);

} // namespace kgen::body
