#include "spec/decisions.h"

#include <charconv>

#include "support/text.h"

namespace kgen {
namespace {

constexpr Machine kMachines[] = {
#define KGEN_MACHINE(target, ...) {TargetKind::target, __VA_ARGS__},
#include "spec/machines.def"
#undef KGEN_MACHINE
};

constexpr bool yes = true, no = false; // as the table says it

constexpr DecisionRow kRows[] = {
#define KGEN_DECISION(key, target, least, rule, most, legal, user, about)                                              \
  {Decision::key,                                                                                                      \
   #key,                                                                                                               \
   Targets::target,                                                                                                    \
   least,                                                                                                              \
   []([[maybe_unused]] const Machine &machine) -> int64_t { return rule; },                                            \
   most,                                                                                                               \
   Legal::legal,                                                                                                       \
   user,                                                                                                               \
   about},
#include "spec/decisions.def"
#undef KGEN_DECISION
};

constexpr int64_t kLine = 64; // what values of Legal::lines are multiples of

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

void pin_least(std::vector<Pin> &pins) {
  for (const DecisionRow &row : kRows)
    pins.push_back({row.decision, std::nullopt, "", row.least, false, {}});
}

} // namespace

const Machine &machine_of(TargetKind target) { return kMachines[static_cast<size_t>(target)]; }

std::span<const DecisionRow> decision_rows() { return kRows; }

const DecisionRow &row_of(Decision decision) { return kRows[static_cast<size_t>(decision)]; }

const DecisionRow *find_decision(std::string_view key) {
  for (const DecisionRow &row : kRows)
    if (row.key == key)
      return &row;
  return nullptr;
}

bool is_legal(const DecisionRow &row, int64_t value) {
  if (value < row.least || value > row.most)
    return false;
  if (row.legal == Legal::power)
    return (value & (value - 1)) == 0;
  return row.legal == Legal::any || value % kLine == 0;
}

std::string legal_values(const DecisionRow &row) {
  const std::string range = std::to_string(row.least) + " to " + std::to_string(row.most);
  if (row.legal == Legal::power)
    return "powers of two from " + range;
  return row.legal == Legal::any ? range : "multiples of " + std::to_string(kLine) + " from " + range;
}

std::string read_decision(std::string_view text, std::vector<Pin> &pins) {
  if (text == "least") {
    pin_least(pins);
    return "";
  }
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return "write KEY=VALUE, KEY@NAME=VALUE or least";
  const std::string_view left = text.substr(0, equals), key = left.substr(0, left.find('@'));
  const DecisionRow *row = find_decision(key);
  if (row == nullptr)
    return "`" + std::string(key) + "` is no decision: `kgen reference decisions` lists them";
  const std::optional<int64_t> value = whole_number(text.substr(equals + 1));
  if (!value || !is_legal(*row, *value))
    return "`" + std::string(row->key) + "` takes " + legal_values(*row);
  const std::string_view name = key.size() < left.size() ? left.substr(key.size() + 1) : "";
  pins.push_back({row->decision, std::nullopt, std::string(name), *value, false, {}});
  return "";
}

} // namespace kgen
