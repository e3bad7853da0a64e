// Runs a sample kernel on device memory and compares it with a loop on the host; each gives whether they agree.
#pragma once

#include <cstdint>

bool check_axpy(int64_t n);
bool check_row_sum(int64_t M, int64_t N);
bool check_transpose(int64_t M, int64_t N);
bool check_mean(int64_t n);
bool check_centre(int64_t M, int64_t N, bool own_workspace);
bool check_histogram(int64_t n, int64_t bins);
