#include "cli/lock.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <iomanip>
#include <sstream>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "support/text.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFirstLine = "# Written by kgen: what each file was made from. DO NOT EDIT.\n";
constexpr int kFoldersAbove = 32;

fs::path resolved(const std::string &path) {
  std::error_code error;
  fs::path out = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::path(path).lexically_normal() : out;
}

bool is_plain(const std::string &text) {
  return find_bad_utf8(text) == std::string::npos && find_control(text) == std::string::npos &&
         text.find_first_of("\n\r\t") == std::string::npos;
}

// Does the path stay below the folder that it starts from?
bool leads_down(const std::string &path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return normal.is_relative() && normal.has_filename() && *normal.begin() != ".." && *normal.begin() != ".";
}

// `"path" = { spec = "...", spec_hash = "...", hash = "..." }`; a helper header has the hash alone.
bool read_entry(const std::string &line, std::string &path, LockEntry &entry) {
  std::map<std::string, std::string *> values = {
      {"spec", &entry.spec}, {"spec_hash", &entry.spec_hash}, {"hash", &entry.hash}};
  std::istringstream in(line);
  std::string equals, brace, key;
  in >> std::quoted(path) >> equals >> brace;
  while (in >> key && values.count(key) != 0) {
    in >> equals >> std::quoted(*values[key]);
    if (in.peek() == ',')
      in.ignore();
  }
  // Whoever wrote anything else, it was not kgen.
  return !in.fail() && key == "}" && !entry.hash.empty() && is_plain(path) && is_plain(entry.spec) && leads_down(path);
}

std::string quoted(const std::string &text) {
  std::ostringstream out;
  out << std::quoted(text);
  return out.str();
}

} // namespace

Lock Lock::find(const std::string &output, const std::string &root) {
  Lock own((fs::path(root.empty() ? output : root) / "kgen.lock").lexically_normal().generic_string());
  if (own.read() || !own.fault().empty() || !root.empty())
    return own;
  std::error_code error;
  const fs::path folder = resolved(output);
  std::optional<Lock> nearest;
  fs::path at = folder, as_given = output;
  for (int above = 0; above < kFoldersAbove; ++above, at = at.parent_path(), as_given /= "..") {
    const fs::path path = (as_given / "kgen.lock").lexically_normal(); // of which links may make another one
    Lock lock((resolved(path.generic_string()) == at / "kgen.lock" ? path : at / "kgen.lock").generic_string());
    if (lock.read()) {
      const std::string inside = folder.lexically_relative(at).generic_string() + "/";
      const auto first = lock.files.lower_bound(inside);
      if (first != lock.files.end() && first->first.starts_with(inside))
        return lock;
      if (!nearest)
        nearest = std::move(lock);
    }
    if (fs::exists(at / ".git", error))
      return nearest ? *nearest : own;
    if (at == at.parent_path())
      break;
  }
  return own;
}

bool Lock::read() {
  std::error_code error;
  const std::optional<std::string> text =
      fs::exists(path_, error) ? read_file(path_, kLargestOutput, fault_) : std::nullopt;
  if (!text || !text->starts_with(kFirstLine))
    return false;
  std::istringstream in(*text);
  for (std::string line, path; std::getline(in, line);) {
    LockEntry entry;
    if (line.starts_with('"') && read_entry(line, path, entry))
      files[path] = entry;
  }
  return true;
}

std::string Lock::relative(const std::string &path) const {
  const fs::path folder = resolved(path_).parent_path(), target = resolved(path);
  // What shares nothing with the lock but the root of the file system is named without saying where this machine has
  // it.
  auto second = [](const fs::path &p) { return p.begin() == p.end() ? p.end() : std::next(p.begin()); };
  const bool apart =
      second(folder) == folder.end() || second(target) == target.end() || *second(folder) != *second(target);
  return apart ? target.filename().generic_string() : target.lexically_relative(folder).generic_string();
}

std::optional<std::string> Lock::way_from(const std::string &folder) const {
  const fs::path way = resolved(path_).parent_path().lexically_relative(resolved(folder));
  if (way == ".")
    return "";
  if (way.empty() || std::ranges::any_of(way, [](const fs::path &part) { return part != ".."; }))
    return std::nullopt;
  return way.generic_string() + "/";
}

std::string Lock::absolute(const std::string &entry) const {
  return (fs::path(path_).parent_path() / entry).lexically_normal().generic_string();
}

bool Lock::owns(const std::string &path) const {
  const fs::path inside = resolved(path).lexically_relative(resolved(path_).parent_path());
  return leads_down(inside.generic_string());
}

std::string Lock::text() const {
  std::string out(kFirstLine);
  out += "format = 1\ngenerator = \"" KGEN_VERSION "\"\n\n[files]\n";
  for (const auto &[path, entry] : files)
    out +=
        quoted(path) + " = { " +
        (entry.spec.empty() ? "" : "spec = " + quoted(entry.spec) + ", spec_hash = " + quoted(entry.spec_hash) + ", ") +
        "hash = " + quoted(entry.hash) + " }\n";
  return out;
}

Turn::Turn(const Lock &lock) {
  constexpr std::chrono::seconds kLongest(60);
  constexpr std::chrono::milliseconds kPause(10);
  fs::path folder = fs::path(lock.path()).parent_path();
  if (folder.empty())
    folder = ".";
  std::error_code error;
  fs::create_directories(folder, error);
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const auto start = std::chrono::steady_clock::now();
  while (folder_ >= 0 && ::flock(folder_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    timed_out_ = std::chrono::steady_clock::now() - start > kLongest;
    if (timed_out_)
      return;
    std::this_thread::sleep_for(kPause);
  }
}

Turn::~Turn() {
  if (folder_ >= 0)
    ::close(folder_);
}

} // namespace kgen
