// verify --grad: is the backward kernel of a spec the gradient of it? Central differences of the forward kernel on the
// interpreter, all in double, along random directions and by single elements.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <sstream>

#include "cli/commands.h"
#include "cli/gradient.h"
#include "cli/inputs.h"
#include "grad/functions.h"
#include "ir/interpret.h"
#include "ir/required_sizes.h"
#include "ir/small_sizes.h"
#include "support/text.h"

namespace kgen {

namespace {

constexpr double kBound = 1e-6, kStep = 1e-3;
constexpr double kRounding = 2e-5;    // of a sum, over the smallest step and the bound
constexpr int64_t kMostElements = 48; // of an input, that are moved by themselves
constexpr int64_t kMostWork = 10'000'000;

// The kernel in double throughout.
Kernel in_double(Kernel kernel) {
  auto widen = [](Type &type) {
    if (is_floating(type))
      type = Type::f64;
  };
  for (Var &var : kernel.vars)
    widen(var.type);
  for (ScalarArgument &scalar : kernel.scalars)
    widen(scalar.type);
  for (Expr &e : kernel.exprs) {
    widen(e.type), widen(e.accumulator), widen(e.element);
    if (e.op == Op::round_like)
      e.op = Op::cast;
  }
  return kernel;
}

double &element(Array &array, size_t i) { return reinterpret_cast<double *>(array.bytes.data())[i]; }
double element(const Array &array, size_t i) { return reinterpret_cast<const double *>(array.bytes.data())[i]; }

const Var *find_var(const Kernel &kernel, const std::string &name) {
  for (const Var &var : kernel.vars)
    if (var.name == name && var.kind != Var::Kind::local)
      return &var;
  return nullptr;
}

struct Worst {
  double error = -1, gradient = 0, difference = 0;
  std::string where;
  bool of_element = false;

  // An element that is wrong says more than a direction along which they are.
  bool is_worse_than(const Worst &other) const {
    const bool names = of_element && error > kBound, other_names = other.of_element && other.error > kBound;
    return names != other_names ? names : error > other.error;
  }
};

// What was compared with all inputs.
struct Compared {
  int compared = 0, kinks = 0, infinite = 0;
  int zero = 0; // of those compared: by both ways
  Worst worst;
  std::string trouble;

  void add(const Compared &more) {
    compared += more.compared;
    kinks += more.kinks;
    infinite += more.infinite;
    zero += more.zero;
    if (!more.trouble.empty())
      trouble = more.trouble;
    if (more.worst.is_worse_than(worst))
      worst = more.worst;
  }
};

class Differences : public Compared {
public:
  Differences(const Kernel &forward, const Kernel &backward, const BackwardSpec &spec, uint64_t seed, int64_t work)
      : forward_(forward), backward_(backward), spec_(spec), random_(seed), work_(work) {}

