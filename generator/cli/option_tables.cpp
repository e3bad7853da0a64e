// The commands and their options. From here come parsing, --help, completions, the man page and docs/commands.md.
#include "cli/options.h"
#include "support/text.h"

namespace kgen {

namespace {

constexpr CommandRow kCommands[] = {
    {Command::generate, "generate", "write the sources of specs (what kgen does without a command)"},
    {Command::check, "check", "compare what would be written with what is on disk; exit code 1 where it differs"},
    {Command::fmt, "fmt", "lay specs out as all are laid out: blanks and blank lines, never what they say; - is stdin"},
    {Command::lint, "lint", "what could be better in specs that are right; exit code 1 where anything could"},
    {Command::outputs, "outputs", "name the files that would be written, one a line"},
    {Command::explain, "explain",
     "what kgen found out about a spec: axes, verdicts, plan, cost; or KG0123: the message of that code"},
    {Command::grad, "grad", "write the gradient of a kernel as a spec: NAME_backward.toml"},
    {Command::make_new, "new", "write a commented spec to start from: kgen new my_kernel --like softmax"},
    {Command::completion, "completion", "print the completion of this command line for a shell"},
    {Command::reference, "reference", "print this reference as a man page or as Markdown, or the list of all messages"},
    {Command::schema, "schema", "print the JSON schema of specs, for editors"},
    {Command::run, "run", "run a kernel on given or random inputs"},
    {Command::verify, "verify", "run emitted code against the interpreter over edge sizes"},
};

constexpr ExitRow kExits[] = {
    {0, "all is well"},
    {1,
     "files differ (check, fmt --check), lint found something, or emitted code differs from the interpreter (verify)"},
    {2, "a spec is wrong"},
    {3, "the command line is wrong"},
    {4, "a file cannot be read or written"},
    {70, "kgen is wrong: please report it"},
};

constexpr unsigned bit(Command command) { return 1u << static_cast<unsigned>(command); }
constexpr unsigned kGrad = bit(Command::grad), kAll = 63 | bit(Command::lint) | kGrad, kNew = bit(Command::make_new),
                   kFmt = bit(Command::fmt),
                   kWrites = bit(Command::generate) | bit(Command::check) | bit(Command::outputs),
                   kRuns = bit(Command::run) | bit(Command::verify);

const OptionRow kOptions[] = {
    {"specs", (kAll | kFmt) & ~kRuns & ~bit(Command::explain), &Options::specs, "specs, or folders of them"},
    {"specs", bit(Command::explain), &Options::specs, "specs, or folders of them; or the code of one message"},
    {"specs", kRuns, &Options::specs, "one spec"},
    {"shell", bit(Command::completion), &Options::specs, "whose language to print", "bash zsh fish"},
    {"format", bit(Command::reference), &Options::specs, "what to print",
     "man markdown diagnostics derivatives decisions"},
    {"name", kNew, &Options::specs, "of the kernel, and of the file"},
    {"--like", kNew, &Options::like, "what it is to look like", "attention map matmul reduce softmax"},
    {"-o,--output", kWrites | kNew | kGrad, &Options::output, "folder for the files"},
    {"--root", kWrites, &Options::root,
     "folder of kgen.lock and of the helper headers; default: that of a kgen.lock above the output folder, or this"},
    {"--standalone", kWrites | kRuns, &Options::standalone,
     "each kernel in one file, with those helpers inside that it uses, and no helper header"},
    {"--prune", bit(Command::generate), &Options::prune, "delete files that these specs gave once and no longer give"},
    {"--depfile", bit(Command::generate), &Options::depfile,
     "write a make rule: the stamp depends on all that was read"},
    {"--stamp", bit(Command::generate), &Options::stamp, "a file to touch after success, for build tools"},
    {"-j,--jobs", kWrites, &Options::jobs, "specs to work on at once; default one a core", "", 1, 1024},
    {"--check", kFmt, &Options::check, "write nothing, name the files that would change; exit code 1 if there are any"},
    {"--diff", bit(Command::check) | kFmt, &Options::diff, "show what differs; fmt then writes nothing"},
    {"--allow", bit(Command::lint), &Options::allowed,
     "KG0503: a finding that does not count; `# kgen: allow KG0503` in a spec says it there"},
    {"-D,--define", kAll, &Options::defines,
     "NAME=VALUE: fix a param or a type, in those of several specs that declare it"},
    {"--batch", kAll, &Options::batch, "AXIS=x,z: a leading parallel dimension of these operands"},
    {"--decide", kAll, &Options::decisions,
     "KEY=VALUE or KEY@AXIS=VALUE: a number of the plan instead of its rule's; least: the least legal value of each"},
    {"--include", kAll, &Options::includes, "a further folder for functions_from"},
    {"--templates", kAll | kNew, &Options::templates, "a folder of templates to use instead of kgen's own"},
    {"--targets", kWrites | bit(Command::explain), &Options::targets,
     "openmp,cuda: which sources to write, or explain"},
    {"--bind", kWrites, &Options::bind,
     "numpy,torch,jax: Python modules as well that call the functions with arrays of these: NAME_numpy.py and so on"},
    {"--namespace", kWrites, &Options::bind_namespace, "under which frameworks know what --bind gives; default kgen"},
    {"--selfcheck", kWrites, &Options::selfcheck,
     "a program as well that checks and times the OpenMP code: NAME_selfcheck.cpp"},
    {"--grad", bit(Command::verify), &Options::gradient,
     "compare the gradient that `kgen grad` writes with differences of the kernel, on the interpreter"},
    {"--of", kGrad | bit(Command::verify), &Options::of,
     "x,w: the inputs and scalars whose gradients are wanted; default all floating inputs"},
    {"--with", kGrad | bit(Command::verify), &Options::with,
     "z: the outputs whose gradients are given; default all floating outputs"},
    {"--save", kGrad, &Options::save,
     "p: outputs and locals that the backward kernel reads; for locals NAME_forward.toml is written, which gives them"},
    {"--deterministic", kGrad | bit(Command::verify), &Options::deterministic,
     "sums over all lanes instead of floats that are added in any order"},
    {"--stop-after", bit(Command::generate), &Options::stop_after, "print what a stage made",
     "spec body ir facts rewrite plan"},
    {"--message-format", kAll | kNew | kFmt, &Options::format, "how messages look", "human short json github"},
    {"--color", kAll | kNew | kFmt, &Options::color, "of messages", "auto always never"},
    {"--sarif", kAll | kNew | kFmt, &Options::sarif, "a file to write the messages to as well, as SARIF 2.1.0"},
    {"--size", kRuns | bit(Command::explain), &Options::sizes,
     "M=100,N=37: sizes that no given array tells; in explain those of the bound, in verify instead of edge sizes"},
    {"--in", bit(Command::run), &Options::inputs, "x=x.npy: an operand or table; others are random"},
    {"--out", bit(Command::run), &Options::outputs, "z=z.npy: where to write an output"},
    {"--scalar", bit(Command::run) | bit(Command::verify), &Options::scalars,
     "a=0.5; in verify instead of random ones"},
    {"--seed", bit(Command::run), &Options::seed, "of random inputs and of the order of parallel steps"},
    {"--target", kRuns, &Options::target, "what runs; default interpret (run), openmp (verify)",
     "interpret openmp cuda_model"},
    {"--trace", bit(Command::run), &Options::trace,
     "what to tell of each step (interpret). steps: its windows; values: each element of each named local; m,l: of "
     "these"},
    {"--at", bit(Command::run), &Options::at, "M=0,i=2: tell of this element and step only"},
    {"--limit", bit(Command::run), &Options::limit, "lines that each print and each traced name may have"},
    {"--reference", bit(Command::run), &Options::reference, "compute in double (interpret)"},
    {"--threads", bit(Command::run), &Options::threads, "of emitted code", "", 1, 1024},
    {"--cxx", kRuns, &Options::cxx, "compiler of emitted code; default $CXX, else c++"},
    {"--cxxflags", kRuns, &Options::cxx_flags, "its flags; default -O2, for OpenMP code -O2 -march=native"},
    {"--model", kRuns, &Options::model, "folder of the CUDA model; default $KGEN_CUDA_MODEL"},
    {"--model-library", kRuns, &Options::model_library, "the compiled CUDA model; default $KGEN_CUDA_MODEL_LIBRARY"},
    {"--work", bit(Command::verify), &Options::work, "element operations that one case may take", "", 1},
    {"--seeds", bit(Command::verify), &Options::seeds, "random inputs for each choice of sizes", "", 1, 1000000},
    {"--data", bit(Command::verify), &Options::data,
     "random numbers: real ones and whole ones of any size, small integers, those with some NaN, or each in turn; or "
     "small integers with ends of their types among scalars and numbers of 32 and 64 bits",
     "real integers nans all extremes"},
};

} // namespace

std::string help_of(const OptionRow &option) {
  const std::string choices = join(split(option.choices, ' '), ", ");
  return std::string(option.help) + (choices.empty() ? "" : ": " + choices);
}

std::span<const ExitRow> exit_rows() { return kExits; }

std::span<const CommandRow> command_rows() { return kCommands; }

std::span<const OptionRow> option_rows() { return kOptions; }

bool takes(const OptionRow &option, Command command) { return (option.commands & bit(command)) != 0; }

} // namespace kgen
