// Reading and writing files; the only code of the early stages that touches the disk.
#include "support/files.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "support/text.h"

namespace kgen {
namespace fs = std::filesystem;

namespace {

class Descriptor {
public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int number() const { return number_; }
  bool close() { // some file systems tell only now that a file could not be written
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

private:
  int number_;
};

std::string too_large(size_t limit) { return "it is larger than " + std::to_string(limit) + " bytes"; }

// Whoever names a stream of the shell's wants to wait for it. A pipe of any other name has perhaps no writer at all.
bool may_wait(const std::string &path) { return path.starts_with("/dev/") || path.starts_with("/proc/self/fd/"); }

// Empty, or why the open file is none that can be read to its end.
std::string unreadable_kind(int number, const std::string &path) {
  struct stat status{};
  if (::fstat(number, &status) != 0)
    return std::strerror(errno);
  if (S_ISDIR(status.st_mode))
    return "it is a folder";
  return S_ISREG(status.st_mode) || may_wait(path) ? "" : "it is a pipe or a device, not a file";
}

} // namespace

bool read_stream(int number, size_t limit, std::string &text, std::string &reason) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(number, buffer, sizeof buffer);
    if (count == 0)
      return true;
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      reason = std::strerror(errno);
      return false;
    }
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > limit) {
      reason = too_large(limit);
      return false;
    }
  }
}

std::optional<std::string> read_file(const std::string &path, size_t limit, std::string &reason) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (may_wait(path) ? 0 : O_NONBLOCK)));
  if (file.number() < 0) {
    reason = std::strerror(errno);
    return std::nullopt;
  }
  reason = unreadable_kind(file.number(), path);
  std::string text;
  if (!reason.empty() || !read_stream(file.number(), limit, text, reason))
    return std::nullopt;
  return text;
}

std::optional<std::string> read_source(const std::string &path, Diagnostics &diags) {
  std::string reason;
  std::optional<std::string> text;
  // It stands in what is emitted, in lists of files and in messages.
  if (find_bad_utf8(path) != std::string::npos || path.find_first_of("\n\r\t") != std::string::npos ||
      find_control(path) != std::string::npos)
    reason = "its name is not UTF-8 text without control characters";
  else
    text = read_file(path, kLargestSource, reason);
  if (!text)
    diags.add(DiagId::file_unreadable, Place{path, 0, 0, 0}, {path, reason});
  return text;
}

namespace {

// FILE.kgen-PROCESS-RANDOM. Nobody can put something in the way of a name that nobody can guess; the process tells
// whether whoever made it may still be at work.
constexpr std::string_view kTemporary = ".kgen-";
constexpr size_t kRandomDigits = 16;

std::string temporary_name(const std::string &path) {
  static std::random_device random;
  char digits[kRandomDigits + 1];
  std::snprintf(digits, sizeof digits, "%08x%08x", static_cast<unsigned>(random()), static_cast<unsigned>(random()));
  return path + std::string(kTemporary) + std::to_string(::getpid()) + "-" + digits;
}

// The process that a temporary file belongs to; nullopt: it is none of ours.
std::optional<pid_t> process_of(const std::string &name) {
  const size_t at = name.rfind(kTemporary);
  if (at == std::string::npos || at == 0)
    return std::nullopt;
  const std::vector<std::string> parts = split(std::string_view(name).substr(at + kTemporary.size()), '-');
  const auto consists_of = [](const std::string &text, const char *digits) {
    return !text.empty() && text.size() <= kRandomDigits && text.find_first_not_of(digits) == std::string::npos;
  };
  if (parts.size() != 2 || !consists_of(parts[0], "0123456789") || parts[0].size() > 9 ||
      parts[1].size() != kRandomDigits || !consists_of(parts[1], "0123456789abcdef"))
    return std::nullopt;
  return static_cast<pid_t>(std::stol(parts[0]));
}

// What was left behind by runs that were killed.
void remove_abandoned(const std::set<fs::path> &folders) {
  std::error_code error;
  for (const fs::path &folder : folders)
    for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end;
         it.increment(error)) {
      std::error_code gone;
      const std::optional<pid_t> process = process_of(it->path().filename().string());
      const bool abandoned = process && (*process == ::getpid() || (::kill(*process, 0) != 0 && errno == ESRCH));
      if (abandoned && fs::symlink_status(it->path(), gone).type() == fs::file_type::regular)
        fs::remove(it->path(), gone);
    }
}

bool holds(const std::string &path, const std::string &text) {
  std::string reason;
  std::error_code error;
  if (fs::file_size(path, error) != text.size() || error)
    return false;
  return read_file(path, text.size(), reason) == text;
}

// What a file may be used for stays as it was; a link, or what it leads to, says nothing of the file in its place.
void keep_permissions(int number, const std::string &path) {
  struct stat before{};
  if (::lstat(path.c_str(), &before) == 0 && S_ISREG(before.st_mode))
    (void)::fchmod(number, before.st_mode & 0777);
}

// The text under a new name beside `path`. Empty if all went well, else the reason; `temporary` is what there is then.
std::string stage(const std::string &path, const std::string &text, std::string &temporary) {
  const std::string name = temporary_name(path);
  Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.number() < 0)
    return std::strerror(errno);
  temporary = name;
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file.number(), text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::strerror(count < 0 ? errno : ENOSPC);
    at += static_cast<size_t>(count);
  }
  keep_permissions(file.number(), path);
  return file.close() ? "" : std::strerror(errno);
}

// Whoever interrupts waits until all files are there, or none.
class SignalsWait {
public:
  SignalsWait() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait &) = delete;
  SignalsWait &operator=(const SignalsWait &) = delete;

private:
  sigset_t before_;
};

std::string make_parent(const std::string &path) {
  const fs::path parent = fs::path(path).parent_path();
  std::error_code error;
  if (!parent.empty())
    fs::create_directories(parent, error);
  if (error)
    return error.message();
  return fs::is_directory(path, error) ? "there is a folder of that name" : "";
}
} // namespace

bool write_files(const std::vector<OutputFile> &files, std::vector<std::string> &written, Diagnostics &diags) {
  const SignalsWait until_written;
  std::set<fs::path> folders;
  for (const OutputFile &file : files)
    folders.insert(fs::path(file.path).parent_path());
  remove_abandoned(folders);
  std::vector<std::pair<std::string, std::string>> staged; // file and temporary
  std::error_code ignored;
  auto fail = [&](const std::string &path, const std::string &reason) {
    for (const auto &[file, temporary] : staged)
      fs::remove(temporary, ignored);
    diags.add(DiagId::file_unwritable, Place{path, 0, 0, 0}, {path, reason});
    return false;
  };
  for (const OutputFile &file : files) {
    if (holds(file.path, file.text))
      continue;
    std::string reason = make_parent(file.path);
    if (!reason.empty())
      return fail(file.path, reason);
    std::string temporary;
    reason = stage(file.path, file.text, temporary);
    if (!temporary.empty())
      staged.emplace_back(file.path, temporary);
    if (!reason.empty())
      return fail(file.path, reason);
  }
  for (auto &[path, temporary] : staged) {
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error)
      return fail(path, error.message());
    written.push_back(path);
  }
  return true;
}

bool touch(const std::string &path, Diagnostics &diags) {
  std::error_code error;
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  if (!error)
    return true;
  std::vector<std::string> written;
  return write_files({{path, ""}}, written, diags);
}

} // namespace kgen