  // Without the inputs that are absent; there is no gradient by these.
  void run(const RunInput &given, const std::map<std::string, int64_t> &sizes, uint64_t seed,
           const std::set<std::string> &absent) {
    input_ = given;
    input_.sizes = sizes;
    RandomOptions random;
    random.seed = seed;
    random.optional_operands = true;
    if (!fill_random(forward_, input_, random, trouble))
      return;
    for (const std::string &name : absent)
      input_.arrays.erase(name);
    RunOptions how;
    how.work_limit = work_;
    RunResult first = interpret(forward_, input_, how);
    if (first.error.empty() && !all_finite(first))
      draw_positive(first, how);
    // Of one element alone differences and deviations are 0, where roots have a corner.
    const bool alone = std::any_of(sizes.begin(), sizes.end(), [](const auto &size) { return size.second == 1; });
    strict_ = all_finite(first) && !alone;
    if (!first.error.empty()) {
      trouble = first.error + (forward_.scalars.empty() ? "" : "; --scalar a=2 says what a scalar is");
      return;
    }
    if (first.operations > how.work_limit) {
      trouble = "the sizes are too large";
      return;
    }
    for (const auto &[name, array] : first.outputs)
      if (array.type == Type::f64 && find_var(backward_, spec_.prefix + name) != nullptr) {
        Array gradient = array;
        for (size_t i = 0; i < count(array); ++i)
          element(gradient, i) = std::isfinite(element(array, i)) ? unit() : 0;
        gradients_[name] = std::move(gradient);
      }
    if (!some_finite()) {
      trouble = "no output is a number at the inputs that were drawn; --seeds 20 draws more";
      return;
    }
    RunInput back;
    back.sizes = sizes;
    back.tables = input_.tables;
    back.scalars = input_.scalars;
    back.integers = input_.integers;
    for (const Var &var : backward_.vars) {
      if (var.kind != Var::Kind::input)
        continue;
      if (const auto given = input_.arrays.find(var.name); given != input_.arrays.end())
        back.arrays[var.name] = given->second;
      else if (const auto made = first.outputs.find(var.name); made != first.outputs.end())
        back.arrays[var.name] = made->second;
      else if (absent.count(var.name) == 0 && var.name.starts_with(spec_.prefix))
        back.arrays[var.name] = gradients_.at(var.name.substr(spec_.prefix.size()));
    }
    add_sizes(back);
    const RunResult result = interpret(backward_, back, RunOptions{});
    if (!result.error.empty()) {
      trouble = "the backward kernel: " + result.error;
      return;
    }
    most_elements_ = std::min<int64_t>(kMostElements, kMostWork / 6 / std::max<int64_t>(first.operations, 1));
    for (const auto &[name, array] : result.outputs)
      if (const std::string input = name.substr(spec_.prefix.size()); absent.count(input) == 0)
        compare(input, array);
  }

private:
  static bool all_finite(const RunResult &result) {
    for (const auto &[name, array] : result.outputs)
      for (size_t i = 0; array.type == Type::f64 && i < count(array); ++i)
        if (!std::isfinite(element(array, i)))
          return false;
    return true;
  }

  // Is there a gradient to begin with? None is given of what is no number.
  bool some_finite() const {
    bool any = false, given = false;
    for (const auto &[name, gradient] : gradients_)
      for (size_t i = 0; i < count(gradient); ++i)
        any = true, given = given || element(gradient, i) != 0;
    return given || !any;
  }

  // What has logarithms or roots may be no number but for inputs above 0.
  void draw_positive(RunResult &first, const RunOptions &how) {
    RunInput drawn = input_;
    for (auto &[name, array] : drawn.arrays)
      for (size_t i = 0; array.type == Type::f64 && i < count(array); ++i)
        element(array, i) = std::fabs(element(array, i));
    RunResult again = interpret(forward_, drawn, how);
    if (!again.error.empty() || !all_finite(again))
      return;
    input_ = std::move(drawn);
    first = std::move(again);
  }

  // Sizes that the forward kernel derives may be arguments of the backward one: its arrays have them.
  void add_sizes(RunInput &back) const {
    for (const Var &var : backward_.vars)
      if (const auto array = back.arrays.find(var.name); array != back.arrays.end())
        for (const Dim &dim : var.dims)
          if (dim.extent.op == Size::Op::axis && dim.array_dim < static_cast<int>(array->second.shape.size()))
            back.sizes.emplace(dim.extent.name, array->second.shape[static_cast<size_t>(dim.array_dim)]);
  }

  static size_t count(const Array &array) { return static_cast<size_t>(array.elements()); }
  double unit() { return 0.25 + std::uniform_real_distribution<double>(0, 1)(random_) * (random_() % 2 == 0 ? 1 : -1); }

  // The outputs times their gradients.
  double value(const RunInput &input) {
    RunResult result = interpret(forward_, input, RunOptions{});
    if (!result.error.empty())
      trouble = result.error;
    double out = 0;
    magnitude_ = 0;
    for (const auto &[name, gradient] : gradients_) {
      const auto made = result.outputs.find(name);
      for (size_t i = 0; made != result.outputs.end() && i < count(gradient); ++i)
        if (element(gradient, i) != 0)
          out += element(gradient, i) * element(made->second, i),
              magnitude_ += std::fabs(element(gradient, i) * element(made->second, i));
    }
    return out;
  }

