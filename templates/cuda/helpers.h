//@ row_at
// Where a packed row starts, kept within the array: nothing checks tables in device memory.
template <class T> DEVICE T row_at(const T* starts, int64_t row, int64_t total) {
  const T start = starts[row];
  return start < 0 ? T(0) : start > total ? T(total) : start;
}
//@ longest_row: row_at
// The length of the longest packed row.
template <class T> DEVICE int64_t longest_row(const T* starts, int64_t rows, int64_t total) {
  int64_t longest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t length = int64_t(row_at(starts, row + 1, total)) - row_at(starts, row, total);
    longest = length > longest ? length : longest;
  }
  return longest;
}
//@ from_bf16
FUNCTION float from_bf16(uint16_t bits) {
  return __bfloat162float(__ushort_as_bfloat16(bits));
}
//@ to_bf16
FUNCTION uint16_t to_bf16(float v) {
  return __bfloat16_as_ushort(__float2bfloat16_rn(v));
}
//@ from_f16
FUNCTION float from_f16(uint16_t bits) {
  return __half2float(__ushort_as_half(bits));
}
//@ to_f16
FUNCTION uint16_t to_f16(float v) {
  return __half_as_ushort(__float2half_rn(v));
}
//@ atomic_add
template <class V> DEVICE void atomic_add(int32_t* place, V value) {
  atomicAdd(place, int32_t(value));
}
template <class V> DEVICE void atomic_add(uint32_t* place, V value) {
  atomicAdd(place, uint32_t(value));
}
template <class V> DEVICE void atomic_add(int64_t* place, V value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
}
template <class V> DEVICE void atomic_add(uint64_t* place, V value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
}
template <class V> DEVICE void atomic_add(float* place, V value) {
  atomicAdd(place, float(value));
}
template <class V> DEVICE void atomic_add(double* place, V value) {
  atomicAdd(place, double(value));
}
//@ atomic_add_small
// Elements of one or two bytes: the word around them is exchanged.
template <class T, class V> DEVICE void atomic_add(T* place, V value) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(place);
  uint32_t* word = reinterpret_cast<uint32_t*>(address & ~uintptr_t{3});
  const uint32_t shift = uint32_t(address & 3) * 8, mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
  uint32_t old = *word, assumed;
  do {
    assumed = old;
    const T next = T(T((assumed & mask) >> shift) + T(value));
    old = atomicCAS(word, assumed, (assumed & ~mask) | ((uint32_t(next) << shift) & mask));
  } while (old != assumed);
}
//@ atomic_add_bf16: from_bf16 to_bf16
// The sum is rounded each time, as it is stored; the word around it is exchanged.
DEVICE void atomic_add_bf16(uint16_t* place, float value) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(place);
  uint32_t* word = reinterpret_cast<uint32_t*>(address & ~uintptr_t{3});
  const uint32_t shift = uint32_t(address & 3) * 8;
  uint32_t old = *word, assumed;
  do {
    assumed = old;
    const uint32_t next = to_bf16(from_bf16(uint16_t(assumed >> shift)) + value);
    old = atomicCAS(word, assumed, (assumed & ~(0xffffu << shift)) | (next << shift));
  } while (old != assumed);
}
//@ atomic_add_f16: from_f16 to_f16
// The sum is rounded each time, as it is stored; the word around it is exchanged.
DEVICE void atomic_add_f16(uint16_t* place, float value) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(place);
  uint32_t* word = reinterpret_cast<uint32_t*>(address & ~uintptr_t{3});
  const uint32_t shift = uint32_t(address & 3) * 8;
  uint32_t old = *word, assumed;
  do {
    assumed = old;
    const uint32_t next = to_f16(from_f16(uint16_t(assumed >> shift)) + value);
    old = atomicCAS(word, assumed, (assumed & ~(0xffffu << shift)) | (next << shift));
  } while (old != assumed);
}
//@ overflows
// Does the product of the factors exceed 63 bits?
inline bool overflows(std::initializer_list<int64_t> factors) {
  for (int64_t factor : factors)
    if (factor == 0) return false;
  int64_t product = 1;
  for (int64_t factor : factors) {
    if (factor > INT64_MAX / product) return true;
    product *= factor;
  }
  return false;
}
//@ overlap
// Do two arrays share memory?
inline bool overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const uintptr_t p = reinterpret_cast<uintptr_t>(a), q = reinterpret_cast<uintptr_t>(b);
  return p != 0 && q != 0 && a_bytes > 0 && b_bytes > 0 && p < q + uintptr_t(b_bytes) && q < p + uintptr_t(a_bytes);
}
//@ overlapping: overlap
// An array of a call. An output has a status for sharing memory, and inputs that it may be.
struct Extent {
  const void* data;
  int64_t bytes;
  int status = 0;
  std::vector<const void*> inputs = {};
  bool may_be(const Extent& other) const {
    for (const void* input : inputs)
      if (other.status == 0 && other.data == data && input == data) return true;
    return false;
  }
};
// The status of the first output that shares memory with another array, or 0.
inline int overlapping(std::initializer_list<Extent> arrays) {
  for (const Extent& out : arrays)
    for (const Extent& other : arrays)
      if (out.status != 0 && &out != &other && !out.may_be(other) &&
          overlap(out.data, out.bytes, other.data, other.bytes))
        return out.status;
  return 0;
}
//@ has_duplicates
template <class T> inline bool has_duplicates(const T* table, int64_t count) {
  std::vector<T> sorted(table, table + count);
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}
//@ WindowSet
// The windows that steps have visited so far.
class WindowSet {
 public:
  // Is it the window of the step before, or one not seen yet?
  bool continues(const std::vector<int64_t>& window) {
    if (window == last_ && !seen_.empty()) return true;
    last_ = window;
    return seen_.insert(window).second;
  }
  bool is_new(const std::vector<int64_t>& window) { return seen_.insert(window).second; }

