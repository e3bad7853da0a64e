#include "cli/native.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <optional>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/native_shim.h"
#include "cli/native_workspace.h"
#include "ir/evaluate.h"
#include "support/text.h"

namespace kgen {

namespace {

namespace fs = std::filesystem;

constexpr size_t kGuard = 64, kPage = 4096;
// What outputs hold before: as numbers below all others, and above them, lest an extreme hides that it was read.
constexpr unsigned char kLowPoison = 0xA5, kHighPoison = 0x5A;
constexpr int kSpareArguments = 8; // workspace, its size, table status, stream: null and 0

std::string shell_quoted(const std::string &text) {
  std::string out = "'";
  for (char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool write_text(const fs::path &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return static_cast<bool>(file);
}

std::string first_lines(const fs::path &path, int count) {
  std::ifstream file(path);
  std::string out, line;
  for (int i = 0; i < count && std::getline(file, line); ++i)
    out += line + "\n";
  return out;
}

std::string compiler_of(const NativeOptions &options) {
  const char *environment = std::getenv("CXX");
  return !options.compiler.empty() ? options.compiler : environment && *environment ? environment : "c++";
}

// The code runs here, so it need not be compiled for the sets of instructions of other machines.
std::string flags_of_this_machine() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512vl"))
    return " -march=native -DKGEN_NO_AVX512";
#endif
  return " -march=native";
}

// What the model is compiled with besides: a C++ compiler knows no #pragma unroll, and does not mind misalignment; and
// which products it contracts with the sums that they are added to, and which functions of constants it computes itself
// (other than the C library in the last bit), differs from loop to loop, and tells nothing of nvcc.
constexpr std::string_view kModelFlags = " -Wno-unknown-pragmas -fsanitize=alignment -fsanitize-undefined-trap-on-error"
                                         " -ffp-contract=off -frounding-math";

std::string compile_command(const fs::path &folder, const std::string &kernel, const NativeOptions &options) {
  const std::string usual = options.target == NativeTarget::openmp ? "-O2" + flags_of_this_machine() : "-O2";
  const std::string flags = options.flags.empty() ? usual : options.flags;
  std::string command = compiler_of(options) + " -std=c++17 " + flags + " -fopenmp -shared -fPIC";
  if (options.target == NativeTarget::cuda_model)
    command += std::string(kModelFlags) + " -isystem " + shell_quoted(options.model + "/include");
  command += " -I " + shell_quoted(folder) + " -x c++ " +
             shell_quoted(folder / (kernel + std::string(sources_of(options.target)))) + " " +
             shell_quoted(folder / "shim.cpp") + " ";
  if (options.target == NativeTarget::cuda_model)
    command += "-x none " + shell_quoted(options.model_library) + " ";
  return command + "-o " + shell_quoted(folder / "kernel.so") + " > " + shell_quoted(folder / "log") + " 2>&1";
}

// Where the arguments of one call lie: one region shared with the child. Every array has guard bytes on one side, or on
// both, and a page that nobody may touch directly beside it on the other.
class CallFrame {
public:
  CallFrame(const Kernel &kernel, const RunInput &input, const NativeRunOptions &options, bool has_table_status)
      : kernel_(kernel), input_(input), options_(options), has_table_status_(has_table_status) {}
  ~CallFrame() {
    if (region_)
      ::munmap(region_, bytes_);
  }

  bool prepare(std::string &reason) {
    for (const ArgumentRef &ref : kernel_.arguments)
      if (!add_argument(ref, reason))
        return false;
    first_size_ = arguments_.pointers.size();
    for (AxisId axis : kernel_.size_arguments) {
      std::optional<int64_t> size = size_value(kernel_, kernel_.axes[axis].size, input_);
      add_number(size.value_or(0));
    }
    for (const Slot &slot : slots_)
      for (int64_t stride : slot.stride_arguments)
        add_number(stride);
    end_ = arguments_.pointers.size();
    if (has_table_status_)
      add_table_status();
    arguments_.pointers.resize(end_ + kSpareArguments);
    arguments_.integers.resize(arguments_.pointers.size());
    arguments_.numbers.resize(arguments_.pointers.size());
    return place(reason);
  }

  const NativeArguments &arguments() const { return arguments_; }
  const int64_t *sizes() const { return arguments_.integers.data() + first_size_; }
  size_t end() const { return end_ + (has_table_status_ ? 1 : 0); } // where workspace and stream follow

  int table_status() const {
    int32_t status = 0;
    if (has_table_status_)
      std::memcpy(&status, region_ + slots_.back().offset, sizeof(status));
    return status;
  }

  // Empty, or which array was overrun or changed.
  std::string damage() const {
    for (const Slot &slot : slots_) {
      const unsigned char *data = region_ + slot.offset;
      for (size_t i = 0; i < kGuard; ++i)
        if ((slot.fence != Fence::before && data[-static_cast<ptrdiff_t>(i) - 1] != kGuardByte) ||
            (slot.fence != Fence::behind && data[slot.bytes + i] != kGuardByte))
          return "wrote outside `" + slot.name + "`";
      if (slot.constant && std::memcmp(data, slot.before.data(), slot.bytes) != 0)
        return "changed its input `" + slot.name + "`";
    }
    return "";
  }

  // What a call may change is as it was before.
  void restore() const {
    for (const Slot &slot : slots_)
      if (!slot.constant)
        fill(slot);
  }

  void collect(std::map<std::string, Array> &outputs) const {
    for (const Slot &slot : slots_) {
      if (slot.constant || !slot.present || slot.argument == end_)
        continue;
      Array array{slot.type, slot.shape, {}};
      array.bytes.resize(array.elements() * bytes_of(slot.type));
      copy(slot, [&](size_t dense, size_t strided) {
        std::memcpy(array.bytes.data() + dense, region_ + slot.offset + strided, bytes_of(slot.type));
      });
      outputs[slot.name] = std::move(array);
    }
  }

private:
  enum class Fence { none, before, behind };
  struct Slot {
    std::string name;
    Fence fence = Fence::none;
    Type type;
    std::vector<int64_t> shape, strides, stride_arguments;
    size_t argument = 0, offset = 0, bytes = 0;
    bool constant = false, optional = false, present = true;
    std::vector<unsigned char> before;
  };

  void fill(const Slot &slot) const {
    if (slot.bytes > 0)
      std::memcpy(region_ + slot.offset, slot.before.data(), slot.bytes);
  }

  void add_number(int64_t value) { add_number(value, static_cast<double>(value)); }
  void add_number(int64_t integer, double number) {
    arguments_.pointers.push_back(nullptr);
    arguments_.integers.push_back(integer);
    arguments_.numbers.push_back(number);
  }

  bool add_argument(const ArgumentRef &ref, std::string &reason) {
    if (ref.kind == ArgumentRef::Kind::scalar) {
      double value = input_.scalars.at(kernel_.scalars[ref.index].name);
      auto whole = input_.integers.find(kernel_.scalars[ref.index].name);
      add_number(whole != input_.integers.end() ? whole->second
                                                : convert(number_value(value), Type::f64, Type::i64).integer,
                 value);
      return true;
    }
    Slot slot;
    slot.argument = arguments_.pointers.size();
    add_number(0);
    const Array *held = nullptr;
    if (ref.kind == ArgumentRef::Kind::table) {
      const Table &table = kernel_.tables[ref.index];
      slot.name = table.name;
      slot.type = table.type;
      slot.constant = true;
      held = &input_.tables.at(table.name);
      slot.shape = held->shape;
    } else {
      const Var &var = kernel_.vars[ref.index];
      slot.name = var.name;
      slot.type = var.type;
      slot.constant = var.kind == Var::Kind::input;
      slot.optional = var.optional;
      held = find(var);
      slot.present = held || (var.kind == Var::Kind::output && input_.unwanted.count(var.name) == 0);
      std::optional<std::vector<int64_t>> shape = array_shape(kernel_, var, input_);
      if (!shape) {
        reason = "the shape of `" + var.name + "` is not known, negative, or too big";
        return false;
      }
      slot.shape = *shape;
      if (held && slot.present && held->elements() * bytes_of(slot.type) != static_cast<int64_t>(held->bytes.size())) {
        reason = "`" + var.name + "` is inconsistent";
        return false;
      }
    }
    bool strided = ref.kind == ArgumentRef::Kind::operand && kernel_.vars[ref.index].strided;
    settle(slot, strided, held);
    slots_.push_back(std::move(slot));
    return true;
  }

  void add_table_status() {
    Slot slot;
    slot.name = "table_status";
    slot.type = Type::i32;
    slot.argument = arguments_.pointers.size();
    slot.bytes = sizeof(int32_t);
    slot.before.assign(slot.bytes, 0);
    slots_.push_back(std::move(slot));
    add_number(0);
  }

  const Array *find(const Var &var) const {
    auto it = input_.arrays.find(var.name);
    if (it == input_.arrays.end() && var.alias != kNone)
      it = input_.arrays.find(kernel_.vars[var.alias].name);
    return it == input_.arrays.end() ? nullptr : &it->second;
  }

  // Strides, with gaps where the operand allows them, and the bytes before the call.
  void settle(Slot &slot, bool strided, const Array *held) {
    int64_t step = strided ? 2 : 1, last = 0;
    slot.strides.assign(slot.shape.size(), 1);
    bool empty = false;
    for (size_t d = slot.shape.size(); d-- > 0;) {
      slot.strides[d] = step;
      last += step * std::max<int64_t>(slot.shape[d] - 1, 0);
      step = step * std::max<int64_t>(slot.shape[d], 1) + (strided ? 3 : 0);
      empty = empty || slot.shape[d] == 0;
    }
    slot.bytes = empty || !slot.present ? 0 : static_cast<size_t>(last + 1) * bytes_of(slot.type);
    slot.before.assign(slot.bytes, options_.unaligned ? kHighPoison : kLowPoison);
    if (strided)
      slot.stride_arguments = slot.strides;
    if (held && slot.bytes > 0)
      copy(slot, [&](size_t dense, size_t at) {
        std::memcpy(slot.before.data() + at, held->bytes.data() + dense, bytes_of(slot.type));
      });
  }

  // Calls move(dense, strided) with the byte offsets of each element.
  template <class Move> static void copy(const Slot &slot, Move move) {
    if (slot.bytes == 0)
      return;
    size_t bytes = static_cast<size_t>(bytes_of(slot.type));
    std::vector<int64_t> at(slot.shape.size());
    for (size_t dense = 0;; dense += bytes) {
      int64_t offset = 0;
      for (size_t d = 0; d < at.size(); ++d)
        offset += at[d] * slot.strides[d];
      move(dense, static_cast<size_t>(offset) * bytes);
      size_t d = at.size();
      while (d > 0 && ++at[d - 1] == slot.shape[d - 1])
        at[--d] = 0;
      if (d == 0)
        return;
    }
  }

  bool place(std::string &reason) {
    constexpr size_t kAlignment = 64;
    // Pages: a fence, the array with its guards, a fence; the array lies at one end or between.
    for (Slot &slot : slots_) {
      const size_t room = (slot.bytes + 3 * kGuard + kPage - 1) / kPage * kPage;
      const bool ends_aligned = slot.bytes % kAlignment == 0;
      slot.fence = ends_aligned != options_.unaligned ? Fence::behind
                   : options_.unaligned               ? Fence::none
                                                      : Fence::before;
      slot.offset = bytes_ + kPage;
      if (slot.fence == Fence::behind)
        slot.offset += room - slot.bytes;
      else if (slot.fence == Fence::none)
        slot.offset += kGuard + bytes_of(slot.type);
      fences_.push_back(bytes_);
      bytes_ += kPage + room;
    }
    fences_.push_back(bytes_);
    bytes_ += kPage;
    void *memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      reason = "there is not enough memory";
      return false;
    }
    region_ = static_cast<unsigned char *>(memory);
    std::memset(region_, kGuardByte, bytes_);
    for (const Slot &slot : slots_) {
      fill(slot);
      // Null does for empty arrays, but where it would mean that there is none.
      const bool given = slot.bytes > 0 || (slot.optional && slot.present);
      arguments_.pointers[slot.argument] = given ? region_ + slot.offset : nullptr;
    }
    for (size_t fence : fences_)
      if (::mprotect(region_ + fence, kPage, PROT_NONE) != 0) {
        reason = "there is not enough memory";
        return false;
      }
    return true;
  }

  const Kernel &kernel_;
  const RunInput &input_;
  const NativeRunOptions &options_;
  const bool has_table_status_;
  std::vector<Slot> slots_;
  NativeArguments arguments_;
  size_t first_size_ = 0, end_ = 0;
  unsigned char *region_ = nullptr;
  size_t bytes_ = 0;
  std::vector<size_t> fences_; // pages that nobody may touch
};

// Runs `body` in a child; its int comes back by way of shared memory. The error says how the child ended otherwise.
template <class Body> int in_child(int timeout_s, std::string &error, Body body) {
  void *memory = ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    error = "there is not enough memory";
    return 0;
  }
  int *result = static_cast<int *>(memory);
  pid_t child = ::fork();
  if (child == 0) {
    for (int caught : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) // the caller's handlers are not ours
      ::signal(caught, SIG_DFL);
    ::alarm(static_cast<unsigned>(timeout_s));
    *result = body();
    ::_exit(0);
  }
  int state = 0;
  if (child < 0 || ::waitpid(child, &state, 0) < 0)
    error = "a process cannot be started";
  else if (WIFSIGNALED(state))
    error = WTERMSIG(state) == SIGALRM ? "did not end within " + std::to_string(timeout_s) + " s"
                                       : "crashed: " + std::string(::strsignal(WTERMSIG(state)));
  else if (WEXITSTATUS(state) != 0)
    error = "ended the process with code " + std::to_string(WEXITSTATUS(state));
  int out = *result;
  ::munmap(memory, sizeof(int));
  return out;
}

// KGEN_NATIVE_CACHE names a folder that keeps what was compiled, by the hash of all that went into it: test suites that
// run one kernel at many sizes compile it once. Unset, nothing is kept.
std::optional<fs::path> cached_library(const Compiled &compiled, const NativeOptions &options) {
  const char *folder = std::getenv("KGEN_NATIVE_CACHE");
  if (!folder || !*folder)
    return std::nullopt;
  std::string all = compile_command("", compiled.spec.kernel, options) + shim_text(compiled, options.target);
  for (const auto *files : {&compiled.files, &compiled.helper_headers})
    for (const EmittedFile &file : *files)
      all += file.name + file.text;
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : all)
    hash = (hash ^ c) * 1099511628211u;
  char name[32];
  std::snprintf(name, sizeof name, "_%016llx.so", static_cast<unsigned long long>(hash));
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  return fs::path(folder) / (compiled.spec.kernel + name);
}

