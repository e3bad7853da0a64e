// What a spec requires of its callers: checks in launchers. What tables in device memory are asked is checked by a
// small kernel before all others, which notes in table_status what does not hold; the results then mean nothing, as
// with all wrong entries of such tables.
#pragma once

#include <string>

#include "emit/interface/interface.h"

namespace kgen {

class Printer;

// All that can be asked where the launcher runs; `device`: it does not see tables in device memory.
void print_requirements(Printer &printer, Statuses &statuses, bool device);

struct DeviceRequirements {
  std::string kernel; // a function; empty: there are none
  std::string launch; // lines of the launcher, which has `queue` and `table_status`
};

DeviceRequirements device_requirements(const Function &function, const Variation &variation, const std::string &name,
                                       Spelling &spelling, Statuses &statuses);

} // namespace kgen
