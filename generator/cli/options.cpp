#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <variant>

#include "cli/compile.h"
#include "support/text.h"

namespace kgen {

namespace {

struct CommandRow {
  Command command;
  const char *name;
  const char *help;
};
constexpr CommandRow kCommands[] = {
    {Command::generate, "generate", "write the sources of specs (what kgen does without a command)"},
    {Command::check, "check", "compare what would be written with what is on disk; exit code 1 where it differs"},
    {Command::outputs, "outputs", "name the files that would be written, one a line"},
    {Command::explain, "explain", "what kgen found out about a spec: axes, verdicts, plan"},
    {Command::make_new, "new", "write a commented spec to start from: kgen new my_kernel --like softmax"},
    {Command::run, "run", "run a kernel on given or random inputs"},
    {Command::verify, "verify", "run emitted code against the interpreter over edge sizes"},
};

constexpr unsigned bit(Command command) { return 1u << static_cast<unsigned>(command); }
constexpr unsigned kAll = 63, kNew = bit(Command::make_new),
                   kWrites = bit(Command::generate) | bit(Command::check) | bit(Command::outputs),
                   kRuns = bit(Command::run) | bit(Command::verify);

using Member =
    std::variant<std::string Options::*, std::vector<std::string> Options::*, int64_t Options::*, bool Options::*>;

struct OptionRow {
  const char *names;
  unsigned commands;
  Member member;
  const char *help;
};

const OptionRow kOptions[] = {
    {"specs", kAll, &Options::specs, "specs, or folders of them"},
    {"name", kNew, &Options::specs, "of the kernel, and of the file"},
    {"--like", kNew, &Options::like, "map, reduce, matmul, softmax or attention"},
    {"-o,--output", kWrites | kNew, &Options::output, "folder for the files"},
    {"--prune", bit(Command::generate), &Options::prune, "delete files that these specs gave once and no longer give"},
    {"--depfile", bit(Command::generate), &Options::depfile, "write a make rule: the stamp hangs on all that was read"},
    {"--stamp", bit(Command::generate), &Options::stamp, "a file to touch after success, for build tools"},
    {"-j,--jobs", kWrites, &Options::jobs, "specs to work on at once; default one a core"},
    {"--diff", bit(Command::check), &Options::diff, "show what differs"},
    {"-D,--define", kAll, &Options::defines, "NAME=VALUE: fix a param or a type"},
    {"--batch", kAll, &Options::batch, "AXIS=x,z: a leading parallel dimension of these operands"},
    {"--include", kAll, &Options::includes, "a further folder for functions_from"},
    {"--templates", kAll | kNew, &Options::templates, "a folder of templates to use instead of kgen's own"},
    {"--targets", kWrites, &Options::targets, "openmp,cuda: which sources to write"},
    {"--stop-after", bit(Command::generate), &Options::stop_after,
     "print what a stage made: spec body ir facts rewrite plan"},
    {"--message-format", kAll | kNew, &Options::format, "human, short, json or github"},
    {"--color", kAll | kNew, &Options::color, "auto, always or never"},
    {"--size", bit(Command::run), &Options::sizes, "M=100,N=37: sizes that no given array tells"},
    {"--in", bit(Command::run), &Options::inputs, "x=x.npy: an operand or table; others are random"},
    {"--out", bit(Command::run), &Options::outputs, "z=z.npy: where to write an output"},
    {"--scalar", bit(Command::run), &Options::scalars, "a=0.5"},
    {"--seed", bit(Command::run), &Options::seed, "of random inputs and of the order of parallel steps"},
    {"--target", kRuns, &Options::target, "interpret (run), openmp (verify), cuda_model"},
    {"--trace", bit(Command::run), &Options::trace, "a line for each step (interpret)"},
    {"--reference", bit(Command::run), &Options::reference, "compute in double (interpret)"},
    {"--threads", bit(Command::run), &Options::threads, "of emitted code"},
    {"--cxx", kRuns, &Options::cxx, "compiler of emitted code; default $CXX, else c++"},
    {"--cxxflags", kRuns, &Options::cxx_flags, "its flags; default -O2"},
    {"--model", kRuns, &Options::model, "folder of the CUDA model; default $KGEN_CUDA_MODEL"},
    {"--model-library", kRuns, &Options::model_library, "the compiled CUDA model; default $KGEN_CUDA_MODEL_LIBRARY"},
    {"--work", bit(Command::verify), &Options::work, "element operations that one case may take"},
    {"--seeds", bit(Command::verify), &Options::seeds, "random inputs for each choice of sizes"},
    {"--data", bit(Command::verify), &Options::data, "random floats: real, integers (small ones), or both in turn"},
};

void add_option(CLI::App &app, const OptionRow &row, Options &options) {
  std::visit(
      [&](auto member) {
        using Value = std::remove_reference_t<decltype(options.*member)>;
        if constexpr (std::is_same_v<Value, bool>) {
          app.add_flag(row.names, options.*member, row.help);
        } else {
          CLI::Option *option = app.add_option(row.names, options.*member, row.help);
          if (row.names[0] != '-')
            option->required();
          else if constexpr (std::is_same_v<Value, std::vector<std::string>>)
            option->allow_extra_args(false);
          else if constexpr (std::is_same_v<Value, std::string>)
            option->capture_default_str();
        }
      },
      row.member);
}

bool refuse(const std::string &text) {
  std::cerr << "kgen: " << text << "\n";
  return false;
}

// What CLI11 does not know of.
bool check_values(Options &options) {
  if (!options.stop_after.empty()) {
    std::optional<Stage> stage = find_stage(options.stop_after);
    if (!stage || *stage == Stage::emit)
      return refuse("--stop-after takes " + join(stage_names(), ", ") + ", not " + options.stop_after);
  }
  auto one_of = [](const std::string &value, std::initializer_list<const char *> allowed) {
    return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
  };
  if (!one_of(options.format, {"human", "short", "json", "github"}))
    return refuse("--message-format takes human, short, json or github, not " + options.format);
  if (!one_of(options.color, {"auto", "always", "never"}))
    return refuse("--color takes auto, always or never, not " + options.color);
  if (options.target.empty())
    options.target = options.command == Command::verify ? "openmp" : "interpret";
  if (!one_of(options.target, {"interpret", "openmp", "cuda_model"}) ||
      (options.command == Command::verify && options.target == "interpret"))
    return refuse("--target does not take " + options.target);
  if (!one_of(options.data, {"real", "integers", "both"}))
    return refuse("--data takes real, integers or both, not " + options.data);
  auto from_environment = [](std::string &value, const char *name) {
    if (const char *set = std::getenv(name); value.empty() && set)
      value = set;
  };
  from_environment(options.model, "KGEN_CUDA_MODEL");
  from_environment(options.model_library, "KGEN_CUDA_MODEL_LIBRARY");
  if (options.target == "cuda_model" && (options.model.empty() || options.model_library.empty()))
    return refuse("--target cuda_model needs --model and --model-library");
  for (const std::string &target : split(options.targets, ','))
    if (!options.targets.empty() && !one_of(target, {"openmp", "cuda"}))
      return refuse("--targets takes openmp, cuda or both, not " + options.targets);
  if (!options.depfile.empty() && options.stamp.empty())
    return refuse("--depfile needs --stamp: its rule is for the stamp");
  if (options.command == Command::make_new && options.specs.size() != 1)
    return refuse("`new` takes one name");
  bool one_spec = options.command == Command::run || options.command == Command::verify;
  if (one_spec && options.specs.size() != 1)
    return refuse("this command takes one spec");
  return true;
}

} // namespace

std::optional<Options> parse_options(int argc, char **argv, int &exit_code) {
  Options options;
  CLI::App app("Turns kernel specs into CUDA and OpenMP C++ sources.", "kgen");
  app.set_version_flag("--version", KGEN_VERSION);
  app.require_subcommand(1);
  app.footer("`kgen SPEC... -o FOLDER` is short for `kgen generate`. `kgen COMMAND --help` lists its options.");
  for (const CommandRow &command : kCommands) {
    CLI::App *sub = app.add_subcommand(command.name, command.help);
    for (const OptionRow &row : kOptions)
      if ((row.commands & bit(command.command)) != 0)
        add_option(*sub, row, options);
    sub->callback([&options, &command] { options.command = command.command; });
  }
  std::vector<std::string> arguments(argv + 1, argv + argc);
  auto is_command = [](const std::string &word) {
    return std::any_of(std::begin(kCommands), std::end(kCommands),
                       [&](const CommandRow &row) { return word == row.name; });
  };
  bool general = arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help" || arguments[0] == "--version";
  if (!general && !is_command(arguments[0]))
    arguments.insert(arguments.begin(), "generate");
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
