#include "emit/openmp/lanes/scope.h"

#include <algorithm>

#include "emit/text/comments.h"

namespace kgen {

bool LaneMasks::is_whole(VarId var) const {
  const auto born = unmasked.find(var);
  return mask.empty() || (born != unmasked.end() && born->second == mask);
}

LaneScope::LaneScope(Printer &printer, Names &names)
    : printer(printer), names(names), kernel(printer.kernel), analysis(printer.plan) {
  masks.active = names.claim("active");
}

std::string LaneScope::lanes_type(Type type) {
  const std::string count = std::string(", ") + kLaneCount + ">";
  return type == Type::boolean ? std::string("Mask<") + kLaneCount + ">"
                               : "Lanes<" + Spelling::arithmetic(type) + count;
}

void LaneScope::note(Type type) {
  if (type != Type::boolean)
    widest = std::max(widest, bytes_of(type_row(type).arithmetic));
}

std::string LaneScope::with_count(std::string text) {
  replace_all(text, kLaneCount, helper("kLanes" + std::to_string(8 * widest)));
  return text;
}

} // namespace kgen
