// How names are made up, everywhere: by the role that a value has. Whoever needs one gives wishes, from the shortest to
// the one that says most, and the first that nobody has is taken. A number would tell readers nothing, so none is used.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace kgen {

// `x_` and `end` are `x_end`: two underscores together are the compiler's. Either may be empty.
std::string name_of_parts(const std::string &first, const std::string &second);

std::string lower_case(std::string text); // of a name, with an underscore for what cannot stand in one

// The last resort, where no wish is left: `sum_x`, `sum_x_two`, `sum_x_three`, ...
std::string in_words(const std::string &name, int n);
std::string without_number(const std::string &name); // the name that it has the number of

template <class IsTaken>
std::optional<std::string> first_free(const std::vector<std::string> &wishes, const IsTaken &is_taken) {
  const auto found =
      std::find_if(wishes.begin(), wishes.end(), [&](const std::string &wish) { return !is_taken(wish); });
  return found == wishes.end() ? std::nullopt : std::optional<std::string>(*found);
}

template <class IsTaken> std::string free_name(const std::vector<std::string> &wishes, const IsTaken &is_taken) {
  if (const std::optional<std::string> free = first_free(wishes, is_taken))
    return *free;
  int n = 2;
  while (is_taken(in_words(wishes.back(), n)))
    ++n;
  return in_words(wishes.back(), n);
}

} // namespace kgen
