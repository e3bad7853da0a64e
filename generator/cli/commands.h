// The commands. Each returns the exit code: 0 ok; 1 drift or a difference; 2 the spec is wrong; 3 the command line is
// wrong; 4 files. Data goes to stdout, messages to stderr.
#pragma once

#include "cli/compile.h"
#include "cli/options.h"
#include "ir/interpret.h"

namespace kgen {

constexpr int kOk = 0, kDrift = 1, kBadSpec = 2, kBadCommandLine = 3, kBadFiles = 4;

int generate(const Options &options);
int check(const Options &options);
int fmt(const Options &options);
int lint(const Options &options);
int outputs(const Options &options);
int make_new(const Options &options);
int completion(const Options &options);
int reference(const Options &options);
int schema(const Options &options);
int explain(const Options &options);
int write_gradient(const Options &options);
int run(const Options &options);
int verify(const Options &options);

// Shared by the commands.
// NAME=VALUE lists of the command line. False after a message.
bool load_options(const Options &options, LoadOptions &load);
CompileOptions compile_options(const Options &options, const LoadOptions &load, Stage last);
// Prints what there is to say; the exit code that belongs to it.
int report(const Diagnostics &diags, const Options &options);
// What helps people beside the messages. Programs that read JSON lines want nothing else among them.
void remark(const std::string &text, const Options &options);
// The --size of the command line. Empty, or what is wrong with them.
std::string given_sizes(const Options &options, const Kernel &kernel, std::map<std::string, int64_t> &sizes);
// Its --scalar. Empty, or what is wrong with them.
std::string given_scalars(const Options &options, const Kernel &kernel, RunInput &input);
// One spec from its path, through the pipeline.
std::optional<Compiled> compile_file(const std::string &path, const CompileOptions &options, Diagnostics &diags);

// The text of a diagnostic's row, with dots for what it names.
std::string pattern_text(std::string_view row);

struct SpecFile {
  std::string path;
  std::string folder; // below the output folder
};
// Folders stand for every .toml under them, mirrored by sub-folder.
std::vector<SpecFile> find_specs(const std::vector<std::string> &arguments, Diagnostics &diags);
// The same for what is compiled. Of several specs, those that do not declare what -D names go without, if any does.
std::vector<SpecFile> find_specs(const Options &options, LoadOptions &load, Diagnostics &diags);

} // namespace kgen
