{{{banner}}}
// {{kernel}} as an operator of PyTorch 2.13 and later, over its stable ABI: for the CPU, and with KGEN_CUDA for CUDA.
// `python {{kernel}}_torch.py` builds the library.
#ifndef TORCH_TARGET_VERSION
#define TORCH_TARGET_VERSION 0x020d000000000000
#endif

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "{{kernel}}.h"

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;
using Shape = std::vector<int64_t>;

using Parts = std::initializer_list<std::string_view>;
std::string text_of(Parts parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}
[[noreturn]] void fail(Parts parts) { throw std::runtime_error("{{kernel}}: " + text_of(parts)); }

void check(int status) {
  if (status != 0) fail({ {{kernel}}_error(status) });
}
void check_torch(AOTITorchError error) { STABLE_TORCH_ERROR_CODE_CHECK(error); }

// Element types as the specification writes them.
constexpr std::pair<const char*, ScalarType> kTypes[] = {
    {"f64", ScalarType::Double}, {"f32", ScalarType::Float},  {"bf16", ScalarType::BFloat16},
    {"f16", ScalarType::Half},   {"i64", ScalarType::Long},   {"i32", ScalarType::Int},
    {"i16", ScalarType::Short},  {"i8", ScalarType::Char},    {"u64", ScalarType::UInt64},
    {"u32", ScalarType::UInt32}, {"u16", ScalarType::UInt16}, {"u8", ScalarType::Byte},
    {"bool", ScalarType::Bool}};
const char* name_of(ScalarType type) {
  for (const auto& [name, its_type] : kTypes)
    if (its_type == type) return name;
  return "of another type";
}
ScalarType type_of(const char* name) {
  for (const auto& [its_name, type] : kTypes)
    if (std::strcmp(name, its_name) == 0) return type;
  return ScalarType::Undefined;
}

