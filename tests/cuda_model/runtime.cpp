// Runtime calls other than launches: errors, memory, the device's properties, streams and events.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "cuda_model/runtime.h"
#include "memory.h"
#include "state.h"

struct CUstream_st {
  unsigned flags;
  int device;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};

namespace cuda_model {
namespace {

constexpr int kDefaultMultiprocessors = 132;
constexpr int kDevices = 2; // all alike

thread_local int current_device = 0;

cudaError_t last_error = cudaSuccess;
const void *expected_stream = nullptr;
bool stream_is_expected = false;

struct ErrorRow {
  cudaError_t error;
  const char *name;
  const char *text;
};
constexpr ErrorRow kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

struct AttributeRow {
  cudaDeviceAttr attribute;
  int value;          // of a device of compute capability 9.0
  int before_90 = -1; // the same for 8.0 where it differs
};
constexpr AttributeRow kAttributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxGridDimX, 0x7fffffff},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxRegistersPerBlock, 65536},
    {cudaDevAttrMultiProcessorCount, kDefaultMultiprocessors},
    {cudaDevAttrL2CacheSize, 50 << 20},
    {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
    {cudaDevAttrComputeCapabilityMajor, 9, 8},
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 << 10, 164 << 10},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, 227 << 10, 163 << 10},
    {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
    {cudaDevAttrReservedSharedMemoryPerBlock, 1 << 10},
    {cudaDevAttrMemoryPoolsSupported, 1},
};

void wait_for_device() { ++counters().synchronizations; }

cudaError_t allocate(void **pointer, size_t bytes) {
  if (!pointer)
    return record(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  std::lock_guard<std::mutex> lock(model_lock());
  install_fault_handler();
  *pointer = allocate_device(bytes);
  return *pointer ? cudaSuccess : record(cudaErrorMemoryAllocation);
}

cudaError_t release(void *pointer) {
  std::lock_guard<std::mutex> lock(model_lock());
  return !pointer || release_device(pointer) ? cudaSuccess : record(cudaErrorInvalidValue);
}

// A range is refused when it starts in a device allocation and ends outside; host memory cannot be judged.
bool fits(const void *pointer, size_t bytes) {
  size_t here = device_bytes_at(pointer);
  return here == 0 || bytes <= here;
}

template <class Work> cudaError_t on_device_memory(Work work) {
  open_device_memory();
  work();
  close_device_memory();
  return cudaSuccess;
}

cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0)
    return cudaSuccess;
  std::lock_guard<std::mutex> lock(model_lock());
  bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
  bool from_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
  if (!to || !from || !fits(to, bytes) || !fits(from, bytes) || (to_host && device_bytes_at(to) > 0) ||
      (from_host && device_bytes_at(from) > 0))
    return record(cudaErrorInvalidValue);
  return on_device_memory([&] { memmove(to, from, bytes); });
}

cudaError_t fill(void *pointer, int value, size_t bytes) {
  if (bytes == 0)
    return cudaSuccess;
  std::lock_guard<std::mutex> lock(model_lock());
  if (!pointer || !fits(pointer, bytes))
    return record(cudaErrorInvalidValue);
  return on_device_memory([&] { memset(pointer, value, bytes); });
}

const ErrorRow *find_error(cudaError_t error) {
  for (const ErrorRow &row : kErrors)
    if (row.error == error)
      return &row;
  return nullptr;
}

} // namespace

bool has_clusters() {
  const char *capability = getenv("KGEN_MODEL_CAPABILITY");
  return capability == nullptr || atoi(capability) >= 90;
}

int device_value(cudaDeviceAttr attribute) {
  int value = 0;
  cudaDeviceGetAttribute(&value, attribute, 0);
  return value;
}

std::mutex &model_lock() {
  static std::mutex instance;
  return instance;
}

Counters &counters() {
  static Counters instance;
  return instance;
}

cudaError_t record(cudaError_t error) {
  last_error = error;
  return error;
}

bool is_of_current_device(cudaStream_t stream) { return stream == nullptr || stream->device == current_device; }

void use_stream(cudaStream_t stream) {
  if (stream_is_expected && stream != expected_stream)
    ++counters().foreign_streams;
}

} // namespace cuda_model

using namespace cuda_model;

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }
const char *cudaGetErrorName(cudaError_t error) {
  const ErrorRow *row = find_error(error);
  return row ? row->name : "cudaErrorUnknown";
}
const char *cudaGetErrorString(cudaError_t error) {
  const ErrorRow *row = find_error(error);
  return row ? row->text : "unrecognized error code";
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  wait_for_device();
  return allocate(pointer, bytes);
}
cudaError_t cudaFree(void *pointer) {
  wait_for_device();
  return release(pointer);
}
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
  use_stream(stream);
  return allocate(pointer, bytes);
}
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
  use_stream(stream);
  return release(pointer);
}
cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  *pointer = malloc(bytes);
  return *pointer || bytes == 0 ? cudaSuccess : record(cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeHost(void *pointer) {
  free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemset(void *pointer, int value, size_t bytes) {
  use_stream(nullptr);
  return fill(pointer, value, bytes);
}
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) {
  use_stream(stream);
  return fill(pointer, value, bytes);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  wait_for_device();
  use_stream(nullptr);
  return copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  use_stream(stream);
  return copy(to, from, bytes, kind);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
  std::lock_guard<std::mutex> lock(model_lock());
  void *address = const_cast<void *>(pointer);
  bool on_device = device_bytes_at(pointer) > 0;
  *attributes = cudaPointerAttributes{on_device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, on_device ? 0 : -2,
                                      on_device ? address : nullptr, on_device ? nullptr : address};
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  *free_bytes = *total_bytes = size_t{80} << 30;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kDevices)
    return record(cudaErrorInvalidDevice);
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = kDevices;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  if (device < 0 || device >= kDevices)
    return record(cudaErrorInvalidDevice);
  const char *multiprocessors = getenv("KGEN_MODEL_SMS");
  if (attribute == cudaDevAttrMultiProcessorCount && multiprocessors) {
    *value = atoi(multiprocessors);
    return cudaSuccess;
  }
  for (const AttributeRow &row : kAttributes)
    if (row.attribute == attribute) {
      *value = has_clusters() || row.before_90 < 0 ? row.value : row.before_90;
      return cudaSuccess;
    }
  return record(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSynchronize() {
  wait_for_device();
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  *stream = new CUstream_st{flags, current_device};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  wait_for_device();
  use_stream(stream);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = new CUevent_st{};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  use_stream(stream);
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  wait_for_device();
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}

int64_t cuda_model_launches() { return counters().launches; }
int64_t cuda_model_live_allocations() { return static_cast<int64_t>(live_device_allocations()); }
int64_t cuda_model_synchronizations() { return counters().synchronizations; }
int64_t cuda_model_lowered_limits() { return counters().lowered_limits; }
int64_t cuda_model_foreign_streams() { return counters().foreign_streams; }
void cuda_model_expect_stream(void *stream) {
  expected_stream = stream;
  stream_is_expected = true;
}
