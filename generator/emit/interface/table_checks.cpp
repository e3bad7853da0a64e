#include "emit/interface/table_checks.h"

#include "support/check.h"

namespace kgen {

bool is_of_entries(const Check &check) {
  return check.kind == Check::Kind::table_sorted || check.kind == Check::Kind::table_range ||
         check.kind == Check::Kind::ragged;
}

std::string entries_of(Printer &printer, const Table &table) {
  std::string text;
  for (const Size &dim : table.dims)
    text += (text.empty() ? "" : " * ") + at_least(printer.size(dim), binding::kMultiply);
  return table.dims.size() > 1
             ? "(" + text + ")"
             : at_least({text, table.dims[0].args.empty() ? binding::kPrimary : binding::kAdd}, binding::kAdd);
}

EntryCheck entry_check(Printer &printer, const Check &check) {
  const std::string table = c_name(printer.kernel.tables[check.table].name), entry = table + "[entry]";
  if (check.kind == Check::Kind::table_range)
    return {"0", entry + " < 0 || " + entry + " >= " + at_least(printer.size(check.condition), binding::kAdd)};
  return {"1", table + "[entry - 1] > " + entry};
}

std::string wrong_ends(Printer &printer, const Check &check) {
  const std::string table = c_name(printer.kernel.tables[check.table].name),
                    entries = entries_of(printer, printer.kernel.tables[check.table]);
  return entries + " > 0 && (" + table + "[0] != 0 || " + table + "[" + entries +
         " - 1] != " + printer.size_name(check.axis) + ")";
}

} // namespace kgen
