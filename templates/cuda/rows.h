//@ RowShape: ceil_div smaller
// How threads share rows of `turns` turns of a loop, each of them `elements` long, with `bytes` to keep.
// Sizes alone decide, so that results are the same on all devices that have room for the blocks of a row: up
// to `most` elements a thread, several rows a block where they are short, `chunks` blocks a row where rows
// are few or too long for a block. `held`: `takers` have `most` each, in registers, as accesses are wide.
struct RowShape {
  enum : int64_t { kMostKept = 224 << 10, kMostRows = 1 << 30, kMostTeams = 1 << 20 };
  int64_t rows, turns, bytes, teams;                              // rows that are worked on at once, at most
  int64_t chunk, kept_bytes, blocks, parts, tickets, slot_bytes;  // a block takes `chunk` turns of a row
  unsigned threads = 8, together = 1, chunks = 1, takers;         // so many of a row's threads take part
  bool held;

  RowShape(int64_t turns_of_row, int64_t elements, int64_t all_rows, int64_t bytes_of_turn,
           unsigned most_chunks, int64_t most = 16, bool wide = false)
      : rows(all_rows), turns(turns_of_row), bytes(bytes_of_turn), teams(smaller(rows, kMostTeams)) {
    const int64_t length = turns * elements, all_bytes = turns * bytes;
    if (most > 16) threads = 4;
    while (threads < 512 && (threads * most < length || (threads * 4 < length && rows < 262144 / threads)))
      threads *= 2;
    while (threads <= 32 && threads * together < 256 && (threads * together < 32 || rows > 1024 * together))
      together *= 2;
    while (chunks < most_chunks &&
           ((chunks * threads * most < length && rows < 262144 / (chunks * threads)) ||
            (chunks < 8 && all_bytes <= 8 * kMostKept && all_bytes > chunks * kMostKept / 2)))
      chunks *= 2;
    split(chunks);
    // At least four threads, so that they read neighbouring lines.
    const bool even = chunks == 1 && length % most == 0 && length >= 4 * most && length <= threads * most;
    takers = even ? static_cast<unsigned>(length / most) : threads;
    held = even && wide;
    if (held) kept_bytes = 0;
  }
  void split(unsigned blocks_of_row) {
    chunks = blocks_of_row;
    chunk = ceil_div(turns, int64_t{chunks} * 16) * 16;  // so that all begin with a whole access
    kept_bytes = chunk * bytes;
    blocks = smaller(ceil_div(rows, together), kMostRows) * chunks;
    parts = chunks > 1 ? rows * chunks : 0;
    tickets = chunks > 1 ? rows : 0;
    slot_bytes = chunks > 1 ? teams * (2 * chunks + 1) * 16 : 0;
  }
};
//@ RowTeam: row_fold take
// The threads that share a row: those of one threadIdx.y, or those of `chunks` blocks, which take
// neighbouring parts of it. The blocks are a cluster, or meet in `slots`, which is global memory.
struct RowTeam {
  enum : unsigned { kSlotBytes = 16, kFoldBytes = 32 * kSlotBytes, kBytes = kFoldBytes + 2 * 8 * kSlotBytes };
  unsigned chunks,
      kept_bytes;      // blocks a row; what a row's part takes in shared memory, 0 where it does not fit
  char* slots;         // of a team: two for each block, then the number of blocks that have come
  unsigned takers;     // so many of a row's threads in a block take part in loops over packs
  unsigned folds = 0;  // that blocks have had together

  __device__ inline int64_t first_row() const {
    return int64_t(blockIdx.x / chunks) * blockDim.y + threadIdx.y;
  }
  __device__ inline int64_t rows_at_once() const { return int64_t(gridDim.x / chunks) * blockDim.y; }