  // Along a direction of one input; a scalar has one element.
  double moved(const std::string &name, const std::vector<double> &direction, double by) {
    RunInput input = input_;
    if (const auto array = input.arrays.find(name); array != input.arrays.end())
      for (size_t i = 0; i < direction.size(); ++i)
        element(array->second, i) += by * direction[i];
    else
      input.scalars[name] += by * direction[0];
    return value(input);
  }

  void one(const std::string &name, const std::string &where, const std::vector<double> &direction, double gradient,
           double scale, bool of_element) {
    double central[3];
    for (int halved = 0; halved < 3; ++halved) {
      const double step = kStep / (1 << halved);
      central[halved] = (moved(name, direction, step) - moved(name, direction, -step)) / (2 * step);
    }
    // Extrapolated to no step at all; where both ways differ there is a corner between.
    const double rough = (4 * central[1] - central[0]) / 3, difference = (4 * central[2] - central[1]) / 3;
    const double size = std::max({std::fabs(difference), std::fabs(gradient), scale, kRounding * magnitude_, 1e-6});
    if (!(std::fabs(rough - difference) <= kBound / 10 * size)) {
      ++kinks;
      return;
    }
    ++compared;
    zero += difference == 0 && gradient == 0 ? 1 : 0;
    double error = std::fabs(difference - gradient) / size;
    if (std::isnan(error))
      error = HUGE_VAL;
    if (const Worst own{error, gradient, difference, where, of_element}; own.is_worse_than(worst))
      worst = own;
  }

  void compare(const std::string &name, const Array &gradient) {
    const size_t n = count(gradient);
    if (n == 0)
      return;
    double largest = 0;
    size_t numbers = 0;
    for (size_t i = 0; i < n; ++i)
      if (std::isfinite(element(gradient, i)))
        largest = std::max(largest, std::fabs(element(gradient, i))), ++numbers;
    infinite += static_cast<int>(n - numbers);
    for (int round = 0; round < 3 && numbers > 0; ++round) {
      std::vector<double> direction(n);
      double along = 0;
      for (size_t i = 0; i < n; ++i) {
        if (!std::isfinite(element(gradient, i)))
          continue;
        direction[i] = unit();
        along += direction[i] * element(gradient, i);
      }
      one(name, spec_.prefix + name + " along a random direction", direction, along, largest * 0.1, false);
    }
    const size_t most = static_cast<size_t>(most_elements_);
    const size_t step = most == 0 ? n : std::max<size_t>(1, (n + most - 1) / most);
    for (size_t i = 0; i < n && most > 0; ++i) {
      const bool number = std::isfinite(element(gradient, i));
      if (number ? i % step != 0 : !strict_ || std::isinf(worst.error))
        continue;
      std::vector<double> direction(n, 0);
      direction[i] = 1;
      one(name, spec_.prefix + name + place_text(gradient, i), direction, element(gradient, i), largest * 0.1, true);
      if (!trouble.empty())
        return;
    }
  }

  std::string place_text(const Array &array, size_t i) const {
    std::vector<std::string> out;
    for (size_t d = array.shape.size(); d-- > 0;) {
      const size_t extent = static_cast<size_t>(array.shape[d]);
      out.insert(out.begin(), std::to_string(i % extent));
      i /= extent;
    }
    return out.empty() ? "" : "[" + join(out, ", ") + "]";
  }

