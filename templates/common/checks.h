//@ status_of
// The status of a kind, about the arguments of these places; 0: about none.
FUNCTION constexpr int status_of(int kind, int first = 0, int second = 0) {
  return kind | first << 8 | second << 18;
}
//@ check_sizes: status_of
// A size, and which argument it is.
struct SizeArgument {
  int place;
  int64_t size;
};
// The status of the first negative size, or 0.
inline int check_sizes(std::initializer_list<SizeArgument> sizes) {
  for (const SizeArgument& argument : sizes)
    if (argument.size < 0) return status_of(KGEN_NEGATIVE_SIZE, argument.place);
  return 0;
}
//@ kMayBeNull
constexpr bool kMayBeNull = true;
//@ Array
// An array of a call, and which argument it is: an input, if its elements are constant, or an output.
struct Array {
  int place;
  const void* data;
  int64_t element;  // bytes of one
  bool is_output, may_be_null;
  int64_t bytes = 0;  // of all; -1: more than can be counted

  template <class T>
  Array(int argument, T* array, std::initializer_list<int64_t> extents, bool optional = false)
      : place(argument),
        data(array),
        element(sizeof(T)),
        is_output(!std::is_const<T>::value),
        may_be_null(optional) {
    for (int64_t extent : extents)
      if (extent == 0) return;
    bytes = element;
    for (int64_t extent : extents)
      if (bytes >= 0 && __builtin_mul_overflow(bytes, extent, &bytes)) bytes = -1;
  }
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(data); }
  bool is_aligned() const { return bytes == 0 || address() % uintptr_t(element) == 0; }
  int check_strides() const { return 0; }
  // Do they share memory?
  bool meets(const Array& other) const {
    if (data == nullptr || other.data == nullptr || bytes == 0 || other.bytes == 0) return false;
    return address() < other.address() ? other.address() - address() < uintptr_t(bytes)
                                       : address() - other.address() < uintptr_t(other.bytes);
  }
  // Does each element lie where that of the other array lies?
  bool lies_on(const Array& other) const { return data == other.data; }
};
//@ has_span
// A dimension of an array whose strides were given.
struct Strided {
  int64_t extent, stride;
  // |stride| - 1, which can be counted whatever the stride.
  int64_t gap() const { return stride < 0 ? -(stride + 1) : stride - 1; }
  int64_t span() const { return (extent - 1) * gap() + extent - 1; }
};
constexpr size_t kMostDims = 64;  // of an array