 private:
  std::set<std::vector<int64_t>> seen_;
  std::vector<int64_t> last_;
};
//@ reserve
// Takes room for `count` elements of `bytes` each, aligned for any of them; returns where it starts.
inline int64_t reserve(int64_t& total, int64_t count, int64_t bytes) {
  const int64_t start = total;
  if (count > (INT64_MAX / 4 - total) / bytes)
    total = INT64_MAX / 2;
  else
    total += (count * bytes + 255) / 256 * 256;
  return start;
}
//@ launch
// Starts a kernel on the stream; the arguments are converted to the kernel's own types.
template <class... Parameters, class... Arguments>
inline cudaError_t launch(void (*kernel)(Parameters...), int64_t blocks, dim3 threads, size_t shared_bytes, cudaStream_t stream, Arguments... arguments) {
  if (blocks <= 0) return cudaSuccess;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}
//@ block_threads
// The threads of each block, which share `length` turns of a loop: 16 turns each, fewer where that leaves the device idle.
inline unsigned block_threads(int64_t length, int64_t blocks) {
  unsigned threads = 32;
  while (threads < 512 &&
         (threads * 16 < length || (threads * 4 < length && blocks < 262144 / threads)))
    threads *= 2;
  return threads;
}
//@ RowShape: block_threads ceil_div
// How folds of rows are shared out: where they are few and long, `chunks` blocks share each, with `chunk` turns of it.
struct RowShape {
  unsigned threads, chunks = 1;
  int64_t chunk, blocks, parts, tickets;
  RowShape(int64_t turns, int64_t rows) : threads(block_threads(turns, rows)) {
    while (chunks < 1024 && chunks * threads * 16 < turns && rows < 262144 / (chunks * threads)) chunks *= 2;
    chunk = ceil_div(turns, int64_t{chunks} * 16) * 16; // so that all begin with a whole access
    blocks = (rows < int64_t{1} << 30 ? rows : int64_t{1} << 30) * chunks;
    parts = chunks > 1 ? rows * chunks : 0;
    tickets = chunks > 1 ? rows : 0;
  }
};
//@ ColumnShape: ceil_div
// How folds of columns are shared out: a block takes `wide` columns, with `deep` threads for each; where columns are few,
// `chunks` blocks share the rows.
struct ColumnShape {
  unsigned wide = 32, deep = 1, chunks = 1;
  int64_t chunk, blocks, parts, tickets;
  ColumnShape(int64_t rows, int64_t columns, unsigned most_chunks) {
    while (deep < 16 && deep * 4 < rows && columns < 262144 / deep) deep *= 2;
    if (deep < 8) wide = 256 / deep;
    while (chunks < most_chunks && chunks * deep * 16 < rows && columns < 262144 / (chunks * deep)) chunks *= 2;
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
// The elements of neighbouring positions, each of which has kFields of them: what a thread loads or stores at once.
template <size_t kBytes> struct Aligned {
  enum : size_t { kTo = kBytes % 16 == 0 ? 16 : kBytes % 8 == 0 ? 8 : kBytes % 4 == 0 ? 4 : kBytes % 2 == 0 ? 2 : 1 };
};
template <class T, int kElements, int kFields = 1>
struct alignas(kElements == 1 ? alignof(T) : Aligned<kElements * kFields * sizeof(T)>::kTo) Pack {
  T elements[kElements * kFields];
  DEVICE T& operator[](int i) { return elements[i]; }
  DEVICE const T& operator[](int i) const { return elements[i]; }
};
//@ Tile
// A tile in shared memory, its rows padded so that going along a column touches all banks.
template <class T, int kSide> struct Tile {
  T at[kSide][kSide + (sizeof(T) < 4 ? 4 / sizeof(T) : 1)];
};
//@ load_pack: Pack
// Past the end, where only `left` positions are left, the last of them is repeated.
template <int kElements, int kFields = 1, bool kWide = true, class T, class Index>
DEVICE Pack<T, kElements, kFields> load_pack(const T* from, Index left) {
  if (kWide && left >= kElements) return *reinterpret_cast<const Pack<T, kElements, kFields>*>(from);
  Pack<T, kElements, kFields> pack;
#pragma unroll
  for (int i = 0; i < kElements * kFields; ++i)
    pack[i] = from[i / kFields < left ? i : (left - 1) * kFields + i % kFields];
  return pack;
}
//@ store_pack: Pack
template <bool kWide = true, class T, int kElements, int kFields, class Index>
DEVICE void store_pack(T* to, const Pack<T, kElements, kFields>& pack, Index left) {
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
inline int64_t padded_bytes(int64_t count, int64_t bytes) {
  return (count * bytes + 15) / 16 * 16;
}
//@ workspace_tiles
// Tiles that do not fit into shared memory lie in the workspace, one set a block.
inline int64_t workspace_tiles(int64_t bytes, int64_t shared_limit, int64_t blocks) {
  return bytes <= shared_limit ? 0 : bytes * blocks;
}
//@ take
// The next tile of `count` elements.
template <class T> DEVICE T* take(char*& tile, int64_t count) {
  T* const out = reinterpret_cast<T*>(tile);
  tile += (count * int64_t(sizeof(T)) + 15) / 16 * 16;
  return out;
}
//@ from_lane
// The value that another lane of the warp has.
template <class T> DEVICE T from_lane(T value, unsigned lane) {
  return T(__shfl_sync(0xffffffffu, value, int(lane)));
}
//@ Best: from_lane
// A value and where it stands.
template <class T> struct Best {
  T value;
  int64_t index;
};
template <class T> DEVICE Best<T> from_lane(Best<T> best, unsigned lane) {
  return {from_lane(best.value, lane), from_lane(best.index, lane)};
}
//@ first_above: Best above
// The greater value; of equals the one that stands first.
template <class T> DEVICE Best<T> first_above(Best<T> a, Best<T> b) {
  const bool better = a.index < 0 || above(b.value, a.value) || (!above(a.value, b.value) && b.index < a.index);
  return b.index >= 0 && better ? b : a;
}
//@ first_below: Best below
// The smaller value; of equals the one that stands first.
template <class T> DEVICE Best<T> first_below(Best<T> a, Best<T> b) {
  const bool better = a.index < 0 || below(b.value, a.value) || (!below(a.value, b.value) && b.index < a.index);
  return b.index >= 0 && better ? b : a;
}
//@ block_fold: from_lane
#if defined(__CUDACC__)
DEVICE unsigned char* shared_memory() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}
#endif
// Folds one value a thread over a block of whole warps, in a fixed order; every thread gets the result.
template <class T, class Combine> DEVICE T block_fold(T value, Combine combine) {
  const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) value = combine(value, from_lane(value, lane + distance));
  if (warps == 1) return from_lane(value, 0);
  T* const slots = reinterpret_cast<T*>(shared_memory());
  __syncthreads(); // what the fold before has left there is read
  if (lane == 0) slots[threadIdx.x / 32] = value;
  __syncthreads();
  value = slots[0];
  for (unsigned warp = 1; warp < warps; ++warp) value = combine(value, slots[warp]);
  return value;
}
//@ broadcast: block_fold
// The value of the block's first thread, for all of them.
template <class T> DEVICE T broadcast(T value) {
  T* const slot = reinterpret_cast<T*>(shared_memory());
  __syncthreads();
  if (threadIdx.x == 0) *slot = value;
  __syncthreads();
  return *slot;
}
//@ is_last_block
// Is this the last of the blocks that come here with the ticket? It then sees what all have written before.
DEVICE bool is_last_block(uint32_t* ticket, unsigned blocks) {
  __threadfence();
  __syncthreads();
  const int last = threadIdx.x == 0 && threadIdx.y == 0 && atomicAdd(ticket, 1u) == blocks - 1;
  const bool found = __syncthreads_or(last) != 0;
  __threadfence();
  return found;
}
//@ column_fold: block_fold
// Folds the values of the block's threads of one column, in a fixed order; each of them gets the result.
template <class T, class Combine> DEVICE T column_fold(T value, Combine combine) {
  if (blockDim.y == 1) return value;
  T* const slots = reinterpret_cast<T*>(shared_memory()) + threadIdx.x;
  __syncthreads(); // what the fold before has left there is read
  slots[threadIdx.y * blockDim.x] = value;
  __syncthreads();
  value = slots[0];
  for (unsigned y = 1; y < blockDim.y; ++y) value = combine(value, slots[y * blockDim.x]);
  return value;
}
