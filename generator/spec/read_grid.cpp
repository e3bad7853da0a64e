// grid.
#include <algorithm>

#include "spec/read.h"
#include "support/text.h"

namespace kgen {

namespace {

void read_axis(Reader &reader, const Entry &entry, GridDecl &grid) {
  grid.axis = read_string(reader, entry.value, "`axis`").value_or("");
  grid.axis_place = content_place(entry.value);
}
void read_block(Reader &reader, const Entry &entry, GridDecl &grid) {
  grid.blocks = read_sizes(reader, entry.value, "`block`");
  for (auto block = grid.blocks.begin(); block != grid.blocks.end(); ++block)
    if (block->is_integer() && block->value < 1)
      reader.diags.add(DiagId::spec_number_below_one, block->place, {"a block"});
    else if (std::find(grid.blocks.begin(), block, *block) != block)
      reader.diags.add(DiagId::spec_repeated_choice, block->place, {to_string(*block)});
}
void read_size_key(Reader &reader, const Entry &entry, GridDecl &grid) {
  grid.size = read_size(reader, entry.value, "`size`");
}
void read_at_most(Reader &reader, const Entry &entry, GridDecl &grid) {
  grid.at_most = read_size(reader, entry.value, "`at_most`");
}
void read_semantics(Reader &reader, const Entry &entry, GridDecl &grid) {
  grid.semantics_place = entry.value.place;
  const auto word = read_string(reader, entry.value, "`semantics`");
  if (word == "parallel")
    grid.semantics = Semantics::parallel;
  else if (word == "arbitrary" || word == "sequential")
    grid.semantics = Semantics::arbitrary;
  else if (word)
    reader.diags.add(DiagId::spec_unknown_choice, entry.value.place, {*word, "`semantics`"}).help =
        "a dimension is \"parallel\" or \"arbitrary\" (in order); left out, kgen finds it";
}

constexpr Key<GridDecl> kGridKeys[] = {
    {"axis", read_axis, Form::text, "the axis that it blocks"},
    {"block", read_block, Form::sizes, "positions in a step; of a list each is right"},
    {"size", read_size_key, Form::size, "the number of steps"},
    {"at_most", read_at_most, Form::size, "the most steps that there can be"},
    {"semantics", read_semantics, Form::text, "may its steps run in any order", "parallel arbitrary sequential"}};

void check_form(Reader &reader, const Entry &entry) {
  const Node &table = entry.value;
  auto has = [&](std::string_view key) { return table.find(key) != nullptr; };
  auto missing = [&](const std::string &key, const std::string &help) {
    reader.diags.add(DiagId::spec_missing_key, entry.place, {ticked(entry.key), key}).help = help;
  };
  if (has("body"))
    return;
  if (!has("axis") && !has("size"))
    missing("axis", "a dimension goes over an axis in blocks, { axis = \"M\", block = 128 }, or has a number of steps, "
                    "{ size = \"n\" }");
  else if (has("axis") && has("size"))
    reader.diags.add(DiagId::spec_axis_and_size, entry.place).help = "the number of steps follows from axis and block";
  else if (has("axis") && !has("block"))
    missing("block", "say how many elements of the axis a step takes: block = 128");
  else if (has("size") && has("block"))
    reader.diags.add(DiagId::spec_block_and_size, entry.place).help =
        "write { axis = ..., block = ... }, or give the operands their own `block` and `index`";
  else if (has("axis") && has("at_most"))
    reader.diags.add(DiagId::spec_at_most_axis, entry.place);
}

} // namespace

void read_grid(Reader &reader, const Node &section) {
  for (const Entry &entry : section.entries) {
    const BrokenGuard guard(reader, entry.key);
    declare(reader, entry.key, entry.place, NameKind::grid, "a grid dimension");
    GridDecl grid;
    grid.name = entry.key;
    grid.place = entry.place;
    if (expect_table(reader, entry, "a table such as { axis = \"M\", block = 128 }")) {
      read_keys<GridDecl>(reader, entry.value, kGridKeys, grid, "grid." + entry.key);
      check_form(reader, entry);
    }
    reader.spec.grid.push_back(std::move(grid));
  }
}

void list_grid_keys(std::vector<KeyInfo> &out) { list_keys<GridDecl>("grid", kGridKeys, out); }

} // namespace kgen
