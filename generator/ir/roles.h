// Names for what is computed on the way, by the role that it has: `sum_x`, `greatest_s`, `count`, `running_sum_x`.
// Wishes, as `free_name` takes them; the axis comes second.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"

namespace kgen {

std::string fold_word(Monoid monoid); // sum, greatest
std::vector<std::string> fold_names(const Kernel &kernel, const Expr &fold);
// Of an argmax: the best value found so far, whose place the fold is.
std::vector<std::string> best_names(const Kernel &kernel, const Expr &fold);
std::vector<std::string> scan_names(const Kernel &kernel, const Expr &scan);
// What a scan has come to before the element at hand.
std::vector<std::string> carry_names(const Kernel &kernel, const Expr &scan);
// Of any value, by what it is made of: `exp_x`, `d_squared`; empty if that would be long or says nothing.
std::string description(const Kernel &kernel, ExprId id);

} // namespace kgen