{{#wholes}}
// A whole number that the C function takes as a narrower type.
template <typename Whole>
int64_t whole(int64_t value, const char* name, const char* type) {
  if (static_cast<int64_t>(static_cast<Whole>(value)) != value || (value < 0 && Whole(-1) > 0))
    fail({name, " is beyond ", type, ": ", std::to_string(value)});
  return value;
}

{{/wholes}}
// Where all arrays of a call are.
struct Device {
  int32_t type = aoti_torch_device_type_cpu();
  int32_t index = -1;
  const char* from = nullptr;  // the array that says so
};

#if defined(__linux__)
// Fresh memory takes longer to write than what was written before: the system hands it out page by page. So large arrays
// lie in large pages, and what they leave is kept for the next ones; the system takes it where it runs short of memory.
class LargeMemory {
 public:
  struct Block {
    void* data = nullptr;
    size_t bytes = 0;
  };

  static LargeMemory& of_library() {
    static auto& memory = *new LargeMemory;  // lives as long as any tensor
    return memory;
  }
  static bool serves(double bytes) { return bytes >= 4 << 20 && bytes < 1e15; }

  // None where there is no memory.
  Block take(size_t bytes) {
    bytes = (bytes + kPage - 1) / kPage * kPage;
    if (const Block block = take_kept(bytes); block.data != nullptr) return block;
    const Block block{std::aligned_alloc(kPage, bytes), bytes};
    if (block.data != nullptr) madvise(block.data, bytes, MADV_HUGEPAGE);  // where it cannot be, nothing changes
    return block;
  }
  void keep(const Block& block) {
    madvise(block.data, block.bytes, MADV_FREE);
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_.push_back(block);
    if (kept_.size() <= kMost) return;
    std::free(kept_.front().data);
    kept_.erase(kept_.begin());
  }

 private:
  static constexpr size_t kPage = 2 << 20, kMost = 8;

  // The smallest block that does, if no more than half of it lies idle.
  Block take_kept(size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto best = kept_.end();
    for (auto it = kept_.begin(); it != kept_.end(); ++it)
      if (it->bytes >= bytes && it->bytes / 2 <= bytes && (best == kept_.end() || it->bytes < best->bytes)) best = it;
    if (best == kept_.end()) return {};
    const Block block = *best;
    kept_.erase(best);
    return block;
  }

  std::mutex mutex_;
  std::vector<Block> kept_;  // the one that was left last stands last
};
#endif

int32_t dtype_of(const char* type) {
  return torch::stable::detail::to<int32_t>(torch::stable::detail::from(type_of(type)));
}

// From torch's allocator.
Tensor array_of_torch(const Device& device, const char* type, const Shape& shape, const Shape& strides) {
  AtenTensorHandle handle;
  check_torch(aoti_torch_empty_strided(int64_t(shape.size()), shape.data(), strides.data(), dtype_of(type), device.type, device.index, &handle));
  return Tensor(handle);
}

Tensor new_array(const Device& device, const char* type, Shape shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= std::max<int64_t>(shape[i], 1)) {
    shape[i] = std::max<int64_t>(shape[i], 0);  // the C function says what is wrong
    strides[i] = stride;
  }
#if defined(__linux__)
  double bytes = double(aoti_torch_dtype_element_size(dtype_of(type)));
  for (int64_t size : shape) bytes *= double(size);
  if (device.type == aoti_torch_device_type_cpu() && LargeMemory::serves(bytes))
    if (const LargeMemory::Block block = LargeMemory::of_library().take(size_t(bytes)); block.data != nullptr)
      return torch::stable::from_blob(block.data, shape, strides, torch::stable::Device(torch::headeronly::DeviceType::CPU),
                                      type_of(type), [block](void*) { LargeMemory::of_library().keep(block); });
#endif
  return array_of_torch(device, type, shape, strides);
}

[[maybe_unused]] Shape joined(Shape shape, const Shape& rest, const Shape& behind) {
  for (int64_t size : rest) shape.push_back(size);
  for (int64_t size : behind) shape.push_back(size);
  return shape;
}

// A stride, and how often indices step by it at most; the longest stands first.
struct Step {
  int64_t stride, most;
};
using Steps = std::vector<Step>;
void add_step(Steps& steps, const Step& step) {
  for (auto& [stride, most] : steps)
    if (stride == step.stride) {
      most += step.most;
      return;
    }
  steps.push_back(step);
  for (size_t i = steps.size() - 1; i > 0 && steps[i - 1].stride < step.stride; --i)
    std::swap(steps[i - 1], steps[i]);
}
void add_steps(Steps& steps, const Tensor& tensor, int64_t bytes) {
  for (int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) > 1) add_step(steps, {tensor.stride(d) * bytes, tensor.size(d) - 1});
}
// Can the steps add up to a number from `low` to `high`? What takes too many tries counts as yes.
bool can_add_up(const Step* step, const Step* end, int64_t low, int64_t high, int& tries) {
  if (high < 0 || step == end) return low <= 0 && high >= 0;
  const auto [stride, most] = *step++;
  int64_t others = 0;  // what the shorter ones can add
  for (auto other = step; other != end; ++other) others += other->stride * other->most;
  if (stride == 0) return can_add_up(step, end, low, high, tries);
  const int64_t first = low > others ? (low - others + stride - 1) / stride : 0;
  for (int64_t n = first; n <= std::min(most, high / stride); ++n)
    if (--tries < 0 || can_add_up(step, end, low - n * stride, high - n * stride, tries)) return true;
  return false;
}
// Do elements of the two share memory? One may lie in the gaps of the other.
bool share_memory(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) return false;
  const auto a_bytes = int64_t(a.element_size()), b_bytes = int64_t(b.element_size());
  Steps steps, of_b;
  add_steps(steps, a, a_bytes);
  add_steps(of_b, b, b_bytes);
  // The indices of b are counted from its last element down.
  auto apart = int64_t(reinterpret_cast<uintptr_t>(b.data_ptr()) - reinterpret_cast<uintptr_t>(a.data_ptr()));
  for (const auto& [stride, most] : of_b) {
    apart += stride * most;
    add_step(steps, {stride, most});
  }
  int tries = 10000;
  return can_add_up(steps.data(), steps.data() + steps.size(), apart + 1 - a_bytes, apart + b_bytes - 1, tries);
}
bool are_same(const Tensor& a, const Tensor& b) {
  bool same = a.data_ptr() == b.data_ptr() && a.dim() == b.dim();
  for (int64_t d = 0; same && d < a.dim(); ++d) same = a.size(d) == b.size(d) && a.stride(d) == b.stride(d);
  return same;
}

// An argument of the kernel: a tensor, or none.
class Array {
 public:
  // `dims`: how many there are in the brackets; `rest`: which of them is a `...`, none where it is `dims`.
  Array(const char* name, const char* brackets, size_t dims, size_t rest)
      : name_(name), brackets_(brackets), dims_(dims), rest_(rest) {}

