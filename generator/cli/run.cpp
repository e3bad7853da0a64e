// run and verify: kernels executed, by the interpreter or as emitted code.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "cli/commands.h"
#include "cli/differential.h"
#include "cli/gradient.h"
#include "cli/npy.h"
#include "ir/evaluate.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace {

constexpr int64_t kShown = 64; // elements of an output that are printed
constexpr std::string_view kArrayHelp =
    "arrays are NumPy files: numpy.save(\"x.npy\", numpy.ascontiguousarray(x, numpy.float32))";

int complain(const std::string &text, int code) {
  std::cerr << "kgen: " << text << "\n";
  return code;
}

std::optional<std::pair<std::string, std::string>> pair_of(const std::string &text) {
  size_t at = text.find('=');
  if (at == std::string::npos || at == 0)
    return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

std::optional<double> number_of(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end ? std::nullopt : std::optional(value);
}

std::optional<int64_t> integer_of(const std::string &text) {
  char *end = nullptr;
  errno = 0;
  long long value = std::strtoll(text.c_str(), &end, 10);
  return text.empty() || *end || errno != 0 ? std::nullopt : std::optional<int64_t>(value);
}

// The bits of a u64 beyond those of int64_t.
std::optional<int64_t> large_integer_of(const std::string &text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
}

const Var *find_operand(const Kernel &kernel, const std::string &name) {
  for (const Var &var : kernel.vars)
    if (var.name == name && (var.kind == Var::Kind::input || var.kind == Var::Kind::output))
      return &var;
  return nullptr;
}

// An array of the command line; what is wrong with its file goes to `diags`.
std::optional<Array> given_array(const std::string &name, const std::string &file, Type type, Diagnostics &diags) {
  const Place place{file, 0, 0, 0};
  std::string reason;
  const std::optional<std::string> bytes = read_file(file, kLargestArray, reason);
  std::optional<Array> array = bytes ? parse_npy(*bytes, type, reason) : std::nullopt;
  if (!bytes)
    diags.add(DiagId::file_unreadable, place, {file, reason}).help = kArrayHelp;
  else if (!array)
    diags.add(DiagId::file_bad_array, place, {file, name, reason}).help = kArrayHelp;
  return array;
}

// What the command line gives, for one variant. Empty, or what is wrong with it; of files `diags` says it.
std::string given_input(const Options &options, const Kernel &kernel, RunInput &input, Diagnostics &diags) {
  if (const std::string wrong = given_sizes(options, kernel, input.sizes); !wrong.empty())
    return wrong;
  if (const std::string wrong = given_scalars(options, kernel, input); !wrong.empty())
    return wrong;
  for (const std::string &text : options.inputs) {
    auto pair = pair_of(text);
    if (!pair)
      return "--in takes NAME=FILE, not " + text;
    const Var *var = find_operand(kernel, pair->first);
    const Table *table = nullptr;
    for (const Table &t : kernel.tables)
      if (t.name == pair->first)
        table = &t;
    if (!var && !table)
      return "--in " + pair->first + ": the kernel has no such operand or table";
    std::optional<Array> array = given_array(pair->first, pair->second, var ? var->type : table->type, diags);
    if (!array)
      return "an array is missing";
    if (!(var ? input.arrays : input.tables).emplace(pair->first, std::move(*array)).second)
      return "--in " + pair->first + " is given twice";
  }
  std::string reason;
  if (!infer_sizes(kernel, input, reason))
    return reason;
  std::vector<std::string> missing = missing_sizes(kernel, input);
  if (!missing.empty())
    return "the size of " + join(missing, ", ") + " is not known: give --size " + missing[0] +
           "=NUMBER or an array that has it";
  return "";
}

// The first variant that the sizes fit: specialised axes have several.
const Variation *pick(const Options &options, const Compiled &compiled, RunInput &input, std::string &problem,
                      Diagnostics &diags) {
  const Variation *first = nullptr;
  for (const Variation &variation : compiled.variations) {
    if (first && first->kernel.suffix != variation.kernel.suffix)
      break;
    RunInput own;
    std::string fault = given_input(options, variation.kernel, own, diags);
    for (const auto &[axis, size] : variation.variant.axes)
      if (own.sizes.count(axis) && own.sizes[axis] != size)
        fault = "no specialisation for " + axis + "=" + std::to_string(own.sizes[axis]);
    for (const auto &[name, array] : own.arrays) {
      std::optional<std::vector<int64_t>> shape =
          fault.empty() ? array_shape(variation.kernel, *find_operand(variation.kernel, name), own) : std::nullopt;
      Array expected{array.type, shape.value_or(std::vector<int64_t>()), {}};
      if (shape && expected.elements() != array.elements())
        fault = "`" + name + "` has " + std::to_string(array.elements()) + " elements instead of " +
                std::to_string(expected.elements());
    }
    if (!first) {
      first = &variation;
      problem = fault;
    }
    if (fault.empty()) {
      problem.clear();
      input = std::move(own);
      return &variation;
    }
  }
  return nullptr;
}

std::string shape_text(const Array &array) {
  std::string out = std::string(type_row(array.type).name) + "[";
  for (size_t d = 0; d < array.shape.size(); ++d)
    out += (d == 0 ? "" : ", ") + std::to_string(array.shape[d]);
  return out + "]";
}

void print_output(const std::string &name, const Array &array) {
  std::cout << name << ": " << shape_text(array) << " =";
  int64_t n = array.elements();
  int64_t row = array.shape.size() > 1 ? array.shape.back() : n;
  for (int64_t i = 0; i < std::min(n, kShown); ++i) {
    if (array.shape.size() > 1 && row > 0 && i % row == 0)
      std::cout << "\n ";
    Value value = load_value(array.bytes.data() + i * bytes_of(array.type), array.type);
    if (is_floating(array.type))
      std::cout << " " << value.number;
    else
      std::cout << " "
                << (array.type == Type::u64 ? std::to_string(static_cast<uint64_t>(value.integer))
                                            : std::to_string(value.integer));
  }
  std::cout << (n > kShown ? " ...\n" : "\n");
}

NativeOptions native_options(const Options &options) {
  NativeOptions out;
  out.target = options.target == "cuda_model" ? NativeTarget::cuda_model : NativeTarget::openmp;
  out.compiler = options.cxx;
  out.flags = options.cxx_flags;
  out.model = options.model;
  out.model_library = options.model_library;
  return out;
}

int run_native(const Options &options, const Compiled &compiled, const Kernel &kernel, const RunInput &input,
               std::map<std::string, Array> &outputs) {
  std::string reason;
  std::unique_ptr<NativeKernel> native = NativeKernel::build(compiled, native_options(options), reason);
  if (!native)
    return complain(reason, kDrift);
  NativeRunOptions run_options;
  run_options.threads = static_cast<int>(options.threads);
  NativeResult result = native->run(kernel, input, run_options);
  if (!result.error.empty())
    return complain("the emitted code " + result.error, kDrift);
  if (result.status != 0)
    return complain("the launcher returned " + std::to_string(result.status) + ": " + result.message, kDrift);
  if (result.table_status != 0)
    return complain("table_status is " + std::to_string(result.table_status) + ": " + result.message, kDrift);
  outputs = std::move(result.outputs);
  return kOk;
}

// Empty, or what is wrong with the command line.
std::string trace_options(const Options &options, const Kernel &kernel, RunOptions &out) {
  out.trace_steps = options.trace == "steps";
  out.trace_values = !options.trace.empty() && !out.trace_steps;
  out.most_lines = options.limit;
  if (out.trace_values && options.trace != "values")
    out.trace_names = split(options.trace, ',');
  for (const std::string &name : out.trace_names)
    if (std::none_of(kernel.vars.begin(), kernel.vars.end(), [&](const Var &var) { return var.name == name; }))
      return "--trace takes steps, values, or names of locals and arrays; there is no " + name;
  for (const std::string &list : options.at)
    for (const std::string &text : split(list, ',')) {
      const auto pair = pair_of(text);
      const std::optional<int64_t> number = pair ? integer_of(pair->second) : std::nullopt;
      if (!number)
        return "--at takes NAME=NUMBER, not " + text;
      const auto is_it = [&](const auto &row) { return row.name == pair->first; };
      if (std::none_of(kernel.axes.begin(), kernel.axes.end(), is_it) &&
          std::none_of(kernel.grid.begin(), kernel.grid.end(), is_it))
        return "--at " + pair->first + ": the kernel has no such axis or grid dimension";
      out.only_at[pair->first] = *number;
    }
  return "";
}

int run_interpreter(const Options &options, const Compiled &compiled, const Kernel &kernel, const RunInput &input,
                    std::map<std::string, Array> &outputs) {
  RunOptions run_options;
  run_options.seed = static_cast<uint64_t>(options.seed);
  run_options.reference = options.reference;
  if (const std::string wrong = trace_options(options, kernel, run_options); !wrong.empty())
    return complain(wrong, kBadCommandLine);
  RunResult result = interpret(kernel, input, run_options);
  for (const std::string &line : result.trace)
    std::cout << line << "\n";
  for (const FailedAssert &failed : result.asserts)
    complain(to_string(failed), kDrift);
  if (!result.error.empty()) {
    std::string place;
    if (result.place.line > 0)
      place = (result.place.file.empty() ? compiled.spec.path : result.place.file) + ":" +
              std::to_string(result.place.line) + ":" + std::to_string(result.place.column) + ": ";
    return complain(place + result.error, kDrift);
  }
  outputs = std::move(result.outputs);
  return result.asserts.empty() ? kOk : kDrift;
}

// As the array it belongs to was given: a leading `...` may stand for several dimensions.
void restore_rest(const Kernel &kernel, const RunInput &input, const Var &var, Array &array) {
  auto has_rest = [&](const Var &v) {
    return !v.dims.empty() && v.dims[0].axis != kNone && kernel.axes[v.dims[0].axis].rest;
  };
  if (!has_rest(var))
    return;
  for (const Var &other : kernel.vars) {
    auto given = input.arrays.find(other.name);
    if (given == input.arrays.end() || !has_rest(other))
      continue;
    size_t trailing = static_cast<size_t>(other.dims.back().array_dim);
    const std::vector<int64_t> &shape = given->second.shape;
    if (shape.size() < trailing)
      return;
    array.shape.erase(array.shape.begin());
    array.shape.insert(array.shape.begin(), shape.begin(), shape.end() - static_cast<ptrdiff_t>(trailing));
    return;
  }
}

int put_outputs(const Options &options, const Kernel &kernel, const RunInput &input,
                std::map<std::string, Array> &outputs) {
  for (auto &[name, array] : outputs)
    restore_rest(kernel, input, *find_operand(kernel, name), array);
  if (options.outputs.empty())
    for (const Var &var : kernel.vars)
      if (outputs.count(var.name))
        print_output(var.name, outputs[var.name]);
  for (const std::string &text : options.outputs) {
    auto pair = pair_of(text);
    if (!pair || !outputs.count(pair->first))
      return complain("--out takes OUTPUT=FILE, not " + text, kBadCommandLine);
    std::string reason;
    Diagnostics diags;
    if (!write_npy(pair->second, outputs[pair->first], reason)) {
      diags.add(DiagId::file_unwritable, Place{pair->second, 0, 0, 0}, {pair->second, reason}).help =
          "its folder must be there, and writable";
      return report(diags, options);
    }
  }
  return kOk;
}

// The code of the target that runs is made, and no other.
CompileOptions options_to_run(const Options &options, const LoadOptions &load, Stage last) {
  CompileOptions how = compile_options(options, load, last);
  how.emit.openmp = options.target == "openmp";
  how.emit.cuda = options.target == "cuda_model";
  return how;
}

} // namespace

