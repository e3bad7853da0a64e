// grid and schedule.
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
  for (const Size &block : grid.blocks)
    if (block.is_integer() && block.value < 1)
      reader.diags.add(DiagId::spec_number_below_one, block.place, {"a block"});
}
void read_size_key(Reader &reader, const Entry &entry, GridDecl &grid) {
  grid.size = read_size(reader, entry.value, "`size`");
  if (grid.size && grid.size->is_integer() && grid.size->value < 0)
    reader.diags.add(DiagId::spec_negative_size, grid.size->place, {std::to_string(grid.size->value)});
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

constexpr Key<GridDecl> kGridKeys[] = {{"axis", read_axis},
                                       {"block", read_block},
                                       {"size", read_size_key},
                                       {"at_most", read_at_most},
                                       {"semantics", read_semantics}};

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

namespace {

void read_schedule_table(Reader &reader, const Node &table, const std::string &target, bool has_machines) {
  for (const Entry &entry : table.entries) {
    const Node &node = entry.value;
    if (entry.key == "body") {
      unknown_key(reader, entry, {}, "schedule." + target);
      continue;
    }
    ScheduleEntry out{target, entry.key, int64_t{0}, node.place};
    switch (node.kind) {
    case Node::Kind::integer:
      out.value = node.integer;
      break;
    case Node::Kind::number:
      out.value = node.number;
      break;
    case Node::Kind::boolean:
      out.value = int64_t{node.boolean};
      break;
    case Node::Kind::string:
      out.value = node.text.text;
      break;
    case Node::Kind::table:
      if (has_machines && entry.key.starts_with("sm_"))
        read_schedule_table(reader, node, target + "." + entry.key, false);
      else
        reader.diags.add(DiagId::unknown_key, entry.place, {entry.key, " in `schedule." + target + "`"}).help =
            has_machines ? "machines are written as in schedule.cuda.sm_90" : "";
      continue;
    default:
      wrong_kind(reader, node, ticked(entry.key), "a number, a string, true or false");
      continue;
    }
    reader.spec.schedule.push_back(std::move(out));
  }
}

} // namespace

void read_schedule(Reader &reader, const Node &section) {
  for (const Entry &entry : section.entries) {
    if (entry.key != "openmp" && entry.key != "cuda")
      unknown_key(reader, entry, {"openmp", "cuda"}, "schedule");
    else if (expect_table(reader, entry, "a table of choices"))
      read_schedule_table(reader, entry.value, entry.key, entry.key == "cuda");
  }
}

} // namespace kgen
