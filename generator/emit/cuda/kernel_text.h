// The text of one kernel while it is printed, and the names that it gives.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emit/print/printer.h"

namespace kgen {

// Names that loops of one function share.
class LoopNames {
public:
  explicit LoopNames(Names &names) : names_(names) {}
  const std::string &of(const std::string &base, const std::string &suffix = "", int number = 0);

private:
  Names &names_;
  std::map<std::pair<std::string, int>, std::string> given_;
};

struct KernelText {
  Printer &printer; // has the lines
  Names &names;
  LoopNames &loop_names;
  std::vector<std::pair<std::string, std::string>> spare = {}; // variables that may not be needed, with declarations

  const Plan &plan() const { return printer.plan; }
  const Kernel &kernel() const { return printer.kernel; }
  const std::string &helper(const std::string &name) { return printer.spelling.helper(name); }

  void add(const std::string &line) { printer.lines.add(line); }
  void append(const std::string &lines) { printer.lines.append(lines); }
  void barrier(); // one is enough where two would follow each other
  // A variable that is left out again where nothing asks for it.
  void declare_spare(const std::string &variable, const std::string &declaration);
  // All of it, without those.
  std::string finished();
};

// A statement of the host: a call of CUDA, whose error ends the function.
std::string checked(const std::string &call);
// What is printed for the host, where sizes have 64 bits.
std::string on_host(Printer &printer, const std::function<std::string()> &print);

} // namespace kgen