int run(const Options &options) {
  LoadOptions load;
  if (!load_options(options, load))
    return kBadCommandLine;
  bool interpreted = options.target == "interpret";
  Diagnostics diags;
  CompileOptions how = options_to_run(options, load, interpreted ? Stage::facts : Stage::emit);
  std::optional<Compiled> compiled = compile_file(options.specs[0], how, diags);
  int code = report(diags, options);
  if (!compiled)
    return code;
  RunInput input;
  std::string problem;
  Diagnostics files;
  const Variation *variation = pick(options, *compiled, input, problem, files);
  if (!variation)
    return files.has_errors() ? report(files, options) : complain(problem, kBadCommandLine);
  if (compiled->variations.back().kernel.suffix != compiled->variations.front().kernel.suffix)
    remark("of several variants, " + variation->kernel.suffix + " is run; choose with -D", options);
  RandomOptions random;
  random.seed = static_cast<uint64_t>(options.seed);
  std::string reason;
  if (!fill_random(variation->kernel, input, random, reason))
    return complain(reason, kBadCommandLine);
  std::map<std::string, Array> outputs;
  code = interpreted ? run_interpreter(options, *compiled, variation->interpreted(), input, outputs)
                     : run_native(options, *compiled, variation->kernel, input, outputs);
  if (code != kOk && outputs.empty())
    return code;
  const int put = put_outputs(options, variation->kernel, input, outputs); // after a failed assert, too
  return code != kOk ? code : put;
}

