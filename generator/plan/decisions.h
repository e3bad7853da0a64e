// The numbers of one plan, each by its rule or as it was pinned.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spec/decisions.h"

namespace kgen {

class Decisions {
public:
  Decisions() = default;
  Decisions(const std::vector<Pin> &pins, TargetKind target);

  // `name`: of the axis or operand that it is about, if any.
  int64_t operator()(Decision decision, const std::string &name) const;

  // What the plan has asked for and what is pinned, and why it is so.
  std::string print() const;

private:
  struct Value {
    int64_t value;
    const char *source;
  };

  Value find(Decision decision, const std::string &name) const;

  TargetKind target_ = TargetKind::openmp;
  std::vector<Pin> pins_;
  // One for all copies of a plan: what a pass has tried and left is decided as well.
  using Asked = std::map<std::pair<Decision, std::string>, Value>;
  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();
};

} // namespace kgen
