{{{banner}}}
// {{kernel}} as a handler of XLA's foreign function interface. {{kernel}}_jax.py compiles this file with the kernel's
// sources, for GPUs with KGEN_JAX_CUDA, and registers it.

#include "{{kernel}}.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

// Where an array lies, as a pointer of the type that a C function asks for.
struct Pointer {
  void* data;
  template <typename T>
  operator T*() const {
    return static_cast<T*>(data);
  }
};
Pointer pointer(const ffi::AnyBuffer& array) { return {array.untyped_data()}; }
Pointer pointer(ffi::Result<ffi::AnyBuffer>& array) { return {array->untyped_data()}; }
{{#optional}}
Pointer pointer(const ffi::AnyBuffer& array, bool is_given) {
  return {is_given ? array.untyped_data() : nullptr};
}
Pointer pointer(ffi::Result<ffi::AnyBuffer>& array, bool is_given) {
  return {is_given ? array->untyped_data() : nullptr};
}
{{/optional}}

{{#rows}}
// The product of the extents but for so many in front and behind.
int64_t rows_of(const ffi::AnyBuffer& array, size_t before, size_t behind) {
  const auto extents = array.dimensions();
  int64_t rows = 1;
  for (size_t i = before; i + behind < extents.size(); ++i)
    rows *= extents[i];
  return rows;
}

{{/rows}}
{{#strides}}
// The product of so many extents at the end: arrays are dense.
int64_t stride_of(const ffi::AnyBuffer& array, size_t behind) {
  const auto extents = array.dimensions();
  int64_t stride = 1;
  for (size_t i = 0; i < behind && i < extents.size(); ++i)
    stride *= extents[extents.size() - 1 - i];
  return stride;
}

{{/strides}}
ffi::Error error_of(int status) {
  if (status == 0)
    return ffi::Error::Success();
  return ffi::Error::InvalidArgument(std::string("{{kernel}}: ") + {{kernel}}_error(status));
}

// A call takes no more of OpenMP's threads than XLA's pool has.
class Threads {
public:
#if defined(_OPENMP)
  explicit Threads(const ffi::ThreadPool& pool) : before_(omp_get_max_threads()) {
    const int64_t pooled = pool.num_threads();
    if (pooled > 0 && pooled < before_)
      omp_set_num_threads(static_cast<int>(pooled));
  }
  ~Threads() { omp_set_num_threads(before_); }

private:
  const int before_;
#else
  explicit Threads(const ffi::ThreadPool&) {}
  ~Threads() {}
#endif
};

{{#wide}}
// A table of int64, also where JAX has made it int32.
class WideTable {
public:
  explicit WideTable(const ffi::AnyBuffer& table) : data_(table.untyped_data()) {
    if (table.element_type() != ffi::S32)
      return;
    const int32_t* narrow = table.typed_data<int32_t>();
    copy_.assign(narrow, narrow + table.element_count());
    data_ = copy_.data();
  }
  const int64_t* data() const { return static_cast<const int64_t*>(data_); }

private:
  std::vector<int64_t> copy_;
  const void* data_;
};

{{/wide}}
{{{cpu_handler}}}
{{#cuda}}
#if defined(KGEN_JAX_CUDA)
{{#memory}}
// A call with the bytes that it needs, of XLA's memory.
template <typename Call>
ffi::Error with_workspace(ffi::ScratchAllocator& scratch, int64_t bytes, Call call) {
  if (bytes <= 0)
    return error_of(bytes < 0 ? static_cast<int>(-bytes) : call(nullptr, bytes));
  const std::optional<void*> memory = scratch.Allocate(static_cast<size_t>(bytes), 256);
  return error_of(memory ? call(*memory, bytes) : KGEN_NO_MEMORY);
}

{{/memory}}
{{{cuda_handler}}}
#endif
{{/cuda}}
} // namespace

{{{cpu_symbol}}}
{{#cuda}}
#if defined(KGEN_JAX_CUDA)
{{{cuda_symbol}}}
#endif
{{/cuda}}