  void take(Device& device, const std::optional<Tensor>& tensor) {
    if (!(tensor_ = tensor)) return;
    if (!tensor->defined()) fail({name_, " must be an array, not None"});
    Device mine{0, 0, name_};
    check_torch(aoti_torch_get_device_type(tensor->get(), &mine.type));
    check_torch(aoti_torch_get_device_index(tensor->get(), &mine.index));
    if (device.from == nullptr) device = mine;
    if (device.type != mine.type || device.index != mine.index)
      fail({device.from, " and ", name_, " are not on the same device"});
    type_ = name_of(tensor->scalar_type());
    sizes_ = tensor->sizes();
    if (rest_ < dims_ ? sizes_.size() + 1 < dims_ : sizes_.size() != dims_) wrong_shape();
    rest_count_ = rest_ < dims_ ? sizes_.size() + 1 - dims_ : 0;
  }

  const char* name() const { return name_; }
  bool is_there() const { return tensor_.has_value(); }
  const char* type() const { return is_there() ? type_ : nullptr; }
  Shape rest() const { return Shape(sizes_.begin() + rest_, sizes_.begin() + rest_ + rest_count_); }
  // Of the n-th dimension in brackets; that of `...` is the product of those that it stands for.
  int64_t extent(size_t n) const {
    if (n != rest_) return sizes_[n < rest_ ? n : n + rest_count_ - 1];
    int64_t product = 1;
    for (size_t i = rest_; i < rest_ + rest_count_; ++i) product *= sizes_[i];
    return product;
  }
  int64_t stride(size_t n) const {
    if (!is_there() || (n == rest_ && rest_count_ == 0)) return 0;
    return (dense_ ? *dense_ : *tensor_).stride(int64_t(n < rest_ ? n : n + rest_count_ - 1));
  }

  // What an extent, the dimensions of `...` or the type is by what else is known, and which arrays say so.
  void expect(size_t n, int64_t expected, const char* extent_text = nullptr, const char* as_in = "") const {
    if (!is_there() || extent(n) == std::max<int64_t>(expected, 0)) return;  // the C function refuses one below 0
    if (extent_text == nullptr) wrong_shape();
    wrong_shape({" with ", extent_text, " = ", std::to_string(expected), as_in});
  }
  void expect_rest(const Array& other) const {
    if (is_there() && rest() != other.rest()) wrong_shape({" with ... as in ", other.name()});
  }
  void expect_type(const char* expected) const {
    if (is_there() && std::strcmp(type_, expected) != 0) fail({name_, " is ", type_, ", not ", expected});
  }

  // Makes it dense, unless its strides can be passed on. An output that is not is computed elsewhere and copied.
  void make_dense(bool strided = false) {
    if (!is_there() || (strided && rest_count_ <= 1) || tensor_->is_contiguous()) return;
    dense_ = torch::stable::contiguous(*tensor_);
  }
  // Refuses an output on memory of another array where the C function finds a copy and cannot tell. An input itself may
  // be given as output: nothing is read after it is written.
  void keep_apart(const Array& other, bool is_input) const {
    if (!is_there() || !other.is_there() || !(dense_ || other.dense_)) return;
    if (is_input && are_same(*tensor_, *other.tensor_)) return;
    if (share_memory(*tensor_, *other.tensor_)) fail({name_, " must not overlap ", other.name_});
  }
  // The same for an output whose own elements share memory.
  void keep_elements_apart() const {
    if (!dense_) return;
    Steps steps;
    add_steps(steps, *tensor_, 1);
    int64_t span = 0, places = 1;
    bool apart = true;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      apart = apart && step->stride > span;  // longer than what the shorter ones span
      span += step->stride * step->most;
      places *= step->most + 1;
    }
    if (!apart || places != tensor_->numel()) fail({name_, " has elements that share memory"});
  }
  void finish() {
    if (dense_) torch::stable::copy_(*tensor_, *dense_);
  }

  // The C functions tell an array without elements from one that is absent.
  template <typename Element>
  operator Element*() const {
    if (!is_there()) return nullptr;
    void* data = (dense_ ? *dense_ : *tensor_).data_ptr();
    return static_cast<Element*>(data != nullptr ? data : const_cast<Array*>(this));
  }

 private:
  [[noreturn]] void wrong_shape(Parts why = {}) const {
    std::string mine;
    for (size_t i = 0; i < sizes_.size(); ++i) mine += (i > 0 ? ", " : "") + std::to_string(sizes_[i]);
    fail({name_, " has the shape [", mine, "], not ", brackets_, text_of(why)});
  }

  const char* name_;
  const char* brackets_;
  size_t dims_, rest_, rest_count_ = 0;
  const char* type_ = nullptr;
  torch::headeronly::IntHeaderOnlyArrayRef sizes_;
  std::optional<Tensor> tensor_, dense_;
};

