// kgen.lock: which file of an output folder came from which spec, and what both were. With it `kgen check` tells a
// stale file from one edited by hand, and `--prune` deletes only what kgen wrote. One line a file, sorted; paths are
// relative to the lock.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "support/diagnostics.h"
#include "support/files.h"

namespace kgen {

struct LockEntry {
  std::string spec;      // its path
  std::string spec_hash; // of its text and that of the files it takes functions from
  std::string hash;      // of the file as written
};

class Lock {
public:
  // The lock of an output folder: its own, or that of a folder above which has written into it before.
  static Lock find(const std::string &output);

  const std::string &path() const { return path_; }
  std::string relative(const std::string &path) const;
  std::string absolute(const std::string &entry) const;
  std::string text() const;

  std::map<std::string, LockEntry> files; // by path relative to the lock

private:
  explicit Lock(std::string path) : path_(std::move(path)) {}
  bool read();

  std::string path_;
};

} // namespace kgen
