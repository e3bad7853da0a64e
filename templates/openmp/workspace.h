//@ reserve
constexpr int64_t kLineBytes = 64;  // of a cache

// Takes room for `count` elements of `bytes` each, on lines of the cache of its own; returns where it starts.
inline int64_t reserve(int64_t& total, int64_t count, int64_t bytes) {
  const int64_t start = total;
  int64_t size = 0;
  if (__builtin_mul_overflow(count, bytes, &size) || __builtin_add_overflow(size, kLineBytes - 1, &size) ||
      __builtin_add_overflow(total, size / kLineBytes * kLineBytes, &total) || total > INT64_MAX / 2)
    total = INT64_MAX / 2;
  return start;
}
//@ workers_for: smaller larger
// How many threads a call has memory for: one for each piece of the work, at most 64. `pieces`: the counts
// whose product is that of the pieces.
inline int64_t workers_for(std::initializer_list<int64_t> pieces) {
  int64_t workers = 1;
  for (int64_t count : pieces)
    workers = smaller(int64_t(64), workers * larger(int64_t(1), smaller(int64_t(64), count)));
  return workers;
}
//@ Workspace
// What all threads of a call share, and behind it what each has of its own.
struct Workspace {
  int64_t bytes = 0, thread_bytes = 0, most_threads = 1;
};
//@ memory_of_thread: Workspace thread_number
// What this thread of a team has of its own.
inline char* memory_of_thread(const Workspace& space, char* workspace) {
  return workspace + space.bytes + thread_number() * space.thread_bytes;
}
//@ bytes_of: Workspace reserve
// With those before its first line, for memory may begin anywhere.
inline int64_t bytes_of(const Workspace& space, int64_t threads) {
  int64_t of_threads = 0, all = 0;
  if (__builtin_mul_overflow(space.thread_bytes, threads, &of_threads) ||
      __builtin_add_overflow(space.bytes + kLineBytes, of_threads, &all))
    return INT64_MAX / 2;
  return all;
}
inline int64_t bytes_of(const Workspace& space) { return bytes_of(space, space.most_threads); }
//@ next_line: reserve
// The first line of the cache that begins in the memory. Vectors that lie across two lines are slow.
inline char* next_line(void* memory) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(memory);
  return static_cast<char*>(memory) + (kLineBytes - address % kLineBytes) % kLineBytes;
}
//@ Memory: next_line check_workspace bytes_of thread_count smaller larger
// How many threads so many bytes are enough for.
inline int64_t threads_within(int64_t bytes, const Workspace& space) {
  const int64_t most = space.most_threads == 1 ? 1 : smaller(space.most_threads, thread_count());
  if (space.thread_bytes == 0) return most;
  if (bytes < space.bytes) return 1;
  return larger(int64_t(1), smaller(most, (bytes - space.bytes - kLineBytes) / space.thread_bytes));
}
// Memory for intermediates: the caller's, or its own. Where the caller's is less than all, fewer threads run.
class Memory {
 public:
  template <class A, size_t Count>
  Memory(void* workspace, int64_t given, const Workspace& space, const A (&arrays)[Count])
      : threads(threads_within(workspace == nullptr ? INT64_MAX : given, space)) {
    const int64_t needed = bytes_of(space, threads);
    status = check_workspace(workspace, given, needed, 1, arrays);
    if (workspace == nullptr) own_ = std::malloc(size_t(needed));
    if (workspace == nullptr && own_ == nullptr) status = status_of(KGEN_NO_MEMORY);
    if (status == 0) data = next_line(own_ != nullptr ? own_ : workspace);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { std::free(own_); }

  const int64_t threads;
  int status = 0;
  char* data = nullptr;

 private:
  void* own_ = nullptr;
};
