// Reading and writing files; the only code of the early stages that touches the disk.
#include "support/files.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <unistd.h>

#include "support/text.h"

namespace kgen {
namespace fs = std::filesystem;

namespace {
struct Close {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using Handle = std::unique_ptr<std::FILE, Close>;

std::string too_large(size_t limit) { return "it is larger than " + std::to_string(limit) + " bytes"; }
} // namespace

std::optional<std::string> read_file(const std::string &path, size_t limit, std::string &reason) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    reason = "it is a folder";
    return std::nullopt;
  }
  Handle file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    reason = std::strerror(errno);
    return std::nullopt;
  }
  std::string text;
  char buffer[1 << 16];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, count);
    if (text.size() > limit) {
      reason = too_large(limit);
      return std::nullopt;
    }
  }
  if (std::ferror(file.get())) {
    reason = std::strerror(errno);
    return std::nullopt;
  }
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
std::string temporary_name(const std::string &path) { return path + ".kgen-" + std::to_string(::getpid()); }

bool holds(const std::string &path, const std::string &text) {
  std::string reason;
  std::error_code error;
  if (fs::file_size(path, error) != text.size() || error)
    return false;
  return read_file(path, text.size(), reason) == text;
}

// Empty if all went well, else the reason.
std::string write_plain(const std::string &path, const std::string &text) {
  errno = 0;
  Handle file(std::fopen(path.c_str(), "wb"));
  if (!file)
    return std::strerror(errno);
  const bool complete = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  // A full disk may show only when the buffer is flushed.
  if (!complete || std::fclose(file.release()) != 0)
    return std::strerror(errno);
  return {};
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
  std::vector<const OutputFile *> staged;
  std::error_code ignored;
  auto fail = [&](const std::string &path, const std::string &reason) {
    for (const OutputFile *file : staged)
      fs::remove(temporary_name(file->path), ignored);
    diags.add(DiagId::file_unwritable, Place{path, 0, 0, 0}, {path, reason});
    return false;
  };
  for (const OutputFile &file : files) {
    if (holds(file.path, file.text))
      continue;
    std::string reason = make_parent(file.path);
    if (!reason.empty())
      return fail(file.path, reason);
    staged.push_back(&file);
    reason = write_plain(temporary_name(file.path), file.text);
    if (!reason.empty())
      return fail(file.path, reason);
    if (const fs::file_status before = fs::status(file.path, ignored); fs::exists(before))
      fs::permissions(temporary_name(file.path), before.permissions(), ignored);
  }
  for (const OutputFile *file : staged) {
    std::error_code error;
    fs::rename(temporary_name(file->path), file->path, error);
    if (error)
      return fail(file->path, error.message());
    written.push_back(file->path);
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
