// Sums, running sums and variances of many f32 numbers by emitted code, beside sums in double: prints for each case
//   NAME DATA ERROR
// the largest relative error. `loop` is no emitted code but a plain loop, to show what the data make of one.
#include "columns_beside_all.h"
#include "mean_variance.h"
#include "rows_beside_counts.h"
#include "running_sum.h"
#include "running_sum_of_columns.h"
#include "sum_of_all.h"
#include "sum_of_columns.h"
#include "sum_of_images.h"
#include "sum_of_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int64_t kMany = int64_t(1) << 28, kRunning = int64_t(1) << 24, kColumns = 16, kRows = 4, kSide = 2;

// Well-mixed bits of a counter.
inline uint32_t bits_of(int64_t i) {
  uint32_t x = uint32_t(uint64_t(i) * 0x9E3779B1u) ^ uint32_t(uint64_t(i) >> 32);
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

float uniform(int64_t i) { return float(bits_of(i) >> 8) * 0x1p-24f; }

// From 2^-30 to 2, all powers of two equally often.
float wide(int64_t i) {
  const uint32_t bits = bits_of(i), power = 127 - (bits >> 9) % 31, word = power << 23 | (bits & 0x7FFFFF);
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

// Mean 1e4, variance 1: the sum of four uniform numbers has the variance 1/3.
float shifted(int64_t i) {
  const float sum = uniform(4 * i) + uniform(4 * i + 1) + uniform(4 * i + 2) + uniform(4 * i + 3);
  return 1e4f + (sum - 2) * 1.7320508f;
}

template <class Make> void fill(std::vector<float> &x, Make make) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < int64_t(x.size()); ++i)
    x[size_t(i)] = make(i);
}

// Of the elements first, first + stride, ...: in double, whose error is far below what is measured here.
template <class Term> double sum_in_double(int64_t count, int64_t first, int64_t stride, Term term) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i)
    sum += term(first + i * stride);
  return sum;
}

void must(int status) {
  if (status != 0)
    std::abort();
}

double relative(double got, double right) { return std::fabs(got / right - 1); }

struct Data {
  const char *name;
  const std::vector<float> &x;

  // The largest error of sums of which sum k has `count` elements from k * first on.
  double worst(const float *got, int64_t sums, int64_t count, int64_t first, int64_t stride) const {
    double result = 0;
    for (int64_t k = 0; k < sums; ++k)
      result = std::max(result, relative(got[k], sum_in_double(count, k * first, stride,
                                                               [this](int64_t i) { return double(x[size_t(i)]); })));
    return result;
  }
  void told(const char *function, double error) const { std::printf("%s %s %.3g\n", function, name, error); }
};

void sums(const Data &data) {
  float all, rows[kRows], columns[kColumns], loop = 0;
  must(sum_of_all_openmp(data.x.data(), &all, kMany, nullptr, 0));
  data.told("sum_of_all", data.worst(&all, 1, kMany, 0, 1));
  must(sum_of_rows_openmp(data.x.data(), rows, kRows, kMany / kRows, nullptr, 0));
  data.told("sum_of_rows", data.worst(rows, kRows, kMany / kRows, kMany / kRows, 1));
  must(sum_of_columns_openmp(data.x.data(), columns, kMany / kColumns, kColumns, nullptr, 0));
  data.told("sum_of_columns", data.worst(columns, kColumns, kMany / kColumns, 1, kColumns));
  must(columns_beside_all_openmp(data.x.data(), columns, &all, kMany / kColumns, kColumns, nullptr, 0));
  data.told("columns_beside_all",
            std::max(data.worst(columns, kColumns, kMany / kColumns, 1, kColumns), data.worst(&all, 1, kMany, 0, 1)));
  int32_t counts[4];
  must(rows_beside_counts_openmp(data.x.data(), rows, counts, kRows, kMany / kRows, nullptr, 0));
  data.told("rows_beside_counts", data.worst(rows, kRows, kMany / kRows, kMany / kRows, 1));
  must(sum_of_images_openmp(data.x.data(), &all, kMany / (kSide * kSide), 1, kSide, kSide, nullptr, 0));
  data.told("sum_of_images", data.worst(&all, 1, kMany, 0, 1));
  for (const float value : data.x)
    loop += value;
  data.told("loop", data.worst(&loop, 1, kMany, 0, 1));
}

void running_sums(const Data &data) {
  std::vector<float> total(kRunning);
  must(running_sum_openmp(data.x.data(), total.data(), kRunning, nullptr, 0));
  data.told("running_sum", data.worst(&total.back(), 1, kRunning, 0, 1));
  must(running_sum_of_columns_openmp(data.x.data(), total.data(), kRunning / kColumns, kColumns, nullptr, 0));
  data.told("running_sum_of_columns",
            data.worst(&total[size_t(kRunning - kColumns)], kColumns, kRunning / kColumns, 1, kColumns));
}

void variances(const std::vector<float> &x) {
  float mean, variance;
  must(mean_variance_f32_f32_openmp(x.data(), &mean, &variance, 1, kRunning, nullptr, 0));
  const double right = sum_in_double(kRunning, 0, 1, [&](int64_t i) { return double(x[size_t(i)]); }) / kRunning;
  const double spread = sum_in_double(kRunning, 0, 1, [&](int64_t i) {
    const double d = double(x[size_t(i)]) - right;
    return d * d;
  });
  std::printf("mean shifted %.3g\n", relative(mean, right));
  std::printf("variance shifted %.3g\n", relative(variance, spread / kRunning));
}

} // namespace

int main() {
  std::vector<float> x(kMany);
  for (const bool is_wide : {false, true}) {
    fill(x, is_wide ? wide : uniform);
    const Data data{is_wide ? "wide" : "uniform", x};
    sums(data);
    running_sums(data);
  }
  x.resize(kRunning);
  fill(x, shifted);
  variances(x);
}