  // With kTurns > 0, a block has rows for itself, and each thread that takes part so many packs.
  template <int kTurns = 0>
  __device__ inline void begin() {
    if (kTurns > 0) chunks = 1, slots = nullptr;
    if (slots != nullptr)
      slots += int64_t(blockIdx.x / chunks) * (2 * chunks + 1) * kSlotBytes;
    else if (chunks > 1)
      meet();  // before one block writes into the other's shared memory
  }
  __device__ inline bool takes_part() const { return threadIdx.x < takers; }
  // Calls `use` with where a pack begins and its number, for those of a thread. With kTurns > 0, threads
  // that take no part go over those of the first one, so that there is no branch.
  template <int kTurns, int kElements, bool kUnrolled = true, class Index, class Use>
  __device__ inline void for_packs(Index first, Index last, const Use& use) const {
    const Index step = Index(takers) * kElements;
    Index at = first + Index(takes_part() ? threadIdx.x : 0) * kElements;
    if constexpr (kTurns > 0) {
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn, at += step) use(at, turn);
    } else {
#pragma unroll(kUnrolled ? 4 : 1)
      for (at = takes_part() ? at : last; at < last; at += step) use(at, 0);
    }
  }
  // Folds one value a thread over the row, in an order that depends on the shape alone; each thread gets the
  // result.
  template <class T, class Combine>
  __device__ inline T fold(T value, Combine combine) {
    value = row_fold(value, combine);
    if (chunks == 1) return value;
    const unsigned lane = threadIdx.x % 32, width = chunks < 32 ? chunks : 32;
    const unsigned turn = folds++ % 2 * chunks, part = blockIdx.x % chunks;
    if (slots != nullptr) {
      if (threadIdx.x == 0) *slot<T>(slots, turn + part) = value;
    } else if (threadIdx.x < chunks) {
      *slot<T>(shared_slots(threadIdx.x), turn + part) = value;
    }
    meet();
    char* const found = slots != nullptr ? slots : shared_slots(part);
    value = *slot<T>(found, turn + lane % width);
    for (unsigned i = lane % width + 32; i < chunks; i += 32)
      value = combine(value, *slot<T>(found, turn + i));
    for (unsigned distance = width / 2; distance > 0; distance /= 2)
      value = combine(value, from_lane(value, lane + distance, 0xffffffffu, width));
    return from_lane(value, 0, 0xffffffffu, width);
  }

 private:
  template <class T>
  __device__ inline static T* slot(char* all, unsigned i) {
    return reinterpret_cast<T*>(all + i * kSlotBytes);
  }
  // The slots of a block of the cluster. A fold has the one half of them while slow blocks read the other.
  __device__ inline static char* shared_slots(unsigned block) {
    char* const own = reinterpret_cast<char*>(shared_memory()) + kFoldBytes;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    return static_cast<char*>(__cluster_map_shared_rank(own, block));
#else
    return own;
#endif
  }
  // Waits for all blocks of the team; what each has written before is then seen by all.
  __device__ inline void meet() {
    if (slots == nullptr) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
      __cluster_barrier_arrive();
      __cluster_barrier_wait();
#endif
      return;
    }
    if (threadIdx.x == 0) {
      uint32_t* const come = slot<uint32_t>(slots, 2 * chunks);
      __threadfence();
      atomicAdd(come, 1u);
      while (int32_t(*static_cast<volatile uint32_t*>(come) - folds * chunks) < 0) __nanosleep(32);
      __threadfence();
    }
    __syncthreads();
  }
};
//@ row_tile: RowTeam
// Where the threads keep what they have loaded of their row: each touches its own elements only.
__device__ inline char* row_tile(const RowTeam& team) {
  return reinterpret_cast<char*>(shared_memory()) + RowTeam::kBytes + threadIdx.y * team.kept_bytes;
}
//@ KeptRow: RowTeam take load_pack store_pack
// What a thread keeps of its part of a row, for loops that all go over its packs in the same order: all of
// them in registers with kTurns > 0, from `hold` on, else in shared memory where that has room.
template <class T, int kElements, int kTurns, bool kWide>
class KeptRow {
 public:
  __device__ inline KeptRow(const RowTeam& team, char*& tile, int64_t elements)
      : keeps_(team.kept_bytes > 0), tile_(take<T>(tile, elements)) {}

  __device__ inline void hold(const RowTeam& team, const T* from) {
    if constexpr (kTurns > 0)
      team.for_packs<kTurns, kElements>(
          0, 0, [&](int at, int turn) { packs_[turn] = load_pack<kElements>(from + at, kElements); });
  }
  // The pack that lies at `at` of the block's part; the first time it comes from the array.
  template <class Index>
  __device__ inline Pack<T, kElements> load(int turn, Index at, const T* from, Index left) const {
    if constexpr (kTurns > 0) return packs_[turn];
    const auto pack = load_pack<kElements, 1, kWide>(from, left);
    if (keeps_) store_pack<kWide>(tile_ + at, pack, left);
    return pack;
  }
  template <class Index>
  __device__ inline Pack<T, kElements> again(int turn, Index at, const T* from, Index left) const {
    if (kTurns == 0 && keeps_) return load_pack<kElements, 1, kWide>(tile_ + at, left);
    return kTurns > 0 ? packs_[turn] : load_pack<kElements, 1, kWide>(from, left);
  }

