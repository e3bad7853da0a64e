{{{banner}}}
// {{kernel}} as a handler of XLA's foreign function interface. {{kernel}}_jax.py compiles this file with the kernel's
// sources, for GPUs with KGEN_JAX_CUDA, and registers it.

#include "{{kernel}}.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
{{#wide}}
#include <vector>
{{/wide}}

#if defined(_OPENMP)
#include <omp.h>
#endif

#include "xla/ffi/api/c_api.h" // ffi.h, which is built on it, takes the compiler five times as long

namespace {

using Array = XLA_FFI_Buffer;

// A call by XLA: arrays and results by their places, numbers by their names.
class Call {
public:
  explicit Call(const XLA_FFI_CallFrame& frame) : frame_(frame) {}

  const Array& argument(int64_t i) const {
    if (i >= frame_.args.size || frame_.args.types[i] != XLA_FFI_ArgType_BUFFER)
      throw std::invalid_argument("an array is missing in the call");
    return *static_cast<const Array*>(frame_.args.args[i]);
  }

  const Array& result(int64_t i) const {
    if (i >= frame_.rets.size || frame_.rets.types[i] != XLA_FFI_RetType_BUFFER)
      throw std::invalid_argument("a result is missing in the call");
    return *static_cast<const Array*>(frame_.rets.rets[i]);
  }

  // int64_t, bool, or double, which comes as its bits: XLA takes calls for the same whose numbers are equal, as 0.0 and
  // -0.0 are.
  template <typename Number>
  Number number(std::string_view name) const {
    constexpr XLA_FFI_DataType type = std::is_same_v<Number, bool> ? XLA_FFI_DataType_PRED : XLA_FFI_DataType_S64;
    const XLA_FFI_Attrs& numbers = frame_.attrs;
    for (int64_t i = 0; i < numbers.size; ++i)
      if (name == std::string_view(numbers.names[i]->ptr, numbers.names[i]->len) &&
          numbers.types[i] == XLA_FFI_AttrType_SCALAR) {
        const auto& scalar = *static_cast<const XLA_FFI_Scalar*>(numbers.attrs[i]);
        if (scalar.dtype == type) {
          Number number;
          std::memcpy(&number, scalar.value, sizeof number);
          return number;
        }
      }
    throw std::invalid_argument("the call has no number " + std::string(name) + " of the right type");
  }

  // How many threads XLA's pool has; 0 if it does not say.
  int64_t threads() const {
    int64_t count = 0;
    XLA_FFI_ThreadPool_NumThreads_Args asked = {};
    asked.struct_size = XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE;
    asked.ctx = frame_.ctx;
    asked.num_threads = &count;
    forget(frame_.api->XLA_FFI_ThreadPool_NumThreads(&asked));
    return count;
  }

{{#cuda}}
#if defined(KGEN_JAX_CUDA)
  void* stream() const {
    XLA_FFI_Stream_Get_Args asked = {};
    asked.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE;
    asked.ctx = frame_.ctx;
    if (XLA_FFI_Error* error = frame_.api->XLA_FFI_Stream_Get(&asked)) {
      forget(error);
      throw std::runtime_error("XLA gives no stream");
    }
    return asked.stream;
  }

{{#memory}}
  // What `function` returns, with so much of XLA's memory.
  template <typename Function>
  XLA_FFI_Error* with_workspace(int64_t bytes, Function function) const {
    if (bytes <= 0)
      return ended(bytes < 0 ? static_cast<int>(-bytes) : function(nullptr, bytes));
    XLA_FFI_DeviceMemory_Allocate_Args asked = {};
    asked.struct_size = XLA_FFI_DeviceMemory_Allocate_Args_STRUCT_SIZE;
    asked.ctx = frame_.ctx;
    asked.size = static_cast<size_t>(bytes);
    asked.alignment = 256;
    if (XLA_FFI_Error* error = frame_.api->XLA_FFI_DeviceMemory_Allocate(&asked)) {
      forget(error);
      return ended(KGEN_NO_MEMORY);
    }
    const int status = function(asked.data, bytes);
    XLA_FFI_DeviceMemory_Free_Args given = {};
    given.struct_size = XLA_FFI_DeviceMemory_Free_Args_STRUCT_SIZE;
    given.ctx = frame_.ctx;
    given.size = asked.size;
    given.data = asked.data;
    forget(frame_.api->XLA_FFI_DeviceMemory_Free(&given));
    return ended(status);
  }

{{/memory}}
#endif
{{/cuda}}
  XLA_FFI_Error* ended(int status) const { return status == 0 ? nullptr : error({{kernel}}_error(status)); }

  XLA_FFI_Error* error(const std::string& what) const {
    const std::string message = "{{kernel}}: " + what;
    XLA_FFI_Error_Create_Args made = {};
    made.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
    made.message = message.c_str();
    made.errc = XLA_FFI_Error_Code_INVALID_ARGUMENT;
    return frame_.api->XLA_FFI_Error_Create(&made);
  }

private:
  void forget(XLA_FFI_Error* error) const {
    if (error == nullptr)
      return;
    XLA_FFI_Error_Destroy_Args gone = {};
    gone.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE;
    gone.error = error;
    frame_.api->XLA_FFI_Error_Destroy(&gone);
  }

  const XLA_FFI_CallFrame& frame_;
};

// Where an array lies, as a pointer of the type that a C function asks for.
struct Pointer {
  void* data;
  template <typename T>
  operator T*() const {
    return static_cast<T*>(data);
  }
};
{{#plain}}
Pointer pointer(const Array& array) { return {array.data}; }
{{/plain}}
{{#optional}}
Pointer pointer(const Array& array, bool is_given) { return {is_given ? array.data : nullptr}; }
{{/optional}}

{{#rows}}
// The product of the extents but for so many in front and behind.
int64_t rows_of(const Array& array, int64_t before, int64_t behind) {
  int64_t rows = 1;
  for (int64_t i = before; i + behind < array.rank; ++i)
    rows *= array.dims[i];
  return rows;
}

{{/rows}}
{{#strides}}
// The product of so many extents at the end: arrays are dense.
int64_t stride_of(const Array& array, int64_t behind) {
  int64_t stride = 1;
  for (int64_t i = 0; i < behind && i < array.rank; ++i)
    stride *= array.dims[array.rank - 1 - i];
  return stride;
}

{{/strides}}
// A call takes no more of OpenMP's threads than XLA's pool has.
class Threads {
public:
#if defined(_OPENMP)
  explicit Threads(const Call& call) : before_(omp_get_max_threads()) {
    const int64_t pooled = call.threads();
    if (pooled > 0 && pooled < before_)
      omp_set_num_threads(static_cast<int>(pooled));
  }
  ~Threads() { omp_set_num_threads(before_); }

private:
  const int before_;
#else
  explicit Threads(const Call&) {}
  ~Threads() {}
#endif
};

{{#wide}}
// A table of int64, also where JAX has made it int32.
class WideTable {
public:
  explicit WideTable(const Array& table) : data_(table.data) {
    if (table.dtype != XLA_FFI_DataType_S32)
      return;
    int64_t count = 1;
    for (int64_t i = 0; i < table.rank; ++i)
      count *= table.dims[i];
    const auto* narrow = static_cast<const int32_t*>(table.data);
    copy_.assign(narrow, narrow + count);
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
{{{cuda_handler}}}
#endif
{{/cuda}}
// XLA asks once for the version that this file was compiled for; each other call is one of the kernel.
XLA_FFI_Error* answer(XLA_FFI_CallFrame* frame, XLA_FFI_Error* (*handler)(const Call&)) {
  const Call call(*frame);
  if (frame->extension_start != nullptr && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata& asked = *reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame->extension_start)->metadata;
    if (asked.struct_size < XLA_FFI_Metadata_STRUCT_SIZE)
      return call.error("this XLA is older than the header that {{kernel}}_jax.cpp was compiled with");
    asked.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
    asked.traits = 0;
    return nullptr;
  }
  try {
    return handler(call);
  } catch (const std::exception& problem) {
    return call.error(problem.what());
  }
}

} // namespace

{{{cpu_symbol}}}
{{#cuda}}
#if defined(KGEN_JAX_CUDA)
{{{cuda_symbol}}}
#endif
{{/cuda}}
