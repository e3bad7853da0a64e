#include "emit/print/nest.h"

#include "emit/target_file.h"
#include "support/text.h"

namespace kgen {

CountedNest::CountedNest(std::vector<const PlanNode *> loops, const std::string &wish, Printer &printer, Names &names)
    : loops_(std::move(loops)), printer_(printer) {
  number_ = loops_.size() == 1 ? printer.counter(*loops_.front()) : names.claim(wish);
}

std::string CountedNest::count() {
  if (loops_.empty())
    return "1";
  std::vector<std::string> factors;
  for (const PlanNode *loop : loops_)
    factors.push_back(at_least(printer_.trips(*loop), binding::kMultiply));
  return join(factors, " * ");
}

std::string CountedNest::span() {
  if (loops_.size() != 1)
    return "{0, " + count() + "}";
  const Printer::Range r = printer_.counted_range(*loops_.front());
  return "{" + r.begin + ", " + r.end + "}";
}

std::string CountedNest::room() const {
  std::vector<std::string> factors;
  for (const PlanNode *loop : loops_)
    factors.push_back(at_least(printer_.room_text(loop->axis), binding::kMultiply));
  return factors.empty() ? "1" : join(factors, " * ");
}

// The last loop moves with each number.
std::string CountedNest::decoded(const std::string &text) {
  if (loops_.size() == 1)
    return "";
  std::string lines, inner; // the positions of the loops inside
  for (size_t i = loops_.size(); i-- > 0;) {
    const PlanNode &loop = *loops_[i];
    const Printer::Range r = printer_.counted_range(loop);
    const std::string trips_text = at_least(printer_.trips(loop), binding::kUnary);
    std::string value =
        inner.empty() ? number_ : number_ + " / " + (inner.find(' ') == std::string::npos ? inner : "(" + inner + ")");
    if (i > 0)
      value += " % " + trips_text;
    if (r.begin != "0")
      value = at_least(code_of(r.begin), binding::kAdd) + " + " + value;
    if (mentions_word(text + lines, printer_.counter(loop)))
      lines = "const int64_t " + printer_.counter(loop) + " = " + value + ";\n" + lines;
    inner = inner.empty() ? trips_text : at_least(printer_.trips(loop), binding::kMultiply) + " * " + inner;
  }
  return lines;
}

} // namespace kgen
