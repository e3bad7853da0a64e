#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "cli/compile.h"
#include "emit/bindings/bindings.h"
#include "support/text.h"

namespace kgen {

namespace {

// Empty, or what is wrong with the number.
std::string check_number(const OptionRow &row, const std::string &text) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  if (fault == std::errc() && stop == end && value >= row.least && value <= row.most)
    return "";
  const std::string most = row.most == INT64_MAX ? "" : " to " + std::to_string(row.most);
  return "takes a whole number from " + std::to_string(row.least) + (most.empty() ? " up" : most) + ", not " + text;
}

void add_option(CLI::App &app, const OptionRow &row, Options &options) {
  std::visit(
      [&](auto member) {
        using Value = std::remove_reference_t<decltype(options.*member)>;
        if constexpr (std::is_same_v<Value, bool>) {
          app.add_flag(row.names, options.*member, help_of(row));
        } else {
          CLI::Option *option = app.add_option(row.names, options.*member, help_of(row));
          if (row.names[0] != '-')
            option->required();
          else if constexpr (std::is_same_v<Value, std::vector<std::string>>)
            option->allow_extra_args(false);
          else if constexpr (std::is_same_v<Value, std::string>)
            option->capture_default_str();
          else
            option->check([&row](const std::string &text) { return check_number(row, text); });
        }
      },
      row.member);
}

bool refuse(const std::string &text) {
  std::cerr << "kgen: " << text << "\n";
  return false;
}

// Is the value, if any, one of those in the table?
bool check_choice(const OptionRow &row, const Options &options) {
  const std::vector<std::string> choices = split(row.choices, ' ');
  std::vector<std::string> given;
  if (const auto *text = std::get_if<std::string Options::*>(&row.member))
    given = {options.**text};
  else if (const auto *list = std::get_if<std::vector<std::string> Options::*>(&row.member))
    given = options.**list;
  for (const std::string &value : given)
    if (*row.choices != 0 && !value.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
      return refuse(std::string(row.names) + " takes " + join(choices, ", ") + ", not " + value);
  return true;
}

// A word that is no file, but nearly a command. False: it may be a spec.
bool is_mistyped(const std::string &word) {
  std::vector<std::string> commands;
  for (const CommandRow &row : command_rows())
    commands.emplace_back(row.name);
  const std::string meant = did_you_mean(word, commands);
  std::error_code error;
  if (meant.empty() || word.starts_with("-") || std::filesystem::exists(word, error))
    return false;
  refuse("there is neither a command nor a file " + word + "; " + meant);
  return true;
}

// --bind and --namespace.
bool check_bindings(const Options &options) {
  std::vector<std::string> kinds, given;
  for (const BindingRow &row : binding_rows())
    kinds.emplace_back(row.name);
  for (const std::string &kind : options.bind.empty() ? given : split(options.bind, ',')) {
    if (find_binding(kind) == nullptr)
      return refuse("--bind takes " + join(kinds, ", ") + ", not " + kind);
    if (std::ranges::count(given, kind) != 0)
      return refuse("--bind names " + kind + " twice");
    given.push_back(kind);
  }
  if (!given.empty() && !options.targets.empty() && std::ranges::count(split(options.targets, ','), "openmp") == 0)
    return refuse("--bind needs the OpenMP functions: name openmp in --targets too");
  return is_identifier(options.bind_namespace) ||
         refuse("--namespace takes a C identifier, not " + options.bind_namespace);
}

// What CLI11 does not know of.
bool check_values(Options &options) {
  for (const OptionRow &row : option_rows())
    if (takes(row, options.command) && !check_choice(row, options))
      return false;
  if (options.target.empty())
    options.target = options.command == Command::verify ? "openmp" : "interpret";
  if (options.command == Command::verify && options.target == "interpret")
    return refuse("verify compares with the interpreter: --target takes openmp or cuda_model");
  auto from_environment = [](std::string &value, const char *name) {
    if (const char *set = std::getenv(name); value.empty() && set)
      value = set;
  };
  from_environment(options.model, "KGEN_CUDA_MODEL");
  from_environment(options.model_library, "KGEN_CUDA_MODEL_LIBRARY");
  if (options.target == "cuda_model" && (options.model.empty() || options.model_library.empty()))
    return refuse("--target cuda_model needs --model and --model-library; ./kgen of a source tree finds both itself");
  for (const std::string &target : split(options.targets, ','))
    if (!options.targets.empty() && target != "openmp" && target != "cuda")
      return refuse("--targets takes openmp, cuda or both, not " + options.targets);
  if (!check_bindings(options))
    return false;
  std::error_code error;
  if (!options.templates.empty() && !std::filesystem::is_directory(options.templates, error))
    return refuse("--templates takes a folder, and " + options.templates + " is none");
  if (!options.depfile.empty() && options.stamp.empty())
    return refuse("--depfile needs --stamp: its rule is for the stamp");
  constexpr Command kOfOne[] = {Command::run, Command::verify, Command::make_new, Command::completion,
                                Command::reference};
  if (std::find(std::begin(kOfOne), std::end(kOfOne), options.command) != std::end(kOfOne) && options.specs.size() != 1)
    return refuse("this command takes one argument");
  return true;
}

} // namespace

std::optional<Options> parse_options(int argc, char **argv, int &exit_code) {
  Options options;
  CLI::App app("Turns kernel specs into CUDA and OpenMP C++ sources.", "kgen");
  app.set_version_flag("--version", KGEN_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App *failed, const CLI::Error &error) {
    const std::vector<CLI::App *> commands = failed->get_subcommands();
    const std::string command = commands.empty() ? "" : commands.front()->get_name() + " ";
    return "kgen: " + std::string(error.what()) + "; `kgen " + command + "--help` lists what there is\n";
  });
  app.footer("`kgen SPEC... -o FOLDER` is short for `kgen generate`. `kgen COMMAND --help` lists its options.");
  for (const CommandRow &command : command_rows()) {
    CLI::App *sub = app.add_subcommand(command.name, command.help);
    for (const OptionRow &row : option_rows())
      if (takes(row, command.command))
        add_option(*sub, row, options);
    sub->callback([&options, &command] { options.command = command.command; });
  }
  std::vector<std::string> arguments(argv + 1, argv + argc);
  auto is_command = [](const std::string &word) {
    return std::any_of(command_rows().begin(), command_rows().end(),
                       [&](const CommandRow &row) { return word == row.name; });
  };
  bool general = arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help" || arguments[0] == "--version";
  if (!general && !is_command(arguments[0])) {
    exit_code = 3;
    if (is_mistyped(arguments[0]))
      return std::nullopt;
    arguments.insert(arguments.begin(), "generate");
  }
  if (arguments.empty()) {
    std::cerr << app.help();
    exit_code = 3;
    return std::nullopt;
  }
  std::reverse(arguments.begin(), arguments.end()); // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError &error) {
    exit_code = app.exit(error) == 0 ? 0 : 3;
    return std::nullopt;
  }
  exit_code = 3;
  return check_values(options) ? std::optional<Options>(std::move(options)) : std::nullopt;
}

} // namespace kgen
