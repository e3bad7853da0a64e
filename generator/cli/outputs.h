// What specs give: all files of all specs, and the files in the output folder that no spec gives any more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/lock.h"
#include "cli/options.h"
#include "support/files.h"

namespace kgen {

struct MadeFile {
  OutputFile file;
  std::string spec;
  std::string spec_hash;
};

// All files of all specs, in parallel, or nothing after a message (on stderr where `diags` stays empty). `sources`, if
// given, gets the paths of all that was read.
std::optional<std::vector<MadeFile>> make_files(const Options &options, Diagnostics &diags,
                                                std::vector<std::string> *sources = nullptr);

// Files on disk that the lock names as made from these specs, or from specs that are gone, and that are no longer made.
std::vector<std::string> orphans(const Options &options, const std::vector<MadeFile> &made, const Lock &lock);

} // namespace kgen
