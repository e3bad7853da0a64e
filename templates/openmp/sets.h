// Kernels are compiled for several sets of instructions, and the best that the machine has is taken when they
// are called: sets below what the compiler's flags give are left out, and those that -DKGEN_NO_AVX2 and
// -DKGEN_NO_AVX512 exclude.
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && defined(__BMI__) && defined(__BMI2__)
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512CD__)
#define KGEN_GIVEN_SET 2
#else
#define KGEN_GIVEN_SET 1
#endif
#else
#define KGEN_GIVEN_SET 0
#endif
#if defined(__x86_64__) && !defined(KGEN_NO_AVX512)
#define KGEN_HAS_AVX512 1
#else
#define KGEN_HAS_AVX512 0
#endif
#if defined(__x86_64__) && !defined(KGEN_NO_AVX2) && KGEN_GIVEN_SET <= 1
#define KGEN_HAS_AVX2 1
#else
#define KGEN_HAS_AVX2 0
#endif
#if KGEN_GIVEN_SET == 0 || !(KGEN_HAS_AVX2 || KGEN_HAS_AVX512)
#define KGEN_HAS_BASELINE 1
#else
#define KGEN_HAS_BASELINE 0
#endif

// Whether a product and a sum are one operation is said by whoever writes them, not left to compilers and
// flags.
#if defined(__clang__)
#pragma clang fp contract(off)
#endif

#define KGEN_AVX2_TARGET "avx2,fma,f16c,bmi,bmi2"
#define KGEN_AVX512_TARGET KGEN_AVX2_TARGET ",avx512f,avx512bw,avx512dq,avx512vl,avx512cd"
#define KGEN_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define KGEN_BEGIN_SET
#define KGEN_END_SET
#define KGEN_AS_SET
#define KGEN_BEGIN_TARGET(names) \
  KGEN_PRAGMA(clang attribute push(__attribute__((target(names))), apply_to = function))
#define KGEN_END_TARGET KGEN_PRAGMA(clang attribute pop)
#else
// Of what -O3 does to loops, two help where -O2 leaves them: short ones are unrolled, and which way all
// rounds of a loop store is asked before it. The pragma does not reach members of class templates and
// lambdas, which would then not be inlined: they are marked.
#define KGEN_SET_OPTIONS "fp-contract=off", "peel-loops", "unswitch-loops"
#define KGEN_OPTIMIZE(...) KGEN_PRAGMA(GCC optimize(__VA_ARGS__))
#define KGEN_BEGIN_SET KGEN_PRAGMA(GCC push_options) KGEN_OPTIMIZE(KGEN_SET_OPTIONS)
#define KGEN_AS_SET __attribute__((optimize(KGEN_SET_OPTIONS)))
#define KGEN_END_SET KGEN_PRAGMA(GCC pop_options)
#define KGEN_BEGIN_TARGET(names) KGEN_PRAGMA(GCC target(names))
#define KGEN_END_TARGET
#endif
#define KGEN_SET_AVX2 (KGEN_SET_NUMBER >= 1)  // has the set that is being compiled these instructions?
#define KGEN_SET_AVX512 (KGEN_SET_NUMBER >= 2)
#if defined(__aarch64__)
#define KGEN_SET_FUSES 1  // does it multiply and add in one instruction?
#else
#define KGEN_SET_FUSES KGEN_SET_AVX2
#endif

// Does a statement with the functions of the best set.
#if KGEN_HAS_AVX512 && (KGEN_HAS_AVX2 || KGEN_HAS_BASELINE)
#define KGEN_TRY_AVX512(...)            \
  if (kgen_openmp::chosen_set() >= 2) { \
    using namespace avx512;             \
    __VA_ARGS__;                        \
  }
#else
#define KGEN_TRY_AVX512(...)
#endif
#if KGEN_HAS_AVX2 && KGEN_HAS_BASELINE
#define KGEN_TRY_AVX2(...)              \
  if (kgen_openmp::chosen_set() == 1) { \
    using namespace avx2;               \
    __VA_ARGS__;                        \
  }
#else
#define KGEN_TRY_AVX2(...)
#endif
#if KGEN_HAS_BASELINE
#define KGEN_LEAST_SET baseline
#elif KGEN_HAS_AVX2
#define KGEN_LEAST_SET avx2
#else
#define KGEN_LEAST_SET avx512
#endif
#define BY_SET(...)                 \
  KGEN_TRY_AVX512(__VA_ARGS__)      \
  KGEN_TRY_AVX2(__VA_ARGS__) {      \
    using namespace KGEN_LEAST_SET; \
    __VA_ARGS__;                    \
  }

namespace {
namespace kgen_openmp {

#if defined(__aarch64__)
constexpr const char* kSetNames[] = {"neon", "avx2", "avx512", "avx512_bf16"};
#else
constexpr const char* kSetNames[] = {"baseline", "avx2", "avx512", "avx512_bf16"};
#endif

#if KGEN_HAS_AVX2 || KGEN_HAS_AVX512
inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#endif
// Is it compiled, and has this machine its instructions? (The last one is compiled with that before it.)
inline bool has_set(int set) {
#if KGEN_HAS_AVX512
  if (set == 3) return has_set(2) && __builtin_cpu_supports("avx512bf16");
  if (set == 2)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd") && has_avx2();
#endif
#if KGEN_HAS_AVX2
  if (set == 1) return has_avx2();
#endif
  return set == 0 && KGEN_HAS_BASELINE;
}

inline int find_set() {
  const char* const asked = std::getenv("KGEN_ISA");
  for (int set = 0; set < 4; ++set)
    if (asked != nullptr && std::strcmp(asked, kSetNames[set]) == 0 && has_set(set)) return set;
  for (int set = 3; set > 0; --set)
    if (has_set(set)) return set;
  return KGEN_HAS_BASELINE ? 0 : KGEN_HAS_AVX2 ? 1 : 2;
}

// The set that kernels take: the best one, or that which KGEN_ISA names in the environment. Found once.
inline int chosen_set() {
  static int known = 0;  // one more than it
  int set = __atomic_load_n(&known, __ATOMIC_RELAXED) - 1;
  if (set < 0) {
    set = find_set();
    __atomic_store_n(&known, set + 1, __ATOMIC_RELAXED);
  }
  return set;
}
inline const char* instructions() { return kSetNames[chosen_set()]; }

}  // namespace kgen_openmp
}  // namespace
