#include "cli/differential.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "ir/evaluate.h"
#include "ir/required_sizes.h"

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

// The first element with other bits; nothing where there is none. Of what is no number no bits are promised.
std::optional<int64_t> first_change(const Array &before, const Array &now) {
  if (before.bytes == now.bytes)
    return std::nullopt;
  const int bytes = bytes_of(now.type);
  for (int64_t i = 0; i < now.elements(); ++i) {
    const unsigned char *one = before.bytes.data() + i * bytes, *other = now.bytes.data() + i * bytes;
    const bool nothing = is_floating(now.type) && std::isnan(load_value(one, now.type).number) &&
                         std::isnan(load_value(other, now.type).number);
    if (!nothing && std::memcmp(one, other, bytes) != 0)
      return i;
  }
  return std::nullopt;
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
      const bool both_nan = is_floating(type) && std::isnan(value.number) && std::isnan(declared.number);
      if (both_nan && !known.exact[i] && !std::isnan(known.value[i])) { // what it is of has overflowed
        ++undecided;
        continue;
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

// The workspace is full of bytes that as numbers are above all others, then below them: what reads it differs.
std::vector<NativeCase> native_cases(const DifferentialOptions &options) {
  constexpr int kAbove = 0x5B, kBelow = 0xC7;
  std::vector<NativeCase> out;
  for (int threads : options.threads)
    out.push_back({{.threads = threads,
                    .workspace = out.size() % 2 == 1 ? kAbove : 0,
                    .least_workspace = true,
                    .timeout_s = options.timeout_s},
                   std::to_string(threads) + (threads == 1 ? " thread" : " threads")});
  if (options.unaligned)
    out.push_back({{.threads = options.threads.empty() ? 0 : options.threads.back(),
                    .unaligned = true,
                    .workspace = kBelow,
                    .timeout_s = options.timeout_s},
                   "unaligned arrays, own workspace"});
  return out;
}

// What a GPU does not look for in tables, which can say so of any entries.
bool goes_by_entries(Fault fault) {
  return fault == Fault::repeats || fault == Fault::comes_back || fault == Fault::collides || fault == Fault::meets ||
         fault == Fault::undefined || fault == Fault::unwritten;
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
  if (declared.error.empty() && !declared.asserts.empty()) {
    report.failed_assert = to_string(declared.asserts.front());
    return false;
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
      const bool trusts = native.target() == NativeTarget::cuda_model && has_device_tables(kernel);
      if (result.status == 0 && result.table_status == 0 && !(trusts && goes_by_entries(declared.fault)))
        return differs("the interpreter refuses (" + declared.error + "), the launcher does not");
      ++report.refused;
      return true;
    }
    if (result.status != 0)
      return differs("the launcher returned " + std::to_string(result.status) + ": " + result.message);
    if (result.table_status != 0)
      return differs("table_status is " + std::to_string(result.table_status) + ": " + result.message);
    OutputComparison comparison(kernel, declared, reference, report);
    for (const auto &[name, array] : result.outputs) {
      if ((first.empty() || any_order) && !comparison.compare(name, array, held_before(kernel, input, name)))
        return differs(report.difference);
      if (const auto place = first.empty() || any_order ? std::nullopt : first_change(first.at(name), array))
        return differs(place_text(name, array.shape, *place) + " has other bits than with the first run");
    }
    if (first.empty())
      first = std::move(result.outputs);
  }
  return true;
}

namespace {

// The edge sizes of the axes that are not told; nearby ones where the spec requires others of a call. The first that
// are to be refused stay, as both must.
std::vector<AxisSizes> sizes_to_try(const Kernel &kernel, const DifferentialOptions &options) {
  std::vector<AxisSizes> out;
  bool refused = false;
  const auto add = [&](const AxisSizes &sizes) {
    if (std::find(out.begin(), out.end(), sizes) == out.end())
      out.push_back(sizes);
  };
  for (AxisSizes sizes : edge_sizes(kernel)) {
    for (auto &[name, size] : sizes)
      if (const auto told = options.given.sizes.find(name); told != options.given.sizes.end())
        size = told->second;
    const std::optional<AxisSizes> nearby = required_sizes({&kernel}, sizes, options.given.sizes, 0);
    if (nearby)
      add(*nearby);
    if (nearby != sizes && !std::exchange(refused, true))
      add(sizes);
  }
  return out;
}

} // namespace

namespace {

// One choice of sizes with one seed; `work` is what it may take.
struct Case {
  const Variation *variation;
  std::map<std::string, int64_t> sizes;
  uint64_t seed;
  int64_t elements; // of all arguments

  std::string name() const {
    const std::string &suffix = variation->kernel.suffix;
    return sizes_text(sizes) + (suffix.empty() ? "" : ", " + suffix) + ", seed " + std::to_string(seed);
  }
};

std::vector<Case> all_cases(const Compiled &compiled, const DifferentialOptions &options) {
  std::vector<Case> out;
  for (const Variation &variation : compiled.variations)
    for (const std::map<std::string, int64_t> &sizes : sizes_to_try(variation.kernel, options))
      for (uint64_t seed : options.seeds) {
        RunInput input;
        input.sizes = sizes;
        out.push_back({&variation, sizes, seed, argument_elements(variation.kernel, input)});
      }
  return out;
}

// False: they differ. `ran` if neither the work limit nor missing data were in the way.
bool try_case(const Case &one, const NativeKernel &native, const DifferentialOptions &options,
              DifferentialReport &report, bool &ran) {
  ran = false;
  if (one.elements > options.work) {
    ++report.too_big;
    return true;
  }
  RunInput input = options.given;
  input.sizes = one.sizes;
  RandomOptions random;
  random.seed = one.seed;
  const RandomData data = options.data == RandomData::all ? kInTurn[one.seed % std::size(kInTurn)] : options.data;
  random.nans = data == RandomData::nans;
  random.extremes = data == RandomData::extremes;
  random.integers = data != RandomData::real;
  random.optional_operands = one.seed % 2 == 1;
  random.fewer_outputs = !random.optional_operands;
  random.partial_outputs = true;
  std::string reason;
  if (!fill_random(one.variation->kernel, input, random, reason)) {
    ++report.refused;
    return true;
  }
  ran = true;
  const bool same = compare_once(one.variation->interpreted(), native, input, one.seed, options, report);
  if (!report.failed_assert.empty())
    report.failed_assert =
        one.name() + ": " + report.failed_assert +
        (random.nans ? "; some of the inputs are NaN, which --data real and --data integers leave out" : "");
  else if (!same)
    report.difference = one.name() + ": " + report.difference;
  return same;
}

// Why nothing is known, though nothing differs; empty where something is.
std::string why_no_verdict(const DifferentialReport &report, const DifferentialOptions &options) {
  if (report.elements == 0)
    return "no element was compared: " + std::to_string(report.too_big) + " cases are over the work limit (--work), " +
           std::to_string(report.refused) +
           " were refused by both, the others have empty outputs; --size M=256,N=128 tries sizes that fit";
  for (const auto &[name, tally] : report.tally)
    if (tally.undecided > tally.compared)
      return std::to_string(tally.undecided) + " of " + std::to_string(tally.undecided + tally.compared) +
             " elements of " + name +
             " are undecided. They depend on a rounding, a cast, an overflow or a comparison so close that either side "
             "is right" +
             (options.data == RandomData::all ? "; try --data integers, or --data real" : "");
  return "";
}

} // namespace

DifferentialReport verify_native(const Compiled &compiled, const NativeKernel &native,
                                 const DifferentialOptions &options) {
  DifferentialReport report;
  std::set<std::string> tried;
  const std::vector<Case> cases = all_cases(compiled, options);
  bool ran = false;
  std::vector<Case> too_big;
  auto holds = [&](const Case &one, const DifferentialOptions &how) {
    const int before = report.too_big;
    const bool same = try_case(one, native, how, report, ran);
    if (ran)
      tried.insert(sizes_text(one.sizes));
    if (report.too_big > before)
      too_big.push_back(one);
    return same;
  };
  bool same = std::all_of(cases.begin(), cases.end(), [&](const Case &one) { return holds(one, options); });
  // Where blocks are large, all that fits them is over the limit: the least of it is worth more time than no verdict.
  constexpr int64_t kPatience = 64;
  if (same && report.elements == 0 && report.too_big > 0) {
    DifferentialOptions patient = options;
    patient.work =
        options.work > std::numeric_limits<int64_t>::max() / kPatience ? options.work : options.work * kPatience;
    std::vector<Case> again = std::exchange(too_big, {});
    std::stable_sort(again.begin(), again.end(), [](const Case &a, const Case &b) { return a.elements < b.elements; });
    for (size_t i = 0; i < again.size() && same && report.elements == 0; ++i) {
      if (again[i].seed != options.seeds.front())
        continue;
      --report.too_big;
      same = holds(again[i], patient);
    }
  }
  report.sizes.assign(tried.begin(), tried.end());
  if (same)
    report.no_verdict = why_no_verdict(report, options);
  return report;
}

} // namespace kgen
