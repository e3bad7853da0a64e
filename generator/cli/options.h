// The command line: one table of options, each with the commands that take it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace kgen {

enum class Command {
  generate,
  check,
  outputs,
  explain,
  run,
  verify,
  make_new,
  completion,
  reference,
  schema,
  fmt,
  lint,
  grad
};

struct Options {
  Command command = Command::generate;
  std::vector<std::string> specs;
  std::string output = ".", root;
  bool diff = false, check = false, prune = false, selfcheck = false, standalone = false;
  std::string depfile, stamp, like = "map";
  int64_t jobs = 0;
  std::vector<std::string> defines, batch, decisions, includes, allowed;
  std::string templates, targets;
  std::string bind, bind_namespace = "kgen";
  std::string stop_after;
  std::string format = "human", color = "auto", sarif;
  std::vector<std::string> sizes, inputs, outputs, scalars;
  int64_t seed = 1;
  std::string target;
  std::string trace;
  std::vector<std::string> at;
  int64_t limit = 64;
  bool reference = false;
  int64_t threads = 0;
  std::string cxx, cxx_flags, model, model_library;
  std::vector<std::string> of, with, save;
  bool deterministic = false, gradient = false;
  std::string data = "all";
  int64_t work = 2'000'000, seeds = 3;
};

struct CommandRow {
  Command command;
  const char *name;
  const char *help;
};

struct OptionRow {
  const char *names; // an argument, or `-s,--long`
  unsigned commands; // one bit each: see `takes`
  std::variant<std::string Options::*, std::vector<std::string> Options::*, int64_t Options::*, bool Options::*> member;
  const char *help;
  const char *choices = "";            // the values it may have, with blanks between; none: any
  int64_t least = 0, most = INT64_MAX; // of a number
};

struct ExitRow {
  int code;
  const char *means;
};

std::span<const ExitRow> exit_rows();
std::span<const CommandRow> command_rows();
std::span<const OptionRow> option_rows();
bool takes(const OptionRow &option, Command command);
std::string help_of(const OptionRow &option); // with its choices

// nullopt: leave with `exit_code` (what there was to say is said).
std::optional<Options> parse_options(int argc, char **argv, int &exit_code);

} // namespace kgen
