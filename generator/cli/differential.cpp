#include "cli/differential.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "ir/evaluate.h"

namespace kgen {

namespace {

std::string text_of(Value value, Type type) {
  if (!is_floating(type))
    return type == Type::u64 ? std::to_string(static_cast<uint64_t>(value.integer)) : std::to_string(value.integer);
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", value.number);
  return buffer;
}

std::string place_text(const std::string &name, const std::vector<int64_t> &shape, int64_t element) {
  std::string out;
  for (size_t d = shape.size(); d-- > 0; element /= std::max<int64_t>(shape[d], 1))
    out = std::to_string(element % std::max<int64_t>(shape[d], 1)) + (out.empty() ? "" : ", ") + out;
  return name + "[" + out + "]";
}

std::string sizes_text(const std::map<std::string, int64_t> &sizes) {
  std::string out;
  for (const auto &[name, size] : sizes)
    out += (out.empty() ? "" : " ") + name + "=" + std::to_string(size);
  return out.empty() ? "no sizes" : out;
}

bool same(Value a, Value b, Type type) {
  if (!is_floating(type))
    return a.integer == b.integer;
  return a.number == b.number || (std::isnan(a.number) && std::isnan(b.number));
}

class OutputComparison {
public:
  OutputComparison(const Kernel &kernel, const RunResult &declared, const RunResult &reference,
                   DifferentialReport &report)
      : kernel_(kernel), declared_(declared), reference_(reference), report_(report) {}

  bool compare(const std::string &name, const Array &out, const Array *before) {
    const Array &wanted = declared_.outputs.at(name);
    const ReferenceOutput &known = reference_.reference.at(name);
    Type type = wanted.type;
    int bytes = bytes_of(type);
    int64_t undecided = 0, n = wanted.elements();
    for (int64_t i = 0; i < n; ++i) {
      Value value = load_value(out.bytes.data() + i * bytes, type);
      Value declared = load_value(wanted.bytes.data() + i * bytes, type);
      if (!known.defined[i] || (!known.value.empty() && known.undecided[i])) {
        bool kept =
            !known.defined[i] && (!before || same(value, load_value(before->bytes.data() + i * bytes, type), type));
        undecided += known.undecided[i];
        if (known.undecided[i] || kept || !before)
          continue;
        return differs(place_text(name, wanted.shape, i) + " was " + text_of(value, type) + " but must be kept");
      }
      report_.exact += known.exact[i];
      bool right = known.exact[i] ? same(value, declared, type)
                                  : agrees(value.number, known.value[i], known.magnitude[i], type,
                                           accumulating_type(kernel_), reference_.longest_reduction);
      if (!right)
        return differs(
            place_text(name, wanted.shape, i) + " is " + text_of(value, type) + ", the interpreter has " +
            text_of(declared, type) +
            (known.exact[i] ? " (exact)" : " (in double " + text_of(number_value(known.value[i]), Type::f64) + ")"));
    }
    report_.elements += n;
    report_.undecided += undecided;
    report_.tally[name].compared += n - undecided;
    report_.tally[name].undecided += undecided;
    return true;
  }

private:
  bool differs(const std::string &text) {
    report_.difference = text;
    return false;
  }

