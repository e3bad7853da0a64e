// State that launches and the other runtime calls share.
#pragma once

#include <cstdint>
#include <mutex>

#include "cuda_model/runtime.h"

namespace cuda_model {

struct Counters {
  int64_t launches = 0;
  int64_t synchronizations = 0;
  int64_t foreign_streams = 0;
  int64_t lowered_limits = 0;
};
Counters &counters();
std::mutex &model_lock(); // held by whatever runs a kernel or touches the list of allocations

cudaError_t record(cudaError_t error); // what cudaGetLastError will give; returns its argument
void use_stream(cudaStream_t stream);
bool is_of_current_device(cudaStream_t stream);
void install_fault_handler();
bool has_clusters(); // is the device of compute capability 9.0
int device_value(cudaDeviceAttr attribute);

} // namespace cuda_model
