#include "plan/decisions.h"

namespace kgen {

Decisions::Decisions(const std::vector<Pin> &pins, TargetKind target) : target_(target) {
  for (const Pin &pin : pins)
    if (!pin.target || *pin.target == target)
      pins_.push_back(pin);
}

// The last pin counts, one with a name before those without.
Decisions::Value Decisions::find(Decision decision, const std::string &name) const {
  const Pin *found = nullptr;
  for (const Pin &pin : pins_)
    if (pin.decision == decision && (pin.name.empty() ? found == nullptr || found->name.empty() : pin.name == name))
      found = &pin;
  if (found == nullptr)
    return {row_of(decision).rule(machine_of(target_)), "rule"};
  return {found->value, found->in_spec ? "schedule" : "--decide"};
}

int64_t Decisions::operator()(Decision decision, const std::string &name) const {
  const Value value = find(decision, name);
  asked_->insert_or_assign({decision, name}, value);
  return value.value;
}

std::string Decisions::print() const {
  std::string text;
  Asked all = *asked_;
  for (const Pin &pin : pins_)
    all.insert_or_assign({pin.decision, pin.name}, find(pin.decision, pin.name));
  for (const auto &[key, value] : all) {
    const auto &[decision, name] = key;
    text += "  " + std::string(row_of(decision).key) + (name.empty() ? "" : "@" + name) + " " +
            std::to_string(value.value) + " (" + value.source + ")\n";
  }
  return text.empty() ? "" : "decisions\n" + text;
}

} // namespace kgen
