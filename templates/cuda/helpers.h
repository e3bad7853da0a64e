//@ row_at
// Where a packed row starts, kept within the array: nothing checks tables in device memory.
template <class T>
__device__ inline T row_at(const T* starts, int64_t row, int64_t total) {
  const T start = starts[row];
  return start < 0 ? T(0) : start > total ? T(total) : start;
}
//@ entry_within
// An entry of a table, kept within 0 .. range-1: nothing has checked tables in device memory.
template <class T>
__device__ inline T entry_within(T entry, int64_t range) {
  return int64_t(entry) < 0 ? T(0) : int64_t(entry) < range ? entry : T(range < 1 ? 0 : range - 1);
}
//@ note_status
// Notes what is wrong with a table. Of several things the one with the greatest status stays.
__device__ inline void note_status(int32_t* table_status, int32_t status) {
  if (table_status != nullptr) atomicMax(table_status, status);
}
//@ longest_row: row_at
// The length of the longest packed row.
template <class T>
__device__ inline int64_t longest_row(const T* starts, int64_t rows, int64_t total) {
  int64_t longest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t length = int64_t(row_at(starts, row + 1, total)) - row_at(starts, row, total);
    longest = length > longest ? length : longest;
  }
  return longest;
}
//@ maximum
// NaN where either is NaN; of equals the first, but that a device takes 0 for greater than -0.
template <class T>
FUNCTION T maximum(T a, T b) {
  return b > a || b != b ? b : a;
}
FUNCTION float maximum(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float out;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
#else
  return b > a || b != b ? b : a;
#endif
}
//@ minimum
// NaN where either is NaN; of equals the first, but that a device takes 0 for greater than -0.
template <class T>
FUNCTION T minimum(T a, T b) {
  return b < a || b != b ? b : a;
}
FUNCTION float minimum(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float out;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
#else
  return b < a || b != b ? b : a;
#endif
}
//@ clamp: maximum minimum
template <class T>
FUNCTION T clamp(T v, T low, T high) {
  return minimum(maximum(v, low), high);
}
//@ Plus
// How folds and scans combine two values.
struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return T(a + b);
  }
};
//@ Times
struct Times {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return T(a * b);
  }
};
//@ Greatest: maximum
struct Greatest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return T(maximum(a, b));
  }
};
//@ Least: minimum
struct Least {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return T(minimum(a, b));
  }
};
//@ Reciprocal
// What many numbers are divided by: `a * reciprocal` is a / divisor within 1.5 units in the last place. So it
// is for all divisors: where 1 / divisor would be too large or too small, both are scaled.
template <class T>
class Reciprocal {
 public:
  __device__ inline explicit Reciprocal(T divisor) : divisor_(divisor) {}
  __device__ inline friend T operator*(T a, Reciprocal by) { return a / by.divisor_; }

 private:
  T divisor_;
};
template <>
class Reciprocal<float> {
 public:
  __device__ inline explicit Reciprocal(float divisor)
      : scale_(divisor > 1e30f || divisor < -1e30f     ? 0x1p-60f
               : divisor < 1e-30f && divisor > -1e-30f ? 0x1p60f
                                                       : 1.0f),
        reciprocal_(1.0f / (divisor * scale_)) {}
  __device__ inline friend float operator*(float a, Reciprocal by) { return a * by.scale_ * by.reciprocal_; }

