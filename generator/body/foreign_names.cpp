#include "body/foreign_names.h"

#include <algorithm>
#include <utility>

namespace kgen::body {
namespace {

constexpr std::string_view kPosition =
    "the position along an axis is `index(N)`: a body computes one element of the output";
constexpr std::string_view kSize = "a size is `size(N)`";
constexpr std::string_view kChoice = "a choice is `x > 0 ? x : 0`";
constexpr std::string_view kPairs = "a product of matrices is `dot(x, y, K)`, or `sum(x * y, K)`";
constexpr std::string_view kRandom = "it is `random(seed, index(N))`: the same number for the same two arguments";
constexpr std::string_view kConvert = "`float(x)` converts a value";
constexpr std::string_view kElsewhere =
    "the value elsewhere is `at(x, N = i)`; adding elsewhere is `at(y, N = i) += x`";
constexpr std::string_view kSorted = "there is no sorting; `argmax(x, N)` finds the greatest";
constexpr std::string_view kAxes = "axes go by their names: an output of other brackets has them in another order, "
                                   "`[(A B)]` two as one, and what lacks "
                                   "an axis is the same along it";

constexpr std::string_view kStep =
    "a step of grid.i is `i`, its first and last are `first(i)` and `last(i)`; most kernels "
    "need no grid: see docs/coming_from.md";
constexpr std::string_view kPallas = "docs/coming_from.md says what the words of Pallas are here";
constexpr std::string_view kTriton = "docs/coming_from.md says what the words of Triton are here";

constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
    {"arange", kPosition},
    {"arccos", "it is `acos(x)`"},
    {"arcsin", "it is `asin(x)`"},
    {"arctan", "it is `atan(x)`"},
    {"astype", kConvert},
    {"average", "it is `mean(x, N)`"},
    {"blockDim", kPosition},
    {"blockIdx", kPosition},
    {"cast", kConvert},
    {"clip", "it is `clamp(x, low, high)`"},
    {"count_nonzero", "it is `sum(x != 0 ? 1 : 0, N)`"},
    {"cumproduct", "it is `cumprod(x, N)`"},
    {"deg2rad", "it is `x * (pi / 180)`, with a number for pi"},
    {"diff", "it is `x - at(x, N = index(N) - 1)`"},
    {"einsum", kPairs},
    {"erfc", "it is `1 - erf(x)`"},
    {"exp10", "it is `pow(10, x)`"},
    {"fmaxf", "it is `max(a, b)`"},
    {"fminf", "it is `min(a, b)`"},
    {"fmax", "it is `max(a, b)`"},
    {"fmin", "it is `min(a, b)`"},
    {"fmod", "it is `a - b * trunc(a / b)`; of whole numbers `a % b`"},
    {"full", "a constant is written as it is: `y = 1;`"},
    {"heaviside", kChoice},
    {"iota", kPosition},
    {"len", kSize},
    {"matmul", kPairs},
    {"maximum", "it is `max(a, b)`"},
    {"minimum", "it is `min(a, b)`"},
    {"mod", "of whole numbers it is `a % b`; else `a - b * floor(a / b)`"},
    {"nan_to_num", "it is `isnan(x) ? 0 : x`"},
    {"nanmax", "it is `max(x, N, where(!isnan(x)))`"},
    {"nanmean", "it is `mean(x, N, where(!isnan(x)))`"},
    {"nanmin", "it is `min(x, N, where(!isnan(x)))`"},
    {"nansum", "it is `sum(x, N, where(!isnan(x)))`"},
    {"numel", kSize},
    {"ones", "a constant is written as it is: `y = 1;`"},
    {"pi", "it is 3.14159265358979"},
    {"M_PI", "it is 3.14159265358979"},
    {"power", "it is `pow(x, y)`"},
    {"program_id", kStep},
    {"num_programs", kStep},
    {"pl", kPallas},
    {"pltpu", kPallas},
    {"tl", kTriton},
    {"tid", kPosition},
    {"prefix_sum", "it is `cumsum(x, N)`"},
    {"product", "it is `prod(x, N)`"},
    {"rand", kRandom},
    {"randn", kRandom},
    {"uniform", kRandom},
    {"reciprocal", "it is `1 / x`"},
    {"remainder", "of whole numbers it is `a % b`; else `a - b * floor(a / b)`"},
    {"rint", "it is `round(x)`"},
    {"scan", "scans are `cumsum cumprod cummax linrec` and the like"},
    {"select", kChoice},
    {"shape", kSize},
    {"signbit", "it is `x < 0`"},
    {"sort", kSorted},
    {"std", "it is `sqrt(variance(x, N))`"},
    {"step", kChoice},
    {"swish", "it is `silu(x)`"},
    {"threadIdx", kPosition},
    {"topk", kSorted},
    {"true_divide", "it is `a / b`"},
    {"var", "it is `variance(x, N)`"},
    {"where", "a choice is `x > 0 ? x : 0`; `where(condition)` is what ends the arguments of a reduction"},
    {"zeros", "a constant is written as it is: `y = 0;`"},
    {"cummin", "it is `-cummax(-x, N)`"},
    {"gather", kElsewhere},
    {"take", kElsewhere},
    {"index_select", kElsewhere},
    {"scatter", kElsewhere},
    {"scatter_add", kElsewhere},
    {"index_add", kElsewhere},
    {"bincount", "counts are `at(y, Bins = b) += 1`, after `y = 0`"},
    {"histogram", "counts are `at(y, Bins = b) += 1`, after `y = 0`"},
    {"one_hot", "it is `index(N) == i ? 1 : 0`"},
    {"median", kSorted},
    {"argsort", kSorted},
    {"flip", "it is `at(x, N = size(N) - 1 - N)`"},
    {"roll", "it is `at(x, N = (index(N) - k + size(N)) % size(N))`"},
    {"transpose", kAxes},
    {"permute", kAxes},
    {"reshape", kAxes},
    {"flatten", kAxes},
    {"squeeze", kAxes},
    {"unsqueeze", kAxes},
    {"broadcast_to", kAxes},
    {"expand", kAxes},
    {"frac", "it is `x - trunc(x)`"},
};

} // namespace

std::string_view instead_of(std::string_view foreign_name) {
  const auto *const row =
      std::ranges::find(kForeign, foreign_name, &std::pair<std::string_view, std::string_view>::first);
  return row == std::end(kForeign) ? std::string_view() : row->second;
}

} // namespace kgen::body