void keep_apart(std::initializer_list<const Array*> outputs, std::initializer_list<const Array*> inputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    (*output)->keep_elements_apart();
    for (const Array* input : inputs) (*output)->keep_apart(*input, true);
    for (auto other = outputs.begin(); other != output; ++other) (*output)->keep_apart(**other, false);
  }
}

// Memory for one call: from torch's allocator, or what large arrays have left. It is asked for as many threads as there
// can be, and much of it is never touched.
struct Workspace {
  Workspace(const Device& device, int64_t needed) : bytes(needed) {
    if (needed < 0) check(int(-needed));
    if (needed == 0) return;
#if defined(__linux__)
    if (device.type == aoti_torch_device_type_cpu() && LargeMemory::serves(double(needed)))
      data = (large = LargeMemory::of_library().take(size_t(needed))).data;
    if (data != nullptr) return;
#endif
    tensor = array_of_torch(device, "u8", {needed}, {1});
    data = tensor->data_ptr();
  }
#if defined(__linux__)
  ~Workspace() {
    if (large.data != nullptr) LargeMemory::of_library().keep(large);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  LargeMemory::Block large;
#endif
  std::optional<Tensor> tensor;
  void* data = nullptr;
  int64_t bytes;
};
{{{size_helpers}}}
// The functions, by {{{columns}}}.
constexpr const char* kFunctions[][{{column_count}}] = {
{{#functions}}
    { {{{columns}}} },  // {{stem}}
{{/functions}}
};

// The first function that takes what is given: choices by name, then the types of arrays (null: absent).
size_t choose(std::initializer_list<std::pair<const char*, const char*>> given) {
  const auto takes = [&](size_t f, size_t count) {  // the first ones
    for (size_t i = 0; i < count; ++i)
      if (const char* value = given.begin()[i].second; value != nullptr && std::strcmp(value, kFunctions[f][i]) != 0)
        return false;
    return true;
  };
  for (size_t f = 0; f < std::size(kFunctions); ++f)
    if (takes(f, given.size())) return f;
  size_t wrong = given.size();
  std::vector<std::string_view> others;
  while (others.empty())
    for (size_t f = 0, at = --wrong; f < std::size(kFunctions); ++f)
      if (takes(f, at) && std::find(others.begin(), others.end(), kFunctions[f][at]) == others.end())
        others.push_back(kFunctions[f][at]);
  std::string can_be, before;
  for (std::string_view other : others) can_be += text_of({can_be.empty() ? "" : " or ", other});
  for (size_t i = 0; i < wrong; ++i)
    if (const auto [name, value] = given.begin()[i]; value != nullptr)
      before += text_of({before.empty() ? " where " : ", ", name, " is ", value});
  fail({given.begin()[wrong].first, " is ", given.begin()[wrong].second, "; it must be ", can_be, before});
}

// The arguments of a call, which must agree, and what follows from them: sizes, and the function that serves.
struct Call {
  Device device;
{{#arrays}}
  Array {{name}}{"{{parameter}}", "{{{brackets}}}", {{dims}}, {{rest}}};
{{/arrays}}
{{#members}}
  {{{line}}}
{{/members}}
  size_t function = 0;

  Call({{{call_parameters}}}) {
{{#setup}}
    {{{line}}}
{{/setup}}
  }

{{#outputs}}
{{#partial}}
  // It may be left unwritten in places.
  Tensor new_{{name}}() const {
    Tensor array = new_array(device, kFunctions[function][{{column}}], {{{shape}}});
    return torch::stable::zero_(array);
  }
{{/partial}}
{{^partial}}
  Tensor new_{{name}}() const { return new_array(device, kFunctions[function][{{column}}], {{{shape}}}); }
{{/partial}}
{{/outputs}}

  void run({{{run_parameters}}}) {
{{#prepare}}
    {{{line}}}
{{/prepare}}
{{{dispatch}}}
{{#finish}}
    {{name}}.finish();
{{/finish}}
  }

{{#targets}}
{{{text}}}
{{/targets}}
};

{{{operators}}}
}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT({{namespace}}, library) {
{{#schemas}}
  library.def("{{{schema}}}");
{{/schemas}}
}
{{#registrations}}
{{{before}}}STABLE_TORCH_LIBRARY_IMPL({{namespace}}, {{key}}, library) {
{{#operators}}
  library.impl("{{operator}}", TORCH_BOX(&{{function}}));
{{/operators}}
}
{{{after}}}
{{/registrations}}