 private:
  float scale_, reciprocal_;
};
//@ kLeastBlocks
// So many blocks are to find room on a multiprocessor: ptxas spills doubles to make room for several; 0
// leaves it to decide.
template <class T>
constexpr int kLeastBlocks = sizeof(T) == 8 ? 1 : 0;
//@ kBlocksHeld
// The same of blocks whose threads have rows in registers; wide indices take some of those.
template <class T, class Index>
constexpr int kBlocksHeld = sizeof(T) == 8 || sizeof(Index) == 8 ? 1 : 2;
//@ from_bf16
__host__ __device__ inline float from_bf16(uint16_t bits) {
  return __bfloat162float(__ushort_as_bfloat16(bits));
}
//@ to_bf16
__host__ __device__ inline uint16_t to_bf16(float v) { return __bfloat16_as_ushort(__float2bfloat16_rn(v)); }
//@ from_f16
__host__ __device__ inline float from_f16(uint16_t bits) { return __half2float(__ushort_as_half(bits)); }
//@ to_f16
__host__ __device__ inline uint16_t to_f16(float v) { return __half_as_ushort(__float2half_rn(v)); }
//@ exchange_part
// An element of one or two bytes becomes what `next` makes of it: the word around it is exchanged.
template <class T, class Next>
__device__ inline void exchange_part(T* place, const Next& next) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(place);
  uint32_t* word = reinterpret_cast<uint32_t*>(address & ~uintptr_t{3});
  const uint32_t shift = uint32_t(address & 3) * 8, mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
  uint32_t old = *static_cast<volatile uint32_t*>(word), assumed;
  do {
    assumed = old;
    const T made = next(T((assumed & mask) >> shift));
    old = atomicCAS(word, assumed, (assumed & ~mask) | ((uint32_t(made) << shift) & mask));
  } while (old != assumed);
}
//@ atomic_add: exchange_part
template <class T, class V>
__device__ inline void atomic_add(T* place, V value) {
  if constexpr (sizeof(T) < 4)
    exchange_part(place, [=](T old) { return T(old + T(value)); });
  else if constexpr (sizeof(T) == 8 && std::is_integral_v<T>)
    atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
  else
    atomicAdd(place, T(value));
}
//@ atomic_add_bf16: exchange_part from_bf16 to_bf16
// The sum is rounded each time, as it is stored.
__device__ inline void atomic_add_bf16(uint16_t* place, float value) {
  exchange_part(place, [=](uint16_t old) { return to_bf16(from_bf16(old) + value); });
}
//@ atomic_add_f16: exchange_part from_f16 to_f16
// The sum is rounded each time, as it is stored.
__device__ inline void atomic_add_f16(uint16_t* place, float value) {
  exchange_part(place, [=](uint16_t old) { return to_f16(from_f16(old) + value); });
}
//@ reserve
// Takes room for `count` elements of `bytes` each, aligned for any of them; returns where it starts.
inline int64_t reserve(int64_t& total, int64_t count, int64_t bytes) {
  const int64_t start = total;
  total = count > (INT64_MAX / 4 - total) / bytes ? INT64_MAX / 2 : total + (count * bytes + 255) / 256 * 256;
  return start;
}
//@ cuda_status: status_of
// The status of a CUDA call. Its error does not stay behind for those who ask for the last one.
inline int cuda_status(cudaError_t error) {
  if (error == cudaSuccess) return 0;
  if (cudaPeekAtLastError() == error) cudaGetLastError();
  return status_of(KGEN_CUDA_ERROR, int(error));
}
//@ Memory: cuda_status check_workspace
// Memory for intermediates: the caller's, or its own, which is taken and given back in order of the stream.
class Memory {
 public:
  template <class A, size_t Count>
  Memory(void* workspace, int64_t given, int64_t needed, const A (&arrays)[Count], cudaStream_t stream)
      : status(check_workspace(workspace, given, needed, 16, arrays)), stream_(stream) {
    if (workspace == nullptr && needed > 0) {
      const cudaError_t error = cudaMallocAsync(&own_, size_t(needed), stream);
      if (error == cudaErrorMemoryAllocation)
        cuda_status(error), status = status_of(KGEN_NO_MEMORY);
      else
        status = cuda_status(error);
    }
    data = static_cast<char*>(own_ != nullptr ? own_ : workspace);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (own_ != nullptr) cuda_status(cudaFreeAsync(own_, stream_));  // the launch has told of a broken stream
  }

  int status;
  char* data = nullptr;

