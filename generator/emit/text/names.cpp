#include "emit/text/names.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "emit/text/helpers.h"
#include "ir/op_rows.h"
#include "spec/spec.h"

namespace kgen {
namespace {

// Helpers that only other helpers call, whose names specs and folds like to have.
const std::set<std::string> kFreeHelpers = {"all_lanes", "nearest", "scaled", "start", "turned"};

// Keywords of C++ and CUDA, and macros of the headers that emitted files include.
constexpr const char *kReserved[] = {
    "alignas", "alignof", "and", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char8_t",
    "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit", "const_cast",
    "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast",
    "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int",
    "long", "mutable", "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "private", "protected",
    "public", "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try",
    "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
    "xor", "I", "complex", "imaginary", "NAN", "INFINITY", "NULL", "EOF", "errno", "assert", "stdin", "stdout",
    "stderr", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t",
    "main", "std", "typeof", "linux", "unix", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3",
    "workspace", "workspace_bytes", "stream", "item", "items", "status", "table_status", "lanes", "lane", "space",
    "bytes", "threads", "thread_bytes", "most_threads",
    // Functions of <cmath> and of CUDA that a variable would hide.
    "y0", "y1", "yn", "j0", "j1", "jn", "gamma", "signgam", "round", "max", "min", "abs", "index", "inside"};

// What kernels call by name: neither names of the user's nor locals may hide it. Helpers that are named as operations
// need no care, as bodies refuse their names; functions of CUDA for operations do: expf, rint.
bool is_called(const std::string &name) {
  static const std::set<std::string> names = [] {
    std::set<std::string> out = names_of_helpers();
    for (const std::string &free : kFreeHelpers)
      out.erase(free);
    for (const OpRow &row : op_rows())
      out.erase(std::string(row.name));
    for (const OpRow &row : op_rows())
      if (row.binds == 0 && row.cuda_f32[0] != '=')
        out.insert({std::string(row.cuda_f32), std::string(row.cuda_f64)});
    return out;
  }();
  return names.count(name) != 0;
}

// What emitted files use beside the names above; operands, sizes, scalars and tables of these names are renamed.
const std::set<std::string> kUsed = {
    // Further arguments of launchers, their locals, and those of kernels.
    "stream", "workspace", "workspace_bytes", "table_status", "space", "memory", "queue", "error", "small", "entry",
    "windows", "own", "kernel", "blocks", "threads", "team", "keeps", "tiles", "in_shared", "bytes", "active", "shared",
    "item", "items", "status", "chunk", "chunks", "lane", "lanes", "tile", "tile_bytes", "ticket", "point", "part",
    // CUDA's variables, macros and types.
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "OMP", "EOF", "NULL", "NAN", "INFINITY",
    "errno", "stdin", "stdout", "stderr", "linux", "unix", "typeof", "std", "main", "Index", "IN_SET", "BY_SET", "Pack",
    "kElements", "elements", "kWide", "wide", "complex", "imaginary", "cudaStream_t", "cudaError_t", "cudaSuccess",
    "thread_bytes", "most_threads", "float2", "float4", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t",
    "uint16_t", "uint32_t", "uint64_t", "size_t", "ptrdiff_t", "max_align_t", "signgam",
    // Words of pragmas.
    "pragma", "unroll", "omp", "parallel", "schedule", "dynamic", "collapse", "num_threads", "simd", "critical",
    "barrier", "single", "master", "nowait", "ivdep",
    // What self-checks have beside them.
    "Axis", "Buffer", "Cost", "F32", "F64", "Floating", "Number", "Random", "Tally", "close_calls", "compare_array",
    "kLargest", "kName", "kUnit", "make_row_starts", "make_table", "slack",
    // Functions and types that launchers and helpers use.
    "arrays", "from", "shape"};

// Those that no scope may claim: words of the languages, helpers, and types and constants of kernels.
bool is_never_free(const std::string &name) {
  static const std::set<std::string> reserved = [] {
    std::set<std::string> out(std::begin(kReserved), std::end(kReserved));
    std::ranges::copy_if(kUsed, std::inserter(out, out.end()), [](const std::string &used) {
      return std::ranges::any_of(used, [](unsigned char c) { return std::isupper(c) != 0; });
    });
    return out;
  }();
  return reserved.count(name) != 0 || is_called(name);
}

// Macros of the C library, whoever includes it: families by their beginning and end, and single ones.
bool is_macro(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {"FP_",   "HUGE_VAL", "DBL_", "FLT_", "LDBL_", "MATH_", "ATOMIC_", "FD_",
                                              "EXIT_", "KGEN_",    "SIG_", "SA_",  "SEGV_", "BUS_",  "ILL_",    "FPE_",
                                              "CLD_",  "POLL_",    "FE_",  "LC_",  "SEEK_", "CLOCK_"};
  constexpr std::string_view kLimited[] = {"INT",        "UINT",  "SIZE",   "SSIZE", "PTRDIFF", "WCHAR", "WINT",
                                           "SIG_ATOMIC", "CHAR",  "SCHAR",  "UCHAR", "SHRT",    "USHRT", "LONG",
                                           "ULONG",      "LLONG", "ULLONG", "RAND",  "BOOL"};
  constexpr std::string_view kLimits[] = {"_MAX", "_MIN", "_WIDTH", "_C", "_BIT"};
  static const std::set<std::string_view> single = {"M_E",           "M_LOG2E",
                                                    "M_LOG10E",      "M_LN2",
                                                    "M_LN10",        "M_PI",
                                                    "M_PI_2",        "M_PI_4",
                                                    "M_1_PI",        "M_2_PI",
                                                    "M_2_SQRTPI",    "M_SQRT2",
                                                    "M_SQRT1_2",     "MAXFLOAT",
                                                    "BUFSIZ",        "RAND_MAX",
                                                    "MB_CUR_MAX",    "BIG_ENDIAN",
                                                    "LITTLE_ENDIAN", "PDP_ENDIAN",
                                                    "BYTE_ORDER",    "NFDBITS",
                                                    "PATH_MAX",      "NAME_MAX",
                                                    "PIPE_BUF",      "SNAN",
                                                    "SNANF",         "SNANL",
                                                    "NDEBUG",        "alloca",
                                                    "offsetof",      "strdupa",
                                                    "strndupa",      "math_errhandling",
                                                    "issubnormal",   "SIGABRT",
                                                    "SIGALRM",       "SIGBUS",
                                                    "SIGCHLD",       "SIGCLD",
                                                    "SIGCONT",       "SIGFPE",
                                                    "SIGHUP",        "SIGILL",
                                                    "SIGINT",        "SIGIO",
                                                    "SIGIOT",        "SIGKILL",
                                                    "SIGPIPE",       "SIGPOLL",
                                                    "SIGPROF",       "SIGPWR",
                                                    "SIGQUIT",       "SIGRTMAX",
                                                    "SIGRTMIN",      "SIGSEGV",
                                                    "SIGSTKFLT",     "SIGSTKSZ",
                                                    "SIGSTOP",       "SIGSYS",
                                                    "SIGTERM",       "SIGTRAP",
                                                    "SIGTSTP",       "SIGTTIN",
                                                    "SIGTTOU",       "SIGURG",
                                                    "SIGUSR1",       "SIGUSR2",
                                                    "SIGVTALRM",     "SIGWINCH",
                                                    "SIGXCPU",       "SIGXFSZ",
                                                    "NSIG",          "EDOM",
                                                    "EILSEQ",        "ERANGE"};
  constexpr std::string_view kCuda = "cuda"; // cudaMallocAsync and all that may come
  if (name.starts_with(kCuda) && name.size() > kCuda.size() && std::isupper(static_cast<unsigned char>(name[4])) != 0)
    return true;
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  const auto ends = [&](std::string_view with) { return name.ends_with(with); };
  return single.count(name) != 0 || std::ranges::any_of(kBeginnings, begins) ||
         (std::ranges::any_of(kLimited, begins) && std::ranges::any_of(kLimits, ends));
}

} // namespace

std::string c_name(const std::string &name) {
  const std::string bare = name.substr(0, name.find_last_not_of('_') + 1); // so that names stay different
  return kUsed.count(bare) != 0 || is_called(bare) || is_macro(bare) ? name + "_" : name;
}

std::vector<std::string> wishes_of(const std::string &base, const std::vector<std::string> &suffixes) {
  std::vector<std::string> wishes;
  for (const std::string &suffix : suffixes) {
    const std::string wish = name_of_parts(base, suffix);
    const auto is_reserved = [](const std::string &name) { return is_macro(name) || is_never_free(name); };
    const std::string ended = is_reserved(wish) && !wish.ends_with('_') ? wish + "_" : wish;
    wishes.push_back(is_reserved(ended) ? "the_" + wish : ended); // a beginning may be reserved, whatever follows
  }
  return wishes;
}

std::string Names::claim_one_of(const std::string &base, const std::vector<std::string> &suffixes) {
  const std::vector<std::string> wishes = wishes_of(base, suffixes);
  std::optional<std::string> name = first_free(wishes, [&](const std::string &wish) { return !is_free(wish); });
  if (!name) { // one after the other, so that thousands do not look again for what others have found taken
    int &n = next_.try_emplace(wishes.back(), 2).first->second;
    while (!is_free(in_words(wishes.back(), n)))
      ++n;
    name = in_words(wishes.back(), n);
  }
  taken_.insert(*name);
  claims_.push_back({*name, base, suffixes});
  claimed_.insert(*name);
  return *name;
}

bool Names::is_free(const std::string &name) const {
  return taken_.count(name) == 0 && !is_never_free(name) && !is_macro(name);
}

const std::pair<std::string, std::string> &Names::pair() {
  if (pair_.first.empty())
    pair_ = taken_.count("a") + taken_.count("b") == 0 ? std::pair(claim("a"), claim("b"))
                                                       : std::pair(claim("one"), claim("other"));
  return pair_;
}

// n of N, mn of M*N, row_n of ...*N
std::string loop_name(const Axis &axis) {
  constexpr std::string_view kShares = "_shares"; // how many there are; the loop counts one of them
  if (axis.derived && axis.name.ends_with(kShares))
    return lower_case(axis.name.substr(0, axis.name.size() - 1));
  std::vector<std::string> parts{""};
  for (char c : axis.name)
    if (c == '*')
      parts.emplace_back();
    else
      parts.back() += c;
  const bool letters = std::all_of(parts.begin(), parts.end(), [](const std::string &p) { return p.size() == 1; });
  std::string name;
  for (const std::string &part : parts)
    name += (name.empty() || letters ? "" : "_") + (part == kRestAxis ? "row" : lower_case(part));
  return name;
}

} // namespace kgen
