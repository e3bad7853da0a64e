// grid and schedule.
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

constexpr std::string_view kTargets[] = {"openmp", "cuda"};

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

namespace {

// The choices that can be pinned. What is not used yet is said to be, so that nobody counts on it.
struct ScheduleKey {
  std::string_view target, name;
  Form form;
  std::string_view help;
  bool used;
  std::string_view choices = "";
};
constexpr ScheduleKey kScheduleKeys[] = {
    {"openmp", "lanes", Form::flag, "loops on vectors", true},
    {"cuda", "precision", Form::text, "of products of f32", false, "tf32 tf32x3"},
};

bool is_machine(const std::string &key) {
  return key.size() > 3 && key.starts_with("sm_") && key.find_first_not_of("0123456789", 3) == std::string::npos;
}

void read_choice(Reader &reader, const Entry &entry, const ScheduleKey &key, const std::string &target) {
  const Node &node = entry.value;
  const bool is_flag = key.form == Form::flag;
  std::string wanted = "true or false";
  const std::vector<std::string> choices = split(key.choices, ' ');
  if (!is_flag)
    wanted = "\"" + join(choices, "\" or \"") + "\"";
  if (node.kind != (is_flag ? Node::Kind::boolean : Node::Kind::string))
    return wrong_kind(reader, node, ticked(entry.key), wanted);
  if (!is_flag && std::find(choices.begin(), choices.end(), node.text.text) == choices.end()) {
    reader.diags.add(DiagId::spec_unknown_choice, node.place, {node.text.text, ticked(entry.key)}).help =
        "write " + wanted;
    return;
  }
  if (!key.used)
    reader.diags.add(DiagId::spec_schedule_unused, entry.place, {"schedule." + target + "." + entry.key});
  ScheduleEntry out{target, entry.key, int64_t{node.boolean}, node.place};
  if (!is_flag)
    out.value = node.text.text;
  reader.spec.schedule.push_back(std::move(out));
}

// `family` has the keys; `target` may be one machine of it, as in cuda.sm_90.
void read_choices(Reader &reader, const Node &table, const std::string &family, const std::string &target) {
  std::vector<std::string> known;
  for (const ScheduleKey &key : kScheduleKeys)
    if (key.target == family)
      known.emplace_back(key.name);
  if (family == "cuda" && target == family)
    known.emplace_back("sm_90");
  for (const Entry &entry : table.entries) {
    const auto key = std::find_if(std::begin(kScheduleKeys), std::end(kScheduleKeys),
                                  [&](const ScheduleKey &k) { return k.target == family && k.name == entry.key; });
    const bool machine = family == "cuda" && target == family && is_machine(entry.key);
    if (machine && expect_table(reader, entry, "a table of choices"))
      read_choices(reader, entry.value, family, target + "." + entry.key);
    else if (!machine && key == std::end(kScheduleKeys))
      unknown_key(reader, entry, known, "schedule." + target);
    else if (!machine)
      read_choice(reader, entry, *key, target);
  }
}

} // namespace

void read_schedule(Reader &reader, const Node &section) {
  const std::vector<std::string> targets(std::begin(kTargets), std::end(kTargets));
  for (const Entry &entry : section.entries) {
    if (std::find(targets.begin(), targets.end(), entry.key) == targets.end())
      unknown_key(reader, entry, targets, "schedule");
    else if (expect_table(reader, entry, "a table of choices"))
      read_choices(reader, entry.value, entry.key, entry.key);
  }
}

void list_schedule_keys(std::vector<KeyInfo> &out) {
  for (const std::string_view target : kTargets) {
    out.push_back({"schedule", target, Form::table, "pinned choices of the plan", ""});
    for (const ScheduleKey &key : kScheduleKeys)
      if (key.target == target)
        out.push_back({target, key.name, key.form, key.help, key.choices});
  }
}

void list_grid_keys(std::vector<KeyInfo> &out) { list_keys<GridDecl>("grid", kGridKeys, out); }

} // namespace kgen
