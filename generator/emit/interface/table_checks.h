// What is declared of the entries of tables, as conditions in C++.
#pragma once

#include <string>

#include "emit/print/printer.h"

namespace kgen {

// Is the check about each entry of one table, apart from the others or beside its neighbour?
bool is_of_entries(const Check &check);

// How many entries the table has.
std::string entries_of(Printer &printer, const Table &table);

// What stands in a loop over the `entry`s, the first of which has no neighbour before it.
struct EntryCheck {
  std::string first; // entry that is asked
  std::string bad;   // does it hold for a wrong one?
};
EntryCheck entry_check(Printer &printer, const Check &check);

// Of offsets: do the first and the last say something else than they must?
std::string wrong_ends(Printer &printer, const Check &check);

} // namespace kgen
