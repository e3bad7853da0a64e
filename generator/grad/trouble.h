// The first thing that stops a gradient: what cannot be differentiated, where it stands, and what to write instead.
#pragma once

#include <optional>
#include <string>

#include "support/diagnostics.h"

namespace kgen::grad {

constexpr const char *kCarriedHelp =
    "let steps add to it, take the greatest value, or multiply it and add; or write the "
    "kernel over whole axes, with folds and scans";

constexpr const char *kMixedHelp =
    "let each element depend on what itself held: keep a sum of them in a scratch value of "
    "its own, to which steps add; or write the backward spec by hand, and name it: "
    "backward = \"FILE\"";

struct Trouble {
  std::optional<Diagnostic> first;

  void refuse(const std::string &what, const Place &place, const std::string &help) {
    if (first)
      return;
    Diagnostics one;
    one.add(DiagId::grad_refused, place, {what}).help = help;
    first = one.sorted().front();
  }
  void refuse_read(const Place &place) {
    refuse("a read at these places", place, "read the array at an index plus a number, or by a table");
  }
  void refuse_grid(const std::string &step, const Place &place, const std::string &help) {
    if (first)
      return;
    Diagnostics one;
    one.add(DiagId::grad_grid, place, {step}).help = help;
    first = one.sorted().front();
  }
  explicit operator bool() const { return first.has_value(); }
};

} // namespace kgen::grad