// Compiles in a folder of its own and moves the library to `result`; returns why that failed.
std::string compile_library(const Compiled &compiled, const NativeOptions &options, const fs::path &folder,
                            const fs::path &result) {
  bool written = write_text(folder / "shim.cpp", shim_text(compiled, options.target));
  for (const auto *files : {&compiled.files, &compiled.helper_headers})
    for (const EmittedFile &file : *files)
      written = written && write_text(folder / fs::path(file.name).filename(), file.text);
  if (!written)
    return "the temporary folder cannot be written";
  constexpr int kNotFound = 127; // what the shell says
  const int status = std::system(compile_command(folder, compiled.spec.kernel, options).c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound)
    return "there is no compiler `" + compiler_of(options) + "`: name one with --cxx";
  if (status != 0)
    return "the emitted code does not compile:\n" + first_lines(folder / "log", 20);
  if (result == folder / "kernel.so")
    return "";
  // By way of a name in the same folder, so that others see the whole file or none.
  std::error_code failed;
  const fs::path whole = result.string() + folder.filename().string();
  fs::copy_file(folder / "kernel.so", whole, failed);
  if (!failed)
    fs::rename(whole, result, failed);
  return failed ? "the compiled code cannot be kept: " + failed.message() : "";
}

} // namespace

