//@ reserve
constexpr int64_t kLineBytes = 64;  // of a cache

// Takes room for `count` elements of `bytes` each, on lines of the cache of its own; returns where it starts.
inline int64_t reserve(int64_t& total, int64_t count, int64_t bytes) {
  const int64_t start = total;
  int64_t size = 0;
  if (__builtin_mul_overflow(count, bytes, &size) || __builtin_add_overflow(size, kLineBytes - 1, &size) ||
      __builtin_add_overflow(total, size / kLineBytes * kLineBytes, &total))
    total = INT64_MAX / 2;
  return start;
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
