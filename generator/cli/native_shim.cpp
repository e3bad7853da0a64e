#include "cli/native_shim.h"

#include <algorithm>
#include <set>

namespace kgen {
namespace {

struct TargetRow {
  NativeTarget target;
  std::string_view name, sources;
};
constexpr TargetRow kTargets[] = {{NativeTarget::openmp, "openmp", "_openmp.cpp"},
                                  {NativeTarget::cuda_model, "cuda", "_cuda.cu"}};
const TargetRow &row_of(NativeTarget target) { return kTargets[target == NativeTarget::openmp ? 0 : 1]; }

// Any launcher, called with arguments from arrays: the i-th of each kind of array is the i-th argument.
// A launcher with a workspace can be given one of exactly so many bytes, full of `filler`, between guard bytes: 1, half
// of what it asks for, which may do for fewer threads, or all of it. Or less and less (`least`), down to the least that
// it takes, as what lies behind that belongs to nobody; each call then finds arrays as they were before.
constexpr std::string_view kShim = R"(#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif
struct Arguments {
  void* const* pointers;
  const int64_t* integers;
  const double* numbers;
};
template <class T> T argument(const Arguments& a, std::size_t i) {
  if constexpr (std::is_pointer_v<T>) return static_cast<T>(a.pointers[i]);
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(a.numbers[i]);
  else return static_cast<T>(a.integers[i]);
}
template <class... A, std::size_t... I> int call(int (*f)(A...), const Arguments& a, std::index_sequence<I...>) {
  return f(argument<A>(a, I)...);
}
template <class... A> int call(int (*f)(A...), const Arguments& a) { return call(f, a, std::index_sequence_for<A...>()); }
template <class... A, std::size_t... I> int64_t ask(int64_t (*f)(A...), const Arguments& a, std::size_t first, std::index_sequence<I...>) {
  return f(argument<A>(a, first + I)...);
}
struct Restore {
  void (*function)(void*);
  void* arrays;
};
constexpr int kOverrun = -1;
template <class F, class... A> int call_with_memory(F f, int64_t (*query)(A...), const Arguments& a, std::size_t sizes, std::size_t end, int filler, bool least, const Restore& restore) {
  const int64_t bytes = ask(query, a, sizes, std::index_sequence_for<A...>());
  if (bytes < 0) return call(f, a);
  constexpr int64_t kGuard = 256;
  std::vector<unsigned char> memory(static_cast<std::size_t>(bytes + 3 * kGuard), 0xC7);
  unsigned char* start = memory.data();
  start += kGuard + (kGuard - reinterpret_cast<uintptr_t>(start) % kGuard);
  std::vector<void*> pointers(a.pointers, a.pointers + end + 2);
  std::vector<int64_t> integers(a.integers, a.integers + end + 2);
  pointers.resize(end + 8);
  integers.resize(end + 8);
  pointers[end] = start;
  const Arguments with{pointers.data(), integers.data(), a.numbers};
  const auto call_in = [&](int64_t given) {
    std::memset(start, filler, static_cast<std::size_t>(given));
    std::memset(start + given, 0xC7, static_cast<std::size_t>(bytes - given));
    integers[end + 1] = given;
    const int status = call(f, with);
    for (int64_t i = 1; i <= kGuard; ++i)
      if (start[-i] != 0xC7 || start[bytes + i - 1] != 0xC7) return kOverrun;
    for (int64_t i = given; i < bytes; ++i)
      if (start[i] != 0xC7) return kOverrun;
    return status;
  };
  const auto is_too_small = [](int status) { return status > 0 && (status & 255) == KGEN_WORKSPACE_SMALL; };
  if (!least) {
    for (int64_t given : {int64_t{1}, bytes / 2})
      if (given <= bytes)
        if (const int status = call_in(given); !is_too_small(status)) return status;
    return call_in(bytes);
  }
  int64_t refused = -1, taken = bytes;
  while (taken - refused > 1) {
    const int64_t middle = refused + (taken - refused) / 2;
    const int status = call_in(middle);
    if (status != 0 && !is_too_small(status)) return status;
    if (status == 0) restore.function(restore.arrays);
    (status == 0 ? taken : refused) = middle;
  }
  return call_in(taken);
}
extern "C" void kgen_shim_threads(int n) {
#ifdef _OPENMP
  omp_set_num_threads(n);
#endif
  (void)n;
}
)";

} // namespace

std::string_view sources_of(NativeTarget target) { return row_of(target).sources; }

std::string function_name(const Kernel &kernel, NativeTarget target) {
  return kernel.name + (kernel.suffix.empty() ? "" : "_" + kernel.suffix) + "_" + std::string(row_of(target).name);
}

std::string shim_text(const Compiled &compiled, NativeTarget target) {
  std::string out = "#include \"" + compiled.spec.kernel + ".h\"\n" + std::string(kShim);
  std::set<std::string> names;
  for (const Variation &variation : compiled.variations)
    names.insert(function_name(variation.kernel, target));
  for (const std::string &name : names) {
    std::string query = name + "_workspace";
    bool memory = std::any_of(compiled.files.begin(), compiled.files.end(), [&](const EmittedFile &file) {
      return file.name.ends_with(".h") && file.text.find(" " + query + "(") != std::string::npos;
    });
    out += "extern \"C\" int kgen_shim_" + name +
           "(void* const* p, const int64_t* i, const double* n, std::size_t sizes, std::size_t end, int filler, bool "
           "least, "
           "void (*restore)(void*), void* arrays) {\n";
    if (memory)
      out += "if (filler != 0) return call_with_memory(&" + name + ", &" + query +
             ", Arguments{p, i, n}, sizes, end, filler, least, Restore{restore, arrays});\n";
    out += "(void)sizes, (void)end, (void)filler, (void)least, (void)restore, (void)arrays;\nreturn call(&" + name +
           ", Arguments{p, i, n});\n}\n";
  }
  return out + "extern \"C\" const char* kgen_shim_error(int status) { return " + compiled.spec.kernel +
         "_error(status); }\n";
}

} // namespace kgen
