// What kgen tells its user. Every message is a row of diagnostics.def; a stage adds to one list and goes on as far as
// is sensible, so that one run reports all independent mistakes. Places are always lines and columns of the spec's
// TOML.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kgen {

// A range on one line of a source file. Lines and columns count from 1; line 0 means the file as a whole.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  int length = 1;
};

bool begin_alike(const Place &a, const Place &b);

// In the place of a file: what -D says is shown as it was given.
inline constexpr std::string_view kCommandLine = "command line";

enum class Severity { error, warning, note };

enum class DiagId {
#define KGEN_DIAGNOSTIC(id, code, severity, text, help) id,
#include "support/diagnostics.def"
#undef KGEN_DIAGNOSTIC
};

// A second place that belongs to the message ("declared here").
struct Label {
  Place place;
  std::string text;
};

struct Diagnostic {
  DiagId id;
  Severity severity;
  Place place;
  std::string text;
  std::vector<Label> labels;
  std::string help; // how to mend it; empty: as its row says
};

struct DiagnosticRow {
  std::string_view name;
  std::string_view code; // "KG0101"
  Severity severity;
  std::string_view text; // with {0} {1} ... for the arguments
  std::string_view help; // shown where a diagnostic has none of its own
};
const DiagnosticRow &diagnostic_row(DiagId id);
const std::vector<DiagnosticRow> &diagnostic_rows();

// The list of one run. Stages return nullopt when they added an error.
class Diagnostics {
public:
  // The text comes from the row, its {0}.. replaced. The result may be refined: diags.add(...).help = "...".
  Diagnostic &add(DiagId id, const Place &place, const std::vector<std::string> &arguments = {});
  bool has_errors() const { return errors_ > 0; }
  size_t error_count() const { return errors_; }
  // Sorted by place, without repetitions.
  std::vector<Diagnostic> sorted() const;
  bool empty() const { return list_.empty(); }

  // The text of a file, so that messages can show the line.
  void add_source(std::string file, std::string text);
  void append(Diagnostics other);
  // Forgets the messages of a file (empty: of all) with this code; errors stay.
  void drop(std::string_view code, std::string_view file);

  enum class Format { human, short_lines, json, github };
  std::string render(Format format, bool color) const;

private:
  std::vector<Diagnostic> list_;
  size_t errors_ = 0;
  std::vector<std::pair<std::string, std::string>> sources_;
};

} // namespace kgen
