// What the scripts of this folder need of the device, behind a C interface for ctypes: memory, a stream, graphs,
// events. Without a CUDA compiler (on the CPU model of the tests) there are no graphs, and nothing is timed.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

namespace {
cudaStream_t stream() {
  static cudaStream_t instance = [] {
    cudaStream_t created = nullptr;
    cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking);
    return created;
  }();
  return instance;
}
} // namespace

extern "C" {

int bench_device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
int bench_attribute(int attribute) {
  int value = -1;
  cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(attribute), 0);
  return value;
}
int64_t bench_free_bytes() {
  size_t free_bytes = 0, total_bytes = 0;
  cudaMemGetInfo(&free_bytes, &total_bytes);
  return static_cast<int64_t>(free_bytes);
}
void *bench_stream() { return stream(); }
void *bench_alloc(int64_t bytes) {
  void *pointer = nullptr;
  return cudaMalloc(&pointer, static_cast<size_t>(bytes)) == cudaSuccess ? pointer : nullptr;
}
int bench_free(void *pointer) { return cudaFree(pointer); }
// All of these go through the one stream, in order with the kernels: what the legacy stream does, a stream that does
// not wait for it can overtake.
int copy_in_stream(void *to, const void *from, int64_t bytes, cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, stream());
  return error != cudaSuccess ? error : cudaStreamSynchronize(stream());
}
int bench_write(void *to, const void *from, int64_t bytes) {
  return copy_in_stream(to, from, bytes, cudaMemcpyHostToDevice);
}
int bench_read(void *to, const void *from, int64_t bytes) {
  return copy_in_stream(to, from, bytes, cudaMemcpyDeviceToHost);
}
int bench_copy(void *to, const void *from, int64_t bytes) {
  return copy_in_stream(to, from, bytes, cudaMemcpyDeviceToDevice);
}
int bench_copy_async(void *to, const void *from, int64_t bytes) {
  return cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, stream());
}
int bench_fill(void *to, int byte, int64_t bytes) {
  return cudaMemsetAsync(to, byte, static_cast<size_t>(bytes), stream());
}
// Waits for all work and gives the first error of anything since the last call.
int bench_finish() {
  cudaError_t finished = cudaDeviceSynchronize(), last = cudaGetLastError();
  return finished != cudaSuccess ? finished : last;
}
const char *bench_error(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

#if defined(__CUDACC__)
int bench_capture_begin() { return cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal); }
// A graph ready to be replayed; null if the capture failed (a launcher that waits, or uses another stream).
void *bench_capture_end() {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  if (cudaStreamEndCapture(stream(), &graph) != cudaSuccess || !graph ||
      cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess)
    ready = nullptr;
  if (graph)
    cudaGraphDestroy(graph);
  cudaGetLastError();
  return ready;
}
void bench_graph_free(void *graph) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)); }
// Milliseconds of one replay between two events; negative on an error.
float bench_graph_time(void *graph) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (!begin) {
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
  }
  float milliseconds = -1;
  cudaEventRecord(begin, stream());
  cudaError_t error = cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream());
  cudaEventRecord(end, stream());
  if (error == cudaSuccess && cudaEventSynchronize(end) == cudaSuccess)
    cudaEventElapsedTime(&milliseconds, begin, end);
  return milliseconds;
}
#endif
}