NativeKernel::~NativeKernel() {
  if (library_)
    ::dlclose(library_);
}

std::unique_ptr<NativeKernel> NativeKernel::build(const Compiled &compiled, const NativeOptions &options,
                                                  std::string &reason) {
  std::error_code failed;
  const fs::path temporary = fs::temp_directory_path(failed);
  std::string pattern = (temporary / "kgen_XXXXXX").string();
  if (failed || !::mkdtemp(pattern.data())) {
    reason = "emitted code is compiled in a temporary folder, and none can be made in " +
             (failed ? "$TMPDIR" : temporary.string()) + ": " +
             (failed ? failed.message() : std::string(std::strerror(errno)));
    return nullptr;
  }
  const fs::path folder = pattern;
  // What runs is short: threads that wait for work would take most of the time.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  const fs::path library_path = cached_library(compiled, options).value_or(folder / "kernel.so");
  std::unique_ptr<NativeKernel> out;
  reason = fs::exists(library_path) ? "" : compile_library(compiled, options, folder, library_path);
  if (reason.empty()) {
    if (void *library = ::dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      out.reset(new NativeKernel);
      out->library_ = library;
      out->target_ = options.target;
      ::malloc_trim(0); // each call runs in a child, which takes the longer the more memory there is
    } else {
      reason = std::string("the emitted code cannot be loaded: ") + ::dlerror();
    }
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return out;
}

NativeResult NativeKernel::run(const Kernel &kernel, const RunInput &input, const NativeRunOptions &options) const {
  NativeResult result;
  CallFrame frame(kernel, input, options, target_ == NativeTarget::cuda_model && has_device_tables(kernel));
  if (std::string fault; !frame.prepare(fault)) {
    result.error = "cannot be called: " + fault;
    return result;
  }
  const std::string name = "kgen_shim_" + function_name(kernel, target_);
  const auto call = reinterpret_cast<NativeCall>(::dlsym(library_, name.c_str()));
  const auto workspace =
      reinterpret_cast<int64_t (*)(const int64_t *)>(::dlsym(library_, (name + "_workspace").c_str()));
  const auto threads = reinterpret_cast<void (*)(int)>(::dlsym(library_, "kgen_shim_threads"));
  const auto is_too_small = reinterpret_cast<bool (*)(int)>(::dlsym(library_, "kgen_shim_is_too_small"));
  const auto explain = reinterpret_cast<const char *(*)(int)>(::dlsym(library_, "kgen_shim_error"));
  if (!call || !threads || !is_too_small || !explain) {
    result.error = "the emitted code lacks " + function_name(kernel, target_);
    return result;
  }
  result.status = in_child(options.timeout_s, result.error, [&] {
    ::mallopt(M_PERTURB, 0x21 + 0x30 * options.threads); // what the launcher allocates is full of some byte, too
    if (options.threads > 0)
      threads(options.threads);
    const int64_t bytes = workspace && options.workspace != 0 ? workspace(frame.sizes()) : -1;
    if (bytes < 0) // it needs none, or the call itself says what is wrong
      return frame.arguments().pass_to(call);
    CallInWorkspace in(call, frame.arguments(), frame.end(), bytes, options.workspace, is_too_small);
    const bool least = options.least_workspace && target_ == NativeTarget::openmp;
    return least ? in.with_least([&] { frame.restore(); }) : in.with_some();
  });
  if (result.error.empty() && result.status == CallInWorkspace::kOverrun) {
    result.error = "wrote outside the workspace";
    return result;
  }
  if (result.error.empty())
    result.error = frame.damage();
  result.table_status = frame.table_status();
  if (result.status != 0 || result.table_status != 0)
    result.message = explain(result.status != 0 ? result.status : result.table_status);
  frame.collect(result.outputs);
  return result;
}

} // namespace kgen
