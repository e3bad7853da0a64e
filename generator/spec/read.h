// How a document becomes a Spec: one Reader goes through the sections, each in a file of its own, then names are given
// their meaning and what concerns several sections is checked. Only this folder includes it.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/document.h"
#include "spec/keys.h"
#include "spec/spec.h"

namespace kgen {

enum class NameKind { type_param, param, axis, operand, scalar, table, grid, batch };

struct Name {
  NameKind kind;
  std::string what; // "an input", as messages say it
  Place place;
  bool misused = false; // as an axis: said once
};

struct Reader {
  Spec spec;
  Diagnostics &diags;
  const LoadOptions &options;
  size_t errors_before;              // of other files
  Place file;                        // the file as a whole, for what has no line: command line, missing keys
  std::map<std::string, Name> names; // the one namespace
  // What was said already, so that one mistake is one message: a body below a table header is not missing as well, and
  // names cannot be called unknown when brackets that may hold them were not understood.
  std::set<std::string> misplaced = {}; // keys of the root that stand below a header
  bool axes_incomplete = false;
  bool outputs_incomplete = false;
  std::set<std::string> broken =
      {}; // declarations with a mistake of their own: what they say to others is not compared
  std::set<std::string> unusable = {}; // names that cannot stand, or whose meaning is not known
};

// --- read_values.cpp: single values ---
// Each says what is wrong and returns nullopt. `what` names the value in messages: "`block`".
std::optional<bool> read_boolean(Reader &reader, const Node &node, const std::string &what);
std::optional<std::string> read_string(Reader &reader, const Node &node, const std::string &what);
Place content_place(const Node &node); // of the text between the quotes; of other values the whole
std::optional<Size> read_size(Reader &reader, const Node &node, const std::string &what);
// One number or a list of them; an empty list is an error.
std::vector<Size> read_sizes(Reader &reader, const Node &node, const std::string &what);
// A number known when the code is generated: literal, or an expression over parameters that have one value.
std::optional<int64_t> read_constant(Reader &reader, const Node &node, const std::string &what); // read_axes.cpp
std::optional<TypeName> read_type(Reader &reader, const PlacedText &text);
std::string type_help(const Reader &reader, const std::string &name); // what was meant instead of `name`
void wrong_kind(Reader &reader, const Node &node, const std::string &what, const std::string &wanted);
void unknown_key(Reader &reader, const Entry &entry, const std::vector<std::string> &known, const std::string &where);
void check_choices(Reader &reader, const Node &list); // no more than there may be
bool expect_table(Reader &reader, const Entry &entry, const std::string &wanted);

// The keys that a table may have, what reads each, and what to say of it.
template <class T> struct Key {
  std::string_view name;
  void (*read)(Reader &reader, const Entry &entry, T &target);
  Form form;
  std::string_view help;
  std::string_view choices = "";
};
template <class T> void list_keys(std::string_view section, std::span<const Key<T>> keys, std::vector<KeyInfo> &out) {
  for (const Key<T> &key : keys)
    out.push_back({section, key.name, key.form, key.help, key.choices});
}
template <class T>
void read_keys(Reader &reader, const Node &table, std::span<const Key<T>> keys, T &target, const std::string &where) {
  for (const Entry &entry : table.entries) {
    bool found = false;
    for (const Key<T> &key : keys)
      if (key.name == entry.key) {
        key.read(reader, entry, target);
        found = true;
      }
    if (found)
      continue;
    std::vector<std::string> known;
    for (const Key<T> &key : keys)
      known.emplace_back(key.name);
    unknown_key(reader, entry, known, where);
  }
}

// --- sections ---
void read_text(Reader &reader, const Node &root);       // read_text.cpp: kernel, doc, license, body, functions
void read_types(Reader &reader, const Node &section);   // read_params.cpp
void read_params(Reader &reader, const Node &section);  // read_params.cpp
void read_scalars(Reader &reader, const Node &section); // read_params.cpp
void apply_defines(Reader &reader);                     // read_params.cpp: -D
void read_axes(Reader &reader, const Node &section);    // read_axes.cpp
void read_batch(Reader &reader, const Node &section);   // read_axes.cpp
void add_batch_options(Reader &reader);                 // read_axes.cpp: --batch
void add_decision_options(Reader &reader);              // read_schedule.cpp: --decide
void read_operands(Reader &reader, const Node &section, Role role); // read_operands.cpp
void read_tables(Reader &reader, const Node &section);              // read_tables.cpp
void read_grid(Reader &reader, const Node &section);                // read_grid.cpp
void read_schedule(Reader &reader, const Node &section);            // read_schedule.cpp

// The keys of one entry of a section.
void list_axis_keys(std::vector<KeyInfo> &out);                              // read_axes.cpp
void list_operand_keys(std::string_view section, std::vector<KeyInfo> &out); // read_operands.cpp
void list_table_keys(std::vector<KeyInfo> &out);                             // read_tables.cpp
void list_grid_keys(std::vector<KeyInfo> &out);                              // read_grid.cpp
void list_schedule_keys(std::vector<KeyInfo> &out);                          // read_schedule.cpp: its targets

// read_brackets.cpp: "T[B, (G C), K=4]" and "i32[B + 1]". Nullopt after an error.
std::optional<std::pair<TypeName, std::vector<DimDecl>>> read_operand_type(Reader &reader, const PlacedText &text);
std::optional<std::pair<TypeName, std::vector<Size>>> read_table_type(Reader &reader, const PlacedText &text);

// --- names.cpp ---
bool is_keyword(std::string_view word);
void add_first_label(Diagnostic &diagnostic, const Name &name); // where it was declared
// Marks a declaration as broken where anything was wrong with it since the guard was made.
class BrokenGuard {
public:
  BrokenGuard(Reader &reader, const std::string &name)
      : reader_(reader), name_(name), before_(reader.diags.error_count()) {}
  BrokenGuard(const BrokenGuard &) = delete;
  BrokenGuard &operator=(const BrokenGuard &) = delete;
  ~BrokenGuard() {
    if (reader_.diags.error_count() != before_)
      reader_.broken.insert(name_);
  }

private:
  Reader &reader_;
  const std::string &name_;
  size_t before_;
};

// Checks the form of a name and enters it. False, with a message, if it cannot stand; what it names is best read
// nevertheless, so that its mistakes are found and its axes are known.
bool declare(Reader &reader, const std::string &name, const Place &place, NameKind kind, const std::string &what);
void find_axes(Reader &reader); // fills Spec::axis_order
std::vector<std::string> names_of(const Reader &reader, std::initializer_list<NameKind> kinds);

// --- sketch.cpp ---
struct Sketch;
Sketch make_sketch(const Reader &reader, const Node &root);

// --- resolve.cpp: expressions ---
void resolve_expressions(Reader &reader);

// --- validate.cpp: what concerns several sections ---
void validate(Reader &reader);

} // namespace kgen
