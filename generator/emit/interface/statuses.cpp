#include "emit/interface/statuses.h"

#include <algorithm>
#include <cctype>

#include "emit/text/names.h"

namespace kgen {
namespace {

constexpr int kMostPlaces = 1023; // that ten bits hold

const StatusRow &row_of(StatusKind kind) {
  return *std::ranges::find(status_rows(), kind, [](const StatusRow &row) { return row.kind; });
}

} // namespace

const std::vector<StatusRow> &status_rows() {
  static const std::vector<StatusRow> rows = [] {
    std::vector<StatusRow> out = {
#define KGEN_STATUS(name, number, text) {StatusKind::name, "KGEN_" #name, text},
#include "emit/interface/status_kinds.def"
#undef KGEN_STATUS
    };
    for (StatusRow &row : out)
      for (char &c : row.name)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
  }();
  return rows;
}

int Statuses::place(const std::string &name) const {
  if (name.empty())
    return 0;
  const std::string in_c = c_name(name);
  const auto found = std::ranges::find_if(
      arguments_, [&](const std::string &argument) { return argument == name || argument == in_c; });
  const int place = found == arguments_.end() ? 0 : static_cast<int>(found - arguments_.begin()) + 1;
  return place <= kMostPlaces ? place : 0;
}

std::string Statuses::of(StatusKind kind, const std::string &message, const std::string &first,
                         const std::string &second) {
  return add(kind, place(first), place(second), message);
}

std::string Statuses::of_requirement(int number, const std::string &message) {
  return add(StatusKind::require, std::min(number, kMostPlaces), 0, message);
}

std::string Statuses::add(StatusKind kind, int first, int second, const std::string &message) {
  Message &known = messages_[static_cast<int>(kind) | first << 8 | second << 18];
  if (known.text.empty())
    known.text = message;
  else if (("; or " + known.text + ";").find("; or " + message + ";") == std::string::npos)
    known.text += "; or " + message; // two conditions on one argument, or on none
  known.label = row_of(kind).name;
  std::string code = "status_of(" + known.label;
  if (first != 0 || second != 0) {
    known.label += " | " + std::to_string(first) + " << 8";
    code += ", " + std::to_string(first);
  }
  if (second != 0) {
    known.label += " | " + std::to_string(second) + " << 18";
    code += ", " + std::to_string(second);
  }
  return code + ")";
}

} // namespace kgen
