// What code is written for.
#pragma once

namespace kgen {

enum class TargetKind { openmp, cuda };
enum class Targets { both, openmp, cuda };

constexpr bool is_for(Targets targets, TargetKind target) {
  return targets == Targets::both || (targets == Targets::openmp) == (target == TargetKind::openmp);
}

} // namespace kgen
