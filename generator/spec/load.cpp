// TOML text to Spec, in one straight line. Each step goes on after errors as far as it can, so that one run says all.
#include <algorithm>
#include <filesystem>

#include "spec/read.h"
#include "spec/sketch.h"
#include "support/text.h"

namespace kgen {

namespace {

struct Section {
  std::string_view name;
  void (*read)(Reader &reader, const Node &section);
  Form form; // of an entry that is no table; `table`: it must be one
  std::string_view help;
  void (*list)(std::vector<KeyInfo> &out) = nullptr; // the keys of an entry that is a table
};
constexpr std::string_view kArray = "element type and axes: \"f32[M, N]\"";
// In the order in which they are read: what others refer to comes first.
constexpr Section kSections[] = {
    {"types", read_types, Form::types,
     "a type parameter: one set of functions for each choice; `only` lists the rows that go together"},
    // then -D, so that numbers made of parameters see it
    {"params", read_params, Form::any,
     "a constant or the name of a function; a list makes one set of functions for each choice"},
    {"axes", read_axes, Form::sizes, "a size, a list of sizes, or a derived size", list_axis_keys},
    {"inputs", [](Reader &reader, const Node &section) { read_operands(reader, section, Role::input); }, Form::text,
     kArray, [](std::vector<KeyInfo> &out) { list_operand_keys("inputs", out); }},
    {"outputs", [](Reader &reader, const Node &section) { read_operands(reader, section, Role::output); }, Form::text,
     kArray, [](std::vector<KeyInfo> &out) { list_operand_keys("outputs", out); }},
    {"scratch", [](Reader &reader, const Node &section) { read_operands(reader, section, Role::scratch); }, Form::text,
     kArray, [](std::vector<KeyInfo> &out) { list_operand_keys("scratch", out); }},
    {"scalars", read_scalars, Form::text, "an argument at run time: its element type"},
    {"tables", read_tables, Form::text, "whole numbers that windows, sizes and the body may use: \"i32[S]\"",
     list_table_keys},
    {"grid", read_grid, Form::table, "", list_grid_keys},
    {"batch", read_batch, Form::names, "a leading parallel dimension of these operands"},
    {"schedule", read_schedule, Form::table, "", list_schedule_keys},
};
struct TextKey {
  std::string_view name;
  Form form;
  std::string_view help;
};
constexpr TextKey kTextKeys[] = {
    {"kernel", Form::name, "the name of the kernel, of its functions and files"},
    {"doc", Form::text, "what it computes; goes into the emitted files"},
    {"license", Form::text, "for the head of emitted files"},
    {"backward_of", Form::name, "the kernel whose gradient this is, as `kgen grad` writes it"},
    {"backward", Form::text, "the file of the spec of its gradients, from this one's folder; else NAME_backward.toml"},
    {"body", Form::text, "the statements for one element, in single quotes"},
    {"functions", Form::text, "functions that the body calls, in single quotes"},
    {"functions_from", Form::text, "the same from a file below the spec's folder or an --include folder"},
};

bool is_text_key(std::string_view name) {
  return std::any_of(std::begin(kTextKeys), std::end(kTextKeys), [&](const TextKey &key) { return key.name == name; });
}

void check_root_keys(Reader &reader, const Node &root) {
  std::vector<std::string> known;
  for (const TextKey &key : kTextKeys)
    known.emplace_back(key.name);
  for (const Section &section : kSections)
    known.emplace_back(section.name);
  for (const Entry &entry : root.entries)
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      unknown_key(reader, entry, known, "");
      reader.outputs_incomplete = reader.axes_incomplete = true; // it may be a section misspelled
    }
}

// Bounds that no kernel comes near, so that garbage is refused early: the parameters of a CUDA kernel have 4 KiB.
void check_count(Reader &reader, size_t count, size_t most, const std::string &what) {
  if (count > most)
    reader.diags.add(DiagId::spec_too_many, reader.file, {std::to_string(most), what});
}

// A key of the root below a table header: a body is no operand named body, nor a doc a type. Where strings mean
// something else, it may be a name all the same.
bool is_misplaced(const Node &root, const Section &section, const Entry &inner) {
  if (inner.key == "body")
    return true;
  const bool text = inner.value.kind == Node::Kind::string &&
                    inner.value.text.text.find_first_of("[\n") == std::string::npos && section.name != "params" &&
                    !find_type(inner.value.text.text);
  return is_text_key(inner.key) && text && root.find(inner.key) == nullptr;
}

void read_sections(Reader &reader, Node &root) {
  for (const Section &section : kSections) {
    for (Entry &entry : root.entries) {
      if (entry.key != section.name)
        continue;
      if (!expect_table(reader, entry, "a table, or dotted keys such as " + entry.key + ".x")) {
        reader.outputs_incomplete = reader.axes_incomplete = true;
        continue;
      }
      std::erase_if(entry.value.entries, [&](const Entry &inner) {
        const bool misplaced = is_misplaced(root, section, inner);
        if (misplaced)
          unknown_key(reader, inner, {}, entry.key);
        return misplaced;
      });
      section.read(reader, entry.value);
    }
    if (section.name == "params")
      apply_defines(reader);
  }
  const Spec &spec = reader.spec;
  check_count(reader, spec.operands.size() + spec.scalars.size() + spec.tables.size(), 256, "arguments");
  check_count(reader, spec.grid.size(), 16, "grid dimensions");
  std::stable_sort(reader.spec.operands.begin(), reader.spec.operands.end(),
                   [](const OperandDecl &a, const OperandDecl &b) {
                     return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
                   });
}

} // namespace

std::optional<Spec> load_spec(const std::string &path, const std::string &text, const LoadOptions &options,
                              Diagnostics &diags, Sketch &sketch) {
  // A byte order mark is no part of the first line.
  const std::string plain = text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
  diags.add_source(path, plain);
  const size_t errors_before = diags.error_count();
  std::optional<Node> root = read_document(path, plain, diags);
  if (!root)
    return std::nullopt;

  Reader reader{{}, diags, options, errors_before, Place{path, 0, 0, 0}, {}};
  reader.spec.path = path;
  reader.spec.file_name = std::filesystem::path(path).filename().string();
  check_root_keys(reader, *root);
  read_sections(reader, *root);
  read_text(reader, *root);
  add_batch_options(reader);
  find_axes(reader);
  add_decision_options(reader);
  resolve_expressions(reader);
  validate(reader);
  if (diags.error_count() == errors_before)
    return std::move(reader.spec);
  sketch = make_sketch(reader, *root);
  return std::nullopt;
}

std::optional<Spec> load_spec(const std::string &path, const std::string &text, const LoadOptions &options,
                              Diagnostics &diags) {
  Sketch unused;
  return load_spec(path, text, options, diags, unused);
}

std::vector<KeyInfo> spec_keys() {
  std::vector<KeyInfo> out;
  for (const TextKey &key : kTextKeys)
    out.push_back({"", key.name, key.form, key.help, ""});
  for (const Section &section : kSections) {
    if (section.form != Form::table)
      out.push_back({section.name, "*", section.form, section.help, ""});
    if (section.list != nullptr)
      section.list(out);
  }
  return out;
}

} // namespace kgen
