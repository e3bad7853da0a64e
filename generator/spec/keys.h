// The keys that a spec may have, as the loader's own tables say: for the JSON schema.
#pragma once

#include <string_view>
#include <vector>

namespace kgen {

// What a value looks like.
enum class Form {
  text,
  name,   // of C
  flag,   // true or false
  number, // also inf and nan
  integer,
  size,  // a whole number, or an expression over sizes in quotes
  sizes, // one, or a list of them
  list,  // of sizes
  names, // a list of names
  types, // a list of element types, or of rows of them
  any,   // a number, a name, or a list
  table,
};

struct KeyInfo {
  std::string_view section; // "" for the keys of the root; "inputs" for those of `inputs.x = { ... }`; of "schedule"
                            // its own; "cuda" for those of schedule.cuda
  std::string_view key;     // "*": a name of the user's own
  Form form;
  std::string_view help;
  std::string_view choices; // the values that it may have, with blanks between; none: any
};

// In the order of the tables.
std::vector<KeyInfo> spec_keys();

} // namespace kgen
