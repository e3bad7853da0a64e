// What can go wrong around CUDA launchers although the arithmetic is right: tables, workspaces, errors of others,
// devices.
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include "kgen_cuda.h"

#include "bsr_matmul.h"
#include "giou_loss_ragged.h"
#include "softmax.h"
#include "transpose.h"

namespace {

int failures = 0;

#define CHECK(condition)                                                                                               \
  if (!(condition))                                                                                                    \
  std::printf("line %d: %s\n", __LINE__, #condition), ++failures

// An array on the device, filled from the host.
template <class T> struct Array {
  explicit Array(const std::vector<T> &values) : count(values.size()) {
    cudaMalloc(&data, count * sizeof(T));
    cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { cudaFree(data); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  std::vector<T> values() const {
    std::vector<T> out(count);
    cudaMemcpy(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }
  size_t count;
  T *data = nullptr;
};

std::vector<float> ramp(size_t count) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i)
    out[i] = float(i % 17) * 0.25F;
  return out;
}

// What giou_loss_ragged notes of these offsets into 6 boxes.
int status_of_offsets(const std::vector<int64_t> &offsets) {
  const int64_t pictures = int64_t(offsets.size()) - 1, boxes = 6;
  Array<int64_t> start(offsets);
  Array<float> pred(ramp(24)), target(ramp(24)), giou(ramp(6)), picture(ramp(size_t(pictures))), loss(ramp(1));
  Array<int32_t> noted({0});
  CHECK(giou_loss_ragged_f32_cuda(start.data, pred.data, target.data, giou.data, picture.data, loss.data, pictures,
                                  boxes, noted.data, nullptr, 0, nullptr) == 0);
  CHECK(giou_loss_ragged_f32_cuda(start.data, pred.data, target.data, giou.data, picture.data, loss.data, pictures,
                                  boxes, nullptr, nullptr, 0, nullptr) == 0);
  return noted.values()[0];
}

void offsets_are_looked_at() {
  const int wrong = KGEN_TABLE_OFFSETS | 1 << 8;
  CHECK(status_of_offsets({0, 2, 2, 6}) == 0);
  CHECK(status_of_offsets({0, 4, 2, 6}) == wrong);       // they fall
  CHECK(status_of_offsets({0, 2, 4, 5}) == wrong);       // a box is left out
  CHECK(status_of_offsets({1, 2, 4, 6}) == wrong);       // so is the first
  CHECK(status_of_offsets({0, 2, 1 << 30, 6}) == wrong); // far outside
  CHECK(status_of_offsets({0, -5, 3, 6}) == wrong);
}

// What bsr_matmul notes of its tables, for 2 rows of blocks, 3 blocks, and 128 columns.
int status_of_blocks(const std::vector<int32_t> &row_ptr, const std::vector<int32_t> &columns) {
  Array<int32_t> pointers(row_ptr), col(columns), noted({0});
  Array<float> a(ramp(3 * 64 * 64)), x(ramp(128)), z(ramp(128));
  CHECK(bsr_matmul_cuda(pointers.data, col.data, a.data, x.data, z.data, 2, 3, 128, 1, noted.data, nullptr) == 0);
  return noted.values()[0];
}

void rows_of_blocks_are_looked_at() {
  CHECK(status_of_blocks({0, 1, 3}, {0, 0, 1}) == 0);
  CHECK(status_of_blocks({0, 0x7f7f7f7f, 0x7f7f7f7f}, {0, 0, 1}) == (KGEN_TABLE_RANGE | 1 << 8)); // and it ends
  CHECK(status_of_blocks({0, 2, 1}, {0, 0, 1}) == (KGEN_TABLE_SORTED | 1 << 8));
  CHECK(status_of_blocks({0, 1, 3}, {0, 7, 1}) == (KGEN_TABLE_RANGE | 2 << 8));
  CHECK(status_of_blocks({0, 1, 3}, {0, -1, 1}) == (KGEN_TABLE_RANGE | 2 << 8));
}

// One row so long that blocks share it.
struct LongRow {
  static constexpr int64_t kLength = 70000;
  Array<float> x{ramp(kLength)}, y{ramp(kLength)};
  int call(void *workspace, int64_t bytes, int64_t length = kLength) {
    return softmax_f32_cuda(x.data, y.data, 1, length, workspace, bytes, nullptr);
  }
};

void workspaces_may_hold_anything() {
  LongRow row;
  const int64_t bytes = softmax_f32_cuda_workspace(1, LongRow::kLength);
  CHECK(bytes > 0);
  Array<unsigned char> memory(std::vector<unsigned char>(size_t(bytes) + 16, 0xff));
  CHECK(row.call(nullptr, 0) == 0);
  const std::vector<float> want = row.y.values();
  for (int again = 0; again < 2; ++again) { // the second call finds what the first has left
    CHECK(row.call(memory.data, bytes) == 0);
    CHECK(row.y.values() == want);
  }
  for (int offset : {1, 4, 8})
    CHECK(row.call(memory.data + offset, bytes) == KGEN_WORKSPACE_MISALIGNED);
  CHECK(row.call(memory.data, bytes - 1) == KGEN_WORKSPACE_SMALL);
}

void arrays_lie_at_elements() {
  LongRow row;
  auto *between = reinterpret_cast<float *>(reinterpret_cast<char *>(row.x.data) + 2);
  CHECK(softmax_f32_cuda(between, row.y.data, 1, 10, nullptr, 0, nullptr) == (KGEN_MISALIGNED | 1 << 8));
  CHECK(softmax_f32_cuda(row.x.data + 1, row.y.data + 3, 1, 10, nullptr, 0, nullptr) == 0);
}

void errors_of_others_stay() {
  LongRow row;
  CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
  CHECK(row.call(nullptr, 0) == 0);
  CHECK(row.call(nullptr, 0, 3000) == 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

void own_errors_are_told_and_do_not_stay() {
  cudaLaunchConfig_t wrong = {};
  CHECK(kgen_cuda::launch(+[](int) {}, int64_t{1} << 31, dim3(32), 0, nullptr, 1) == cudaErrorInvalidConfiguration);
  (void)wrong;
  CHECK(cudaGetLastError() == cudaSuccess);
  LongRow row;
  cudaStream_t stream = nullptr;
  CHECK(cudaSetDevice(1) == cudaSuccess);
  CHECK(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(softmax_f32_cuda(row.x.data, row.y.data, 1, 100, nullptr, 0, stream) ==
        (KGEN_CUDA_ERROR | cudaErrorInvalidResourceHandle << 8));
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

// Blocks of both sizes ask for more shared memory than is there unasked.
void threads_take_no_shared_memory_from_each_other() {
  auto call = [](int64_t rows, int64_t length) {
    Array<float> x(ramp(size_t(rows * length))), y(ramp(size_t(rows * length)));
    for (int turn = 0; turn < 3; ++turn)
      CHECK(softmax_f32_cuda(x.data, y.data, rows, length, nullptr, 0, nullptr) == 0);
  };
  call(1, 28000);
  std::thread other(call, 1, 26000);
  call(1, 16000);
  other.join();
  CHECK(cuda_model_lowered_limits() == 0);
}

void bits_that_move_stay() {
  const std::vector<uint16_t> bits = {0x7f81, 0xffc5, 0x8000, 0x7fff, 0x0001, 0xff82};
  Array<uint16_t> x(bits), y(std::vector<uint16_t>(6));
  CHECK(transpose_bf16_cuda(x.data, y.data, 2, 3, nullptr) == 0);
  const std::vector<uint16_t> found = y.values();
  for (size_t m = 0; m < 2; ++m)
    for (size_t n = 0; n < 3; ++n)
      CHECK(found[n * 2 + m] == bits[m * 3 + n]);
}

} // namespace

int main() {
  offsets_are_looked_at();
  rows_of_blocks_are_looked_at();
  workspaces_may_hold_anything();
  arrays_lie_at_elements();
  errors_of_others_stay();
  own_errors_are_told_and_do_not_stay();
  threads_take_no_shared_memory_from_each_other();
  bits_that_move_stay();
  std::printf(failures == 0 ? "all passed\n" : "%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
