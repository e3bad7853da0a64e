// Effort is counted, not timed, so that a kernel has the same messages on every machine.
#include "analysis/witness.h"

#include <algorithm>

#include "ir/evaluate.h"
#include "support/text.h"

namespace kgen::analysis {
namespace {

// What one run may take: operations, and elements of an array.
struct Limits {
  int64_t operations, elements;
};
constexpr Limits kShort = {20'000, 4096};      // of many that are tried
constexpr Limits kLong = {4'000'000, 1 << 18}; // of one that a proof has pointed at, where short ones show nothing
constexpr int64_t kMostOfAll = 1'000'000;      // operations of all short runs for one kernel
constexpr int64_t kMostRuns = 600;
constexpr size_t kMostNumbers = 4;

// What arrays are filled with: one number, or small ones, one unlike the next.
struct Data {
  std::vector<int64_t> numbers = {0, 1, -1, 100, -100};

  // Those that the body compares with are worth a try.
  explicit Data(const Kernel &kernel) {
    const size_t most = numbers.size() + kMostNumbers;
    for (const Expr &expr : kernel.exprs)
      if (expr.op == Op::constant && is_integer(expr.type) && std::abs(expr.integer) < kShort.elements &&
          std::find(numbers.begin(), numbers.end(), expr.integer) == numbers.end() && numbers.size() < most)
        numbers.push_back(expr.integer);
  }
  int count() const { return static_cast<int>(numbers.size()) + 1; }
  bool is_mixed(int data) const { return data == count() - 1; }
  int64_t element(int data, size_t number) const {
    return is_mixed(data) ? static_cast<int64_t>((number * 7 + 3) % 5) - 1 : numbers[static_cast<size_t>(data)];
  }
};

// More than `most` is told as one more.
int64_t elements_of(const std::vector<int64_t> &shape, int64_t most) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count = extent > most ? most + 1 : std::min(count * extent, most + 1);
  return count;
}

std::optional<Array> filled(Type type, const std::optional<std::vector<int64_t>> &shape, const Data &all, int data,
                            int64_t most) {
  const int64_t elements = shape ? elements_of(*shape, most) : most + 1;
  if (elements > most)
    return std::nullopt;
  Array array{type, *shape, {}};
  array.bytes.resize(static_cast<size_t>(elements * bytes_of(type)));
  const auto bytes = static_cast<size_t>(bytes_of(type));
  for (size_t i = 0; i * bytes < array.bytes.size(); ++i)
    store_value(&array.bytes[i * bytes], type, convert(integer_value(all.element(data, i)), Type::i64, type));
  return array;
}

// What a trial is as arguments.
std::optional<RunInput> arguments_of(const Kernel &kernel, const Trial &trial, int data, int64_t most) {
  const Data all(kernel);
  RunInput out;
  for (AxisId axis : kernel.size_arguments)
    out.sizes[kernel.axes[axis].name] = trial.axes[axis].value_or(0);
  for (size_t t = 0; t < kernel.tables.size(); ++t) {
    Array table{kernel.tables[t].type, trial.table_dims[t], {}};
    const auto bytes = static_cast<size_t>(bytes_of(table.type));
    table.bytes.resize(trial.tables[t].size() * bytes);
    for (size_t i = 0; i < trial.tables[t].size(); ++i)
      store_value(&table.bytes[i * bytes], table.type, integer_value(trial.tables[t][i]));
    out.tables[kernel.tables[t].name] = std::move(table);
  }
  for (const Var &var : kernel.vars) {
    if (var.kind != Var::Kind::input)
      continue;
    auto array = filled(var.type, array_shape(kernel, var, out), all, data, most);
    if (!array)
      return std::nullopt;
    out.arrays[var.name] = std::move(*array);
  }
  for (const ScalarArgument &scalar : kernel.scalars) {
    out.scalars[scalar.name] = static_cast<double>(all.element(data, 0));
    out.integers[scalar.name] = all.element(data, 0);
  }
  return out;
}

Ran run_trial(const Kernel &kernel, const Trial &trial, int data, const Limits &limits, int64_t &operations) {
  const auto input = arguments_of(kernel, trial, data, limits.elements);
  if (!input)
    return {};
  RunOptions options;
  options.work_limit = limits.operations;
  const RunResult result = interpret(kernel, *input, options);
  operations += result.operations;
  return {result.fault, result.faulty, result.element, result.faulty_step};
}

// Nothing: no more runs are to be made.
std::optional<Ran> ran(Context &context, const Trial &trial, int data) {
  const auto known = context.runs.find({trial.number, data});
  if (known != context.runs.end())
    return known->second;
  if (context.run_operations > kMostOfAll || static_cast<int64_t>(context.runs.size()) >= kMostRuns)
    return std::nullopt;
  Ran now = run_trial(context.kernel, trial, data, kShort, context.run_operations);
  context.runs.emplace(std::pair(trial.number, data), now);
  return now;
}

bool is_that(const Ran &ran, Fault fault, VarId var) {
  return ran.fault == fault && (var == kNone || ran.faulty == var);
}

std::string data_text(const Kernel &kernel, int data) {
  const std::string scalars = kernel.scalars.empty() ? "" : " and scalars";
  const Data all(kernel);
  const bool has_unsigned = std::ranges::any_of(
      kernel.vars, [](const Var &var) { return var.kind == Var::Kind::input && is_unsigned(var.type); });
  const std::string number = all.is_mixed(data) ? "small numbers" : std::to_string(all.element(data, 0));
  const bool wraps = has_unsigned && number.starts_with("-");
  return "with " + number + " in all inputs" + scalars + (wraps ? " (unsigned ones: the greatest number)" : "");
}

// The fault of a trial, with data that bring it about.
std::optional<Example> example_of(Context &context, const Trial &trial, Fault fault, VarId var) {
  const int count = Data(context.kernel).count();
  for (int data = 0; data < count; ++data) {
    const auto found = ran(context, trial, data);
    if (!found)
      return std::nullopt;
    if (!is_that(*found, fault, var))
      continue;
    const Search::Steps steps = found->step.empty() ? Search::Steps{} : Search::Steps{found->step};
    Example out{context.search.witness(trial, steps, found->element), ""};
    for (int other = 0; other < count - 1 && out.data.empty(); ++other) {
      const auto again = ran(context, trial, other);
      if (!again || !is_that(*again, fault, var) || again->element != found->element)
        out.data = data_text(context.kernel, data);
    }
    return out;
  }
  return std::nullopt;
}

} // namespace

std::string text(const Kernel &kernel, const Example &example) {
  std::vector<std::string> parts = {to_string(kernel, {example.witness.sizes, {}, ""}), example.data};
  std::erase(parts, "");
  return join(parts, " and ") + (parts.empty() ? "" : ": ") + example.witness.element;
}

std::optional<Example> run_that_ends(Context &context, Fault fault, VarId var) {
  std::optional<Example> out;
  context.search.legal_runs([&](const Trial &trial, const Search::Steps &) {
    out = example_of(context, trial, fault, var);
    return !out && ran(context, trial, 0).has_value();
  });
  return out;
}

std::optional<Witness> executed(Context &context, const std::optional<Witness> &witness, Fault fault, VarId var) {
  const Trial *trial = witness ? context.search.trial_of(*witness) : nullptr;
  if (trial != nullptr)
    if (const auto example = example_of(context, *trial, fault, var)) {
      const std::string &element = example->witness.element;
      const bool same = element.empty() || witness->element.empty() || element == witness->element;
      return same ? witness : std::optional(example->witness);
    }
  if (const auto other = run_that_ends(context, fault, var))
    return other->witness;
  int64_t operations = 0;
  const bool ends_so = trial != nullptr && is_that(run_trial(context.kernel, *trial, 0, kLong, operations), fault, var);
  return ends_so ? witness : std::nullopt;
}

} // namespace kgen::analysis
