// The first line of what `kgen grad` writes: the command that wrote it, so that one sees how, and can ask again.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"

namespace kgen {

std::string written_by(const Options &options, const std::string &spec);

// The options that the first line of the text tells; nullopt: `kgen grad` did not write it of that spec.
std::optional<Options> written_with(const std::string &text, const std::string &spec);

// The command that writes it again, of the spec at the path.
std::string command_of(const Options &options, const std::string &path, const std::string &folder);

} // namespace kgen