// The dimensions of an array with strides.
struct StridedDims {
  Strided dims[kMostDims];
  size_t count = 0;
  const Strided* begin() const { return dims; }
  const Strided* end() const { return dims + count; }
};
// Can the distance between any two elements be counted, and added to a few others?
inline bool has_span(const StridedDims& dims) {
  for (const Strided& d : dims)
    if (d.extent <= 0) return true;
  int64_t span = 0, gaps = 0;
  for (const Strided& d : dims)
    if (__builtin_mul_overflow(d.extent - 1, d.gap(), &gaps) || __builtin_add_overflow(span, gaps, &span) ||
        __builtin_add_overflow(span, d.extent - 1, &span) || span > INT64_MAX / 64)
      return false;
  return true;
}
//@ keeps_apart: has_span
// Has each element a place of its own in memory? Where each stride is longer than what the shorter ones span.
inline bool keeps_apart(const StridedDims& dims) {
  if (!has_span(dims)) return false;
  for (const Strided& d : dims)
    if (d.extent <= 0) return true;
  for (const Strided& d : dims) {
    int64_t shorter = 0;
    for (const Strided& other : dims)
      if (other.gap() < d.gap() || (other.gap() == d.gap() && &other < &d)) shorter += other.span();
    if (d.extent > 1 && (d.stride == 0 || d.gap() < shorter)) return false;
  }
  return true;
}
//@ share_memory: has_span floor_div ceil_div larger smaller
// What an index of one of two arrays adds to the distance between two of their elements: a stride, so often.
struct Distance {
  int64_t stride, least, most;
};
// Can the indices add up to a distance from `low` to `high`? What takes too many tries counts as yes.
inline bool can_add_up(const Distance* index, const Distance* end, int64_t low, int64_t high, int& tries) {
  if (index == end) return low <= 0 && high >= 0;
  int64_t nearer = 0, farther = 0;  // what those behind it can add
  for (const Distance* i = index + 1; i != end; ++i) {
    nearer += i->least * i->stride;
    farther += i->most * i->stride;
  }
  const int64_t stride = index->stride, last = smaller(index->most, floor_div(high - nearer, stride));
  for (int64_t at = larger(index->least, ceil_div(low - farther, stride)); at <= last; ++at)
    if (--tries < 0 || can_add_up(index + 1, end, low - at * stride, high - at * stride, tries)) return true;
  return false;
}
// Do elements of two arrays share memory? One array may lie in the gaps of the other.
inline bool share_memory(const void* a, int64_t a_bytes, const StridedDims& a_dims, const void* b,
                         int64_t b_bytes, const StridedDims& b_dims) {
  Distance indices[2 * kMostDims];  // the longest stride first
  Distance* end = indices;
  const auto add = [&](const Strided& d, int64_t bytes, bool forward) {
    if (d.extent <= 1 || d.stride == 0) return d.extent > 0;
    const int64_t stride = (d.stride < 0 ? -d.stride : d.stride) * bytes;
    Distance* place = indices;
    while (place != end && place->stride > stride) ++place;
    if (place == end || place->stride != stride) {
      for (Distance* i = end++; i != place; --i) *i = i[-1];
      *place = {stride, 0, 0};
    }
    if (forward)
      place->most += d.extent - 1;
    else
      place->least -= d.extent - 1;
    return true;
  };
  bool any = a != nullptr && b != nullptr && a_bytes > 0 && b_bytes > 0;
  for (const Strided& d : a_dims) any = any && add(d, a_bytes, d.stride > 0);
  for (const Strided& d : b_dims) any = any && add(d, b_bytes, d.stride < 0);
  const int64_t apart = int64_t(reinterpret_cast<uintptr_t>(b) - reinterpret_cast<uintptr_t>(a));
  int tries = 10000;
  return any && can_add_up(indices, end, apart + 1 - a_bytes, apart + b_bytes - 1, tries);
}
//@ StridedArray: Array share_memory keeps_apart
// One that may have strides: an extent and a stride, in elements, for each dimension.
struct StridedArray : Array {
  StridedDims dims;
  bool has_strides = false;

