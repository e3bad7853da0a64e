// What stands at one place of the texts of functions that differ in element types, as an expression of these types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include "emit/text/aligned_text.h"

namespace kgen {

// Each asks whether the words of the functions at one place, one per function, are of one kind, and gives the
// template's.
class Places {
public:
  Places(const std::vector<TypeParameter> &parameters, const std::vector<StemNames> &stems)
      : parameters_(parameters), stems_(stems) {}

  using Words = std::vector<std::string>; // one per function

  std::optional<std::string> name(const Words &words) const;       // softmax_f32_kernel: softmax_kernel
  std::optional<std::string> type(const Words &words) const;       // float: Value<T>
  std::optional<std::string> lanes(const Words &words) const;      // kLanes32: kLanesOf<T>
  std::optional<std::string> conversion(const Words &words) const; // from_bf16: to_value<T>
  std::optional<std::string> function(const Words &words) const;   // expf: exp
  std::optional<std::string> literal(const Words &words) const;    // 0.5f: Value<T>(0.5)

  // A number of elements, or of bytes, that goes with the size of one.
  struct Quantity {
    std::string text;
    bool compound;
  };
  std::optional<Quantity> quantity(const Words &words) const;

  // A call that some of the functions have around what stands here in all: which have it, and the template's.
  struct Wrapper {
    std::string text;
    std::vector<bool> has;
  };
  std::optional<Wrapper> wrapper(const Words &words, const std::vector<bool> &calls) const;

private:
  // A zero of halves is one of bits.
  std::optional<std::string> zero(const Words &words) const;

  using Numbers = std::vector<int64_t>; // one per function
  static constexpr int64_t kLargest = int64_t{1} << 30;

  static int64_t bytes(const TypeParameter &p, size_t i, bool of_values);
  static std::string unit(const TypeParameter &p, bool of_values);

  // 4 * kBytes<T>
  static std::optional<Quantity> multiple(const Numbers &numbers, const TypeParameter &p);

  // 16 / kBytes<T>, also less 1: what rounding up adds.
  static std::optional<Quantity> part(const Numbers &numbers, const TypeParameter &p);

  // kBytes<T> + 8 and kBytes<T> + kBytes<Value<T>>: the bytes of several elements.
  static std::optional<Quantity> sum(const Numbers &numbers, const TypeParameter &p);
  static constexpr int64_t kMostOtherBytes = 64;

  // 4194304 / (kBytes<T> + kBytes<Value<T>>): so many elements have their place.
  static std::optional<Quantity> part_of_sum(const Numbers &numbers, const TypeParameter &p);

  template <class T, class Holds> static bool all(const std::vector<T> &here, Holds holds) {
    return std::ranges::all_of(std::views::iota(size_t{0}, here.size()), holds);
  }

  static std::string conversion_name(const TypeParameter &p, const std::string &way);

  template <class Name>
  static std::optional<Wrapper> wrapper_where(const Words &words, const std::vector<bool> &calls,
                                              const std::string &text, Name name) {
    Wrapper out{text, {}};
    for (size_t i = 0; i < words.size(); ++i)
      out.has.push_back(calls[i] && words[i] == name(i));
    const bool some = std::ranges::count(out.has, true) > 0 && std::ranges::count(out.has, false) > 0;
    return some ? std::optional(out) : std::nullopt;
  }

  static std::string without_zero(const std::string &digits);

  const std::vector<TypeParameter> &parameters_;
  const std::vector<StemNames> &stems_;
};

} // namespace kgen