 private:
  void* own_ = nullptr;
  cudaStream_t stream_;
};
//@ as_parameter
// An argument in the type that the kernel takes it in; a place in the workspace as the array that lies there.
template <class Parameter, class Argument>
inline Parameter as_parameter(Argument argument) {
  if constexpr (std::is_same_v<Argument, char*> && std::is_pointer_v<Parameter>)
    return reinterpret_cast<Parameter>(argument);
  else
    return static_cast<Parameter>(argument);
}
//@ launch: as_parameter
// Starts a kernel on the stream.
template <class... Parameters, class... Arguments>
inline cudaError_t launch(void (*kernel)(Parameters...), int64_t blocks, dim3 threads, size_t shared_bytes,
                          cudaStream_t stream, Arguments... arguments) {
  if (blocks <= 0) return cudaSuccess;
  if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;  // more than a device counts
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, as_parameter<Parameters>(arguments)...);
}
//@ block_threads
// The threads of each block, which share `length` turns of a loop: 16 turns each, fewer where that leaves the
// device idle.
inline unsigned block_threads(int64_t length, int64_t blocks) {
  unsigned threads = 32;
  while (threads < 512 && (threads * 16 < length || (threads * 4 < length && blocks < 262144 / threads)))
    threads *= 2;
  return threads;
}
//@ ColumnShape: ceil_div
// How folds of columns are shared out: a block takes `wide` columns, with `deep` threads for each; where
// columns are few, `chunks` blocks share the rows.
struct ColumnShape {
  unsigned wide = 32, deep = 1, chunks = 1;
  int64_t chunk, blocks, parts, tickets;
  ColumnShape(int64_t rows, int64_t columns, unsigned most_chunks) {
    while (deep < 16 && deep * 4 < rows && columns < 262144 / deep) deep *= 2;
    if (deep < 8) wide = 256 / deep;
    while (chunks < most_chunks && chunks * deep * 16 < rows && columns < 262144 / (chunks * deep))
      chunks *= 2;
    const int64_t tiles = ceil_div(columns, wide);
    chunk = ceil_div(rows, chunks);
    blocks = tiles * chunks;
    parts = chunks > 1 ? columns * chunks : 0;
    tickets = chunks > 1 ? tiles : 0;
  }
  size_t fold_bytes() const { return deep > 1 ? size_t{16} * wide * deep : 0; }
};
//@ aligned
// Do all arrays begin at a multiple of 16 bytes?
inline bool aligned(std::initializer_list<const void*> arrays) {
  for (const void* array : arrays)
    if (reinterpret_cast<uintptr_t>(array) % 16 != 0) return false;
  return true;
}
//@ Pack
// The elements of neighbouring positions, each of which has kFields of them: what a thread loads or stores at
// once.
template <size_t kBytes>
struct Aligned {
  enum : size_t {
    kTo = kBytes % 16 == 0  ? 16
          : kBytes % 8 == 0 ? 8
          : kBytes % 4 == 0 ? 4
          : kBytes % 2 == 0 ? 2
                            : 1
  };
};
template <class T, int kElements, int kFields = 1>
struct alignas(kElements == 1 ? alignof(T) : Aligned<kElements * kFields * sizeof(T)>::kTo) Pack {
  T elements[kElements * kFields];
  __device__ inline T& operator[](int i) { return elements[i]; }
  __device__ inline const T& operator[](int i) const { return elements[i]; }
};
//@ Tile
// A tile in shared memory, its rows padded so that going along a column touches all banks.
template <class T, int kSide>
struct Tile {
  T at[kSide][kSide + (sizeof(T) < 4 ? 4 / sizeof(T) : 1)];
};
//@ load_pack: Pack
// Past the end, where only `left` positions are left, the last of them is repeated.
template <int kElements, int kFields = 1, bool kWide = true, class T, class Index>
__device__ inline Pack<T, kElements, kFields> load_pack(const T* from, Index left) {
  if (kWide && left >= kElements) return *reinterpret_cast<const Pack<T, kElements, kFields>*>(from);
  Pack<T, kElements, kFields> pack;
#pragma unroll
  for (int i = 0; i < kElements * kFields; ++i)
    pack[i] = from[i / kFields < left ? i : (left - 1) * kFields + i % kFields];
  return pack;
}
//@ store_pack: Pack
template <bool kWide = true, class T, int kElements, int kFields, class Index>
__device__ inline void store_pack(T* to, const Pack<T, kElements, kFields>& pack, Index left) {
  if (kWide && left >= kElements) {
    *reinterpret_cast<Pack<T, kElements, kFields>*>(to) = pack;
    return;
  }
#pragma unroll
  for (int i = 0; i < kElements * kFields; ++i)
    if (i / kFields < left) to[i] = pack[i];
}
//@ padded_bytes
// Room for `count` elements, so that the next tile is aligned too.
inline int64_t padded_bytes(int64_t count, int64_t bytes) { return (count * bytes + 15) / 16 * 16; }
//@ workspace_tiles
// Tiles that do not fit into shared memory lie in the workspace, one set a block.
inline int64_t workspace_tiles(int64_t bytes, int64_t shared_limit, int64_t blocks) {
  return bytes <= shared_limit ? 0 : bytes * blocks;
}
//@ take
// The next tile of `count` elements.
template <class T>
__device__ inline T* take(char*& tile, int64_t count) {
  T* const out = reinterpret_cast<T*>(tile);
  tile += (count * int64_t(sizeof(T)) + 15) / 16 * 16;
  return out;
}
//@ from_lane
// The value that another lane has, of the warp or of its neighbouring `width` lanes `mask`.
template <class T>
__device__ inline T from_lane(T value, unsigned lane, unsigned mask = 0xffffffffu, unsigned width = 32) {
  return T(__shfl_sync(mask, value, int(lane), int(width)));
}
//@ Best: from_lane
// A value and where it stands.
template <class T>
struct Best {
  T value;
  int64_t index;
};
template <class T>
__device__ inline Best<T> from_lane(Best<T> best, unsigned lane, unsigned mask = 0xffffffffu,
                                    unsigned width = 32) {
  return {from_lane(best.value, lane, mask, width), from_lane(best.index, lane, mask, width)};
}
//@ first_above: Best above
// The greater value; of equals the one that stands first.
template <class T>
__device__ inline Best<T> first_above(Best<T> a, Best<T> b) {
  const bool better =
      a.index < 0 || above(b.value, a.value) || (!above(a.value, b.value) && b.index < a.index);
  return b.index >= 0 && better ? b : a;
}
//@ first_below: Best below
// The smaller value; of equals the one that stands first.
template <class T>
__device__ inline Best<T> first_below(Best<T> a, Best<T> b) {
  const bool better =
      a.index < 0 || below(b.value, a.value) || (!below(a.value, b.value) && b.index < a.index);
  return b.index >= 0 && better ? b : a;
}
//@ shared_memory
#if defined(__CUDACC__)
__device__ inline unsigned char* shared_memory() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}
#endif
//@ block_fold: from_lane shared_memory
// Folds one value a thread over a block of whole warps, in a fixed order; every thread gets the result.
// `kEven`: their number is a power of two, so that lanes take in what the warps have.
template <bool kEven = false, class T, class Combine>
__device__ inline T block_fold(T value, Combine combine) {
  const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2)
    value = combine(value, from_lane(value, lane + distance));
  if (warps == 1) return from_lane(value, 0);
  T* const slots = reinterpret_cast<T*>(shared_memory());
  __syncthreads();  // what the fold before has left there is read
  if (lane == 0) slots[threadIdx.x / 32] = value;
  __syncthreads();
  if constexpr (kEven) {
    value = slots[lane & (warps - 1)];
    for (unsigned distance = warps / 2; distance > 0; distance /= 2)
      value = combine(value, from_lane(value, lane + distance));
    return from_lane(value, 0);
  }
  value = slots[0];
  for (unsigned warp = 1; warp < warps; ++warp) value = combine(value, slots[warp]);
  return value;
}
//@ row_fold: block_fold
// Folds the values of the threads of one threadIdx.y, in a fixed order: of a part of a warp, or of a block
// that has one row. Each of them gets the result.
template <class T, class Combine>
__device__ inline T row_fold(T value, Combine combine) {
  const unsigned width = blockDim.x;
  if (width > 32) return block_fold<true>(value, combine);
  const unsigned begin = (threadIdx.y * width) % 32, mask = (0xffffffffu >> (32 - width)) << begin;
  for (unsigned distance = width / 2; distance > 0; distance /= 2)
    value = combine(value, from_lane(value, threadIdx.x + distance, mask, width));
  return from_lane(value, 0, mask, width);
}
//@ broadcast: block_fold
// The value of the block's first thread, for all of them.
template <class T>
__device__ inline T broadcast(T value) {
  T* const slot = reinterpret_cast<T*>(shared_memory());
  __syncthreads();
  if (threadIdx.x == 0) *slot = value;
  __syncthreads();
  return *slot;
}
//@ is_last_block
// Is this the last of the blocks that come here with the ticket? It then sees what all have written before.
__device__ inline bool is_last_block(uint32_t* ticket, unsigned blocks) {
  __threadfence();
  __syncthreads();
  const int last = threadIdx.x == 0 && threadIdx.y == 0 && atomicAdd(ticket, 1u) == blocks - 1;
  const bool found = __syncthreads_or(last) != 0;
  __threadfence();
  return found;
}
//@ column_fold: block_fold
// Folds the values of the block's threads of one column, in a fixed order; each of them gets the result.
template <class T, class Combine>
__device__ inline T column_fold(T value, Combine combine) {
  if (blockDim.y == 1) return value;
  T* const slots = reinterpret_cast<T*>(shared_memory()) + threadIdx.x;
  __syncthreads();  // what the fold before has left there is read
  slots[threadIdx.y * blockDim.x] = value;
  __syncthreads();
  value = slots[0];
  for (unsigned y = 1; y < blockDim.y; ++y) value = combine(value, slots[y * blockDim.x]);
  return value;
}
