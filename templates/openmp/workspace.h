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
//@ bytes_of_team
// Of the workspace, where each thread has memory of its own behind what all share.
template <class Space>
int64_t bytes_of_team(const Space& space, int64_t threads) {
  int64_t more = 0, all = 0;
  if (__builtin_mul_overflow(space.thread_bytes, threads - 1, &more) ||
      __builtin_add_overflow(space.bytes, more, &all))
    return INT64_MAX / 2;
  return all;
}
template <class Space>
int64_t bytes_of_team(const Space& space) {
  return bytes_of_team(space, space.most_threads);
}
//@ next_line
// The first line of the cache that begins in the memory. Vectors that lie across two lines are slow.
inline char* next_line(void* memory) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(memory);
  return static_cast<char*>(memory) + (kLineBytes - address % kLineBytes) % kLineBytes;
}
//@ Memory: next_line check_workspace
// Memory for intermediates: the caller's, or its own.
class Memory {
 public:
  template <class A, size_t Count>
  Memory(void* workspace, int64_t given, int64_t needed, const A (&arrays)[Count])
      : status(check_workspace(workspace, given, needed, 1, arrays)) {
    if (workspace == nullptr) own_ = std::malloc(size_t(needed));
    if (workspace == nullptr && own_ == nullptr) status = status_of(KGEN_NO_MEMORY);
    if (status == 0) data = next_line(own_ != nullptr ? own_ : workspace);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { std::free(own_); }

  int status;
  char* data = nullptr;

 private:
  void* own_ = nullptr;
};
//@ TeamMemory: Memory bytes_of_team thread_count smaller larger
// The same where each thread has memory of its own. A workspace with less than all of it limits the team.
template <class Space>
int64_t threads_within(int64_t bytes, const Space& space) {
  const int64_t most = smaller(space.most_threads, thread_count());
  if (space.thread_bytes == 0) return most;
  if (bytes < space.bytes) return 1;
  return smaller(most, 1 + (bytes - space.bytes) / space.thread_bytes);
}
class TeamMemory : public Memory {
 public:
  template <class Space, class A, size_t Count>
  TeamMemory(void* workspace, int64_t given, const Space& space, const A (&arrays)[Count])
      : TeamMemory(workspace, given, space, threads_within(workspace == nullptr ? INT64_MAX : given, space),
                   arrays) {}
  const int64_t threads;

 private:
  template <class Space, class A, size_t Count>
  TeamMemory(void* workspace, int64_t given, const Space& space, int64_t team, const A (&arrays)[Count])
      : Memory(workspace, given, bytes_of_team(space, team), arrays), threads(team) {}
};
