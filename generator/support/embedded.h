// Text files compiled into the binary, so that one file is all there is to install. cmake/embed.cmake writes the
// definitions: the templates are linked into the emit stage, the prelude into the body stage.
#pragma once
#include <optional>
#include <span>
#include <string_view>

namespace kgen {

struct EmbeddedFile {
  std::string_view path; // with forward slashes, below templates/ or generator/body/prelude/
  std::string_view text;
};

// Sorted by path.
std::span<const EmbeddedFile> embedded_templates();
std::span<const EmbeddedFile> embedded_prelude();

inline std::optional<std::string_view> find_embedded(std::span<const EmbeddedFile> files, std::string_view path) {
  for (const EmbeddedFile &file : files)
    if (file.path == path)
      return file.text;
  return std::nullopt;
}

} // namespace kgen
