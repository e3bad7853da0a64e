// Clang's tree of one variant -> Body. Only nodes known here pass; everything else is refused by name.
#pragma once

#include <vector>

#include "body/body.h"
#include "body/unit.h"

namespace clang {
class ASTContext;
}

namespace kgen::body {

// Meaningless after errors. `real_locals` gets the `auto` of locals that hold a weak constant but are not `real`.
Body convert_variant(clang::ASTContext &context, const Unit &unit, int variant, Reporter &reporter,
                     std::vector<Span> &real_locals);

} // namespace kgen::body