 private:
  const bool keeps_;  // in shared memory
  T* const tile_;
  Pack<T, kElements> packs_[kTurns > 0 ? kTurns : 1] = {};
};
//@ launch_rows: RowShape RowTeam larger smaller as_parameter
// What is known of the current device, or the first error that came up.
struct Device {
  cudaError_t error = cudaSuccess;
  int number = 0;

  Device() { note(cudaGetDevice(&number)); }
  int64_t value(cudaDeviceAttr attribute) {
    int found = 0;
    note(cudaDeviceGetAttribute(&found, attribute, number));
    return found;
  }
  // Lets a kernel have as much shared memory as there is. It never gets less again, so that threads of the
  // host cannot take it from each other.
  template <class... Parameters>
  void allow_shared(void (*kernel)(Parameters...), int64_t bytes) {
    note(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  }
  // Can it run clusters of such blocks, and was the kernel compiled for that?
  template <class... Parameters>
  bool runs_clusters(void (*kernel)(Parameters...), const cudaLaunchConfig_t& config) {
    cudaFuncAttributes attributes = {};
    int clusters = 0;
    if (value(cudaDevAttrComputeCapabilityMajor) < 9) return false;
    note(cudaFuncGetAttributes(&attributes, kernel));
    if (attributes.ptxVersion < 90) return false;
    note(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    return clusters > 0;
  }
  // How many such blocks run at once.
  template <class... Parameters>
  int64_t blocks_at_once(void (*kernel)(Parameters...), const cudaLaunchConfig_t& config) {
    int blocks = 0;
    note(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(config.blockDim.x),
                                                       config.dynamicSmemBytes));
    return blocks * value(cudaDevAttrMultiProcessorCount);
  }

 private:
  void note(cudaError_t found) {
    if (error == cudaSuccess) error = found;
  }
};
template <class... Parameters, class... Arguments>
inline cudaError_t start(const cudaLaunchConfig_t& config, void (*kernel)(Parameters...),
                         Arguments... arguments) {
  return cudaLaunchKernelEx(&config, kernel, as_parameter<Parameters>(arguments)...);
}
// Starts a kernel whose last parameters are the chunk and the team of a row. Blocks that share a row are a
// cluster, or meet in `slots`; then all of them must run at once, and each takes several rows in turn.
template <class... Parameters, class... Arguments>
inline cudaError_t launch_rows(void (*kernel)(Parameters...), RowShape shape, char* slots,
                               cudaStream_t stream, Arguments... arguments) {
  if (shape.rows <= 0) return cudaSuccess;
  Device device;
  cudaLaunchAttribute how = {};
  cudaLaunchConfig_t config = {};
  config.blockDim = dim3(shape.threads, shape.together);
  config.stream = stream;
  config.attrs = &how;
  int64_t kept = shape.kept_bytes, shared = RowTeam::kBytes + kept * shape.together;
  if (shared > 48 << 10) {
    const int64_t most = device.value(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (shared > most) kept = 0, shared = RowTeam::kBytes;
    if (kept > 0) device.allow_shared(kernel, most);
  }
  config.dynamicSmemBytes = static_cast<size_t>(shared);
  int64_t blocks = shape.chunks > 1 ? shape.teams * shape.chunks : shape.blocks;
  if (shape.chunks > 1) {
    how.id = cudaLaunchAttributeClusterDimension;
    how.val.clusterDim.x = shape.chunks;
    how.val.clusterDim.y = how.val.clusterDim.z = 1;
    config.numAttrs = 1;
    config.gridDim = dim3(static_cast<unsigned>(blocks));
  }
  if (shape.chunks == 1 || (shape.chunks <= 8 && device.runs_clusters(kernel, config))) {
    slots = nullptr;
  } else {
    how = {};
    how.id = cudaLaunchAttributeCooperative;
    how.val.cooperative = 1;
    if (device.blocks_at_once(kernel, config) < shape.chunks)
      kept = 0, config.dynamicSmemBytes = RowTeam::kBytes;
    const int64_t room = device.blocks_at_once(kernel, config);
    while (shape.chunks > 1 && room < shape.chunks) shape.split(shape.chunks / 2);  // a very small device
    blocks = smaller(shape.teams, larger(room / shape.chunks, 1)) * shape.chunks;
    if (device.error != cudaSuccess) return device.error;
    if (const cudaError_t error = cudaMemsetAsync(slots, 0, static_cast<size_t>(shape.slot_bytes), stream))
      return error;
  }
  if (device.error != cudaSuccess) return device.error;
  if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;  // more than a device counts
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  return start(config, kernel, arguments..., shape.chunk,
               RowTeam{shape.chunks, static_cast<unsigned>(kept), slots, shape.takers});
}
