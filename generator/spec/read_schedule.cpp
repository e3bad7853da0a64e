// schedule: what a spec pins of its plans; and --decide, which pins more.
#include <algorithm>

#include "spec/read.h"
#include "support/text.h"

namespace kgen {

namespace {

constexpr std::pair<std::string_view, TargetKind> kTargets[] = {{"openmp", TargetKind::openmp},
                                                                {"cuda", TargetKind::cuda}};

TargetKind target_of(std::string_view family) {
  return std::find_if(std::begin(kTargets), std::end(kTargets), [&](const auto &row) { return row.first == family; })
      ->second;
}

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

// A number of the plan that users may pin.
const DecisionRow *find_number(std::string_view key, std::string_view family) {
  const DecisionRow *row = find_decision(key);
  if (row == nullptr || !row->is_for_users)
    return nullptr;
  return is_for(row->targets, target_of(family)) ? row : nullptr;
}

void read_number(Reader &reader, const Entry &entry, const DecisionRow &row, TargetKind target) {
  if (entry.value.kind != Node::Kind::integer)
    return wrong_kind(reader, entry.value, ticked(entry.key), "a whole number");
  const int64_t value = entry.value.integer;
  if (!is_legal(row, value))
    reader.diags.add(DiagId::spec_decision_value, entry.value.place, {std::to_string(value), entry.key}).help =
        "legal are " + legal_values(row);
  else
    reader.spec.pins.push_back({row.decision, target, "", value, true, entry.value.place});
}

// `family` has the keys; `target` may be one machine of it, as in cuda.sm_90.
void read_choices(Reader &reader, const Node &table, const std::string &family, const std::string &target) {
  std::vector<std::string> known;
  for (const ScheduleKey &key : kScheduleKeys)
    if (key.target == family)
      known.emplace_back(key.name);
  if (family == "cuda" && target == family)
    known.emplace_back("sm_90");
  for (const DecisionRow &row : decision_rows())
    if (target == family && find_number(row.key, family) != nullptr)
      known.emplace_back(row.key);
  for (const Entry &entry : table.entries) {
    const DecisionRow *number = target == family ? find_number(entry.key, family) : nullptr;
    const auto key = std::find_if(std::begin(kScheduleKeys), std::end(kScheduleKeys),
                                  [&](const ScheduleKey &k) { return k.target == family && k.name == entry.key; });
    const bool machine = family == "cuda" && target == family && is_machine(entry.key);
    if (number != nullptr)
      read_number(reader, entry, *number, target_of(family));
    else if (machine && expect_table(reader, entry, "a table of choices"))
      read_choices(reader, entry.value, family, target + "." + entry.key);
    else if (!machine && key == std::end(kScheduleKeys))
      unknown_key(reader, entry, known, "schedule." + target);
    else if (!machine)
      read_choice(reader, entry, *key, target);
  }
}

} // namespace

void read_schedule(Reader &reader, const Node &section) {
  std::vector<std::string> targets;
  for (const auto &[name, kind] : kTargets)
    targets.emplace_back(name);
  for (const Entry &entry : section.entries) {
    if (std::find(targets.begin(), targets.end(), entry.key) == targets.end())
      unknown_key(reader, entry, targets, "schedule");
    else if (expect_table(reader, entry, "a table of choices"))
      read_choices(reader, entry.value, entry.key, entry.key);
  }
}

void list_schedule_keys(std::vector<KeyInfo> &out) {
  for (const auto &[target, kind] : kTargets) {
    out.push_back({"schedule", target, Form::table, "pinned choices of the plan", ""});
    for (const ScheduleKey &key : kScheduleKeys)
      if (key.target == target)
        out.push_back({target, key.name, key.form, key.help, key.choices});
    for (const DecisionRow &row : decision_rows())
      if (find_number(row.key, target) != nullptr)
        out.push_back({target, row.key, Form::integer, row.about, ""});
  }
}

void add_decision_options(Reader &reader) {
  for (const Pin &pin : reader.options.decisions) {
    const std::vector<std::string> &axes = reader.spec.axis_order;
    const bool is_operand = std::any_of(reader.spec.operands.begin(), reader.spec.operands.end(),
                                        [&](const OperandDecl &operand) { return operand.name == pin.name; });
    if (pin.name.empty() || is_operand || std::find(axes.begin(), axes.end(), pin.name) != axes.end())
      reader.spec.pins.push_back(pin);
    else if (!reader.options.for_those_that_declare)
      reader.diags.add(DiagId::spec_decision_name, Place{std::string(kCommandLine), 0, 0, 0},
                       {std::string(row_of(pin.decision).key), pin.name});
  }
}

} // namespace kgen
