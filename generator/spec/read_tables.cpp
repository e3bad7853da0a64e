// tables: integer arrays that steer the windows, with the facts that are declared about them.
#include "spec/read.h"
#include "support/text.h"

namespace kgen {

namespace {

void read_type_key(Reader &reader, const Entry &entry, TableDecl &table) {
  if (!read_string(reader, entry.value, "`type`"))
    return;
  auto type = read_table_type(reader, entry.value.text);
  reader.axes_incomplete = reader.axes_incomplete || !type;
  if (!type)
    return;
  table.type = type->first.type;
  table.dims = std::move(type->second);
  if (!type->first.param.empty() || !is_integer(table.type))
    reader.diags.add(DiagId::spec_table_type, type->first.place, {table.name}).help =
        "its type is a plain one, such as \"i32[S]\"";
  else if (table.dims.empty())
    reader.diags.add(DiagId::spec_table_dimensions, entry.value.place, {table.name}).help =
        "a single number is a scalar: scalars." + table.name + " = \"i32\"";
}
void read_sorted(Reader &reader, const Entry &entry, TableDecl &table) {
  table.sorted = read_boolean(reader, entry.value, "`sorted`").value_or(false);
}
void read_unique(Reader &reader, const Entry &entry, TableDecl &table) {
  table.unique = read_boolean(reader, entry.value, "`unique`").value_or(false);
}
void read_range(Reader &reader, const Entry &entry, TableDecl &table) {
  table.range = read_size(reader, entry.value, "`range`");
}
void read_where(Reader &reader, const Entry &entry, TableDecl &table) {
  const auto where = read_string(reader, entry.value, "`where`");
  if (where && *where != "host" && *where != "device")
    reader.diags.add(DiagId::spec_unknown_choice, entry.value.place, {*where, "`where`"}).help =
        "a table is on the \"host\" or on the \"device\", the default";
  table.on_host = where == "host";
}

constexpr Key<TableDecl> kTableKeys[] = {
    {"type", read_type_key, Form::text, "element type and extents: \"i32[S]\""},
    {"sorted", read_sorted, Form::flag, "entries never fall"},
    {"unique", read_unique, Form::flag, "no entry comes twice"},
    {"range", read_range, Form::size, "entries are below this"},
    {"where", read_where, Form::text, "where CUDA launchers find it", "host device"}};

} // namespace

void read_tables(Reader &reader, const Node &section) {
  for (const Entry &entry : section.entries) {
    const BrokenGuard guard(reader, entry.key);
    declare(reader, entry.key, entry.place, NameKind::table, "a table");
    TableDecl table;
    table.name = entry.key;
    table.place = entry.place;
    if (entry.value.kind == Node::Kind::string) {
      read_type_key(reader, entry, table);
    } else if (expect_table(reader, entry, "a type such as \"i32[S]\", or a table")) {
      read_keys<TableDecl>(reader, entry.value, kTableKeys, table, "tables." + entry.key);
      if (entry.value.find("type") == nullptr && entry.value.find("body") == nullptr)
        reader.diags.add(DiagId::spec_missing_key, entry.place, {ticked(entry.key), "type"}).help =
            "write type = \"i32[S]\" in the table";
    }
    reader.spec.tables.push_back(std::move(table));
  }
}

void list_table_keys(std::vector<KeyInfo> &out) { list_keys<TableDecl>("tables", kTableKeys, out); }

} // namespace kgen