  template <class T>
  StridedArray(int argument, T* array, std::initializer_list<int64_t> extents, bool optional = false)
      : Array(argument, array, extents, optional) {
    dims.dims[dims.count++] = {1, 1};
  }
  template <class T, size_t Count>
  StridedArray(int argument, T* array, const Strided (&with_strides)[Count], bool optional = false)
      : Array(argument, array, {1}, optional), has_strides(true) {
    static_assert(Count <= kMostDims, "more dimensions than there is room for");
    for (const Strided& dim : with_strides) {
      dims.dims[dims.count++] = dim;
      if (dim.extent == 0) bytes = 0;
    }
    for (const Strided& dim : with_strides)
      if (bytes >= 0 && __builtin_mul_overflow(bytes, dim.extent, &bytes)) bytes = -1;
  }
  // The bytes that lie together. One without strides is like a single element of its size.
  int64_t unit() const { return has_strides ? element : bytes; }
  int check_strides() const {
    if (data == nullptr || !has_strides) return 0;  // of an array that is absent they are ignored
    return (is_output ? keeps_apart(dims) : has_span(dims)) ? 0 : status_of(KGEN_STRIDES, place);
  }
  bool meets(const StridedArray& other) const {
    if (!has_strides && !other.has_strides) return Array::meets(other);
    return share_memory(data, unit(), dims, other.data, other.unit(), other.dims);
  }
  bool lies_on(const StridedArray& other) const {
    if (data != other.data) return false;
    if (!has_strides || !other.has_strides) return is_dense() && other.is_dense();
    for (size_t d = 0; d < dims.count; ++d)
      if (dims.dims[d].extent > 1 && dims.dims[d].stride != other.dims.dims[d].stride) return false;
    return true;
  }
  // Do the elements lie like those of an array without strides?
  bool is_dense() const {
    uint64_t stride = 1;
    for (const Strided* d = dims.end(); d-- != dims.begin(); stride *= uint64_t(d->extent))
      if (d->extent > 1 && uint64_t(d->stride) != stride) return false;
    return true;
  }
};
//@ check_arrays: status_of Array
// An output, and an input that it may be, if its elements lie at the very same places.
struct InPlace {
  int output, input;
};
// The status of the first array that is not as it must be, or 0.
template <class A, size_t Count>
inline int check_arrays(const A (&arrays)[Count], std::initializer_list<InPlace> pairs = {}) {
  for (const A& array : arrays)
    if (array.bytes < 0) return status_of(KGEN_TOO_LARGE, array.place);
  for (const A& array : arrays) {
    if (array.data == nullptr && array.bytes > 0 && !array.may_be_null)
      return status_of(KGEN_NULL, array.place);
    if (!array.is_aligned()) return status_of(KGEN_MISALIGNED, array.place);
    if (const int status = array.check_strides()) return status;
  }
  const auto may_be = [&](const A& out, const A& in) {
    for (const InPlace& pair : pairs)
      if (pair.output == out.place && pair.input == in.place) return out.lies_on(in);
    return false;
  };
  for (const A& out : arrays)
    for (const A& other : arrays) {
      const bool asked = &out == &other || (other.is_output && other.place < out.place);
      if (out.is_output && !asked && out.meets(other) && !may_be(out, other))
        return status_of(KGEN_OVERLAP, out.place, other.place);
    }
  return 0;
}
//@ check_workspace: status_of Array
// The status of the memory that a caller gives, or 0. It may be null.
template <class A, size_t Count>
inline int check_workspace(void* workspace, int64_t given, int64_t needed, uintptr_t alignment,
                           const A (&arrays)[Count]) {
  if (workspace == nullptr) return 0;
  if (given < needed) return status_of(KGEN_WORKSPACE_SMALL);
  if (reinterpret_cast<uintptr_t>(workspace) % alignment != 0) return status_of(KGEN_WORKSPACE_MISALIGNED);
  const A memory(0, static_cast<char*>(workspace), {needed});
  for (const A& array : arrays)
    if (array.meets(memory)) return status_of(KGEN_WORKSPACE_OVERLAP, array.place);
  return 0;
}
//@ WindowSet
// The windows that steps have visited so far, as a hash table of their numbers behind a 1.
class WindowSet {
 public:
  WindowSet() = default;
  WindowSet(const WindowSet&) = delete;
  WindowSet& operator=(const WindowSet&) = delete;
  ~WindowSet() { delete[] rows_; }
  // Is it the window of the step before, or one not seen yet?
  bool continues(std::initializer_list<int64_t> window) {
    return (count_ > 0 && memcmp(last_ + 1, window.begin(), window.size() * sizeof(int64_t)) == 0) ||
           is_new(window);
  }
  bool is_new(std::initializer_list<int64_t> window) {
    width_ = window.size() + 1;
    if (2 * count_ >= size_) grow();
    const size_t before = count_;
    last_ = row_of(window.begin());
    return count_ > before;
  }

 private:
  int64_t* row_of(const int64_t* window) {
    uint64_t hash = 0;
    for (size_t i = 0; i + 1 < width_; ++i) {
      hash = (hash ^ uint64_t(window[i])) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    int64_t* row = rows_ + hash % size_ * width_;
    while (row[0] != 0 && memcmp(row + 1, window, (width_ - 1) * sizeof(int64_t)) != 0)
      row = row + width_ == rows_ + size_ * width_ ? rows_ : row + width_;
    if (row[0] == 0) ++count_;
    row[0] = 1;
    memcpy(row + 1, window, (width_ - 1) * sizeof(int64_t));
    return row;
  }
  void grow() {
    int64_t* const old = rows_;
    const size_t old_end = size_ * width_;
    size_ = size_ == 0 ? 64 : 2 * size_;
    rows_ = new int64_t[size_ * width_]();
    count_ = 0;
    for (size_t at = 0; at < old_end; at += width_)
      if (old[at] != 0) row_of(old + at + 1);
    delete[] old;
  }

  int64_t *rows_ = nullptr, *last_ = nullptr;
  size_t width_ = 0, size_ = 0, count_ = 0;
};
//@ has_duplicates: WindowSet
template <class T>
inline bool has_duplicates(const T* table, int64_t count) {
  WindowSet seen;
  for (int64_t entry = 0; entry < count; ++entry)
    if (!seen.is_new({int64_t(table[entry])})) return true;
  return false;
}
