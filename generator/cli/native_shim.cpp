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

// Any function, called with arguments from arrays: the i-th of each kind of array is the i-th argument. Without headers
// of the library, which would take longer to compile than many a kernel.
constexpr std::string_view kShim = R"(#ifdef _OPENMP
#include <omp.h>
#endif
struct Arguments {
  void* const* pointers;
  const int64_t* integers;
  const double* numbers;
};
template <class T> struct Argument { static T at(const Arguments& a, int i) { return static_cast<T>(a.integers[i]); } };
template <class T> struct Argument<T*> { static T* at(const Arguments& a, int i) { return static_cast<T*>(a.pointers[i]); } };
template <> struct Argument<float> { static float at(const Arguments& a, int i) { return static_cast<float>(a.numbers[i]); } };
template <> struct Argument<double> { static double at(const Arguments& a, int i) { return a.numbers[i]; } };
template <class R> struct Result {
  R value;
  template <class... A> explicit Result(R (*f)(A...), A... a) : value(f(a...)) {}
};
struct Taken {
  const Arguments& arguments;
  int count;
  template <class T> T next() { return Argument<T>::at(arguments, count++); }
};
template <class R, class... A> R call(R (*f)(A...), const Arguments& a) {
  Taken taken{a, 0};
  (void)taken;
  return Result<R>{f, taken.next<A>()...}.value; // in braces, so from the first to the last
}
extern "C" void kgen_shim_threads(int n) {
#ifdef _OPENMP
  omp_set_num_threads(n);
#endif
  (void)n;
}
extern "C" bool kgen_shim_is_too_small(int status) { return status > 0 && (status & 255) == KGEN_WORKSPACE_SMALL; }
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
    const std::string query = name + "_workspace";
    const bool memory = std::any_of(compiled.files.begin(), compiled.files.end(), [&](const EmittedFile &file) {
      return file.name.ends_with(".h") && file.text.find(" " + query + "(") != std::string::npos;
    });
    out += "extern \"C\" int kgen_shim_" + name +
           "(void* const* p, const int64_t* i, const double* n) { return call(&" + name + ", {p, i, n}); }\n";
    if (memory)
      out += "extern \"C\" int64_t kgen_shim_" + query + "(const int64_t* i) { return call(&" + query +
             ", {nullptr, i, nullptr}); }\n";
  }
  return out + "extern \"C\" const char* kgen_shim_error(int status) { return " + compiled.spec.kernel +
         "_error(status); }\n";
}

} // namespace kgen