  const Kernel &forward_, &backward_;
  const BackwardSpec &spec_;
  std::mt19937_64 random_;
  RunInput input_;
  const int64_t work_; // element operations of one run
  int64_t most_elements_ = kMostElements;
  bool strict_ = true;   // a gradient that is no number is wrong: all that the forward kernel gives is one
  double magnitude_ = 0; // of the products that were added up last
  std::map<std::string, Array> gradients_;
};

const Variation *find_backward(const Compiled &backward, const Variant &forward) {
  for (const Variation &variation : backward.variations) {
    const auto same = [](const auto &of, const auto &in) {
      return std::all_of(of.begin(), of.end(), [&](const auto &entry) {
        const auto found = in.find(entry.first);
        return found == in.end() || found->second == entry.second;
      });
    };
    if (same(variation.variant.types, forward.types) && same(variation.variant.params, forward.params) &&
        same(variation.variant.axes, forward.axes))
      return &variation;
  }
  return nullptr;
}

// Which optional inputs are left out in turn: none, each, all.
std::vector<std::set<std::string>> sets_of_absent(const Kernel &kernel) {
  std::set<std::string> all;
  for (const Var &var : kernel.vars)
    if (var.kind == Var::Kind::input && var.optional)
      all.insert(var.name);
  std::vector<std::set<std::string>> out = {{}};
  for (const std::string &name : all)
    out.push_back({name});
  if (all.size() > 1)
    out.push_back(all);
  return out;
}

int complain(const std::string &text, int code) {
  std::cerr << "kgen: " << text << "\n";
  return code;
}

} // namespace

int verify_grad(const Options &options) {
  LoadOptions load;
  if (!load_options(options, load))
    return kBadCommandLine;
  Diagnostics diags;
  const std::optional<BackwardSpec> spec = backward_of(options, options.specs[0], "", diags);
  const int code = report(diags, options);
  if (!spec)
    return code;
  Diagnostics known;
  CompileOptions how = compile_options(options, load, Stage::facts);
  const std::optional<Compiled> forward = compile_file(options.specs[0], how, known);
  how.load = {};
  const std::optional<Compiled> backward = compile(spec->kernel + ".toml", spec->text, how, known);
  if (!forward || !backward)
    return kBadSpec;
  Compared total;
  std::set<std::pair<std::map<std::string, ParamValue>, std::map<std::string, int64_t>>> done;
  for (const Variation &variation : forward->variations) {
    const Variation *back = find_backward(*backward, variation.variant);
    if (back == nullptr || !done.insert({variation.variant.params, variation.variant.axes}).second)
      continue;
    const Kernel a = in_double(variation.kernel), b = in_double(back->kernel);
    AxisSizes given;
    if (const std::string wrong = given_sizes(options, a, given); !wrong.empty())
      return complain(wrong, kBadCommandLine);
    RunInput scalars;
    if (const std::string wrong = given_scalars(options, a, scalars); !wrong.empty())
      return complain(wrong, kBadCommandLine);
    for (const int64_t base : {3, 1, 5, 9, 17}) {
      if (base > 5 && (!options.sizes.empty() || total.zero < total.compared)) // longer ones, where windows were empty
        continue;
      std::optional<AxisSizes> sizes = small_sizes(a, given, base);
      if (sizes)
        sizes = required_sizes({&a, &b}, *sizes, given, 1).value_or(*sizes);
      if (!sizes) {
        total.trouble = "some axis has no elements; --size M=256,N=128 tries sizes that fit";
        continue;
      }
      for (uint64_t seed = 1; seed <= static_cast<uint64_t>(options.seeds); ++seed) {
        for (const std::set<std::string> &absent : sets_of_absent(a)) {
          Differences check(a, b, *spec, seed, options.work);
          check.run(scalars, *sizes, seed, absent);
          total.add(check);
        }
      }
    }
  }
  if (total.compared == 0 && total.trouble.empty() && total.infinite > 0)
    total.trouble = "no gradient is a number at the inputs that were drawn";
  if (total.compared == 0)
    return complain("no verdict: nothing was compared" + (total.trouble.empty() ? "" : ": " + total.trouble), kDrift);
  std::ostringstream line;
  line << options.specs[0] << ": " << total.compared << " differences compared, " << total.kinks
       << " left out at corners, " << total.infinite << " elements are not finite; the largest error is "
       << total.worst.error << " of " << total.worst.where << ": " << total.worst.gradient << ", by differences "
       << total.worst.difference;
  std::cout << line.str() << "\n";
  if (total.zero == total.compared)
    std::cout << "  all of them are 0; --size M=256,N=128 tries other sizes\n";
  if (total.worst.error <= kBound)
    return kOk;
  const std::set<std::string> own = grad::functions_with_derivatives(forward->spec);
  const std::string told = own.empty() ? ""
                                       : ", or else than differences by a derivative that the spec has itself: `" +
                                             *own.begin() + "_derivative`";
  return complain("the gradient is wrong at " + total.worst.where + told, kDrift);
}

} // namespace kgen
