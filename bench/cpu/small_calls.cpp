// Times calls of our functions and of torch's, both from C++ and in turn: bench/cpu/small builds and runs it.
// Reads a line for each case, `op rows columns`, and writes a line of JSON for it: seconds of a call by each form, in
// rounds.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "elementwise/activation.h"
#include "matmul/matmul.h"
#include "norm/layer_norm.h"
#include "norm/softmax.h"
#include "reduce/column_sum.h"

namespace {

constexpr double kRoundSeconds = 300e-6; // of a form: long beside what starts threads, short beside what disturbs
using Call = std::function<void()>;
using Forms = std::vector<std::pair<std::string, Call>>; // ours is the first

struct Case {
  at::Tensor x, gamma, beta, y, expected;
  int64_t rows, columns;
};

void require(int status) {
  if (status != 0)
    throw std::runtime_error("our function refuses its arguments: status " + std::to_string(status));
}

Forms softmax(Case &c) {
  return {{"ours",
           [&] {
             require(softmax_f32_openmp(c.x.const_data_ptr<float>(), c.y.mutable_data_ptr<float>(), c.rows, c.columns,
                                        nullptr, 0));
           }},
          {"torch", [&] { c.expected = at::_softmax(c.x, 1, false); }},
          {"torch out=", [&] { at::_softmax_out(c.expected, c.x, 1, false); }}};
}

Forms layer_norm(Case &c) {
  return {{"ours",
           [&] {
             require(layer_norm_f32_openmp(c.x.const_data_ptr<float>(), c.gamma.const_data_ptr<float>(),
                                           c.beta.const_data_ptr<float>(), c.y.mutable_data_ptr<float>(), c.rows,
                                           c.columns, nullptr, 0));
           }},
          {"torch", [&] { c.expected = std::get<0>(at::native_layer_norm(c.x, {c.columns}, c.gamma, c.beta, 1e-5)); }}};
}

Forms column_sum(Case &c) {
  c.y = at::empty({c.columns});
  c.expected = at::empty({c.columns});
  return {{"ours",
           [&] {
             require(column_sum_f32_f32_openmp(c.x.const_data_ptr<float>(), c.y.mutable_data_ptr<float>(), c.rows,
                                               c.columns, nullptr, 0));
           }},
          {"torch", [&] { c.expected = at::sum(c.x, {0}); }},
          {"torch out=", [&] { at::sum_out(c.expected, c.x, {0}); }}};
}

Forms relu(Case &c) {
  return {{"ours",
           [&] {
             require(activation_relu_f32_openmp(c.x.const_data_ptr<float>(), nullptr, c.y.mutable_data_ptr<float>(),
                                                c.rows, c.columns));
           }},
          {"torch", [&] { c.expected = at::relu(c.x); }},
          {"torch out=", [&] { at::clamp_min_out(c.expected, c.x, 0); }}};
}

Forms matmul(Case &c) {
  const at::Tensor w = at::randn({c.columns, c.columns});
  return {{"ours",
           [&c, w] {
             require(matmul_f32_openmp(c.x.const_data_ptr<float>(), w.const_data_ptr<float>(),
                                       c.y.mutable_data_ptr<float>(), c.rows, c.columns, c.columns, nullptr, 0));
           }},
          {"torch", [&c, w] { c.expected = at::mm(c.x, w); }},
          {"torch out=", [&c, w] { at::mm_out(c.expected, c.x, w); }}};
}

const std::map<std::string, Forms (*)(Case &)> kOps = {
    {"softmax", softmax}, {"layer_norm", layer_norm}, {"column_sum", column_sum}, {"relu", relu}, {"matmul", matmul}};

double seconds_of(const Call &call, int64_t count) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i)
    call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// So many calls take a round; this wakes the threads as well.
int64_t calls_of_round(const Call &call) {
  int64_t count = 1;
  for (double seconds = seconds_of(call, count); seconds < kRoundSeconds / 2; seconds = seconds_of(call, count))
    count *= 2;
  return count;
}

void measure(const std::string &op, int64_t rows, int64_t columns, int rounds) {
  Case c{at::randn({rows, columns}),
         at::randn({columns}),
         at::randn({columns}),
         at::empty({rows, columns}),
         at::empty({rows, columns}),
         rows,
         columns};
  const Forms forms = kOps.at(op)(c);
  std::vector<int64_t> counts;
  for (const auto &[name, call] : forms) {
    counts.push_back(calls_of_round(call));
    if (name != "ours" && !at::allclose(c.y, c.expected, 1e-4, 1e-3))
      throw std::runtime_error(op + ": ours and " + name + " differ");
  }
  std::vector<std::vector<double>> times(forms.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t turn = 0; turn < forms.size(); ++turn) {
      const size_t form = round % 2 == 0 ? turn : forms.size() - 1 - turn;
      forms[form].second(); // its memory is near again, its threads are awake
      times[form].push_back(seconds_of(forms[form].second, counts[form]) / double(counts[form]));
    }
  std::printf("{\"op\": \"%s\", \"rows\": %lld, \"columns\": %lld, \"seconds\": {", op.c_str(), (long long)rows,
              (long long)columns);
  for (size_t form = 0; form < forms.size(); ++form) {
    std::printf("%s\"%s\": [", form == 0 ? "" : ", ", forms[form].first.c_str());
    for (size_t i = 0; i < times[form].size(); ++i)
      std::printf("%s%.4g", i == 0 ? "" : ", ", times[form][i]);
    std::printf("]");
  }
  std::printf("}}\n");
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "small_calls THREADS ROUNDS < cases\n");
    return 3;
  }
  try {
    const c10::InferenceMode no_gradients;
    at::set_num_threads(std::atoi(argv[1])); // of OpenMP: one library serves both sides
    at::manual_seed(1);
    std::string op;
    int64_t rows = 0, columns = 0;
    while (std::cin >> op >> rows >> columns)
      measure(op, rows, columns, std::atoi(argv[2]));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "small_calls: %s\n", error.what());
    return 1;
  }
}
