// Recorded cases of calls, as sanitize.py writes them: for each a line `case FUNCTION ARGUMENTS WORDS...`, then for
// each argument a line and, for arrays, the bytes before the call:
//   constant NAME ELEMENT_BYTES BYTES | result NAME ELEMENT_BYTES BYTES | absent NAME | integer VALUE | number VALUE
#pragma once

#include "driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Slot {
  std::string name;
  bool array = false, constant = false;
  size_t element = 1;
  std::vector<unsigned char> before;
  Argument value;
};

struct Case {
  std::string function, label;
  std::vector<Slot> slots;
};

inline bool read_case(std::FILE *file, Case &out) {
  char line[4096], name[256], label[2048];
  int arguments = 0;
  if (!std::fgets(line, sizeof line, file))
    return false;
  label[0] = 0;
  if (std::sscanf(line, "case %255s %d %2047[^\n]", name, &arguments, label) < 2)
    std::abort();
  out = Case{name, label, std::vector<Slot>(static_cast<size_t>(arguments))};
  for (Slot &slot : out.slots) {
    char kind[16];
    size_t bytes = 0;
    if (!std::fgets(line, sizeof line, file) ||
        std::sscanf(line, "%15s %255s %zu %zu", kind, name, &slot.element, &bytes) < 2)
      std::abort();
    slot.name = name;
    slot.array = std::strcmp(kind, "constant") == 0 || std::strcmp(kind, "result") == 0;
    slot.constant = std::strcmp(kind, "constant") == 0;
    slot.before.resize(bytes);
    if (bytes && std::fread(slot.before.data(), 1, bytes, file) != bytes)
      std::abort();
    if (std::strcmp(kind, "integer") == 0)
      slot.value.integer = std::strtoll(name, nullptr, 10);
    if (std::strcmp(kind, "number") == 0)
      slot.value.number = std::strtod(name, nullptr);
  }
  return true;
}
