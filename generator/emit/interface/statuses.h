// Statuses of the C functions: a kind, and the arguments that it is about by their places in the C list.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kgen {

enum class StatusKind {
#define KGEN_STATUS(name, number, text) name = number,
#include "emit/interface/status_kinds.def"
#undef KGEN_STATUS
};

struct StatusRow {
  StatusKind kind;
  std::string name; // KGEN_NEGATIVE_SIZE
  std::string text;
};
const std::vector<StatusRow> &status_rows();

// What the functions of a kernel may return, each with its sentence.
class Statuses {
public:
  // The arguments, as emitted files call them, of the function that the next ones are about.
  void begin_function(std::vector<std::string> arguments) { arguments_ = std::move(arguments); }
  // C++ that makes a status: "status_of(KGEN_NULL, 3)". Names are as emitted or as the spec has them; those that are no
  // arguments have no place.
  std::string of(StatusKind kind, const std::string &message, const std::string &first = "",
                 const std::string &second = "");
  std::string of_requirement(int number, const std::string &message);
  // From 1; 0: there is no such argument.
  int place(const std::string &name) const;

  struct Message {
    std::string label; // a constant of C: "KGEN_NULL | 3 << 8"
    std::string text;
  };
  const std::map<int, Message> &messages() const { return messages_; }

private:
  std::string add(StatusKind kind, int first, int second, const std::string &message);

  std::vector<std::string> arguments_;
  std::map<int, Message> messages_; // by number
};

} // namespace kgen
