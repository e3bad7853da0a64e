// Reading and writing files. What goes wrong is a diagnostic of the group "files", which makes the exit code 4.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.h"

namespace kgen {

// No spec and no file of functions comes near; it bounds the time that garbage can take.
constexpr size_t kLargestSource = size_t{1} << 20;

// Nor does what is written.
constexpr size_t kLargestOutput = size_t{64} << 20;

// All that an open stream gives, behind what `text` holds. False with a `reason`.
bool read_stream(int number, size_t limit, std::string &text, std::string &reason);
// The whole file. `reason` says in words why not. Pipes and devices are read by the names that shells give to streams
// only (/dev/stdin, /dev/fd/63): of any other it is not known that it ends.
std::optional<std::string> read_file(const std::string &path, size_t limit, std::string &reason);
// The same, with the failure as a message about the file.
std::optional<std::string> read_source(const std::string &path, Diagnostics &diags);

struct OutputFile {
  std::string path;
  std::string text;
};

// Writes all or nothing: first every changed file under a temporary name beside it, then all renames. Files that hold
// the text already are not touched. Missing folders are made, and temporary files of runs that were killed deleted.
// False after a message; else `written` has the paths that changed.
bool write_files(const std::vector<OutputFile> &files, std::vector<std::string> &written, Diagnostics &diags);

// Makes the file, or its time now. False after a message.
bool touch(const std::string &path, Diagnostics &diags);

} // namespace kgen
