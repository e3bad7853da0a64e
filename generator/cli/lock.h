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
  std::string spec;      // its path; none for helper headers, which all kernels share
  std::string spec_hash; // of its text and that of the files it takes functions from
  std::string hash;      // of the file as written
};

class Lock {
public:
  // The lock of an output folder: that in `root` if one is given; else its own, or that of a folder above which has
  // written into it before, or is in the same working tree.
  static Lock find(const std::string &output, const std::string &root);

  const std::string &path() const { return path_; }
  // How the files of a folder name one beside the lock: "", "../"; nothing where the folder is not below the lock's.
  std::optional<std::string> way_from(const std::string &folder) const;
  // Why the file cannot be read, if it is there; what it says is not known then, and it must not be replaced.
  const std::string &fault() const { return fault_; }
  // Does the path, links resolved, lie in the folder of the lock? kgen deletes nothing elsewhere, whatever a lock says.
  bool owns(const std::string &path) const;
  std::string relative(const std::string &path) const;
  std::string absolute(const std::string &entry) const;
  std::string text() const;

  std::map<std::string, LockEntry> files; // by path relative to the lock

private:
  explicit Lock(std::string path) : path_(std::move(path)) {}
  bool read();

  std::string path_, fault_;
};

// While it lives, no other run writes into the folder of the lock: what is read from the lock is true until it is
// written. Waits for its turn.
class Turn {
public:
  explicit Turn(const Lock &lock);
  ~Turn();
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;
  // Another run is at work there and does not end. A folder that cannot be made or locked takes turns with nobody.
  bool timed_out() const { return timed_out_; }

private:
  int folder_ = -1;
  bool timed_out_ = false;
};

} // namespace kgen