  const Kernel &kernel_;
  const RunResult &declared_, &reference_;
  DifferentialReport &report_;
};

constexpr RandomData kInTurn[] = {RandomData::nans, RandomData::real, RandomData::integers};

struct NativeCase {
  NativeRunOptions options;
  std::string name;
};

std::vector<NativeCase> native_cases(const DifferentialOptions &options) {
  std::vector<NativeCase> out;
  for (int threads : options.threads)
    out.push_back({{threads, false, false, options.timeout_s},
                   std::to_string(threads) + (threads == 1 ? " thread" : " threads")});
  if (options.unaligned)
    out.push_back({{options.threads.empty() ? 0 : options.threads.back(), true, true, options.timeout_s},
                   "unaligned arrays, own workspace"});
  return out;
}

const Array *held_before(const Kernel &kernel, const RunInput &input, const std::string &name) {
  for (const Var &var : kernel.vars)
    if (var.name == name) {
      auto it = input.arrays.find(name);
      if (it == input.arrays.end() && var.alias != kNone)
        it = input.arrays.find(kernel.vars[var.alias].name);
      return it == input.arrays.end() ? nullptr : &it->second;
    }
  return nullptr;
}

// Elements of all operands; what has no shape counts nothing.
int64_t argument_elements(const Kernel &kernel, const RunInput &input) {
  int64_t total = 0;
  for (const Var &var : kernel.vars) {
    if (var.kind != Var::Kind::input && var.kind != Var::Kind::output)
      continue;
    int64_t elements = 1;
    for (int64_t extent : array_shape(kernel, var, input).value_or(std::vector<int64_t>{0}))
      elements *= extent; // a shape's product is known not to overflow
    if (__builtin_add_overflow(total, elements, &total))
      return std::numeric_limits<int64_t>::max();
  }
  return total;
}

// Sums of floats that threads add up in whatever order they come: their last bits differ from run to run.
bool adds_in_any_order(const Kernel &kernel) {
  return std::any_of(kernel.vars.begin(), kernel.vars.end(),
                     [](const Var &var) { return var.atomic && is_floating(var.type); });
}

} // namespace

std::vector<std::map<std::string, int64_t>> edge_sizes(const Kernel &kernel) {
  RunInput none;
  std::map<std::string, std::set<int64_t>> blocks;
  auto note = [&](AxisId axis, const Size &block) {
    if (axis != kNone && block.is_integer() && block.value > 1)
      blocks[kernel.axes[axis].name].insert(block.value);
  };
  for (const GridDim &dim : kernel.grid)
    note(dim.axis, dim.block);
  for (const Var &var : kernel.vars)
    for (const Dim &dim : var.dims)
      if (!dim.whole)
        note(dim.axis, dim.block);
  std::map<std::string, int64_t> usual, beyond, ones, wide;
  std::map<std::string, std::set<int64_t>> sweep, full; // beside few others, and beside such as fill vectors
  int64_t spread = 0;
  for (AxisId id : kernel.size_arguments) {
    const Axis &axis = kernel.axes[id];
    if (axis.size.op != Size::Op::axis)
      continue; // specialised: the variant says it
    auto rounded = [&](int64_t size) { return (size + axis.multiple_of - 1) / axis.multiple_of * axis.multiple_of; };
    std::set<int64_t> &own = sweep[axis.name];
    for (int64_t size : {0, 1, 2, 7, 13, 31, 64, 257, 1009})
      own.insert(rounded(size));
    for (int64_t size : {15, 16, 97})
      full[axis.name].insert(rounded(size));
    int64_t most = 0;
    for (int64_t block : blocks[axis.name]) {
      for (int64_t size : {block - 1, block, block + 1})
        own.insert(rounded(size));
      most = std::max(most, block);
    }
    usual[axis.name] = rounded(most > 0 && most <= 64 ? most + 1 + spread : 5 + spread);
    beyond[axis.name] = rounded(most > 0 ? most + 1 : 33);
    ones[axis.name] = rounded(1);
    wide[axis.name] = rounded(19 + spread); // fills vectors
    spread = (spread + 2) % 6;              // unlike sizes, so that mixed-up axes show
  }
  std::vector<std::map<std::string, int64_t>> out = {usual, beyond, ones, wide};
  const auto with = [&](std::map<std::string, int64_t> sizes, const std::string &name, int64_t size) {
    sizes[name] = size;
    out.push_back(std::move(sizes));
  };
  for (const auto &[name, sizes] : sweep)
    for (int64_t size : sizes)
      with(usual, name, size);
  for (const auto &[name, sizes] : full)
    for (int64_t size : sizes)
      with(wide, name, size);
  std::sort(out.begin() + 1, out.end());
  out.erase(std::unique(out.begin() + 1, out.end()), out.end());
  return out;
}

bool compare_once(const Kernel &kernel, const NativeKernel &native, const RunInput &input, uint64_t seed,
                  const DifferentialOptions &options, DifferentialReport &report) {
  RunOptions run;
  run.seed = seed;
  run.work_limit = options.work;
  RunResult declared = interpret(kernel, input, run);
  if (declared.operations > options.work) {
    ++report.too_big;
    return true;
  }
  run.reference = true;
  run.work_limit = 0;
  RunResult reference = declared.error.empty() ? interpret(kernel, input, run) : RunResult();
  if (!reference.error.empty()) {
    report.difference = "the interpreter refuses the reference run only: " + reference.error;
    return false;
  }
  ++report.cases;
  const bool any_order = adds_in_any_order(kernel);
  std::map<std::string, Array> first;
  for (const NativeCase &native_case : native_cases(options)) {
    NativeResult result = native.run(kernel, input, native_case.options);
    auto differs = [&](const std::string &text) {
      report.difference = text + " (" + native_case.name + ")";
      return false;
    };
    if (!result.error.empty())
      return differs(result.error);
    if (!declared.error.empty()) {
      bool may_skip = native.target() == NativeTarget::cuda_model && has_device_tables(kernel);
      if (result.status == 0 && !may_skip)
        return differs("the interpreter refuses (" + declared.error + "), the launcher does not");
      ++report.refused;
      return true;
    }
    if (result.status != 0)
      return differs("the launcher returned " + std::to_string(result.status) + ": " + result.message);
    OutputComparison comparison(kernel, declared, reference, report);
    for (const auto &[name, array] : result.outputs) {
      if ((first.empty() || any_order) && !comparison.compare(name, array, held_before(kernel, input, name)))
        return differs(report.difference);
      if (!first.empty() && !any_order && first.at(name).bytes != array.bytes)
        return differs("`" + name + "` has other bits than with the first run");
    }
    if (first.empty())
      first = std::move(result.outputs);
  }
  return true;
}

namespace {

// The edge sizes of the axes that are not told.
std::vector<std::map<std::string, int64_t>> sizes_to_try(const Kernel &kernel, const DifferentialOptions &options) {
  std::vector<std::map<std::string, int64_t>> out;
  for (std::map<std::string, int64_t> sizes : edge_sizes(kernel)) {
    for (auto &[name, size] : sizes)
      if (const auto told = options.sizes.find(name); told != options.sizes.end())
        size = told->second;
    if (std::find(out.begin(), out.end(), sizes) == out.end())
      out.push_back(std::move(sizes));
  }
  return out;
}

} // namespace

DifferentialReport verify_native(const Compiled &compiled, const NativeKernel &native,
                                 const DifferentialOptions &options) {
  DifferentialReport report;
  std::set<std::string> tried;
  for (const Variation &variation : compiled.variations) {
    const Kernel &kernel = variation.kernel;
    for (const std::map<std::string, int64_t> &sizes : sizes_to_try(kernel, options))
      for (uint64_t seed : options.seeds) {
        RunInput input;
        input.sizes = sizes;
        RandomOptions random;
        random.seed = seed;
        const RandomData data = options.data == RandomData::all ? kInTurn[seed % std::size(kInTurn)] : options.data;
        random.nans = data == RandomData::nans;
        random.integers = data != RandomData::real;
        random.optional_operands = seed % 2 == 1;
        random.partial_outputs = true;
        std::string reason;
        std::string name = sizes_text(sizes) + (kernel.suffix.empty() ? "" : ", " + kernel.suffix);
        if (argument_elements(kernel, input) > options.work) {
          ++report.too_big;
          continue;
        }
        if (!fill_random(kernel, input, random, reason)) {
          ++report.refused;
          continue;
        }
        tried.insert(sizes_text(sizes));
        if (!compare_once(kernel, native, input, seed, options, report)) {
          report.difference = name + ", seed " + std::to_string(seed) + ": " + report.difference;
          report.sizes.assign(tried.begin(), tried.end());
          return report;
        }
      }
  }
  report.sizes.assign(tried.begin(), tried.end());
  for (const auto &[name, tally] : report.tally)
    if (tally.undecided > tally.compared)
      report.no_verdict = std::to_string(tally.undecided) + " of " + std::to_string(tally.undecided + tally.compared) +
                          " elements of " + name +
                          " are undecided. They hang on a rounding, a cast or a comparison so close that either side "
                          "is right" +
                          (options.data == RandomData::all ? "; try --data integers, or --data real" : "");
  if (report.cases == 0)
    report.no_verdict = "no case ran: " + std::to_string(report.too_big) + " are over the work limit (--work), " +
                        std::to_string(report.refused) + " were refused";
  return report;
}

} // namespace kgen
