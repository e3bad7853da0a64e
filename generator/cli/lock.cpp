#include "cli/lock.h"

#include <filesystem>
#include <iomanip>
#include <sstream>

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

// `"path" = { spec = "...", spec_hash = "...", hash = "..." }`
bool read_entry(const std::string &line, std::string &path, LockEntry &entry) {
  std::istringstream in(line);
  std::string equals, brace, key;
  in >> std::quoted(path) >> equals >> brace;
  for (std::string *value : {&entry.spec, &entry.spec_hash, &entry.hash}) {
    in >> key >> equals >> std::quoted(*value);
    if (in.peek() == ',')
      in.ignore();
  }
  return !in.fail();
}

std::string quoted(const std::string &text) {
  std::ostringstream out;
  out << std::quoted(text);
  return out.str();
}

} // namespace

Lock Lock::find(const std::string &output) {
  Lock own((fs::path(output) / "kgen.lock").lexically_normal().generic_string());
  std::error_code error;
  const fs::path folder = resolved(output);
  fs::path at = folder;
  for (int above = 0; above < kFoldersAbove && !at.empty(); ++above, at = at.parent_path()) {
    if (fs::exists(at / "kgen.lock", error)) {
      if (above == 0) {
        own.read();
        return own;
      }
      Lock lock((at / "kgen.lock").generic_string());
      const std::string inside = folder.lexically_relative(at).generic_string() + "/";
      const auto first = lock.read() ? lock.files.lower_bound(inside) : lock.files.end();
      if (first != lock.files.end() && first->first.starts_with(inside))
        return lock;
    }
    if (fs::exists(at / ".git", error) || at == at.root_path())
      break;
  }
  return own;
}

bool Lock::read() {
  std::string reason;
  const std::optional<std::string> text = read_file(path_, kLargestOutput, reason);
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

std::string Lock::absolute(const std::string &entry) const {
  return (fs::path(path_).parent_path() / entry).lexically_normal().generic_string();
}

std::string Lock::text() const {
  std::string out(kFirstLine);
  out += "format = 1\ngenerator = \"" KGEN_VERSION "\"\n\n[files]\n";
  for (const auto &[path, entry] : files)
    out += quoted(path) + " = { spec = " + quoted(entry.spec) + ", spec_hash = " + quoted(entry.spec_hash) +
           ", hash = " + quoted(entry.hash) + " }\n";
  return out;
}

} // namespace kgen
