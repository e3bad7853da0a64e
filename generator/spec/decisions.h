// The numbers of plans as a table, decisions.def: what they are about, what is legal, and the rule that gives each
// where nobody pins it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spec/targets.h"
#include "support/diagnostics.h"

namespace kgen {

// A row of machines.def.
struct Machine {
  TargetKind target;
  int64_t line_bytes, first_cache, own_caches, access_bytes, shared_bytes, warp;
};

const Machine &machine_of(TargetKind target);

enum class Decision {
#define KGEN_DECISION(key, ...) key,
#include "spec/decisions.def"
#undef KGEN_DECISION
};

enum class Legal { any, power, lines };

// A row of decisions.def.
struct DecisionRow {
  Decision decision;
  std::string_view key;
  Targets targets;
  int64_t least;
  int64_t (*rule)(const Machine &machine);
  int64_t most;
  Legal legal;
  bool is_for_users; // may be pinned in a spec
  std::string_view about;
};

std::span<const DecisionRow> decision_rows();
const DecisionRow &row_of(Decision decision);
const DecisionRow *find_decision(std::string_view key);
bool is_legal(const DecisionRow &row, int64_t value);
std::string legal_values(const DecisionRow &row); // in words

// A number that is not left to the rule: in a spec's schedule, or by --decide.
struct Pin {
  Decision decision;
  std::optional<TargetKind> target; // else both
  std::string name;                 // of the axis or operand that it is about; empty: all
  int64_t value = 0;
  bool in_spec = false;
  Place place;
};

// `least`, KEY=VALUE or KEY@NAME=VALUE, as behind --decide. What is wrong, in words; empty: nothing.
std::string read_decision(std::string_view text, std::vector<Pin> &pins);

} // namespace kgen
