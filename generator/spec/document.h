// A TOML document as a tree of values with places, keys in the order of the file. TOML is read here and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/placed_text.h"
#include "support/diagnostics.h"

namespace kgen {

struct Entry;

struct Node {
  enum class Kind { string, integer, number, boolean, list, table, date };
  Kind kind = Kind::table;
  Place place;
  PlacedText text;      // of a string
  bool literal = false; // a string in single quotes: no escapes
  int64_t integer = 0;
  double number = 0;
  bool boolean = false;
  std::vector<Node> items;    // of a list
  std::vector<Entry> entries; // of a table

  const Node *find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Place place; // of the key
  Node value;
};

// "a string", "a list", ...
std::string_view kind_name(const Node &node);

// nullopt after an error. Guards the parser from what it would not survive: huge texts, deep nesting, bytes that are no
// text.
std::optional<Node> read_document(const std::string &file, std::string_view text, Diagnostics &diags);

// The offset after the string that begins at `i`, of any of TOML's four kinds.
size_t skip_string(std::string_view text, size_t i);

} // namespace kgen