std::string given_scalars(const Options &options, const Kernel &kernel, RunInput &input) {
  for (const std::string &text : options.scalars) {
    auto pair = pair_of(text);
    std::optional<double> value = pair ? number_of(pair->second) : std::nullopt;
    if (!value)
      return "--scalar takes NAME=NUMBER, not " + text;
    const auto scalar = std::ranges::find(kernel.scalars, pair->first, &ScalarArgument::name);
    if (scalar == kernel.scalars.end())
      return "--scalar " + pair->first + ": the kernel has no such scalar";
    if (!input.scalars.emplace(pair->first, *value).second)
      return "--scalar " + pair->first + " is given twice";
    std::optional<int64_t> whole = integer_of(pair->second);
    if (!whole && scalar->type == Type::u64)
      whole = large_integer_of(pair->second);
    if (whole)
      input.integers[pair->first] = *whole;
  }
  return "";
}

int verify(const Options &options) {
  if (options.gradient)
    return verify_grad(options);
  LoadOptions load;
  if (!load_options(options, load))
    return kBadCommandLine;
  Diagnostics diags;
  std::optional<Compiled> compiled = compile_file(options.specs[0], options_to_run(options, load, Stage::emit), diags);
  int code = report(diags, options);
  if (!compiled)
    return code;
  std::string reason;
  std::unique_ptr<NativeKernel> native = NativeKernel::build(*compiled, native_options(options), reason);
  if (!native)
    return complain(reason, kDrift);
  DifferentialOptions how;
  if (const std::string wrong = given_sizes(options, compiled->variations.front().kernel, how.given.sizes);
      !wrong.empty())
    return complain(wrong, kBadCommandLine);
  if (const std::string wrong = given_scalars(options, compiled->variations.front().kernel, how.given); !wrong.empty())
    return complain(wrong, kBadCommandLine);
  how.work = options.work;
  static const std::map<std::string, RandomData> kData = {{"real", RandomData::real},
                                                          {"integers", RandomData::integers},
                                                          {"nans", RandomData::nans},
                                                          {"all", RandomData::all},
                                                          {"extremes", RandomData::extremes}};
  how.data = kData.at(options.data);
  how.seeds.clear();
  for (int64_t seed = 1; seed <= options.seeds; ++seed)
    how.seeds.push_back(static_cast<uint64_t>(seed));
  if (options.target == "cuda_model")
    how.threads = {1};
  DifferentialReport report = verify_native(*compiled, *native, how);
  std::cout << options.specs[0] << ": " << report.cases << " cases on " << options.target << ", " << report.elements
            << " elements compared, " << report.exact << " of them bit for bit, " << report.undecided << " undecided, "
            << report.refused << " cases refused by both, " << report.too_big << " over the work limit\n";
  for (const std::string &sizes : report.sizes)
    std::cout << "  " << sizes << "\n";
  if (!report.no_verdict.empty() && report.difference.empty() && report.failed_assert.empty())
    return complain("no verdict: " + report.no_verdict, kDrift);
  if (!report.failed_assert.empty())
    return complain(report.failed_assert, kDrift);
  if (report.difference.empty())
    return kOk;
  return complain("they differ at " + report.difference, kDrift);
}

} // namespace kgen
